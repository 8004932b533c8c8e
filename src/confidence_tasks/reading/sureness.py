"""Readers of short replies about an answer: an expression of probability, or True or False."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from confidence_tasks.reading.cleaning import truncate_reply
from confidence_tasks.reading.thoughts import strip_thoughts
from confidence_tasks.reading.token_probabilities import first_token_probabilities
from confidence_tasks.study.stage import Token

SPAN = 2_000
"""Maximum number of characters of a short reply that are read."""

EXPRESSIONS: Mapping[str, float] = {
    "Almost certain": 0.95,
    "Highly likely": 0.90,
    "Very good chance": 0.80,
    "We believe": 0.75,
    "Probable": 0.70,
    "Likely": 0.70,
    "Better than even": 0.60,
    "About even": 0.50,
    "Probably not": 0.25,
    "We doubt": 0.20,
    "Unlikely": 0.20,
    "Little chance": 0.10,
    "Chances are slight": 0.10,
    "Improbable": 0.10,
    "Highly unlikely": 0.05,
    "Almost no chance": 0.02,
}
"""Probability of each expression: the medians of a survey (Fagen-Ulmschneider 2019, Perception of probability words).

Tian et al. (2023) use the same survey. ``Probably`` is left out, because it has the median of ``probable``.
"""

_EXPRESSION_VALUES = {name.casefold(): value for name, value in EXPRESSIONS.items()}
_EXPRESSION = re.compile(rf"\b(?:{'|'.join(sorted(_EXPRESSION_VALUES, key=len, reverse=True))})\b")


def read_expression(reply: str) -> float:
    """Read the probability of the expression in a reply; NaN without one, or with several of different probability.

    Examples
    --------
    >>> [read_expression(text) for text in ("Highly unlikely.", "likely", "Likely or unlikely", "Yes")]
    [0.05, 0.7, nan, nan]
    """
    text = strip_thoughts(truncate_reply(reply))[:SPAN].casefold()
    values = {_EXPRESSION_VALUES[match] for match in _EXPRESSION.findall(text)}
    return values.pop() if len(values) == 1 else math.nan


TRUE_FALSE: Mapping[str, Sequence[str]] = {"true": ("True",), "false": ("False",)}


def true_probability(tokens: Iterable[Token]) -> float:
    """Compute the probability of True against False for a reply that begins with one of them.

    The probabilities of all spellings are added. If True or False is not among the alternatives, its probability is
    taken to be 1 minus the sum of the listed ones, which is its upper bound. The result is NaN if the reply begins with
    another word, has no log-probabilities, or no alternatives to its first word are listed: the rest of the probability
    would then be a wide bound.

    References
    ----------
    Kadavath et al. (2022), Language models (mostly) know what they know, arXiv:2207.05221, section 3.

    Examples
    --------
    >>> round(true_probability([Token("True", math.log(0.6), {"True": math.log(0.6), " false": math.log(0.2)})]), 6)
    0.75
    >>> round(true_probability([Token("False", math.log(0.9), {"Maybe": math.log(0.05)})]), 6)
    0.052632
    >>> true_probability([Token("False", math.log(0.9), {})])
    nan
    """
    return first_token_probabilities(tokens, TRUE_FALSE).get("true", math.nan)
