"""The questions that a report is about, where its reader names them, such as those that a paper compares models on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path

import numpy as np

from confidence_tasks.logs.collection import Collection
from confidence_tasks.logs.trial_files import TrialFile
from confidence_tasks.study.columns import rows_of


def read_questions(path: Path) -> list[str]:
    """Return the ids of questions that a text file names, one on a line.

    Blank lines count for nothing. ValueError if there is no id, if an id stands there twice, if it is no text file, or
    if it has more than 64 MiB or a line that is too long for an id.
    """
    lines = _bounded_lines(path)
    ids = [line.strip() for line in lines if line.strip()]
    if not ids:
        raise ValueError(
            f"{path.name} names no question: write one id on each line, as in the column question_id"
        )
    if repeated := sorted(name for name, count in Counter(ids).items() if count > 1):
        raise ValueError(f"{path.name} names {', '.join(repeated[:3])} more than once")
    return ids


def _bounded_lines(path: Path) -> list[str]:
    with path.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError(f"{path.name} is larger than {_MOST_BYTES >> 20} MiB: it names no questions")
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name} is no text in UTF-8") from error
    for number, line in enumerate(lines, start=1):
        if len(line) > _LONGEST_ID:
            raise ValueError(f"{path.name}, line {number}: more than {_LONGEST_ID:,} characters are no id")
    return lines


_MOST_BYTES = 64 << 20
_LONGEST_ID = 10_000


def with_questions(collection: Collection, ids: AbstractSet[str]) -> Collection:
    """Return the trials of the named questions; a source of which none is named keeps all of its questions.

    Raises
    ------
    ValueError
        If no file has a trial of a named question.
    """
    asked = {name for file in collection.files for name in file.columns["question_id"].tolist()}
    if unknown := sorted(ids - asked):
        known = next(iter(sorted(asked)), "none")
        raise ValueError(
            f"no trials of {', '.join(unknown[:3])}{' and others' if len(unknown) > 3 else ''}; a question is named as"
            f" in the column question_id, such as {known}"
        )
    selected = {source for file in collection.files for source in _sources_of(file, ids)}
    return replace(collection, files=tuple(_selected(file, ids, selected) for file in collection.files))


def _sources_of(file: TrialFile, ids: AbstractSet[str]) -> set[str]:
    """Return the sources of the named questions in a file."""
    return set(file.columns["source"][_named(file, ids)].tolist())


def _selected(file: TrialFile, ids: AbstractSet[str], selected: AbstractSet[str]) -> TrialFile:
    others = ~np.isin(file.columns["source"].astype(str), sorted(selected))
    return replace(file, columns=rows_of(file.columns, np.flatnonzero(others | _named(file, ids))))


def _named(file: TrialFile, ids: AbstractSet[str]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.isin(file.columns["question_id"].astype(str), sorted(ids))
