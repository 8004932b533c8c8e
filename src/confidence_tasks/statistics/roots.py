"""Roots of decreasing functions, many at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from confidence_tasks.statistics.core import FloatArray

_MAX_STEPS = 200


def decreasing_root(
    function: Callable[[FloatArray], FloatArray],
    low: FloatArray,
    high: FloatArray,
    *,
    tolerance: float = 1e-12,
) -> FloatArray:
    """Find where a decreasing function is 0, in each row, by false position with the Illinois rule.

    Parameters
    ----------
    function : callable
        Takes and returns an array (R,); row r of the result depends on row r of the argument alone.
    low, high : ndarray, shape (R,)
        Brackets: the function is 0 or above at ``low`` and 0 or below at ``high``.
    tolerance : float, default 1e-12
        How far from 0 the function may be at the root.

    Returns
    -------
    ndarray, shape (R,)
        The roots.

    References
    ----------
    Dowell & Jarratt (1971), A modified regula falsi method for computing the root of an equation,
    doi:10.1007/BF01934364.

    Examples
    --------
    >>> import numpy as np
    >>> decreasing_root(lambda x: 2.0 - x**2, np.zeros(1), np.full(1, 2.0)).round(6)
    array([1.414214])
    """
    above, below = function(low), function(high)
    middle, rose = low, np.zeros(low.shape, dtype=bool)
    for step in range(_MAX_STEPS):
        span = below - above
        middle = np.divide(low * below - high * above, span, out=middle.copy(), where=span != 0.0)
        value = function(middle)
        if np.abs(value).max(initial=0.0) < tolerance:
            break
        rises = value > 0.0
        # An end of the bracket that stays twice in a row counts half, so that the other one moves too.
        stays = (rises == rose) & (step > 0)
        above = np.where(rises, value, np.where(stays, above / 2.0, above))
        below = np.where(rises, np.where(stays, below / 2.0, below), value)
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
        rose = rises
    return middle
