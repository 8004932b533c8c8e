"""The declaration of a study, from which the harnesses, the report and the commands derive everything else."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_type_hints

import numpy as np

from confidence_tasks.study.legacy import Reference
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.moved import moved_attribute, with_current_names
from confidence_tasks.study.parameter import (
    ALPHA,
    CACHE,
    EFFORTS,
    FEWSHOT,
    METRICS,
    MIRROR,
    SEED,
    STOP,
    STRUCTURED,
    Parameter,
    did_you_mean,
)
from confidence_tasks.study.records import Asking, ConditionRules, Pooling, Scoring, Simulation, Viewer
from confidence_tasks.study.stage import Replies, Stage, check_stages
from confidence_tasks.study.trial import Question, Trial

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Paper:
    """The paper that a study implements.

    Attributes
    ----------
    authors : str
        Last names of the authors, as a citation prints them.
    year : int
        Year of publication.
    arxiv : str
        arXiv identifier, such as ``2603.09309``.
    """

    authors: str
    year: int
    arxiv: str

    @property
    def citation(self) -> str:
        """Citation in one line.

        Examples
        --------
        >>> Paper("Dai", 2026, "2603.09309").citation
        'Dai (2026), arXiv:2603.09309'
        """
        return f"{self.authors} ({self.year}), arXiv:{self.arxiv}"

    @property
    def url(self) -> str:
        """Address of the paper's page on arXiv."""
        return f"https://arxiv.org/abs/{self.arxiv}"


@dataclass(frozen=True, slots=True)
class Design:
    """One task of a study.

    Attributes
    ----------
    title : str
        Title of the task in reports.
    question : str
        The research question of the task, in one sentence.
    baseline : str
        Condition that the other conditions are compared with; empty for no comparison.
    reference_group : str
        Group of trials by which a summary compares models; by default the baseline, or else the first group.
    conditions : tuple of str
        Conditions that are asked by default; by default those of the study.
    parameters : tuple of Parameter
        Parameters of the task; by default those of the study.
    offline_source : str
        ``Asking.offline_source`` for this task; by default that of the study.
    """

    title: str
    question: str
    baseline: str = ""
    reference_group: str = ""
    conditions: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    offline_source: str = ""


_MAX_REPR_LENGTH = 80


def short_repr(value: Any) -> str:
    """Return the representation of a value from a file, cut to 80 characters.

    Examples
    --------
    >>> short_repr("banana"), short_repr(0.5), len(short_repr(["x"] * 100))
    ("'banana'", '0.5', 81)
    """
    text = f"{value:g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= _MAX_REPR_LENGTH else f"{text[:_MAX_REPR_LENGTH]}…"


@dataclass(frozen=True, slots=True)
class Domain:
    """The values that a column of trials may have. Trials with other values are left out when a file is read.

    Attributes
    ----------
    low, high : float
        Bounds of a number. Numbers must be finite.
    values : tuple of str or of float
        The only allowed values; empty to allow any.
    required : bool
        Whether every trial must have a value. By default a value may be missing: NaN or the empty text.
    check : callable, optional
        ``check(text)`` raises ValueError for a text that is not allowed.
    not_above : str
        Another column that is an upper bound of this one. A trial has a number in both columns or in neither.
    binary_where : str
        Another column. In trials that have a number there, this column is 0, 1 or missing.
    """

    low: float = -math.inf
    high: float = math.inf
    values: tuple[str, ...] | tuple[float, ...] = ()
    required: bool = False
    check: Callable[[str], object] | None = None
    not_above: str = ""
    binary_where: str = ""

    def faults(self, column: NDArray[Any]) -> Iterator[tuple[int, str]]:
        """Yield the position of each value that is not allowed, and what is wrong with it.

        ``not_above`` and ``binary_where``, which need other columns, are not checked here.
        """
        if column.dtype == object:
            missing = column == ""
            wrong = ~np.isin(column, [*self.values, ""]) if self.values else np.zeros(len(column), dtype=bool)
        else:
            missing = np.isnan(column)
            wrong = ~missing & ~(np.isfinite(column) & (column >= self.low) & (column <= self.high))
            if self.values:
                wrong |= ~missing & ~np.isin(column, self.values)
        if self.required:
            yield from ((row, "is missing") for row in np.flatnonzero(missing).tolist())
        yield from (
            (row, f"is {short_repr(column[row])}, {self._allowed()}")
            for row in np.flatnonzero(wrong).tolist()
        )
        if self.check is not None:
            for text in dict.fromkeys(column):
                try:
                    self.check(text)
                except ValueError as error:
                    rows = np.flatnonzero(column == text).tolist()
                    yield from ((row, f"is {short_repr(text)}: {error}") for row in rows)

    def _allowed(self) -> str:
        if self.values:
            return (
                f"which is none of {', '.join(f'{v:g}' if isinstance(v, float) else v for v in self.values)}"
            )
        bounded = math.isfinite(self.low) or math.isfinite(self.high)
        return f"not within [{self.low:g}, {self.high:g}]" if bounded else "which is not finite"


BINARY = Domain(values=(0.0, 1.0))
"""Domain of a number that is 0, 1 or missing."""


class _TakesOldArguments(type):
    """Lets a study of version 0.1 load: its arguments are put where they are now, with a warning."""

    def __call__(cls, **arguments: Any) -> Any:
        return super().__call__(**with_current_names(arguments))


@dataclass(frozen=True, eq=False, kw_only=True)
class Study(metaclass=_TakesOldArguments):
    """Declaration of a study: its tasks, questions, prompts, reader, measures and report.

    Both harnesses, the report and all commands work from this object. A study needs at least ``name``, ``title``,
    ``module``, ``designs``, ``questions``, ``conditions``, ``stages``, ``trial``, ``read``, ``measures`` and
    ``headline_measures``. The other fields are optional; most of them are in records, by what they are about.

    The argument ``parameters`` of functions is a mapping with the value of every parameter of the task, and with the
    name of the task as ``task``.

    Attributes
    ----------
    name : str
        Name of the study in commands and logs.
    title : str
        Title of the study in reports.
    module : str
        Name of the module that holds the study as ``STUDY``: pass ``__name__``. Inspect names the tasks of the study
        after its top-level package.
    version : str
        Version of the tasks, such as ``1-A``.
    paper : Paper, optional
        The paper that the study implements.
    designs : mapping of str to Design
        The tasks of the study, by name. Both harnesses run each of them. A study without tasks reads logs of other
        tasks only.
    parameters : tuple of Parameter
        Parameters of the tasks. Every task also has ``seed``, ``fewshot``, ``efforts``, ``metrics`` and ``cache``.
    questions : callable
        ``questions(parameters)`` returns the questions in the order in which they are asked. The mapping also has the
        labels of the ``conditions``, and the number of worked examples as ``fewshot``, which ``n`` includes.
    conditions : tuple of str
        Labels of the conditions. Every question is asked under every condition, unless ``condition_rules.of_question``
        is given.
    condition_rules : ConditionRules
        How conditions are selected, named and recorded.
    stages : tuple of Stage or callable
        The model calls of a trial, or ``stages(parameters)`` that returns them.
    asking : Asking
        How the questions are put: their source, repetitions, metadata and worked examples.
    trial : type
        Typed dictionary of a trial: the columns that ``read`` returns.
    domains : mapping of str to Domain
        Allowed values of the study's own columns. The common columns have domains already.
    read : callable
        ``read(question, condition, replies)`` reads the replies into a trial, where ``replies[stage][sample]`` is a
        :class:`~confidence_tasks.study.stage.ModelReply`. It never raises, whatever a model replied.
    scoring : Scoring
        The scorer that a harness calls, if it does more than ``read``, and the metrics of a log.
    measures : tuple of Measure
        All measures of the study, the headline first.
    headline_measures : tuple of str
        Names of the measures in the main table of the report, and of those that a log contains by default.
    tested_measures : tuple of str
        Names of the measures whose differences from the baseline are tested. They may only read columns that mean the
        same under every condition.
    pooled_measures : tuple of Measure
        Further measures, computed over the trials of all conditions together.
    viewer : Viewer
        What Inspect's log viewer shows of a trial.
    pooling : Pooling
        Which runs a report puts together.
    simulation : Simulation
        How a simulated subject, parser or judge replies, and the true values of the measures.
    report : str
        Name of the study's :class:`~confidence_tasks.report.study_report.StudyReport`, with its figures, tables,
        checks, forms of files and designs for power analysis, such as ``my_study.report:REPORT``. It is imported when
        a report is made. Without one, the report is the general one.
    """

    name: str
    title: str
    module: str
    version: str = "1-A"
    paper: Paper | None = None
    designs: Mapping[str, Design]
    parameters: tuple[Parameter, ...] = ()
    questions: Callable[[Mapping[str, Any]], Sequence[Question]]
    conditions: tuple[str, ...] = ()
    condition_rules: ConditionRules = field(default_factory=ConditionRules)
    stages: tuple[Stage, ...] | Callable[[Mapping[str, Any]], Sequence[Stage]]
    asking: Asking = field(default_factory=Asking)
    trial: type[Trial]
    domains: Mapping[str, Domain] = field(default_factory=dict)
    read: Callable[[Question, str, Replies], Trial]
    scoring: Scoring = field(default_factory=Scoring)
    measures: tuple[Measure, ...]
    headline_measures: tuple[str, ...]
    tested_measures: tuple[str, ...] = ()
    pooled_measures: tuple[Measure, ...] = ()
    viewer: Viewer = field(default_factory=Viewer)
    pooling: Pooling = field(default_factory=Pooling)
    simulation: Simulation = field(default_factory=Simulation)
    report: str | Mapping[str, Any] = ""

    if not TYPE_CHECKING:  # a type checker refuses names that do not exist

        def __getattr__(self, name: str) -> Any:
            """Return a field by its name in version 0.1, with a warning."""
            return moved_attribute(self, name)

    def __post_init__(self) -> None:
        """Check the names and the stages, so that a mistake shows when the study is loaded, not after paid calls."""
        try:
            self._check_names()
            self._check_tasks()
        except ValueError as error:
            raise ValueError(f"study {self.name}: {error}") from error

    def _check_names(self) -> None:
        """Check that every measure and column that is named exists."""
        measures = [measure.name for measure in self.measures + self.pooled_measures]
        if repeated := _repeated(measures):
            raise ValueError(f"two measures are called {repeated}")
        if lacking := sorted(Trial.__annotations__.keys() - self.column_types.keys()):
            raise ValueError(f"its trial lacks {', '.join(lacking)}; derive it from Trial")
        in_domains = [
            name
            for domain in self.domains.values()
            for name in (domain.not_above, domain.binary_where)
            if name
        ]
        parameters = {each.name for task in self.designs or [""] for each in self.task_parameters(task)}
        subset = self.pooling.subset_parameters - {"source", "sources"}  # the default, whichever a study has
        for attribute, names, known, kind in (
            ("headline_measures", self.headline_measures, measures, "measure"),
            ("tested_measures", self.tested_measures, measures, "measure"),
            ("domains", [*self.domains, *in_domains], self.column_types, "column"),
            ("viewer.columns", self.viewer.columns, self.column_types, "column"),
            ("pooling.subset_parameters", subset, parameters, "parameter"),
            (
                "pooling.protocol_values",
                [name for name, _ in self.pooling.protocol_values],
                parameters,
                "parameter",
            ),
            *(
                (f"measure {measure.name}", columns, self.column_types, "column")
                for measure in self.measures + self.pooled_measures
                for columns in measure.columns
            ),
        ):
            for name in names:
                if name not in known:
                    raise ValueError(
                        f"{attribute} names an unknown {kind}, {name!r}{did_you_mean(name, known)}"
                    )

    def _check_tasks(self) -> None:
        """Check the parameters and conditions of every task, and the stages unless parameters change them."""
        if not self.designs and not self.stages:  # a study that only reads logs of others
            return
        needed: dict[str, Any] = {"module": self.module, "designs": self.designs, "stages": self.stages}
        if self.condition_rules.of_question is None:
            needed["conditions"] = self.conditions
        if missing := [name for name, value in needed.items() if not value]:
            raise ValueError(f"it needs {', '.join(missing)}")
        for task, design in self.designs.items():
            if repeated := _repeated([parameter.name for parameter in self.task_parameters(task)]):
                raise ValueError(f"two parameters are called {repeated}")
            conditions = design.conditions or self.conditions
            if repeated := _repeated(conditions):
                raise ValueError(f"two conditions are called {repeated}")
            if design.baseline and design.baseline not in conditions:
                raise ValueError(
                    f"the baseline {design.baseline!r} is no condition{did_you_mean(design.baseline, conditions)}"
                )
        if not callable(self.stages):
            check_stages(self.stages)

    def task_parameters(self, task: str = "") -> tuple[Parameter, ...]:
        """Return the parameters of a task; by default of the first."""
        if not self.designs:
            return self.parameters
        design = self.designs[task or self.first_task]
        declared = design.parameters or self.parameters
        names = {parameter.name for parameter in declared}
        conditions = design.conditions or self.conditions
        added = [SEED] if SEED.name not in names else []
        if (
            self.condition_rules.select is None
            and len(conditions) > 1
            and self.condition_rules.parameter not in names
        ):
            text = "Which of the conditions are asked."
            added.insert(0, Parameter("conditions", str | list[str], ", ".join(conditions), text))
        return (*declared, *added, FEWSHOT, EFFORTS, METRICS, CACHE, STOP, ALPHA)

    @property
    def first_task(self) -> str:
        """Name of the first task, which is usually the name of the study."""
        return next(iter(self.designs))

    def stages_of(self, parameters: Mapping[str, Any]) -> tuple[Stage, ...]:
        """Return the stages under some parameters; ValueError if they do not fit together."""
        stages = tuple(self.stages(parameters)) if callable(self.stages) else self.stages
        check_stages(stages)
        return stages

    @property
    def address(self) -> str:
        """Address of the study in logs, for :func:`pkgutil.resolve_name`."""
        return f"{self.module}:STUDY"

    @property
    def scorer_name(self) -> str:
        """Name of the scorer in logs."""
        scorer = self.scoring.scorer
        name = scorer.name if isinstance(scorer, Reference) else scorer
        return name or f"{self.name}_scorer"

    @cached_property
    def column_types(self) -> dict[str, type]:
        """Type of each column of a trial, ``float`` or ``str``, by name."""
        return {key: float if kind is float else str for key, kind in get_type_hints(self.trial).items()}

    @cached_property
    def measures_by_name(self) -> dict[str, Measure]:
        """All measures, pooled ones among them, by name."""
        return {measure.name: measure for measure in self.measures + self.pooled_measures}

    def protocol_parameters(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters that change a reply or a trial. Runs that differ in one of them are not pooled.

        Examples
        --------
        >>> from confidence_tasks.studies.fermieval import STUDY
        >>> STUDY.protocol_parameters({"n": 20, "split": "all", "seed": 1})
        {'seed': 1}
        >>> STUDY.protocol_parameters({"split": "cross"})
        {'split': 'cross'}
        """
        subset = {"n", MIRROR.name, self.condition_rules.parameter, *self.pooling.subset_parameters}
        if parameters.get(STOP.name) is None:
            subset |= {STOP.name, ALPHA.name}
        return {
            key: value
            for key, value in parameters.items()
            # Logs of releases without structured replies lack the parameter.
            if (key not in (METRICS.name, EFFORTS.name, *subset) and (key, value) != (STRUCTURED.name, False))
            or (key, str(value)) in self.pooling.protocol_values
        }

    def design_of(self, task: str) -> str:
        """Return the name of the design that a task belongs to. A task of lm-eval asks one condition of a design.

        Examples
        --------
        >>> from confidence_tasks.studies.scales import STUDY
        >>> STUDY.design_of("scale_granularity_0_20_mmlu")
        'scale_granularity'
        """
        known = [name for name in self.designs if task == name or task.startswith(f"{name}_")]
        return max(known, key=len, default=task)


def _repeated(names: Sequence[str]) -> str:
    return ", ".join(sorted({name for name in names if names.count(name) > 1}))
