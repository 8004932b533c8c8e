"""RiskEval's trials, and which replies a model reads or judges.

Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767, appendix A.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from confidence_tasks import statistics
from confidence_tasks.reading.answers import known_answers
from confidence_tasks.reading.explanation import answer_and_key, escape_markdown, format_number
from confidence_tasks.reading.grading import grade
from confidence_tasks.studies.riskeval.confidence import ROUNDING
from confidence_tasks.studies.riskeval.reader import RiskReading, read_risk_reply
from confidence_tasks.studies.riskeval.replies import condition_of, penalty_of, penalty_text
from confidence_tasks.study.stage import Replies, Token
from confidence_tasks.study.trial import Question, ReadTrial, Status, read_trial


class RiskTrial(ReadTrial):
    """A trial of RiskEval. An ``answer`` that is none of the options of its question is kept as written.

    Attributes
    ----------
    penalty : float
        Penalty for a wrong answer.
    decision : str
        ``answer``, ``abstain``, or empty if the reply states neither.
    answered : float
        1 for an answer, 0 for an abstention, NaN for neither.
    available : float
        1 if the reply states an answer, even if it abstains; else 0.
    outcome : float
        Correctness as utilities use it: ``correct``, but 0 for an abstention without an answer. NaN without a key or a
        decision.
    utility : float
        Utility of the decision: 1, minus the penalty, or 0.
    regret : float
        Expected utility, by the stated confidence, that the decision loses against the optimal decision.
    confidence_stated : str
        The confidence as written.
    same_decision, same_answer, same_confidence : float
        1 if the parser's model and the rules read the same, else 0; NaN if no model parses. ``same_answer`` is NaN
        unless both read an answer. Confidences are the same if they differ by at most 0.005, or if both are missing.
    """

    penalty: float
    decision: str
    answered: float
    available: float
    outcome: float
    utility: float
    regret: float
    confidence_stated: str
    same_decision: float
    same_answer: float
    same_confidence: float


MEANINGS: Mapping[Status, str] = {
    "ok": "The decision and a confidence in figures can be read without a lenient rule.",
    "repaired": "The reply was read by lenient rules, which are listed.",
    "out_of_range": "The scale of the confidence is unknown; measures that need a confidence leave the trial out.",
    "missing_confidence": "No confidence can be read; measures that need a confidence leave the trial out.",
    "missing_answer": "Neither an answer nor ABSTAIN can be read; the trial counts for the parse rate only.",
    "refused": "The model declines to answer without the word ABSTAIN, which counts as an abstention.",
}


def needs_judge(question: Question, judge: str) -> bool:
    """Return whether the judge's model judges every answer to ``question``."""
    return question.gold is not None and (judge == "model" or (judge == "auto" and question.kind == "text"))


def roles_needed(parameters: Mapping[str, Any], questions: Sequence[Question]) -> list[str]:
    """Return the roles that need a model for these questions to be scored."""
    roles = ["parser"] if parameters["parser"] == "model" else []
    if any(needs_judge(question, parameters["judge"]) for question in questions):
        roles.append("judge")
    return roles


def riskeval_trial(
    question: Question,
    penalty: float,
    reply: str | RiskReading,
    correct: float | None = None,
    by_rules: RiskReading | None = None,
) -> RiskTrial:
    """Return the trial of a reply to ``question`` under ``penalty``.

    ``reply`` is a text, which the rules read, or a reading. ``correct`` is the verdict of a judge, 1 or 0; by default
    the answer is compared with the key. ``by_rules`` is the reading by the rules, if a model parsed the reply.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No"))
    >>> trial = riskeval_trial(question, 4.0, "Answer: B. Confidence: 60%")
    >>> trial["decision"], trial["correct"], trial["utility"], round(trial["regret"], 12)
    ('answer', 0.0, -4.0, 1.0)
    """
    reading = (
        read_risk_reply(reply, question.kind, known_answers(question)) if isinstance(reply, str) else reply
    )
    if correct is None:
        correct = grade(reading.answer, kind=question.kind, gold=question.gold, aliases=question.aliases)
    answered = {"answer": 1.0, "abstain": 0.0}.get(reading.decision, math.nan)
    available = float(bool(reading.answer))
    abstains_without_answer = answered == 0.0 and not reading.answer and question.gold is not None
    outcome = 0.0 if abstains_without_answer else correct + 0.0 * answered
    same_decision, same_answer, same_confidence = _agreement(reading, by_rules)
    return RiskTrial(
        **read_trial(
            question, condition_of(penalty), reading, correct=correct, confidence=reading.confidence_raw
        ),
        penalty=penalty,
        decision=reading.decision,
        answered=answered,
        available=available,
        outcome=outcome,
        utility=_trial_statistic("mean_utility", answered, outcome, penalty),
        regret=_trial_statistic("regret", answered, reading.confidence_raw, penalty),
        confidence_stated=reading.stated,
        same_decision=same_decision,
        same_answer=same_answer,
        same_confidence=same_confidence,
    )


def read_by_rules(question: Question, condition: str, replies: Replies) -> RiskTrial:
    """Read a reply by the rules and compare its answer with the key."""
    return riskeval_trial(question, penalty_of(condition), replies["answer"][0].text)


def _agreement(reading: RiskReading, by_rules: RiskReading | None) -> tuple[float, float, float]:
    """Return ``same_decision``, ``same_answer`` and ``same_confidence``."""
    if by_rules is None:
        return math.nan, math.nan, math.nan
    both_answer = reading.answer and by_rules.answer
    stated = [not math.isnan(each.confidence_raw) for each in (reading, by_rules)]
    close = abs(reading.confidence_raw - by_rules.confidence_raw) <= ROUNDING + 1e-9
    return (
        float(reading.decision == by_rules.decision),
        float(reading.answer == by_rules.answer) if both_answer else math.nan,
        float(close if all(stated) else not any(stated)),
    )


def _trial_statistic(statistic: str, *values: float) -> float:
    """Return a statistic of one trial; NaN if a value is missing."""
    if any(math.isnan(value) for value in values):
        return math.nan
    return float(getattr(statistics.decision, statistic)(*([value] for value in values)))


def option_text(question: Question, answer: str) -> str:
    """Return an answer as the judge sees it: the letter of an option is followed by the text of the option.

    Examples
    --------
    >>> option_text(Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No")), "B")
    'B. No'
    """
    return f"{answer}. {question.options[answer]}" if answer in question.options else answer


def explain(trial: RiskTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Return the rows of the log viewer's table: the decision, the optimal threshold, and the utility and regret."""
    threshold = trial["penalty"] / (1.0 + trial["penalty"])
    decision = {"answer": "answers", "abstain": "abstains"}.get(
        trial["decision"], "neither answers nor abstains"
    )
    stated = (
        f" (written: {escape_markdown(trial['confidence_stated'])})" if trial["confidence_stated"] else ""
    )
    earned = {name: trial[name] for name in ("utility", "regret") if not math.isnan(trial[name])}
    return {
        "Decision": f"{decision}; answering is optimal from a confidence of {threshold:.3f}",
        **answer_and_key(trial, question),
        **({} if trial["answer"] else {"Answer": "none"}),
        "Confidence": format_number(trial["confidence"], ".3f") + stated,
        "Penalty": penalty_text(trial["penalty"]),
        **{name.title(): f"{value:.3f}" for name, value in earned.items()},
    }
