"""Comparisons of two models, runs or samples: differences with intervals and tests.

The command, Python and the page of a report make pairs of trials and give them to :func:`compare`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from confidence_tasks.catalogue import study_named
from confidence_tasks.harness.workers import LostJob, Workers
from confidence_tasks.logs.cache import Cache
from confidence_tasks.logs.computed import computed
from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.report.estimates.averages import combined
from confidence_tasks.report.estimates.contrast import Contrast, Side
from confidence_tasks.report.estimates.contrasts import contrasts
from confidence_tasks.report.estimates.distribution import Distribution
from confidence_tasks.report.estimates.distributions import distributions
from confidence_tasks.report.estimates.intervals import interval_of_measure
from confidence_tasks.report.estimates.paired_trials import FIRST, SECOND, paired_trials, stacked_trials
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import Group, split_by_source
from confidence_tasks.statistics import holm
from confidence_tasks.statistics.inference.tests import adjusted_for_all
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.standard import STANDARD, computable


@dataclass(frozen=True, slots=True)
class Pair:
    """Trials of two models, or of two samples, to compare.

    Attributes
    ----------
    first, second : mapping of str to ndarray, shape (n,)
        The trials of either.
    measures : tuple of str
        Names of measures.
    study : str
        Name of the study that has the measures; empty for the standard measures.
    conditions : tuple of str, optional
        Conditions whose trials are paired by question. By default the samples are independent: they share no question.
    first_model, second_model, condition : str
        What the sides of the contrasts are called.
    task : str
        Name of the task.
    """

    first: Columns
    second: Columns
    measures: tuple[str, ...]
    study: str = ""
    conditions: tuple[str, ...] | None = None
    first_model: str = "A"
    second_model: str = "B"
    condition: str = ""
    task: str = ""


def compare(
    pairs: Sequence[Pair], settings: Settings, workers: Workers | None = None, cache: Cache | None = None
) -> list[list[Contrast]]:
    """Compare the two sides of each pair by each measure; the p-values are not corrected yet.

    A pair that shares no question, or of which one side is empty, has no comparisons. Where ``workers`` and a ``cache``
    are given, comparisons are computed there and kept.
    """
    work = sum(
        len(columns["question_id"]) * settings.n_resamples
        for pair in pairs
        for columns in (pair.first, pair.second)
    )
    outcomes = computed(
        compared_trials,
        [(_name(pair), _arguments(pair, settings)) for pair in pairs],
        "comparisons",
        list[Contrast],
        workers,
        cache,
        enough=WORTH_WORKERS * len(pairs) / max(work, 1),
    )
    compared = []
    for pair, outcome in zip(pairs, outcomes, strict=True):
        found = compared_trials(*_arguments(pair, settings)) if isinstance(outcome, LostJob) else outcome
        compared.append([_named(contrast, pair) for contrast in found])
    return compared


WORTH_WORKERS = 500_000_000
"""Number of trials times resamples above which worker processes save time."""


def _name(pair: Pair) -> str:
    return f"{pair.first_model} and {pair.second_model}"


def _named(contrast: Contrast, pair: Pair) -> Contrast:
    """Return a contrast with the names of the pair."""
    named = contrast.between((pair.first_model, pair.condition), (pair.second_model, pair.condition))
    return replace(named, study=pair.study, task=pair.task)


def _arguments(pair: Pair, settings: Settings) -> tuple[Any, ...]:
    """Return the arguments of :func:`compared_trials`, which are the key in the cache: they leave out the labels."""
    first, second = dict(pair.first), dict(pair.second)
    return pair.study, pair.measures, pair.conditions, settings, first, second


def compared_trials(
    study: str,
    measures: Sequence[str],
    conditions: Sequence[str] | None,
    settings: Settings,
    first: Columns,
    second: Columns,
) -> list[Contrast]:
    """Compare trials as :class:`Pair` says; the contrasts are not named yet."""
    if conditions is None:
        columns, side = stacked_trials(first, second)
    else:
        columns, side = paired_trials(first, second, conditions)
    if set(side.tolist()) != {FIRST, SECOND}:
        return []
    if study:
        by_name = study_named(study).measures_by_name
    else:
        by_name = {measure.name: measure for measure in computable(STANDARD, columns["correct"])}
    chosen = [by_name[name] for name in measures if name in by_name]
    return list(compared_measures(columns, side, chosen, settings))


def compared_measures(
    columns: Columns, side: NDArray[Any], measures: Sequence[Measure], settings: Settings
) -> Iterator[Contrast]:
    """Compare measures of two sets of trials, paired by question.

    ``side``, of shape (n,), holds ``FIRST`` or ``SECOND`` for each trial.
    """
    groups = [Group(name, "model", split_by_source(columns, side == name)) for name in (FIRST, SECOND)]
    drawn = distributions(
        columns, [subset for group in groups for subset in group.subsets], measures, settings
    )
    first, second = (combined(group.subsets, measures, drawn) for group in groups)
    n_questions = len(set(zip(columns["source"], columns["question_id"], strict=True)))
    by_name = {measure.name: measure for measure in measures}
    for contrast in contrasts(columns, groups, SECOND, measures, drawn, settings):
        measure = by_name[contrast.measure]
        yield replace(
            contrast,
            a=Side(
                FIRST, "", interval_of_measure(measure, first, settings), _design_effect(first[measure.name])
            ),
            b=Side(
                SECOND,
                "",
                interval_of_measure(measure, second, settings),
                _design_effect(second[measure.name]),
            ),
            n_questions=n_questions,
        )


def _design_effect(found: Distribution) -> float:
    return found.clusters.design_effect if found.clusters else math.nan


def holm_corrected(of_measure: Sequence[Contrast]) -> list[Contrast]:
    """Correct the p-values of one measure for the number of conditions."""
    adjusted = adjusted_for_all([comparison.p_value for comparison in of_measure], holm)
    return [replace(comparison, p_adjusted=p) for comparison, p in zip(of_measure, adjusted, strict=True)]
