"""Checks of a task's trials, whose notices tell the reader how far to trust the numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from confidence_tasks.report.judges import judged_by_model
from confidence_tasks.report.notices import Check, Notice, notices
from confidence_tasks.report.question_checks import (
    clustered,
    different_questions,
    different_sources,
    few_clusters,
    id_conflicts,
    no_baseline,
    shared_subjects,
    unknown_clusters,
)
from confidence_tasks.report.reply_checks import (
    control_tokens,
    few_trials,
    tied,
    undefined_resamples,
    unfinished_replies,
    unread_replies,
    unstable_accuracy,
)
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.run_checks import (
    edited_scores,
    ended_by_limits,
    from_cache,
    incomplete,
    invalidated_samples,
    mixed_versions,
    moved_system_messages,
    other_models,
    refused_parameters,
    repeated,
    same_trial_twice,
    several_settings,
    stopped_early,
    without_results,
)
from confidence_tasks.report.study_report import study_report
from confidence_tasks.study.definition import Study


def notices_of(results: TaskResults) -> list[Notice]:
    """Run the checks of the study and return their notices, the most serious first."""
    return notices(results, checks_of(results.task_trials.study))


def notice_records(every: Iterable[TaskResults], stacklevel: int) -> list[dict[str, str]]:
    """Return the notices of the studies' checks as plain texts, and raise a Python warning for each serious one."""
    records = []
    for results in every:
        for notice in notices_of(results):
            records.append(told(results.task_trials.task, notice, stacklevel + 1))  # noqa: PERF401 (a frame in 3.11)
    return records


def told(task: str, notice: Notice, stacklevel: int) -> dict[str, str]:
    """Return a notice on a task as plain texts, and raise a Python warning if it is serious."""
    if notice.severity == "serious":
        where = "; ".join(notice.where[:_PLACES])
        more = len(notice.where) - _PLACES
        text = f"{where}{f'; {more} more' if more > 0 else ''}"
        warnings.warn(f"{task}: {notice.title}: {text}. {notice.meaning}", stacklevel=stacklevel + 1)
    return {
        "severity": notice.severity,
        "task": task,
        "title": notice.title,
        "meaning": notice.meaning,
        "where": "; ".join(notice.where),
    }


_PLACES = 5
"""Maximum number of places in a Python warning."""

READING: tuple[Check, ...] = (
    clustered,
    few_clusters,
    unknown_clusters,
    shared_subjects,
    incomplete,
    stopped_early,
    ended_by_limits,
    judged_by_model,
    repeated,
    edited_scores,
    invalidated_samples,
    other_models,
    several_settings,
    from_cache,
    moved_system_messages,
    refused_parameters,
    without_results,
    same_trial_twice,
    mixed_versions,
    different_questions,
    id_conflicts,
    unread_replies,
    control_tokens,
    unfinished_replies,
    undefined_resamples,
    no_baseline,
    different_sources,
)
"""Checks for any trials."""

GENERAL: tuple[Check, ...] = (*READING, few_trials, tied, unstable_accuracy)
"""Checks for trials with a confidence in a single answer, including those of ``READING``."""


def checks_of(study: Study) -> tuple[Check, ...]:
    """Return the checks of a study's report: its own, or the general ones."""
    own = study_report(study).checks
    return GENERAL if own is None else own
