"""Labels of people correct the measures of answers that a judge graded."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from confidence_tasks.decisions.judged_command import judged
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.report import collect
from confidence_tasks.report.judges import judged_by_model
from confidence_tasks.report.results import results_without_numbers

N, N_LABELS = 400, 120


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    right = (rng.random(N) < 0.7).astype(int)
    return pd.DataFrame(
        {
            "study": "scales",
            "model": "lab/a",
            "question_id": [f"q-{i}" for i in range(N)],
            "source": "mine",
            "condition": "0-100",
            "correct": np.where(rng.random(N) < 0.9, right, 0),  # misses a tenth of the right answers
            "confidence": rng.integers(50, 100, N) / 100,
            "status": "ok",
            "right": right,
        }
    )


def labels_of(table: pd.DataFrame) -> pd.DataFrame:
    first = table.iloc[:N_LABELS]
    return pd.DataFrame({"question_id": first["question_id"], "correct": first["right"]})


def run(folder: Path, table: pd.DataFrame, labels: pd.DataFrame, *options: str) -> Result:
    (folder / "logs").mkdir(exist_ok=True)
    table.drop(columns="right").to_csv(folder / "logs" / "a.csv", index=False)
    labels.to_csv(folder / "labels.csv", index=False)
    arguments = [str(folder / "logs"), "--labels", str(folder / "labels.csv"), "--no-cache", *options]
    return CliRunner().invoke(judged, arguments)


def test_measures_are_corrected(tmp_path: Path, table: pd.DataFrame) -> None:
    result = run(tmp_path, table, labels_of(table), "--json")
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)["answers"]
    accuracy, over = found["measures"]["accuracy"], found["measures"]["overconfidence"]
    assert found["n_labels"] == N_LABELS
    assert accuracy["by_judge"] == pytest.approx(table["correct"].mean())
    assert accuracy["low"] <= table["right"].mean() <= accuracy["high"]
    assert accuracy["estimate"] > accuracy["by_judge"]
    assert over["estimate"] < over["by_judge"]


def test_the_terminal_shows_both_and_the_labels_that_fit_nothing(tmp_path: Path, table: pd.DataFrame) -> None:
    labels = pd.concat([labels_of(table), pd.DataFrame({"question_id": ["other"], "correct": [1]})])
    result = run(tmp_path, table, labels)
    assert "by the judge" in result.stdout
    assert "400 answers, 120 with a label" in result.stdout
    assert "1 labels fit no answer" in result.stderr


def test_a_label_of_one_model_is_not_that_of_another(tmp_path: Path, table: pd.DataFrame) -> None:
    both = pd.concat([table, table.assign(model="lab/b")])
    assert "fits 2 trials: add columns" in run(tmp_path, both, labels_of(table)).stderr
    result = run(tmp_path, both, labels_of(table).assign(model="lab/a"), "--json")
    assert [each["model"] for each in json.loads(result.stdout)["answers"]] == ["lab/a"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda labels: labels.rename(columns={"correct": "right"}), "labels need correct"),
        (lambda labels: labels.rename(columns={"question_id": "item"}), "question_id or sample_id"),
        (lambda labels: labels.assign(correct="perhaps"), "no verdicts"),
        (lambda labels: labels.assign(question_id="x" + labels["question_id"]), "no label fits a trial"),
        (
            lambda labels: pd.concat([labels, labels.assign(correct=1 - labels["correct"])]),
            "two labels of q-0 differ",
        ),
    ],
)
def test_unusable_labels_are_refused(tmp_path: Path, table: pd.DataFrame, change, message: str) -> None:  # type: ignore[no-untyped-def]
    result = run(tmp_path, table, change(labels_of(table)))
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_a_report_says_that_intervals_do_not_contain_the_errors_of_a_judge(
    tmp_path: Path, table: pd.DataFrame
) -> None:
    table.drop(columns="right").to_csv(tmp_path / "a.csv", index=False)
    (task,) = group_by_task(collect(tmp_path).files)
    (model,) = task.models
    files = tuple(replace(file, setup={**file.setup, "role.judge": "lab/judge"}) for file in model.files)
    judged_task = replace(task, models=(replace(model, files=files),))
    (plain,), (by_judge,) = (list(results_without_numbers([each])) for each in (task, judged_task))
    assert [notice.where for notice in judged_by_model(by_judge)] == [("lab/a: lab/judge",)]
    assert not list(judged_by_model(plain))
