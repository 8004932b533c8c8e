"""LifeEval and the question sets in the report: figures by age, tables of the paper, and what to be wary of.

arXiv:2605.23909, section 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.report.checks import Notice, notice_if_any
from confidence_tasks.report.estimates import distributions, estimates
from confidence_tasks.report.extra_tables import ExtraTable, table_of_entries, trials_frame
from confidence_tasks.report.figures import panels
from confidence_tasks.report.figures.figure import Figure, LegendEntry, Panel
from confidence_tasks.report.figures.general import ModelStyles, model_keys, rows_of_models
from confidence_tasks.report.figures.panels import Line
from confidence_tasks.report.figures.style import Colour
from confidence_tasks.report.groups import Group, split_by_source
from confidence_tasks.report.labels import measure_label
from confidence_tasks.statistics import bootstrap, complete, overconfidence
from confidence_tasks.studies.lifeeval.tables import (
    common_subset,
    hard_easy_table,
    radius_of,
    score_and_confidence_by_age,
    stated_against_token,
)

if TYPE_CHECKING:
    from confidence_tasks.report.estimates import Estimated
    from confidence_tasks.report.results import TaskResults
    from confidence_tasks.report.task_trials import ModelTrials
    from confidence_tasks.statistics.core import FloatArray, IntArray

MEMORISED = 0.01
"""Mean distance of confidence from the true probability below which a model seems to know the table by heart."""

_DIFFICULTY_BINS = 10
_RESAMPLES_OF_A_BIN = 1000

_AGE_LINES = (
    ("mas", "best possible", Colour.MUTED),
    ("score", "score", Colour.RIGHT),
    ("confidence", "confidence", Colour.WRONG),
)


def radius_column(condition: str) -> dict[str, float]:
    """Return the radius that a condition stands for."""
    return {"radius": radius_of(condition)}


def by_age(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw score and confidence against the minimum age, by model and radius."""
    means = score_and_confidence_by_age(trials_frame(results.task_trials))
    means = means.groupby(["model", "radius", "age"], as_index=False)[["score", "confidence", "mas"]].mean()
    rows = []
    for model in results.models:
        own = means[means["model"] == model.label]
        its_panels = []
        for radius, part in own.groupby("radius"):
            part = part.sort_values("age")
            age = part["age"].to_numpy()
            lines = [Line(label, colour, age, part[name].to_numpy()) for name, label, colour in _AGE_LINES]
            its_panels.append(
                Panel(f"within {radius:g}", partial(panels.over_range, lines=lines, x="age", y=""))
            )
        rows.append((model.label, tuple(its_panels)))
    return Figure(
        f"{results.task_trials.slug}_by_age",
        "Score and confidence by age",
        "Mean over the sexes, by the least age that the person has reached: the probability that the guess comes within"
        " the radius, the confidence stated, and the best score that any guess could have.",
        rows_of_models(rows),
        tuple(LegendEntry(label, colour) for _, label, colour in _AGE_LINES),
    )


def by_difficulty(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw overconfidence against difficulty, in bins of equal numbers of questions."""
    lines = []
    for model in results.models:
        colour, marker = styles[model.label]
        difficulty, correct, confidence, question = _graded_trials(model)
        order = np.argsort(difficulty, kind="stable")
        bins = [rows for rows in np.array_split(order, _DIFFICULTY_BINS) if len(rows)]
        intervals = [
            bootstrap(
                overconfidence,
                correct[rows],
                confidence[rows],
                clusters=question[rows],
                n_resamples=_RESAMPLES_OF_A_BIN,
                level=results.settings.level,
                method="student",
                seed=results.settings.seed,
            )
            for rows in bins
        ]
        x = np.array([difficulty[rows].mean() for rows in bins])
        y, low, high = (
            np.array([getattr(interval, name) for interval in intervals], dtype=np.float64)
            for name in ("estimate", "low", "high")
        )
        lines.append(Line(model.label, colour, x, y, low, high, marker))
    shown = [line for line in lines if len(line.x)]
    draw = partial(
        panels.points,
        lines=shown,
        x="difficulty (1 − best possible score)",
        y="overconfidence",
        reference=0.0,
    )
    return Figure(
        f"{results.task_trials.slug}_by_difficulty",
        "Overconfidence by difficulty",
        "Mean confidence minus mean score, from the easiest tenth of the questions to the hardest, with"
        f" {results.settings.level:.0%} intervals. A rise to the right is the hard–easy effect; its slope is"
        " in the table below.",
        (("", (Panel("", draw),) if shown else ()),),
        model_keys(results, styles),
        size=(7.4, 3.0),
    )


def _graded_trials(model: ModelTrials) -> tuple[FloatArray, FloatArray, FloatArray, NDArray[Any]]:
    """Return difficulty, score and confidence of the trials that have them, and their questions."""
    columns = [model.columns[name] for name in ("difficulty", "correct", "confidence")]
    kept = ~np.isnan(columns).any(axis=0)
    difficulty, correct, confidence = (column[kept] for column in columns)
    return difficulty, correct, confidence, model.columns["question_id"][kept]


def hard_easy(results: TaskResults) -> ExtraTable:
    """Return the regression of overconfidence on difficulty, as in table 2 of the paper."""
    return ExtraTable(
        f"{results.task_trials.slug}_hard_easy",
        "Hard–easy effect",
        "Overconfidence regressed on difficulty, 1 minus the best possible score. A slope above 0 is more"
        " overconfidence on harder questions; its interval allows for unequal variances.",
        hard_easy_table(trials_frame(results.task_trials), level=results.settings.level),
        {"slope": ("low", "high")},
    )


_OVERVIEW = ("score", "mas", "ece", "confidence", "overconfidence", "round_share", "confidence_correlation")
"""Table 2 of the paper, but for the regression."""


def overview(results: TaskResults) -> ExtraTable:
    """Return the models side by side, on the questions that all of them answered, as in appendix B of the paper."""
    trials = trials_frame(results.task_trials)
    common = common_subset(trials.assign(row=trials.groupby("model").cumcount()))
    n = len(common[["question_id", "condition"]].drop_duplicates())
    of_all = len(trials[["question_id", "condition"]].drop_duplicates())
    rows = [
        (
            model.label,
            _overview_of(results, model, common.loc[common["model"] == model.label, "row"].to_numpy()),
        )
        for model in results.models
    ]
    return table_of_entries(
        f"{results.task_trials.slug}_overview",
        "Models side by side",
        f"On the {n:,} of {of_all:,} questions that {'every model' if len(rows) > 1 else 'the model'} answered with a"
        " confidence. Rounded is the share of stated confidences that are multiples of .05; the best possible score is"
        " the mean over these questions.",
        rows,
        _OVERVIEW,
    )


def _overview_of(results: TaskResults, model: ModelTrials, rows: IntArray) -> list[Estimated | None]:
    """Estimate a model's measures on some of its trials; those of all its trials are known."""
    if len(rows) == len(model):
        return [results.estimate(model.label, "all", name) for name in _OVERVIEW]
    if not len(rows):
        return [None] * len(_OVERVIEW)
    columns = {name: column[rows] for name, column in model.columns.items()}
    group = Group("all", "all", split_by_source(columns, np.ones(len(rows), dtype=bool)))
    measures = [results.task_trials.study.measure[name] for name in _OVERVIEW]
    drawn = distributions(columns, group.cells, measures, results.settings)
    return [
        entry
        for entry in estimates(model.label, [group], measures, drawn, results.settings)
        if not entry.source
    ]


def token_probabilities(results: TaskResults) -> ExtraTable:
    """Return what is stated against what token probabilities say, where a model has both."""
    table = stated_against_token(trials_frame(results.task_trials))
    return ExtraTable(
        f"{results.task_trials.slug}_stated_against_token",
        "Stated confidence against token probability",
        "On the trials that have both.",
        table[table["n"] > 0].rename(columns=lambda name: measure_label(name) if "_" in name else name),
    )


def memorised_table(results: TaskResults) -> Iterator[Notice]:
    """Models whose confidence is the true probability."""
    where = []
    for model in results.models:
        correct, confidence = complete(model.columns["correct"], model.columns["confidence"])
        distance = np.abs(confidence - correct).sum() / max(len(correct), 1)
        if len(correct) and distance < MEMORISED:
            where.append(f"{model.label}: {distance:.4f} away on average")
    yield from notice_if_any(
        "warning",
        "Confidence equal to the life table",
        "A confidence this close to the published probabilities is recall of the table, not knowledge of what is"
        " known.",
        where,
    )


def mixed_windows(results: TaskResults) -> Iterator[Notice]:
    """Trials scored by different windows."""
    windows = {model.label: sorted(set(map(str, model.columns["window"]))) for model in results.models}
    where = [f"{label}: {', '.join(names)}" for label, names in windows.items()]
    yield from notice_if_any(
        "serious",
        "Scored by different windows",
        "Trials count a death within the radius in two ways. Their scores must not be compared: report on one at a"
        " time.",
        where if len({name for names in windows.values() for name in names}) > 1 else [],
    )
