"""How a simulated subject guesses an age at death.

The subject believes a copy of the life table in which the risk of dying is multiplied at every age, by a factor that it
draws anew for each question; so its sensitivity is known. It guesses the best age by that table. Its
confidence is the chance of that guess by its own table, on the logit scale multiplied by its M-ratio (a subject
without metacognition states one half for all) and distorted by its bias, gain and noise. A subject with M-ratio 1 and
an exact table states the maximum achievable score.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

from confidence_tasks.simulation.draws import normal
from confidence_tasks.simulation.json_replies import said
from confidence_tasks.simulation.reply import Reply, Request
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.studies.lifeeval.prompts import lifeeval_reply
from confidence_tasks.studies.scales.scale import Scale
from confidence_tasks.studies.scales.subject import report
from confidence_tasks.study.question import Question

PATTERN = re.compile(r"has lived at least \d+ years, estimate how old")

PERCENT = Scale(0, 100)


def belief(question: Question, subject: Subject, seed: object) -> tuple[int, float]:
    """Return the best guess by the subject's own life table, and its chance by that table."""
    from confidence_tasks.statistics.life_table import best_guess

    about = question.metadata
    hazard = math.exp(subject.hazard_noise * normal(seed, question.id, "hazard"))
    table = _believed_table(about["table"], about["sex"], hazard)
    best = best_guess(table, minimum_age=about["age"], radius=about["radius"], window=about["window"])
    return best.age, float(best.score)


@lru_cache(maxsize=64)
def _believed_table(path: str, sex: str, hazard: float) -> tuple[float, ...]:
    """Multiply the cumulative hazard of every year; the last age stays the last."""
    from confidence_tasks.sources.life_table import load_life_table
    from confidence_tasks.statistics.life_table import close_life_table

    true = close_life_table(load_life_table(path or None).probabilities(sex))
    return tuple((1.0 - (1.0 - true) ** hazard).tolist())


def respond(question: Question, request: Request) -> Reply:
    """Guess, and state the chance of being near enough."""
    subject, key = request.subject, (request.seed, question.id)
    guess, chance = belief(question, subject, request.seed)
    stated = subject.restate(chance, question.id, request.seed)
    reply = lifeeval_reply(
        guess,
        report(stated, PERCENT, subject, *key) / 100,
        reasoning="I followed the life table as I remember it.",
    )
    return Reply(said(reply, subject, *key), stated)


RESPONDERS = ((PATTERN, respond),)
"""What prompts contain, and how they are replied to."""
