"""Reading the fields of a JSON object in a reply: strict JSON first, then JSON amid other text, then field by field.

Nothing is invented: a field that the reply does not state, or breaks off in, is absent. Numbers keep the digits that
were written, so that huge integers cost nothing and nothing is rounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from confidence_tasks.reading.cleaning import CLEANING, fold

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
"""A comma between digits ends no value: it is that of 0,85 or of 1,000."""
_TEMPLATE = re.compile(r"\s*<[^<>]*>\s*")
"""The prompt's own description of a value, repeated."""
_COMMENT = re.compile(r"\s*(?://|/\*|\s#).*")


@dataclass(frozen=True, slots=True)
class JsonFields:
    """What a reply states for the keys that were asked for.

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
"""Names of the lenient rules, and what each does."""


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
    exact = _strict(text, keys)
    if exact is not None:
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


def _decoder(*, strict: bool) -> json.JSONDecoder:
    return json.JSONDecoder(
        strict=strict, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=_Object
    )


_STRICT, _LENIENT = _decoder(strict=True), _decoder(strict=False)


def _strict(text: str, keys: Sequence[str]) -> JsonFields | None:
    """Read a text that is one JSON object and nothing else."""
    try:
        value = _STRICT.decode(text)
    except (ValueError, RecursionError):
        return None
    return _found(value, keys) if isinstance(value, _Object) else None


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
