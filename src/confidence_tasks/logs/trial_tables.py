"""Trials in plain files: CSV, JSON lines and Parquet."""

from __future__ import annotations

import csv
import json
import warnings
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import fsspec
import pandas as pd

from confidence_tasks.catalogue import studies
from confidence_tasks.logs.run_settings import ORIGINS
from confidence_tasks.logs.trial_columns import trial_columns
from confidence_tasks.logs.trial_files import NotTrialsError, TrialFile
from confidence_tasks.sources.any_table import storable_cell
from confidence_tasks.sources.bounds import BoundError, bounded_json_lines, bounded_rows
from confidence_tasks.sources.parquet import read_parquet
from confidence_tasks.study.definition import Study, short_repr
from confidence_tasks.study.trial import Trial


def read_trial_table(path: str) -> list[TrialFile]:
    """Read a table with one row per trial; return its trials by study, model, task and setup.

    The file ends in ``.csv``, ``.jsonl`` or ``.parquet``. It has the columns of
    :class:`~confidence_tasks.study.trial.Trial`, and those of the study that the measures need. The study is that in a
    column ``study``, or the one that the columns fit. ``model``, ``task``, ``sample_id``, ``epoch`` and ``setup`` are
    optional; ``setup`` is how the model was asked, as a JSON object or in words.

    NotTrialsError if the columns are not those of a study.
    """
    rows, unread = _READERS[path[path.rfind(".") :]](path)
    if rows.empty:
        raise NotTrialsError(_why_no_rows(unread))
    study = None if "study" in rows else _study_of_rows(rows)
    rows = rows.assign(
        **{name: rows[name].map(str).where(rows[name].notna(), "") if name in rows else "" for name in _KEYS}
    )
    files: list[TrialFile] = []
    refused: list[str] = []
    for key, part in rows.groupby(list(_KEYS), sort=False):
        try:
            file = _file_of_part(path, key, part, study or _study_of_rows(part))
        except NotTrialsError as error:
            refused.append(f"row {part.index[0] + 1}: {error}")
            continue
        files.append(file if files else replace(file, lost=unread))
    if not files:
        raise NotTrialsError("; ".join(dict.fromkeys(refused)))
    return [replace(files[0], left_out=(*files[0].left_out, *refused)), *files[1:]]


def _why_no_rows(unread: int) -> str:
    return f"it holds no rows: its {unread} lines cannot be read" if unread else "it holds no rows"


def _file_of_part(path: str, key: Sequence[Any], part: pd.DataFrame, study: Study) -> TrialFile:
    """Return the trials of one study, model, task and setup of a table."""
    _, model, task, setup = map(str, key)
    places = [f"row {number + 1}" for number in part.index]
    values: dict[str, list[Any]] = {str(name): part[name].tolist() for name in part}
    values.setdefault("epoch", [1] * len(part))
    keys = zip(values["question_id"], values["condition"], strict=True)
    values.setdefault("sample_id", [f"{question}/{condition}" for question, condition in keys])
    design = study.design_of(task) if task else study.name
    columns, left_out = trial_columns(study, values, places.__getitem__)
    return TrialFile(
        path=path,
        study=study.name,
        design=design,
        model=model or path.rsplit("/", 1)[-1],
        setup=_setup_of_text(setup),
        columns=columns,
        left_out=left_out,
    )


_KEYS = ("study", "model", "task", "setup")
"""Columns by which the trials of a table are split."""


def _setup_of_text(text: str) -> dict[str, str]:
    """Return the settings in a JSON object by name, and any other text under ``setup``.

    A name without an origin is that of a parameter of the task.
    """
    with suppress(ValueError, RecursionError):
        settings = json.loads(text)
        if isinstance(settings, dict):
            return {
                key if key.partition(".")[0] in ORIGINS else f"task.{key}": str(value)
                for key, value in settings.items()
            }
    return {"setup": text} if text else {}


def _study_of_rows(rows: pd.DataFrame) -> Study:
    """Return the study in the column ``study``, or the one with most of its columns in the table."""
    names = set(map(str, rows.columns))
    _refuse_without_core(names)
    if "study" in names:
        name = str(rows["study"].iloc[0])
        known = {study.name: study for study in studies()}
        if name not in known:
            raise NotTrialsError(f"study {short_repr(name)} is not one of {', '.join(known)}")
        return known[name]
    counts = {study: len((set(study.column_types) - set(_CORE)) & names) for study in studies()}
    fitting = [study for study, count in counts.items() if count == max(counts.values())]
    if len(fitting) > 1:
        raise NotTrialsError(
            f"add a column `study`: the columns fit {', '.join(study.name for study in fitting)}"
        )
    return fitting[0]


def _refuse_without_core(names: Collection[str]) -> None:
    """Raise NotTrialsError for a table that lacks a column that all studies have."""
    missing = [key for key in _CORE if key not in names]
    if not missing:
        return
    hint = ""
    if "reply" in names:
        hint = "; score files of replies with `confidence-tasks score` first"
    elif "correct" in names and "confidence" in names:
        hint = "; in Python, `summary` needs only the columns correct and confidence"
    raise NotTrialsError(f"it has no columns {', '.join(missing)}{hint}")


def _csv(path: str) -> tuple[pd.DataFrame, int]:
    """Read a CSV file; refuse duplicate columns and rows with too many cells, which pandas would shift or drop."""
    strictly = warnings.catch_warnings(action="error", category=pd.errors.ParserWarning)
    with fsspec.open(path, "rt", encoding="utf-8-sig", newline="") as file, _bounds_of_trials():
        lines = bounded_rows(file)
        names = Counter(next(csv.reader(lines), []))
        _refuse_wide(len(names))
        deque(lines, maxlen=0)
    if duplicates := [short_repr(name) for name, count in names.items() if count > 1]:
        raise NotTrialsError(f"it has two columns {', '.join(duplicates)}: delete or rename one")
    with fsspec.open(path, "rt", encoding="utf-8-sig") as file, strictly:
        return pd.read_csv(
            file, dtype=_TEXTS, index_col=False, keep_default_na=False, na_values=["", "nan", "NaN"]
        ), 0


@contextmanager
def _bounds_of_trials() -> Iterator[None]:
    """Turn a row or a nesting beyond the bounds into the reason why a table is skipped."""
    try:
        yield
    except BoundError as error:
        raise NotTrialsError(str(error)) from error


def _parquet(path: str) -> tuple[pd.DataFrame, int]:
    with fsspec.open(path, "rb") as file, _bounds_of_trials():
        table = read_parquet(
            file, most_rows=MOST_ROWS, most_columns=MOST_COLUMNS, most_bytes=MOST_BYTES_OF_PARQUET
        )
        return table.to_pandas(), 0


def _refuse_wide(n_columns: int) -> None:
    """Raise NotTrialsError for a table with so many columns that its cells would exhaust the memory."""
    if n_columns > MOST_COLUMNS:
        raise NotTrialsError(f"it has more than {MOST_COLUMNS:,} columns")


MOST_ROWS = 20_000_000
"""Number of rows above which a Parquet file is refused: equal values take no room in it."""

MOST_COLUMNS = 1_000
"""Number of columns above which a table is refused: a short row has a cell for each, too."""

MOST_BYTES_OF_PARQUET = 4 * 2**30
"""Memory above which a Parquet file is refused."""


def _jsonl(path: str) -> tuple[pd.DataFrame, int]:
    """Read a file of JSON lines; return also the number of lines that are not JSON objects."""
    rows: list[Mapping[str, Any]] = []
    numbers: list[int] = []
    names: set[str] = set()
    unread = 0
    with fsspec.open(path, "rt", encoding="utf-8-sig") as lines, _bounds_of_trials():
        for number, line in bounded_json_lines(lines):
            try:
                row = {storable_cell(name): storable_cell(value) for name, value in json.loads(line).items()}
            except (ValueError, AttributeError, RecursionError):
                unread += 1
                continue
            rows.append(row)
            numbers.append(number - 1)
            names |= row.keys()
            _refuse_wide(len(names))
    return pd.DataFrame(rows, index=numbers), unread


_CORE = tuple(Trial.__annotations__)

_TEXTS = {key: str for study in studies() for key, kind in study.column_types.items() if kind is str}

_READERS: Mapping[str, Callable[[str], tuple[pd.DataFrame, int]]] = {
    ".csv": _csv,
    ".jsonl": _jsonl,
    ".parquet": _parquet,
}

SUFFIXES = tuple(_READERS)
