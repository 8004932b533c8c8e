"""Logs, sample files and plain files, local and remote, read into trials."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from os import PathLike, fspath
from os.path import exists, isfile
from pathlib import PurePosixPath
from typing import Any, TypeVar

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa

from confidence_tasks.report.cache import Cache, columns_of, facts_of, key_of, table_of
from confidence_tasks.report.other_files import (
    SUFFIXES,
    is_results_file,
    is_sample_file,
    read_sample_file,
    read_trial_table,
    results_beside,
)
from confidence_tasks.report.trial_files import NotTrialsError, Skipped, TrialFile, archive_directory
from confidence_tasks.report.workers import Advance, Job, Workers

READERS_AT_ONCE = 8
"""Number of remote files read at a time in this process; local files are read in turn."""

WORTH_WORKERS = 128 << 20
"""Total size of files in bytes above which worker processes, which take some seconds to start, save time."""

Path = str | PathLike[str]
Told = TypeVar("Told")


@dataclass(frozen=True, slots=True)
class Collection:
    """Files of trials found under some paths, and those that were skipped.

    Attributes
    ----------
    files : tuple of TrialFile
        The files that hold trials, in the order of their paths.
    skipped : tuple of Skipped
        The files that do not, the paths where there is nothing, and the trials of the other files that do not count.
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


def trials(paths: Path | Iterable[Path]) -> pd.DataFrame:
    r"""Read trials from logs and files.

    Parameters
    ----------
    paths : path or iterable of paths
        Inspect logs (``.eval``, ``.json``), sample files of lm-eval (``samples_*.jsonl``), plain files of trials (CSV,
        JSON lines, Parquet), or folders of these, searched in depth. Any address that fsspec opens will do, such as
        ``s3://bucket/logs``.

    Returns
    -------
    DataFrame
        One row a trial: ``study``, ``task``, ``model``, the columns of the study's trial record (missing where another
        study has them), ``sample_id``, ``epoch``, ``setup`` (how the model was asked, as a JSON object) and ``log``.

    Warns
    -----
    UserWarning
        For each file that was skipped, whole or in part, with the reason.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = f"{folder}/mine.csv"
    >>> with open(path, "w") as file:
    ...     _ = file.write("study,question_id,source,condition,correct,confidence,status\n")
    ...     _ = file.write("scales,q-1,mine,0-20,1,0.85,ok\n")
    >>> trials(path)[["study", "question_id", "confidence"]]
        study question_id  confidence
    0  scales         q-1        0.85
    """
    found = collect(paths)
    for skipped in found.skipped:
        warnings.warn(f"skipped {skipped.path}: {skipped.reason}", stacklevel=2)
    return found.frame()


def collect(
    paths: Path | Iterable[Path],
    advance: Advance | None = None,
    workers: Workers | None = None,
    cache: Cache | None = None,
) -> Collection:
    """Read every file under some paths; what cannot be read is named, with the reason.

    Parameters
    ----------
    paths : path or iterable of paths
        As in :func:`trials`.
    advance : callable, optional
        Told how many files are read, of how many, and which is under way.
    workers : Workers, optional
        Where files are read; by default in this process.
    cache : Cache, optional
        Trials of files of the same content, and where those that are read are kept.
    """
    given = [paths] if isinstance(paths, str | PathLike) else list(paths)
    files: list[TrialFile] = []
    skipped: list[Skipped] = []
    candidates: list[str] = []
    for path in dict.fromkeys(fspath(path) for path in given):
        here = files_under(path)
        candidates += here
        if not here:
            skipped.append(Skipped(path, why_nothing(path)))
    candidates = list(dict.fromkeys(candidates))
    for outcome in _read_each(candidates, advance, workers or Workers(), cache):
        if isinstance(outcome, Skipped):
            skipped.append(outcome)
        else:
            files += outcome
            skipped += [Skipped(file.path, reason) for file in outcome for reason in file.left_out]
    return Collection(tuple(files), tuple(skipped))


def why_nothing(path: str) -> str:
    """Say why there is nothing to read under a path."""
    system, root = fsspec.core.url_to_fs(path)
    there = system.exists(root)
    return "there is no log and no file of trials here" if there else "there is no such file or folder"


def why_unreadable(path: str, error: Exception) -> str:
    """Say what is wrong with a file, and what can be done about a log that is cut short or damaged."""
    said = f"it cannot be read ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
    if isinstance(error, OSError) or not path.endswith(LOG_SUFFIXES):
        return said
    return f"{said}; copy it again from where it was written, or go on with its run by `inspect eval-retry`"


def _read_each(
    paths: list[str], advance: Advance | None, workers: Workers, cache: Cache | None
) -> list[list[TrialFile] | Skipped]:
    """Return what each file holds, in the same order."""
    found: dict[str, list[TrialFile] | Skipped] = {}
    keys: dict[str, str] = {}
    if cache:
        for path, key in _of_each(_key, paths).items():
            if key and (tables := cache.get(key)):
                found[path] = _files(tables, path)
            elif key:
                keys[path] = key
    jobs: list[Job] = [(path, (path,)) for path in paths if path not in found]
    if workers.optional:
        workers = workers.if_worth(is_much([path for path, _ in jobs]))
    if workers.backend == "sequential" and any(_is_remote(path) for path, _ in jobs):
        workers = Workers("threading", READERS_AT_ONCE)
    for number, outcome in workers.run(_read, jobs, advance):
        path, _ = jobs[number]
        if not isinstance(outcome, dict):
            found[path] = Skipped(path, outcome.reason)
            continue
        found[path] = _files(outcome, path)
        if cache and path in keys:
            cache.put(keys[path], outcome)
    workers.restart()
    return [found[path] for path in paths]


def _of_each(function: Callable[[str], Told], paths: list[str]) -> dict[str, Told]:
    """Call a function that mostly waits, for several paths at a time."""
    with ThreadPoolExecutor(READERS_AT_ONCE) as pool:
        return dict(zip(paths, pool.map(function, paths), strict=True))


def is_much(paths: list[str]) -> bool:
    """Return whether files are so large that starting processes for them saves time."""
    return sum(_of_each(_size, paths).values()) > WORTH_WORKERS


def _size(path: str) -> int:
    try:
        system, root = fsspec.core.url_to_fs(path)
        return int(system.size(root) or 0)
    except Exception:  # whatever a file system raises: the reader says it
        return 0


def _is_remote(path: str) -> bool:
    return "://" in path


def files_under(path: str) -> list[str]:
    """Return the files under a path that may hold trials; the path itself, whatever its name, if it is a file."""
    system, root = fsspec.core.url_to_fs(path)
    if system.isfile(root):
        return [path]
    local = "file" in np.atleast_1d(system.protocol)
    names = sorted(system.find(root)) if system.exists(root) else []
    return [name if local else system.unstrip_protocol(name) for name in names if _reader(name)]


def _read(path: str) -> dict[str, pa.Table] | Skipped:
    """Read a file, or say why not: whatever is wrong with one file must not cost the others.

    What comes from another process, or from the cache, is a table: equal texts of many files are then one object.
    """
    reader = _reader(path)
    if "://" not in path and not isfile(path):
        return Skipped(path, "it is not a regular file")
    if reader is None:
        return Skipped(path, f"its name ends in none of {', '.join(LOG_SUFFIXES + SUFFIXES)}")
    try:
        return {str(i): _table(file) for i, file in enumerate(reader(path))}
    except NotTrialsError as error:
        return Skipped(path, str(error))
    except Exception as error:
        return Skipped(path, why_unreadable(path, error))


LOG_SUFFIXES = (".eval", ".json")


def _reader(path: str) -> Callable[[str], list[TrialFile]] | None:
    suffix = PurePosixPath(path).suffix
    if is_sample_file(path):
        return lambda name: [read_sample_file(name)]
    if is_results_file(path):
        return None
    if suffix in LOG_SUFFIXES:
        return _read_inspect_log
    return read_trial_table if suffix in SUFFIXES else None


def _read_inspect_log(path: str) -> list[TrialFile]:
    """Read a log by Inspect, whose import takes a second and 65 MB: only the processes that read logs spend them."""
    from confidence_tasks.report.inspect_logs import read_inspect_log

    return read_inspect_log(path)


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
"""Fields by which file systems name the version of a file."""


def _key(path: str) -> str:
    """Return the name of what a file holds in the cache; empty if nothing tells one version of it from another.

    The last two parts of the path belong to it: readers take names of models and tasks from them.
    """
    contents = [_content(part) for part in (path, *results_beside(path))]
    return key_of("trials", path.split("/")[-2:], contents) if all(contents) else ""


def _content(path: str) -> str:
    """Return a digest of a local file, or what a file system says of the version of another, if it does."""
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
    told = {name: str(facts[name]) for name in _VERSIONS if facts.get(name)}
    return repr((path, facts.get("size"), told)) if told else ""


def _table(file: TrialFile) -> pa.Table:
    facts = {name: value for name, value in asdict(replace(file, columns={})).items() if name != "columns"}
    return table_of(file.columns, file=json.dumps(facts))


def _files(tables: Mapping[str, pa.Table], path: str) -> list[TrialFile]:
    """Return what :func:`_table` was given, file by file."""
    files = []
    for table in tables.values():
        facts: dict[str, Any] = json.loads(facts_of(table)["file"])
        facts |= {"path": path, "left_out": tuple(facts["left_out"])}
        files.append(TrialFile(columns=columns_of(table), **facts))
    return files
