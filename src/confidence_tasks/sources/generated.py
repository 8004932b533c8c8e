"""Generated questions, which need no download: arithmetic of graded difficulty, and the questions of LifeEval.

LifeEval asks at which age a person of a given sex and age will die. This package contains the period life table 2022 of
the US Social Security Administration, Office of the Chief Actuary (probabilities of death of the Social Security area
population), a work of the US government in the public domain.
"""

from __future__ import annotations

import csv
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_args

from confidence_tasks.sources.source import Source, SourceError, State, seeded_key, shuffle_questions
from confidence_tasks.study.trial import LETTERS, Question

Form = Literal["choice", "number", "boolean"]
"""Form of an arithmetic question: four lettered options, a number, or a claim that is right or wrong."""

FORMS: tuple[Form, ...] = get_args(Form)
DEFAULT_SIZE = 200
MAX_SIZE = 100_000


@dataclass(frozen=True, slots=True)
class Level:
    """Operation and operand ranges of a level of difficulty."""

    subject: str
    symbol: str
    apply: Callable[[int, int], int]
    first: range
    second: range


_ONE, _TWO, _THREE, _FOUR = range(2, 10), range(10, 100), range(100, 1_000), range(1_000, 10_000)

LEVELS: Mapping[str, Level] = {
    "1": Level("addition", "+", operator.add, _TWO, _ONE),
    "2": Level("addition", "+", operator.add, _TWO, _TWO),
    "3": Level("subtraction", "-", operator.sub, _THREE, _THREE),
    "4": Level("multiplication", "×", operator.mul, _TWO, _ONE),
    "5": Level("multiplication", "×", operator.mul, _TWO, _TWO),
    "6": Level("multiplication", "×", operator.mul, _THREE, _TWO),
    "7": Level("multiplication", "×", operator.mul, _FOUR, _THREE),
}
"""Levels of difficulty, the easiest first."""

_OPTIONS = 4
_OFFSETS = (1, 2, 9, 10, 11, 20)
"""Distances of wrong numbers from the result, as by a wrong digit or carry. Some keep the last digit."""


def arithmetic(n: int | None = None, seed: int = 0, form: Form = "choice") -> list[Question]:
    """Generate arithmetic questions of seven levels in turns, from ``1`` (easiest) to ``7``.

    The questions are the same on every machine, and a smaller ``n`` gives the first of them. The letters of right
    options, and true and false claims, are balanced within each level.

    ``n`` is 1 to 100,000, by default 200. ``seed`` determines the operands and is part of the ids. ``form`` is what is
    asked about the operands: which of four numbers is the result (``choice``), what the result is (``number``), or
    whether a stated number is the result (``boolean``). SourceError if ``n`` or ``form`` is not allowed.

    Examples
    --------
    >>> question = arithmetic(1)[0]
    >>> question.id, question.level, question.subject
    ('arithmetic-s0-00000', '1', 'addition')
    >>> question.options[question.gold] == question.metadata["result"]
    True
    """
    size = DEFAULT_SIZE if n is None else n
    if not 1 <= size <= MAX_SIZE:
        raise SourceError(f"arithmetic: n must be between 1 and {MAX_SIZE}, not {size}")
    if form not in FORMS:
        raise SourceError(f"arithmetic: unknown form {form!r}; the forms are {', '.join(FORMS)}")
    labels = list(LEVELS)
    seen: dict[str, set[tuple[int, int]]] = {label: set() for label in labels}
    questions = []
    for position in range(size):
        turn, index = divmod(position, len(labels))
        label = labels[index]
        operands = _operands(LEVELS[label], seen[label], seed, position)
        questions.append(_question(label, operands, turn, seed, position, form))
    return questions


def _draw(size: int, seed: int, *parts: object) -> int:
    """Return a pseudorandom number in 0 .. size - 1, from a hash, which no version of the standard library changes."""
    return int.from_bytes(seeded_key(seed, *parts)) % size


def _operands(level: Level, seen: set[tuple[int, int]], seed: int, position: int) -> tuple[int, int]:
    """Draw operands that the level did not have yet; all operands are available again once none is left."""
    if len(seen) == len(level.first) * len(level.second):
        seen.clear()
    attempt = 0
    while True:
        drawn = (
            level.first[_draw(len(level.first), seed, position, attempt, "first")],
            level.second[_draw(len(level.second), seed, position, attempt, "second")],
        )
        if drawn not in seen:
            seen.add(drawn)
            return drawn
        attempt += 1


def _question(
    label: str, operands: tuple[int, int], turn: int, seed: int, position: int, form: Form
) -> Question:
    level = LEVELS[label]
    result = level.apply(*operands)
    task = f"{operands[0]} {level.symbol} {operands[1]}"
    choices: tuple[str, ...] = ()
    if form == "choice":
        place = _balanced_outcome(_OPTIONS, turn, seed, label)
        text, gold = f"What is {task}?", LETTERS[place]
        wrong = [str(result + offset) for offset in _offsets(_OPTIONS - 1, seed, position)]
        choices = (*wrong[:place], str(result), *wrong[place:])
    elif form == "number":
        text, gold = f"What is {task}?", str(result)
    else:
        holds = _balanced_outcome(2, turn, seed, label) == 1
        claimed = result if holds else result + _offsets(1, seed, position)[0]
        text, gold = f"Is it true that {task} = {claimed}?", "yes" if holds else "no"
    source = SOURCE_NAMES[form]
    return Question(
        id=f"{source}-s{seed}-{position:05d}",
        source=source,
        text=text,
        kind=form,
        gold=gold,
        choices=choices,
        subject=level.subject,
        level=label,
        metadata={"result": str(result)},
    )


SOURCE_NAMES: Mapping[Form, str] = {
    "choice": "arithmetic",
    "number": "arithmetic_number",
    "boolean": "arithmetic_boolean",
}
"""Name of the source by form."""


def _balanced_outcome(size: int, turn: int, seed: int, label: str) -> int:
    """Return the outcome of a turn, one of ``size``: each block of ``size`` turns has every outcome once."""
    block, place = divmod(turn, size)
    return sorted(range(size), key=lambda outcome: seeded_key(seed, label, block, outcome))[place]


def _offsets(count: int, seed: int, position: int) -> list[int]:
    """Return the distances of wrong numbers from the result, whose rank among all numbers is uniform."""
    sizes = sorted(_OFFSETS, key=lambda size: seeded_key(seed, position, "offset", size))[:count]
    below = _draw(count + 1, seed, position, "below")
    return [-size if index < below else size for index, size in enumerate(sizes)]


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedSource(Source):
    """A source that generates its questions by ``make(n, seed)``; None is the default number."""

    make: Callable[[int | None, int], list[Question]]
    copy: State = "generated"

    def load(self, n: int | None, seed: int, mirror: Path | None, **options: Any) -> list[Question]:
        """Generate ``n`` questions."""
        return self.make(n, seed)

    def state(self, mirror: Path | None) -> State:
        """Return the state, which does not depend on the machine."""
        return self.copy

    def verify(self, mirror: Path | None) -> int:
        """Generate the default number of questions."""
        return len(self.make(None, 0))


_SHIPPED = Path(__file__).parent / "data" / "us_ssa_period_2022.csv"
SHIPPED_LAST_AGE = 119
COLUMNS = ("age", "male_qx", "female_qx")
LOWEST_LAST_AGE = 100
HIGHEST_LAST_AGE = 150


@dataclass(frozen=True, slots=True)
class LifeTable:
    """A life table.

    Attributes
    ----------
    name : str
        Name of the table: population and year.
    male, female : tuple of float
        For each age x = 0, 1, ..., the probability that a person who reached this age dies before age x + 1.
    """

    name: str
    male: tuple[float, ...]
    female: tuple[float, ...]

    def probabilities(self, sex: str) -> tuple[float, ...]:
        """Return the probabilities of death of one sex, ``male`` or ``female``."""
        return {"male": self.male, "female": self.female}[sex]


def load_life_table(path: str | Path | None = None) -> LifeTable:
    """Load a life table, by default that of this package. Its name is that of the file.

    The CSV file has the columns ``age, male_qx, female_qx``: ages 0, 1, 2, ... up to at least 100, and the probability
    of dying within a year of reaching this age. SourceError names the line that is not valid.

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
    by_age = [
        _probabilities(row, age, f"life table {file}, line {age + 2}") for age, row in enumerate(rows[1:])
    ]
    if not LOWEST_LAST_AGE < len(by_age) <= HIGHEST_LAST_AGE + 1:
        raise SourceError(f"life table {file}: the last age must be {LOWEST_LAST_AGE} to {HIGHEST_LAST_AGE}")
    male, female = zip(*by_age, strict=True)
    return LifeTable(file.stem, male, female)


def _probabilities(row: list[str], age: int, where: str) -> tuple[float, float]:
    """Return the probabilities of death at an age, male and female, from a row of a life table."""
    try:
        stated_age, male, female = (float(cell) for cell in row)
    except ValueError as error:
        raise SourceError(f"{where}: three numbers expected, not {', '.join(row)[:60]!r}") from error
    if stated_age != age:
        raise SourceError(f"{where}: age {age} expected, not {row[0]}")
    if not (0 <= male <= 1 and 0 <= female <= 1):
        raise SourceError(f"{where}: a probability must be between 0 and 1")
    return male, female


SEXES = ("male", "female")
AGES = range(101)
RADII = (1, 5, 10, 20)
"""The four radii of the paper in years, the hardest first."""


def lifeeval_questions() -> list[Question]:
    """Return the 808 questions: two sexes, ages 0 to 100, and radii of 1, 5, 10 and 20 years.

    Examples
    --------
    >>> question = lifeeval_questions()[262]
    >>> question.id, question.text
    ('lifeeval-male-65-r10', 'At what age will a male who is 65 years old now die, to within 10 years?')
    """
    return [lifeeval_question(sex, age, radius) for sex, age, radius in product(SEXES, AGES, RADII)]


def lifeeval_question(sex: str, age: int, radius: int, **scoring: str) -> Question:
    """Return one question. It has no key, because every guess is right with a probability from the life table.

    ``scoring`` is added to the metadata: the ``window`` and the ``table`` by which a guess is scored.
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


def ordered_lifeeval(n: int | None, seed: int) -> list[Question]:
    """Return at most ``n`` questions of LifeEval, balanced over radius and sex, for the life table of this package."""
    load_life_table()
    return shuffle_questions(lifeeval_questions(), seed, ("level", "subject"))[:n]
