"""Reading a probability that a reply states beside an answer, what the two come to, and the labels of both."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from confidence_tasks.reading.answers import Answer, is_refusal
from confidence_tasks.reading.cleaning import Rules, bounded, fold
from confidence_tasks.reading.json_reader import read_json_fields
from confidence_tasks.reading.numbers import SPAN, find_numbers
from confidence_tasks.study.trial import Reading, Status

_REMARK = re.compile(r"\s*(?:(?:-|\(|,)\s*[^\s\d].*|\.?)", re.DOTALL)
"""What may follow a probability: a remark behind a dash, a bracket or a comma."""


def read_probability(text: str) -> tuple[float, tuple[str, ...]]:
    """Read the probability that a short text, such as a JSON field's value, states, and what had to be interpreted.

    A percentage is divided by 100; the number may lie outside [0, 1]. NaN when the text does not begin with a number,
    or goes on otherwise than with a remark behind a dash, a bracket or a comma.

    Examples
    --------
    >>> for text in ("0.85", "85%", "0.9 (very sure)", "1.2", "0.7-0.8", "20% chance of being wrong", "high"):
    ...     print(text, *read_probability(text))
    0.85 0.85 ()
    85% 0.85 ('percent',)
    0.9 (very sure) 0.9 ('remark',)
    1.2 1.2 ()
    0.7-0.8 nan ()
    20% chance of being wrong nan ()
    high nan ()
    """
    plain = fold(text[:SPAN]).strip()
    number = next(find_numbers(plain), None)
    if (
        number is None
        or number.start > 0
        or "fraction" in number.forms
        or not _REMARK.fullmatch(plain, number.end)
    ):
        return math.nan, ()
    value = number.value / 100 if number.percent else number.value
    rules = (("percent", number.percent), ("remark", plain != number.text))
    return float(value), (*(name for name, applies in rules if applies), *number.forms)


def is_probability(value: float) -> bool:
    """Return whether a number lies in [0, 1]; NaN does not."""
    return 0.0 <= value <= 1.0


def declines(said: str, reply: str) -> bool:
    """Whether the answer's field, or a reply without any JSON, declines to answer; reasoning that breaks off does not.

    Examples
    --------
    >>> declines("Unknown", "..."), declines("", "I cannot answer.")
    (True, True)
    >>> declines("", '{"Reasoning": "I cannot answer')
    False
    """
    return is_refusal(said or ("" if "{" in reply else reply))


def status_of(*, answered: bool, stated: bool, inside: bool, refused: bool, rules: Sequence[str]) -> Status:
    """Return how a reply was read: its first fault, or whether lenient rules were needed.

    Parameters
    ----------
    answered, stated : bool
        Whether there is an answer, and a confidence.
    inside : bool
        Whether the confidence lies within its bounds.
    refused : bool
        Whether a reply without an answer declines to give one.
    rules : sequence of str
        Lenient rules used.

    Examples
    --------
    >>> status_of(answered=True, stated=False, inside=False, refused=False, rules=())
    'missing_confidence'
    """
    if not answered:
        return "refused" if refused else "missing_answer" if stated else "unreadable"
    if not stated:
        return "missing_confidence"
    if not inside:
        return "out_of_range"
    return "repaired" if rules else "ok"


KEYS = ("Answer", "Confidence")


def read_answer_and_confidence(text: str, read: Callable[[str], Answer]) -> Reading:
    """Read the JSON fields ``Answer``, by ``read``, and ``Confidence``; any text in, a reading out."""
    text = bounded(text)
    found = read_json_fields(text, KEYS)
    said = found.fields.get("Answer", "")
    answer = read(said)
    value, interpreted = read_probability(found.fields.get("Confidence", ""))
    rules = (*found.rules, *answer.rules, *interpreted)
    status = status_of(
        answered=answer.found,
        stated=not math.isnan(value),
        inside=is_probability(value),
        refused=not answer.found and declines(said, text),
        rules=rules,
    )
    return Reading(answer.text, value, status, rules)


# Labels ---------------------------------------------------------------------------------------------------------

LINE_START = r"^[^\w\n\"'(\[{<~]{0,8}"
_ENDS = r"(?:[ ]?\#?\d{1,2})?(?:[ ]?\([^()\n]{0,40}\))?"
ANSWER = rf"(?:(?:my|your|the|final|correct|best)[ ]){{0,3}}answer{_ENDS}"
CONFIDENCE = (
    rf"(?:(?:my|your|the)[ ])?confidence(?:[ ](?:level|score|rating|in[ ](?:my|this|the)[ ]answer))?{_ENDS}"
)
"""What a line begins with, and how an answer and a confidence are called, as parts of regular expressions."""

_HEADING = re.compile(
    rf"({LINE_START}(?:{ANSWER}|{CONFIDENCE}|(?:(?:my|the|final)[ ]){{0,2}}decision))[ :]{{0,3}}\n\s{{0,20}}(?=\S)",
    re.IGNORECASE | re.MULTILINE,
)
_TAG = re.compile(r"<(/?)(answer|confidence)>", re.IGNORECASE)
_JSON_BEGINS = re.compile(r"\s*\{\s*[\"']")
_FIELDS = ("decision", "answer", "final answer", "final_answer", "confidence")


def _without_json(text: str) -> str:
    """Write the fields of a reply that is JSON, or has it amid text, as lines; broken JSON states what it states."""
    if "{" not in text:
        return text
    found = read_json_fields(text, _FIELDS)
    amid_text = "fields" not in found.rules and not found.fields.keys() <= {"confidence"}
    if not amid_text and not _JSON_BEGINS.match(text):
        return text
    lines = (f"{key.replace('_', ' ')}: {found.fields[key]}" for key in _FIELDS if key in found.fields)
    return "\n".join(lines)


def _untag(text: str) -> str:
    """Write ``<answer>B</answer>`` as a line."""
    return _TAG.sub(lambda tag: "\n" if tag[1] else f"\n{tag[2]}: ", text)


def _join_headings(text: str) -> str:
    """Put a value behind its label where it stands below."""
    return _HEADING.sub(r"\1: ", text)


LAYOUTS: Rules = {"json": _without_json, "tags": _untag, "next_line": _join_headings}
"""Ways to arrange labels and values other than in lines; each is rewritten as lines."""
