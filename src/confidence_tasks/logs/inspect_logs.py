"""Trials of Inspect logs, read from the summaries of the samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.catalogue import BENCHMARK
from confidence_tasks.harness.correctness import BY_DEFAULT, Correctness
from confidence_tasks.logs.decoding import without_garbage_collection
from confidence_tasks.logs.inspect_rows import SamplesOfWay, Way, limit_counts, limits_of_way
from confidence_tasks.logs.inspect_settings import rescoring, run_provenance, run_setup, run_versions
from confidence_tasks.logs.log_contents import SampleSummary, opened
from confidence_tasks.logs.log_header import LogHeader
from confidence_tasks.logs.log_json import refuse_unbounded
from confidence_tasks.logs.origins import Origins
from confidence_tasks.logs.planned_samples import SampleKey, planned_samples, sample_order, skipped_samples
from confidence_tasks.logs.run_settings import FALLBACK
from confidence_tasks.logs.sample_changes import SampleChanges, sample_changes
from confidence_tasks.logs.trial_columns import EXTRA_COLUMNS, trial_columns
from confidence_tasks.logs.trial_files import NotTrialsError, TrialFile
from confidence_tasks.study.definition import Study
from confidence_tasks.study.stage import TOKENS


@without_garbage_collection()
def read_inspect_log(path: str, correct: Correctness = BY_DEFAULT) -> list[TrialFile]:
    """Read the trials of a log in either of Inspect's formats, finished or not, local or remote.

    A task that ran at several reasoning efforts gives one file of trials for each effort. ``correct`` says whether an
    answer to a task that no study asks is right.

    Raises
    ------
    NotTrialsError
        If no answer is right or wrong.
    """
    refuse_unbounded(path)
    with opened(path) as (header, samples, written):
        return _read(path, header, samples, written, correct)


def _read(
    path: str,
    header: LogHeader,
    samples: Iterable[SampleSummary],
    written: datetime | None,
    correct: Correctness,
) -> list[TrialFile]:
    read = SamplesOfWay(Origins(header.eval.created))
    for summary in samples:
        read.add(summary)
    study = read.study
    n_samples = sum(map(len, read.rows.values()))
    if study is None:
        refuse_without_samples(header, n_samples)
    if study is None or study.name == BENCHMARK:
        # Samples of other tasks are validated by Inspect, whose import takes seconds.
        from confidence_tasks.logs.inspect_benchmarks import read_benchmark_log

        return read_benchmark_log(path, header, written, correct)
    changes = sample_changes(path, header, written, study.scorer_name)
    files = []
    for way, rows in read.rows.items():
        if any(rows.values()):
            file = _file_of_way(path, header, study, read, way, changes)
            files.append(replace(file, written=written.isoformat() if written else ""))
    n_invalid = len(changes.invalidated)
    left_out = [f"{n_invalid} of {n_samples} samples were invalidated and do not count"] if n_invalid else []
    if not files:
        reasons = (f"status: {header.status}", *left_out, *limit_counts(read.limits.values()))
        raise NotTrialsError(f"none of its {n_samples} samples has a trial ({'; '.join(reasons)})")
    first = replace(
        files[0],
        left_out=(*left_out, *files[0].left_out),
        from_cache=read.origins.remark(),
        refused=tuple(read.refused),
    )
    return [first, *files[1:]]


def _file_of_way(
    path: str, header: LogHeader, study: Study, samples: SamplesOfWay, way: Way, changes: SampleChanges
) -> TrialFile:
    """Return the trials of the samples that were asked in one way."""
    effort, fallback = way
    spec, same_way = header.eval, samples.rows[way]
    scored = {key: row for key, row in same_way.items() if row is not None}
    keys = (*TOKENS, *study.column_types, *EXTRA_COLUMNS)
    values = dict(zip(keys, zip(*scored.values(), strict=True), strict=True))
    columns, wrong = trial_columns(study, values)
    invalid = changes.invalidated & same_way.keys()
    setup = {**run_setup(header, study, effort), **samples.origins.settings()}
    if fallback:
        setup[FALLBACK] = fallback
    rescored = str(rescoring(header).get("at", ""))
    return TrialFile(
        path=path,
        study=study.name,
        design=study.design_of(spec.task.rsplit("/", 1)[-1]),
        model=spec.model,
        columns=_without(columns, invalid),
        created=spec.created,
        lost=max(_planned_of_way(header, samples, way), len(same_way)) - len(scored.keys() | invalid),
        lost_by=limits_of_way(samples, effort),
        versions=run_versions(header),
        setup=setup,
        provenance=run_provenance(header),
        status=header.status,
        rescored=rescored,
        changed=max(rescored, changes.at),
        edited=len(changes.edited & scored.keys()),
        invalidated=tuple(sorted(invalid)),
        is_log=True,
        run=spec.task_id,
        left_out=wrong,
        stopped=len(skipped_samples(header)),
        planned=sample_order(header) if len(samples.rows) == 1 else (),
    )


def _planned_of_way(header: LogHeader, samples: SamplesOfWay, way: Way) -> int:
    """Return the planned number of samples of a reasoning effort, without those that another model answered."""
    effort, fallback = way
    if fallback:
        return 0
    n_asked = len({each for each, _ in samples.rows})
    return planned_samples(header) // n_asked - _answered_by_others(samples.rows, effort)


def _answered_by_others(rows: Mapping[Way, Mapping[SampleKey, object]], effort: str | None) -> int:
    return sum(len(same_way) for way, same_way in rows.items() if way[0] == effort and way[1])


def _without(columns: dict[str, NDArray[Any]], invalid: frozenset[SampleKey]) -> dict[str, NDArray[Any]]:
    """Return the trials of the samples that were not invalidated."""
    if not invalid:
        return columns
    keys = zip(columns["sample_id"].tolist(), columns["epoch"].tolist(), strict=True)
    is_valid = np.array([key not in invalid for key in keys], dtype=bool)
    return {name: column[is_valid] for name, column in columns.items()}


def refuse_without_samples(header: LogHeader, n_samples: int) -> None:
    """Raise NotTrialsError if a log has no samples, with the reason."""
    if n_samples:
        return
    if header.eval.config.log_samples is False:
        raise NotTrialsError(
            "it was written with --no-log-samples (log_samples=False), so that it has metrics but no replies: run the"
            " evaluation again without this option"
        )
    raise NotTrialsError(f"the log has no samples (status: {header.status})")
