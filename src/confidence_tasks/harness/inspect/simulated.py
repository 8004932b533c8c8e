"""The simulated subject as an Inspect model, and the simulated parsers and judges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from confidence_tasks.harness.compat import running_sample
from confidence_tasks.harness.inspect.model_calls import as_logprobs
from confidence_tasks.harness.staged import as_usage_error, first_call
from confidence_tasks.simulation.reply import (
    StageCall,
    call_seed,
    make_role,
    reply_in_role,
    reply_tokens,
    stage_call,
)
from confidence_tasks.simulation.subject import make_subject


class _Simulated(ModelAPI):
    """A model made by :attr:`make` of its name and its arguments; it needs no network and no key."""

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
            self.made = type(self).make(model_name, **parameters)
        self.seed = seed


class SimulatedSubject(_Simulated):
    """A model whose accuracy and metacognition are known; see ``confidence_tasks.simulation``.

    Replies are a function of the profile, its changed parameters, the seed, the prompt and, above temperature zero, the
    temperature and the call's own seed.
    """

    make = staticmethod(make_subject)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Reply to the call of a study; under another solver than the study's own, to that of its first stage."""
        return self.output(stage_call.get() or first_call(running_sample()), input, config)

    def output(self, call: StageCall, messages: list[ChatMessage], config: GenerateConfig) -> ModelOutput:
        """Reply to the messages of a call."""
        seed = call_seed(self.seed, config.temperature, config.seed or 0)
        reply = call.reply(self.made, messages[-1].text, seed=seed)
        choice = ChatCompletionChoice(
            message=ChatMessageAssistant(content=reply.text, source="generate"),
            stop_reason="stop",
            logprobs=as_logprobs(reply_tokens(reply, config.top_logprobs or 0)) if config.logprobs else None,
        )
        usage = _usage(_asked(messages), reply.text)
        return ModelOutput(model=f"simulated/{self.model_name}", choices=[choice], usage=usage)


class SimulatedInstrument(_Simulated):
    """A parser or a judge whose rates of error are known; see ``confidence_tasks.simulation.reply``.

    Replies are a function of the parser or judge, its rates, the seed and the prompt.
    """

    make = staticmethod(make_role)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Reply to the last user message, in the light of the system message."""
        asked = _asked(input)
        reply = reply_in_role(self.made, asked, seed=str(self.seed))
        output = ModelOutput.from_content(f"simulated_instrument/{self.model_name}", reply)
        output.usage = _usage(asked, reply)
        return output


def _usage(asked: str, said: str) -> ModelUsage:
    """Return the tokens of a call, of four characters each."""
    given, made = len(asked) // 4, len(said) // 4
    return ModelUsage(input_tokens=given, output_tokens=made, total_tokens=given + made)


def _asked(messages: list[ChatMessage]) -> str:
    """Return the system messages and the last user message, as the one prompt that a template would make of them."""
    system = [message.text for message in messages if message.role == "system"]
    user = next(message.text for message in reversed(messages) if message.role == "user")
    return "\n\n".join((*system, user))
