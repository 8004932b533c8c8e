"""The questions of LifeEval: at which age a person of given sex and age will die, and the life tables that know.

The shipped figures are the period life table 2022 of the US Social Security Administration, Office of the Chief Actuary
(probabilities of death of the Social Security area population), a work of the US government in the public domain.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from confidence_tasks.sources.source import Source, SourceError, State, ordered
from confidence_tasks.study.question import Question

_SHIPPED = Path(__file__).parent / "data" / "us_ssa_period_2022.csv"
SHIPPED_LAST_AGE = 119
COLUMNS = ("age", "male_qx", "female_qx")
LOWEST_LAST_AGE = 100
HIGHEST_LAST_AGE = 150


@dataclass(frozen=True, slots=True)
class LifeTable:
    """Probabilities of death by sex and age, named after population and year.

    ``male`` and ``female`` have the probability that a person who has reached age x dies before age x + 1, for x = 0,
    1, ... in [0, 1].
    """

    name: str
    male: tuple[float, ...]
    female: tuple[float, ...]

    def probabilities(self, sex: str) -> tuple[float, ...]:
        """Probabilities of death of one sex, ``male`` or ``female``."""
        return {"male": self.male, "female": self.female}[sex]


def load_life_table(path: str | Path | None = None) -> LifeTable:
    """Load a life table, by default the shipped one; it is named after its file.

    A CSV file has the columns ``age, male_qx, female_qx``: ages 0, 1, 2, ... without gaps up to at least 100, and the
    probability of dying within a year of reaching that age, in [0, 1]. SourceError names the line that is otherwise.

    Examples
    --------
    >>> table = load_life_table()
    >>> table.name, len(table.male), table.male[0], table.female[119]
    ('us_ssa_period_2022', 120, 0.006064, 1.0)
    """
    file = _SHIPPED if path is None else Path(path)
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = [row for row, _ in zip(csv.reader(lines), range(HIGHEST_LAST_AGE + 3), strict=False)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"life table {file}: cannot be read: {error}") from error
    if not rows or tuple(map(str.strip, rows[0])) != COLUMNS:
        raise SourceError(f"life table {file}: the columns must be {', '.join(COLUMNS)}")
    figures = [_figures(row, age, f"life table {file}, line {age + 2}") for age, row in enumerate(rows[1:])]
    if not LOWEST_LAST_AGE < len(figures) <= HIGHEST_LAST_AGE + 1:
        raise SourceError(f"life table {file}: the last age must be {LOWEST_LAST_AGE} to {HIGHEST_LAST_AGE}")
    male, female = zip(*figures, strict=True)
    return LifeTable(file.stem, male, female)


def _figures(row: list[str], age: int, where: str) -> tuple[float, float]:
    """Probabilities of one age, both sexes."""
    try:
        found, male, female = (float(cell) for cell in row)
    except ValueError as error:
        raise SourceError(f"{where}: three numbers expected, not {', '.join(row)[:60]!r}") from error
    if found != age:
        raise SourceError(f"{where}: age {age} expected, not {row[0]}")
    if not (0 <= male <= 1 and 0 <= female <= 1):
        raise SourceError(f"{where}: a probability must be between 0 and 1")
    return male, female


SEXES = ("male", "female")
AGES = range(101)
RADII = (1, 5, 10, 20)
"""The paper's four radii in years, the hardest first."""


def lifeeval_questions() -> list[Question]:
    """Build the 808 questions: two sexes, minimum ages 0 to 100, radii of 1, 5, 10 and 20 years.

    Examples
    --------
    >>> question = lifeeval_questions()[262]
    >>> question.id, question.text
    ('lifeeval-male-65-r10', 'At what age will a male who is 65 years old now die, to within 10 years?')
    """
    return [lifeeval_question(sex, age, radius) for sex, age, radius in product(SEXES, AGES, RADII)]


def lifeeval_question(sex: str, age: int, radius: int, **scoring: str) -> Question:
    """Build one question; it has no gold answer, as every guess is right with a probability from the life table.

    ``scoring`` is what a guess is scored by: ``window`` and ``table``.
    """
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
        metadata={"sex": sex, "age": age, "radius": radius, **scoring},
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
