"""FermiEval by repeated samples: intervals from the outer quantiles of many replies to the same question.

Epstein et al. (2025): theorem 1 for sampled intervals, appendix F for sampled exponents and the choice of temperature,
appendix G for the tunnel index.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from confidence_tasks.reading.explanation import escape_markdown
from confidence_tasks.studies.fermieval.replies import (
    condition_of,
    level_of,
    levels_of,
    read_fermi_exponent,
    read_fermi_interval,
)
from confidence_tasks.study import Question, Replies, Token, Trial
from confidence_tasks.study.parameter import one_of, parse_list
from confidence_tasks.study.trial import READABLE

Ask = Literal["interval", "direct", "reasoned"]
"""Kind of sample: an interval, a bare exponent, or an exponent after reasoning."""

ASKS: tuple[Ask, ...] = get_args(Ask)

SHORTFALL_WEIGHT = 100.0
"""Default weight of the squared shortfall of coverage in the choice of temperature. The paper gives no value."""


def cell_of(ask: str, temperature: float, level: float | None = None) -> str:
    """Return the label of a condition.

    Examples
    --------
    >>> cell_of("interval", 0.7, 0.95), cell_of("direct", 1.0)
    ('interval,T=0.7,p=0.95', 'direct,T=1')
    """
    cell = f"{ask},{temperature_label(temperature)}"
    return cell if level is None else f"{cell},{condition_of(level)}"


def temperature_label(temperature: float) -> str:
    """Return the label of a temperature, such as ``T=0.7``."""
    return f"T={temperature:.15g}"


class SampleTrial(Trial):
    """One sample of a question; an exponent is stored as an interval of width 0.

    ``correct`` is 1 if the sample contains the truth; ``confidence`` is the nominal coverage, NaN for an exponent.

    Attributes
    ----------
    ask : str
        ``interval``, ``direct`` or ``reasoned``.
    temperature : float
        Temperature at which the sample was drawn.
    level : float
        Requested nominal coverage; NaN for an exponent.
    lower, upper : float
        Ends as exponents of ten; NaN if there are none.
    truth : float
        The true exponent.
    split : str
        ``calibration`` or ``test``.
    answer : str
        The interval or exponent as written.
    """

    ask: str
    temperature: float
    level: float
    lower: float
    upper: float
    truth: float
    split: str
    answer: str


def read_sample(question: Question, condition: str, replies: Replies) -> SampleTrial:
    r"""Read one sample; the condition names its kind and temperature.

    Examples
    --------
    >>> from confidence_tasks.study import ModelReply
    >>> half = {"split": "test"}
    >>> question = Question("fermi-1", "fermi", "Pennies in a trillion?", "number", "13", metadata=half)
    >>> trial = read_sample(question, "reasoned,T=0.7", {"sample": [ModelReply("Some trillions.\n12")]})
    >>> trial["condition"], trial["lower"], trial["upper"], trial["correct"]
    ('reasoned,T=0.7', 12.0, 12.0, 0.0)
    """
    ask, temperature, level = read_cell(condition)
    reading = (read_fermi_interval if ask == "interval" else read_fermi_exponent)(replies["sample"][0].text)
    truth, readable = float(question.gold or math.nan), reading.status in READABLE
    return SampleTrial(
        question_id=question.id,
        source=question.source,
        condition=condition,
        correct=float(reading.lower <= truth <= reading.upper) if readable else math.nan,
        confidence=level if readable and level is not None else math.nan,
        status=reading.status,
        ask=ask,
        temperature=temperature,
        level=math.nan if level is None else level,
        lower=reading.lower,
        upper=reading.upper,
        truth=truth,
        split=question.metadata["split"],
        answer=reading.stated,
    )


def read_cell(label: str) -> tuple[Ask, float, float | None]:
    """Return the kind of sample, the temperature and, for an interval, the level that the label of a condition names.

    Examples
    --------
    >>> read_cell("interval,T=0.7,p=0.95"), read_cell("direct,T=1")
    (('interval', 0.7, 0.95), ('direct', 1.0, None))
    """
    ask, temperature, *level = label.split(",")
    return (
        one_of(ASKS, ask, "ask"),
        float(temperature.removeprefix("T=")),
        level_of(*level) if level else None,
    )


def explain(trial: SampleTrial, question: Question, tokens: Sequence[Token]) -> dict[str, str]:
    """Return the rows of the log viewer's table: the sample and the truth."""
    return {"Sample": escape_markdown(trial["answer"]) or "none", "Truth": f"10^{trial['truth']:g}"}


# Conditions --------------------------------------------------------------------------------------------------

_ASK_GROUPS: Mapping[str, Sequence[str]] = {"exponent": ("direct", "reasoned")}


def asks_of(value: str | list[str]) -> list[Ask]:
    """Return the kinds of sample in the parameter ``ask``; ValueError for an unknown one.

    Examples
    --------
    >>> asks_of("interval"), asks_of("exponent")
    (['interval'], ['direct', 'reasoned'])
    """
    names = [name for each in parse_list(value, "ask") for name in _ASK_GROUPS.get(each, (each,))]
    return [one_of(ASKS, name, "ask") for name in dict.fromkeys(names)]


def sampling_conditions(parameters: Mapping[str, Any]) -> list[str]:
    """Return the conditions: every kind of sample at every temperature and, for intervals, at every level."""
    return [
        cell_of(ask, temperature, level)
        for ask in asks_of(parameters["ask"])
        for temperature in temperatures_of(parameters["temperatures"])
        for level in (levels_of(parameters["levels"]) if ask == "interval" else (None,))
    ]


def temperatures_of(value: str | float | list[float]) -> list[float]:
    """Return the temperatures in the parameter ``temperatures``; ValueError unless each lies in (0, 2].

    Examples
    --------
    >>> temperatures_of("0.2,1")
    [0.2, 1.0]
    """
    try:
        temperatures = list(dict.fromkeys(map(float, parse_list(value, "temperatures"))))
    except ValueError:
        temperatures = []
    if not temperatures or not all(0.0 < temperature <= 2.0 for temperature in temperatures):
        raise ValueError(f"temperatures={value!r} must be numbers above 0 and up to 2, such as 0.2,0.7,1")
    return temperatures
