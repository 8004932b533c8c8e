"""Confidence scales: reading a reply into a trial, and the measures of the study.

Dai (2026), arXiv:2603.09309, section 3.3.

A reply to the letter of the format that was asked for is ``ok``. Any other is read by a few rules once `cleaning` has
cleared away what surrounds it. The confidence is what the last line that begins with ``Confidence`` states, or what
that word introduces behind an answer on its line. The answer stands behind ``Answer:``, else behind ``the answer is``,
else in a box, else alone before the confidence. The reading names the rules that it took. Nothing is ever filled in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from confidence_tasks.reading.answers import Answer, is_refusal, read_answer, stated_sentence, takes_back
from confidence_tasks.reading.cleaning import (
    apply_rules,
    bounded,
    clean,
    clean_value,
    is_placeholder,
    last_box,
    read_first_turn,
)
from confidence_tasks.reading.explanation import answer_and_key, number
from confidence_tasks.reading.fields import ANSWER_NAME, CONFIDENCE_NAME, LAYOUTS, LINE_START, status_of
from confidence_tasks.reading.grading import grade
from confidence_tasks.simulation.reply import answer, ways_to_say
from confidence_tasks.simulation.subject import Subject, long_run
from confidence_tasks.studies.scales.replies import (
    Elicitation,
    Format,
    Scale,
    format_of,
    out_of_format,
    reply_in_format,
    report_distribution,
)
from confidence_tasks.study.measures import (
    ACCURACY,
    ACCURACY_OF_ALL,
    ANY,
    CONFIDENCE,
    PARSE_RATE,
    PARSE_RATE_STRICT,
    UNIT,
    Bounds,
    Measure,
    calibration_error,
    share,
    statistic_of,
)
from confidence_tasks.study.stage import ModelReply, Replies, Token
from confidence_tasks.study.standard import (
    AUROC,
    BRIER,
    ECE,
    M_RATIO,
    META_INFORMATION,
    OVERCONFIDENCE,
    of_threshold,
)
from confidence_tasks.study.trial import Kind, Question, Reading, ReadTrial, read_trial

SPAN = 500
"""Maximum number of characters that are read of a value."""


@dataclass(frozen=True, slots=True)
class ScaleReport:
    """A confidence as stated on a scale.

    Attributes
    ----------
    raw : float
        The number, in the units of the scale, wherever it lies; NaN when there is none.
    rules : tuple of str
        The lenient rules used, or why there is no number; empty for a plain integer.
    """

    raw: float
    rules: tuple[str, ...] = ()


_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,5})", re.ASCII)
_NUMBER = r"\d{1,300}(?:\.\d{1,20})?(?![\d.,_]*\d)"


@lru_cache(maxsize=64)
def _report(scale: Scale) -> re.Pattern[str]:
    """Match a number and what may stand around it; a remark may name the bounds of the scale."""
    bounds = rf"(?<![\d.]){scale.lower}\s?(?:-|to|,|and)\s?{scale.upper}(?![\d%])"
    return re.compile(
        rf"""
        (?P<hedge>(?:about|around|approximately|approx\.?|roughly|~)\s?)?
        (?:(?P<range>{_NUMBER})\s?%?\s?(?:-|to)\s?)?
        (?P<number>(?(range)|[+-]?){_NUMBER})
        (?P<percent>\s?(?:%|percent\b|per\scent\b))?
        (?:\s?(?:/|out\sof\b)\s?(?P<whole>{_NUMBER}))?
        (?P<remark>\s(?:confident|confidence|sure|certain)\b)?
        (?P<rest>\W{{0,8}}|\s?(?:[-(\[.,;:!]|\bon\b)(?:\D|{bounds})*)
        """,
        re.VERBOSE | re.IGNORECASE,
    )


def read_confidence(value: str, scale: Scale) -> ScaleReport:
    """Read the confidence that a short text, such as what follows ``Confidence:``, states.

    The first `SPAN` characters of ``value`` are read. The number is as said, on the scale that was asked for or off it;
    NaN when none is stated.

    Examples
    --------
    >>> for text in ("17", "17/20", "about 15%", "15-18", "4/5", "0-20", "High"):
    ...     print(text, "->", read_confidence(text, Scale(0, 20)))
    17 -> ScaleReport(raw=17.0, rules=())
    17/20 -> ScaleReport(raw=17.0, rules=('of_upper',))
    about 15% -> ScaleReport(raw=15.0, rules=('hedge', 'percent'))
    15-18 -> ScaleReport(raw=16.5, rules=('range',))
    4/5 -> ScaleReport(raw=nan, rules=('of_upper',))
    0-20 -> ScaleReport(raw=nan, rules=('range',))
    High -> ScaleReport(raw=nan, rules=())
    """
    value = value[:SPAN].strip()
    if _INTEGER.fullmatch(value):
        return ScaleReport(float(value))
    value, used = clean_value(value)
    match = _report(scale).fullmatch(value)
    if match is None:
        return ScaleReport(math.nan, used)
    number, other = float(match["number"]), match["range"]
    forms = {
        "decimal": "." in match["number"],
        "hedge": match["hedge"],
        "range": other,
        "percent": match["percent"],
        "of_upper": match["whole"],
        "remark": match["remark"] or re.search(r"\w", match["rest"]),
    }
    rules = (*used, *(name for name, applies in forms.items() if applies)) or ("numeral",)
    if other:
        low, high = float(other), number
        echoed = (low, high) == (scale.lower, scale.upper)
        number = math.nan if echoed or not scale.lower <= low < high <= scale.upper else (low + high) / 2
    of_another_scale = (forms["decimal"] and 0 <= number <= 1) or (
        match["whole"] and float(match["whole"]) != scale.upper
    )
    return ScaleReport(math.nan if of_another_scale else number, rules)


# The format asked for -------------------------------------------------------------------------------------------


def _strict_values(text: str, asked: Format) -> list[str] | None:
    """Return what follows each label of a format, None where the text departs from it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    free, lines = lines[: -len(asked.labels)], lines[-len(asked.labels) :]
    kept = (
        text.lstrip().startswith(asked.free or asked.labels[0])
        and len(lines) == len(asked.labels)
        and all(map(str.startswith, lines, asked.labels))
        and bool(free) == bool(asked.free)
        and not any(line.startswith(asked.labels) for line in free)
    )
    return [*map(str.strip, map(str.removeprefix, lines, asked.labels))] if kept else None


@dataclass(frozen=True, slots=True)
class Asked:
    """Scale, kind of answer and format that the prompt asks for."""

    scale: Scale
    kind: Kind
    choices: Sequence[str]
    form: Format

    def read(self, value: str) -> Answer:
        """Read a text as an answer."""
        return read_answer(value, self.kind, self.choices)


def _read_strictly(text: str, asked: Asked) -> Reading | None:
    """Read a reply to the letter of the format; None for any other."""
    values = _strict_values(text, asked.form)
    if values is None:
        return None
    answers = [asked.read(value) for value in values[::2]]
    reports = [read_confidence(value, asked.scale) for value in values[1::2]]
    if any(answer.rules or not answer.text for answer in answers) or any(report.rules for report in reports):
        return None
    inside = all(asked.scale.lower <= report.raw <= asked.scale.upper for report in reports)
    return Reading(answers[0].text, reports[0].raw, "ok") if inside else None


# Any other reply ------------------------------------------------------------------------------------------------

_COLON = r"(?:[ ]is)?[ ]{0,3}[:=]"
_ANSWER_LABEL = re.compile(rf"{LINE_START}{ANSWER_NAME}{_COLON}", re.IGNORECASE | re.MULTILINE)
_ANSWER_CUE = re.compile(
    r"\b(?:the|my)[ ](?:(?:final|correct|best)[ ])?(?:answer|option)[ ]is[ ]", re.IGNORECASE
)
_CONFIDENCE_LABEL = re.compile(
    rf"{LINE_START}{CONFIDENCE_NAME}(?:{_COLON}|[ ]is[ ])", re.IGNORECASE | re.MULTILINE
)
_CONFIDENCE_AFTER_ANSWER = re.compile(rf"(?<=[\s,;|(]){CONFIDENCE_NAME}(?:{_COLON}|[ ]is[ ])", re.IGNORECASE)
_LINE = re.compile(r"^.*\S", re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|,?\s(?=(?:and|with)\b)", re.IGNORECASE)
_SAYS_SOMETHING = re.compile(r"[^\s!-/:-@\[-`{-~]")

LONGEST_LINE = 1_000
"""Maximum number of characters that are read behind a label."""

MAX_LINES = 40
"""Maximum number of lines without a label that are searched for an answer."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a reply, from ``start`` to ``end`` with its label, and the rule that found it."""

    value: str
    start: int
    end: int
    rule: str = ""

    @property
    def empty(self) -> bool:
        """Whether there is nothing but signs, or the template's own words."""
        return not any(map(str.isalnum, self.value)) or is_placeholder(self.value)


def _statements(text: str) -> tuple[list[Statement], list[Statement], list[Statement]]:
    """Return the labelled answers, those behind ``the answer is``, and the confidences, in order, up to the line's end.

    An answer ends at a confidence on its line, which counts only where no other line begins with one.
    """
    confidences = [_behind(text, label) for label in _CONFIDENCE_LABEL.finditer(text)]
    inner: dict[int, Statement] = {}
    answers: list[Statement] = []
    cued: list[Statement] = []
    for pattern, found in ((_ANSWER_LABEL, answers), (_ANSWER_CUE, cued)):
        for label in pattern.finditer(text):
            answer = _behind(text, label)
            if second := _CONFIDENCE_AFTER_ANSWER.search(text, label.end(), answer.end):
                inner[second.start()] = _behind(text, second)
                answer = _behind(text, label, second.start())
            found.append(answer)
    stated = [confidence for confidence in confidences if not confidence.empty]
    return answers, cued, stated or [inner[start] for start in sorted(inner) if not inner[start].empty]


def _behind(text: str, label: re.Match[str], end: int = -1) -> Statement:
    """Return what stands behind a label, up to the end of the line if no other is given."""
    if end < 0:
        end = text.find("\n", label.end(), label.end() + LONGEST_LINE)
        end = end if end >= 0 else min(len(text), label.end() + LONGEST_LINE)
    return Statement(text[label.end() : end].strip(" \t,;|("), label.start(), end)


def _find_answer(
    text: str, answers: Sequence[Statement], cued: Sequence[Statement], before: int, asked: Asked
) -> Statement | None:
    """Return what stands at the first sort of place where an answer may stand, however it reads.

    ``before`` is where the confidence begins, or -1.
    """
    if labelled := [answer for answer in answers if not answer.empty]:
        return labelled[asked.form.counts]
    for cue in cued[-1:]:
        sentence = stated_sentence(cue.value, _SENTENCE_END, asked.kind, asked.choices)
        if asked.read(sentence).found:
            end = text.find(sentence, cue.start) + len(sentence)
            return Statement(sentence, cue.start, end, "cue")
    if box := last_box(text):
        start = text.rfind(box)
        return Statement(box, start, start + len(box), "box")
    bare = [] if answers else _bare_answers(text, before, asked)
    agree = len({asked.read(answer.value).text for answer in bare}) == 1
    return bare[-1] if agree else None


def _bare_answers(text: str, before: int, asked: Asked) -> list[Statement]:
    """Return what stands alone before the confidence, or is the whole reply.

    Beside other lines, those count that are an option or a word and nothing else; a number may end the last line.
    """
    shown = _LINE.finditer(text if before < 0 else text[:before])
    lines = [Statement(line[0].strip(), line.start(), line.end(), "bare_answer") for line in shown]
    alone, number = len(lines) == 1, asked.kind == "number"
    if number and before >= 0:
        lines = lines[-1:]
    elif asked.kind in {"number", "text"} and not alone:
        return []
    leniently = before >= 0 and (alone or number)
    readings = [(line, asked.read(line.value)) for line in lines[:MAX_LINES]]
    return [line for line, reading in readings if reading.found and (leniently or not reading.rules)]


def _departures(text: str, answer: Statement, report: Statement, free: str) -> Iterator[str]:
    """Name how the two parts depart from the order and the lines of the format."""
    first, second = sorted((answer, report), key=lambda statement: statement.start)
    if first is not answer:
        yield "order"
    if "\n" not in text[first.end : second.start]:
        yield "one_line"
    before, rest = text[: first.start], text[first.end : second.start] + text[second.end :]
    if _SAYS_SOMETHING.search(rest if free and before.startswith(free) else before + rest):
        yield "extra_text"


def _unpaired(answers: Sequence[Statement], answer: Statement, report: Statement, asked: Asked) -> bool:
    """Return whether the last answer replaces an earlier one without a new confidence."""
    before = [one for one in answers if one.start < report.start and not one.empty]
    return (
        bool(before)
        and answer.start > report.start
        and asked.read(before[-1].value).text != asked.read(answer.value).text
    )


def _read_leniently(text: str, asked: Asked) -> Reading:
    """Read any reply by the rules."""
    cleaned, used = clean(text)
    reading, cut = read_first_turn(
        cleaned,
        lambda turn: _read_turn(turn, asked),
        lambda reading: reading.answer or not math.isnan(reading.confidence_raw),
    )
    rules = tuple(dict.fromkeys((*used, *(("next_turn",) if cut else ()), *reading.rules)))
    return replace(reading, rules=rules or (("label",) if reading.status == "repaired" else ()))


def _read_turn(text: str, asked: Asked) -> Reading:
    """Read what one speaker says."""
    scale = asked.scale
    text, layouts = apply_rules(LAYOUTS, text)
    answers, cued, confidences = _statements(text)
    stated = confidences[asked.form.counts] if confidences else None
    report = read_confidence(stated.value.rstrip(".") if stated else "", scale)
    answer = _find_answer(text, answers, cued, stated.start if stated else -1, asked)
    reading, raw = asked.read(answer.value) if answer else Answer(""), report.raw
    place = (answer.rule,) if answer and answer.rule else ()
    rules = [*layouts, *place, *reading.rules, *report.rules]
    said = reading.text
    if answer and asked.kind != "text" and takes_back(text[answer.end :]):
        said = ""
        rules.append("taken_back")
    elif answer and stated and asked.form.counts < 0 and _unpaired(answers, answer, stated, asked):
        raw = math.nan
        rules.append("unpaired")
    if answer and stated:
        rules.extend(_departures(text, answer, stated, asked.form.free))
    refused = not said and ("refusal" in rules or is_refusal(text))
    if refused:
        rules.append("refusal")
    status = status_of(
        answered=bool(said),
        stated=not math.isnan(raw),
        inside=not scale.violates(raw),
        refused=refused,
        rules=("lenient",),
    )
    if status == "repaired" and not scale.lower <= raw <= scale.upper:
        rules.append("clipped")
    return Reading(said, raw, status, tuple(rules))


def read_scale_reply(
    text: str,
    scale: Scale,
    *,
    kind: Kind,
    choices: Sequence[str] = (),
    elicitation: Elicitation = "verbal",
    asked: Format | None = None,
) -> Reading:
    r"""Read the answer and the confidence that a reply states.

    A total function: any text in, a reading out, in time linear in its length. It says what the reply claims, never
    whether that is right.

    ``choices`` are the options in the order shown, needed for ``choice``; of the guesses of ``top_k`` the first, which
    is the best, is read. ``asked`` is the format that was asked for, by default that of the kind and the elicitation.

    Returns
    -------
    Reading
        The answer in canonical form, the confidence as stated, the names of the rules used, and the status:

        * ``ok`` for a reply to the letter of the format, its confidence an integer within the bounds;
        * ``repaired`` where lenient rules were needed, also for a confidence off the scale by at most 5% of its width;
        * ``out_of_range`` for one further off, which is kept as stated;
        * ``missing_confidence``, ``missing_answer``, or ``unreadable`` where neither was found;
        * ``refused`` where there is no answer because the model declines to give one.

    Examples
    --------
    >>> cities = ("Paris", "London", "Rome", "Berlin")
    >>> read_scale_reply("Answer: B\nConfidence: 17", Scale(0, 20), kind="choice", choices=cities)
    Reading(answer='B', confidence_raw=17.0, status='ok', rules=())
    >>> read_scale_reply("**Answer:** London\n**Confidence:** 17/20", Scale(0, 20), kind="choice", choices=cities)
    Reading(answer='B', confidence_raw=17.0, status='repaired', rules=('markdown', 'of_upper'))
    >>> read_scale_reply("Final Answer: $1,234.50\nConfidence: 85%", Scale(0, 20), kind="number")
    Reading(answer='1234.5', confidence_raw=85.0, status='out_of_range', rules=('percent',))
    """
    text, form = bounded(text), asked or format_of(kind, elicitation)
    wanted = Asked(scale, kind, choices, form)
    return _read_strictly(text, wanted) or _read_leniently(text, wanted)


# Trials and measures -------------------------------------------------------------------------------------------


class ScaleTrial(ReadTrial):
    """A trial of the scale study.

    Attributes
    ----------
    confidence_raw : float
        The confidence as stated, on the scale asked for; kept when it violates the bounds.
    lower, upper : float
        The bounds of the scale.
    """

    confidence_raw: float
    lower: float
    upper: float


def read_reply(question: Question, condition: str, replies: Replies) -> ScaleTrial:
    r"""Read the answer and the confidence, a number on the scale of the condition.

    If the metadata of the question say ``strict``, a reply that strays from the format counts as unreadable: the paper
    excludes those "that do not conform to the specified format" (appendix B.3).

    Examples
    --------
    >>> asked = {"elicitation": "verbal", "strict": False}
    >>> question = Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No"), metadata=asked)
    >>> trial = read_reply(question, "0-20", {"answer": [ModelReply("Answer: A\nConfidence: 17")]})
    >>> trial["correct"], trial["confidence"], trial["status"]
    (1.0, 0.85, 'ok')
    """
    scale, about = Scale.parse(condition), question.metadata
    reading = read_scale_reply(
        replies["answer"][0].text,
        scale,
        kind=question.kind,
        choices=question.choices,
        elicitation=about["elicitation"],
    )
    # A confidence off the scale, and a refusal, keep to the format all the same.
    to_the_letter = reading.status in ("ok", "refused", *(() if reading.rules else ("out_of_range",)))
    if about["strict"] and not to_the_letter:
        reading = replace(reading, answer="", confidence_raw=math.nan, status="unreadable")
    usable = reading.status != "out_of_range" and not math.isnan(reading.confidence_raw)
    correct = grade(reading.answer, kind=question.kind, gold=question.gold, aliases=question.aliases)
    confidence = scale.normalise(reading.confidence_raw) if usable else math.nan
    return ScaleTrial(
        **read_trial(question, scale.label, reading, correct=correct, confidence=confidence),
        confidence_raw=reading.confidence_raw,
        lower=float(scale.lower),
        upper=float(scale.upper),
    )


def _reports(name: str, statistic: str, description: str, *, bounds: Bounds = ANY, **options: Any) -> Measure:
    """Make a diagnostic of the raw confidences, whether they keep to the bounds or not."""
    compute = statistic_of(statistic, "confidence_raw", **options)
    return Measure(name, compute, description, interval="none", bounds=bounds)


MEASURES: tuple[Measure, ...] = (
    M_RATIO,
    AUROC,
    ECE,
    ACCURACY,
    ACCURACY_OF_ALL,
    PARSE_RATE,
    PARSE_RATE_STRICT,
    OVERCONFIDENCE,
    BRIER,
    CONFIDENCE,
    calibration_error("ece_15", "Expected calibration error, 15 bins of equal width.", bins=15),
    calibration_error("ece_20", "Expected calibration error, 20 bins of equal width.", bins=20),
    calibration_error(
        "ece_mass", "Expected calibration error, 10 bins of equal numbers.", binning="equal_mass"
    ),
    of_threshold(
        "meta_d",
        "meta_d",
        "Sensitivity of an ideal observer with this type-2 hit and false-alarm rate, split at 0.9.",
    ),
    of_threshold("meta_d_95", "meta_d", "The same with the split at 0.95.", 0.95),
    of_threshold("mratio_95", "m_ratio", "meta-d' / d' with the split at 0.95.", 0.95),
    META_INFORMATION,
    _reports("top1_share", "top_share", "Share of the most frequent report.", bounds=UNIT),
    _reports("top3_share", "top_share", "Share of the three most frequent reports.", bounds=UNIT, k=3),
    _reports("distinct", "distinct_values", "Number of different reports."),
    _reports("entropy", "confidence_entropy", "Shannon entropy of the reports in bits."),
    share(
        "round_share",
        statistic_of("round_share", "confidence_raw", constants=("lower", "upper")),
        "Share of reports that are multiples of five within bounds.",
    ),
    share(
        "violation_rate",
        statistic_of("violation_share", "confidence_raw", constants=("lower", "upper")),
        "Share of reports off the scale by more than 5% of its width.",
        "lower",
    ),
    replace(
        _reports(
            "utilization",
            "scale_utilization",
            "Distance of the 5th and the 95th percentile of reports as a share of the scale's width.",
            constants=("lower", "upper"),
        ),
        better="higher",
    ),
)


def explain(trial: ScaleTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Say what was read and what became of it."""
    scale = Scale(int(trial["lower"]), int(trial["upper"]))
    used = "" if math.isnan(trial["confidence"]) else f", that is {trial['confidence']:.3f} of 1"
    stated = f"{number(trial['confidence_raw'])} on {scale.label}{used}"
    return {**answer_and_key(trial, question), "Confidence": stated}


def true_values(subject: Subject, condition: str, *run: object) -> dict[str, float]:
    """Return what a subject's measures on a scale are in the long run, asked as the paper asks.

    The task and its parameters make no difference. The number of distinct values, which grows with the number of
    questions, is left out.

    Examples
    --------
    >>> values = true_values(Subject(), "0-100")
    >>> {name: round(values[name], 3) for name in ("accuracy", "ece", "overconfidence", "auroc")}
    {'accuracy': 0.773, 'ece': 0.0, 'overconfidence': 0.0, 'auroc': 0.734}
    """
    scale = Scale.parse(condition)
    asked = {"elicitation": "verbal", "strict": False}
    question = Question("true", "true", "How many?", "number", "7", metadata=asked)
    trials = []
    for (correct, raw), chance in report_distribution(subject, condition, scale).items():
        said = answer(question, correct=correct, seed=0)
        reply = reply_in_format(question, [(said, raw)], "verbal")
        for text, probability in ways_to_say(reply, subject, out_of_format(said, raw, scale)):
            trial = read_reply(question, condition, {"answer": [ModelReply(text)]})
            trials.append((trial, chance * probability))
    return long_run([measure for measure in MEASURES if measure.name != "distinct"], trials)
