"""The page stays small: shared parts, and fewer panels where there are many."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.items import scale_items
from tests.sizes import before_a_release
from tests.trials import scale_trial
from tests.unit.report.runs import SCALES, STUDIES, SUBJECTS, TASKS, replies, rows, write

from confidence_tasks.drawing import tips
from confidence_tasks.drawing.page_text import SHARED, share_parts
from confidence_tasks.reading.integer_scale import BOUNDARY, GRANULARITY, NONSTANDARD, Scale
from confidence_tasks.report import collect, report_of
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.figures import Colour, Figure, Panel
from confidence_tasks.report.figures.page_panels import panel_svg
from confidence_tasks.report.page.drawn import PANELS_SHOWN, figure_views
from confidence_tasks.simulation.subject import Subject

pytestmark = pytest.mark.slow


def stairs(axes):
    axes.stairs([0, 0, 0, 3, 3, 1, 0, 0], np.arange(9))
    axes.plot([1, 2, 4], [2, 2, 0], "o")
    axes.set(xlim=(0, 8), ylim=(0, 4))


def test_a_long_title_stays_within_its_panel_and_is_told_in_full():
    name = "laboratory/model-with-a-long-name (strategy=use_confidence)"
    svg = panel_svg(Panel(name, stairs), (2.5, 2.0), name)
    (shown,) = re.findall(r">([^<]*…[^<]*)<", svg)
    assert len(shown) < len(name)
    assert shown.startswith("laboratory/")
    assert shown.endswith("confidence)")
    assert f'aria-label="{name}"' in svg
    assert ">short<" in panel_svg(Panel("short", stairs), (2.5, 2.0))


def test_parts_that_drawings_share_are_on_the_page_once():
    drawings = [panel_svg(Panel("", stairs), (2.0, 1.6)) for _ in range(3)]
    page = share_parts(f"<style></style><svg>{SHARED}</svg>" + "".join(drawings))
    ids = re.findall(r'id="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    used = re.findall(r'(?:href="#|url\(#)([^")]*)', page)
    assert set(used) <= set(ids)
    alone = share_parts(f"<style></style><svg>{SHARED}</svg>{drawings[0]}")
    assert len(ids) == len(re.findall(r'id="([^"]*)"', alone))


def test_panels_with_the_same_axes_have_them_once():
    drawings = [panel_svg(Panel(name, stairs), (2.0, 1.6), name) for name in ("first", "second", "third")]
    page = share_parts(f"<style></style><svg>{SHARED}</svg>" + "".join(drawings))
    labels = re.findall(r"<text[^>]*>([^<]*)</text>", drawings[0])
    assert len(labels) > 6
    assert labels.count("first") == page.count(">first<") == 1
    assert all(page.count(f">{label}<") == labels.count(label) for label in labels)
    for drawing in re.findall(r"<svg role.*?</svg>", page):
        assert [use.get("href") for use in ElementTree.fromstring(drawing).iter("use")][:2] == [
            use[1] for use in re.finditer(r'<use href="([^"]*)"/>', page)
        ][:2]


def test_each_marker_has_its_own_text_and_none_is_lost():
    def intervals(axes):
        axes.vlines([1, 2, 3], [0, 1, 2], [2, 3, 4], color=Colour.SERIES_0)
        axes.vlines([np.nan], [np.nan], [np.nan], color=Colour.SERIES_0)
        (dots,) = axes.plot([1, 2, 3], [1, 2, 3], "o", color=Colour.SERIES_1, markeredgewidth=0)
        tips(dots, ["one", "two", "three"])
        axes.plot([], [])

    drawing = ElementTree.fromstring(panel_svg(Panel("", intervals), (2.0, 1.6)))
    dots = [part for part in drawing.iter("use") if part.find("title") is not None]
    assert [dot.find("title").text for dot in dots] == ["one", "two", "three"]
    assert {dot.get("style") for dot in dots} == {f"fill: var({Colour.SERIES_1.variable})"}
    assert len({dot.get("x") for dot in dots}) == len({dot.get("y") for dot in dots}) == 3


def test_of_very_many_panels_a_page_shows_some_of_each_row_and_says_so():
    def figure(rows, panels):
        row = tuple(Panel(f"{i}", lambda axes: None) for i in range(panels))
        return figure_views([Figure("name", "Title", "Caption.", tuple((f"{r}", row) for r in range(rows)))])[
            0
        ]

    many, rows, few = figure(rows=6, panels=9), figure(rows=40, panels=3), figure(rows=4, panels=5)
    assert sum(len(panels) for _, panels in many.rows) == PANELS_SHOWN
    assert all(">0<" in panels[0] and ">8<" in panels[-1] for _, panels in many.rows)
    assert many.left_out == f"{PANELS_SHOWN} of 54 panels are shown; `--figures` writes all of them."
    assert [len(panels) for _, panels in rows.rows] == [1] * PANELS_SHOWN
    assert (rows.rows[0][0], rows.rows[-1][0]) == ("0", "39")
    assert few.left_out == ""
    assert sum(len(panels) for _, panels in few.rows) == 20


@before_a_release
def test_twenty_models_on_all_thirteen_scales_fit_in_two_and_a_half_megabytes(tmp_path):
    designs = {"granularity": GRANULARITY, "boundary": BOUNDARY, "nonstandard": NONSTANDARD}
    for name, design in designs.items():
        for k, subject in enumerate(SUBJECTS.values()):
            items = list(scale_items(design, ["arithmetic"], n=60))
            trials = [
                scale_trial(item.question, Scale.parse(item.condition), reply)
                for item, reply in replies(SCALES, items, subject, f"{k}")
            ]
            for i in range(10):
                labels = {"study": "scales", "task": f"scale_{name}", "model": f"laboratory/model-{i}-{k}"}
                write(tmp_path / f"{name}-{i}-{k}.jsonl", [{**labels, **trial} for trial in trials])
    made = report_of(collect(tmp_path), settings=Settings(n_resamples=20))
    assert [len(results.models) for results in made.results] == [20, 20, 20]
    assert len({label for results in made.results for label in results.conditions}) == 13
    assert len(made.html.encode()) < 2_500_000
    assert "`--figures`" not in made.html
    assert "<code>--figures</code> writes all of them" in made.html


@before_a_release
def test_thirty_models_in_four_studies_fit_in_three_megabytes(tmp_path):
    for i in range(30):
        subject = Subject(meta_d_prime=0.5 + 0.05 * i, bias=(i % 7) / 5 - 0.4, risk_sensitivity=1.0)
        for study, trials in STUDIES.items():
            labels = {"study": study, "task": TASKS.get(study, study), "model": f"laboratory/model-{i:02d}"}
            labelled_rows = [{**labels, **trial} for trial in trials(subject, f"{i}")]
            write(tmp_path / f"{study}-{i}.jsonl", labelled_rows)
    made = report_of(collect(tmp_path), settings=Settings(n_resamples=20))
    assert all(len(results.models) == 30 for results in made.results)
    assert len(made.html.encode()) < 3_000_000
    glance = made.html.split('id="glance"')[1].split("</section>")[0]
    assert all(f"model-{i:02d}" in glance for i in range(30))
    assert "more are in contrasts.csv, which <code>--tables</code> writes" in made.html
    assert "Only the first 12 of 30 models are drawn; the table has all of them." in made.html


def test_ten_models_in_every_study_fit_in_three_megabytes(tmp_path):
    for i in range(10):
        for study in STUDIES:
            write(
                tmp_path / f"{study}-{i}.jsonl", [{**row, "model": f"lab/model-{i}"} for row in rows(study)]
            )
    made = report_of(collect(tmp_path), settings=Settings(n_resamples=20))
    assert len(made.html.encode()) < 3_000_000
    assert all(len(results.models) == 10 for results in made.results)
