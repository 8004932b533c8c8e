"""The rules that read a free reply of RiskEval.

The rules are the deterministic counterpart of the paper's parser model. A reply that abstains may still state an answer
and a confidence; both are kept. Nothing is guessed: an answer or a confidence that is missing or ambiguous is not read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from confidence_tasks.reading.abstention import SPAN as REFUSAL_SPAN
from confidence_tasks.reading.abstention import is_refusal
from confidence_tasks.reading.answers import (
    Answer,
    read_answer,
    rejects_option,
    stated_sentence,
    takes_back,
    without_option_list,
)
from confidence_tasks.reading.cleaning import apply_rules, clean, last_box, read_first_turn, truncate_reply
from confidence_tasks.reading.fields import status_of
from confidence_tasks.reading.layouts import LAYOUTS
from confidence_tasks.studies.riskeval.abstaining import names_abstaining, read_abstention
from confidence_tasks.studies.riskeval.confidence import StatedConfidence, find_confidences
from confidence_tasks.study.trial import Kind, Reading

RiskDecision = Literal["answer", "abstain", ""]
"""Decision of the model; empty if the reply states neither."""


_WHOLE_REPLY = 300
"""Maximum length of a reply without any label that is taken as a whole for the answer to a text question."""


@dataclass(frozen=True, slots=True)
class RiskReading(Reading):
    """Decision, answer and confidence of a reply.

    A reply that abstains may still state an ``answer``. An answer to a multiple-choice question that is none of the
    options is kept as written. ``confidence_raw`` is in [0, 1], or NaN if no confidence can be read.

    Attributes
    ----------
    decision : {"answer", "abstain", ""}
        Whether the model answers or abstains; empty if neither can be read.
    stated : str
        The confidence as written.
    """

    decision: RiskDecision = ""
    stated: str = ""


def read_risk_reply(reply: str, kind: Kind, choices: Sequence[str] = ()) -> RiskReading:
    """Read the decision, the answer and the confidence of a reply. Never raises.

    ``choices`` are the options in the order shown; empty unless ``kind`` is ``choice``.

    Examples
    --------
    >>> for reply in ("**B**, confidence: 85%", "ABSTAIN. My guess is B, confidence 30%.", "I would abstain but B"):
    ...     reading = read_risk_reply(reply, "choice", ("Paris", "London"))
    ...     print(reading.decision, reading.answer, reading.confidence_raw, reading.status)
    answer B 0.85 ok
    abstain B 0.3 ok
    answer B nan missing_confidence
    """
    text, _ = clean(truncate_reply(reply))
    reading, _ = read_first_turn(
        text,
        lambda turn: _read_turn(apply_rules(LAYOUTS, turn)[0], kind, choices),
        lambda reading: reading.decision or reading.stated,
    )
    return reading


def _read_turn(text: str, kind: Kind, choices: Sequence[str]) -> RiskReading:
    """Read one turn of a reply."""
    confidence, spans = find_confidences(text, kind, choices if kind == "choice" else ())
    # No answer is read from a statement of confidence, nor from what is left of a refusal.
    spans = [span for span in spans if not _is_in_refusal(text, span)]
    rest = _cut(text, spans)
    abstains, abstention_rules = read_abstention(rest)
    unlabelled = _line_before_confidence(text, spans) or rest
    answer = _find_answer(
        rest, unlabelled, kind, tuple(choices), labelled_only=abstains and not abstention_rules
    )
    if not answer.text and not abstains and kind == "choice":
        answer = _answer_in_own_words(rest, answer, tuple(choices), states_confidence=bool(confidence.text))
    if answer.text and kind != "text" and takes_back(_text_after_answer(rest)):
        answer = Answer("", ("taken_back",))
    if abstention_rules:
        answer, abstains, abstention_rules = _weigh_advice(answer, abstention_rules)
    return _make_reading(answer, confidence, rest, abstains=abstains, rules=abstention_rules)


def _weigh_advice(answer: Answer, rules: tuple[str, ...]) -> tuple[Answer, bool, tuple[str, ...]]:
    """Return the answer and whether a reply abstains that calls this better: not if it answers nevertheless."""
    if names_abstaining(answer.text):
        answer = Answer("")
    return (answer, False, ()) if answer.text else (answer, True, rules)


def _is_in_refusal(text: str, span: tuple[int, int]) -> bool:
    """Return True if words of confidence are part of a line that declines to answer, as in "I am uncertain of it"."""
    begin, end = span
    start = max(begin - REFUSAL_SPAN, 0)
    before, after = text[start:begin].rpartition("\n")[2], text[end : end + REFUSAL_SPAN].partition("\n")[0]
    is_far_behind = len(before) == REFUSAL_SPAN
    words = any(map(str.isalnum, before + after))
    return words and not is_far_behind and is_refusal(before + text[begin:end] + after)


def _line_before_confidence(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the only line, or sentence of a line, before a confidence: an answer without a label."""
    *lines, last = text[: min((start for start, _ in spans), default=0)].split("\n")
    if last.rstrip().endswith((".", "!")):
        lines, last = [*lines, last], ""
    nonempty = [line for line in lines if line.strip()]
    return nonempty[0] if len(nonempty) == 1 and not last.strip() else ""


def _make_reading(
    answer: Answer, confidence: StatedConfidence, text: str, *, abstains: bool, rules: tuple[str, ...] = ()
) -> RiskReading:
    """Return the reading of a reply; ``text`` is searched for a refusal if there is no answer and no abstention."""
    declines = "refusal" in answer.rules or is_refusal(text)
    refuses = not abstains and not answer.text and declines
    decision: RiskDecision = "abstain" if abstains or refuses else "answer" if answer.text else ""
    rules = (*rules, *answer.rules, *confidence.rules)
    status = status_of(
        answered=bool(abstains or answer.text),
        stated=bool(confidence.text),
        inside=not math.isnan(confidence.value),
        refused=refuses,
        rules=rules,
    )
    return RiskReading(answer.text, confidence.value, status, rules, decision, confidence.text)


def _cut(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return a text without some spans, which are in ascending order and may overlap."""
    parts, position = [], 0
    for start, end in spans:
        parts.append(text[position : max(start, position)])
        position = max(end, position)
    return "".join((*parts, text[position:]))


_REST = r"\s{0,4}(?P<value>[^\n]{1,1000})"


_LABEL = re.compile(
    rf"\b(?:answer(?:\sto\s(?:the|this)\squestion)?|choice|solution|response)\s?(?:(?P<colon>[:=|]|->)|is|would\sbe){_REST}",
    re.IGNORECASE,
)


_GUESS = re.compile(
    r"\b(?:best\sguess|best\sestimate|guess|estimate|if\sI\s(?:had|were|was)\s(?:to|forced\sto)(?:\s\w{1,20}){1,3}?)(?!\w)"
    rf"\s?(?:would\sbe|is|[:=,])?{_REST}",
    re.IGNORECASE,
)


_CHOOSE = re.compile(
    rf"\bI(?:'ll|'d|\swill|\swould)?\s(?:choose(?!\s(?:not\s)?to\b)|pick|select|answer|say|go\swith)\b{_REST}",
    re.IGNORECASE,
)


_SAYS_ABSTAIN = re.compile(
    r"\W{0,6}(?:to\s|I\s(?:will\s|must\s|choose\sto\s)?)?abst(?:ain|ention)\b", re.IGNORECASE
)


_MARGIN = " .,;:|()"


_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")


_END_AFTER_A_WORD = re.compile(r"(?:(?<=[\w)\"'%}\]$]{2})[.?]|(?<=[A-Za-z]{2})!)(?=\s|$)")


_NOTHING_IN_BRACKETS = re.compile(r"\s{0,4}\((?:I(?:'m|\sam)|with|at|\W){0,8}\)\W{0,4}\Z", re.IGNORECASE)


_BRACKETS = (("(", ")"), ("[", "]"))


_OPEN = frozenset({"two_claims", "refusal", "placeholder"})
"""Rules of lines that are about the answer but give none; no other line is read then."""


def _strip(value: str, kind: Kind) -> str:
    """Strip punctuation from both ends of an answer; a text keeps a bracket whose other half it contains."""
    if kind != "text":
        return value.strip(_MARGIN)
    value = _NOTHING_IN_BRACKETS.sub("", value).strip(" ,;:|").removesuffix(" .")
    for left, right in _BRACKETS:
        if value.endswith((left, right)) and value.count(left) != value.count(right):
            value = value[:-1].rstrip(" ,;:|")
    return value


def _labelled_values(text: str, kind: Kind, choices: Sequence[str]) -> Iterator[str]:
    """Yield the values that a reply labels as its answer: labels, a box, guesses, choices; the last of each first."""
    end = _END_AFTER_A_WORD if kind == "text" else _SENTENCE_END
    for label in reversed([*_LABEL.finditer(text)]):
        value = _strip(label["value"], kind)
        if not _SAYS_ABSTAIN.match(value):
            yield value if label["colon"] else stated_sentence(value, end, kind, choices)
    if box := last_box(text):
        yield box
    for pattern in (_GUESS, _CHOOSE):
        for match in reversed([*pattern.finditer(text)]):
            yield stated_sentence(match["value"], end, kind, choices)


def _text_after_answer(text: str) -> str:
    """Return the text after the last labelled answer; without a label, that after the first line."""
    labels = list(_LABEL.finditer(text))
    return text[labels[-1].end() :] if labels else text.strip().partition("\n")[2]


def _find_answer(
    text: str, unlabelled: str, kind: Kind, choices: tuple[str, ...], *, labelled_only: bool
) -> Answer:
    """Read the labelled answer of a reply; without a label, the answer in the lines of ``unlabelled``."""
    for value in _labelled_values(text, kind, choices):
        answer = read_answer(_strip(value, kind), kind, choices)
        if answer.rules != ("placeholder",):
            return answer
    return Answer("") if labelled_only else _unlabelled_answer(unlabelled, kind, choices)


NOT_AN_OPTION = "not_an_option"
"""Rule that keeps an answer to a multiple-choice question that is none of the options."""


_LEFT_OPEN = _OPEN | {"taken_back"}


_DENIES = re.compile(r"\b(?:not|neither|nor|never|cannot)\b|n['’]t\b|不选|不選|不是|并非", re.IGNORECASE)
"""Words of a sentence that excludes an answer; ``none of these`` states one."""


def off_list(value: str, answer: Answer) -> Answer:
    """Return the stated value as the answer if it is none of the options; ``answer`` if the value states none.

    Examples
    --------
    >>> for text in ("Madrid", "Paris or London", "I don't know", "not Paris"):
    ...     print(off_list(text, read_answer(text, "choice", ("Paris", "London"))).text or "-")
    Madrid
    -
    -
    -
    """
    text = " ".join(value.split())
    states_answer = any(map(str.isalnum, text)) and not (_DENIES.search(text) or is_refusal(text))
    if answer.text or not states_answer or not _LEFT_OPEN.isdisjoint(answer.rules):
        return answer
    return Answer(text, (NOT_AN_OPTION,))


def _answer_in_own_words(
    text: str, answer: Answer, choices: tuple[str, ...], *, states_confidence: bool
) -> Answer:
    """Return an answer that is none of the options: after a label, in a box, or the only line of a reply.

    A sentence such as ``The answer is ...`` and a line without a label may also be reasoning. They are read only if the
    reply names no option, and the line only if the reply states a confidence.
    """
    if not _LEFT_OPEN.isdisjoint(answer.rules):
        return answer
    lines = _stripped_lines(text, "choice")
    labels = [*_LABEL.finditer(text)][::-1]
    values = [label["value"] for label in labels if label["colon"]] or list(filter(None, [last_box(text)]))
    if not values and not any(_names_an_option(line, choices) for line in lines):
        values = [_SENTENCE_END.split(label["value"], maxsplit=1)[0] for label in labels]
        if not values and states_confidence and len(lines) == 1 and len(lines[0]) <= _WHOLE_REPLY:
            values = lines
    value = _strip(values[0], "choice") if values else ""
    return off_list(value, read_answer(value, "choice", choices))


def _names_an_option(line: str, choices: tuple[str, ...]) -> bool:
    answer = read_answer(line, "choice", choices)
    return answer.found or "two_claims" in answer.rules


def _stripped_lines(text: str, kind: Kind) -> list[str]:
    return [line for line in (_strip(line, kind) for line in text.splitlines()) if line]


def _without_analysis(lines: list[str], choices: tuple[str, ...]) -> list[str]:
    """Return the lines without an analysis of the options one by one, and without those that exclude an option."""
    kept = without_option_list(lines, choices)
    if len(kept) < len(lines):
        return kept
    return [line for line in lines if not rejects_option(line, choices)] or lines


def _unlabelled_answer(text: str, kind: Kind, choices: tuple[str, ...]) -> Answer:
    """Read an answer without a label from the first or the last line; a text only from a reply of one line.

    A number is first looked for at the end, after its derivation; other answers at the beginning, before reasons.
    """
    lines = _without_analysis(_stripped_lines(text, kind), choices if kind == "choice" else ())
    if kind == "text":
        lines = lines if len(lines) == 1 and len(lines[0]) <= _WHOLE_REPLY else []
    ends = (*lines[-1:], *lines[:1]) if kind == "number" else (*lines[:1], *lines[-1:])
    for line in dict.fromkeys(ends):
        answer = read_answer(line, kind, choices)
        if answer.text or not _OPEN.isdisjoint(answer.rules):
            return answer
    return Answer("")
