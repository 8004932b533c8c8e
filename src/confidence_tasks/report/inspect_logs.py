"""Trials of Inspect logs, read from the summaries of the samples."""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from io import BytesIO
from operator import attrgetter
from os import SEEK_END
from typing import IO, Any, TypeAlias
from zipfile import ZipFile

import fsspec
import numpy as np
from inspect_ai.log import (
    EvalLog,
    EvalSpec,
    read_eval_log,
    read_eval_log_sample_summaries,
)
from inspect_ai.model import ModelConfig
from msgspec import MsgspecError, Struct, convert
from msgspec.json import Decoder
from numpy.typing import NDArray

from confidence_tasks.catalogue import studies, study_of_scores
from confidence_tasks.harness.correctness import BY_DEFAULT, Correctness
from confidence_tasks.harness.inspect.model_calls import effort_settings
from confidence_tasks.harness.inspect.viewer import is_sent, scored_trial
from confidence_tasks.harness.refusals import refusals_in
from confidence_tasks.report.benchmark_logs import benchmark_log, changes_of_prompt, task_of
from confidence_tasks.report.origins import Origins
from confidence_tasks.report.sample_changes import sample_changes
from confidence_tasks.report.trial_files import (
    ARCHIVE_END,
    EXTRA_COLUMNS,
    FALLBACK,
    NotTrialsError,
    TrialFile,
    archive_directory,
    decoded,
    prompt_digest,
    provenance_of,
    question_digest,
    setup_of,
    shared_by,
    trial_columns,
    without_garbage_collection,
)
from confidence_tasks.study.definition import Study
from confidence_tasks.study.stage import TOKENS

HEADER, SUMMARIES = "header.json", "summaries.json"
"""The members of a finished log that hold its header and the summaries of its samples."""


@without_garbage_collection()
def read_inspect_log(path: str, correct: Correctness = BY_DEFAULT) -> list[TrialFile]:
    """Read the trials of a log in either of Inspect's formats, finished or not, local or remote.

    A task that ran at several reasoning efforts gives one file of trials for each effort. ``correct`` says whether an
    answer to a task that no study asks is right.

    Raises
    ------
    NotTrialsError
        If no answer is right or wrong.
    """
    refuse_unbounded(path)
    with _opened(path) as (header, samples, written):
        return _read(path, header, samples, written, correct)


def _read(
    path: str,
    header: EvalLog,
    samples: Iterable[Summary],
    written: datetime | None,
    correct: Correctness,
) -> list[TrialFile]:
    study: Study | None = None
    rows: dict[_Way, dict[_SampleKey, tuple[Any, ...] | None]] = {}
    origins = Origins(header.eval.created)
    refused: dict[str, None] = {}
    limits: dict[tuple[str | None, _SampleKey], str | None] = {}
    for summary in samples:
        study = study or study_of_scores(summary.scores or {})
        metadata = summary.metadata or _NOTHING
        origins.add(metadata.origin)
        refused.update(dict.fromkeys(refusals_in(metadata.server_refusals)))
        # The later summary of a sample that ran twice replaces the first, in the same position.
        effort = metadata.effort if isinstance(metadata.effort, str) else None
        same_way = rows.setdefault((effort, _fallback(summary)), {})
        same_way[str(summary.id), summary.epoch] = _row(summary, study) if study else None
        limits[effort, (str(summary.id), summary.epoch)] = summary.limit
    n_samples = sum(map(len, rows.values()))
    if study is None:
        refuse_without_samples(header, n_samples)
    if study is None or study.name == BENCHMARK:
        return [_read_benchmark(path, header, written, correct)]
    spec, changes = header.eval, sample_changes(path, header, written, study.scorer_name)
    left_out = (
        (f"{len(changes.invalidated)} of {n_samples} samples were invalidated and do not count",)
        if changes.invalidated
        else ()
    )
    rescored = str(rescoring(header).get("at", ""))
    n_asked = len({effort for effort, _ in rows})
    files: list[TrialFile] = []
    for (effort, fallback), same_way in rows.items():
        scored = {key: row for key, row in same_way.items() if row is not None}
        if not scored:
            continue
        keys = (*TOKENS, *study.column_types, *EXTRA_COLUMNS)
        values = dict(zip(keys, zip(*scored.values(), strict=True), strict=True))
        columns, wrong = trial_columns(study, values)
        invalid = changes.invalidated & same_way.keys()
        setup = {**_setup(header, study, effort), **origins.settings()}
        planned = 0 if fallback else _planned(header) // n_asked - _answered_by_others(rows, effort)
        files.append(
            TrialFile(
                path=path,
                study=study.name,
                design=study.design_of(spec.task.rsplit("/", 1)[-1]),
                model=spec.model,
                columns=_without(columns, invalid),
                created=spec.created,
                lost=max(planned, len(same_way)) - len(scored.keys() | invalid),
                lost_by=Counter(limit for (of, _), limit in limits.items() if limit and of == effort),
                versions=_versions(header),
                setup={**setup, **({FALLBACK: fallback} if fallback else {})},
                provenance=_provenance(header),
                status=header.status,
                rescored=rescored,
                changed=max(rescored, changes.at),
                written=written.isoformat() if written else "",
                edited=len(changes.edited & scored.keys()),
                invalidated=tuple(sorted(invalid)),
                is_log=True,
                run=spec.task_id,
                left_out=(*(left_out if not files else ()), *wrong),
                from_cache=origins.remark() if not files else "",
                refused=tuple(refused) if not files else (),
            )
        )
    if not files:
        reasons = (f"status: {header.status}", *left_out, *_ended(limits.values()))
        raise NotTrialsError(f"none of its {n_samples} samples has a trial ({'; '.join(reasons)})")
    return files


def _ended(limits: Iterable[str | None]) -> list[str]:
    """Return how many samples each limit ended."""
    return [f"{n} ended by the {limit} limit" for limit, n in Counter(limits).items() if limit]


_Way: TypeAlias = tuple[str | None, str]
"""How a sample was asked: the reasoning effort, and the models that answered instead of the requested ones."""

_SampleKey: TypeAlias = tuple[str, int]
"""Id and epoch of a sample."""


def _row(summary: Summary, study: Study) -> tuple[Any, ...] | None:
    """Return the tokens, the record and the extra columns of a sample's trial; None if it has none."""
    score = (summary.scores or {}).get(study.scorer_name)
    if score is None or not isinstance(score.value, dict) or summary.is_lost:
        return None
    trial = scored_trial(score.value, score.metadata)
    metadata = summary.metadata or _NOTHING
    return (
        *_tokens(metadata),
        *map(trial.get, study.column_types),
        *_digests(summary),
        *shared_by(trial, metadata),
        summary.id,
        summary.epoch,
    )


def _fallback(summary: Summary) -> str:
    """Return the models that answered a sample instead of the requested ones; empty if there were none."""
    fallbacks = summary.model_fallbacks if isinstance(summary.model_fallbacks, list) else []
    names = {str(each["fallback_model"]) for each in fallbacks if each.get("fallback_model")}
    return ", ".join(sorted(names))


def _answered_by_others(rows: Mapping[_Way, Mapping[_SampleKey, object]], effort: str | None) -> int:
    return sum(len(same_way) for way, same_way in rows.items() if way[0] == effort and way[1])


def _without(columns: dict[str, NDArray[Any]], invalid: frozenset[_SampleKey]) -> dict[str, NDArray[Any]]:
    """Return the trials of the samples that were not invalidated."""
    if not invalid:
        return columns
    keys = zip(columns["sample_id"].tolist(), columns["epoch"].tolist(), strict=True)
    is_valid = np.array([key not in invalid for key in keys], dtype=bool)
    return {name: column[is_valid] for name, column in columns.items()}


def refuse_without_samples(header: EvalLog, n_samples: int) -> None:
    """Raise NotTrialsError if a log has no samples, with the reason."""
    if n_samples:
        return
    if header.eval.config.log_samples is False:
        raise NotTrialsError(
            "it was written with --no-log-samples (log_samples=False), so that it has metrics but no replies: run the"
            " evaluation again without this option"
        )
    raise NotTrialsError(f"the log has no samples (status: {header.status})")


def _read_benchmark(path: str, header: EvalLog, written: datetime | None, correct: Correctness) -> TrialFile:
    """Read the log of a task that no study asks."""
    changes = sample_changes(path, header, written)
    invalid = changes.invalidated
    (study,) = (study for study in studies() if study.name == BENCHMARK)
    log = benchmark_log(path, header, invalid, correct)
    columns, wrong = trial_columns(study, log.rows)
    left_out = (f"{len(invalid)} samples were invalidated and do not count",) if invalid else ()
    return TrialFile(
        path=path,
        study=study.name,
        design=task_of(header),
        model=header.eval.model,
        columns=columns,
        created=header.eval.created,
        lost=max(_planned(header) - len(invalid), log.n_samples) - log.n_read,
        versions=_versions(header),
        setup={**_setup(header, study, None), **changes_of_prompt(header)},
        provenance={**_provenance(header), **log.graded_by},
        status=header.status,
        changed=changes.at,
        written=written.isoformat() if written else "",
        edited=len(changes.edited),
        invalidated=tuple(sorted(invalid)),
        is_log=True,
        run=header.eval.task_id,
        left_out=(*left_out, *wrong),
    )


BENCHMARK = "benchmark"
"""Name of the study whose trials are of tasks that no study asks."""


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

BYTES_A_CONTAINER_OF_A_HEADER = 10
"""The same for a header, whose metrics are short objects with empty objects in them."""

FEW_CONTAINERS = 1_000
"""Number of lists and objects that any text may hold, however short."""

_ENDLESS_NUMBER = re.compile(rb"\d{%d}" % (MOST_DIGITS + 1))
# Possessive quantifiers, and a string may end with the file: the time is linear in the size of any file.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)


class _Score(Struct, gc=False):
    value: Any = None
    metadata: dict[str, Any] | None = None


class _Metadata(Struct, gc=False):
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


_NOTHING = _Metadata()


class _Message(Struct, gc=False):
    role: Any
    content: Any
    metadata: Any = None


class Summary(Struct, gc=False):
    """The fields that are read of a sample's summary; all others are skipped."""

    id: Any
    epoch: int
    input: str | list[_Message] | None = None
    metadata: _Metadata | None = None
    scores: dict[str, _Score | None] | None = None
    error: Any = None
    model_fallbacks: Any = None
    limit: str | None = None

    @property
    def is_lost(self) -> bool:
        """Whether an error or a limit ended the sample before its last reply; what its scorer read is no reply."""
        return self.error is not None or self.limit is not None


_SUMMARIES = Decoder(list[Summary])
_tokens = attrgetter(*TOKENS)


@contextmanager
def _opened(path: str) -> Iterator[tuple[EvalLog, Iterator[Summary], datetime | None]]:
    """Yield the header of a log, an iterator over the summaries of its samples, and the local time of writing if known.

    A finished log holds both as members of an archive. Decoding the needed fields of the summaries is a hundred times
    faster than Inspect's reader, which validates and shortens every text again. Any other log goes through Inspect's
    reader.
    """
    if path.endswith(".eval"):
        with fsspec.open(path, "rb") as file, ZipFile(_last_members(file)) as archive:
            if {HEADER, SUMMARIES} <= archive.NameToInfo.keys():
                most = max(MOST_BYTES, MOST_TIMES * file.seek(0, SEEK_END))
                written = datetime(*archive.getinfo(HEADER).date_time)
                with archive.open(SUMMARIES) as member:
                    yield _header(archive.read(HEADER)), decode_summaries(member, most), written
                return
    dumped = (summary.model_dump() for summary in read_eval_log_sample_summaries(path))
    yield read_eval_log(path, header_only=True), (convert(summary, Summary) for summary in dumped), None


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


def summaries(path: str) -> Iterator[Summary]:
    """Yield the summary of each sample of a log."""
    with _opened(path) as (_, samples, _):
        yield from samples


def _header(text: bytes) -> EvalLog:
    """Return the header of a log, read by Inspect from an archive that holds nothing else.

    Inspect takes thousands of bytes for each list or object in an unexpected place.
    """
    if _containers(_STRING.sub(b"", text)) > max(FEW_CONTAINERS, len(text) / BYTES_A_CONTAINER_OF_A_HEADER):
        raise NotTrialsError("its header holds little but brackets")
    log = BytesIO()
    with ZipFile(log, "w") as archive:
        archive.writestr(HEADER, text)
    return read_eval_log(log, header_only=True, format="eval")


def decode_summaries(file: IO[bytes], most: int = MOST_BYTES) -> Iterator[Summary]:
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


def _planned(header: EvalLog) -> int:
    """Return the planned number of samples of a run; 0 if the log does not tell it."""
    spec = header.eval
    n_samples = spec.dataset.samples or 0
    if isinstance(spec.config.limit, int):
        n_samples = min(n_samples, spec.config.limit)
    elif spec.config.limit is not None or spec.config.sample_id is not None:
        return 0
    return n_samples * (spec.config.epochs or 1)


def _digests(summary: Summary) -> tuple[str, str]:
    """Return digests of the question of a sample and of the messages that the model was sent."""
    sent, metadata = summary.input or "", summary.metadata or _NOTHING
    messages = (
        sent
        if isinstance(sent, str)
        else [(each.role, each.content) for each in sent if not each.metadata or is_sent(each.metadata)]
    )
    return question_digest(metadata.question, metadata.choices), prompt_digest(messages) if messages else ""


def _versions(header: EvalLog) -> dict[str, str]:
    """Return the versions in the log and the version of the task; those of the latest rescoring take precedence."""
    recorded = (header.eval.metadata or {}).get("versions", {})
    task = {"task": str(header.eval.task_version)}
    versions = {**header.eval.packages, **recorded, **rescoring(header).get("versions", {}), **task}
    return {str(name): str(version) for name, version in versions.items()}


def rescoring(header: EvalLog) -> Mapping[str, Any]:
    """Return date and versions of the latest rescoring of a log; empty if it was never rescored."""
    entry = (header.metadata or {}).get(RESCORED)
    return entry if isinstance(entry, Mapping) else {}


RESCORED = "rescored"
"""Key of a log's metadata under which ``rescore`` writes its entry."""


def _provenance(header: EvalLog) -> dict[str, str]:
    """Return the version of the task, and the revision of each source that has one."""
    sources = (header.eval.metadata or {}).get("sources") or {}
    return provenance_of(str(header.eval.task_version), sources)


def _setup(header: EvalLog, study: Study, effort: str | None) -> dict[str, str]:
    """Return the parameters, as text, in which two runs of a model may differ.

    A reasoning effort is given as in a run at that effort alone.
    """
    spec = header.eval
    # Logs hold the arguments that the user gave; older logs hold the defaults, too.
    parameters = {**((spec.metadata or {}).get("parameters") or {}), **spec.task_args}
    # The settings of the task override those of the model, as in the run.
    generation = {
        **spec.model_generate_config.model_dump(exclude_none=True),
        **header.plan.config.model_dump(exclude_none=True),
        **effort_settings(effort),
    }
    return {
        **setup_of("task", study.protocol_parameters(parameters)),
        **setup_of("generation", generation),
        **setup_of("model", _with_address(spec.model_args, spec.model_base_url)),
        **_solver(spec),
        **_roles(spec),
    }


def _with_address(arguments: Mapping[str, Any], address: str | None) -> dict[str, Any]:
    return {**({"base_url": address} if address else {}), **arguments}


def _solver(spec: EvalSpec) -> dict[str, str]:
    """Return the solver that replaced the task's own, with its arguments."""
    if spec.solver is None:
        return {}
    return {"harness.solver": spec.solver, **setup_of("solver", spec.solver_args or {})}


def _roles(spec: EvalSpec) -> dict[str, str]:
    """Return the models that parse and judge the replies, with their settings."""
    settings: dict[str, str] = {}
    for role, configs in (spec.model_roles or {}).items():
        models: list[ModelConfig] = configs if isinstance(configs, list) else [configs]
        settings[f"role.{role}"] = ", ".join(config.model for config in models)
        for number, config in enumerate(models, 1):
            name = f"role.{role}.{number}" if len(models) > 1 else f"role.{role}"
            settings |= setup_of(f"{name}.generation", config.config.model_dump(exclude_none=True))
            settings |= setup_of(f"{name}.model", _with_address(config.args, config.base_url))
    return settings
