"""The trials of a task, by model, and groups of them: the trials that a column of a table is about.

A column is about the trials of one condition, from one or several sources of questions. Users may also name groups of
models, such as reasoning and chat models; some tables have a row with the mean of each.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.catalogue import studies
from confidence_tasks.logs.digests import digest
from confidence_tasks.logs.run_settings import setting_names, short_value
from confidence_tasks.logs.texts import printable
from confidence_tasks.logs.trial_columns import PROMPT
from confidence_tasks.logs.trial_files import TrialFile
from confidence_tasks.study.definition import Design, Study

Columns: TypeAlias = Mapping[str, NDArray[Any]]

RECORDED = "_replies"
"""End of the name of a task of recorded replies, after the name of its study or of one of the study's tasks."""


def question_keys(columns: Columns, *more: str) -> list[tuple[Any, ...]]:
    """Return condition, source and question of each trial, and its values in further columns."""
    keys = ("condition", "source", "question_id", *more)
    return list(zip(*(columns[key].tolist() for key in keys), strict=True))


@dataclass(frozen=True, slots=True)
class ModelTrials:
    """All trials of one model with one set of settings, in one task.

    Attributes
    ----------
    name : str
        Name of the model.
    label : str
        The name, followed by the settings that distinguish this variant of the model from others.
    columns : mapping of str to ndarray, shape (n,)
        The trial record, with ``sample_id``, ``epoch`` and ``file``, the position in ``files``.
    files : tuple of TrialFile
        The files, oldest first; a rescored copy of a log follows the log.
    repeated : int
        Number of trials left out because a later file has the same question, condition and epoch.
    doubled : int
        Number of trials that share question, condition and epoch with another trial of the same file.
    absent : tuple of str
        Conditions that are left out because no trial has a confidence there, and the study allows for it.
    """

    name: str
    label: str
    columns: Mapping[str, NDArray[Any]]
    files: tuple[TrialFile, ...]
    repeated: int
    doubled: int = 0
    absent: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.columns["question_id"])

    @property
    def stopped(self) -> int:
        """Number of samples that were skipped because runs stopped early."""
        return sum(file.stopped for file in self.files)


@dataclass(frozen=True, slots=True)
class TaskTrials:
    """One task of a study, with the trials of every model."""

    study: Study
    task: str
    models: tuple[ModelTrials, ...]

    @property
    def design(self) -> Design:
        """The design of the task. A task that the study does not define has its own name and the study's baseline."""
        baselines = {design.baseline for design in self.study.designs.values()}
        shared = baselines.pop() if len(baselines) == 1 else ""
        return self.study.designs.get(self.task, Design(printable(self.task), "", baseline=shared))

    @property
    def is_recorded(self) -> bool:
        """Whether the trials are of replies that were recorded in a file, to which no run can add."""
        return self.task.endswith(RECORDED) and self.task not in self.study.designs

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of the study that the trials may be of: this one, or those that recorded replies answer."""
        if not self.is_recorded:
            return (self.task,)
        asked_in = self.task.removesuffix(RECORDED)
        return (asked_in,) if asked_in in self.study.designs else tuple(self.study.designs)

    @property
    def title(self) -> str:
        """The title of the task; if all questions of a question set come from another source, the source's name."""
        defaults = [each.default for each in self.design.parameters if each.name == "source"]
        sources = {str(source) for model in self.models for source in np.unique(model.columns["source"])}
        if defaults != [self.task] or self.task in sources or len(sources) != 1:
            return self.design.title
        return printable(sources.pop())

    @property
    def slug(self) -> str:
        """The name of the task, made safe for file names and for anchors in a page."""
        safe = re.sub(r"[^A-Za-z0-9_-]", "_", self.task)[:60]
        return safe if safe == self.task else f"{safe}_{crc32(self.task.encode()):08x}"


def group_by_task(files: Iterable[TrialFile]) -> list[TaskTrials]:
    """Group files by task, in the order of the studies, and by model, in alphabetical order."""
    by_name = {study.name: study for study in studies()}
    order = list(by_name)

    def task_key(file: TrialFile) -> tuple[int, int, str]:
        designs = list(by_name[file.study].designs)
        position = designs.index(file.design) if file.design in designs else len(designs)
        return order.index(file.study), position, file.design

    tasks = []
    for _, of_task in groupby(sorted(files, key=task_key), key=task_key):
        ordered = sorted(of_task, key=lambda file: (file.model, *_age(file)))
        study = by_name[ordered[0].study]
        models = tuple(
            _without_absent(model, study.condition_rules.absent_without_values)
            for _, of_model in groupby(_without_invalidated(ordered), key=lambda file: file.model)
            for model in _variants(list(of_model))
        )
        if models:
            tasks.append(TaskTrials(study, ordered[0].design, models))
    return tasks


def _without_absent(model: ModelTrials, optional: frozenset[str]) -> ModelTrials:
    """Leave out optional conditions without a confidence in any trial, unless nothing would be left."""
    if not optional:
        return model
    condition, is_known = model.columns["condition"], ~np.isnan(model.columns["confidence"])
    absent = sorted(optional & (set(condition) - set(condition[is_known])))
    is_kept = ~np.isin(condition.astype(str), absent)
    if not absent or not is_kept.any():
        return model
    columns = {name: column[is_kept] for name, column in model.columns.items()}
    return replace(model, columns=columns, absent=tuple(absent))


def _age(file: TrialFile) -> tuple[str, ...]:
    """Return the key that sorts the files of a model, the newest last.

    A log and its copies, which may be rescored, edited or have invalidated samples, have the same start. The path
    decides only between files that are equally old, so that the order is the same on every machine.
    """
    return file.created, file.changed, file.written, file.path


def _start(file: TrialFile) -> tuple[str, ...]:
    return file.created, file.rescored, file.path


def _without_invalidated(files: Sequence[TrialFile]) -> list[TrialFile]:
    """Remove the samples that a later copy of the same log calls invalid, and files without trials."""
    later: dict[str, set[tuple[str, int]]] = {}
    kept = []
    for file in reversed(files):
        invalid = later.setdefault(file.run, set())
        if file.run and invalid:
            keys = zip(file.columns["sample_id"].tolist(), file.columns["epoch"].tolist(), strict=True)
            rows = np.flatnonzero([key not in invalid for key in keys])
            file = replace(file, columns={name: column[rows] for name, column in file.columns.items()})
        invalid.update(file.invalidated)
        if len(file):
            kept.append(file)
    return kept[::-1]


def _variants(files: Sequence[TrialFile]) -> list[ModelTrials]:
    """Split the files of one model by its settings, and label each variant by the settings that differ."""
    # The order of rows depends on no date of a file, which copying changes.
    variants = sorted(_compatible_files(files), key=lambda variant: min(map(_start, variant)))
    return [_join(label, variant) for label, variant in zip(_labels(variants), variants, strict=True)]


def _labels(variants: Sequence[Sequence[TrialFile]]) -> list[str]:
    """Return a label of each variant of a model: its name, and the settings that differ."""
    differing = _differing_settings(variants)
    names = setting_names(dict.fromkeys(chain.from_iterable(differing)))
    labels: list[str] = []
    for variant, differences in zip(variants, differing, strict=True):
        if differing.count(differences) > 1:
            differences = {**differences, "prompts": _prompts_digest(variant[0])}
        marks = [f"{names.get(key, key)}={short_value(value)}" for key, value in differences.items()]
        if any(file.stopped for file in variant):
            marks.append(STOPPED_EARLY)
        suffix = ", ".join(marks)
        label = printable(f"{variant[0].model} ({suffix})" if suffix else variant[0].model)
        labels.append(label if label not in labels else f"{label} [{len(labels) + 1}]")
    return labels


def _differing_settings(variants: Sequence[Sequence[TrialFile]]) -> list[dict[str, str]]:
    """Return, for each variant, the settings in which it differs from others."""
    settings = [_settings(variant) for variant in variants]
    of_setup = {key for variant in variants for file in variant for key in file.setup}
    varied = _varied(settings, of_setup)
    return [{key: each[key] for key in varied if key in each} for each in settings]


def _varied(settings: Sequence[Mapping[str, str]], of_setup: Container[str]) -> list[str]:
    """Return the settings that differ; a missing one differs from others only if it is no provenance."""
    return [
        key
        for key in sorted(set().union(*settings))
        if len({each.get(key, "") for each in settings if key in each or key in of_setup}) > 1
    ]


def _settings(variant: Sequence[TrialFile]) -> dict[str, str]:
    """Return the settings of a variant of a model, and the provenance of all of its files."""
    settings = dict(variant[0].setup)
    for file in variant:
        settings |= file.provenance
    return settings


def _prompts_digest(file: TrialFile) -> str:
    prompts = sorted(set(zip(question_keys(file.columns), file.columns[PROMPT].tolist(), strict=True)))
    return digest(repr(prompts))[:8]


STOPPED_EARLY = "stopped early"
"""What labels say of a model whose run stopped early: the nominal coverage of its ordinary intervals does not hold."""

_MARKED = re.compile(rf"[( ]{STOPPED_EARLY}\)(?: \[\d+\])?")


def is_marked(label: str) -> bool:
    """Return whether the label of a model says that its run stopped early.

    Examples
    --------
    >>> is_marked("m (effort=low, stopped early)"), is_marked("m (stopped early) [2]"), is_marked("stopped early")
    (True, True, False)
    """
    match = _MARKED.search(label)
    return match is not None and match.end() == len(label)


def _compatible_files(files: Sequence[TrialFile]) -> list[list[TrialFile]]:
    """Partition files into variants: files that can be pooled, because nothing that could change a reply differs.

    Two files conflict if a setting differs or only one of them has it. Provenance and prompts conflict only if both
    files have a value. A variant holds files with the same settings that conflict with the same other files; so a file
    that could be pooled with either of two conflicting files is pooled with neither. A run that stopped early is pooled
    with its own copies only: its confidence sequence holds for its trials alone.
    """
    by_setup: dict[tuple[Any, str], list[int]] = {}
    for i, file in enumerate(files):
        stopped_run = (file.run or file.path) if file.stopped else ""
        by_setup.setdefault((tuple(sorted(file.setup.items())), stopped_run), []).append(i)
    variants: dict[tuple[Any, frozenset[int]], list[TrialFile]] = {}
    for setup, members in by_setup.items():
        conflicts = _conflicts([files[i] for i in members])
        for i, with_others in zip(members, conflicts, strict=True):
            variants.setdefault((setup, with_others), []).append(files[i])
    return list(variants.values())


def _conflicts(files: Sequence[TrialFile]) -> list[frozenset[int]]:
    """Return, for each file, the positions of the other files that its provenance or prompts differ from."""
    conflicts: list[set[int]] = [set() for _ in files]
    for values in _differences(files):
        for value, positions in values.items():
            others = set().union(*(those for other, those in values.items() if other != value))
            for i in positions:
                conflicts[i] |= others
    return [frozenset(others - {i}) for i, others in enumerate(conflicts)]


def _differences(files: Sequence[TrialFile]) -> Iterator[dict[str, set[int]]]:
    """Yield, for each item of provenance or prompt that differs between files, the files that have each value."""
    if len(files) == 1:
        return
    items: dict[Any, dict[str, set[int]]] = {}
    for i, file in enumerate(files):
        for key, value in file.provenance.items():
            items.setdefault(key, {}).setdefault(value, set()).add(i)
        for key, prompt in _prompts(file):
            items.setdefault(key, {}).setdefault(prompt, set()).add(i)
    distinct = {
        tuple((value, tuple(sorted(positions))) for value, positions in values.items())
        for values in items.values()
        if len(values) > 1
    }
    for values in distinct:
        yield {value: set(positions) for value, positions in values}


def _prompts(file: TrialFile) -> set[tuple[Any, str]]:
    """Return the digests of the prompts of a file that are known, by condition and question."""
    pairs = set(zip(question_keys(file.columns), file.columns[PROMPT].tolist(), strict=True))
    return {(key, prompt) for key, prompt in pairs if prompt}


def _join(label: str, files: Sequence[TrialFile]) -> ModelTrials:
    """Pool the trials of some files; of trials that several files have, those of the newest file stay.

    The columns of a single file are not copied.
    """
    parts = {key: [file.columns[key] for file in files] for key in files[0].columns}
    columns = {
        key: np.concatenate(of_files) if len(of_files) > 1 else of_files[0] for key, of_files in parts.items()
    }
    columns["file"] = np.repeat(np.arange(len(files)), [len(file) for file in files])
    keys = question_keys(columns, "epoch")
    newest = dict(zip(keys, columns["file"].tolist(), strict=True))
    rows = np.flatnonzero(columns["file"] == [newest[key] for key in keys])
    repeated, doubled = len(keys) - len(rows), len(rows) - len(newest)
    if repeated:
        columns = {key: column[rows] for key, column in columns.items()}
    return ModelTrials(printable(files[0].model), label, columns, tuple(files), repeated, doubled)


def in_order(labels: Iterable[str]) -> list[str]:
    """Return the distinct labels, ordered by the numbers in them.

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
