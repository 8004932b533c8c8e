"""What a model's token probabilities say about the answer that it wrote, beside the confidence that it stated.

The tokens of the answer are found by their texts. What is no part of it, such as reasoning, labels, explanations,
stop and end tokens and padding, lies outside of the answer's characters.
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from confidence_tasks.study.stage import Token
from confidence_tasks.study.trial import LETTERS

if TYPE_CHECKING:
    from torch import Tensor

YES_NO: Mapping[str, tuple[str, ...]] = {"yes": ("True", "Yes"), "no": ("False", "No")}
"""The words that stand for the two answers of a yes/no question."""

_ANSWER = re.compile(r"\bAnswer[\"'*]{0,3}\s{0,9}[:=][\s\"'*(\[]{0,9}", re.IGNORECASE)
_NUMBER, _CHARACTER = re.compile(r"-?\d+"), re.compile(r".", re.DOTALL)
_AROUND = " \t\r\n\"'`*:=,.()[]{}<>"
"""Characters that may surround an answer within a token."""

VOCABULARY_SPACES = str.maketrans("\u0120\u2581\u010a\u0109", "  \n\t")
"""How vocabularies write spaces and line ends; some providers return tokens as they stand there."""


LEAST = -9_000.0
"""Log-probability below which a token has none: OpenAI returns -9999 for tokens that are not among the likeliest."""

ROUNDING = 0.01
"""Amount by which a sum of probabilities may exceed 1: logarithms may have two decimals, or come from bfloat16."""


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
    for text, logprob in _in_its_place(token):
        written = text.translate(VOCABULARY_SPACES)
        merged[written] = max(merged.get(written, logprob), logprob)
    return merged


def _in_its_place(token: Token) -> list[tuple[str, float]]:
    return [(token.text, token.logprob), *token.alternatives.items()]


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
        for text, logprob in _in_its_place(token):
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
    place = next(iter(_within(tokens, *option_span(_joined(tokens)))), None)
    if place is None or why_unknown([place]):
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
    within = [token.logprob for token in _within(tokens, first, last)]
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
    return _answer_span(reply, _NUMBER)


def option_span(reply: str) -> tuple[int, int]:
    """Return where the first character of a reply's answer is, and the next; twice 0 without an answer.

    Examples
    --------
    >>> option_span('{"Answer": "B", "A": 0.2}')
    (12, 13)
    """
    return _answer_span(reply, _CHARACTER)


def _answer_span(reply: str, what: re.Pattern[str]) -> tuple[int, int]:
    """Return where a pattern matches the beginning of the value of the last field called Answer; else twice 0."""
    labels = list(_ANSWER.finditer(reply))
    match = what.match(reply, labels[-1].end()) if labels else None
    return match.span() if match else (0, 0)


def _joined(tokens: Sequence[Token]) -> str:
    return "".join(token.text for token in tokens).translate(VOCABULARY_SPACES)


def _within(tokens: Sequence[Token], first: int, last: int) -> list[Token]:
    """Return the tokens that overlap a span of their text."""
    placed = zip(tokens, spans([token.text for token in tokens]), strict=True)
    return [token for token, (begin, end) in placed if begin < last and end > first]


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


# Which tokens are the answer's -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AnswerTokens:
    """Sums over the tokens of an answer.

    Attributes
    ----------
    mean_logprob : float
        Their mean log-probability in nats; NaN when the answer is found in no tokens, or one of them has none.
    tokens : int
        Their number.
    """

    mean_logprob: float
    tokens: int


NO_TOKENS = AnswerTokens(math.nan, 0)


def pieces_of_bytes(tokens: Sequence[bytes]) -> list[str]:
    r"""Decode tokens that may cut characters of several bytes: such a character belongs to the last of its tokens.

    Examples
    --------
    >>> pieces_of_bytes([b"caf", b"\xc3", b"\xa9"])
    ['caf', '', 'é']
    """
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    return [decoder.decode(token) for token in tokens]


def answer_tokens(tokens: Sequence[Token], reply: str, begin: int, end: int) -> AnswerTokens:
    """Compute the mean log-probability of the tokens that overlap ``reply[begin:end]``.

    ``tokens`` are all that the provider returned, in order; there may be more before the reply, which is without
    reasoning, and after it. The mean is NaN when their texts do not contain the reply.

    A provider that decodes each token by itself shows the bytes of a cut character as U+FFFD. Then only the ASCII
    characters of both texts are compared, and tokens without any belong to the answer where they lie within it.

    References
    ----------
    Cacioli (2026), arXiv:2603.25112, section 2.1: NLP, over the L tokens of the answer.

    Examples
    --------
    >>> reply = [Token("Answer", -3, {}), Token(":", -3, {}), Token(" Pa", -0.5, {}), Token("ris", -0.1, {}),
    ...          Token(".", -3, {}), Token("<|im_end|>", -3, {})]
    >>> answer_tokens(reply, "Answer: Paris.", 8, 13)
    AnswerTokens(mean_logprob=-0.3, tokens=2)
    """
    first, last = answer_slice([token.text for token in tokens], reply, begin, end)
    logprobs = [token.logprob for token in tokens[first:last]]
    if not logprobs:
        return NO_TOKENS
    known = all(map(is_known, logprobs))
    mean = math.fsum(min(logprob, 0.0) for logprob in logprobs) / len(logprobs) if known else math.nan
    return AnswerTokens(mean, len(logprobs))


def answer_slice(texts: Sequence[str], reply: str, begin: int, end: int) -> tuple[int, int]:
    """Return between which tokens ``reply[begin:end]`` lies: the first that overlaps it, and the one after the last.

    Examples
    --------
    >>> answer_slice(["Answer", ":", " Pa", "ris", "."], "Answer: Paris.", 8, 13)
    (2, 4)
    """
    for compared in _COMPARED:
        if found := _overlapping(texts, reply, begin, end, compared):
            return found[0], found[-1] + 1
    return 0, 0


_WINDOW = 8
"""Number of tokens after which earlier tokens are not decoded again."""


def token_texts(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """Return the texts of a transformers tokenizer's tokens, which join to the decoded text, in linear time.

    A character that is cut belongs to the last of its tokens.
    """
    texts: list[str] = []
    # Where decoding begins, where the last uncut character ends, and the number of characters returned.
    first = whole = shown = 0
    for count in range(1, len(ids) + 1):
        text = _decoded(tokenizer, ids[first:count])
        said = text.rstrip("\N{REPLACEMENT CHARACTER}") if count < len(ids) else text
        texts.append(said[shown:])
        shown = max(shown, len(said))
        if said == text:
            if count - first >= _WINDOW and whole > first:
                # A token decoded alone may lack the space before it, so the window keeps one that is done.
                first, shown = whole, len(_decoded(tokenizer, ids[whole:count]))
            whole = count
    return texts


def _decoded(tokenizer: Any, ids: Sequence[int]) -> str:
    text: str = tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    return text


def _ascii_only(text: str) -> str:
    return "".join(filter(str.isascii, text.translate(VOCABULARY_SPACES)))


_COMPARED: tuple[Callable[[str], str], ...] = (
    str,
    lambda text: text.translate(VOCABULARY_SPACES),
    _ascii_only,
)
"""Ways to look for a reply in the texts of its tokens: as written, as vocabularies write, its ASCII characters."""


def _overlapping(
    texts: Sequence[str], reply: str, begin: int, end: int, compared: Callable[[str], str]
) -> list[int]:
    """Return the places of the tokens of ``reply[begin:end]``, none if the reply is not found."""
    texts = [compared(text) for text in texts]
    whole, before, answer = compared(reply), compared(reply[:begin]), compared(reply[begin:end])
    behind = "".join(texts)[::-1].find(whole.strip()[::-1])  # from behind, as `rfind` is quadratic at worst
    if behind < 0 or not answer:
        return []
    found = sum(map(len, texts)) - behind - len(whole.strip())
    first = found + len(before) - (len(whole) - len(whole.lstrip()))
    last = first + len(answer)
    # Tokens without a character of their own are bytes of a cut one, which in ASCII is not there at all.
    at_first = not reply[begin].isascii()
    at_last = compared is _ascii_only and not reply[end - 1].isascii()

    def belongs(left: int, right: int) -> bool:
        if left < right:
            return left < last and right > first
        return first < left < last or (left == first and at_first) or (left == last and at_last)

    return [position for position, span in enumerate(spans(texts)) if belongs(*span)]


def scored_tokens(logits: Tensor, tokenizer: Any, ids: Sequence[int], alternatives: int = 0) -> list[Token]:
    """Return the tokens of a text with their log-probabilities, and the most probable ones in their places.

    Parameters
    ----------
    logits : Tensor, shape (n, vocabulary)
        What the network says of each token of the text, from those before it.
    tokenizer : PreTrainedTokenizer
        That of the network.
    ids : sequence of int, length n
        The tokens.
    alternatives : int
        Number of the most probable tokens to list for each.
    """
    if not ids:
        return []
    distribution = logits.float().log_softmax(dim=-1)
    likeliest = distribution.topk(alternatives, dim=-1)
    listed = [
        {_decoded(tokenizer, [token]): value for token, value in zip(tokens, values, strict=True)}
        for tokens, values in zip(likeliest.indices.tolist(), likeliest.values.tolist(), strict=True)
    ]
    return [
        Token(text, float(row[token]), others)
        for text, row, token, others in zip(
            token_texts(tokenizer, ids), distribution, ids, listed, strict=True
        )
    ]
