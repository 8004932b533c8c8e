"""What the studies share as lm-eval tasks: one Python class a study, one YAML stub a condition and source."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar

from datasets.arrow_dataset import Dataset
from lm_eval.api.instance import Instance
from lm_eval.api.task import ConfigurableTask

from confidence_tasks.harness.compat import model_arguments, set_metrics
from confidence_tasks.harness.errors import as_usage_error
from confidence_tasks.harness.inspect.parameters import check_value, unknown_parameter
from confidence_tasks.harness.inspect.samples import Item
from confidence_tasks.harness.inspect.viewer import revisions
from confidence_tasks.harness.lm_eval.aggregation import REVISIONS, aggregations, sample_metrics
from confidence_tasks.harness.lm_eval.generation_scores import unscored
from confidence_tasks.harness.questions import question_metadata
from confidence_tasks.study.measures import Measure, named
from confidence_tasks.study.parameter import METRICS

_log = logging.getLogger(__name__)

# lm-eval's own stop, a blank line, would cut off JSON and reasoning.
GENERATION: Mapping[str, Any] = {"until": [], "max_gen_toks": 1024, "do_sample": False, "temperature": 0.0}
"""How replies are generated unless the study or the user says otherwise."""

_DEFAULTS: Mapping[str, Any] = {
    "output_type": "generate_until",
    "metric_list": [],
    "description": "system",
    "doc_to_text": "prompt",
    "doc_to_target": "target",
    "target_delimiter": "\n\n",
    "fewshot_config": {"sampler": "first_n"},
    "generation_kwargs": GENERATION,
}
"""The part of the configuration that is the same for every stub; names of columns stand for their values."""

_HARNESS = frozenset({"config_source", "version"})
"""What lm-eval itself puts into the metadata."""


class StudyTask(ConfigurableTask):
    """A study under one condition, on one source of questions.

    A stub's ``metadata`` holds the study's parameters, the condition and the source among them; lm-eval's
    ``--metadata`` overrides them; null stands for the default. ``--num_fewshot`` gives the study's own worked examples.

    Attributes
    ----------
    PARAMETERS : sequence of str
        What the study reads of the metadata.
    FIXED : mapping of str to str
        What stubs say that cannot be changed, such as the source of a study that has but one.
    ELSEWHERE : mapping of str to str
        The other parameters of Inspect's tasks, which are refused, and how to say the same to lm-eval. What
        `SAID_ELSEWHERE` has holds for every study.
    TYPES : mapping of str to type
        Types of the parameters that are checked here.
    """

    PARAMETERS: ClassVar[Sequence[str]] = ()
    FIXED: ClassVar[Mapping[str, str]] = {}
    ELSEWHERE: ClassVar[Mapping[str, str]] = {}
    TYPES: ClassVar[Mapping[str, Any]] = {}

    @as_usage_error()
    def __init__(self, config: Mapping[str, Any]) -> None:
        self._docs = Dataset.from_list([])
        self._docs_fewshot = -1
        stub = {key: value for key, value in config.items() if key != "class"}
        given = stub.get("metadata") or {}
        parameters = {name: value for name, value in given.items() if value is not None}
        check_metadata(self.study_name, parameters, self.PARAMETERS, self.ELSEWHERE, self.FIXED, self.TYPES)
        defaults = {**_DEFAULTS, **self.defaults(parameters)}
        super().__init__(config=deepcopy({**defaults, **stub, "metadata": parameters}))
        measures = self.logged_measures(self.config.metadata or {})
        better = {
            measure.name: measure.better == "higher" for measure in measures if measure.better != "neither"
        }
        set_metrics(self, aggregations(measures), better)

    @property
    @abstractmethod
    def study_name(self) -> str:
        """Name of the study, for messages."""

    @abstractmethod
    def items(self, parameters: Mapping[str, Any], fewshot: int) -> Iterable[Item]:
        """Yield what is asked, with ``fewshot`` worked examples before each."""

    @abstractmethod
    def trial(self, doc: Mapping[str, Any], reply: Any, *scores: Any) -> Mapping[str, Any]:
        """Read a reply into a trial.

        Parameters
        ----------
        doc : mapping
            What was asked.
        reply : str
            What the model said, or what else was asked for.
        *scores : GenerationScore
            Of the reply, or what else `requests_about` it returned.
        """

    def defaults(self, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what a study's configuration has in the place of what is the same for every stub."""
        return {}

    @abstractmethod
    def measures(self, parameters: Mapping[str, Any]) -> Sequence[Measure]:
        """Return the measures, which in some studies depend on the condition."""

    @property
    @abstractmethod
    def headline(self) -> Sequence[str]:
        """Names of the metrics by default."""

    def logged_measures(self, parameters: Mapping[str, Any]) -> Sequence[Measure]:
        """Return the measures of the headline, or all, as the parameter ``metrics`` says."""
        which = parameters.get(METRICS.name, METRICS.default)
        METRICS.check(which)
        return named(self.measures(parameters), self.headline if which == METRICS.default else None)

    def download(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: questions are loaded when the number of worked examples is known."""

    def has_test_docs(self) -> bool:
        """Every study has questions to ask."""
        return True

    @as_usage_error()
    def test_docs(self) -> Dataset:
        """Return what is asked, in the study's order.

        lm-eval says how many worked examples it wants after it has made the task.
        """
        fewshot = self.config.num_fewshot or 0
        if fewshot != self._docs_fewshot:
            items = list(self.items(dict(self.config.metadata or {}), fewshot))
            if any(item.examples != items[0].examples for item in items):
                raise ValueError(
                    f"num_fewshot={fewshot}: lm-eval shows the same worked examples throughout a task, and those of "
                    f"{self.config.task} differ between its conditions: name one, as with --metadata "
                    '\'{"levels": "0.9", "ask": "direct"}\''
                )
            self.sampler.replace_df(_examples(items[0]))
            self._docs = Dataset.from_list([_document(item) for item in items])
            names = dict.fromkeys(item.question.source for item in items)
            self.config.metadata = {**(self.config.metadata or {}), REVISIONS: revisions(names)}
            self._docs_fewshot = fewshot
        return self._docs

    def fewshot_docs(self) -> list[dict[str, Any]]:
        """Return none yet: the study's worked examples come with its questions."""
        return []

    def fewshot_context(
        self, doc: dict[str, Any], *args: Any, apply_chat_template: bool = False, **kwargs: Any
    ) -> str | list[str]:
        """Put a blank line between system message and prompt in plain text, where lm-eval puts nothing."""
        if doc["system"] and not apply_chat_template:
            doc = {**doc, "system": f"{doc['system']}\n\n"}
        try:
            context: str | list[str] = super().fewshot_context(
                doc, *args, apply_chat_template=apply_chat_template, **kwargs
            )
        except ValueError as error:
            if not apply_chat_template:
                raise
            raise ValueError(
                f"{self.config.task}: the model's chat template cannot be applied: {error} Leave out "
                "--apply_chat_template for a base model, which then reads plain text"
            ) from error
        return context

    def construct_requests(self, doc: dict[str, Any], ctx: str | list[str], **kwargs: Any) -> list[Instance]:
        """Ask for the reply and, where the study needs it, for the reply's log-probability."""
        generation = super().construct_requests(doc, ctx, **kwargs)
        assert isinstance(generation, Instance)
        return [generation, *self.requests_about(generation, doc)]

    def requests_about(self, generation: Instance, doc: Mapping[str, Any]) -> list[Instance]:
        """Return what is asked about the reply once there is one."""
        return []

    def process_results(self, doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
        """Return the trial for every metric that is configured, whatever the reply."""
        reply, *scores = results
        scored = scores or [unscored("not asked for")]
        trial = self.trial(doc, "" if reply is None else reply, *scored)
        return sample_metrics(trial, list(self.aggregation()))


SAID_ELSEWHERE: Mapping[str, str] = {
    "seed": "say question_seed, for lm-eval has seeds of its own",
    "fewshot": "add --num_fewshot",
    "cache": "add --use_cache and a path",
    "efforts": "run once at each, with --gen_kwargs reasoning_effort=low, where the server takes it",
}
"""Parameters of many of Inspect's tasks, and how to say the same to lm-eval."""


def check_metadata(
    study: str,
    given: Mapping[str, Any],
    known: Sequence[str],
    elsewhere: Mapping[str, str],
    fixed: Mapping[str, str] = MappingProxyType({}),
    types: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Check the names and the types of what the metadata says to a study.

    lm-eval merges the arguments of the model into the metadata. These are left alone, unless they are parameters of the
    study. Other names may be meant for another task of the same run, so they are warned of.

    Parameters
    ----------
    study : str
        Name of the study, for messages.
    given : mapping
        The metadata.
    known : sequence of str
        The study's parameters.
    elsewhere : mapping of str to str
        Names that are said in another way, and in which.
    fixed : mapping of str to str
        Names whose value cannot be changed.
    types : mapping of str to type
        Types of parameters by name.

    Raises
    ------
    ValueError
        For a parameter of Inspect's tasks that lm-eval is told in another way, another value of what is fixed, or a
        value of another type.

    Examples
    --------
    >>> check_metadata("scales", {"scales": "0-10"}, ["n"], {"scales": "name tasks, such as --tasks a"})
    Traceback (most recent call last):
    ...
    ValueError: metadata: scales has no parameter 'scales' on lm-eval: name tasks, such as --tasks a
    """
    others = {**SAID_ELSEWHERE, **elsewhere}
    passed = {*known, METRICS.name, *_HARNESS, *model_arguments()}
    for name in given:
        if name in passed or given[name] == fixed.get(name):
            continue
        if name in fixed:
            raise ValueError(
                f"metadata: {study} has {name}={fixed[name]!r} and no other, not {given[name]!r}"
            )
        if name in others:
            raise ValueError(f"metadata: {study} has no parameter {name!r} on lm-eval: {others[name]}")
        warn_once(f"metadata: {unknown_parameter(study, name, known)}. It is ignored")
    for name in types.keys() & given.keys() & {*known, METRICS.name}:
        check_value(name, given[name], types[name])


@cache
def warn_once(message: str) -> None:
    """Warn, but not again for every condition and source of a study."""
    _log.warning(message)


def _examples(item: Item) -> list[dict[str, str]]:
    """Return the worked examples before an item, which are those of every item of a condition."""
    return [{"prompt": asked, "target": replied} for asked, replied in item.examples]


def _document(item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "condition": item.condition,
        "system": item.system,
        "prompt": item.prompt,
        "target": item.question.gold or "",
        **question_metadata(item.question),
        **item.metadata,
    }
