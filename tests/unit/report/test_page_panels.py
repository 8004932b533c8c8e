"""Panels that are written without Matplotlib's axes look as Matplotlib draws them."""

import numpy as np
import pytest
from tests.unit.report.drawn_shapes import assert_same_drawing, shapes

from confidence_tasks.drawing import MARKERS, SERIES, Colour
from confidence_tasks.report.figures import Line, Panel, panel, panels
from confidence_tasks.report.figures.page_panels import drawn, panel_svg, written
from confidence_tasks.statistics import reliability_curve

SIZES = ((1.95, 1.8), (4.4, 2.2))
RNG = np.random.default_rng(0)


def lines(n=5, count=3, scale=1.0, missing=()):
    """Return lines of estimates, some of which are missing, one for each marker."""
    made = []
    for k in range(count):
        value = RNG.random(n) * scale
        value[[each for each in missing if each < n]] = np.nan
        low, high = value - 0.1 * scale, value + 0.2 * scale
        made.append(
            Line(f"lab/<{k}> & co", SERIES[k % 8], np.arange(float(n)), value, low, high, MARKERS[k % 8])
        )
    return made


def curve_lines(n, lowest=0.0):
    """Return curves that end in (1, 1)."""
    x = np.linspace(0.0, 1.0, n)
    return [
        Line("a", Colour.SERIES_0, x, lowest + (1.0 - lowest) * np.sqrt(x), marker="o"),
        Line("b", Colour.SERIES_1, x, 0.5 + x / 2),
    ]


CONFIDENCE = RNG.random(300).round(1)
CORRECT = (RNG.random(300) < CONFIDENCE).astype(float)
CURVE = reliability_curve(CORRECT, CONFIDENCE)
RAW = RNG.choice([0.0, 50.0, 80.0, 95.0, 100.0, 140.0], 60)
LABELS = ["0-5", "0-10", "a < b", "", "e"]

PANELS = {
    "reliability": panel("0-100", panels.reliability, curve=CURVE, colour=Colour.SERIES_0),
    "reliability of scores": panel(
        "", panels.reliability, curve=CURVE, colour=Colour.SERIES_0, outcomes=False
    ),
    "histogram": panel(
        "0-100", panels.histogram, raw=RAW, correct=RNG.random(60).round(), weights=np.full(60, 1 / 60),
        lower=0.0, upper=100.0,
    ),
    "histogram of a short scale": panel(
        "", panels.histogram, raw=np.array([0.0, 1.0, 0.5]), correct=np.array([1.0, 0.0, 1.0]),
        weights=np.full(3, 1 / 3), lower=0.0, upper=1.0,
    ),
    "curves": panel("all", panels.curves, lines=curve_lines(50), x="share", y="rate", diagonal=True),
    "curves above": panel("all", panels.curves, lines=curve_lines(500, 0.4), x="share", y="rate", lowest=0.4),
    "accepted": panel(
        "all", panels.accepted, lines=curve_lines(40, 0.2), marks=[curve_lines(4, 0.2)[0]], texts=[list("abcd")],
        lowest=0.2,
    ),
    "intervals": panel("A & B", panels.intervals, labels=LABELS, lines=lines(missing=(1, 4)), y="ECE", reference=0.0),
    "intervals of all markers": panel(
        "", panels.intervals, labels=LABELS, lines=lines(count=8), y="M-ratio", reference=1.0, joined=False
    ),
    "intervals with a span": panel("", panels.intervals, labels=[""], lines=lines(1, 2), y="", span=(-0.3, 2.0)),
    "intervals of nothing": panel("", panels.intervals, labels=LABELS, lines=lines(missing=range(5)), y="y"),
    "small intervals": panel("", panels.intervals, labels=LABELS, lines=lines(scale=0.003), y="small"),
    "negative intervals": panel("", panels.intervals, labels=LABELS, lines=lines(scale=-40.0), y="less"),
    "points": panel("", panels.points, lines=lines(), x="d′", y="meta-d′", diagonal=True),
    "points beside a line": panel("", panels.points, lines=lines(missing=(0,)), x="x", y="y", reference=0.5),
    "over range": panel("m", panels.over_range, lines=curve_lines(30), x="age", y=""),
    "a long line": panel("m", panels.over_range, lines=curve_lines(400), x="age", y="years", shares=False),
    "counts": panel("", panels.counts, values=RNG.integers(-3, 9, 50), low=-3, high=8, x="exponent", y="questions"),
    "scatter": panel(
        "", panels.scatter, x=RNG.random(40), y=RNG.random(40), colour=Colour.SERIES_2, labels=("one", "other")
    ),
    "trends": panel("a", panels.trends, labels=LABELS, lines=lines(missing=(2,)), x="penalty", y="rate"),
    "trends of many": panel(
        "a", panels.trends, labels=[f"{k}" for k in range(9)], lines=lines(9), x="penalty", y="rate", lowest=None
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", PANELS)
def test_a_panel_is_written_as_matplotlib_draws_it(name, size):
    assert_same_drawing(PANELS[name], size)


def test_every_diagram_is_compared():
    assert {each.draw.func for each in PANELS.values()} == panels.DIAGRAMS


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(Panel("own", lambda axes: axes.plot([0, 1], [0, 1], color="k")), id="another function"),
        pytest.param(
            panel("", panels.counts, values=np.zeros(1), low=10**9, high=10**9 + 3, x="", y="y"),
            id="a common factor of the numbers at the ticks",
        ),
    ],
)
def test_any_other_panel_is_drawn_by_matplotlib(other):
    assert written(other, SIZES[0]) == ""
    assert len(shapes(drawn(other, SIZES[0]))) > 4
    assert panel_svg(other, SIZES[0], "label").startswith('<svg role="img" aria-label="label"')


def test_names_cannot_become_elements():
    svg = panel_svg(PANELS["intervals"], SIZES[0], 'a "label" <b>')
    assert "<b>" not in svg
    assert "&lt;0&gt; &amp; co" in svg
    assert "var(--series-0)" in svg
    assert Colour.SERIES_0.value not in svg
