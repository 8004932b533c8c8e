"""Parts of Inspect logs that Inspect itself reads and validates.

Validation takes a thousand bytes and more for each value in an unexpected place, so a text is counted before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from io import BytesIO
from typing import Literal
from zipfile import ZipFile

import fsspec
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from msgspec import Raw
from msgspec.json import encode

from confidence_tasks.logs.archives import bounded_member
from confidence_tasks.logs.log_header import LogHeader, decode_header
from confidence_tasks.logs.log_json import (
    HEADER,
    MOST_BYTES_OF_A_SAMPLE,
    MOST_MARKS_OF_A_SAMPLE,
    MOST_MARKS_WITH_EVENTS,
    json_fields,
    json_parts,
    refuse_many_values,
)


def validated_header(text: bytes, form: Literal["eval", "json"]) -> LogHeader:
    """Return the header of a log of any version."""
    return _as_header(_read(text, form))


def unfinished_header(path: str) -> LogHeader:
    """Return what the log of a run that has not finished tells of it."""
    return _as_header(read_eval_log(path, header_only=True))


def whole_header(path: str) -> EvalLog:
    """Return every field of the header of a log on this machine, of which no part is too large."""
    if path.endswith(".json"):
        return _read(json_parts(path)[0], "json")
    with ZipFile(path) as archive:
        if HEADER in archive.NameToInfo:
            return _read(archive.read(HEADER), "eval")
    return read_eval_log(path, header_only=True)


def _read(text: bytes, form: Literal["eval", "json"]) -> EvalLog:
    """Return a header that is read by Inspect from a log that holds nothing else."""
    if form == "json":
        return read_eval_log(BytesIO(text), header_only=True, format="json")
    log = BytesIO()
    with ZipFile(log, "w") as archive:
        archive.writestr(HEADER, text)
    return read_eval_log(log, header_only=True, format="eval")


def _as_header(log: EvalLog) -> LogHeader:
    return decode_header(log.model_dump_json(exclude_none=True).encode())


def validated_sample(text: bytes | Raw, without: Collection[str], most: int) -> EvalSample:
    """Return a sample without some fields; NotTrialsError for one of more than ``most`` values."""
    kept = encode({name: value for name, value in json_fields(bytes(text)).items() if name not in without})
    refuse_many_values(kept, most)
    return EvalSample.model_validate_json(kept)


def whole_samples(path: str, without: Collection[str]) -> Iterator[EvalSample]:
    """Yield the samples of a log without some fields, one at a time."""
    for text in _sample_texts(path):
        yield validated_sample(text, without, MOST_MARKS_OF_A_SAMPLE)


def refuse_large_samples(path: str) -> None:
    """Raise NotTrialsError for a log with a sample whose validation would exhaust the memory."""
    for text in _sample_texts(path):
        refuse_many_values(bytes(text), MOST_MARKS_WITH_EVENTS)


def _sample_texts(path: str) -> Iterator[bytes | Raw]:
    if path.endswith(".json"):
        yield from json_parts(path)[1]
        return
    with fsspec.open(path, "rb") as file, ZipFile(file) as archive:
        for name in archive.NameToInfo:
            if name.startswith("samples/"):
                yield bounded_member(archive, name, MOST_BYTES_OF_A_SAMPLE)
