"""Token probabilities: refusing a model that has none before more than a reply is paid for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from inspect_ai.model import Model, ModelAPI, ModelOutput
from inspect_ai.solver import TaskState
from inspect_ai.util import concurrency

EMPTY_REPLIES = 3
"""So many empty replies in a row, which nothing can be told from, are paid for at the start of a run."""


def has_probabilities(output: ModelOutput) -> bool:
    """Return whether a reply came with the log-probabilities of its tokens."""
    logprobs = output.choices[0].logprobs if output.choices else None
    return logprobs is not None and bool(logprobs.content)


def rejects_logprobs(error: RuntimeError) -> bool:
    """Return whether a provider rejected a request because it asks for log-probabilities."""
    return "logprob" in str(getattr(error, "provider_message", "")).lower()


class TokenProbabilityError(RuntimeError):
    """The model under test gives no token probabilities, or wrong ones."""


@dataclass(frozen=True)
class ProbabilityGate:
    """Lets the first reply of each model through alone; the others only if it came with token probabilities.

    So a run with a model that gives none stops at once, whatever the number of connections and even where errors of
    samples are tolerated, and one with a model that does pays for no extra call.

    Attributes
    ----------
    purpose : str
        What needs them, as the beginning of a sentence: ``stage 'answer' of nlp_metad needs``.
    """

    purpose: str
    _faults: WeakKeyDictionary[ModelAPI, str] = field(default_factory=WeakKeyDictionary)
    _empty: WeakKeyDictionary[ModelAPI, int] = field(default_factory=WeakKeyDictionary)

    async def __call__(self, model: Model, ask: Callable[[], Awaitable[TaskState]]) -> TaskState:
        """Return what ``ask`` returns.

        Raises
        ------
        TokenProbabilityError
            If the model is known to give none: before ``ask`` is called, but for the first time.
        """
        if model.api not in self._faults:
            async with concurrency(f"{self.purpose} {id(model.api)}", 1, visible=False):
                if model.api not in self._faults:
                    state = await self._first(model, ask)
                    self._judge(model, state.output)
                    self._refuse(model)
                    return state
        self._refuse(model)
        return await ask()

    async def _first(self, model: Model, ask: Callable[[], Awaitable[TaskState]]) -> TaskState:
        """Return what ``ask`` returns; a provider that rejects the very request for probabilities is refused."""
        try:
            return await ask()
        except RuntimeError as error:
            if rejects_logprobs(error):
                self._faults[model.api] = f"{model} rejects requests for them"
                self._refuse(model)
            raise

    def _judge(self, model: Model, output: ModelOutput) -> None:
        choice = output.choices[0] if output.choices else None
        if has_probabilities(output):
            self._faults[model.api] = ""
        elif choice is not None and choice.stop_reason == "content_filter":
            return  # a notice of the provider's, not a reply of the model
        elif output.completion:
            self._faults[model.api] = f"{model} returned none with its first reply"
        else:
            self._empty[model.api] = self._empty.get(model.api, 0) + 1
            if self._empty[model.api] == EMPTY_REPLIES:
                self._faults[model.api] = (
                    f"{model} returned none, and no text, {EMPTY_REPLIES} times (a reasoning model may need a higher "
                    "--max-tokens)"
                )

    def _refuse(self, model: Model) -> None:
        if fault := self._faults.get(model.api):
            raise TokenProbabilityError(
                f"{self.purpose} token probabilities, and {fault}: use a model and provider that give them, such as "
                "vllm, sglang, hf, llama-cpp-python, or a chat model of openai, google, grok or an openai-api server; "
                "Anthropic's and Mistral's interfaces, groq, bedrock and OpenAI's reasoning models have none"
            )


def is_local(model: Model) -> bool:
    """Return whether a model is one of Inspect's ``hf`` provider, which runs in this process."""
    return type(model.api).__name__ == "HuggingFaceAPI"
