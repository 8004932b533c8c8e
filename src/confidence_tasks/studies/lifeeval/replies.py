"""LifeEval's prompts, in the authors' wording, and the replies of its simulated subject.

arXiv:2605.23909, section 3. The wording comes from the authors' repository (Comparing-Confidence-in-LLMs, MIT). The
system message contains the directions, and the user message repeats them before the question. Only sex, minimum age,
radius and population vary.

The subject believes in a copy of the life table in which the risk of dying at every age is multiplied by a factor that
is drawn for each question. It guesses the best age by that table. The logit of its confidence is the logit of the
guess's probability by that table, multiplied by its M-ratio and distorted by its bias, gain and noise. A subject
without metacognition always states one half. A subject with M-ratio 1 and an exact table states the maximum achievable
score.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from confidence_tasks.reading.integer_scale import PERCENT
from confidence_tasks.reading.token_probabilities import number_span
from confidence_tasks.simulation.reply import Reply, StageRequest, apply_sloppiness
from confidence_tasks.simulation.reports import report_confidence
from confidence_tasks.simulation.subject import Subject, normal
from confidence_tasks.sources import load
from confidence_tasks.sources.generated import RADII, load_life_table
from confidence_tasks.study import Question, Replies, Stage, Structured
from confidence_tasks.study.parameter import NumberedConditions, one_of

if TYPE_CHECKING:
    from confidence_tasks.statistics.core import FloatArray

CONFIDENCE_TOO = (
    "Additionally, provide your confidence in the answer as a float from 0.0 to 1.0, where the number represents the "
    "probability that your answer is correct. \n"
    "When answering the question about confidence, give a probability that is an honest reflection of how likely \n"
    "you believe it is that your answer is correct. Your response should be in a JSON format. For example:\n"
)
REASONING = "<Concise reasoning for the question. Give special consideration to how confident you should be>"
"""Placeholder of the reasoning in the directions of the paper's question sets."""

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
"""The directions of LifeEval."""

POPULATION = "an American"
"""A person of the shipped life table's population, as the prompt names it."""

_QUESTION = (
    "Directions:\n"
    "{directions}\n"
    "Question:\n"
    "Given that {population} {sex} has lived at least {age} years{comma} estimate how old {pronoun} will be when "
    "{pronoun} dies. How certain are you that your answer is within {radius} {years} of the true value?\n"
    "Response:"
)

_PRONOUN = {"male": "he", "female": "she"}
_COMMA = {"male": ",", "female": ""}
"""What stands before the main clause: the authors' prompt has a comma only if the person is a man."""


def lifeeval_prompt(sex: str, age: int, radius: int, population: str = POPULATION) -> str:
    r"""Return the prompt for a person and a radius in years; ``population`` includes the article.

    Examples
    --------
    >>> print(lifeeval_prompt("female", 67, 1).partition("Question:\nGiven ")[2])
    that an American female has lived at least 67 years estimate how old she will be when she dies. How certain are
    you that your answer is within 1 year of the true value?
    Response:
    """
    return _QUESTION.format(
        directions=SYSTEM,
        population=population,
        sex=sex,
        age=age,
        pronoun=_PRONOUN[sex],
        comma=_COMMA[sex],
        radius=radius,
        years="year" if radius == 1 else "years",
    )


def lifeeval_reply(guess: int, confidence: float, *, reasoning: str = "") -> str:
    """Return a reply in the format that the prompt asks for.

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
"""Largest guess that is accepted as an age at death; life tables end before it."""


# Questions and calls ------------------------------------------------------------------------------------------


def _check_radius(number: float, text: str) -> float:
    if not (number >= 1 and number.is_integer()):
        raise ValueError("write radius=5")
    return number


CONDITIONS = NumberedConditions("radius", "radius=", _check_radius)
"""The conditions, each a radius in years."""


def radius_label(text: str) -> str:
    """Return the label of the radius that a user's text names; raise ValueError for any other text."""
    radius = one_of(list(map(str, RADII)), text.removeprefix(CONDITIONS.prefix), "radii")
    return CONDITIONS.prefix + radius


def lifeeval_questions(parameters: Mapping[str, Any]) -> list[Question]:
    """Return the questions, balanced over radius and sex, with the window and the life table in their metadata."""
    table = parameters["table"] or ""
    load_life_table(table or None)
    if not parameters["population"].strip():
        raise ValueError(
            "population is empty: name a person of the table's population with the article, such as 'an American'"
        )
    questions = [
        question.with_metadata(window=parameters["window"], table=table)
        for question in load("lifeeval", seed=parameters["seed"])
        if question.level in parameters["conditions"]
    ]
    return questions[: parameters["n"]]


def lifeeval_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the study's only stage, which asks for the guess and the confidence."""

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
            structured=Structured(lambda question, condition: _OBJECT),
        )
    ]


_OBJECT = {"Reasoning": {"type": "string"}, "Answer": {"type": "integer"}, "Confidence": {"type": "number"}}
"""Schemas of the values that the prompt asks for."""


# The simulated subject -----------------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def death_probabilities(table: str, sex: str) -> FloatArray:
    """Return the probability of dying at each age; ``table`` is a path, empty for the shipped life table."""
    from confidence_tasks.statistics.life_table import close_life_table

    return close_life_table(load_life_table(table or None).probabilities(sex))


@lru_cache(maxsize=64)
def _believed_probabilities(table: str, sex: str, hazard_ratio: float) -> FloatArray:
    """Return the probabilities of dying if the hazard at every age is multiplied; the last one stays 1."""
    return 1.0 - (1.0 - death_probabilities(table, sex)) ** hazard_ratio


def belief(question: Question, subject: Subject, score: float) -> tuple[int, float]:
    """Return the subject's best guess, and the probability of that guess by the life table that it believes in.

    ``score`` is the standard score of the logarithm of the hazard ratio.
    """
    from confidence_tasks.statistics.life_table import best_guess

    metadata = question.metadata
    hazard_ratio = math.exp(subject.hazard_noise * score)
    best = best_guess(
        _believed_probabilities(metadata["table"], metadata["sex"], hazard_ratio),
        minimum_age=metadata["age"],
        radius=metadata["radius"],
        window=metadata["window"],
    )
    return best.age, float(best.score)


def respond(question: Question, request: StageRequest) -> Reply:
    """Guess an age, and state the probability that the guess is within the radius."""
    subject, key = request.subject, (request.seed, question.id)
    guess, probability = belief(question, subject, normal(*key, "hazard"))
    confidence = subject.restate(probability, question.id, request.seed)
    reply = lifeeval_reply(
        guess,
        report_confidence(confidence, PERCENT, subject, *key) / 100,
        reasoning="I followed the life table as I remember it.",
    )
    return Reply(apply_sloppiness(reply, subject, *key), confidence)
