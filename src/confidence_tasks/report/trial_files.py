"""A file of trials as read: what it holds, where it comes from, how the model was asked, and what could not be read."""

from __future__ import annotations

import gc
import json
import re
import struct
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from os import SEEK_END
from sys import intern
from typing import IO, Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

import numpy as np
from msgspec import MsgspecError, convert
from msgspec.json import Decoder
from numpy.typing import NDArray

from confidence_tasks.study.definition import BINARY, Domain, Study, short_repr
from confidence_tasks.study.stage import TOKENS
from confidence_tasks.study.trial import STATUSES

QUESTION, PROMPT = DIGESTS = ("question_digest", "prompt_digest")
"""Columns that tell apart what was asked under one id: the question, and the messages that it was asked in."""


@dataclass(frozen=True, slots=True)
class TrialFile:
    """Trials of one study by one model, from one file.

    Attributes
    ----------
    path : str
        Where they were read.
    study, design : str
        Name of the study, and of the task that asked.
    model : str
        Name of the model as the file gives it.
    columns : mapping of str to ndarray
        The study's trial record, and ``sample_id``, ``epoch``, ``question_digest`` and ``prompt_digest``, one value a
        trial. The digests are empty where it is not known what was asked. ``input_tokens``, ``output_tokens`` and
        ``reasoning_tokens`` of its calls are NaN where the harness does not tell.
    created : str
        When the run started, in ISO 8601; empty if unknown.
    lost : int
        Samples without a trial: those that failed, were not finished, or were never asked.
    versions : mapping of str to str
        Versions of the packages and of the task that the run used.
    setup : mapping of str to str
        How the model was asked: parameters of the task, of the model and of generation.
    provenance : mapping of str to str
        Version of the task, and revision of the data by source, as far as the file says. Unlike in ``setup``, what one
        file does not say sets it apart from no other.
    status : str
        How the run ended, as the harness says; empty if unknown.
    rescored : str
        When the replies were read anew, in ISO 8601; empty if they were not.
    is_log : bool
        Whether Inspect's viewer can open the file.
    run : str
        What a run shares with those that resume it; empty if unknown.
    left_out : tuple of str
        Trials of the file that do not count, and why: a sentence for each reason.
    """

    path: str
    study: str
    design: str
    model: str
    columns: Mapping[str, NDArray[Any]]
    created: str = ""
    lost: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)
    setup: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=dict)
    status: str = ""
    rescored: str = ""
    is_log: bool = False
    run: str = ""
    left_out: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.columns["question_id"])


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not read, or the part of it that was not, and why."""

    path: str
    reason: str


class NotTrialsError(ValueError):
    """A file holds no trials of a known study; the message says what it holds instead."""


def decoded(text: bytes | bytearray, decoder: Decoder[T]) -> T:
    """Decode JSON as `json.loads` reads it, but for a number that is NaN, which is None.

    msgspec builds only what its type has a place for. What it refuses and JSON in Python's reading does not, such as an
    infinity, is decoded by `json.loads`.
    """
    with suppress(MsgspecError, UnicodeDecodeError):
        return decoder.decode(text)
    try:
        return decoder.decode(_NAN.sub(b"null", text))
    except (MsgspecError, UnicodeDecodeError):
        return convert(json.loads(text), decoder.type)


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Look for no cycles of objects meanwhile, of which trials have none: that takes a third of the time of reading."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


T = TypeVar("T")
_NAN = re.compile(rb'NaN(?:(?<=\w":NaN)|(?<=\w": NaN))(?=[,}])')
"""NaN after a name; within a text, the quotation mark would follow a backslash."""

EXTRA_COLUMNS = (*DIGESTS, "sample_id", "epoch")
"""Columns of trials that are not part of the record."""


def trial_columns(
    study: Study, values: Mapping[str, Sequence[Any]], where: Callable[[int], str] | None = None
) -> tuple[dict[str, NDArray[Any]], tuple[str, ...]]:
    """Return trials as columns of the study's record, without those that the record does not allow.

    What an older record lacks is NaN or the empty string, and so is a column that is not there; ``epoch`` must be.
    What the condition settles, such as the penalty, is what the condition says. ``where`` says where the trial with
    a number stands in the file; by default its sample. The second value returned says how many trials are left out,
    where they stand, and why: a sentence for each column that is wrong.

    Raises
    ------
    NotTrialsError
        If none is left.
    """
    faults: dict[int, tuple[str, str]] = {}

    def note(key: str, found: Iterable[tuple[int, str]]) -> None:
        for row, what in found:
            faults.setdefault(row, (key, what))

    n_trials = len(values["epoch"])
    missing = [None] * n_trials
    columns: dict[str, NDArray[Any]] = {}
    for key, kind in study.column_types.items():
        columns[key], wrong = (_numbers if kind is float else _texts)(values.get(key, missing))
        note(key, wrong)
        domain = study.domains.get(key) or _COMMON.get(key) or Domain()
        note(key, domain.faults(columns[key]))
    for key, found in _faults_between_columns(study, columns):
        note(key, found)
    note("condition", _settle(study, columns))
    for key in (*DIGESTS, "sample_id"):
        columns[key], _ = _texts(values.get(key, missing))
    for key in TOKENS:
        if key not in columns:
            columns[key], _ = _numbers(values.get(key, missing))
    epochs, wrong = _numbers(values["epoch"])
    note("epoch", wrong)
    note("epoch", _EPOCH.faults(epochs))
    names = columns["sample_id"]
    left_out = _sentences(faults, where or (lambda row: f"sample {names[row]}"), n_trials)
    if len(faults) == n_trials:
        raise NotTrialsError("; ".join(left_out) or "it holds no trials")
    kept = np.ones(n_trials, dtype=bool)
    kept[list(faults)] = False
    columns["epoch"] = np.where(kept & ~np.isnan(epochs), epochs, 1.0).astype(np.int64)
    return {key: column[kept] for key, column in columns.items()} if faults else columns, left_out


def _faults_between_columns(
    study: Study, columns: Mapping[str, NDArray[Any]]
) -> Iterator[tuple[str, Iterable[tuple[int, str]]]]:
    """Yield the faults of columns whose domain depends on another column, with the names of the columns."""
    for key, domain in study.domains.items():
        if other := domain.not_above:
            low, high = columns[key], columns[other]
            rows = np.flatnonzero((low > high) | (np.isnan(low) != np.isnan(high))).tolist()
            yield (
                f"{key} and {other}",
                [(row, f"are no interval: {low[row]:g} and {high[row]:g}") for row in rows],
            )
        if other := domain.binary_where:
            present = np.flatnonzero(~np.isnan(columns[other])).tolist()
            yield key, [(present[row], fault) for row, fault in BINARY.faults(columns[key][present])]


def _settle(study: Study, columns: dict[str, NDArray[Any]]) -> Iterator[tuple[int, str]]:
    """Set the columns that the condition settles; yield the trials whose condition is none of the study's."""
    for condition in dict.fromkeys(columns["condition"]):
        rows = np.flatnonzero(columns["condition"] == condition).tolist()
        try:
            for key, value in study.condition_columns(condition).items():
                columns[key][rows] = value
        except ValueError as error:
            yield from (
                (row, f"is {short_repr(condition)}, which is no condition of the study: {error}")
                for row in rows
            )


_PLACES = 5
"""Maximum number of left-out trials that are named one by one."""


def _sentences(
    faults: Mapping[int, tuple[str, str]], where: Callable[[int], str], n_trials: int
) -> tuple[str, ...]:
    """Say of each column that is wrong how many trials are left out, where they stand, and why."""
    sentences = []
    for key in dict.fromkeys(key for key, _ in faults.values()):
        rows = sorted(row for row, (column, _) in faults.items() if column == key)
        named = [where(row)[:80] for row in rows[:_PLACES]]
        others = [f"{len(rows) - _PLACES} more"] if len(rows) > _PLACES else []
        count = f"{len(rows)} of {n_trials} trials {'does' if len(rows) == 1 else 'do'} not count"
        sentences.append(f"{count} ({', '.join(named + others)}): {key} {faults[rows[0]][1]}")
    return tuple(sentences)


def provenance_of(task_version: str, revisions: Mapping[str, Any]) -> dict[str, str]:
    """Return what a run says of where its questions come from, by name; what it does not say is left out.

    Examples
    --------
    >>> provenance_of("1-A", {"mmlu": "0123456789abcdef", "arithmetic": ""})
    {'task version': '1-A', 'revision of mmlu': '01234567'}
    """
    known = {f"revision of {source}": str(commit)[:8] for source, commit in revisions.items() if commit}
    return {**({"task version": task_version} if task_version else {}), **known}


_SHARE = Domain(0.0, 1.0)
_COMMON: Mapping[str, Domain] = {
    **dict.fromkeys(("correct", "confidence", "token_correct", "token_confidence", "level", "mas"), _SHARE),
    "penalty": Domain(0.0),
    "question_id": Domain(required=True),
    "condition": Domain(required=True),
    "status": Domain(values=STATUSES, required=True),
}
"""Columns that every measure needs."""

_EPOCH = Domain(1.0, 1e9)


def _numbers(values: Sequence[Any]) -> tuple[NDArray[Any], list[tuple[int, str]]]:
    """Return numbers, NaN where there is none, and what is wrong with which of the values."""
    try:
        found = np.array(values, dtype=np.float64)
        if found.ndim == 1:
            return found, []
    except (TypeError, ValueError, OverflowError):
        pass
    found, wrong = np.full(len(values), np.nan), []
    for row, value in enumerate(values):
        try:
            found[row] = np.nan if value is None or value == "" else float(value)
        except (TypeError, ValueError, OverflowError):
            wrong.append((row, f"is {short_repr(value)}, which is no number"))
    return found, wrong


def _texts(values: Sequence[Any]) -> tuple[NDArray[Any], list[tuple[int, str]]]:
    """Return texts that any file and array can hold, and what is wrong with which of the values.

    JSON can spell NULs and halves of surrogate pairs. What is missing is the empty string. Equal texts are one object:
    most columns have few, and runs of several models share identifiers and digests.
    """
    texts, wrong = list(values), []
    if not {*map(type, texts)} <= {str}:
        for row, value in enumerate(values):
            if type(value) is not str:
                is_one = np.ndim(value) == 0 and not isinstance(value, Mapping)
                if not is_one:
                    wrong.append((row, f"is {short_repr(value)}, which is no text"))
                texts[row] = "" if is_one and (value is None or value != value) else str(value)
    every = "".join(texts)
    if "\0" in every or not every.isascii():
        texts = [text.encode(errors="replace").decode().replace("\0", "\ufffd") for text in texts]
    found = np.empty(len(texts), dtype=object)
    found[:] = [*map(intern, texts)]
    return found, wrong


ARCHIVE_END = struct.Struct("<4s4H2LH")
"""The end of a zip archive without a comment: a signature, and the place of the directory as the last but one."""


def archive_directory(file: IO[bytes]) -> int:
    """Return where the directory of a zip archive starts, which has a checksum of every member; 0 if that is unclear.

    It is a hundredth of a log.
    """
    size = file.seek(0, SEEK_END)
    file.seek(max(0, size - ARCHIVE_END.size))
    end = file.read()
    if len(end) < ARCHIVE_END.size or not end.startswith(b"PK\5\6"):
        return 0
    place: int = ARCHIVE_END.unpack(end)[-2]
    file.seek(min(place, size))
    return place if file.read(4) == b"PK\1\2" else 0


# How a model was asked: what may set two runs of it apart, without its secrets ---------------------------------------


_NO_MATTER = frozenset(
    {
        "adaptive_connections",
        "attempt_timeout",
        "batch",
        "cache",
        "cache_prompt",
        "max_connections",
        "max_retries",
        "stream_idle_timeout",
        "timeout",
    }
)
"""Parameters that do not change a model's replies."""

_SECRET = re.compile(
    r"key|password|passwd|secret|credential|header|authorization|(?:^|[_.-])token$", re.IGNORECASE
)
"""Names of parameters that may hold a secret; ``max_tokens`` holds none."""

_SWITCHES = ("True", "False", "None")
"""Values that are never secret: ``add_bos_token=True`` changes what a model says."""

_SHOWN, _SCANNED, _PROMPT, _CHOICES = 1_024, 8_192, 5_120, 600
"""How much of a question, of a message and of the choices Inspect keeps in the summary of a sample, in characters.

Texts are cut there before they are compared, whoever wrote them down.
"""

_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)


def setup_of(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return parameters as texts, but for those that do not matter and those that may hold a secret.

    Secrets are looked for in mappings and lists, too. An address loses its user, its password and its fragment, and a
    digest stands for its query.

    Examples
    --------
    >>> setup_of({"max_tokens": 64, "token": "hf_abc", "timeout": 30, "extra": {"api_key": "sk-1", "top_k": 5}})
    {'max_tokens': '64', 'extra': "{'top_k': '5'}"}
    >>> setup_of({"base_url": "https://me:hunter2@example.org/v1?api_key=sk-1"})
    {'base_url': 'https://example.org/v1'}
    """
    return {
        str(key): _text(value)
        for key, value in parameters.items()
        if key not in _NO_MATTER
        and (_SECRET.search(str(key)) is None or str(value).capitalize() in _SWITCHES)
    }


def digest(*texts: str) -> str:
    """Return a short digest of some texts, the same on every machine.

    Examples
    --------
    >>> digest("a", "b") == digest("a", "b") != digest("ab")
    True
    """
    return blake2b("\x1f".join(texts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def question_digest(text: Any, choices: Any) -> str:
    """Return a digest of a question's text and of its options in whatever order; empty if the text is not known.

    Examples
    --------
    >>> question_digest("Which one?", ["a", "b"]) == question_digest("Which  one?", ["b", "a"])
    True
    >>> question_digest("Which one?", ["a", "b"]) == question_digest("Which one?", ["a", "c"])
    False
    """
    if not isinstance(text, str) or not text:
        return ""
    return _question_digest(text, *map(str, choices) if isinstance(choices, (list, tuple)) else ())


@lru_cache(maxsize=1024)  # a question is asked under several conditions in a row
def _question_digest(text: str, *options: str) -> str:
    plain = " ".join(text[:_SCANNED].split())
    if len(plain) > _SHOWN:
        plain = textwrap.shorten(plain, _SHOWN, placeholder="...")
    return digest(plain, *(sorted(options) if sum(map(len, options)) <= _CHOICES else ()))


def prompt_digest(messages: str | Iterable[tuple[str, Any]]) -> str:
    """Return a digest of what a question was asked in: messages, each a role and a text or contents, or the user's.

    Examples
    --------
    >>> prompt_digest("How many?") == prompt_digest([("user", "How many?")])
    True
    """
    if isinstance(messages, str):
        return digest("user", messages[:_PROMPT])
    parts: list[str] = []
    for role, content in messages:
        parts.append(str(role))
        for part in (content,) if isinstance(content, str) else content:
            text = part if isinstance(part, str) else str(part.get("text", ""))
            parts.append(text[:_PROMPT])
    return digest(*parts)


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(setup_of(value))
    if isinstance(value, list | tuple):
        return str([_text(each) for each in value])
    return _URL.sub(lambda match: _address(match[0]), str(value))


def _address(url: str) -> str:
    """Return an address without what may be a credential: user, password, query and fragment."""
    try:
        parts = urlsplit(url)
        query = setup_of(dict(parse_qsl(parts.query, keep_blank_values=True)))
    except ValueError:
        return f"{url.partition('://')[0]}://?{digest(url)[:8]}"
    asked = f"?{digest(repr(sorted(query.items())))[:8]}" if query else ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}{asked}"
