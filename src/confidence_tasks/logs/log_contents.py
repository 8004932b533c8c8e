"""Header and samples of Inspect logs, read with memory that a damaged or hostile log cannot exhaust.

Inspect validates logs with pydantic, which takes a thousand bytes and more for each value in an unexpected place. So a
text is counted before Inspect validates it, and only those parts of a log are validated that are needed.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from io import BytesIO
from os import SEEK_END
from typing import IO, Any, Literal
from zipfile import ZipFile

import fsspec
import numpy as np
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from msgspec import MsgspecError, Raw, Struct, convert
from msgspec.json import Decoder, encode

from confidence_tasks.logs.archives import ARCHIVE_END, archive_directory
from confidence_tasks.logs.decoding import decoded
from confidence_tasks.logs.trial_files import NotTrialsError

HEADER, SUMMARIES = "header.json", "summaries.json"
"""The members of a finished log that hold its header and the summaries of its samples."""


def refuse_unbounded(path: str) -> None:
    """Raise NotTrialsError for a JSON log with a number or a nesting beyond the limits of Python's own parser.

    Inspect reads JSON logs with ijson on yajl, which has no such limits: a number of any length, or deep nesting, would
    exhaust the memory.
    """
    if not path.endswith(".json"):
        return
    with fsspec.open(path, "rb") as file:
        bare = _STRING.sub(b"", file.read())
    if _ENDLESS_NUMBER.search(bare):
        raise NotTrialsError(f"it holds a number of more than {MOST_DIGITS} digits")
    if _depth(bare) > MOST_LEVELS:
        raise NotTrialsError(f"it is nested more than {MOST_LEVELS} levels deep")


def _depth(bare: bytes) -> int:
    """Return the depth of nesting of a JSON text whose strings were removed."""
    characters = np.frombuffer(bare, dtype=np.uint8)
    steps = np.isin(characters, (ord("["), ord("{"))).astype(np.int8)
    steps -= np.isin(characters, (ord("]"), ord("}")))
    return int(np.cumsum(steps, dtype=np.int64).max(initial=0))


MOST_DIGITS = 4_300
MOST_LEVELS = 1_000
MOST_BYTES, MOST_TIMES = 1 << 30, 10
"""Maximum size of the unpacked summaries of a log: this many bytes, or this many times the size of the log if larger.

A zip bomb exceeds it. The summaries of 100,000 samples take 0.4 GB, at most twice the size of the packed log.
"""

BYTES_A_CONTAINER = 32
"""Minimum number of bytes of text for each list or object.

A Python object takes 20 times the memory of its brackets, so a text of brackets alone would exhaust the memory. Real
logs have about 100 bytes for each.
"""

FEW_CONTAINERS = 1_000
"""Number of lists and objects that any text may hold, however short."""

MOST_BYTES_OF_A_HEADER = 1 << 26
MOST_BYTES_OF_A_SAMPLE = 1 << 28
"""Maximum size of an unpacked header, and of a sample."""

MOST_MARKS_OF_A_HEADER = 100_000
MOST_MARKS_OF_A_SAMPLE = 1_000_000
"""Maximum number of commas, colons and opening brackets in what Inspect validates of a header, and of a sample.

There is one for each value, which may take 5,000 bytes. Headers have about 2,000, without the ids of their samples. A
sample with 4,000 tokens, each with 20 alternatives, has 600,000.
"""

MOST_MARKS_WITH_EVENTS = 4 * MOST_MARKS_OF_A_SAMPLE
"""The same for a sample with its events, which repeat every reply up to three times."""

_ENDLESS_NUMBER = re.compile(rb"\d{%d}" % (MOST_DIGITS + 1))
# Possessive quantifiers, and a string may end with the file: the time is linear in the size of any file.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)


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
def opened(path: str) -> Iterator[tuple[EvalLog, Iterator[SampleSummary], datetime | None]]:
    """Yield the header of a log, an iterator over the summaries of its samples, and the local time of writing if known.

    Only the needed fields of summaries are decoded, a hundred times faster than by Inspect's reader, which validates
    and shortens every text again.
    """
    if path.endswith(".json"):
        header, samples = _json_parts(path)
        yield _header(header, "json"), map(_summary, samples), None
        return
    with fsspec.open(path, "rb") as file:
        size = file.seek(0, SEEK_END)
        with ZipFile(_last_members(file)) as archive:
            if {HEADER, SUMMARIES} <= archive.NameToInfo.keys():
                written = datetime(*archive.getinfo(HEADER).date_time)
                yield _header(_member(archive, HEADER)), _summaries(archive, [SUMMARIES], size), written
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


def _unfinished_header(path: str, archive: ZipFile) -> EvalLog:
    """Return what the log of a run that has not finished tells of it."""
    for name in archive.NameToInfo:
        if not name.startswith(("samples/", "_journal/summaries/")) and name != SUMMARIES:
            _refuse_large_header(_member(archive, name))
    return read_eval_log(path, header_only=True)


def _member(archive: ZipFile, name: str, most: int = MOST_BYTES_OF_A_HEADER) -> bytes:
    if archive.getinfo(name).file_size > most:
        raise NotTrialsError(f"its member {name} takes more than {most >> 20} MiB unpacked")
    return archive.read(name)


def _json_parts(path: str) -> tuple[bytes, list[Raw]]:
    """Return the header of a log in JSON, and its samples undecoded; NotTrialsError for other JSON."""
    with fsspec.open(path, "rb") as file:
        parts = _fields(file.read())
    if "eval" not in parts:
        raise NotTrialsError(NO_LOG)
    samples = _elements(bytes(parts.pop("samples", _NULL)))
    parts.pop("reductions", None)
    if (results := bytes(parts.get("results", _NULL))).startswith(b"{"):
        kept = {name: value for name, value in _fields(results).items() if name != "sample_reductions"}
        parts["results"] = Raw(encode(kept))
    return encode(parts), samples


def _fields(text: bytes) -> dict[str, Raw]:
    """Return the fields of a JSON object undecoded; NotTrialsError for any other JSON."""
    try:
        return _FIELDS.decode(text)
    except MsgspecError:  # NaN and infinities are not JSON
        parsed = json.loads(text)
    if not isinstance(parsed, dict):
        raise NotTrialsError(NO_LOG)
    return {name: Raw(json.dumps(value).encode()) for name, value in parsed.items()}


NO_LOG = "it is JSON, but neither a log of Inspect nor results of lm-eval"


def _elements(text: bytes) -> list[Raw]:
    """Return the elements of a JSON array undecoded; none for null."""
    try:
        return _RAWS.decode(text) or []
    except MsgspecError:
        return [Raw(json.dumps(value).encode()) for value in json.loads(text)]


_FIELDS, _RAWS = Decoder(dict[str, Raw]), Decoder(list[Raw] | None)
_NULL = Raw(b"null")


def _summary(text: Raw) -> SampleSummary:
    sample = _sample(text, _NOT_IN_SUMMARIES, MOST_MARKS_OF_A_HEADER)
    return convert(sample.summary().model_dump(), SampleSummary)


_NOT_IN_SUMMARIES = frozenset(
    {"attachments", "error_retries", "events", "messages", "output", "store", "timelines", "transcript"}
)
"""Fields of samples that summaries do not need."""


def _sample(text: bytes | Raw, without: Collection[str], most: int) -> EvalSample:
    fields = {name: value for name, value in _fields(bytes(text)).items() if name not in without}
    kept = encode(fields)
    if _marks(_STRING.sub(b"", kept)) > most:
        raise NotTrialsError(f"one of its samples holds more than {most:,} values")
    return EvalSample.model_validate_json(kept)


def whole_samples(path: str, without: Collection[str]) -> Iterator[EvalSample]:
    """Yield the samples of a log without some fields, one at a time."""
    for text in _sample_texts(path):
        yield _sample(text, without, MOST_MARKS_OF_A_SAMPLE)


def refuse_large_samples(path: str) -> None:
    """Raise NotTrialsError for a log with a sample whose validation would exhaust the memory."""
    for text in _sample_texts(path):
        if _marks(_STRING.sub(b"", bytes(text))) > MOST_MARKS_WITH_EVENTS:
            raise NotTrialsError(f"one of its samples holds more than {MOST_MARKS_WITH_EVENTS:,} values")


def _sample_texts(path: str) -> Iterator[bytes | Raw]:
    if path.endswith(".json"):
        yield from _json_parts(path)[1]
        return
    with fsspec.open(path, "rb") as file, ZipFile(file) as archive:
        for name in archive.NameToInfo:
            if name.startswith("samples/"):
                yield _member(archive, name, MOST_BYTES_OF_A_SAMPLE)


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


def _header(text: bytes, form: Literal["eval", "json"] = "eval") -> EvalLog:
    """Return the header of a log, read by Inspect from a log that holds nothing else."""
    _refuse_large_header(text)
    if form == "json":
        return read_eval_log(BytesIO(text), header_only=True, format="json")
    log = BytesIO()
    with ZipFile(log, "w") as archive:
        archive.writestr(HEADER, text)
    return read_eval_log(log, header_only=True, format="eval")


def _refuse_large_header(text: bytes) -> None:
    """Raise NotTrialsError for a header with more values than any run has, apart from the ids of its samples."""
    n_marks = _marks(_STRING.sub(b"", text))
    if n_marks > MOST_MARKS_OF_A_HEADER and n_marks - _n_ids(text) > MOST_MARKS_OF_A_HEADER:
        raise NotTrialsError(f"its header holds more than {MOST_MARKS_OF_A_HEADER:,} values")


def _marks(bare: bytes) -> int:
    """Return the number of commas, colons and opening brackets in a JSON text whose strings were removed."""
    return sum(map(bare.count, (b",", b":", b"[", b"{")))


class _Dataset(Struct, gc=False):
    sample_ids: list[str | int] | None = None


class _Spec(Struct, gc=False):
    dataset: _Dataset


class _Ids(Struct, gc=False):
    eval: _Spec


_IDS = Decoder(_Ids)


def _n_ids(text: bytes) -> int:
    """Return the number of ids of samples in a header; 0 if one is not a text or a number."""
    with suppress(ValueError, MsgspecError, RecursionError):
        return len(decoded(text, _IDS).eval.dataset.sample_ids or ())
    return 0


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
        _refuse_brackets(text)
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


def _refuse_brackets(text: bytes | bytearray) -> None:
    """Raise NotTrialsError for JSON that is mostly lists and objects."""
    most = max(FEW_CONTAINERS, len(text) / BYTES_A_CONTAINER)
    if _containers(text) > most and _containers(_STRING.sub(b"", text)) > most:
        raise NotTrialsError("the summaries of its samples hold little but brackets")


def _containers(text: bytes | bytearray) -> int:
    """Return the number of opening brackets of lists and objects in a JSON text, including those within strings."""
    letters = np.frombuffer(text, dtype=np.uint8)
    return int(np.count_nonzero(letters | (ord("[") ^ ord("{")) == ord("{")))  # they differ in one bit


PIECE = 1 << 19
"""Minimum number of bytes that are decoded at a time."""
