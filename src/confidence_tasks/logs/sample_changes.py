"""What was changed in an Inspect log after its run: scores edited by hand, and samples that were invalidated.

Only whole samples tell it, and most logs were never changed. So samples are read only if the header says that some were
invalidated, or if the log is small or was written long after its run.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from os import SEEK_CUR
from typing import IO, Any
from zipfile import ZipFile, ZipInfo

import fsspec
from msgspec import MsgspecError, Struct
from msgspec.json import Decoder
from zstandard import ZstdDecompressor, ZstdError, frame_content_size

from confidence_tasks.logs.decoding import decoded
from confidence_tasks.logs.log_header import LogHeader

SMALL = 16 << 20
"""Size of a local log, in bytes, up to which its samples are searched for edits."""

MOST_BYTES = 1 << 28
"""Size of a sample, in bytes, above which it is not searched."""

_EARLIEST, _LATEST = -5.0, 60.0
"""Numbers of seconds after the end of a run within which Inspect writes the header; dates are rounded down."""

_ZONES = 900.0
"""Number of seconds of which all time zones are multiples: the dates in archives are local times."""


@dataclass(frozen=True, slots=True)
class SampleChanges:
    """Id and epoch of the samples of a log that were invalidated, and of those with edited scores.

    ``at`` is the time of the latest change in ISO 8601; empty if there is none.
    """

    invalidated: frozenset[tuple[str, int]] = frozenset()
    edited: frozenset[tuple[str, int]] = frozenset()
    at: str = ""


def sample_changes(path: str, header: LogHeader, written: datetime | None, scorer: str = "") -> SampleChanges:
    """Return what was changed in a log after its run.

    ``written`` is the local time when an archive's header was written; None for other logs. Edits are those of the
    scores of ``scorer``, by default of any scorer.
    """
    if not (header.invalidated or path.endswith(".json") or _may_be_edited(path, header, written)):
        return SampleChanges()
    invalidated, edited, times = set(), set(), [""]
    for sample in _samples(path, every=header.invalidated):
        key = (str(sample.id), sample.epoch)
        if sample.invalidation is not None:
            invalidated.add(key)
            times.append(_in_utc(sample.invalidation))
        if edits := _edits(sample, scorer):
            edited.add(key)
            times += [_in_utc(edit.provenance) for edit in edits]
    return SampleChanges(frozenset(invalidated), frozenset(edited), max(times))


def _may_be_edited(path: str, header: LogHeader, written: datetime | None) -> bool:
    """Return whether an archive is small and local, or was written long after the end of its run."""
    if written is None:
        return False
    system, root = fsspec.core.url_to_fs(path)
    if "://" not in path and (system.size(root) or 0) <= SMALL:
        return True
    with suppress(ValueError):
        end = datetime.fromisoformat(header.stats.completed_at).astimezone(UTC).replace(tzinfo=None)
        seconds = (written - end).total_seconds()
        return (seconds - _EARLIEST) % _ZONES > _LATEST - _EARLIEST
    return False


class _Origin(Struct, gc=False):
    timestamp: str = ""


class _Edit(Struct, gc=False):
    value: Any = "UNCHANGED"
    metadata: Any = "UNCHANGED"
    provenance: _Origin | None = None


class _Score(Struct, gc=False):
    history: list[_Edit] = []


class _Sample(Struct, gc=False):
    id: Any
    epoch: int
    scores: dict[str, _Score | None] | None = None
    invalidation: _Origin | None = None


class _Log(Struct, gc=False):
    samples: list[_Sample] | None = None


_SAMPLE, _LOG = Decoder(_Sample), Decoder(_Log)
_HISTORY = re.compile(rb'"history":\s*\[\s*\{')


def _samples(path: str, *, every: bool) -> Iterator[_Sample]:
    """Yield the samples of a log, every one or those that may have edited scores."""
    with fsspec.open(path, "rb") as file:
        if path.endswith(".json"):
            text = file.read()
            if every or _HISTORY.search(text):
                yield from decoded(text, _LOG).samples or []
            return
        for text in _texts(file):
            if every or _HISTORY.search(text):
                with suppress(ValueError, MsgspecError, RecursionError):
                    yield decoded(text, _SAMPLE)


def _texts(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the samples of an archive unpacked, without those that are too large."""
    unpacker = ZstdDecompressor()  # threads must not share one
    with ZipFile(file) as archive:
        for member in archive.infolist():
            if member.filename.startswith("samples/") and member.file_size <= MOST_BYTES:
                yield _one_frame(file, member, unpacker) or archive.read(member)


def _one_frame(file: IO[bytes], member: ZipInfo, unpacker: ZstdDecompressor) -> bytes:
    """Return a member that is compressed as one intact frame, as Inspect writes samples; otherwise nothing.

    A log has a member for each sample, and :class:`~zipfile.ZipFile` makes a reader and a decompressor for each, which
    takes three times as long as to unpack it.
    """
    file.seek(member.header_offset)
    header = file.read(_LOCAL.size)
    if member.compress_type != _ZSTANDARD or len(header) < _LOCAL.size:
        return b""
    file.seek(sum(_LOCAL.unpack(header)), SEEK_CUR)
    packed = file.read(member.compress_size)
    with suppress(ZstdError):
        if frame_content_size(packed) in (-1, member.file_size):
            text = unpacker.decompress(packed, max_output_size=member.file_size)
            return text if zlib.crc32(text) == member.CRC else b""
    return b""


_LOCAL = struct.Struct("<26xHH")
"""The header of a member before its data: the lengths of the name and of the extra field that follow."""

_ZSTANDARD = 93


def _edits(sample: _Sample, scorer: str) -> Sequence[_Edit]:
    """Return the edits of a sample's score that may change its trial; the first entry of a history is the original."""
    scores = [score for name, score in (sample.scores or {}).items() if scorer in ("", name) and score]
    edits = [edit for score in scores for edit in score.history[1:]]
    return [edit for edit in edits if not (edit.value == "UNCHANGED" and edit.metadata == "UNCHANGED")]


def _in_utc(origin: _Origin | None) -> str:
    """Return a time as ISO 8601 in UTC; empty if it is unknown."""
    with suppress(ValueError):
        if origin:
            return datetime.fromisoformat(origin.timestamp).astimezone(UTC).isoformat()
    return ""
