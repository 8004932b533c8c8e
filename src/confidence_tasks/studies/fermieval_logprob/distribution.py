"""What a model's token probabilities say about an exponent that it was asked for as a bare integer."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence

from confidence_tasks.reading.token_probabilities import ROUNDING, candidates, why_unknown
from confidence_tasks.studies.fermieval.prompts import LARGEST_EXPONENT
from confidence_tasks.study.stage import Token

_SPACES = str.maketrans("\u0120\u2581\u010a\u0109", "  \n\t")
"""How vocabularies write spaces and line ends."""

_MINUS = str.maketrans("−–﹣－", "----")
_SIGNS = frozenset({"", "+", "-"})
_INTEGER = re.compile(r"[-+]?\d{1,9}", re.ASCII)


def integer_probabilities(tokens: Sequence[Token]) -> dict[int, float]:
    r"""Compute the probability of each integer with which a reply could have begun, as far as alternatives tell.

    The alternatives to the first token that are integers count with their probability. An integer may take several
    tokens: after a sign or digits that the model did write, the alternatives to the next token are followed as well,
    each with the probability of what stands before it; one that does not go on with the number ends it. An integer
    that begins with another token than the one written is taken to end with that token. Tokens that are not part of an
    integer, and a sign that was not followed, are dropped. A token that is listed twice counts once.

    Parameters
    ----------
    tokens : sequence of Token
        The reply.

    Returns
    -------
    dict of int to float
        Probabilities by integer, ascending; what they lack to 1 was lost with dropped and unlisted tokens. Integers
        beyond `LARGEST_EXPONENT` are dropped. None where a log-probability is impossible.

    References
    ----------
    FermiEval, section "Direct model elicitation via log probabilities".

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
    written, before = "", 1.0
    for token in tokens:
        if why_unknown([token]):
            return {}
        goes_on, followed = _extended(written, token.text), token.text.translate(_SPACES)
        for text, logprob in candidates(token).items():
            if text == followed and goes_on is not None:
                continue
            ended = _extended(written, text)
            _add(mass, written if ended is None else ended, before * math.exp(min(logprob, 0.0)))
        if goes_on is None:
            break
        written, before = goes_on, before * math.exp(min(token.logprob, 0.0))
    else:
        _add(mass, written, before)
    return dict(sorted(mass.items()))


def _extended(written: str, token: str) -> str | None:
    """Return the number so far with a token behind it; None when the token does not go on with it."""
    piece = token.translate(_SPACES).translate(_MINUS)
    joined = written + (piece.strip() if written in _SIGNS else piece.rstrip())
    is_number = joined in _SIGNS or _INTEGER.fullmatch(joined)
    return (
        joined if is_number and (joined != written or (not written and not piece.strip() and piece)) else None
    )


def _add(mass: defaultdict[int, float], number: str, probability: float) -> None:
    """Add the mass of a number, if it is one within bounds."""
    if number not in _SIGNS and abs(int(number)) <= LARGEST_EXPONENT:
        mass[int(number)] += probability


def distribution_text(probabilities: dict[int, float]) -> str:
    """Write a distribution as the one text that a trial holds.

    Examples
    --------
    >>> distribution_text({7: 0.5, 8: 0.25})
    '7:0.5 8:0.25'
    """
    return " ".join(f"{value}:{p:.12g}" for value, p in probabilities.items())


def read_distribution(text: str) -> dict[int, float]:
    """Read what :func:`distribution_text` wrote.

    Examples
    --------
    >>> read_distribution("7:0.5 8:0.25")
    {7: 0.5, 8: 0.25}
    """
    pairs = (pair.partition(":")[::2] for pair in text.split())
    return {int(value): float(p) for value, p in pairs}


def check_distribution(text: str) -> None:
    """Raise ValueError for a text that is no distribution; the empty text says that there is none.

    Examples
    --------
    >>> check_distribution("7:0.5 8:0.25")
    >>> check_distribution("7:0.5 8:0.75")
    Traceback (most recent call last):
    ValueError: its probabilities are not within [0, 1] or add up to more than 1
    """
    found = read_distribution(text)
    mass = math.fsum(found.values())
    if text and not (min(found.values(), default=-1.0) >= 0.0 and 0.0 < mass <= 1.0 + ROUNDING):
        raise ValueError("its probabilities are not within [0, 1] or add up to more than 1")
    if any(abs(value) > LARGEST_EXPONENT for value in found):
        raise ValueError(f"it has exponents beyond {LARGEST_EXPONENT:g}")
