"""Which trials a column of a table is about, and the groups of models that the user names.

A column is about the trials of a condition, from one source or from several. Groups of models, such as reasoning and
chat models, have rows of their means in tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.statistics.core import IntArray

if TYPE_CHECKING:
    from confidence_tasks.report.task_trials import ModelTrials


Columns: TypeAlias = Mapping[str, NDArray[Any]]

BY_CONDITION = "condition"

ModelGroups: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Names of groups with the names of their models."""


def asked(columns: Columns, *more: str) -> list[tuple[Any, ...]]:
    """Return condition, source and question of each trial, and what further columns say of it."""
    keys = ("condition", "source", "question_id", *more)
    return list(zip(*(columns[key].tolist() for key in keys), strict=True))


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


Grouping: TypeAlias = Callable[[Columns], list[Group]]


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
    return tuple(TrialSubset(source, rows[sources == source]) for source in sorted({*map(str, sources)}))


def in_order(labels: Iterable[str]) -> list[str]:
    """Return distinct labels, ordered by the numbers in them.

    Examples
    --------
    >>> in_order(["lambda=10", "lambda=0.5", "lambda=2", "lambda=2"])
    ['lambda=0.5', 'lambda=2', 'lambda=10']
    >>> in_order(["age=80+", "age=0-19", "age=20-39"])
    ['age=0-19', 'age=20-39', 'age=80+']
    """
    return sorted(set(map(str, labels)), key=_natural)


_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def _natural(label: str) -> tuple[str, Sequence[float], str]:
    return _NUMBER.split(label)[0], [float(number) for number in _NUMBER.findall(label)], label


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
        members = tuple(model.strip() for model in models.split(",") if model.strip())
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
