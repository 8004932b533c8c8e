"""Ranks of order statistics, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from math import ceil


def as_decimal(probability: float, name: str) -> Fraction:
    """Return the decimal number that a probability was written as: 0.998 is 998/1000, not its nearest double.

    Ranks are products such as 0.07 * 100, which floats would round up to 8.

    Raises
    ------
    ValueError
        If it does not lie within (0, 1).
    """
    if not 0.0 < probability < 1.0:
        raise ValueError(f"{name} must lie within (0, 1), got {probability}")
    return Fraction(repr(float(probability)))


def rank(probability: Fraction, n: int) -> int:
    """Return the rank k of the smallest order statistic, counted from 1, that covers ``probability`` of n."""
    return ceil(probability * n)
