"""A scale of integers, on which a reply states a confidence.

Dai (2026), arXiv:2603.09309, section 3.3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

_LABEL = re.compile(r"\s*\[?\s*(\d{1,6})\s*[-,]\s*(\d{1,6})\s*\]?\s*", re.ASCII)


VIOLATION_MARGIN = 0.05
"""Share of the scale's width by which a report may exceed a bound before it is a violation (section 3.3)."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale of integers from ``lower`` (no confidence at all) to ``upper`` (absolute certainty).

    Examples
    --------
    >>> scale = Scale.parse("14-86")
    >>> scale.label, scale.normalise(50)
    ('14-86', 0.5)
    """

    lower: int
    upper: int

    def __post_init__(self) -> None:
        if self.lower >= self.upper:
            raise ValueError(
                f"scale {self.lower}-{self.upper}: the lower bound must be below the upper bound"
            )

    @classmethod
    def parse(cls, label: str) -> Self:
        """Parse ``0-20`` or ``[0, 20]``; raise ValueError for any other text."""
        match = _LABEL.fullmatch(label)
        if match is None:
            raise ValueError(
                f"unknown scale {label!r}: write two non-negative integers as 'lower-upper', such as 0-100 or 14-86"
            )
        return cls(int(match[1]), int(match[2]))

    @classmethod
    def label_of(cls, text: str) -> str:
        """Return the label of the scale that a user's text names."""
        return cls.parse(text).label

    @property
    def label(self) -> str:
        """The condition label, such as ``0-20``."""
        return f"{self.lower}-{self.upper}"

    @property
    def width(self) -> int:
        """Distance between the bounds."""
        return self.upper - self.lower

    def violates(self, raw: float) -> bool:
        """Return True if ``raw`` exceeds a bound by more than 5% of the width."""
        margin = VIOLATION_MARGIN * self.width
        return not self.lower - margin <= raw <= self.upper + margin

    def normalise(self, raw: float) -> float:
        """Map ``raw`` linearly to [0, 1] (equation 1), clipping values outside the bounds."""
        return min(max((raw - self.lower) / self.width, 0.0), 1.0)


PERCENT = Scale(0, 100)
"""The scale of percentages, to which a subject that ignores the bounds also reports."""

GRANULARITY = (Scale(0, 5), Scale(0, 10), Scale(0, 20), Scale(0, 50), Scale(0, 100))
BOUNDARY = (Scale(0, 100), Scale(20, 100), Scale(40, 100), Scale(60, 100))
NONSTANDARD = (Scale(0, 100), Scale(0, 73), Scale(14, 86), Scale(7, 79), Scale(3, 38), Scale(0, 97))
ALL_SCALES = tuple(dict.fromkeys(GRANULARITY + BOUNDARY + NONSTANDARD))
"""The scales of the paper: those that differ in width, in the lower bound, and in bounds that are unusual."""
