"""The measures of each question set.

arXiv:2605.23909, sections 5 and 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from confidence_tasks.statistics import sdt
from confidence_tasks.studies.lifeeval.question_sets.replies import QUESTION_SETS, Form
from confidence_tasks.study import TaskMetrics
from confidence_tasks.study.columns import right_and_wrong, smallest_of
from confidence_tasks.study.computations import proportion_of, statistic_of
from confidence_tasks.study.inference import UNIT, Percentile
from confidence_tasks.study.measure import Better, Measure
from confidence_tasks.study.measures import (
    ACCURACY,
    ACCURACY_OF_ALL,
    CONFIDENCE,
    PARSE_RATE,
    PARSE_RATE_STRICT,
    auroc,
    calibration_error,
    extra_bin_error,
    mean_measure,
    overconfidence,
    proportion_measure,
    rounded_share,
)
from confidence_tasks.study.metrics import select_measures, summarise
from confidence_tasks.study.standard import (
    BRIER,
    OVERCONFIDENCE,
    with_enough_of_each_class,
    with_stable_d_prime,
)

MEASURES: tuple[Measure, ...] = (
    calibration_error("ece", "Expected calibration error, 10 bins closed on the right."),
    ACCURACY,
    ACCURACY_OF_ALL,
    CONFIDENCE,
    OVERCONFIDENCE,
    BRIER,
    auroc(
        "auroc",
        "Chance that a right stated answer has more confidence than a wrong one; ties count one half.",
        "answer_correct",
        "answer_confidence",
    ),
    extra_bin_error(),
    rounded_share("confidence_raw"),
    PARSE_RATE,
    PARSE_RATE_STRICT,
)
"""Measures of every set."""

BOOLEAN_MEASURES: tuple[Measure, ...] = (
    Measure(
        "mratio",
        with_enough_of_each_class(
            with_stable_d_prime(
                statistic_of(sdt.m_ratio_2afc, "correct", "confidence", "stimulus"),
                statistic_of(sdt.d_prime_2afc, "correct", "confidence", "stimulus"),
            )
        ),
        "Textbook meta-d' / d' from key, answer and confidence: 1 is ideal; withheld if d' is below 0.5.",
        "higher",
        inference=Percentile(informative=smallest_of(*right_and_wrong())),
    ),
    Measure(
        "meta_d",
        with_enough_of_each_class(statistic_of(sdt.meta_d_2afc, "correct", "confidence", "stimulus")),
        "Textbook meta-d': type-2 sensitivity of the confidences, by maximum likelihood.",
        "higher",
        inference=Percentile(informative=smallest_of(*right_and_wrong())),
    ),
)


def _calibration_measures(
    prefix: str, ece: str, accuracy: str, confidence: str, over: str, better: Better = "higher"
) -> tuple[Measure, ...]:
    """Return calibration error, accuracy, mean confidence and overconfidence, with their descriptions.

    The columns are ``{prefix}_correct`` and ``{prefix}_confidence``; ``better`` is the direction of accuracy.
    """
    columns = f"{prefix}_correct", f"{prefix}_confidence"
    return (
        calibration_error(f"{prefix}_ece", ece, *columns),
        proportion_measure(f"{prefix}_accuracy", columns[0], accuracy, better),
        mean_measure(columns[1], columns[1], confidence, bounds=UNIT),
        overconfidence(f"{prefix}_overconfidence", over, *columns),
    )


OPTIONS_MEASURES: tuple[Measure, ...] = _calibration_measures(
    "answer",
    "Expected calibration error of the stated answers, as in tables 3 and 4 of the paper.",
    "Mean correctness of the stated answers, whichever option has the highest probability.",
    "Mean normalised probability of the stated answers.",
    "Mean probability of the stated answers minus their accuracy.",
)


JUDGEMENT_MEASURES: tuple[Measure, ...] = (
    proportion_measure(
        "own_answer_share",
        proportion_of(
            lambda trials: np.array(["own_answer" in rules.split("+") for rules in trials["rules"]])
        ),
        "Share of replies that replace the given answer by an answer of their own.",
    ),
    *_calibration_measures(
        "judged",
        "Expected calibration error of the replies that judge the given answer.",
        "Share of right answers among the given answers that are judged.",
        "Mean confidence of the replies that judge the given answer.",
        "Mean confidence minus accuracy of the replies that judge the given answer.",
        better="neither",
    ),
    auroc(
        "judged_auroc",
        "Chance that a right judged answer has more confidence than a wrong one; ties count one half.",
        "judged_correct",
        "judged_confidence",
    ),
)


TOKEN_MEASURES: tuple[Measure, ...] = _calibration_measures(
    "token",
    "Expected calibration error of the token probabilities.",
    "Mean correctness of the options with the highest token probability.",
    "Mean token probability of the options with the highest token probability.",
    "Mean token probability of the options with the highest token probability, minus their mean correctness.",
)


FORM_MEASURES: Mapping[Form, tuple[Measure, ...]] = {
    "boolean": BOOLEAN_MEASURES,
    "options": OPTIONS_MEASURES,
    "judgement": JUDGEMENT_MEASURES,
}
"""Measures of the sets of each form, in addition to `MEASURES`."""

ALL_MEASURES = MEASURES + BOOLEAN_MEASURES + OPTIONS_MEASURES + JUDGEMENT_MEASURES + TOKEN_MEASURES
"""The measures of all sets; a measure that does not apply to a set is NaN or trivial."""


def measures_of(form: Form, *, token_probabilities: bool = False) -> tuple[Measure, ...]:
    """Return the measures of the question sets of a form."""
    return MEASURES + FORM_MEASURES[form] + (TOKEN_MEASURES if token_probabilities else ())


def question_set_summary(
    trials: Sequence[Mapping[str, Any]],
    *,
    task: str,
    conditions: Sequence[str],
    token_probabilities: bool = False,
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return the named measures of a question set, by default all."""
    measures = measures_of(QUESTION_SETS[task].form, token_probabilities=token_probabilities)
    return summarise(trials, select_measures(measures, names), conditions)


LOGGED = ("ece", "accuracy", "overconfidence", "auroc", "parse_rate")
"""Measures that logs have by default; the mean confidence is the sum of accuracy and overconfidence."""


def question_set_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the metrics of a run: the measures of the set's form; HaluEval has no token probabilities."""
    task = parameters["task"]
    token_probabilities = bool(parameters.get("top_logprobs"))
    arguments = {"task": task, "conditions": list(conditions), "token_probabilities": token_probabilities}
    measures = measures_of(QUESTION_SETS[task].form, token_probabilities=token_probabilities)
    return TaskMetrics(question_set_summary, arguments, measures, conditions[0], default_measures=LOGGED)
