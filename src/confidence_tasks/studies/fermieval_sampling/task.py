"""FermiEval by repeated samples: the same question many times, at one or several temperatures.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), theorem 1 and appendices F and G.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confidence_tasks.harness.inspect.samples import listed, one_of
from confidence_tasks.sources import Question
from confidence_tasks.studies.fermieval.prompts import (
    EXPONENT_SYSTEM,
    condition_of,
    exponent_prompt,
    interval_prompt,
    interval_system,
    levels_of,
)
from confidence_tasks.studies.fermieval.trials import CALIBRATED, LOGGED
from confidence_tasks.studies.fermieval_sampling.trials import (
    ASKS,
    Ask,
    cell_of,
    figure_label,
    read_cell,
    sampling_measures,
    sampling_summary,
)
from confidence_tasks.study import Replies, Stage, TaskMetrics


def sampling_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the only call, at the temperature of its condition."""
    return [Stage("sample", _ask, system=_system, temperature=_temperature)]


def _ask(question: Question, condition: str, replies: Replies) -> str:
    ask, _, level = read_cell(condition)
    return exponent_prompt(question.text, ask) if level is None else interval_prompt(question.text, level)


def _system(question: Question, condition: str) -> str:
    _, _, level = read_cell(condition)
    return EXPONENT_SYSTEM if level is None else interval_system(level)


def _temperature(condition: str) -> float:
    return read_cell(condition)[1]


_COMPARED: Mapping[str, Sequence[str]] = {"exponent": ("direct", "reasoned")}
"""Ways of asking whose samples are compared, by a name for both."""


def asks_of(value: str | list[str]) -> list[Ask]:
    """Return the ways of asking that a user names; ValueError for one that is none.

    Examples
    --------
    >>> asks_of("interval"), asks_of("exponent")
    (['interval'], ['direct', 'reasoned'])
    """
    named = [name for each in listed(value, "ask") for name in _COMPARED.get(each, (each,))]
    return [one_of(ASKS, name, "ask") for name in dict.fromkeys(named)]


def sampling_conditions(parameters: Mapping[str, Any]) -> list[str]:
    """Return every way of asking at every temperature and, for intervals, at every level."""
    return [
        cell_of(ask, temperature, level)
        for ask in asks_of(parameters["ask"])
        for temperature in temperatures_of(parameters["temperatures"])
        for level in (levels_of(parameters["levels"]) if ask == "interval" else (None,))
    ]


def temperatures_of(value: str | float | list[float]) -> list[float]:
    """Return the temperatures that a user names; ValueError unless each lies above 0 and is at most 2.

    Examples
    --------
    >>> temperatures_of("0.2,1")
    [0.2, 1.0]
    """
    try:
        found = list(dict.fromkeys(map(float, listed(value, "temperatures"))))
    except ValueError:
        found = []
    if not found or not all(0.0 < temperature <= 2.0 for temperature in found):
        raise ValueError(f"temperatures={value!r}: name numbers above 0 and up to 2, such as 0.2,0.7,1")
    return found


def sampling_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures by way of asking, temperature and level."""
    arguments = {
        "asks": asks_of(parameters["ask"]),
        "temperatures": temperatures_of(parameters["temperatures"]),
        "levels": levels_of(parameters["levels"]),
        "shortfall_weight": parameters["shortfall_weight"],
    }
    ask, first, level = (arguments[name][0] for name in ("asks", "temperatures", "levels"))
    at = "chosen" if parameters["split"] in CALIBRATED else f"T={first:.15g}"
    return TaskMetrics(
        sampling_summary,
        arguments,
        sampling_measures(**arguments),
        figure_label(arguments["asks"], arguments["temperatures"], ask, at, condition_of(level)),
        names=LOGGED,
    )
