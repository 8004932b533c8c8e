"""Confidence signals in lm-eval's samples of any task: options' log-likelihoods, or what generated replies state.

Nothing is run again and nothing is graded again: whether an answer is right is the metric in its line. The samples of
lm-eval 0.4.0 to 0.4.13 differ; the shapes that are read are those of real files of these versions.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from msgspec import MsgspecError, Raw, Struct, defstruct, field
from msgspec.json import Decoder
from numpy.typing import NDArray

from confidence_tasks.harness.correctness import ASKED, BY_DEFAULT, Correctness
from confidence_tasks.harness.stopped import status_of_missing
from confidence_tasks.logs.trial_files import NotTrialsError
from confidence_tasks.reading.cleaning import marks_of_reply
from confidence_tasks.reading.option_scores import (
    FURTHER,
    MARGIN,
    SCALES,
    SIGNALS,
    Array,
    OptionSignal,
    OptionTable,
    option_mass,
)
from confidence_tasks.reading.stated import stated_confidence_of
from confidence_tasks.sources.bounds import refuse_brackets
from confidence_tasks.study.definition import short_repr
from confidence_tasks.study.parameter import did_you_mean
from confidence_tasks.study.trial import RULES, Status

Rows: TypeAlias = dict[str, list[Any]]
Tables: TypeAlias = list[tuple[list[int], OptionTable]]
"""A table for each number of options, with the positions of its samples."""

_KNOWN_KEYS = frozenset(
    {
        "doc_id",
        "doc",
        "target",
        "arguments",
        "resps",
        "filtered_resps",
        "filter",
        "metrics",
        "doc_hash",
        "prompt_hash",
        "target_hash",
    }
)
"""Keys of a line that are not metrics."""


class Samples(NamedTuple):
    """The trials in the samples of one task.

    Attributes
    ----------
    rows : dict of str to list
        Columns of the trials: one trial for each document, filter and signal.
    n_documents, n_read : int
        Number of documents, and of those with a trial.
    left_out : tuple of str
        Sentences that say which documents have no trial, and why.
    is_asked : bool
        Whether the model was asked for a confidence by ``with_confidence``.
    """

    rows: Rows
    n_documents: int
    n_read: int
    left_out: tuple[str, ...]
    is_asked: bool = False


def is_sample(line: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is a sample as lm-eval writes it.

    Examples
    --------
    >>> is_sample({"doc": {}, "resps": [["4"]], "filtered_resps": ["4"]}), is_sample({"question_id": "q1"})
    (True, False)
    """
    return {"doc", "resps", "filtered_resps"} <= line.keys()


def benchmark_samples(
    lines: Sequence[bytes], delimiter: str = " ", correct: Correctness = BY_DEFAULT
) -> Samples:
    """Return the trials in the samples of one task of lm-eval.

    Parameters
    ----------
    lines : sequence of bytes
        The lines of the file, or its only line with a JSON list, as lm-eval wrote it up to 0.4.2.
    delimiter : str, optional
        What the task writes between prompt and option; empty under a chat template.
    correct : Correctness, optional
        The metric that says whether an answer is right. By default each signal of options has the metric of its own
        score, and generated replies have the only metric that is 0 or 1.

    Raises
    ------
    NotTrialsError
        If no metric says whether an answer is right, or several could.
    """
    file = _decoded(lines)
    if not file.samples:
        raise NotTrialsError("no line is a sample of lm-eval, with doc and filtered_resps")
    read = _multiple_choice(file, delimiter, correct) if _has_options(file) else _generated(file, correct)
    n_read = max(Counter(sample.filter for sample in file.samples).values())
    broken = (f"{file.n_broken} lines are not samples of lm-eval",) if file.n_broken else ()
    is_asked = any(sample.asked for sample in file.samples)
    return Samples(read, n_read + file.n_broken, n_read, broken, is_asked)


def group_of_task(run: Mapping[str, Any], task: str) -> tuple[str, bool]:
    """Return the outermost group of a task in lm-eval's results, and whether it weights its tasks by their size.

    The results do not say how a group was aggregated, so the weighted and the plain mean over its tasks are compared
    with the printed value. A group that has neither value, or no value, is no group here: the name is then empty.

    Parameters
    ----------
    run : mapping
        The contents of the file of results.
    task : str
        Name of the task.

    Examples
    --------
    >>> run = {
    ...     "group_subtasks": {"both": ["a", "b"]},
    ...     "results": {"both": {"acc,none": 0.25}, "a": {"acc,none": 0.5}, "b": {"acc,none": 0.125}},
    ...     "n-samples": {"a": {"effective": 2}, "b": {"effective": 4}},
    ... }
    >>> group_of_task(run, "a")
    ('both', True)
    """
    subtasks = run.get("group_subtasks") or {}
    results = run.get("results") or {}
    name = ""
    group = _parent(subtasks, task)
    is_weighted = False
    while group:
        leaves = _leaves(subtasks, group)
        weighting = _weighting(run, group, leaves) if group in results else None
        if weighting is not None:
            name, is_weighted = group, weighting
        group = _parent(subtasks, group)
    return name, is_weighted


def _parent(subtasks: Mapping[str, Sequence[str]], task: str) -> str:
    return next((group for group, members in subtasks.items() if task in members and group != task), "")


def _leaves(subtasks: Mapping[str, Sequence[str]], group: str) -> list[str]:
    """Return the tasks of a group, at any depth."""
    members = subtasks.get(group) or [group]
    return [
        leaf for member in members for leaf in ([member] if member == group else _leaves(subtasks, member))
    ]


def _weighting(run: Mapping[str, Any], group: str, tasks: Sequence[str]) -> bool | None:
    """Return whether a group's value is the mean weighted by size; None if it is neither that nor the plain mean."""
    results = run["results"]
    sizes = [((run.get("n-samples") or {}).get(task) or {}).get("effective") for task in tasks]
    for key, value in results[group].items():
        values = [results.get(task, {}).get(key) for task in tasks]
        if "stderr" not in key and all(map(_is_number, (value, *values, *sizes))):
            if np.isclose(value, np.average(values, weights=np.array(sizes)), rtol=1e-9):
                return True
            if np.isclose(value, np.mean(values), rtol=1e-9):
                return False
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


# Lines ----------------------------------------------------------------------------------------------------------------


class _Argument(Struct, gc=False):
    arg_0: Raw = Raw(b"")  # a long prompt, which is only compared
    arg_1: Any = ""


_ARGUMENTS = Decoder(dict[str, _Argument])
_ARGUMENT_LIST = Decoder(list[list[Any]])
_ANY = Decoder(Any)


class _Sample(Struct, gc=False, kw_only=True):
    """A line; the metrics are further fields, ``metric_0`` and so on, of a subclass."""

    doc: Raw
    filtered_resps: list[Any]
    doc_id: Any = None
    doc_hash: Any = None
    prompt_hash: Any = None
    filter: str | None = None
    arguments: Raw = Raw(b"[]")
    resps: Raw = Raw(b"[]")
    asked: dict[str, Any] = field(name=ASKED, default_factory=dict)

    def asked_confidence(self, name: str) -> float:
        """Return the confidence that the model was asked for by a name; NaN if it is missing."""
        value = self._asked(name).get("confidence")
        return float(value) if isinstance(value, int | float) else np.nan

    def status_without(self, name: str) -> Status:
        """Return the status of a trial whose signal of a name is missing."""
        return status_of_missing(self._asked(name).get("problem"))

    def _asked(self, name: str) -> dict[str, Any]:
        asked = self.asked.get(name)
        return asked if isinstance(asked, dict) else {}

    def requests(self) -> list[_Argument]:
        """Return the prompt and the continuation of each request; lm-eval wrote lists of them up to 0.4.2."""
        text = bytes(self.arguments)
        if text.startswith(b"{"):
            return list(_ARGUMENTS.decode(text).values())
        lists = [each for each in _ARGUMENT_LIST.decode(text) if len(each) > 1]
        return [_Argument(Raw(str(prompt).encode()), text) for prompt, text, *_ in lists]


class _Lines(NamedTuple):
    """The samples of a file, the names of their metrics, and the number of lines that are no samples."""

    samples: list[_Sample]
    metrics: tuple[str, ...]
    n_broken: int

    def values(self, metric: str, samples: Sequence[_Sample]) -> list[Any]:
        """Return the values of a metric; None where a sample lacks it."""
        key = f"metric_{self.metrics.index(metric)}"
        return [getattr(sample, key) for sample in samples]


def _decoded(lines: Sequence[bytes]) -> _Lines:
    """Decode the lines of a file, or its only line with a list of samples."""
    first = next((line for line in map(bytes.strip, lines) if line), b"")
    if first.startswith(b"["):
        lines = [json.dumps(sample).encode() for sample in json.loads(b"".join(lines))]
    metrics = _metric_names(lines)
    if len(metrics) > MOST_METRICS:
        raise NotTrialsError(f"its first sample has more than {MOST_METRICS:,} metrics")
    fields = [(f"metric_{i}", Any, field(name=name, default=None)) for i, name in enumerate(metrics)]
    decoder = Decoder(defstruct("_SampleWithMetrics", fields, bases=(_Sample,), gc=False, kw_only=True))
    samples, n_lines = [], 0
    for line in lines:
        if line and not line.isspace():
            n_lines += 1
            with suppress(ValueError, MsgspecError, RecursionError):
                samples.append(_decode(line, decoder))
    _number_filters(samples)
    return _Lines(samples, metrics, n_lines - len(samples))


MOST_METRICS = 1_000
"""Number of metrics above which a file is refused: every sample takes memory for each metric of the first one."""


def _number_filters(samples: Sequence[_Sample]) -> None:
    """Tell two filters apart where a file does not name them: lm-eval up to 0.4.6 wrote all documents once for each."""
    numbers = [sample.doc_id for sample in samples]
    if any(sample.filter is not None for sample in samples) or None in numbers:
        return
    seen: Counter[str] = Counter()
    for sample in samples:
        seen[str(sample.doc_id)] += 1
        sample.filter = f"filter {seen[str(sample.doc_id)]}"


def _decode(line: bytes, decoder: Decoder[Any]) -> _Sample:
    """Decode a line; infinities and NaN outside texts, which JSON does not have, are missing values."""
    refuse_brackets(line)
    try:
        sample: _Sample = decoder.decode(line)
    except (MsgspecError, UnicodeDecodeError):
        sample = decoder.decode(json.dumps(json.loads(line, parse_constant=lambda name: None)))
    return sample


def _metric_names(lines: Sequence[bytes]) -> tuple[str, ...]:
    """Return the names of the metrics in the first line that is a sample; lm-eval lists them since 0.4.7."""
    for line in lines:
        with suppress(ValueError, RecursionError):
            refuse_brackets(line)
            sample = json.loads(line)
            if isinstance(sample, dict) and is_sample(sample):
                listed = sample.get("metrics")
                names = listed if isinstance(listed, list) else sample.keys() - _KNOWN_KEYS
                return tuple(sorted({*map(str, names)} - {ASKED}))
    return ()


def _question_ids(samples: Sequence[_Sample]) -> list[str]:
    """Return an identifier for each sample: the hash of its document, numbered where documents are equal.

    ``doc_id`` is used in files without hashes: with ``--samples``, lm-eval 0.4.9 and later number documents wrongly.
    """
    seen: Counter[tuple[str, Any]] = Counter()
    identifiers = []
    for sample in samples:
        identifier = sample.doc_hash[:16] if isinstance(sample.doc_hash, str) else str(sample.doc_id)
        key = (identifier, sample.filter)
        seen[key] += 1
        identifiers.append(identifier if seen[key] == 1 else f"{identifier}-{seen[key]}")
    return identifiers


def _binary(values: Sequence[Any]) -> Array | None:
    """Return a metric as 0, 1 or NaN for a missing value; None if a value is anything else."""
    numbers = np.array([np.nan if value is None else _number(value) for value in values])
    missing = np.array([value is None for value in values], dtype=bool)
    is_binary = np.isin(numbers, (0.0, 1.0)) | missing
    return numbers if is_binary.all() and not missing.all() else None


def _number(value: Any) -> float:
    """Return a number, or a text with a number, as a float; infinity for anything else, which no metric has."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return np.inf


# Multiple choice ------------------------------------------------------------------------------------------------------


def _has_options(file: _Lines) -> bool:
    """Return whether the replies are log-likelihoods of several options, each with whether it is the greedy reply."""
    replies = file.samples[0].filtered_resps
    return len(replies) > 1 and all(isinstance(reply, list) and len(reply) == 2 for reply in replies)


def _multiple_choice(file: _Lines, delimiter: str, correct: Correctness) -> Rows:
    binary = _binary_metrics(file, correct)
    tables = _option_tables(file, delimiter)
    facts = {**_facts_of_samples(file.samples), **_facts_of_options(tables, len(file.samples))}
    parts: list[Rows] = []
    shown: list[Array] = []
    for name, metric in _metrics_of_signals(file, binary, correct).items():
        values, chosen = _computed(_EVERY[name][1], tables, len(file.samples))
        # With options of one character, the normalised signal is the signal.
        if np.isnan(values).all() or any(np.array_equal(values, each, equal_nan=True) for each in shown):
            continue
        shown.append(values)
        rows = _rows_of_signal(file, name, values, binary[metric])
        parts.append({**rows, **facts, "answer": _answers(tables, chosen)})
    if not parts:
        raise NotTrialsError("no line has log-likelihoods that are numbers")
    return {key: [value for part in parts for value in part[key]] for key in parts[0]}


def _metrics_of_signals(file: _Lines, binary: Mapping[str, Array], correct: Correctness) -> dict[str, str]:
    """Return the metric of each signal: that of its score, or the one that the user names."""
    metrics = {name: metric for name, (metric, _) in _signals_that_are_read(correct).items()}
    if correct.name in _SCORES:
        metrics = {name: metric for name, metric in metrics.items() if metric == correct.name}
    elif correct.name:
        metrics = dict.fromkeys(metrics, correct.name)
    known = {name: metric for name, metric in metrics.items() if metric in binary}
    if not known:
        raise NotTrialsError(_why_no_metric(file, binary, correct))
    return known


def _signals_that_are_read(correct: Correctness) -> Mapping[str, tuple[str, Any]]:
    return {name: _EVERY[name] for name in _EVERY if name in SIGNALS or name in correct.signals}


_EVERY = {**SIGNALS, **FURTHER}
"""The signals that are always read, and those that are read if they are asked for."""


def _computed(
    signal: Callable[[OptionTable], OptionSignal], tables: Tables, n: int
) -> tuple[Array, NDArray[np.intp]]:
    """Return a signal of each sample, and the position of the option that it is about."""
    values, chosen = np.full(n, np.nan), np.zeros(n, dtype=np.intp)
    for rows, table in tables:
        values[rows], chosen[rows] = signal(table)
    return values, chosen


_SCORES = frozenset(metric for metric, _ in SIGNALS.values())
"""Metrics that go with one score of the options each."""


def _option_tables(file: _Lines, delimiter: str) -> Tables:
    """Return a table for each number of options, with the positions of its samples."""
    has_unconditional = "acc_mutual_info" in file.metrics
    by_size: dict[int, tuple[list[int], list[Any]]] = {}
    for row, sample in enumerate(file.samples):
        with suppress(ValueError, TypeError, IndexError, OverflowError, MsgspecError):
            scores = [float(reply[0]) for reply in sample.filtered_resps]
            n_options = len(scores) // 2 if has_unconditional else len(scores)
            options = _options(sample.requests()[:n_options], delimiter)
            rows, read = by_size.setdefault(n_options, ([], []))
            read.append((scores[:n_options], scores[n_options:] or [np.nan] * n_options, options))
            rows.append(row)
    return [
        (
            rows,
            OptionTable(np.array([r[0] for r in read]), np.array([r[1] for r in read]), [r[2] for r in read]),
        )
        for n_options, (rows, read) in by_size.items()
        if n_options > 1
    ]


def _options(requests: Sequence[_Argument], delimiter: str) -> tuple[str, ...]:
    """Return the texts of the options; empty texts if the prompts differ instead, as in Winogrande."""
    texts = [str(each.arg_1) for each in requests]
    if len(set(texts)) == 1 and len({bytes(each.arg_0) for each in requests}) > 1:
        return ("",) * len(texts)
    return tuple(text.removeprefix(delimiter) for text in texts)


def _answers(tables: Tables, chosen: NDArray[np.intp]) -> list[str]:
    """Return the text of the chosen option of each sample; its position, from 0, if the options have no text."""
    answers = [""] * len(chosen)
    for rows, table in tables:
        for row, options in zip(rows, table.options, strict=True):
            answers[row] = options[chosen[row]][:MOST_CHARACTERS] or str(chosen[row])
    return answers


MOST_CHARACTERS = 500
"""Length to which answers are cut."""


def _facts_of_options(tables: Tables, n: int) -> Rows:
    """Return the columns that do not depend on the signal."""
    mass, n_options, equal = np.full(n, np.nan), np.full(n, np.nan), np.full(n, np.nan)
    for rows, table in tables:
        mass[rows] = option_mass(table)
        n_options[rows] = table.log_likelihoods.shape[1]
        equal[rows] = [any(options) and len(set(options)) < len(options) for options in table.options]
    return {"option_mass": mass.tolist(), "n_options": n_options.tolist(), "equal_options": equal.tolist()}


# Generated replies ----------------------------------------------------------------------------------------------------


def _generated(file: _Lines, correct: Correctness) -> Rows:
    """Return a trial for each document and filter, with the confidence that its reply states."""
    binary = _binary_metrics(file, correct)
    metric = next(iter(binary)) if not correct.name and len(binary) == 1 else correct.name
    if metric not in binary:
        raise NotTrialsError(_why_no_metric(file, binary, correct))
    facts = _facts_of_samples(file.samples)
    parts = [
        {**facts, **_rows_of_signal(file, name, values, binary[metric])}
        for name, values in _signals_of_replies(file.samples).items()
    ]
    rows = {key: [value for part in parts for value in part[key]] for key in parts[0]}
    n_trials = len(file.samples) * len(parts)
    nothing = [np.nan] * n_trials
    answers = [
        str(sample.filtered_resps[0])[:MOST_CHARACTERS] if sample.filtered_resps else ""
        for sample in file.samples
    ]
    answers *= len(parts)
    return {
        **rows,
        "answer": answers,
        RULES: list(map(_marks, file.samples)) * len(parts),
        "option_mass": nothing,
        "n_options": nothing,
        "equal_options": nothing,
    }


def _signals_of_replies(samples: Sequence[_Sample]) -> dict[str, Array]:
    """Return the confidences that the model was asked for, and those that its replies state, if most do."""
    names = list(dict.fromkeys(name for sample in samples for name in sample.asked))
    signals = {name: np.array([sample.asked_confidence(name) for sample in samples]) for name in names}
    stated = np.array([_stated_confidence(sample) for sample in samples])
    if np.mean(~np.isnan(stated)) > 0.5:
        signals["stated"] = stated
    return signals or {UNMEASURED: np.full(len(samples), np.nan)}


UNMEASURED = "no confidence"
"""Condition of trials of a task whose replies state no confidence: their accuracy is known."""


def _stated_confidence(sample: _Sample) -> float:
    """Return the confidence that the only reply of a sample states; NaN if it states none, or for several replies."""
    return stated_confidence_of(_reply_of(sample))


def _marks(sample: _Sample) -> str:
    """Return the rules of the only reply of a sample with a thought or with control tokens."""
    return "+".join(marks_of_reply(_reply_of(sample)))


def _reply_of(sample: _Sample) -> str:
    """Return the only reply of a sample; empty if it has several."""
    replies = _ANY.decode(sample.resps)
    while isinstance(replies, list) and len(replies) == 1:
        (replies,) = replies
    return replies if isinstance(replies, str) else ""


# Common to both -------------------------------------------------------------------------------------------------------


def _rows_of_signal(file: _Lines, name: str, values: Array, correct: Array) -> Rows:
    """Return the columns of the trials of one signal that are its own."""
    filters = {sample.filter for sample in file.samples}
    is_named = len(filters) > 1
    is_probability = name != MARGIN and name not in SCALES
    return {
        "condition": [f"{name}, {sample.filter}" if is_named else name for sample in file.samples],
        "correct": correct.tolist(),
        "confidence": _confidence(name, values).tolist(),
        "value": values.tolist(),
        "probability": (values if is_probability else np.full(len(values), np.nan)).tolist(),
        "status": [
            sample.status_without(name) if missing else "ok"
            for sample, missing in zip(file.samples, np.isnan(values).tolist(), strict=True)
        ],
    }


def _facts_of_samples(samples: Sequence[_Sample]) -> Rows:
    """Return the columns that are those of the sample, under every signal."""
    return {
        "question_id": _question_ids(samples),
        "sample_id": [str(sample.doc_id) for sample in samples],
        "epoch": [1] * len(samples),
        "question_digest": [_hash(sample.doc_hash) for sample in samples],
        "prompt_digest": [_hash(sample.prompt_hash) for sample in samples],
    }


def _confidence(name: str, values: Array) -> Array:
    """Return values between 0 and 1 in the order of a signal."""
    if name in SCALES:
        return np.array([SCALES[name](value) for value in values.tolist()])
    with np.errstate(over="ignore"):
        return -np.expm1(-values) if name == MARGIN else values


def _hash(value: Any) -> str:
    return f"lm-eval {value[:16]}" if isinstance(value, str) else ""


def _binary_metrics(file: _Lines, correct: Correctness) -> dict[str, Array]:
    """Return the metrics whose values are 0, 1 or missing in every sample; the user's bound makes a metric such."""
    columns = {metric: _binary(file.values(metric, file.samples)) for metric in file.metrics}
    if correct.name in columns and not np.isnan(correct.least):
        columns[correct.name] = _bounded(file.values(correct.name, file.samples), correct)
    return {metric: values for metric, values in columns.items() if values is not None}


def _bounded(values: Sequence[Any], correct: Correctness) -> Array | None:
    """Return a metric as 0 or 1 by the user's bound; None if a value is no number."""
    numbers = [np.nan if value is None else _number(value) for value in values]
    return None if np.inf in numbers else np.array([correct.of(number) for number in numbers])


def _why_no_metric(file: _Lines, binary: Mapping[str, Any], correct: Correctness) -> str:
    """Return why no metric says whether an answer is right, and what to do."""
    metrics = ", ".join(file.metrics)
    if correct.name and correct.name not in file.metrics:
        hint = did_you_mean(correct.name, file.metrics)
        return f"it has no metric {short_repr(correct.name)}{hint}; it has {metrics or 'none'}"
    if correct.name:
        return f"its metric {short_repr(correct.name)} is not 0 or 1 in every line: {_bound(correct.name)}"
    if len(binary) > 1:
        return f"several metrics are 0 or 1: name the one that says what is right, --correct {' or '.join(binary)}"
    reason = (
        f"no metric is 0 or 1 in every line ({metrics or 'there is none'}), so no answer is right or wrong"
    )
    shares = [metric for metric in file.metrics if _are_shares(file.values(metric, file.samples))]
    return f"{reason}; {_bound(shares[0])}" if shares else reason


def _are_shares(values: Sequence[Any]) -> bool:
    """Return whether the known values of a metric are numbers from 0 to 1."""
    numbers = [_number(value) for value in values if value is not None]
    return bool(numbers) and all(0.0 <= number <= 1.0 for number in numbers)


def _bound(metric: str) -> str:
    return f"--correct '{metric}>=0.5' counts higher values as right"
