"""The question sets in the report: tables 3 and 4 of the paper, and its figures over all sets.

arXiv:2605.23909, section 7 and appendix. What is set beside LifeEval stands with the first of the sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd

from confidence_tasks.report.extra_tables import ExtraTable, OverviewDesign, Side, trials_frame
from confidence_tasks.report.figures import Colour, Figure, LegendEntry, Line, Panel, panel, panels
from confidence_tasks.report.figures.general import ModelStyles
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.score_replies import ReplyForm, Row, with_id_suffix
from confidence_tasks.report.task_trials import TaskTrials, ordered_by_group
from confidence_tasks.statistics import complete, ece, reliability_curve
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.discretization import round_share
from confidence_tasks.studies.lifeeval.report import (
    common_subset,
    common_table,
    count_questions,
    stated_against_token,
)
from confidence_tasks.studies.question_sets import STUDY
from confidence_tasks.studies.question_sets.replies import QUESTION_SETS
from confidence_tasks.study.trial import Item, Question

_STATED = ("answer_accuracy", "answer_confidence", "answer_ece", "answer_overconfidence")
_FAVOURITE = ("accuracy", "confidence", "ece", "overconfidence", "round_share")


def performance(results: TaskResults) -> ExtraTable:
    """Return one question set's rows of tables 3 and 4 of the paper, models down and measures across.

    The stated answer, the letter said, comes first: the paper's figures are of it. Behind it stands the option with
    the highest probability, where a reply gives one for each.
    """
    options = any(bool(favourites) for model in results.models for favourites in model.columns["favourites"])
    return common_table(
        results,
        "performance",
        "The first columns are of the stated answer, as in the paper; accuracy, confidence and ECE without “answer” are"
        " of the option with the highest probability, whatever letter the reply names."
        if options
        else "Rounded is the share of stated confidences that are multiples of .05, counted exactly.",
        (*_STATED, *_FAVOURITE) if options else _FAVOURITE,
    )


_METRICS = ("Accuracy", "Confidence", "ECE", "(%) Rounded")


def performance_across_sets(results: TaskResults) -> ExtraTable:
    """Return tables 3 and 4 of the paper: question sets and metrics down, models across, of the stated answer.

    On the questions of each set that every model answered; the paper's table 3 has its reasoning models and table 4 its
    chat models, which stand together where the user names them as groups. Accuracy, confidence and rounded are in
    percent. Rounded is of normalised confidences, counted exactly, where the paper's count misses .55 and others.
    """
    rows = []
    sections = _sections(results)
    asked = [model for section in sections for model in section.models]
    labels = [model.label for model in ordered_by_group(asked, results.settings.groups)]
    for section in sections:
        common = common_subset(_stated(trials_frame(section)))
        figures = {label: _figures(common[common["model"] == label]) for label in labels}
        n = count_questions(common)
        for metric in _METRICS:
            values = {label: its[metric] for label, its in figures.items()}
            rows.append({"question set": section.design.title, "metric": metric, "n": n, **values})
    return ExtraTable(
        f"{_STUDY}_performance",
        "All question sets",
        "Of the stated answer, on the questions of each set that every model answered; accuracy, confidence and the"
        " share of multiples of .05 in percent, and ECE over ten bins closed on the right. Accuracy of LifeEval is the"
        " score.",
        pd.DataFrame(rows),
        decimals=2,
    )


def _figures(trials: pd.DataFrame) -> dict[str, float]:
    """Return a model's figures on some trials; NaN without any."""
    if trials.empty:
        return dict.fromkeys(_METRICS, float("nan"))
    correct, confidence = trials["correct"].to_numpy(), trials["confidence"].to_numpy()
    return {
        "Accuracy": 100.0 * float(correct.mean()),
        "Confidence": 100.0 * float(confidence.mean()),
        "ECE": float(ece(correct, confidence)),
        "(%) Rounded": 100.0 * float(round_share(confidence, lower=0.0, upper=1.0, step=0.05)),
    }


_STUDY = "question_sets"


def _sections(results: TaskResults) -> list[TaskTrials]:
    """Return all tasks of the paper, where these are set side by side: with the first question set of a report."""
    of_paper = [section for section in results.related if section.study.name in (_STUDY, "lifeeval")]
    sets = [section.task for section in of_paper if section.study.name == _STUDY]
    return of_paper if sets and sets[0] == results.task_trials.task else []


def _stated(trials: pd.DataFrame) -> pd.DataFrame:
    """Let correctness and confidence be those of the stated answer; LifeEval has no other."""
    if "answer_correct" not in trials:
        return trials
    return trials.assign(correct=trials["answer_correct"], confidence=trials["answer_confidence"])


_COLUMNS = {
    "stated": (("answer_correct", "correct"), ("answer_confidence", "confidence")),
    "token": (("token_correct", "correct"), ("token_confidence",) * 2),
}
"""Names of the correctness and the confidence column by kind: in question sets, and in LifeEval."""


def _pair(columns: Mapping[str, Any], kind: str) -> tuple[FloatArray, FloatArray]:
    """Return correctness and confidence of a model's trials of a set, as ``stated`` or by ``token`` probability."""
    right, sure = complete(*(columns[own if own in columns else other] for own, other in _COLUMNS[kind]))
    return right, sure


_CLOSED_LEFT = (
    "Bins are closed on the left, with one for a confidence of exactly 1, as in the paper's figure 1."
)


def pooled_calibration(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw figure 1 of the paper: accuracy against stated confidence, over all models and question sets together."""
    pairs = [_pair(model.columns, "stated") for section in _sections(results) for model in section.models]
    line = _calibration_line("all models", Colour.INK, pairs)
    return Figure(
        f"{_STUDY}_pooled_calibration",
        "Calibration, all models and sets",
        "Share right against mean confidence in each bin, all trials of the stated answers pooled, so that large sets"
        f" weigh more; below the dashed line models are overconfident. {_CLOSED_LEFT}",
        (("", (_calibration("", [line]),) if len(line.x) else ()),),
        size=(3.4, 2.8),
    )


def _calibration_line(
    label: str, colour: Colour, pairs: Sequence[tuple[FloatArray, FloatArray]], marker: str = "o"
) -> Line:
    correct, confidence = (np.concatenate([np.empty(0), *(pair[side] for pair in pairs)]) for side in (0, 1))
    if not len(correct):
        return Line(label, colour, correct, confidence, marker=marker)
    curve = reliability_curve(correct, confidence, edges="extra_bin")
    some = curve.count > 0
    return Line(label, colour, curve.confidence[some], curve.accuracy[some], marker=marker)


def _calibration(title: str, lines: Sequence[Line]) -> Panel:
    return panel(title, panels.points, lines=lines, x="confidence", y="accuracy", diagonal=True)


def calibration_by_model_and_set(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw figure 6 of the paper: calibration of each model (rows) on each set (columns), with the token curve."""
    rows: dict[str, list[Panel]] = {}
    for section in _sections(results):
        for model in section.models:
            looks = {"stated": styles[model.label], "token": (Colour.WRONG, "s")}
            lines = [
                _calibration_line(kind, colour, [_pair(model.columns, kind)], marker)
                for kind, (colour, marker) in looks.items()
            ]
            if drawn := [line for line in lines if len(line.x)]:
                rows.setdefault(model.label, []).append(_calibration(section.design.title, drawn))
    return Figure(
        f"{_STUDY}_calibration",
        "Calibration by model and set",
        "Share right against stated confidence, in the model's colour, and against the token probability of the answer,"
        f" in orange, where the provider gives it. {_CLOSED_LEFT}",
        tuple((label, tuple(its_panels)) for label, its_panels in rows.items()),
        (LegendEntry("token probability", Colour.WRONG),),
    )


def stated_and_token_ece(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw figure 8 of the paper: the ECE of stated confidence and of token probability, by set and model."""
    tables = [
        stated_against_token(trials_frame(section)).assign(title=section.design.title)
        for section in _sections(results)
    ]
    found = pd.concat([pd.DataFrame(columns=["n", "model"]), *tables], ignore_index=True)
    its_panels = []
    for label, own in found[found["n"] > 0].groupby("model", sort=False):
        means = own.groupby("title", sort=False)[["stated_ece", "token_ece"]].mean()
        x = np.arange(len(means), dtype=np.float64)
        lines = [Line(name, colour, x, means[f"{name}_ece"].to_numpy()) for name, colour in _KINDS]
        titles = list(means.index)
        its_panels.append(
            panel(str(label), panels.intervals, labels=titles, lines=lines, y="ECE", joined=False)
        )
    return Figure(
        f"{_STUDY}_stated_and_token_ece",
        "Stated confidence against token probability",
        "Expected calibration error on the trials that have both. Lower is better calibrated.",
        (("", tuple(its_panels)),),
        tuple(LegendEntry(name, colour) for name, colour in _KINDS),
        size=(3.0, 2.1),
    )


_KINDS = (("stated", Colour.RIGHT), ("token", Colour.WRONG))


_OF_ANSWER = ("ece", "accuracy", "confidence", "overconfidence")

ALL_QUESTION_SETS = OverviewDesign(
    name="all_question_sets",
    title="All question sets",
    question="On which kinds of questions is each model’s confidence right?",
    note="Accuracy and confidence are of the stated answer; for LifeEval accuracy is the score, the probability that a"
    " guess comes within the radius, over all radii asked; for HaluEval it is the share of the given answers that are"
    " right, the same for every model that judges all of them.",
    sides=(
        Side("question_sets", names={name: f"answer_{name}" for name in _OF_ANSWER}),
        Side("lifeeval", "all", {"accuracy": "score"}),
    ),
    measures=tuple(STUDY.measures_by_name[name] for name in (*_OF_ANSWER, "round_share")),
)
"""Tables 3 and 4 of arXiv:2605.23909, and overconfidence as in its figure 2."""

OVERVIEWS = (ALL_QUESTION_SETS,)


def _member(name: str, question: Question, row: Row) -> Item:
    metadata = {"question_set": name}
    if "given" in row:
        metadata["given"] = str(row["given"])
        question = with_id_suffix(question, row, sha256(metadata["given"].encode()).hexdigest()[:12])
    return Item(question, question.source, question.text, metadata=metadata)


REPLY_FORMS: Mapping[str, ReplyForm] = {
    name: ReplyForm(
        STUDY,
        {"given": "the answer to be judged"} if spec.form == "judgement" else {},
        partial(_member, name),
        kind="choice" if spec.form == "options" else "boolean",
        parameters=lambda items: {"task": items[0].metadata["question_set"]},
    )
    for name, spec in QUESTION_SETS.items()
}
