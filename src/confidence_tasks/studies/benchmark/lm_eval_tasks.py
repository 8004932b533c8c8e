"""The lm-eval task that runs other generative tasks and asks for a confidence in each reply.

The inner task keeps its documents, prompts, filters and metrics. Its copy has a class made of :class:`Asking` and the
inner task's class, and adds one request for each reply. This request is taken away before the filters run, so that
the inner task's results and samples are those of a run without it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lm_eval.api.group import Group
from lm_eval.api.instance import Instance
from lm_eval.api.task import Task

from confidence_tasks.harness.compat import (
    extended_task,
    loading_task_manager,
    metrics_of_document,
    model_arguments,
    taken_requests,
)
from confidence_tasks.harness.conversation import call_of_others
from confidence_tasks.harness.correctness import ASKED, SUFFIX, Correctness, is_partial
from confidence_tasks.harness.lm_eval.metadata import warn_once
from confidence_tasks.harness.lm_eval.metrics import MetricTrial, aggregations
from confidence_tasks.harness.lm_eval.named_server import REQUEST_TYPE as NAME_SERVER
from confidence_tasks.harness.lm_eval.named_server import NamedServer
from confidence_tasks.harness.lm_eval.side_requests import REQUEST_TYPE, SideRequest
from confidence_tasks.harness.lm_eval.task import StudyTask
from confidence_tasks.harness.usage_errors import as_usage_error
from confidence_tasks.studies.benchmark import STUDY
from confidence_tasks.studies.benchmark.asking import Ask, parse_asks
from confidence_tasks.studies.benchmark.trials import asked_trials
from confidence_tasks.study import ModelReply, Question, Stage
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.metrics import select_measures
from confidence_tasks.study.parameter import did_you_mean, parse_list

GENERATIVE = "generate_until"


@as_usage_error()
def with_confidence(config: Mapping[str, Any]) -> Group:
    """Return the group of the tasks that ``--metadata`` names, each asking for a confidence in its replies.

    The metadata has ``task``, the names of tasks, groups, or paths of YAML files; and, as on Inspect, ``ask`` and
    ``correct``.

    Raises
    ------
    ValueError
        If no task is named, a task is unknown or cannot be asked about, or ``ask`` or ``correct`` is unknown.
    """
    metadata = config.get("metadata") or {}
    if not metadata.get("task"):
        raise ValueError('with_confidence needs a task: --metadata \'{"task": "gsm8k"}\'')
    _refuse_others(metadata)
    asks = parse_asks(metadata.get("ask") or "0-100")
    chosen = Correctness.parse(str(metadata.get("correct") or ""))
    group = Group("with_confidence", metadata={"version": STUDY.version})
    manager = loading_task_manager()
    for name in parse_list(metadata["task"], "task"):
        for item in _loaded(manager, name):
            group.add(_asking(item, asks, chosen))
    return group


_PARAMETERS = frozenset({"task", "ask", "correct", "config_source", "version"})
"""Keys of the metadata that are read, or added by lm-eval."""

_HARMLESS = {"structured": False, "when": "after"}
"""Values of parameters of the task on Inspect that say what happens here anyway."""

_ON_INSPECT = {
    "structured": "its tasks cannot be given a response schema of their own. Leave it out, or ask on Inspect:"
    " inspect eval confidence_tasks/with_confidence -T structured=true",
    "when": "the question follows the reply here. For a confidence within the reply, ask for it in the task's own"
    " prompt, or use Inspect: inspect eval confidence_tasks/with_confidence -T when=within",
    "scorer": "its tasks have metrics, not scorers: name one with correct",
    "cache": "use --use_cache with a path",
}
"""Parameters of the task on Inspect that lm-eval does not have, with the reason and what to do."""


def _refuse_others(metadata: Mapping[str, Any]) -> None:
    """Raise ValueError for a parameter that would be ignored; lm-eval adds the arguments of the model."""
    for name in metadata.keys() - _PARAMETERS - model_arguments():
        if name in _HARMLESS and metadata[name] == _HARMLESS[name]:
            continue
        if name in _ON_INSPECT:
            raise ValueError(f"metadata: with_confidence has no {name!r} on lm-eval: {_ON_INSPECT[name]}")
        if hint := did_you_mean(name, _PARAMETERS):
            raise ValueError(f"metadata: with_confidence has no {name!r} on lm-eval{hint}")


def _loaded(manager: Any, name: str) -> list[Task | Group]:
    """Return the group or the tasks of a name or a path; ValueError with the nearest name if there are none."""
    try:
        found = manager.load(name)
    except KeyError:
        hint = did_you_mean(name, manager.all_tasks)
        raise ValueError(
            f"task={name!r} is no task, group or tag of lm-eval and no YAML file{hint}"
        ) from None
    inner = {child for children in found["group_map"].values() for child in children}
    outer = {name: each for name, each in {**found["tasks"], **found["groups"]}.items() if name not in inner}
    return list(outer.values())


def _asking(item: Task | Group, asks: Sequence[Ask], chosen: Correctness) -> Task | Group:
    """Return a copy of a task that asks for a confidence, or of a group of such tasks."""
    if isinstance(item, Group):
        members = [_asking(child, asks, chosen) for child in item]
        group = Group(f"{item.name}{SUFFIX}", item.alias, item.aggregate_metric_list, item.metadata)
        for member in members:
            group.add(member)
        return group
    _check(item)
    _check_metric(item, chosen)
    task = extended_task(item, Asking, f"{item.task_name}{SUFFIX}")
    task.asks, task.chosen, task.replies, task.turns, task.doc_id = tuple(asks), chosen, {}, [], None
    asking: Task = task
    return asking


def _check(task: Task) -> None:
    """Raise ValueError for a task whose replies cannot be asked about."""
    name = task.task_name
    if isinstance(task, StudyTask):
        raise ValueError(f"{name} asks for a confidence itself: run it without with_confidence")
    if task.OUTPUT_TYPE != GENERATIVE:
        raise ValueError(
            f"{name} generates no replies (output_type {task.OUTPUT_TYPE}): the log-likelihoods of its options are a"
            " confidence. Run it without with_confidence, with --log_samples, and call `confidence-tasks report`"
        )
    if (task.config.repeats or 1) > 1:
        raise ValueError(
            f"{name} asks each question {task.config.repeats} times and scores the replies together, so no single"
            " confidence belongs to the score: set repeats to 1 in its YAML file"
        )


def _check_metric(task: Task, chosen: Correctness) -> None:
    """Raise ValueError for a metric that a task does not have; warn if several could say what is right."""
    aggregations: Mapping[str, object] = task.aggregation()  # type: ignore[no-untyped-call]
    name, metrics = task.task_name, list(aggregations)
    if chosen.name and chosen.name not in metrics:
        hint = did_you_mean(chosen.name, metrics)
        raise ValueError(
            f"correct={chosen.text!r}: {name} has no metric {chosen.name!r}{hint}. It has {', '.join(metrics)}"
        )
    if not chosen.name and len(metrics) > 1:
        warn_once(
            f"{name} has several metrics, so the results have no overconfidence, ECE and AUROC: name the one that says"
            f' what is right, such as "correct": "{metrics[0]}", in --metadata or, for the report, by --correct'
        )


class Asking:
    """What a task gets that asks for a confidence: one more request a reply, and its trial in the sample.

    Attributes
    ----------
    asks : tuple of Ask
        What is asked about each reply.
    chosen : Correctness
        The metric that says whether a reply is right; by default the task's only one.
    replies : dict of int to dict
        Replies about each document by its number, when they are there.
    turns : list of dict
        The conversation of the document whose requests are constructed; empty without a chat template.
    doc_id : int or None
        Number of the document that is scored.
    """

    asks: tuple[Ask, ...]
    chosen: Correctness
    replies: dict[int, dict[str, ModelReply] | None]
    turns: list[dict[str, str]]
    doc_id: int | None

    def build_all_requests(
        self, *, cache_requests: bool = False, rewrite_requests_cache: bool = False, **options: Any
    ) -> None:
        """Build the requests, never from lm-eval's cache of requests: it does not know what is asked."""
        if cache_requests:
            warn_once("--cache_requests is ignored for tasks of with_confidence")
        super().build_all_requests(**options)  # type: ignore[misc]

    def fewshot_context(self, *args: Any, chat_template: Any = None, **options: Any) -> Any:
        """Return the inner task's prompt, and store its turns, which the question continues."""
        self.turns = []

        def store_turns(turns: Any, **settings: Any) -> Any:
            self.turns = list(turns)
            return chat_template(turns, **settings)

        return super().fewshot_context(  # type: ignore[misc]
            *args, chat_template=store_turns if chat_template else None, **options
        )

    def construct_requests(self, doc: dict[str, Any], ctx: Any, **options: Any) -> list[Instance]:
        """Return the inner task's requests, and one about its reply."""
        made = super().construct_requests(doc, ctx, **options)  # type: ignore[misc]
        own: list[Instance] = made if isinstance(made, list) else [made]
        if [request.request_type for request in own] != [GENERATIVE]:
            raise ValueError(
                f"{self._name} makes several requests a document, so its reply cannot be asked about"
            )
        question = self._question(doc)
        own[0].call = call_of_others(question)  # type: ignore[attr-defined]
        side = SideRequest(
            request_type=REQUEST_TYPE,  # type: ignore[arg-type]
            doc=doc,
            arguments=own[0].args,
            idx=len(own),
            metadata=options["metadata"],
            about=own[0],
            stages=tuple(map(_stage, self.asks)),
            call=own[0].call,  # type: ignore[attr-defined]
            turns=self.turns,
        )
        named = NamedServer(
            request_type=NAME_SERVER,  # type: ignore[arg-type]
            doc=doc,
            arguments=own[0].args,
            idx=len(own) + 1,
            metadata=options["metadata"],
        )
        return [named, *own, side]

    def _question(self, doc: dict[str, Any]) -> Question:
        """Return a document as a question, for a simulated subject."""
        task: Any = self
        key, text = task.doc_to_target(doc), task.doc_to_text(doc)
        return Question(
            str(text), self._name, str(text), "text", str(key[0] if isinstance(key, list) and key else key)
        )

    @property
    def _name(self) -> str:
        task: Any = self
        return str(task.task_name)

    def apply_filters(self) -> Any:
        """Take the replies about replies away, and apply the inner task's filters to the others."""
        sides = taken_requests(self, SideRequest)
        taken_requests(self, NamedServer)
        self.replies = {int(side.doc_id or 0): side.resps[0] for side in sides}
        return super().apply_filters()  # type: ignore[misc]

    def doc_iterator(self, **options: Any) -> Iterator[tuple[int, Any]]:
        """Yield the documents, and remember which one is scored, as ``process_results`` is not told its number."""
        for doc_id, doc in super().doc_iterator(**options):  # type: ignore[misc]
            self.doc_id = doc_id
            yield doc_id, doc

    def process_results(self, doc: Any, results: Any) -> Mapping[str, Any]:
        """Return the inner task's metrics; the sample also has the confidences, and the results their measures."""
        metrics: Mapping[str, Any] = super().process_results(doc, results)  # type: ignore[misc]
        replies = self.replies.get(-1 if self.doc_id is None else self.doc_id) or {}
        asked = {ask.name: _read(ask, replies.get(ask.name)) for ask in self.asks}
        values = {name: each["confidence"] for name, each in asked.items()}
        trials = {
            each["condition"]: each for each in asked_trials(values, self._correct(metrics), str(self.doc_id))
        }
        measured = {
            name: MetricTrial(trials[ask.name]) for ask in self.asks for name in _measures(ask).values()
        }
        return metrics_of_document({**metrics, **measured}, {**metrics, ASKED: asked})

    def _correct(self, metrics: Mapping[str, Any]) -> float:
        """Return the metric that says whether a reply is right; NaN if it is not known which one does."""
        own = list(super().aggregation())  # type: ignore[misc]
        name = self.chosen.name or (own[0] if len(own) == 1 else "")
        value = metrics.get(name)
        return self.chosen.of(float(value)) if isinstance(value, int | float) else math.nan

    def aggregation(self) -> dict[str, Callable[..., Any]]:
        """Return the inner task's aggregations, and the measures of each confidence."""
        own: dict[str, Callable[..., Any]] = super().aggregation()  # type: ignore[misc]
        return {**own, **{name: f for ask in self.asks for name, f in _aggregations(ask).items()}}

    def higher_is_better(self) -> dict[str, bool]:
        """Return which metrics are better if higher."""
        own: dict[str, bool] = super().higher_is_better()  # type: ignore[misc]
        better = {each.name: each.better == "higher" for each in _MEASURES if each.better != "neither"}
        return {**own, **{f"{name}/{ask.name}": value for ask in self.asks for name, value in better.items()}}


_MEASURES: Sequence[Measure] = select_measures(
    STUDY.measures, ("overconfidence", "ece", "auroc", "parse_rate")
)


def _measures(ask: Ask) -> dict[str, str]:
    """Return the names of a confidence's metrics by those of the measures and of their standard errors."""
    return {name: _metric(name, ask) for name in aggregations(_MEASURES)}


def _metric(name: str, ask: Ask) -> str:
    """Return the name of a metric: the measure, then the signal; a standard error keeps its suffix."""
    measure = name.removesuffix("_stderr")
    return f"{measure}/{ask.name}{name.removeprefix(measure)}"


def _aggregations(ask: Ask) -> dict[str, Callable[..., Any]]:
    return {_metric(name, ask): _of_decided(compute) for name, compute in aggregations(_MEASURES).items()}


def _of_decided(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Make an aggregation that takes partial credit for undecided: the other replies would be a selection."""

    def aggregate(trials: Sequence[MetricTrial]) -> Any:
        if any(is_partial(each.trial["correct"]) for each in trials):
            trials = [MetricTrial({**each.trial, "correct": math.nan}) for each in trials]
        return compute(trials)

    return aggregate


def _stage(ask: Ask) -> Stage:
    return Stage(
        ask.name,
        lambda question, condition, replies: ask.prompt(""),
        logprobs="wanted" if ask.needs_logprobs else "",
        top_logprobs=20 if ask.needs_logprobs else 0,
    )


def _read(ask: Ask, reply: ModelReply | None) -> dict[str, Any]:
    """Return the confidence in a reply, and the reply, or why there is none."""
    if reply is None:
        return {"confidence": None, "problem": "the task's own reply was lost"}
    value = ask.confidence(reply)
    problem = {"problem": reply.problem} if reply.problem else {}
    return {"confidence": None if math.isnan(value) else value, "reply": reply.text, **problem}
