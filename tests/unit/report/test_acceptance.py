"""Thresholds of accepted answers in a report: the table, the figure, and what they leave out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.unit.report.runs import write

from confidence_tasks.cli import main
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.report import collect
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.figures import figure_svg
from confidence_tasks.report.figures.acceptance import acceptance
from confidence_tasks.report.figures.general import model_styles
from confidence_tasks.report.general_tables import extra_tables
from confidence_tasks.report.markdown import markdown_report
from confidence_tasks.report.results import TaskResults, results_without_numbers


def own(folder: Path, n: int = 400, **changes: Any) -> Path:
    """Trials with three confidences; answers are right in 19 of 20, 9 of 10 and half of the questions."""
    rng = np.random.default_rng(0)
    trials = []
    for i in range(n):
        confidence, wrong_every = ((0.975, 20), (0.8, 10), (0.5, 2))[i % 3]
        known = {"question_id": f"q{i}", "correct": int((i // 3) % wrong_every > 0), "confidence": confidence}
        trials.append(
            {"study": "scales", "source": "mine", "condition": "0-100", "status": "ok", "model": "m"} | known
        )
    rng.shuffle(trials)
    return write(folder / "mine.jsonl", [each | changes for each in trials])


def results_of(path: Path) -> TaskResults:
    (results,) = results_without_numbers(group_by_task(collect([path]).files))
    return replace(results, settings=Settings(n_resamples=50))


def thresholds(path: Path, accuracy: float) -> dict[str, Any]:
    done = CliRunner().invoke(
        main, ["threshold", str(path), "--accuracy", str(accuracy), "--json", "--no-cache"]
    )
    (found,) = json.loads(done.stdout)
    return found


def test_the_table_has_the_numbers_of_the_command(tmp_path: Path) -> None:
    path = own(tmp_path)
    (table,) = [each for each in extra_tables(results_of(path)) if each.name.endswith("acceptance")]
    (row,) = table.frame.to_dict("records")
    found = thresholds(path, 0.9)
    assert row["threshold for 0.9"] == f"{found['threshold']:.15g}" == "0.975"
    assert row["accepted for 0.9"] == pytest.approx(found["share"])
    assert row["accuracy for 0.9"] == pytest.approx(found["accuracy"])
    assert row["questions"] == "400"
    assert row["threshold for 0.95"] == "no threshold reaches this accuracy"
    assert thresholds(path, 0.95)["threshold"] is None


def test_a_guaranteed_threshold_is_marked_on_the_curve(tmp_path: Path) -> None:
    results = results_of(own(tmp_path))
    figure = acceptance(results, model_styles(["m"]))
    ((_, (panel,)),) = figure.rows
    assert panel.title == "0-100"
    text = figure_svg(figure)
    assert "m: at least 90% right from 0.975 on, 34% accepted" in text
    assert "at least 95% right" not in text


def test_epochs_are_one_question_in_the_table_and_in_the_command(tmp_path: Path) -> None:
    path = own(tmp_path)
    lines = path.read_text().splitlines()
    twice = [json.dumps(json.loads(line) | {"epoch": epoch}) for line in lines for epoch in (1, 2)]
    path.write_text("\n".join(twice))
    (each,) = results_of(path).accepted
    assert each.curve.n == 400
    assert float(each.found[0.9].threshold) == thresholds(path, 0.9)["threshold"]


def test_few_questions_have_no_thresholds(tmp_path: Path) -> None:
    results = results_of(own(tmp_path, n=99))
    assert results.accepted == []
    assert not any(each.name.endswith("acceptance") for each in extra_tables(results))
    assert acceptance(results, model_styles(["m"])).rows == (("", ()),)


def test_a_confidence_that_never_varies_has_no_threshold(tmp_path: Path) -> None:
    assert results_of(own(tmp_path, confidence=0.9)).accepted == []


def test_a_run_that_stopped_early_has_no_guarantee(tmp_path: Path) -> None:
    results = results_of(own(tmp_path))
    (model,) = results.models
    stopped = replace(model, files=(replace(model.files[0], stopped=3),))
    task = replace(results.task_trials, models=(stopped,))
    assert replace(results, task_trials=task).accepted == []


def test_markdown_has_the_table(tmp_path: Path) -> None:
    text = markdown_report([results_of(own(tmp_path))])
    assert "### Which answers may be accepted" in text
    assert "| m | 0-100 | 400 | 0.78 | 0.975 | 0.34 | 0.95 |" in text
