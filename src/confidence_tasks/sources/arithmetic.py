"""Generated arithmetic: seeded questions of graded difficulty that need no download."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from confidence_tasks.sources.source import Source, SourceError, State, seeded_key
from confidence_tasks.study.question import LETTERS, Question

Form = Literal["choice", "number", "boolean"]
"""Four lettered options, a free number, or a claim to accept or reject."""

FORMS: tuple[Form, ...] = get_args(Form)
DEFAULT_SIZE = 200
MAX_SIZE = 100_000


@dataclass(frozen=True, slots=True)
class Level:
    """Operation and operand ranges of one level of difficulty."""

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
"""How far wrong numbers lie from the result: slips of a digit or a carry; some keep the last digit."""


def arithmetic(n: int | None = None, seed: int = 0, form: Form = "choice") -> list[Question]:
    """Generate ``n`` questions, 1 to 100,000, the levels taking turns; 200 by default.

    ``form`` is what is asked about the same operands: which of four numbers is right (``choice``), what the number is
    (``number``), or whether a stated number is right (``boolean``). They are the same on every machine; the questions
    for a smaller ``n`` are the first of these. The id names the seed, because another seed gives other questions.
    ``level`` is ``1`` (easiest) to ``7``. Right letters, and true and false claims, are balanced within each level.
    SourceError if ``n`` or ``form`` is not allowed.

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
    """Draw from 0 .. size - 1, by hash: the standard library does not promise its generator's draws for ever."""
    return int.from_bytes(seeded_key(seed, *parts)) % size


def _operands(level: Level, seen: set[tuple[int, int]], seed: int, position: int) -> tuple[int, int]:
    """Draw operands that the level has not had yet; it starts afresh once it has had them all."""
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
        place = _balanced(_OPTIONS, turn, seed, label)
        text, gold, choices = f"What is {task}?", LETTERS[place], _choices(result, place, seed, position)
    elif form == "number":
        text, gold = f"What is {task}?", str(result)
    else:
        holds = _balanced(2, turn, seed, label) == 1
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
"""Name of the source of each form."""


def _balanced(size: int, turn: int, seed: int, label: str) -> int:
    """Which of ``size`` outcomes a turn gets: each block of ``size`` turns has every outcome once."""
    block, place = divmod(turn, size)
    return sorted(range(size), key=lambda outcome: seeded_key(seed, label, block, outcome))[place]


def _choices(result: int, place: int, seed: int, position: int) -> tuple[str, ...]:
    """Put the result at ``place`` among wrong numbers."""
    wrong = [str(result + offset) for offset in _offsets(_OPTIONS - 1, seed, position)]
    return (*wrong[:place], str(result), *wrong[place:])


def _offsets(count: int, seed: int, position: int) -> list[int]:
    """Distances of wrong numbers from the result; how many lie below it is uniform, so its rank tells nothing."""
    sizes = sorted(_OFFSETS, key=lambda size: seeded_key(seed, position, "offset", size))[:count]
    below = _draw(count + 1, seed, position, "below")
    return [-size if index < below else size for index, size in enumerate(sizes)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArithmeticSource(Source):
    """One form of the generated questions."""

    form: Form

    def load(self, n: int | None, seed: int, mirror: Path | None, **options: Any) -> list[Question]:
        """Generate ``n`` questions, 200 by default."""
        return arithmetic(n, seed, self.form)

    def state(self, mirror: Path | None) -> State:
        """They are generated when they are needed."""
        return "generated"

    def verify(self, mirror: Path | None) -> int:
        """Generate the default number of questions."""
        return len(arithmetic(form=self.form))
