"""Samples scored batch by batch without calling a model."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Awaitable, Callable

from inspect_ai import score_async
from inspect_ai.log import EvalLog, EvalSample, recompute_metrics
from inspect_ai.scorer import Scorer

from confidence_tasks.logs.decoding import without_garbage_collection
from confidence_tasks.logs.log_scores import is_ours

NO_MODEL = "none/none"
"""Inspect's placeholder where no model is called."""


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
                own = {name: score for name, score in (sample.scores or {}).items() if is_ours(name)}
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
