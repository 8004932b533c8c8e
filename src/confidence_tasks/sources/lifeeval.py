"""The questions of LifeEval: at which age a person of given sex and age will die, to within a radius."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from confidence_tasks.sources.life_table import load_life_table
from confidence_tasks.sources.sampling import ordered
from confidence_tasks.sources.source import Source, State
from confidence_tasks.study.question import Question

SEXES = ("male", "female")
AGES = range(101)
RADII = (1, 5, 10, 20)


def lifeeval_questions() -> list[Question]:
    """Build the 808 questions: two sexes, minimum ages 0 to 100, radii of 1, 5, 10 and 20 years.

    Examples
    --------
    >>> question = lifeeval_questions()[262]
    >>> question.id, question.text
    ('lifeeval-male-65-r10', 'At what age will a male who is 65 years old now die, to within 10 years?')
    """
    return [_question(sex, age, radius) for sex, age, radius in product(SEXES, AGES, RADII)]


def _question(sex: str, age: int, radius: int) -> Question:
    """One question; it has no gold answer, as every guess is right with a probability from the life table."""
    years = "1 year" if radius == 1 else f"{radius} years"
    old = "1 year" if age == 1 else f"{age} years"
    return Question(
        id=f"lifeeval-{sex}-{age}-r{radius}",
        source="lifeeval",
        text=f"At what age will a {sex} who is {old} old now die, to within {years}?",
        kind="number",
        gold=None,
        subject=sex,
        level=f"radius={radius}",
        metadata={"sex": sex, "age": age, "radius": radius},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeEvalSource(Source):
    """The questions of LifeEval, which need no download."""

    def load(self, n: int | None, seed: int, mirror: Path | None, **options: Any) -> list[Question]:
        """Load at most ``n`` questions, balanced over radius and sex."""
        return ordered(lifeeval_questions(), seed, ("level", "subject"))[:n]

    def state(self, mirror: Path | None) -> State:
        """The figures come with the package."""
        return "shipped"

    def verify(self, mirror: Path | None) -> int:
        """Read the shipped life table."""
        load_life_table()
        return len(lifeeval_questions())
