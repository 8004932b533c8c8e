"""A question about an answer, asked on Inspect in a conversation of its own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig, ModelOutput
from inspect_ai.solver import TaskState

from confidence_tasks.harness.conversation import call_of_others
from confidence_tasks.harness.inspect.local_model import greedy_settings, is_local, replace_logprobs
from confidence_tasks.harness.inspect.model_calls import asked_model, call_cache
from confidence_tasks.harness.inspect.model_replies import logprob_tokens, model_reply, why_stopped
from confidence_tasks.harness.inspect.schemas import SchemaGate, response_schema
from confidence_tasks.harness.inspect.simulated import question_of
from confidence_tasks.harness.stopped import problem_of_reply, why_unanswered
from confidence_tasks.simulation.reply import stage_call
from confidence_tasks.studies.benchmark.asking import Ask
from confidence_tasks.studies.benchmark.side_conversation import side_conversation

SECONDS = 600
"""Time after which the question is given up: scoring has half of a sample's time limit."""


ALTERNATIVES = 20
"""Number of alternatives requested for a token, as True and False have many spellings."""


def why_no_answer(output: ModelOutput) -> str:
    """Return why there is no answer to ask about; an agent may end with a call of a tool instead of a text."""
    if output.choices and output.message.tool_calls:
        return ""
    return why_unanswered(output.completion, why_stopped(output))


async def ask_about(ask: Ask, state: TaskState, cache: bool | None, follows: SchemaGate) -> tuple[float, str]:
    """Return the confidence in a reply to a question about the answer, and the reply or why there is none."""
    model = asked_model()
    messages, answer = side_conversation(state)
    # Inspect's hf provider takes no temperature of 0, and its log-probabilities are not those of the reply.
    local = is_local(model)
    settings: dict[str, Any] = greedy_settings(model)
    if ask.needs_logprobs and not local:
        settings |= {"logprobs": True, "top_logprobs": ALTERNATIVES}
    if ask.schema:
        settings["response_schema"] = response_schema(ask.schema, "confidence")

    async def call() -> ModelOutput:
        asked: list[ChatMessage] = [*messages, ChatMessageUser(content=ask.prompt(answer))]
        policy = call_cache(model, cache, per_epoch=True)
        output = await model.generate(asked, config=GenerateConfig(**settings), cache=policy)
        if ask.needs_logprobs and local:
            return await replace_logprobs(model, asked, output, ALTERNATIVES)
        return output

    output: ModelOutput | None = None
    with _told_to_subject(ask, state), anyio.move_on_after(SECONDS):
        output = await (follows(model, call) if ask.schema else call())
    if output is None:
        return math.nan, f"no reply after {SECONDS} seconds"
    return _read(ask, output, str(model))


def _read(ask: Ask, output: ModelOutput, model: str) -> tuple[float, str]:
    """Return the confidence in a reply and its text, or why there is none."""
    if not output.choices:
        return math.nan, output.error or "the reply is empty"
    if stop := why_stopped(output):
        return math.nan, problem_of_reply(stop)
    reply = model_reply(output, logprob_tokens(output))
    if ask.needs_logprobs and not reply.tokens:
        return math.nan, f"{model} returned no log-probabilities"
    return ask.confidence(reply), reply.text


@contextmanager
def _told_to_subject(ask: Ask, state: TaskState) -> Iterator[None]:
    """Tell a simulated subject the question and its key."""
    question = question_of(state.sample_id, state.input, state.target, has_options=len(state.choices) > 0)
    token = stage_call.set(call_of_others(question, ask.name))
    try:
        yield
    finally:
        stage_call.reset(token)
