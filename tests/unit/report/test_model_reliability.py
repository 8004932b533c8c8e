"""Reliability of measures over models: whether halves of the questions, and epochs, order models alike."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.unit.report.test_reliability import trials, written

from confidence_tasks.logs.collection import collect
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.model_reliability import model_reliability_table
from confidence_tasks.report.results import TaskResults, results_and_lost
from confidence_tasks.statistics.core import Reason
from confidence_tasks.statistics.reliability import (
    halves_over_models,
    retest_over_models,
    split_half_reliability,
)


def models_that_differ(spread: float, n_models: int = 8) -> pd.DataFrame:
    """Two epochs of 80 questions; models differ in accuracy by ``spread``."""
    rng = np.random.default_rng(1)
    rows = trials(n=80, epochs=2, models=n_models)
    ability = np.linspace(-spread, spread, n_models)[rows["model"].str[1:].astype(int)]
    return rows.assign(correct=(rng.random(len(rows)) < np.clip(0.6 + ability, 0, 1)).astype(float))


def table(folder: Path, rows: pd.DataFrame) -> pd.DataFrame:
    return model_reliability_table(results_of(folder, rows)).frame


def results_of(folder: Path, rows: pd.DataFrame) -> TaskResults:
    written(folder / "all.jsonl", rows)
    ((results,), _) = results_and_lost(group_by_task(collect(folder).files), Settings(n_resamples=50))
    return results


def halves_by_pandas(rows: pd.DataFrame, seed: int) -> float:
    """The split-half reliability of accuracy by other splits, with the textbook's formula."""
    rng, corrected = np.random.default_rng(seed), []
    for _ in range(300):
        first = rng.permutation(rows["question_id"].unique())[:40]
        in_first = rows["question_id"].isin(first)
        halves = [rows[chosen].groupby("model")["correct"].mean() for chosen in (in_first, ~in_first)]
        corrected.append(stats.pearsonr(*halves).statistic)
    mean = float(np.mean(corrected))
    return 2 * mean / (1 + mean)


@pytest.mark.slow
@pytest.mark.parametrize(("spread", "low", "high"), [(0.3, 0.9, 1.0), (0.0, -1.0, 0.7)])
def test_a_measure_is_reliable_over_models_if_they_differ(
    tmp_path: Path, spread: float, low: float, high: float
) -> None:
    rows = models_that_differ(spread)
    found = table(tmp_path, rows).set_index("measure").loc["Accuracy"]
    assert low < found["split-half"] < high
    assert found["split-half"] == pytest.approx(halves_by_pandas(rows, seed=5), abs=0.1)
    of_epochs = [of_epoch.groupby("model")["correct"].mean() for _, of_epoch in rows.groupby("epoch")]
    assert found["test-retest"] == pytest.approx(stats.pearsonr(*of_epochs).statistic)
    assert (found["models"], found["questions"]) == (8, 80)


def test_measures_that_are_no_means_have_one_too(tmp_path: Path) -> None:
    found = table(tmp_path, models_that_differ(0.3)).set_index("measure")
    assert {"AUROC", "ECE"} <= set(found.index)
    assert found.loc["ECE", "split-half"] > 0.5  # confidences are alike, and accuracies differ


def test_few_models_and_models_with_other_questions_are_left_out(tmp_path: Path) -> None:
    assert table(tmp_path / "few", models_that_differ(0.3, n_models=4)).empty
    rows = models_that_differ(0.3, n_models=6)
    others = rows["model"] == "m5"
    rows.loc[others, "question_id"] = "other-" + rows.loc[others, "question_id"]
    assert set(table(tmp_path / "other", rows)["models"]) == {5}


def test_a_measure_that_is_fitted_to_all_questions_has_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its halves would not be independent; a measure that is fitted to each half has one."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(6, 60))
    rows = pd.DataFrame(
        {
            "study": "intervals",
            "task": "mine",
            "source": "mine",
            "condition": "p=0.8",
            "status": "ok",
            "model": f"m{model}",
            "question_id": f"q{i}",
            "epoch": 1,
            "correct": float(abs(truth[model, i]) < 1),
            "confidence": 0.8,
            "lower": -1.0,
            "upper": 1.0 + 0.1 * model,
            "truth": truth[model, i],
            "level": 0.8,
        }
        for model in range(6)
        for i in range(60)
    )
    results = results_of(tmp_path, rows)
    assert "Conformal Winkler score" in set(model_reliability_table(results).frame["measure"])
    fitted = [replace(measure, refitted=None) for measure in results.headline if measure.fitted]
    assert fitted
    monkeypatch.setitem(vars(results), "headline", fitted)
    assert model_reliability_table(results).frame.empty


def test_missing_and_equal_values_are_left_out_of_the_correlation() -> None:
    first, second = (
        np.array([[0.1, 0.2, 0.4], [0.1, np.nan, 0.2]]),
        np.array([[0.1, 0.3, 0.3], [0.2, 0.3, 0.1]]),
    )
    expected = stats.pearsonr(first[0], second[0]).statistic
    assert retest_over_models(first, second) == pytest.approx(expected)
    assert halves_over_models(first, second) == pytest.approx(2 * expected / (1 + expected))
    assert np.isnan(retest_over_models([0.1, 0.1, 0.1], [0.1, 0.2, 0.3]))
    assert np.isnan(retest_over_models([0.1, np.inf, np.inf], [0.1, 0.2, 0.3]))
    assert np.isnan(halves_over_models([0.1, 0.2], [0.1, 0.2]))
    with pytest.raises(ValueError, match="same shape"):
        retest_over_models([0.1, 0.2, 0.3], [0.1, 0.2])


def test_opposite_halves_have_no_corrected_reliability_and_a_reason() -> None:
    for found in (
        halves_over_models([[1.0, 2.0, 3.0]], [[3.0, 2.0, 1.0]]),
        split_half_reliability([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]]),
    ):
        assert math.isnan(found)
        assert found.reason == Reason.NOT_IDENTIFIED
