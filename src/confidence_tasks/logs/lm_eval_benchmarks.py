"""Trials in the sample files of tasks that no study asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import fsspec

from confidence_tasks.catalogue import BENCHMARK, name_of_others, study_named
from confidence_tasks.harness.correctness import SUFFIX, Correctness
from confidence_tasks.logs.benchmark_samples import benchmark_samples, group_of_task
from confidence_tasks.logs.lm_eval_settings import facts_of_file, number_of_samples, run_provenance
from confidence_tasks.logs.trial_columns import trial_columns
from confidence_tasks.logs.trial_files import TrialFile


def read_benchmark_samples(path: str, task: str, run: Mapping[str, Any], correct: Correctness) -> TrialFile:
    """Read the samples of a task that no study asks; a group of tasks is one task of the report."""
    study = study_named(BENCHMARK)
    delimiter = (
        "" if run.get("chat_template") else run.get("configs", {}).get(task, {}).get("target_delimiter", " ")
    )
    with fsspec.open(path, "rb") as file:
        samples = benchmark_samples(file.readlines(), str(delimiter), correct)
    group, is_weighted = group_of_task(run, task)
    name = task.removesuffix(SUFFIX) if samples.is_asked else task
    group = group.removesuffix(SUFFIX) if samples.is_asked else group
    n_trials = len(samples.rows["epoch"])
    rows = {
        **samples.rows,
        "task": [name] * n_trials,
        "source": [group if group and is_weighted else name] * n_trials,
    }
    columns, left_out = trial_columns(study, rows)
    return TrialFile(
        path=path,
        study=study.name,
        design=name_of_others(group or name),
        columns=columns,
        lost=max(number_of_samples(run, task), samples.n_documents) - samples.n_read,
        # Tasks of a group may have different versions.
        provenance={
            **{f"{name} of {task}": value for name, value in run_provenance(run, task).items()},
            **({f"metric of {task}": correct.text} if correct.text else {}),
        },
        left_out=(*samples.left_out, *left_out),
        **facts_of_file(path, task, run, study, {}),
    )
