"""Trials of Inspect logs, read from the summaries of the samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
from inspect_ai.log import EvalLog, EvalSpec
from inspect_ai.model import ModelConfig
from numpy.typing import NDArray

from confidence_tasks.catalogue import study_named, study_of_scores
from confidence_tasks.harness.correctness import BY_DEFAULT, Correctness
from confidence_tasks.harness.inspect.model_calls import effort_settings
from confidence_tasks.harness.inspect.viewer import is_sent, scored_trial
from confidence_tasks.harness.refusals import refusals_in
from confidence_tasks.logs.benchmark_logs import benchmark_log, changes_of_prompt, task_of
from confidence_tasks.logs.log_contents import NO_METADATA, Summary, opened, refuse_unbounded
from confidence_tasks.logs.origins import Origins
from confidence_tasks.logs.sample_changes import SampleChanges, sample_changes
from confidence_tasks.logs.trial_files import (
    EXTRA_COLUMNS,
    FALLBACK,
    NotTrialsError,
    TrialFile,
    prompt_digest,
    provenance_of,
    question_digest,
    setup_of,
    shared_by,
    trial_columns,
    without_garbage_collection,
)
from confidence_tasks.study.definition import Study
from confidence_tasks.study.parameter import STRUCTURED
from confidence_tasks.study.stage import TOKENS
from confidence_tasks.study.trial import RULES


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
    header: EvalLog,
    samples: Iterable[Summary],
    written: datetime | None,
    correct: Correctness,
) -> list[TrialFile]:
    read = _Samples(Origins(header.eval.created))
    for summary in samples:
        read.add(summary)
    study = read.study
    n_samples = sum(map(len, read.rows.values()))
    if study is None:
        refuse_without_samples(header, n_samples)
    if study is None or study.name == BENCHMARK:
        return [_read_benchmark(path, header, written, correct)]
    changes = sample_changes(path, header, written, study.scorer_name)
    files = []
    for way, rows in read.rows.items():
        if any(rows.values()):
            file = _file_of_way(path, header, study, read, way, changes)
            files.append(replace(file, written=written.isoformat() if written else ""))
    n_invalid = len(changes.invalidated)
    left_out = [f"{n_invalid} of {n_samples} samples were invalidated and do not count"] if n_invalid else []
    if not files:
        reasons = (f"status: {header.status}", *left_out, *_ended(read.limits.values()))
        raise NotTrialsError(f"none of its {n_samples} samples has a trial ({'; '.join(reasons)})")
    first = replace(
        files[0],
        left_out=(*left_out, *files[0].left_out),
        from_cache=read.origins.remark(),
        refused=tuple(read.refused),
    )
    return [first, *files[1:]]


_Way: TypeAlias = tuple[str | None, str]
"""How a sample was asked: the reasoning effort, and the models that answered instead of the requested ones."""

_SampleKey: TypeAlias = tuple[str, int]
"""Id and epoch of a sample."""


@dataclass(slots=True)
class _Samples:
    """What the samples of a log say: rows of trials by the way in which they were asked, limits and origins."""

    origins: Origins
    study: Study | None = None
    rows: dict[_Way, dict[_SampleKey, tuple[Any, ...] | None]] = field(default_factory=dict)
    refused: dict[str, None] = field(default_factory=dict)
    limits: dict[tuple[str | None, _SampleKey], str | None] = field(default_factory=dict)

    def add(self, summary: Summary) -> None:
        """Add a sample; the later summary of one that ran twice replaces the first, in the same position."""
        self.study = self.study or study_of_scores(summary.scores or {})
        metadata = summary.metadata or NO_METADATA
        self.origins.add(metadata.origin)
        self.refused.update(dict.fromkeys(refusals_in(metadata.server_refusals)))
        effort = metadata.effort if isinstance(metadata.effort, str) else None
        key = str(summary.id), summary.epoch
        same_way = self.rows.setdefault((effort, _fallback(summary)), {})
        same_way[key] = _row(summary, self.study) if self.study else None
        self.limits[effort, key] = summary.limit


def _file_of_way(
    path: str, header: EvalLog, study: Study, samples: _Samples, way: _Way, changes: SampleChanges
) -> TrialFile:
    """Return the trials of the samples that were asked in one way."""
    effort, fallback = way
    spec, same_way = header.eval, samples.rows[way]
    scored = {key: row for key, row in same_way.items() if row is not None}
    keys = (*TOKENS, *study.column_types, *EXTRA_COLUMNS)
    values = dict(zip(keys, zip(*scored.values(), strict=True), strict=True))
    columns, wrong = trial_columns(study, values)
    invalid = changes.invalidated & same_way.keys()
    setup = {**_setup(header, study, effort), **samples.origins.settings()}
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
        lost_by=_limits_of(samples, effort),
        versions=_versions(header),
        setup=setup,
        provenance=_provenance(header),
        status=header.status,
        rescored=rescored,
        changed=max(rescored, changes.at),
        edited=len(changes.edited & scored.keys()),
        invalidated=tuple(sorted(invalid)),
        is_log=True,
        run=spec.task_id,
        left_out=wrong,
        stopped=len(skipped_samples(header)),
        planned=_order(header) if len(samples.rows) == 1 else (),
    )


def _planned_of_way(header: EvalLog, samples: _Samples, way: _Way) -> int:
    """Return the planned number of samples of a reasoning effort, without those that another model answered."""
    effort, fallback = way
    if fallback:
        return 0
    n_asked = len({each for each, _ in samples.rows})
    return _planned(header) // n_asked - _answered_by_others(samples.rows, effort)


def _limits_of(samples: _Samples, effort: str | None) -> dict[str, int]:
    """Return how many samples of a reasoning effort each limit ended."""
    return dict(Counter(limit for (of, _), limit in samples.limits.items() if limit and of == effort))


def _ended(limits: Iterable[str | None]) -> list[str]:
    """Return how many samples each limit ended."""
    return [f"{n} ended by the {limit} limit" for limit, n in Counter(limits).items() if limit]


def _row(summary: Summary, study: Study) -> tuple[Any, ...] | None:
    """Return the tokens, the record and the extra columns of a sample's trial; None if it has none."""
    score = (summary.scores or {}).get(study.scorer_name)
    if score is None or not isinstance(score.value, dict) or summary.is_lost:
        return None
    trial = scored_trial(score.value, score.metadata)
    metadata = summary.metadata or NO_METADATA
    return (
        *_tokens(metadata),
        *map(trial.get, study.column_types),
        *_digests(summary),
        *shared_by(trial, metadata),
        trial.get(RULES),
        summary.id,
        summary.epoch,
    )


_tokens = attrgetter(*TOKENS)


def _fallback(summary: Summary) -> str:
    """Return the models that answered a sample instead of the requested ones; empty if there were none."""
    fallbacks = summary.model_fallbacks if isinstance(summary.model_fallbacks, list) else []
    names = {str(each["fallback_model"]) for each in fallbacks if each.get("fallback_model")}
    return ", ".join(sorted(names))


def _answered_by_others(rows: Mapping[_Way, Mapping[_SampleKey, object]], effort: str | None) -> int:
    return sum(len(same_way) for way, same_way in rows.items() if way[0] == effort and way[1])


def _without(columns: dict[str, NDArray[Any]], invalid: frozenset[_SampleKey]) -> dict[str, NDArray[Any]]:
    """Return the trials of the samples that were not invalidated."""
    if not invalid:
        return columns
    keys = zip(columns["sample_id"].tolist(), columns["epoch"].tolist(), strict=True)
    is_valid = np.array([key not in invalid for key in keys], dtype=bool)
    return {name: column[is_valid] for name, column in columns.items()}


def refuse_without_samples(header: EvalLog, n_samples: int) -> None:
    """Raise NotTrialsError if a log has no samples, with the reason."""
    if n_samples:
        return
    if header.eval.config.log_samples is False:
        raise NotTrialsError(
            "it was written with --no-log-samples (log_samples=False), so that it has metrics but no replies: run the"
            " evaluation again without this option"
        )
    raise NotTrialsError(f"the log has no samples (status: {header.status})")


def _read_benchmark(path: str, header: EvalLog, written: datetime | None, correct: Correctness) -> TrialFile:
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
        lost=max(_planned(header) - len(invalid), log.n_samples) - log.n_read,
        stopped=len(skipped_samples(header)),
        versions=_versions(header),
        setup={**_setup(header, study, None), **changes_of_prompt(header)},
        provenance={**_provenance(header), **log.graded_by},
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


def _planned(header: EvalLog) -> int:
    """Return the planned number of samples of a run, without those that were skipped; 0 if the log does not tell it."""
    n_planned = _planned_questions(header) * (header.eval.config.epochs or 1)
    return max(n_planned - len(skipped_samples(header)), 0)


def _planned_questions(header: EvalLog) -> int:
    """Return the planned number of samples of an epoch; 0 if the log does not tell it."""
    spec = header.eval
    n_samples = spec.dataset.samples or 0
    if isinstance(spec.config.limit, int):
        return min(n_samples, spec.config.limit)
    return 0 if spec.config.limit is not None or spec.config.sample_id is not None else n_samples


def skipped_samples(header: EvalLog) -> frozenset[_SampleKey]:
    """Return the samples that were skipped because the run stopped early."""
    early = header.results.early_stopping if header.results else None
    return frozenset((str(each.id), each.epoch) for each in early.early_stops) if early else frozenset()


def _order(header: EvalLog) -> tuple[str, ...]:
    """Return the ids of the samples in the planned order, without those that were skipped; empty if it is unknown."""
    skipped = {name for name, _ in skipped_samples(header)}
    planned = map(str, (header.eval.dataset.sample_ids or [])[: _planned_questions(header)])
    return tuple(name for name in planned if name not in skipped)


def _digests(summary: Summary) -> tuple[str, str]:
    """Return digests of the question of a sample and of the messages that the model was sent."""
    sent, metadata = summary.input or "", summary.metadata or NO_METADATA
    messages = (
        sent
        if isinstance(sent, str)
        else [(each.role, each.content) for each in sent if not each.metadata or is_sent(each.metadata)]
    )
    return question_digest(metadata.question, metadata.choices), prompt_digest(messages) if messages else ""


def _versions(header: EvalLog) -> dict[str, str]:
    """Return the versions in the log and the version of the task; those of the latest rescoring take precedence."""
    recorded = (header.eval.metadata or {}).get("versions", {})
    task = {"task": str(header.eval.task_version)}
    versions = {**header.eval.packages, **recorded, **rescoring(header).get("versions", {}), **task}
    return {str(name): str(version) for name, version in versions.items()}


def rescoring(header: EvalLog) -> Mapping[str, Any]:
    """Return date and versions of the latest rescoring of a log; empty if it was never rescored."""
    entry = (header.metadata or {}).get(RESCORED)
    return entry if isinstance(entry, Mapping) else {}


RESCORED = "rescored"
"""Key of a log's metadata under which ``rescore`` writes its entry."""


def _provenance(header: EvalLog) -> dict[str, str]:
    """Return the version of the task, and the revision of each source that has one."""
    sources = (header.eval.metadata or {}).get("sources") or {}
    return provenance_of(str(header.eval.task_version), sources)


def _setup(header: EvalLog, study: Study, effort: str | None) -> dict[str, str]:
    """Return the parameters, as text, in which two runs of a model may differ.

    A reasoning effort is given as in a run at that effort alone.
    """
    spec = header.eval
    # Logs hold the arguments that the user gave; older logs hold the defaults, too.
    parameters = {**((spec.metadata or {}).get("parameters") or {}), **spec.task_args}
    # The settings of the task override those of the model, as in the run.
    generation = {
        **spec.model_generate_config.model_dump(exclude_none=True),
        **header.plan.config.model_dump(exclude_none=True),
        **effort_settings(effort),
    }
    if parameters.get(STRUCTURED.name):  # it implies the schema
        generation.pop("response_schema", None)
    return {
        **setup_of("task", study.protocol_parameters(parameters)),
        **setup_of("generation", generation),
        **setup_of("model", _with_address(spec.model_args, spec.model_base_url)),
        **_solver(spec),
        **_roles(spec),
    }


def _with_address(arguments: Mapping[str, Any], address: str | None) -> dict[str, Any]:
    return {**({"base_url": address} if address else {}), **arguments}


def _solver(spec: EvalSpec) -> dict[str, str]:
    """Return the solver that replaced the task's own, with its arguments."""
    if spec.solver is None:
        return {}
    return {"harness.solver": spec.solver, **setup_of("solver", spec.solver_args or {})}


def _roles(spec: EvalSpec) -> dict[str, str]:
    """Return the models that parse and judge the replies, with their settings."""
    settings: dict[str, str] = {}
    for role, configs in (spec.model_roles or {}).items():
        models: list[ModelConfig] = configs if isinstance(configs, list) else [configs]
        settings[f"role.{role}"] = ", ".join(config.model for config in models)
        for number, config in enumerate(models, 1):
            name = f"role.{role}.{number}" if len(models) > 1 else f"role.{role}"
            settings |= setup_of(f"{name}.generation", config.config.model_dump(exclude_none=True))
            settings |= setup_of(f"{name}.model", _with_address(config.args, config.base_url))
    return settings
