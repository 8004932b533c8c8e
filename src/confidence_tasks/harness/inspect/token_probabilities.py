"""Token probabilities: settings for asking, and refusing a model that has none before more than a reply is paid for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from inspect_ai.model import GenerateConfig, Model, ModelAPI, ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import concurrency

from confidence_tasks.harness.inspect.model_calls import ask_once, cached_generate

MOST_ALTERNATIVES = 20
"""What the providers with the most return."""

EMPTY_REPLIES = 3
"""So many empty replies in a row, which nothing can be told from, are paid for at the start of a run."""


def generation(top_logprobs: int) -> GenerateConfig:
    """Return greedy generation, with ``top_logprobs`` alternatives for every token when it is above 0.

    Raises
    ------
    ValueError
        If it is not in 0 to 20.
    """
    if not 0 <= top_logprobs <= MOST_ALTERNATIVES:
        raise ValueError(f"top_logprobs={top_logprobs} must be 0 (do not ask) to {MOST_ALTERNATIVES}")
    if not top_logprobs:
        return GenerateConfig(temperature=0.0)
    return GenerateConfig(temperature=0.0, logprobs=True, top_logprobs=top_logprobs)


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
        What needs them, as the beginning of a sentence: ``nlp_metad needs``.
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


def refuse_sampled_locally(model: Model, purpose: str) -> None:
    """Refuse Inspect's ``hf`` provider unless it decodes greedily.

    At each step it reports the most probable token and its probability, in place of the one that was sampled.
    """
    if is_local(model) and getattr(model.api, "do_sample", False):
        raise TokenProbabilityError(
            f"{purpose} token probabilities of what the model says, and Inspect's hf provider reports those of the "
            "most probable tokens instead, which are the same in greedy decoding only: add -M do_sample=false"
        )


@solver
def generate_with_probabilities(purpose: str, cache: bool = True) -> Solver:
    """Ask the model with the task's settings, and refuse it at its first reply if it gives no token probabilities."""
    gate = ProbabilityGate(purpose)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = get_model()
        refuse_sampled_locally(model, purpose)
        return await gate(model, lambda: ask_once(state, generate, cache, has_probabilities))

    return solve


def asking(top_logprobs: int, cache: bool) -> Solver:
    """Return the solver of a task that asks for token probabilities on request only."""
    if not top_logprobs:
        return cached_generate(cache)
    return generate_with_probabilities(f"top_logprobs={top_logprobs} asks for", cache)
