"""What a model's token probabilities say about the answer that it wrote, beside the confidence that it stated."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

from confidence_tasks.study.question import LETTERS
from confidence_tasks.study.stage import Token

YES_NO: Mapping[str, tuple[str, ...]] = {"yes": ("True", "Yes"), "no": ("False", "No")}
"""The words that stand for the two answers of a yes/no question."""

_ANSWER = re.compile(r"\bAnswer[\"'*]{0,3}\s{0,9}[:=][\s\"'*(\[]{0,9}", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+")
_AROUND = " \t\r\n\"'`*:=,.()[]{}<>"
"""What may stick to an answer within a token."""

VOCABULARY_SPACES = str.maketrans("\u0120\u2581\u010a\u0109", "  \n\t")
"""How vocabularies write spaces and line ends; some providers return tokens as they stand there."""


LEAST = -9_000.0
"""Log-probabilities below say that there is none: OpenAI returns -9999 for tokens that are not among the likeliest."""

ROUNDING = 0.01
"""By so much may a sum of probabilities exceed 1: their logarithms may have two decimals, or come from bfloat16."""


def is_possible(logprob: float) -> bool:
    """Return True for the logarithm of a probability: not above 0 by more than rounding, and not NaN.

    Examples
    --------
    >>> is_possible(-0.5), is_possible(1e-6), is_possible(5.0), is_possible(math.nan)
    (True, True, False, False)
    """
    return logprob <= ROUNDING


def is_known(logprob: float) -> bool:
    """Return True for a log-probability of a token that a model wrote: possible, and not the sign of a missing one."""
    return is_possible(logprob) and logprob > LEAST


def candidates(token: Token) -> dict[str, float]:
    """Return the log-probabilities of the tokens that may stand in one place; one that is listed twice counts once.

    Examples
    --------
    >>> candidates(Token(" 7", -0.5, {"\u01207": -0.5, "8": -1.5}))
    {' 7': -0.5, '8': -1.5}
    """
    merged: dict[str, float] = {}
    for text, logprob in ((token.text, token.logprob), *token.alternatives.items()):
        written = text.translate(VOCABULARY_SPACES)
        merged[written] = max(merged.get(written, logprob), logprob)
    return merged


def why_unknown(tokens: Sequence[Token]) -> str:
    """Say why tokens have no probabilities; empty when they have.

    Examples
    --------
    >>> why_unknown([Token("A", -0.1, {"A": -0.1}), Token("B", 5.0, {})])
    'the token "B" has a log-probability of 5, which is impossible'
    """
    if not tokens:
        return "the provider returned no token probabilities"
    for token in tokens:
        for text, logprob in ((token.text, token.logprob), *token.alternatives.items()):
            if not is_possible(logprob):
                return f'the token "{text[:20]}" has a log-probability of {logprob:g}, which is impossible'
    return ""


def letters(options: int) -> dict[str, tuple[str, ...]]:
    """Return the names of lettered options, for :func:`option_probabilities`.

    Examples
    --------
    >>> letters(2)
    {'A': ('A',), 'B': ('B',)}
    """
    return {letter: (letter,) for letter in LETTERS[:options]}


def option_probabilities(tokens: Sequence[Token], options: Mapping[str, Sequence[str]]) -> dict[str, float]:
    r"""Compute the probability of each option where the reply gives its answer.

    The probabilities of the tokens that stand for an option, in whatever spelling (``A``, `` A``, ``"A"``, ``Tr`` for
    ``True``), are added up and divided by the sum over all options. An option that is not among the alternatives counts
    as 0. ``options`` has the words that stand for each. The result is empty when the reply gives no answer, no option
    is among the alternatives, or a log-probability in the answer's place is impossible.

    References
    ----------
    LifeEval, section 5.2.

    Examples
    --------
    >>> reply = [Token('{"Answer":', -0.1, {}), Token(' "A', -0.7, {' "A': -0.7, ' "C': -1.6, ' "The': -3.0})]
    >>> {option: round(p, 4) for option, p in option_probabilities(reply, letters(3)).items()}
    {'A': 0.7109, 'B': 0.0, 'C': 0.2891}
    """
    place = _answer_token(tokens)
    if place is None:
        return {}
    if why_unknown([place]):
        return {}
    mass = dict.fromkeys(options, 0.0)
    for text, logprob in candidates(place).items():
        option = option_of(text, options)
        if option is not None:
            mass[option] += math.exp(min(logprob, 0.0))
    total = math.fsum(mass.values())
    return {option: p / total for option, p in mass.items()} if total > 0 else {}


def number_probability(tokens: Sequence[Token]) -> float:
    """Compute the probability of the number that the reply gives as its answer: the product over its tokens.

    NaN when the reply gives no number as its answer, or a token of it has no probability.

    Examples
    --------
    >>> reply = [Token('"Answer":', -0.1, {}), Token(' 8', -0.5, {}), Token('4', -0.2, {}), Token(',', -0.3, {})]
    >>> round(number_probability(reply), 6)
    0.496585
    """
    first, last = number_span(_joined(tokens))
    placed = zip(tokens, spans([token.text for token in tokens]), strict=True)
    within = [token.logprob for token, (begin, end) in placed if begin < last and end > first]
    if first == last or not all(map(is_known, within)):
        return math.nan
    return math.exp(min(math.fsum(within), 0.0))


def number_span(reply: str) -> tuple[int, int]:
    """Return where the number that a reply gives as its answer begins, and where it ends; twice 0 without one.

    Examples
    --------
    >>> number_span('{"Answer": "84", "Confidence": 0.7}')
    (12, 14)
    """
    start = _answer_start(reply)
    number = _NUMBER.match(reply, start) if start is not None else None
    return number.span() if number else (0, 0)


def option_span(reply: str) -> tuple[int, int]:
    """Return where the first character of a reply's answer is, and the next; twice 0 without an answer.

    Examples
    --------
    >>> option_span('{"Answer": "B", "A": 0.2}')
    (12, 13)
    """
    start = _answer_start(reply)
    return (0, 0) if start is None or start >= len(reply) else (start, start + 1)


def _joined(tokens: Sequence[Token]) -> str:
    return "".join(token.text for token in tokens).translate(VOCABULARY_SPACES)


def _answer_start(text: str) -> int | None:
    """Return where the value of the last field called Answer begins."""
    matches = list(_ANSWER.finditer(text))
    return matches[-1].end() if matches else None


def _answer_token(tokens: Sequence[Token]) -> Token | None:
    """Return the token that holds the first character of the answer."""
    first, last = option_span(_joined(tokens))
    placed = zip(tokens, spans([token.text for token in tokens]), strict=True)
    return next((token for token, (begin, end) in placed if begin <= first < end and first < last), None)


def spans(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Return where each of the texts begins and ends when they are joined.

    Examples
    --------
    >>> spans(["Pa", "", "ris"])
    [(0, 2), (2, 2), (2, 5)]
    """
    return list(pairwise((0, *accumulate(map(len, texts)))))


def option_of(token: str, options: Mapping[str, Sequence[str]]) -> str | None:
    """Return the one option that a token writes, or begins to write; None when there is none or more than one."""
    written = token.translate(VOCABULARY_SPACES).strip(_AROUND).casefold()
    if not written:
        return None
    claimed = [
        option
        for option, names in options.items()
        if any(name.casefold().startswith(written) for name in names)
    ]
    return claimed[0] if len(claimed) == 1 else None
