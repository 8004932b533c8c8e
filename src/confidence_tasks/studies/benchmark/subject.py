"""The simulated subject on tasks of others: it gives the key or a wrong answer, and says how sure it is."""

from __future__ import annotations

import json
import re

from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.reading.sureness import EXPRESSIONS
from confidence_tasks.simulation.reply import ANSWER_OF_OTHERS, Reply, StageRequest, subject_seed
from confidence_tasks.simulation.reports import report_confidence
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.studies.benchmark.asking import JSON_SUFFIX
from confidence_tasks.study import Question

_LETTER = re.compile(r"(?:^|(?<=ANSWER: ))[A-Za-z]$")
"""A key that is a letter, alone or behind the label of Inspect's multiple choice."""

_NUMBER = re.compile(r"\d+(?!.*\d)", re.DOTALL)
"""The last number of a text."""


def respond(question: Question, request: StageRequest) -> Reply:
    """Answer a question with its key or wrongly, or say how sure the subject is of this answer.

    Whether it is right depends on the question only, so that all calls of a question agree.
    """
    subject, seed = request.subject, subject_seed(request.seed)
    decision = subject.decide(question.id, request.stage, seed)
    p = decision.confidence
    if request.stage == ANSWER_OF_OTHERS:
        return Reply((question.gold or "") if decision.correct else wrong_answer(question.gold or ""), p)
    if request.stage == "p_true":
        verdict = "True" if p >= 0.5 else "False"
        return Reply(verdict, max(p, 1.0 - p), {"True": p, "False": 1.0 - p})
    name = request.stage.removesuffix(JSON_SUFFIX)
    report = _report(name, p, subject, seed, question.id)
    return Reply(str(report) if name == request.stage else json.dumps({"confidence": report}), p)


def _report(name: str, p: float, subject: Subject, *key: object) -> str | int:
    """Return a confidence as an expression or as an integer on a scale."""
    if name == "words":
        return min(EXPRESSIONS, key=lambda expression: abs(EXPRESSIONS[expression] - p))
    return report_confidence(p, Scale.parse(name), subject, *key, name)


def wrong_answer(key: str) -> str:
    r"""Return an answer that differs from a key in the way that a wrong one does: another letter or number.

    Examples
    --------
    >>> wrong_answer("B"), wrong_answer("ANSWER: A"), wrong_answer("9 + 9 = 18\n#### 18"), wrong_answer("Lima")
    ('A', 'ANSWER: B', '9 + 9 = 18\n#### 19', 'unknown')
    """
    if match := _LETTER.search(key):
        return f"{key[:-1]}{'B' if match[0].upper() == 'A' else 'A'}"
    if match := _NUMBER.search(key):
        return f"{key[: match.start()]}{int(match[0]) + 1}{key[match.end() :]}"
    return "unknown"
