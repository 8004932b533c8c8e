"""The user's file about models: what it may hold, its errors, and the papers' tables that show it."""

import csv
import json
import math

import pytest
from tests.unit.report.paper_runs import MODELS, filled_from, life_rows
from tests.unit.report.runs import write

from confidence_tasks.logs.about_models import FIELDS, AboutModel, read_models
from confidence_tasks.replications.numbers import about
from confidence_tasks.report.groups import groups_by_kind
from confidence_tasks.report.paper import Cell, PaperTable, Runs
from confidence_tasks.report.paper.files import html_table, latex_paper_table

FACTS = {
    MODELS[0]: AboutModel("Lab & Co", "8B", "Reasoning", "5.7 GB", "https://lab.example/a_b?c=1&d=2"),
    MODELS[1]: AboutModel(family="<i>Base</i>", kind="base"),
}


def rows_of(facts):
    return [
        {"model": name, **{field: getattr(each, field) for field in FIELDS if getattr(each, field)}}
        for name, each in facts.items()
    ]


def csv_file(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["model", *FIELDS])
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_csv_and_json_lines_are_read_alike(tmp_path):
    as_csv = csv_file(tmp_path / "models.csv", rows_of(FACTS))
    as_lines = tmp_path / "models.jsonl"
    as_lines.write_text("\n".join(map(json.dumps, rows_of(FACTS))), encoding="utf-8")
    assert read_models(as_csv) == read_models(as_lines) == tuple(FACTS.items())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"model": "a", "familie": "Meta", "x": 1}',
            r"line 1: unknown familie, x; the fields are model, family, .*'family'",
        ),
        ('{"family": "Meta"}', "line 1: model missing; write its name as in the logs"),
        ('{"model": "a"}\n{"model": "a"}', "line 2: a is there twice; keep one row for each model"),
        ('{"model": "a", "size": [8]}', "line 1: size must be a text or a number"),
        ('{"model": "a", "size": true}', "line 1: size must be a text or a number"),
        ('{"model": "a", "card": "' + "x" * 301 + '"}', "line 1: card has more than 300 characters"),
        ("[]", "line 1: not an object with fields"),
        ("", "no model; write the columns model, family, size, kind, quantised, card"),
    ],
)
def test_a_wrong_file_is_named_with_its_line_and_the_fix(tmp_path, text, message):
    path = tmp_path / "models.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_models(path)


def test_a_file_of_another_kind_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must end in one of \.jsonl, \.csv"):
        read_models(tmp_path / "models.yaml")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = write(tmp_path_factory.mktemp("life") / "a.jsonl", list(life_rows()))
    return filled_from(path, 2, groups_by_kind(tuple(FACTS.items()), MODELS), tuple(FACTS.items()))


def table(report, number):
    ((replication, items),) = [pair for pair in report.papers if pair[0].name == "lifeeval"]
    return replication, next(
        each for each in items if isinstance(each.item, PaperTable) and each.item.number == number
    )


def test_the_tables_of_models_have_what_the_file_says(report):
    replication, filled = table(report, "6")
    assert {labels[0]: [cell.text for cell in cells] for labels, cells in filled.rows} == {
        MODELS[0]: ["Lab & Co", "Reasoning", "https://lab.example/a_b?c=1&d=2"],
        MODELS[1]: ["<i>Base</i>", "base", "–"],
    }
    assert not [note for note in filled.notes if "Lacks" in note]
    tex = latex_paper_table(filled, replication)
    assert r"Lab \& Co" in tex
    assert r"\begin{tabular}{llll}" in tex
    assert "&lt;i&gt;Base&lt;/i&gt;" in html_table(filled)


def test_a_kind_is_a_group_of_models_in_the_tables_by_type(report):
    _, filled = table(report, "2")
    assert {labels for labels, _ in filled.rows} >= {(MODELS[0], "reasoning"), (MODELS[1], "base")}


def test_the_description_of_a_question_set_stands_beside_its_numbers(report):
    _, filled = table(report, "1")
    assert [labels[-1] for labels in filled.columns] == [
        *("Length", "After Cleaning", "Answer Fields", "Context", "Task Description")
    ]
    rows = {labels[0]: [cell.text for cell in cells] for labels, cells in filled.rows}
    assert rows["LifeEval"][2:] == ["Age at death", "Sex, minimum age", "Estimate the age at death"]
    assert rows["BoolQ"] == ["–"] * 5


def test_a_field_may_be_printed_as_yes_or_no(report):
    runs = Runs(report.results)
    instruct = about("kind", yes_unless="base")
    assert [instruct(runs, Cell(model=name, task="lifeeval")) for name in MODELS] == ["Yes", "No"]
    assert math.isnan(about("size")(runs, Cell(model=MODELS[1], task="lifeeval")))


def test_without_a_file_the_tables_of_models_name_the_option(tmp_path):
    without = filled_from(write(tmp_path / "a.jsonl", list(life_rows())), 2)
    _, filled = table(without, "6")
    assert not filled.is_filled
    assert filled.notes == ("`--models FILE` has what the table shows; logs do not.",)
