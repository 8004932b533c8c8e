"""The calls of a document of lm-eval: prompts, settings, and the samples that a call with several choices brings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM

from confidence_tasks.harness.compat_models import sends_settings
from confidence_tasks.harness.conversation import conversations_of
from confidence_tasks.harness.lm_eval.chat import Turns, render
from confidence_tasks.harness.lm_eval.generated import why_lost
from confidence_tasks.harness.lm_eval.listed_tokens import probability_settings
from confidence_tasks.harness.lm_eval.sample_requests import GENERATION, StageGeneration, sampling_settings
from confidence_tasks.harness.parameters import STUDY, load_study
from confidence_tasks.harness.refusals import LOST
from confidence_tasks.harness.stopped import FinishedReplies
from confidence_tasks.simulation.reply import StageCall
from confidence_tasks.study.definition import Study
from confidence_tasks.study.stage import ModelReply, Stage
from confidence_tasks.study.trial import question_from_metadata


@dataclass
class StagesRequest(Instance):
    """A request to run all stages of a document. Its first argument is the first prompt.

    ``turns`` are the conversation from which the first prompt was rendered; empty without a chat template.
    """

    parameters: dict[str, Any] = field(kw_only=True)
    turns: Turns = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation, either as turns for a chat template or as plain text."""

    turns: Turns
    text: str

    def context(self, model: LM) -> str:
        """Return the conversation as a model gets it."""
        rendered: str = render(self.turns, model)[0] if self.turns else self.text
        return rendered

    def append(self, content: str, role: str = "user") -> Conversation:
        """Return the conversation with one more turn."""
        if self.turns:
            return Conversation([*self.turns, {"role": role, "content": content}], "")
        return Conversation([], f"{self.text.rstrip()}\n\n{content}")


@dataclass
class Document:
    """The stages of one document with their replies. ``lost`` says why a call has no reply; empty if all have."""

    request: StagesRequest
    study: Study = field(init=False)
    stages: tuple[Stage, ...] = field(init=False)
    replies: dict[str, list[ModelReply]] = field(default_factory=dict)
    conversations: dict[str, Conversation] = field(default_factory=dict)
    lost: str = ""

    def __post_init__(self) -> None:
        doc: dict[str, Any] = self.request.doc
        self.study = load_study(doc[STUDY])
        self.stages = self.study.stages_of(self.request.parameters)
        self.question, self.condition = question_from_metadata(doc), str(doc["condition"])

    def start_conversation(self, system: str, prompt: str) -> Conversation:
        """Start a conversation."""
        first = [{"role": "system", "content": system}] if system else []
        turns = [*first, {"role": "user", "content": prompt}] if self.request.turns else []
        return Conversation(turns, f"{system}\n\n{prompt}" if system else prompt)

    def calls(self, model: LM, stage: Stage) -> Iterator[Call]:
        """Yield the calls of a stage."""
        replies = FinishedReplies(self.study, self.stages, self.question, self.condition).of(self.replies)
        call = StageCall(self.study, self.question, self.condition, stage.name, replies)
        first = self.request.doc["prompt"], Conversation(self.request.turns, self.request.args[0])
        prompts = conversations_of(
            stage, call, first, self.conversations, self.start_conversation, Conversation.append
        )
        n_choices = stage.samples if stage.one_request and sends_settings(model) else 1
        for prompt, conversation in prompts:
            context = conversation.context(model) if self.replies else self.request.args[0]
            if stage.candidates and not self.request.turns:
                context += stage.delimiter
            for number in range(0, stage.samples, n_choices):
                generation = StageGeneration(
                    "generate_until",
                    self.request.doc,
                    (context, self._settings(model, stage, number, n_choices)),
                    0,
                    call=call,
                    stage=stage,
                    prompt=prompt,
                    number=number,
                    n_choices=n_choices,
                )
                yield Call(self, generation, conversation)

    def _settings(self, model: LM, stage: Stage, number: int, n_choices: int) -> dict[str, Any]:
        """Return the settings of a call of a stage for its samples from ``number`` on."""
        sampling = sampling_settings(
            stage, self.condition, self.request.parameters, self.question.id, number=number
        )
        settings = {**self.request.args[1], **sampling, **probability_settings(model, stage)}
        # With one generated reply, its limit is in the configuration, where --gen_kwargs can change it.
        several = sum(not each.forced_reply for each in self.stages) > 1
        by_user = settings.get("max_gen_toks") != GENERATION["max_gen_toks"]
        if stage.max_tokens is not None and several and not by_user:
            settings["max_gen_toks"] = stage.max_tokens
        return settings | ({"n": n_choices} if n_choices > 1 else {})

    def again(self, model: LM, generation: StageGeneration, number: int, n_choices: int) -> StageGeneration:
        """Return a request for the ``n_choices`` samples from ``number`` on, with the prompt of ``generation``."""
        settings = self._settings(model, generation.stage, number, n_choices)
        arguments = (generation.args[0], settings)
        return replace(generation, arguments=arguments, number=number, n_choices=n_choices, resps=[])


@dataclass
class Call:
    """A request of a stage, with the conversation that it ends.

    ``replies`` has a request for each reply to it, with the number of the sample and the text: several if the samples
    of a prompt are requested by one call.
    """

    document: Document
    generation: StageGeneration
    conversation: Conversation
    replies: list[StageGeneration] = field(default_factory=list)

    def take(self, model: LM, generation: StageGeneration, text: str | None) -> list[StageGeneration]:
        """Keep what a request brought; return the requests for the samples that it asked for and did not get.

        A server that brought one choice is asked for each of the others by a request of its own.
        """
        generation.resps = ["" if text is None else text]
        self.replies.append(generation)
        if text is None:
            self.document.lost = str(generation.args[1].get(LOST) or why_lost(text))
            return []
        others = getattr(text, "choices", ())[: generation.n_choices - 1]
        start = generation.number
        self.replies += [
            replace(generation, number=start + i, choice=i, resps=[other])
            for i, other in enumerate(others, 1)
        ]
        end = start + generation.n_choices
        n_choices = end - start - 1 - len(others) if others else 1
        missing = range(start + 1 + len(others), end, max(n_choices, 1))
        return [self.document.again(model, generation, number, n_choices) for number in missing]
