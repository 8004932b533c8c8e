"""Recorded replies scored into a log without calling a model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import ChatMessageUser, ModelOutput, StopReason
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from confidence_tasks.harness.compat import LogWriter, run_quietly
from confidence_tasks.harness.inspect.viewer import provenance
from confidence_tasks.logs.log_scoring import NO_MODEL, score_samples
from confidence_tasks.study.trial import Item, question_metadata


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
