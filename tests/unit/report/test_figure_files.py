"""Files of figures with many models: long rows are wrapped, and grids fit on a page with each title once."""

import re

import numpy as np
import pytest

from confidence_tasks.drawing import Colour
from confidence_tasks.report.figures import Figure, Line, figure_svg, panel, panels


def drawn(title):
    line = Line("a", Colour.INK, np.array([0.2, 0.8]), np.array([0.3, 0.6]))
    return panel(title, panels.points, lines=[line], x="confidence", y="accuracy")


def size_of(svg):
    head = svg[svg.index("<svg") : svg.index(">", svg.index("<svg"))]
    return tuple(float(re.search(rf'{name}="([\d.]+)pt"', head)[1]) / 72 for name in ("width", "height"))


def texts_of(svg):
    return re.findall(r"<text [^>]*>([^<]*)</text>", svg)


@pytest.mark.parametrize(("n", "columns", "rows"), [(1, 1, 1), (6, 6, 1), (7, 4, 2), (11, 4, 3)])
def test_a_long_row_of_models_is_wrapped(n, columns, rows):
    figure = Figure("a", "A", "", (("", tuple(drawn(f"model {i}") for i in range(n))),), size=(1.5, 1.2))
    svg = figure_svg(figure)
    assert size_of(svg) == pytest.approx((1.5 * columns, 1.2 * rows + 0.3), abs=0.02)
    assert [text for text in texts_of(svg) if text.startswith("model")] == [f"model {i}" for i in range(n)]


def grid(n_models, lacking=frozenset()):
    """Return a figure of question sets by model; ``lacking`` are pairs of a model and a set that it was not asked."""
    rows = tuple(
        (f"lab/model-{i}", tuple(drawn(f"set {j}") for j in range(6) if (i, j) not in lacking))
        for i in range(n_models)
    )
    return Figure("a", "A", "", rows, grid=True)


@pytest.mark.slow
def test_a_grid_of_eleven_models_and_six_sets_fits_on_a_page_with_each_title_once():
    svg = figure_svg(grid(11))
    width, height = size_of(svg)
    assert width <= 7.05
    assert height <= 9.6
    texts = texts_of(svg)
    for j in range(6):
        assert texts.count(f"set {j}") == 1
    for i in range(11):
        assert texts.count(f"model-{i}") == 1
    assert texts.count("accuracy") == 1
    assert texts.count("confidence") == 6


def test_a_panel_that_is_lacking_leaves_its_column_to_the_same_set_of_other_models():
    svg = figure_svg(grid(3, {(0, 0), (2, 5)}))
    places = {
        title: float(x) for x, title in re.findall(r'<text [^>]* x="([\d.]+)"[^>]*>(set \d)</text>', svg)
    }
    assert sorted(places, key=places.__getitem__) == [f"set {j}" for j in range(6)]
    assert texts_of(svg).count("confidence") == 6


def test_a_long_name_of_a_row_loses_its_middle():
    figure = Figure("a", "A", "", ((f"lab/{'x' * 60}", (drawn("s"),)), ("b", (drawn("s"),))), grid=True)
    texts = texts_of(figure_svg(figure))
    assert "xxxxxxxx…xxxxxxxx" in texts
    assert {"lab/", "b"} <= set(texts)
