"""What papers' tables say about missing numbers: recorded replies and runs that are there have no command."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from tests.unit.report.paper_runs import MODELS, fermi_rows, filled_from, scale_rows
from tests.unit.report.runs import write

from confidence_tasks.reading.integer_scale import BOUNDARY, GRANULARITY
from confidence_tasks.report.paper import PaperTable
from confidence_tasks.report.paper.files import paper_frame
from confidence_tasks.studies.scales.replies import BASELINE

GRANULARITY_ONLY = {"scale_granularity": GRANULARITY}


def table(report, name, number):
    tables = next(items for replication, items in report.papers if replication.name == name)
    return next(each for each in tables if isinstance(each.item, PaperTable) and each.item.number == number)


def notes(report):
    return [note for _, items in report.papers for item in items for note in item.notes]


def commands(report):
    return [command for note in notes(report) for command in re.findall("`(inspect eval .*?)`", note)]


@pytest.fixture(scope="module")
def asked_and_recorded(tmp_path_factory):
    """The same trials as a run of a task, and as replies that `score --study scales` read from a file."""
    folder = tmp_path_factory.mktemp("recorded")
    rows = list(scale_rows(GRANULARITY_ONLY, n=4))
    asked = write(folder / "asked.jsonl", rows)
    recorded = write(folder / "recorded.jsonl", [{**row, "task": "scales_replies"} for row in rows])
    return filled_from(asked, 2), filled_from(recorded, 2)


@pytest.mark.slow
def test_recorded_replies_fill_the_tables_of_the_tasks_that_they_answer(asked_and_recorded):
    asked, recorded = asked_and_recorded
    for number in ("1", "6", "8", "11", "12", "13"):
        expected, found = (paper_frame(table(each, "scales", number)) for each in (asked, recorded))
        pd.testing.assert_frame_equal(found, expected)
    titles = [
        {item.title for item in items if item.is_filled} for _, items in (asked.papers[0], recorded.papers[0])
    ]
    assert titles[0] == titles[1]


def test_what_recorded_replies_lack_has_no_command(asked_and_recorded):
    asked, recorded = asked_and_recorded
    assert commands(asked)
    assert not commands(recorded)
    (note,) = [note for note in table(recorded, "scales", "10").notes if note.startswith("Lacks")]
    assert note.startswith("Lacks scale_granularity · 0-100 · truthfulqa in the recorded replies of ")


def test_replies_to_one_task_of_a_study_are_no_replies_to_its_other_tasks(tmp_path):
    rows = scale_rows({"scale_boundary": (BASELINE, BOUNDARY[-1])}, ("mmlu",), 12)
    path = write(tmp_path / "a.jsonl", [{**row, "task": "scale_granularity_replies"} for row in rows])
    texts = {labels[1]: cells[-1].text for labels, cells in table(filled_from(path, 2), "scales", "14").rows}
    assert texts["[0,100]"] != "–"
    assert texts["[60,100]"] == "–"


def test_a_command_asks_for_no_condition_on_a_source_that_was_asked(tmp_path):
    rows = [
        row
        for row in scale_rows(GRANULARITY_ONLY, ("mmlu", "gsm8k"), 2)
        if row["source"] == "mmlu" or row["condition"] == "0-20"
    ]
    report = filled_from(write(tmp_path / "a.jsonl", rows), 2)
    lines = [line for note in table(report, "scales", "12").notes for line in re.findall("`(.*?)`", note)]
    pairs = {
        (scale, source)
        for line in lines
        for scale, source in product(
            *(re.search(f"{name}=([^ ]*)", line)[1].split(",") for name in ("scales", "sources"))
        )
    }
    every = {scale.label for scale in GRANULARITY}
    assert pairs == {(label, "truthfulqa") for label in every} | {
        (label, "gsm8k") for label in every - {"0-20"}
    }


def test_methods_without_their_calibration_half_are_no_missing_runs(tmp_path):
    rows = [row for row in fermi_rows(40) if row["split"] == "test"]
    report = filled_from(write(tmp_path / "a.jsonl", rows), 2)
    figure = table(report, "fermieval", "2")
    assert all(cell.text == "–" for labels, row in figure.rows if "conformal" in labels for cell in row)
    assert not any("confidence_tasks/fermieval " in line for line in commands(report))


def test_a_figure_of_too_few_trials_says_so_without_a_command(tmp_path):
    rows = [row for row in fermi_rows(8) if row["task"] == "fermieval"]
    always = [{**row, "correct": 1.0, "lower": row["truth"], "upper": row["truth"]} for row in rows]
    report = filled_from(write(tmp_path / "a.jsonl", always), 2)
    (items,) = [items for replication, items in report.papers if replication.name == "fermieval"]
    (figure,) = [
        item for item in items if item.title == "Figure 4"
    ]  # no ends to draw: the whole belief is seen
    assert not figure.is_filled
    (note,) = figure.notes
    assert note.endswith("the trials are too few, or lack a condition to compare with")
    assert np.mean([row["correct"] for row in always]) == 1.0


def test_figures_1_and_5_of_fermieval_have_the_models_that_are_not_open_and_those_that_are(tmp_path):
    path = write(tmp_path / "a.jsonl", [row for row in fermi_rows(8) if row["task"] == "fermieval"])

    def shown(groups):
        report = filled_from(path, 2, groups)
        (items,) = [items for replication, items in report.papers if replication.name == "fermieval"]
        figures = {item.title: item for item in items if item.title in ("Figure 1", "Figure 5")}
        return {
            title: [
                (
                    [panel.title for _, panels in figure.rows for panel in panels],
                    [key.label for key in figure.keys if key.label.endswith(", as stated")],
                )
                for figure in item.figures
            ]
            for title, item in figures.items()
        }

    first, second = sorted(MODELS)
    both = [([first, second], [f"{first}, as stated", f"{second}, as stated"])]
    assert shown(()) == {"Figure 1": both, "Figure 5": []}
    open_models = shown((("open", (second,)),))
    assert open_models == {
        "Figure 1": [([first], [f"{first}, as stated"])],
        "Figure 5": [([second], [f"{second}, as stated"])],
    }
