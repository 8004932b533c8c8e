"""Token probabilities of the answer in a reply, as a confidence beside the stated one.

The tokens of the answer are found by their texts. Tokens of reasoning, labels and explanations, end tokens and padding
do not overlap the characters of the answer.
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from confidence_tasks.study.stage import ModelReply, Token
from confidence_tasks.study.trial import LETTERS

if TYPE_CHECKING:
    from torch import Tensor

YES_NO: Mapping[str, tuple[str, ...]] = {"yes": ("True", "Yes"), "no": ("False", "No")}
"""Words for the two answers to a yes/no question."""

_ANSWER = re.compile(r"\bAnswer[\"'*]{0,3}\s{0,9}[:=][\s\"'*(\[]{0,9}", re.IGNORECASE)
_NUMBER, _CHARACTER = re.compile(r"-?\d+"), re.compile(r".", re.DOTALL)
_AROUND = " \t\r\n\"'`*:=,.()[]{}<>"
"""Characters that may surround an answer inside a token."""

VOCABULARY_SPACES = str.maketrans("\u0120\u2581\u010a\u0109", "  \n\t")
"""Characters by which vocabularies represent spaces and line ends. Some providers return tokens in this form."""


MIN_LOGPROB = -9_000.0
"""Log-probabilities up to this value are missing: OpenAI returns -9999 for tokens that are not among the likeliest."""

ROUNDING = 0.01
"""Amount by which a sum of probabilities may exceed 1: logarithms may have two decimals, or come from bfloat16."""


def is_possible(logprob: float) -> bool:
    """Return True for a possible log-probability: not NaN, and not above 0 by more than rounding errors.

    Examples
    --------
    >>> is_possible(-0.5), is_possible(1e-6), is_possible(5.0), is_possible(math.nan)
    (True, True, False, False)
    """
    return logprob <= ROUNDING


def is_known(logprob: float) -> bool:
    """Return whether a log-probability is known: a number of at most 0, and no placeholder for a missing value."""
    return is_possible(logprob) and logprob > MIN_LOGPROB


def candidates(token: Token) -> dict[str, float]:
    """Return the log-probabilities of a token and its alternatives, each text once.

    Examples
    --------
    >>> candidates(Token(" 7", -0.5, {"\u01207": -0.5, "8": -1.5}))
    {' 7': -0.5, '8': -1.5}
    """
    return highest_logprobs(
        (text.translate(VOCABULARY_SPACES), logprob) for text, logprob in _with_alternatives(token)
    )


def _with_alternatives(token: Token) -> list[tuple[str, float]]:
    return [(token.text, token.logprob), *token.alternatives.items()]


def tokens_from_reply(reply: ModelReply) -> list[Token]:
    """Return the tokens from the first one of the reply's text on, without those of reasoning.

    Servers list the tokens of reasoning first, also where the text of the reply has none. Some return the tokens of a
    part of the reply. The result is empty if the reply has no text outside thoughts, or if the tokens are others.

    Examples
    --------
    >>> tokens = (Token("False", -0.1, {}), Token("?", -0.2, {}), Token("</think>", -0.1, {}), Token("True", -0.3, {}))
    >>> [token.text for token in tokens_from_reply(ModelReply("True", tokens))]
    ['True']
    """
    visible = reply.text.strip()
    first, last = answer_slice([token.text for token in reply.tokens], visible, 0, len(visible))
    is_part = bool(visible) and _join(reply.tokens).strip() in visible
    return list(reply.tokens[first:]) if first < last or is_part else []


def token_problem(reply: ModelReply, *, alternatives: bool = False) -> str:
    """Return why the tokens of a reply cannot be used; empty if they can.

    ``alternatives`` says whether the study needs alternatives to a token.
    """
    if not reply.tokens:
        return reply.problem or "the provider returned no log-probabilities"
    if is_unmeasured(reply.tokens):
        return "every token has a log-probability of exactly 0, so none was measured"
    if not reply.text.strip():
        return "the reply is empty or reasoning only"
    tokens = tokens_from_reply(reply)
    if not tokens:
        return "the tokens are not those of the answer"
    if alternatives and not any(len(candidates(token)) > 1 for token in tokens):
        return "the provider returned no alternatives to the tokens"
    return ""


FEWEST_ZEROS = 5
"""Number of tokens from which log-probabilities that are all exactly 0 were not measured.

Those of a few tokens of a very sure model may all be rounded to 0.
"""


ZEROS_OF_A_RUN = 20
"""The same for the tokens of several replies, which may each be short."""


def highest_logprobs(listed: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the log-probabilities of the tokens that a server lists; the highest if it lists a token twice.

    Examples
    --------
    >>> highest_logprobs([("A", -0.5), ("B", -1.5), ("A", -0.7)])
    {'A': -0.5, 'B': -1.5}
    """
    logprobs: dict[str, float] = {}
    for text, logprob in listed:
        logprobs[text] = max(logprobs.get(text, logprob), logprob)
    return logprobs


def is_unmeasured(tokens: Sequence[Token]) -> bool:
    """Return True if a server fills in 0 for the log-probability of every token."""
    return len(tokens) >= FEWEST_ZEROS and not any(token.logprob for token in tokens)


def missing_reason(tokens: Sequence[Token]) -> str:
    """Return the reason why tokens have no probabilities; empty if they have.

    Examples
    --------
    >>> missing_reason([Token("A", -0.1, {"A": -0.1}), Token("B", 5.0, {})])
    'the token "B" has a log-probability of 5, which is impossible'
    """
    if not tokens:
        return "the provider returned no token probabilities"
    for token in tokens:
        for text, logprob in _with_alternatives(token):
            if not is_possible(logprob):
                return f'the token "{text[:20]}" has a log-probability of {logprob:g}, which is impossible'
        total = math.fsum(math.exp(min(logprob, 0.0)) for logprob in candidates(token).values())
        if total > 1.0 + ROUNDING:
            return (
                f'the token "{token.text[:20]}" and its alternatives have a total probability of {total:.3g}, which '
                "is impossible"
            )
    return ""


def letter_options(options: int) -> dict[str, tuple[str, ...]]:
    """Return the ``options`` of :func:`option_probabilities` for a number of lettered options.

    Examples
    --------
    >>> letter_options(2)
    {'A': ('A',), 'B': ('B',)}
    """
    return {letter: (letter,) for letter in LETTERS[:options]}


def option_probabilities(tokens: Sequence[Token], options: Mapping[str, Sequence[str]]) -> dict[str, float]:
    r"""Compute the probability of each option from the first token of the answer.

    The probability of an option is the sum over the tokens that write it or begin to (``A``, `` A``, ``"A"``, ``Tr``
    for ``True``), divided by the sum over all options. An option that is not among the alternatives has probability 0,
    but if all of them write the same option, the others share the probability that is not listed, which is their upper
    bound. ``options`` has the words that express each option. The result is empty if the reply has no answer, its first
    token has no alternatives or none that is an option, or a log-probability is impossible.

    References
    ----------
    LifeEval, section 5.2.

    Examples
    --------
    >>> reply = [Token('{"Answer":', -0.1, {}), Token(' "A', -0.7, {' "A': -0.7, ' "C': -1.6, ' "The': -3.0})]
    >>> {option: round(p, 4) for option, p in option_probabilities(reply, letter_options(3)).items()}
    {'A': 0.7109, 'B': 0.0, 'C': 0.2891}
    """
    first = next(iter(_overlapping_tokens(tokens, *option_span(_join(tokens)))), None)
    if first is None or missing_reason([first]) or is_unmeasured(tokens):
        return {}
    mass = _option_mass(candidates(first), options)
    total = math.fsum(mass.values())
    return {option: p / total for option, p in mass.items()} if total > 0 else {}


def first_token_probabilities(
    tokens: Iterable[Token], options: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """Compute the probability of each option for a reply that begins with one of them, without a label before it.

    The reply begins with its first token that has a letter or a digit. The probability of an option is the sum over the
    tokens that write it or begin to, divided by the sum over all options. Options that are not among the alternatives
    share the probability that is not listed, which is their upper bound. ``options`` has the words that express each
    option, as for :func:`option_probabilities`. The result is empty if the reply begins with another word, has no
    log-probabilities, or no alternatives to its first word are listed.

    Examples
    --------
    >>> tokens = [Token("B", math.log(0.6), {"B": math.log(0.6), " a": math.log(0.2)}), Token(".", -0.1, {})]
    >>> {option: round(p, 6) for option, p in first_token_probabilities(tokens, letter_options(2)).items()}
    {'A': 0.25, 'B': 0.75}
    >>> first_token_probabilities([Token("Perhaps", -0.1, {})], letter_options(2))
    {}
    """
    first = next((token for token in tokens if any(map(str.isalnum, token.text))), None)
    if first is None or not _has_alternatives(first):
        return {}
    mass, unlisted = listed_mass(first, options)
    absent = list(mass.values()).count(0.0)
    if absent == len(mass):
        return {}
    bounds = {option: p or unlisted / absent for option, p in mass.items()}
    total = math.fsum(bounds.values())
    return {option: p / total for option, p in bounds.items()}


def _has_alternatives(token: Token) -> bool:
    """Return whether a token has alternatives, and only possible log-probabilities."""
    return len(candidates(token)) > 1 and is_known(token.logprob) and not missing_reason([token])


def _option_mass(listed: Mapping[str, float], options: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Return the probability of each option from the listed tokens; empty if only one token is listed."""
    if len(listed) < 2:
        return {}
    matches = {text: match_option(text, options) for text in listed}
    mass = dict.fromkeys(options, 0.0)
    for text, option in matches.items():
        if option is not None:
            mass[option] += math.exp(min(listed[text], 0.0))
    return _rest_to_others(mass) if len(set(matches.values())) == 1 else mass


def listed_mass(token: Token, options: Mapping[str, Sequence[str]]) -> tuple[dict[str, float], float]:
    """Return the probability of each option among a token and its alternatives, and the probability not listed.

    Examples
    --------
    >>> mass, unlisted = listed_mass(Token("A", math.log(0.5), {"B": math.log(0.25)}), letter_options(2))
    >>> {option: round(p, 6) for option, p in mass.items()}, round(unlisted, 6)
    ({'A': 0.5, 'B': 0.25}, 0.25)
    """
    listed = {text: math.exp(min(p, 0.0)) for text, p in candidates(token).items() if is_known(p)}
    mass = dict.fromkeys(options, 0.0)
    for text, probability in listed.items():
        if (option := match_option(text, options)) is not None:
            mass[option] += probability
    return mass, max(1.0 - sum(listed.values()), 0.0)


def _rest_to_others(mass: Mapping[str, float]) -> dict[str, float]:
    """Share the probability that is not listed among the options without any, if another option has some."""
    others = [option for option, p in mass.items() if not p]
    rest = max(1.0 - math.fsum(mass.values()), 0.0) if len(others) < len(mass) else 0.0
    return {option: p or rest / len(others) for option, p in mass.items()}


def number_probability(tokens: Sequence[Token]) -> float:
    """Compute the probability of the number in the answer of a reply: the product over its tokens.

    NaN if the answer is not a number, or one of its tokens has no probability.

    Examples
    --------
    >>> reply = [Token('"Answer":', -0.1, {}), Token(' 8', -0.5, {}), Token('4', -0.2, {}), Token(',', -0.3, {})]
    >>> round(number_probability(reply), 6)
    0.496585
    """
    first, last = number_span(_join(tokens))
    logprobs = [token.logprob for token in _overlapping_tokens(tokens, first, last)]
    if first == last or not all(map(is_known, logprobs)) or is_unmeasured(tokens):
        return math.nan
    return math.exp(min(math.fsum(logprobs), 0.0))


def first_word_span(reply: str) -> tuple[int, int]:
    """Return the start and the end of the first word of a reply; (0, 0) if there is none.

    Examples
    --------
    >>> first_word_span(" **True**, because"), first_word_span("...")
    ((3, 7), (0, 0))
    """
    word = _WORD.search(reply)
    return word.span() if word else (0, 0)


_WORD = re.compile(r"[^\W_]+")


def number_span(reply: str) -> tuple[int, int]:
    """Return the start and the end of the number in the answer of a reply; (0, 0) if there is none.

    Examples
    --------
    >>> number_span('{"Answer": "84", "Confidence": 0.7}')
    (12, 14)
    """
    return _answer_span(reply, _NUMBER)


def option_span(reply: str) -> tuple[int, int]:
    """Return the start and the end of the first character of the answer of a reply; (0, 0) if there is none.

    Examples
    --------
    >>> option_span('{"Answer": "B", "A": 0.2}')
    (12, 13)
    """
    return _answer_span(reply, _CHARACTER)


def _answer_span(reply: str, pattern: re.Pattern[str]) -> tuple[int, int]:
    """Return the span that a pattern matches at the start of the value of the last field ``Answer``, or (0, 0)."""
    labels = list(_ANSWER.finditer(reply))
    match = pattern.match(reply, labels[-1].end()) if labels else None
    return match.span() if match else (0, 0)


def _join(tokens: Sequence[Token]) -> str:
    return "".join(token.text for token in tokens).translate(VOCABULARY_SPACES)


def _overlapping_tokens(tokens: Sequence[Token], first: int, last: int) -> list[Token]:
    """Return the tokens that overlap a span of their joined text."""
    placed = zip(tokens, spans([token.text for token in tokens]), strict=True)
    return [token for token, (begin, end) in placed if begin < last and end > first]


def spans(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Return the start and the end of each text in the joined text.

    Examples
    --------
    >>> spans(["Pa", "", "ris"])
    [(0, 2), (2, 2), (2, 5)]
    """
    return list(pairwise((0, *accumulate(map(len, texts)))))


def match_option(token: str, options: Mapping[str, Sequence[str]]) -> str | None:
    """Return the only option that a token writes or begins to write; None if there is no such option, or several."""
    beginning = token.translate(VOCABULARY_SPACES).strip(_AROUND).casefold()
    if not beginning:
        return None
    matches = [
        option
        for option, names in options.items()
        if any(name.casefold().startswith(beginning) for name in names)
    ]
    return matches[0] if len(matches) == 1 else None


# Tokens of the answer ---------------------------------------------------------------------------------------------


class AnswerTokens(NamedTuple):
    """Mean log-probability of the tokens of an answer in nats, NaN if it is unknown, and their number."""

    mean_logprob: float
    tokens: int


def decode_tokens(tokens: Sequence[bytes]) -> list[str]:
    r"""Decode tokens that may split a character of several bytes. The character belongs to the last of its tokens.

    Examples
    --------
    >>> decode_tokens([b"caf", b"\xc3", b"\xa9"])
    ['caf', '', 'é']
    """
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    return [decoder.decode(token) for token in tokens]


def listed_texts(texts: Sequence[str], encoded: Sequence[Sequence[int] | None]) -> list[str]:
    r"""Return the texts of tokens that a server lists, which join to the reply even where tokens split a character.

    ``encoded`` has the bytes of each token, None where the server lists none.

    Examples
    --------
    >>> listed_texts(["caf", "\\xc3", "\\xa9"], [None, [0xC3], [0xA9]])
    ['caf', '', 'é']
    """
    if all(text.isascii() and "\\x" not in text for text in texts):
        return list(texts)
    try:
        return decode_tokens(
            [
                text.encode() if codes is None else bytes(codes)
                for text, codes in zip(texts, encoded, strict=True)
            ]
        )
    except (ValueError, TypeError):  # Inspect's hf provider lists code points of vocabulary entries.
        return list(texts)


def answer_tokens(tokens: Sequence[Token], reply: str, begin: int, end: int) -> AnswerTokens:
    """Compute the mean log-probability of the tokens that overlap ``reply[begin:end]``.

    ``tokens`` are all tokens that the provider returned, in order. There may be further ones before the reply, such as
    those of reasoning, and special ones after it. The mean is NaN if the joined tokens do not end with the reply, or if
    one token holds the end of the reasoning and the beginning of the span.

    A provider that decodes tokens one by one returns U+FFFD for the bytes of a split character. In this case only the
    ASCII characters are compared, and a token without any is part of the answer if the tokens around it are.

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
    known = bool(logprobs) and all(map(is_known, logprobs)) and not is_unmeasured(tokens)
    known = known and not (reply[:begin].strip() == "" and _begins_before(tokens[first].text, reply[begin:]))
    mean = math.fsum(min(logprob, 0.0) for logprob in logprobs) / len(logprobs) if known else math.nan
    return AnswerTokens(mean, len(logprobs))


def answer_slice(texts: Sequence[str], reply: str, begin: int, end: int) -> tuple[int, int]:
    """Return the slice of tokens that overlap ``reply[begin:end]``: first index, and last index plus one.

    Examples
    --------
    >>> answer_slice(["Answer", ":", " Pa", "ris", "."], "Answer: Paris.", 8, 13)
    (2, 4)
    """
    for normalise in _NORMALISATIONS:
        if positions := _overlapping(texts, reply, begin, end, normalise):
            return positions[0], positions[-1] + 1
    return 0, 0


_LONGEST_TOKEN = 128
"""Maximum number of characters of a token that are compared."""


def _begins_before(token: str, text: str) -> bool:
    """Return whether a token ends with the beginning of a text, and has words before it.

    Examples
    --------
    >>> _begins_before("final65", "65"), _begins_before(" 65", "65"), _begins_before("655", "6551")
    (True, False, False)
    """
    plain = token[-_LONGEST_TOKEN:].translate(VOCABULARY_SPACES)
    if text.startswith(plain.strip()):
        return False
    ends = (plain[k:] for k in range(1, len(plain)) if any(map(str.isalnum, plain[:k])))
    return any(end.strip() and text.startswith(end) for end in ends)


_WINDOW = 8
"""Number of tokens after which earlier ones are no longer decoded together with new ones."""


def token_texts(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """Return the text of each token of a transformers tokenizer, in linear time. Joined, they are the decoded text.

    A character that is split belongs to the last of its tokens.
    """
    texts: list[str] = []
    # The token where decoding begins, the one after the last complete character, and the number of characters returned.
    first = whole = shown = 0
    for count in range(1, len(ids) + 1):
        text = _decode(tokenizer, ids[first:count])
        complete = text.rstrip("\N{REPLACEMENT CHARACTER}") if count < len(ids) else text
        texts.append(complete[shown:])
        shown = max(shown, len(complete))
        if complete == text:
            if count - first >= _WINDOW and whole > first:
                # A token decoded alone may lack the space before it, so the window keeps one finished token.
                first, shown = whole, len(_decode(tokenizer, ids[whole:count]))
            whole = count
    return texts


def _decode(tokenizer: Any, ids: Sequence[int]) -> str:
    text: str = tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    return text


def _ascii_only(text: str) -> str:
    return "".join(filter(str.isascii, text.translate(VOCABULARY_SPACES)))


_NORMALISATIONS: tuple[Callable[[str], str], ...] = (
    str,
    lambda text: text.translate(VOCABULARY_SPACES),
    _ascii_only,
)
"""Functions applied to a reply and its tokens before they are compared, tried in this order."""


_SPECIAL = re.compile(r"</s>|<[^<>/][^<>]{0,40}>|\[[^\[\]/][^\[\]]{0,40}\]")
"""A special token, such as ``<|im_end|>``, but not one that closes a thought."""


def _ends(text: str) -> bool:
    """Return whether a text after a reply is nothing but special tokens; otherwise the reply was found in reasoning."""
    return not any(map(str.isalnum, _SPECIAL.sub("", text)))


def _overlapping(
    texts: Sequence[str], reply: str, begin: int, end: int, normalise: Callable[[str], str]
) -> list[int]:
    """Return the positions of the tokens that overlap ``reply[begin:end]``; none if the reply is not found."""
    texts = [normalise(text) for text in texts]
    whole, before, answer = normalise(reply), normalise(reply[:begin]), normalise(reply[begin:end])
    # The last occurrence, searched in reversed texts, because `rfind` takes quadratic time in the worst case.
    joined = "".join(texts)
    n_after = joined[::-1].find(whole.strip()[::-1])
    if n_after < 0 or not answer or not _ends(joined[len(joined) - n_after :]):
        return []
    start = len(joined) - n_after - len(whole.strip())
    first = start + len(before) - (len(whole) - len(whole.lstrip()))
    last = first + len(answer)
    # Tokens without characters are bytes of a split character, which ASCII texts do not contain.
    at_first = not reply[begin].isascii()
    at_last = normalise is _ascii_only and not reply[end - 1].isascii()

    def belongs(left: int, right: int) -> bool:
        if left < right:
            return left < last and right > first
        return first < left < last or (left == first and at_first) or (left == last and at_last)

    return [position for position, span in enumerate(spans(texts)) if belongs(*span)]


def scored_tokens(logits: Tensor, tokenizer: Any, ids: Sequence[int], alternatives: int = 0) -> list[Token]:
    """Return the tokens of a text with their log-probabilities and the most probable alternatives.

    Parameters
    ----------
    logits : Tensor, shape (n, vocabulary)
        Logits of the network at the position of each token.
    tokenizer : PreTrainedTokenizer
        Tokenizer of the network.
    ids : sequence of int, length n
        The tokens.
    alternatives : int
        Number of alternatives per token.
    """
    if not ids:
        return []
    distribution = logits.float().log_softmax(dim=-1)
    likeliest = distribution.topk(alternatives, dim=-1)
    listed = [
        {_decode(tokenizer, [token]): value for token, value in zip(tokens, values, strict=True)}
        for tokens, values in zip(likeliest.indices.tolist(), likeliest.values.tolist(), strict=True)
    ]
    return [
        Token(text, float(row[token]), others)
        for text, row, token, others in zip(
            token_texts(tokenizer, ids), distribution, ids, listed, strict=True
        )
    ]
