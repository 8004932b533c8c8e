"""Parameters of a study's task, as data that both harnesses check before the first call."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType, NoneType
from typing import Any, TypeVar, get_args, get_origin

T = TypeVar("T", bound=str)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a study's task.

    Attributes
    ----------
    name : str
        Its name after ``-T`` in Inspect, and in ``--metadata`` on lm-eval.
    type : type
        What it may be: ``int``, ``float``, ``bool``, ``str``, ``list``, or a union of these, such as ``int | None``.
    default : object
        Its value when it is not given.
    help : str
        What it does, in a sentence.
    choices : tuple of str
        The only texts that it may be; empty for any.
    low, high : float
        Bounds of a number.
    """

    name: str
    type: Any
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf

    def check(self, value: Any) -> None:
        """Check a value of the right type.

        ValueError if it is none of the choices, or beyond the bounds.

        Examples
        --------
        >>> Parameter("by", str, "match", "How answers are compared.", ("match", "judge")).check("juge")
        Traceback (most recent call last):
        ...
        ValueError: by='juge' is not one of match, judge; did you mean 'judge'?
        """
        if isinstance(value, str) and self.choices:
            one_of(self.choices, value, self.name)
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and not self.low <= value <= self.high
        ):
            within = (
                f"be {self.low:g} or more"
                if math.isinf(self.high)
                else f"lie in [{self.low:g}, {self.high:g}]"
            )
            raise ValueError(f"{self.name}={value} must {within}")


def listed(value: str | float | Sequence[str] | Sequence[float], what: str) -> list[str]:
    """Return a list parameter, given as a list, as text with commas or as one number, without repetitions.

    Raises
    ------
    ValueError
        If it is empty.

    Examples
    --------
    >>> listed("0-20, 0-100", "scales"), listed(1, "temperatures")
    (['0-20', '0-100'], ['1'])
    """
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, Sequence) else [value]
    items = list(dict.fromkeys(text for part in parts if (text := str(part).strip())))
    if not items:
        raise ValueError(f"{what} is empty: name at least one")
    return items


def one_of(allowed: Sequence[T], value: str, what: str) -> T:
    """Return ``value`` when it is one of ``allowed``; ValueError lists them otherwise.

    Examples
    --------
    >>> one_of(("verbal", "cot"), "cot", "elicitation")
    'cot'
    """
    for choice in allowed:
        if choice == value:
            return choice
    raise ValueError(f"{what}={value!r} is not one of {', '.join(allowed)}{meant(value, allowed)}")


def meant(name: str, known: Any) -> str:
    """Return ``; did you mean 'x'?`` for the known name closest to a misspelt one; empty if none is close.

    Examples
    --------
    >>> meant("acuracy", ["accuracy", "ece"])
    "; did you mean 'accuracy'?"
    >>> meant("ECE", ["accuracy", "ece"])
    "; did you mean 'ece'?"
    """
    folded = {each.casefold(): each for each in known}
    near = get_close_matches(name.casefold(), folded, n=1)
    return f"; did you mean {folded[near[0]]!r}?" if near else ""


_KINDS: Mapping[type, tuple[tuple[type, ...], str]] = MappingProxyType(
    {
        bool: ((bool,), "true or false"),
        int: ((int,), "a whole number"),
        float: ((int, float), "a number"),
        str: ((str,), "a text"),
        list: ((list, tuple), "a list"),
        NoneType: ((NoneType,), ""),
    }
)
"""Types of parameters, with what a user may give for each and how messages name it."""


def check_value(name: str, value: Any, annotation: Any) -> None:
    """Raise ValueError for a value that is not of a type of ``annotation``, or no number.

    Examples
    --------
    >>> check_value("penalties", True, str | list[str] | float)
    Traceback (most recent call last):
    ...
    ValueError: penalties=True must be a text or a list or a number
    """
    kinds = [_KINDS[get_origin(kind) or kind] for kind in get_args(annotation) or (annotation,)]
    types = {each for allowed, _ in kinds for each in allowed}
    if type(value) not in types or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"{name}={value!r} must be {' or '.join(called for _, called in kinds if called)}")


@dataclass(frozen=True, slots=True)
class NumberedConditions:
    """The conditions of a study that are told apart by a number, such as a penalty.

    Attributes
    ----------
    column : str
        The column of trials that has the number.
    prefix : str
        What a label begins with.
    read : callable
        ``read(number, text)``: the number, NaN where the text names none; ValueError says what is allowed.
    written : callable
        How a label writes the number.

    Examples
    --------
    >>> penalties = NumberedConditions("penalty", "lambda=", lambda number, text: abs(number))
    >>> penalties.label(0.5), penalties.number("lambda=10"), penalties.label_of("10"), penalties.columns("lambda=2")
    ('lambda=0.5', 10.0, 'lambda=10', {'penalty': 2.0})
    """

    column: str
    prefix: str
    read: Callable[[float, str], float]
    written: Callable[[float], str] = "{:g}".format

    def label(self, number: float) -> str:
        """Return the label of a number."""
        return f"{self.prefix}{self.written(number)}"

    def number(self, text: str) -> float:
        """Return the number that a user or a label names."""
        named = text.strip().removeprefix(self.prefix)
        try:
            number = float(named)
        except ValueError:
            number = math.nan
        return self.read(number, named)

    def label_of(self, text: str) -> str:
        """Return the label of the number that a user names."""
        return self.label(self.number(text))

    def columns(self, label: str) -> dict[str, float]:
        """Return the number that a label stands for, as a column of trials."""
        return {self.column: self.number(label)}


def unknown_parameter(task: str, name: str, known: Iterable[str]) -> str:
    """Say that a task has no such parameter, which it has, and which of them was probably meant.

    Examples
    --------
    >>> unknown_parameter("riskeval", "penalty", ["n", "penalties"])
    "riskeval has no parameter 'penalty'; did you mean 'penalties'? It has n, penalties"
    """
    known = list(known)
    return f"{task} has no parameter {name!r}{meant(name, known) or '.'} It has {', '.join(known)}"


SEED = Parameter("seed", int, 0, "Seed of the order of questions and of sampling.", low=0)
METRICS = Parameter(
    "metrics",
    str,
    "headline",
    "Which measures are logged as metrics; reports compute all of them from the trials.",
    ("headline", "all"),
)
TOP_LOGPROBS = Parameter(
    "top_logprobs",
    int,
    0,
    "Ask for token probabilities with so many alternatives; 0 does not ask.",
    low=0,
    high=20,
)
"""The parameter of tasks that score token probabilities beside what is stated."""
EFFORTS = Parameter(
    "efforts",
    str | int | list[str] | None,
    None,
    "Reasoning efforts, such as low,high, or tokens to think in, such as 1024,8192: each question is asked at each.",
)
FEWSHOT = Parameter(
    "fewshot",
    int,
    0,
    "Worked examples before each question, from questions that are not asked, for small and base models.",
    low=0,
)
MIRROR = Parameter("mirror", str | None, None, "Folder with local copies of the question sources.")
CACHE = Parameter("cache", bool, True, "Keep replies, so that a run that was killed repeats no call.")


def source_parameters(source: str) -> tuple[Parameter, ...]:
    """Return the parameters that say which questions of which source, by default the one given, are asked."""
    return (
        Parameter("source", str, source, "Name of a question source, or path of a question file."),
        Parameter("n", int | None, None, "Number of questions; all by default.", low=1),
        MIRROR,
    )
