"""What reports computed before: parsed trials and estimates, kept in the user's cache folder by what they come from.

An entry is a zip archive of Parquet tables, whose checksums tell a damaged one. Its name is a digest of the content
that it was computed from, of the settings, and of the code that computed it: nothing is ever out of date.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
import warnings
import zipfile
from collections.abc import Callable, Mapping, Sequence
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
from confidence_tasks.report.task_trials import Columns
from confidence_tasks.report.workers import Advance, Job, Lost, Workers
from confidence_tasks.sources.source import cache_folder, write_atomically
from confidence_tasks.statistics import Estimate, Reason

MOST_BYTES = 1 << 30
"""Maximum size of the cache; entries unused for longest are removed first. 10 million trials take 0.15 GB."""

_warn = partial(warnings.warn, stacklevel=2)


@dataclass
class Cache:
    """A folder of entries, at most so large, which several processes may use at once.

    The folder is made when the first entry is kept. ``say`` is told once of each kind of trouble: the work goes on
    without the cache.
    """

    folder: Path
    most_bytes: int = MOST_BYTES
    say: Callable[[str], None] = _warn
    _said: set[str] = field(default_factory=set)
    _size: int = 0
    _full: bool = False

    def get(self, key: str) -> dict[str, pa.Table] | None:
        """Return the tables of an entry; None if there is none, or if it is damaged."""
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
        except Exception as error:  # whatever a damaged file makes of its readers
            self._trouble(
                "damaged", f"{path} is damaged ({type(error).__name__}); what it held is computed anew"
            )
            return None
        with suppress(OSError):  # a folder that can be read only
            os.utime(path)
        return tables

    def put(self, key: str, tables: Mapping[str, pa.Table]) -> None:
        """Keep some tables."""
        if self._full:
            return
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, table in tables.items():
                texts = [part.name for part in table.schema if pa.types.is_string(part.type)]
                written = io.BytesIO()
                pq.write_table(table, written, compression="zstd", use_dictionary=texts)
                archive.writestr(name, written.getvalue())
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
        found = []
        for path in self.folder.glob("*/*"):
            try:
                facts = path.stat()
            except OSError:
                continue  # another process was quicker
            found.append((facts.st_mtime_ns, path, facts.st_size))
        return {path: size for _, path, size in sorted(found)}

    def clear(self) -> int:
        """Delete every entry; return how many there were."""
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

    def _trouble(self, kind: str, said: str) -> None:
        if kind not in self._said:
            self._said.add(kind)
            self.say(said)


def user_cache(say: Callable[[str], None] = _warn) -> Cache:
    """Return the user's cache: below CONFIDENCE_TASKS_CACHE, or the platform's folder for caches."""
    return Cache(cache_folder() / "report", say=say)


# Keys ----------------------------------------------------------------------------------------------------------------


def key_of(*parts: object) -> str:
    """Return the name of what this code computes from numbers, texts and tuples of these, by how they print."""
    return hashlib.sha256(repr((code_digest(), *parts)).encode()).hexdigest()


@cache
def code_digest() -> str:
    """Return a digest of the source of this package and of those of other studies, and of the versions they rest on."""
    versions = [(name, version(name)) for name in ("confidence-tasks", "numpy", "scipy", "matplotlib")]
    found = hashlib.sha256(repr(versions).encode())
    found.update(sys.version.encode())
    modules = [__package__, *(study.module for study in studies())]
    for package in sorted({module.partition(".")[0] for module in modules}):
        for folder in getattr(sys.modules.get(package), "__path__", ()):
            for path in sorted(Path(folder).rglob("*.py")):
                found.update(f"{path.relative_to(folder)}\0".encode())
                found.update(path.read_bytes())
    return found.hexdigest()


def columns_digest(columns: Columns) -> str:
    """Return a digest of the values of some columns."""
    found = hashlib.sha256()
    for name, column in columns.items():
        found.update(f"{name}\0{column.dtype}\0{len(column)}\0".encode())
        # Texts hold no NUL: see trial_files.
        found.update("\0".join(column.tolist()).encode() if column.dtype == object else column.tobytes())
    return found.hexdigest()


# What is computed ----------------------------------------------------------------------------------------------------

Found = TypeVar("Found")


def computed(
    function: Callable[..., Found],
    jobs: Sequence[Job],
    name: str,
    kind: Any,
    workers: Workers | None = None,
    cache: Cache | None = None,
    *,
    enough: float,
    advance: Advance | None = None,
) -> list[Found | Lost]:
    """Return what a function gives for the arguments of each job, in their order.

    The ``cache`` has what is known of the same arguments, by the ``name`` of the function, and keeps what the
    ``workers`` compute, which is of a ``kind`` of texts, lists and dataclasses; from ``enough`` jobs on it is worth
    starting processes. The arguments are all that the function knows.
    """
    keys = [_key(name, arguments) if cache else None for _, arguments in jobs]
    found: dict[int, Found | Lost] = {}
    for number, key in enumerate(keys):
        if cache and key and (tables := cache.get(key)):
            found[number] = decode(tables[name][name][0].as_py(), type=kind, dec_hook=_estimate)
    left = [number for number in range(len(jobs)) if number not in found]
    chosen = (workers or Workers()).if_worth(len(left) >= enough)
    for k, its in chosen.run(function, [jobs[number] for number in left], advance):
        found[left[k]] = its
        if cache and (key := keys[left[k]]) and not isinstance(its, Lost):
            cache.put(key, {name: table_of({name: [encode(its, enc_hook=_plain)]})})
    return [found[number] for number in range(len(jobs))]


def _plain(value: Any) -> Any:
    """Return an estimate as its value and its reason, and a number of NumPy as one of Python."""
    return (float(value), value.reason) if isinstance(value, Estimate) else value.item()


def _estimate(_kind: Any, told: tuple[float, str | None]) -> Estimate:
    value, reason = told
    return Estimate(value, Reason(reason) if reason else None)


def _key(name: str, arguments: Sequence[Any]) -> str | None:
    """Return the name of an entry; None where arguments hold a function that has no name."""
    try:
        digests = [
            columns_digest(each) if isinstance(each, Mapping) else joblib.hash(each, hash_name="sha1")
            for each in arguments
        ]
    except (PicklingError, AttributeError):
        return None
    return key_of(name, *digests)


# Tables --------------------------------------------------------------------------------------------------------------


def table_of(columns: Mapping[str, Any], **facts: str) -> pa.Table:
    """Return columns of numbers and texts as a table, with facts in its metadata."""
    arrays = {name: pa.array(column) for name, column in columns.items()}
    return pa.table(arrays).replace_schema_metadata(facts)


def columns_of(table: pa.Table) -> dict[str, Any]:
    """Return the columns of a table as :func:`table_of` got them, which cannot be written to.

    Columns that are equal, as those that say what was asked are in the logs of many models, are one array, and equal
    texts of others are one object.
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
    found = _columns.get(key)
    if found is None:
        found = _texts(column) if pa.types.is_string(column.type) else np.array(column)
        found.flags.writeable = False
        _columns[key] = found
    return found


def _texts(column: pa.Array) -> np.ndarray[Any, Any]:
    encoded = column.dictionary_encode()
    distinct = np.empty(len(encoded.dictionary), dtype=object)
    distinct[:] = [sys.intern(text) for text in encoded.dictionary.to_pylist()]
    found: np.ndarray[Any, Any] = distinct[encoded.indices.to_numpy()]
    return found


def facts_of(table: pa.Table) -> dict[str, str]:
    """Return the facts in the metadata of a table."""
    return {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
