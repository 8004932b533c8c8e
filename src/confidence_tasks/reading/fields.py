"""Reading of the labelled fields of a reply, such as those of a JSON object, and of probabilities.

JSON is parsed strictly first, then inside other text, then field by field. A field that the reply does not contain, or
in which it breaks off, is absent. Numbers are kept as text, so that huge integers cost no time and no digit is rounded.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from confidence_tasks.reading.abstention import is_refusal
from confidence_tasks.reading.answers import Answer
from confidence_tasks.reading.cleaning import CLEANING, fold, truncate_reply
from confidence_tasks.reading.numbers import SPAN, find_numbers
from confidence_tasks.reading.sentences import (
    NUMBER,
    OUT_OF,
    confidences_before_a_word,
    is_about_the_answer,
    revises_confidence,
    share_of,
)
from confidence_tasks.study.trial import Reading, Status

_CLEANING = {name: CLEANING[name] for name in ("thought", "chat_tokens")}
"""Cleaning rules that do not change JSON."""

_MOST_OBJECTS = 256
_OPENING = re.compile(r"\{\s{0,20}[\"'}]")
_AFTER_TEXT = (
    r"(?=\s{0,20}(?:,\s{0,20}(?:[\"'][^\"'\n]{1,60}[\"']\s{0,8}:|//|/\*|\#|\}|\n|\Z)|\}|\n|//|/\*|\#|\Z))"
)
"""Text after the quotation mark that ends a string: the next key, the end of the object or line, or a comment."""
_VALUE = re.compile(
    rf"""\s{{0,20}}(?:"(?P<double>[^\n]{{0,1000}}?)"{_AFTER_TEXT}"""
    rf"""|'(?P<single>[^\n]{{0,1000}}?)'{_AFTER_TEXT}"""
    r"""|(?P<bare>[^\s,{}\[\]"'](?:[^,{}\[\]\n]|(?<=\d),(?=\d)){0,400})(?P<end>\Z)?)"""
)
"""A value. A comma ends it, unless the comma is between digits, as in 0,85 or 1,000."""
_TEMPLATE = re.compile(r"\s*<[^<>]*>\s*")
"""A placeholder that is repeated from the prompt."""
_COMMENT = re.compile(r"\s*(?://|/\*|\s#).*")


@dataclass(frozen=True, slots=True)
class JsonFields:
    """The values of the requested keys in a reply.

    Attributes
    ----------
    fields : mapping of str to str
        Values by requested key: strings, numbers in the digits of the reply, ``true`` or ``false``. A key that is
        missing, null, a list or an object is absent.
    rules : tuple of str
        Names of the lenient rules that were needed, in order; empty if the reply is one JSON object and nothing else.
    """

    fields: Mapping[str, str]
    rules: tuple[str, ...] = ()


def read_json_fields(text: str, keys: Sequence[str], *, last: bool = False) -> JsonFields:
    r"""Read the values of ``keys`` from any text, in linear time and in any letter case of the keys.

    If several objects contradict each other, the ``last`` one counts on request, for prompts that ask for an object at
    the end. By default the keys that differ are absent.

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
    for name, rule in _CLEANING.items():
        cleaned = rule(text)
        if cleaned != text:
            cleaning.append(name)
        text = cleaned
    result = _read(text, keys, last)
    return JsonFields(result.fields, (*cleaning, *result.rules))


def _read(text: str, keys: Sequence[str], last: bool) -> JsonFields:
    """Read the keys as strictly as possible; a more lenient way is tried if a stricter one does not find all keys."""
    try:
        value = _STRICT.decode(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, _Object) and (exact := _read_object(value, keys)) is not None:
        return exact
    objects = _read_objects(text, keys, last)
    if objects and len(objects.fields) == len(keys):
        return objects
    results = filter(None, (objects, _read_keys(text, keys, last)))
    return max(results, key=lambda result: len(result.fields), default=JsonFields({}))


class _Object(dict[str, Any]):
    """A decoded object. A key with two different values is null."""

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


def _read_objects(text: str, keys: Sequence[str], last: bool) -> JsonFields | None:
    """Read the most complete JSON object in a text."""
    objects: list[JsonFields] = []
    end = 0
    for opening in [match.start() for match in _OPENING.finditer(text)][-_MOST_OBJECTS:]:
        if opening < end:
            continue
        try:
            value, stop = _LENIENT.raw_decode(text, opening)
        except (ValueError, RecursionError):
            continue
        fields = _read_object(value, keys)
        if fields is not None:
            end = stop
            around = text[:opening].strip() or text[stop:].strip()
            objects.append(JsonFields(fields.fields, ("around" if around else "newlines", *fields.rules)))
    return _most_complete(objects, last)


def _read_keys(text: str, keys: Sequence[str], last: bool) -> JsonFields | None:
    """Read ``"key": value`` anywhere in a text, and ``key: value`` at the start of a line."""
    text = fold(text)
    requested = {key.casefold(): key for key in keys}
    groups: list[dict[str, str]] = []
    for match in _keys_pattern(tuple(keys)).finditer(text):
        value = _VALUE.match(text, match.end())
        if (
            value is None
            or (match["quoted"] and value["end"] is not None)
            or _TEMPLATE.fullmatch(_value_text(value))
        ):
            continue
        key = requested[(match["quoted"] or match["plain"]).casefold()]
        if not groups or key in groups[-1]:
            groups.append({})
        groups[-1][key] = _value_text(value)
    ordered = [{key: group[key] for key in keys if key in group} for group in groups]
    return _most_complete([JsonFields(fields, ("fields",)) for fields in ordered], last)


def _most_complete(objects: Sequence[JsonFields], last: bool) -> JsonFields | None:
    """Return the fields that all of the most complete objects agree on, or the last of these objects."""
    if not objects:
        return None
    size = max(len(item.fields) for item in objects)
    first, *others = complete = [item for item in objects if len(item.fields) == size]
    if last:
        final = complete[-1]
        changed = any(item.fields != final.fields for item in complete)
        return JsonFields(final.fields, (*final.rules, "last") if changed else final.rules)
    agreed = {
        key: value for key, value in first.fields.items() if all(value == o.fields.get(key) for o in others)
    }
    return JsonFields(agreed, first.rules if len(agreed) == size else (*first.rules, "several"))


def _read_object(value: _Object, keys: Sequence[str]) -> JsonFields | None:
    """Return the scalar values of ``keys`` in the object or in an object inside it."""
    fields: dict[str, str] = {}
    rules: dict[str, None] = {"several": None} if value.contradicts else {}
    inner = [item for item in value.values() if isinstance(item, _Object)]
    for key in keys:
        for name, container in (("", value), *(("nested", item) for item in inner)):
            exact = container.get(key)
            item = exact if exact is not None else _fold_keys(container).get(key.casefold())
            text = _scalar(item)
            if text is not None:
                fields[key] = text
                rules |= {rule: None for rule in (name, "" if exact is not None else "key_case") if rule}
                break
    return JsonFields(fields, tuple(rules)) if fields else None


def _fold_keys(value: _Object) -> dict[str, Any]:
    return {name.strip().casefold(): item for name, item in value.items()}


def _scalar(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) and not _TEMPLATE.fullmatch(value) else None


def _value_text(value: re.Match[str]) -> str:
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

_REMARK = re.compile(r"\s*(?:(?:-(?!>)|\(|,)\s*[^\s\d].*|\.?)", re.DOTALL)
"""A remark after a probability, which begins with a dash, a bracket or a comma."""
_SHARE = re.compile(rf"(?P<first>{NUMBER}){OUT_OF}", re.IGNORECASE)


def read_probability(text: str) -> tuple[float, tuple[str, ...]]:
    """Read the probability that a short text states; return it with the names of the lenient rules needed.

    A percentage is divided by 100, and a number out of another one by that number. The number may be outside [0, 1].
    It is NaN if the text does not begin with a number, unless it is a sentence such as ``I am 85% confident``. It is
    also NaN if the text continues with anything but a remark after a dash, a bracket or a comma, or with a revision.

    Examples
    --------
    >>> for text in ("0.85", "85%", "0.9 (sure)", "1.2", "0.7-0.8", "17 out of 20", "I am 85% sure", "0.8, no, 0.6"):
    ...     print(text, *read_probability(text))
    0.85 0.85 ()
    85% 0.85 ('percent',)
    0.9 (sure) 0.9 ('remark',)
    1.2 1.2 ()
    0.7-0.8 nan ()
    17 out of 20 0.85 ('share',)
    I am 85% sure 0.85 ('sentence', 'percent')
    0.8, no, 0.6 nan ('revised',)
    """
    plain = fold(text[:SPAN]).strip()
    number = next(find_numbers(plain), None)
    if number is None or number.start > 0 or "fraction" in number.forms:
        return _share_or_sentence(plain)
    if not _REMARK.fullmatch(plain, number.end):
        return _share_or_sentence(plain)
    value = float(number.value / 100 if number.percent else number.value)
    if revises_confidence(plain[number.end :], value):
        return math.nan, ("revised",)
    rules = (("percent", number.percent), ("remark", plain != number.text))
    return value, (*(name for name, applies in rules if applies), *number.forms)


def _share_or_sentence(text: str) -> tuple[float, tuple[str, ...]]:
    """Read a text that states a number out of another one, or a sentence such as ``I am 85% confident``."""
    share = _SHARE.match(text)
    if share is None or not _REMARK.fullmatch(text, share.end()):
        return _probability_in_sentence(text)
    value = share_of(float(share["first"].replace(",", ".")), share["whole"], share["joint"])
    return (value, ("share",)) if is_probability(value) else (math.nan, ())


def _probability_in_sentence(text: str) -> tuple[float, tuple[str, ...]]:
    """Read a text that states one confidence before a word, such as ``I am 85% confident``."""
    matches = list(confidences_before_a_word(text))
    if len(matches) != 1 or not is_about_the_answer(text, *matches[0].span()):
        return math.nan, ()
    value, rules = read_probability(matches[0]["figures"])
    return value, ("sentence", *rules)


def is_probability(value: float) -> bool:
    """Return True if a number is in [0, 1], and False for NaN."""
    return 0.0 <= value <= 1.0


def declines(answer: str, reply: str) -> bool:
    """Return True if the field of the answer, or else a reply without any JSON, declines to answer.

    Examples
    --------
    >>> declines("Unknown", "..."), declines("", "I cannot answer.")
    (True, True)
    >>> declines("", '{"Reasoning": "I cannot answer')
    False
    """
    return is_refusal(answer or ("" if "{" in reply else reply))


def status_of(*, answered: bool, stated: bool, inside: bool, refused: bool, rules: Sequence[str]) -> Status:
    """Return the status of a reply: its first fault, or whether lenient ``rules`` were needed.

    A reply has an answer if ``answered`` and a confidence if ``stated``, which is within its bounds if ``inside``. A
    reply without an answer declines to answer if ``refused``.

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


def read_field_of_confidence(fields: JsonFields, text: str) -> tuple[float, tuple[str, ...]]:
    """Read the field ``Confidence`` of a reply, unless the text after the last object revises it."""
    value, rules = read_probability(fields.fields.get("Confidence", ""))
    _, closed, after = text.rpartition("}")
    return (math.nan, (*rules, "revised")) if closed and revises_confidence(after, value) else (value, rules)


def read_answer_and_confidence(text: str, read: Callable[[str], Answer]) -> Reading:
    """Read the JSON fields ``Answer`` and ``Confidence`` of any text; ``read`` reads the value of ``Answer``."""
    text = truncate_reply(text)
    json_fields = read_json_fields(text, KEYS)
    stated_answer = json_fields.fields.get("Answer", "")
    answer = read(stated_answer)
    value, interpreted = read_field_of_confidence(json_fields, text)
    rules = (*json_fields.rules, *answer.rules, *interpreted)
    status = status_of(
        answered=answer.found,
        stated=not math.isnan(value),
        inside=is_probability(value),
        refused=not answer.found and declines(stated_answer, text),
        rules=rules,
    )
    return Reading(answer.text, value, status, rules)
