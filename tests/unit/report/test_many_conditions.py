"""Figures and tables of a measure stay legible under many conditions with long names."""

from itertools import combinations

import numpy as np
import pytest
from tests.unit.report.runs import undrawn_report, write
from tests.unit.report.test_leading_figures import open_figures

from confidence_tasks.drawing import Colour
from confidence_tasks.report import collect
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.figures import Line, drawing_in_style
from confidence_tasks.report.page import MANY_COLUMNS, measure_tables
from confidence_tasks.report.page.task_figures import measure_figure
from confidence_tasks.studies.scales import STUDY
from confidence_tasks.studies.signals.table import SIGNALS

ECE = STUDY.measures_by_name["ece"]


def figure_over(labels, *, missing=(), intervals=True, models=1):
    """The figure of an ECE that some labels lack."""
    value = np.linspace(0.1, 0.3, len(labels))
    value[list(missing)] = np.nan
    low, high = (value - 0.05, value + 0.05) if intervals else (np.full_like(value, np.nan),) * 2
    lines = [
        Line(f"model {k}", Colour.SERIES_0, np.arange(float(len(labels))), value, low, high, "o")
        for k in range(models)
    ]
    return measure_figure("task", ECE, Settings(), labels, lines)


def tick_labels(figure):
    """The labels of both axes of a figure, with the rectangles that they take up."""
    ((_, (panel,)),) = figure.rows
    with drawing_in_style(figure.size) as drawing:
        axes = drawing.add_axes((0.2, 0.2, 0.79, 0.7) if panel.left else (0.1, 0.2, 0.89, 0.7))
        panel.draw(axes)
        drawing.canvas.draw()
        return [
            [(each.get_text(), each.get_window_extent()) for each in labels if each.get_text()]
            for labels in (axes.get_xticklabels(), axes.get_yticklabels())
        ]


@pytest.mark.parametrize(
    "labels",
    [
        ["0-5", "0-10", "0-20"],
        [f"λ = {penalty}" for penalty in (0, 0.1, 0.5, 1, 2, 5, 10, 20, 50, 100)],
        ["stated", "words", "mean_logprob", "p_true", "agreement", "semantic_entropy"],
        list(SIGNALS),
    ],
)
@pytest.mark.parametrize("models", [1, 9])
def test_labels_of_conditions_do_not_overlap(labels, models):
    axes = tick_labels(figure_over(labels, models=models))
    assert set(labels) <= {text for of_axis in axes for text, _ in of_axis}
    overlapping = [
        (a, b) for of_axis in axes for (a, one), (b, other) in combinations(of_axis, 2) if one.overlaps(other)
    ]
    assert not overlapping


def test_rows_are_those_of_conditions_that_have_a_value():
    labels = list(SIGNALS)
    _, rows = tick_labels(figure_over(labels, missing=range(5, len(labels))))
    assert [text for text, _ in rows] == labels[:5]


def test_a_caption_speaks_of_error_bars_only_where_there_are_some():
    assert "Error bars are 95% intervals; lower is better." in figure_over(["0-5", "0-10"]).caption
    without = figure_over(["0-5", "0-10"], intervals=False).caption
    assert "Error bars" not in without
    assert without.endswith(" Lower is better.")


def test_a_legend_names_only_models_that_are_drawn():
    assert not figure_over(["0-5", "0-10"], missing=(0, 1)).keys


@pytest.mark.parametrize(("n", "head"), [(3, "model"), (MANY_COLUMNS + 1, "condition")])
def test_many_conditions_are_rows_of_a_table_and_few_are_columns(tmp_path, n, head):
    rng = np.random.default_rng(0)
    trials = [
        {
            "study": "scales",
            "task": "scale_granularity",
            "model": "lab/m",
            "source": "mine",
            "question_id": f"q{i}",
            "condition": f"0-{5 + k}",
            "status": "ok",
            "correct": float(rng.random() < 0.7),
            "confidence": round(rng.uniform(0.5, 1.0), 2),
        }
        for k in range(n)
        for i in range(30)
    ]
    made = undrawn_report(collect(write(tmp_path / "a.jsonl", trials)), settings=Settings(n_resamples=20))
    (table,) = measure_tables(made.results[0], ECE)
    assert table.head == head
    assert (len(table.rows), len(table.columns)) == ((1, n) if head == "model" else (n, 1))
    assert "scale_granularity_mratio" in open_figures(made.html)
