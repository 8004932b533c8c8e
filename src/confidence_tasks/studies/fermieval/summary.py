"""What a log of FermiEval holds of its measures: at each level, and averaged over levels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from confidence_tasks import statistics
from confidence_tasks.studies.fermieval.adjusted_measures import CONFORMAL_MEASURES, JACKKNIFE_MEASURES
from confidence_tasks.studies.fermieval.measures import MEASURES
from confidence_tasks.studies.fermieval.replies import TEST, condition_of, level_of
from confidence_tasks.study import TaskMetrics
from confidence_tasks.study.metrics import select_measures, summarise
from confidence_tasks.study.units import SAMPLING_UNIT

if TYPE_CHECKING:
    from numpy.typing import NDArray


REPORTED_MEASURES = MEASURES + CONFORMAL_MEASURES + JACKKNIFE_MEASURES
"""Measures of stated and of adjusted intervals, for runs with and without a calibration half."""


def fermieval_summary(
    trials: Sequence[Mapping[str, Any]],
    levels: Sequence[float],
    *,
    conformal: bool = True,
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return every measure at every level and averaged over levels.

    Intervals are adjusted by the calibration half or, with ``conformal=False``, by all other questions. Keys are
    ``name/p=0.95`` at a level and ``name/all`` for the mean over levels. Unless ``names`` selects measures,
    ``coverage_low`` and ``coverage_high`` are the limits of Wilson's 95% interval of coverage.
    """
    labels = [condition_of(level) for level in levels]
    measures = select_measures(MEASURES + (CONFORMAL_MEASURES if conformal else JACKKNIFE_MEASURES), names)
    values = summarise(trials, measures, labels)
    averages = {
        f"{measure.name}/all": sum(values[f"{measure.name}/{label}"] for label in labels) / len(labels)
        for measure in measures
    }
    return averages | values | (_coverage_limits(trials, labels) if names is None else {})


def _coverage_limits(trials: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> dict[str, float]:
    limits: dict[str, float] = {}
    scored = [trial for trial in trials if trial["split"] == TEST and not math.isnan(trial["correct"])]
    for label in labels:
        of_level = [trial for trial in scored if trial["condition"] == label]
        n_held = sum(trial["correct"] for trial in of_level)
        units = [trial.get(SAMPLING_UNIT, trial["question_id"]) for trial in of_level]
        low, high = coverage_interval(n_held, units)
        limits |= {f"coverage_low/{label}": low, f"coverage_high/{label}": high}
    return limits


def coverage_interval(n_held: float, units: Sequence[str] | NDArray[Any]) -> tuple[float, float]:
    """Return Wilson's 95% interval of coverage, given the number of trials that hold the truth and their units.

    The intervals of a unit, such as a question in several epochs, are assumed to hold the truth all together or not at
    all, so that the number of independent trials is Kish's effective number.

    Examples
    --------
    >>> low, high = coverage_interval(6, ["a", "a", "b", "b", "c", "c", "d", "d"])  # 3 of 4
    >>> round(low, 3), round(high, 3)
    (0.301, 0.954)
    """
    n, sizes = len(units), np.array([*Counter(units).values()], dtype=np.float64)
    independent = n**2 / float(np.square(sizes).sum()) if n else 0.0
    low, high = statistics.wilson_interval(n_held * independent / max(n, 1), independent)
    return float(low), float(high)


CALIBRATED = ("all", "authors")
"""Splits that have a calibration half."""


LOGGED = ("coverage", "coverage_gap", "mean_width", "winkler", "parse_rate")
"""Measures that logs of the tasks on exponents hold by default."""


def fermieval_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures by level: those of adjustment by the calibration half or, without one, by jackknife+."""
    calibrated = parameters["split"] in CALIBRATED
    return TaskMetrics(
        fermieval_summary,
        {"levels": [level_of(label) for label in conditions], "conformal": calibrated},
        MEASURES + (CONFORMAL_MEASURES if calibrated else JACKKNIFE_MEASURES),
        conditions[0] if len(conditions) == 1 else "all",
        overall=("all",),
    )
