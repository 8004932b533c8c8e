"""Trials in logs of Inspect of tasks that no study asks."""

from __future__ import annotations

from datetime import datetime

from inspect_ai.log import EvalLog

from confidence_tasks.catalogue import study_named
from confidence_tasks.harness.correctness import Correctness
from confidence_tasks.logs.benchmark_logs import benchmark_log, changes_of_prompt, task_of
from confidence_tasks.logs.inspect_settings import run_provenance, run_setup, run_versions
from confidence_tasks.logs.planned_samples import planned_samples, skipped_samples
from confidence_tasks.logs.sample_changes import sample_changes
from confidence_tasks.logs.trial_files import TrialFile, trial_columns


def read_benchmark_log(
    path: str, header: EvalLog, written: datetime | None, correct: Correctness
) -> TrialFile:
    """Read the log of a task that no study asks."""
    changes = sample_changes(path, header, written)
    invalid = changes.invalidated
    study = study_named(BENCHMARK)
    log = benchmark_log(path, header, invalid, correct)
    columns, wrong = trial_columns(study, log.rows)
    left_out = (f"{len(invalid)} samples were invalidated and do not count",) if invalid else ()
    return TrialFile(
        path=path,
        study=study.name,
        design=task_of(header),
        model=header.eval.model,
        columns=columns,
        created=header.eval.created,
        lost=max(planned_samples(header) - len(invalid), log.n_samples) - log.n_read,
        stopped=len(skipped_samples(header)),
        versions=run_versions(header),
        setup={**run_setup(header, study, None), **changes_of_prompt(header)},
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


BENCHMARK = "benchmark"
"""Name of the study whose trials are of tasks that no study asks."""
