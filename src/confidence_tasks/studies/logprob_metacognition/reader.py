"""Reading a short answer, and where in the reply it stands: the answer's tokens are those that overlap it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from confidence_tasks.reading.answers import FORMS, is_refusal, read_answer
from confidence_tasks.reading.cleaning import bounded, strip_thoughts, trimmed
from confidence_tasks.study.question import Kind
from confidence_tasks.study.trial import Status

SPAN = 2_000
"""So many characters of a reply are read."""

LABEL = re.compile(r"\W{0,4}(?:(?:final|short|my)\s)?(?:answer|a)\W{0,4}[:：][\s\"'*_“‘]{0,4}", re.IGNORECASE)
"""A line that repeats what the prompt ends with, such as ``**Answer:**``."""

AROUND = " \t\r\f\v\u00a0\"'`*_“”‘’«»"
"""What may stand around an answer and is no part of it."""

_EXPLANATION = re.compile(
    r"""
    \s\((?=[^()]{0,300}\)?[\s."'*]{0,9}\Z) | \s[-–—]\s(?=[a-z]) | \s(?:because|since)\b | ;
    | ,\sI(?:\s(?:believe|think|guess|suppose|assume|would\ssay)|['’]d\ssay|(?:['’]m|\sam)\s(?:\w{1,12}\s)?sure)\b
    | \sI\s(?:believe|think|guess|suppose)[\s.!]{0,9}\Z
    | (?:(?<=[a-z]{4})|(?<=\d{4})|(?<=["”')*]))\.["”'*]{0,3}\s+(?=[A-Z])
    | [.!?]["”'*)]{0,3}\s{1,9}(?=(?:It|He|She|They|This|That|These|Those|There|His|Her|Its|Their)\b
        | The\s(?:[^\s.!?]{1,30}\s){1,6}?(?:is|was|are|were|has|had)\b)
    """,
    re.VERBOSE,
)
"""Where an explanation begins.

A full stop ends a sentence after a word too long for an abbreviation, or before words that begin a sentence about it.
"""


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """A short answer as read.

    Attributes
    ----------
    text : str
        The answer as it stands in the reply, or in canonical form if it is a number; empty when there is none.
    begin, end : int
        The reply's characters that are the answer, ``reply[begin:end]``.
    status : Status
        ``ok``, ``repaired`` when something had to be taken off, ``refused``, ``missing_answer`` for an empty reply,
        ``unreadable`` for one without letters or digits.
    """

    text: str
    begin: int
    end: int
    status: Status


def read_short_answer(reply: str, kind: Kind = "text") -> ShortAnswer:
    """Read the answer on the first line of a reply; any text in, an answer out.

    Parameters
    ----------
    reply : str
        Any text; its first `SPAN` characters after reasoning are read.
    kind : {"text", "number"}
        What an answer looks like.

    Examples
    --------
    >>> reply = "Answer: **Jane Austen**. She was born in 1775."
    >>> found = read_short_answer(reply)
    >>> found.text, reply[found.begin : found.end], found.status
    ('Jane Austen', 'Jane Austen', 'repaired')
    >>> read_short_answer("I don't know.").status, read_short_answer(" ").status
    ('refused', 'missing_answer')
    """
    start = _after_reasoning(reply)
    begin, end = _first_line(reply, start, start + SPAN)
    if begin == end:
        return ShortAnswer("", 0, 0, "missing_answer")
    if is_refusal(reply[begin:end]):
        return ShortAnswer("", 0, 0, "refused")
    plain = _trimmed(reply, begin, end, " \t\r")
    for lead in (LABEL, FORMS["text"].lead_in):
        if match := lead.match(reply, begin, end):
            begin = match.end()
    if kind == "text" and (match := _EXPLANATION.search(reply, begin, end)):
        end = match.start() if reply[begin : match.start()].strip(AROUND) else end
    begin, end = _trimmed(reply, begin, end, AROUND)
    text = reply[begin:end]
    if kind == "number":
        text = read_answer(text, "number").text
        begin, end = _last_numeral(text, reply, begin, end)
    if not any(map(str.isalnum, text)):
        return ShortAnswer("", 0, 0, "unreadable")
    return ShortAnswer(text, begin, end, "ok" if plain == (begin, end) else "repaired")


def _after_reasoning(reply: str) -> int:
    """Return where a reply goes on after thoughts that the provider left in it; at its end, if it never does."""
    text = bounded(reply)
    said = strip_thoughts(text)
    if said == text:
        return 0
    return len(reply) - len(said) if reply.endswith(said) else len(reply)


def _first_line(text: str, begin: int, end: int) -> tuple[int, int]:
    """Return where the first line that is more than a label begins and ends; nothing for a blank text."""
    for line in text[begin:end].splitlines(keepends=True):
        label = LABEL.match(line)
        if line.strip() and not (label and not line[label.end() :].strip(AROUND)):
            return begin, begin + len(line.rstrip("\r\n"))
        begin += len(line)
    return 0, 0


def _last_numeral(numeral: str, text: str, begin: int, end: int) -> tuple[int, int]:
    """Return where a number stands within a span; the whole span where it is written in another way."""
    pattern = re.compile(rf"(?<![\d.,]){re.escape(numeral)}(?!\d)")
    found = list(pattern.finditer(text, begin, end)) if numeral else []
    return found[-1].span() if found else (begin, end)


def _trimmed(text: str, begin: int, end: int, around: str) -> tuple[int, int]:
    """Take what surrounds an answer off both ends, and the full stop of a sentence."""
    while True:
        start, stop = begin, end
        begin, end = trimmed(text, begin, end, around, around + ",")
        last_word = text[begin:end].rpartition(" ")[2]
        if last_word.endswith(".") and "." not in last_word[:-1] and len(last_word) > 2:
            end -= 1
        if (begin, end) == (start, stop):
            return begin, end
