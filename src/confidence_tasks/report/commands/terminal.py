"""What ``confidence-tasks report`` prints: headline measures, contrasts and serious notices."""

from __future__ import annotations

import math
from ast import literal_eval
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from confidence_tasks.logs.texts import printable
from confidence_tasks.report.commands.printing import print_message, print_table
from confidence_tasks.report.labels import (
    difference_cells,
    limits,
    measure_label,
    number,
    why_missing,
)
from confidence_tasks.simulation.subject import Subject, make_subject

if TYPE_CHECKING:
    from confidence_tasks.logs.task_trials import ModelTrials
    from confidence_tasks.report.build import Report
    from confidence_tasks.report.estimates.contrast import Contrast
    from confidence_tasks.report.estimates.estimated import Estimated
    from confidence_tasks.report.notices import Severity
    from confidence_tasks.report.results import TaskResults


MOST_CONTRASTS = 10
"""Maximum number of contrasts of a model that the terminal shows."""


def subject_of(model: ModelTrials) -> Subject | None:
    """Return the simulated subject of a model's trials, from either harness; None for any other model."""
    setup = model.files[0].setup
    provider, _, profile = model.name.partition("/")
    if provider != "simulated" or not profile:
        if setup.get("harness.backend") != "simulated":
            return None
        profile = setup.get("model.subject", "ideal")
    try:
        known = {f"model.{field.name}": field.name for field in fields(Subject)}
        changes = {known[key]: literal_eval(value) for key, value in setup.items() if key in known}
        return make_subject(profile, **changes)
    except (ValueError, SyntaxError):  # a subject of another version
        return None


def true_values(results: TaskResults, model: ModelTrials, condition: str) -> Mapping[str, float]:
    """Return the true values of a simulated subject's measures, by name; empty for any other model."""
    study, subject = results.task_trials.study, subject_of(model)
    if subject is None or study.simulation.true_values is None:
        return {}
    try:
        return study.simulation.true_values(
            subject, condition, results.task_trials.task, model.files[0].parameters
        )
    except (ValueError, KeyError):  # the user's own condition or task
        return {}


def print_headlines(task_results: Iterable[TaskResults]) -> None:
    """Print the headline measures of each task and model under one condition, with the true values of subjects.

    The condition is the one under which models are compared, or for a simulated subject the middle one with true
    values: the first penalty of RiskEval is 0, which says little. The contrasts of the conditions with the baseline
    follow.
    """
    for results in task_results:
        for model in results.models:
            condition, truth = _shown_condition(results, model)
            title = ", ".join((results.task_trials.task, model.label, condition))
            print_message(title + _others(len(results.conditions)))
            entries = [results.estimate(model.label, condition, each.name) for each in results.headline]
            rows = [_headline_row(entry, truth) for entry in entries if entry]
            print_table(rows, frozenset({"value", "true", "clusters", "design effect"}), err=True)
            _print_undefined(results, model, condition)
            _print_contrasts(results, model)


def _shown_condition(results: TaskResults, model: ModelTrials) -> tuple[str, Mapping[str, float]]:
    """Return the condition whose measures are printed, and the true values of these."""
    middle = len(results.conditions) // 2
    for condition in (results.reference, *results.conditions[middle:], *results.conditions[:middle]):
        truth = true_values(results, model, condition)
        if truth:
            return condition, truth
    return results.reference, {}


def _headline_row(entry: Estimated, truth: Mapping[str, float]) -> dict[str, str]:
    interval = entry.interval
    row = {"measure": measure_label(entry.measure), "value": number(interval.estimate, 3)}
    if truth:
        row["true"] = number(truth.get(entry.measure, math.nan), 3)
    row[f"{interval.level:.0%} interval"] = limits(interval, 3) or why_missing(interval)
    return row | _clusters(entry)


def _print_undefined(results: TaskResults, model: ModelTrials, condition: str) -> None:
    """Name the headline measures that the table leaves out, as no model has a value, with one line for each reason."""
    shown = {measure.name for measure in results.headline}
    names = [name for name in results.task_trials.study.headline_measures if name not in shown]
    by_reason: dict[str, list[str]] = {}
    for name in names:
        if entry := results.estimate(model.label, condition, name):
            by_reason.setdefault(why_missing(entry.interval), []).append(measure_label(name))
    for reason, labels in by_reason.items():
        print_message(f"{'; '.join(labels)}: {reason}")


def _others(n_conditions: int) -> str:
    """Return where the numbers of all conditions are, if there are several."""
    return f" ({n_conditions} conditions are in the report)" if n_conditions > 1 else ""


def _print_contrasts(results: TaskResults, model: ModelTrials) -> None:
    """Print the differences of a model's conditions from the baseline, for the first tested measure that has any.

    Of many conditions, those with the best estimates are printed. Those without an interval are counted.
    """
    shown = _tested(results, model)
    if not shown:
        return
    known = [each for each in shown if not math.isnan(each.interval.low)]
    print_message(f"{measure_label(shown[0].measure)} minus that of {shown[0].baseline}, paired by question")
    _print_known(known, results)
    _print_unknown(each for each in shown if math.isnan(each.interval.low))


def _tested(results: TaskResults, model: ModelTrials) -> list[Contrast]:
    """Return the contrasts of a model for the first measure that has any."""
    of_model = [each for each in results.contrasts if each.model == model.label]
    name = next((each.measure for each in of_model if not math.isnan(each.interval.estimate)), "")
    return [each for each in of_model if each.measure == name]


def _print_known(contrasts: Sequence[Contrast], results: TaskResults) -> None:
    """Print contrasts that have an interval; of many the best, and how many there are."""
    best = _best(contrasts, results)
    rows = [{"condition": each.group, **difference_cells(each.interval, each.p_adjusted)} for each in best]
    if rows:
        print_table(rows, frozenset({"difference", "corrected p"}), err=True)
    if len(best) < len(contrasts):
        print_message(f"the best {len(best)} of {len(contrasts)}; all are in the report")


def _print_unknown(contrasts: Iterable[Contrast]) -> None:
    """Print how many contrasts have no interval, with one line for each reason; a single one has its name."""
    by_reason: dict[str, list[str]] = {}
    for each in contrasts:
        by_reason.setdefault(why_missing(each.interval), []).append(each.group)
    for reason, conditions in by_reason.items():
        which = conditions[0] if len(conditions) == 1 else f"{len(conditions)} conditions"
        print_message(f"{which}: {reason}")


def _best(contrasts: Sequence[Contrast], results: TaskResults) -> Sequence[Contrast]:
    """Return the contrasts of one measure; of many those with the best estimates, the best first."""
    if len(contrasts) <= MOST_CONTRASTS:
        return contrasts
    measure = results.task_trials.study.measures_by_name[contrasts[0].measure]
    ranked = sorted(contrasts, key=lambda each: each.interval.estimate, reverse=measure.better != "lower")
    return ranked[:MOST_CONTRASTS]


def _clusters(entry: Estimated) -> dict[str, str]:
    """Return the number of clusters of an estimate and their design effect; empty without clusters."""
    if entry.clusters is None:
        return {}
    effect = number(entry.clusters.design_effect, 2)
    return {"clusters": f"{entry.clusters.n:,}", "design effect": effect}


def print_notices(result: Report) -> None:
    """Print the serious notices of a report, and those that say what to do next."""
    from confidence_tasks.report.page.document import merged_notices

    for notice in merged_notices(result.tasks):
        if notice.printed or notice.severity == "serious":
            where = printable("; ".join(notice.where[:5]))
            print_message(f" {notice.title}: {where}", notice.severity, _COLOURS[notice.severity])
            print_message(notice.meaning)


_COLOURS: Mapping[Severity, str] = {"serious": "red", "warning": "yellow", "note": "cyan"}
