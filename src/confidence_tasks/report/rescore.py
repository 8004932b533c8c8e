"""Logs written without a model, a key or a network: replies of other logs read anew, and recorded replies scored."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike, fspath
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import fsspec
import numpy as np
from inspect_ai import Task, eval, score_async
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import (
    EvalLog,
    EvalSample,
    MetadataEdit,
    ProvenanceData,
    condense_sample,
    edit_eval_log,
    read_eval_log,
    read_eval_log_async,
    read_eval_log_samples_by_id_async,
    recompute_metrics,
)
from inspect_ai.model import ChatMessageUser, ModelOutput
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.compat import LogWriter, run_quietly
from confidence_tasks.harness.inspect.metrics import condition_summary, reference_of
from confidence_tasks.harness.inspect.viewer import provenance, scored_trial, versions
from confidence_tasks.report.inspect_logs import RESCORED, Summary, refuse_unbounded, summaries
from confidence_tasks.report.trial_files import NotTrialsError, without_garbage_collection
from confidence_tasks.study.trial import Item, question_metadata

NO_MODEL = "none/none"
"""Inspect's own stand-in where no model is called."""


@dataclass(frozen=True, slots=True)
class Rescored:
    """Every metric of a log, as the log had it and as it is now, and how many samples' trials differ."""

    before: Mapping[str, float]
    after: Mapping[str, float]
    changed_trials: int

    @property
    def changed_metrics(self) -> list[str]:
        """Names of the metrics of the log that are not bit for bit the same; it may have had the headline only."""
        return [
            name
            for name, value in self.before.items()
            if name not in self.after or not np.array_equal(value, self.after[name], equal_nan=True)
        ]


def rescore(path: str | PathLike[str], target: str | PathLike[str] = "") -> Rescored:
    """Read the replies of a log anew, with the reading rules and statistics of this version.

    What a parser or a judge said is taken from the log; no model is called. Samples are read, scored and written one
    after the other. The log is left alone; the new one is written into ``target``, another file on this machine, if
    that is given. The entry ``rescored`` of its metadata says when that was and by which versions, and reports take the
    newest reading of a run.

    NotTrialsError if the log is of no study of this package, or has no samples. RoleError if a prompt to a parser or a
    judge is another one than in the log, so that a model must be asked. LostRepliesError if a sample of a study of
    several stages was recovered from a killed run, without its replies.
    """
    with _local(fspath(path)) as local:
        refuse_unbounded(local)
        log = read_eval_log(local, header_only=True)
        samples = _in_order(log, summaries(local))
        if not samples:
            raise NotTrialsError(f"the log has no samples (status: {log.status})")
        scorers, before = _scorers(log), metrics_of(log)
        _log_every_measure(log, samples)
        done, changed = run_quietly(_rescored(log, local, samples, scorers, fspath(target)))
    return Rescored(before, metrics_of(done), changed)


@contextmanager
def _local(path: str) -> Iterator[str]:
    """Yield a local path of a file: its own or, for a remote file, that of a temporary copy."""
    system, root = fsspec.core.url_to_fs(path)
    if "file" in np.atleast_1d(system.protocol):
        yield root
        return
    with TemporaryDirectory() as scratch:
        copy = str(Path(scratch) / PurePosixPath(root).name)
        system.get_file(root, copy)
        yield copy


async def _rescored(
    log: EvalLog, path: str, samples: Sequence[Summary], scorers: list[Scorer], target: str
) -> tuple[EvalLog, int]:
    """Score the samples of a log anew, write them, and return the log and how many trials are others."""
    writer = LogWriter(log.eval, target) if target else None
    if writer:
        await writer.start()
    # A failed sample has no reply to read.
    scored, failed = ([each for each in samples if (each.error is None) is told] for told in (True, False))
    trials: dict[tuple[str, int], str] = {}
    changed = 0

    async def anew() -> AsyncIterator[list[EvalSample]]:
        async for batch in _batches(path, scored):
            trials.update((_key(sample), _values(sample)) for sample in batch)
            yield batch

    async def add(sample: EvalSample) -> None:
        nonlocal changed
        changed += trials.pop(_key(sample)) != _values(sample)
        if writer:
            await writer.add(condense_sample(sample))

    done = await score_samples(log, anew(), scorers, add)
    entry = {RESCORED: {"at": datetime.now(UTC).isoformat(), "versions": versions()}}
    by = ProvenanceData(author="confidence-tasks rescore", reason="replies read anew")
    done = edit_eval_log(done, [MetadataEdit(metadata_set=entry)], by)
    if writer:
        async for batch in _batches(path, failed):
            for sample in batch:
                await writer.add(condense_sample(sample))
        await writer.finish(done)
    return done, changed


async def _batches(path: str, samples: Sequence[Summary]) -> AsyncIterator[list[EvalSample]]:
    """Read samples of a log on this machine, of which memory holds a batch; a log in JSON is read whole."""
    keys = [(each.id, each.epoch) for each in samples]
    if not path.endswith(".eval"):
        found = {_key(sample): sample for sample in (await read_eval_log_async(path)).samples or []}
        yield [found[str(name), epoch] for name, epoch in keys]
        return
    # Each batch reads the directory of the archive again.
    size = max(500, len(keys) // 20)
    for start in range(0, len(keys), size):
        yield await read_eval_log_samples_by_id_async(path, keys[start : start + size])


async def score_samples(
    log: EvalLog,
    batches: AsyncIterator[list[EvalSample]],
    scorers: list[Scorer],
    add: Callable[[EvalSample], Awaitable[None]],
) -> EvalLog:
    """Score batches of samples, hand each sample on, and compute the metrics of their log without a model."""
    roles, log.eval.model_roles = log.eval.model_roles, None  # a role would be made, and ask for its key
    scored: list[EvalSample] = []
    with without_garbage_collection():
        async for some in batches:
            spec = log.eval.model_copy(update={"metrics": None})
            part = log.model_copy(update={"samples": some, "eval": spec})
            await score_async(part, scorers, action="overwrite", model=NO_MODEL, copy=False)
            for sample in some:
                await add(sample)
                # Metrics need no more of it; whole samples would take five times the memory.
                of_metrics = {"id": sample.id, "scores": sample.scores, "metadata": sample.metadata}
                scored.append(_EMPTY.model_copy(update=of_metrics))
            log.eval.scorers = spec.scorers
            gc.collect(1)  # the cycles that these samples were in, without a look at all that is kept
    for scorer in log.eval.scorers or []:
        scorer.metrics = log.eval.metrics
    log.samples = scored
    recompute_metrics(log)
    log.samples, log.eval.model_roles = None, roles
    return log


_EMPTY = EvalSample(id="", epoch=1, input="", target="")


def metrics_of(log: EvalLog) -> dict[str, float]:
    """Return every metric of a log by name."""
    scores = log.results.scores if log.results else []
    return {name: float(metric.value) for found in scores for name, metric in found.metrics.items()}


def _scorers(log: EvalLog) -> list[Scorer]:
    """Make the log's scorers anew, with the options that they had."""
    known = {study.scorer_name: study.make_scorer for study in studies()}
    named = [(spec.name.rsplit("/", 1)[-1], spec.options or {}) for spec in log.eval.scorers or []]
    chosen = [(known[name], options) for name, options in named if name in known]
    if not chosen:
        raise NotTrialsError(f"task {log.eval.task} was scored by none of {', '.join(sorted(known))}")
    return [make(**options) for make, options in chosen]


def _log_every_measure(log: EvalLog, samples: Sequence[Summary]) -> None:
    """Have the metrics of a log be all measures; of an older log, whose metrics are no longer known, by condition."""
    specs = log.eval.metrics if isinstance(log.eval.metrics, list) else []
    for logged in (spec for spec in specs if not isinstance(spec, dict)):
        options = logged.options or {}
        if "summary" not in options:
            names = {spec.name.rsplit("/", 1)[-1] for spec in log.eval.scorers or []}
            study = next(study for study in studies() if study.scorer_name in names)
            conditions = list(dict.fromkeys(each.metadata.condition for each in samples if each.metadata))
            logged.name = "confidence_tasks/study_metrics"
            options = {
                "summary": reference_of(condition_summary),
                "arguments": {"study": study.address, "conditions": conditions},
            }
        logged.options = {**options, "measures": None, "overall": []}


def _in_order(log: EvalLog, samples: Iterable[Summary]) -> list[Summary]:
    """Put samples in the order of the run, the later of two of the same."""
    found = {(str(each.id), each.epoch): each for each in samples}
    position = {str(name): i for i, name in enumerate(log.eval.dataset.sample_ids or [])}
    return sorted(found.values(), key=lambda each: (each.epoch, position.get(str(each.id), len(position))))


def _key(sample: EvalSample) -> tuple[str, int]:
    return str(sample.id), sample.epoch


def _values(sample: EvalSample) -> str:
    """Return the scores of a sample as text, in which NaN equals NaN."""
    return repr(
        {
            name: sorted(scored_trial(found.value, found.metadata).items())
            if isinstance(found.value, Mapping)
            else found.value
            for name, found in (sample.scores or {}).items()
        }
    )


# Recorded replies --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Recorded:
    """A prompt, its reply, and the number of the prompt among equal ones, from 1."""

    item: Item
    reply: str
    epoch: int


def score_recorded(
    task: str,
    scorer: Callable[[], Scorer],
    metrics: Callable[[Sequence[Item]], list[Any]],
    model: str,
    recorded: Sequence[Recorded],
    folder: Path,
) -> EvalLog:
    """Write a log whose samples hold what a file of replies says that a model said, scored."""
    items = {each.item.id: each.item for each in recorded}
    log = _empty_log(task, scorer(), metrics(list(items.values())))
    spec = log.eval
    spec.model, spec.config.epochs = model, max(each.epoch for each in recorded)
    spec.dataset.samples, spec.dataset.sample_ids = len(items), list(items)
    position = {name: i for i, name in enumerate(items)}
    in_order = sorted(recorded, key=lambda each: (each.epoch, position[each.item.id]))
    folder.mkdir(parents=True, exist_ok=True)
    when = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S")
    # As the harness names logs: when, which task, which id.
    log.location = str(folder / f"{when}_{task.replace('_', '-')}_{log.eval.task_id}.eval")
    return run_quietly(_scored(log, scorer(), in_order))


async def _scored(log: EvalLog, scorer: Scorer, recorded: Sequence[Recorded]) -> EvalLog:
    writer = LogWriter(log.eval, log.location)
    await writer.start()
    done = await score_samples(log, _recorded_samples(recorded, log.eval.model), [scorer], writer.add)
    return await writer.finish(done)


def _empty_log(name: str, scorer: Scorer, metrics: list[Any]) -> EvalLog:
    """Let the harness write the log of a run in which nothing was asked: all is there but the samples."""
    task = Task(
        name=name,
        dataset=MemoryDataset([Sample(id="none", input="")], name="replies"),
        solver=recorded_reply(),
        scorer=scorer,
        metrics=metrics,
        version="1-A",
        metadata=provenance({"seed": 0}),
    )
    with TemporaryDirectory() as scratch:
        (run,) = eval(
            task, model=NO_MODEL, log_dir=scratch, display="none", log_level="error", run_samples=False
        )
        log = read_eval_log(run.location)
    log.status = "success"
    return log


@solver
def recorded_reply() -> Solver:
    """Ask no model: the reply is there."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return state

    return solve


async def _recorded_samples(recorded: Sequence[Recorded], model: str) -> AsyncIterator[list[EvalSample]]:
    for start in range(0, len(recorded), 200):
        batch = []
        for each in recorded[start : start + 200]:
            item, output = each.item, ModelOutput.from_content(model, each.reply)
            sample = EvalSample(
                id=item.id,
                epoch=each.epoch,
                uuid=uuid4().hex,
                input=item.question.text,
                target=item.question.gold or "",
                metadata={"condition": item.condition, **question_metadata(item.question), **item.metadata},
                messages=[ChatMessageUser(content=item.question.text), output.message],
                output=output,
            )
            batch.append(sample)
        yield batch
