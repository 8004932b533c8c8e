"""A run that needs token probabilities stops before it has paid for many replies without them."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary, WeakSet

from inspect_ai.model import Model, ModelAPI, ModelOutput
from inspect_ai.solver import TaskState
from inspect_ai.util import concurrency

from confidence_tasks.harness.compat import run_settings
from confidence_tasks.harness.inspect.model_replies import has_probabilities, logprob_tokens, stage_reply
from confidence_tasks.harness.refusals import EMPTY_REPLIES, RefusedParameterError
from confidence_tasks.reading.thoughts import strip_thoughts, without_thoughts
from confidence_tasks.reading.token_probabilities import ZEROS_OF_A_RUN
from confidence_tasks.study.stage import Stage


class TokenProbabilityError(RuntimeError):
    """The model under test returns no token probabilities."""


OTHER_PROVIDERS = (
    "use a provider that returns them, such as vllm, sglang, hf, llama-cpp-python, or a chat model of openai, google, "
    "grok or an openai-api server; Anthropic, Mistral, groq, bedrock and OpenAI's reasoning models return none"
)

MORE_ROOM = "a reasoning model may need a higher --max-tokens, such as 4096"


@dataclass(frozen=True)
class ProbabilityGate:
    """Makes the first call of each model alone, and the other calls only if the first reply's tokens can be used.

    So a run with a model without token probabilities stops after one call, with any number of connections and even if
    errors of samples are tolerated. A model with token probabilities needs no extra call. ``purpose`` begins the error
    message, such as ``stage 'answer' of nlp_metad needs``. ``stage`` is the stage, whose own limit of tokens may be too
    low for a reasoning model. ``measured`` are the models with a reply whose tokens can be used, which the gates of all
    stages share: empty replies of such a model stop no run, whose answers may have been paid for.
    """

    purpose: str
    stage: Stage
    measured: WeakSet[ModelAPI] = field(default_factory=WeakSet)
    _faults: WeakKeyDictionary[ModelAPI, str] = field(default_factory=WeakKeyDictionary)
    _zeros: WeakKeyDictionary[ModelAPI, float] = field(default_factory=WeakKeyDictionary)
    _empty: WeakKeyDictionary[ModelAPI, int] = field(default_factory=WeakKeyDictionary)

    async def __call__(self, model: Model, ask: Callable[[], Awaitable[TaskState]]) -> TaskState:
        """Await ``ask`` and return its result.

        Raises TokenProbabilityError, without calling ``ask``, if the tokens of the model are known to be useless.
        """
        if model.api not in self._faults:
            async with concurrency(f"{self.purpose} {id(model.api)}", 1, visible=False):
                if model.api not in self._faults:
                    state = await self._ask_first(model, ask)
                    self._record_fault(model, state.output)
                    self._count_zeros(model, state.output)
                    self._raise_fault(model)
                    return state
        self._raise_fault(model)
        state = await ask()
        self._count_zeros(model, state.output)
        self._raise_fault(model)
        return state

    async def _ask_first(self, model: Model, ask: Callable[[], Awaitable[TaskState]]) -> TaskState:
        try:
            return await ask()
        except RefusedParameterError as error:
            self._faults[model.api] = str(error)
            self._raise_fault(model)
            raise

    def _record_fault(self, model: Model, output: ModelOutput) -> None:
        """Record whether a model's tokens can be used; nothing yet after a filtered or an empty reply."""
        choice = output.choices[0] if output.choices else None
        has_text = bool(strip_thoughts(output.completion).strip())
        if choice is not None and choice.stop_reason == "content_filter":
            return  # the text is the provider's, not the model's
        if has_text and not has_probabilities(output):
            self._faults[model.api] = f"{model} returned none with its first reply: {OTHER_PROVIDERS}"
        elif has_text:
            reply = without_thoughts(stage_reply(self.stage, output))
            problem = self.stage.problem(reply) if self.stage.problem else ""
            fault = f"with the first reply of {model}, {problem}: {OTHER_PROVIDERS}"
            self._faults[model.api] = fault if problem else ""
            if not problem:
                self.measured.add(model.api)
        else:
            self._record_empty(model, output)

    def _count_zeros(self, model: Model, output: ModelOutput) -> None:
        """Record a fault if all tokens so far have a log-probability of exactly 0, which short replies cannot tell."""
        tokens = logprob_tokens(output)
        so_far = self._zeros.get(model.api, 0)
        measured = any(token.logprob for token in tokens)
        self._zeros[model.api] = math.inf if measured else so_far + len(tokens)
        if ZEROS_OF_A_RUN <= self._zeros[model.api] < math.inf:
            self._faults[model.api] = (
                f"{model} returned a log-probability of exactly 0 for each of its first {self._zeros[model.api]:.0f}"
                f" tokens, so none was measured: {OTHER_PROVIDERS}"
            )

    def _record_empty(self, model: Model, output: ModelOutput) -> None:
        """Record a reply without text, or with reasoning only."""
        n_empty = self._empty[model.api] = self._empty.get(model.api, 0) + 1
        cut = bool(output.choices) and output.stop_reason == "max_tokens"
        limit = self.stage.max_tokens
        if cut and limit is not None and run_settings().max_tokens in (None, limit):
            self._faults[model.api] = (
                f"the first reply of {model} ended within its reasoning after {limit} tokens: {MORE_ROOM}"
            )
        elif n_empty == EMPTY_REPLIES and model.api not in self.measured:
            returned = "reasoning only" if has_probabilities(output) else "none, and no text,"
            self._faults[model.api] = f"{model} returned {returned} {EMPTY_REPLIES} times ({MORE_ROOM})"

    def _raise_fault(self, model: Model) -> None:
        if fault := self._faults.get(model.api):
            raise TokenProbabilityError(f"{self.purpose} token probabilities, and {fault}")
