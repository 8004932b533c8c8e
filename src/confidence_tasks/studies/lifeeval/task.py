"""LifeEval: guess how old a person will be at death, and how probable it is that the guess is near enough.

arXiv:2605.23909. The 808 questions come with the package; nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from confidence_tasks.harness.inspect.samples import one_of
from confidence_tasks.reading.token_probabilities import number_span
from confidence_tasks.sources import load
from confidence_tasks.sources.lifeeval import load_life_table
from confidence_tasks.studies.lifeeval import RADII
from confidence_tasks.studies.lifeeval.prompts import SYSTEM, lifeeval_prompt
from confidence_tasks.studies.lifeeval.trials import MEASURES, TOKEN_MEASURES, lifeeval_summary
from confidence_tasks.study import Question, Replies, Stage, TaskMetrics


def radius_label(text: str) -> str:
    """Return the label of a radius.

    Examples
    --------
    >>> radius_label("5"), radius_label("radius=20")
    ('radius=5', 'radius=20')
    """
    return f"radius={one_of([str(radius) for radius in RADII], text.removeprefix('radius='), 'radii')}"


def label_of_question(question: Question) -> str:
    """Return the condition of a question, which is about one radius."""
    return f"radius={question.metadata['radius']}"


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
        if label_of_question(question) in parameters["conditions"]
    ]
    return asked[: parameters["n"]]


def lifeeval_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the only call, which asks for the guess and the confidence together."""

    def ask(question: Question, condition: str, replies: Replies) -> str:
        sex, age, radius = (question.metadata[key] for key in ("sex", "age", "radius"))
        return lifeeval_prompt(sex, age, radius, parameters["population"])

    top = parameters["top_logprobs"]
    return [
        Stage("guess", ask, system=SYSTEM, logprobs="required" if top else "", top_logprobs=top, span=_guess)
    ]


def _guess(question: Question, reply: str) -> tuple[int, int]:
    return number_span(reply)


def lifeeval_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures over all trials and by radius, sex and age."""
    tokens = bool(parameters["top_logprobs"])
    radii = [int(label.removeprefix("radius=")) for label in conditions]
    measures = MEASURES + TOKEN_MEASURES if tokens else MEASURES
    arguments = {"radii": radii, "token_probabilities": tokens}
    return TaskMetrics(lifeeval_summary, arguments, measures, "all", overall=("all",))
