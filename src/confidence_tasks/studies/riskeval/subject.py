"""How a simulated subject replies when a wrong answer costs a penalty and it may abstain."""

from __future__ import annotations

import re
from collections.abc import Callable

from confidence_tasks.simulation.answers import answer
from confidence_tasks.simulation.draws import pick, uniform
from confidence_tasks.simulation.reply import Reply, Request
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


RESPONDERS = ((PATTERN, respond),)
"""What prompts contain, and how they are replied to."""
