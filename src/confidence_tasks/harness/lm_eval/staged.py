"""A study as lm-eval tasks: one class for all studies, one configuration per condition and source."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, NamedTuple

from datasets.arrow_dataset import Dataset
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.task import ConfigurableTask

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.address import ORIGIN
from confidence_tasks.harness.compat import choose_group_members, model_arguments, set_metrics
from confidence_tasks.harness.lm_eval.chat import Turns, render, run_of
from confidence_tasks.harness.lm_eval.generated import stop_of
from confidence_tasks.harness.lm_eval.groups import REVISIONS, TaskGroup, aggregations, sample_metrics
from confidence_tasks.harness.lm_eval.stage_requests import (
    GENERATION,
    REQUEST_TYPE,
    SAMPLES,
    StagesRequest,
    response_format,
    sampling_settings,
)
from confidence_tasks.harness.staged import (
    STUDY,
    as_usage_error,
    chosen_conditions,
    complete_parameters,
    condition_label,
    default_stages,
    is_single,
    load_study,
    read_trial,
    replies_from_json,
    roles_needed,
    staged_items,
    task_metrics,
)
from confidence_tasks.sources.table import revisions
from confidence_tasks.study.definition import Study
from confidence_tasks.study.measures import select_measures
from confidence_tasks.study.parameter import (
    FEWSHOT,
    METRICS,
    SEED,
    check_value,
    did_you_mean,
    one_of,
    unknown_parameter,
)
from confidence_tasks.study.records import TaskMetrics
from confidence_tasks.study.stage import ModelReply, Replies, Stage
from confidence_tasks.study.structured import STRUCTURED
from confidence_tasks.study.trial import Item, question_from_metadata, question_metadata

_log = logging.getLogger(__name__)

_DEFAULTS: Mapping[str, Any] = {
    "output_type": "generate_until",
    "metric_list": [],
    "description": "system",
    "doc_to_text": "prompt",
    "doc_to_target": "target",
    "fewshot_config": {"sampler": "first_n"},
}
"""The part of the configuration that all tasks share. The last keys name columns of the documents."""

_HARNESS = frozenset({"config_source", "version"})
"""Keys that lm-eval itself adds to the metadata."""


_NAMES = frozenset({"task", "task_alias", "tag"})
"""Keys of a configuration that do not change what is asked."""

ALTERNATIVES: Mapping[str, str] = {
    "seed": "use question_seed, because lm-eval has seeds of its own",
    "fewshot": "use --num_fewshot",
    "cache": "use --use_cache with a path",
    "efforts": "run once per effort, with --gen_kwargs reasoning_effort=low, if the server supports it",
    "sources": "use source, or name the tasks of the sources",
    "stop": "lm-eval sends all requests at once, so that no run can stop early: run the task on Inspect, or see by"
    " confidence-tasks sequence after how many questions a finished run would have stopped",
    "alpha": "it belongs to stop, which is for Inspect only",
    "token_probabilities": "use top_logprobs, with any number from 1 to 20",
}
"""Parameters of tasks on Inspect that lm-eval sets in another way, with that way."""


class MetadataRules(NamedTuple):
    """The allowed and the refused metadata of a study's tasks.

    ``types`` are the types of the parameters that tasks read. ``fixed`` are values that cannot be changed, such as the
    source of a study with a single source. ``alternatives`` say how to set other parameters of the tasks on Inspect.
    """

    types: Mapping[str, Any]
    fixed: Mapping[str, str]
    alternatives: Mapping[str, str]


@cache
def metadata_rules(study: Study) -> MetadataRules:
    """Return the rules for the metadata of a study's tasks."""
    declared = {each.name: each.type for task in study.designs for each in study.task_parameters(task)}
    others = {study.condition_rules.parameter, *ALTERNATIVES}
    types = {name: kind for name, kind in declared.items() if name not in others}
    if "sources" in declared:
        types["source"] = str
    conditions = study.designs[study.first_task].conditions or study.conditions
    tasks = ",".join(TaskGroup(study.first_task, study, {}).task(each) for each in conditions[:2])
    return MetadataRules(
        {STUDY: str, "condition": str, "question_seed": int, **types},
        {} if "source" in types else {"source": study.asking.source or study.name},
        {**ALTERNATIVES, study.condition_rules.parameter: f"name tasks, such as --tasks {tasks}"},
    )


def check_metadata(study: Study, given: Mapping[str, Any]) -> None:
    """Check the names and types of the metadata of a study's task.

    lm-eval merges the model arguments into the metadata. These are ignored, unless they are parameters of the study.
    Any other unknown name causes a warning only, because it may be for another task of the same run, unless it is close
    to a name of the study and no study has it.

    Raises ValueError for a misspelt name, a parameter that lm-eval sets in another way, another value of a fixed
    parameter, or a value of another type.
    """
    types, fixed, alternatives = metadata_rules(study)
    known = {*types, *_HARNESS, *model_arguments()}
    for name in (each for each in given if each not in known):
        if name in alternatives:
            raise ValueError(
                f"metadata: {study.name} has no parameter {name!r} on lm-eval: {alternatives[name]}"
            )
        if name not in fixed:
            refuse_misspelt(study, name)
            warn_once(f"metadata: {unknown_parameter(study.name, name, types)}. It is ignored")
        elif given[name] != fixed[name]:
            raise ValueError(f"metadata: {study.name} needs {name}={fixed[name]!r}, not {given[name]!r}")
    for name in types.keys() & given.keys():
        check_value(name, given[name], types[name])


MISSPELT = 0.7
"""Least similarity of a name that is refused: more than that of a mere suggestion, because a name may be for a task of
others."""


def refuse_misspelt(study: Study, name: str) -> None:
    """Raise ValueError for an unknown name of the metadata that is close to a name of the study.

    A name that another study has is none: the studies of a run share the metadata.
    """
    types, _, alternatives = metadata_rules(study)
    hint = did_you_mean(name, types, MISSPELT) or did_you_mean(name, alternatives, MISSPELT)
    others = (metadata_rules(each) for each in studies() if each.designs)
    if hint and not any(name in names for rules in others for names in rules):
        raise ValueError(f"metadata: {study.name} has no parameter {name!r} on lm-eval{hint}")


class StudyOfStages(ConfigurableTask):
    """A study under one condition, on one source of questions.

    The configuration's ``metadata`` has the study, the condition, the source and other parameters of the study.
    lm-eval's ``--metadata`` overrides them; null means the default. ``question_seed`` replaces ``seed``.
    ``--num_fewshot`` adds the study's own worked examples.

    If a trial needs only the text of one reply, the reply is generated like that of lm-eval's own tasks. Otherwise the
    request type ``run_stages`` runs the stages.
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
        self.asked = {**stub, **dict.fromkeys(_NAMES), "metadata": {**parameters, **dict.fromkeys(_HARNESS)}}
        self._model: LM | None = None
        super().__init__(config=deepcopy({**_DEFAULTS, **self.defaults(), **stub, "metadata": parameters}))
        which = parameters.get(METRICS.name, METRICS.default)
        METRICS.check(which)
        self._refuse_structured_stages()
        self._refuse_providers_temperature()
        headline = self.logged.default_measures or self.study.headline_measures
        # In lm-eval, the name of a metric ends at a comma.
        measures = [
            replace(each, name=each.name.replace(",", "/"))
            for each in select_measures(self.logged.measures, headline if which == METRICS.default else None)
        ]
        better = {
            measure.name: measure.better == "higher" for measure in measures if measure.better != "neither"
        }
        set_metrics(self, aggregations(measures), better)

    def _refuse_structured_stages(self) -> None:
        """Raise ValueError if replies are to be JSON objects and a trial needs more than the text of one reply."""
        if self.parameters.get(STRUCTURED) and not self.generates:
            task = f"{self.study.module.partition('.')[0]}/{self.parameters['task']}"
            raise ValueError(
                "structured: on lm-eval only the reply of a study with a single call and without token probabilities"
                f" can be a JSON object: run `inspect eval {task} -T structured=true`"
            )

    def _refuse_providers_temperature(self) -> None:
        """Raise ValueError if the provider's default temperature is asked for, as lm-eval always sends one."""
        if any(stage.providers_temperature for stage in self.stages):
            task = f"{self.study.module.partition('.')[0]}/{self.parameters['task']}"
            raise ValueError(
                "temperature: lm-eval sends 0 where it is given none, so that no provider's default applies: run"
                f" `inspect eval {task} -T temperature=provider`"
            )

    def defaults(self) -> Mapping[str, Any]:
        """Return the delimiter of the first stage, and the token limit if it is the only stage."""
        first, *others = default_stages(self.study)
        limit = {} if others or first.max_tokens is None else {"max_gen_toks": first.max_tokens}
        return {"target_delimiter": first.delimiter, "generation_kwargs": {**GENERATION, **limit}}

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the same task on Inspect, checked."""
        study, metadata = self.study, dict(self.config.metadata or {})
        task = self.inspect_task(metadata)
        declared = {each.name: each for each in study.task_parameters(task)}
        same_name = metadata_rules(study).types.keys() & declared.keys()
        values = {name: value for name, value in metadata.items() if name in same_name}
        replace(SEED, name="question_seed").check(metadata.get("question_seed", SEED.default))
        renamed = {study.condition_rules.parameter: "condition", "seed": "question_seed"}
        values |= {
            name: metadata[key] for name, key in renamed.items() if name in declared and key in metadata
        }
        if "sources" in declared:
            values["sources"] = [metadata["source"]]
        return {**complete_parameters(study.name, values, list(declared.values())), "task": task}

    def inspect_task(self, metadata: Mapping[str, Any]) -> str:
        """Return the name of the same task on Inspect."""
        study = self.study
        if not study.conditions:
            return one_of(list(study.designs), str(metadata["condition"]), "condition")
        name = study.design_of(str(self.config.task))
        return name if name in study.designs else study.first_task

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of a trial."""
        return self.study.stages_of(self.parameters)

    @property
    def generates(self) -> bool:
        """Whether a trial needs only the text of one reply."""
        return is_single(self.stages) and not self.stages[0].logprobs

    @property
    def logged(self) -> TaskMetrics:
        """The metrics that Inspect logs for this task."""
        return task_metrics(self.study, self.parameters, [str((self.config.metadata or {})["condition"])])

    @property
    def conditions(self) -> Sequence[str]:
        """The conditions to ask; empty if each question has its own condition."""
        if self.study.condition_rules.parameter in self.parameters:
            return chosen_conditions(self.study, self.parameters)
        condition = str((self.config.metadata or {})["condition"])
        return [condition_label(self.study, condition)] if self.study.conditions else []

    def items(self, fewshot: int) -> Sequence[Item]:
        """Return the questions under the task's condition, with ``fewshot`` worked examples each."""
        study = self.study
        FEWSHOT.check(fewshot)
        items = list(staged_items(study, {**self.parameters, FEWSHOT.name: fewshot}, self.conditions))
        questions = [item.question for item in items]
        if roles := roles_needed(study, self.parameters, questions):
            task = f"{study.module.partition('.')[0]}/{self.parameters['task']}"
            raise ValueError(
                f"questions of {study.name} need a model as {' and '.join(roles)}, but lm-eval calls only the "
                f"model under test: run `inspect eval {task}`, or choose parameters that need no other model"
            )
        if pictures := sum(question.image is not None for question in questions):
            raise ValueError(
                f"{pictures} questions of {study.name} have a picture, which lm-eval cannot send"
            )
        if not study.asking.repeats_parameter:
            return items
        return [
            replace(item, metadata={**item.metadata, "id": f"{item.id}/{number}", "repeat": number})
            for item in items
            for number in range(1, self.parameters[study.asking.repeats_parameter] + 1)
        ]

    def download(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: `test_docs` loads the questions when lm-eval has set the number of worked examples."""

    def has_test_docs(self) -> bool:
        """Return True: every study has questions."""
        return True

    @as_usage_error()
    def test_docs(self) -> Dataset:
        """Return the documents in the order of the study.

        lm-eval sets the number of worked examples after it has created the task.
        """
        fewshot = self.config.num_fewshot or 0
        if fewshot != self._docs_fewshot:
            items = self.items(fewshot)
            if any(item.examples != items[0].examples for item in items):
                raise ValueError(
                    f"num_fewshot={fewshot}: lm-eval uses the same worked examples for all documents of a task, but "
                    f"those of {self.config.task} differ between its conditions: choose one, such as with --metadata "
                    '\'{"levels": "0.9", "condition": "direct"}\''
                )
            examples = [{"prompt": prompt, "target": reply} for prompt, reply in items[0].examples]
            self.sampler.replace_df(examples)
            self._docs = Dataset.from_list([_document(item) for item in items])
            names = dict.fromkeys(item.question.source for item in items)
            self.config.metadata = {**(self.config.metadata or {}), REVISIONS: revisions(names)}
            self._docs_fewshot = fewshot
        return self._docs

    def fewshot_docs(self) -> list[dict[str, Any]]:
        """Return an empty list: `test_docs` sets the worked examples."""
        return []

    def fewshot_context(
        self,
        doc: dict[str, Any],
        *args: Any,
        apply_chat_template: bool = False,
        chat_template: Any = None,
        **kwargs: Any,
    ) -> str | list[str]:
        """Return the first prompt, and store its turns, which later stages may continue.

        Without a chat template, add a blank line between system message and prompt, where lm-eval adds nothing.
        """
        self._turns: Turns = []

        def store_turns(turns: Turns, **options: Any) -> Any:
            model: LM = chat_template.__self__  # lm-eval passes the method of the model
            rendered, self._turns = render(list(turns), model, **options)
            if isinstance(rendered, str):
                key = (self.study.address, str(doc["question_id"]), doc.get("repeat", 1))
                run_of(model).prompts.add(key, rendered, list(turns), str(self.config.task))
            return rendered

        if doc["system"] and not apply_chat_template:
            doc = {**doc, "system": f"{doc['system']}\n\n"}
        options = {"apply_chat_template": apply_chat_template, **kwargs}
        try:
            context: str | list[str] = super().fewshot_context(
                doc, *args, chat_template=store_turns if chat_template else None, **options
            )
        except ValueError as error:
            if not apply_chat_template:
                raise
            raise ValueError(
                f"{self.config.task}: the model's chat template cannot be applied: {error} For a base model, leave "
                "out --apply_chat_template; the prompt is then plain text"
            ) from error
        return context

    def build_all_requests(
        self, *, cache_requests: bool = False, rewrite_requests_cache: bool = False, **options: Any
    ) -> None:
        """Build the requests, never from lm-eval's cache of requests: it does not know the metadata of the task."""
        if cache_requests:
            warn_once(
                "--cache_requests is ignored for the tasks of confidence_tasks: requests made with other metadata "
                "would be asked, and scored against the questions of this run"
            )
        self._model = getattr(options.get("chat_template"), "__self__", None)
        super().build_all_requests(**options)

    def dump_config(self) -> dict[str, Any]:
        """Return the configuration for the results, with the server that answered."""
        if self._model is not None:
            origin = run_of(self._model).origin(str(getattr(self._model, "base_url", None) or ""))
            self.config.metadata = {**(self.config.metadata or {}), **({ORIGIN: origin} if origin else {})}
        config: dict[str, Any] = super().dump_config()
        return config

    def construct_requests(self, doc: dict[str, Any], ctx: str | list[str], **kwargs: Any) -> list[Instance]:
        """Request the only reply, or all stages at once."""
        generation = super().construct_requests(doc, ctx, **kwargs)
        assert isinstance(generation, Instance)
        if self.generates:
            context, settings = generation.args
            question = question_from_metadata(doc)
            sampling = sampling_settings(
                self.stages[0],
                doc["condition"],
                self.parameters,
                question.id,
                repeat=doc.get("repeat", 1),
            )
            form = response_format(self.stages[0], question, str(doc["condition"]))
            generation.arguments = (context, {**settings, **sampling, **form})
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
        """Return the values of all metrics for a document; empty if its call was lost, so that the reply is None."""
        (reply,) = results
        if reply is None:
            return {}
        replies: Replies = (
            {self.stages[0].name: [ModelReply(reply, stop=stop_of(reply))]}
            if self.generates
            else replies_from_json(reply)
        )
        question = question_from_metadata(doc)
        trial = read_trial(self.study, question, doc["condition"], replies, self.parameters)
        return sample_metrics(trial, list(self.aggregation()), question.cluster)


@cache
def warn_once(message: str) -> None:
    """Log a warning once, not for every condition and source of a study."""
    _log.warning(message)


def _asks_something_new(task: object, members: Sequence[object]) -> bool:
    """Return False for a task that asks the same as a member of its group.

    That are the tasks of a condition on several sources if the metadata names one source. lm-eval would ask its
    questions once per task, and take the replies for independent ones.
    """
    if not isinstance(task, StudyOfStages):
        return True
    same = [each for each in members if isinstance(each, StudyOfStages) and each.asked == task.asked]
    if same:
        source = task.asked["metadata"]["source"]
        warn_once(
            f"source={source}: {task.config.task} asks the same as {same[0].config.task}, so it is left out"
        )
    return not same


choose_group_members(_asks_something_new)


def _document(item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "condition": item.condition,
        "system": item.system,
        "prompt": item.prompt,
        "target": item.question.gold or "",
        "cluster": item.question.cluster,  # always, as lm-eval keeps the keys of the first document only
        **question_metadata(item.question),
        **item.metadata,
    }
