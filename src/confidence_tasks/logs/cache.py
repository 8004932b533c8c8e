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
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from confidence_tasks.catalogue import studies
from confidence_tasks.sources.source import cache_folder, write_atomically

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
    versions = [(name, version(name)) for name in ("confidence-tasks", "numpy", "scipy")]
    content = hashlib.sha256(repr(versions).encode())
    content.update(sys.version.encode())
    modules = [__package__, *(study.module for study in studies())]
    for package in sorted({module.partition(".")[0] for module in modules}):
        for folder in getattr(sys.modules.get(package), "__path__", ()):
            for path in sorted(Path(folder).rglob("*.py")):
                content.update(f"{path.relative_to(folder)}\0".encode())
                content.update(path.read_bytes())
    return content.hexdigest()
