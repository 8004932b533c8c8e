"""Conditions against the baseline: only on sources that both were asked of."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tests.analysis.runs import write

from confidence_tasks.analysis import Report, collect, report_of
from confidence_tasks.analysis.estimates import Distribution, Settings
from confidence_tasks.statistics import BinnedTrials, Estimate

N = 40
RIGHT = {"easy": 36, "hard": 10, "other": 20}
"""Right answers to the questions of each source, whatever the condition."""

ASKED = {"0-100": ("easy", "hard"), "0-20": ("easy",), "0-10": ("easy", "hard"), "0-5": ("other",)}


def _rows() -> list[dict[str, object]]:
    rng = np.random.default_rng(0)
    confidence = {key: rng.choice([0.6, 0.7, 0.8, 0.9]) for key in product(RIGHT, range(N))}
    return [
        {
            "study": "scales",
            "task": "scale_granularity",
            "model": "lab/same",
            "question_id": f"{source}-{i}",
            "source": source,
            "condition": condition,
            "correct": float(i < RIGHT[source]),
            "confidence": confidence[source, i],
            "status": "ok",
        }
        for condition, sources in ASKED.items()
        for source in sources
        for i in range(N)
    ]


@pytest.fixture(scope="module")
def same_answers(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """One model that gives each question the same answer under every condition."""
    path = write(tmp_path_factory.mktemp("sources") / "trials.jsonl", _rows())
    return report_of(collect(path), settings=Settings(n_resamples=200))


@pytest.mark.parametrize(("condition", "n_questions"), [("0-20", N), ("0-10", 2 * N)])
def test_identical_answers_differ_in_nothing(same_answers: Report, condition: str, n_questions: int) -> None:
    (found,) = same_answers.findings
    for measure in ("accuracy", "brier", "ece"):
        contrast = found.contrast("lab/same", condition, measure)
        assert contrast is not None
        assert contrast.interval.estimate == 0.0
        assert contrast.p_value == 1.0
        assert contrast.interval.n_units == n_questions


def test_without_a_shared_source_there_is_no_contrast(same_answers: Report) -> None:
    (found,) = same_answers.findings
    assert {contrast.group for contrast in found.contrasts} == {"0-10", "0-20"}


def test_the_report_says_on_which_sources_conditions_were_compared(same_answers: Report) -> None:
    (task,) = same_answers.tasks
    titles = {notice.title: notice.where for notice in task.notices}
    assert titles["Conditions were asked of different sources"] == (
        "lab/same, 0-5: not compared",
        "lab/same, 0-20: compared on easy only",
    )
    assert "Accuracy changes with the condition" not in titles


def test_shares_are_no_further_apart_than_one(tmp_path: Path) -> None:
    """Nearly always right, and nearly never: twice the standard error above the difference lies more than 1."""
    rows = [
        {**row, "correct": float((row["condition"] == "0-20") == (row["question_id"] != "easy-0"))}
        for row in _rows()
        if row["source"] == "easy"
    ]
    path = write(tmp_path / "trials.jsonl", rows)
    (found,) = report_of(collect(path), settings=Settings(n_resamples=200)).findings
    contrast = found.contrast("lab/same", "0-20", "accuracy")
    assert contrast is not None
    assert 0.7 < contrast.interval.low < contrast.interval.estimate < contrast.interval.high == 1.0


def test_calibration_errors_differ_as_samples_do_and_not_as_resamples() -> None:
    rng = np.random.default_rng(0)
    confidence = rng.choice([0.6, 0.8], 200)
    held = BinnedTrials.of((rng.random(200) < confidence).astype(float), confidence)
    error = Distribution(
        Estimate(held.estimate), held.estimate + 0.2 * rng.normal(size=5_000), frozenset(), binned=held
    )
    nothing = Distribution(Estimate(0.0), np.zeros(5_000), frozenset())
    difference = error - nothing
    assert held.standard_error < 0.1
    assert np.std(difference.resamples) == pytest.approx(held.standard_error)
    assert np.corrcoef(difference.resamples, error.resamples)[0, 1] == pytest.approx(1.0)
