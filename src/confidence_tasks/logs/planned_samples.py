"""The samples that a run of Inspect was to ask, in their order, and those that it skipped."""

from __future__ import annotations

from typing import TypeAlias

from confidence_tasks.logs.log_header import LogHeader

SampleKey: TypeAlias = tuple[str, int]
"""Id and epoch of a sample."""


def planned_samples(header: LogHeader) -> int:
    """Return the planned number of samples of a run, without those that were skipped; 0 if the log does not tell it."""
    n_planned = _planned_questions(header) * (header.eval.config.epochs or 1)
    return max(n_planned - len(skipped_samples(header)), 0)


def _planned_questions(header: LogHeader) -> int:
    """Return the planned number of samples of an epoch; 0 if the log does not tell it."""
    spec = header.eval
    n_samples = spec.dataset.samples or 0
    if isinstance(spec.config.limit, int):
        return min(n_samples, spec.config.limit)
    return 0 if spec.config.limit is not None or spec.config.sample_id is not None else n_samples


def skipped_samples(header: LogHeader) -> frozenset[SampleKey]:
    """Return the samples that were skipped because the run stopped early."""
    early = header.results.early_stopping if header.results else None
    return frozenset((str(each.id), each.epoch) for each in early.early_stops) if early else frozenset()


def sample_order(header: LogHeader) -> tuple[str, ...]:
    """Return the ids of the samples in the planned order, without those that were skipped; empty if it is unknown."""
    skipped = {name for name, _ in skipped_samples(header)}
    planned = map(str, (header.eval.dataset.sample_ids or [])[: _planned_questions(header)])
    return tuple(name for name in planned if name not in skipped)
