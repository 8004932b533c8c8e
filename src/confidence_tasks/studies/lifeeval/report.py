"""LifeEval and the question sets in the report: figures by age, tables of the paper, and what to be wary of.

arXiv:2605.23909, section 7.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, cast

import numpy as np
import pandas as pd

from confidence_tasks.report import paper
from confidence_tasks.report.checks import check
from confidence_tasks.report.estimates import Estimated, distributions, interval_of_measure, mean, together
from confidence_tasks.report.extra_tables import ExtraTable, extra_table, table_of_entries, trials_frame
from confidence_tasks.report.figures import Colour, LegendEntry, Line, Panel, panel, panels
from confidence_tasks.report.figures.general import ModelStyles, figure_by_model, figure_of
from confidence_tasks.report.labels import group_label, measure_label
from confidence_tasks.report.paper import MODELS, heading
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.score_replies import ReplyForm, Row, whole_number_in, with_id_suffix
from confidence_tasks.report.task_trials import (
    Columns,
    Group,
    ModelTrials,
    members_of,
    ordered_by_group,
    split_by_source,
)
from confidence_tasks.sources import SourceError
from confidence_tasks.sources.generated import SHIPPED_LAST_AGE, load_life_table
from confidence_tasks.statistics import complete, ece, overconfidence
from confidence_tasks.statistics.core import FloatArray, IntArray
from confidence_tasks.statistics.life_table import best_guess, close_life_table
from confidence_tasks.studies.lifeeval import STUDY
from confidence_tasks.studies.lifeeval.replies import CONDITIONS
from confidence_tasks.studies.lifeeval.trials import GROUPINGS, Window, group_labels
from confidence_tasks.study.measures import rows_of
from confidence_tasks.study.trial import Item, Question

MEMORISED = 0.01
"""Mean distance of confidence from the true probability below which a model seems to know the table by heart."""

_AGE_LINES = (
    ("mas", "best possible", Colour.MUTED),
    ("score", "score", Colour.RIGHT),
    ("confidence", "confidence", Colour.WRONG),
)


@figure_by_model(
    "by_age",
    "Score and confidence by age",
    "Mean over the sexes, by the least age that the person has reached: the probability that the guess comes within"
    " the radius, the confidence stated, and the best score that any guess could have.",
    keys=tuple(LegendEntry(label, colour) for _, label, colour in _AGE_LINES),
)
def by_age(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw score and confidence against the minimum age, by radius."""
    names = ["radius", "age", "sex", "correct", "confidence", "mas"]
    trials = pd.DataFrame({name: model.columns[name] for name in names}).rename(columns={"correct": "score"})
    by_sex = trials.groupby(["radius", "age", "sex"]).mean()
    for radius, means in by_sex.groupby(["radius", "age"]).mean().groupby("radius"):
        age = means.index.get_level_values("age").to_numpy(dtype=np.float64)
        lines = [Line(label, colour, age, means[name].to_numpy()) for name, label, colour in _AGE_LINES]
        yield panel(f"within {radius:g}", panels.over_range, lines=lines, x="age", y="")


_SEXES = (("female", Colour.SERIES_1), ("male", Colour.SERIES_0))
_AGES = np.arange(0.0, 101.0)
_SHIPPED = "None"
"""Setup value of a run that names no life table."""


@figure_of(
    "best_guesses",
    "Best age to guess",
    "The guess that most probably comes within the radius, by the least age that the person has reached. It is the"
    " same up to a certain age. Guesses near the best do as well within a fraction of a percent.",
    keys=tuple(LegendEntry(sex, colour) for sex, colour in _SEXES),
)
def best_guesses(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw figure 5 of the paper: the age that is best to guess against the minimum age, by radius and sex.

    Figure 4, the maximum achievable score, is the grey line of :func:`by_age`.
    """
    columns = [model.columns for model in results.models]
    windows = sorted({str(window) for its in columns for window in its["window"] if window})
    radii = sorted({float(radius) for its in columns for radius in its["radius"]})
    tables = sorted({file.setup.get("table", _SHIPPED) for model in results.models for file in model.files})
    for table, window, radius in product(tables, windows, radii):
        lines = [
            Line(sex, colour, _AGES, _best_ages(table, sex, int(radius), window)) for sex, colour in _SEXES
        ]
        told = f", {window.replace('_', ' ')}" if len(windows) > 1 else ""
        title = f"{group_label(f'radius={radius:g}')}{told}"
        yield panel(title, panels.over_range, lines=lines, x="minimum age", y="best guess", shares=False)


def _best_ages(table: str, sex: str, radius: int, window: str) -> FloatArray:
    """Return the best guesses by a life table; NaN where its file is not on this machine."""
    try:
        life_table = load_life_table(None if table == _SHIPPED else table)
    except SourceError:
        return np.full(len(_AGES), np.nan)
    q = close_life_table(life_table.probabilities(sex))
    rows = (
        best_guess(q, minimum_age=int(age), radius=radius, window=cast("Window", window)) for age in _AGES
    )
    return np.array([row.age for row in rows], dtype=np.float64)


@figure_by_model(
    "scatter",
    "Stated confidence and score",
    "One dot a trial. On the dashed line confidence is the probability that the guess comes true; horizontal rows"
    " of dots are round confidences.",
)
def score_against_confidence(
    results: TaskResults, styles: ModelStyles, model: ModelTrials
) -> Iterator[Panel]:
    """Draw figure 7 of the paper: the score of every trial against its stated confidence, model by model."""
    score, confidence = complete(model.columns["correct"], model.columns["confidence"])
    if len(score):
        labels, (colour, _) = ("score", "confidence"), styles[model.label]
        yield panel("", panels.scatter, x=score, y=confidence, colour=colour, labels=labels)


_OVERVIEW = (
    "score",
    "mas",
    "ece",
    "confidence",
    "overconfidence",
    "round_share",
    "hard_easy",
    "confidence_correlation",
)
"""Columns of table 2 of the paper, its text's correlation, and what else tells models apart."""


def overview(results: TaskResults) -> ExtraTable:
    """Return table 2 of the paper: the models side by side, on the questions that all of them answered.

    Groups of models that the user names have a row of their means, as the paper's "Aggregate" rows, with intervals.
    """
    return common_table(
        results,
        "overview",
        "Rounded is the share of stated confidences that are multiples of .05, counted exactly: the paper prints 90.15%"
        " where this is 92.28%, as the remainder of a floating-point number misses .55 and others. The best possible"
        " score is the mean over these questions. The correlation of .48 that the paper prints for its chat models is"
        " without Llama-3.1-8B; with it, it is .40.",
        _OVERVIEW,
    )


def common_table(results: TaskResults, name: str, note: str, measures: Sequence[str]) -> ExtraTable:
    """Return measures of the models on the questions that all of them answered, with the means of named groups.

    Its file name is that of the task with ``name`` behind it; the note begins with how many questions.
    """
    trials = trials_frame(results.task_trials)
    common = common_subset(trials.assign(row=trials.groupby("model").cumcount()))
    rows_by_model = {label: its["row"].to_numpy() for label, its in common.groupby("model")}
    nothing = np.array([], dtype=np.int64)
    ordered = ordered_by_group(results.models, results.settings.groups)
    rows = {
        model.label: [
            (model.label, _on_rows(results, model, rows_by_model.get(model.label, nothing), measures))
        ]
        for model in ordered
    }
    for group, names in results.settings.groups:
        if members := [model for model in members_of(ordered, names) if model.label in rows_by_model]:
            asked = [(model, rows_by_model[model.label]) for model in members]
            last = max(members, key=ordered.index)
            rows[last.label].append((f"{group} (mean)", _mean_over(results, asked, measures)))
    every = "every model" if len(rows) > 1 else "the model"
    return table_of_entries(
        f"{results.task_trials.slug}_{name}",
        "Models side by side",
        f"On the {distinct(common):,} of {distinct(trials):,} questions that {every} answered with a confidence."
        f" {note}",
        [row for its in rows.values() for row in its],
        measures,
    )


def distinct(trials: pd.DataFrame) -> int:
    """Return the number of questions, of which one under two conditions counts as two."""
    return len(trials[["question_id", "condition"]].drop_duplicates())


def _on_rows(
    results: TaskResults, model: ModelTrials, rows: IntArray, names: Sequence[str]
) -> list[Estimated | None]:
    """Estimate a model's measures on some of its trials; those of all its trials of one condition are known."""
    groups = {group.label for group in results.groups[model.label]}
    if len(rows) == len(model) and "all" in groups:
        return [results.estimate(model.label, "all", name) for name in names]
    return _mean_over(results, [(model, rows)], names) if len(rows) else [None] * len(names)


def _mean_over(
    results: TaskResults, asked: Sequence[tuple[ModelTrials, IntArray]], names: Sequence[str]
) -> list[Estimated | None]:
    """Estimate the means of measures over models on their common questions, which are resampled for all together."""
    measures = [results.task_trials.study.measures_by_name[name] for name in names]
    of_models = []
    for model, rows in asked:
        columns = rows_of(model.columns, rows)
        cells = split_by_source(columns, np.ones(len(rows), dtype=bool))
        drawn = distributions(columns, cells, measures, results.settings)
        of_models.append(together(cells, measures, drawn))
    whole = {name: mean([its[name] for its in of_models], skips_undefined=True) for name in names}
    n = min(len(rows) for _, rows in asked)
    intervals = {each.name: interval_of_measure(each, whole, results.settings) for each in measures}
    return [Estimated("", "all", "all", "", name, interval, n) for name, interval in intervals.items()]


@extra_table(
    "stated_against_token", "Stated confidence against token probability", "On the trials that have both."
)
def token_probabilities(results: TaskResults) -> pd.DataFrame:
    """Return what is stated against what token probabilities say, where a model has both."""
    table = stated_against_token(trials_frame(results.task_trials))
    return table[table["n"] > 0].rename(columns=lambda name: measure_label(name) if "_" in name else name)


@check(
    "warning",
    "Confidence equal to the life table",
    "A confidence this close to the published probabilities is recall of the table, not knowledge of what is"
    " known.",
)
def memorised_table(results: TaskResults) -> Iterator[str]:
    """Models whose confidence is the true probability."""
    for model in results.models:
        correct, confidence = complete(model.columns["correct"], model.columns["confidence"])
        distance = np.abs(confidence - correct).sum() / max(len(correct), 1)
        if len(correct) and distance < MEMORISED:
            yield f"{model.label}: {distance:.4f} away on average"


@check(
    "serious",
    "Scored by different windows",
    "Trials count a death within the radius in two ways. Their scores must not be compared: report on one at a"
    " time.",
)
def mixed_windows(results: TaskResults) -> Iterable[str]:
    """Trials scored by different windows."""
    windows = {model.label: sorted(set(map(str, model.columns["window"]))) for model in results.models}
    where = [f"{label}: {', '.join(names)}" for label, names in windows.items()]
    return where if len({name for names in windows.values() for name in names}) > 1 else []


def common_subset(trials: pd.DataFrame) -> pd.DataFrame:
    """Keep the questions that every model answered with a confidence, so that models are compared on the same ones.

    A question under two conditions counts as two. The paper compares models so (appendix B); it leaves 751 of the 808
    questions of LifeEval. Trials stay in the same order.

    Examples
    --------
    >>> trials = pd.DataFrame(
    ...     {
    ...         "model": ["a", "a", "b", "b"],
    ...         "question_id": ["q-1", "q-2", "q-1", "q-2"],
    ...         "condition": "radius=1",
    ...         "correct": [0.1, 0.2, 0.3, float("nan")],
    ...         "confidence": 0.5,
    ...     }
    ... )
    >>> list(common_subset(trials)["question_id"])
    ['q-1', 'q-1']
    """
    keys = ["question_id", "condition"]
    answered = trials.dropna(subset=["correct", "confidence"])
    models = answered.groupby(keys)["model"].nunique()
    common = models.index[models == trials["model"].nunique()]
    return answered[pd.MultiIndex.from_frame(answered[keys]).isin(common)]


def by_radius_sex_and_age(columns: Columns) -> list[Group]:
    """Group trials of LifeEval: all of them, then by radius, by sex and by band of the minimum age.

    Examples
    --------
    >>> columns = {"condition": ["radius=1"], "sex": ["male"], "age": [65.0], "source": ["lifeeval"]}
    >>> columns = {name: np.array(column) for name, column in columns.items()}
    >>> [(group.label, group.by) for group in by_radius_sex_and_age(columns)]
    [('all', 'all'), ('radius=1', 'radius'), ('sex=male', 'sex'), ('age=60-79', 'age')]
    """
    told = zip(columns["condition"], columns["sex"], columns["age"], strict=True)
    rows = [{"condition": condition, "sex": sex, "age": age} for condition, sex, age in told]
    radii = sorted({int(CONDITIONS.number(str(condition))) for condition in columns["condition"]})
    groups = []
    for by, labels in group_labels(radii).items():
        of_rows = np.array([GROUPINGS[by](row) for row in rows], dtype=object)
        groups += [
            Group(label, by, split_by_source(columns, np.asarray(of_rows == label))) for label in labels
        ]
    return [group for group in groups if group.n]


def stated_against_token(trials: pd.DataFrame) -> pd.DataFrame:
    """Compare stated confidence with token probabilities, on the trials that have both.

    One row a model and source: ``confidence``, ``ece`` and ``overconfidence``, each ``stated_`` and ``token_``, and
    ``n``. A model without token probabilities has none. ``token_correct`` is read where there is one, else
    ``correct``.
    """
    judged = "token_correct" if "token_correct" in trials else "correct"
    rows = []
    for (model, source), group in trials.groupby(["model", "source"], sort=False):
        kept = group.dropna(subset=["correct", "confidence", judged, "token_confidence"])
        row: dict[str, Any] = {"model": model, "source": source, "n": len(kept)}
        for name, correct, confidence in (
            ("stated", "correct", "confidence"),
            ("token", judged, "token_confidence"),
        ):
            pair = kept[correct], kept[confidence]
            row[f"{name}_confidence"] = float(kept[confidence].mean())
            row[f"{name}_ece"] = float(ece(*pair))
            row[f"{name}_overconfidence"] = float(overconfidence(*pair))
        rows.append(row)
    return pd.DataFrame(rows)


def _life(question: Question, row: Row) -> Item:
    sex, age, radius = (
        str(row["sex"]),
        whole_number_in(row, "age", 0, SHIPPED_LAST_AGE),
        whole_number_in(row, "radius", 1, 100),
    )
    if sex not in ("male", "female"):
        raise ValueError(f"sex={sex!r} is neither male nor female")
    case = {"sex": sex, "age": age, "radius": radius, "window": "half_open", "table": ""}
    question = with_id_suffix(replace(question, gold=None), row, f"{sex}-{age}-{radius}")
    return Item(question, f"radius={radius}", question.text, metadata=case)


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "lifeeval": ReplyForm(
        STUDY,
        {"sex": "male or female", "age": "least age in years", "radius": "years that a guess may be off"},
        _life,
        "radius=",
        key="",
    )
}


# Tables and figures of the paper ------------------------------------------------------------------------------

_SETS = {
    "BoolQ": "boolq",
    "SciQ": "sciq",
    "LSAT-AR": "lsat_ar",
    "SAT-EN": "sat_en",
    "HaluEval-QA": "halueval",
    "LifeEval": "lifeeval",
}
"""The question sets in the order of the paper's table 1."""

_IN_ALPHABETICAL_ORDER = dict(sorted((name.removesuffix("-QA"), task) for name, task in _SETS.items()))
"""The question sets in the order of the paper's tables 3 and 4."""

_TASKS = tuple(_SETS.values())


def _asked(runs: paper.Runs, cell: paper.Cell, *, by_all: bool = False) -> paper.Value:
    """Return how many questions, under each condition, any model was asked, or all answered with a confidence."""
    task = runs.results.get(cell.tasks[0])
    if task is None:
        return None
    trials = trials_frame(task.task_trials)
    return float(distinct(common_subset(trials) if by_all else trials))


_answered_by_all = partial(_asked, by_all=True)


def _completions(runs: paper.Runs, cell: paper.Cell) -> paper.Value:
    """Return the number of trials with an answer and a confidence."""
    model = runs.model_of(cell)
    if model is None:
        return None
    answered, _ = complete(model.columns["correct"], model.columns["confidence"])
    return float(len(answered))


def _in_common(measure: str) -> paper.Compute:
    """Return what reads a measure of the questions that every model answered."""
    return paper.from_table("overview", measure_label(measure))


def _of_set(runs: paper.Runs, cell: paper.Cell, metric: str) -> paper.Value:
    """Return a metric of a question set; accuracy, confidence and rounded are in percent."""
    task = runs.task_of(cell)
    if task is None:
        return None
    if cell.task == "lifeeval":
        found = _in_common(_OF_LIFEEVAL[metric])(runs, cell)
        return found if metric == "ECE" or not isinstance(found, float) else 100.0 * found
    table = runs.table_named("question_sets_performance")
    where = {"question set": task.task_trials.design.title, "metric": metric}
    return None if table is None else paper.looked_up(table, cell.model, **where)


_OF_LIFEEVAL = {"Accuracy": "score", "Confidence": "confidence", "ECE": "ece", "(%) Rounded": "round_share"}
"""LifeEval's names for the metrics of tables 3 and 4."""


_METRICS = tuple(heading(metric, measure=partial(_of_set, metric=metric)) for metric in _OF_LIFEEVAL)


def _of_models(number: int, kind: str) -> paper.PaperTable:
    return paper.PaperTable(
        str(number),
        f"All question sets: {kind} models. Of the stated answer, on the questions of each set that every model"
        " answered; accuracy (of LifeEval, the score), confidence and rounded in percent.",
        stubs=("Question Set", "Metrics"),
        rows=(tuple(heading(name, task=task) for name, task in _IN_ALPHABETICAL_ORDER.items()), _METRICS),
        columns=MODELS,
        of_type=kind,
    )


_OF_SETS = "all_question_sets"
_LOGPROBS = "-T top_logprobs=20"

REPLICATION = paper.Replication(
    name="lifeeval",
    title="LifeEval and question sets: arXiv:2605.23909",
    tasks={
        "lifeeval": paper.TaskParameters("radii"),
        **{name: paper.TaskParameters() for name in _TASKS[:-1]},
    },
    items=(
        paper.PaperTable(
            "1",
            "The six question sets: questions asked, and those that every model answered with a confidence.",
            stubs=("Question Set",),
            rows=tuple(heading(name, task=task) for name, task in _SETS.items()),
            columns=(
                heading("Length", measure=_asked, digits=0),
                heading("After Cleaning", measure=_answered_by_all, digits=0),
            ),
        ),
        paper.PaperFigure(
            "1", "Calibration of all models on all question sets.", name="question_sets_pooled_calibration"
        ),
        paper.PaperFigure(
            "2", "Overconfidence by question set and model.", name=f"{_OF_SETS}_overconfidence"
        ),
        paper.PaperFigure(
            "3", "Overconfidence by model and radius.", name="overconfidence", tasks=("lifeeval",)
        ),
        paper.PaperTable(
            "2",
            "LifeEval, on the questions that every model answered. Regression Coef.: slope of overconfidence on"
            " difficulty, 1 minus the best possible score. N: replies with an answer and a confidence, in the"
            " aggregate rows the questions in common. Rounded is counted exactly; the paper’s count misses .55 and"
            " others. The means of named groups have intervals in the report’s table of models side by side.",
            stubs=("Model", "Type"),
            columns=(
                heading("Score (%)", measure=_in_common("score"), percent=True, digits=1),
                heading("ECE", measure=_in_common("ece"), digits=3),
                heading("Conf. (%)", measure=_in_common("confidence"), percent=True, digits=1),
                heading("% Rnd", measure=_in_common("round_share"), percent=True, digits=1),
                heading("Regression Coef.", measure=_in_common("hard_easy"), digits=3),
                heading("N", measure=_completions, total=_answered_by_all, digits=0),
            ),
            at={"task": "lifeeval"},
            by_type=True,
            total=("Aggregate", paper.mean),
        ),
        paper.PaperFigure(
            "4",
            "Best possible score by minimum age, beside score and confidence.",
            name="by_age",
            tasks=("lifeeval",),
        ),
        paper.PaperFigure(
            "5", "Best age to guess by minimum age, sex and radius.", name="best_guesses", tasks=("lifeeval",)
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
            parameters=_LOGPROBS,
        ),
        paper.PaperFigure("9", "Accuracy by question set and model.", name=f"{_OF_SETS}_accuracy"),
        paper.PaperFigure("10", "ECE by question set and model.", name=f"{_OF_SETS}_ece"),
        _of_models(3, "reasoning"),
        _of_models(4, "chat"),
        paper.NotMade("5", "Spend by provider.", why="Logs hold tokens, not bills."),
        paper.NotMade("6", "Models and their cards.", why="Logs hold a model’s name, not who published it."),
    ),
)
