"""The named subjects, all registered as models; ``-M key=value`` changes a parameter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from numbers import Real
from typing import Any

from confidence_tasks.simulation.subject import STRONGEST, Subject
from confidence_tasks.study.parameter import meant

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


def make_subject(profile: str, /, **changes: Any) -> Subject:
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
        raise ValueError(
            f"there is no simulated subject {profile!r}{meant(profile, PROFILES) or '.'} "
            f"There are {', '.join(PROFILES)}"
        )
    known = {item.name for item in fields(Subject)}
    if unknown := sorted(changes.keys() - known):
        raise ValueError(
            f"a simulated subject has no {', '.join(unknown)}{meant(unknown[0], known) or '.'} "
            f"Its parameters are {', '.join(sorted(known))}"
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
