"""The panels of the example logs are written as Matplotlib draws them."""

from pathlib import Path

import pytest
from tests.unit.report.drawn_shapes import assert_same_drawing

from confidence_tasks.report import collect, report_of
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.figures.page_panels import written
from confidence_tasks.report.figures.panels import DIAGRAMS

pytestmark = pytest.mark.slow

WITHOUT_FIGURES = {"fermieval_sampling"}
"""Logs of too few trials for any figure."""

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.eval"))


@pytest.mark.sampled("log", one_in=2)
@pytest.mark.parametrize("log", EXAMPLES, ids=lambda log: log.stem)
def test_panels_of_an_example_log(log, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "confidence_tasks.report.page.drawn.panel_svg",
        lambda panel, size, _: asked.append((panel, size)) or "",
    )
    report_of(collect([log]), settings=Settings(n_resamples=100))
    compared = [(panel, size) for panel, size in asked if written(panel, size)]
    assert bool(asked) != (log.stem in WITHOUT_FIGURES)
    # Rows of many conditions are no such diagram: Matplotlib draws them.
    assert len(compared) >= 0.8 * sum(panel.draw.func in DIAGRAMS for panel, _ in asked)
    for panel, size in compared:
        assert_same_drawing(panel, size)
