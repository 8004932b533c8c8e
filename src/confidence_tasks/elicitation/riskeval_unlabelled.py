"""Finding the confidence that a reply to RiskEval's prompt states without a word for it: behind its answer, or below.

The prompt asks for an answer and a confidence in numbers, so the figure behind an answer is one (``B, 90%``). It must
stand where nothing else can: a figure that an option holds, or that says the answer again as a share, is none, nor are
figures behind different answers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

from confidence_tasks.elicitation.answers import ANNOUNCEMENT, read_answer
from confidence_tasks.elicitation.cleaning import last_box
from confidence_tasks.elicitation.numbers import find_numbers
from confidence_tasks.elicitation.riskeval_confidence import FIGURES, StatedConfidence, demanded, placed
from confidence_tasks.questions.question import LETTERS, Kind

_LAST_LINES = 40
"""So many lines at the end are looked at, and the first one."""

_SPAN = 1_000
"""So much of a line is looked at, at its beginning and at its end."""

_BEHIND = re.compile(
    rf"""(?: (?P<bracket>\s?[(\[]\s?) | \s?[,;|]\s? | \s?[:-]\s | \.\s | (?<=\b[A-Z])\s )
    (?P<figures>{FIGURES.pattern})
    (?(bracket) \s?[)\]](?=[\s.,;:!]|$) | (?=\s{{0,4}}(?:[.,;!]?\s{{0,4}}$|[.!]\s)) )""",
    re.VERBOSE | re.IGNORECASE,
)
"""Figures in brackets, or behind a mark and at the end of their sentence."""

_NAMES = re.compile(
    rf"\b(?:answer|choice|decision|guess|estimate|solution|response)\s?(?:is|would\sbe|[:=|]|->)\s{{0,4}}|\b{ANNOUNCEMENT}\s:?",
    re.IGNORECASE,
)
_ANSWER_IS = re.compile(r"\banswer\s?(?:is|would\sbe|[:=|])\s{0,4}\S", re.IGNORECASE)
_EQUALS = re.compile(r"\s(?:is|are|equals|makes|gives)\s|=\s?", re.IGNORECASE)
_ABSTAINS = re.compile(r"\W{0,6}(?:I\s(?:will\s|must\s|choose\sto\s)?)?abstain\W{0,6}", re.IGNORECASE)
_POLAR = re.compile(r"\b(yes|no|true|false)\W{0,4}\Z", re.IGNORECASE)
_UNIT = re.compile(r"\W{0,4}(?:\b[^\W\d]{1,20}\b\W{0,4}){0,3}")
_LAST_LETTER = re.compile(r"(?:^|[\s(])([A-Z])\W{0,3}\Z")
_SPOKEN_OF = re.compile(r"\b(?:confiden(?:ce|t)|certain(?:ty)?|sure)\b[^.%\n]{0,60}\Z", re.IGNORECASE)
_SENTENCE_ENDS = re.compile(r"\s{0,4}(?:[.!]|$)")
_INTRODUCES = re.compile(r"(?:[:=]|\b(?:is|are|be|was))\s{0,4}\Z", re.IGNORECASE)
_ALONE = re.compile(rf"\W{{0,4}}(?P<figures>{FIGURES.pattern})\W{{0,4}}", re.VERBOSE | re.IGNORECASE)
_SURE = frozenset({"option_text", "box", "latex", "wrapped", "lead_in", "unicode"})
"""Rules of reading that leave no doubt which option is meant."""

Choices = tuple[str, ...]


class _Found(NamedTuple):
    """A figure behind an answer, what that answer is, and whether words announce it."""

    statement: StatedConfidence
    answer: str
    announced: bool


def unlabelled_confidences(
    text: str, kind: Kind, choices: Sequence[str] = ()
) -> tuple[StatedConfidence, ...]:
    r"""Find the figure that stands behind the answer of a reply, or alone on the line below it.

    Parameters
    ----------
    text : str
        A cleaned reply.
    kind : {"choice", "number", "text", "boolean"}
        What an answer looks like.
    choices : sequence of str
        The options in the order shown.

    Returns
    -------
    tuple of StatedConfidence
        At most one; none too where figures stand behind different answers.

    Examples
    --------
    >>> for reply in ("42, 90%", "The answer is 42 (90%).", "42\n90%", "6 * 7 =\n42", "0.25, 25%"):
    ...     print([found.value for found in unlabelled_confidences(reply, "number")])
    [0.9]
    [0.9]
    [0.9]
    []
    []
    >>> [found.value for found in unlabelled_confidences("A: 10%\nB: 90%", "choice", ("Paris", "London"))]
    []
    """
    options = tuple(choices)
    found = list(_behind_answers(text, kind, options))
    named = [each for each in found if each.announced] or found
    if named:
        agree = len({(each.answer, each.statement.value) for each in named}) == 1
        return (named[-1].statement,) if agree else ()
    return tuple(_below_the_answer(text, kind, options))


# Behind an answer -----------------------------------------------------------------------------------------------


def _behind_answers(text: str, kind: Kind, choices: Choices) -> Iterator[_Found]:
    """Find on each line the first figure that can be a confidence by its place and its neighbours."""
    for start, line, last in _lines(text):
        match = _BEHIND.search(line, 0, _SPAN) or _BEHIND.search(line, max(0, len(line) - _SPAN))
        if match is None or match["bound"] or match["between"]:
            continue
        *before, part = _NAMES.split(line[max(0, match.start() - _SPAN) : match.start()])
        answer = _answer_before(match, part, kind, choices)
        if not answer and last and _closes(match) and (kind == "text" or _SPOKEN_OF.search(part)):
            answer = "what the sentence says"
        found = placed(match, start + match.start(), start + match.end(), "")
        if not answer or math.isnan(found.value) or _says_another_thing(match, found, part, choices):
            continue
        statement = replace(found, text=match["figures"].strip(), rules=(*found.rules, "no_label"))
        if demanded(text, start + match.start("figures"), found.end):
            statement = StatedConfidence(start=found.start, end=found.end)
        yield _Found(statement, answer, announced=bool(before))


def _lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield where the first and the last lines that say anything begin, what they say, and which is the last one."""
    lines: list[tuple[int, str]] = []
    end = len(text.rstrip())
    while end > 0 and len(lines) < _LAST_LINES:
        start = text.rfind("\n", 0, end) + 1
        lines.append((start, text[start:end]))
        end = len(text[:start].rstrip())
    first = len(text) - len(text.lstrip())
    if end > 0:
        yield first, text[first:end].partition("\n")[0], False
    yield from ((start, line, index == 0) for index, (start, line) in reversed(list(enumerate(lines))))


def _has_percent(match: re.Match[str]) -> bool:
    return bool(match["percent"] or match["second_percent"])


def _closes(match: re.Match[str]) -> bool:
    """Whether a percentage in brackets ends its sentence."""
    return bool(match["bracket"] and _has_percent(match) and _SENTENCE_ENDS.match(match.string, match.end()))


def _answer_before(match: re.Match[str], part: str, kind: Kind, choices: Choices) -> str:
    """Return the answer that words are or, before a percentage in brackets, end with; empty when they do not."""
    within = bool(match["bracket"]) and _has_percent(match)
    if _ABSTAINS.fullmatch(part):
        return "abstain"
    if kind == "choice":
        return _option(part, choices, within=within)
    if kind == "boolean" and (word := _POLAR.search(part)):
        return word[1].lower() if within or not part[: word.start()].strip() else ""
    if kind == "number" and _has_percent(match):
        return _quantity(part, within=within)
    return ""


def _option(part: str, choices: Choices, *, within: bool) -> str:
    """Return the letter of the option that words are or, ``within`` a sentence, end with."""
    whole = read_answer(part, "choice", choices)
    if whole.text and _SURE.issuperset(whole.rules):
        return whole.text
    letter = _LAST_LETTER.search(part) if within else None
    if letter and letter[1] in LETTERS[: len(choices)]:
        return letter[1]
    words = part.casefold().rstrip(" \"'*.")
    ends = (
        letter
        for letter, option in zip(LETTERS, choices, strict=False)
        if option and re.search(rf"(?<!\w){re.escape(option.casefold())}\Z", words)
    )
    return next(ends, "") if within else ""


def _quantity(part: str, *, within: bool) -> str:
    """Return the number that words are, with its unit, or, ``within`` a sentence, end with."""
    *_, part = _EQUALS.split(last_box(part) or part)
    numbers = list(find_numbers(part))
    if not numbers or (len(numbers) > 1 and not within) or not _UNIT.fullmatch(part, numbers[-1].end):
        return ""
    number = numbers[-1]
    bare = not part[: number.start].strip(" \"'#$") and not number.percent
    return str(number.value) if bare or within else ""


def _says_another_thing(match: re.Match[str], found: StatedConfidence, part: str, choices: Choices) -> bool:
    """Whether a figure is one of the options', the answer once more as a share, or a score of 0 or 1."""
    figures = {Decimal(number) for number in re.findall(r"\d{1,40}(?:\.\d{1,40})?", " ".join(choices))}
    own = {Decimal(match["first"].replace(",", ".")), Decimal(str(found.value))}
    restated = any(abs(float(number.value) - found.value) < 1e-9 for number in list(find_numbers(part))[-1:])
    score = not (_has_percent(match) or match["whole"]) and match["first"] in {"0", "1"}
    return bool(figures & own) or restated or score


# Below it -------------------------------------------------------------------------------------------------------


def _below_the_answer(text: str, kind: Kind, choices: Choices) -> Iterator[StatedConfidence]:
    """Find a figure alone on the last line, where what stands above it is the answer."""
    above, _, line = text.rstrip().rpartition("\n")
    match = _ALONE.fullmatch(line) if len(line) <= _SPAN else None
    above = above.rstrip()
    if match is None or not above or match["bound"] or match["between"] or _INTRODUCES.search(above[-_SPAN:]):
        return
    start = len(text.rstrip()) - len(line)
    found = placed(match, start, start + len(line), "")
    if math.isnan(found.value) or _says_another_thing(match, found, "", choices):
        return
    if kind in {"choice", "boolean"} or _names_an_answer(above, match, kind):
        yield replace(found, text=match["figures"].strip(), rules=(*found.rules, "no_label"))


def _names_an_answer(above: str, match: re.Match[str], kind: Kind) -> bool:
    """Whether a number or a text stands above a figure, so that the figure is not itself the answer."""
    if _ANSWER_IS.search(above) or last_box(above) or _ABSTAINS.search(above):
        return True
    previous = above.rpartition("\n")[2]
    if kind == "number":
        return _has_percent(match) and bool(_quantity(previous, within=False))
    return "\n" not in above and (_has_percent(match) or "." in match["first"])
