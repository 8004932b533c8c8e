"""The power curve as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confidence_tasks.decisions.power_printed import describe_curve
from confidence_tasks.report.labels import measure_label, signed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from confidence_tasks.decisions.power import PowerCurve
    from confidence_tasks.report.figures import Figure


def curve_figure(curve: PowerCurve) -> Figure:
    """Return the figure of a power curve, with the target and the number of questions that reaches it."""
    import numpy as np

    from confidence_tasks.drawing import SERIES, Colour
    from confidence_tasks.report.figures import Figure, Line, Panel, panels

    positions = np.arange(len(curve.n), dtype=np.float64)
    line = Line("power", SERIES[0], positions, curve.power, curve.low, curve.high)
    labels = [f"{n:,}" for n in curve.n]

    def draw(axes: Axes) -> None:
        axes.axhline(curve.target, color=Colour.MUTED, linewidth=0.8, linestyle=(0, (3, 2)))
        panels.trends(axes, labels=labels, lines=[line], x="questions", y="power")

    title = f"{measure_label(curve.measure)}: {signed(curve.effect, 3)}"
    return Figure("power", "Power", describe_curve(curve), (("", (Panel(title, draw),)),), size=(4.2, 2.8))
