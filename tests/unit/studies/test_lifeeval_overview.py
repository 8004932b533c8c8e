"""The table "Models side by side": measures on the questions that all models answered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.unit.report.runs import rows, undrawn_report, write

from confidence_tasks.report import Report, collect
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.statistics import ece

FEW = Settings(n_resamples=100)
UNANSWERED = {"lab/steady": range(10), "lab/bold": range(6, 14)}
"""Questions to which each model stated no confidence."""

N_COMMON = 44 - 14


def _answers(model: str) -> list[dict[str, object]]:
    return [
        {**row, "confidence": None, "status": "missing_confidence"} if i in UNANSWERED[model] else row
        for i, row in enumerate(rows("lifeeval", model))
    ]


def _report(folder: Path, *models: str) -> Report:
    for model in models:
        write(folder / f"{model[4:]}.jsonl", _answers(model))
    return undrawn_report(collect(folder), settings=FEW)


@pytest.fixture(scope="module")
def two_models(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return _report(tmp_path_factory.mktemp("lives"), *UNANSWERED)


def test_models_are_compared_on_the_questions_that_all_of_them_answered(two_models: Report) -> None:
    table = next(extra for extra in two_models.extras if extra.name == "lifeeval_overview")
    assert f"On the {N_COMMON} of 44 questions that every model answered" in table.note
    assert list(table.frame["n"]) == [N_COMMON] * 2
    for model, row in table.frame.set_index("model").iterrows():
        left = [each for i, each in enumerate(_answers(str(model))) if i not in {*range(14)}]
        correct, confidence = (np.array([each[key] for each in left]) for key in ("correct", "confidence"))
        assert row["Score"] == pytest.approx(correct.mean())
        assert row["Best possible score"] == pytest.approx(np.mean([each["mas"] for each in left]))
        assert row["ECE"] == pytest.approx(float(ece(correct, confidence)))
        assert row["ECE low"] <= row["ECE"] <= row["ECE high"]


def test_one_model_is_measured_on_the_questions_that_it_answered(tmp_path: Path) -> None:
    table = next(extra for extra in _report(tmp_path, "lab/bold").extras if extra.name == "lifeeval_overview")
    assert "On the 36 of 44 questions that the model answered" in table.note


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Return the report on two studies in which every question was answered."""
    folder = tmp_path_factory.mktemp("answered")
    for study in ("lifeeval", "scales"):
        for model in UNANSWERED:
            write(folder / f"{study}-{model[4:]}.jsonl", rows(study, model))
    return undrawn_report(collect(folder), settings=FEW)


def test_if_all_questions_are_answered_the_estimates_are_those_of_other_tables(report: Report) -> None:
    table = next(extra for extra in report.extras if extra.name == "lifeeval_overview").frame
    results = next(each for each in report.results if each.task_trials.task == "lifeeval")
    for model, row in table.set_index("model").iterrows():
        entry = results.estimate(str(model), "all", "ece")
        assert entry is not None
        assert (row["ECE"], row["ECE low"], row["ECE high"]) == (
            entry.interval.estimate,
            entry.interval.low,
            entry.interval.high,
        )


@pytest.mark.parametrize(
    ("task", "whiskers", "phrase"), [("lifeeval", 0, "It is exact"), ("scale_granularity", 2, "Wilson")]
)
def test_a_reliability_diagram_of_scores_has_no_wilson_intervals(
    report: Report, task: str, whiskers: int, phrase: str
) -> None:
    from matplotlib.figure import Figure

    reliability = next(figure for figure in report.figures if figure.name == f"{task}_reliability")
    assert phrase in reliability.caption
    for _, row in reliability.rows:
        for panel in row:
            axes = Figure().add_subplot()
            panel.draw(axes)
            assert len(axes.collections) == whiskers


def test_people_stand_beside_the_models_by_radius(two_models):
    frame = next(extra for extra in two_models.extras if extra.name == "lifeeval_people").frame
    people = frame[frame["model"] == "People"].set_index("radius")
    assert people["confidence"].tolist() == [0.46, 0.59, 0.69, 0.78]
    assert people["score"].tolist() == [0.106, 0.373, 0.616, 0.865]
    assert people.loc["20", "overconfidence"] == pytest.approx(-0.085)
    (results,) = two_models.results
    for row in frame[frame["model"] != "People"].to_dict("records"):
        entry = results.estimate(row["model"], f"radius={row['radius']}", "confidence")
        assert row["confidence"] == float(entry.interval.estimate)
