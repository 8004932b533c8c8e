"""Questions about an answer that was given: how sure the model is, on a scale, in words, or as True or False."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from confidence_tasks.reading.cleaning import truncate_reply
from confidence_tasks.reading.integer_scale import ALL_SCALES, Scale
from confidence_tasks.reading.stated_on_scale import read_stated_confidence
from confidence_tasks.reading.sureness import EXPRESSIONS, read_expression, true_probability
from confidence_tasks.reading.thoughts import without_thoughts
from confidence_tasks.reading.token_probabilities import tokens_from_reply
from confidence_tasks.study.parameter import parse_list
from confidence_tasks.study.stage import ModelReply
from confidence_tasks.study.structured import object_schema, read_object

MOST_CHARACTERS = 4_000
"""Length to which a final answer is cut where a question repeats it."""

JSON_SUFFIX = " JSON"
"""End of the name of a signal whose reply is a JSON object."""

JSON_REQUEST = "Reply with a JSON object with the key confidence"

NONE = "none"
"""Name that asks nothing: the confidence is what the reply itself states."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A question about an answer.

    Attributes
    ----------
    name : str
        Name of the signal.
    request : str
        What the model is asked, without the answer.
    read : callable
        ``read(reply)`` returns the confidence in a reply without thoughts, from 0 to 1; NaN if it states none.
    needs_logprobs : bool
        Whether ``read`` needs the log-probabilities of the reply's tokens.
    structured : callable, optional
        ``structured()`` returns the same question for a reply that is a JSON object; None if there is none.
    schema : mapping, optional
        JSON schema of the reply; empty for a reply in words.
    """

    name: str
    request: str
    read: Callable[[ModelReply], float]
    needs_logprobs: bool = False
    structured: Callable[[], Ask] | None = None
    schema: Mapping[str, Any] = field(default_factory=dict)

    def prompt(self, answer: str) -> str:
        """Return the question; it repeats an answer that is not the last thing that the model said.

        Examples
        --------
        >>> print(parse_asks("p_true")[0].prompt("Lima"))
        Proposed answer: Lima
        <BLANKLINE>
        Is the proposed answer true or false? Reply with True or False and nothing else.
        """
        return f"{self._label}: {answer[:MOST_CHARACTERS]}\n\n{self.request}" if answer else self.request

    def confidence(self, reply: ModelReply) -> float:
        """Return the confidence in a reply, from 0 to 1; NaN if it states none. Its thoughts do not count.

        Examples
        --------
        >>> parse_asks("0-20")[0].confidence(ModelReply("<think>5?</think>18"))
        0.9
        """
        return self.read(without_thoughts(reply))

    @property
    def _label(self) -> str:
        return "Proposed answer" if self.needs_logprobs else "Your final answer"


def _read_scale(scale: Scale) -> Callable[[ModelReply], float]:
    def read(reply: ModelReply) -> float:
        value = read_stated_confidence(truncate_reply(reply.text), scale)
        in_range = not math.isnan(value) and not scale.violates(value)
        return scale.normalise(value) if in_range else math.nan

    return read


def _of_scale(scale: Scale) -> Ask:
    return Ask(
        scale.label,
        "How confident are you that your answer is right?"
        f" Reply with an integer between {scale.lower} and {scale.upper}, where {scale.lower} means no confidence at"
        f" all and {scale.upper} means absolute certainty, and nothing else.",
        _read_scale(scale),
        structured=lambda: _json_of_scale(scale),
    )


def _json_of_scale(scale: Scale) -> Ask:
    def read(value: Any) -> float:
        in_range = scale.lower <= value <= scale.upper  # providers drop bounds from schemas
        return scale.normalise(value) if in_range else math.nan

    return _as_json(
        scale.label,
        f"an integer between {scale.lower} and {scale.upper}, where {scale.lower} means no confidence at all and"
        f" {scale.upper} means absolute certainty",
        {"type": "integer"},
        read,
    )


def _json_of_words() -> Ask:
    choices = list(EXPRESSIONS)
    schema = {"type": "string", "enum": choices}
    return _as_json("words", f"one of {', '.join(choices)}", schema, EXPRESSIONS.__getitem__)


def _as_json(name: str, values: str, schema: Mapping[str, Any], convert: Callable[[Any], float]) -> Ask:
    """Return a question whose reply is a JSON object with the key ``confidence``."""
    properties = {"confidence": schema}

    def read(reply: ModelReply) -> float:
        found = read_object(truncate_reply(reply.text), properties)
        return convert(found["confidence"]) if found else math.nan

    return Ask(
        f"{name}{JSON_SUFFIX}",
        f"How confident are you that your answer is right? {JSON_REQUEST}, which is {values}.",
        read,
        schema=object_schema(properties),
    )


_WORDS = Ask(
    "words",
    "\n".join(
        [
            "How likely is it that your answer is right? Reply with one of these expressions and nothing else:",
            *EXPRESSIONS,
        ]
    ),
    lambda reply: read_expression(reply.text),
    structured=_json_of_words,
)
_P_TRUE = Ask(
    "p_true",
    "Is the proposed answer true or false? Reply with True or False and nothing else.",
    lambda reply: true_probability(tokens_from_reply(reply)),
    needs_logprobs=True,
)
_ASKS = {each.name: each for each in (*map(_of_scale, ALL_SCALES), _WORDS, _P_TRUE)}
"""The 13 scales of the study of scales, expressions of probability, and True or False."""


def parse_asks(named: str | Sequence[str], *, structured: bool = False) -> list[Ask]:
    """Return the questions that a user names, such as ``0-100,p_true``; empty for ``none``.

    Any other scale of integers may be named too, such as ``1-7``. With ``structured``, the replies are JSON objects.

    Raises
    ------
    ValueError
        If a name is unknown, with the nearest one, or has no structured reply.

    Examples
    --------
    >>> [ask.name for ask in parse_asks("0-20, p_true")], parse_asks("none")
    (['0-20', 'p_true'], [])
    """
    names = parse_list(named, "ask")
    if names == [NONE]:
        if structured:
            raise ValueError("structured: ask=none asks nothing, so that no reply can be a JSON object")
        return []
    if not names:
        raise ValueError("ask names no question: write a scale such as 0-100, words, p_true or none")
    asks = [_ASKS.get(name) or _other_scale(name) for name in dict.fromkeys(names)]
    return list(map(_structured, asks)) if structured else asks


def is_ask(name: str) -> bool:
    """Return whether a name is that of a question about an answer.

    Examples
    --------
    >>> [is_ask(name) for name in ("1-7", "p_true", "margin", "none")]
    [True, True, False, False]
    """
    try:
        return bool(parse_asks(name))
    except ValueError:
        return False


def _structured(ask: Ask) -> Ask:
    if ask.structured is None:
        raise ValueError(
            f"structured: {ask.name} reads the probability of a word, which no schema has: leave it out"
        )
    return ask.structured()


def _other_scale(name: str) -> Ask:
    try:
        return _of_scale(Scale.parse(name))
    except ValueError:
        near = get_close_matches(name, _ASKS, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"ask={name!r} is no scale such as 0-100, and neither words, p_true nor none{hint}"
        ) from None
