"""What a run will cost, before any call: its calls, their tokens and their price."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from confidence_tasks.catalogue import DRY_RUNS, studies, study_named
from confidence_tasks.harness.compat import known_price, model_prices
from confidence_tasks.harness.inspect.dry_run import DryCall, DryRun, OtherTask
from confidence_tasks.harness.inspect.simulated import SimulatedSubject
from confidence_tasks.harness.inspect.task import study_task
from confidence_tasks.harness.parameters import roles_needed
from confidence_tasks.study.definition import Study
from confidence_tasks.study.parameter import STOP, did_you_mean
from confidence_tasks.study.trial import Question, question_from_metadata

if TYPE_CHECKING:
    from inspect_ai import Task

    from confidence_tasks.decisions.tokens import TokenCounter

SUBJECT = "ideal"
"""The simulated subject whose replies are counted, unless the user names another."""


@dataclass(slots=True)
class StageTotal:
    """The calls of a stage in all epochs.

    Attributes
    ----------
    stage, role : str
        Name of the stage, and the model role that it calls; empty for the model under test.
    n_calls : int
        Number of calls.
    prompt_tokens, reply_tokens : float
        Number of tokens of all messages sent, and of the simulated replies.
    most_reply_tokens : float
        Number of reply tokens if every reply reaches its limit; infinite without a limit.
    """

    stage: str
    role: str
    n_calls: int = 0
    prompt_tokens: float = 0.0
    reply_tokens: float = 0.0
    most_reply_tokens: float = 0.0

    def add(self, call: DryCall, counter: TokenCounter, epochs: int, max_tokens: int | None) -> None:
        """Add a call that is made in every epoch; the user's limit replaces that of the call."""
        limit = max_tokens or call.limit
        self.n_calls += epochs
        self.prompt_tokens += epochs * math.fsum(map(counter.count, call.messages))
        self.reply_tokens += epochs * math.fsum(map(counter.count, call.replies))
        self.most_reply_tokens += epochs * len(call.replies) * (math.inf if limit is None else limit)


@dataclass(frozen=True, slots=True)
class Price:
    """Price of a million tokens of prompts and of replies, and where it comes from."""

    prompt: float
    reply: float
    source: str

    def of(self, prompt_tokens: float, reply_tokens: float) -> float:
        """Return the price of some tokens.

        Examples
        --------
        >>> Price(2.5, 10.0, "--price").of(400_000, 10_000)
        1.1
        """
        return (self.prompt * prompt_tokens + self.reply * reply_tokens) / 1e6


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The calls of a run.

    Attributes
    ----------
    task : str
        Name of the task.
    study : str
        Name of the study that has its measures.
    n_questions, n_samples, epochs : int
        Number of questions, of samples (a question under one condition, at one effort), and of epochs.
    conditions : mapping of str to int
        Number of questions under each condition.
    stages : sequence of StageTotal
        The calls by stage.
    counter, subject : str
        How tokens were counted, and the simulated subject that replied.
    scorer_roles : sequence of str
        Model roles that the scorer calls, at most once for each sample and epoch.
    notes : sequence of str
        What changes the numbers, in sentences.
    """

    task: str
    study: str
    n_questions: int
    n_samples: int
    epochs: int
    conditions: Mapping[str, int]
    stages: tuple[StageTotal, ...]
    counter: str
    subject: str
    scorer_roles: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def n_calls(self) -> int:
        """Number of calls of all models, without those of the scorer."""
        return sum(stage.n_calls for stage in self.stages)

    def total(self, *, of_roles: bool = False) -> StageTotal:
        """Return the sum of the stages that call the model under test; with ``of_roles``, that of the other stages."""
        chosen = [stage for stage in self.stages if bool(stage.role) == of_roles]
        return StageTotal(
            "all",
            "",
            sum(stage.n_calls for stage in chosen),
            math.fsum(stage.prompt_tokens for stage in chosen),
            math.fsum(stage.reply_tokens for stage in chosen),
            math.fsum(stage.most_reply_tokens for stage in chosen),
        )


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """A task that was made as for a run; a wrong name or value has raised the error of a run."""

    name: str
    task: Task
    study: Study | None = None
    other: OtherTask | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def make(cls, name: str, given: Mapping[str, Any]) -> PlannedTask:
        """Make a task by its name, such as ``boolq`` or ``confidence_tasks/boolq``.

        Raises
        ------
        ValueError
            If there is no such task, with the nearest name; or as the task itself for a wrong parameter.
        """
        found = {task: study for study in studies() for task in study.designs}
        short = name.rpartition("/")[2]
        package = found[short].module.partition(".")[0] if short in found else __name__.partition(".")[0]
        is_known = name in (short, f"{package}/{short}")
        if is_known and short in DRY_RUNS:
            other: OtherTask = resolve_name(DRY_RUNS[short])
            return cls(short, other.build(**given), other=other)
        if not is_known or short not in found:
            known = [*found, *DRY_RUNS]
            raise ValueError(
                f"there is no task {name}{did_you_mean(short, known) or '.'} There are {', '.join(known)}. Tasks of"
                " other packages are planned as with_confidence -T task=PACKAGE/NAME"
            )
        task = study_task(found[short], short)(**given)
        parameters = {**(task.metadata or {})["parameters"], "task": short}
        return cls(short, task, study=found[short], parameters=parameters)

    @property
    def study_name(self) -> str:
        """Name of the study that has the measures of the task."""
        if self.study is not None:
            return self.study.name
        return self.other.study if self.other else ""

    def questions_by_condition(self) -> dict[str, dict[object, Question]]:
        """Return the questions under each condition, by their identifiers; a task without a study has one condition."""
        asked: dict[str, dict[object, Question]] = defaultdict(dict)
        for number, sample in enumerate(self.task.dataset):
            if self.study is None:
                asked[""][number] = Question(str(number), "", "", "text", None)
            else:
                question = question_from_metadata(sample.metadata or {})
                asked[str((sample.metadata or {})["condition"])][question.id] = question
        return asked

    def scorer_roles(self) -> list[str]:
        """Return the model roles that the scorer calls."""
        if self.study is None:
            return []
        questions = [
            question
            for of_condition in self.questions_by_condition().values()
            for question in of_condition.values()
        ]
        of_stages = {stage.role for stage in self.study.stages_of(self.parameters)}
        return [
            role for role in roles_needed(self.study, self.parameters, questions) if role not in of_stages
        ]

    def calls(self, subject: SimulatedSubject, *, shares: bool) -> Iterable[DryCall]:
        """Return the calls of one epoch."""
        if self.other is not None:
            return self.other.calls(self.task, subject)
        assert self.study is not None
        return DryRun(self.study, self.task, self.parameters, subject, shares).calls()


def plan_run(
    planned: PlannedTask,
    counter: TokenCounter,
    *,
    profile: str = "",
    epochs: int | None = None,
    max_tokens: int | None = None,
) -> RunPlan:
    """Count the calls of a run and their tokens, without a model.

    Parameters
    ----------
    planned : PlannedTask
        The task.
    counter : TokenCounter
        How tokens are counted.
    profile : str, optional
        Name of the simulated subject that is run, which shares no call; by default the run is that of another model,
        and the replies counted are those of the subject ``ideal``.
    epochs : int, optional
        Number of epochs; by default that of the task.
    max_tokens : int, optional
        The user's limit of reply tokens, which replaces those of stages.
    """
    n_epochs = epochs or planned.task.epochs or 1
    totals: dict[tuple[str, str], StageTotal] = {}
    for call in planned.calls(SimulatedSubject(profile or SUBJECT), shares=not profile):
        total = totals.setdefault((call.stage, call.role), StageTotal(call.stage, call.role))
        total.add(call, counter, n_epochs, max_tokens)
    asked = planned.questions_by_condition()
    return RunPlan(
        task=planned.name,
        study=planned.study_name,
        n_questions=len(set().union(*asked.values())),
        n_samples=len(planned.task.dataset),
        epochs=n_epochs,
        conditions={label: len(of_condition) for label, of_condition in asked.items()},
        stages=tuple(totals.values()),
        counter=counter.name,
        subject=profile or SUBJECT,
        scorer_roles=tuple(planned.scorer_roles()),
        notes=tuple(_notes(planned)),
    )


@dataclass(frozen=True, slots=True)
class Detectable:
    """The difference of a measure between two models that a run can find.

    Attributes
    ----------
    measure, condition : str
        Name of the measure, and the condition under which both models are asked; empty if no other than the run's.
    n_questions : int
        Number of questions that the measure counts.
    difference : float
        The difference; NaN where only a simulation of studies tells.
    """

    measure: str
    condition: str
    n_questions: int
    difference: float


def detectable(planned: PlannedTask) -> list[Detectable]:
    """Return the differences of headline measures that a run can find; empty if power analysis has no design for it.

    See :func:`~confidence_tasks.decisions.power.detectable_difference`.
    """
    from confidence_tasks.decisions.power import detectable_difference, power_designs

    name = planned.study_name
    if name not in power_designs():
        return []
    design, headline = power_designs()[name], study_named(name).headline_measures
    asked = planned.questions_by_condition()
    label = design.condition if design.condition in asked else ""
    chosen = asked[label] if label else next(iter(asked.values()))
    n = sum(map(design.is_counted, chosen.values()))
    measures = [measure for measure in headline if measure in design.measures] or list(design.measures)
    return [Detectable(measure, label, n, detectable_difference(name, measure, n)) for measure in measures]


def known_prices(prices: tuple[float, float] | None, model: str, file: str | None) -> Price | None:
    """Return the price that the user gives, or that Inspect has for the model; None if nobody has one.

    Parameters
    ----------
    prices : tuple of (float, float), optional
        The user's prices of a million tokens of prompts and of replies.
    model : str
        Name of the model.
    file : str, optional
        A file of Inspect's ``--model-cost-config``.

    Raises
    ------
    ValueError
        If the file cannot be read or has no price of the model.
    """
    if prices is not None:
        return Price(*prices, "--price")
    if file is not None:
        return _price_in_file(model, file)
    cost = known_price(model) if model else None
    return Price(cost.input, cost.output, "Inspect's data") if cost else None


def _price_in_file(model: str, file: str) -> Price:
    every = model_prices(file)
    if model not in every:
        raise ValueError(
            f"{file} has no price of {model or 'a model, as none is named: add --model'}{did_you_mean(model, every)}"
        )
    try:
        return Price(float(every[model]["input"]), float(every[model]["output"]), file)
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{file}: {model} needs the numbers input and output, per million tokens") from None


def _notes(planned: PlannedTask) -> Iterable[str]:
    """Yield what changes the numbers of a plan."""
    if planned.other is not None:
        yield planned.other.assumption
    if planned.study is not None and planned.study.simulation.reply is None:
        yield (
            f"{planned.study.name} has no simulated subject, which simulation=Simulation(reply=...) declares. Its"
            " replies are taken as empty: reply tokens are not counted, and calls that need a reply may be missing."
        )
    if planned.study is not None and any(
        stage.one_request for stage in planned.study.stages_of(planned.parameters)
    ):
        yield (
            "With one_request, a call brings all samples of a question, and its prompt is paid for once. If a provider"
            " gives one reply to a call, each sample has a call of its own."
        )
    if planned.parameters.get(STOP.name):
        yield "With stop, a run ends as soon as its gate is decided: these are the numbers of a run that does not stop."
