"""Trials collected from Inspect logs, sample files of lm-eval and plain files, local or remote."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from os import PathLike, fspath
from typing import TypeVar

import fsspec
import pandas as pd

from confidence_tasks.harness.correctness import BY_DEFAULT, Correctness
from confidence_tasks.harness.workers import Advance, Job, Workers
from confidence_tasks.logs.cache import Cache
from confidence_tasks.logs.file_readers import files_under, read_file, why_nothing
from confidence_tasks.logs.trial_file_cache import file_key, files_of_tables, is_remote
from confidence_tasks.logs.trial_files import Skipped, TrialFile

READERS_AT_ONCE = 8
"""Number of remote files that this process reads at a time; local files are read one by one."""

WORTH_WORKERS = 128 << 20
"""Total size of files, in bytes, above which worker processes save more time than their start takes."""

Path = str | PathLike[str]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Collection:
    """Files of trials found under some paths, and those that were skipped.

    Attributes
    ----------
    files : tuple of TrialFile
        The files that hold trials, in the order of their paths.
    skipped : tuple of Skipped
        Files without trials, paths without files, and the trials that were left out of the other files.
    """

    files: tuple[TrialFile, ...]
    skipped: tuple[Skipped, ...]

    def frame(self) -> pd.DataFrame:
        """Return the trials of all files as one table."""
        parts = [
            pd.DataFrame(
                {"study": file.study, "task": file.design, "model": file.model, **file.columns}
            ).assign(setup=json.dumps(dict(sorted(file.setup.items()))), log=file.path)
            for file in self.files
        ]
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(_ALWAYS))


_ALWAYS = ("study", "task", "model", "question_id", "source", "condition", "correct", "confidence", "status")


def collect(
    paths: Path | Iterable[Path],
    advance: Advance | None = None,
    workers: Workers | None = None,
    cache: Cache | None = None,
    correct: Correctness = BY_DEFAULT,
) -> Collection:
    """Read every file under some paths; files that cannot be read are listed with the reason.

    Parameters
    ----------
    paths : path or iterable of paths
        As in :func:`trials`.
    advance : callable, optional
        Callback that shows progress.
    workers : Workers, optional
        Workers that read the files; by default this process.
    cache : Cache, optional
        Cache of the trials of files, by content.
    correct : Correctness, optional
        What says whether an answer to a task that no study asks is right.
    """
    given = [paths] if isinstance(paths, str | PathLike) else list(paths)
    files: list[TrialFile] = []
    skipped: list[Skipped] = []
    candidates: list[str] = []
    for path in dict.fromkeys(fspath(path) for path in given):
        under_path = files_under(path)
        candidates += under_path
        if not under_path:
            skipped.append(Skipped(path, why_nothing(path)))
    candidates = list(dict.fromkeys(candidates))
    for outcome in _read_each(candidates, advance, workers or Workers(), cache, correct):
        if isinstance(outcome, Skipped):
            skipped.append(outcome)
        else:
            files += outcome
            skipped += [Skipped(file.path, reason) for file in outcome for reason in file.left_out]
    return Collection(tuple(files), tuple(skipped))


def _read_each(
    paths: list[str], advance: Advance | None, workers: Workers, cache: Cache | None, correct: Correctness
) -> list[list[TrialFile] | Skipped]:
    """Return the trials of each file, or why it was skipped, in the order of the paths."""
    keys = _map_in_threads(partial(file_key, correct=correct), paths) if cache else {}
    by_path: dict[str, list[TrialFile] | Skipped] = dict(_kept(cache, keys))
    jobs: list[Job] = [(path, (path, *correct)) for path in paths if path not in by_path]
    workers = _readers([path for path, _ in jobs], workers)
    for number, outcome in workers.run(read_file, jobs, advance):
        path, _ = jobs[number]
        if not isinstance(outcome, dict):
            by_path[path] = Skipped(path, outcome.reason)
            continue
        by_path[path] = files_of_tables(outcome, path)
        key = keys.get(path)
        if cache and key:
            cache.put(key, outcome)
    workers.restart()
    return [by_path[path] for path in paths]


def _kept(cache: Cache | None, keys: Mapping[str, str]) -> Iterator[tuple[str, list[TrialFile]]]:
    """Yield the files whose trials are in the cache, by path."""
    for path, key in keys.items():
        tables = cache.get(key) if cache and key else None
        if tables:
            yield path, files_of_tables(tables, path)


def _readers(paths: list[str], workers: Workers) -> Workers:
    """Return the workers that read some files: threads for remote files, this process for little work."""
    if workers.optional:
        workers = workers.for_amount(are_large(paths))
    if workers.backend == "sequential" and any(map(is_remote, paths)):
        return Workers("threading", READERS_AT_ONCE)
    return workers


def _map_in_threads(function: Callable[[str], T], paths: list[str]) -> dict[str, T]:
    """Call a function for every path, in threads: it waits for files most of the time."""
    with ThreadPoolExecutor(READERS_AT_ONCE) as pool:
        return dict(zip(paths, pool.map(function, paths), strict=True))


def are_large(paths: list[str]) -> bool:
    """Return True if files are so large that worker processes save time."""
    return sum(_map_in_threads(_size, paths).values()) > WORTH_WORKERS


def _size(path: str) -> int:
    try:
        system, root = fsspec.core.url_to_fs(path)
        return int(system.size(root) or 0)
    except Exception:  # whatever a file system raises: the reader says it
        return 0
