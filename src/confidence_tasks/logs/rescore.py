"""Logs written without calling a model: the replies of another log read again, and recorded replies scored."""

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
from inspect_ai.model import ChatMessageUser, ModelOutput, StopReason
from inspect_ai.scorer import Score, Scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.compat import LogWriter, run_quietly
from confidence_tasks.harness.inspect.metrics import condition_summary, reference_of
from confidence_tasks.harness.inspect.scoring import make_scorer
from confidence_tasks.harness.inspect.viewer import provenance, scored_trial, versions
from confidence_tasks.logs.inspect_logs import RESCORED, refuse_without_samples
from confidence_tasks.logs.log_contents import Summary, opened, refuse_large_samples, refuse_unbounded
from confidence_tasks.logs.trial_files import NotTrialsError, without_garbage_collection
from confidence_tasks.study.trial import Item, question_metadata

NO_MODEL = "none/none"
"""Inspect's placeholder where no model is called."""


@dataclass(frozen=True, slots=True)
class Rescored:
    """The metrics of a log before and after rescoring, and the number of samples whose trials changed."""

    before: Mapping[str, float]
    after: Mapping[str, float]
    changed_trials: int

    @property
    def changed_metrics(self) -> list[str]:
        """Names of the metrics of the log that changed in any bit; a log may have the headline metrics only."""
        return [
            name
            for name, value in self.before.items()
            if name not in self.after or not np.array_equal(value, self.after[name], equal_nan=True)
        ]


def rescore(path: str | PathLike[str], target: str | PathLike[str] = "") -> Rescored:
    """Read the replies of a log again, with the reading rules and statistics of this version.

    No model is called: the replies of parsers and judges are taken from the log. Samples are read, scored and written
    batch by batch. Scores that a person edited stay as they are, and so do those of other scorers, with their metrics.
    The log itself is not changed; the new log is written
    to ``target``, another file on this machine, if that is given. The entry ``rescored`` of its metadata has the time
    and the versions; reports use the newest reading of a run.

    Raises
    ------
    NotTrialsError
        If no study of this package scored the log, or the log has no samples.
    RoleError
        If the prompt to a parser or a judge differs from that in the log, so that a model must be called.
    LostRepliesError
        If a sample of a study of several stages was recovered from a killed run, without its replies.
    """
    with _local_copy(fspath(path)) as local:
        refuse_unbounded(local)
        with opened(local) as (log, summaries, _):
            samples = _sorted_samples(log, summaries)
        refuse_without_samples(log, len(samples))
        refuse_large_samples(local)
        scorers, before = _scorers(log), metrics_of(log)
        _log_every_measure(log, samples)
        rescored, n_changed = run_quietly(_rescore(log, local, samples, scorers, fspath(target)))
    return Rescored(before, metrics_of(rescored), n_changed)


@contextmanager
def _local_copy(path: str) -> Iterator[str]:
    """Yield the path of a local file or, for a remote file, of a temporary copy."""
    system, root = fsspec.core.url_to_fs(path)
    if "file" in np.atleast_1d(system.protocol):
        yield root
        return
    with TemporaryDirectory() as scratch:
        copy = str(Path(scratch) / PurePosixPath(root).name)
        system.get_file(root, copy)
        yield copy


async def _rescore(
    log: EvalLog, path: str, samples: Sequence[Summary], scorers: list[Scorer], target: str
) -> tuple[EvalLog, int]:
    """Score the samples of a log again and write them; return the log and the number of samples that changed."""
    writer = LogWriter(log.eval, target) if target else None
    if writer:
        await writer.start()
    succeeded = [each for each in samples if not each.is_lost]
    failed = [each for each in samples if each.is_lost]  # these have no reply to read
    scores_before: dict[tuple[str, int], str] = {}
    kept: dict[tuple[str, int], dict[str, Score]] = {}
    n_changed = 0

    async def batches() -> AsyncIterator[list[EvalSample]]:
        async for batch in _batches(path, succeeded):
            scores_before.update((_key(sample), _scores_text(sample)) for sample in batch)
            kept.update((_key(sample), _kept_scores(sample)) for sample in batch)
            yield batch

    async def add(sample: EvalSample) -> None:
        nonlocal n_changed
        sample.scores = {**(sample.scores or {}), **kept.pop(_key(sample))}
        n_changed += scores_before.pop(_key(sample)) != _scores_text(sample)
        if writer:
            await writer.add(condense_sample(sample))

    with _metrics_of_others_kept(log):
        rescored = await score_samples(log, batches(), scorers, add)
    entry = {RESCORED: {"at": datetime.now(UTC).isoformat(), "versions": versions()}}
    by = ProvenanceData(author="confidence-tasks rescore", reason="replies read anew")
    rescored = edit_eval_log(rescored, [MetadataEdit(metadata_set=entry)], by)
    if writer:
        async for batch in _batches(path, failed):
            for sample in batch:
                await writer.add(condense_sample(sample))
        await writer.finish(rescored)
    return rescored, n_changed


async def _batches(path: str, samples: Sequence[Summary]) -> AsyncIterator[list[EvalSample]]:
    """Yield the samples of a local log in batches, to limit memory; a log in JSON is one batch."""
    keys = [(each.id, each.epoch) for each in samples]
    if not path.endswith(".eval"):
        by_key = {_key(sample): sample for sample in (await read_eval_log_async(path)).samples or []}
        yield [by_key[str(name), epoch] for name, epoch in keys]
        return
    # Each batch reads the directory of the archive again: there are at most about 20 batches.
    size = max(500, len(keys) // 20)
    for start in range(0, len(keys), size):
        yield await read_eval_log_samples_by_id_async(path, keys[start : start + size])


async def score_samples(
    log: EvalLog,
    batches: AsyncIterator[list[EvalSample]],
    scorers: list[Scorer],
    add: Callable[[EvalSample], Awaitable[None]],
) -> EvalLog:
    """Score batches of samples, pass each sample to ``add``, and compute the metrics of the log without a model."""
    # Without its roles: Inspect creates the model of each role, which requires an API key.
    roles, log.eval.model_roles = log.eval.model_roles, None
    scored: list[EvalSample] = []
    with without_garbage_collection():
        async for batch in batches:
            spec = log.eval.model_copy(update={"metrics": None})
            part = log.model_copy(update={"samples": batch, "eval": spec})
            await score_async(part, scorers, action="overwrite", model=NO_MODEL, copy=False)
            for sample in batch:
                await add(sample)
                # Metrics need only these fields; whole samples take five times the memory.
                own = {name: score for name, score in (sample.scores or {}).items() if _is_ours(name)}
                fields = {"id": sample.id, "scores": own, "metadata": sample.metadata}
                scored.append(_EMPTY.model_copy(update=fields))
            log.eval.scorers = spec.scorers
            gc.collect(1)  # frees the reference cycles of this batch without scanning older objects
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
    return {name: float(metric.value) for score in scores for name, metric in score.metrics.items()}


def _scorers(log: EvalLog) -> list[Scorer]:
    """Return the scorers of this package that the log names, with their options in the log."""
    known = {study.scorer_name: make_scorer(study) for study in studies()}
    named = [(_short(spec.name), spec.options or {}) for spec in log.eval.scorers or []]
    scorers = [known[name](**options) for name, options in named if name in known]
    if not scorers:
        raise NotTrialsError(f"task {log.eval.task} was scored by none of {', '.join(sorted(known))}")
    return scorers


def _log_every_measure(log: EvalLog, samples: Sequence[Summary]) -> None:
    """Let the metrics of a log compute all measures; metrics of older logs are replaced by those by condition."""
    specs = log.eval.metrics if isinstance(log.eval.metrics, list) else []
    for logged in (spec for spec in specs if not isinstance(spec, dict)):
        options = logged.options or {}
        if "summary" not in options:
            logged.name = "confidence_tasks/study_metrics"
            options = _options_by_condition(log, samples)
        logged.options = {**options, "measures": None, "overall": []}


def _options_by_condition(log: EvalLog, samples: Sequence[Summary]) -> dict[str, Any]:
    """Return the options of metrics by condition, for the study that scored a log."""
    names = {_short(spec.name) for spec in log.eval.scorers or []}
    study = next(study for study in studies() if study.scorer_name in names)
    conditions = dict.fromkeys(each.metadata.condition for each in samples if each.metadata)
    return {
        "summary": reference_of(condition_summary),
        "arguments": {"study": study.address, "conditions": list(conditions)},
    }


def _sorted_samples(log: EvalLog, samples: Iterable[Summary]) -> list[Summary]:
    """Return samples in the order of the run; of two with the same id and epoch, the later one."""
    latest = {(str(each.id), each.epoch): each for each in samples}
    position = {str(name): i for i, name in enumerate(log.eval.dataset.sample_ids or [])}
    return sorted(latest.values(), key=lambda each: (each.epoch, position.get(str(each.id), len(position))))


def _key(sample: EvalSample) -> tuple[str, int]:
    return str(sample.id), sample.epoch


def _kept_scores(sample: EvalSample) -> dict[str, Score]:
    """Return the scores of other scorers, and those that a person edited."""
    scores = (sample.scores or {}).items()
    return {name: score for name, score in scores if not _is_ours(name) or _is_edited(score)}


def _is_edited(score: Score) -> bool:
    """Whether a person edited the value or the metadata; the first entry of a history is the original."""
    return any((edit.value, edit.metadata) != ("UNCHANGED", "UNCHANGED") for edit in score.history[1:])


def _is_ours(scorer: str) -> bool:
    """Whether a study of this package has the scorer; Inspect numbers scorers of the same name."""
    return _short(scorer).rstrip("0123456789") in {study.scorer_name for study in studies()}


def _short(scorer: str) -> str:
    """Return the name of a scorer without its package."""
    return scorer.rsplit("/", 1)[-1]


@contextmanager
def _metrics_of_others_kept(log: EvalLog) -> Iterator[None]:
    """Keep what the header of a log says of other scorers, whose metrics may be unknown here, in the logged order."""
    order = [_short(spec.name) for spec in log.eval.scorers or []]
    specs = _of_others(log.eval.scorers, "name")
    scores = _of_others(log.results.scores if log.results else [], "scorer")
    reductions = _of_others(log.reductions, "scorer")
    yield
    _restore(log, order, specs, scores, reductions)


def _of_others(entries: Sequence[Any] | None, field: str) -> list[Any]:
    """Return the entries whose field names the scorer of another package."""
    return [each for each in entries or [] if not _is_ours(getattr(each, field))]


def _restore(
    log: EvalLog,
    order: list[str],
    specs: list[Any],
    scores: list[Any],
    reductions: list[Any],
) -> None:
    """Add scorers, their metrics and reductions to the header of a log, in an order of scorers."""
    every = [*(log.eval.scorers or []), *specs]
    log.eval.scorers = sorted(every, key=lambda each: order.index(_short(each.name)))
    if log.results:
        every_score = [*log.results.scores, *scores]
        log.results.scores = sorted(every_score, key=lambda each: order.index(_short(each.scorer)))
    log.reductions = [*(log.reductions or []), *reductions] or None


def _scores_text(sample: EvalSample) -> str:
    """Return the scores of a sample as text, so that NaN equals NaN."""
    return repr(
        {
            name: sorted(scored_trial(score.value, score.metadata).items())
            if isinstance(score.value, Mapping)
            else score.value
            for name, score in (sample.scores or {}).items()
        }
    )


# Recorded replies --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Recorded:
    """A prompt with its reply and the reason why it ended; ``epoch`` numbers the replies to one prompt from 1."""

    item: Item
    reply: str
    epoch: int
    stop: StopReason = "stop"


def score_recorded(
    task: str,
    scorer: Callable[[], Scorer],
    metrics: Callable[[Sequence[Item]], list[Any]],
    model: str,
    recorded: Sequence[Recorded],
    folder: Path,
) -> EvalLog:
    """Write a log of recorded replies of one model, scored."""
    items = {each.item.id: each.item for each in recorded}
    log = _log_without_samples(task, scorer(), metrics(list(items.values())))
    spec = log.eval
    spec.model, spec.config.epochs = model, max(each.epoch for each in recorded)
    spec.dataset.samples, spec.dataset.sample_ids = len(items), list(items)
    position = {name: i for i, name in enumerate(items)}
    ordered = sorted(recorded, key=lambda each: (each.epoch, position[each.item.id]))
    folder.mkdir(parents=True, exist_ok=True)
    time = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S")
    # Inspect names logs by time, task and id.
    log.location = str(folder / f"{time}_{task.replace('_', '-')}_{log.eval.task_id}.eval")
    return run_quietly(_write_scored(log, scorer(), ordered))


async def _write_scored(log: EvalLog, scorer: Scorer, recorded: Sequence[Recorded]) -> EvalLog:
    writer = LogWriter(log.eval, log.location)
    await writer.start()
    samples = _recorded_samples(recorded, log.eval.model)
    return await writer.finish(await score_samples(log, samples, [scorer], writer.add))


def _log_without_samples(name: str, scorer: Scorer, metrics: list[Any]) -> EvalLog:
    """Return the log of a run without samples, as Inspect writes it."""
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
    """Leave the state unchanged: the reply is recorded, and no model is called."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return state

    return solve


async def _recorded_samples(recorded: Sequence[Recorded], model: str) -> AsyncIterator[list[EvalSample]]:
    for start in range(0, len(recorded), 200):
        batch = []
        for each in recorded[start : start + 200]:
            item, output = each.item, ModelOutput.from_content(model, each.reply, each.stop)
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
