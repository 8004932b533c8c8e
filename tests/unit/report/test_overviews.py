"""Tasks side by side: a paper's table over all question sets holds what each task's own table holds."""

import csv
import json

import pytest
from click.testing import CliRunner
from tests.trials import question_set_trial
from tests.unit.report.runs import rows, undrawn_report, write

from confidence_tasks.report import collect
from confidence_tasks.report.commands.report import report as command
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.figures import figure_svg
from confidence_tasks.sources import Question
from confidence_tasks.statistics import ece, overconfidence

MODELS = {"lab/even": 0.7, "lab/sure": 0.99}
FEW = Settings(n_resamples=100)


def of_sets(model, task, n, source=""):
    """Trials of a true-or-false set by a model that is right seven times of ten, and always equally sure."""
    for i in range(n):
        question = Question(f"{task}-{i}", source or task, "?", "boolean", "yes")
        reply = f'{{"Answer": "{"True" if i % 10 < 7 else "False"}", "Confidence": {MODELS[model]}}}'
        trial = question_set_trial("boolean", question, reply)
        yield {"study": "question_sets", "task": task, "model": model, **trial}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("sets")
    for model in MODELS:
        trials = [*of_sets(model, "boolq", 40), *of_sets(model, "halueval", 20)]
        write(path / f"{model[4:]}.jsonl", trials)
        write(path / f"lifeeval-{model[4:]}.jsonl", rows("lifeeval", model))
    return path


@pytest.fixture(scope="module")
def made(folder):
    return undrawn_report(collect(folder), settings=FEW)


def test_every_entry_is_the_statistic_of_the_tasks_own_trials(made):
    (overview,) = made.overviews
    assert overview.models == tuple(MODELS)
    assert overview.columns == ("BoolQ", "HaluEval", "LifeEval")
    for model, confidence in MODELS.items():
        entry = overview.estimate(model, "BoolQ", "overconfidence")
        assert entry.interval.estimate == pytest.approx(confidence - 0.7)
        assert (entry.n, overview.estimate(model, "HaluEval", "ece").n) == (40, 20)
        trials = next(each.columns for each in overview.tasks[-1].models if each.label == model)
        pair = trials["correct"], trials["confidence"]
        for measure, expected in (
            ("accuracy", trials["correct"].mean()),
            ("confidence", trials["confidence"].mean()),
            ("ece", ece(*pair)),
            ("overconfidence", overconfidence(*pair)),
        ):
            found = overview.estimate(model, "LifeEval", measure).interval
            assert found.estimate == pytest.approx(expected, abs=1e-12), measure
            assert found.low <= found.estimate <= found.high


def test_it_stands_above_the_tasks_with_n_and_limits(made):
    html = made.html
    assert html.index('id="all_question_sets"') < html.index('<section class="task" id="lifeeval"')
    assert "BoolQ (n\u00a0=\u00a040)" in html
    assert "Overconfident, with intervals above 0: BoolQ (1 of 2 models, by up to +0." in html
    from confidence_tasks.report.page import overview_table

    (overview,) = made.overviews
    accuracy = next(measure for measure in overview.design.measures if measure.name == "accuracy")
    assert all(cell.limits for row in overview_table(overview, accuracy).rows for cell in row.cells)


def test_one_task_has_nothing_to_stand_beside(tmp_path):
    path = write(tmp_path / "a.jsonl", list(of_sets("lab/even", "boolq", 20)))
    made = undrawn_report(collect(path), settings=FEW)
    assert made.overviews == ()
    assert "all_question_sets" not in made.html


def test_questions_of_ones_own_are_a_column_of_their_own(tmp_path):
    trials = [*of_sets("lab/even", "boolq", 20), *of_sets("lab/even", "boolq", 20, source="mine")]
    write(tmp_path / "a.jsonl", [*trials, *of_sets("lab/even", "halueval", 20)])
    (overview,) = undrawn_report(collect(tmp_path), settings=FEW).overviews
    assert overview.columns == ("BoolQ, boolq", "BoolQ, mine", "HaluEval")


def test_it_is_written_as_csv_and_latex_and_drawn(folder, made, tmp_path, monkeypatch):
    def drawn(figure):
        return figure_svg(figure) if figure.name == "all_question_sets_ece" else ""

    monkeypatch.setattr("confidence_tasks.report.write.figure_svg", drawn)  # no other figure is looked at
    monkeypatch.setattr("confidence_tasks.report.page.drawn.panel_svg", lambda *_: "")
    arguments = [str(folder), "-o", str(tmp_path / "r.html"), "--resamples", "100", "--json"]
    arguments += ["--tables", str(tmp_path), "--figures", str(tmp_path)]
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["estimates"]
    with open(tmp_path / "all_question_sets.csv", newline="", encoding="utf-8") as file:
        written = list(csv.DictReader(file))
    assert [(row["model"], row["task"], row["n"]) for row in written[:3]] == [
        ("lab/even", "BoolQ", "40"),
        ("lab/even", "HaluEval", "20"),
        ("lab/even", "LifeEval", "44"),
    ]
    (overview,) = made.overviews
    interval = overview.estimate("lab/even", "BoolQ", "accuracy").interval
    read = [float(written[0][f"accuracy{limit}"]) for limit in ("", "_low", "_high")]
    assert read == [interval.estimate, interval.low, interval.high]
    latex = (tmp_path / "all_question_sets.tex").read_text(encoding="utf-8")
    assert latex.count(r"\midrule") == len(MODELS)
    assert " & Trials & 40 & 20 & 44" in latex
    assert "-0.00" not in latex
    assert (tmp_path / "all_question_sets_ece.svg").read_text(encoding="utf-8").count("<svg") == 1
