"""Figures, tables and checks of LifeEval, and the tables of its paper, which also covers the question sets.

arXiv:2605.23909, section 7.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain, product
from typing import Any, cast

import numpy as np
import pandas as pd

from confidence_tasks.drawing import Colour, ordered
from confidence_tasks.logs.task_trials import Columns, ModelTrials
from confidence_tasks.report import checks, paper
from confidence_tasks.report.estimates.averages import combined, mean
from confidence_tasks.report.estimates.distributions import distributions
from confidence_tasks.report.estimates.estimated import Estimated
from confidence_tasks.report.estimates.intervals import interval_of_measure
from confidence_tasks.report.extra_tables import ExtraTable, extra_table, table_of_entries, trials_frame
from confidence_tasks.report.figures import LegendEntry, Line, Panel, general, panel, panels
from confidence_tasks.report.figures.general import ModelStyles, figure_by_model, figure_of
from confidence_tasks.report.groups import Group, members_of, ordered_by_group, split_by_source
from confidence_tasks.report.labels import group_label, measure_label
from confidence_tasks.report.notices import check
from confidence_tasks.report.paper import MODELS, heading
from confidence_tasks.report.reply_forms import ReplyForm, whole_number_in, with_id_suffix
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.score_replies import Row
from confidence_tasks.report.study_report import StudyReport
from confidence_tasks.sources import SourceError
from confidence_tasks.sources.generated import SEXES, SHIPPED_LAST_AGE
from confidence_tasks.statistics import complete, ece, overconfidence
from confidence_tasks.statistics.core import FloatArray, IntArray
from confidence_tasks.statistics.life_table import Window, best_guess
from confidence_tasks.studies.lifeeval import STUDY
from confidence_tasks.studies.lifeeval.measures import GROUPINGS, group_labels
from confidence_tasks.studies.lifeeval.people import (
    LABEL,
    N_ANSWERS,
    means_over_radii,
    overconfidence_and_people,
    people,
)
from confidence_tasks.studies.lifeeval.replies import CONDITIONS, death_probabilities
from confidence_tasks.study.measures import rows_of
from confidence_tasks.study.trial import Item, Question

MEMORISED = 0.01
"""Mean distance between confidence and true probability below which a model seems to have memorised the table."""

_AGE_LINES = (
    ("mas", "best possible", Colour.MUTED),
    ("score", "score", Colour.RIGHT),
    ("confidence", "confidence", Colour.WRONG),
)


@figure_by_model(
    "by_age",
    "Score and confidence by age",
    "Mean over the sexes by minimum age: the score, which is the probability that the guess is within the radius, the"
    " stated confidence, and the best possible score of a guess.",
    keys=tuple(LegendEntry(label, colour) for _, label, colour in _AGE_LINES),
    grid=True,
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
"""Value of the parameter ``table`` in the log of a run with the shipped life table."""


@figure_of(
    "best_guesses",
    "Best age to guess",
    "The guess with the highest score, by minimum age. It is constant up to a certain age. The scores of neighbouring"
    " guesses differ from the best score by a fraction of a percent.",
    keys=tuple(LegendEntry(sex, colour) for sex, colour in _SEXES),
)
def best_guesses(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw figure 5 of the paper: the best guess against the minimum age, by radius and sex."""
    radii = _radii(results)
    for (table, window, label), radius in product(_tables_and_windows(results), radii):
        lines = [
            Line(sex, colour, _AGES, _best_guesses(table, sex, radius, window)[0]) for sex, colour in _SEXES
        ]
        title = group_label(f"radius={radius:g}") + label
        yield panel(title, panels.over_range, lines=lines, x="minimum age", y="best guess", shares=False)


def _radius_colours(results: TaskResults) -> dict[int, Colour]:
    radii = _radii(results)
    return {radius: ordered(i, len(radii)) for i, radius in enumerate(radii)}


@figure_of(
    "maximum_scores",
    "Best possible score",
    "The highest score that a guess can have, by minimum age: difficulty falls with the age and with the radius.",
    keys=lambda results, styles: tuple(
        LegendEntry(group_label(f"radius={radius:g}"), colour)
        for radius, colour in _radius_colours(results).items()
    ),
    size=(2.6, 2.1),
)
def maximum_scores(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw figure 4 of the paper: the maximum achievable score against the minimum age, by sex and radius."""
    for (table, window, label), (sex, _) in product(_tables_and_windows(results), _SEXES):
        lines = [
            Line(f"radius={radius:g}", colour, _AGES, _best_guesses(table, sex, radius, window)[1])
            for radius, colour in _radius_colours(results).items()
        ]
        yield panel(f"{sex}{label}", panels.over_range, lines=lines, x="minimum age", y="best score")


def _radii(results: TaskResults) -> list[int]:
    return sorted({int(radius) for model in results.models for radius in model.columns["radius"]})


def _tables_and_windows(results: TaskResults) -> list[tuple[str, str, str]]:
    """Return the life tables and windows of the trials, each pair with its label in titles."""
    windows = sorted(
        {str(window) for model in results.models for window in model.columns["window"] if window}
    )
    tables = sorted(
        {file.parameters.get("table", _SHIPPED) for model in results.models for file in model.files}
    )
    return [
        (table, window, f", {window.replace('_', ' ')}" if len(windows) > 1 else "")
        for table, window in product(tables, windows)
    ]


@lru_cache(maxsize=64)  # two figures show the same guesses
def _best_guesses(table: str, sex: str, radius: int, window: str) -> tuple[FloatArray, FloatArray]:
    """Return the best guesses and their scores by age; NaN if the file of the life table is not on this machine."""
    try:
        q = death_probabilities("" if table == _SHIPPED else table, sex)
    except SourceError:
        return np.full(len(_AGES), np.nan), np.full(len(_AGES), np.nan)
    guesses = [
        best_guess(q, minimum_age=int(age), radius=radius, window=cast("Window", window)) for age in _AGES
    ]
    ages, scores = ([float(getattr(guess, name)) for guess in guesses] for name in ("age", "score"))
    return np.array(ages), np.array(scores)


@figure_by_model(
    "scatter",
    "Stated confidence and score",
    "Each dot is a trial. On the dashed line, confidence is equal to the score. Horizontal rows of dots are round"
    " confidences.",
)
def score_against_confidence(
    results: TaskResults, styles: ModelStyles, model: ModelTrials
) -> Iterator[Panel]:
    """Draw figure 7 of the paper: stated confidence against score, one dot per trial."""
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
"""Measures of table 2 of the paper and of its text, and others that differ between models."""


def overview(results: TaskResults) -> ExtraTable:
    """Return table 2 of the paper: the models on the questions that all of them answered.

    Each group of models that the user defines has a row with its means, as the paper's "Aggregate" rows.
    """
    return common_table(
        results,
        "overview",
        "Rounded is the exact share of stated confidences that are multiples of .05. The paper tests the remainder of a"
        " floating-point number, which misses .55 and other values; it prints 90.15% where the exact share is 92.28%."
        " The best possible score is the mean over these questions. The paper's correlation of .48 for chat models"
        " excludes Llama-3.1-8B; with it, the correlation is .40.",
        _OVERVIEW,
    )


def common_table(results: TaskResults, name: str, note: str, measures: Sequence[str]) -> ExtraTable:
    """Return measures of the models, and means of the groups of models, on the questions that all models answered.

    The table's file is named after the task and ``name``. Its note begins with the number of questions.
    """
    trials = trials_frame(results.task_trials)
    common = common_subset(trials.assign(row=trials.groupby("model").cumcount()))
    rows_by_model = {label: group["row"].to_numpy() for label, group in common.groupby("model")}
    ordered = ordered_by_group(results.models, results.settings.groups)
    entries = {
        model.label: [(model.label, _on_rows(results, model, rows_by_model.get(model.label), measures))]
        for model in ordered
    }
    for group, names in results.settings.groups:
        if members := [model for model in members_of(ordered, names) if model.label in rows_by_model]:
            parts = [(model, rows_by_model[model.label]) for model in members]
            last = max(members, key=ordered.index)
            entries[last.label].append((f"{group} (mean)", _mean_over_models(results, parts, measures)))
    every = "every model" if len(entries) > 1 else "the model"
    return table_of_entries(
        f"{results.task_trials.slug}_{name}",
        "Models side by side",
        f"On the {count_questions(common):,} of {count_questions(trials):,} questions that {every} answered with a"
        f" confidence. {note}",
        chain.from_iterable(entries.values()),
        measures,
    )


def count_questions(trials: pd.DataFrame) -> int:
    """Return the number of questions; a question under two conditions counts as two."""
    return len(trials[["question_id", "condition"]].drop_duplicates())


def _on_rows(
    results: TaskResults, model: ModelTrials, rows: IntArray | None, names: Sequence[str]
) -> list[Estimated | None]:
    """Estimate a model's measures on some of its trials; the estimates on all trials of a model are reused."""
    if rows is None:
        return [None] * len(names)
    groups = {group.label for group in results.groups[model.label]}
    if len(rows) == len(model) and "all" in groups:
        return [results.estimate(model.label, "all", name) for name in names]
    return _mean_over_models(results, [(model, rows)], names)


def _mean_over_models(
    results: TaskResults, parts: Sequence[tuple[ModelTrials, IntArray]], names: Sequence[str]
) -> list[Estimated | None]:
    """Estimate means of measures over models; a resample has the same questions for all models."""
    measures = [results.task_trials.study.measures_by_name[name] for name in names]
    by_model = []
    for model, rows in parts:
        columns = rows_of(model.columns, rows)
        cells = split_by_source(columns, np.ones(len(rows), dtype=bool))
        draws = distributions(columns, cells, measures, results.settings)
        by_model.append(combined(cells, measures, draws))
    means = {name: mean([each[name] for each in by_model], skips_undefined=True) for name in names}
    n = min(len(rows) for _, rows in parts)
    intervals = {each.name: interval_of_measure(each, means, results.settings) for each in measures}
    return [Estimated("", "all", "all", "", name, interval, n) for name, interval in intervals.items()]


@extra_table(
    "stated_against_token", "Stated confidence against token probability", "On the trials that have both."
)
def token_probabilities(results: TaskResults) -> pd.DataFrame:
    """Return the comparison of stated confidence with token probability, for models that have both."""
    table = stated_against_token(trials_frame(results.task_trials))
    return table[table["n"] > 0].rename(columns=lambda name: measure_label(name) if "_" in name else name)


@check(
    "warning",
    "Confidence equal to the life table",
    "A confidence this close to the published probabilities shows that the model recalls the table. It does not show"
    " self-knowledge.",
)
def memorised_table(results: TaskResults) -> Iterator[str]:
    """Find models whose confidence is the true probability."""
    for model in results.models:
        correct, confidence = complete(model.columns["correct"], model.columns["confidence"])
        if len(correct) and (distance := np.abs(confidence - correct).mean()) < MEMORISED:
            yield f"{model.label}: mean distance {distance:.4f}"


@check(
    "serious",
    "Scores use different windows",
    "The trials use two definitions of a death within the radius, so that their scores cannot be compared. Report on"
    " one window at a time.",
)
def mixed_windows(results: TaskResults) -> Iterator[str]:
    """Find the windows of each model if there are several."""
    windows = {model.label: sorted(set(map(str, model.columns["window"]))) for model in results.models}
    if len(set(chain.from_iterable(windows.values()))) > 1:
        yield from (f"{label}: {', '.join(names)}" for label, names in windows.items())


def common_subset(trials: pd.DataFrame) -> pd.DataFrame:
    """Return the trials of the questions that every model answered with a confidence, in the same order.

    A question under two conditions counts as two. The paper compares models on this subset (appendix B), which has 751
    of the 808 questions of LifeEval.

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
    """Group trials of LifeEval: all trials, then by radius, by sex and by band of the minimum age.

    Examples
    --------
    >>> columns = {"condition": ["radius=1"], "sex": ["male"], "age": [65.0], "source": ["lifeeval"]}
    >>> columns = {name: np.array(column) for name, column in columns.items()}
    >>> [(group.label, group.by) for group in by_radius_sex_and_age(columns)]
    [('all', 'all'), ('radius=1', 'radius'), ('sex=male', 'sex'), ('age=60-79', 'age')]
    """
    rows = zip(columns["condition"], columns["sex"], columns["age"], strict=True)
    trials = [{"condition": condition, "sex": sex, "age": age} for condition, sex, age in rows]
    radii = sorted({int(CONDITIONS.number(str(condition))) for condition in columns["condition"]})
    groups = []
    for by, labels in group_labels(radii).items():
        trial_labels = np.array([GROUPINGS[by](trial) for trial in trials], dtype=object)
        groups += [Group(label, by, split_by_source(columns, trial_labels == label)) for label in labels]
    return [group for group in groups if group.n]


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


def _life(question: Question, row: Row) -> Item:
    sex, age = str(row["sex"]), whole_number_in(row, "age", 0, SHIPPED_LAST_AGE)
    radius = whole_number_in(row, "radius", 1, 100)
    if sex not in SEXES:
        raise ValueError(f"sex={sex!r} is neither male nor female")
    metadata = {"sex": sex, "age": age, "radius": radius, "window": "half_open", "table": ""}
    question = with_id_suffix(replace(question, gold=None), row, f"{sex}-{age}-{radius}")
    return Item(question, CONDITIONS.label(radius), question.text, metadata=metadata)


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "lifeeval": ReplyForm(
        STUDY,
        {"sex": "male or female", "age": "minimum age in years", "radius": "radius in years"},
        _life,
        CONDITIONS.prefix,
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
    return paper.from_table("overview", measure_label(measure))


_LIFEEVAL_MEASURES = {
    "Accuracy": "score",
    "Confidence": "confidence",
    "ECE": "ece",
    "(%) Rounded": "round_share",
}
"""LifeEval's measures for the metrics of tables 3 and 4."""


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
    return None if table is None else paper.look_up(table, cell.model, **where)


_METRICS = tuple(
    heading(metric, measure=partial(_set_metric, metric=metric))
    for metric in ("Accuracy", "Confidence", "ECE", FORMULA, "(%) Rounded")
)


def _table_of_type(number: str, kind: str) -> paper.PaperTable:
    return paper.PaperTable(
        number,
        f"All question sets: {kind} models. Metrics of the stated answer, on the questions of each set that every model"
        " answered. Accuracy (for LifeEval, the score), confidence and rounded are in percent. The ECE of the paper’s"
        " formula has a confidence of 0 in no bin; ours has it in the first.",
        stubs=("Question Set", "Metrics"),
        rows=(tuple(heading(name, task=task) for name, task in _ALPHABETICAL_SETS.items()), _METRICS),
        columns=MODELS,
        of_type=kind,
    )


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
                heading("Publisher", measure=paper.about("family")),
                heading("Type", measure=paper.about("kind")),
                heading("Model Card", measure=paper.about("card")),
            ),
            at={"task": _TASKS},
            of_models=True,
        ),
    ),
)


REPORT = StudyReport(
    figures=(
        general.reliability_of_scores,
        overconfidence_and_people,
        by_age,
        maximum_scores,
        best_guesses,
        score_against_confidence,
    ),
    tables=(overview, people, token_probabilities),
    checks=(*checks.GENERAL, memorised_table, mixed_windows),
    grouping=by_radius_sex_and_age,
    replication=REPLICATION,
    reply_forms=REPLY_FORMS,
    power=(),
)
