"""The simulated subject on lm-eval: ``--model simulated --model_args subject=overconfident,meta_d_prime=0.8``."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NoReturn

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM

from confidence_tasks.harness.conversation import first_call
from confidence_tasks.harness.lm_eval.generated import UNCOUNTED, Generated, Used
from confidence_tasks.harness.lm_eval.sample_requests import StageGeneration
from confidence_tasks.harness.usage_errors import as_usage_error
from confidence_tasks.simulation.reply import Reply, StageCall, call_seed, n_tokens, reply_tokens
from confidence_tasks.simulation.subject import make_subject
from confidence_tasks.study.stage import Token


class SimulatedLM(LM):
    """A model with known accuracy and metacognition, which gives the same replies as on Inspect.

    ``subject`` is the name of the profile, and ``parameters`` replace parameters of the profile. The batch size and the
    device, which lm-eval passes to every model, are ignored.
    """

    tokenizer_name = "simulated"

    @as_usage_error()
    def __init__(
        self,
        subject: str = "ideal",
        seed: int = 0,
        *,
        batch_size: int | str | None = None,
        max_batch_size: int | None = None,
        device: str | None = None,
        **parameters: Any,
    ) -> None:
        super().__init__()
        self.subject = make_subject(subject, **parameters)
        self.seed = seed

    def generate_until(self, requests: Sequence[Instance], disable_tqdm: bool = False) -> list[str]:
        """Reply to each prompt."""
        seen: Counter[int] = Counter()
        texts: list[str] = []
        for request in requests:  # lm-eval lists the same request once per repetition
            reply = self._reply(request, seen[id(request)])
            texts.append(Generated(reply.text, used=_used(request, reply)))
            seen[id(request)] += 1
        return texts

    def generate_samples(self, requests: Sequence[Instance]) -> list[str]:
        """Reply to each prompt without the cache, because replies depend on more than the prompt."""
        return self.generate_until(requests)

    def score_tokens(self, requests: Sequence[StageGeneration]) -> list[tuple[Token, ...]]:
        """Return the tokens of each reply."""
        replies = [self._reply(request, 0) for request in requests]
        return [(*reply.reasoning, *reply_tokens(reply)) for reply in replies]

    def token_problem(self) -> str:
        """Return no problem: the tokens have log-probabilities."""
        return ""

    def loglikelihood(self, requests: Sequence[Instance], disable_tqdm: bool = False) -> NoReturn:
        """Raise NotImplementedError: a simulated subject cannot score given texts."""
        raise NotImplementedError("a simulated subject scores only its own replies")

    loglikelihood_rolling = loglikelihood

    def apply_chat_template(
        self, chat_history: Sequence[dict[str, str]], add_generation_prompt: bool = True
    ) -> str:
        """Join the turns by blank lines."""
        return "\n\n".join(message["content"] for message in chat_history)

    def _reply(self, request: Instance, repeat: int) -> Reply:
        prompt, settings = request.args
        temperature = settings.get("temperature") if settings.get("do_sample") else None
        if isinstance(request, StageGeneration):
            seed = call_seed(self.seed, temperature, request.number)
            return request.call.reply(self.subject, request.prompt, seed=seed)
        seed = call_seed(self.seed, temperature, request.doc.get("repeat", repeat))
        call: StageCall = getattr(request, "call", None) or first_call(request.doc)
        return call.reply(self.subject, prompt, seed=seed)


def _used(request: Instance, reply: Reply) -> Used:
    """Return the token counts of a call of a stage: as on Inspect, of system message, last prompt and reply."""
    if not isinstance(request, StageGeneration):
        return UNCOUNTED
    system = request.stage.system_of(request.call.question, request.call.condition)
    prompt = "\n\n".join(filter(None, (system, request.prompt)))
    n_reasoning = float(len(reply.reasoning)) if reply.reasoning else math.nan
    return Used(float(n_tokens(prompt)), float(n_tokens(reply.text)), n_reasoning)
