"""The log-probabilities that a chat endpoint lists beside its reply: how they are requested and read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval.api.model import LM

from confidence_tasks.harness.compat_models import sends_settings
from confidence_tasks.reading.token_probabilities import ZEROS_OF_A_RUN, highest_logprobs, listed_texts
from confidence_tasks.study.stage import Stage, Token

UNSCORED = "a chat endpoint lists the log-probabilities of its own replies only, not of a given text"


def probability_settings(model: LM, stage: Stage) -> dict[str, Any]:
    """Return the settings that request log-probabilities beside the reply to a stage; empty where they do nothing."""
    if not stage.logprobs or stage.forced_reply or not sends_settings(model):
        return {}
    alternatives = {"top_logprobs": stage.top_logprobs} if stage.top_logprobs else {}
    return {"logprobs": True, **alternatives}


def read_tokens(choice: Mapping[str, Any]) -> tuple[Token, ...]:
    """Return the tokens that a choice of a chat endpoint lists; none if it lists them in another form, or not at all.

    A log-probability that is no number is NaN.

    Examples
    --------
    >>> listed = {"token": "A", "logprob": -0.5, "top_logprobs": [{"token": "B", "logprob": -1.5}]}
    >>> read_tokens({"logprobs": {"content": [listed]}})
    (Token(text='A', logprob=-0.5, alternatives={'B': -1.5}),)
    >>> read_tokens({"logprobs": None})
    ()
    """
    listed = _listed(choice)
    texts = listed_texts([item["token"] for item in listed], [item.get("bytes") for item in listed])
    return tuple(
        Token(text, _logprob(item), _alternatives(item)) for text, item in zip(texts, listed, strict=True)
    )


def most_alternatives(outputs: Mapping[str, Any]) -> int:
    """Return the largest number of alternatives to a token in the JSON of a server; 0 without any."""
    tokens = (item for choice in outputs.get("choices", ()) for item in _listed(choice))
    return max((len(_tops(item)) for item in tokens), default=0)


def _listed(choice: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    return content if isinstance(content, list) and all(map(_is_token, content)) else []


def _is_token(item: object) -> bool:
    return isinstance(item, Mapping) and isinstance(item.get("token"), str)


def _tops(item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    tops = item.get("top_logprobs")
    return list(filter(_is_token, tops)) if isinstance(tops, list) else []


def _logprob(item: Mapping[str, Any]) -> float:
    value = item.get("logprob")
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan


def _alternatives(item: Mapping[str, Any]) -> dict[str, float]:
    return highest_logprobs((top["token"], _logprob(top)) for top in _tops(item))


def unmeasured(tokens: Sequence[Sequence[Token]]) -> str:
    """Return why the tokens of several replies have no log-probabilities: all are exactly 0; empty if some are not."""
    every = [token for of_reply in tokens for token in of_reply]
    if len(every) < ZEROS_OF_A_RUN or any(token.logprob for token in every):
        return ""
    return f"each of {len(every)} tokens has a log-probability of exactly 0, so none was measured"
