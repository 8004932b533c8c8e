"""How a simulated subject guesses an age at death.

The subject believes a copy of the life table in which the risk of dying is multiplied at every age, by a factor that it
draws anew for each question; so its sensitivity is known. It guesses the best age by that table. Its
confidence is the chance of that guess by its own table, on the logit scale multiplied by its M-ratio (a subject
without metacognition states one half for all) and distorted by its bias, gain and noise. A subject with M-ratio 1 and
an exact table states the maximum achievable score.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

from confidence_tasks.simulation.reply import Reply, StageRequest, said, ways_to_say
from confidence_tasks.simulation.subject import Subject, normal
from confidence_tasks.simulation.true_values import long_run
from confidence_tasks.studies.lifeeval.prompts import CONDITIONS, lifeeval_reply
from confidence_tasks.studies.scales.prompts import Scale
from confidence_tasks.studies.scales.subject import report, reports
from confidence_tasks.study.question import Question

PERCENT = Scale(0, 100)


def belief(question: Question, subject: Subject, seed: object) -> tuple[int, float]:
    """Return the best guess by the subject's own life table, and its chance by that table."""
    return _belief(question, subject, normal(seed, question.id, "hazard"))


def _belief(question: Question, subject: Subject, score: float) -> tuple[int, float]:
    """Return the same where the logarithm of the factor on the risk of dying has a standard score."""
    from confidence_tasks.statistics.life_table import best_guess

    about = question.metadata
    table = _believed_table(about["table"], about["sex"], math.exp(subject.hazard_noise * score))
    best = best_guess(table, minimum_age=about["age"], radius=about["radius"], window=about["window"])
    return best.age, float(best.score)


@lru_cache(maxsize=64)
def _believed_table(path: str, sex: str, hazard: float) -> tuple[float, ...]:
    """Multiply the cumulative hazard of every year; the last age stays the last."""
    from confidence_tasks.sources.lifeeval import load_life_table
    from confidence_tasks.statistics.life_table import close_life_table

    true = close_life_table(load_life_table(path or None).probabilities(sex))
    return tuple((1.0 - (1.0 - true) ** hazard).tolist())


def respond(question: Question, request: StageRequest) -> Reply:
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


def _scores(n: int, spread: float) -> list[tuple[float, float]]:
    """Return standard scores with their weights, by Gauss-Hermite quadrature; 0 alone where nothing spreads."""
    import numpy as np

    scores, weights = np.polynomial.hermite_e.hermegauss(n if spread else 1)
    return list(zip(scores.tolist(), (weights / weights.sum()).tolist(), strict=True))


def true_values(
    subject: Subject, condition: str, task: str = "", parameters: Mapping[str, str] = MappingProxyType({})
) -> dict[str, float]:
    """Return what a subject's measures under a radius are in the long run, on all of its questions.

    Of the parameters of the run, ``window`` and ``table`` count.

    Examples
    --------
    >>> values = true_values(Subject(), "radius=20")
    >>> {name: round(values[name], 4) for name in ("score", "confidence", "regret")}
    {'score': 0.9343, 'confidence': 0.9345, 'regret': 0.0}
    """
    from confidence_tasks.sources.lifeeval import lifeeval_questions
    from confidence_tasks.studies.lifeeval.trials import MEASURES, lifeeval_trial

    CONDITIONS.number(condition)
    table = parameters.get("table", "")
    scoring = {
        "window": parameters.get("window", "half_open"),
        "table": "" if table == str(None) else table,  # as logs write a parameter that is not given
    }
    asked = {
        question.id: replace(question, metadata={**question.metadata, **scoring})
        for question in lifeeval_questions()
        if question.level == condition
    }
    found: dict[tuple[str, str], float] = {}
    noises = _scores(15, subject.noise)
    for score, weight in _scores(9, subject.hazard_noise):
        for name, question in asked.items():
            guess, chance = _belief(question, subject, score)
            for noise, share in noises:
                for percent, probability in reports(subject.restated(chance, noise), PERCENT, subject):
                    key = name, lifeeval_reply(guess, percent / 100)
                    found[key] = found.get(key, 0.0) + weight * share * probability
    total = sum(found.values())
    trials = [
        (lifeeval_trial(asked[name], text), weight * probability / total)
        for (name, reply), weight in found.items()
        for text, probability in ways_to_say(reply, subject)
    ]
    return long_run(MEASURES, trials)
