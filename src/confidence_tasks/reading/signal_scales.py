"""Scales of confidence signals: functions that map a value to [0, 1] such that its order is kept."""

from __future__ import annotations

import math
from collections.abc import Callable

Scale = Callable[[float], float]
"""Maps a value to [0, 1] such that its order is kept; NaN stays NaN."""


def _itself(value: float) -> float:
    return value


def _exponential(value: float) -> float:
    return math.exp(min(value, 0.0))


def _inverse(value: float) -> float:
    return 1.0 / (1.0 - min(value, 0.0))


def _odds(value: float) -> float:
    return max(value, 0.0) / (1.0 + max(value, 0.0))


PROBABILITY: Scale = float
"""Meant as the probability that the answer is right."""

SHARE: Scale = _itself
"""From 0 to 1, but not meant as a probability."""

NATS: Scale = _exponential
"""Logarithms of probabilities, or negative entropies."""

COUNT: Scale = _inverse
"""Negative numbers of tokens or of meanings, and negative distances."""

DIVERGENCE: Scale = _odds
"""Nats from 0 up."""
