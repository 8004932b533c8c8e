"""Reading which lettered option a text claims.

A table of rules, tried in order: the first that recognises a claim decides. A rule that recognises the claims of two
options leaves the answer open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from confidence_tasks.reading.cleaning import clean_value, fold
from confidence_tasks.study.question import LETTERS

Options = tuple[str, ...]
Claims = tuple[str, ...]
ClaimRules = Mapping[str, Callable[[str, Options], Claims]]
"""Rules in the order in which they are tried, by name.

Each goes from a text and the options to the different canonical answers that the text claims; none when it does not
apply.
"""

_LOOKALIKES = str.maketrans("АВСЕΑΒΕΗΙ", "ABCEABEHI")
_LETTER_ALONE = re.compile(r"\(?([A-Z])[).]?")
_LETTER_AND_TEXT = re.compile(r"(?:\(([A-Z])\)|([A-Z])[).])\s{0,4}(\S.*)", re.DOTALL)
_LETTER_FIRST = re.compile(
    r"\(?([A-Za-z])(?:[):\],;]|\.(?!\w)|\s{0,4}(?:[-(=]|->)|\s(?=(?:is|because|since|as|due|seems|would|being)\b))\s{0,4}(.*)",
    re.DOTALL,
)
_LETTER_SPACE_TEXT = re.compile(r"([A-Z])\s{1,4}(.+)", re.DOTALL)
_JOINED = r"(?:\s?(?:,\s?(?:and|or)\s|[,/&+;]|\s(?:and|or|and/or)\s)\s?)"
_SEVERAL_LETTERS = re.compile(
    rf"(?:[Bb]oth|[Ee]ither)?\s?(\(?[A-Z]\)?(?:{_JOINED}\(?[A-Z]\)?){{1,8}})(?:\W{{0,4}}|\s(?:are|both|could|may|might)\b.*|[,;.(].*)",
    re.DOTALL,
)
_MARKED_LETTER = re.compile(
    r"\b(?:[Oo]ption|[Cc]hoice|[Ll]etter|[Aa]nswer(?:\sis)?)\s{1,4}[\"'(\[]?([A-Za-z])(?![\w'])|\(([A-Za-z])\)|\b([A-Z])\)"
)
_BARE_LETTER = re.compile(
    r"(?<![\w'./-])([B-HJ-Z]|[AI](?=\W*$|,?\s(?:or|and)\b|,\s[A-Z]\b))(?!\*?[\w'/-])(?!\.\w)"
)
_FUNCTION_WORDS = frozenset(
    ("a", "an", "the", "is", "are", "was", "were", "be", "will", "would", "it", "its", "it's", "that", "this")
)
# fmt: off
_NEGATIONS = frozenset(
    ("not", "no", "never", "neither", "nor", "cannot", "can't", "isn't", "wasn't", "aren't", "doesn't", "don't")
)
# fmt: on
_DENIALS = _NEGATIONS - {"no"}  # "no, it is London" denies nothing of London
_NEGATED = re.compile(r"(?:\bnot|n't|\bneither|\bnor|\bcannot\sbe)\s(?:option\s)?\W?\Z", re.IGNORECASE)
_TOKEN = re.compile(r"[-+]?\d[\d.,]*\d%?|[-+]?\d%?|[^\W_]+(?:['.-][^\W_]+)*|[^\w\s.,;:!?'\"()\[\]{}]")

_REJECTED = re.compile(
    r"\)?\s(?:is|was|seems|must\sbe)(?:n't\b|\s(?:not|wrong|incorrect|false|unlikely|impossible|excluded|eliminated|ruled\sout)\b)"
    r"|\)?\s(?:cannot|can't)\sbe\b"
)
"""Words after a letter that reject its option."""
_LETTERED = re.compile(r"\(?A[).:]")
"""A letter that is no article."""


def _tokens(text: str) -> tuple[str, ...]:
    """Split a text into lower-case words, numbers and operators."""
    return tuple(
        token.replace(",", "") if token[-1].isdigit() else token for token in _TOKEN.findall(text.casefold())
    )


def _content(tokens: Sequence[str]) -> tuple[str, ...]:
    """Drop function words, unless there is nothing else."""
    return tuple(token for token in tokens if token not in _FUNCTION_WORDS) or tuple(tokens)


@dataclass(frozen=True, slots=True)
class _Forms:
    """An option in the forms in which a reply may state it."""

    shown: str
    tokens: tuple[str, ...]
    content: tuple[str, ...]


def _shown(text: str) -> str:
    """Return a text as it looks, whatever its spaces and its typography."""
    return " ".join(fold(text).split()).rstrip(".")


def _forms_of(text: str) -> _Forms:
    tokens = _tokens(clean_value(text)[0])
    return _Forms(_shown(text), tokens, _content(tokens))


@lru_cache(maxsize=512)
def _option_forms(options: Options) -> tuple[_Forms, ...]:
    return tuple(_forms_of(option) for option in options[: len(LETTERS)])


def _valid(letters: Iterable[str | None], options: Options) -> Claims:
    """Return the different letters among those given that an option has."""
    upper = (letter.upper() for letter in letters if letter)
    return tuple(dict.fromkeys(letter for letter in upper if letter in LETTERS[: len(options)]))


def _where(options: Options, test: Callable[[_Forms], bool]) -> Claims:
    """Return the letters of the options that pass a test."""
    return tuple(
        letter for letter, forms in zip(LETTERS, _option_forms(options), strict=False) if test(forms)
    )


def _letter(value: str, options: Options) -> Claims:
    """Read a letter alone: `B`, `B)`, `(B)`, `B.`."""
    match = _LETTER_ALONE.fullmatch(value)
    return _valid((match[1],), options) if match else ()


def _shown_text(value: str, options: Options) -> Claims:
    """Read the text of an option as shown."""
    shown = _shown(value)
    return _where(options, lambda option: option.shown == shown)


def _letter_and_shown_text(value: str, options: Options) -> Claims:
    """Read a letter and the text of its option."""
    match = _LETTER_AND_TEXT.fullmatch(value)
    if match is None:
        return ()
    letter, text = _valid((match[1], match[2]), options), _shown_text(match[3], options)
    return letter if letter and letter[0] in text else ()


def _same_text(value: str, options: Options) -> Claims:
    """Read the text of an option but for case, punctuation and function words."""
    forms = _forms_of(value)
    return (
        _where(options, lambda option: option.shown.casefold() == forms.shown.casefold())
        or _where(options, lambda option: option.tokens == forms.tokens)
        or _where(options, lambda option: option.content == forms.content and not _LETTERED.match(value))
    )


def _lower_case_letter(value: str, options: Options) -> Claims:
    """Read a small letter, or a Greek or Cyrillic look-alike."""
    return _letter(value.translate(_LOOKALIKES).upper(), options)


def _several_letters(value: str, options: Options) -> Claims:
    """Read a list of letters, which claims two options."""
    match = _SEVERAL_LETTERS.fullmatch(value)
    letters = re.findall(r"(?<![A-Za-z])[A-Z](?![A-Za-z])", match[1]) if match else []
    claims = _valid(letters, options)
    return claims if len(claims) > 1 else ()


def _opens_with_option(value: str, options: Options) -> Claims:
    """Find an option whose text opens the value and itself begins with a letter, such as ``E. coli``."""
    words = _tokens(value)
    return _where(
        options, lambda option: len(option.tokens) > 1 and words[: len(option.tokens)] == option.tokens
    )


def _letter_first(value: str, options: Options) -> Claims:
    """Read a letter and what follows it; where that is another option's text, both are claimed."""
    match = _LETTER_FIRST.fullmatch(value)
    if match is not None:
        letter = _valid((match[1],), options)
        if not letter or _REJECTED.match(value, match.end(1)):
            return ()
        return _opens_with_option(value, options) or _valid(
            (*letter, *_same_text(match[2], options)[:1]), options
        )
    match = _LETTER_SPACE_TEXT.fullmatch(value)
    if match is None or not (letter := _valid((match[1],), options)):
        return ()
    return letter if letter[0] in _same_text(match[2], options) else ()


def _unless_negated(pattern: re.Pattern[str], value: str) -> list[str]:
    """Return the letters that a pattern finds where no negation stands before them, and no rejection after them."""
    found = (
        match
        for match in pattern.finditer(value)
        if not (_NEGATED.search(value, 0, match.start()) or _REJECTED.match(value, match.end()))
    )
    return [letter for match in found for letter in match.groups() if letter]


def _marked_letter(value: str, options: Options) -> Claims:
    """Read a letter in brackets or after `option`."""
    return _valid(_unless_negated(_MARKED_LETTER, value), options)


def _bare_letter(value: str, options: Options) -> Claims:
    """Read a capital letter in a sentence, not the words A and I."""
    return _valid(_unless_negated(_BARE_LETTER, value), options)


def _occurrences(words: tuple[str, ...], phrase: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return where a phrase stands in a text, unless it is negated there."""
    size = len(phrase)
    return [
        (start, start + size)
        for start in range(len(words) - size + 1)
        if words[start : start + size] == phrase
        and not _NEGATIONS & set(words[max(start - 1, 0) : start])
        and not _DENIALS & set(words[max(start - 2, 0) : start])
    ]


def _text_within(value: str, options: Options) -> Claims:
    """Find options that the value mentions; one that is only part of another mentioned one does not count."""
    words = _tokens(value)
    spans = {
        letter: _occurrences(words, option.tokens)
        for letter, option in zip(LETTERS, _option_forms(options), strict=False)
        if option.tokens
    }
    everything = [(start, end) for found in spans.values() for start, end in found]
    return tuple(
        letter
        for letter, found in spans.items()
        if any(
            not any(s <= start and end <= e and (s, e) != (start, end) for s, e in everything)
            for start, end in found
        )
    )


PLAIN_CHOICES: ClaimRules = {
    "letter": _letter,
    "letter_and_text": _letter_and_shown_text,
    "shown_text": _shown_text,
}
"""The forms of an answer to the letter of the prompt."""

WHOLE_CHOICES: ClaimRules = {"lower_case_letter": _lower_case_letter, "option_text": _same_text}
"""Other forms of nothing but an option."""

LENIENT_CHOICES: ClaimRules = {
    "several_letters": _several_letters,
    "letter_first": _letter_first,
    "marked_letter": _marked_letter,
    "bare_letter": _bare_letter,
    "text_within": _text_within,
}
