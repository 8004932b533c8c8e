"""The JSON of Inspect logs: its parts, undecoded, and bounds on what they may hold.

A damaged or hostile log must not exhaust the memory.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress

import fsspec
import numpy as np
from msgspec import MsgspecError, Raw, Struct
from msgspec.json import Decoder, encode

from confidence_tasks.logs.decoding import decoded
from confidence_tasks.logs.trial_files import NotTrialsError


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


HEADER = "header.json"
"""The member of a finished log that holds its header."""

MOST_DIGITS = 4_300
MOST_LEVELS = 1_000
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


def json_parts(path: str) -> tuple[bytes, list[Raw]]:
    """Return the header of a log in JSON, and its samples undecoded; NotTrialsError for other JSON."""
    with fsspec.open(path, "rb") as file:
        parts = json_fields(file.read())
    if "eval" not in parts:
        raise NotTrialsError(NO_LOG)
    samples = _elements(bytes(parts.pop("samples", _NULL)))
    parts.pop("reductions", None)
    if (results := bytes(parts.get("results", _NULL))).startswith(b"{"):
        kept = {name: value for name, value in json_fields(results).items() if name != "sample_reductions"}
        parts["results"] = Raw(encode(kept))
    return encode(parts), samples


def json_fields(text: bytes) -> dict[str, Raw]:
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


def refuse_many_values(sample: bytes, most: int) -> None:
    """Raise NotTrialsError for a sample of more than ``most`` values."""
    if _marks(_STRING.sub(b"", sample)) > most:
        raise NotTrialsError(f"one of its samples holds more than {most:,} values")


def refuse_large_header(text: bytes) -> None:
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


def refuse_brackets(text: bytes | bytearray) -> None:
    """Raise NotTrialsError for JSON that is mostly lists and objects."""
    most = max(FEW_CONTAINERS, len(text) / BYTES_A_CONTAINER)
    if _containers(text) > most and _containers(_STRING.sub(b"", text)) > most:
        raise NotTrialsError("the summaries of its samples hold little but brackets")


def _containers(text: bytes | bytearray) -> int:
    """Return the number of opening brackets of lists and objects in a JSON text, including those within strings."""
    letters = np.frombuffer(text, dtype=np.uint8)
    return int(np.count_nonzero(letters | (ord("[") ^ ord("{")) == ord("{")))  # they differ in one bit
