"""Summaries of trials, intervals and scores: a row for each group and measure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from confidence_tasks.catalogue import study_named
from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.own_replies.intervals import LEVEL, interval_trials
from confidence_tasks.report.estimates.distributions import distributions
from confidence_tasks.report.estimates.estimated import Estimated, estimates
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.given import column_names, columns_of, measure_names
from confidence_tasks.report.groups import Group, split_by_source
from confidence_tasks.report.stopped import remark_on
from confidence_tasks.report.summary_tables import Summary, grouped
from confidence_tasks.statistics import Reason
from confidence_tasks.study import score_measures as scored
from confidence_tasks.study.computations import StatisticCall
from confidence_tasks.study.given import label_column, named_column
from confidence_tasks.study.given_trials import given_trials, with_given_units
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.standard import computable
from confidence_tasks.study.units import SAMPLING_UNIT


def summary_of_trials(
    trials: pd.DataFrame,
    names: tuple[str, ...],
    measures: Sequence[Measure],
    own: Mapping[str, Mapping[str, Measure]],
    settings: Settings,
) -> Summary:
    """Summarise trials by the columns of some names; ``own`` has the measures of the study of each task."""
    # As in a report, each model is resampled separately, so that its numbers do not depend on other models.
    rows = []
    for _, positions in grouped(trials, [name for name in ("task", "model") if name in names]):
        part = trials.iloc[positions].reset_index(drop=True)
        for labels, row in _summarise(part, names, _own_measures(measures, part, own), settings):
            rows.append({**dict(zip(names, labels, strict=True)), **row})
    frame = pd.DataFrame(rows, columns=[*names, *_columns_of_numbers(trials)])
    shown = [*names, "question_id", "source", "correct", "confidence", *({SAMPLING_UNIT} & set(trials))]
    return Summary(frame, names, settings.level, trials[list(dict.fromkeys(shown))])


def summary_of_intervals(
    data: Any, by: Any, units: tuple[Any, Any], measures: Sequence[str] | None, settings: Settings
) -> Summary:
    """Summarise the intervals in a table, for each group and level. ``units`` are the questions and their clusters."""
    if not isinstance(data, pd.DataFrame):
        raise ValueError("kind='interval' needs a table with the columns low, high, truth and level")
    own = study_named("intervals").measures_by_name
    chosen = [own[name] for name in measure_names(measures, list(own))]
    data, names = data.reset_index(drop=True), column_names(by)
    labels = {name: label_column(named_column(data, name, "by"), name, len(data)) for name in names}
    questions, cluster = units
    trials = interval_trials(data, questions).join(pd.DataFrame(labels))
    if cluster is not None:
        of_rows = label_column(named_column(data, cluster, "cluster"), "cluster", len(data))
        trials = with_given_units(trials, of_rows[trials.index])
    trials = trials.reset_index(drop=True)
    parts = [(key, trials.iloc[rows].reset_index(drop=True)) for key, rows in grouped(trials, names)]
    rows = [  # as in a report, each model is resampled separately
        {**dict(zip(names, key, strict=True)), LEVEL: condition.removeprefix("p="), **row}
        for key, part in parts
        for (condition,), row in _summarise(part, ("condition",), chosen, settings)
    ]
    shown = [*names, LEVEL, *_columns_of_numbers(trials)]
    of_level = trials.assign(level=trials["condition"].str.removeprefix("p="))
    return Summary(pd.DataFrame(rows, columns=shown), (*names, LEVEL), settings.level, of_level)


def summary_of_scores(
    data: Any, columns: tuple[Any, ...], kind: str, measures: Sequence[str] | None, settings: Settings
) -> Summary:
    """Summarise answers with scores, given as arrays or as columns of a table."""
    if not isinstance(data, pd.DataFrame | None):
        raise ValueError("logs say themselves what their signals are: leave out kind")
    correct, confidence, by, questions, cluster = columns
    given = named_column(
        pd.DataFrame() if data is None else data,
        "confidence" if confidence is None else confidence,
        "confidence",
    )
    scores = scored.as_scores(given, kind)
    trials, names = given_trials(data, correct, scored.stretched(scores), by, questions, cluster)
    trials = scored.with_scores(trials, scores)
    requested = measure_names(measures, [*scored.SCORE_MEASURES, *scored.OF_PROBABILITIES])
    chosen = [scored.SCORE_MEASURES[name] for name in requested if name in scored.SCORE_MEASURES]
    rows = [
        {**dict(zip(names, labels, strict=True)), **row}
        for labels, row in _summarise(trials, names, chosen, settings)
    ]
    rows += [
        {**dict(zip(names, labels, strict=True)), **row}
        for labels, positions in grouped(trials, names)
        for row in scored.left_out(requested, len(positions))
    ]
    frame = pd.DataFrame(rows, columns=[*names, *_columns_of_numbers(trials)])
    return Summary(frame, names, settings.level, trials)


def _columns_of_numbers(trials: pd.DataFrame) -> list[str]:
    """Return the columns of a table of measures; with clusters, also their number and effect."""
    of_clusters = ["n_clusters", "design_effect"] if SAMPLING_UNIT in trials else []
    return ["measure", "value", "low", "high", "n", *of_clusters, "reason"]


def _summarise(
    trials: pd.DataFrame, by: Sequence[str], measures: Sequence[Measure], settings: Settings
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield the labels of each group with each measure: its value, limits, number of trials, and reason if missing."""
    parts = [(labels, np.isin(np.arange(len(trials)), rows)) for labels, rows in grouped(trials, by)]
    estimated = _estimates(columns_of(trials), [mask for _, mask in parts], measures, settings)
    for (i, (labels, mask)), measure in product(enumerate(parts), measures):
        yield labels, _row(measure, trials[mask], estimated.get((str(i), measure.name)))


def _estimates(
    columns: Columns, masks: Sequence[NDArray[np.bool_]], measures: Sequence[Measure], settings: Settings
) -> dict[tuple[str, str], Estimated]:
    """Return the estimates of each group of trials and measure, by the number of the group; means over sources."""
    defined = computable(measures, columns["correct"])
    groups = [Group(str(i), "group", split_by_source(columns, mask)) for i, mask in enumerate(masks)]
    drawn = distributions(
        columns, [subset for group in groups for subset in group.subsets], defined, settings
    )
    estimated = {}
    for group in groups:
        if group.subsets:
            of_group = estimates([group], defined, drawn, settings)
            estimated.update({(each.group, each.measure): each for each in of_group if not each.source})
    return estimated


def _row(measure: Measure, trials: pd.DataFrame, entry: Estimated | None) -> dict[str, Any]:
    """Return the numbers of a measure of some trials, and the reason of those that are missing."""
    needed = list(measure.compute.columns) if isinstance(measure.compute, StatisticCall) else []
    n = len(trials.dropna(subset=needed))
    row: dict[str, Any] = {"measure": measure.name, "n": n}
    is_missing = scored.needs_probability(measure.name, trials)
    if n and entry is not None and not is_missing:
        interval = entry.interval
        row |= {"value": float(interval.estimate), "low": float(interval.low), "high": float(interval.high)}
        row["reason"] = remark_on(interval, *trials.get("model", pd.Series()).astype(str).unique())
    else:
        row |= dict.fromkeys(("value", "low", "high"), math.nan)
        other = f"no value: {'correct is a probability, not an outcome' if n else Reason.EMPTY}"
        row["reason"] = scored.why_missing(measure.name) if is_missing else other
    clusters = entry.clusters if entry else None
    row["n_clusters"] = clusters.n if clusters else math.nan
    row["design_effect"] = clusters.design_effect if clusters else math.nan
    return row


def _own_measures(
    measures: Sequence[Measure], trials: pd.DataFrame, own: Mapping[str, Mapping[str, Measure]]
) -> list[Measure]:
    """Return the study's own measures in place of the standard ones of the same name.

    Trials of several tasks have the measures that their studies share. ``own`` has the measures of each task.
    """
    if not own:
        return list(measures)
    tables = [own[task] for task in dict.fromkeys(trials["task"])]
    chosen = []
    for measure in measures:
        found = {id(table.get(measure.name)): table.get(measure.name) for table in tables}
        shared = found.popitem()[1] if len(found) == 1 else None
        chosen.append(shared or measure)
    return chosen
