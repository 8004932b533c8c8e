"""Ranking and calibration of the answers that RiskEval's model chose to give."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from confidence_tasks.statistics import calibration, selective
from confidence_tasks.studies.riskeval.policies import answers
from confidence_tasks.study.columns import right_and_wrong, rows_of, smallest_of
from confidence_tasks.study.computations import restrict_to, statistic_of
from confidence_tasks.study.inference import Bounded, Columns, Informative, Inverted, Proportion
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.measures import calibration_error

if TYPE_CHECKING:
    from confidence_tasks.statistics.core import IntArray
    from confidence_tasks.statistics.inference.limits import InvertedTest


def _on_answers(measure: Measure) -> Measure:
    """Restrict a measure to the answers that the model chose to give."""

    def informative(trials: Columns) -> Informative:
        return smallest_of(*right_and_wrong())(rows_of(trials, answers(trials)))

    def test_of(trials: Columns, questions: IntArray) -> InvertedTest:
        assert measure.inference.test is not None
        answered = answers(trials)
        return measure.inference.test(rows_of(trials, answered), questions[answered])

    inference = replace(measure.inference, informative=informative)
    if isinstance(inference, Inverted):
        inference = replace(inference, test_of=test_of)
    return replace(measure, compute=restrict_to(answers, measure.compute), inference=inference)


OF_ANSWERS: tuple[Measure, ...] = (
    _on_answers(
        Measure(
            "auarc",
            statistic_of(selective.auarc, "correct", "confidence"),
            "Area under the accuracy-rejection curve of the answers.",
            "higher",
            inference=Bounded(0.0, 1.0),
        )
    ),
    _on_answers(
        calibration_error("ece", "Expected calibration error of the answers, 10 bins of equal width.")
    ),
    _on_answers(
        Measure(
            "brier",
            statistic_of(calibration.brier, "correct", "confidence"),
            "Mean squared difference of confidence and correctness of the answers.",
            "lower",
            inference=Proportion(),
        )
    ),
)
"""Ranking and calibration of the answers that the model chose to give."""
