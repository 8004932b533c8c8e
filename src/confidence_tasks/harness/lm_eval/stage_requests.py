"""A request type of lm-eval that runs the stages of a study.

One request type runs all stages. It loops over the stages and calls the model for all documents of a stage together,
in the model's own batches. With one request type per stage, lm-eval would process the types in the order in which any
task first used them, which is wrong for studies with different stages.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, TemplateLM

from confidence_tasks.harness.compat import add_request_type
from confidence_tasks.harness.compat_models import sends_settings
from confidence_tasks.harness.conversation import as_continuation, conversations_of, visible_turn
from confidence_tasks.harness.lm_eval.chat import Turns, render, run_of
from confidence_tasks.harness.lm_eval.generated import stop_of, used_by, why_lost
from confidence_tasks.harness.lm_eval.listed_tokens import UNSCORED, probability_settings
from confidence_tasks.harness.lm_eval.sample_requests import (
    GENERATION,
    StageGeneration,
    note_refusals_and_loss,
    sampling_settings,
)
from confidence_tasks.harness.lm_eval.scoring import measuring_problem
from confidence_tasks.harness.lm_eval.token_requests import SCORES
from confidence_tasks.harness.parameters import STUDY, load_study
from confidence_tasks.harness.refusals import LOST, StopError
from confidence_tasks.harness.stopped import FinishedReplies
from confidence_tasks.harness.stored_replies import replies_to_json
from confidence_tasks.simulation.reply import StageCall
from confidence_tasks.study.definition import Study
from confidence_tasks.study.stage import ModelReply, Stage, Token
from confidence_tasks.study.trial import question_from_metadata

REQUEST_TYPE = "run_stages"


@dataclass
class StagesRequest(Instance):
    """A request to run all stages of a document. Its first argument is the first prompt.

    ``turns`` are the conversation from which the first prompt was rendered; empty without a chat template.
    """

    parameters: dict[str, Any] = field(kw_only=True)
    turns: Turns = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class _Conversation:
    """A conversation, either as turns for a chat template or as plain text."""

    turns: Turns
    text: str

    def context(self, model: LM) -> str:
        rendered: str = render(self.turns, model)[0] if self.turns else self.text
        return rendered

    def append(self, content: str, role: str = "user") -> _Conversation:
        if self.turns:
            return _Conversation([*self.turns, {"role": role, "content": content}], "")
        return _Conversation([], f"{self.text.rstrip()}\n\n{content}")


@dataclass
class _Document:
    """The stages of one document with their replies. ``lost`` says why a call has no reply; empty if all have."""

    request: StagesRequest
    study: Study = field(init=False)
    stages: tuple[Stage, ...] = field(init=False)
    replies: dict[str, list[ModelReply]] = field(default_factory=dict)
    conversations: dict[str, _Conversation] = field(default_factory=dict)
    lost: str = ""

    def __post_init__(self) -> None:
        doc: dict[str, Any] = self.request.doc
        self.study = load_study(doc[STUDY])
        self.stages = self.study.stages_of(self.request.parameters)
        self.question, self.condition = question_from_metadata(doc), str(doc["condition"])

    def start_conversation(self, system: str, prompt: str) -> _Conversation:
        """Start a conversation."""
        first = [{"role": "system", "content": system}] if system else []
        turns = [*first, {"role": "user", "content": prompt}] if self.request.turns else []
        return _Conversation(turns, f"{system}\n\n{prompt}" if system else prompt)

    def calls(self, model: LM, stage: Stage) -> Iterator[tuple[StageGeneration, _Conversation]]:
        """Yield the calls of a stage, each with its conversation."""
        replies = FinishedReplies(self.study, self.stages, self.question, self.condition).of(self.replies)
        call = StageCall(self.study, self.question, self.condition, stage.name, replies)
        # With one generated reply, its limit is in the configuration, where --gen_kwargs can change it.
        several = sum(not each.forced_reply for each in self.stages) > 1
        first = self.request.doc["prompt"], _Conversation(self.request.turns, self.request.args[0])
        prompts = conversations_of(
            stage, call, first, self.conversations, self.start_conversation, _Conversation.append
        )
        for prompt, conversation in prompts:
            context = conversation.context(model) if self.replies else self.request.args[0]
            if stage.candidates and not self.request.turns:
                context += stage.delimiter
            for number in range(stage.samples):
                sampling = sampling_settings(
                    stage, self.condition, self.request.parameters, self.question.id, number=number
                )
                settings = {**self.request.args[1], **sampling, **probability_settings(model, stage)}
                by_user = settings.get("max_gen_toks") != GENERATION["max_gen_toks"]
                if stage.max_tokens is not None and several and not by_user:
                    settings["max_gen_toks"] = stage.max_tokens
                generation = StageGeneration(
                    "generate_until",
                    self.request.doc,
                    (context, settings),
                    0,
                    call=call,
                    stage=stage,
                    prompt=prompt,
                    number=number,
                )
                yield generation, conversation


def run_stages(model: LM, requests: Sequence[StagesRequest]) -> list[dict[str, Any] | None]:
    """Run the stages of all documents; lm-eval calls this as a method of the model.

    Returns the replies of each document; None if a call of the document was lost. Equal calls are made once, and
    replies are cached (``--use_cache``), except those of simulated subjects, which depend on more than the prompt.

    Raises RuntimeError before the first call if a stage requires log-probabilities that the model cannot compute.
    """
    methods: Any = model  # for the type checker: has the methods of add_request_type
    documents = [_Document(request) for request in requests]
    _refuse_without_logprobs(model, documents)
    for position in range(max((len(document.stages) for document in documents), default=0)):
        calls = [
            (document, document.stages[position], *call)
            for document in documents
            if position < len(document.stages) and not document.lost
            for call in document.calls(model, document.stages[position])
        ]
        texts = iter(
            methods.generate_samples(
                [generation for _, _, generation, _ in calls if _is_generated(model, generation)]
            )
        )
        for document, _, generation, _ in calls:
            text = next(texts) if _is_generated(model, generation) else _forced_text(generation)
            if text is None:
                document.lost = str(generation.args[1].get(LOST) or why_lost(text))
            generation.resps = ["" if text is None else text]
        scored = [generation for _, stage, generation, _ in calls if stage.logprobs]
        tokens = dict(zip(map(id, scored), getattr(model, SCORES)(scored), strict=True)) if scored else {}
        for document in documents:
            if position < len(document.stages):
                document.replies.setdefault(document.stages[position].name, [])
        for document, stage, generation, conversation in calls:
            document.replies[stage.name].append(
                _make_reply(model, generation, tokens.get(id(generation), ()))
            )
            reply = conversation.append(visible_turn(generation.resps[0]), "assistant")
            document.conversations.setdefault(stage.name, reply)
    for document in documents:
        note_refusals_and_loss(document.request, run_of(model).refused, document.lost)
    return [None if document.lost else replies_to_json(document.replies) for document in documents]


add_request_type(REQUEST_TYPE, run_stages)


def _is_generated(model: LM, generation: StageGeneration) -> bool:
    """Return whether a model generates the reply; a chat endpoint cannot score candidates instead."""
    stage = generation.stage
    return not stage.forced_reply and (not stage.candidates or sends_settings(model))


def _forced_text(generation: StageGeneration) -> str:
    reply = generation.stage.forced_reply
    return as_continuation(str(generation.args[0]), reply(generation.call.question)) if reply else ""


def _refuse_without_logprobs(model: LM, documents: Sequence[_Document]) -> None:
    """Raise RuntimeError before the first call if a stage requires log-probabilities that the model cannot compute."""
    methods: Any = model
    requiring = {
        (document.study.name, stage.name, bool(stage.forced_reply))
        for document in documents
        for stage in document.stages
        if stage.logprobs == "required"
    }
    if not requiring:
        return
    # A simulated subject computes the tokens of its own replies; any other model has to score given tokens.
    problem = methods.token_problem()
    if not problem and isinstance(model, TemplateLM):
        problem = measuring_problem(model, documents[0].request.args[0])
    for study, name, is_forced in sorted(requiring):
        fault = problem or (UNSCORED if is_forced and sends_settings(model) else "")
        if fault:
            raise StopError(f"stage {name!r} of {study} needs token probabilities, and {fault}")


def _make_reply(model: LM, generation: StageGeneration, tokens: Sequence[Token] | str) -> ModelReply:
    text = generation.resps[0]
    problem = tokens if isinstance(tokens, str) else ""
    used = used_by(text)
    return ModelReply(
        text,
        () if isinstance(tokens, str) else tuple(tokens),
        _first_known(used.input_tokens, _n_tokens(model, generation.args[0])),
        _first_known(used.output_tokens, _n_tokens(model, text)),
        problem,
        used.reasoning_tokens,
        stop_of(text),
    )


def _first_known(counted: float, own: float) -> float:
    """Return the count of the server, or else the own one."""
    return own if math.isnan(counted) else counted


def _n_tokens(model: LM, text: str) -> float:
    """Return the number of tokens of a text; NaN for a model without a tokenizer."""
    if not isinstance(model, TemplateLM) or model.tokenizer is None:
        return math.nan
    return float(len(model.tok_encode(text)))
