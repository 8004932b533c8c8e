"""A request type of lm-eval that asks about the reply to another request, in a conversation of its own.

lm-eval runs request types in the order in which they are first used. A task makes this request after the one that it is
about, so that the reply is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM

from confidence_tasks.harness.compat import add_request_type
from confidence_tasks.harness.conversation import visible_turn
from confidence_tasks.harness.lm_eval.chat import Turns, render
from confidence_tasks.harness.lm_eval.generated import stop_of
from confidence_tasks.harness.lm_eval.listed_tokens import probability_settings
from confidence_tasks.harness.lm_eval.sample_requests import GENERATION, StageGeneration
from confidence_tasks.harness.stopped import problem_of_reply, why_unanswered
from confidence_tasks.simulation.reply import StageCall
from confidence_tasks.study.stage import ModelReply, Stage, Token

REQUEST_TYPE = "ask_about_reply"


@dataclass
class SideRequest(Instance):
    """A request for the reply to each stage, which asks about the reply to the request ``about``.

    ``turns`` are the conversation from which that request's prompt was rendered; empty without a chat template. The
    ``call`` tells a simulated subject the question and its key.
    """

    about: Instance = field(kw_only=True)
    stages: tuple[Stage, ...] = field(kw_only=True)
    call: StageCall = field(kw_only=True)
    turns: Turns = field(kw_only=True)

    @property
    def reply(self) -> str | None:
        """The reply that the stages are about; None if it was lost."""
        text: str | None = self.about.resps[0] if self.about.resps else None
        return text

    @property
    def unanswered(self) -> dict[str, ModelReply] | None:
        """What stands for replies to the stages where there is no answer; None if the first reply was lost."""
        if self.reply is None:
            return None
        stop = stop_of(self.reply)
        problem = why_unanswered(self.reply, stop)
        return {stage.name: ModelReply("", problem=problem, stop=stop) for stage in self.stages if problem}

    def generations(self, model: LM) -> list[StageGeneration]:
        """Return the request for the reply to each stage; none if there is no answer to ask about."""
        if self.reply is None or self.unanswered:
            return []
        return [self._generation(model, stage) for stage in self.stages]

    def _generation(self, model: LM, stage: Stage) -> StageGeneration:
        """Return the request for the reply to a stage, with the token limit of the task's own reply."""
        context, own = self.about.args[:2]
        (prompt,) = stage.prompts(self.call.question, stage.name, {})
        limit = {"max_gen_toks": own["max_gen_toks"]} if "max_gen_toks" in own else {}
        return StageGeneration(
            "generate_until",
            self.doc,
            (
                self._context(model, str(context), prompt),
                {**GENERATION, **limit, **probability_settings(model, stage)},
            ),
            0,
            call=StageCall(self.call.study, self.call.question, stage.name, stage.name, {}),
            stage=stage,
            prompt=prompt,
            number=0,
        )

    def _context(self, model: LM, context: str, prompt: str) -> str:
        if not self.turns:
            return f"{context}{self.reply}".rstrip() + f"\n\n{prompt}\n"
        prefix = self.turns[-1]["content"] if self.turns[-1]["role"] == "assistant" else ""
        before = self.turns[:-1] if prefix else self.turns
        conversation = [
            *before,
            {"role": "assistant", "content": f"{prefix}{visible_turn(self.reply or '')}"},
            {"role": "user", "content": prompt},
        ]
        rendered: str = render(conversation, model)[0]
        return rendered


def ask_about_reply(model: LM, requests: Sequence[SideRequest]) -> list[dict[str, ModelReply] | None]:
    """Return the reply to each stage by its name, or None if the first reply was lost.

    lm-eval calls this as a method of the model, with requests whose first replies are there.
    """
    asked = [request.generations(model) for request in requests]
    replies = iter(_replies(model, [generation for generations in asked for generation in generations]))
    return [
        {generation.stage.name: next(replies) for generation in generations} or request.unanswered
        for request, generations in zip(requests, asked, strict=True)
    ]


def _replies(model: LM, generations: Sequence[StageGeneration]) -> list[ModelReply]:
    """Return the replies of a model, with their tokens where a stage needs these."""
    methods: Any = model
    for generation, text in zip(generations, methods.generate_samples(generations), strict=True):
        generation.resps = ["" if text is None else text]
    scored = [generation for generation in generations if generation.stage.logprobs]
    tokens = dict(zip(map(id, scored), methods.score_tokens(scored), strict=True)) if scored else {}
    return [_reply(each.resps[0], tokens.get(id(each), ())) for each in generations]


def _reply(text: str, tokens: Sequence[Token] | str) -> ModelReply:
    """Return a reply with its tokens, or the problem that there are none, or that it was not finished."""
    if stop := stop_of(text):
        return ModelReply("", problem=problem_of_reply(stop), stop=stop)
    if isinstance(tokens, str):
        return ModelReply(text, problem=tokens)
    return ModelReply(text, tuple(tokens))


add_request_type(REQUEST_TYPE, ask_about_reply)
