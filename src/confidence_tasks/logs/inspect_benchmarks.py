"""Trials in logs of Inspect of tasks that no study asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import compress
from typing import TypeAlias

from confidence_tasks.catalogue import BENCHMARK, name_of_others, study_named
from confidence_tasks.harness.correctness import Correctness
from confidence_tasks.logs.benchmark_logs import BenchmarkLog, benchmark_log, changes_of_prompt, task_of
from confidence_tasks.logs.inspect_settings import run_provenance, run_setup, run_versions
from confidence_tasks.logs.log_header import LogHeader
from confidence_tasks.logs.planned_samples import planned_samples, skipped_samples
from confidence_tasks.logs.run_settings import FALLBACK
from confidence_tasks.logs.sample_changes import SampleChanges, sample_changes
from confidence_tasks.logs.trial_columns import trial_columns
from confidence_tasks.logs.trial_files import TrialFile


def read_benchmark_log(
    path: str, header: LogHeader, written: datetime | None, correct: Correctness
) -> list[TrialFile]:
    """Read the log of a task that no study asks; samples that a fallback model answered are a file of their own."""
    changes = sample_changes(path, header, written)
    log = benchmark_log(path, header, changes.invalidated, correct)
    answered_by = log.rows.pop("fallback")
    first, *others = [
        _trials_of(
            log, [each == fallback for each in answered_by], fallback, (path, header, written, changes)
        )
        for fallback in sorted(set(answered_by))
    ]
    return [first, *(replace(each, lost=0, left_out=(), invalidated=(), edited=0) for each in others)]


_File: TypeAlias = tuple[str, LogHeader, datetime | None, SampleChanges]
"""Path and header of a log, the time when it was written, and what was changed in it later."""


def _trials_of(log: BenchmarkLog, is_answered: Sequence[bool], fallback: str, file: _File) -> TrialFile:
    """Return the trials of the samples that one model answered, with what the whole log says."""
    path, header, written, changes = file
    invalid = changes.invalidated
    study = study_named(BENCHMARK)
    rows = {name: list(compress(values, is_answered)) for name, values in log.rows.items()}
    columns, wrong = trial_columns(study, rows)
    left_out = (f"{len(invalid)} samples were invalidated and do not count",) if invalid else ()
    return TrialFile(
        path=path,
        study=study.name,
        design=name_of_others(task_of(header)),
        model=header.eval.model,
        columns=columns,
        created=header.eval.created,
        lost=max(planned_samples(header) - len(invalid), log.n_samples) - log.n_read,
        stopped=len(skipped_samples(header)),
        versions=run_versions(header),
        setup={
            **run_setup(header, study, None),
            **changes_of_prompt(header),
            **({FALLBACK: fallback} if fallback else {}),
        },
        provenance={**run_provenance(header), **log.graded_by},
        status=header.status,
        changed=changes.at,
        written=written.isoformat() if written else "",
        edited=len(changes.edited),
        invalidated=tuple(sorted(invalid)),
        is_log=True,
        run=header.eval.task_id,
        left_out=(*left_out, *wrong),
    )
