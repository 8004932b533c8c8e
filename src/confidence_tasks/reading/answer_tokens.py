"""Which tokens of a reply are its answer: aligned by their text, so that nothing else a provider returns counts.

What is no part of the answer, such as reasoning, labels, explanations, stop and end tokens and padding, lies outside of
the answer's characters.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from confidence_tasks.reading.token_probabilities import VOCABULARY_SPACES, is_known, spans
from confidence_tasks.study.stage import Token


@dataclass(frozen=True, slots=True)
class AnswerTokens:
    """What the tokens of an answer add up to.

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
    for compared in (_as_written, _as_in_vocabulary, _ascii_only):
        if found := _overlapping(texts, reply, begin, end, compared):
            return found[0], found[-1] + 1
    return 0, 0


_WINDOW = 8
"""Number of tokens from which on earlier ones are no longer decoded again."""


def token_texts(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """Return the texts of a transformers tokenizer's tokens, which join to the decoded text, in linear time.

    A character that is cut belongs to the last of its tokens.
    """
    texts: list[str] = []
    first = whole = shown = (
        0  # where decoding begins, where the last uncut character ends, characters returned
    )
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


def _as_written(text: str) -> str:
    return text


def _as_in_vocabulary(text: str) -> str:
    return text.translate(VOCABULARY_SPACES)


def _ascii_only(text: str) -> str:
    return "".join(filter(str.isascii, text.translate(VOCABULARY_SPACES)))


def _overlapping(
    texts: Sequence[str], reply: str, begin: int, end: int, compared: Callable[[str], str]
) -> list[int]:
    """Return the places of the tokens of ``reply[begin:end]``, none if the reply is not found."""
    texts = [compared(text) for text in texts]
    whole, before, answer = compared(reply), compared(reply[:begin]), compared(reply[begin:end])
    found = _last_place("".join(texts), whole.strip())
    if found is None or not answer:
        return []
    first = found + len(before) - (len(whole) - len(whole.lstrip()))
    last = first + len(answer)
    # Tokens without a character of their own are bytes of a cut one, which in ASCII is not there at all.
    at_first = not reply[begin].isascii()
    at_last = compared is _ascii_only and not reply[end - 1].isascii()
    return [
        position
        for position, (left, right) in enumerate(spans(texts))
        if _belongs(left, right, first, last, at_first, at_last)
    ]


def _last_place(text: str, part: str) -> int | None:
    """Return where the last occurrence of a part begins: from behind, because ``rfind`` is quadratic at worst."""
    behind = text[::-1].find(part[::-1])
    return None if behind < 0 else len(text) - behind - len(part)


def _belongs(left: int, right: int, first: int, last: int, at_first: bool, at_last: bool) -> bool:
    if left < right:
        return left < last and right > first
    return first < left < last or (left == first and at_first) or (left == last and at_last)
