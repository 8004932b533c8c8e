"""A study: what the report, the comparison and power analysis need to know of a scorer's trials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, get_type_hints

from confidence_tasks.analysis import checks
from confidence_tasks.analysis.checks import Check
from confidence_tasks.analysis.extra_tables import MakeTable
from confidence_tasks.analysis.figures import general
from confidence_tasks.analysis.figures.general import MakeFigure
from confidence_tasks.analysis.groups import Grouping, by_condition
from confidence_tasks.scorers._measures import Measure
from confidence_tasks.trial import Trial

if TYPE_CHECKING:
    from confidence_tasks.analysis.estimates import Distributions, Settings
    from confidence_tasks.analysis.groups import Cell
    from confidence_tasks.analysis.sections import ModelTrials, Section


class Experiment(Protocol):
    """All models of a task, resampled together by a study that knows a cheaper way than measure by measure."""

    def distributions(self, model: ModelTrials, cells: Iterable[Cell]) -> Distributions:
        """Return every measure of some cells of a model, over the resamples of their questions."""


Conduct: TypeAlias = "Callable[[Section, Settings], Experiment]"
"""Resamples all models of a task."""


@dataclass(frozen=True, slots=True)
class Paper:
    """Where a study was published."""

    authors: str
    year: int
    arxiv: str

    @property
    def cited(self) -> str:
        """How it is cited.

        Examples
        --------
        >>> Paper("Dai", 2026, "2603.09309").cited
        'Dai (2026), arXiv:2603.09309'
        """
        return f"{self.authors} ({self.year}), arXiv:{self.arxiv}"

    @property
    def url(self) -> str:
        """Its page."""
        return f"https://arxiv.org/abs/{self.arxiv}"


@dataclass(frozen=True, slots=True)
class Design:
    """One task of a study.

    Attributes
    ----------
    title : str
        The task in a few words.
    question : str
        What it asks of a model, in a sentence.
    baseline : str
        The condition that the others are compared with; empty for no comparison.
    reference : str
        The group of trials that models are compared on in a sentence; by default the baseline, or the first group.
    """

    title: str
    question: str
    baseline: str = ""
    reference: str = ""


@dataclass(frozen=True, eq=False)
class Study:
    """What the report, comparison and power analysis know of a study.

    Attributes
    ----------
    name, title : str
        Its name in commands and in words.
    paper : Paper
        Where it was published.
    scorer : str
        The scorer whose scores are trials.
    trial : type
        The typed dictionary that a trial is.
    measures : sequence of Measure
        Every measure, the headline first.
    designs : mapping of str to Design
        Its tasks by name.
    headline : tuple of str
        Measures of the main table.
    tested : tuple of str
        Measures whose difference from the baseline is tested by exchanging conditions within questions. They may
        read nothing but columns that mean the same under every condition.
    pooled : tuple of Measure
        Measures of all trials of a model together, of whatever condition.
    condition_numbers : callable
        Gives the columns of a trial that its condition settles, such as the penalty; raises ValueError for a label
        that is no condition of the study.
    required : tuple of str
        Columns of numbers that there is no report without.
    bounds : mapping of str to (float, float)
        Range of the numbers in some columns, which its measures take for granted.
    binary : tuple of str
        Columns that hold 0, 1 or nothing.
    ordered : tuple of (str, str)
        Pairs of columns that have both a number or neither, the first not above the second.
    grouping : callable
        Puts trials in the groups that the tables have.
    alternatives : bool
        Whether its conditions are ways to ask for the same, of which one can be the best; tables then mark it. Radii,
        penalties and levels are not: some are harder than others.
    figures : tuple of callable
        Make its figures.
    tables : tuple of callable
        Make what its paper sets side by side beyond the measures.
    checks : tuple of callable
        Look for what calls its numbers into question.
    subset_parameters : frozenset of str
        Parameters of the tasks that say which questions and conditions are asked, not how.
    how_values : frozenset of (str, str)
        Such parameters with the values that say how all the same.
    conduct : callable, optional
        Resamples all models of a task at once; by default each measure is resampled by itself.
    """

    name: str
    title: str
    paper: Paper
    scorer: str
    trial: type[Trial]
    measures: tuple[Measure, ...]
    designs: Mapping[str, Design]
    headline: tuple[str, ...]
    tested: tuple[str, ...] = ()
    pooled: tuple[Measure, ...] = ()
    condition_numbers: Callable[[str], Mapping[str, float]] = lambda label: {}
    required: tuple[str, ...] = ()
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    binary: tuple[str, ...] = ()
    ordered: tuple[tuple[str, str], ...] = ()
    grouping: Grouping = by_condition
    alternatives: bool = False
    figures: tuple[MakeFigure, ...] = general.GENERAL
    tables: tuple[MakeTable, ...] = ()
    checks: tuple[Check, ...] = checks.GENERAL
    subset_parameters: frozenset[str] = field(default=frozenset({"sources", "source", "n", "mirror"}))
    how_values: frozenset[tuple[str, str]] = frozenset()
    conduct: Conduct | None = None

    @cached_property
    def record(self) -> dict[str, type]:
        """The columns of a trial: ``float`` or ``str`` by name."""
        return {key: float if kind is float else str for key, kind in get_type_hints(self.trial).items()}

    @cached_property
    def measure(self) -> dict[str, Measure]:
        """The measures by name."""
        return {measure.name: measure for measure in self.measures + self.pooled}

    def how(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Keep the parameters of a task that say how is asked, not what.

        Examples
        --------
        >>> from confidence_tasks.analysis.studies import FERMIEVAL
        >>> FERMIEVAL.how({"n": 20, "split": "all", "seed": 1}), FERMIEVAL.how({"split": "cross"})
        ({'seed': 1}, {'split': 'cross'})
        """
        return {
            key: value
            for key, value in parameters.items()
            if key not in self.subset_parameters or (key, str(value)) in self.how_values
        }

    def design_of(self, task: str) -> str:
        """Return the design that a task belongs to: one task of lm-eval asks one cell of it.

        Examples
        --------
        >>> from confidence_tasks.analysis.studies import SCALES
        >>> SCALES.design_of("scale_granularity_0_20_mmlu")
        'scale_granularity'
        """
        known = [name for name in self.designs if task == name or task.startswith(f"{name}_")]
        return max(known, key=len, default=task)
