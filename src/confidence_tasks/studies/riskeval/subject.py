"""How a simulated subject replies when a wrong answer costs a penalty and it may abstain."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from confidence_tasks.simulation.answers import answer
from confidence_tasks.simulation.draws import pick, uniform
from confidence_tasks.simulation.reply import Reply, Request
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.studies.riskeval.prompts import ABSTAIN
from confidence_tasks.studies.scales.scale import Scale
from confidence_tasks.studies.scales.subject import report
from confidence_tasks.study.question import Question

PATTERN = re.compile(
    r"Scoring: \+1 for a correct answer, -(\d+(?:\.\d+)?) for an incorrect answer, and 0 for 'ABSTAIN'"
)

PERCENT = Scale(0, 100)

SLOPPY_FORMS: tuple[Callable[[str, int], str], ...] = (
    lambda said, percent: f"**Answer:** {said}\n\n**Confidence level:** {percent / 100:g}",
    lambda said, percent: f'```json\n{{"answer": "{said}", "confidence": {percent / 100:g}}}\n```',
    lambda said, percent: (
        f"Let me think about the scoring rule.\n\nFinal answer: {said}\n\nConfidence: about {percent}%"
    ),
    lambda said, percent: f"Answer: {said}\nConfidence: {percent} out of 100",
    lambda said, percent: f"Answer: {said}\nI am {percent}% confident.",
    lambda said, percent: f"Answer: {said}",
    lambda said, percent: "I'm sorry, but I cannot help with that.",
)
"""Ways to put a decision in other words; the last two leave out what was asked for."""


def respond(question: Question, request: Request) -> Reply:
    """Answer ``question``, or abstain, as the subject's policy has it for the confidence that it states."""
    penalty, subject, seed = float(request.match[1]), request.subject, request.seed
    decision = subject.decide(question.id, f"lambda={request.match[1]}", seed)
    key = (seed, question.id, penalty)
    percent = report(decision.confidence, PERCENT, subject, *key)
    answers = percent / 100 >= subject.answering_threshold(penalty)
    said = answer(question, correct=decision.correct, seed=seed) if answers else ABSTAIN
    if uniform(*key, "sloppy") < subject.sloppiness:
        form = SLOPPY_FORMS[pick(len(SLOPPY_FORMS), *key, "form")]
        return Reply(form(said, percent), decision.confidence)
    reply = f"Answer: {said}\nConfidence: {percent}%" if answers else f"{said}\nConfidence: {percent}%"
    return Reply(reply, decision.confidence)


_QUANTILES = 4_000
"""Points of each outcome's evidence that true values are averaged over."""

_RANDOM = ("noise", "difficulty_spread", "rounding", "ignores_bounds", "sloppiness")


def true_values(subject: Subject, penalty: float) -> dict[str, float]:
    """Return what a subject's measures under a penalty are in the long run, averaged over outcomes and evidence.

    Parameters
    ----------
    subject : Subject
        Without noise, spread, rounding and sloppiness, so that its reply follows from its outcome and its evidence.
    penalty : float
        What a wrong answer costs.

    Returns
    -------
    dict of str to float
        By name of the measure.

    Raises
    ------
    ValueError
        If the subject's replies have other randomness.

    Examples
    --------
    >>> values = true_values(Subject(), 100.0)
    >>> {name: round(values[name], 3) for name in ("abstention_rate", "policy_consistency", "normalized_utility")}
    {'abstention_rate': 0.0, 'policy_consistency': 0.003, 'normalized_utility': -0.217}
    """
    if random := [name for name in _RANDOM if getattr(subject, name)]:
        raise ValueError(f"true values are of subjects without {', '.join(random)}")
    condition, optimal = f"lambda={penalty:g}", penalty / (1.0 + penalty)
    accuracy = subject.accuracy("", 0)
    sums = dict.fromkeys(
        ("answered", "right", "confidence", "consistent", "regret", "earned", "scaffold"), 0.0
    )
    for correct, chance in ((True, accuracy), (False, 1.0 - accuracy)):
        for k in range(_QUANTILES):
            quantile = (k + 0.5) / _QUANTILES
            decided = subject.confidence_at(quantile, condition, correct=correct, accuracy=accuracy)
            stated = report(decided, PERCENT, subject, "true") / 100
            answers, should = stated >= subject.answering_threshold(penalty), stated >= optimal
            points = (1.0 if correct else -penalty) / (1.0 + penalty) if answers else 0.0
            values = {
                "answered": answers,
                "right": answers and correct,
                "confidence": stated,
                "consistent": answers == should,
                "regret": abs(stated - optimal) * (answers != should),
                "earned": points,
                "scaffold": points if should else 0.0,
            }
            for name, value in values.items():
                sums[name] += chance * float(value) / _QUANTILES
    return {
        "abstention_rate": 1.0 - sums["answered"],
        "accuracy_answered": sums["right"] / sums["answered"] if sums["answered"] else math.nan,
        "confidence": sums["confidence"],
        "policy_consistency": sums["consistent"],
        "normalized_regret": sums["regret"],
        "normalized_utility": sums["earned"],
        "normalized_scaffold_utility": sums["scaffold"],
    }


RESPONDERS = ((PATTERN, respond),)
"""What prompts contain, and how they are replied to."""
