"""The trials of a task, model by model, and those that a column of a table is about.

A column is about the trials of a condition, from one source or from several. Groups of models that the user names, such
as reasoning and chat models, have rows of their means in tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.catalogue import studies
from confidence_tasks.report.labels import printable
from confidence_tasks.report.trial_files import PROMPT, TrialFile, digest
from confidence_tasks.statistics.core import IntArray
from confidence_tasks.study.definition import Design, Study

Columns: TypeAlias = Mapping[str, NDArray[Any]]

BY_CONDITION = "condition"

ModelGroups: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Names of groups with the names of their models."""


def asked(columns: Columns, *more: str) -> list[tuple[Any, ...]]:
    """Return condition, source and question of each trial, and what further columns say of it."""
    keys = ("condition", "source", "question_id", *more)
    return list(zip(*(columns[key].tolist() for key in keys), strict=True))


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
        """Design of the task; a task of the user's own has its name and the study's baseline."""
        baselines = {design.baseline for design in self.study.designs.values()}
        shared = baselines.pop() if len(baselines) == 1 else ""
        return self.study.designs.get(self.task, Design(printable(self.task), "", baseline=shared))

    @property
    def slug(self) -> str:
        """The task's name as a part of file names and of addresses in a page, whatever a file calls its task."""
        kept = re.sub(r"[^A-Za-z0-9_-]", "_", self.task)[:60]
        return kept if kept == self.task else f"{kept}_{crc32(self.task.encode()):08x}"


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
            oldest = part[0].columns
            prompts = sorted(set(zip(asked(oldest), oldest[PROMPT].tolist(), strict=True)))
            differences = {**differences, "prompts": digest(repr(prompts))[:8]}
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


# Which trials a column of a table is about ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class TrialSubset:
    """Trials of one model from one source of questions; ``rows`` are their positions."""

    source: str
    rows: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A column of a table, headed by its label: the mean over some cells.

    There is one cell for trials that are pooled, and several where the papers average, such as over sources. ``by``
    says what the trials are grouped by. Cells ``apart`` are of sources that other columns lack: they have entries
    of their own, and no part in the mean. With ``skips_undefined``, cells where a measure is undefined are left out
    of the mean, instead of making it undefined.
    """

    label: str
    by: str
    cells: tuple[TrialSubset, ...]
    apart: tuple[TrialSubset, ...] = ()
    skips_undefined: bool = False

    @property
    def n(self) -> int:
        """Number of trials."""
        return sum(len(cell.rows) for cell in self.cells)


def by_condition(columns: Columns) -> list[Group]:
    """Group trials by condition; over sources, the mean, as the papers pool their data sets.

    The mean is over the sources that conditions share, so that two columns differ by the condition alone. Conditions
    that lack the source asked most often are averaged over the sources that these share, and so on.

    Examples
    --------
    >>> columns = {"condition": np.array(["0-20", "0-5"]), "source": np.array(["a", "a"])}
    >>> [(group.label, group.n) for group in by_condition(columns)]
    [('0-5', 1), ('0-20', 1)]
    """
    cells = {
        label: split_by_source(columns, columns["condition"] == label)
        for label in in_order(columns["condition"])
    }
    shared = _shared_sources({label: {cell.source for cell in its} for label, its in cells.items()})
    return [
        Group(
            label,
            BY_CONDITION,
            tuple(cell for cell in its if cell.source in shared[label]),
            tuple(cell for cell in its if cell.source not in shared[label]),
        )
        for label, its in cells.items()
    ]


def _shared_sources(asked: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the sources that the mean of each condition is over."""
    if not asked:
        return {}
    every = sorted(set[str]().union(*asked.values()))
    usual = max(every, key=lambda source: sum(source in its for its in asked.values()))
    having = {label: its for label, its in asked.items() if usual in its}
    common = set.intersection(*having.values())
    others = {label: its for label, its in asked.items() if label not in having}
    return dict.fromkeys(having, common) | _shared_sources(others)


def split_by_source(columns: Columns, chosen: NDArray[np.bool_]) -> tuple[TrialSubset, ...]:
    """Return the chosen trials as one cell a source."""
    rows = np.flatnonzero(chosen)
    sources = columns["source"][rows]
    return tuple(TrialSubset(source, rows[sources == source]) for source in sorted(set(sources.tolist())))


def in_order(labels: Iterable[str]) -> list[str]:
    """Return distinct labels, ordered by the numbers in them.

    Examples
    --------
    >>> in_order(["lambda=10", "lambda=0.5", "lambda=2", "lambda=2"])
    ['lambda=0.5', 'lambda=2', 'lambda=10']
    >>> in_order(["age=80+", "age=0-19", "age=20-39"])
    ['age=0-19', 'age=20-39', 'age=80+']
    """
    return sorted(
        set(map(str, labels)),
        key=lambda label: (_NUMBER.split(label)[0], [*map(float, _NUMBER.findall(label))], label),
    )


_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def parse_groups(texts: Iterable[str]) -> ModelGroups:
    """Read groups as a command line gives them; ValueError unless each is a name and models.

    Examples
    --------
    >>> parse_groups(["reasoning=o3,deepseek-r1", "chat=gpt-4o"])
    (('reasoning', ('o3', 'deepseek-r1')), ('chat', ('gpt-4o',)))
    """
    groups = []
    for text in texts:
        name, _, models = text.partition("=")
        members = tuple(filter(None, map(str.strip, models.split(","))))
        if not name.strip() or not members:
            raise ValueError(f"{text!r} is not a name and models, such as reasoning=openai/o3,deepseek-r1")
        groups.append((name.strip(), members))
    return tuple(groups)


def is_member(model: ModelTrials, members: Sequence[str]) -> bool:
    """Return whether a model is named, by its whole name, its label or the name behind its provider."""
    return not {model.name, model.label, model.name.rpartition("/")[2]}.isdisjoint(members)


def ordered_by_group(models: Sequence[ModelTrials], groups: ModelGroups) -> list[ModelTrials]:
    """Return the models of each group in turn, then those of none."""
    of_groups = [model for _, members in groups for model in members_of(models, members)]
    return list({model.label: model for model in (*of_groups, *models)}.values())


def members_of(models: Sequence[ModelTrials], members: Sequence[str]) -> list[ModelTrials]:
    """Return the models of a group, in the order in which the user names them."""
    return [model for member in members for model in models if is_member(model, [member])]
