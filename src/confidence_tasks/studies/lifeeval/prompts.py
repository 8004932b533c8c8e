"""What LifeEval asks: its questions in the authors' wording; only sex, minimum age, radius and population vary.

arXiv:2605.23909, section 3; the wording is that of the authors' repository (Comparing-Confidence-in-LLMs, MIT). The
directions are the system message and stand again before the question.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from confidence_tasks.harness.inspect.samples import one_of
from confidence_tasks.reading.token_probabilities import number_span
from confidence_tasks.sources import load
from confidence_tasks.sources.lifeeval import RADII, load_life_table
from confidence_tasks.study import Question, Replies, Stage
from confidence_tasks.study.parameter import NumberedConditions

CONFIDENCE_TOO = (
    "Additionally, provide your confidence in the answer as a float from 0.0 to 1.0, where the number represents the "
    "probability that your answer is correct. \n"
    "When answering the question about confidence, give a probability that is an honest reflection of how likely \n"
    "you believe it is that your answer is correct. Your response should be in a JSON format. For example:\n"
)
REASONING = "<Concise reasoning for the question. Give special consideration to how confident you should be>"
"""What the directions of the paper's question sets also say."""

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
"""A guess above it, or below 0, is no age at death; no life table goes so far."""


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
        replace(question, metadata={**question.metadata, **scoring})
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
