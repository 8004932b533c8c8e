"""Replies generated with seeds: the requests, their settings, and the cache of samples."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from tqdm import tqdm

from confidence_tasks.harness.compat import add_request_type
from confidence_tasks.harness.compat_models import (
    cache_result,
    cached_result,
    has_network,
    is_endpoint,
    sends_settings,
)
from confidence_tasks.harness.conversation import sample_seed
from confidence_tasks.harness.lm_eval import endpoint_replies, local
from confidence_tasks.harness.lm_eval.chat import run_of
from confidence_tasks.harness.lm_eval.generated import why_lost
from confidence_tasks.harness.parameters import default_stages
from confidence_tasks.harness.refusals import LOST, REFUSED, StopError
from confidence_tasks.simulation.reply import StageCall
from confidence_tasks.study.definition import Study
from confidence_tasks.study.stage import Stage
from confidence_tasks.study.trial import Question, question_from_metadata

# No stop sequence: lm-eval's default, a blank line, would truncate JSON and reasoning.
GENERATION: Mapping[str, Any] = {"until": [], "max_gen_toks": 1024, "do_sample": False, "temperature": 0.0}
"""Default generation settings."""


def default_settings(study: Study) -> Mapping[str, Any]:
    """Return the delimiter of the first stage of a study, and the token limit if it is the only stage."""
    first, *others = default_stages(study)
    limit = {} if others or first.max_tokens is None else {"max_gen_toks": first.max_tokens}
    return {"target_delimiter": first.delimiter, "generation_kwargs": {**GENERATION, **limit}}


@dataclass
class StageGeneration(Instance):
    """A request to generate one reply of a stage, or several as the choices of a call.

    ``call`` is for simulated subjects. ``number`` is that of the first sample, and ``choice`` that of the reply among
    the choices of its call.
    """

    call: StageCall = field(kw_only=True)
    stage: Stage = field(kw_only=True)
    prompt: str = field(kw_only=True)
    number: int = field(kw_only=True)
    n_choices: int = field(kw_only=True, default=1)
    choice: int = field(kw_only=True, default=0)


SAMPLES = "generate_samples"


def sampling_settings(
    stage: Stage,
    condition: str,
    parameters: Mapping[str, Any],
    question: str,
    *,
    repeat: int = 1,
    number: int = 0,
) -> dict[str, Any]:
    """Return the sampling settings of a stage; empty if it has those of the run, which are greedy by default."""
    temperature = stage.temperature_in(condition)
    if temperature:
        seed = sample_seed(parameters["seed"], question, repeat, stage, condition, number)
        return {"do_sample": True, "temperature": temperature, "seed": seed}
    return {"do_sample": False, "temperature": 0.0} if callable(stage.temperature) else {}


# Samples --------------------------------------------------------------------------------------------------------------

_SEEDED_MODELS = frozenset({"TemplateAPI", "VLLM"})
"""Names of the model classes that accept a seed with each request."""


FORMAT = "response_format"
"""Setting of a request with a response schema."""


def response_format(stage: Stage, question: Question, condition: str) -> dict[str, Any]:
    """Return the setting that makes a reply a JSON object; empty for a text."""
    structured = stage.structured_for(question)
    if structured is None:
        return {}
    schema = {"name": stage.name, "schema": structured.schema(question, condition), "strict": True}
    return {FORMAT: {"type": "json_schema", "json_schema": schema}}


def make_sample_request(
    generation: Instance, stage: Stage, doc: Mapping[str, Any], parameters: Mapping[str, Any]
) -> None:
    """Turn lm-eval's own request for the only reply to a document into one for a sample of the stage."""
    context, settings = generation.args
    question = question_from_metadata(doc)
    sampling = sampling_settings(
        stage, doc["condition"], parameters, question.id, repeat=doc.get("repeat", 1)
    )
    form = response_format(stage, question, str(doc["condition"]))
    generation.arguments = (context, {**settings, **sampling, **form})
    generation.request_type = SAMPLES  # type: ignore[assignment]


def _refuse_format(model: LM, requests: Sequence[Instance]) -> None:
    """Raise StopError before the first call if a response schema would not reach the model."""
    if not sends_settings(model) and any(FORMAT in request.args[1] for request in requests):
        raise StopError(
            f"{type(model).__name__} is sent no response schema: use local-chat-completions, or leave out structured"
        )


def generate_samples(model: LM, requests: Sequence[Instance]) -> list[str | None]:
    """Generate replies with seeds; lm-eval calls this as a method of the model. Equal requests are made once.

    lm-eval sends one fixed seed to endpoints, with which all samples of a prompt would be equal, and does not cache
    samples. Here each sample has the same seed as on Inspect. Endpoints and vLLM receive the seed. For an ``hf`` model
    with a batch size of 1, PyTorch is seeded before each reply. With larger batches, and in other models, all samples
    come from one random stream, seeded by ``--seed``. Every sample is cached (``--use_cache``). A call without a reply
    is lost: None.
    """
    _refuse_format(model, requests)
    run = run_of(model)
    keys = [json.dumps(request.args, sort_keys=True) for request in requests]
    by_key = dict(zip(keys, requests, strict=True))
    replies = _cached_replies(model, by_key)
    if replies:
        run.recall(model)
    pending = {key: request for key, request in by_key.items() if key not in replies}
    if pending:
        replies |= _new_replies(model, pending)
        run.remember(model)
    found = [replies[key] for key in keys]
    for request, reply in zip(requests, found, strict=True):
        note_refusals_and_loss(request, run.refused, why_lost(reply))
    return [None if why_lost(reply) else reply for reply in found]


def _cached_replies(model: LM, requests: Mapping[str, Instance]) -> dict[str, str | None]:
    """Return the replies that are in the cache."""
    cached = {
        key: _cached_reply(model, request, _generation_request(model, request))
        for key, request in requests.items()
    }
    return {key: reply for key, reply in cached.items() if reply is not None}


def _new_replies(model: LM, requests: Mapping[str, Instance]) -> dict[str, str | None]:
    """Return the model's replies, and write them into the cache."""
    pairs = [(request, _generation_request(model, request)) for request in requests.values()]
    replies: dict[str, str | None] = {}
    for (key, request), reply in zip(requests.items(), _generate(model, pairs), strict=True):
        replies[key] = reply
        if not why_lost(reply):
            cache_result(model, SAMPLES, request.args, reply)
    return replies


def note_refusals_and_loss(request: Instance, refused: Sequence[str], lost: str) -> None:
    """Add notes on refused parameters, and the reason of a lost call, to the settings that lm-eval logs."""
    notes = {name: value for name, value in {REFUSED: list(refused), LOST: lost}.items() if value}
    if notes:
        context, settings = request.args
        request.arguments = (context, {**settings, **notes})


def _generate(model: LM, requests: Sequence[tuple[Instance, Instance]]) -> Iterable[str]:
    """Return the reply to each pair of a sample request and its generation request."""
    network: Any = model
    seeded = any("seed" in request.args[1] for request, _ in requests)
    if seeded and has_network(model) and network.batch_size == 1:
        every = tqdm(requests, desc="Running generate_samples requests")
        return (_generate_seeded(model, *pair) for pair in every)
    generations = [generation for _, generation in requests]
    if not is_endpoint(model):
        return local.generate(model, generations)
    return endpoint_replies.generate(
        model, generations, [_needing(model, request) for request, _ in requests]
    )


def _needing(model: LM, request: Instance) -> Stage | None:
    """Return the stage of a request that cannot do without the log-probabilities of its reply; None for others."""
    stage = request.stage if isinstance(request, StageGeneration) else None
    return stage if stage and stage.logprobs == "required" and sends_settings(model) else None


def _generate_seeded(model: LM, request: Instance, generation: Instance) -> str:
    import torch

    if "seed" in request.args[1]:
        torch.manual_seed(request.args[1]["seed"])
    (reply,) = local.generate(model, [generation], disable_tqdm=True)
    return reply


def _cached_reply(model: LM, request: Instance, generation: Instance) -> str | None:
    """Return a reply cached by `generate_samples`, or by the model in a killed run; None if there is none."""
    reply: str | None = cached_result(model, SAMPLES, request.args)
    settings = generation.args[1]
    if reply is None and (not settings.get("do_sample") or "seed" in settings):
        reply = cached_result(model, "generate_until", generation.args)
    return reply


add_request_type(SAMPLES, generate_samples)


def _generation_request(model: LM, request: Instance) -> Instance:
    context, settings = request.args
    if _SEEDED_MODELS.isdisjoint(kind.__name__ for kind in type(model).__mro__):
        settings = {name: value for name, value in settings.items() if name != "seed"}
    return Instance("generate_until", request.doc, (context, settings), 0)
