"""The calls of one sample: every stage in turn, in the conversation that it belongs to."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageAssistant, GenerateConfig, Model, ModelOutput
from inspect_ai.solver import Generate, TaskState

from confidence_tasks.harness.conversation import conversations_of
from confidence_tasks.harness.inspect import local_model, refused, schemas, turns
from confidence_tasks.harness.inspect.call_settings import CallSettings
from confidence_tasks.harness.inspect.choices import ChoicesGate, Draw
from confidence_tasks.harness.inspect.first_replies import FirstRepliesOfModels
from confidence_tasks.harness.inspect.local_prompts import LocalPrompts
from confidence_tasks.harness.inspect.model_calls import ask_once, asked_model, is_simulated
from confidence_tasks.harness.inspect.model_replies import has_probabilities, stage_replies, stage_reply
from confidence_tasks.harness.inspect.probability_gate import ProbabilityGate
from confidence_tasks.harness.inspect.roles import ask_stage_role
from confidence_tasks.harness.inspect.shared_calls import QuestionCalls
from confidence_tasks.harness.stopped import FinishedReplies
from confidence_tasks.simulation.reply import StageCall, stage_call
from confidence_tasks.study.stage import ModelReply, Stage


def call_key(
    stage: Stage, messages: Sequence[ChatMessage], number: int, condition: str
) -> tuple[object, ...]:
    """Return what calls of a question to one model have in common if one call is made for all of them.

    ``number`` is that of the sample. Conditions share a call unless the stage has temperatures by condition.
    """
    said = tuple((message.role, message.text) for message in messages)
    return stage.name, said, number, condition if callable(stage.temperature) else ""


@dataclasses.dataclass(frozen=True)
class Asker:
    """Runs the stages of one sample."""

    settings: CallSettings
    gates: Mapping[str, ProbabilityGate]
    state: TaskState
    generate: Generate
    calls: QuestionCalls
    prompts: LocalPrompts
    form: schemas.SchemaGate
    choices: ChoicesGate
    first_replies: FirstRepliesOfModels

    async def ask_all(self) -> dict[str, list[ModelReply]]:
        """Run every stage; set the state's output and messages from the first stage's conversation."""
        run, start = self.settings, list(self.state.messages)
        replies: dict[str, list[ModelReply]] = {}
        finished = FinishedReplies(run.study, run.stages, run.question, run.condition)
        conversations: dict[str, list[ChatMessage]] = {}
        outputs: list[ModelOutput] = []
        for stage in run.stages:
            call = StageCall(run.study, run.question, run.condition, stage.name, finished.of(replies))
            prompts = conversations_of(
                stage,
                call,
                (start[-1].text, start),
                conversations,
                turns.start_conversation,
                turns.append_prompt,
            )
            of_stage: list[ModelReply] = []
            for _, messages in list(prompts):
                samples: list[ModelReply] = []
                while (number := len(samples)) < stage.samples:
                    output = await self._ask(stage, call, messages, number)
                    outputs.append(output)
                    samples += stage_replies(stage, output, number)
                    message = output.message if output.choices else ChatMessageAssistant(content="")
                    conversations.setdefault(stage.name, [*messages, message])
                of_stage += samples
            replies[stage.name] = of_stage
        refused.note_refusals(self.state, outputs)
        self.state.output = outputs[0]
        self.state.messages = self._longest_conversation(conversations) or start
        return replies

    def _longest_conversation(self, conversations: Mapping[str, list[ChatMessage]]) -> list[ChatMessage]:
        """Return the longest conversation that begins with the first stage."""
        chain = {self.settings.stages[0].name}
        for stage in self.settings.stages:
            if stage.follows in chain:
                chain.add(stage.name)
        return max(
            (messages for name, messages in conversations.items() if name in chain), key=len, default=[]
        )

    async def _ask(
        self, stage: Stage, call: StageCall, messages: list[ChatMessage], number: int
    ) -> ModelOutput:
        model = asked_model(stage.role)
        if local_model.is_local(model):
            key = (str(model), self.settings.question.id, self.settings.effort)
            messages = self.prompts.reaching(model, messages, key, self.state)

        async def call_model() -> ModelOutput:
            self.first_replies.check(model, stage.role)
            token = stage_call.set(call)
            try:
                with refused.needing(self.settings.needed(stage)):
                    output = await self.choices(
                        model, stage, number, partial(self._call_in_form, stage, model, messages)
                    )
            finally:
                stage_call.reset(token)
            if local_model.is_local(model) and not stage.forced_reply:
                limit = self.settings.settings(stage, model, Draw(number)).get("max_tokens")
                local_model.count_own_tokens(model, messages, output, limit)
            problem = stage.problem(stage_reply(stage, output)) if stage.role and stage.problem else ""
            self.first_replies.note(
                model, output, stage.role, problem=problem, question=self.settings.question.id
            )
            return output

        if is_simulated(model):
            return await call_model()  # never shared: the reply may depend on the condition
        return await self.calls(
            (model.api, *call_key(stage, messages, number, self.settings.condition)), call_model
        )

    async def _call_in_form(
        self, stage: Stage, model: Model, messages: list[ChatMessage], draw: Draw
    ) -> ModelOutput:
        """Call a model; if replies are JSON objects, its first reply says whether its server follows schemas."""
        if stage.structured_for(self.settings.question) is None:
            return await self._call(stage, model, messages, draw)
        return await self.form(model, lambda: self._call(stage, model, messages, draw))

    async def _call(self, stage: Stage, model: Model, messages: list[ChatMessage], draw: Draw) -> ModelOutput:
        if stage.forced_reply and not is_simulated(model):
            return await local_model.score_forced_reply(
                model, messages, stage.forced_reply(self.settings.question)
            )
        settings, cache = self.settings.settings(stage, model, draw), self.settings.parameters["cache"]
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
        if local_model.is_local(model):
            return await local_model.replace_logprobs(
                model, messages, (await ask()).output, stage.top_logprobs
            )
        logprobs: dict[str, Any] = {"logprobs": True}
        if stage.top_logprobs:
            logprobs["top_logprobs"] = stage.top_logprobs
        if stage.logprobs == "required":
            return (await self.gates[stage.name](model, lambda: ask(has_probabilities, **logprobs))).output
        return (await ask(**logprobs)).output


def _seed_local(model: Model, settings: Mapping[str, Any]) -> None:
    """Seed PyTorch for Inspect's ``hf`` provider, which ignores the seed of a call."""
    if local_model.is_local(model) and "seed" in settings:
        import torch

        torch.manual_seed(settings["seed"])
