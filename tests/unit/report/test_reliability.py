"""Reliability over epochs in the report, and more epochs against more questions in power analysis."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import stats
from tests.unit.report.runs import write

from confidence_tasks.cli import main
from confidence_tasks.logs.collection import collect
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.reliability import pilot_replies, reliability_table
from confidence_tasks.report.results import results_and_lost


def trials(n: int = 80, epochs: int = 3, models: int = 1, seed: int = 0, **changes: Any) -> pd.DataFrame:
    """Replies of models to the same questions in several epochs, of which some are easy for all models."""
    rng = np.random.default_rng(seed)
    p = rng.beta(2, 1, n)
    rows = [
        {
            "study": "scales",
            "source": "mine",
            "condition": "0-100",
            "status": "ok",
            "model": f"m{model}",
            "question_id": f"q{i}",
            "epoch": epoch,
            "correct": float(rng.random() < p[i]),
            "confidence": round(float(np.clip(p[i] + rng.normal(0, 0.1), 0, 1)), 2),
        }
        | changes
        for model in range(models)
        for i in range(n)
        for epoch in range(1, epochs + 1)
    ]
    return pd.DataFrame(rows)


def written(path: Path, rows: pd.DataFrame) -> Path:
    return write(path, rows.to_dict("records"))


def by_question(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    return rows.pivot_table(index="question_id", columns="epoch", values=column)


def power(*arguments: object, exit_code: int = 0) -> str:
    given = ["power", "scales", "--effect", "0.2", "--n", "20", "--studies", "100", *map(str, arguments)]
    done = CliRunner().invoke(main, given)
    assert done.exit_code == exit_code, done.output
    return done.stdout if exit_code == 0 else " ".join(done.output.split())


def as_table(path: Path) -> pd.DataFrame:
    ((results,), _) = results_and_lost(group_by_task(collect([path]).files), Settings(100))
    return reliability_table(results).frame


def test_the_table_has_the_reliability_of_confidence_and_of_means(tmp_path: Path) -> None:
    rows = trials()
    table = as_table(written(tmp_path / "a.jsonl", rows)).set_index("measure")
    assert list(table.index) == ["Confidence", "Accuracy"]  # every reply is readable, and an AUROC is no mean
    for label, column in (("Confidence", "confidence"), ("Accuracy", "correct")):
        wide = by_question(rows, column)
        f = stats.f_oneway(*wide.to_numpy()).statistic
        matrix = wide.corr().to_numpy()
        assert table.loc[label, "share between"] == pytest.approx((f - 1) / (f + 2))
        assert table.loc[label, "within"] == pytest.approx(wide.var(axis=1).mean())
        assert table.loc[label, "test-retest"] == pytest.approx(matrix[np.triu_indices(3, 1)].mean())
    assert table.loc["Confidence", ["questions", "replies each"]].tolist() == [80, 3]


def test_questions_that_are_asked_once_have_no_reliability(tmp_path: Path) -> None:
    assert as_table(written(tmp_path / "a.jsonl", trials(epochs=1))).empty


def test_sources_are_apart(tmp_path: Path) -> None:
    rows = pd.concat([trials(), trials(seed=1, source="other")])
    table = as_table(written(tmp_path / "a.jsonl", rows))
    assert table["source"].tolist() == ["mine", "mine", "other", "other"]


def test_a_pilot_compares_more_epochs_with_more_questions(tmp_path: Path) -> None:
    rows = trials()
    path = written(tmp_path / "a.jsonl", rows)
    found = json.loads(power("--measure", "accuracy", "--pilot", path, "--json"))
    designs = {each["epochs"]: each for each in found["designs"]}
    own = stats.sem(by_question(rows, "correct").mean(axis=1))
    assert designs[3]["questions"] == 80
    assert designs[3]["error"] == designs[3]["error_same_questions"] == pytest.approx(own)
    assert designs[1]["questions"] == 240
    assert designs[1]["error"] < designs[2]["error"] < designs[3]["error"]
    assert designs[10]["error_same_questions"] < designs[3]["error_same_questions"]
    told = " ".join(power("--measure", "accuracy", "--pilot", path).split())
    assert "The pilot has 3 replies to each of 80 questions" in told
    assert "more questions have the smaller standard error" in told


def test_a_pilot_of_two_models_is_about_their_difference(tmp_path: Path) -> None:
    rows = trials(models=2)
    tasks = group_by_task(collect([written(tmp_path / "a.jsonl", rows)]).files)
    found = pilot_replies(tasks, "scales", "accuracy", "0-100")
    assert found is not None
    first, second = (by_question(rows[rows["model"] == f"m{i}"], "correct") for i in range(2))
    assert found.within == pytest.approx((first.var(axis=1) + second.var(axis=1)).mean())
    difference = first.mean(axis=1) - second.mean(axis=1)
    assert found.between == pytest.approx(max(difference.var() - found.within / 3, 0.0))


def test_a_pilot_without_epochs_and_clusters_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", trials(epochs=1))
    assert "--cluster" in power("--measure", "accuracy", "--pilot", path, exit_code=2)
    several = written(tmp_path / "b.jsonl", trials())
    assert "no column 'passge'" in power("--pilot", several, "--cluster", "passge", exit_code=2)


def test_a_measure_that_is_no_mean_has_no_designs(tmp_path: Path) -> None:
    tasks = group_by_task(collect([written(tmp_path / "a.jsonl", trials())]).files)
    assert pilot_replies(tasks, "scales", "auroc", "0-100") is None
    with pytest.raises(ValueError, match="no trials of scales under 0-20"):
        pilot_replies(tasks, "scales", "accuracy", "0-20")
