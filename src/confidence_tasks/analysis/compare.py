"""Two models, or two runs, paired by question: differences with intervals and tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.analysis.contrasts import adjusted_for_all, contrasts
from confidence_tasks.analysis.estimates import Settings, distributions, interval_of_measure, together
from confidence_tasks.analysis.findings import ALL_TRIALS
from confidence_tasks.analysis.groups import Columns, Group, in_order, split_by_source
from confidence_tasks.analysis.sections import ModelTrials, Section
from confidence_tasks.scorers._measures import Measure
from confidence_tasks.statistics import Interval, holm

FIRST, SECOND = "first", "second"
_ASKED = ("source", "question_id", "condition")
"""What two trials have in common that were asked the same."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A measure of two models under one condition.

    Attributes
    ----------
    study, task, condition, measure : str
        What is compared.
    first, second : str
        Labels of the models.
    first_interval, second_interval : Interval
        The measure of each, on the questions that both were asked.
    difference : Interval
        First minus second, paired by question.
    p_value : float
        Of the test that exchanges the models within questions; NaN where the difference is undefined.
    p_adjusted : float
        The same after Holm's correction for the conditions.
    n_questions : int
        Questions that both were asked.
    """

    study: str
    task: str
    condition: str
    measure: str
    first: str
    second: str
    first_interval: Interval
    second_interval: Interval
    difference: Interval
    p_value: float
    p_adjusted: float
    n_questions: int


def compare(
    first: ModelTrials,
    second: ModelTrials,
    section: Section,
    measures: Sequence[str] | None = None,
    settings: Settings | None = None,
) -> list[Comparison]:
    """Compare two models on the questions that both were asked, condition by condition.

    Each measure leaves out the replies that lack what it needs, as in the report. Measures over all conditions are
    compared on the questions and conditions that both were asked.

    Parameters
    ----------
    first, second : ModelTrials
        The trials of each.
    section : Section
        The task that both were asked.
    measures : sequence of str, optional
        What to compare; by default the study's headline, tested and pooled measures, but those that neither model has
        a value of.
    settings : Settings, optional
        Number of resamples, level and seed.

    Returns
    -------
    list of Comparison
        Measure by measure; empty when there is no question that both were asked.

    Raises
    ------
    ValueError
        If the study has no measure of a given name.
    """
    study, settings = section.study, settings or Settings()
    pooled = [measure.name for measure in study.pooled]
    names = list(measures or dict.fromkeys((*study.headline, *study.tested, *pooled)))
    if unknown := [name for name in names if name not in study.measure]:
        raise ValueError(
            f"{study.name} has no measure {', '.join(unknown)}; it has {', '.join(study.measure)}"
        )
    chosen = [study.measure[name] for name in names]
    by_measure: dict[str, list[Comparison]] = {measure.name: [] for measure in chosen}
    conditions = in_order({*first.columns["condition"]} & {*second.columns["condition"]})
    single = [measure for measure in chosen if measure.name not in pooled]
    over_all = [measure for measure in chosen if measure.name in pooled]
    for label, among, its_measures in (
        *((condition, [condition], single) for condition in conditions),
        (ALL_TRIALS, conditions, over_all),
    ):
        if its_measures:
            for found in _of_conditions(first, second, section, label, among, its_measures, settings):
                by_measure[found.measure].append(found)
    shown = [found for found in by_measure.values() if measures or any(map(_has_a_value, found))]
    return [corrected for found in shown for corrected in _corrected(found)]


def _has_a_value(found: Comparison) -> bool:
    return not (isnan(found.first_interval.estimate) and isnan(found.second_interval.estimate))


def _of_conditions(
    first: ModelTrials,
    second: ModelTrials,
    section: Section,
    label: str,
    conditions: Sequence[str],
    measures: Sequence[Measure],
    settings: Settings,
) -> Iterator[Comparison]:
    columns, side = _paired(first.columns, second.columns, conditions)
    if not len(side):
        return
    groups = [Group(name, "model", split_by_source(columns, side == name)) for name in (FIRST, SECOND)]
    drawn = distributions(columns, [cell for group in groups for cell in group.cells], measures, settings)
    of_model = {
        group.label: {
            measure.name: together(measure, [drawn[cell, measure.name] for cell in group.cells])
            for measure in measures
        }
        for group in groups
    }
    n_questions = len(set(zip(columns["source"], columns["question_id"], strict=True)))
    for contrast in contrasts("", columns, groups, SECOND, measures, drawn, settings):
        measure = section.study.measure[contrast.measure]
        yield Comparison(
            study=section.study.name,
            task=section.task,
            condition=label,
            measure=contrast.measure,
            first=first.label,
            second=second.label,
            first_interval=interval_of_measure(measure, of_model[FIRST], settings),
            second_interval=interval_of_measure(measure, of_model[SECOND], settings),
            difference=contrast.interval,
            p_value=contrast.p_value,
            p_adjusted=contrast.p_value,
            n_questions=n_questions,
        )


def _paired(first: Columns, second: Columns, conditions: Sequence[str]) -> tuple[Columns, NDArray[Any]]:
    """Stack the trials of what both were asked under some conditions; say whose each trial is."""
    chosen = [
        {
            name: column[np.isin(columns["condition"].astype(str), conditions)]
            for name, column in columns.items()
        }
        for columns in (first, second)
    ]
    asked = [
        np.array(list(map("\x1f".join, zip(*(columns[key] for key in _ASKED), strict=True))), dtype=str)
        for columns in chosen
    ]
    common = np.intersect1d(asked[0], asked[1])
    kept = [
        {name: column[np.isin(its_asked, common)] for name, column in columns.items()}
        for columns, its_asked in zip(chosen, asked, strict=True)
    ]
    stacked = {name: np.concatenate([column, kept[1][name]]) for name, column in kept[0].items()}
    side = np.repeat([FIRST, SECOND], [len(columns["question_id"]) for columns in kept])
    return stacked, side


def _corrected(found: Sequence[Comparison]) -> list[Comparison]:
    """Correct the p-values of one measure for the conditions."""
    adjusted = adjusted_for_all([each.p_value for each in found], holm)
    return [replace(each, p_adjusted=p) for each, p in zip(found, adjusted, strict=True)]
