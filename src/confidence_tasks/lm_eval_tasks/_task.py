"""What the studies share as lm-eval tasks: one Python class a study, one YAML stub a condition and source."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from difflib import get_close_matches
from functools import cache
from typing import Any, ClassVar

from datasets.arrow_dataset import Dataset
from lm_eval.api.instance import Instance
from lm_eval.api.task import ConfigurableTask

from confidence_tasks.lm_eval_tasks._aggregation import aggregations, sample_metrics
from confidence_tasks.lm_eval_tasks._generation_scores import (
    Span,
    score_request,
    unscored,
    whole_text,
)
from confidence_tasks.scorers._measures import Measure
from confidence_tasks.scorers._questions import question_metadata
from confidence_tasks.simulation import answer_key
from confidence_tasks.tasks._fewshot import with_replies_shown
from confidence_tasks.tasks._parameters import check_value, unknown_parameter
from confidence_tasks.tasks._samples import Item

_log = logging.getLogger(__name__)

_DEFAULTS: Mapping[str, Any] = {
    "output_type": "generate_until",
    "metric_list": [],
    "description": "system",
    "doc_to_text": "prompt",
    "doc_to_target": "target",
    "target_delimiter": "\n\n",
    "fewshot_config": {"sampler": "first_n"},
    # lm-eval's own stop, a blank line, would cut off JSON and reasoning.
    "generation_kwargs": {"until": [], "max_gen_toks": 1024, "do_sample": False, "temperature": 0.0},
}
"""The part of the configuration that is the same for every stub; names of columns stand for their values."""

_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(("n", "question_seed", "samples", "k"), int | None),
    **dict.fromkeys(("token_probabilities", "force_gold"), bool | None),
    **dict.fromkeys(("source", "mirror"), str | None),
}
"""Of the parameters that are not lists and have no table of what is allowed."""


class StudyTask(ConfigurableTask):
    """A study under one condition, on one source of questions.

    A stub's ``metadata`` holds the study's parameters, the condition and the source among them; lm-eval's
    ``--metadata`` overrides them. ``--num_fewshot`` gives the study's own worked examples.

    Attributes
    ----------
    PARAMETERS : sequence of str
        What the study reads of the metadata.
    MEASURES : sequence of Measure
        The study's metrics.
    WORKED_EXAMPLES : bool
        Whether `items` makes the study's worked examples; those of other studies are an ideal subject's replies.
    SCORES_GENERATION : bool
        Whether the log-probability of each generation is asked for.
    """

    PARAMETERS: ClassVar[Sequence[str]] = ()
    MEASURES: ClassVar[Sequence[Measure]] = ()
    WORKED_EXAMPLES: ClassVar[bool] = False
    SCORES_GENERATION: ClassVar[bool] = False

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._docs = Dataset.from_list([])
        self._docs_fewshot = -1
        stub = {key: value for key, value in config.items() if key != "class"}
        parameters = stub.get("metadata") or {}
        for name in _TYPES.keys() & parameters.keys() & set(self.PARAMETERS):
            check_value(name, parameters[name], _TYPES[name])
        defaults = {**_DEFAULTS, **self.defaults(parameters)}
        super().__init__(config=deepcopy({**defaults, **stub}))
        for name in near_misses(self.config.metadata or {}, self.PARAMETERS):
            study = type(self).__module__.rpartition(".")[2]
            warn_once(f"metadata: {unknown_parameter(study, name, self.PARAMETERS)}")
        measures = self.measures(self.config.metadata or {})
        self._aggregation_list = dict(aggregations(measures))
        self._metric_fn_list = dict.fromkeys(self._aggregation_list)
        self._higher_is_better = {
            measure.name: measure.better == "higher" for measure in measures if measure.better != "neither"
        }

    @abstractmethod
    def items(self, parameters: Mapping[str, Any], fewshot: int) -> Iterable[Item]:
        """Yield what is asked, with ``fewshot`` worked examples before each."""

    @abstractmethod
    def trial(self, doc: Mapping[str, Any], reply: Any, score: Any) -> Mapping[str, Any]:
        """Read a reply into a trial.

        Parameters
        ----------
        doc : mapping
            What was asked.
        reply : str
            What the model said, or what else was asked for.
        score : GenerationScore
            Of the reply, or what else `requests_about` it returned.
        """

    def defaults(self, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what a study's configuration has in the place of what is the same for every stub."""
        return {}

    def scored_span(self, doc: Mapping[str, Any]) -> Span:
        """Return a function that says which characters of a reply are scored; lm-eval may store it on disk."""
        return whole_text

    def measures(self, parameters: Mapping[str, Any]) -> Sequence[Measure]:
        """Return the metrics, which in some studies depend on the condition."""
        return self.MEASURES

    def download(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: questions are loaded when the number of worked examples is known."""

    def has_test_docs(self) -> bool:
        """Every study has questions to ask."""
        return True

    def test_docs(self) -> Dataset:
        """Return what is asked, in the study's order.

        lm-eval says how many worked examples it wants after it has made the task.
        """
        fewshot = self.config.num_fewshot or 0
        if fewshot != self._docs_fewshot:
            items = self._items(fewshot)
            if any(item.examples != items[0].examples for item in items):
                raise ValueError(
                    f"num_fewshot={fewshot}: lm-eval shows the same worked examples throughout a task, and those of "
                    f"{self.config.task} differ between its conditions: name one, as with --metadata "
                    '\'{"levels": "0.9", "ask": "direct"}\''
                )
            answer_key.register((item.prompt, item.question) for item in items)
            self.sampler.replace_df(_examples(items[0]))
            self._docs = Dataset.from_list([_document(item) for item in items])
            self._docs_fewshot = fewshot
        return self._docs

    def _items(self, fewshot: int) -> list[Item]:
        parameters = dict(self.config.metadata or {})
        if not fewshot or self.WORKED_EXAMPLES:
            return list(self.items(parameters, fewshot))
        if parameters.get("n") is not None:
            parameters["n"] += fewshot
        return with_replies_shown(list(self.items(parameters, 0)), fewshot)

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
        return [score_request(generation, self.scored_span(doc))] if self.SCORES_GENERATION else []

    def process_results(self, doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
        """Return the trial for every metric that is configured, whatever the reply."""
        reply, *scores = results
        score = scores[0] if scores else unscored("not asked for")
        trial = self.trial(doc, "" if reply is None else reply, score)
        return sample_metrics(trial, list(self._aggregation_list))


_NEAR = 0.83
"""Similarity of a misspelt name; one lower takes the simulated subject's temperature_shift for temperatures."""


def near_misses(given: Iterable[str], known: Sequence[str]) -> list[str]:
    """Return the names that are not known, but nearly.

    Others cannot be told from the model's arguments, which lm-eval puts into the metadata.

    Examples
    --------
    >>> near_misses(["sources", "pretrained", "n"], ["source", "n"])
    ['sources']
    """
    return [name for name in given if name not in known and get_close_matches(name, known, n=1, cutoff=_NEAR)]


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
