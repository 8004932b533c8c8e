"""A study on lm-eval: one class for all studies, one configuration a condition and source."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, NamedTuple

from datasets.arrow_dataset import Dataset
from lm_eval.api.instance import Instance
from lm_eval.api.task import ConfigurableTask

from confidence_tasks.harness.compat import model_arguments, set_metrics
from confidence_tasks.harness.lm_eval.groups import REVISIONS, TaskGroup, aggregations, sample_metrics
from confidence_tasks.harness.lm_eval.stage_requests import (
    REQUEST_TYPE,
    SAMPLES,
    StagesRequest,
    Turns,
    sampling_settings,
)
from confidence_tasks.harness.staged import (
    STUDY,
    as_usage_error,
    chosen_conditions,
    complete_parameters,
    default_stages,
    is_single,
    label_of,
    load_study,
    restored_replies,
    roles_needed,
    staged_items,
    task_metrics,
    trial_of,
)
from confidence_tasks.sources.table import revisions
from confidence_tasks.study.definition import Study, TaskMetrics
from confidence_tasks.study.measures import select_measures
from confidence_tasks.study.parameter import FEWSHOT, METRICS, SEED, check_value, one_of, unknown_parameter
from confidence_tasks.study.stage import ModelReply, Replies, Stage
from confidence_tasks.study.trial import Item, question_from_metadata, question_metadata

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
    "fewshot_config": {"sampler": "first_n"},
}
"""The part of the configuration that is the same for every stub; names of columns stand for their values."""

_HARNESS = frozenset({"config_source", "version"})
"""What lm-eval itself puts into the metadata."""


SAID_ELSEWHERE: Mapping[str, str] = {
    "seed": "say question_seed, for lm-eval has seeds of its own",
    "fewshot": "add --num_fewshot",
    "cache": "add --use_cache and a path",
    "efforts": "run once at each, with --gen_kwargs reasoning_effort=low, where the server takes it",
    "sources": "say source, or name the tasks of the sources",
    "token_probabilities": "say top_logprobs, which is any number from 1 to 20 here",
}
"""Parameters that many of Inspect's tasks have, and how to give the same to lm-eval."""


class MetadataRules(NamedTuple):
    """Metadata of a study's tasks that are read, and those that are refused.

    ``types`` are those of the parameters that are taken, ``fixed`` is what stubs say that cannot be changed, such as
    the source of a study that has but one, and ``elsewhere`` says how to tell lm-eval the other parameters of Inspect's
    tasks.
    """

    types: Mapping[str, Any]
    fixed: Mapping[str, str]
    elsewhere: Mapping[str, str]


@cache
def metadata_rules(study: Study) -> MetadataRules:
    """Return what a study reads of the metadata of its tasks."""
    every = {each.name: each.type for task in study.designs for each in study.task_parameters(task)}
    others = {study.condition_parameter, *SAID_ELSEWHERE}
    taken = {name: kind for name, kind in every.items() if name not in others}
    if "sources" in every:
        taken["source"] = str
    conditions = study.designs[study.first_task].conditions or study.conditions
    named = ",".join(TaskGroup(study.first_task, study, {}).task(each) for each in conditions[:2])
    return MetadataRules(
        {STUDY: str, "condition": str, "question_seed": int, **taken},
        {} if "source" in taken else {"source": study.source or study.name},
        {**SAID_ELSEWHERE, study.condition_parameter: f"name tasks, such as --tasks {named}"},
    )


def check_metadata(study: Study, given: Mapping[str, Any]) -> None:
    """Check the names and the types of what the metadata of a study's task says.

    lm-eval merges the arguments of the model into the metadata. These are left alone, unless they are parameters of
    the study. Other names may be meant for another task of the same run, so they are warned of.

    ValueError for a parameter that lm-eval is told in another way, another value of what is fixed, or a value of
    another type.
    """
    types, fixed, elsewhere = metadata_rules(study)
    passed = {*types, *_HARNESS, *model_arguments()}
    for name in (each for each in given if each not in passed):
        if name in elsewhere:
            raise ValueError(
                f"metadata: {study.name} has no parameter {name!r} on lm-eval: {elsewhere[name]}"
            )
        if name not in fixed:
            warn_once(f"metadata: {unknown_parameter(study.name, name, types)}. It is ignored")
        elif given[name] != fixed[name]:
            raise ValueError(
                f"metadata: {study.name} has {name}={fixed[name]!r} and no other, not {given[name]!r}"
            )
    for name in types.keys() & given.keys():
        check_value(name, given[name], types[name])


class StudyOfStages(ConfigurableTask):
    """A study under one condition, on one source of questions.

    A stub's ``metadata`` holds the study's parameters, the study, the condition and the source among them; lm-eval's
    ``--metadata`` overrides them; null stands for the default. ``question_seed`` stands for ``seed``.
    ``--num_fewshot`` gives the study's own worked examples.

    A study whose trials are made of the text of one reply has that generated as lm-eval's own tasks have theirs; others
    run their stages by a request type of their own.
    """

    @as_usage_error()
    def __init__(self, config: Mapping[str, Any]) -> None:
        self.study = load_study(config["metadata"][STUDY])
        self.VERSION = self.study.version
        self._docs = Dataset.from_list([])
        self._docs_fewshot = -1
        stub = {key: value for key, value in config.items() if key != "class"}
        given = stub.get("metadata") or {}
        parameters = {name: value for name, value in given.items() if value is not None}
        check_metadata(self.study, parameters)
        super().__init__(config=deepcopy({**_DEFAULTS, **self.defaults(), **stub, "metadata": parameters}))
        which = parameters.get(METRICS.name, METRICS.default)
        METRICS.check(which)
        headline = self.logged.default_measures or self.study.headline_measures
        # lm-eval's own names of metrics end at a comma.
        measures = [
            replace(each, name=each.name.replace(",", "/"))
            for each in select_measures(self.logged.measures, headline if which == METRICS.default else None)
        ]
        better = {
            measure.name: measure.better == "higher" for measure in measures if measure.better != "neither"
        }
        set_metrics(self, aggregations(measures), better)

    def defaults(self) -> Mapping[str, Any]:
        """Return the delimiter of the first stage and the limit of the only one, which ``--gen_kwargs`` overrides."""
        first, *others = default_stages(self.study)
        limit = {} if others or first.max_tokens is None else {"max_gen_toks": first.max_tokens}
        return {"target_delimiter": first.delimiter, "generation_kwargs": {**GENERATION, **limit}}

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The parameters of Inspect's task that ask the same, checked."""
        study, given = self.study, dict(self.config.metadata or {})
        task = self.inspect_task(given)
        declared = {each.name: each for each in study.task_parameters(task)}
        own = metadata_rules(study).types.keys() & declared.keys()
        said = {name: value for name, value in given.items() if name in own}
        replace(SEED, name="question_seed").check(given.get("question_seed", SEED.default))
        others = {study.condition_parameter: "condition", "seed": "question_seed"}
        said |= {ours: given[name] for ours, name in others.items() if ours in declared and name in given}
        if "sources" in declared:
            said["sources"] = [given["source"]]
        return {**complete_parameters(study.name, said, list(declared.values())), "task": task}

    def inspect_task(self, given: Mapping[str, Any]) -> str:
        """Return the name of Inspect's task."""
        study = self.study
        if not study.conditions:
            return one_of(list(study.designs), str(given["condition"]), "condition")
        named = study.design_of(str(self.config.task))
        return named if named in study.designs else study.first_task

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The stages under these parameters."""
        return self.study.stages_of(self.parameters)

    @property
    def generates(self) -> bool:
        """Whether a trial is made of the text of one reply."""
        return is_single(self.stages) and not self.stages[0].logprobs

    @property
    def logged(self) -> TaskMetrics:
        """Metrics that a log of Inspect has."""
        return task_metrics(self.study, self.parameters, [str((self.config.metadata or {})["condition"])])

    @property
    def conditions(self) -> Sequence[str]:
        """The conditions that are asked; none where each question has its own."""
        if self.study.condition_parameter in self.parameters:
            return chosen_conditions(self.study, self.parameters)
        said = str((self.config.metadata or {})["condition"])
        return [label_of(self.study, said)] if self.study.conditions else []

    def items(self, fewshot: int) -> Sequence[Item]:
        """Return the questions under the condition, or each under its own, with ``fewshot`` worked examples before."""
        study = self.study
        FEWSHOT.check(fewshot)
        items = list(staged_items(study, {**self.parameters, FEWSHOT.name: fewshot}, self.conditions))
        questions = [item.question for item in items]
        if roles := roles_needed(study, self.parameters, questions):
            task = f"{study.module.partition('.')[0]}/{self.parameters['task']}"
            raise ValueError(
                f"questions of {study.name} need a model as {' and '.join(roles)}, and lm-eval calls none but the "
                f"model under test: run `inspect eval {task}`, or choose parameters without it"
            )
        if pictures := sum(question.image is not None for question in questions):
            raise ValueError(
                f"{pictures} questions of {study.name} have a picture, which lm-eval does not send"
            )
        if not study.repeats_parameter:
            return items
        return [
            replace(item, metadata={**item.metadata, "id": f"{item.id}/{number}", "repeat": number})
            for item in items
            for number in range(1, self.parameters[study.repeats_parameter] + 1)
        ]

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
            items = self.items(fewshot)
            if any(item.examples != items[0].examples for item in items):
                raise ValueError(
                    f"num_fewshot={fewshot}: lm-eval shows the same worked examples throughout a task, and those of "
                    f"{self.config.task} differ between its conditions: name one, as with --metadata "
                    '\'{"levels": "0.9", "condition": "direct"}\''
                )
            examples = items[0].examples  # those of every item
            self.sampler.replace_df([{"prompt": asked, "target": said} for asked, said in examples])
            self._docs = Dataset.from_list([_document(item) for item in items])
            names = dict.fromkeys(item.question.source for item in items)
            self.config.metadata = {**(self.config.metadata or {}), REVISIONS: revisions(names)}
            self._docs_fewshot = fewshot
        return self._docs

    def fewshot_docs(self) -> list[dict[str, Any]]:
        """Return none yet: the study's worked examples come with its questions."""
        return []

    def fewshot_context(
        self,
        doc: dict[str, Any],
        *args: Any,
        apply_chat_template: bool = False,
        chat_template: Any = None,
        **kwargs: Any,
    ) -> str | list[str]:
        """Keep the turns of the first prompt, which later stages may continue.

        In plain text a blank line stands between system message and prompt, where lm-eval puts nothing.
        """
        self._turns: Turns = []

        def recorded(turns: Turns, **options: Any) -> Any:
            self._turns = list(turns)
            return chat_template(turns, **options)

        if doc["system"] and not apply_chat_template:
            doc = {**doc, "system": f"{doc['system']}\n\n"}
        options = {"apply_chat_template": apply_chat_template, **kwargs}
        try:
            context: str | list[str] = super().fewshot_context(
                doc, *args, chat_template=recorded if chat_template else None, **options
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
        """Ask for the reply, or for all stages at once."""
        generation = super().construct_requests(doc, ctx, **kwargs)
        assert isinstance(generation, Instance)
        if self.generates:
            context, settings = generation.args
            own = sampling_settings(
                self.stages[0],
                doc["condition"],
                self.parameters,
                question_from_metadata(doc).id,
                repeat=doc.get("repeat", 1),
            )
            generation.arguments = (context, {**settings, **own})
            if "seed" in own:
                generation.request_type = SAMPLES  # type: ignore[assignment]
            return [generation]
        return [
            StagesRequest(
                request_type=REQUEST_TYPE,  # type: ignore[arg-type]
                doc=doc,
                arguments=generation.args,
                idx=0,
                metadata=(generation.task_name, generation.doc_id, generation.repeats),
                parameters=self.parameters,
                turns=self._turns,
            )
        ]

    def process_results(self, doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
        """Return the trial for every metric that is configured; none for a lost call, whose reply is None."""
        (reply,) = results
        if reply is None:
            return {}
        replies: Replies = (
            {self.stages[0].name: [ModelReply(reply)]} if self.generates else restored_replies(reply)
        )
        trial = trial_of(self.study, question_from_metadata(doc), doc["condition"], replies, self.parameters)
        return sample_metrics(trial, list(self.aggregation()))


@cache
def warn_once(message: str) -> None:
    """Warn, but not again for every condition and source of a study."""
    _log.warning(message)


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
