"""Comparisons of models on the questions that all of them answered."""

from __future__ import annotations

from collections.abc import Sequence
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
from confidence_tasks.study.measures import rows_of


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
