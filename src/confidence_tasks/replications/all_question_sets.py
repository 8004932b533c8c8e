"""The page's tables and figures over all question sets, LifeEval among them: arXiv:2605.23909, figures 1, 6 and 8."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain, starmap
from typing import Any

import numpy as np
import pandas as pd

from confidence_tasks.drawing import Colour
from confidence_tasks.logs.task_trials import ModelTrials, TaskTrials
from confidence_tasks.replications.common_questions import common_subset, count_questions
from confidence_tasks.report.extra_tables import ExtraTable, extra_table, trials_frame
from confidence_tasks.report.figures import Figure, LegendEntry, Line, Panel, panel, panels
from confidence_tasks.report.figures.general import ModelStyles
from confidence_tasks.report.groups import ordered_by_group
from confidence_tasks.report.labels import measure_label
from confidence_tasks.report.results import TaskResults
from confidence_tasks.statistics import complete, ece, overconfidence, reliability_curve
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.discretization import round_share

FORMULA = "ECE, 0 in no bin"
"""Metric of tables 3 and 4: the ECE of the paper's printed formula."""


def ece_of_formula(correct: FloatArray, confidence: FloatArray) -> float:
    """Return the ECE of the paper's formula, whose bins are (0, .1], (.1, .2] and so on.

    A confidence of 0 is in none, and only counts among all trials; :func:`confidence_tasks.statistics.ece` has it in
    the first bin. NaN without trials. From arXiv:2605.23909, section 6.1.

    Examples
    --------
    >>> ece_of_formula(np.array([1.0, 0.0]), np.array([0.5, 0.0])), float(ece([1.0, 1.0], [0.5, 0.0]))
    (0.25, 0.75)
    """
    in_bins = confidence > 0.0
    share = float(in_bins.mean()) if len(in_bins) else math.nan
    return share * float(ece(correct[in_bins], confidence[in_bins])) if in_bins.any() else 0.0 * share


METRICS = ("Accuracy", "Confidence", "ECE", FORMULA, "(%) Rounded")


def performance_across_sets(results: TaskResults) -> ExtraTable:
    """Return tables 3 and 4 of the paper: a row per question set and metric, a column per model.

    The metrics are of the stated answer, on the questions of each set that every model answered. Table 3 of the paper
    has its reasoning models and table 4 its chat models; models of a group that the user defines are adjacent.
    Accuracy, confidence and rounded are in percent. Rounded is the exact share of rounded values among normalised
    confidences; the paper's count misses .55 and other values.
    """
    tasks = _tasks_of_paper(results)
    models = [model for task in tasks for model in task.models]
    labels = [model.label for model in ordered_by_group(models, results.settings.groups)]
    rows = []
    for task in tasks:
        common = common_subset(_of_stated_answer(trials_frame(task)))
        metrics = {label: _model_metrics(common[common["model"] == label]) for label in labels}
        for name in METRICS:
            row = {"question set": task.title, "metric": name, "n": count_questions(common)}
            rows.append(row | {label: values[name] for label, values in metrics.items()})
    return ExtraTable(
        f"{_STUDY}_performance",
        "All question sets",
        "Metrics of the stated answer, on the questions of each set that every model answered. Accuracy, confidence and"
        " the share of multiples of .05 are in percent. ECE has ten bins closed on the right, and a confidence of 0"
        " in the first, or, as in the paper’s formula, in none. Accuracy of LifeEval is the score.",
        pd.DataFrame(rows),
        decimals=2,
        repeats=len(tasks) == 1 and len(labels) == 1,
    )


def _model_metrics(trials: pd.DataFrame) -> dict[str, float]:
    """Return the metrics of a model's trials; NaN without trials."""
    if trials.empty:
        return dict.fromkeys(METRICS, float("nan"))
    correct, confidence = trials["correct"].to_numpy(), trials["confidence"].to_numpy()
    return {
        "Accuracy": 100.0 * float(correct.mean()),
        "Confidence": 100.0 * float(confidence.mean()),
        "ECE": float(ece(correct, confidence)),
        FORMULA: ece_of_formula(correct, confidence),
        "(%) Rounded": 100.0 * float(round_share(confidence, lower=0.0, upper=1.0, step=0.05)),
    }


_STUDY = "question_sets"


def _tasks_of_paper(results: TaskResults) -> list[TaskTrials]:
    """Return all tasks of the paper if these results are of the report's first question set; else none."""
    tasks = [task for task in results.related if task.study.name in (_STUDY, "lifeeval")]
    question_sets = [task.task for task in tasks if task.study.name == _STUDY]
    return tasks if question_sets[:1] == [results.task_trials.task] else []


_COLUMNS = {
    "stated": (("answer_correct", "correct"), ("answer_confidence", "confidence")),
    "token": (("token_correct", "correct"), ("token_confidence", "token_confidence")),
}
"""Columns of correctness and of confidence, each by its name in the question sets and in LifeEval."""


def _pair(trials: Mapping[str, Any] | pd.DataFrame, kind: str) -> list[Any]:
    """Return correctness and confidence of the stated answer, or of the answer by ``token`` probability."""
    return [trials[name if name in trials else in_lifeeval] for name, in_lifeeval in _COLUMNS[kind]]


def _of_stated_answer(trials: pd.DataFrame) -> pd.DataFrame:
    """Return trials with correctness and confidence of the stated answer."""
    correct, confidence = _pair(trials, "stated")
    return trials.assign(correct=correct, confidence=confidence)


_CLOSED_LEFT = (
    "As in the paper's figure 1, bins are closed on the left, with one bin for a confidence of exactly 1."
)


def pooled_calibration(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw figure 1 of the paper: accuracy against stated confidence, over all models and question sets."""
    models = [model for task in _tasks_of_paper(results) for model in task.models]
    line = _calibration_line("all models", Colour.INK, models, "stated")
    return Figure(
        f"{_STUDY}_pooled_calibration",
        "Calibration, all models and sets",
        "Share right against mean confidence in each bin. The trials of all sets are pooled, so that large sets have"
        f" more weight. Below the dashed line models are overconfident. {_CLOSED_LEFT}",
        (("", (_calibration("", [line]),) if len(line.x) else ()),),
        size=(3.4, 2.8),
    )


def _calibration_line(
    label: str, colour: Colour, models: Sequence[ModelTrials], kind: str, marker: str = "o"
) -> Line:
    """Return the calibration curve of the models' pooled trials; a line without points if they have no trials."""
    pairs = [complete(*_pair(model.columns, kind)) for model in models]
    correct, confidence = (np.concatenate([np.empty(0), *(pair[i] for pair in pairs)]) for i in (0, 1))
    if not len(correct):
        return Line(label, colour, correct, confidence, marker=marker)
    curve = reliability_curve(correct, confidence, edges="extra_bin")
    filled = curve.count > 0
    return Line(label, colour, curve.confidence[filled], curve.accuracy[filled], marker=marker)


def _calibration(title: str, lines: Sequence[Line]) -> Panel:
    return panel(title, panels.points, lines=lines, x="confidence", y="accuracy", diagonal=True)


def calibration_by_model_and_set(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw figure 6 of the paper: calibration of each model (rows) on each set (columns), with the token curve."""
    rows: dict[str, list[Panel]] = {}
    has_tokens = False
    for task in _tasks_of_paper(results):
        for model in task.models:
            colour, marker = styles[model.label]
            curves = (
                _calibration_line("stated", colour, [model], "stated", marker),
                _calibration_line("token", Colour.WRONG, [model], "token", "s"),
            )
            has_tokens = has_tokens or len(curves[1].x) > 0
            if lines := [line for line in curves if len(line.x)]:
                rows.setdefault(model.label, []).append(_calibration(task.title, lines))
    return Figure(
        f"{_STUDY}_calibration",
        "Calibration by model and set",
        "Share right against stated confidence, in the model's colour, and against the token probability of the answer,"
        f" in orange, if the provider returns it. {_CLOSED_LEFT}",
        tuple((label, tuple(row)) for label, row in rows.items()),
        (LegendEntry("token probability", Colour.WRONG),) if has_tokens else (),
        grid=True,
    )


_ECE_COLOURS = {"stated": Colour.RIGHT, "token": Colour.WRONG}


def stated_and_token_ece(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw figure 8 of the paper: the ECE of stated confidence and of token probability, by set and model."""
    tables = [
        stated_against_token(trials_frame(task)).assign(title=task.title) for task in _tasks_of_paper(results)
    ]
    errors = pd.concat([pd.DataFrame(columns=["n", "model"]), *tables], ignore_index=True)
    row = []
    for label, group in errors[errors["n"] > 0].groupby("model", sort=False):
        means = group.groupby("title", sort=False)[["stated_ece", "token_ece"]].mean()
        x = np.arange(len(means), dtype=np.float64)
        lines = [
            Line(kind, colour, x, means[f"{kind}_ece"].to_numpy()) for kind, colour in _ECE_COLOURS.items()
        ]
        row.append(
            panel(str(label), panels.intervals, labels=list(means.index), lines=lines, y="ECE", joined=False)
        )
    return Figure(
        f"{_STUDY}_stated_and_token_ece",
        "Stated confidence against token probability",
        "Expected calibration error on the trials that have both a stated confidence and a token probability. Lower is"
        " better calibrated.",
        (("", tuple(row)),),
        tuple(starmap(LegendEntry, _ECE_COLOURS.items())),
        size=(3.0, 2.1),
    )


@extra_table(
    "stated_against_token", "Stated confidence against token probability", "On the trials that have both."
)
def token_probabilities(results: TaskResults) -> pd.DataFrame:
    """Return the comparison of stated confidence with token probability, for models that have both."""
    table = stated_against_token(trials_frame(results.task_trials))
    return table[table["n"] > 0].rename(columns=lambda name: measure_label(name) if "_" in name else name)


def stated_against_token(trials: pd.DataFrame) -> pd.DataFrame:
    """Compare stated confidence with token probability on the trials that have both.

    Each row is of a model and source. Its columns are ``n`` and, with the prefixes ``stated_`` and ``token_``,
    ``confidence``, ``ece`` and ``overconfidence``. The correctness of tokens is ``token_correct`` if the trials have
    such a column, else ``correct``.
    """
    token_correct = "token_correct" if "token_correct" in trials else "correct"
    pairs = {"stated": ("correct", "confidence"), "token": (token_correct, "token_confidence")}
    rows = []
    for (model, source), group in trials.groupby(["model", "source"], sort=False):
        both = group.dropna(subset=list(chain.from_iterable(pairs.values())))
        row: dict[str, Any] = {"model": model, "source": source, "n": len(both)}
        for prefix, names in pairs.items():
            correct, confidence = (both[name] for name in names)
            row[f"{prefix}_confidence"] = float(confidence.mean())
            row[f"{prefix}_ece"] = float(ece(correct, confidence))
            row[f"{prefix}_overconfidence"] = float(overconfidence(correct, confidence))
        rows.append(row)
    return pd.DataFrame(rows)
