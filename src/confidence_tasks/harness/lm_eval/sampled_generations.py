"""Repeated samples of one prompt, each with a seed of its own where the model takes one.

lm-eval sends its endpoints one fixed seed, with which every sample of a prompt would be the same, and has no cache for
samples. So they have a request type of their own: it gives each sample of each prompt its own seed at endpoints and in
vLLM, leaves it out where a model draws from one stream of random numbers (``hf``, whose stream ``--seed`` begins), and
keeps every sample in the responses' cache (``--use_cache``).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM

from confidence_tasks.harness.compat import add_request_type, cache_result, cached_result
from confidence_tasks.harness.reply_seed import LARGEST_SEED
from confidence_tasks.simulation.subject import pick

REQUEST_TYPE = "generate_samples"

_TAKE_SEEDS = frozenset({"TemplateAPI", "VLLM"})
"""Models that take a seed with each request, by the name of a class that they are of."""


def generate_samples(model: LM, requests: Sequence[Instance]) -> list[str]:
    """Generate; lm-eval calls this as a method of the model. Equal requests are made once."""
    replies: dict[str, str] = {}
    asked: dict[str, tuple[Instance, Instance]] = {}
    keys = [json.dumps(request.args, sort_keys=True) for request in requests]
    for key, request in zip(keys, requests, strict=True):
        if key in replies or key in asked:
            continue
        generation = _generation(model, request)
        if (reply := _known(model, request, generation)) is not None:
            replies[key] = reply
        else:
            asked[key] = request, generation
    made = model.generate_until([generation for _, generation in asked.values()]) if asked else []
    for (key, (request, _)), reply in zip(asked.items(), made, strict=True):
        replies[key] = reply
        cache_result(model, REQUEST_TYPE, request.args, reply)
    return [replies[key] for key in keys]


def _known(model: LM, request: Instance, generation: Instance) -> str | None:
    """Return a reply from the cache: as this function keeps it, or as the model kept it in a run that was killed."""
    reply: str | None = cached_result(model, REQUEST_TYPE, request.args)
    settings = generation.args[1]
    if reply is None and (not settings.get("do_sample") or "seed" in settings):
        reply = cached_result(model, "generate_until", generation.args)
    return reply


add_request_type(REQUEST_TYPE, generate_samples)


def _generation(model: LM, request: Instance) -> Instance:
    context, settings = request.args
    if "seed" not in settings:
        return Instance("generate_until", request.doc, (context, settings), 0)
    if _TAKE_SEEDS.isdisjoint(kind.__name__ for kind in type(model).__mro__):
        settings = {name: value for name, value in settings.items() if name != "seed"}
    else:
        # Prompts sampled with one seed would share their luck.
        settings = {**settings, "seed": pick(LARGEST_SEED, str(context), settings["seed"])}
    return Instance("generate_until", request.doc, (context, settings), 0)
