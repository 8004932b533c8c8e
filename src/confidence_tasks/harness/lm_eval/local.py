"""Models that lm-eval runs in this process: whether their replies were cut off, and whether the first have a text."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, TemplateLM

from confidence_tasks.harness.compat_models import generations_through, goes_on, has_network
from confidence_tasks.harness.lm_eval.first_replies import note_reply
from confidence_tasks.harness.lm_eval.generated import Generated


def generate(model: LM, requests: Sequence[Instance], **options: Any) -> list[str]:
    """Return the model's replies, with the reason of those that were cut off.

    Raises UnfinishedError if none of the first replies of an ``hf`` model has a text. Other models hand over their
    replies when all are there.
    """
    found: defaultdict[str, deque[Generated]] = defaultdict(deque)

    def keep(request: Any, text: str, row: Sequence[int] | None) -> Generated:
        reply = Generated(text, stop="length" if _is_cut(model, request[1], text, row) else "")
        found[_key(request)].append(reply)
        if has_network(model) and (error := note_reply(model, type(model).__name__, reply)):
            raise error
        return reply

    with generations_through(model, keep):
        replies = model.generate_until(list(requests), **options)
    # Equal requests are answered in their order. A model that caches nothing tells nothing of its replies.
    of_requests = [found[_key(request.args)] for request in requests]
    return [known.popleft() if known else reply for known, reply in zip(of_requests, replies, strict=True)]


def _key(request: Iterable[Any]) -> str:
    return json.dumps(list(request), sort_keys=True)


def _is_cut(model: LM, settings: Mapping[str, Any], text: str, row: Sequence[int] | None) -> bool:
    """Return whether a reply was cut off at the limit of tokens."""
    if has_network(model):
        return row is not None and goes_on(model, row, _stops(settings))
    limit = settings.get("max_gen_toks")
    if limit is None or not isinstance(model, TemplateLM) or model.tokenizer is None:
        return False
    return len(model.tok_encode(text, add_special_tokens=False)) >= limit


def _stops(settings: Mapping[str, Any]) -> list[str]:
    stops = settings.get("until") or []
    return [stops] if isinstance(stops, str) else list(filter(None, stops))
