"""Token probabilities: refusing a model that has none, and those of any text under a model that runs here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from anyio import to_thread
from inspect_ai.model import ChatMessage, Logprob, Model, ModelAPI, ModelOutput, TopLogprob
from inspect_ai.solver import TaskState
from inspect_ai.util import concurrency

from confidence_tasks.harness.compat import hf_parts, hf_prompt
from confidence_tasks.reading.token_probabilities import scored_tokens

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


async def text_logprobs(
    model: Model, messages: Sequence[ChatMessage], text: str, alternatives: int = 0
) -> list[Logprob]:
    """Return the tokens of a text with their log-probabilities as the reply to messages.

    The provider reports, at each step, the probability of the most probable token in place of the sampled one, and goes
    on after the end. So the text is put through the model once more, after the tokens of the prompt that it was given.

    Parameters
    ----------
    model : Model
        A model of the ``hf`` provider.
    messages : sequence of ChatMessage
        What the model was asked.
    text : str
        What it said, or might have said. It is tokenised anew: a sampled text may have been made of other tokens.
    alternatives : int
        Number of the most probable tokens to list for each token.
    """
    prompt = hf_prompt(model, messages)
    async with concurrency(f"text_logprobs {id(model.api)}", 1, visible=False):
        return await to_thread.run_sync(_scored, model, prompt, text, alternatives)


def forced_text(model: Model, messages: Sequence[ChatMessage], text: str) -> str:
    """Return a text as it continues the prompt: after a space, unless the prompt ends in white space."""
    return text if hf_prompt(model, messages)[-1:].isspace() else f" {text}"


def _scored(model: Model, prompt: str, text: str, alternatives: int) -> list[Logprob]:
    import torch

    network, tokenizer, options = hf_parts(model)
    before = tokenizer(prompt, **options)["input_ids"]
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    if not ids:
        return []
    with torch.inference_mode():
        logits = network(torch.tensor([before + ids], device=network.device)).logits
    tokens = scored_tokens(logits[0, len(before) - 1 : -1], tokenizer, ids, alternatives)
    return [
        Logprob(
            token=token.text,
            logprob=token.logprob,
            top_logprobs=[TopLogprob(token=text, logprob=value) for text, value in token.alternatives.items()]
            or None,
        )
        for token in tokens
    ]
