"""The measures of LifeEval, over all trials and by radius, sex and age.

arXiv:2605.23909, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from confidence_tasks.statistics import calibration
from confidence_tasks.studies.lifeeval.replies import CONDITIONS
from confidence_tasks.study import TaskMetrics
from confidence_tasks.study.columns import GRADED, smallest_of
from confidence_tasks.study.computations import proportion_of, statistic_of
from confidence_tasks.study.inference import UNIT, Bounded, BoundedMean, Student
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.measures import (
    CONFIDENCE,
    PARSE_RATE,
    PARSE_RATE_STRICT,
    calibration_error,
    extra_bin_error,
    mean_measure,
    rounded_share,
)
from confidence_tasks.study.metrics import select_measures, summarise

AGE_BANDS = ((0, 19), (20, 39), (40, 59), (60, 79), (80, 150))
"""Bands of the minimum age; both ends belong to the band."""


_SAME_SCORE = 1e-9
"""Maximum rounding error of a score."""


MEASURES: tuple[Measure, ...] = (
    calibration_error(
        "ece", "Expected calibration error against the life table, 10 bins closed on the right.", graded=True
    ),
    Measure(
        "score",
        proportion_of(lambda trials: trials["correct"]),
        "Mean probability that the guess is within the radius; replies without a guess are left out.",
        "higher",
        inference=Bounded(*UNIT),
    ),
    CONFIDENCE,
    mean_measure(
        "overconfidence",
        statistic_of(calibration.overconfidence, *GRADED),
        "Mean confidence minus mean score; above 0 is overconfident.",
    ),
    Measure(
        "hard_easy",
        statistic_of(calibration.hard_easy_slope, *GRADED, "difficulty"),
        "Slope of overconfidence on difficulty, 1 - MAS; above 0 is the hard-easy effect.",
        inference=Student(),
    ),
    Measure(
        "confidence_correlation",
        statistic_of(calibration.confidence_correlation, *GRADED),
        "Correlation of confidence with the probability that the guess is within the radius.",
        "higher",
        inference=Bounded(-1.0, 1.0),
    ),
    Measure(
        "mas",
        proportion_of(lambda trials: trials["mas"]),
        "Mean maximum achievable score of the questions asked.",
        inference=Bounded(*UNIT),
    ),
    Measure(
        "regret",
        proportion_of(lambda trials: trials["mas"] - trials["correct"]),
        "Mean maximum achievable score minus mean score.",
        "lower",
        inference=BoundedMean(
            *UNIT,
            informative=smallest_of(
                lambda trials: trials["mas"] - trials["correct"] > _SAME_SCORE, enough=10
            ),
        ),
    ),
    extra_bin_error(graded=True),
    rounded_share("confidence"),
    PARSE_RATE,
    PARSE_RATE_STRICT,
)

TOKEN_MEASURES: tuple[Measure, ...] = (
    mean_measure("token_confidence", "token_confidence", "Mean token probability of the guess.", bounds=UNIT),
    calibration_error(
        "token_ece",
        "Expected calibration error of the token probability of the guess.",
        confidence="token_confidence",
        graded=True,
    ),
)


def age_band(age: float) -> str:
    """Return the label of a minimum age's band.

    Examples
    --------
    >>> age_band(65.0), age_band(100.0)
    ('age=60-79', 'age=80+')
    """
    low, high = next(band for band in AGE_BANDS if age <= band[1])
    return f"age={low}+" if (low, high) == AGE_BANDS[-1] else f"age={low}-{high}"


GROUPINGS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "all": lambda trial: "all",
    "radius": lambda trial: str(trial["condition"]),
    "sex": lambda trial: f"sex={trial['sex']}",
    "age": lambda trial: age_band(trial["age"]),
}
"""Groupings of the trials: functions from a trial to the label of its group."""

N_LOGGED: Mapping[str, int] = {"sex": 4, "age": 4}
"""Number of measures that a log has for the groups of a grouping, where it does not have all; tables have all."""


def group_labels(radii: Sequence[int]) -> dict[str, list[str]]:
    """Return the group labels of every grouping, in order.

    Examples
    --------
    >>> group_labels([1, 20])["radius"]
    ['radius=1', 'radius=20']
    """
    return {
        "all": ["all"],
        "radius": [CONDITIONS.label(radius) for radius in radii],
        "sex": ["sex=female", "sex=male"],
        "age": [age_band(low) for low, _ in AGE_BANDS],
    }


def lifeeval_summary(
    trials: Sequence[Mapping[str, Any]],
    *,
    radii: Sequence[int],
    token_probabilities: bool = False,
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return measures over all trials and by radius, keyed ``name/group``.

    If ``names`` is None, all measures are returned, and the first four of them also by sex and age.
    """
    measures = select_measures(_measures(token_probabilities), names)
    summary: dict[str, float] = {}
    for grouping, labels in group_labels(radii).items():
        if names is None or grouping not in N_LOGGED:
            grouped = [{**trial, "condition": GROUPINGS[grouping](trial)} for trial in trials]
            summary |= summarise(grouped, measures[: N_LOGGED.get(grouping)], labels)
    return summary


def _measures(token_probabilities: bool) -> tuple[Measure, ...]:
    return MEASURES + TOKEN_MEASURES if token_probabilities else MEASURES


def lifeeval_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the metrics of a run: measures over all trials and by radius, sex and age."""
    token_probabilities = bool(parameters["top_logprobs"])
    radii = [int(CONDITIONS.number(label)) for label in conditions]
    arguments = {"radii": radii, "token_probabilities": token_probabilities}
    return TaskMetrics(lifeeval_summary, arguments, _measures(token_probabilities), "all", overall=("all",))
