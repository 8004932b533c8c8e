"""Reading of an answer from a text: a lettered option, a number, yes or no, or a short text.

A reader returns what the text claims, and never judges whether the claim is right. Each kind of answer has tables of
plain and of lenient rules. The rules are tried in order, and the first one that recognises a claim decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from confidence_tasks.reading.abstention import is_refusal
from confidence_tasks.reading.cleaning import (
    LITERAL_CLEANING,
    VALUE_CLEANING,
    Rules,
    apply_rules,
    clean_value,
    fold,
    is_placeholder,
    last_box,
    strip_wrapping,
    unwrap,
    without_percentage,
)
from confidence_tasks.reading.grading import grade
from confidence_tasks.reading.numbers import canonical, read_number
from confidence_tasks.study.trial import LETTERS, Kind, Question

SPAN = 1_000
"""Maximum number of characters that are read of a value."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that was read.

    Attributes
    ----------
    text : str
        Canonical form: a letter, a decimal number, ``yes`` or ``no``, or the text; empty if there is no answer.
    rules : tuple of str
        Names of the lenient rules that were needed, or of the reason why there is no answer; empty for a plain answer.
    """

    text: str
    rules: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """Whether there is an answer."""
        return self.text != ""


# Words before an answer ---------------------------------------------------------------------------------------

ANNOUNCEMENT = (
    r"(?:(?:so|thus|hence|therefore|ok|okay|well|but),?\s)?"
    r"(?:(?:i|we)(?:'d|'ll|\swould|\swill)?\s(?:believe|think|say|guess|choose(?!\s(?:not\s)?to\b)|pick|select|answer|"
    r"go\swith|opt\sfor)(?:\sthat)?"
    r"(?:\sit(?:'s|\sis))?|(?:(?:the|my)\s)?(?:(?:final|correct|right|best|most\slikely)\s)?"
    r"(?:answer|option|choice|result)(?:\sto\s(?:the|this|your)\squestion)?\s(?:is|was|would\sbe|should\sbe|must\sbe))"
)
_LEAD_IN = re.compile(
    rf"\W{{0,4}}(?:{ANNOUNCEMENT}(?:\s{ANNOUNCEMENT})?|(?:it|that|this)(?:'s|\sis|\swould\sbe))\s?:?\s",
    re.IGNORECASE,
)
_LEAD_IN_TO_TEXT = re.compile(rf"\W{{0,4}}{ANNOUNCEMENT}(?:\s{ANNOUNCEMENT})?\s?:?\s", re.IGNORECASE)
"""Without ``It is``, with which a text may begin, such as the title of a book, but no other kind of answer."""

_OPENS = r"[ \t]{0,4}(?:(?:oh|hmm|no|but|sorry)\b,?\s)?(?:wait|actually|correction|scratch that|on second thoughts?)\b"
_TAKES_BACK = re.compile(rf"(?:\A|[.!?,;:)-]\s{{1,4}}){_OPENS}", re.IGNORECASE)
_LINE_TAKES_BACK = re.compile(rf"^{_OPENS}", re.IGNORECASE | re.MULTILINE)


def takes_back(text: str) -> bool:
    r"""Return True if a line of the text after an answer begins with words that may withdraw the answer.

    Examples
    --------
    >>> takes_back("Confidence: 9\nNo wait, it's B."), takes_back("I did not have to wait.")
    (True, False)
    """
    return _LINE_TAKES_BACK.search(text) is not None


# Lettered options ---------------------------------------------------------------------------------------------

Options = tuple[str, ...]
Claims = tuple[str, ...]
ClaimRules = Mapping[str, Callable[[str, Options], Claims]]
"""Rules by name, in the order in which they are tried.

A rule takes a text and the options, and returns the different canonical answers that the text claims. It returns none
if it does not apply.
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
# A letter in brackets or after `option`, and a capital letter in a sentence other than the words A and I.
_MARKED_LETTER = re.compile(
    r"\b(?:[Oo]ption|[Cc]hoice|[Ll]etter|[Aa]nswer(?:\sis)?)\s{1,4}[\"'(\[]?([A-Za-z])(?![\w'])|\(([A-Za-z])\)|\b([A-Z])\)"
    r"|(?<![不非])(?:答案[是为為]?|[选選][择擇项項]?)[：:\s]{0,2}[\"'(\[（]?([A-Z])(?![A-Za-z0-9_'])"
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
_DENIALS = _NEGATIONS - {"no"}  # "no, it is London" does not deny London
_NEGATED = re.compile(
    r"(?:\bnot|n't|\bneither|\bnor|\bcannot\sbe)\s(?:options?\s)?"
    r"(?:\W?(?-i:[A-Z])\W?(?:,?\s(?:or|and|nor)\s|,\s?)(?:option\s)?){0,8}\W?\Z",
    re.IGNORECASE,
)
"""Words before a letter, and before further letters that are joined to it, that deny its option."""
_TOKEN = re.compile(r"[-+]?\d[\d.,]*\d%?|[-+]?\d%?|[^\W_]+(?:['.-][^\W_]+)*|[^\w\s.,;:!?'\"()\[\]{}]")

_REJECTED = re.compile(
    r"\)?\s(?:is|was|seems|must\sbe)(?:n't\b|\s(?:not|wrong|incorrect|false|unlikely|impossible|excluded|eliminated|ruled\sout)\b)"
    r"|\)?\s(?:cannot|can't)\sbe\b"
    r"|\)?\s(?:can|could|should|must)\sbe\s(?:excluded|eliminated|ruled\sout|rejected|discarded|dismissed)\b"
)
"""Words after a letter that reject its option."""
_LETTERED = re.compile(r"\(?A[).:]")
"""A letter A that is not an article."""


def _tokens(text: str) -> tuple[str, ...]:
    """Split a text into lower-case words, numbers and operators."""
    return tuple(
        token.replace(",", "") if token[-1].isdigit() else token for token in _TOKEN.findall(text.casefold())
    )


def _content(tokens: Sequence[str]) -> tuple[str, ...]:
    """Drop function words, unless there is nothing else."""
    return tuple(token for token in tokens if token not in _FUNCTION_WORDS) or tuple(tokens)


@dataclass(frozen=True, slots=True)
class _OptionForms:
    """The forms of an option in which a reply may state it: as shown, as tokens, and without function words."""

    shown: str
    tokens: tuple[str, ...]
    content: tuple[str, ...]


def _normalise_spaces(text: str) -> str:
    """Return a text with plain typography, single spaces and no full stop at the end."""
    return " ".join(fold(text).split()).rstrip(".")


def _option_form_of(text: str) -> _OptionForms:
    tokens = _tokens(clean_value(text)[0])
    return _OptionForms(_normalise_spaces(text), tokens, _content(tokens))


@lru_cache(maxsize=512)
def _option_forms(options: Options) -> tuple[_OptionForms, ...]:
    return tuple(_option_form_of(option) for option in options[: len(LETTERS)])


def _valid(letters: Iterable[str | None], options: Options) -> Claims:
    """Return those of the letters that belong to an option, in upper case and without repetitions."""
    upper = (letter.upper() for letter in letters if letter)
    return tuple(dict.fromkeys(letter for letter in upper if letter in LETTERS[: len(options)]))


def _letters_where(options: Options, test: Callable[[_OptionForms], bool]) -> Claims:
    """Return the letters of the options for which ``test`` is true."""
    return tuple(
        letter for letter, forms in zip(LETTERS, _option_forms(options), strict=False) if test(forms)
    )


def _letter(value: str, options: Options) -> Claims:
    """Read a single letter: `B`, `B)`, `(B)`, `B.`."""
    match = _LETTER_ALONE.fullmatch(value)
    return _valid((match[1],), options) if match else ()


def _shown_text(value: str, options: Options) -> Claims:
    """Read the text of an option exactly as shown."""
    shown = _normalise_spaces(value)
    return _letters_where(options, lambda option: option.shown == shown)


def _letter_and_shown_text(value: str, options: Options) -> Claims:
    match = _LETTER_AND_TEXT.fullmatch(value)
    if match is None:
        return ()
    letter, text = _valid((match[1], match[2]), options), _shown_text(match[3], options)
    return letter if letter and letter[0] in text else ()


def _same_text(value: str, options: Options) -> Claims:
    """Read the text of an option, regardless of case, punctuation and function words."""
    forms = _option_form_of(value)
    return (
        _letters_where(options, lambda option: option.shown.casefold() == forms.shown.casefold())
        or _letters_where(options, lambda option: option.tokens == forms.tokens)
        or _letters_where(
            options, lambda option: option.content == forms.content and not _LETTERED.match(value)
        )
    )


def _several_letters(value: str, options: Options) -> Claims:
    """Read a list of letters, which claims several options."""
    match = _SEVERAL_LETTERS.fullmatch(value)
    letters = re.findall(r"(?<![A-Za-z])[A-Z](?![A-Za-z])", match[1]) if match else []
    claims = _valid(letters, options)
    return claims if len(claims) > 1 else ()


def _opens_with_option(value: str, options: Options) -> Claims:
    """Read the text of an option at the beginning of the value, such as ``E. coli``, which begins with a letter."""
    words = _tokens(value)
    return _letters_where(
        options, lambda option: len(option.tokens) > 1 and words[: len(option.tokens)] == option.tokens
    )


OPTION_MARK = re.compile(
    r"(?:\A|[.;\n]\s{0,4})(?:[Oo]ption\s)?\(?([A-Z])"
    r"(?:\)?\s?:|\)|\s[-=|]|\.(?=\s)|\s\([^()\n]{1,80}\)\s?[:=-])(?=\s)"
)


def option_list(value: str, options: Options) -> Claims:
    """Read the letters of an analysis of the options one by one, such as ``A: no. B: yes``; none of them is claimed."""
    letters = _valid(OPTION_MARK.findall(value), options)
    return letters if len(letters) > 1 else _valid([match[1] for match in _in_order(value)], options)


def without_option_list(lines: Sequence[str], options: Options) -> list[str]:
    """Return the lines of a reply without those that analyse the options one by one.

    Examples
    --------
    >>> without_option_list(["A is in France", "B is in England", "C is in Italy", "So C"], ("Paris", "London", "Rome"))
    ['So C']
    """
    text = "\n".join(lines)
    if not option_list(text, options):
        return list(lines)
    listed = {text.count("\n", 0, match.start(1)) for match in _in_order(text)}
    return [line for i, line in enumerate(lines) if i not in listed and not OPTION_MARK.match(line)]


_SENTENCE_OF_OPTION = re.compile(
    r"(?:\A|[.;\n])[^\w\n]{0,6}(?:[Oo]ption\s?|[Cc]hoice\s?|选项|選項)?[^\w\n]{0,3}([A-Z])(?![A-Za-z0-9_'’])(?=[^\n]{0,9}\w)"
)
"""The letter at the beginning of a sentence, with words after it."""

_FEWEST_IN_ORDER = 3


def _in_order(value: str) -> list[re.Match[str]]:
    """Return the sentences that begin with A, B, C and so on, in this order, if there are three or more of them."""
    found: list[re.Match[str]] = []
    for match in _SENTENCE_OF_OPTION.finditer(value):
        if match[1] == LETTERS[len(found) : len(found) + 1]:
            found.append(match)
    return found if len(found) >= _FEWEST_IN_ORDER else []


def _letter_first(value: str, options: Options) -> Claims:
    """Read a letter at the beginning; if the text of another option follows, both options are claimed."""
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


def _is_negated(value: str, start: int) -> bool:
    """Return True if the words before a letter deny its option."""
    return bool(_NEGATED.search(value, max(start - _LONGEST_DENIAL, 0), start))


_LONGEST_DENIAL = 100


def rejects_option(value: str, options: Options) -> bool:
    """Return True if a text denies an option by its letter, such as ``Not A, as Paris is French``.

    Examples
    --------
    >>> options = ("Paris", "London")
    >>> rejects_option("Option A can be excluded: Paris is French.", options), rejects_option("B", options)
    (True, False)
    """
    return any(
        _is_negated(value, match.start()) or _REJECTED.match(value, match.end())
        for pattern in (_MARKED_LETTER, _BARE_LETTER, _LETTER_AT_START)
        for match in pattern.finditer(value)
        if _valid(match.groups(), options)
    )


_LETTER_AT_START = re.compile(r"\A\W{0,4}(?:(?i:not)\s)?([A-Z])(?![\w'])")


def _unless_negated(pattern: re.Pattern[str]) -> Callable[[str, Options], Claims]:
    """Make a rule that reads the letters which a pattern matches, without those negated before or rejected after."""

    def rule(value: str, options: Options) -> Claims:
        matches = (
            match
            for match in pattern.finditer(value)
            if not (_is_negated(value, match.start()) or _REJECTED.match(value, match.end()))
        )
        return _valid((letter for match in matches for letter in match.groups()), options)

    return rule


def _occurrences(words: tuple[str, ...], phrase: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return the start and the end of each occurrence of a phrase that is not negated."""
    size = len(phrase)
    return [
        (start, start + size)
        for start in range(len(words) - size + 1)
        if words[start : start + size] == phrase
        and not _NEGATIONS & set(words[max(start - 1, 0) : start])
        and not _DENIALS & set(words[max(start - 2, 0) : start])
    ]


def _text_within(value: str, options: Options) -> Claims:
    """Read the options that the value mentions, without mentions that are part of a longer one."""
    words = _tokens(value)
    spans = [
        (letter, span)
        for letter, option in zip(LETTERS, _option_forms(options), strict=False)
        for span in (_occurrences(words, option.tokens) if option.tokens else ())
    ]
    return tuple(
        dict.fromkeys(
            letter
            for letter, (start, end) in spans
            if not any(s <= start and end <= e and (s, e) != (start, end) for _, (s, e) in spans)
        )
    )


PLAIN_CHOICES: ClaimRules = {
    "letter": _letter,
    "letter_and_text": _letter_and_shown_text,
    "shown_text": _shown_text,
}
"""Forms of an answer that the prompt asks for."""

WHOLE_CHOICES: ClaimRules = {
    "lower_case_letter": lambda value, options: _letter(value.translate(_LOOKALIKES).upper(), options),
    "option_text": _same_text,
}
"""Other forms that contain an option and nothing else. A letter may be lower-case, or look alike in another script."""

LENIENT_CHOICES: ClaimRules = {
    "several_letters": _several_letters,
    "option_list": option_list,
    "letter_first": _letter_first,
    "marked_letter": _unless_negated(_MARKED_LETTER),
    "bare_letter": _unless_negated(_BARE_LETTER),
    "text_within": _text_within,
}

# Yes and no -----------------------------------------------------------------------------------------------------

_POLARITY = dict.fromkeys(("yes", "true", "correct", "y", "t"), "yes") | dict.fromkeys(
    ("no", "false", "incorrect", "untrue", "n", "f"), "no"
)
_OPPOSITE = {"yes": "no", "no": "yes"}
_NO_NOUN = (
    r"(?!(?<=\bno)\s(?!(?:it|he|she|they|i|you|we|this|that|there|the|not|because|since|as|but|and|or)\b)\w)"
)
_LEADING_WORD = re.compile(
    rf"\W{{0,4}}(yes|no|true|false|correct|incorrect|y|n|t|f)\b(?!\s?(?:and|or|/)\s?\w){_NO_NOUN}",
    re.IGNORECASE,
)
_BUT = re.compile(
    rf"\bbut\s(?:generally\s|technically\s|mostly\s)?(yes|no|true|false)\b{_NO_NOUN}", re.IGNORECASE
)
_POLAR_SENTENCE = re.compile(
    r"(?:(?:the|this|that)\s\w{1,20}\s|it\s|this\s|that\s)?(?:is|was)?(n't\s|\s?not\s)?\s?(true|false|correct|incorrect)\W{0,4}",
    re.IGNORECASE,
)


def _plain_word(value: str, options: Options) -> Claims:
    """Read a single `Yes`, `No`, `True` or `False`."""
    word = value.removesuffix(".")
    return (_POLARITY[word.lower()],) if word in {"Yes", "No", "True", "False"} else ()


def _leading_word(value: str, options: Options) -> Claims:
    """Read a text that begins with yes, no, true or false."""
    match = _LEADING_WORD.match(value)
    words = (match[1], *_BUT.findall(value)) if match else ()
    return tuple(dict.fromkeys(_POLARITY[word.lower()] for word in words))


def _polar_sentence(value: str, options: Options) -> Claims:
    """Read a sentence such as `it is not true`."""
    match = _POLAR_SENTENCE.fullmatch(value)
    word = _POLARITY[match[2].lower()] if match else ""
    return ((_OPPOSITE[word] if match[1] else word),) if match else ()


# Numbers and texts ----------------------------------------------------------------------------------------------

_ALTERNATIVES = re.compile(r"(\d)\s(?:[A-Za-z]{1,12}\s)?or\s\W?(\d)", re.IGNORECASE)
_PLAIN_NUMBER = re.compile(r"-?\$?(?:\d{1,300}|(?!0)\d{1,3}(?:,\d{3}){1,99})(?:\.\d{1,300})?%?\.?", re.ASCII)


def _plain_number(value: str, options: Options) -> Claims:
    """Read a numeral, perhaps with a dollar or percent sign."""
    return _stated_number(value, options) if _PLAIN_NUMBER.fullmatch(value) else ()


def _alternatives(value: str, options: Options) -> Claims:
    """Read two numbers joined by `or`, which claim two answers."""
    match = _ALTERNATIVES.search(value)
    return (match[1], match[2]) if match else ()


def _stated_number(value: str, options: Options) -> Claims:
    """Read the number that a text states, see `read_number`."""
    number = None if is_refusal(value) else read_number(value)
    return () if number is None else (canonical(number.value),)


def _plain_text(value: str, options: Options) -> Claims:
    """Read any text without mark-up."""
    marked = value != strip_wrapping(value) or bool(last_box(value))
    marked = marked or (value != without_percentage(value) and not _is_key(value, options))
    return () if marked or _LEAD_IN_TO_TEXT.match(value) else _short_text(value, options)


def _short_text(value: str, options: Options) -> Claims:
    """Read a text whose mark-up was removed."""
    text = " ".join(value.split())
    text = text.removesuffix(".") if "." not in text.rpartition(" ")[2][:-1] else text
    return (text,) if any(map(str.isalnum, text)) and (_is_key(text, options) or not is_refusal(text)) else ()


def _is_key(text: str, options: Options) -> bool:
    """Return whether a text is one of the right answers."""
    return bool(options) and grade(text, kind="text", gold=options[0], aliases=options[1:]) == 1.0


@dataclass(frozen=True, slots=True)
class AnswerForms:
    """The rules for one kind of answer.

    Attributes
    ----------
    plain : mapping of str to callable
        Rules for the forms that the prompt asks for.
    whole : mapping of str to callable
        Rules for the whole text, before introductory words such as ``It is`` are removed.
    lenient : mapping of str to callable
        Rules for the rest of the text.
    lead_in : Pattern
        The introductory words.
    cleaning : mapping of str to callable
        Rules that remove mark-up.
    unwrap : callable
        Removes quotation marks around the text after the introductory words.
    taken_back : bool
        Whether words that may withdraw the claim make it unreadable. For short texts they do not.
    """

    plain: ClaimRules
    whole: ClaimRules
    lenient: ClaimRules
    lead_in: re.Pattern[str] = _LEAD_IN
    cleaning: Rules = field(default_factory=lambda: VALUE_CLEANING)
    unwrap: Callable[[str], str] = unwrap
    taken_back: bool = True


ANSWER_FORMS: dict[Kind, AnswerForms] = {
    "choice": AnswerForms(PLAIN_CHOICES, {**PLAIN_CHOICES, **WHOLE_CHOICES}, LENIENT_CHOICES),
    "number": AnswerForms(
        {"numeral": _plain_number}, {}, {"alternatives": _alternatives, "stated_number": _stated_number}
    ),
    "boolean": AnswerForms(
        {"word": _plain_word}, {}, {"leading_word": _leading_word, "polar_sentence": _polar_sentence}
    ),
    "text": AnswerForms(
        {"short_text": _plain_text},
        {},
        {},
        _LEAD_IN_TO_TEXT,
        LITERAL_CLEANING,
        strip_wrapping,
        taken_back=False,
    ),
}

# All kinds ------------------------------------------------------------------------------------------------------


def _first_claim(value: str, options: Options, rules: ClaimRules) -> tuple[str, Claims]:
    """Return the name and the claims of the first rule that recognises a claim."""
    for name, rule in rules.items():
        if claims := rule(value, options):
            return name, claims
    return "", ()


def _lenient_claim(value: str, options: Options, forms: AnswerForms) -> tuple[tuple[str, ...], Claims]:
    """Remove mark-up and introductory words, and return the rules that were needed and the claims."""
    boxed = last_box(value)
    value, used = apply_rules(forms.cleaning, boxed or value)
    used = ("box", *used) if boxed else used
    if forms.taken_back and _TAKES_BACK.search(value):
        return (*used, "taken_back"), ()
    name, claims = _first_claim(value, options, forms.whole)
    if not claims:
        lead = forms.lead_in.match(value)
        if lead:
            value, used = forms.unwrap(value[lead.end() :]), (*used, "lead_in")
        value = value.rstrip(" ,;:")
        name, claims = _first_claim(value, options, {**(forms.whole or forms.plain), **forms.lenient})
    if not claims:
        return ((*used, "refusal") if is_refusal(value) else used), ()
    plain = used and name in forms.plain
    return (used if plain else (*used, name)), claims


def stated_sentence(value: str, end: re.Pattern[str], kind: Kind, choices: Sequence[str]) -> str:
    r"""Return the first sentence of a text, or the whole text if it is an option that contains full stops.

    A text that withdraws its statement is returned whole, so that no answer is read from it.

    Examples
    --------
    >>> sentence_end, presidents = re.compile(r"[.](?=\s|$)"), ("Franklin D. Roosevelt", "Barack Obama")
    >>> for text in ("Franklin D. Roosevelt.", "A. He was the first."):
    ...     print(stated_sentence(text, sentence_end, "choice", presidents))
    Franklin D. Roosevelt.
    A
    """
    whole = read_answer(value if kind == "choice" else "", kind, choices)
    plain = whole.found and not whole.rules
    return value if plain or _TAKES_BACK.search(value) else end.split(value, maxsplit=1)[0]


def known_answers(question: Question) -> tuple[str, ...]:
    """Return the ``choices`` of :func:`read_answer`: the options, or for a short text the key and its aliases."""
    if question.kind == "text" and question.gold is not None:
        return question.gold, *question.aliases
    return question.choices


def read_answer(value: str, kind: Kind, choices: Sequence[str] = ()) -> Answer:
    r"""Read the answer that a short text states, such as the text after ``Answer:``.

    The first `SPAN` characters of ``value`` are read; ``choices`` are the options in the order shown. For a ``text``
    they are the right answers, which are never taken for a refusal (see `known_answers`). The text of the answer is
    empty if the value claims no answer or more than one; its rules then name the reason.

    Examples
    --------
    >>> cities = ("Paris", "London", "Rome", "Berlin")
    >>> for text in ("B", "(B) London", "london", r"\boxed{B}", "A or B", "Madrid"):
    ...     print(text, "->", read_answer(text, "choice", cities))
    B -> Answer(text='B', rules=())
    (B) London -> Answer(text='B', rules=())
    london -> Answer(text='B', rules=('option_text',))
    \boxed{B} -> Answer(text='B', rules=('box',))
    A or B -> Answer(text='', rules=('several_letters', 'two_claims'))
    Madrid -> Answer(text='', rules=())
    >>> read_answer("$1,234.50 in total", "number")
    Answer(text='1234.5', rules=('stated_number',))
    """
    value, options = value[:SPAN].strip(), tuple(choices)
    forms = ANSWER_FORMS[kind]
    if is_placeholder(value):
        return Answer("", ("placeholder",))
    for rule in forms.plain.values():
        if len(claims := rule(value, options)) == 1:
            return Answer(claims[0])
    rules, claims = _lenient_claim(value, options, forms)
    if len(claims) > 1:
        return Answer("", (*rules, "two_claims"))
    return Answer(claims[0] if claims else "", rules)


def answer_to(question: Question, value: str) -> str:
    r"""Return the answer to a question in canonical form; a short text that cannot be read, or is long, as it is.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Capital of Peru?", "text", "Lima")
    >>> answer_to(question, r"\boxed{Lima}"), answer_to(question, "I don't know.")
    ('Lima', "I don't know.")
    """
    is_text = question.kind == "text"
    if is_text and len(value) > SPAN:
        return value
    return read_answer(value, question.kind, known_answers(question)).text or (value if is_text else "")
