"""Parameters of tasks. Both harnesses check their values before the first model call."""

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
    """A parameter of the tasks of a study.

    Attributes
    ----------
    name : str
        Name of the parameter: ``-T name=value`` on Inspect, a key of ``--metadata`` on lm-eval.
    type : type
        Type of the value: ``int``, ``float``, ``bool``, ``str``, ``list``, or a union such as ``int | None``.
    default : object
        Value if the user gives none.
    help : str
        Description in one sentence.
    choices : tuple of str
        The only texts that are allowed; empty to allow any.
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
        """Raise ValueError if a value has another type, is not one of the choices, or is outside the bounds.

        Examples
        --------
        >>> Parameter("by", str, "match", "How answers are compared.", ("match", "judge")).check("juge")
        Traceback (most recent call last):
        ...
        ValueError: by='juge' is not one of match, judge; did you mean 'judge'?
        """
        check_value(self.name, value, self.type)
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


def parse_list(value: str | float | Sequence[str] | Sequence[float], what: str) -> list[str]:
    """Return the items of a list, of a text with commas or of one number as texts, without repetitions.

    ValueError, which names the parameter ``what``, if there are no items.

    Examples
    --------
    >>> parse_list("0-20, 0-100", "scales"), parse_list(1, "temperatures")
    (['0-20', '0-100'], ['1'])
    """
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, Sequence) else [value]
    items = list(dict.fromkeys(text for part in parts if (text := str(part).strip())))
    if not items:
        raise ValueError(f"{what} is empty: name at least one")
    return items


def one_of(allowed: Sequence[T], value: str, what: str) -> T:
    """Return ``value`` if it is one of ``allowed``. Otherwise raise ValueError, whose message lists them.

    Examples
    --------
    >>> one_of(("verbal", "cot"), "cot", "elicitation")
    'cot'
    """
    for choice in allowed:
        if choice == value:
            return choice
    raise ValueError(f"{what}={value!r} is not one of {', '.join(allowed)}{did_you_mean(value, allowed)}")


def did_you_mean(name: str, known: Any, similarity: float = 0.6) -> str:
    """Return ``; did you mean 'x'?`` with the known name closest to a misspelt one; empty if no name is close.

    ``similarity``, from 0 to 1, is the least ratio of :class:`difflib.SequenceMatcher` of a close name.

    Examples
    --------
    >>> did_you_mean("acuracy", ["accuracy", "ece"])
    "; did you mean 'accuracy'?"
    >>> did_you_mean("ECE", ["accuracy", "ece"])
    "; did you mean 'ece'?"
    """
    folded = {each.casefold(): each for each in known}
    closest = get_close_matches(name.casefold(), folded, n=1, cutoff=similarity)
    return f"; did you mean {folded[closest[0]]!r}?" if closest else ""


_TYPES: Mapping[type, tuple[tuple[type, ...], str]] = MappingProxyType(
    {
        bool: ((bool,), "true or false"),
        int: ((int,), "a whole number"),
        float: ((int, float), "a number"),
        str: ((str,), "a text"),
        list: ((list, tuple), "a list"),
        NoneType: ((NoneType,), ""),
    }
)
"""By type of a parameter: the types of values that a user may give, and the name of the type in messages."""


def check_value(name: str, value: Any, annotation: Any) -> None:
    """Raise ValueError if a value does not have a type of ``annotation``, or is an infinite number or NaN.

    Examples
    --------
    >>> check_value("penalties", True, str | list[str] | float)
    Traceback (most recent call last):
    ...
    ValueError: penalties=True must be a text or a list or a number
    """
    declared = [_TYPES[get_origin(kind) or kind] for kind in get_args(annotation) or (annotation,)]
    allowed = {kind for kinds, _ in declared for kind in kinds}
    if type(value) not in allowed or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"{name}={value!r} must be {' or '.join(label for _, label in declared if label)}")


@dataclass(frozen=True, slots=True)
class NumberedConditions:
    """Conditions that differ in one number, such as a penalty. Their labels are a prefix and the number.

    Attributes
    ----------
    column : str
        Column of trials that holds the number.
    prefix : str
        Prefix of the labels.
    read : callable
        ``read(number, text)`` returns the number of a condition, or raises ValueError if it is not allowed. ``number``
        is NaN if the user's ``text`` is no number.
    format_number : callable
        Returns the number as labels write it.

    Examples
    --------
    >>> penalties = NumberedConditions("penalty", "lambda=", lambda number, text: abs(number))
    >>> penalties.label(0.5), penalties.number("lambda=10"), penalties.label_of("10"), penalties.columns("lambda=2")
    ('lambda=0.5', 10.0, 'lambda=10', {'penalty': 2.0})
    """

    column: str
    prefix: str
    read: Callable[[float, str], float]
    format_number: Callable[[float], str] = "{:g}".format

    def label(self, number: float) -> str:
        """Return the label of a number."""
        return f"{self.prefix}{self.format_number(number)}"

    def number(self, text: str) -> float:
        """Return the number of a condition, given as the number alone or as the label."""
        text = text.strip().removeprefix(self.prefix)
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        return self.read(number, text)

    def label_of(self, text: str) -> str:
        """Return the label of a condition, given as the number alone or as the label."""
        return self.label(self.number(text))

    def columns(self, label: str) -> dict[str, float]:
        """Return the columns of trials that a label determines."""
        return {self.column: self.number(label)}


def unknown_parameter(task: str, name: str, known: Iterable[str]) -> str:
    """Return the message for an unknown parameter: the closest parameter of the task, and all parameters.

    A task that has no replies that are JSON objects says so.

    Examples
    --------
    >>> unknown_parameter("riskeval", "penalty", ["n", "penalties"])
    "riskeval has no parameter 'penalty'; did you mean 'penalties'? It has n, penalties"
    """
    if name == STRUCTURED.name:
        return f"{name}: replies to {task} are texts, and none is asked for as a JSON object: leave it out"
    known = list(known)
    return f"{task} has no parameter {name!r}{did_you_mean(name, known) or '.'} It has {', '.join(known)}"


SEED = Parameter("seed", int, 0, "Seed of the order of questions and of sampling.", low=0)
METRICS = Parameter(
    "metrics",
    str,
    "headline",
    "Which measures are logged as metrics; reports compute all measures from the trials.",
    ("headline", "all"),
)
TOP_LOGPROBS = Parameter(
    "top_logprobs",
    int,
    0,
    "Number of alternatives to each token whose probabilities are requested; 0 requests no token probabilities.",
    low=0,
    high=20,
)
"""Parameter of tasks that evaluate token probabilities beside the stated confidence."""
EFFORTS = Parameter(
    "efforts",
    str | int | list[str] | None,
    None,
    "Reasoning efforts, such as low,high, or reasoning tokens, such as 1024,8192; each question is asked at each.",
)
FEWSHOT = Parameter(
    "fewshot",
    int,
    0,
    "Number of worked examples before each question, for small and base models; their questions are not asked.",
    low=0,
)
STRUCTURED = Parameter(
    "structured",
    bool,
    False,
    "Whether replies are JSON objects by a response schema; providers that ignore schemas are refused.",
)
"""Parameter of tasks whose replies have an answer and a confidence."""
MIRROR = Parameter("mirror", str | None, None, "Folder with local copies of the question sources.")
CACHE = Parameter(
    "cache",
    bool | None,
    None,
    "Cache replies, so that an interrupted run repeats no call; by default only of models on other machines.",
)

STOP = Parameter(
    "stop",
    str | None,
    None,
    "Gate, such as 'overconfidence<0.1' or 'brier<old.eval', at whose decision the run stops; on Inspect only.",
)
ALPHA = Parameter(
    "alpha",
    float,
    0.05,
    "Largest probability of a wrong decision by `stop`, over all conditions.",
    low=1e-6,
    high=0.5,
)


def efforts_of(parameters: Mapping[str, Any]) -> list[str]:
    """Return the reasoning efforts among the parameters of a task; none if each question is asked at one."""
    given = parameters[EFFORTS.name]
    return [] if given is None else parse_list(given, EFFORTS.name)


def source_parameters(source: str) -> tuple[Parameter, ...]:
    """Return the parameters that select the questions: ``source`` with the given default, ``n`` and ``mirror``."""
    return (
        Parameter("source", str, source, "Name of a question source, or path of a question file."),
        Parameter("n", int | None, None, "Number of questions; all by default.", low=1),
        MIRROR,
    )
