"""The named subjects, and the parsers and judges whose rates of error are known; ``-M key=value`` changes one.

All are registered as models; studies say what they reply.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any, TypeAlias

from confidence_tasks.simulation.subject import STRONGEST, Subject

PROFILES: dict[str, Subject] = {
    "ideal": Subject(risk_sensitivity=1.0, perception=1.0),
    "overconfident": Subject(meta_d_prime=1.0, bias=1.2, rounding=0.8),
    "underconfident": Subject(meta_d_prime=1.0, bias=-1.2, rounding=0.8, perception=1.0),
    "rounder": Subject(meta_d_prime=1.0, anchors=(0.9, 0.95, 1.0)),
    "blind": Subject(meta_d_prime=0.0, noise=1.5),
    "reckless": Subject(meta_d_prime=1.0, caution=0.0),
    "cautious": Subject(meta_d_prime=1.0, caution=10.0, risk_sensitivity=1.0),
    "tunnel": Subject(perception=0.65),
    "partial": Subject(meta_d_prime=1.0, risk_sensitivity=0.3),
    "sloppy": Subject(meta_d_prime=1.0, bias=0.6, rounding=0.9, ignores_bounds=0.1, sloppiness=0.4),
}

_LEAST = math.ulp(0.0)

_WITHIN: Mapping[str, tuple[float, float]] = {
    **dict.fromkeys(("d_prime", "meta_d_prime"), (-STRONGEST, STRONGEST)),
    **dict.fromkeys(("rounding", "ignores_bounds", "sloppiness"), (0.0, 1.0)),
    **dict.fromkeys(("noise", "difficulty_spread", "hazard_noise", "caution"), (0.0, math.inf)),
    **dict.fromkeys(("belief_sd", "evidence_ratio"), (_LEAST, math.inf)),
    "perception": (_LEAST, 1.0),
    "risk_sensitivity": (0.0, 10.0),
    "round_to": (1.0, math.inf),
}
"""What a parameter may be, where not any number."""


def make_subject(profile: str, **changes: Any) -> Subject:
    """Return the subject called ``profile`` with some of its parameters changed.

    Raises
    ------
    ValueError
        If there is no such profile or parameter, or a value is not what the parameter may be; the message says what
        there is.

    Examples
    --------
    >>> make_subject("ideal", meta_d_prime=0.5).meta_d_prime
    0.5
    """
    if profile not in PROFILES:
        raise ValueError(f"unknown simulated subject {profile!r}; there are {', '.join(PROFILES)}")
    known = {item.name for item in fields(Subject)}
    if unknown := sorted(changes.keys() - known):
        raise ValueError(
            f"a simulated subject has no {', '.join(unknown)}; its parameters are {', '.join(sorted(known))}"
        )
    return replace(PROFILES[profile], **{name: _checked(name, value) for name, value in changes.items()})


def _checked(name: str, value: Any) -> Any:
    """Return a parameter's value as the subject takes it."""
    default = getattr(PROFILES["ideal"], name)
    if isinstance(default, tuple):
        whole = isinstance(value, Sequence) and not isinstance(value, str)
        if whole and all(_is_number(share) and 0.0 <= share <= 1.0 for share in value):
            return tuple(map(float, value))
        raise ValueError(f"{name} must be a list of numbers from 0 to 1, got {value!r}")
    if isinstance(default, Mapping):
        if isinstance(value, Mapping) and all(map(_is_number, value.values())):
            return dict(value)
        raise ValueError(f"{name} must give a number for each condition that it names, got {value!r}")
    low, high = _WITHIN.get(name, (-math.inf, math.inf))
    if not _is_number(value) or not low <= value <= high or (isinstance(default, int) and value % 1):
        kind = "whole number" if isinstance(default, int) else "number"
        bounds = [
            *(["above 0"] if low == _LEAST else [f"of at least {low:g}"] if math.isfinite(low) else []),
            *([f"of at most {high:g}"] if math.isfinite(high) else []),
        ]
        raise ValueError(f"{name} must be a {' '.join([kind, ' and '.join(bounds)]).strip()}, got {value!r}")
    return type(default)(value)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(frozen=True, slots=True)
class Instrument:
    """A model that reads or judges replies, with its rates of error, each in [0, 1].

    Attributes
    ----------
    misreading : float
        Share of replies in which a parser finds the other decision: it takes an answer for an abstention, and an
        abstention for an answer.
    false_right : float
        Share of wrong answers that a judge finds right.
    false_wrong : float
        Share of right answers that a judge finds wrong.
    garbling : float
        Share of calls that are replied to in words instead of JSON.
    """

    misreading: float = 0.0
    false_right: float = 0.0
    false_wrong: float = 0.0
    garbling: float = 0.0


INSTRUMENTS: Mapping[str, Instrument] = {
    "parser": Instrument(),
    "judge": Instrument(),
    "careless_parser": Instrument(misreading=0.1),
    "careless_judge": Instrument(false_right=0.1, false_wrong=0.05),
}
"""The named instruments; the first two make no error."""

InstrumentResponder: TypeAlias = tuple[re.Pattern[str], Callable[[Instrument, str, str], str]]
"""What a prompt to an instrument contains, and how it is replied to: from the instrument, the prompt and a seed."""


def make_instrument(name: str, **changes: Any) -> Instrument:
    """Return a named instrument with some of its rates changed.

    Raises
    ------
    ValueError
        If there is no such instrument or rate, or a rate is none.

    Examples
    --------
    >>> make_instrument("judge", false_right=0.2).false_right
    0.2
    """
    if name not in INSTRUMENTS:
        raise ValueError(f"unknown simulated instrument {name!r}; there are {', '.join(INSTRUMENTS)}")
    known = [rate.name for rate in fields(Instrument)]
    for rate, value in changes.items():
        if rate not in known:
            raise ValueError(f"a simulated instrument has no {rate}; its rates are {', '.join(known)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
            raise ValueError(f"{rate} must be a number from 0 to 1, got {value!r}")
    return replace(INSTRUMENTS[name], **changes)
