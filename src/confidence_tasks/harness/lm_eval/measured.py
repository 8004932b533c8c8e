"""Log-probabilities of given tokens in the JSON of a server: whether they are those of the tokens that were given."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from lm_eval.api.model import LM

NOT_ECHOED = (
    "the server returned no log-probabilities of the given tokens, which it must echo (vllm and sglang servers do, "
    "llama.cpp's server does not)"
)


class Unmeasured(float):
    """A missing log-probability, which is NaN.

    Attributes
    ----------
    problem : str
        The reason.
    lost : str
        Why the server did not answer the call; empty if it did.
    """

    problem: str
    lost: str

    def __new__(cls, problem: str, lost: str = "") -> Self:
        """Return NaN with a reason."""
        value = super().__new__(cls, math.nan)
        value.problem, value.lost = problem, lost
        return value


def measured(
    model: LM,
    output: Mapping[str, Any],
    parse: Callable[..., Any],
    tokens: Sequence[Sequence[int]],
    ctxlens: Any,
) -> list[Any]:
    """Return what ``parse`` reads in the JSON of a server; `Unmeasured` where it did not score the given tokens."""
    choices = sorted(output["choices"], key=lambda choice: choice.get("index", 0))
    found: list[Any] = []
    for choice, given, start in zip(choices, tokens, ctxlens, strict=False):
        problem = _problem(model, choice.get("logprobs"), given, start)
        alone = {"outputs": {**output, "choices": [choice]}, "tokens": [given], "ctxlens": [start]}
        found += [(Unmeasured(problem), False)] if problem else parse(**alone)
    return found


def _problem(model: LM, logprobs: Any, given: Sequence[int], start: int) -> str:
    """Return why log-probabilities are not those of the given tokens and of one more; empty if they are."""
    values = logprobs.get("token_logprobs") if isinstance(logprobs, dict) else None
    if not isinstance(values, list) or len(values) <= start + 1:
        return NOT_ECHOED
    if len(values) != len(given) + 1:
        return f"the server scored {len(values) - 1} tokens, where it was given {len(given)}"
    if not all(isinstance(value, int | float) for value in values[start:-1]):
        return NOT_ECHOED
    return _other_tokens(model, logprobs.get("tokens"), given, start)


def _other_tokens(model: Any, scored: Any, given: Sequence[int], start: int) -> str:
    """Return whether the texts of the scored tokens are others than those of the given ones."""
    if not isinstance(scored, list) or not hasattr(model.tokenizer, "decode"):
        return ""
    names = [str(text).removeprefix("token_id:") for text in scored[start:-1]]
    if names == [str(token) for token in given[start:]]:
        return ""  # tokens are named by their numbers
    # Servers write the white space and the bytes of tokens in different ways.
    theirs, ours = map(_letters, ("".join(names), model.tokenizer.decode(list(given[start:]))))
    return f"the server scored {theirs[:40]!r}, where it was given {ours[:40]!r}" if theirs != ours else ""


def _letters(text: str) -> str:
    return "".join(re.findall(r"[A-Za-z0-9]", text))
