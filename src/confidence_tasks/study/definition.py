"""A study: everything that the harnesses, the report and the commands need to know of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_type_hints

from confidence_tasks.study.measures import Measure
from confidence_tasks.study.parameter import CACHE, EFFORTS, FEWSHOT, METRICS, SEED, Parameter, meant
from confidence_tasks.study.reference import LazyModule, Reference, np
from confidence_tasks.study.stage import Replies, Stage, Token, check_stages
from confidence_tasks.study.trial import Question, Status, Trial

if TYPE_CHECKING:
    from numpy.typing import NDArray

_checks = LazyModule("confidence_tasks.report.checks")
_general = LazyModule("confidence_tasks.report.figures.general")
_planning = LazyModule("confidence_tasks.report.power")
_trials = LazyModule("confidence_tasks.report.task_trials")
_staged = LazyModule("confidence_tasks.harness.inspect.staged")


@dataclass(frozen=True, slots=True)
class Paper:
    """Publication of a study."""

    authors: str
    year: int
    arxiv: str

    @property
    def cited(self) -> str:
        """Citation.

        Examples
        --------
        >>> Paper("Dai", 2026, "2603.09309").cited
        'Dai (2026), arXiv:2603.09309'
        """
        return f"{self.authors} ({self.year}), arXiv:{self.arxiv}"

    @property
    def url(self) -> str:
        """Address of its page."""
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
    conditions : tuple of str
        The conditions that it asks by default; by default those of the study.
    parameters : tuple of Parameter
        Parameters of its task; by default those of the study.
    offline : str
        Generated source of further lm-eval tasks, which need no data; by default that of the study.
    """

    title: str
    question: str
    baseline: str = ""
    reference: str = ""
    conditions: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    offline: str = ""


@dataclass(frozen=True, slots=True)
class TaskMetrics:
    """Metrics in the log of a task.

    Attributes
    ----------
    summary, arguments
        ``summary(trials, names=None, **arguments)``: the measures that are named, or all, keyed ``measure/condition``;
        None for each measure of the study in each of the ``conditions`` that are named in the arguments. Logs name it,
        with its arguments as JSON holds them, so that it can be called again when they are scored anew.
    measures : tuple of Measure
        The measures that it computes.
    headline : str
        Condition of the headline metric.
    overall : tuple of str
        The conditions that come first; of the others a log has the first headline measure only.
    names : tuple of str
        The measures that are logged by default, if other than the study's headline.
    """

    summary: Callable[..., Mapping[str, float]] | None
    arguments: Mapping[str, Any]
    measures: tuple[Measure, ...]
    headline: str
    overall: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def shown(value: Any) -> str:
    """Return a value out of a file, short and escaped.

    Examples
    --------
    >>> shown("banana"), shown(0.5), len(shown(["x"] * 100))
    ("'banana'", '0.5', 81)
    """
    text = f"{value:g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


_LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Domain:
    """The values that a column of trials may hold; a trial with another is left out when a file is read.

    Attributes
    ----------
    low, high : float
        Bounds of a number, which is finite.
    values : tuple of str or of float
        The only values; empty for any.
    needed : bool
        Whether a trial without a value cannot be used. By default a value may be missing: NaN or the empty text.
    check : callable, optional
        Raises ValueError for a text that is none.
    """

    low: float = -math.inf
    high: float = math.inf
    values: tuple[str, ...] | tuple[float, ...] = ()
    needed: bool = False
    check: Callable[[str], object] | None = None

    def faults(self, column: NDArray[Any]) -> Iterator[tuple[int, str]]:
        """Yield the positions of the values that are none, with what is wrong."""
        if column.dtype == object:
            missing = column == ""
            wrong = ~np.isin(column, [*self.values, ""]) if self.values else np.zeros(len(column), dtype=bool)
        else:
            missing = np.isnan(column)
            wrong = ~missing & ~(np.isfinite(column) & (column >= self.low) & (column <= self.high))
            if self.values:
                wrong |= ~missing & ~np.isin(column, self.values)
        if self.needed:
            yield from ((row, "is missing") for row in np.flatnonzero(missing).tolist())
        yield from (
            (row, f"is {shown(column[row])}, {self._allowed()}") for row in np.flatnonzero(wrong).tolist()
        )
        if self.check is not None:
            for text in dict.fromkeys(column):
                try:
                    self.check(text)
                except ValueError as error:
                    rows = np.flatnonzero(column == text).tolist()
                    yield from ((row, f"is {shown(text)}: {error}") for row in rows)

    def _allowed(self) -> str:
        if self.values:
            return (
                f"which is none of {', '.join(f'{v:g}' if isinstance(v, float) else v for v in self.values)}"
            )
        bounded = math.isfinite(self.low) or math.isfinite(self.high)
        return f"not within [{self.low:g}, {self.high:g}]" if bounded else "which is not finite"


BINARY = Domain(values=(0.0, 1.0))
"""A number that is 0, 1 or missing."""


@dataclass(frozen=True, eq=False)
class Study:
    """One study. Functions and tables that are needed late may be given as references.

    Attributes
    ----------
    name, title : str
        Its name in commands and in words.
    trial : type
        The typed dictionary that a trial is.
    measures : sequence of Measure
        Every measure, the headline first.
    designs : mapping of str to Design
        Its tasks by name.
    headline : tuple of str
        Measures of the main table.
    paper : Paper, optional
        Where it was published.
    scorer : Reference or str
        Makes the scorer whose scores are trials, and names it in logs. A study whose ``read`` scores needs none, or a
        name only; by default it is ``<name>_scorer``. Parameters of the task are passed on to options of the same name.
    module : str
        Name of the module that holds the study as ``STUDY``: ``__name__``. Inspect's tasks are called after its first
        part.
    stages : tuple of Stage or callable
        The calls of a model that a trial is made of, or ``stages(parameters)`` that returns them. With these, both
        harnesses run the study without code of its own, each design as a task. ``parameters`` are those of the task,
        with its name as ``task``.
    questions : callable
        ``questions(parameters)``: the questions, in the order in which they are asked. The parameters also have the
        labels of the ``conditions``, and the number of worked examples as ``fewshot``, which ``n`` includes.
    conditions : tuple of str
        The conditions; with several, the task has a parameter ``conditions`` that chooses some. A study with
        ``condition_of`` may have none.
    condition_parameter : str
        Name of the parameter that chooses some, where it is among the study's own.
    read_condition : callable, optional
        ``read_condition(text)``: the label of a condition as a user names it, where ``conditions`` are not all that
        there may be; ValueError for none.
    condition_of : callable, optional
        ``condition_of(question)``: the only condition under which a question is asked, where questions and conditions
        are not crossed.
    chosen : callable, optional
        ``chosen(parameters)``: the conditions that are asked, in place of a parameter.
    source : str
        Source of its questions, where its tasks have no parameter of it; by default its name.
    repeats : str
        Name of the parameter that says how often each question is asked under each condition, where each reply is a
        trial of its own; empty for once.
    kept : tuple of str, optional
        What samples keep of a question's metadata for ``read`` and simulated subjects; by default all.
    read : callable
        ``read(question, condition, replies)``: the trial, whatever the replies; ``replies[stage][sample]`` is a
        :class:`~confidence_tasks.study.stage.ModelReply`. It never raises.
    options : tuple of str
        Parameters that say how replies are read: options of the scorer, which ``read`` finds in the question's
        metadata.
    explain : callable, optional
        ``explain(trial, question, tokens)``: the rows of the table that the log viewer shows beside a trial, markdown
        by name, with the tokens of the first reply. Status and rules of reading are added; a row ``Reading`` has other
        words for the status.
    meanings : mapping of Status to str
        What a status means, where that differs from other studies.
    metrics : callable, optional
        ``metrics(parameters, conditions)``: what a log has as metrics (:class:`TaskMetrics`); by default every measure
        in every condition.
    roles : callable, optional
        ``roles(parameters, questions)``: the model roles that its own scorer asks.
    example : callable, optional
        ``example(question, condition, number)``: the reply shown in the worked example of that number, from 0; by
        default that of an ideal simulated subject.
    parameters : tuple of Parameter
        Parameters of the tasks, beside ``seed``, ``fewshot``, ``efforts``, ``metrics`` and ``cache``.
    subject : callable, optional
        ``subject(question, request)``: the reply of a simulated subject to a call of the study
        (:class:`~confidence_tasks.simulation.reply.StageRequest`).
    columns : tuple of str
        Keys of a trial that the log viewer shows after the common ones, as far as 80 pixels go at a width of 1,280; the
        others are in the metadata of the score.
    short_condition : callable
        The label of a condition as the log viewer's column has room for: 14 letters.
    version : str
        Version of the tasks, such as ``1-A``.
    offline : str
        Generated source of further lm-eval tasks, which need no data; empty for none.
    tested : tuple of str
        Measures whose difference from the baseline is tested. They may read nothing but columns that mean the same
        under every condition.
    witnesses : mapping of str to tuple of str
        By tested measure that depends on a threshold, the tested measures without one: a sentence says of its
        differences which of these agree in sign and significance.
    pooled : tuple of Measure
        Measures of all trials of a model together, of whatever condition.
    condition_numbers : callable
        Gives the columns of a trial that its condition settles, such as the penalty; raises ValueError for a label
        that is no condition of the study.
    domains : mapping of str to Domain
        What its measures take for granted of the columns of its own; those of all trials have theirs already.
    ordered : tuple of (str, str)
        Pairs of columns that have both a number or neither, the first not above the second.
    binary_where : tuple of (str, str)
        Pairs of columns: a trial with a number in the second has 0, 1 or nothing in the first.
    grouping : callable
        Puts trials in the groups that the tables have.
    figures : tuple of callable or Reference
        Make its figures. An entry may also be a tuple of these.
    tables : tuple of callable or Reference
        Make what its paper sets side by side beyond the measures.
    checks : tuple of callable or Reference
        Look for what calls its numbers into question.
    subset_parameters : frozenset of str
        Parameters of the tasks that say which questions and conditions are asked, not how.
    protocol_values : frozenset of (str, str)
        Such parameters with the values that say how all the same.
    distributions : callable or Reference, optional
        ``distributions(columns, cells, settings)``: those of the measures that a condition shares something of with the
        others, such as the edges of bins, as :func:`confidence_tasks.report.estimates.distributions` returns them. A
        log, whose metrics are of one condition each, does not have what is shared.
    analysis : callable or Reference, optional
        ``analysis(trials, settings)``: what its own tables and figures share, of all models of a task; computed once.
    true_values : callable or Reference, optional
        ``true_values(subject, condition, task, parameters)``: by name of a measure, what it is in the long run for a
        simulated subject (:mod:`confidence_tasks.simulation.subject`); ValueError for a condition that is none.
    instruments : Reference, optional
        Tuple of pairs of a pattern that its prompts to a parser or a judge contain and the function by which a
        simulated one replies (:class:`~confidence_tasks.simulation.reply.Instrument`).
    reply_forms : Reference, optional
        By name, how files of replies to it are scored without a model
        (:class:`~confidence_tasks.report.score_replies.ReplyForm`).
    power : Reference, optional
        How it is simulated for power analysis (:class:`~confidence_tasks.report.power.PowerDesign`): by default
        as answers with a confidence; None for not at all.
    overviews : Reference, optional
        Tuple of tables that set its tasks beside those of other studies
        (:class:`~confidence_tasks.report.extra_tables.OverviewDesign`).
    replication : Reference, optional
        The tables and figures of its paper (:class:`~confidence_tasks.report.paper.Replication`). Of several studies of
        one paper, one has it.
    """

    name: str
    title: str
    trial: type[Trial]
    measures: tuple[Measure, ...]
    designs: Mapping[str, Design]
    headline: tuple[str, ...]
    paper: Paper | None = None
    scorer: Reference | str = ""
    module: str = ""
    stages: tuple[Stage, ...] | Callable[[Mapping[str, Any]], Sequence[Stage]] = ()
    questions: Callable[[Mapping[str, Any]], Sequence[Question]] | None = None
    conditions: tuple[str, ...] = ()
    condition_parameter: str = "conditions"
    read_condition: Callable[[str], str] | None = None
    condition_of: Callable[[Question], str] | None = None
    chosen: Callable[[Mapping[str, Any]], Sequence[str]] | None = None
    source: str = ""
    repeats: str = ""
    kept: tuple[str, ...] | None = None
    read: Callable[[Question, str, Replies], Trial] | None = None
    options: tuple[str, ...] = ()
    explain: Callable[[Any, Question, Sequence[Token]], Mapping[str, str]] | None = None
    meanings: Mapping[Status, str] = field(default_factory=dict)
    metrics: Callable[[Mapping[str, Any], Sequence[str]], TaskMetrics] | None = None
    roles: Callable[[Mapping[str, Any], Sequence[Question]], Sequence[str]] | None = None
    example: Callable[[Question, str, int], str] | None = None
    parameters: tuple[Parameter, ...] = ()
    subject: Callable[..., Any] | None = None
    columns: tuple[str, ...] = ()
    short_condition: Callable[[str], str] = str
    version: str = "1-A"
    offline: str = ""
    tested: tuple[str, ...] = ()
    witnesses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pooled: tuple[Measure, ...] = ()
    condition_numbers: Callable[[str], Mapping[str, float]] = lambda label: {}
    domains: Mapping[str, Domain] = field(default_factory=dict)
    ordered: tuple[tuple[str, str], ...] = ()
    binary_where: tuple[tuple[str, str], ...] = ()
    grouping: Callable[..., Any] = _trials.by_condition
    figures: tuple[Any, ...] = (_general.GENERAL,)
    tables: tuple[Any, ...] = ()
    checks: tuple[Any, ...] = (_checks.GENERAL,)
    subset_parameters: frozenset[str] = field(
        default=frozenset({"sources", "source", "n", "mirror", "conditions"})
    )
    protocol_values: frozenset[tuple[str, str]] = frozenset()
    distributions: Callable[..., Any] | None = None
    analysis: Callable[..., Any] | None = None
    true_values: Callable[..., Mapping[str, float]] | None = None
    instruments: Reference | None = None
    reply_forms: Reference | None = None
    power: Reference | None = _planning.default_designs
    overviews: Reference | None = None
    replication: Reference | None = None

    def __post_init__(self) -> None:
        """Check that what the study names is there: a mistake must not show after the calls have been paid for."""
        names = [measure.name for measure in self.measures + self.pooled]
        if doubled := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"study {self.name}: two measures are called {', '.join(doubled)}")
        if lacking := sorted(Trial.__annotations__.keys() - self.record.keys()):
            raise ValueError(f"study {self.name}: its trial lacks {', '.join(lacking)}; derive it from Trial")
        for field_name, named, known in (
            ("headline", self.headline, names),
            ("tested", self.tested, names),
            (
                "witnesses",
                [*self.witnesses, *(name for those in self.witnesses.values() for name in those)],
                names,
            ),
            ("domains", self.domains, self.record),
            ("ordered", [name for pair in self.ordered for name in pair], self.record),
            ("binary_where", [name for pair in self.binary_where for name in pair], self.record),
            ("columns", self.columns, self.record),
            *(
                (f"measure {measure.name}", columns, self.record)
                for measure in self.measures + self.pooled
                for columns in measure.columns
            ),
        ):
            for name in named:
                if name not in known:
                    raise ValueError(
                        f"study {self.name}: {field_name} names {name!r}, which is none of its own{meant(name, known)}"
                    )
        try:
            self._check_stages()
        except ValueError as error:
            raise ValueError(f"study {self.name}: {error}") from error

    def _check_stages(self) -> None:
        asked = "condition_of" if self.condition_of else "conditions"
        needed = ("module", "designs", "stages", "questions", asked, "read")
        if missing := [name for name in needed if not getattr(self, name)]:
            raise ValueError(f"it needs {', '.join(missing)}")
        for task, design in self.designs.items():
            named = [parameter.name for parameter in self.task_parameters(task)]
            if doubled := sorted({name for name in named if named.count(name) > 1}):
                raise ValueError(f"two parameters are called {', '.join(doubled)}")
            conditions = design.conditions or self.conditions
            if len(set(conditions)) < len(conditions):
                raise ValueError("two conditions have one label")
            if design.baseline and design.baseline not in conditions:
                raise ValueError(
                    f"the baseline {design.baseline!r} is no condition{meant(design.baseline, conditions)}"
                )
        if not callable(self.stages):
            check_stages(self.stages)

    def task_parameters(self, task: str = "") -> tuple[Parameter, ...]:
        """Return the parameters of a task; by default of the first."""
        design = self.designs[task or self.first_task]
        own = design.parameters or self.parameters
        conditions = design.conditions or self.conditions
        named = {parameter.name for parameter in own}
        choice = Parameter(
            "conditions", str | list[str], ", ".join(conditions), "Which of the conditions are asked."
        )
        chooses = self.chosen is None and len(conditions) > 1 and self.condition_parameter not in named
        common = (*([choice] if chooses else []), *([] if SEED.name in named else [SEED]))
        return (*own, *common, FEWSHOT, EFFORTS, METRICS, CACHE)

    @property
    def first_task(self) -> str:
        """Name of its first task, which is mostly its own."""
        return next(iter(self.designs))

    def stages_of(self, parameters: Mapping[str, Any]) -> tuple[Stage, ...]:
        """Return the stages under some parameters; ValueError if they do not fit together."""
        stages = tuple(self.stages(parameters)) if callable(self.stages) else self.stages
        check_stages(stages)
        return stages

    @property
    def reference(self) -> str:
        """Address of the study, for :func:`pkgutil.resolve_name`."""
        return f"{self.module}:STUDY"

    @property
    def scorer_name(self) -> str:
        """Name of the scorer in logs."""
        named = self.scorer.name if isinstance(self.scorer, Reference) else self.scorer
        return named or f"{self.name}_scorer"

    @property
    def make_scorer(self) -> Callable[..., Any]:
        """Factory of the scorer that Inspect registers."""
        own = self.scorer.load() if isinstance(self.scorer, Reference) else None
        made: Callable[..., Any] = own or _staged.study_scorer(self)
        return made

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
        >>> from confidence_tasks.studies.fermieval import STUDY
        >>> STUDY.how({"n": 20, "split": "all", "seed": 1}), STUDY.how({"split": "cross"})
        ({'seed': 1}, {'split': 'cross'})
        """
        return {
            key: value
            for key, value in parameters.items()
            if key not in (METRICS.name, EFFORTS.name, *self.subset_parameters)
            or (key, str(value)) in self.protocol_values
        }

    def design_of(self, task: str) -> str:
        """Return the design that a task belongs to: one task of lm-eval asks one cell of it.

        Examples
        --------
        >>> from confidence_tasks.studies.scales import STUDY
        >>> STUDY.design_of("scale_granularity_0_20_mmlu")
        'scale_granularity'
        """
        known = [name for name in self.designs if task == name or task.startswith(f"{name}_")]
        return max(known, key=len, default=task)
