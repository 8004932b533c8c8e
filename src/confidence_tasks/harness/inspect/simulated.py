"""Inspect models for simulated subjects, and for the simulated instruments (parsers and judges) that help to score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from confidence_tasks.harness.compat import active_sample
from confidence_tasks.harness.conversation import call_of_others, first_call
from confidence_tasks.harness.inspect.local_model import as_logprobs
from confidence_tasks.harness.parameters import STUDY
from confidence_tasks.harness.usage_errors import as_usage_error
from confidence_tasks.simulation.reply import (
    Reply,
    StageCall,
    call_seed,
    make_role,
    n_tokens,
    reply_in_role,
    reply_tokens,
    stage_call,
)
from confidence_tasks.simulation.subject import make_subject
from confidence_tasks.study.trial import Question


class _Simulated(ModelAPI):
    """Base class: ``make(model_name, **parameters)`` creates the subject or instrument."""

    make: Callable[..., Any]

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - the signature is Inspect's
        *,
        seed: int = 0,
        **parameters: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        with as_usage_error():
            self.simulated = type(self).make(model_name, **parameters)
        self.seed = seed


class SimulatedSubject(_Simulated):
    """A model with known accuracy and metacognition; see ``confidence_tasks.simulation``.

    A reply depends only on the profile and its parameters, the seed and the prompt; above temperature zero it also
    depends on the temperature and the seed of the call.
    """

    make = staticmethod(make_subject)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Reply to the current stage of a study, to its first stage if another solver calls, or to a task of others.

        An agent that ends by calling the tool ``submit``, as those of Inspect do, is given its answer in this way.
        """
        output = self.output(stage_call.get() or _call_of_sample(active_sample()), input, config)
        submit = next((tool for tool in tools if tool.name == SUBMIT), None)
        return output if submit is None else _submitted(output, submit)

    def output(self, call: StageCall, messages: list[ChatMessage], config: GenerateConfig) -> ModelOutput:
        """Reply to the messages of a call."""
        # A choice is the reply to a call with the next seed, so that several are those of several calls.
        seeds = [(config.seed or 0) + i for i in range(config.num_choices or 1)]
        replies = [
            call.reply(self.simulated, messages[-1].text, seed=call_seed(self.seed, config.temperature, seed))
            for seed in seeds
        ]
        usage = _usage(_as_prompt(messages), "".join(reply.text for reply in replies))
        if n_reasoning := sum(len(reply.reasoning) for reply in replies):
            usage.reasoning_tokens = n_reasoning
        choices = [_as_choice(reply, config) for reply in replies]
        return ModelOutput(model=f"simulated/{self.model_name}", choices=choices, usage=usage)


def _as_choice(reply: Reply, config: GenerateConfig) -> ChatCompletionChoice:
    tokens = [*reply.reasoning, *reply_tokens(reply, config.top_logprobs or 0)]
    return ChatCompletionChoice(
        message=ChatMessageAssistant(content=reply.text, source="generate"),
        stop_reason="stop",
        logprobs=as_logprobs(tokens) if config.logprobs else None,
    )


SUBMIT = "submit"
"""Name of the tool with which agents of Inspect end."""


def _submitted(output: ModelOutput, submit: ToolInfo) -> ModelOutput:
    """Return an output whose text is the argument of a call of the tool instead."""
    choice = output.choices[0]
    arguments = dict.fromkeys(list(submit.parameters.properties)[:1], choice.message.text)
    call = ToolCall(id=f"{SUBMIT}-1", function=SUBMIT, arguments=arguments)
    message = ChatMessageAssistant(content="", tool_calls=[call], source="generate")
    return output.model_copy(
        update={"choices": [choice.model_copy(update={"message": message, "stop_reason": "tool_calls"})]}
    )


def _call_of_sample(sample: Sample | None) -> StageCall:
    """Return the call of a study's first stage; for a sample of another task, that of the study of such tasks.

    Raises ValueError for a sample without a key, and outside a sample.
    """
    if sample is None or not sample.target or STUDY in (sample.metadata or {}):
        return first_call(sample.metadata if sample else None)
    return call_of_others(
        question_of(sample.id, sample.input, sample.target, has_options=bool(sample.choices))
    )


def question_of(
    id: Any, text: str | Sequence[ChatMessage], target: str | Sequence[str], *, has_options: bool
) -> Question:
    """Return a sample of a task of others as a question, whose key is a reply that its scorer takes for right."""
    key = target if isinstance(target, str) else target[0]
    asked = text if isinstance(text, str) else text[-1].text
    return Question(str(id), "", asked, "text", f"ANSWER: {key}" if has_options else key)


class SimulatedInstrument(_Simulated):
    """A parser or a judge with known error rates; see ``confidence_tasks.simulation.reply``.

    A reply depends only on the instrument, its error rates, the seed and the prompt.
    """

    make = staticmethod(make_role)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Reply to the system message and the last user message."""
        prompt = _as_prompt(input)
        reply = reply_in_role(self.simulated, prompt, seed=str(self.seed))
        output = ModelOutput.from_content(f"simulated_instrument/{self.model_name}", reply)
        output.usage = _usage(prompt, reply)
        return output


def _usage(prompt: str, reply: str) -> ModelUsage:
    """Return the token counts of a call."""
    n_input, n_output = n_tokens(prompt), n_tokens(reply)
    return ModelUsage(input_tokens=n_input, output_tokens=n_output, total_tokens=n_input + n_output)


def _as_prompt(messages: list[ChatMessage]) -> str:
    """Join the system messages and the last user message into one prompt."""
    system = [message.text for message in messages if message.role == "system"]
    user = next(message.text for message in reversed(messages) if message.role == "user")
    return "\n\n".join((*system, user))
