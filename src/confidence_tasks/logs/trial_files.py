"""The trials read from a file, with their provenance, the settings of the model, and the trials left out."""

from __future__ import annotations

import gc
import json
import re
import struct
import textwrap
from collections import Counter
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

from confidence_tasks.sources.clusters import cluster_of
from confidence_tasks.study.definition import BINARY, Domain, Study, short_repr
from confidence_tasks.study.stage import TOKENS
from confidence_tasks.study.trial import RULES, STATUSES

QUESTION, PROMPT = DIGESTS = ("question_digest", "prompt_digest")
"""Columns with digests of the question and of its prompt, as one id may stand for several questions."""


@dataclass(frozen=True, slots=True)
class TrialFile:
    """Trials of one study by one model, from one file.

    Attributes
    ----------
    path : str
        Path or address of the file.
    study, design : str
        Name of the study, and of its task.
    model : str
        Name of the model in the file.
    columns : mapping of str to ndarray
        The study's trial record, and ``sample_id``, ``epoch``, ``subject``, ``cluster``, ``question_digest`` and
        ``prompt_digest``, one value per trial. Texts are empty where they are unknown. ``input_tokens``,
        ``output_tokens`` and ``reasoning_tokens`` are NaN where the harness does not record them.
    created : str
        Start of the run, in ISO 8601; empty if unknown.
    lost : int
        Number of samples without a trial: those that failed, were not finished, or were never asked. Samples that were
        skipped because the run stopped early are not lost.
    lost_by : mapping of str to int
        Of the samples without a trial, the number that each limit of a sample ended, by the name of the limit.
    why_lost : mapping of str to int
        Number of samples without a trial by the reason why a call has no reply, where the file tells it.
    versions : mapping of str to str
        Versions of the packages and of the task that the run used.
    setup : mapping of str to str
        Settings that may change a reply. Names begin with their origin, such as ``task.seed`` and ``generation.seed``
        (see :data:`ORIGINS`).
    provenance : mapping of str to str
        Version of the task, and revision of the data by source, where the file has them. Unlike in ``setup``, a
        missing value is compatible with any other.
    status : str
        Status of the run in the harness; empty if unknown.
    rescored : str
        Time when the replies were read again, in ISO 8601; empty if they were not.
    changed : str
        Time of the latest rescoring, edit or invalidation, in ISO 8601; empty if there was none.
    written : str
        Time when the file was written, in ISO 8601 and local time; empty if unknown.
    edited : int
        Number of samples whose scores were edited by hand.
    invalidated : tuple of (str, int)
        Id and epoch of the samples that were invalidated. They count neither here nor in earlier copies of the run.
    is_log : bool
        Whether Inspect's viewer can open the file.
    run : str
        Identifier that a run shares with the runs that resume it; empty if unknown.
    left_out : tuple of str
        Sentences that say which trials of the file do not count, and why.
    from_cache : str
        How many replies were read from the cache of an earlier run, and of which date; empty if none were.
    refused : tuple of str
        Sentences that say which parameters a server refused, and what was sent instead.
    stopped : int
        Number of samples that were skipped because the run stopped early.
    planned : tuple of str
        Ids of the samples in the order in which they were to be asked, without those that were skipped; empty if the
        order is unknown.
    """

    path: str
    study: str
    design: str
    model: str
    columns: Mapping[str, NDArray[Any]]
    created: str = ""
    lost: int = 0
    lost_by: Mapping[str, int] = field(default_factory=dict)
    why_lost: Mapping[str, int] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    setup: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=dict)
    status: str = ""
    rescored: str = ""
    changed: str = ""
    written: str = ""
    edited: int = 0
    invalidated: tuple[tuple[str, int], ...] = ()
    is_log: bool = False
    run: str = ""
    left_out: tuple[str, ...] = ()
    from_cache: str = ""
    refused: tuple[str, ...] = ()
    stopped: int = 0
    planned: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.columns["question_id"])

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of the task that may change a reply or a trial, by name."""
        prefix = "task."
        return {key.removeprefix(prefix): v for key, v in self.setup.items() if key.startswith(prefix)}


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was skipped, wholly or in part, and the reason."""

    path: str
    reason: str


class NotTrialsError(ValueError):
    """A file holds no trials of a known study; the message says why."""


def decoded(text: bytes | bytearray, decoder: Decoder[T]) -> T:
    """Decode JSON with msgspec, which builds only the fields of the decoder's type; NaN becomes None.

    Text that msgspec refuses and Python's `json` module accepts, such as an infinity, is decoded by `json.loads`.
    """
    with suppress(MsgspecError, UnicodeDecodeError):
        return decoder.decode(text)
    try:
        return decoder.decode(_NAN.sub(b"null", text))
    except (MsgspecError, UnicodeDecodeError):
        return convert(json.loads(text), decoder.type)


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Disable garbage collection, which takes a third of the time of reading; trials have no reference cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


T = TypeVar("T")
_NAN = re.compile(rb'NaN(?:(?<=\w":NaN)|(?<=\w": NaN))(?=[,}])')
"""NaN as the value of a field. Inside a text, the quotation mark before the colon has a backslash."""

SHARED = ("subject", "cluster")
"""Columns with what a question shares with others; empty if the file does not have it."""

EXTRA_TEXTS = (*DIGESTS, *SHARED, RULES, "sample_id")
EXTRA_COLUMNS = (*EXTRA_TEXTS, "epoch")
"""Columns of trials that are not part of the record."""


def trial_columns(
    study: Study, values: Mapping[str, Sequence[Any]], where: Callable[[int], str] | None = None
) -> tuple[dict[str, NDArray[Any]], tuple[str, ...]]:
    """Return the valid trials as columns of the study's record, and sentences on the trials left out.

    Parameters
    ----------
    values : mapping of str to sequence
        Columns as read; ``epoch`` is required. Missing columns and values become NaN or empty strings. Columns that the
        condition determines, such as the penalty, are set from the condition.
    where : callable, optional
        Returns the place in the file of a trial by its number; by default its sample.

    Returns
    -------
    columns : dict of str to ndarray
        The columns of the valid trials.
    left_out : tuple of str
        For each column with faults, a sentence with the number of trials left out, their places, and the reason.

    Raises
    ------
    NotTrialsError
        If no trial is valid.
    """
    faults: dict[int, tuple[str, str]] = {}
    n_trials = len(values["epoch"])
    columns = dict(_columns_of_record(study, values, faults))
    for key, found in _faults_between_columns(study, columns):
        _note(faults, key, found)
    _note(faults, "condition", _set_condition_columns(study, columns))
    missing = [None] * n_trials
    for key in EXTRA_TEXTS:
        columns.setdefault(key, _texts(values.get(key, missing))[0])
    _add_clusters(columns)
    for key in TOKENS:
        columns.setdefault(key, _numbers(values.get(key, missing))[0])
    epochs, wrong = _numbers(values["epoch"])
    _note(faults, "epoch", wrong)
    _note(faults, "epoch", _EPOCH.faults(epochs))
    names = columns["sample_id"]
    left_out = _sentences(faults, where or (lambda row: f"sample {names[row]}"), n_trials)
    if len(faults) == n_trials:
        raise NotTrialsError("; ".join(left_out) or "it holds no trials")
    is_valid = np.ones(n_trials, dtype=bool)
    is_valid[list(faults)] = False
    columns["epoch"] = np.where(is_valid & ~np.isnan(epochs), epochs, 1.0).astype(np.int64)
    return {key: column[is_valid] for key, column in columns.items()} if faults else columns, left_out


def _note(faults: dict[int, tuple[str, str]], key: str, found: Iterable[tuple[int, str]]) -> None:
    """Add the faults of a column; a trial keeps its first fault."""
    for row, fault in found:
        faults.setdefault(row, (key, fault))


def _columns_of_record(
    study: Study, values: Mapping[str, Sequence[Any]], faults: dict[int, tuple[str, str]]
) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the columns of a study's record by name, and note the values that are not of its type or domain."""
    missing = [None] * len(values["epoch"])
    for key, kind in study.column_types.items():
        column, wrong = (_numbers if kind is float else _texts)(values.get(key, missing))
        _note(faults, key, wrong)
        domain = study.domains.get(key) or _COMMON.get(key) or Domain()
        _note(faults, key, domain.faults(column))
        yield key, column


def _add_clusters(columns: Mapping[str, NDArray[Any]]) -> None:
    """Add the clusters that follow from the identifiers of the questions."""
    for row in np.flatnonzero(columns["cluster"] == "").tolist():
        columns["cluster"][row] = cluster_of(columns["source"][row], columns["question_id"][row])


def shared_by(trial: Mapping[str, Any], metadata: Any) -> tuple[str, str]:
    """Return the subject and the cluster of a question, from its trial and the metadata of its sample.

    The cluster of a log of an earlier version follows from the question or its passage, if the log has it.
    """
    subject, cluster, *texts = (
        value if isinstance(value, str) else ""
        for value in (metadata.subject, metadata.cluster, metadata.question, metadata.passage)
    )
    return subject, cluster or cluster_of(str(trial.get("source")), str(trial.get("question_id")), *texts)


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


def _set_condition_columns(study: Study, columns: dict[str, NDArray[Any]]) -> Iterator[tuple[int, str]]:
    """Set the columns that the condition determines; yield the trials with an unknown condition."""
    for condition in dict.fromkeys(columns["condition"]):
        rows = np.flatnonzero(columns["condition"] == condition).tolist()
        try:
            for key, value in study.condition_rules.columns(condition).items():
                columns[key][rows] = value
        except ValueError as error:
            yield from (
                (row, f"is {short_repr(condition)}, which is no condition of the study: {error}")
                for row in rows
            )


_PLACES = 5
"""Maximum number of places that a sentence on left-out trials lists."""


def _sentences(
    faults: Mapping[int, tuple[str, str]], where: Callable[[int], str], n_trials: int
) -> tuple[str, ...]:
    """Return, for each column with faults, how many trials are left out, their places, and the reason."""
    sentences = []
    for key in dict.fromkeys(key for key, _ in faults.values()):
        rows = sorted(row for row, (column, _) in faults.items() if column == key)
        places = [where(row)[:80] for row in rows[:_PLACES]]
        if len(rows) > _PLACES:
            places.append(f"{len(rows) - _PLACES} more")
        count = f"{len(rows)} of {n_trials} trials {'does' if len(rows) == 1 else 'do'} not count"
        sentences.append(f"{count} ({', '.join(places)}): {key} {faults[rows[0]][1]}")
    return tuple(sentences)


def provenance_of(task_version: str, revisions: Mapping[str, Any]) -> dict[str, str]:
    """Return the version of the task and the revisions of its data, where they are known.

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
"""Domains of columns that studies share."""

_EPOCH = Domain(1.0, 1e9)


def _numbers(values: Sequence[Any]) -> tuple[NDArray[Any], list[tuple[int, str]]]:
    """Return values as numbers, NaN where one is missing, and the rows of other values with their faults."""
    with suppress(TypeError, ValueError, OverflowError):
        numbers = np.array(values, dtype=np.float64)
        if numbers.ndim == 1:
            return numbers, []
    numbers, faults = np.full(len(values), np.nan), []
    for row, value in enumerate(values):
        try:
            numbers[row] = np.nan if value is None or value == "" else float(value)
        except (TypeError, ValueError, OverflowError):
            faults.append((row, f"is {short_repr(value)}, which is not a number"))
    return numbers, faults


def _texts(values: Sequence[Any]) -> tuple[NDArray[Any], list[tuple[int, str]]]:
    """Return values as texts, empty where one is missing, and the rows of lists and mappings with their faults.

    NULs and lone surrogates, which JSON can contain and other files cannot, are replaced. Equal texts are one object,
    as most columns have few distinct texts, and runs of several models share identifiers and digests.
    """
    texts, faults = list(values), []
    if not {*map(type, texts)} <= {str}:
        for row, value in enumerate(values):
            if type(value) is not str:
                texts[row], fault = _as_text(value)
                faults += [(row, fault)] if fault else []
    joined = "".join(texts)
    if "\0" in joined or not joined.isascii():
        texts = [text.encode(errors="replace").decode().replace("\0", "\ufffd") for text in texts]
    array = np.empty(len(texts), dtype=object)
    array[:] = [*map(intern, texts)]
    return array, faults


def _as_text(value: Any) -> tuple[str, str]:
    """Return a value as text, empty if it is missing, and its fault, empty if it has none."""
    if np.ndim(value) or isinstance(value, Mapping):
        return str(value), f"is {short_repr(value)}, which is not text"
    return "" if value is None or value != value else str(value), ""


ARCHIVE_END = struct.Struct("<4s4H2LH")
"""End record of a zip archive without a comment: the signature first, the offset of the directory last but one."""


def archive_directory(file: IO[bytes]) -> int:
    """Return the offset of the directory of a zip archive; 0 if it cannot be found.

    The directory has a checksum of every member, and about a hundredth of the size of a log.
    """
    size = file.seek(0, SEEK_END)
    file.seek(max(0, size - ARCHIVE_END.size))
    end = file.read()
    if len(end) < ARCHIVE_END.size or not end.startswith(b"PK\5\6"):
        return 0
    offset: int = ARCHIVE_END.unpack(end)[-2]
    file.seek(min(offset, size))
    return offset if file.read(4) == b"PK\1\2" else 0


# Settings of the model and digests of prompts, without secrets --------------------------------------------------------


ORIGINS = ("task", "generation", "model", "role", "harness", "solver")
"""Prefixes of settings, by what they belong to, so that settings of the same name from two origins stay apart."""

UNKNOWN_RUN = "harness.run"
"""Setting of a run whose other settings are unknown: its time, so that no other run is pooled with it."""

FALLBACK = "model.fallback"
"""Setting of samples that another model than the requested one answered: the name of that model."""

_IRRELEVANT = frozenset(
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
"""Settings of generation and of models that do not change a reply."""

_SECRET = re.compile(
    r"key|password|passwd|secret|credential|authorization|cookie|(?:^|[_.-])token$", re.IGNORECASE
)
"""Names of parameters that may hold a secret; ``max_tokens`` does not match."""

_HEADERS = re.compile("header", re.IGNORECASE)
"""Names of parameters that hold headers of requests. A header may change a reply and may be a secret of any name."""

_HARMLESS = re.compile(r"True|False|None|\d{1,4}", re.IGNORECASE)
"""Values that are never secret: ``add_bos_token=True`` and ``num_key_value_heads=8`` may change replies."""

_SHOWN, _SCANNED, _PROMPT, _CHOICES = 1_024, 8_192, 5_120, 600
"""Numbers of characters of a question, a message and the choices in Inspect's summary of a sample.

Texts from all files are cut to these lengths before they are compared.
"""

_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)


def setup_of(origin: str, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings of one origin that may change a reply, as texts without secrets.

    Examples
    --------
    >>> setup_of("generation", {"max_tokens": 64, "timeout": 30, "extra_body": {"api_key": "sk-1", "top_k": 5}})
    {'generation.max_tokens': '64', 'generation.extra_body': "{'top_k': '5'}"}
    >>> setup_of("model", {"base_url": "https://me:hunter2@example.org/v1?api_key=sk-1", "token": "hf_abc"})
    {'model.base_url': 'https://example.org/v1'}
    """
    irrelevant = _IRRELEVANT if origin.rpartition(".")[2] in ("generation", "model") else frozenset[str]()
    texts = without_secrets({key: value for key, value in parameters.items() if key not in irrelevant})
    return {f"{origin}.{key}": text for key, text in texts.items()}


def setting_names(keys: Iterable[str]) -> dict[str, str]:
    """Return a name for each setting: without its origin, if no other setting has this name.

    Examples
    --------
    >>> setting_names(["task.seed", "generation.seed", "generation.temperature"])
    {'task.seed': 'task.seed', 'generation.seed': 'generation.seed', 'generation.temperature': 'temperature'}
    """
    short = {key: _without_origin(key) for key in keys}
    counts = Counter(short.values())
    return {key: name if counts[name] == 1 else key for key, name in short.items()}


def _without_origin(key: str) -> str:
    origin, _, name = key.partition(".")
    return name if origin in ORIGINS and name else key


def short_value(value: str) -> str:
    """Return the value of a setting for a label; the end of a long one is replaced by a digest of the whole.

    Examples
    --------
    >>> short_value("high"), len(short_value("You are a careful assistant. " * 100))
    ('high', 48)
    """
    return value if len(value) <= _SHORT else f"{value[: _SHORT - 10]}… {digest(value)[:8]}"


_SHORT = 48
"""Maximum number of characters of a value in a label."""


def without_secrets(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return parameters as texts, without those that may hold a secret, in nested mappings and lists, too.

    Addresses lose their user, password and fragment, and a digest replaces their query. Headers are given as a digest
    of those whose names are not of secrets.
    """
    texts = {}
    for key, value in parameters.items():
        if _SECRET.search(str(key)) and not _HARMLESS.fullmatch(str(value)):
            continue
        text = _headers(value) if _HEADERS.search(str(key)) else _text(value)
        if text:
            texts[str(key)] = text
    return texts


def _headers(headers: Any) -> str:
    """Return a digest of headers; empty if all may be secrets."""
    if not isinstance(headers, Mapping):
        return digest(str(headers))[:8] if headers else ""
    relevant = without_secrets(headers)
    return digest(repr(sorted(relevant.items())))[:8] if relevant else ""


def digest(*texts: str) -> str:
    """Return a short digest of texts, the same on every machine.

    Examples
    --------
    >>> digest("a", "b") == digest("a", "b") != digest("ab")
    True
    """
    return blake2b("\x1f".join(texts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def question_digest(text: Any, choices: Any) -> str:
    """Return a digest of a question's text and its options in any order; empty if the text is unknown.

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


@lru_cache(maxsize=1024)  # consecutive samples often ask the same question
def _question_digest(text: str, *options: str) -> str:
    plain = " ".join(text[:_SCANNED].split())
    if len(plain) > _SHOWN:
        plain = textwrap.shorten(plain, _SHOWN, placeholder="...")
    return digest(plain, *(sorted(options) if sum(map(len, options)) <= _CHOICES else ()))


def prompt_digest(messages: str | Iterable[tuple[str, Any]]) -> str:
    """Return a digest of a prompt: a user's message, or pairs of a role and its text or contents.

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
        return str(dict(sorted(without_secrets(value).items())))
    if isinstance(value, list | tuple):
        return str([_text(each) for each in value])
    return _URL.sub(lambda match: _address(match[0]), str(value))


def _address(url: str) -> str:
    """Return an address without possible credentials: its user, password and fragment; a digest replaces its query."""
    try:
        parts = urlsplit(url)
        query = without_secrets(dict(parse_qsl(parts.query, keep_blank_values=True)))
    except ValueError:
        return f"{url.partition('://')[0]}://?{digest(url)[:8]}"
    query_digest = f"?{digest(repr(sorted(query.items())))[:8]}" if query else ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}{query_digest}"
