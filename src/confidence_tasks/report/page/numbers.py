"""Numbers as they are printed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from confidence_tasks.statistics import Interval


def number(value: float, decimals: int = 2) -> str:
    """Print a number with a true minus sign; a dash for NaN, a power of ten for what would fill a line.

    Examples
    --------
    >>> number(-0.126), number(float("nan")), number(1234.5, 0), number(-3.14e30)
    ('−0.13', '–', '1,234', '−3.1×10³⁰')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "−∞" if value < 0 else "∞"
    if abs(value) >= _LARGE:
        return _power_of_ten(value)
    text = f"{value:,.{decimals}f}".replace("-", "−")
    return text.removeprefix("−") if not text.strip("−0.,") else text


_LARGE = 1e7
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _power_of_ten(value: float) -> str:
    mantissa, _, exponent = f"{value:.1e}".partition("e+")
    return f"{mantissa.replace('-', '−')}×10{str(int(exponent)).translate(_RAISED)}"


def signed(value: float, decimals: int = 2) -> str:
    """Print a difference with its sign.

    Examples
    --------
    >>> signed(0.08), signed(-0.08)
    ('+0.08', '−0.08')
    """
    text = number(value, decimals)
    return text if math.isnan(value) or text.startswith("−") else f"+{text}"


def limits(interval: Interval, decimals: int = 2) -> str:
    """Print the limits of an interval; nothing where there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from confidence_tasks.statistics import bootstrap
    >>> limits(bootstrap(lambda x, *, weights: weights @ x / weights.sum(axis=-1), np.arange(1000) < 800))
    '[0.78, 0.82]'
    """
    if math.isnan(interval.low):
        return ""
    return f"[{number(interval.low, decimals)}, {number(interval.high, decimals)}]"


def why_missing(interval: Interval) -> str:
    """Say why there is no value, or no interval; nothing where there are both.

    Examples
    --------
    >>> from confidence_tasks.statistics import bootstrap, ece
    >>> why_missing(bootstrap(ece, [1.0], [0.9], n_resamples=9))
    'no interval: too few trials'
    """
    if math.isnan(interval.estimate):
        return f"no value: {interval.estimate.reason or 'not identified'}"
    reason = interval.low.reason if math.isnan(interval.low) else None
    return f"no interval: {reason}" if reason else ""


def p_value(p: float) -> str:
    """Print a p-value, without its leading zero.

    Examples
    --------
    >>> p_value(0.0123), p_value(0.00001), p_value(1.0), p_value(float("nan"))
    ('.012', '<.001', '1', '–')
    """
    if math.isnan(p):
        return "–"
    if p >= 0.9995:
        return "1"
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def p_is(p: float) -> str:
    """Say what a p-value is, in a sentence.

    Examples
    --------
    >>> p_is(0.0123), p_is(0.00001)
    ('p = .012', 'p < .001')
    """
    said = p_value(p)
    return f"p < {said[1:]}" if said.startswith("<") else f"p = {said}"


def json_number(value: float) -> float | str | None:
    """Return a number as JSON can hold it: None for NaN, the name of an infinity that pandas and JavaScript read."""
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return None if math.isnan(value) else float(value)


def decimals_for(values: list[float]) -> int:
    """Return how many decimals tell such values apart.

    Examples
    --------
    >>> decimals_for([0.05, 0.12]), decimals_for([0.6, 1.2]), decimals_for([12.0, 40.0]), decimals_for([300.0])
    (3, 2, 1, 0)
    """
    largest = max((abs(value) for value in values if math.isfinite(value)), default=1.0)
    return next((decimals for bound, decimals in ((0.2, 3), (10.0, 2), (100.0, 1)) if largest < bound), 0)
