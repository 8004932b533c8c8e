"""Confidence scales: reading a reply into a trial, and the measures of the study.

Dai (2026), arXiv:2603.09309, section 3.3.

A reply that follows the requested format exactly is ``ok``. Any other reply is cleaned first and then read by lenient
rules. The confidence follows the last label ``Confidence`` at the start of a line; if there is none, it follows that
word on the line of an answer, within the last line, or stands in a sentence. Of several, the last counts, and none if a
later sentence revises it. The answer is searched for in this order: after ``Answer:``, after ``the answer is``, in
a box, alone on a line before the confidence. The reading lists the rules that were used. A value that the reply does
not state is left missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from confidence_tasks.reading.abstention import is_refusal
from confidence_tasks.reading.answers import Answer, known_answers, read_answer, stated_sentence, takes_back
from confidence_tasks.reading.cleaning import (
    apply_rules,
    clean,
    clean_value,
    last_box,
    read_first_turn,
    truncate_reply,
)
from confidence_tasks.reading.explanation import answer_and_key, format_number
from confidence_tasks.reading.fields import status_of
from confidence_tasks.reading.grading import grade
from confidence_tasks.reading.layouts import LAYOUTS
from confidence_tasks.reading.sentences import OUT_OF, revises_confidence, share_of
from confidence_tasks.simulation.reply import answer, reply_probabilities
from confidence_tasks.simulation.subject import Subject, expected_values
from confidence_tasks.statistics import discretization
from confidence_tasks.studies.scales.replies import (
    PERCENT,
    Elicitation,
    Format,
    Scale,
    out_of_format,
    reply_format,
    reply_in_format,
    report_distribution,
)
from confidence_tasks.studies.scales.statements import Statement, find_statements
from confidence_tasks.study.inference import PointOnly
from confidence_tasks.study.measures import (
    ACCURACY,
    ACCURACY_OF_ALL,
    ANY,
    CONFIDENCE,
    PARSE_RATE,
    PARSE_RATE_STRICT,
    UNIT,
    Better,
    Bounds,
    Measure,
    calibration_error,
    proportion_measure,
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
    threshold_measure,
)
from confidence_tasks.study.trial import Kind, Question, Reading, ReadTrial, read_trial

SPAN = 500
"""Maximum number of characters of a value that are read."""


_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,5})", re.ASCII)
_NUMBER = r"\d{1,300}(?:\.\d{1,20})?(?![\d.,_]*\d)"


@lru_cache(maxsize=64)
def _report_pattern(scale: Scale) -> re.Pattern[str]:
    """Match a number and the text that may surround it; a remark may name the bounds of the scale."""
    bounds = rf"(?<![\d.]){scale.lower}\s?(?:-|to|,|and)\s?{scale.upper}(?![\d%])"
    return re.compile(
        rf"""
        (?:I(?:'m|\sam)\s)?
        (?P<hedge>(?:about|around|approximately|approx\.?|roughly|~)\s?)?
        (?:(?P<range>{_NUMBER})\s?%?\s?(?:-|to)\s?)?
        (?P<number>(?(range)|[+-]?){_NUMBER})
        (?P<percent>\s?(?:%|percent\b|per\scent\b))?
        (?:{OUT_OF})?
        (?P<remark>\s(?:confident|confidence|sure|certain)\b(?:\s(?:in|of|about)\s(?:my|the|this|that)(?:\sanswer)?)?)?
        (?P<rest>\W{{0,8}}|\s?(?:[-(\[.,;:!]|\bon\b)(?:\D|{bounds})*|\s?\([^()%]{{0,80}}\)\W{{0,8}})
        """,
        re.VERBOSE | re.IGNORECASE,
    )


def read_on_scale(value: str, scale: Scale) -> tuple[float, tuple[str, ...]]:
    """Read the confidence in a short text, such as the rest of the line after ``Confidence:``.

    Only the first `SPAN` characters of ``value`` are read. The number is returned as stated, inside the bounds or not;
    it is NaN if the text states none. The rules name the lenient rules used, or the reason why there is no number.

    Examples
    --------
    >>> for text in ("17", "17/20", "about 15%", "15-18", "4/5", "0-20", "High"):
    ...     print(text, "->", read_on_scale(text, Scale(0, 20)))
    17 -> (17.0, ())
    17/20 -> (17.0, ('of_upper',))
    about 15% -> (15.0, ('hedge', 'percent'))
    15-18 -> (16.5, ('range',))
    4/5 -> (nan, ('of_upper',))
    0-20 -> (nan, ('range',))
    High -> (nan, ())
    """
    value = value[:SPAN].strip()
    if _INTEGER.fullmatch(value):
        return float(value), ()
    value, cleaning_rules = clean_value(value)
    match = _report_pattern(scale).fullmatch(value)
    if match is None:
        return math.nan, cleaning_rules
    number, range_start = float(match["number"]), match["range"]
    forms = {
        "decimal": "." in match["number"],
        "hedge": match["hedge"],
        "range": range_start,
        "percent": match["percent"],
        "of_upper": match["whole"],
        "remark": match["remark"] or re.search(r"\w", match["rest"]),
    }
    rules = (*cleaning_rules, *(name for name, applies in forms.items() if applies)) or ("numeral",)
    if range_start:
        low, high = float(range_start), number
        repeats_bounds = (low, high) == (scale.lower, scale.upper)
        number = (
            math.nan if repeats_bounds or not scale.lower <= low < high <= scale.upper else (low + high) / 2
        )
    if match["whole"]:
        return _share_of_scale(match, scale), rules
    if scale.label == _UNIT:
        return number / 100 if match["percent"] else number, rules
    return math.nan if forms["decimal"] and 0 <= number <= 1 else number, rules


_UNIT = "0-1"
"""Label of the scale of probabilities, on which decimals and percentages are read."""


def _share_of_scale(match: re.Match[str], scale: Scale) -> float:
    """Convert a number out of another one, such as 9/10, to probabilities or percentages; NaN on other scales.

    On a line for the confidence, ``7/8`` is no date, so that any whole will do.
    """
    number = float(match["number"])
    if float(match["whole"]) == scale.upper:
        return number
    joint = match["joint"].replace("/", "out of")
    share = share_of(number, match["whole"], joint) if scale.label in (_UNIT, PERCENT.label) else math.nan
    return share * scale.upper if 0 <= share <= 1 else math.nan


def read_stated_confidence(reply: str, scale: Scale) -> float:
    r"""Read the confidence of a reply to a question that asks for nothing else; NaN if the reply states none.

    Examples
    --------
    >>> for text in ("85%", "Confidence: 85", "I am 85% sure.", "| Confidence |", "Confidence: 85\nNo, 65."):
    ...     print(read_stated_confidence(text, PERCENT))
    85.0
    85.0
    85.0
    nan
    nan
    """
    cleaned, _ = clean(truncate_reply(reply))
    text, _ = apply_rules(LAYOUTS, cleaned)
    *_, confidences = find_statements(text)
    last = confidences[-1] if confidences else Statement(text, 0, len(text))
    value, _ = read_on_scale(last.value.rstrip("."), scale)
    return math.nan if revises_confidence(last.value + text[last.end :], value) else value


# Replies in the requested format --------------------------------------------------------------------------------


def _strict_values(text: str, expected: Format) -> list[str] | None:
    """Return the text after each label of a format, or None if the reply departs from the format."""
    n_labels = len(expected.labels)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    reasoning, lines = lines[:-n_labels], lines[-n_labels:]
    matches = (
        text.lstrip().startswith(expected.reasoning_label or expected.labels[0])
        and len(lines) == n_labels
        and all(map(str.startswith, lines, expected.labels))
        and bool(reasoning) == bool(expected.reasoning_label)
        and not any(line.startswith(expected.labels) for line in reasoning)
    )
    return [*map(str.strip, map(str.removeprefix, lines, expected.labels))] if matches else None


@dataclass(frozen=True, slots=True)
class ExpectedReply:
    """Scale, kind of answer, options and format that the prompt asks for."""

    scale: Scale
    kind: Kind
    choices: Sequence[str]
    format: Format

    def read_answer(self, value: str) -> Answer:
        """Read a text as an answer to the question."""
        return read_answer(value, self.kind, self.choices)


def _read_strictly(text: str, expected: ExpectedReply) -> Reading | None:
    """Read a reply that follows the format exactly; return None for any other reply."""
    values = _strict_values(text, expected.format)
    if values is None:
        return None
    answers = [expected.read_answer(value) for value in values[::2]]
    reports = [read_on_scale(value, expected.scale) for value in values[1::2]]
    if any(answer.rules or not answer.text for answer in answers) or any(rules for _, rules in reports):
        return None
    inside = all(expected.scale.lower <= raw <= expected.scale.upper for raw, _ in reports)
    return Reading(answers[0].text, reports[0][0], "ok") if inside else None


# Other replies --------------------------------------------------------------------------------------------------

_LINE = re.compile(r"^.*\S", re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|,?\s(?=(?:and|with)\b)", re.IGNORECASE)
_NOT_PUNCTUATION = re.compile(r"[^\s!-/:-@\[-`{-~]")

MAX_LINES = 40
"""Maximum number of lines without a label that are searched for an answer."""


def _find_answer(
    text: str,
    answers: Sequence[Statement],
    cued: Sequence[Statement],
    confidence_start: int,
    expected: ExpectedReply,
) -> Statement | None:
    """Return the statement of the answer; the order of the search is that of the module's docstring.

    ``confidence_start`` is the position of the confidence, -1 if there is none.
    """
    if labelled := [answer for answer in answers if not answer.empty]:
        return labelled[expected.format.answer_index]
    for cue in cued[-1:]:
        sentence = stated_sentence(cue.value, _SENTENCE_END, expected.kind, expected.choices)
        if expected.read_answer(sentence).found:
            end = text.find(sentence, cue.start) + len(sentence)
            return Statement(sentence, cue.start, end, "cue")
    if box := last_box(text):
        start = text.rfind(box)
        return Statement(box, start, start + len(box), "box")
    bare = [] if answers else _bare_answers(text, confidence_start, expected)
    agree = len({expected.read_answer(answer.value).text for answer in bare}) == 1
    return bare[-1] if agree else None


def _bare_answers(text: str, confidence_start: int, expected: ExpectedReply) -> list[Statement]:
    """Return the answers without a label before the confidence, or in the whole reply if it states no confidence.

    Of several lines, a line counts if it consists of an option, or of yes or no. A numerical answer is read from the
    last line before the confidence, or from a reply of one line.
    """
    matches = _LINE.finditer(text if confidence_start < 0 else text[:confidence_start])
    lines = [Statement(line[0].strip(), line.start(), line.end(), "bare_answer") for line in matches]
    alone, numerical = len(lines) == 1, expected.kind == "number"
    if numerical and confidence_start >= 0:
        lines = lines[-1:]
    elif expected.kind in {"number", "text"} and not alone:
        return []
    lenient = confidence_start >= 0 and (alone or numerical)
    readings = [(line, expected.read_answer(line.value)) for line in lines[:MAX_LINES]]
    return [line for line, reading in readings if reading.found and (lenient or not reading.rules)]


def _departures(text: str, answer: Statement, report: Statement, reasoning_label: str) -> Iterator[str]:
    """Yield the rules by which answer and confidence depart from the order and the lines of the format."""
    first, second = sorted((answer, report), key=lambda statement: statement.start)
    if first is not answer:
        yield "order"
    if "\n" not in text[first.end : second.start]:
        yield "one_line"
    before, rest = text[: first.start], text[first.end : second.start] + text[second.end :]
    has_reasoning = reasoning_label and before.startswith(reasoning_label)
    if _NOT_PUNCTUATION.search(rest if has_reasoning else before + rest):
        yield "extra_text"


def _is_unpaired(
    answers: Sequence[Statement], answer: Statement, report: Statement, expected: ExpectedReply
) -> bool:
    """Return True if the last answer replaces an earlier one without a new confidence."""
    earlier = [each for each in answers if each.start < report.start and not each.empty]
    if expected.format.answer_index == 0 or not earlier or answer.start <= report.start:
        return False
    return expected.read_answer(earlier[-1].value).text != expected.read_answer(answer.value).text


def _read_leniently(text: str, expected: ExpectedReply) -> Reading:
    cleaned, cleaning_rules = clean(text)
    reading, cut = read_first_turn(
        cleaned,
        lambda turn: _read_turn(turn, expected),
        lambda reading: reading.answer or not math.isnan(reading.confidence_raw),
    )
    rules = tuple(dict.fromkeys((*cleaning_rules, *(("next_turn",) if cut else ()), *reading.rules)))
    return replace(reading, rules=rules or (("label",) if reading.status == "repaired" else ()))


def _read_turn(text: str, expected: ExpectedReply) -> Reading:
    scale = expected.scale
    text, layout_rules = apply_rules(LAYOUTS, text)
    answers, cued, confidences = find_statements(text)
    confidence = confidences[expected.format.answer_index] if confidences else None
    raw, number_rules = read_on_scale(confidence.value.rstrip(".") if confidence else "", scale)
    answer = _find_answer(text, answers, cued, confidence.start if confidence else -1, expected)
    reading = expected.read_answer(answer.value) if answer else Answer("")
    place_rules = [found.rule for found in (answer, confidence) if found and found.rule]
    rules = [*layout_rules, *place_rules, *reading.rules, *number_rules]
    answer_text = reading.text
    if answer and expected.kind != "text" and takes_back(text[answer.end :]):
        answer_text = ""
        rules.append("taken_back")
    elif answer and confidence and _is_unpaired(answers, answer, confidence, expected):
        raw = math.nan
        rules.append("unpaired")
    if confidence and revises_confidence(confidence.value + text[confidence.end :], raw):
        raw = math.nan
        rules.append("revised")
    if answer and confidence:
        rules.extend(_departures(text, answer, confidence, expected.format.reasoning_label))
    refused = not answer_text and ("refusal" in rules or is_refusal(text))
    if refused:
        rules.append("refusal")
    status = status_of(
        answered=bool(answer_text),
        stated=not math.isnan(raw),
        inside=not scale.violates(raw),
        refused=refused,
        rules=("lenient",),
    )
    if status == "repaired" and not scale.lower <= raw <= scale.upper:
        rules.append("clipped")
    return Reading(answer_text, raw, status, tuple(rules))


def read_scale_reply(
    text: str,
    scale: Scale,
    *,
    kind: Kind,
    choices: Sequence[str] = (),
    elicitation: Elicitation = "verbal",
    expected_format: Format | None = None,
) -> Reading:
    r"""Read the answer and the confidence that a reply states.

    The function accepts any text and takes time linear in its length. It does not grade the answer.

    Parameters
    ----------
    text : str
        The reply.
    scale : Scale
        The scale of the prompt.
    kind : {"choice", "number", "text", "boolean"}
        Kind of the answer.
    choices : sequence of str
        The options in the order shown; required for ``choice``.
    elicitation : {"verbal", "cot", "top_k"}
        Elicitation method of the prompt; of the guesses of ``top_k``, the first and best one is read.
    expected_format : Format, optional
        Format of the prompt; by default the format of the kind and the elicitation method.

    Returns
    -------
    Reading
        The answer in canonical form, the confidence as stated, the names of the lenient rules, and the status:

        * ``ok``: the reply follows the format exactly, and the confidence is an integer within the bounds;
        * ``repaired``: lenient rules were needed; the confidence exceeds a bound by at most 5% of the scale's width;
        * ``out_of_range``: the confidence exceeds a bound by more, and is kept as stated;
        * ``missing_confidence``, ``missing_answer``, or ``unreadable`` if both are missing;
        * ``refused``: the model declines to answer.

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
    text = truncate_reply(text)
    expected = ExpectedReply(scale, kind, choices, expected_format or reply_format(kind, elicitation))
    return _read_strictly(text, expected) or _read_leniently(text, expected)


# Trials and measures -------------------------------------------------------------------------------------------


class ScaleTrial(ReadTrial):
    """A trial of the scale study.

    Attributes
    ----------
    confidence_raw : float
        The confidence as stated, in the units of the scale, even if it violates the bounds.
    lower, upper : float
        Bounds of the scale.
    """

    confidence_raw: float
    lower: float
    upper: float


def read_reply(question: Question, condition: str, replies: Replies) -> ScaleTrial:
    r"""Read the answer and the confidence on the scale of the condition.

    With ``strict`` in the metadata of the question, a reply that departs from the format is unreadable. The paper
    excludes replies "that do not conform to the specified format" (appendix B.3).

    Examples
    --------
    >>> parameters = {"elicitation": "verbal", "strict": False}
    >>> question = Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No"), metadata=parameters)
    >>> trial = read_reply(question, "0-20", {"answer": [ModelReply("Answer: A\nConfidence: 17")]})
    >>> trial["correct"], trial["confidence"], trial["status"]
    (1.0, 0.85, 'ok')
    """
    scale = Scale.parse(condition)
    reading = read_scale_reply(
        replies["answer"][0].text,
        scale,
        kind=question.kind,
        choices=known_answers(question),
        elicitation=question.metadata["elicitation"],
    )
    # A refusal, or a confidence outside the bounds, does not depart from the format.
    in_format = reading.status in ("ok", "refused", *(() if reading.rules else ("out_of_range",)))
    if question.metadata["strict"] and not in_format:
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


def _of_reports(
    name: str,
    statistic: Callable[..., Any],
    description: str,
    better: Better = "neither",
    *,
    bounds: Bounds = ANY,
    **options: Any,
) -> Measure:
    """Make a measure of the confidences as stated, inside the bounds or not."""
    compute = statistic_of(statistic, "confidence_raw", **options)
    return Measure(
        name,
        compute,
        description,
        better,
        inference=PointOnly(*bounds),
    )


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
    threshold_measure(
        "meta_d",
        "meta_d",
        "Sensitivity of an ideal observer with the same type-2 hit and false-alarm rates, split at 0.9.",
    ),
    threshold_measure("meta_d_95", "meta_d", "meta_d with confidence split at 0.95.", 0.95),
    threshold_measure("mratio_95", "m_ratio", "meta-d' / d' with the split at 0.95.", 0.95),
    META_INFORMATION,
    _of_reports("top1_share", discretization.top_share, "Share of the most frequent report.", bounds=UNIT),
    _of_reports(
        "top3_share", discretization.top_share, "Share of the three most frequent reports.", bounds=UNIT, k=3
    ),
    _of_reports("distinct", discretization.distinct_values, "Number of different reports."),
    _of_reports("entropy", discretization.confidence_entropy, "Shannon entropy of the reports in bits."),
    proportion_measure(
        "round_share",
        statistic_of(discretization.round_share, "confidence_raw", constants=("lower", "upper")),
        "Share of reports that are multiples of five within the bounds.",
    ),
    proportion_measure(
        "violation_rate",
        statistic_of(discretization.violation_share, "confidence_raw", constants=("lower", "upper")),
        "Share of reports that exceed a bound of the scale by more than 5% of its width.",
        "lower",
    ),
    _of_reports(
        "utilization",
        discretization.scale_utilization,
        "Distance between the 5th and the 95th percentile of reports, as a share of the scale's width.",
        "higher",
        constants=("lower", "upper"),
    ),
)


def explain(trial: ScaleTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Return the rows of the explanation that the log viewer shows."""
    scale = Scale(int(trial["lower"]), int(trial["upper"]))
    normalised = "" if math.isnan(trial["confidence"]) else f", that is {trial['confidence']:.3f} of 1"
    confidence = f"{format_number(trial['confidence_raw'])} on {scale.label}{normalised}"
    return {**answer_and_key(trial, question), "Confidence": confidence}


def true_values(subject: Subject, condition: str, *run: object) -> dict[str, float]:
    """Return the true values of a subject's measures on a scale, with the paper's elicitation method.

    The task and its parameters are ignored. ``distinct`` is left out, since it grows with the number of questions.

    Examples
    --------
    >>> values = true_values(Subject(), "0-100")
    >>> {name: round(values[name], 3) for name in ("accuracy", "ece", "overconfidence", "auroc")}
    {'accuracy': 0.773, 'ece': 0.0, 'overconfidence': 0.0, 'auroc': 0.734}
    """
    scale = Scale.parse(condition)
    parameters = {"elicitation": "verbal", "strict": False}
    question = Question("true", "true", "How many?", "number", "7", metadata=parameters)
    trials = []
    for (correct, raw), p_report in report_distribution(subject, condition, scale).items():
        chosen = answer(question, correct=correct, seed=0)
        reply = reply_in_format(question, [(chosen, raw)])
        for text, p_text in reply_probabilities(reply, subject, out_of_format(chosen, raw, scale)):
            trial = read_reply(question, condition, {"answer": [ModelReply(text)]})
            trials.append((trial, p_report * p_text))
    return expected_values([measure for measure in MEASURES if measure.name != "distinct"], trials)
