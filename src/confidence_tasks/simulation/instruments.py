"""Simulated parsers and judges, whose rates of error are known; ``-M key=value`` changes one.

All are registered as models; studies say what they reply.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, TypeAlias

from confidence_tasks.catalogue import studies


@dataclass(frozen=True, slots=True)
class Instrument:
    """A model that reads or judges replies, with its rates of error, each in [0, 1].

    Attributes
    ----------
    misreading : float
        Share of replies in which a parser takes an answer for an abstention, or an abstention for an answer.
    false_right, false_wrong : float
        Share of wrong answers that a judge finds right, and of right answers that it finds wrong.
    garbling : float
        Share of calls that are replied to in words instead of JSON.
    """

    misreading: float = 0.0
    false_right: float = 0.0
    false_wrong: float = 0.0
    garbling: float = 0.0


INSTRUMENTS: Mapping[str, Instrument] = {
    "parser": Instrument(),
    "judge": Instrument(),
    "careless_parser": Instrument(misreading=0.1),
    "careless_judge": Instrument(false_right=0.1, false_wrong=0.05),
}
"""The named instruments; the first two make no error."""

InstrumentResponder: TypeAlias = tuple[re.Pattern[str], Callable[[Instrument, str, str], str]]
"""What a prompt to an instrument contains, and how it is replied to: from the instrument, the prompt and a seed."""


def make_instrument(name: str, **changes: Any) -> Instrument:
    """Return a named instrument with some of its rates changed.

    ValueError if there is no such instrument or rate, or a rate is none.

    Examples
    --------
    >>> make_instrument("judge", false_right=0.2).false_right
    0.2
    """
    if name not in INSTRUMENTS:
        raise ValueError(f"unknown simulated instrument {name!r}; there are {', '.join(INSTRUMENTS)}")
    known = [rate.name for rate in fields(Instrument)]
    for rate, value in changes.items():
        if rate not in known:
            raise ValueError(f"a simulated instrument has no {rate}; its rates are {', '.join(known)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
            raise ValueError(f"{rate} must be a number from 0 to 1, got {value!r}")
    return replace(INSTRUMENTS[name], **changes)


@cache
def instrument_responders() -> tuple[InstrumentResponder, ...]:
    """Return how simulated parsers and judges reply in every study."""
    return tuple(
        responder for study in studies() if study.instruments for responder in study.instruments.load()
    )


def assist(instrument: Instrument, prompt: str, *, seed: str) -> str:
    """Return the reply of a simulated parser or judge to ``prompt``.

    ValueError if no study asks a parser or a judge so.
    """
    for pattern, responder in instrument_responders():
        if pattern.search(prompt):
            return responder(instrument, prompt, seed)
    raise ValueError(
        "a simulated parser or judge knows only what studies of confidence_tasks ask of one; "
        f"this prompt is none of theirs: {prompt[:200]!r}"
    )
