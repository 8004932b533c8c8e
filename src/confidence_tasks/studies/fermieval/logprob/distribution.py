"""The probability of each integer that the tokens of a reply give, and its text in a trial."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence

from confidence_tasks.reading.token_probabilities import (
    ROUNDING,
    VOCABULARY_SPACES,
    candidates,
    missing_reason,
)
from confidence_tasks.studies.fermieval.replies import LARGEST_EXPONENT
from confidence_tasks.study import Token

_MINUS = str.maketrans("−–﹣－", "----")
_SIGNS = frozenset({"", "+", "-"})
_INTEGER = re.compile(r"[-+]?\d{1,9}", re.ASCII)
FLOAT_ERROR = 1e-9
"""Largest error of a sum of probabilities that is due to floating-point arithmetic."""


def integer_probabilities(tokens: Sequence[Token]) -> dict[int, float]:
    r"""Compute the probability of each integer with which the reply could have begun, from the tokens' alternatives.

    An alternative to the first token that is an integer has its own probability. After a token of the reply that is a
    sign or digits, the alternatives to the next token are used in the same way, multiplied by the probability of the
    tokens before: an alternative that continues the number gives a longer integer, and the number ends with the
    probability that is left, whether other tokens are listed or not. An alternative that the reply did not take is
    assumed to end its integer.

    Tokens that are not part of an integer, signs without digits, and integers beyond `LARGEST_EXPONENT` are dropped. A
    token that is listed twice is used once. The probabilities add up to less than 1 if tokens were dropped or not
    listed.

    Returns
    -------
    dict of int to float
        Probabilities by integer, ascending; empty if a log-probability is impossible.

    Examples
    --------
    >>> halves = {"7": -0.6931, "8": -1.3863, "The": -2.0}
    >>> {v: round(p, 3) for v, p in integer_probabilities([Token("7", -0.6931, halves)]).items()}
    {7: 0.5, 8: 0.25}
    >>> digits = [Token("1", -0.1054, {"1": -0.1054, "9": -2.3026}), Token("3", -0.2231, {"3": -0.2231, "": -1.6094})]
    >>> {v: round(p, 3) for v, p in integer_probabilities(digits).items()}
    {1: 0.18, 9: 0.1, 13: 0.72}
    """
    mass: defaultdict[int, float] = defaultdict(float)
    number, probability = "", 1.0  # of the tokens so far
    for token in tokens:
        if missing_reason([token]):
            return {}
        longer, written = _append(number, token.text), token.text.translate(VOCABULARY_SPACES)
        further = _continuations(number, token)
        for text, (other, share) in further.items():
            if text != written:
                _add_mass(mass, other, probability * share)
        ends = 1.0 - math.fsum(share for _, share in further.values())
        if ends > FLOAT_ERROR:
            _add_mass(mass, number, probability * ends)
        if longer is None:
            break
        number, probability = longer, probability * math.exp(min(token.logprob, 0.0))
    else:
        _add_mass(mass, number, probability)
    return dict(sorted(mass.items()))


def _continuations(number: str, token: Token) -> dict[str, tuple[str, float]]:
    """Return the longer number and the probability of each listed text that continues a number."""
    longer = {text: (_append(number, text), logprob) for text, logprob in candidates(token).items()}
    return {
        text: (other, math.exp(min(logprob, 0.0)))
        for text, (other, logprob) in longer.items()
        if other is not None
    }


def _append(number: str, token: str) -> str | None:
    """Return a number with a token appended; None if the token does not continue it."""
    piece = token.translate(VOCABULARY_SPACES).translate(_MINUS)
    longer = number + (piece.strip() if number in _SIGNS else piece.rstrip())
    if longer not in _SIGNS and not _INTEGER.fullmatch(longer):
        return None
    leading_space = not number and not piece.strip() and piece
    return longer if longer != number or leading_space else None


def _add_mass(mass: defaultdict[int, float], number: str, probability: float) -> None:
    """Add the probability of a number; one without digits or beyond `LARGEST_EXPONENT` is dropped."""
    if number not in _SIGNS and abs(int(number)) <= LARGEST_EXPONENT:
        mass[int(number)] += probability


def distribution_text(probabilities: dict[int, float]) -> str:
    """Return a distribution as a text, the form in which trials store it.

    Examples
    --------
    >>> distribution_text({7: 0.5, 8: 0.25})
    '7:0.5 8:0.25'
    """
    return " ".join(f"{value}:{p:.12g}" for value, p in probabilities.items())


def read_distribution(text: str) -> dict[int, float]:
    """Return the distribution that :func:`distribution_text` wrote.

    Examples
    --------
    >>> read_distribution("7:0.5 8:0.25")
    {7: 0.5, 8: 0.25}
    """
    pairs = (pair.partition(":")[::2] for pair in text.split())
    return {int(value): float(p) for value, p in pairs}


def check_distribution(text: str) -> None:
    """Raise ValueError unless a text is a distribution; the empty text is valid and stands for none.

    Examples
    --------
    >>> check_distribution("7:0.5 8:0.25")
    >>> check_distribution("7:0.5 8:0.75")
    Traceback (most recent call last):
    ValueError: its probabilities are not within [0, 1] or add up to more than 1
    """
    probabilities = read_distribution(text)
    mass = math.fsum(probabilities.values())
    if text and not (min(probabilities.values(), default=-1.0) >= 0.0 and 0.0 < mass <= 1.0 + ROUNDING):
        raise ValueError("its probabilities are not within [0, 1] or add up to more than 1")
    if any(abs(value) > LARGEST_EXPONENT for value in probabilities):
        raise ValueError(f"it has exponents beyond {LARGEST_EXPONENT:g}")
