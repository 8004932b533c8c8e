"""Where the fields of a measure of version 0.1 are now. For one release, the old names work, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from confidence_tasks.study.inference import (
    Bounded,
    BoundedMean,
    Count,
    Inference,
    Inverted,
    Mean,
    Percentile,
    PointOnly,
    Posterior,
    Proportion,
    Shifted,
    Student,
)

MOVED: Mapping[str, str] = {
    "interval": "method",
    "is_mean": "is_mean",
    "proportion": "proportion",
    "informative": "informative",
    "bounds": "bounds",
    "is_count": "is_count",
    "test_inversion": "test",
    "posterior": "posterior",
    "influence": "influence",
    "incomparable": "incomparable",
}
"""Attribute of an inference by the name of a field of ``Measure`` in version 0.1."""

_KINDS: Mapping[tuple[str, bool], type[Percentile] | type[Proportion]] = {
    ("percentile", False): Percentile,
    ("student", False): Student,
    ("student", True): Mean,
    ("transformed", False): Bounded,
    ("transformed", True): BoundedMean,
    ("wilson", False): Proportion,
    ("none", False): PointOnly,
}
"""Class by the kind of interval, and by whether the measure is a mean."""


def with_inference(positional: Sequence[Any], given: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of ``Measure`` with an ``inference`` in place of the fields of version 0.1, and warn."""
    first, named = list(positional), dict(given)
    old = {name: named.pop(name) for name in given if name in MOVED}
    if len(first) > _PLACE and isinstance(first[_PLACE], str):
        old["interval"] = first.pop(_PLACE)
    if not old:
        return first, named
    before = named.get("inference", Percentile())
    named["inference"] = inference_of(
        {old_name: getattr(before, name) for old_name, name in MOVED.items()} | old
    )
    warnings.warn(
        f"Measure({', '.join(f'{name}=...' for name in old)}) is not supported from the next release: write "
        f"Measure(inference={type(named['inference']).__name__}(...)), of confidence_tasks.study.inference",
        DeprecationWarning,
        stacklevel=3,
    )
    return first, named


_PLACE = 4
"""Position of ``interval`` among the arguments, which is that of ``inference`` now."""


def inference_of(old: Mapping[str, Any]) -> Inference:
    """Return the inference that the fields of a measure of version 0.1 describe.

    Examples
    --------
    >>> fields = dict.fromkeys(MOVED) | {"interval": "transformed", "bounds": (0.0, 1.0)}
    >>> inference_of(fields).bounds
    (0.0, 1.0)
    """
    common = {name: old[name] for name in ("informative", "influence", "incomparable")}
    if old["test_inversion"] is not None:
        return Inverted(old["test_inversion"], **common)
    if (posterior := old["posterior"]) is not None:
        return Posterior(posterior.outcomes, posterior.compute, posterior.prepare, posterior.prior, **common)
    if old["proportion"]:
        return Shifted(old["proportion"], **common)
    if old["is_count"]:
        return Count(**common)
    kind = _KINDS[old["interval"], bool(old["is_mean"])]
    return kind(**common) if kind is Proportion else kind(*old["bounds"], **common)


def moved_attribute(measure: Any, name: str) -> Any:
    """Return a field of a measure by its name in version 0.1; AttributeError if there was none of that name."""
    if name not in MOVED:
        raise AttributeError(
            f"{type(measure).__name__!r} object has no attribute {name!r}", name=name, obj=measure
        )
    warnings.warn(
        f"measure.{name} is not supported from the next release: write measure.inference.{MOVED[name]}",
        DeprecationWarning,
        stacklevel=3,
    )
    return getattr(measure.inference, MOVED[name])
