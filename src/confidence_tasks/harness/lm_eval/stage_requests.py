"""A request type of lm-eval that runs the stages of a study.

One request type runs all stages. It loops over the stages and calls the model for all documents of a stage together,
in the model's own batches. With one request type per stage, lm-eval would process the types in the order in which any
task first used them, which is wrong for studies with different stages.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lm_eval.api.model import LM, TemplateLM

from confidence_tasks.harness.compat import add_request_type
from confidence_tasks.harness.compat_models import sends_settings
from confidence_tasks.harness.conversation import as_continuation, visible_turn
from confidence_tasks.harness.lm_eval.chat import run_of
from confidence_tasks.harness.lm_eval.generated import stop_of, used_by
from confidence_tasks.harness.lm_eval.listed_tokens import UNSCORED
from confidence_tasks.harness.lm_eval.sample_requests import SAMPLES, StageGeneration, note_refusals_and_loss
from confidence_tasks.harness.lm_eval.scoring import measuring_problem
from confidence_tasks.harness.lm_eval.stage_calls import Call, Document, StagesRequest
from confidence_tasks.harness.lm_eval.token_requests import SCORES
from confidence_tasks.harness.refusals import StopError
from confidence_tasks.harness.stored_replies import replies_to_json
from confidence_tasks.study.stage import ModelReply, Token

REQUEST_TYPE = "run_stages"


def run_stages(model: LM, requests: Sequence[StagesRequest]) -> list[dict[str, Any] | None]:
    """Run the stages of all documents; lm-eval calls this as a method of the model.

    Returns the replies of each document; None if a call of the document was lost. Equal calls are made once, and
    replies are cached (``--use_cache``), except those of simulated subjects, which depend on more than the prompt.

    Raises RuntimeError before the first call if a stage requires log-probabilities that the model cannot compute.
    """
    documents = [Document(request) for request in requests]
    _refuse_without_logprobs(model, documents)
    for position in range(max((len(document.stages) for document in documents), default=0)):
        calls = [
            call
            for document in documents
            if position < len(document.stages) and not document.lost
            for call in document.calls(model, document.stages[position])
        ]
        _ask(model, calls)
        scored = [reply for call in calls if call.generation.stage.logprobs for reply in call.replies]
        tokens = dict(zip(map(id, scored), getattr(model, SCORES)(scored), strict=True)) if scored else {}
        for document in documents:
            if position < len(document.stages):
                document.replies.setdefault(document.stages[position].name, [])
        for call in calls:
            name, document = call.generation.stage.name, call.document
            document.replies[name] += [
                _make_reply(model, reply, tokens.get(id(reply), ())) for reply in call.replies
            ]
            turn = call.conversation.append(visible_turn(call.generation.resps[0]), "assistant")
            document.conversations.setdefault(name, turn)
    for document in documents:
        note_refusals_and_loss(document.request, run_of(model).refused, document.lost)
    return [None if document.lost else replies_to_json(document.replies) for document in documents]


def _ask(model: LM, calls: Sequence[Call]) -> None:
    """Request the replies to calls, and then the samples that a call with several choices did not bring."""
    pending = [(call, call.generation) for call in calls]
    while pending:
        generated = [generation for _, generation in pending if _is_generated(model, generation)]
        texts = iter(getattr(model, SAMPLES)(generated))
        further: list[tuple[Call, StageGeneration]] = []
        for call, generation in pending:
            text = next(texts) if _is_generated(model, generation) else _forced_text(generation)
            further += [(call, request) for request in call.take(model, generation, text)]
        pending = further


add_request_type(REQUEST_TYPE, run_stages)


def _is_generated(model: LM, generation: StageGeneration) -> bool:
    """Return whether a model generates the reply; a chat endpoint cannot score candidates instead."""
    stage = generation.stage
    return not stage.forced_reply and (not stage.candidates or sends_settings(model))


def _forced_text(generation: StageGeneration) -> str:
    reply = generation.stage.forced_reply
    return as_continuation(str(generation.args[0]), reply(generation.call.question)) if reply else ""


def _refuse_without_logprobs(model: LM, documents: Sequence[Document]) -> None:
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
        choice=generation.choice,
    )


def _first_known(counted: float, own: float) -> float:
    """Return the count of the server, or else the own one."""
    return own if math.isnan(counted) else counted


def _n_tokens(model: LM, text: str) -> float:
    """Return the number of tokens of a text; NaN for a model without a tokenizer, and for a server that counts them."""
    if not isinstance(model, TemplateLM) or model.tokenizer is None or sends_settings(model):
        return math.nan
    return float(len(model.tok_encode(text)))
