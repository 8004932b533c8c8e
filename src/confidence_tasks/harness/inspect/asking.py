"""The solver that asks the model the stages of a study."""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import anyio
from inspect_ai.model import ChatMessage, ChatMessageAssistant, GenerateConfig, Model, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from confidence_tasks.harness.compat import built_in_provider
from confidence_tasks.harness.inspect import lost, refused, schemas, turns
from confidence_tasks.harness.inspect.local_prompts import LocalPrompts
from confidence_tasks.harness.inspect.model_calls import (
    OTHER_PROVIDERS,
    ProbabilityGate,
    ask_once,
    ask_stage_role,
    asked_model,
    count_own_tokens,
    effort_settings,
    has_probabilities,
    is_local,
    replace_logprobs,
    score_forced_reply,
    stage_reply,
)
from confidence_tasks.harness.staged import (
    conversations_of,
    is_single,
    load_study,
    replies_to_json,
    sample_seed,
)
from confidence_tasks.harness.stopped import FinishedReplies
from confidence_tasks.simulation.reply import StageCall, stage_call
from confidence_tasks.study.definition import Study
from confidence_tasks.study.stage import ModelReply, Stage, tokens_spent
from confidence_tasks.study.trial import EFFORT, Question, question_from_metadata

REPLIES = "replies"
"""Key of a sample's store that holds the replies of all stages."""


def task_settings(stages: Sequence[Stage]) -> dict[str, Any]:
    """Return the generation settings of a task, which the user's replace."""
    settings = generation_settings(stages[0]) if is_single(stages) else {}
    return settings if stages[0].providers_temperature else {"temperature": 0.0, **settings}


def generation_settings(stage: Stage) -> dict[str, Any]:
    """Return the generation settings that a stage declares."""
    required = stage.logprobs == "required"
    settings = {
        "temperature": None if callable(stage.temperature) else stage.temperature,
        "max_tokens": stage.max_tokens,
        "logprobs": True if required else None,
        "top_logprobs": stage.top_logprobs if required and stage.top_logprobs else None,
    }
    return {name: value for name, value in settings.items() if value is not None}


def is_simulated(model: Model) -> bool:
    """Return whether a model is a simulated subject."""
    from confidence_tasks.harness.inspect.simulated import SimulatedSubject

    return isinstance(model.api, SimulatedSubject)


# Calls ------------------------------------------------------------------------------------------------------------


def call_key(
    stage: Stage, messages: Sequence[ChatMessage], number: int, condition: str
) -> tuple[object, ...]:
    """Return what calls of a question to one model have in common if one call is made for all of them.

    ``number`` is that of the sample. Conditions share a call unless the stage has temperatures by condition.
    """
    said = tuple((message.role, message.text) for message in messages)
    return stage.name, said, number, condition if callable(stage.temperature) else ""


def simulated_seed(study: Study, stage: Stage, epoch: int, number: int) -> int:
    """Return the seed of a call of a simulated subject; repeated trials are numbered from 1, as on lm-eval."""
    return number + stage.samples * (epoch - 1) + bool(study.asking.repeats_parameter)


@dataclasses.dataclass
class _QuestionCalls:
    """The calls of one question. Equal calls are made once; later ones wait for the reply."""

    n_pending: int
    locks: dict[object, anyio.Lock] = dataclasses.field(default_factory=lambda: defaultdict(anyio.Lock))
    outputs: dict[object, ModelOutput] = dataclasses.field(default_factory=dict)

    async def __call__(self, key: object, call: Callable[[], Awaitable[ModelOutput]]) -> ModelOutput:
        async with self.locks[key]:
            if key not in self.outputs:
                self.outputs[key] = await call()
            return self.outputs[key]


@dataclasses.dataclass
class _SharedCalls:
    """The calls of all questions. A question's calls are dropped when all its conditions have been asked."""

    n_conditions: int
    questions: dict[object, _QuestionCalls] = dataclasses.field(default_factory=dict)

    @contextmanager
    def for_question(self, key: object) -> Iterator[_QuestionCalls]:
        calls = self.questions.setdefault(key, _QuestionCalls(self.n_conditions))
        try:
            yield calls
        finally:
            calls.n_pending -= 1
            if not calls.n_pending:
                self.questions.pop(key, None)


@dataclasses.dataclass(frozen=True)
class _Asker:
    """Runs the stages of one sample."""

    study: Study
    stages: Sequence[Stage]
    gates: Mapping[str, ProbabilityGate]
    parameters: Mapping[str, Any]
    state: TaskState
    generate: Generate
    question: Question
    calls: _QuestionCalls
    prompts: LocalPrompts
    form: schemas.SchemaGate

    @property
    def condition(self) -> str:
        return str(self.state.metadata["condition"])

    async def ask_all(self) -> dict[str, list[ModelReply]]:
        """Run every stage; set the state's output and messages from the first stage's conversation."""
        start = list(self.state.messages)
        replies: dict[str, list[ModelReply]] = {}
        finished = FinishedReplies(self.study, self.stages, self.question, self.condition)
        conversations: dict[str, list[ChatMessage]] = {}
        outputs: list[ModelOutput] = []
        for stage in self.stages:
            call = StageCall(self.study, self.question, self.condition, stage.name, finished.of(replies))
            prompts = conversations_of(
                stage,
                call,
                (start[-1].text, start),
                conversations,
                turns.start_conversation,
                turns.append_prompt,
            )
            stage_replies = []
            for _, messages in list(prompts):
                for number in range(stage.samples):
                    output = await self._ask(stage, call, messages, number)
                    outputs.append(output)
                    stage_replies.append(stage_reply(stage, output))
                    message = output.message if output.choices else ChatMessageAssistant(content="")
                    conversations.setdefault(stage.name, [*messages, message])
            replies[stage.name] = stage_replies
        refused.note_refusals(self.state, outputs)
        self.state.output = outputs[0]
        self.state.messages = self._longest_conversation(conversations) or start
        return replies

    def _longest_conversation(self, conversations: Mapping[str, list[ChatMessage]]) -> list[ChatMessage]:
        """Return the longest conversation that begins with the first stage."""
        chain = {self.stages[0].name}
        for stage in self.stages:
            if stage.follows in chain:
                chain.add(stage.name)
        return max(
            (messages for name, messages in conversations.items() if name in chain), key=len, default=[]
        )

    async def _ask(
        self, stage: Stage, call: StageCall, messages: list[ChatMessage], number: int
    ) -> ModelOutput:
        model = asked_model(stage.role)
        if is_local(model):
            key = (str(model), self.question.id, self.state.metadata.get(EFFORT))
            messages = self.prompts.reaching(model, messages, key, self.state)

        async def call_model() -> ModelOutput:
            token = stage_call.set(call)
            try:
                with refused.needing(self._needed(stage)):
                    output = await self._call_in_form(stage, model, messages, number)
            finally:
                stage_call.reset(token)
            if is_local(model) and not stage.forced_reply:
                limit = self._settings(stage, model, number).get("max_tokens")
                count_own_tokens(model, messages, output, limit)
            return output

        if is_simulated(model):
            return await call_model()  # never shared: the reply may depend on the condition
        return await self.calls((model.api, *call_key(stage, messages, number, self.condition)), call_model)

    async def _call_in_form(
        self, stage: Stage, model: Model, messages: list[ChatMessage], number: int
    ) -> ModelOutput:
        """Call a model; if replies are JSON objects, its first reply says whether its server follows schemas."""
        if stage.structured_for(self.question) is None:
            return await self._call(stage, model, messages, number)
        return await self.form(model, lambda: self._call(stage, model, messages, number))

    async def _call(
        self, stage: Stage, model: Model, messages: list[ChatMessage], number: int
    ) -> ModelOutput:
        if stage.forced_reply and not is_simulated(model):
            return await score_forced_reply(model, messages, stage.forced_reply(self.question))
        settings, cache = self._settings(stage, model, number), self.parameters["cache"]
        if stage.role:
            return await ask_stage_role(stage.role, messages, GenerateConfig(**settings), self.state, cache)

        async def ask(
            usable: Callable[[ModelOutput], bool] = lambda output: True, **logprobs: Any
        ) -> TaskState:
            self.state.messages = list(messages)
            _seed_local(model, settings)
            return await ask_once(self.state, self.generate, cache, usable, **settings, **logprobs)

        if not stage.logprobs:
            return (await ask()).output
        if is_local(model):
            return await replace_logprobs(model, messages, (await ask()).output, stage.top_logprobs)
        logprobs: dict[str, Any] = {"logprobs": True}
        if stage.top_logprobs:
            logprobs["top_logprobs"] = stage.top_logprobs
        if stage.logprobs == "required":
            return (await self.gates[stage.name](model, lambda: ask(has_probabilities, **logprobs))).output
        return (await ask(**logprobs)).output

    def _needed(self, stage: Stage) -> dict[str, str]:
        """Return the parameters that a stage cannot do without, each with what the user can do."""
        needed = {}
        if stage.logprobs == "required":
            needed["logprobs"] = f"The study needs token probabilities: {OTHER_PROVIDERS}"
        if refused.needs_temperature(stage, self.condition):
            name = self.study.condition_rules.parameter if callable(stage.temperature) else "temperature"
            needed["temperature"] = f"Choose a temperature that it takes, such as with -T {name}=1"
        for name, value in self._user_settings().items():
            needed.setdefault(
                name, f"Leave out --{name.replace('_', '-')}={value:g}, or choose another value"
            )
        return needed

    def _user_settings(self) -> dict[str, float]:
        """Return the temperature and the limit of tokens that the user gave for the run."""
        return refused.user_settings(GenerateConfig(**task_settings(self.stages)))

    def _settings(self, stage: Stage, model: Model, number: int) -> dict[str, Any]:
        declared, epoch, user = stage.temperature_in(self.condition), self.state.epoch, self._user_settings()
        # A greedy stage takes the temperature of the run, which is 0 unless the user sets it.
        greedy = declared == 0.0 and not callable(stage.temperature)
        temperature = user.get("temperature", 0.0) if greedy else declared
        settings = {} if stage.role else effort_settings(self.state.metadata.get(EFFORT))
        settings |= schemas.schema_setting(stage, self.question, self.condition)
        if not is_single(self.stages):
            limit = None if "max_tokens" in user else stage.max_tokens
            settings |= {"temperature": None if greedy else temperature, "max_tokens": limit}
        elif callable(stage.temperature):
            settings |= {"temperature": temperature}
        if is_local(model):
            of_run = model.config.temperature if stage.role else user.get("temperature")
            decoded_at = of_run if temperature is None else temperature
            if decoded_at is not None or not stage.providers_temperature:
                settings |= _local_sampling(model, stage.name, decoded_at or 0.0)
        if stage.samples > 1 or declared or stage.providers_temperature:
            settings["seed"] = (
                simulated_seed(self.study, stage, epoch, number)
                if is_simulated(model)
                else sample_seed(
                    self.parameters["seed"], self.question.id, epoch, stage, self.condition, number
                )
            )
        return {name: value for name, value in settings.items() if value is not None}


def _seed_local(model: Model, settings: Mapping[str, Any]) -> None:
    """Seed PyTorch for Inspect's ``hf`` provider, which ignores the seed of a call."""
    if is_local(model) and "seed" in settings:
        import torch

        torch.manual_seed(settings["seed"])


def _local_sampling(model: Model, stage: str, temperature: float) -> dict[str, Any]:
    """Return the settings with which Inspect's ``hf`` provider decodes at a temperature.

    The provider samples depending on a model argument, not on the temperature. With ``top_k=1``, sampling is greedy.
    """
    samples = bool(getattr(model.api, "do_sample", True))
    if temperature and not samples:
        raise ValueError(
            f"stage {stage!r} samples at a temperature of {temperature:g}: leave out -M do_sample=false, with which "
            "the hf provider decodes greedily"
        )
    return {"temperature": 1.0, "top_k": 1} if samples and not temperature else {}


def refuse_forced_reply(model: Model, stages: Sequence[Stage]) -> None:
    """Raise ValueError if a stage has a forced reply and the model cannot score given texts."""
    forced = [stage.name for stage in stages if stage.forced_reply]
    if forced and not (is_local(model) or is_simulated(model)):
        raise ValueError(
            f"{forced[0]} scores a given text, which {model} cannot do: use a model of the hf provider, lm-eval, "
            f"or leave {forced[0]} out"
        )


_WITHOUT_EFFORT = frozenset({"azureai", "hf", "nnterp", "transformer_lens"})
"""Inspect's providers that ignore the reasoning effort."""


_WITH_BUDGET = ("anthropic", "bedrock", "google", "openrouter")
"""Inspect's providers that use a number of reasoning tokens."""


def refuse_effort(model: Model, effort: str | None) -> None:
    """Raise ValueError if a model's provider is known to ignore the effort, so that the replies would not differ."""
    provider = built_in_provider(model)
    if effort is None or not provider:
        return
    if provider in _WITHOUT_EFFORT:
        raise ValueError(
            f"efforts: Inspect's {provider} provider ignores the effort for {model}: leave efforts out, or use "
            "another provider"
        )
    # mockllm, which is for tests, accepts any setting.
    if effort.isdecimal() and provider not in (*_WITH_BUDGET, "mockllm"):
        raise ValueError(
            f"efforts: Inspect's {provider} provider ignores a number of reasoning tokens for {model}; "
            f"{', '.join(_WITH_BUDGET)} use it: name efforts, such as low,high"
        )


@solver
def ask_stages(study: str, parameters: dict[str, Any], n_conditions: int = 1) -> Solver:
    """Return a solver that runs the stages of a study and stores their replies in the sample.

    The replies of a study with a single call are not stored, because the sample's output has them. The token counts of
    all calls are added to the sample's metadata. ``study`` is the study's address
    (:attr:`~confidence_tasks.study.Study.address`), ``parameters`` are the parameters of the task, and
    ``n_conditions`` is the number of conditions under which each question is asked.
    """
    loaded = load_study(study)
    stages = loaded.stages_of(parameters)
    gates = {
        stage.name: ProbabilityGate(f"stage {stage.name!r} of {loaded.name} needs", stage)
        for stage in stages
        if stage.logprobs
    }
    shared, prompts, form = _SharedCalls(n_conditions), LocalPrompts(), schemas.SchemaGate()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        question = question_from_metadata(state.metadata)
        effort = state.metadata.get(EFFORT)
        model = asked_model()
        refuse_forced_reply(model, stages)
        refuse_effort(model, effort)
        schemas.refuse_schemas(model, question)
        key = (model.api, question.id, state.epoch, effort)
        with shared.for_question(key) as calls, lost.until_last_reply(state.store):
            given = (loaded, stages, gates, parameters, state, generate, question, calls, prompts, form)
            replies = await _Asker(*given).ask_all()
        counts = {kind: count for kind, count in tokens_spent(replies).items() if not math.isnan(count)}
        state.metadata = {**state.metadata, **counts}
        if not is_single(stages):
            state.store.set(REPLIES, replies_to_json(replies))
        return state

    return solve
