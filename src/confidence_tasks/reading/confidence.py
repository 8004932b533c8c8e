"""The confidence that any reply states: one reader for replies to other people's prompts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from confidence_tasks.reading.abstention import is_abstention
from confidence_tasks.reading.cleaning import (
    apply_rules,
    fold,
    last_box,
    strip_latex,
    strip_struck,
    truncate_reply,
)
from confidence_tasks.reading.confidence_scale import AUTO, ConfidenceScale, Value, parse_scale
from confidence_tasks.reading.fields import read_json_fields
from confidence_tasks.reading.languages import FOREIGN_GUESS, FOREIGN_PROBABILITY
from confidence_tasks.reading.layouts import LAYOUTS
from confidence_tasks.reading.sentences import (
    confidences_before_a_word,
    is_about_the_answer,
    revises_confidence,
)
from confidence_tasks.reading.thoughts import strip_thoughts
from confidence_tasks.study.parameter import did_you_mean

Direction: TypeAlias = Literal["confidence", "uncertainty"]


@dataclass(frozen=True, slots=True)
class StatedConfidence:
    """What a reply states about its own answer.

    Attributes
    ----------
    value : float
        Confidence from 0 to 1; NaN if the reply states none that can be read.
    raw : float
        The number as written; NaN for words and without a number.
    unit : str
        Unit of ``raw``: ``probability``, ``percent``, ``share`` (such as 8/10), ``words``, ``letter`` or the scale.
    rule : str
        Rule that read it: ``pattern``, ``json``, ``label``, ``sentence``, ``last_line`` or ``alone``; empty if none.
    answer : str
        The answer beside it: what follows a label, or a short text without the confidence; empty if there is none.
    abstained : bool
        Whether the reply declines to answer.
    reason : str
        Why there is no value; empty if there is one.
    """

    value: float
    raw: float
    unit: str
    rule: str
    answer: str
    abstained: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Preset:
    """How a published prompt asks for an answer and a confidence."""

    scale: str
    labels: tuple[str, ...]
    source: str


_COMMON = (
    *("answer and confidence", "confidence", "certainty", "probability", "likelihood", "credence"),
    *("P(correct)", "P(true)"),
)
_UNCERTAIN = ("uncertainty", "doubt")

PRESETS: Mapping[str, Preset] = {
    "auto": Preset(AUTO, (*_COMMON, "P1"), "any label, and the unit that each reply shows"),
    "tian": Preset("0-1", ("probability", "P1"), "Guess and Probability, 0.0 to 1.0: Tian et al. (2023)"),
    "tian-words": Preset("words", ("confidence", "likelihood"), "the same in expressions of probability"),
    "xiong": Preset("0-100", _COMMON[:2], "Answer and Confidence (0-100): Xiong et al. (2024)"),
    "hle": Preset("0-100", ("confidence",), "Answer and Confidence in percent: Humanity's Last Exam (2025)"),
    "probability": Preset("0-1", _COMMON, "any label, 0 to 1"),
    "percent": Preset("0-100", _COMMON, "any label, 0 to 100"),
    "likert-5": Preset("likert-5", (*_COMMON, "rating"), "1 to 5, or five words"),
    "levels": Preset("levels", _COMMON, "very low, low, medium, high, very high"),
    "letters": Preset("E-A", (*_COMMON, "grade"), "letters from A, certain, to E"),
}  # fmt: skip
"""Presets by name; ``json:KEY`` reads the value of a key."""


class _Found(NamedTuple):
    """A text that may be a confidence, and where it and its label stand."""

    text: str
    rule: str
    begin: int
    end: int
    answer: str = ""


def read_confidence(
    text: str,
    preset: str = "auto",
    *,
    scale: str = "",
    labels: Sequence[str] = (),
    direction: Direction = "confidence",
    key: str = "",
    pattern: str = "",
) -> StatedConfidence:
    r"""Read the confidence that a reply states, whatever prompt it answers.

    Rules are tried in this order: ``pattern``; the value of the JSON ``key``; a label at the start of a line, in quotes
    or in a tag (``Probability: 0.95``, ``"confidence": 95``, ``<confidence>95</confidence>``); ``Confidence`` within a
    line; a sentence (``I am 95% sure``); the second of two lines; a number alone; a percentage behind the answer on the
    last line (``Lima, 95%``). The last value of a rule counts.

    Parameters
    ----------
    text : str
        The reply. Thoughts in it are left out.
    preset : str, default "auto"
        One of :data:`PRESETS`, or ``json:KEY``.
    scale : str, optional
        Scale of the numbers, of which the first bound means no confidence, in place of the preset's: ``0-1``,
        ``0-100``, ``1-5``, ``0.5-1``, ``E-A``, ``words``, ``levels``, ``likert-5`` or ``auto``. On ``auto``, a number
        with a decimal point up to 1 is a probability, a number above 1 is a percentage, and a bare 1 is not read.
    labels : sequence of str, optional
        Labels before the confidence, in place of the preset's.
    direction : {"confidence", "uncertainty"}, default "confidence"
        Whether a high number means sure or unsure; ``uncertainty`` returns 1 minus the value.
    key : str, optional
        Key of a JSON object in the reply that holds the confidence.
    pattern : str, optional
        Regular expression; its first group, or else the whole match, is the confidence.

    Returns
    -------
    StatedConfidence
        Never raises for a reply: what cannot be read is NaN with a reason.

    Raises
    ------
    ValueError
        If the preset, scale or direction is unknown, or the pattern is no regular expression.

    References
    ----------
    Tian et al. (2023), Just ask for calibration, arXiv:2305.14975. Xiong et al. (2024), Can LLMs express their
    uncertainty?, arXiv:2306.13063. Phan et al. (2025), Humanity's Last Exam, arXiv:2501.14249.

    Examples
    --------
    >>> from confidence_tasks import read_confidence
    >>> reading = read_confidence("Guess: Lima\nProbability: 0.95", "tian")
    >>> reading.value, reading.unit, reading.rule, reading.answer
    (0.95, 'probability', 'label', 'Lima')
    >>> read_confidence("Uncertainty score: 10", scale="0-100", direction="uncertainty").value
    0.9
    >>> read_confidence('{"answer": "Lima", "sure": 4}', "json:sure", scale="1-5").value
    0.75
    >>> read_confidence("I don't know.").abstained, read_confidence("Confidence: 1").reason
    (True, 'a bare 1, which is certainty or one percent')
    """
    reader = confidence_reader(preset, scale, tuple(labels), direction, key, pattern)
    return reader.read(text)


@dataclass(frozen=True, slots=True)
class ConfidenceReader:
    """The arguments of :func:`read_confidence`, checked."""

    scale: ConfidenceScale
    label: re.Pattern[str]
    direction: Direction
    key: str
    pattern: re.Pattern[str] | None

    def read(self, text: str) -> StatedConfidence:
        """Read a reply."""
        plain = _plain(text)
        found, value = self._first_read(plain)
        answer, rest = _answer(plain, found)
        if found and found.rule not in ("pattern", "json") and _is_revised(plain, found, value.raw):
            value = Value(raw=value.raw, reason="a later sentence revises it")
        if self.direction == "uncertainty":
            value = value._replace(value=1.0 - value.value)
        rule = found.rule if found and not math.isnan(value.value) else ""
        abstained = is_abstention(answer or rest)
        return StatedConfidence(*value[:3], rule, answer, abstained, value.reason)

    def _first_read(self, plain: str) -> tuple[_Found | None, Value]:
        """Return the first text that is a value on the scale; else the first text, and why it is none."""
        unread: tuple[_Found | None, Value] = None, Value(reason="no confidence was found")
        for found in self._candidates(plain):
            value = self.scale.read(found.text)
            if not value.reason:
                return found, value
            unread = unread if unread[0] else (found, value)
        return unread

    def _candidates(self, plain: str) -> Iterator[_Found]:
        if self.pattern:
            yield from _last(plain, self.pattern, "pattern")
            return
        if self.key:
            fields = read_json_fields(plain, (self.key,), last=True).fields
            yield from (_Found(value, "json", 0, 0) for value in fields.values())
            return
        yield from _last(plain, self.label, "label")
        if self.direction == "confidence":
            yield from _last(plain, _WITHIN, "label")
            yield from _last_sentence(plain)
        yield from _alone(plain, self.scale)
        yield from _beside_the_answer(plain)


def _is_revised(plain: str, found: _Found, raw: float) -> bool:
    """Return True if the rest of the line, or a later sentence, replaces a confidence."""
    return bool(_WITHIN.search(found.text)) or revises_confidence(found.text + plain[found.end :], raw)


_LAYOUTS = {name: LAYOUTS[name] for name in ("labels", "table")}
_TAGGED = re.compile(r"<(answer|guess)>([^<>]{0,1000})</\1>", re.IGNORECASE)


def _plain(text: str) -> str:
    visible = strip_struck(strip_thoughts(truncate_reply(text))) if isinstance(text, str) else ""
    plain = apply_rules(_LAYOUTS, _TAGGED.sub(r"\n\1: \2\n", fold(visible)))[0]
    for label, pattern in _FOREIGN.items():
        plain = pattern.sub(rf"\1{label}", plain)
    return plain


_FOREIGN = {
    label: re.compile(rf"^([^\w\n]{{0,8}})(?:{names})(?=[ *_`]{{0,4}}[:=])", re.IGNORECASE | re.MULTILINE)
    for label, names in (("Probability", FOREIGN_PROBABILITY), ("Guess", FOREIGN_GUESS))
}
"""Labels of the presets in other languages, at the start of a line."""


@lru_cache(maxsize=64)
def confidence_reader(
    preset: str = "auto",
    scale: str = "",
    labels: tuple[str, ...] = (),
    direction: Direction = "confidence",
    key: str = "",
    pattern: str = "",
) -> ConfidenceReader:
    """Check the arguments of :func:`read_confidence`; ValueError if one is not valid."""
    if preset.startswith("json:"):
        preset, key = "auto", preset.removeprefix("json:")
    if preset not in PRESETS:
        raise ValueError(
            f"there is no preset {preset!r}; there are {', '.join(PRESETS)} and json:KEY"
            f"{did_you_mean(preset, list(PRESETS))}"
        )
    if direction not in ("confidence", "uncertainty"):
        raise ValueError(f"direction must be confidence or uncertainty, got {direction!r}")
    chosen = PRESETS[preset]
    usual = _UNCERTAIN if direction == "uncertainty" else chosen.labels
    try:
        compiled = re.compile(pattern) if pattern else None
    except re.error as error:
        raise ValueError(f"pattern {pattern!r} is no regular expression: {error}") from None
    return ConfidenceReader(
        parse_scale(scale or chosen.scale), _label_pattern(labels or usual), direction, key, compiled
    )


_OPENS = r"(?:^[^\w\n]{0,8}|[\"'<][*_]{0,2}|[.;,(|][ ]{0,2}|[ ][-–—][ ])"
_QUALIFIERS = (
    r"(?:[ _-](?:scores?|levels?|ratings?|estimates?|values?|percentages?|in[ ](?:my|this|the)[ ]answer|"
    r"(?:of|that)[ ][^:=\n]{1,60}))?(?:[ ]?[\[(][^()\[\]\n]{0,60}[\])])?"
)
_ENDS = r"[\"'*_`]{0,4}[ \t]{0,3}[:=>][\s\"'*_`]{0,8}"
_LINE = r"(?P<value>[^\n]{1,200})"


def _label_pattern(labels: Sequence[str]) -> re.Pattern[str]:
    names = "|".join(re.escape(label).replace(r"\ ", "[ _-]") for label in labels)
    lead = r"(?:(?:my|your|the|final|overall|estimated)[ _-]){0,2}"
    return re.compile(rf"{_OPENS}{lead}(?:{names}){_QUALIFIERS}{_ENDS}{_LINE}", re.IGNORECASE | re.MULTILINE)


_WITHIN = re.compile(
    r"(?<!lack[ ]of[ ])\b(?:confidence|certainty)(?:[ ](?:score|level|rating))?(?:[ ]?\([^()\n]{0,60}\))?"
    rf"(?:{_ENDS}|[ ](?:is|was|would[ ]be|at|of)[ ]){_LINE}",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"^[^\w\n]{0,8}(?:(?:my|your|the|final|best|exact|correct)[ ]){0,3}(?:answer|guess|G1)(?:[ ]?\d)?"
    r"(?:[\"'*_`]{0,4}[ ]{0,3}[:=>][ \t\"'*_`]{0,8}(?P<value>[^\n]{1,1000})"
    r"|[ ]is[ ](?!not\b|as\b|probab|likely|unknown|unclear|un?certain|that\b|because\b)(?P<said>[^\n.,;:]{1,80})[.]?$)",
    re.IGNORECASE | re.MULTILINE,
)
_BOTH = re.compile(r"(?P<answer>.{1,1000}?)[,;]\s{1,3}(?P<number>[^,;\s]{1,20})\s*", re.DOTALL)
"""An answer and its confidence on one line."""


def _last(plain: str, pattern: re.Pattern[str], rule: str) -> Iterator[_Found]:
    """Yield the last match of a pattern. A confidence beside an answer on one line follows the last comma."""
    matches = list(pattern.finditer(plain))
    for match in matches[-1:]:
        text = match["value"] if "value" in pattern.groupindex else match[min(1, pattern.groups)]
        yield _Found(text or "", rule, match.start(), match.end())
        if both := _BOTH.fullmatch(text or ""):
            yield _Found(both["number"], rule, match.start(), match.end(), both["answer"])


def _last_sentence(plain: str) -> Iterator[_Found]:
    """Yield the last number before a word such as ``sure``, if it has a unit and its sentence is about the answer."""
    matches = [m for m in confidences_before_a_word(plain) if m["percent"] or m["whole"]]
    yield from (
        _Found(match["figures"], "sentence", match.start("first"), match.end())
        for match in matches[-1:]
        if is_about_the_answer(plain, *match.span())
    )


_NUMBER_ALONE = re.compile(r"[^\w\n.]{0,4}(?:\d{1,6}(?:[.,]\d{1,20})?|\.\d{1,20})\s?%?[^\w\n]{0,4}")
_SHOWS_UNIT = re.compile(r"[.,]\d|%")


def _alone(plain: str, scale: ConfidenceScale) -> Iterator[_Found]:
    """Yield the second of two lines, or the only line, if it is a number or a word of the scale."""
    lines = _lines(plain, " \t\r")
    if len(lines) in (1, 2) and _is_value(lines[-1], scale):
        begin = plain.rindex(lines[-1])
        yield _Found(lines[-1], "last_line" if len(lines) == 2 else "alone", begin, begin + len(lines[-1]))


_BESIDE = re.compile(
    r"(?P<label>[^\w\n]{0,8}(?:(?:my|the|final)[ ]){0,2}(?:answer|guess)[*_]{0,2}[ ]?[:=][*_ ]{0,4})?"
    r"(?P<answer>.{1,1000}?)(?:(?P<comma>[,;])\s{1,3}|\s-\s|\s?[(\[])(?P<number>[\d.,]{1,8}\s?%)[)\]]?[.*]{0,3}",
    re.IGNORECASE,
)
"""An answer and a percentage behind it: after a comma, after a dash, or in brackets."""


def _beside_the_answer(plain: str) -> Iterator[_Found]:
    """Yield the percentage behind the answer on the last line, as in ``Lima, 79%``.

    A dash or brackets need a label before the answer, or a reply of one line: prose may end in ``(79%)``, too.
    """
    lines = _lines(plain, " \t\r") or [""]
    both = _BESIDE.fullmatch(lines[-1][-1_000:])
    if both and (both["comma"] or both["label"] or len(lines) == 1):
        begin = plain.rindex(lines[-1])
        yield _Found(both["number"], "last_line", begin, begin + len(lines[-1]), both["answer"])


def _is_value(line: str, scale: ConfidenceScale) -> bool:
    """Return whether a line is nothing but a value; without a known scale, the unit has to be shown."""
    if scale.name == AUTO:
        return bool(_NUMBER_ALONE.fullmatch(line) and _SHOWS_UNIT.search(line))
    return bool(_NUMBER_ALONE.fullmatch(line)) or line.strip(" .*\"'").casefold() in scale.words


def _lines(text: str, around: str) -> list[str]:
    return list(filter(None, (line.strip(around) for line in text.splitlines())))


def _answer(plain: str, found: _Found | None) -> tuple[str, str]:
    """Return the labelled answer, or a single line beside the confidence; and the reply without the confidence."""
    rest = plain if found is None else f"{plain[: found.begin]}\n{plain[found.end :]}"
    beside = found.answer if found else ""
    return (_labelled_answer(plain, rest) or beside.strip(_AROUND_ANSWER) or _only_line(rest)), rest


def _labelled_answer(plain: str, rest: str) -> str:
    box = last_box(plain)
    fields = read_json_fields(plain, ("answer",), last=True).fields if "{" in plain and not box else {}
    labelled = list(_ANSWER.finditer(rest))
    last = (labelled[-1]["value"] or labelled[-1]["said"]).strip(_AROUND_ANSWER) if labelled else ""
    stated = "" if last_box(last) else _JOINS.sub("", last)
    return fields.get("answer", "").strip() or stated or strip_latex(box)


def _only_line(rest: str) -> str:
    lines = _lines(rest, _AROUND_ANSWER)
    return lines[0] if len(lines) == 1 and not _FILLER.fullmatch(lines[0]) else ""


_AROUND_ANSWER = " \t\r\"'*_`,;|("
_JOINS = re.compile(r"\s(?:[-–—]|with)\Z")
"""What is left between an answer and a confidence on its line."""

_FILLER = re.compile(r"\W*(?:my|i am|i'm|i|with|and|the|so)\W*|\W*", re.IGNORECASE)
"""What is left of a sentence about confidence."""
