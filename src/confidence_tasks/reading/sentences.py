"""Confidences in sentences, such as ``I am 85% sure``, and sentences that revise a confidence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

NUMBER = r"(?:\d{1,40}(?:\.\d{1,40}|,\d{1,2})?|0,\d{1,40}|\.\d{1,40})(?![\d_]|[.,]\d|e[-+]?\d)"
PERCENT = r"(?P<percent>\s?(?:%|percent\b|per\scent\b))"
OUT_OF = r"\s?(?P<joint>/|out\sof\b|of\b|in\b)\s?(?P<whole>\d{1,4})(?![.,]*\d)"
"""Parts of regular expressions: a number, a percent sign, and what a number is out of, as in ``17 out of 20``."""

_WHOLES: Mapping[str, tuple[int, ...]] = {
    "/": (1, 4, 5, 8, 10, 20, 25, 50, 100, 1000),
    "in": (10, 100, 1000),
    "of": (10, 100, 1000),
}
"""What a share is out of. ``10/11`` may be a date and ``1 in 4`` the odds of an event; ``out of`` is clear."""


def share_of(number: float, whole: str, joint: str) -> float:
    """Return a number divided by the whole that it is out of; NaN if it may mean something else, as ``50/50`` does.

    Examples
    --------
    >>> share_of(9, "10", "/"), share_of(17, "20", "out of"), share_of(50, "50", "/"), share_of(10, "11", "/")
    (0.9, 0.85, nan, nan)
    """
    size = int(whole)
    usual = size in _WHOLES.get(joint.casefold(), (size,))
    return number / size if usual and size and not number == size == 50 else math.nan


_RIGHT = r"(?:correct(?:ness)?|right)"
OF_BEING_RIGHT = (
    rf"(?:probability|likelihood|chance)(?:\sof\s(?:being\s)?{_RIGHT}|\sthat\s[^.\n]{{0,60}}?\b{_RIGHT})"
)
"""Expressions for the chance of being right; other chances belong to the question."""

_BEFORE_WORD = re.compile(
    r"(?:\b(?:and\s)?I(?:'m|\sam)\s(?:about\s|around\s|approximately\s|roughly\s|only\s)?)?"
    rf"(?<![\w.,/])(?<!\d-)(?P<figures>(?P<first>{NUMBER}){PERCENT}?(?:{OUT_OF})?)[ ]"
    rf"(?:(?:confident|sure|certain|confidence|certainty)\b(?!\s(?:interval|level|limit|region|band))"
    rf"|{OF_BEING_RIGHT}|likely\s(?:to\sbe\s)?{_RIGHT})",
    re.IGNORECASE,
)
_SECOND_OF_TWO = re.compile(r"\d\s?%?\s?(?:-|to|or|and|/|out\sof|of|in)\s?\Z", re.IGNORECASE)
"""Text before the second number of a range or of a share."""

SPAN = 120
"""Maximum number of characters of the clause before, and after, a statement."""
_CLAUSE_ENDS = re.compile(
    r"[.!?](?=\s|\Z)|[,;()|\n]|\s-\s|\b(?:so|but|and|while|yet|since|because|hence|thus)\b", re.IGNORECASE
)
_NOT_ABOUT_THE_ANSWER = re.compile(
    r"\b(?:not|never|cannot|lack|without|wrong|incorrect|mistaken|error|if|when|unless|until|whether|would|must"
    r"|need\w*|requir\w*|demand\w*|minimum|threshold|break-?\s?even|cut-?\s?off|exceed\w*|above|below|under|over|than|at\sleast)\b"
    r"|n't\b",
    re.IGNORECASE,
)
"""Words of a denial, of a condition, or of a confidence that an answer requires."""


def confidences_before_a_word(text: str) -> Iterator[re.Match[str]]:
    """Yield each number before a word for confidence or for the chance of being right, but not the end of a range.

    Examples
    --------
    >>> [match[0] for match in confidences_before_a_word("I am 85% sure, or 80 to 90% confident, 9 out of 10 certain")]
    ['I am 85% sure', '9 out of 10 certain']
    """
    for match in _BEFORE_WORD.finditer(text):
        start = match.start("first")
        if not _SECOND_OF_TWO.search(text[max(0, start - SPAN) : start]):
            yield match


def is_about_the_answer(text: str, start: int, end: int, label: str = "") -> bool:
    """Return True unless the words of the clause around a statement, or its label, say that it is about something else.

    Examples
    --------
    >>> texts = ("I am 85% sure.", "I am not 85% sure.", "I would answer if I were 85% sure.")
    >>> [is_about_the_answer(text, text.index("8"), len(text) - 1) for text in texts]
    [True, False, False]
    """
    before = _CLAUSE_ENDS.split(text[max(0, start - SPAN) : start])[-1]
    after = _CLAUSE_ENDS.split(text[end : end + SPAN], maxsplit=1)[0]
    return not any(map(_NOT_ABOUT_THE_ANSWER.search, (before, label, after)))


_VERB = (
    r"(?:revis|chang|lower|rais|adjust|updat|reduc|increas|decreas|correct|downgrad|upgrad|reconsider)\w{0,4}"
)
_FIGURE = r"(?P<figure>\d{1,3}(?:\.\d{1,4})?)(?![.,]*\d)"
_WORDS = r"(?:[a-z']{1,15}[\s,;:]{1,3}){0,5}"
_OPENING = (
    r"(?:actually|wait|correction|scratch\sthat|strike\sthat|sorry|hmm|no|edit|updated|revised|reconsidering"
    r"|(?:up)?on\s(?:reflection|second\sthoughts?|balance)|thinking\s(?:again|about\sit)|then\sagain"
    r"|(?:i\s)?take\s(?:that|it)\sback|(?:or\s)?rather|better|change\sthat|i\smean|(?:it\s)?should\sbe|new\svalue"
    r"|(?:i'd|i'll|let's|let[ ]me)\s(?:say|go)|i\snow\s(?:think|feel)|[-=]>"
    r"|(?:adjust|chang|lower|rais|reduc|revis)ing(?:\s(?:that|it|this))?(?:\sto)?)"
)

REVISIONS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for name, pattern in {
        "verb": rf"\b{_VERB}\s(?:[a-z]{{1,12}}\s){{0,3}}confidence\b(?:[^.!?\n\d]{{0,40}}{_FIGURE})?",
        "verb_of_it": (
            rf"\b(?:{_VERB}|mak\w{{1,3}}|put|set|drop|bump)\s(?:that|it|this)\s(?:down\s|up\s)?(?:to\s|at\s)?"
            rf"(?:about\s|~)?{_FIGURE}"
        ),
        "opening": (
            rf"(?:^|[.!?,;:(—-]\s{{0,3}}){_OPENING}[\s,;:.—-]{{1,4}}{_WORDS}~?{_FIGURE}"
            r"(?:\s?(?:%|percent))?(?:\s?/\s?\d{1,3})?\W{0,4}$"
        ),
        "again": (
            r"\bconfidence\s(?:(?:is|at|to|of|as|was|now|should|would|be|down|up|closer|about|around|level|score|drops|falls"
            rf"|rises)\s){{1,4}}~?{_FIGURE}"
        ),
        "label": rf"^\W{{0,4}}(?:(?:my|final|new|updated|revised)\s){{0,2}}confidence\W{{0,3}}[:=]\W{{0,3}}{_FIGURE}",
        "sure": (
            rf"\bI(?:'m|\sam)\s(?:[a-z]{{1,12}}\s){{0,3}}{_FIGURE}\s?(?:%|percent)\s(?:confident|sure|certain)\b"
            r"(?=\W{0,4}$|\s(?:that|of|about|in)\s(?:it|this|my|the\sanswer)\b)"
        ),
        "judged": (
            r"\b(?:too\s(?:high|low|confident|cautious|optimistic|generous)|(?:over|under)-?(?:confident|(?:estimat|stat)ed))"
            rf"\b[\s,;:—-]{{1,4}}{_WORDS}~?{_FIGURE}\s?(?:%|percent)?\W{{0,4}}$"
        ),
        "behind": rf"{_FIGURE}\s?%?,?\s(?:instead|rather|actually|on\s(?:reflection|second\sthoughts?))\b",
        "better": (
            rf"{_FIGURE}\s?%?\s(?:is|seems|feels|sounds|would\sbe)"
            r"\s(?:more\s[a-z]{4,12}|better|closer|fairer|what\sI'd\s(?:go\swith|say|give|put))\b"
        ),
    }.items()
}
"""Sentences after a confidence that replace it, by name."""


_I_WOULD = re.compile(r"\bI\swould\b")


def revises_confidence(text: str, stated: float, top: float = 100.0) -> bool:
    """Return True if the text after a confidence revises it: by a sentence without a number, or with another number.

    ``stated`` is the confidence as the reply states it, and ``top`` the upper bound of its scale. The same value as a
    probability or a percentage is no revision.

    Examples
    --------
    >>> after = ("Let me revise my confidence to 65.", "No, 65.", "My confidence is 85.", "My confidence is high.")
    >>> [revises_confidence(text, 85.0) for text in after]
    [True, True, False, False]
    >>> revises_confidence("I am 85% sure.", 17.0, top=20.0)
    False
    """
    text = _I_WOULD.sub("I'd", text)
    same = (
        stated,
        100.0 * stated,
        stated / 100.0,
        round(100.0 * stated / top) if math.isfinite(stated) else stated,
    )
    found = (match for pattern in REVISIONS.values() for match in pattern.finditer(text))
    changes = (match for match in found if match["figure"] is None or float(match["figure"]) not in same)
    return any(is_about_the_answer(text, *match.span()) for match in changes)
