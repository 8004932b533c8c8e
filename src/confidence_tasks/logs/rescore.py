"""Logs written without calling a model: the replies of another log read again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike, fspath

import numpy as np
from inspect_ai.log import (
    EvalLog,
    EvalSample,
    MetadataEdit,
    ProvenanceData,
    condense_sample,
    edit_eval_log,
)
from inspect_ai.scorer import Score, Scorer

from confidence_tasks.harness.compat import LogWriter, run_quietly
from confidence_tasks.harness.inspect.viewer import versions
from confidence_tasks.logs.inspect_logs import refuse_without_samples
from confidence_tasks.logs.inspect_settings import RESCORED
from confidence_tasks.logs.log_contents import SampleSummary, opened
from confidence_tasks.logs.log_json import refuse_unbounded
from confidence_tasks.logs.log_scorers import log_every_measure, scorers_of_log
from confidence_tasks.logs.log_scores import kept_scores, logged_metrics, metrics_of_others_kept, scores_text
from confidence_tasks.logs.log_scoring import score_samples
from confidence_tasks.logs.sample_batches import batches_of_samples, in_order_of_run, local_copy, sample_key
from confidence_tasks.logs.validated import refuse_large_samples, whole_header


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
    with local_copy(fspath(path)) as local:
        refuse_unbounded(local)
        with opened(local) as (header, summaries, _):
            samples = in_order_of_run(header, summaries)
        refuse_without_samples(header, len(samples))
        refuse_large_samples(local)
        log = whole_header(local)
        scorers, before = scorers_of_log(log), logged_metrics(log)
        log_every_measure(log, samples)
        rescored, n_changed = run_quietly(_rescore(log, local, samples, scorers, fspath(target)))
    return Rescored(before, logged_metrics(rescored), n_changed)


async def _rescore(
    log: EvalLog, path: str, samples: Sequence[SampleSummary], scorers: list[Scorer], target: str
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
        async for batch in batches_of_samples(path, succeeded):
            scores_before.update((sample_key(sample), scores_text(sample)) for sample in batch)
            kept.update((sample_key(sample), kept_scores(sample)) for sample in batch)
            yield batch

    async def add(sample: EvalSample) -> None:
        nonlocal n_changed
        sample.scores = {**(sample.scores or {}), **kept.pop(sample_key(sample))}
        n_changed += scores_before.pop(sample_key(sample)) != scores_text(sample)
        if writer:
            await writer.add(condense_sample(sample))

    with metrics_of_others_kept(log):
        rescored = await score_samples(log, batches(), scorers, add)
    entry = {RESCORED: {"at": datetime.now(UTC).isoformat(), "versions": versions()}}
    by = ProvenanceData(author="confidence-tasks rescore", reason="replies read anew")
    rescored = edit_eval_log(rescored, [MetadataEdit(metadata_set=entry)], by)
    if writer:
        async for batch in batches_of_samples(path, failed):
            for sample in batch:
                await writer.add(condense_sample(sample))
        await writer.finish(rescored)
    return rescored, n_changed
