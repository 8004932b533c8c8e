"""Files of trials brought together: the trials of a task, model by model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.analysis.labels import printable
from confidence_tasks.analysis.studies import STUDIES
from confidence_tasks.analysis.study import Design, Study
from confidence_tasks.analysis.trial_files import TrialFile


@dataclass(frozen=True, slots=True)
class ModelTrials:
    """All trials of one model, asked in one way, in one task.

    Attributes
    ----------
    name : str
        The model's name.
    label : str
        The same, with the parameters that tell it from the same model asked otherwise.
    columns : mapping of str to ndarray
        The trial record and ``sample_id``, ``epoch`` and ``file``, the position in ``files``.
    files : tuple of TrialFile
        Where they come from, oldest first.
    repeated : int
        Trials left out because a later file has the same question, condition and epoch.
    doubled : int
        Trials whose question, condition and epoch another trial of the same file has.
    """

    name: str
    label: str
    columns: Mapping[str, NDArray[Any]]
    files: tuple[TrialFile, ...]
    repeated: int
    doubled: int = 0

    def __len__(self) -> int:
        return len(self.columns["question_id"])


@dataclass(frozen=True, slots=True)
class Section:
    """One task of a study, with every model that was asked."""

    study: Study
    task: str
    models: tuple[ModelTrials, ...]

    @property
    def design(self) -> Design:
        """What the study says of the task; a task of the user's own has its name, and the study's baseline."""
        baselines = {design.baseline for design in self.study.designs.values()}
        shared = baselines.pop() if len(baselines) == 1 else ""
        return self.study.designs.get(self.task, Design(printable(self.task), "", baseline=shared))

    @property
    def slug(self) -> str:
        """The task's name as a part of file names and of addresses in a page, whatever a file calls its task."""
        kept = _UNSAFE.sub("_", self.task)[:_SLUG_LENGTH]
        return kept if kept == self.task else f"{kept}_{crc32(self.task.encode()):08x}"


_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_SLUG_LENGTH = 60


def sections(files: Iterable[TrialFile]) -> list[Section]:
    """Group files by task, in the order of the studies, and by model, in alphabetical order."""
    by_name = {study.name: study for study in STUDIES}
    order = list(by_name)

    def task_key(file: TrialFile) -> tuple[int, int, str]:
        designs = list(by_name[file.study].designs)
        known = designs.index(file.design) if file.design in designs else len(designs)
        return order.index(file.study), known, file.design

    found = []
    for _, of_task in groupby(sorted(files, key=task_key), key=task_key):
        its_files = sorted(of_task, key=lambda file: (file.model, file.created))
        models = tuple(
            model
            for _, of_model in groupby(its_files, key=lambda file: file.model)
            for model in _variants(list(of_model))
        )
        found.append(Section(by_name[its_files[0].study], its_files[0].design, models))
    return found


def _variants(files: Sequence[TrialFile]) -> list[ModelTrials]:
    """Split the files of one model by how it was asked, and name each part by what differs."""
    keys = sorted({key for file in files for key in file.setup})
    varied = [key for key in keys if len({file.setup.get(key, "") for file in files}) > 1]
    parts: dict[str, list[TrialFile]] = {}
    for file in files:
        suffix = ", ".join(f"{key}={file.setup[key]}" for key in varied if key in file.setup)
        parts.setdefault(f"{file.model} ({suffix})" if suffix else file.model, []).append(file)
    return [_join(printable(label), part) for label, part in parts.items()]


def _join(label: str, files: Sequence[TrialFile]) -> ModelTrials:
    """Put the trials of some files together; of what several files have, that of the newest stays."""
    columns = {key: np.concatenate([file.columns[key] for file in files]) for key in files[0].columns}
    columns["file"] = np.repeat(np.arange(len(files)), [len(file) for file in files])
    asked = (columns[key].tolist() for key in ("condition", "source", "question_id", "epoch"))
    keys = list(zip(*asked, strict=True))
    newest = dict(zip(keys, columns["file"].tolist(), strict=True))
    rows = np.flatnonzero(columns["file"] == [newest[key] for key in keys])
    kept = {key: column[rows] for key, column in columns.items()}
    repeated, doubled = len(keys) - len(rows), len(rows) - len(newest)
    return ModelTrials(printable(files[0].model), label, kept, tuple(files), repeated, doubled)
