"""Where too few trials decide a number, it stands everywhere without an interval, and why."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner
from tests.unit.report.runs import rows, write

from confidence_tasks.report.commands.compare import compare
from confidence_tasks.report.commands.report import report

WHY = "no interval: too few informative questions"


def almost_all_right(model):
    """Three wrong answers a condition, and confidence that varies."""
    made = rows("scales", model)
    asked = sorted({row["question_id"] for row in made})
    return [{**row, "correct": float(row["question_id"] not in asked[:3])} for row in made]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The page, the tables and the JSON of a report of such a model."""
    folder = tmp_path_factory.mktemp("withheld")
    trials = write(folder / "a.jsonl", almost_all_right("lab/steady"))
    options = ["-o", str(folder / "page.html"), "--tables", str(folder), "--resamples", "50", "--json"]
    done = CliRunner().invoke(report, [str(trials), *options])
    assert done.exit_code == 0, done.output
    return folder, json.loads(done.stdout)


def test_files_have_the_value_no_interval_and_the_reason(written):
    folder, _ = written
    table = pd.read_csv(folder / "estimates.csv").set_index("measure").query("by == 'condition'")
    auroc, accuracy = table.loc[["auroc"]], table.loc[["accuracy"]]
    assert auroc["value"].notna().all()
    assert auroc["low"].isna().all()
    assert auroc["high"].isna().all()
    assert (auroc["reason"] == WHY).all()
    assert accuracy["low"].notna().all()
    assert accuracy["reason"].isna().all()
    contrasts = pd.read_csv(folder / "contrasts.csv").query("measure == 'auroc'")
    assert contrasts[["value", "p_exchange"]].notna().all(axis=None)
    assert (
        contrasts["p_value"].isna() | (contrasts["value"] == 0.0)
    ).all()  # what has no interval has no p-value
    assert contrasts["low"].isna().all()
    assert (contrasts["reason"] == WHY).all()


def test_json_has_them_too(written):
    _, printed = written
    (first, *_) = [entry for entry in printed["estimates"] if entry["measure"] == "auroc"]
    assert isinstance(first["value"], float)
    assert first["low"] is first["high"] is None
    assert first["reason"] == WHY


def test_the_page_says_why(written):
    folder, _ = written
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "too few informative questions" in page
    assert "[nan" not in page.lower()


def test_a_comparison_says_why(tmp_path):
    paths = [
        write(tmp_path / f"{name}.jsonl", almost_all_right(f"lab/{name}")) for name in ("steady", "bold")
    ]
    done = CliRunner().invoke(compare, [*map(str, paths), "--resamples", "50", "--json"])
    assert done.exit_code == 0, done.output
    (first, *_) = [each for each in json.loads(done.stdout)["comparisons"] if each["measure"] == "auroc"]
    assert first["difference_low"] is None
    assert first["difference_reason"] == first["first_value_reason"] == WHY
    shown = CliRunner().invoke(compare, [*map(str, paths), "--resamples", "50"])
    assert "too few" in shown.output


def two_wrong_questions(model, epochs):
    made = rows("scales", model)
    wrong = sorted({row["question_id"] for row in made})[:2]
    return [
        {**row, "correct": float(row["question_id"] not in wrong), "epoch": epoch}
        for row in made
        for epoch in range(1, epochs + 1)
    ]


@pytest.mark.parametrize("epochs", [1, 6])
def test_two_wrong_questions_are_two_however_often_they_are_asked(tmp_path, epochs):
    trials = write(tmp_path / "a.jsonl", two_wrong_questions("lab/steady", epochs))
    options = ["-o", str(tmp_path / "page.html"), "--tables", str(tmp_path), "--resamples", "50"]
    done = CliRunner().invoke(report, [str(trials), *options])
    assert done.exit_code == 0, done.output
    table = pd.read_csv(tmp_path / "estimates.csv").set_index("measure").query("by == 'condition'")
    for measure in ("auroc", "brier"):
        assert (table.loc[[measure], "reason"] == WHY).all(), measure
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "2 wrong" in page
    assert "12 wrong" not in page
