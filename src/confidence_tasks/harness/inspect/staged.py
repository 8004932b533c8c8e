"""A study as an Inspect task: one solver, one scorer and one task for all studies."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache as cached
from inspect import Parameter as SignatureParameter
from inspect import Signature, signature
from typing import Any, NoReturn

import anyio
from inspect_ai import Epochs, Task, task
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelOutput,
    get_model,
)
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from confidence_tasks.harness.compat import hf_prompt, provider_of
from confidence_tasks.harness.inspect.metrics import metrics_of
from confidence_tasks.harness.inspect.model_calls import (
    ProbabilityGate,
    ask_once,
    call_cache,
    effort_settings,
    has_probabilities,
    is_local,
    rejects_logprobs,
    reply_text,
    reply_tokens,
    require_roles,
    text_logprobs,
    tokens_used,
)
from confidence_tasks.harness.inspect.viewer import (
    dataset,
    provenance,
    trial_score,
    viewer,
    without_shown_question,
)
from confidence_tasks.harness.staged import (
    as_usage_error,
    chosen_conditions,
    complete_parameters,
    conversations_of,
    default_stages,
    forced,
    is_single,
    kept_replies,
    load_study,
    restored_replies,
    roles_needed,
    sample_seed,
    staged_items,
    task_metrics,
    trial_of,
)
from confidence_tasks.reading.explanation import explanation
from confidence_tasks.simulation.reply import StageCall, stage_call
from confidence_tasks.study.definition import Study
from confidence_tasks.study.parameter import EFFORTS, METRICS, Parameter, parse_list
from confidence_tasks.study.stage import ModelReply, Replies, Stage, Token, tokens_spent
from confidence_tasks.study.trial import EFFORT, Question, at_efforts, question_from_metadata

REPLIES = "replies"
"""Key of a sample's store under which the replies of every stage are kept."""


def study_task(study: Study, name: str = "") -> Callable[..., Task]:
    """Make an Inspect task of a study, which Inspect calls ``<package>/<name of the design>``.

    Its parameters are those that the study declares. They are checked when the task is made, before the first call.
    """
    return _study_task(study, name or study.first_task)


@cached
def _study_task(study: Study, name: str) -> Callable[..., Task]:
    declared = study.task_parameters(name)

    def build(**given: Any) -> Task:
        with as_usage_error():
            parameters = complete_parameters(name, given, declared)
            which = parameters.pop(METRICS.name)
            return _build(study, {**parameters, "task": name}, which)

    helps = "\n".join(f"{parameter.name}\n    {parameter.help}" for parameter in declared)
    build.__doc__ = f"{study.designs[name].question}\n\nParameters\n----------\n{helps}\n"
    _called(build, study, name)
    # Inspect logs the parameters of this signature with their defaults, and the viewer heads a log with all of them. So
    # it sees any keyword, of which it logs those given; a misspelt name arrives here; and the metadata has them all.
    made = task(build)
    others = SignatureParameter("unknown", SignatureParameter.VAR_KEYWORD, annotation=NoReturn)
    made.__signature__ = _signature(declared, others, Task)  # type: ignore[attr-defined]
    return made


def _signature(declared: Sequence[Parameter], others: SignatureParameter | None, returned: Any) -> Signature:
    kind = SignatureParameter.KEYWORD_ONLY
    named = [
        SignatureParameter(each.name, kind, default=each.default, annotation=each.type) for each in declared
    ]
    return Signature([*named, *([others] if others else [])], return_annotation=returned)


def _called(function: Callable[..., Any], study: Study, name: str) -> None:
    """Give a function the name and the module by which Inspect registers it."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = study.module


def _build(study: Study, parameters: Mapping[str, Any], which: str) -> Task:
    stages = study.stages_of(parameters)
    conditions = chosen_conditions(study, parameters)
    efforts = [] if parameters[EFFORTS.name] is None else parse_list(parameters[EFFORTS.name], EFFORTS.name)
    for effort in efforts:
        effort_settings(effort)
    items = list(staged_items(study, parameters, conditions))
    conditions = conditions or list(dict.fromkeys(item.condition for item in items))
    logged = task_metrics(study, parameters, conditions)
    data = dataset(at_efforts(items, efforts), study.title)
    roles = require_roles(roles_needed(study, parameters, [item.question for item in items]))
    options = signature(study.make_scorer).parameters
    return Task(
        name=parameters[
            "task"
        ],  # without the package's, which leaves the viewer's header no room for metrics
        dataset=data,
        setup=[without_shown_question(), roles],
        solver=ask_stages(study.address, dict(parameters), len(conditions)),
        scorer=study.make_scorer(**{name: parameters[name] for name in options if name in parameters}),
        metrics=metrics_of(study, logged, which, efforts),
        config=GenerateConfig(
            **{"temperature": 0.0, **(_own_settings(stages[0]) if is_single(stages) else {})}
        ),
        epochs=Epochs(parameters[study.repeats_parameter], []) if study.repeats_parameter else None,
        version=study.version,
        metadata=provenance({key: its for key, its in parameters.items() if key != "task"}, data),
        headline_metric=HeadlineMetric(
            metric="/".join(
                (
                    (logged.default_measures or study.headline_measures)[0],
                    logged.headline_condition,
                    *efforts[:1],
                )
            )
        ),
        viewer=viewer(study),
    )


def _own_settings(stage: Stage) -> dict[str, Any]:
    """Return the settings of generation that a stage has of its own."""
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


@dataclass
class _QuestionCalls:
    """The calls of one question: equal ones are made once, and those that come later wait for the reply."""

    left: int
    locks: dict[object, anyio.Lock] = field(default_factory=lambda: defaultdict(anyio.Lock))
    outputs: dict[object, ModelOutput] = field(default_factory=dict)

    async def __call__(self, key: object, call: Callable[[], Awaitable[ModelOutput]]) -> ModelOutput:
        async with self.locks[key]:
            if key not in self.outputs:
                self.outputs[key] = await call()
            return self.outputs[key]


@dataclass
class _SharedCalls:
    """The calls of all questions, each kept until all conditions of the question have been asked."""

    n_conditions: int
    questions: dict[object, _QuestionCalls] = field(default_factory=dict)

    @contextmanager
    def of(self, key: object) -> Iterator[_QuestionCalls]:
        calls = self.questions.setdefault(key, _QuestionCalls(self.n_conditions))
        try:
            yield calls
        finally:
            calls.left -= 1
            if not calls.left:
                self.questions.pop(key, None)


@dataclass(frozen=True)
class _Asker:
    """Asks the stages of one sample."""

    study: Study
    stages: Sequence[Stage]
    gates: Mapping[str, ProbabilityGate]
    rejecting: set[ModelAPI]
    seed: int
    cache: bool
    state: TaskState
    generate: Generate
    question: Question
    calls: _QuestionCalls

    @property
    def condition(self) -> str:
        return str(self.state.metadata["condition"])

    async def ask_all(self) -> dict[str, list[ModelReply]]:
        """Run every stage, and leave the first conversation in the state."""
        start = list(self.state.messages)
        replies: dict[str, list[ModelReply]] = {}
        conversations: dict[str, list[ChatMessage]] = {}
        first: ModelOutput | None = None
        for stage in self.stages:
            call = StageCall(self.study, self.question, self.condition, stage.name, replies)
            asked = conversations_of(
                stage, call, (start[-1].text, start), conversations, _begun_conversation, _with_prompt
            )
            said = []
            for _, messages in list(asked):
                for number in range(stage.samples):
                    output = await self._ask(stage, call, messages, number)
                    first = first or output
                    said.append(_staged_reply(stage, output))
                    reply = output.message if output.choices else ChatMessageAssistant(content="")
                    conversations.setdefault(stage.name, [*messages, reply])
            replies[stage.name] = said
        assert first is not None
        self.state.output = first
        self.state.messages = self._longest(conversations) or start
        return replies

    def _longest(self, conversations: Mapping[str, list[ChatMessage]]) -> list[ChatMessage]:
        """Return the longest conversation that begins with the first stage."""
        chain = {self.stages[0].name}
        for stage in self.stages:
            if stage.follows in chain:
                chain.add(stage.name)
        return max((turns for name, turns in conversations.items() if name in chain), key=len, default=[])

    async def _ask(
        self, stage: Stage, call: StageCall, messages: list[ChatMessage], number: int
    ) -> ModelOutput:
        model = get_model(role=stage.role, required=True) if stage.role else get_model()

        async def made() -> ModelOutput:
            token = stage_call.set(call)
            try:
                return await self._call(stage, model, messages, number)
            finally:
                stage_call.reset(token)

        if is_simulated(model):
            return await made()  # costs nothing, and may depend on the condition
        turns = tuple((message.role, message.text) for message in messages)
        own = self.condition if callable(stage.temperature) else ""
        return await self.calls((model.api, stage.name, turns, number, own), made)

    async def _call(
        self, stage: Stage, model: Model, messages: list[ChatMessage], number: int
    ) -> ModelOutput:
        if stage.forced_reply and not is_simulated(model):
            return await _given(model, messages, stage.forced_reply(self.question))
        settings = self._settings(stage, model, number)
        if stage.role:
            keep = self.cache and call_cache(model, per_epoch=True)
            config = GenerateConfig(**{"temperature": 0.0, **settings})
            return await model.generate(messages, config=config, cache=keep)

        async def ask(usable: Callable[[ModelOutput], bool] = lambda output: True, **more: Any) -> TaskState:
            self.state.messages = list(messages)
            _seed_local(model, settings)
            return await ask_once(self.state, self.generate, self.cache, usable, **settings, **more)

        if not stage.logprobs:
            return (await ask()).output
        if is_local(model):
            return await _scored_locally(model, messages, (await ask()).output, stage.top_logprobs)
        wanted: dict[str, Any] = {"logprobs": True}
        if stage.top_logprobs:
            wanted["top_logprobs"] = stage.top_logprobs
        if stage.logprobs == "required":
            return (await self.gates[stage.name](model, lambda: ask(has_probabilities, **wanted))).output
        try:
            return (await ask(**(wanted if model.api not in self.rejecting else {}))).output
        except RuntimeError as error:
            if not rejects_logprobs(error):
                raise
            self.rejecting.add(model.api)
            return (await ask()).output

    def _settings(self, stage: Stage, model: Model, number: int) -> dict[str, Any]:
        temperature, epoch = stage.temperature_in(self.condition), self.state.epoch
        settings = {} if stage.role else effort_settings(self.state.metadata.get(EFFORT))
        if not is_single(self.stages):
            settings |= {"temperature": temperature, "max_tokens": stage.max_tokens}
        elif callable(stage.temperature):
            settings |= {"temperature": temperature}
        if is_local(model) and temperature is not None:
            settings |= _local_sampling(model, stage.name, temperature)
        if stage.samples > 1 or temperature:
            # On lm-eval, too, repeated trials are counted from 1.
            settings["seed"] = (
                number + stage.samples * (epoch - 1) + bool(self.study.repeats_parameter)
                if is_simulated(model)
                else sample_seed(self.seed, self.question.id, epoch, stage, self.condition, number)
            )
        return {name: value for name, value in settings.items() if value is not None}


def _begun_conversation(system: str, prompt: str) -> list[ChatMessage]:
    return _with_prompt([ChatMessageSystem(content=system)] if system else [], prompt)


def _with_prompt(conversation: list[ChatMessage], prompt: str) -> list[ChatMessage]:
    return [*conversation, ChatMessageUser(content=prompt)]


def _seed_local(model: Model, settings: Mapping[str, Any]) -> None:
    """Start the random numbers of Inspect's ``hf`` provider, which takes no seed with a call."""
    if is_local(model) and "seed" in settings:
        import torch

        torch.manual_seed(settings["seed"])


def _local_sampling(model: Model, stage: str, temperature: float) -> dict[str, Any]:
    """Return the settings by which Inspect's ``hf`` provider decodes greedily or samples.

    It samples or not by an argument of the model, whatever the temperature. Sampling from the single most probable
    token is greedy.
    """
    samples = bool(getattr(model.api, "do_sample", True))
    if temperature and not samples:
        raise ValueError(
            f"stage {stage!r} samples at a temperature of {temperature:g}, which the hf provider does only "
            "without -M do_sample=false: leave it out"
        )
    return {"temperature": 1.0, "top_k": 1} if samples and not temperature else {}


async def _scored_locally(
    model: Model, messages: list[ChatMessage], output: ModelOutput, alternatives: int
) -> ModelOutput:
    """Put the log-probabilities of what was said in the place of those that the ``hf`` provider reports."""
    logprobs = await text_logprobs(model, messages, output.completion, alternatives)
    if output.choices:
        output.choices[0].logprobs = logprobs
    return output


async def _given(model: Model, messages: list[ChatMessage], text: str) -> ModelOutput:
    """Return a text as if the model had said it, with the log-probabilities of its tokens."""
    said = ModelOutput.from_content(str(model), forced(hf_prompt(model, messages), text))
    return await _scored_locally(model, messages, said, 0)


def refuse_given(model: Model, stages: Sequence[Stage]) -> None:
    """Raise ValueError if a stage gives a text to a model that cannot score it."""
    given = [stage.name for stage in stages if stage.forced_reply]
    if given and not (is_local(model) or is_simulated(model)):
        raise ValueError(
            f"{given[0]} puts a text in the model's mouth, which {model} has no interface for: use a model of the hf "
            f"provider, lm-eval, or leave {given[0]} out"
        )


_WITHOUT_EFFORT = frozenset({"azureai", "hf", "nnterp", "transformer_lens"})
"""Inspect's providers that do not pass on a reasoning effort."""

_WITH_BUDGET = ("anthropic", "bedrock", "google", "openrouter")
"""Inspect's providers of models that pass on a number of tokens to think in; ``mockllm``, for tests, takes anything."""


def refuse_effort(model: Model, effort: str | None) -> None:
    """Raise ValueError if a model's provider is known not to pass on an effort: the replies would be the same."""
    provider = provider_of(model)
    if effort is None or not provider:
        return
    if provider in _WITHOUT_EFFORT:
        raise ValueError(
            f"efforts: Inspect's {provider} provider passes none on to {model}: leave efforts out, or use another one"
        )
    if effort.isdecimal() and provider not in (*_WITH_BUDGET, "mockllm"):
        raise ValueError(
            f"efforts: Inspect's {provider} provider passes no number of tokens to think in on to {model}, as those of "
            f"{', '.join(_WITH_BUDGET)} do: name efforts, such as low,high"
        )


def _model_reply(output: ModelOutput, tokens: Sequence[Token], problem: str = "") -> ModelReply:
    return ModelReply(reply_text(output), tuple(tokens), problem=problem, **tokens_used(output.usage))


def _staged_reply(stage: Stage, output: ModelOutput) -> ModelReply:
    tokens = reply_tokens(output) if stage.logprobs else []
    lacking = stage.logprobs and not tokens
    return _model_reply(output, tokens, "the provider returned no log-probabilities" if lacking else "")


@solver
def ask_stages(study: str, parameters: dict[str, Any], n_conditions: int = 1) -> Solver:
    """Run the stages of a study, and keep every reply in the sample's store, unless the output is the only one.

    ``study`` is where the study is (:attr:`~confidence_tasks.study.Study.address`), ``parameters`` are those of the
    task, and each question is asked under so many conditions. The sample's metadata keep the tokens that the calls
    took.
    """
    loaded = load_study(study)
    stages = loaded.stages_of(parameters)
    gates = {
        stage.name: ProbabilityGate(f"stage {stage.name!r} of {loaded.name} needs")
        for stage in stages
        if stage.logprobs
    }
    rejecting: set[ModelAPI] = set()
    shared = _SharedCalls(n_conditions)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        question = question_from_metadata(state.metadata)
        effort = state.metadata.get(EFFORT)
        refuse_given(get_model(), stages)
        refuse_effort(get_model(), effort)
        with shared.of((get_model().api, question.id, state.epoch, effort)) as calls:
            asker = _Asker(
                loaded,
                stages,
                gates,
                rejecting,
                parameters["seed"],
                parameters["cache"],
                state,
                generate,
                question,
                calls,
            )
            replies = await asker.ask_all()
        spent = {kind: count for kind, count in tokens_spent(replies).items() if not math.isnan(count)}
        state.metadata = {**state.metadata, **spent}
        if not is_single(stages):
            state.store.set(REPLIES, kept_replies(replies))
        return state

    return solve


# Scores -----------------------------------------------------------------------------------------------------------


class LostRepliesError(RuntimeError):
    """A sample holds a trial and not the replies that it was read from."""


def replies_of(state: TaskState, study: Study) -> Replies:
    """Return the replies that a sample holds; where there are none but the output, that of the only stage.

    LostRepliesError if a study of several stages finds none.
    """
    kept = state.store.get(REPLIES)
    if kept is None:
        first, *others = default_stages(study)
        if others:
            raise LostRepliesError(
                f"sample {state.sample_id} holds no replies: Inspect recovered it from a killed run, which keeps its "
                "trial, so that the log is whole, and cannot be read anew"
            )
        return {first.name: [_model_reply(state.output, reply_tokens(state.output))]}
    return restored_replies(kept)


@cached
def study_scorer(study: Study) -> Callable[..., Scorer]:
    """Make the scorer of a study: it reads the replies of a sample into a trial."""
    declared = [each for each in study.task_parameters() if each.name in study.scorer_options]

    def build(**given: Any) -> Scorer:
        options = complete_parameters(study.scorer_name, given, declared)

        async def score(state: TaskState, target: Target) -> Score:
            question, replies = question_from_metadata(state.metadata), replies_of(state, study)
            trial = trial_of(study, question, state.metadata["condition"], replies, options)
            first, *_ = next(iter(replies.values()))
            told = explanation(study, trial, question, first.tokens)
            return trial_score(study, trial, state.metadata, answer=trial.get("answer", ""), explanation=told)

        return score

    build.__signature__ = _signature(declared, None, Scorer)  # type: ignore[attr-defined]
    _called(build, study, study.scorer_name)
    return scorer(metrics=[])(build)
