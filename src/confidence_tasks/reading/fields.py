"""Reading the labelled fields of a reply: of a JSON object, the probability beside an answer, and what both come to.

JSON is read strictly first, then amid other text, then field by field. Nothing is invented: a field that the reply does
not state, or breaks off in, is absent. Numbers keep the digits that were written, so that huge integers cost nothing
and nothing is rounded.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from confidence_tasks.reading.answers import Answer, is_refusal
from confidence_tasks.reading.cleaning import CLEANING, Rules, bounded, fold
from confidence_tasks.reading.numbers import SPAN, find_numbers
from confidence_tasks.study.trial import Reading, Status

_BEFOREHAND = {name: CLEANING[name] for name in ("thought", "chat_tokens")}
"""Cleaning that leaves JSON as it is."""

_MOST_OBJECTS = 256
_OPENING = re.compile(r"\{\s{0,20}[\"'}]")
_AFTER_TEXT = (
    r"(?=\s{0,20}(?:,\s{0,20}(?:[\"'][^\"'\n]{1,60}[\"']\s{0,8}:|//|/\*|\#|\}|\n|\Z)|\}|\n|//|/\*|\#|\Z))"
)
"""A quotation mark ends a string before the next key, the end of the object or line, or a comment."""
_VALUE = re.compile(
    rf"""\s{{0,20}}(?:"(?P<double>[^\n]{{0,1000}}?)"{_AFTER_TEXT}"""
    rf"""|'(?P<single>[^\n]{{0,1000}}?)'{_AFTER_TEXT}"""
    r"""|(?P<bare>[^\s,{}\[\]"'](?:[^,{}\[\]\n]|(?<=\d),(?=\d)){0,400})(?P<end>\Z)?)"""
)
"""A value, up to a comma that ends it; a comma between digits, as in 0,85 or 1,000, does not."""
_TEMPLATE = re.compile(r"\s*<[^<>]*>\s*")
"""The prompt's own description of a value, repeated."""
_COMMENT = re.compile(r"\s*(?://|/\*|\s#).*")


@dataclass(frozen=True, slots=True)
class JsonFields:
    """Values that a reply states for the keys asked for.

    Attributes
    ----------
    fields : mapping of str to str
        The text of each scalar that is stated, by key as asked for: strings as they are, numbers in the digits
        written, ``true`` and ``false``. A key that is missing, null, a list or an object is absent.
    rules : tuple of str
        What was needed beyond strict JSON, in order; empty when the reply is one JSON object and nothing else.
    """

    fields: Mapping[str, str]
    rules: tuple[str, ...] = ()


RULES: Mapping[str, str] = {
    "thought": "Thoughts stand before the reply.",
    "chat_tokens": "Special tokens stand around the reply.",
    "around": "Text or a code fence stands around the object.",
    "newlines": "Control characters stand in a string.",
    "several": "The fullest objects, or two values of one key, contradict each other: what they differ in is absent.",
    "last": "The fullest objects contradict each other: the last of them counts.",
    "nested": "A key stands in an object within the object.",
    "key_case": "A key is in other letter case.",
    "fields": "It is not JSON: each key is looked for by itself, in quotes or at the start of a line.",
}
"""Names of the lenient rules, with what each does."""


def read_json_fields(text: str, keys: Sequence[str], *, last: bool = False) -> JsonFields:
    r"""Read the values that a reply gives for ``keys``; any text in, fields out, in linear time.

    Letter case of the keys does not matter in the reply. Of several objects that contradict each other the ``last``
    counts if so asked, as where a prompt asks to end with the object; by default what they differ in is absent.

    Examples
    --------
    >>> read_json_fields('{"Answer": "True", "Confidence": 0.9}', ("Answer", "Confidence"))
    JsonFields(fields={'Answer': 'True', 'Confidence': '0.9'}, rules=())
    >>> read_json_fields('Sure:\n```json\n{"Answer": "81"}\n```', ("Answer", "Confidence"))
    JsonFields(fields={'Answer': '81'}, rules=('around',))
    >>> read_json_fields('{"Why": "an "odd" one", "Answer": True, "Confidence": 0.', ("Answer", "Confidence"))
    JsonFields(fields={'Answer': 'True'}, rules=('fields',))
    """
    cleaning = []
    for name, rule in _BEFOREHAND.items():
        cleaned = rule(text)
        if cleaned != text:
            cleaning.append(name)
        text = cleaned
    found = _read(text, keys, last)
    return JsonFields(found.fields, (*cleaning, *found.rules))


def _read(text: str, keys: Sequence[str], last: bool) -> JsonFields:
    """Read as strictly as possible: a looser way is tried only where a stricter one leaves keys out."""
    try:
        value = _STRICT.decode(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, _Object) and (exact := _found(value, keys)) is not None:
        return exact
    amid = _amid_text(text, keys, last)
    if amid and len(amid.fields) == len(keys):
        return amid
    found = filter(None, (amid, _field_by_field(text, keys, last)))
    return max(found, key=lambda one: len(one.fields), default=JsonFields({}))


class _Object(dict[str, Any]):
    """A decoded object; what it gives two different values is null."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__()
        self.contradicts = False
        for key, value in pairs:
            contradicts = self.setdefault(key, value) != value
            self[key] = None if contradicts else value
            self.contradicts |= contradicts


_STRICT, _LENIENT = (
    json.JSONDecoder(
        strict=strict, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=_Object
    )
    for strict in (True, False)
)


def _amid_text(text: str, keys: Sequence[str], last: bool) -> JsonFields | None:
    """Read the fullest JSON object in a text."""
    found: list[JsonFields] = []
    end = 0
    for opening in [match.start() for match in _OPENING.finditer(text)][-_MOST_OBJECTS:]:
        if opening < end:
            continue
        try:
            value, stop = _LENIENT.raw_decode(text, opening)
        except (ValueError, RecursionError):
            continue
        fields = _found(value, keys)
        if fields is not None:
            end = stop
            around = text[:opening].strip() or text[stop:].strip()
            found.append(JsonFields(fields.fields, ("around" if around else "newlines", *fields.rules)))
    return _fullest(found, last)


def _field_by_field(text: str, keys: Sequence[str], last: bool) -> JsonFields | None:
    """Read ``"key": value`` wherever it stands, and ``key: value`` at the start of a line."""
    text = fold(text)
    asked = {key.casefold(): key for key in keys}
    groups: list[dict[str, str]] = []
    for match in _keys_pattern(tuple(keys)).finditer(text):
        value = _VALUE.match(text, match.end())
        if (
            value is None
            or (match["quoted"] and value["end"] is not None)
            or _TEMPLATE.fullmatch(_written(value))
        ):
            continue
        key = asked[(match["quoted"] or match["plain"]).casefold()]
        if not groups or key in groups[-1]:
            groups.append({})
        groups[-1][key] = _written(value)
    ordered = [{key: group[key] for key in keys if key in group} for group in groups]
    return _fullest([JsonFields(fields, ("fields",)) for fields in ordered], last)


def _fullest(found: Sequence[JsonFields], last: bool) -> JsonFields | None:
    """Return what the fullest of some objects agree on, or the last of them."""
    if not found:
        return None
    size = max(len(item.fields) for item in found)
    first, *others = fullest = [item for item in found if len(item.fields) == size]
    if last:
        final = fullest[-1]
        changed = any(item.fields != final.fields for item in fullest)
        return JsonFields(final.fields, (*final.rules, "last") if changed else final.rules)
    agreed = {
        key: value for key, value in first.fields.items() if all(value == o.fields.get(key) for o in others)
    }
    return JsonFields(agreed, first.rules if len(agreed) == size else (*first.rules, "several"))


def _found(value: _Object, keys: Sequence[str]) -> JsonFields | None:
    """Return the scalars among the values of ``keys``, in the object or in one within it."""
    fields: dict[str, str] = {}
    rules: dict[str, None] = {"several": None} if value.contradicts else {}
    inner = [item for item in value.values() if isinstance(item, _Object)]
    for key in keys:
        for name, place in (("", value), *(("nested", item) for item in inner)):
            exact = place.get(key)
            item = exact if exact is not None else _folded(place).get(key.casefold())
            text = _scalar(item)
            if text is not None:
                fields[key] = text
                rules |= {rule: None for rule in (name, "" if exact is not None else "key_case") if rule}
                break
    return JsonFields(fields, tuple(rules)) if fields else None


def _folded(value: _Object) -> dict[str, Any]:
    return {name.strip().casefold(): item for name, item in value.items()}


def _scalar(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) and not _TEMPLATE.fullmatch(value) else None


def _written(value: re.Match[str]) -> str:
    if value["bare"] is not None:
        return _COMMENT.sub("", value["bare"], count=1).rstrip(" \t\r\\")  # in LaTeX, braces are escaped
    return (value["double"] if value["double"] is not None else value["single"]).strip()


@lru_cache(maxsize=32)
def _keys_pattern(keys: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(re.escape(key) for key in keys)
    return re.compile(
        rf"(?:[\"'](?P<quoted>{names})[\"']|^[ \t>*_-]{{0,8}}(?P<plain>{names})[*_]{{0,3}})[ \t]{{0,8}}[:=][*_]{{0,3}}",
        re.IGNORECASE | re.MULTILINE,
    )


# A probability beside an answer -------------------------------------------------------------------------------

_REMARK = re.compile(r"\s*(?:(?:-|\(|,)\s*[^\s\d].*|\.?)", re.DOTALL)
"""A remark that may follow a probability, behind a dash, a bracket or a comma."""


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

    ``answered`` and ``stated`` say whether there is an answer, and a confidence; ``inside``, whether that lies within
    its bounds; ``refused``, whether a reply without an answer declines to give one.

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
ANSWER_NAME = rf"(?:(?:my|your|the|final|correct|best)[ ]){{0,3}}answer{_ENDS}"
CONFIDENCE_NAME = (
    rf"(?:(?:my|your|the)[ ])?confidence(?:[ ](?:level|score|rating|in[ ](?:my|this|the)[ ]answer))?{_ENDS}"
)
"""Parts of regular expressions: beginnings of a line, and names of an answer and of a confidence."""

_HEADING = re.compile(
    rf"({LINE_START}(?:{ANSWER_NAME}|{CONFIDENCE_NAME}|(?:(?:my|the|final)[ ]){{0,2}}decision))"
    r"[ :]{0,3}\n\s{0,20}(?=\S)",
    re.IGNORECASE | re.MULTILINE,
)
_TAG = re.compile(r"<(/?)(answer|confidence)>", re.IGNORECASE)
"""``<answer>B</answer>`` is written as a line, and a value below its label is put behind it."""
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


LAYOUTS: Rules = {
    "json": _without_json,
    "tags": lambda text: _TAG.sub(lambda tag: "\n" if tag[1] else f"\n{tag[2]}: ", text),
    "next_line": lambda text: _HEADING.sub(r"\1: ", text),
}
"""Ways to arrange labels and values other than in lines; each is rewritten as lines."""
