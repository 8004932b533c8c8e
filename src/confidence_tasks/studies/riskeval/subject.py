"""How a simulated subject replies when a wrong answer costs a penalty and it may abstain."""

from __future__ import annotations

import re
from collections.abc import Callable

from confidence_tasks.simulation.answers import answer
from confidence_tasks.simulation.draws import pick, uniform
from confidence_tasks.simulation.reply import Reply, Request
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.simulation.true_values import long_run, sloppily
from confidence_tasks.studies.riskeval.prompts import ABSTAIN, penalty_of
from confidence_tasks.studies.scales.scale import Scale
from confidence_tasks.studies.scales.subject import report, report_distribution
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
    reply, said = _decided(question, subject, penalty, percent, correct=decision.correct, seed=seed)
    if uniform(*key, "sloppy") < subject.sloppiness:
        form = SLOPPY_FORMS[pick(len(SLOPPY_FORMS), *key, "form")]
        return Reply(form(said, percent), decision.confidence)
    return Reply(reply, decision.confidence)


def _decided(
    question: Question, subject: Subject, penalty: float, percent: int, *, correct: bool, seed: str
) -> tuple[str, str]:
    """Return the reply of a subject that states a confidence, and what it decides: an answer, or to abstain."""
    if percent / 100 < subject.answering_threshold(penalty):
        return f"{ABSTAIN}\nConfidence: {percent}%", ABSTAIN
    said = answer(question, correct=correct, seed=seed)
    return f"Answer: {said}\nConfidence: {percent}%", said


def true_values(subject: Subject, condition: str, *run: object) -> dict[str, float]:
    """Return what a subject's measures under a penalty are in the long run, whatever the run.

    What is recalibrated has no such value, as it depends on the number of questions.

    Examples
    --------
    >>> values = true_values(Subject(), "lambda=100")
    >>> {name: round(values[name], 3) for name in ("abstention_rate", "policy_consistency", "normalized_utility")}
    {'abstention_rate': 0.0, 'policy_consistency': 0.003, 'normalized_utility': -0.217}
    """
    from confidence_tasks.studies.riskeval.measures import MEASURES
    from confidence_tasks.studies.riskeval.trials import riskeval_trial

    penalty = penalty_of(condition)
    question = Question("true", "true", "How many?", "number", "7")
    trials = []
    for (correct, percent), chance in report_distribution(subject, condition, PERCENT).items():
        reply, said = _decided(question, subject, penalty, percent, correct=correct, seed="0")
        strayed = [form(said, percent) for form in SLOPPY_FORMS]
        for text, probability in sloppily(reply, strayed, subject):
            trials.append((riskeval_trial(question, penalty, text), chance * probability))
    return long_run([measure for measure in MEASURES if "recalibrated" not in measure.name], trials)


RESPONDERS = ((PATTERN, respond),)
"""What prompts contain, and how they are replied to."""
