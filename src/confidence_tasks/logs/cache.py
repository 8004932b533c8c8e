"""The cache of reports: parsed trials and computed numbers, in the user's cache folder.

An entry is a zip archive of Parquet tables; checksums detect damage. Its key is a digest of the content that it was
computed from, of the settings and of the code, so an entry is never out of date.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from pickle import PicklingError
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import joblib
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec.msgpack import decode, encode

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.workers import Advance, Job, LostJob, Workers
from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.sources.source import cache_folder, write_atomically
from confidence_tasks.statistics import Estimate, Reason

MOST_BYTES = 1 << 30
"""Maximum size of the cache in bytes; the least recently used entries go first. 10 million trials take 0.15 GB."""

_warn = partial(warnings.warn, stacklevel=2)


@dataclass
class Cache:
    """A folder of entries with a maximum size, which several processes may use at once.

    The folder is created with the first entry. If it cannot be read or written, the work goes on without it; ``say`` is
    called with a message once for each kind of problem.
    """

    folder: Path
    most_bytes: int = MOST_BYTES
    say: Callable[[str], None] = _warn
    _warned: set[str] = field(default_factory=set)
    _size: int = 0
    _full: bool = False

    def get(self, key: str) -> dict[str, pa.Table] | None:
        """Return the tables of an entry; None if there is no such entry or it is damaged."""
        path = self._path(key)
        try:
            packed = path.read_bytes()
        except OSError:
            return None
        try:
            with zipfile.ZipFile(io.BytesIO(packed)) as archive:
                tables = {
                    name: pq.read_table(pa.BufferReader(archive.read(name))) for name in archive.namelist()
                }
        except Exception as error:  # readers raise anything on a damaged file
            self._trouble(
                "damaged", f"{path} is damaged ({type(error).__name__}); what it held is computed anew"
            )
            return None
        with suppress(OSError):  # a folder that can be read only
            os.utime(path)
        return tables

    def put(self, key: str, tables: Mapping[str, pa.Table]) -> None:
        """Store tables under a key."""
        if self._full:
            return
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, table in tables.items():
                texts = [column.name for column in table.schema if pa.types.is_string(column.type)]
                member = io.BytesIO()
                pq.write_table(table, member, compression="zstd", use_dictionary=texts)
                archive.writestr(name, member.getvalue())
        content = packed.getvalue()
        try:
            write_atomically(self._path(key), content)
            self._size = self._size + len(content) if self._size else sum(self.sizes().values())
            if self._size > self.most_bytes:
                self._shrink()
        except OSError as error:
            self._full = True
            self._trouble(
                "written",
                f"the cache {self.folder} cannot be written ({error.strerror or error}), and nothing is kept:"
                " --no-cache leaves it out, CONFIDENCE_TASKS_CACHE names another folder",
            )

    def sizes(self) -> dict[Path, int]:
        """Return the files of the cache with their sizes in bytes, the least recently used first."""
        files = []
        for path in self.folder.glob("*/*"):
            try:
                status = path.stat()
            except OSError:
                continue  # another process removed it
            files.append((status.st_mtime_ns, path, status.st_size))
        return {path: size for _, path, size in sorted(files)}

    def clear(self) -> int:
        """Delete every entry; return the number of entries."""
        sizes = self.sizes()
        for path in sizes:
            path.unlink(missing_ok=True)
        return sum(path.suffix == ".zip" for path in sizes)

    def _shrink(self) -> None:
        sizes = self.sizes()
        self._size = sum(sizes.values())
        for path, size in sizes.items():
            if self._size <= self.most_bytes:
                break
            path.unlink(missing_ok=True)
            self._size -= size

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key[2:]}.zip"

    def _trouble(self, kind: str, message: str) -> None:
        if kind not in self._warned:
            self._warned.add(kind)
            self.say(message)


def user_cache(say: Callable[[str], None] = _warn) -> Cache:
    """Return the user's cache, in CONFIDENCE_TASKS_CACHE or else in the platform's cache folder."""
    return Cache(cache_folder() / "report", say=say)


# Keys ----------------------------------------------------------------------------------------------------------------


def key_of(*parts: object) -> str:
    """Return the key of what this code computes from ``parts``: numbers, texts and tuples of these, by their repr."""
    return hashlib.sha256(repr((code_digest(), *parts)).encode()).hexdigest()


@cache
def code_digest() -> str:
    """Return a digest of the sources of this package and of other packages' studies, and of relevant versions."""
    versions = [(name, version(name)) for name in ("confidence-tasks", "numpy", "scipy", "matplotlib")]
    content = hashlib.sha256(repr(versions).encode())
    content.update(sys.version.encode())
    modules = [__package__, *(study.module for study in studies())]
    for package in sorted({module.partition(".")[0] for module in modules}):
        for folder in getattr(sys.modules.get(package), "__path__", ()):
            for path in sorted(Path(folder).rglob("*.py")):
                content.update(f"{path.relative_to(folder)}\0".encode())
                content.update(path.read_bytes())
    return content.hexdigest()


def columns_digest(columns: Columns) -> str:
    """Return a digest of the values of some columns."""
    content = hashlib.sha256()
    for name, column in columns.items():
        content.update(f"{name}\0{column.dtype}\0{len(column)}\0".encode())
        # Texts hold no NUL: trial_files removes it.
        content.update("\0".join(column.tolist()).encode() if column.dtype == object else column.tobytes())
    return content.hexdigest()


# Cached computations -------------------------------------------------------------------------------------------------

T = TypeVar("T")


def computed(
    function: Callable[..., T],
    jobs: Sequence[Job],
    name: str,
    kind: Any,
    workers: Workers | None = None,
    cache: Cache | None = None,
    *,
    enough: float,
    advance: Advance | None = None,
) -> list[T | LostJob]:
    """Call a function for every job, or take the result from the cache; return the results in the order of the jobs.

    Parameters
    ----------
    function : callable
        Function of the arguments of a job, on which alone its result depends.
    jobs : sequence of (str, tuple)
        Name and arguments of each job.
    name : str
        Name of the function in keys of the cache.
    kind : type
        Type of the result, made of texts, numbers, lists and dataclasses.
    workers : Workers, optional
        Workers that compute what is not in the cache.
    cache : Cache, optional
        The cache.
    enough : float
        Number of jobs from which optional workers are worth starting.
    advance : callable, optional
        Callback that shows progress.
    """
    keys = [_key(name, arguments) if cache else None for _, arguments in jobs]
    results: dict[int, T | LostJob] = dict(_kept(cache, keys, name, kind))
    missing = [number for number in range(len(jobs)) if number not in results]
    chosen = (workers or Workers()).for_amount(len(missing) >= enough)
    for k, result in chosen.run(function, [jobs[number] for number in missing], advance):
        results[missing[k]] = result
        _keep(cache, keys[missing[k]], name, result)
    return [results[number] for number in range(len(jobs))]


def _kept(cache: Cache | None, keys: Sequence[str | None], name: str, kind: Any) -> Iterator[tuple[int, Any]]:
    """Yield the number of each job whose result is in the cache, and the result."""
    for number, key in enumerate(keys):
        tables = cache.get(key) if cache and key else None
        if tables:
            yield number, decode(tables[name][name][0].as_py(), type=kind, dec_hook=_estimate)


def _keep(cache: Cache | None, key: str | None, name: str, result: Any) -> None:
    """Put a result into the cache, if there is one and the result has a key."""
    if cache and key and not isinstance(result, LostJob):
        cache.put(key, {name: as_table({name: [encode(result, enc_hook=_plain)]})})


def _plain(value: Any) -> Any:
    """Return an estimate as a pair of value and reason, and a NumPy number as a Python number."""
    return (float(value), value.reason) if isinstance(value, Estimate) else value.item()


def _estimate(_kind: Any, pair: tuple[float, str | None]) -> Estimate:
    value, reason = pair
    return Estimate(value, Reason(reason) if reason else None)


def _key(name: str, arguments: Sequence[Any]) -> str | None:
    """Return the key of an entry; None if the arguments hold a function without a name, which cannot be hashed."""
    try:
        digests = [
            columns_digest(each) if isinstance(each, Mapping) else joblib.hash(each, hash_name="sha1")
            for each in arguments
        ]
    except (PicklingError, AttributeError):
        return None
    return key_of(name, *digests)


# Tables --------------------------------------------------------------------------------------------------------------


def as_table(columns: Mapping[str, Any], **facts: str) -> pa.Table:
    """Return columns of numbers and texts as a table, with ``facts`` as its metadata."""
    arrays = {name: pa.array(column) for name, column in columns.items()}
    return pa.table(arrays).replace_schema_metadata(facts)


def table_columns(table: pa.Table) -> dict[str, Any]:
    """Return the columns that :func:`as_table` made a table of, as read-only arrays.

    Equal columns, such as the questions in the logs of many models, share one array, and equal texts one object.
    """
    return {
        name: _shared(column.combine_chunks())
        for name, column in zip(table.column_names, table.columns, strict=True)
    }


_columns: WeakValueDictionary[bytes, np.ndarray[Any, Any]] = WeakValueDictionary()


def _shared(column: pa.Array) -> np.ndarray[Any, Any]:
    content = hashlib.sha256(f"{column.type} {len(column)} {column.offset}".encode())
    for buffer in column.buffers():
        content.update(buffer or b"")
    key = content.digest()
    array = _columns.get(key)
    if array is None:
        array = _texts(column) if pa.types.is_string(column.type) else np.array(column)
        array.flags.writeable = False
        _columns[key] = array
    return array


def _texts(column: pa.Array) -> np.ndarray[Any, Any]:
    encoded = column.dictionary_encode()
    distinct = np.empty(len(encoded.dictionary), dtype=object)
    distinct[:] = [sys.intern(text) for text in encoded.dictionary.to_pylist()]
    texts: np.ndarray[Any, Any] = distinct[encoded.indices.to_numpy()]
    return texts


def table_facts(table: pa.Table) -> dict[str, str]:
    """Return the metadata of a table."""
    return {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
