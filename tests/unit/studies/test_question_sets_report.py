"""Tables 3 and 4 of the LifeEval paper from the real replies of three models, its figures, and groups of models.

SAT-EN's and LSAT-AR's replies are complete; of the other sets there are 300 a model. SAT-EN's figures must be the
published ones. Those of the other sets must be what the authors' own parse of the same replies gives.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
import pytest
from click.testing import CliRunner
from tests.trials import lifeeval_trial, question_set_trial

from confidence_tasks.replications.common_questions import performance
from confidence_tasks.report import Report, collect
from confidence_tasks.report.commands.report import report as command
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import parse_groups
from confidence_tasks.report.write import write_figures
from confidence_tasks.sources import Question
from confidence_tasks.sources.generated import lifeeval_questions
from confidence_tasks.studies.lifeeval.question_sets.replies import QUESTION_SETS

from ..report.runs import undrawn_report, write
from .published_figures import (
    DROPPED,
    MODELS,
    SAT_EN_DIGITS,
    TABLE_4,
    cannot_be_scored,
    known_questions,
    plain_ece,
    question_of,
    their_pair,
)
from .question_sets_replies import DEEPSEEK, HAIKU, LLAMA, real_replies

GROUPS = parse_groups([f"chat={DEEPSEEK},{LLAMA}", f"small={HAIKU}"])
FEW = Settings(n_resamples=50, groups=GROUPS)
TITLES = {"boolq": "BoolQ", "halueval": "HaluEval", "lsat_ar": "LSAT-AR", "sat_en": "SAT-EN"}


@pytest.fixture(scope="module")
def known(shared_data: Path) -> dict[str, dict[str, Question]]:
    return known_questions(shared_data)


@pytest.fixture(scope="module")
def published(
    shared_data: Path, known: dict[str, dict[str, Question]], tmp_path_factory: pytest.TempPathFactory
) -> Report:
    """The report on the questions that the authors kept."""
    replies = [reply for reply in real_replies(shared_data) if reply.task != "sciq"]
    bad = {(reply.task, reply.id) for reply in replies if reply.theirs is None}
    bad |= {("sat_en", id) for id in DROPPED}
    persons = lifeeval_questions()
    rows = defaultdict(list)
    for reply in replies:
        if (reply.task, reply.id) in bad:
            continue
        if reply.task == "lifeeval":
            question = persons[int(reply.id)]
            trial = lifeeval_trial(question, reply.text)
        else:
            question = question_of(reply, known)
            trial = question_set_trial(QUESTION_SETS[reply.task].form, question, reply.text)
        study = "lifeeval" if reply.task == "lifeeval" else "question_sets"
        row = {"study": study, "task": reply.task, "model": reply.model, **trial}
        if reply.model == LLAMA and reply.task == "boolq":
            row |= {"token_correct": trial["correct"], "token_confidence": 0.99}
        rows[reply.task].append(row)
    folder = tmp_path_factory.mktemp("real")
    for task, its in rows.items():
        write(folder / f"{task}.jsonl", its)
    return undrawn_report(collect(folder), settings=FEW)


def extra(report: Report, name: str):
    return next(table for table in report.extras if table.name == name)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_the_published_ece_of_the_stated_answer(published: Report, model: str) -> None:
    frame = extra(published, "question_sets_performance").frame
    rows = frame[frame["question set"] == "SAT-EN"].set_index("metric")
    accuracy, confidence, *_ = TABLE_4["sat_en", model]
    exact, _ = SAT_EN_DIGITS[model]
    assert rows.loc["ECE", model] == pytest.approx(exact, abs=1e-12)
    assert rows.loc["ECE", "n"] == 173
    assert [round(rows.loc[name, model], 2) for name in ("Accuracy", "Confidence")] == [accuracy, confidence]


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("task", TITLES)
def test_the_ece_equals_that_of_the_authors_parse(
    published: Report, shared_data: Path, known: dict[str, dict[str, Question]], task: str, model: str
) -> None:
    replies = [reply for reply in real_replies(shared_data) if reply.task == task]
    asked = [{reply.id for reply in replies if reply.model == name} for name in MODELS]
    left_out = {reply.id for reply in replies if cannot_be_scored(reply)}
    if task == "sat_en":
        left_out |= set(DROPPED)
    common = set.intersection(*asked) - left_out
    if not common:
        pytest.skip("the three samples share no question")
    pairs = [their_pair(reply, known) for reply in replies if reply.model == model and reply.id in common]
    frame = extra(published, "question_sets_performance").frame
    row = frame[(frame["question set"] == TITLES[task]) & (frame["metric"] == "ECE")].iloc[0]
    assert row["n"] == len(common)
    assert row[model] == pytest.approx(plain_ece(*map(list, zip(*pairs, strict=True))), abs=1e-3)


def test_the_stated_answer_comes_before_the_favourite(published: Report) -> None:
    frame = extra(published, "sat_en_performance").frame
    names = [name for name in frame.columns if not name.endswith((" low", " high", " missing"))]
    assert names.index("Answer ECE") < names.index("ECE")
    haiku = frame.set_index("model").loc[HAIKU]
    assert haiku["Answer accuracy"] == pytest.approx(0.8844, abs=5e-5)
    assert haiku["Accuracy"] == pytest.approx(0.8584, abs=5e-5)
    assert "Answer ECE" not in extra(published, "boolq_performance").frame


def test_groups_of_models_have_a_row_with_their_means(published: Report) -> None:
    frame = extra(published, "sat_en_performance").frame.set_index("model")
    assert list(frame.index) == [DEEPSEEK, LLAMA, "chat (mean)", HAIKU, "small (mean)"]
    mean = frame.loc["chat (mean)"]
    assert mean["Answer ECE"] == pytest.approx((0.241907514450867 + 0.11537630641676877) / 2)
    assert mean["n"] == 173
    columns = list(extra(published, "question_sets_performance").frame.columns)
    assert columns[3:] == [DEEPSEEK, LLAMA, HAIKU]
    overview = extra(published, "lifeeval_overview").frame.set_index("model")
    pair = overview.loc[[DEEPSEEK, LLAMA], "Hard–easy slope"]
    assert overview.loc["chat (mean)", "Hard–easy slope"] == pytest.approx(pair.mean())


def test_the_interval_of_a_groups_mean_is_over_questions_that_its_models_share(published: Report) -> None:
    """Student's t by hand, of each question's mean over the models: models that err together do not cancel out."""
    (results,) = (each for each in published.results if each.task_trials.task == "sat_en")
    section = results.task_trials
    stated = [
        dict(zip(model.columns["question_id"], model.columns["answer_confidence"], strict=True))
        for model in section.models
        if model.label in (DEEPSEEK, LLAMA)
    ]
    judged = [
        {
            name
            for name, said in zip(model.columns["question_id"], model.columns["confidence"], strict=True)
            if said == said
        }
        for model in section.models
    ]
    common = sorted(set.intersection(*judged))
    of_question = [(stated[0][name] + stated[1][name]) / 2 for name in common]
    error = stdev(of_question) / math.sqrt(len(common))
    table = performance(replace(results, settings=Settings(n_resamples=4_000, groups=GROUPS)))
    row = table.frame.set_index("model").loc["chat (mean)"]
    assert row["Answer confidence"] == pytest.approx(fmean(of_question))
    half = (row["Answer confidence high"] - row["Answer confidence low"]) / 2
    assert half == pytest.approx(1.974 * error, rel=0.05)
    apart = math.sqrt(sum(stdev(its[name] for name in common) ** 2 for its in stated) / 4 / len(common))
    assert error > 1.1 * apart
    for name in ("Answer ECE", "Accuracy", "ECE"):
        assert row[f"{name} low"] < row[name] < row[f"{name} high"]


@pytest.mark.parametrize(
    ("group", "message"),
    [("chat", "is not a name and models"), ("chat=gpt-9", "no trials of gpt-9; the models are lab/a")],
)
def test_an_invalid_group_is_an_error(tmp_path: Path, group: str, message: str) -> None:
    trial = question_set_trial("boolean", Question("q", "boolq", "?", "boolean", "yes"), "True")
    path = write(
        tmp_path / "a.jsonl", [{"study": "question_sets", "task": "boolq", "model": "lab/a", **trial}]
    )
    refused = CliRunner().invoke(command, [str(path), "-o", str(tmp_path / "r.html"), "--group", group])
    assert refused.exit_code == 2
    assert message in " ".join(refused.output.replace("│", " ").split())
    assert not (tmp_path / "r.html").exists()


FIGURES = {
    "question_sets_pooled_calibration": 1,
    "question_sets_calibration": 15,
    "question_sets_stated_and_token_ece": 1,
    "lifeeval_best_guesses": 4,
    "lifeeval_scatter": 3,
}


def test_the_papers_figures_are_drawn_with_the_first_question_set_only(
    published: Report, tmp_path: Path
) -> None:
    found = {figure.name: figure for figure in published.figures}
    panels = {name: sum(len(row) for _, row in found[name].rows) for name in FIGURES}
    assert panels == FIGURES
    assert [figure.name for figure in published.figures].count("question_sets_calibration") == 1
    write_figures([found[name] for name in FIGURES], tmp_path)
    assert {path.stem for path in tmp_path.glob("*.svg")} == set(FIGURES)


def lines_of(figure, panel=0):
    return figure.rows[0][1][panel].draw.keywords["lines"]


def test_the_pooled_curve_uses_all_trials(published: Report) -> None:
    (line,) = lines_of(next(f for f in published.figures if f.name == "question_sets_pooled_calibration"))
    pairs = []
    for task in published.results:
        for model in task.models:
            name = "answer_" if "answer_correct" in model.columns else ""
            pairs.append((model.columns[f"{name}correct"], model.columns[f"{name}confidence"]))
    correct, confidence = map(np.concatenate, zip(*pairs, strict=True))
    certain = confidence == 1.0
    assert (line.x[-1], line.y[-1]) == (1.0, pytest.approx(np.nanmean(correct[certain])))
    tenth = (confidence >= 0.9) & ~certain
    assert line.y[-2] == pytest.approx(np.nanmean(correct[tenth]))


def test_the_best_age_to_guess_is_constant_up_to_a_certain_age(published: Report) -> None:
    figure = next(f for f in published.figures if f.name == "lifeeval_best_guesses")
    titles = [panel.title.replace("\N{NO-BREAK SPACE}", " ") for panel in figure.rows[0][1]]
    assert titles == [f"radius = {radius}" for radius in (1, 5, 10, 20)]
    female, male = lines_of(figure, 2)
    assert (female.label, male.label) == ("female", "male")
    assert male.y[65] == 84
    assert len(set(male.y[:40])) == 1
    assert (female.y >= male.y).all()
    assert (np.diff(male.y) >= 0).all()
