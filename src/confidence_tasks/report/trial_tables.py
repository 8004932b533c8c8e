"""Trials out of plain files: CSV, JSON lines and Parquet with the columns of a study's trial record."""

from __future__ import annotations

import csv
import json
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import fsspec
import pandas as pd

from confidence_tasks.catalogue import studies
from confidence_tasks.report.trial_files import NotTrialsError, TrialFile, trial_columns
from confidence_tasks.study.definition import Study, shown
from confidence_tasks.study.trial import Trial


def read_trial_table(path: str) -> list[TrialFile]:
    """Read a plain file of trials, one row a trial: a file a study, model, task and way of asking.

    The file ends in ``.csv``, ``.jsonl`` or ``.parquet``, and has the columns of
    :class:`~confidence_tasks.study.trial.Trial` and as many of the study's own as its measures need. The study is
    told by these, or by a column ``study``. ``model``, ``task``, ``sample_id`` and ``epoch`` are read where they
    are there, and ``setup``: how the model was asked, as a JSON object or in words.

    NotTrialsError if its columns are not those of a study.
    """
    rows, unread = _READERS[path[path.rfind(".") :]](path)
    if rows.empty:
        raise NotTrialsError("it holds no rows")
    study = None if "study" in rows else _study(rows)
    given = rows.assign(
        **{
            name: rows[name].map(str).where(rows[name].notna(), "") if name in rows else "" for name in _APART
        },
    )
    files: list[TrialFile] = []
    refused: list[str] = []
    for key, part in given.groupby(list(_APART), sort=False):
        _, model, task, setup = map(str, key)
        at = part.index.tolist()
        values: dict[str, list[Any]] = {str(name): part[name].tolist() for name in part}
        try:
            its = study or _study(part)
            design = its.design_of(task) if task else its.name
            values.setdefault("epoch", [1] * len(at))
            asked = zip(values["question_id"], values["condition"], strict=True)
            values.setdefault("sample_id", [f"{question}/{condition}" for question, condition in asked])
            columns, left_out = trial_columns(its, values, [f"row {number + 1}" for number in at].__getitem__)
        except NotTrialsError as error:
            refused.append(f"row {at[0] + 1}: {error}")
            continue
        files.append(
            TrialFile(
                path=path,
                study=its.name,
                design=design,
                model=model or path.rsplit("/", 1)[-1],
                setup=_setup(setup),
                columns=columns,
                lost=0 if files else unread,
                left_out=left_out,
            )
        )
    if not files:
        raise NotTrialsError("; ".join(dict.fromkeys(refused)))
    return [replace(files[0], left_out=(*files[0].left_out, *refused)), *files[1:]]


_APART = ("study", "model", "task", "setup")
"""Columns whose values are never taken together."""


def _setup(text: str) -> dict[str, str]:
    """Return how a model was asked, by name; in words that are no JSON object, as ``setup``."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = text
    if isinstance(found, dict):
        return {str(key): str(value) for key, value in found.items()}
    return {"setup": text} if text else {}


def _study(rows: pd.DataFrame) -> Study:
    """Return the study that ``study`` names, or the one with most columns of its own."""
    names = set(map(str, rows.columns))
    if missing := [key for key in _CORE if key not in names]:
        hint = "; replies are read with `confidence-tasks score` first" if "reply" in names else ""
        raise NotTrialsError(f"it has no columns {', '.join(missing)}{hint}")
    if "study" in names:
        named = str(rows["study"].iloc[0])
        known = {study.name: study for study in studies()}
        if named not in known:
            raise NotTrialsError(f"study {shown(named)} is not one of {', '.join(known)}")
        return known[named]
    own = {study: len((set(study.record) - set(_CORE)) & names) for study in studies()}
    best = max(own.values())
    fitting = [study for study, count in own.items() if count == best]
    if len(fitting) > 1:
        raise NotTrialsError(f"add a column `study`: {', '.join(study.name for study in fitting)} all fit")
    return fitting[0]


def _csv(path: str) -> tuple[pd.DataFrame, int]:
    """Read strictly: pandas would push the cells of a row with more cells than columns one column to the left."""
    refused = warnings.catch_warnings(action="error", category=pd.errors.ParserWarning)
    with fsspec.open(path, "rt", encoding="utf-8-sig", newline="") as file:
        names = Counter(next(csv.reader(file), []))
    if twice := [shown(name) for name, count in names.items() if count > 1]:
        raise NotTrialsError(f"it has two columns {', '.join(twice)}: delete or rename one")
    with fsspec.open(path, "rt", encoding="utf-8-sig") as file, refused:
        return pd.read_csv(
            file, dtype=_TEXTS, index_col=False, keep_default_na=False, na_values=["", "nan", "NaN"]
        ), 0


def _parquet(path: str) -> tuple[pd.DataFrame, int]:
    with fsspec.open(path, "rb") as file:
        return pd.read_parquet(file), 0


def _jsonl(path: str) -> tuple[pd.DataFrame, int]:
    """Read line by line: one line that is no JSON must not cost the others."""
    rows: list[Mapping[str, Any]] = []
    numbers: list[int] = []
    unread = 0
    with fsspec.open(path, "rt", encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines):
            if not line.strip():
                continue
            try:
                rows.append(dict(json.loads(line)))
                numbers.append(number)
            except (ValueError, TypeError, RecursionError):
                unread += 1
    return pd.DataFrame(rows, index=numbers), unread


_CORE = tuple(Trial.__annotations__)
_TEXTS = {key: str for study in studies() for key, kind in study.record.items() if kind is str}
_READERS: Mapping[str, Callable[[str], tuple[pd.DataFrame, int]]] = {
    ".csv": _csv,
    ".jsonl": _jsonl,
    ".parquet": _parquet,
}
SUFFIXES = tuple(_READERS)
