"""Trials as columns of a study's record: each value has its type and its domain, or the trial is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from sys import intern
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.logs.trial_files import NotTrialsError
from confidence_tasks.sources.clusters import cluster_of
from confidence_tasks.study.definition import BINARY, Domain, Study, short_repr
from confidence_tasks.study.stage import TOKENS
from confidence_tasks.study.trial import RULES, STATUSES

QUESTION, PROMPT = DIGESTS = ("question_digest", "prompt_digest")
"""Columns with digests of the question and of its prompt, as one id may stand for several questions."""

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
