"""One axis of a panel: its limits, its ticks and their labels, which are those of Matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import FloatArray

if TYPE_CHECKING:
    from matplotlib.ticker import Locator

MARGIN = 0.05
"""Margin beside the data on either side, as a proportion of their range."""


class Unwritable(Exception):
    """What these axes cannot write, and Matplotlib can."""


@dataclass
class PageAxis:
    """One axis: where it lies on the page, what it shows, and its ticks.

    ``start`` is the place of its lower end and ``length`` the way to the upper one, in points; y grows downwards.
    """

    start: float
    length: float
    most_ticks: int
    label: str = ""
    has_grid: bool = True
    limits: tuple[float, float] | None = None
    data: list[FloatArray] = field(default_factory=list)
    floors: list[float] = field(default_factory=list)  # the margin does not cross these
    ticks: FloatArray | None = None
    tick_labels: Sequence[str] | None = None
    locator: Locator | None = None

    def set_major_locator(self, locator: Locator) -> None:
        """Place the ticks where a locator of Matplotlib puts them."""
        self.locator = locator

    def set_ticks(self, ticks: ArrayLike, labels: Sequence[str] | None = None) -> None:
        """Place the ticks; their labels are numbers by default."""
        self.ticks, self.tick_labels = np.asarray(ticks, dtype=np.float64), labels

    def add(self, values: FloatArray) -> None:
        """Let the limits include some values, of which the undefined ones do not count."""
        self.data.append(values[np.isfinite(values)])

    @property
    def view(self) -> tuple[float, float]:
        """The limits of the axis."""
        return self.limits or self._view_of_data()

    def _view_of_data(self) -> tuple[float, float]:
        from matplotlib.ticker import MaxNLocator

        if not self.data:
            return 0.0, 1.0
        values = np.concatenate(self.data)
        ends = (values.min(), values.max()) if values.size else (-math.inf, math.inf)
        low, high = MaxNLocator().nonsingular(*ends)
        margin = MARGIN * (high - low)
        floor = max((each for each in self.floors if each <= low), default=-math.inf)
        return max(low - margin, floor), high + margin

    def places(self, values: ArrayLike) -> FloatArray:
        """Return the places of values on the page, in points."""
        low, high = self.view
        return self.start + (np.asarray(values, dtype=np.float64) - low) * (self.length / (high - low))

    def labelled_ticks(self) -> list[tuple[float, str]]:
        """Return the places of the ticks and their labels."""
        from matplotlib.ticker import MaxNLocator, ScalarFormatter

        low, high = self.view
        ticks = self.ticks
        if ticks is None:
            automatic = MaxNLocator(nbins=self.most_ticks, steps=[1, 2, 2.5, 5, 10])
            ticks = np.asarray((self.locator or automatic).tick_values(low, high))
        labels = self.tick_labels
        if labels is None:
            formatter = ScalarFormatter()
            formatter.create_dummy_axis()
            assert formatter.axis
            formatter.axis.set_view_interval(low, high)
            labels = formatter.format_ticks(ticks.tolist())
            if formatter.get_offset():
                raise Unwritable("numbers of an axis with a common factor")
        slack = 1e-10 * (high - low)
        return [
            (place, label)
            for tick, place, label in zip(ticks, self.places(ticks).tolist(), labels, strict=True)
            if low - slack <= tick <= high + slack
        ]
