"""Header and samples of Inspect logs, read with memory that a damaged or hostile log cannot exhaust.

Inspect validates logs with pydantic, which takes a thousand bytes and more for each value in an unexpected place. So a
text is counted before Inspect validates it, and only those parts of a log are validated that are needed. Inspect is
imported only then: see :mod:`confidence_tasks.logs.log_header`.
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from io import BytesIO
from os import SEEK_END
from typing import IO, TYPE_CHECKING, Any, Literal
from zipfile import ZipFile

import fsspec
from msgspec import MsgspecError, Raw, Struct, convert
from msgspec.json import Decoder

from confidence_tasks.logs.archives import ARCHIVE_END, archive_directory, bounded_member
from confidence_tasks.logs.decoding import decoded
from confidence_tasks.logs.log_header import LogHeader, current_header
from confidence_tasks.logs.log_json import (
    HEADER,
    MOST_BYTES_OF_A_HEADER,
    MOST_MARKS_OF_A_HEADER,
    json_parts,
    refuse_brackets,
    refuse_large_header,
)
from confidence_tasks.logs.trial_files import NotTrialsError

if sys.version_info < (3, 14):
    import zipfile_zstd  # noqa: F401  # with it, zipfile reads the compression of Inspect's logs

if TYPE_CHECKING:
    pass

SUMMARIES = "summaries.json"
"""The member of a finished log that holds the summaries of its samples."""


MOST_BYTES, MOST_TIMES = 1 << 30, 10
"""Maximum size of the unpacked summaries of a log: this many bytes, or this many times the size of the log if larger.

A zip bomb exceeds it. The summaries of 100,000 samples take 0.4 GB, at most twice the size of the packed log.
"""


class LoggedScore(Struct, gc=False):
    """The fields that are read of a score."""

    value: Any = None
    metadata: dict[str, Any] | None = None


class LoggedMetadata(Struct, gc=False):
    """The fields that are read of a sample's metadata."""

    question: Any = None
    passage: Any = None
    subject: Any = None
    cluster: Any = None
    choices: Any = None
    condition: Any = None
    effort: Any = None
    input_tokens: Any = None
    output_tokens: Any = None
    reasoning_tokens: Any = None
    origin: Any = None
    server_refusals: Any = None


NO_METADATA = LoggedMetadata()


class _Message(Struct, gc=False):
    role: Any
    content: Any
    metadata: Any = None


class SampleSummary(Struct, gc=False):
    """The fields that are read of a sample's summary; all others are skipped."""

    id: Any
    epoch: int
    input: str | list[_Message] | None = None
    metadata: LoggedMetadata | None = None
    scores: dict[str, LoggedScore | None] | None = None
    error: Any = None
    model_fallbacks: Any = None
    limit: str | None = None

    @property
    def is_lost(self) -> bool:
        """Whether an error or a limit ended the sample before its last reply; what its scorer read is no reply."""
        return self.error is not None or self.limit is not None


def fallback_models(fallbacks: Any) -> str:
    """Return the models that answered a sample instead of the requested ones; empty if there were none.

    ``fallbacks`` are mappings with ``fallback_model``; anything else says nothing.

    Examples
    --------
    >>> fallback_models([{"model": "a", "fallback_model": "c"}, {"model": "a", "fallback_model": "b"}])
    'b, c'
    >>> fallback_models(None)
    ''
    """
    listed = fallbacks if isinstance(fallbacks, list) else []
    names = (each.get("fallback_model") for each in listed if isinstance(each, Mapping))
    return ", ".join(sorted({str(name) for name in names if name}))


_SUMMARIES = Decoder(list[SampleSummary])


@contextmanager
def opened(path: str) -> Iterator[tuple[LogHeader, Iterator[SampleSummary], datetime | None]]:
    """Yield the header of a log, an iterator over the summaries of its samples, and the local time of writing if known.

    Only the needed fields of summaries are decoded, a hundred times faster than by Inspect's reader, which validates
    and shortens every text again.
    """
    if path.endswith(".json"):
        header, samples = json_parts(path)
        yield _header(header, "json"), map(_summary, samples), None
        return
    with fsspec.open(path, "rb") as file:
        size = file.seek(0, SEEK_END)
        with ZipFile(_last_members(file)) as archive:
            if {HEADER, SUMMARIES} <= archive.NameToInfo.keys():
                written = datetime(*archive.getinfo(HEADER).date_time)
                yield (
                    _header(bounded_member(archive, HEADER, MOST_BYTES_OF_A_HEADER)),
                    _summaries(archive, [SUMMARIES], size),
                    written,
                )
                return
        with ZipFile(file) as archive:
            yield _unfinished_header(path, archive), _summaries(archive, _journal(archive), size), None


def _summaries(archive: ZipFile, names: list[str], size: int) -> Iterator[SampleSummary]:
    for name in names:
        with archive.open(name) as member:
            yield from decode_summaries(member, max(MOST_BYTES, MOST_TIMES * size))


def _journal(archive: ZipFile) -> list[str]:
    """Return the members of the log of a run that has not finished that hold summaries, in the order of writing."""
    if SUMMARIES in archive.NameToInfo:
        return [SUMMARIES]
    numbers = {int(match[1]): match[0] for match in map(_JOURNAL.fullmatch, archive.NameToInfo) if match}
    return [numbers[number] for number in sorted(numbers)]


_JOURNAL = re.compile(r"_journal/summaries/(\d{1,9})\.json")


def _unfinished_header(path: str, archive: ZipFile) -> LogHeader:
    """Return what the log of a run that has not finished tells of it."""
    for name in archive.NameToInfo:
        if not name.startswith(("samples/", "_journal/summaries/")) and name != SUMMARIES:
            refuse_large_header(bounded_member(archive, name, MOST_BYTES_OF_A_HEADER))
    from confidence_tasks.logs.validated import unfinished_header

    return unfinished_header(path)


def _summary(text: Raw) -> SampleSummary:
    from confidence_tasks.logs.validated import validated_sample

    sample = validated_sample(text, _NOT_IN_SUMMARIES, MOST_MARKS_OF_A_HEADER)
    return convert(sample.summary().model_dump(), SampleSummary)


_NOT_IN_SUMMARIES = frozenset(
    {"attachments", "error_retries", "events", "messages", "output", "store", "timelines", "transcript"}
)
"""Fields of samples that summaries do not need."""


def _last_members(file: IO[bytes]) -> IO[bytes]:
    """Return an archive of the last members of a log, among them header and summaries; the whole log if that fails.

    :class:`~zipfile.ZipFile` makes an object for every member, and a log has a member for every sample: that would take
    as long as decoding most of the summaries.
    """
    directory_start = archive_directory(file)
    if not directory_start:
        return file
    file.seek(directory_start)
    directory = file.read()
    *counts, size, _, _ = ARCHIVE_END.unpack(directory[-ARCHIVE_END.size :])
    entries = [_entry(directory[:size], name) for name in (HEADER, SUMMARIES)]
    first, start = min(position for position, _ in entries), min(offset for _, offset in entries)
    if first < 0 or not 0 <= directory_start - start <= MOST_BYTES:
        return file
    file.seek(start)
    members = file.read(directory_start - start)
    end = ARCHIVE_END.pack(*counts, size - first, directory_start, 0)
    return BytesIO(members + directory[first:size] + end)


def _entry(directory: bytes, name: str) -> tuple[int, int]:
    """Return the position of a member's last entry in the directory of an archive, and of the member; -1 if unclear."""
    position = directory.rfind(name.encode()) - _ENTRY.size
    if position < 0:
        return -1, -1
    signature, length, offset = _ENTRY.unpack_from(directory, position)
    return (position, offset) if signature == b"PK\1\2" and length == len(name) else (-1, -1)


_ENTRY = struct.Struct("<4s24xH12xL")
"""An entry of a zip archive's directory up to the name: signature, length of the name, position of the member."""


def _header(text: bytes, form: Literal["eval", "json"] = "eval") -> LogHeader:
    refuse_large_header(text)
    if header := current_header(text):
        return header
    from confidence_tasks.logs.validated import validated_header

    return validated_header(text, form)


def decode_summaries(file: IO[bytes], most: int = MOST_BYTES) -> Iterator[SampleSummary]:
    """Yield the elements of a JSON array of summaries, decoded in pieces so that memory stays bounded.

    Raises
    ------
    NotTrialsError
        If the file has more than ``most`` bytes, or is mostly brackets.
    ValueError, msgspec.ValidationError
        If it is not an array of summaries.
    """
    text, n_bytes = bytearray(), 0
    while piece := file.read(max(PIECE, len(text))):
        text += piece
        n_bytes += len(piece)
        refuse_brackets(text)
        if n_bytes > most:
            raise NotTrialsError(
                f"the summaries of its samples take more than {most >> 20} MiB unpacked, which is more than Inspect"
                " writes for a log of this size: copy it again from where it was written"
            )
        # No JSON string holds these bytes, as quotation marks are escaped. Metadata may hold an object with both keys:
        # then the text before it does not decode, and is tried again when twice as much has been read.
        start = text.rfind(b'{"id":', 0, max(text.rfind(b'"epoch":'), 0))
        comma = text.rfind(b",", 0, max(start, 0))
        if comma > 0 and not text[comma + 1 : start].strip():
            with suppress(ValueError, MsgspecError):
                yield from decoded(text[:comma] + b"]", _SUMMARIES)
                text[: comma + 1] = b"["
    yield from decoded(text, _SUMMARIES)


PIECE = 1 << 19
"""Minimum number of bytes that are decoded at a time."""
