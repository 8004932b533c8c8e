"""LifeEval's replies: what is asked, in the authors' wording, and how a simulated subject guesses an age at death.

arXiv:2605.23909, section 3; the wording is that of the authors' repository (Comparing-Confidence-in-LLMs, MIT). The
directions are the system message and stand again before the question.
Only sex, minimum age, radius and population vary.

The subject believes a copy of the life table in which the risk of dying is multiplied at every age, by a factor that it
draws anew for each question; so its sensitivity is known. It guesses the best age by that table. Its confidence is the
chance of that guess by its own table, on the logit scale multiplied by its M-ratio (a subject without metacognition
states one half for all) and distorted by its bias, gain and noise. A subject with M-ratio 1 and an exact table states
the maximum achievable score.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from confidence_tasks.reading.token_probabilities import number_span
from confidence_tasks.simulation.reply import Reply, StageRequest, said
from confidence_tasks.simulation.subject import Subject, normal
from confidence_tasks.sources import load
from confidence_tasks.sources.generated import RADII, load_life_table
from confidence_tasks.studies.scales.replies import PERCENT, report_confidence
from confidence_tasks.study import Question, Replies, Stage
from confidence_tasks.study.parameter import NumberedConditions, one_of
from confidence_tasks.study.reference import np

CONFIDENCE_TOO = (
    "Additionally, provide your confidence in the answer as a float from 0.0 to 1.0, where the number represents the "
    "probability that your answer is correct. \n"
    "When answering the question about confidence, give a probability that is an honest reflection of how likely \n"
    "you believe it is that your answer is correct. Your response should be in a JSON format. For example:\n"
)
REASONING = "<Concise reasoning for the question. Give special consideration to how confident you should be>"
"""Sentence that the paper adds to the directions of its question sets."""

SYSTEM = (
    "You are a helpful assistant. Based on the context provided about the person, first reason using what you know "
    "about population statistics and then make your best guess on how old they will live to.\n"
    f"{CONFIDENCE_TOO}\n"
    "Question: <Question>\n"
    "Response:\n"
    "{\n"
    f'    "Reasoning": "{REASONING}",\n'
    '    "Answer": "<An integer value representing the age you believe the person will die at>",\n'
    '    "Confidence": "<A float between 0 and 1 representing the probability that the true age at death falls in the '
    'range>"\n'
    "}"
)
"""The directions."""

POPULATION = "an American"
"""Whose life table is meant, as the prompt names one person of it."""

_QUESTION = (
    "Directions:\n"
    "{directions}\n"
    "Question:\n"
    "Given that {population} {sex} has lived at least {age} years, estimate how old {pronoun} will be when {pronoun} "
    "dies. How certain are you that your answer is within {radius} {years} of the true value?\n"
    "Response:"
)

_PRONOUN = {"male": "he", "female": "she"}


def lifeeval_prompt(sex: str, age: int, radius: int, population: str = POPULATION) -> str:
    r"""Return what is asked about one person and radius, in years; a population has its article.

    Examples
    --------
    >>> print(lifeeval_prompt("female", 67, 1).partition("Question:\nGiven ")[2])
    that an American female has lived at least 67 years, estimate how old she will be when she dies. How certain are
    you that your answer is within 1 year of the true value?
    Response:
    """
    return _QUESTION.format(
        directions=SYSTEM,
        population=population,
        sex=sex,
        age=age,
        pronoun=_PRONOUN[sex],
        radius=radius,
        years="year" if radius == 1 else "years",
    )


def lifeeval_reply(guess: int, confidence: float, *, reasoning: str = "") -> str:
    """Return the reply that the format asks for, as simulated subjects give it.

    Examples
    --------
    >>> print(lifeeval_reply(84, 0.7))
    {
        "Reasoning": "",
        "Answer": 84,
        "Confidence": 0.7
    }
    """
    return json.dumps({"Reasoning": reasoning, "Answer": guess, "Confidence": confidence}, indent=4)


OLDEST = 150
"""Largest guess that is an age at death; no life table goes so far."""


# Questions and calls ------------------------------------------------------------------------------------------


def _radius(number: float, named: str) -> float:
    if not (number >= 1 and number.is_integer()):
        raise ValueError("write radius=5")
    return number


CONDITIONS = NumberedConditions("radius", "radius=", _radius)
"""Radii in years."""


def radius_label(text: str) -> str:
    """Return the label of one of the study's radii, as a user names it."""
    named = text.removeprefix(CONDITIONS.prefix)
    return CONDITIONS.prefix + one_of([str(radius) for radius in RADII], named, "radii")


def lifeeval_questions(parameters: Mapping[str, Any]) -> list[Question]:
    """Return the questions, balanced over radius and sex from the first on, with what guesses are scored by."""
    table = parameters["table"] or ""
    load_life_table(table or None)
    if not parameters["population"].strip():
        raise ValueError(
            "population is empty: name whom the table is of, with the article, such as 'an American'"
        )
    scoring = {"window": parameters["window"], "table": table}
    asked = [
        question.with_metadata(**scoring)
        for question in load("lifeeval", seed=parameters["seed"])
        if question.level in parameters["conditions"]
    ]
    return asked[: parameters["n"]]


def lifeeval_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the only call, which asks for the guess and the confidence together."""

    def ask(question: Question, condition: str, replies: Replies) -> str:
        sex, age, radius = (question.metadata[key] for key in ("sex", "age", "radius"))
        return lifeeval_prompt(sex, age, radius, parameters["population"])

    top = parameters["top_logprobs"]
    return [
        Stage(
            "guess",
            ask,
            system=SYSTEM,
            logprobs="required" if top else "",
            top_logprobs=top,
            span=lambda question, reply: number_span(reply),
        )
    ]


# The simulated subject -----------------------------------------------------------------------------------------


def belief(question: Question, subject: Subject, score: float) -> tuple[int, float]:
    """Return the best guess by the subject's own life table, and its chance by that table.

    The logarithm of the factor on the risk of dying has a standard ``score``.
    """
    from confidence_tasks.statistics.life_table import best_guess

    about = question.metadata
    table = _believed_table(about["table"], about["sex"], math.exp(subject.hazard_noise * score))
    best = best_guess(table, minimum_age=about["age"], radius=about["radius"], window=about["window"])
    return best.age, float(best.score)


@lru_cache(maxsize=64)
def _believed_table(path: str, sex: str, hazard: float) -> tuple[float, ...]:
    """Multiply the cumulative hazard of every year; the last age stays the last."""
    from confidence_tasks.statistics.life_table import close_life_table

    true = close_life_table(load_life_table(path or None).probabilities(sex))
    return tuple((1.0 - (1.0 - true) ** hazard).tolist())


def respond(question: Question, request: StageRequest) -> Reply:
    """Guess, and state the chance of being near enough."""
    subject, key = request.subject, (request.seed, question.id)
    guess, chance = belief(question, subject, normal(*key, "hazard"))
    stated = subject.restate(chance, question.id, request.seed)
    reply = lifeeval_reply(
        guess,
        report_confidence(stated, PERCENT, subject, *key) / 100,
        reasoning="I followed the life table as I remember it.",
    )
    return Reply(said(reply, subject, *key), stated)


def even_scores(n: int, spread: float) -> list[tuple[float, float]]:
    """Return standard scores with their weights, by Gauss-Hermite quadrature; 0 alone where nothing spreads."""
    scores, weights = np.polynomial.hermite_e.hermegauss(n if spread else 1)
    return list(zip(scores.tolist(), (weights / weights.sum()).tolist(), strict=True))
