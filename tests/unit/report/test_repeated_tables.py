"""What a page leaves out: tables that repeat its numbers, and legends of what is not drawn."""

import re
from pathlib import Path

import pytest
from tests.trials import question_set_trial
from tests.unit.report.runs import undrawn_report, write

from confidence_tasks.drawing import Colour
from confidence_tasks.report import Report, collect
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.labels import STATUSES, page_part
from confidence_tasks.sources import Question

REPEATED = ("Models side by side", "All question sets")
LAST = {"text": "Answer: True\nConfidence: 0.8", "refused": "I cannot help with that."}


def made_of(folder: Path, models: tuple[str, ...], last: str = LAST["text"]) -> Report:
    """A report on twenty answers of each model to BoolQ, the last of which is the given reply."""
    for model in models:
        rows = []
        for i in range(20):
            question = Question(f"q{i}", "boolq", f"Is {i} even?", kind="boolean", gold="yes")
            reply = last if i == 19 else f"Answer: {'True' if i % 3 else 'False'}\nConfidence: 0.{6 + i % 4}"
            trial = question_set_trial("boolean", question, reply)
            rows.append({**trial, "study": "question_sets", "task": "boolq", "model": model})
        write(folder / f"{model}.jsonl", rows)
    return undrawn_report(collect(folder), settings=Settings(n_resamples=20))


@pytest.mark.parametrize(("models", "shown"), [(("a",), ()), (("a", "b"), REPEATED)])
def test_a_comparison_of_one_model_is_written_but_not_shown(tmp_path, models, shown):
    made = made_of(tmp_path, models)
    (task,) = made.tasks
    assert tuple(extra.title for extra, _ in task.extras if extra.title in REPEATED) == shown
    assert set(REPEATED) <= {extra.title for extra in made.extras}


def test_the_legend_of_replies_has_what_occurs(tmp_path):
    (task,) = made_of(tmp_path, ("a",), LAST["refused"]).tasks
    labels = {name for row in task.statuses for _, name, _ in row["parts"]}
    assert len(labels) > 1
    assert {name for _, name in task.legend} == labels


def test_every_status_has_a_colour_of_its_own():
    style = page_part("style.css")
    colours = {
        status: re.search(rf"^(?:.*\}} )?\.{status} {{ background: var\((--[\w-]+)\)", style, re.M)
        for status in STATUSES
    }
    assert [status for status, found in colours.items() if found is None] == []
    named = {found[1] for found in colours.values() if found}
    assert len(named) == len(STATUSES)
    assert named <= {colour.variable for colour in Colour}


def test_a_figure_without_token_probabilities_has_no_key_for_them(tmp_path):
    (figure,) = (
        each for each in made_of(tmp_path, ("a",)).figures if each.title == "Calibration by model and set"
    )
    assert figure.keys == ()
