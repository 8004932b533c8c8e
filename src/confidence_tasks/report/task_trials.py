"""Files of trials brought together: the trials of a task, model by model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.catalogue import studies
from confidence_tasks.report.groups import asked
from confidence_tasks.report.labels import printable
from confidence_tasks.report.run_config import PROMPT, digest
from confidence_tasks.report.trial_files import TrialFile
from confidence_tasks.study.definition import Design, Study


@dataclass(frozen=True, slots=True)
class ModelTrials:
    """All trials of one model, asked in one way, in one task.

    The label has the parameters that tell the model from the same one asked otherwise. Beside the trial record,
    ``columns`` has ``sample_id``, ``epoch`` and ``file``, the position in ``files``. These are in order of age; of
    one run, the reading that was made last is the last. ``repeated`` trials are left out because a later file has
    the same question, condition and epoch; of ``doubled`` ones another trial of the same file has.
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
class TaskTrials:
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


def group_by_task(files: Iterable[TrialFile]) -> list[TaskTrials]:
    """Group files by task, in the order of the studies, and by model, in alphabetical order."""
    by_name = {study.name: study for study in studies()}
    order = list(by_name)

    def task_key(file: TrialFile) -> tuple[int, int, str]:
        designs = list(by_name[file.study].designs)
        known = designs.index(file.design) if file.design in designs else len(designs)
        return order.index(file.study), known, file.design

    found = []
    for _, of_task in groupby(sorted(files, key=task_key), key=task_key):
        # Of a log and its rescored copies, which began at the same time, the last is the one read last.
        its_files = sorted(of_task, key=lambda file: (file.model, file.created, file.rescored, file.path))
        models = tuple(
            model
            for _, of_model in groupby(its_files, key=lambda file: file.model)
            for model in _variants(list(of_model))
        )
        found.append(TaskTrials(by_name[its_files[0].study], its_files[0].design, models))
    return found


def _variants(files: Sequence[TrialFile]) -> list[ModelTrials]:
    """Split the files of one model by how it was asked, and name each part by what differs."""
    parts = _asked_alike(files)
    told = [
        {**part[0].setup, **{key: v for file in part for key, v in file.provenance.items()}} for part in parts
    ]
    settings = {key for file in files for key in file.setup}
    varied = [
        key
        for key in sorted(set().union(*told))
        if len({its.get(key, "") for its in told if key in its or key in settings}) > 1
    ]
    apart = [{key: its[key] for key in varied if key in its} for its in told]
    labels: list[str] = []
    for part, differences in zip(parts, apart, strict=True):
        if apart.count(differences) > 1:
            differences = {**differences, "prompts": _digest_of_prompts(part)}
        suffix = ", ".join(f"{key}={value}" for key, value in differences.items())
        label = printable(f"{part[0].model} ({suffix})" if suffix else part[0].model)
        labels.append(label if label not in labels else f"{label} [{len(labels) + 1}]")
    return [_join(label, part) for label, part in zip(labels, parts, strict=True)]


def _asked_alike(files: Sequence[TrialFile]) -> list[list[TrialFile]]:
    """Put those files together that nothing sets apart, and that the same other files are set apart from.

    A setting that only one of two files has sets them apart. Of where the questions come from and how they are worded,
    only what both files say does. A file that does not say which of two others it goes with goes with neither.
    """
    apart: list[set[int]] = [set() for _ in files]
    by_setup: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for i, file in enumerate(files):
        by_setup.setdefault(tuple(sorted(file.setup.items())), []).append(i)
    for alike in by_setup.values():
        for values in _told_by_several([files[i] for i in alike]):
            for value, those in values.items():
                others = {alike[j] for other, its in values.items() if other != value for j in its}
                for j in those:
                    apart[alike[j]] |= others
    parts: dict[tuple[Any, frozenset[int]], list[TrialFile]] = {}
    for setup, alike in by_setup.items():
        for i in alike:
            parts.setdefault((setup, frozenset(apart[i] - {i})), []).append(files[i])
    return list(parts.values())


def _told_by_several(files: Sequence[TrialFile]) -> Iterator[dict[str, set[int]]]:
    """Yield what files differ in: for each such thing, the files that say each value."""
    told: dict[Any, dict[str, set[int]]] = {}
    for i, file in enumerate(files):
        for key, value in file.provenance.items():
            told.setdefault(key, {}).setdefault(value, set()).add(i)
        if len(files) > 1:
            for cell, prompt in set(zip(asked(file.columns), file.columns[PROMPT].tolist(), strict=True)):
                if prompt:
                    told.setdefault(cell, {}).setdefault(prompt, set()).add(i)
    differing = {
        tuple((value, tuple(sorted(its))) for value, its in values.items()) for values in told.values()
    }
    yield from ({value: set(its) for value, its in values} for values in differing if len(values) > 1)


def _digest_of_prompts(files: Sequence[TrialFile]) -> str:
    """Return a digest of what the oldest of some files asked, and in which words."""
    its = set(zip(asked(files[0].columns), files[0].columns[PROMPT].tolist(), strict=True))
    return digest(repr(sorted(its)))[:8]


def _join(label: str, files: Sequence[TrialFile]) -> ModelTrials:
    """Put the trials of some files together; of what several files have, that of the newest stays.

    Columns that are those of one file are not copied.
    """
    parts = {key: [file.columns[key] for file in files] for key in files[0].columns}
    columns = {key: np.concatenate(its) if len(its) > 1 else its[0] for key, its in parts.items()}
    columns["file"] = np.repeat(np.arange(len(files)), [len(file) for file in files])
    keys = asked(columns, "epoch")
    newest = dict(zip(keys, columns["file"].tolist(), strict=True))
    rows = np.flatnonzero(columns["file"] == [newest[key] for key in keys])
    repeated, doubled = len(keys) - len(rows), len(rows) - len(newest)
    if repeated:
        columns = {key: column[rows] for key, column in columns.items()}
    return ModelTrials(printable(files[0].model), label, columns, tuple(files), repeated, doubled)
