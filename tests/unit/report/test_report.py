"""The report: its numbers against the statistics themselves, its tables, figures and files, and what it warns of."""

import csv
import json
import re
import warnings
import webbrowser
import xml.etree.ElementTree as ElementTree
from html import escape
from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner
from tests.unit.report.runs import rows, undrawn_report, write

from confidence_tasks.drawing import Colour
from confidence_tasks.report import collect
from confidence_tasks.report.commands.report import report as command
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.extra_tables import side_by_side
from confidence_tasks.report.figures import Panel
from confidence_tasks.report.figures.page_panels import panel_svg
from confidence_tasks.report.labels import coded, number, page_part
from confidence_tasks.report.page import extra_view
from confidence_tasks.statistics import auarc, complete, coverage, ece, reliability_curve, wilson_interval
from confidence_tasks.statistics.calibration import hard_easy_slope


def of_study(report, name):
    return next(results for results in report.results if results.task_trials.study.name == name)


def cell(found, model, **equal):
    """The trials of a model that have these values in these columns."""
    columns = next(each for each in found.models if each.label == model).columns
    chosen = np.logical_and.reduce([columns[name] == value for name, value in equal.items()])
    return {name: column[chosen] for name, column in columns.items()}


# Numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("model", ["lab/steady", "lab/bold"])
def test_a_number_is_what_its_statistic_gives_for_the_same_trials(report, model):
    scales, life, risk = (of_study(report, name) for name in ("scales", "lifeeval", "riskeval"))
    trials = cell(scales, model, condition="0-20")
    expected = ece(trials["correct"], trials["confidence"])
    assert scales.estimate(model, "0-20", "ece").interval.estimate == pytest.approx(expected, abs=1e-12)
    trials = cell(life, model, source="lifeeval")
    expected = hard_easy_slope(trials["correct"], trials["confidence"], trials["difficulty"])
    assert life.estimate(model, "all", "hard_easy").interval.estimate == pytest.approx(expected, abs=1e-12)
    trials = cell(risk, model, condition="lambda=0", answered=1.0)
    expected = auarc(trials["correct"], trials["confidence"])
    assert risk.estimate(model, "lambda=0", "auarc").interval.estimate == pytest.approx(expected, abs=1e-12)


def test_every_estimate_has_its_number_of_trials_and_an_interval_around_it(report):
    for results in report.results:
        for entry in results.estimates:
            interval = entry.interval
            assert entry.n > 0
            assert 0 < interval.n_units <= entry.n
            if not np.isnan(interval.low):
                assert interval.low <= interval.high


def test_coverage_by_method_is_that_of_the_test_half(report):
    table = next(extra for extra in report.extras if extra.name == "fermieval_coverage_by_method").frame
    trials = cell(of_study(report, "fermieval"), "lab/bold", condition="p=0.95", split="test")
    held = coverage(trials["truth"], trials["lower"], trials["upper"])
    low, high = map(float, wilson_interval(held * len(trials["truth"]), len(trials["truth"])))
    row = table[(table["model"] == "lab/bold") & (table["method"] == "base")].iloc[0]
    assert [row["p = 0.95"], row["p = 0.95 low"], row["p = 0.95 high"]] == pytest.approx([held, low, high])
    assert {"base", "conformal"} <= set(table["method"])


def test_a_table_of_models_side_by_side_prints_what_was_estimated(report):
    found = of_study(report, "lifeeval")
    view = extra_view(side_by_side("x", "X", "", "all", ("score", "mas"))(found))
    entry = found.estimate("lab/bold", "all", "score")
    row = next(row for row in view.rows if row.label == "lab/bold")
    assert view.columns == ("Score", "Best possible score", "n")
    assert row.cells[0].value == number(float(entry.interval.estimate), 2)
    assert row.cells[0].limits == f"[{number(entry.interval.low, 2)}, {number(entry.interval.high, 2)}]"
    assert row.cells[2].value == str(entry.n)


def test_a_number_without_an_interval_says_why_under_its_table(tmp_path):
    made = undrawn_report(
        collect(write(tmp_path / "a.jsonl", rows("scales")[:12])), settings=Settings(n_resamples=50)
    )
    (results,) = made.results
    entry = results.estimate("lab/steady", results.conditions[0], "auroc")
    assert not np.isnan(entry.interval.estimate)
    assert np.isnan(entry.interval.low)
    why = f"no interval: {entry.interval.low.reason}"
    assert f'<sup class="why" tabindex="0" title="{why}">' in made.html
    notes = re.findall(r'<ol class="reasons">(.*?)</ol>', made.html)
    assert any(f"<li>{why}</li>" in note for note in notes)


def test_a_shaded_cell_is_explained_where_it_is_and_nowhere_else(report):
    explained, shaded = "<sup>*</sup> and shading: differs from the baseline", []
    for part in re.split(r'<section class="task"|<details class="more">|</details>', report.html)[1:]:
        shaded.append('<td class="significant"' in part)
        assert (explained in part) == shaded[-1]
    assert {*shaded} == {True, False}


def test_the_page_says_what_n_counts_where_a_measure_is_of_fewer(report):
    found = of_study(report, "fermieval")
    model = found.models[0].label
    asked, judged = (
        found.estimate(model, "p=0.9", "coverage").n,
        cell(found, model, condition="p=0.9", split="test"),
    )
    assert asked > len(judged["truth"])
    assert (
        "n counts all trials, including those with an unreadable reply and, in FermiEval, those of both halves"
        in report.html
    )


def test_only_significant_differences_are_shaded(report):
    parts = re.split(r'<section class="task" id="([^"]*)"', report.html)
    for name, part in zip(parts[1::2], parts[2::2], strict=True):
        results = next(each for each in report.results if each.task_trials.slug == name)
        significant = [contrast for contrast in results.contrasts if contrast.significant]
        assert bool(significant) == ('<td class="significant"' in part)


def test_every_title_of_a_notice_is_on_the_page_once_with_every_place(report):
    raised = [(task.title, notice) for task in report.tasks for notice in task.notices]
    listed = report.html.split('id="checks"')[1].split("</section>")[0]
    titles = re.findall(r'<li class="notice [a-z]*"><strong>(.*?)</strong>', listed)
    assert sorted(titles) == sorted({notice.title for _, notice in raised})
    for task, notice in raised:
        assert all(f"<li>{escape(f'{task}: {place}', quote=False)}" in listed for place in notice.where[:5])


def test_headings_do_not_skip_a_level(report):
    levels = [int(level) for level in re.findall(r"<h([1-6])[ >]", report.html)]
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))


def test_the_samples_to_read_are_the_surest_errors_and_the_least_sure_right_answers(report):
    found, task = of_study(report, "scales"), next(t for t in report.tasks if t.name == "scale_granularity")
    for model in found.models:
        columns = model.columns
        for kind, outcome, pick in (
            ("confident error", 0.0, np.nanmax),
            ("unsure right answer", 1.0, np.nanmin),
        ):
            its = [s for s in task.samples if s["model"] == model.label and s["kind"] == kind]
            assert len(its) == 4
            assert its[0]["confidence"] == number(
                float(pick(columns["confidence"][columns["correct"] == outcome]))
            )
            assert {s["file"] for s in its} == {model.files[0].path.rsplit("/", 1)[-1]}


# A small report ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A report on one model and one file, with fewer answers than a curve of accuracy at coverage needs."""
    trials = [row for row in rows("scales") if row["condition"] == "0-20"][:12]
    path = write(tmp_path_factory.mktemp("small") / "trials.jsonl", trials)
    return undrawn_report(collect(path), settings=Settings(n_resamples=20))


def test_a_curve_of_too_few_answers_has_no_panel(report, small):
    assert any(figure.name.endswith("risk_coverage") for figure in report.figures)
    assert not any(figure.name.endswith("risk_coverage") for figure in small.figures)


def test_a_report_on_one_model_compares_none(report, small):
    assert "<dt>model</dt><dd>1</dd>" in small.html
    assert "<dt>file</dt><dd>1</dd>" in small.html
    assert "The best model" in report.html
    assert "The best model" not in small.html


def test_what_several_tables_of_a_paper_lack_is_said_once(small):
    (task,) = small.tasks
    notes = [note for paper in task.papers for note in paper.notes]
    assert notes
    assert all(small.html.count(str(coded(note))) == 1 for note in notes)


# What each study shows ------------------------------------------------------------------------------------------

SHOWN = {
    "scale_granularity": (
        "histograms",
        "reliability",
        "type2_roc",
        "risk_coverage",
        "ece_by_bins",
    ),
    "lifeeval": ("reliability", "by_age"),
    "riskeval": ("decisions", "thresholds", "reliability", "risk_coverage"),
    "fermieval": ("calibration", "truths"),
}
TABLES = {
    "lifeeval": ("overview",),
    "riskeval": ("high_penalties", "all_penalties"),
    "fermieval": ("winkler_by_method", "coverage_by_method"),
}


@pytest.mark.parametrize("task", SHOWN)
def test_every_study_has_its_figures_and_tables(report, task):
    names = {figure.name for figure in report.figures}
    results = next(results for results in report.results if results.task_trials.task == task)
    headline = {f"{task}_{measure.name}" for measure in results.headline}
    assert len(headline) >= 5
    assert {f"{task}_{name}" for name in SHOWN[task]} | headline <= names
    assert {f"{task}_{name}" for name in TABLES.get(task, ())} <= {extra.name for extra in report.extras}


def test_the_page_needs_nothing_from_elsewhere(report):
    html = report.html
    assert len(html.encode()) < 3_000_000
    assert not re.search(r"\ssrc=|@import|url\((?!#)|<link|<iframe|<object|<form", html)
    links = {link.split("/")[2] for link in re.findall(r'href="(https?://[^"]*)"', html)}
    assert links <= {"arxiv.org", "127.0.0.1:7575"}


def test_every_drawing_is_well_formed(report):
    drawings = re.findall(r'<svg role="img".*?</svg>', report.html, re.DOTALL)
    assert len(drawings) > 50
    for drawing in drawings:
        ElementTree.fromstring(drawing)


def test_a_model_named_in_letters_that_matplotlib_s_font_lacks_is_drawn_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = panel_svg(Panel("通义千问", lambda axes: None), (2.0, 2.0))
    assert "通义千问" in drawn


def test_every_figure_says_in_words_what_it_is(report):
    drawn = re.findall(r"<svg role=\"img\" aria-label=\"([^\"]*)\"", report.html)
    panels = sum(len(panels) for figure in report.figures for _, panels in figure.rows)
    assert len(drawn) == panels
    assert all(drawn)


def test_ids_on_the_page_are_unique(report):
    ids = re.findall(r"\sid=\"([^\"]*)\"", report.html)
    assert sorted(set(ids)) == sorted(ids)


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", ["value", "dark"])
@pytest.mark.parametrize(("role", "least"), [(Colour.INK, 7.0), (Colour.MUTED, 4.5)])
def test_text_stands_out_from_its_ground(theme, role, least):
    lighter, darker = sorted(
        (luminance(getattr(role, theme)), luminance(getattr(Colour.PAPER, theme))), reverse=True
    )
    assert (lighter + 0.05) / (darker + 0.05) >= least


@pytest.mark.parametrize("theme", ["value", "dark"])
def test_lines_stand_out_from_their_ground(theme):
    for colour in Colour:
        if colour.name.startswith("SERIES"):
            lighter, darker = sorted(
                (luminance(getattr(each, theme)) for each in (colour, Colour.PAPER)), reverse=True
            )
            assert (lighter + 0.05) / (darker + 0.05) >= 2.5, colour


def test_right_and_wrong_differ_in_greyscale():
    lighter, darker = sorted((luminance(Colour.RIGHT), luminance(Colour.WRONG)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 2.0


def test_words_in_colour_stand_out_from_the_card():
    variables = dict(re.findall(r"(--[a-z]+): (#[0-9a-f]{6})", page_part("style.css").split("}")[0]))
    for name in ("--accent", "--serious", "--warning", "--note"):
        for ground in ("--card", "--soft", "--significant"):
            lighter, darker = sorted((luminance(variables[name]), luminance(variables[ground])), reverse=True)
            assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (name, ground)


# Warnings ---------------------------------------------------------------------------------------------------------


def every_second_unreadable(trials):
    return [
        {**row, "status": "unreadable", "correct": None, "confidence": None} if i % 3 else row
        for i, row in enumerate(trials)
    ]


def at_the_table(trials):
    return [{**row, "confidence": row["correct"]} for row in trials]


WARNED = {
    "Few right or few wrong answers": ("scales", list),
    "Confidence hardly varies": (
        "scales",
        lambda trials: [{**row, "confidence": 0.9} for row in trials],
    ),
    "Replies without a readable answer or confidence": ("scales", every_second_unreadable),
    "M-ratio divides by a d′ near 0": (
        "scales",
        lambda trials: [{**row, "correct": float(i % 2)} for i, row in enumerate(trials)],
    ),
    "Confidence equal to the life table": ("lifeeval", at_the_table),
    "Scores use different windows": (
        "lifeeval",
        lambda trials: [{**row, "window": ("half_open", "inclusive")[i % 2]} for i, row in enumerate(trials)],
    ),
    "Constant decisions": (
        "riskeval",
        lambda trials: [{**row, "answered": 1.0} for row in trials],
    ),
    "One half of the questions is missing": (
        "fermieval",
        lambda trials: [row for row in trials if row["split"] == "test"],
    ),
    "No baseline 0-100": (
        "scales",
        lambda trials: [row for row in trials if row["condition"] != "0-100"],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("title", WARNED)
def test_what_calls_numbers_into_question_is_said(title, tmp_path):
    study, change = WARNED[title]
    path = write(tmp_path / "trials.jsonl", change(rows(study)))
    made = undrawn_report(collect(path), settings=Settings(n_resamples=20))
    notices = {notice.title: notice for task in made.tasks for notice in task.notices}
    assert title in notices, list(notices)
    assert notices[title].where
    assert title in made.html


def test_replies_that_a_study_leaves_out_are_not_called_unread(tmp_path):
    """FermiEval's rule of the paper leaves out what lies beyond its limit, whatever was read of it."""
    left_out = {"split": "excluded", "status": "out_of_range"}
    trials = [row | left_out if i % 8 < 4 else row for i, row in enumerate(rows("fermieval"))]
    path = write(tmp_path / "trials.jsonl", trials)
    made = undrawn_report(collect(path), settings=Settings(n_resamples=20))
    assert "Replies without a readable answer or confidence" not in made.html


def test_sound_trials_raise_no_serious_warning(report):
    assert not [notice for task in report.tasks for notice in task.notices if notice.severity == "serious"]


# Files ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_tables_and_figures_are_written_as_files_that_open(studies, tmp_path):
    arguments = [
        str(studies / "riskeval-lab-bold.jsonl"),
        "-o",
        str(tmp_path / "r.html"),
        "--resamples",
        "50",
    ]
    arguments += ["--tables", str(tmp_path / "t"), "--figures", str(tmp_path / "f"), "--json"]
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    printed = json.loads(done.stdout)
    with open(tmp_path / "t" / "estimates.csv", newline="", encoding="utf-8") as file:
        written = list(csv.DictReader(file))
    assert len(written) == len(printed["estimates"])
    for row, record in zip(written, printed["estimates"], strict=True):
        assert row["value"] == "" or float(row["value"]) == pytest.approx(record["value"])
    latex = (tmp_path / "t" / "riskeval.tex").read_text(encoding="utf-8")
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 1
    assert latex.count("{") == latex.count("}")
    drawn = list((tmp_path / "f").glob("*.svg"))
    assert len(drawn) >= 10
    for path in drawn:
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
        assert "var(--" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("found", [True, False])
def test_the_page_is_opened_if_it_was_written(found, studies, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    page = tmp_path / "r.html"
    page.write_text("an older page")
    logs = studies / "riskeval-lab-bold.jsonl" if found else tmp_path
    done = CliRunner().invoke(command, [str(logs), "-o", str(page), "--resamples", "20", "--open"])
    assert opened == ([page.as_uri()] if found else [])
    assert (f"no browser was found; open {page.as_uri()}" in done.output) == found  # append returns None


def test_a_question_under_every_penalty_is_one_question_in_the_reliability_diagram(report):
    from matplotlib.figure import Figure as Page

    found = of_study(report, "riskeval")
    reliability = next(figure for figure in report.figures if figure.name == "riskeval_reliability")
    assert "both count repeated trials of a question once" in reliability.caption
    (_, its_panels), *_ = reliability.rows
    axes = Page().add_subplot()
    its_panels[0].draw(axes)
    _, whiskers = axes.collections
    columns = found.models[0].columns
    trials = complete(columns["correct"], columns["confidence"])
    wide, narrow = (
        np.nansum(curve.accuracy_high - curve.accuracy_low)
        for curve in (
            reliability_curve(
                *trials,
                questions=columns["question_id"][~np.isnan(columns["correct"] + columns["confidence"])],
            ),
            reliability_curve(*trials),
        )
    )
    drawn = sum(np.ptp(segment[:, 1]) for segment in whiskers.get_segments())
    assert drawn == pytest.approx(wide)
    assert wide > 1.5 * narrow
