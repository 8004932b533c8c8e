"""Groups of the trials of a model: the trials that a column of a table is about.

A column is about the trials of one condition, from one or several sources of questions. Users may also name groups of
models, such as reasoning and chat models; some tables have a row with the mean of each.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.logs.about_models import AboutModels
from confidence_tasks.logs.task_trials import Columns, ModelTrials, in_order
from confidence_tasks.report.study_report import study_report
from confidence_tasks.statistics.core import IntArray
from confidence_tasks.study.definition import Study

BY_CONDITION = "condition"
ALL_TRIALS = "all trials"
"""Grouping, and label of its only group: all trials of a model, whatever the condition."""

ModelGroups: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Pairs of the name of a group and the names of its models."""


@dataclass(frozen=True, slots=True, eq=False)
class TrialSubset:
    """Trials of one model from one source of questions; ``rows`` holds their positions."""

    source: str
    rows: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A group of trials, which is a column of a table: the mean over some subsets.

    Attributes
    ----------
    label : str
        Heading of the column.
    by : str
        The grouping, such as ``"condition"``.
    subsets : tuple of TrialSubset
        The subsets that are averaged; trials within a subset are pooled. The papers average over sources, for example.
    not_averaged : tuple of TrialSubset
        Subsets of sources that other columns lack. They have estimates of their own and do not enter the mean.
    skips_undefined : bool
        If True, subsets where a measure is undefined are left out of the mean; otherwise the mean is undefined.
    """

    label: str
    by: str
    subsets: tuple[TrialSubset, ...]
    not_averaged: tuple[TrialSubset, ...] = ()
    skips_undefined: bool = False

    @property
    def all_subsets(self) -> tuple[TrialSubset, ...]:
        """The subsets, with those that do not enter the mean."""
        return *self.subsets, *self.not_averaged

    @property
    def cells(self) -> tuple[TrialSubset, ...]:
        """The earlier name of ``subsets``, for one release."""
        warnings.warn("Group.cells is Group.subsets", DeprecationWarning, stacklevel=2)
        return self.subsets

    @property
    def n(self) -> int:
        """The number of trials."""
        return sum(len(subset.rows) for subset in self.subsets)


def by_condition(columns: Columns) -> list[Group]:
    """Group trials by condition; the subsets of a condition are its sources, over which the papers average.

    The mean is over the sources that all conditions share, so that two columns differ by the condition alone.
    Conditions that lack the most common source are averaged over the sources that they share with each other, and so
    on.

    Examples
    --------
    >>> columns = {"condition": np.array(["0-20", "0-5"]), "source": np.array(["a", "a"])}
    >>> [(group.label, group.n) for group in by_condition(columns)]
    [('0-5', 1), ('0-20', 1)]
    """
    subsets = {
        label: split_by_source(columns, columns["condition"] == label)
        for label in in_order(columns["condition"])
    }
    shared = _shared_sources(
        {label: {subset.source for subset in of_label} for label, of_label in subsets.items()}
    )
    return [
        Group(
            label,
            BY_CONDITION,
            tuple(subset for subset in of_label if subset.source in shared[label]),
            tuple(subset for subset in of_label if subset.source not in shared[label]),
        )
        for label, of_label in subsets.items()
    ]


def groups_of(study: Study, columns: Columns) -> list[Group]:
    """Return the groups of trials that the tables of a study have as rows: its own, or one per condition."""
    own = study_report(study).grouping
    return by_condition(columns) if own is None else list(own(columns))


def pooled_groups(study: Study, columns: Columns) -> list[Group]:
    """Return the group of all trials, if the study has pooled measures."""
    chosen = np.ones(len(columns["question_id"]), dtype=bool)
    return [Group(ALL_TRIALS, ALL_TRIALS, split_by_source(columns, chosen))] if study.pooled_measures else []


def _shared_sources(by_condition: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the sources that each condition is averaged over, given the sources of each condition."""
    if not by_condition:
        return {}
    sources = sorted(set[str]().union(*by_condition.values()))
    most_common = max(sources, key=lambda source: sum(source in each for each in by_condition.values()))
    with_it = {label: each for label, each in by_condition.items() if most_common in each}
    without_it = {label: each for label, each in by_condition.items() if label not in with_it}
    return dict.fromkeys(with_it, set.intersection(*with_it.values())) | _shared_sources(without_it)


def split_by_source(columns: Columns, chosen: NDArray[np.bool_]) -> tuple[TrialSubset, ...]:
    """Return the chosen trials as one subset for each source."""
    rows = np.flatnonzero(chosen)
    sources = columns["source"][rows]
    return tuple(TrialSubset(source, rows[sources == source]) for source in sorted(set(sources.tolist())))


def parse_groups(texts: Iterable[str]) -> ModelGroups:
    """Parse groups of models from a command line; raise ValueError unless each is a name and models.

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
    """Return True if ``members`` has the model by its name, its label or its name without the provider."""
    return not {model.name, model.label, model.name.rpartition("/")[2]}.isdisjoint(members)


def ordered_by_group(models: Sequence[ModelTrials], groups: ModelGroups) -> list[ModelTrials]:
    """Return the models of each group in turn, followed by the models without a group."""
    of_groups = [model for _, members in groups for model in members_of(models, members)]
    return list({model.label: model for model in (*of_groups, *models)}.values())


def members_of(models: Sequence[ModelTrials], members: Sequence[str]) -> list[ModelTrials]:
    """Return the models of a group, in the order of ``members``."""
    return [model for member in members for model in models if is_member(model, [member])]


def groups_by_kind(about: AboutModels, names: Sequence[str]) -> ModelGroups:
    """Return the models of each kind, in the order of the file, as groups; only models with one of the ``names``.

    Examples
    --------
    >>> from confidence_tasks.logs.about_models import AboutModel
    >>> about = ("o3", AboutModel(kind="Reasoning")), ("gpt-4o", AboutModel(kind="chat")), ("x", AboutModel())
    >>> groups_by_kind(about, ["openai/o3", "o3", "gpt-4o"])
    (('reasoning', ('o3',)), ('chat', ('gpt-4o',)))
    """
    kinds: dict[str, list[str]] = {}
    for name, facts in about:
        if facts.kind and name in names:
            kinds.setdefault(facts.kind.lower(), []).append(name)
    return tuple((kind, tuple(models)) for kind, models in kinds.items())
