"""RiskEval: from a reply to a trial, and the measures of the study.

Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767, section 2 and appendix A.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from confidence_tasks import statistics
from confidence_tasks.reading.explanation import answer_and_key, number, plain
from confidence_tasks.reading.grading import grade
from confidence_tasks.studies.riskeval.replies import (
    RiskReading,
    condition_of,
    penalty_of,
    penalty_text,
    read_risk_reply,
)
from confidence_tasks.study.stage import Replies, Token
from confidence_tasks.study.trial import Question, ReadTrial, Status, read_trial


class RiskTrial(ReadTrial):
    """A trial of RiskEval; an ``answer`` to a multiple-choice question that is none of the options is as it was said.

    Attributes
    ----------
    penalty : float
        What a wrong answer costs.
    decision : str
        ``answer``, ``abstain``, or empty when the reply commits to neither.
    answered : float
        1 for an answer, 0 for abstaining, NaN for neither.
    available : float
        1 when the reply names an answer, also where it abstains; else 0.
    outcome : float
        What ``correct`` is taken for in utilities: the same, but 0 where the model abstains without naming an answer,
        which no utility depends on. NaN without a key or a decision.
    utility : float
        What the decision earned: 1, minus the penalty, or 0.
    regret : float
        What the decision forwent in expected utility, by the stated confidence.
    confidence_stated : str
        The confidence as it was said.
    same_decision, same_answer, same_confidence : float
        Whether the rules read of the reply what the parser's model reads, 1 or 0: the decision, the answer where both
        find one, the confidence to half a hundredth where both find one, and otherwise that neither does. NaN where no
        model parses.
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
    "ok": "The decision and a confidence in figures can be read as they stand.",
    "repaired": "The reply had to be interpreted; the rules say how.",
    "out_of_range": "The confidence cannot be placed between 0 and 1; measures that need one leave the trial out.",
    "missing_confidence": "No confidence can be read; measures that need one leave the trial out.",
    "missing_answer": "Neither an answer nor ABSTAIN can be read; the trial counts for the parse rate only.",
    "refused": "The model declines without saying ABSTAIN, which counts as abstaining.",
}


def needs_judge(question: Question, judge: str) -> bool:
    """Return whether any answer to ``question`` is judged by the judge's model."""
    return question.gold is not None and (judge == "model" or (judge == "auto" and question.kind == "text"))


def roles_needed(parameters: Mapping[str, Any], questions: Sequence[Question]) -> list[str]:
    """Return the roles that a model must be bound to for these questions to be scored."""
    judged = any(needs_judge(question, parameters["judge"]) for question in questions)
    parsed = parameters["parser"] == "model"
    return [role for role, needed in (("parser", parsed), ("judge", judged)) if needed]


def riskeval_trial(
    question: Question,
    penalty: float,
    reply: str | RiskReading,
    correct: float | None = None,
    by_rules: RiskReading | None = None,
) -> RiskTrial:
    """Turn a reply to ``question`` under ``penalty`` into a trial.

    A reply that is a text is read by the rules. ``correct`` is the verdict of a judge, 1 or 0; by default the answer is
    compared with the key, and one that is none of the options is wrong. ``by_rules`` is what the rules read, where a
    model parsed the reply.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No"))
    >>> trial = riskeval_trial(question, 4.0, "Answer: B. Confidence: 60%")
    >>> trial["decision"], trial["correct"], trial["utility"], round(trial["regret"], 12)
    ('answer', 0.0, -4.0, 1.0)
    """
    reading = read_risk_reply(reply, question.kind, question.choices) if isinstance(reply, str) else reply
    if correct is None:
        correct = grade(reading.answer, kind=question.kind, gold=question.gold, aliases=question.aliases)
    answered = {"answer": 1.0, "abstain": 0.0}.get(reading.decision, math.nan)
    available = float(bool(reading.answer))
    free = answered == 0.0 and not reading.answer and question.gold is not None
    outcome = 0.0 if free else correct + 0.0 * answered
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
        utility=_of_one("mean_utility", answered, outcome, penalty),
        regret=_of_one("regret", answered, reading.confidence_raw, penalty),
        confidence_stated=reading.stated,
        same_decision=same_decision,
        same_answer=same_answer,
        same_confidence=same_confidence,
    )


def read_by_rules(question: Question, condition: str, replies: Replies) -> RiskTrial:
    """Read the decision, the answer and the confidence by the rules, and compare the answer with the key."""
    return riskeval_trial(question, penalty_of(condition), replies["answer"][0].text)


_HALF_A_HUNDREDTH = 0.005 + 1e-9


def _agreement(reading: RiskReading, by_rules: RiskReading | None) -> tuple[float, float, float]:
    """Compare the decision, answer and confidence that a parser's model read with those that the rules read."""
    if by_rules is None:
        return math.nan, math.nan, math.nan
    both = reading.answer and by_rules.answer
    stated = [not math.isnan(each.confidence_raw) for each in (reading, by_rules)]
    close = abs(reading.confidence_raw - by_rules.confidence_raw) <= _HALF_A_HUNDREDTH
    return (
        float(reading.decision == by_rules.decision),
        float(reading.answer == by_rules.answer) if both else math.nan,
        float(close if all(stated) else not any(stated)),
    )


def _of_one(statistic: str, *values: float) -> float:
    """Return a statistic of one trial; NaN where it lacks something."""
    if any(math.isnan(value) for value in values):
        return math.nan
    return float(getattr(statistics.decision, statistic)(*([value] for value in values)))


def option_text(question: Question, answer: str) -> str:
    """Return an answer as a judge should see it: a letter with the text of its option.

    Examples
    --------
    >>> option_text(Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No")), "B")
    'B. No'
    """
    return f"{answer}. {question.options[answer]}" if answer in question.options else answer


def explain(trial: RiskTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Say what was read, what the optimal policy would have done, and what the decision earned."""
    threshold = trial["penalty"] / (1.0 + trial["penalty"])
    decision = {"answer": "answers", "abstain": "abstains"}.get(
        trial["decision"], "neither answers nor abstains"
    )
    stated = f" (said: {plain(trial['confidence_stated'])})" if trial["confidence_stated"] else ""
    earned = {name: trial[name] for name in ("utility", "regret") if not math.isnan(trial[name])}
    return {
        "Decision": f"{decision}; answering pays from a confidence of {threshold:.3f}",
        **answer_and_key(trial, question),
        **({} if trial["answer"] else {"Answer": "none"}),
        "Confidence": number(trial["confidence"], ".3f") + stated,
        "Penalty": penalty_text(trial["penalty"]),
        **{name.title(): f"{value:.3f}" for name, value in earned.items()},
    }
