"""Measures of scores of any range, which rank answers and are no probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from confidence_tasks.statistics.core import FloatArray, masked_as_nan
from confidence_tasks.study.signal_measures import SIGNAL_MEASURES

KINDS = ("confidence", "score", "uncertainty", "interval")

OF_PROBABILITIES = ("ece", "brier")
"""Measures that a score has only after recalibration."""

_WHY = "no value: a score is no probability"


def why_missing(name: str) -> str:
    """Return why a score does not have a measure of probabilities.

    Examples
    --------
    >>> for name in ("overconfidence", "ece"):
    ...     print(why_missing(name))
    no value: a score is no probability
    no value: a score is no probability; after recalibration it is ece_recalibrated
    """
    return f"{_WHY}; after recalibration it is {name}_recalibrated" if name in OF_PROBABILITIES else _WHY


def needs_probability(name: str, trials: pd.DataFrame) -> bool:
    """Return True for a measure of probabilities if a signal of the trials is a score."""
    if name not in (*OF_PROBABILITIES, "confidence", "overconfidence", "mratio"):
        return False
    is_signal = {"value", "probability"} <= set(trials)
    return is_signal and bool((trials["value"].notna() & trials["probability"].isna()).any())


SCORE_MEASURES = {
    measure.name: measure
    for measure in SIGNAL_MEASURES
    if measure.name not in (*OF_PROBABILITIES, "parse_rate")
}


def check_kind(kind: str) -> None:
    """Raise ValueError for an unknown kind of confidence."""
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")


def as_scores(values: Any, kind: str) -> FloatArray:
    """Return a column of scores of which a high one means sure, standardised; NaN where one is missing.

    ValueError for texts and infinite values.

    Examples
    --------
    >>> as_scores([-1.0, -3.0, np.nan], "score"), as_scores([0.0, 2.0], "uncertainty")
    (array([ 1., -1., nan]), array([ 1., -1.]))
    """
    try:
        numbers = np.asarray(masked_as_nan(values), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"confidence holds a value that is not a number: give scores as numbers ({error})"
        ) from None
    if np.isinf(numbers).any():
        raise ValueError("confidence holds an infinite score: give a finite number or NaN")
    known = numbers[~np.isnan(numbers)]
    spread = known.std() if len(known) else 0.0
    sign = -1.0 if kind == "uncertainty" else 1.0
    centred: FloatArray = sign * (numbers - (known.mean() if len(known) else 0.0))
    return centred / spread if spread > 0.0 else centred


def stretched(scores: FloatArray) -> FloatArray:
    """Return scores moved and stretched to [0, 1], which keeps their order."""
    known = scores[~np.isnan(scores)]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
    return (scores - low) / (high - low) if high > low else scores * 0.0 + 0.5


def with_scores(trials: pd.DataFrame, scores: FloatArray) -> pd.DataFrame:
    """Return trials with the columns that the measures of signals read."""
    return trials.assign(
        value=scores, probability=np.nan, status=np.where(np.isnan(scores), "missing_confidence", "ok")
    )


def left_out(measures: Sequence[str], n: int) -> Iterator[dict[str, Any]]:
    """Yield a row without a value, and the reason, for each measure that needs probabilities."""
    for name in OF_PROBABILITIES:
        if name in measures:
            missing = dict.fromkeys(("value", "low", "high"), np.nan)
            yield {"measure": name, **missing, "n": n, "reason": why_missing(name)}
