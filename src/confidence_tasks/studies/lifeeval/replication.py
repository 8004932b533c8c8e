"""The tables and figures of the paper on LifeEval and the calibration question sets: arXiv:2605.23909."""

from __future__ import annotations

from typing import Any

import numpy as np

from confidence_tasks.report.extra_tables import trials_frame
from confidence_tasks.report.labels import measure_label
from confidence_tasks.report.paper import (
    MODELS,
    Axis,
    Cell,
    Compute,
    NotMade,
    PaperFigure,
    PaperTable,
    Replication,
    Runs,
    TaskParameters,
    Value,
    from_table,
    heading,
    looked_up,
    mean,
)
from confidence_tasks.studies.lifeeval.report import common_subset

_SETS = {
    "BoolQ": "boolq",
    "SciQ": "sciq",
    "LSAT-AR": "lsat_ar",
    "SAT-EN": "sat_en",
    "HaluEval-QA": "halueval",
    "LifeEval": "lifeeval",
}
"""The question sets in the order of the paper's table 1."""

_IN_ALPHABETICAL_ORDER = {
    "BoolQ": "boolq",
    "HaluEval": "halueval",
    "LSAT-AR": "lsat_ar",
    "LifeEval": "lifeeval",
    "SAT-EN": "sat_en",
    "SciQ": "sciq",
}
"""The same in the order of tables 3 and 4."""

_TASKS = tuple(_SETS.values())


def _asked(runs: Runs, cell: Cell) -> Value:
    """Return the number of questions, under each condition, that any model was asked."""
    task = runs.results.get(cell.tasks[0])
    return None if task is None else float(_distinct(trials_frame(task.task_trials)))


def _answered_by_all(runs: Runs, cell: Cell) -> Value:
    """Return the number of these that every model answered with a confidence."""
    task = runs.results.get(cell.tasks[0])
    return None if task is None else float(_distinct(common_subset(trials_frame(task.task_trials))))


def _distinct(trials: Any) -> int:
    return len(trials[["question_id", "condition"]].drop_duplicates())


def _completions(runs: Runs, cell: Cell) -> Value:
    """Return the number of trials with an answer and a confidence."""
    task = runs.task_of(cell)
    if task is None:
        return None
    model = next(each for each in task.models if each.label == cell.model)
    return float(np.sum(~np.isnan(model.columns["correct"]) & ~np.isnan(model.columns["confidence"])))


def _in_common(measure: str) -> Compute:
    """Return what reads a measure of the questions that every model answered."""
    return from_table("overview", measure_label(measure))


def _of_set(metric: str) -> Compute:
    """Return what reads a metric of a question set; accuracy, confidence and rounded are in percent."""

    def value(runs: Runs, cell: Cell) -> Value:
        task = runs.task_of(cell)
        if task is None:
            return None
        if cell.task == "lifeeval":
            found = _in_common(_OF_LIFEEVAL[metric])(runs, cell)
            return found if metric == "ECE" or not isinstance(found, float) else 100.0 * found
        table = runs.table_named("question_sets_performance")
        where = {"question set": task.task_trials.design.title, "metric": metric}
        return None if table is None else looked_up(table, cell.model, **where)

    return value


_OF_LIFEEVAL = {
    "Accuracy": "score",
    "Confidence": "confidence",
    "ECE": "ece",
    "(%) Rounded": "round_share",
}
"""What LifeEval calls the metrics of tables 3 and 4."""


_METRICS: Axis = tuple(heading(metric, measure=_of_set(metric)) for metric in _OF_LIFEEVAL)


def _of_models(number: int, kind: str) -> PaperTable:
    return PaperTable(
        str(number),
        f"All question sets: {kind} models. Of the stated answer, on the questions of each set that every model"
        " answered; accuracy (of LifeEval, the score), confidence and rounded in percent.",
        stubs=("Question Set", "Metrics"),
        rows=(tuple(heading(name, task=task) for name, task in _IN_ALPHABETICAL_ORDER.items()), _METRICS),
        columns=(MODELS,),
        of_type=kind,
    )


_OF_SETS = "all_question_sets"
_LOGPROBS = "-T top_logprobs=20"

REPLICATION = Replication(
    name="lifeeval",
    title="LifeEval and question sets: arXiv:2605.23909",
    tasks={"lifeeval": TaskParameters("radii"), **{name: TaskParameters() for name in _TASKS[:-1]}},
    items=(
        PaperTable(
            "1",
            "The six question sets: questions asked, and those that every model answered with a confidence.",
            stubs=("Question Set",),
            rows=(tuple(heading(name, task=task) for name, task in _SETS.items()),),
            columns=(
                (
                    heading("Length", measure=_asked, digits=0),
                    heading("After Cleaning", measure=_answered_by_all, digits=0),
                ),
            ),
        ),
        PaperFigure(
            "1", "Calibration of all models on all question sets.", name="question_sets_pooled_calibration"
        ),
        PaperFigure("2", "Overconfidence by question set and model.", name=f"{_OF_SETS}_overconfidence"),
        PaperFigure("3", "Overconfidence by model and radius.", name="overconfidence", tasks=("lifeeval",)),
        PaperTable(
            "2",
            "LifeEval, on the questions that every model answered. Regression Coef.: slope of overconfidence on"
            " difficulty, 1 minus the best possible score. N: replies with an answer and a confidence, in the"
            " aggregate rows the questions in common. Rounded is counted exactly; the paper’s count misses .55 and"
            " others. The means of named groups have intervals in the report’s table of models side by side.",
            stubs=("Model", "Type"),
            columns=(
                (
                    heading("Score (%)", measure=_in_common("score"), percent=True, digits=1),
                    heading("ECE", measure=_in_common("ece"), digits=3),
                    heading("Conf. (%)", measure=_in_common("confidence"), percent=True, digits=1),
                    heading("% Rnd", measure=_in_common("round_share"), percent=True, digits=1),
                    heading("Regression Coef.", measure=_in_common("hard_easy"), digits=3),
                    heading("N", measure=_completions, total=_answered_by_all, digits=0),
                ),
            ),
            at={"task": "lifeeval"},
            by_type=True,
            total=("Aggregate", mean),
        ),
        PaperFigure(
            "4",
            "Best possible score by minimum age, beside score and confidence.",
            name="by_age",
            tasks=("lifeeval",),
        ),
        PaperFigure(
            "5", "Best age to guess by minimum age, sex and radius.", name="best_guesses", tasks=("lifeeval",)
        ),
        PaperFigure("6", "Calibration of each model on each question set.", name="question_sets_calibration"),
        PaperFigure("7", "Stated confidence against score.", name="scatter", tasks=("lifeeval",)),
        PaperFigure(
            "8",
            "ECE of stated confidence and of token probability.",
            name="question_sets_stated_and_token_ece",
            tasks=tuple(task for task in _TASKS if task != "halueval"),
            parameters=_LOGPROBS,
        ),
        PaperFigure("9", "Accuracy by question set and model.", name=f"{_OF_SETS}_accuracy"),
        PaperFigure("10", "ECE by question set and model.", name=f"{_OF_SETS}_ece"),
        _of_models(3, "reasoning"),
        _of_models(4, "chat"),
        NotMade("5", "Spend by provider.", why="Logs hold tokens, not bills."),
        NotMade("6", "Models and their cards.", why="Logs hold a model’s name, not who published it."),
    ),
)
