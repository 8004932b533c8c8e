"""Further signals of a user's own answers: from columns of log-probabilities, samples and probabilities of options.

A file may have, beside its answers, the log-probabilities of the answer's tokens, further samples of the answer with
the log-probabilities of theirs, and the probability of each option. Each signal is a trial of the same answer.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from confidence_tasks.own_replies.columns import plain_name
from confidence_tasks.reading.equal_answers import are_equal
from confidence_tasks.reading.option_scores import OptionTable, option_negentropy, option_self_certainty
from confidence_tasks.reading.sample_signals import SAMPLE_SIGNALS, Samples, several_samples
from confidence_tasks.reading.signal_scales import COUNT, DIVERGENCE, NATS, PROBABILITY, SHARE, Scale
from confidence_tasks.reading.token_probabilities import is_possible
from confidence_tasks.reading.token_signals import MissingSignalError
from confidence_tasks.sources.source import SourceError
from confidence_tasks.study.trial import Kind, Question

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "logprobs": ("logprobs", "token_logprobs", "log_probs", "token_log_probs"),
    "samples": ("samples", "sampled_answers", "sampled_responses"),
    "sample_logprobs": ("sample_logprobs", "sampled_logprobs", "sample_token_logprobs"),
    "option_probabilities": ("option_probabilities", "option_probs"),
}
"""What a column holds, with the names by which it is found."""

SCALES: Mapping[str, Scale] = {
    "mean_logprob": NATS,
    "sum_logprob": NATS,
    "min_logprob": NATS,
    "option_probability": PROBABILITY,
    "option_negentropy": SHARE,
    "option_self_certainty": DIVERGENCE,
    "agreement": PROBABILITY,
    "semantic_entropy": NATS,
    "semantic_entropy_discrete": NATS,
    "semantic_sets": COUNT,
    "degree_matrix": COUNT,
    "eccentricity": COUNT,
    "eigenvalue_sum": COUNT,
    "kernel_entropy": NATS,
    "sequence_entropy": NATS,
    "sequence_entropy_normalised": NATS,
    "cocoa": NATS,
    "consistency_and_confidence": SHARE,
}
"""The signals, each with the scale of its value; they are those of the studies ``signals`` and ``benchmark``."""


class _Cells(NamedTuple):
    """What a row has for signals; empty where it has nothing."""

    answer: str
    kind: Kind
    logprobs: list[float]
    samples: list[str]
    sample_logprobs: list[list[float]]
    options: dict[str, float]


def signal_columns(available: Sequence[str]) -> dict[str, str]:
    """Return the columns for signals among those of a file, by what they hold.

    Examples
    --------
    >>> signal_columns(["question", "Token Logprobs", "samples"])
    {'logprobs': 'Token Logprobs', 'samples': 'samples'}
    """
    plain = {plain_name(name): name for name in reversed(available)}
    found = {
        role: next((plain[name] for name in names if name in plain), "") for role, names in COLUMNS.items()
    }
    return {role: name for role, name in found.items() if name}


def signal_trials(
    rows: Sequence[Mapping[str, Any]],
    trials: Sequence[Mapping[str, Any]],
    questions: Sequence[Question | None],
) -> list[dict[str, Any]]:
    """Return the trials of further signals of answers; none if no column is for signals.

    Parameters
    ----------
    rows : sequence of mapping, length n
        The rows of the file.
    trials : sequence of mapping, length n
        The trial of each row, with its ``answer``.
    questions : sequence of Question or None, length n
        The question of each answer, whose kind says how samples are compared with it; texts if it is unknown.

    Raises
    ------
    SourceError
        If a cell does not hold what its column is for, with the row and an example.
    """
    columns = signal_columns(list(dict.fromkeys(name for row in rows for name in row)))
    found: list[dict[str, Any]] = []
    for number, (row, trial, question) in enumerate(zip(rows, trials, questions, strict=True), 1):
        kind: Kind = question.kind if question else "text"
        values = _signals(_cells(row, columns, str(trial["answer"]), kind, number))
        found += [_trial(trial, name, values[name]) for name in SCALES if name in values]
    return found


def _trial(trial: Mapping[str, Any], name: str, value: float) -> dict[str, Any]:
    scale = SCALES[name]
    columns = {"condition": name, "value": value, "confidence": scale(value)}
    status = "ok" if trial["status"] == "missing_confidence" else trial["status"]  # that of the stated one
    return {**trial, **columns, "status": status, "probability": value if scale is PROBABILITY else None}


# Cells ----------------------------------------------------------------------------------------------------------------


def _cells(
    row: Mapping[str, Any], columns: Mapping[str, str], answer: str, kind: Kind, number: int
) -> _Cells:
    def read(role: str, parse: Callable[[Any], Any], empty: Any, example: str) -> Any:
        cell = row.get(columns.get(role, ""))
        if cell is None or cell == "":
            return empty
        try:
            return parse(_decoded(cell))
        except (ValueError, TypeError, RecursionError) as error:
            raise SourceError(
                f"row {number}: the column {columns[role]} must hold {example}: {str(error)[:200]}"
            ) from None

    return _Cells(
        answer,
        kind,
        read("logprobs", _logprobs, [], "the log-probabilities of the answer's tokens, such as [-0.1, -2.3]"),
        read("samples", _texts, [], 'a list of answers, such as ["Lima", "Cusco"]'),
        read(
            "sample_logprobs",
            lambda cell: list(map(_logprobs, _a_list(cell))),
            [],
            "a list of log-probabilities for each sample, such as [[-0.1], [-0.2, -0.3]]",
        ),
        read("option_probabilities", _options, {}, 'probabilities by option, such as {"A": 0.7, "B": 0.3}'),
    )


def _decoded(cell: Any) -> Any:
    """Return a cell, decoded if it is a text with JSON; numbers may also be separated by spaces or commas."""
    if not isinstance(cell, str):
        return cell
    try:
        return json.loads(cell)
    except ValueError:
        return [part for part in re.split(r"[\s,;]+", cell.strip("[] \t")) if part]


def _a_list(cell: Any) -> list[Any]:
    if not isinstance(cell, list | tuple | np.ndarray):
        raise ValueError("it is no list")
    return list(cell)


def _logprobs(cell: Any) -> list[float]:
    values = [float(value) for value in _a_list(cell)]
    for value in values:
        if not is_possible(value):
            raise ValueError(f"{value:g} is no natural logarithm of a probability")
    return [min(value, 0.0) for value in values]


def _texts(cell: Any) -> list[str]:
    return ["" if value is None else str(value).strip() for value in _a_list(cell)]


def _options(cell: Any) -> dict[str, float]:
    values = {str(name): float(value) for name, value in dict(cell).items()}
    if any(not 0.0 <= value <= 1.0 for value in values.values()):
        raise ValueError("a probability lies outside 0 and 1")
    return values


# Signals --------------------------------------------------------------------------------------------------------------


def _signals(cells: _Cells) -> dict[str, float]:
    """Return the signals that a row has."""
    if not cells.answer:
        return {}
    values = {
        **_of_logprobs(cells.logprobs),
        **_of_options(cells.options, cells.answer),
        **_of_samples(cells),
    }
    return {name: value for name, value in values.items() if math.isfinite(value)}


def _of_logprobs(logprobs: Sequence[float]) -> dict[str, float]:
    if not logprobs:
        return {}
    return {
        "mean_logprob": fmean(logprobs),
        "sum_logprob": math.fsum(logprobs),
        "min_logprob": min(logprobs),
    }


def _of_options(options: Mapping[str, float], answer: str) -> dict[str, float]:
    """Return the signals of the options' probabilities; the first is that of the option that is the answer."""
    total = math.fsum(options.values())
    if len(options) < 2 or not total:
        return {}
    with np.errstate(divide="ignore"):
        scores = np.log([list(options.values())])
    table = OptionTable(scores, np.full_like(scores, np.nan), [tuple(options)])
    chosen = [value for name, value in options.items() if name.casefold() == answer.casefold()]
    return {
        **({"option_probability": chosen[0] / total} if chosen else {}),
        "option_negentropy": float(option_negentropy(table).value[0]),
        "option_self_certainty": float(option_self_certainty(table).value[0]),
    }


def _of_samples(cells: _Cells) -> dict[str, float]:
    """Return the signals of the samples, as far as the row has what they need."""
    answered, values = _AnsweredRow(cells), {}
    for name, read in SAMPLE_SIGNALS.items():
        with suppress(MissingSignalError):
            values[name] = read(answered)
    return values


@dataclass(frozen=True)
class _AnsweredRow:
    """The answer of a row with its samples, for the signals of samples."""

    cells: _Cells

    @property
    def logprobs(self) -> list[float]:
        if not self.cells.logprobs:
            raise MissingSignalError("the answer has no log-probabilities")
        return self.cells.logprobs

    @cached_property
    def samples(self) -> Samples:
        answers = [self.cells.answer, *filter(None, self.cells.samples)]
        if len(answers) < 2:
            raise MissingSignalError("no sample has an answer")
        same = np.array([[are_equal(self.cells.kind, one, other) for other in answers] for one in answers])
        np.fill_diagonal(same, True)
        return Samples.compare(self.cells.kind, answers, same)

    @property
    def sample_logprobs(self) -> list[list[float]]:
        several_samples(self)
        listed, samples = self.cells.sample_logprobs, self.cells.samples
        kept = [logprobs for logprobs, sample in zip(listed, samples, strict=False) if sample]
        if len(listed) != len(samples) or not all(kept):
            raise MissingSignalError("a sample has no log-probabilities")
        return kept
