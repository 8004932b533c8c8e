"""A study as lm-eval tasks: one class for all studies, one configuration per condition and source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from typing import Any

from datasets.arrow_dataset import Dataset
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.task import ConfigurableTask

from confidence_tasks.harness.address import ORIGIN
from confidence_tasks.harness.compat import choose_group_members, set_metrics
from confidence_tasks.harness.lm_eval.chat import Turns, render, run_of
from confidence_tasks.harness.lm_eval.documents import document, document_items, document_trial
from confidence_tasks.harness.lm_eval.groups import REVISIONS
from confidence_tasks.harness.lm_eval.metadata import (
    KEYS_OF_HARNESS,
    asked_conditions,
    check_metadata,
    inspect_parameters,
    warn_once,
)
from confidence_tasks.harness.lm_eval.metrics import aggregations, logged_measures, sample_metrics
from confidence_tasks.harness.lm_eval.sample_requests import default_settings, make_sample_request
from confidence_tasks.harness.lm_eval.stage_calls import StagesRequest
from confidence_tasks.harness.lm_eval.stage_requests import REQUEST_TYPE
from confidence_tasks.harness.parameters import STUDY, is_single, load_study
from confidence_tasks.harness.usage_errors import as_usage_error
from confidence_tasks.sources.table import revisions
from confidence_tasks.study.stage import Stage
from confidence_tasks.study.structured import STRUCTURED

_DEFAULTS: Mapping[str, Any] = {
    "output_type": "generate_until",
    "metric_list": [],
    "description": "system",
    "doc_to_text": "prompt",
    "doc_to_target": "target",
    "fewshot_config": {"sampler": "first_n"},
}
"""The part of the configuration that all tasks share. The last keys name columns of the documents."""


_NAMES = frozenset({"task", "task_alias", "tag"})
"""Keys of a configuration that do not change what is asked."""


class StudyTask(ConfigurableTask):
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
        self.asked = {
            **stub,
            **dict.fromkeys(_NAMES),
            "metadata": {**parameters, **dict.fromkeys(KEYS_OF_HARNESS)},
        }
        self._model: LM | None = None
        super().__init__(
            config=deepcopy({**_DEFAULTS, **default_settings(self.study), **stub, "metadata": parameters})
        )
        self._refuse_structured_stages()
        self._refuse_providers_temperature()
        measures = logged_measures(self.study, self.parameters, parameters)
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

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the same task on Inspect, checked."""
        return inspect_parameters(self.study, dict(self.config.metadata or {}), str(self.config.task))

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of a trial."""
        return self.study.stages_of(self.parameters)

    @property
    def generates(self) -> bool:
        """Whether a trial needs only the text of one reply."""
        return is_single(self.stages) and not self.stages[0].logprobs

    @property
    def conditions(self) -> Sequence[str]:
        """The conditions to ask; empty if each question has its own condition."""
        return asked_conditions(self.study, self.parameters, dict(self.config.metadata or {}))

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
            items = document_items(self.study, self.parameters, self.conditions, fewshot)
            if any(item.examples != items[0].examples for item in items):
                raise ValueError(
                    f"num_fewshot={fewshot}: lm-eval uses the same worked examples for all documents of a task, but "
                    f"those of {self.config.task} differ between its conditions: choose one, such as with --metadata "
                    '\'{"levels": "0.9", "condition": "direct"}\''
                )
            examples = [{"prompt": prompt, "target": reply} for prompt, reply in items[0].examples]
            self.sampler.replace_df(examples)
            self._docs = Dataset.from_list([document(item) for item in items])
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
            make_sample_request(generation, self.stages[0], doc, self.parameters)
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
        only = self.stages[0].name if self.generates else ""
        trial = document_trial(self.study, doc, reply, self.parameters, only)
        return sample_metrics(trial, list(self.aggregation()), str(doc["cluster"]))


def _asks_something_new(task: object, members: Sequence[object]) -> bool:
    """Return False for a task that asks the same as a member of its group.

    That are the tasks of a condition on several sources if the metadata names one source. lm-eval would ask its
    questions once per task, and take the replies for independent ones.
    """
    if not isinstance(task, StudyTask):
        return True
    same = [each for each in members if isinstance(each, StudyTask) and each.asked == task.asked]
    if same:
        source = task.asked["metadata"]["source"]
        warn_once(
            f"source={source}: {task.config.task} asks the same as {same[0].config.task}, so it is left out"
        )
    return not same


choose_group_members(_asks_something_new)
