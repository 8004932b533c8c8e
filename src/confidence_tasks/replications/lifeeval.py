"""Tables 1 to 6 and figures 1 to 10 of arXiv:2605.23909, on LifeEval and five other question sets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from confidence_tasks.replications.all_question_sets import (
    FORMULA,
    METRICS,
    calibration_by_model_and_set,
    ece_of_formula,
    performance_across_sets,
    pooled_calibration,
    stated_and_token_ece,
    token_probabilities,
)
from confidence_tasks.replications.common_questions import (
    common_subset,
    count_questions,
    overview,
    performance,
)
from confidence_tasks.replications.numbers import about, from_table, look_up
from confidence_tasks.report import paper
from confidence_tasks.report.extra_tables import trials_frame
from confidence_tasks.report.labels import measure_label
from confidence_tasks.report.paper import MODELS, heading
from confidence_tasks.statistics import complete
from confidence_tasks.studies.lifeeval.people import LABEL, N_ANSWERS, means_over_radii, people

# The numbers of the paper's tables -----------------------------------------------------------------------------

_SETS = {
    "BoolQ": "boolq",
    "SciQ": "sciq",
    "LSAT-AR": "lsat_ar",
    "SAT-EN": "sat_en",
    "HaluEval-QA": "halueval",
    "LifeEval": "lifeeval",
}
"""Titles and tasks of the question sets, in the order of the paper's table 1."""

_ALPHABETICAL_SETS = dict(sorted((name.removesuffix("-QA"), task) for name, task in _SETS.items()))
"""The same in the order of the paper's tables 3 and 4."""

_TASKS = tuple(_SETS.values())


def _facts(fields: str, context: str, task: str) -> Mapping[str, str]:
    """Return the columns of the paper's table 1 that describe a question set."""
    return {"Answer Fields": fields, "Context": context, "Task Description": task}


_FACTS: Mapping[str, Mapping[str, str]] = {
    "boolq": _facts("True, False", "None", "True or false questions"),
    "sciq": _facts("A, B, C, D", "None", "Science questions"),
    "lsat_ar": _facts("A, B, C, D, E", "Premises", "Find what follows from the premises"),
    "sat_en": _facts("A, B, C, D", "Passage", "Questions about a passage"),
    "halueval": _facts("None", "Short passage", "Judge a given answer"),
    "lifeeval": _facts("Age at death", "Sex, minimum age", "Estimate the age at death"),
}
"""What the paper's table 1 says of each question set, in this package's words."""


def _n_questions(runs: paper.Runs, cell: paper.Cell, *, common: bool = False) -> paper.Value:
    """Return the number of questions that any model was asked, or that all models answered if ``common``."""
    results = runs.results_of(cell.tasks[0])
    if not results:
        return None
    trials = pd.concat([trials_frame(task.task_trials) for task in results], ignore_index=True)
    return float(count_questions(common_subset(trials) if common else trials))


_n_common_questions = partial(_n_questions, common=True)


def _fact(runs: paper.Runs, cell: paper.Cell, *, name: str) -> paper.Value:
    """Return a description of a question set; None if no model was asked it."""
    return _FACTS[cell.tasks[0]][name] if runs.results_of(cell.tasks[0]) else None


def _n_completions(runs: paper.Runs, cell: paper.Cell) -> paper.Value:
    model = runs.model_of(cell)
    if model is None:
        return None
    answered, _ = complete(model.columns["correct"], model.columns["confidence"])
    return float(len(answered))


def _on_common_questions(measure: str) -> paper.Compute:
    """Return the function that reads a measure of LifeEval on the questions that every model answered."""
    return from_table("overview", measure_label(measure))


_LIFEEVAL_MEASURES = {
    "Accuracy": "score",
    "Confidence": "confidence",
    "ECE": "ece",
    "(%) Rounded": "round_share",
}
"""LifeEval's measures for the metrics of tables 3 and 4."""


def _of_people() -> tuple[float, ...]:
    """Return the cells of people in table 2; what is not public is NaN."""
    confidence, score = means_over_radii()
    return score, math.nan, confidence, math.nan, math.nan, N_ANSWERS


def _set_metric(runs: paper.Runs, cell: paper.Cell, metric: str) -> paper.Value:
    """Return a metric of a question set; all metrics but ECE are in percent."""
    task = runs.task_of(cell)
    if task is None:
        return None
    if cell.task == "lifeeval" and metric == FORMULA:
        trials = common_subset(trials_frame(task.task_trials)).query("model == @cell.model")
        return ece_of_formula(trials["correct"].to_numpy(), trials["confidence"].to_numpy())
    if cell.task == "lifeeval":
        value = _on_common_questions(_LIFEEVAL_MEASURES[metric])(runs, cell)
        return value if metric == "ECE" or not isinstance(value, float) else 100.0 * value
    table = runs.tables.get("question_sets_performance")
    where = {"question set": task.task_trials.title, "metric": metric}
    return None if table is None else look_up(table, cell.model, **where)


_METRIC_ROWS = tuple(heading(metric, measure=partial(_set_metric, metric=metric)) for metric in METRICS)


def _table_of_type(number: str, kind: str) -> paper.PaperTable:
    return paper.PaperTable(
        number,
        f"All question sets: {kind} models. Metrics of the stated answer, on the questions of each set that every model"
        " answered. Accuracy (for LifeEval, the score), confidence and rounded are in percent. The ECE of the paper’s"
        " formula has a confidence of 0 in no bin; ours has it in the first.",
        stubs=("Question Set", "Metrics"),
        rows=(tuple(heading(name, task=task) for name, task in _ALPHABETICAL_SETS.items()), _METRIC_ROWS),
        columns=MODELS,
        of_type=kind,
    )


# The paper, in its order ---------------------------------------------------------------------------------------

REPLICATION = paper.Replication(
    name="lifeeval",
    title="LifeEval and question sets: arXiv:2605.23909",
    tasks={
        "lifeeval": paper.TaskParameters("radii"),
        **{name: paper.TaskParameters() for name in _TASKS[:-1]},
    },
    figures={"question_sets": (pooled_calibration, calibration_by_model_and_set, stated_and_token_ece)},
    tables={
        "lifeeval": (overview, people, token_probabilities),
        "question_sets": (performance, performance_across_sets, token_probabilities),
    },
    items=(
        paper.PaperTable(
            "1",
            "The six question sets: number of questions, and number that every model answered with a confidence.",
            stubs=("Question Set",),
            rows=tuple(heading(name, task=task) for name, task in _SETS.items()),
            columns=(
                heading("Length", measure=_n_questions, digits=0),
                heading("After Cleaning", measure=_n_common_questions, digits=0),
                *(heading(name, measure=partial(_fact, name=name)) for name in _FACTS["lifeeval"]),
            ),
        ),
        paper.PaperFigure(
            "1", "Calibration of all models on all question sets.", name="question_sets_pooled_calibration"
        ),
        paper.PaperFigure(
            "2", "Overconfidence by question set and model.", name="all_question_sets_overconfidence"
        ),
        paper.PaperFigure(
            "3",
            "Overconfidence by radius, of models and of people.",
            name="overconfidence_and_people",
            tasks=("lifeeval",),
        ),
        paper.PaperTable(
            "2",
            "LifeEval, on the questions that every model answered. Regression Coef.: slope of overconfidence on"
            " difficulty, which is 1 minus the best possible score. N: replies with an answer and a confidence; in"
            " aggregate rows, questions that every model answered. Rounded is exact; the paper’s count misses .55 and"
            " other values. The report’s table “Models side by side” has intervals for the means of groups. People:"
            " means over the radii 1, 5, 10 and 20 of public answers, not on the same questions.",
            stubs=("Model", "Type"),
            columns=(
                heading("Score (%)", measure=_on_common_questions("score"), percent=True, digits=1),
                heading("ECE", measure=_on_common_questions("ece"), digits=3),
                heading("Conf. (%)", measure=_on_common_questions("confidence"), percent=True, digits=1),
                heading("% Rnd", measure=_on_common_questions("round_share"), percent=True, digits=1),
                heading("Regression Coef.", measure=_on_common_questions("hard_easy"), digits=3),
                heading("N", measure=_n_completions, total=_n_common_questions, digits=0),
            ),
            at={"task": "lifeeval"},
            by_type=True,
            fixed_rows=(((LABEL, ""), _of_people()),),
            total=("Aggregate", lambda values: float(np.mean(values))),
        ),
        paper.PaperFigure(
            "4",
            "Best possible score by minimum age, sex and radius.",
            name="maximum_scores",
            tasks=("lifeeval",),
        ),
        paper.PaperFigure(
            "5", "Best guess by minimum age, sex and radius.", name="best_guesses", tasks=("lifeeval",)
        ),
        paper.PaperFigure(
            "6", "Calibration of each model on each question set.", name="question_sets_calibration"
        ),
        paper.PaperFigure("7", "Stated confidence against score.", name="scatter", tasks=("lifeeval",)),
        paper.PaperFigure(
            "8",
            "ECE of stated confidence and of token probability.",
            name="question_sets_stated_and_token_ece",
            tasks=tuple(task for task in _TASKS if task != "halueval"),
            parameters="-T top_logprobs=20",
        ),
        paper.PaperFigure("9", "Accuracy by question set and model.", name="all_question_sets_accuracy"),
        paper.PaperFigure("10", "ECE by question set and model.", name="all_question_sets_ece"),
        _table_of_type("3", "reasoning"),
        _table_of_type("4", "chat"),
        paper.NotMade("5", "Spend by provider.", why="Logs have numbers of tokens, not costs."),
        paper.PaperTable(
            "6",
            "Models and their cards, as the user’s file has them.",
            columns=(
                heading("Publisher", measure=about("family")),
                heading("Type", measure=about("kind")),
                heading("Model Card", measure=about("card")),
            ),
            at={"task": _TASKS},
            of_models=True,
        ),
    ),
)
