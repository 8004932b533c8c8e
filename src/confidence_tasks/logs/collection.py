"""Trials collected from Inspect logs, sample files of lm-eval and plain files, local or remote."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from os import PathLike, fspath
from os.path import exists, isfile
from pathlib import PurePosixPath
from typing import Any, TypeVar

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
from msgspec import MsgspecError, Struct
from msgspec.json import Decoder

from confidence_tasks.harness.correctness import BY_DEFAULT, Correctness
from confidence_tasks.harness.workers import Advance, Job, Workers
from confidence_tasks.logs.cache import Cache, columns_of, facts_of, key_of, table_of
from confidence_tasks.logs.other_files import (
    SUFFIXES,
    is_results_file,
    is_sample_file,
    is_sample_list,
    read_results_file,
    read_sample_file,
    read_trial_table,
    results_beside,
)
from confidence_tasks.logs.trial_files import NotTrialsError, Skipped, TrialFile, archive_directory, decoded

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


def why_nothing(path: str) -> str:
    """Return the reason why there is nothing to read under a path."""
    system, root = fsspec.core.url_to_fs(path)
    if system.exists(root):
        return "there is no log and no file of trials here"
    return "there is no such file or folder"


def why_unreadable(path: str, error: Exception) -> str:
    """Return what is wrong with a file, and what to do about a log that is truncated or damaged."""
    problem = f"it cannot be read ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
    if isinstance(error, OSError) or not path.endswith(LOG_SUFFIXES):
        return problem
    return (
        f"{problem}; copy it again from where it was written, or go on with its run by `inspect eval-retry`"
    )


def _read_each(
    paths: list[str], advance: Advance | None, workers: Workers, cache: Cache | None, correct: Correctness
) -> list[list[TrialFile] | Skipped]:
    """Return the trials of each file, or why it was skipped, in the order of the paths."""
    keys = _map_in_threads(partial(_key, correct=correct), paths) if cache else {}
    by_path: dict[str, list[TrialFile] | Skipped] = dict(_kept(cache, keys))
    jobs: list[Job] = [(path, (path, *correct)) for path in paths if path not in by_path]
    workers = _readers([path for path, _ in jobs], workers)
    for number, outcome in workers.run(_read, jobs, advance):
        path, _ = jobs[number]
        if not isinstance(outcome, dict):
            by_path[path] = Skipped(path, outcome.reason)
            continue
        by_path[path] = _files(outcome, path)
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
            yield path, _files(tables, path)


def _readers(paths: list[str], workers: Workers) -> Workers:
    """Return the workers that read some files: threads for remote files, this process for little work."""
    if workers.optional:
        workers = workers.if_worth(is_much(paths))
    if workers.backend == "sequential" and any(map(_is_remote, paths)):
        return Workers("threading", READERS_AT_ONCE)
    return workers


def _map_in_threads(function: Callable[[str], T], paths: list[str]) -> dict[str, T]:
    """Call a function for every path, in threads: it waits for files most of the time."""
    with ThreadPoolExecutor(READERS_AT_ONCE) as pool:
        return dict(zip(paths, pool.map(function, paths), strict=True))


def is_much(paths: list[str]) -> bool:
    """Return True if files are so large that worker processes save time."""
    return sum(_map_in_threads(_size, paths).values()) > WORTH_WORKERS


def _size(path: str) -> int:
    try:
        system, root = fsspec.core.url_to_fs(path)
        return int(system.size(root) or 0)
    except Exception:  # whatever a file system raises: the reader says it
        return 0


def _modified(path: str) -> str:
    """Return the local time when a file was last changed, in ISO 8601; empty if its file system does not tell it."""
    try:
        system, root = fsspec.core.url_to_fs(path)
        time: datetime = system.modified(root)
    except Exception:  # whatever a file system raises
        return ""
    return time.astimezone().replace(tzinfo=None).isoformat()


def _is_remote(path: str) -> bool:
    return "://" in path


def files_under(path: str) -> list[str]:
    """Return the files under a path that may hold trials; a path that is a file is returned whatever its name."""
    system, root = fsspec.core.url_to_fs(path)
    if system.isfile(root):
        return [path]
    local = "file" in np.atleast_1d(system.protocol)
    names = sorted(system.find(root)) if system.exists(root) else []
    paths = (name if local else system.unstrip_protocol(name) for name in names)
    return [path for path in paths if _reader(path) and not _is_listing(path)]


def logs_under(path: str) -> list[str]:
    """Return the logs of Inspect under a path."""
    return [log for log in files_under(path) if _reader(log) is _read_inspect_log]


def _is_listing(path: str) -> bool:
    """Return whether a file is one that Inspect writes beside logs, such as the list of the logs in a folder."""
    if PurePosixPath(path).name not in _LISTINGS:
        return False
    try:
        with fsspec.open(path, "rb") as file:
            return decoded(file.read(), _LOG_KEYS).eval is None
    except (OSError, ValueError, MsgspecError, RecursionError):
        return False


class _LogKeys(Struct, gc=False):
    eval: Any = None


_LISTINGS = ("eval-set.json", "listing.json", "logs.json")
_LOG_KEYS = Decoder(_LogKeys)


def _read(path: str, *correct: Any) -> dict[str, pa.Table] | Skipped:
    """Read a file, or return why it is skipped: a bad file must not stop the others.

    Trials are returned as tables, as from the cache: their reader stores equal texts of many files once.
    """
    reader = _reader(path)
    if "://" not in path and not isfile(path):
        return Skipped(path, "it is not a regular file")
    if reader is None:
        return Skipped(path, f"its name ends in none of {', '.join(LOG_SUFFIXES + SUFFIXES)}")
    try:
        return {str(i): _table(file) for i, file in enumerate(reader(path, Correctness(*correct)))}
    except NotTrialsError as error:
        return Skipped(path, str(error))
    except Exception as error:
        return Skipped(path, why_unreadable(path, error))


LOG_SUFFIXES = (".eval", ".json")


def _reader(path: str) -> Callable[[str, Correctness], list[TrialFile]] | None:
    suffix = PurePosixPath(path).suffix
    if is_sample_file(path) or (suffix == ".jsonl" and is_sample_list(path)):
        return lambda name, correct: [read_sample_file(name, correct)]
    if is_results_file(path):
        return lambda name, correct: read_results_file(name)
    if suffix in LOG_SUFFIXES:
        return _read_inspect_log
    return _read_table if suffix in SUFFIXES else None


def _read_table(path: str, correct: Correctness) -> list[TrialFile]:
    return read_trial_table(path)


def _read_inspect_log(path: str, correct: Correctness) -> list[TrialFile]:
    """Read a log; Inspect is imported here, which takes a second and 65 MB, so that only readers of logs import it."""
    from confidence_tasks.logs.inspect_logs import read_inspect_log

    return read_inspect_log(path, correct)


# The cache -----------------------------------------------------------------------------------------------------------

_VERSIONS = (
    "ETag",
    "etag",
    "LastModified",
    "last_modified",
    "mtime",
    "updated",
    "created",
    "md5Hash",
    "generation",
)
"""Names that file systems use for the version of a file."""


def _key(path: str, correct: Correctness) -> str:
    """Return the key of a file in the cache; empty if its versions cannot be distinguished.

    The last two parts of the path are part of the key, as readers take names of models and tasks from them.
    """
    contents = [_content(part) for part in (path, *results_beside(path))]
    return key_of("trials", path.split("/")[-2:], contents, correct) if all(contents) else ""


def _content(path: str) -> str:
    """Return a digest of a local file, or the version of a remote file if its file system tells it, else empty."""
    try:
        if not _is_remote(path):
            if not isfile(path):
                return "" if exists(path) else "absent"
            with open(path, "rb") as file:
                file.seek(archive_directory(file) if path.endswith(".eval") else 0)
                return hashlib.file_digest(file, "sha256").hexdigest()
        system, root = fsspec.core.url_to_fs(path)
        facts = system.info(root)
    except FileNotFoundError:
        return "absent"
    except Exception:  # whatever a file system raises: the reader says it
        return ""
    versions = {name: str(facts[name]) for name in _VERSIONS if facts.get(name)}
    return repr((path, facts.get("size"), versions)) if versions else ""


def _table(file: TrialFile) -> pa.Table:
    facts = {name: value for name, value in asdict(replace(file, columns={})).items() if name != "columns"}
    return table_of(file.columns, file=json.dumps(facts))


def _files(tables: Mapping[str, pa.Table], path: str) -> list[TrialFile]:
    """Return the files of trials that :func:`_table` made the tables of."""
    files = []
    for table in tables.values():
        facts: dict[str, Any] = json.loads(facts_of(table)["file"])
        facts |= {"path": path, "left_out": tuple(facts["left_out"]), "planned": tuple(facts["planned"])}
        facts["invalidated"] = tuple((name, epoch) for name, epoch in facts["invalidated"])
        facts["written"] = facts["written"] or _modified(path)
        files.append(TrialFile(columns=columns_of(table), **facts))
    return files
