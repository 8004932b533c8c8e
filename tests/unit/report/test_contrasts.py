"""Conditions against the baseline: only on sources that both were asked of."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tests.unit.report.runs import undrawn_report, write

from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.report import Report, collect
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.page.first_screen import contrast_sentences
from confidence_tasks.report.result_tables import contrasts_frame
from confidence_tasks.report.results import TaskResults, compute_results
from confidence_tasks.statistics import permutation_test

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
    return undrawn_report(collect(path), settings=Settings(n_resamples=200))


@pytest.mark.parametrize(("condition", "n_questions"), [("0-20", N), ("0-10", 2 * N)])
def test_identical_answers_differ_in_nothing(same_answers: Report, condition: str, n_questions: int) -> None:
    (results,) = same_answers.results
    for measure in ("accuracy", "brier", "ece"):
        contrast = results.contrast("lab/same", condition, measure)
        assert contrast is not None
        assert contrast.interval.estimate == 0.0
        assert contrast.p_value == 1.0
        assert contrast.interval.n_units == n_questions


def test_without_a_shared_source_there_is_no_contrast(same_answers: Report) -> None:
    (results,) = same_answers.results
    assert {contrast.group for contrast in results.contrasts} == {"0-10", "0-20"}


def test_the_report_says_on_which_sources_conditions_were_compared(same_answers: Report) -> None:
    (task,) = same_answers.tasks
    titles = {notice.title: notice.where for notice in task.notices}
    assert titles["Conditions used different question sources"] == (
        "lab/same, 0-5: not compared",
        "lab/same, 0-20: compared on easy only",
        "lab/same, 0-10: averaged without hard",
        "lab/same, 0-100: averaged without hard",
    )
    assert "Accuracy differs between conditions" not in titles


def test_shares_are_no_further_apart_than_one(tmp_path: Path) -> None:
    """Nearly always right, and nearly never: twice the standard error above the difference lies more than 1."""
    rows = [
        {**row, "correct": float((row["condition"] == "0-20") == (row["question_id"] != "easy-0"))}
        for row in _rows()
        if row["source"] == "easy"
    ]
    path = write(tmp_path / "trials.jsonl", rows)
    (results,) = undrawn_report(collect(path), settings=Settings(n_resamples=200)).results
    contrast = results.contrast("lab/same", "0-20", "accuracy")
    assert contrast is not None
    assert 0.7 < contrast.interval.low < contrast.interval.estimate < contrast.interval.high == 1.0


CONDITIONS = {
    "scale_granularity": ("0-100", "0-20", "0-10"),
    "scale_boundary": ("0-100", "40-100"),
}
SHIFT = {"0-100": 0.0, "0-20": 0.0, "0-10": -0.45, "40-100": -0.3}
"""How much lower confidence is under a condition, which does not change how well it ranks answers."""
GAIN = {"0-100": 0.02, "0-20": 0.25, "0-10": 0.2, "40-100": 0.02}
"""How much more confidence right answers have."""


def _shifted(n: int = 150, gain: dict[str, float] = GAIN) -> list[dict[str, object]]:
    rng = np.random.default_rng(3)
    correct = {(source, i): float(rng.random() < 0.75) for source in ("easy", "hard") for i in range(n)}
    return [
        {
            "study": "scales",
            "task": task,
            "model": "lab/shifting",
            "question_id": f"{source}-{i}",
            "source": source,
            "condition": condition,
            "correct": right,
            "confidence": round(
                float(
                    np.clip(0.7 + SHIFT[condition] + gain[condition] * right + rng.normal(0.0, 0.13), 0, 1)
                ),
                2,
            ),
            "status": "ok",
        }
        for task, conditions in CONDITIONS.items()
        for condition in conditions
        for (source, i), right in correct.items()
    ]


@pytest.fixture(scope="module")
def shifted(tmp_path_factory: pytest.TempPathFactory) -> tuple[TaskResults, ...]:
    """One model whose level of confidence changes with the condition, in two tasks."""
    path = write(tmp_path_factory.mktemp("shifted") / "trials.jsonl", _shifted())
    return tuple(compute_results(group_by_task(collect(path).files), Settings(n_resamples=400)))


def test_a_difference_is_significant_exactly_when_its_interval_leaves_out_0(
    shifted: tuple[TaskResults, ...],
) -> None:
    outcomes = set()
    for task in shifted:
        for contrast in task.contrasts:
            low, high = contrast.interval.low, contrast.interval.high
            if math.isnan(low):
                assert math.isnan(contrast.p_value) or contrast.p_value == 1.0
            else:
                assert (contrast.p_value <= 0.05) == (low > 0.0 or high < 0.0), contrast
                outcomes.add((contrast.interval.method, contrast.p_value <= 0.05))
    assert outcomes >= set(product(("exchange", "mover"), (False, True)))


def test_a_shift_of_level_does_not_hide_a_difference_in_ranking(shifted: tuple[TaskResults, ...]) -> None:
    """Exchanging conditions mixes the two levels, which makes differences in AUROC that are not there."""
    found = shifted[0]
    ranking = found.contrast("lab/shifting", "0-10", "auroc")
    assert ranking is not None
    assert ranking.interval.low > 0.0
    assert ranking.p_value < 0.01
    assert ranking.p_exchange > 2 * ranking.p_value


def test_the_papers_test_keeps_a_column(shifted: tuple[TaskResults, ...]) -> None:
    """It is the permutation test of accuracy, which is alike under all conditions, and of the Brier score."""
    frame = contrasts_frame(shifted)
    rows = frame[(frame.measure == "brier") & (frame.condition == "0-20")]
    trials = {(row["condition"], row["source"], row["question_id"]): row for row in _shifted()}

    def mean_over_sources(score: np.ndarray, source: np.ndarray, *, weights: np.ndarray) -> np.ndarray:
        both = (source == 0.0, source == 1.0)
        of_each = [(weights[..., its] @ score[its]) / weights[..., its].sum(axis=-1) for its in both]
        return np.mean(of_each, axis=0)

    sides = []
    for condition in ("0-20", "0-100"):
        its = [row for key, row in trials.items() if key[0] == condition]
        score = np.array([(row["confidence"] - row["correct"]) ** 2 for row in its])
        sides.append([score, np.array([float(row["source"] == "hard") for row in its])])
    wanted = permutation_test(mean_over_sources, *sides, n_resamples=2_000)
    assert rows.p_exchange.item() == pytest.approx(wanted.p_value, abs=0.05)


def test_p_values_are_corrected_for_all_comparisons_of_a_study(shifted: tuple[TaskResults, ...]) -> None:
    several = 0
    for task in shifted:
        for contrast in task.contrasts:
            if not math.isnan(contrast.p_value):
                assert contrast.p_adjusted == pytest.approx(min(1.0, 3 * contrast.p_value))
                several += 1
    assert several > 10


def _said(tmp_path: Path, threshold_only: bool) -> str:
    """What the report says of M-ratio where the steps of a scale move what passes .9, or where more is known."""
    rng = np.random.default_rng(5)
    rows = _shifted(800, dict.fromkeys(GAIN, 0.02) | ({} if threshold_only else {"0-20": 0.12}))
    for row in rows:
        if threshold_only and row["condition"] == "0-20" and row["confidence"] > 0.84:
            row["confidence"] = 0.91 if row["correct"] or rng.random() < 0.25 else 0.9
    path = write(tmp_path / "trials.jsonl", rows)
    results, _ = compute_results(group_by_task(collect(path).files), Settings(n_resamples=400))
    return " ".join(contrast_sentences(results))


@pytest.mark.slow
def test_a_difference_of_m_ratio_needs_a_corroborating_measure(tmp_path: Path) -> None:
    known = _said(tmp_path, threshold_only=False)
    assert "M-ratio differs significantly from the baseline 0-100 for lab/shifting on 0-20" in known
    assert "splits the scales at different points" not in known
    cut = _said(tmp_path, threshold_only=True)
    assert "M-ratio differs significantly from the baseline 0-100 for lab/shifting on 0-20" in cut
    assert "neither AUROC nor meta-information differs in the same direction" in cut
