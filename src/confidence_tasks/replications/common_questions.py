"""LifeEval and question sets: the models on the questions that all of them answered (arXiv:2605.23909, appendix B)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import pandas as pd

from confidence_tasks.logs.task_trials import ModelTrials
from confidence_tasks.report.estimates.averages import combined, mean
from confidence_tasks.report.estimates.distributions import distributions
from confidence_tasks.report.estimates.estimated import Estimated
from confidence_tasks.report.estimates.intervals import interval_of_measure
from confidence_tasks.report.extra_tables import ExtraTable, table_of_entries, trials_frame
from confidence_tasks.report.groups import members_of, ordered_by_group, split_by_source
from confidence_tasks.report.results import TaskResults
from confidence_tasks.statistics.core import IntArray
from confidence_tasks.study.columns import rows_of


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
        "Round numbers are the exact share of stated confidences that are multiples of .05. The paper tests the"
        " remainder of a floating-point number, which misses .55 and other values; it prints 90.15% where the exact"
        " share is 92.28%. The best possible score is the mean over these questions. The paper's correlation of .48 for"
        " chat models excludes Llama-3.1-8B; with it, the correlation is .40.",
        _OVERVIEW,
    )


_STATED = ("answer_accuracy", "answer_confidence", "answer_ece", "answer_overconfidence")


_FAVOURITE = ("accuracy", "confidence", "ece", "overconfidence", "round_share")


def performance(results: TaskResults) -> ExtraTable:
    """Return the rows of one question set in tables 3 and 4 of the paper: a row per model, a column per measure.

    If replies state a probability of every option, measures of the stated answer, as in the paper, precede measures of
    the option with the highest probability.
    """
    has_options = any(
        bool(favourites) for model in results.models for favourites in model.columns["favourites"]
    )
    table = common_table(
        results,
        "performance",
        "The first columns are of the stated answer, as in the paper. Accuracy, confidence and ECE without “answer” are"
        " of the option with the highest probability, whichever letter the reply names."
        if has_options
        else "Round numbers are the exact share of stated confidences that are multiples of .05.",
        (*_STATED, *_FAVOURITE) if has_options else _FAVOURITE,
    )
    return replace(table, repeats=len(results.models) == 1)
