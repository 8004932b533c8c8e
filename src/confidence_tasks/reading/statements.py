"""The parts of a reply to the scale study that state an answer or a confidence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from confidence_tasks.reading.cleaning import is_placeholder
from confidence_tasks.reading.layouts import ANSWER_NAME, CONFIDENCE_NAME, LINE_START
from confidence_tasks.reading.sentences import confidences_before_a_word, is_about_the_answer

_COLON = r"(?:[ ]is)?[ ]{0,3}[:=]"
_ANSWER_LABEL = re.compile(rf"{LINE_START}{ANSWER_NAME}{_COLON}", re.IGNORECASE | re.MULTILINE)
_ANSWER_CUE = re.compile(
    r"\b(?:the|my)[ ](?:(?:final|correct|best)[ ])?(?:answer|option)[ ]is[ ]", re.IGNORECASE
)
_CONFIDENCE_LABEL = re.compile(
    rf"{LINE_START}{CONFIDENCE_NAME}(?:{_COLON}|[ ]is[ ]|[ ]?[-–—][ ](?=\d))", re.IGNORECASE | re.MULTILINE
)
_CONFIDENCE_AFTER_ANSWER = re.compile(
    rf"(?<=[\s,;|(]){CONFIDENCE_NAME}(?:{_COLON}|[ ](?:is|of|at)[ ])", re.IGNORECASE
)
_CONFIDENCE_WITHIN_LINE = re.compile(
    rf"(?:(?<=[.,;!-][ ])|(?<=[(|])){CONFIDENCE_NAME}{_COLON}", re.IGNORECASE
)
_PROBABILITY_LABEL = re.compile(
    rf"{LINE_START}probability{_COLON}|\n(?=[01]?\.\d{{1,4}}\s*\Z)", re.IGNORECASE | re.MULTILINE
)
_GUESS_LABEL = re.compile(rf"{LINE_START}(?:my )?guess{_COLON}", re.IGNORECASE | re.MULTILINE)
"""Labels of Tian et al. (2023), arXiv:2305.14975; a probability may also stand alone on the last line."""

LONGEST_LINE = 1_000
"""Maximum number of characters after a label that are read."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A part of a reply that states a value.

    It spans from ``start``, where its label begins, to ``end``; ``rule`` names the lenient rule that found it.
    """

    value: str
    start: int
    end: int
    rule: str = ""

    @property
    def empty(self) -> bool:
        """True if the value has no letter or digit, or repeats the placeholder of the prompt."""
        return not any(map(str.isalnum, self.value)) or is_placeholder(self.value)


def find_statements(text: str) -> tuple[list[Statement], list[Statement], list[Statement]]:
    """Return the labelled answers, the answers after ``the answer is``, and the confidences, in order of appearance.

    A statement ends with its line. An answer also ends where a confidence begins on its line. Such a confidence counts
    only if no line begins with one.
    """
    labels = _labels(_CONFIDENCE_LABEL, _PROBABILITY_LABEL, text)
    confidences = [_statement_after(label, text) for label in labels]
    same_line: dict[int, Statement] = {}
    answers: list[Statement] = []
    cued: list[Statement] = []
    found = ((_labels(_ANSWER_LABEL, _GUESS_LABEL, text), answers), (_ANSWER_CUE.finditer(text), cued))
    for answer_labels, statements in found:
        for label in answer_labels:
            answer = _statement_after(label, text)
            if confidence := _CONFIDENCE_AFTER_ANSWER.search(text, label.end(), answer.end):
                same_line[confidence.start()] = _statement_after(confidence, text)
                answer = _statement_after(label, text, confidence.start())
            statements.append(answer)
    found_confidences = _chosen_confidences(confidences, same_line, text)
    return [_cut(answer, found_confidences, text) for answer in answers], cued, found_confidences


def _chosen_confidences(
    own_line: Sequence[Statement], same_line: Mapping[int, Statement], text: str
) -> list[Statement]:
    """Return the confidences at the start of a line, or else those behind an answer, or else those without a label."""
    behind_answers = [part for _, part in sorted(same_line.items())]
    labelled = ([part for part in found if not part.empty] for found in (own_line, behind_answers))
    return next(filter(None, labelled), None) or list(_unlabelled_confidences(text))


def _cut(answer: Statement, confidences: Sequence[Statement], text: str) -> Statement:
    """Return an answer that ends where a confidence begins on its line."""
    within = (each for each in confidences if answer.start < each.start < answer.end)
    if first := next(within, None):
        value = answer.value.partition(text[first.start : first.end])[0].rstrip(" \t,;|(")
        return Statement(value, answer.start, first.start)
    return answer


def _unlabelled_confidences(text: str) -> Iterator[Statement]:
    """Yield the confidences of a reply without a label on a line of its own or behind an answer.

    They are a label within the last line, as in ``8. Confidence: 97``, or else sentences such as ``I am 85% sure``.
    """
    last_line = text.rstrip().rfind("\n") + 1
    if label := _CONFIDENCE_WITHIN_LINE.search(text, last_line):
        yield replace(_statement_after(label, text), rule="within_line")
        return
    for match in confidences_before_a_word(text):
        if is_about_the_answer(text, *match.span()):
            yield Statement(match["figures"], *match.span(), "sentence")


def _labels(pattern: re.Pattern[str], other: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return the labels of the format; without any, those of Tian et al. (2023)."""
    return list(pattern.finditer(text)) or list(other.finditer(text))


def _statement_after(label: re.Match[str], text: str, end: int = -1) -> Statement:
    """Return the text after a label, by default up to the end of the line."""
    if end < 0:
        end = text.find("\n", label.end(), label.end() + LONGEST_LINE)
        end = end if end >= 0 else min(len(text), label.end() + LONGEST_LINE)
    return Statement(text[label.end() : end].strip(" \t,;|("), label.start(), end)
