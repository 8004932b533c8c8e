"""The samples of a log, read in batches from a file of this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

import fsspec
import numpy as np
from inspect_ai.log import EvalSample, read_eval_log_async, read_eval_log_samples_by_id_async

from confidence_tasks.logs.log_contents import SampleSummary
from confidence_tasks.logs.log_header import LogHeader


@contextmanager
def local_copy(path: str) -> Iterator[str]:
    """Yield the path of a local file or, for a remote file, of a temporary copy."""
    system, root = fsspec.core.url_to_fs(path)
    if "file" in np.atleast_1d(system.protocol):
        yield root
        return
    with TemporaryDirectory() as scratch:
        copy = str(Path(scratch) / PurePosixPath(root).name)
        system.get_file(root, copy)
        yield copy


async def batches_of_samples(path: str, samples: Sequence[SampleSummary]) -> AsyncIterator[list[EvalSample]]:
    """Yield the samples of a local log in batches, to limit memory; a log in JSON is one batch."""
    keys = [(each.id, each.epoch) for each in samples]
    if not path.endswith(".eval"):
        by_key = {sample_key(sample): sample for sample in (await read_eval_log_async(path)).samples or []}
        yield [by_key[str(name), epoch] for name, epoch in keys]
        return
    # Each batch reads the directory of the archive again: there are at most about 20 batches.
    size = max(500, len(keys) // 20)
    for start in range(0, len(keys), size):
        yield await read_eval_log_samples_by_id_async(path, keys[start : start + size])


def in_order_of_run(header: LogHeader, samples: Iterable[SampleSummary]) -> list[SampleSummary]:
    """Return samples in the order of the run; of two with the same id and epoch, the later one."""
    latest = {(str(each.id), each.epoch): each for each in samples}
    position = {str(name): i for i, name in enumerate(header.eval.dataset.sample_ids or [])}
    return sorted(latest.values(), key=lambda each: (each.epoch, position.get(str(each.id), len(position))))


def sample_key(sample: EvalSample) -> tuple[str, int]:
    """Return the id and the epoch of a sample, which tell it from the others."""
    return str(sample.id), sample.epoch
