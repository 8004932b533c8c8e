"""The report in a real browser: nothing is run, loaded or cut off, whatever a model says and whatever the width."""

import csv
import json
import re
import shutil
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from tests.unit.report.runs import rows, write

from confidence_tasks.report import collect, report_of
from confidence_tasks.report.commands.report import report as command
from confidence_tasks.report.estimates.settings import Settings

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")

pytestmark = [pytest.mark.slow, pytest.mark.browser]

WIDTHS = (360, 400, 800, 1280, 1920)
OPEN = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)

SCRIPT = "<script>window.owned = true</script>"
ATTRIBUTE = '"><img src=x onerror="window.owned = true">'
TEMPLATE = "{{ 7 * 7 }}{% raw %}${window.owned = true}"
ADDRESS = "javascript:window.owned=true"
CODE = "';window.owned=true;//</title></style></svg></textarea>"
CONTROL = "\u202egpt\u0000\u001b[31m\ud800"
HOSTILE = (SCRIPT, ATTRIBUTE, TEMPLATE, ADDRESS, CODE, CONTROL)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_api.sync_playwright() as playwright:
        try:
            found = playwright.chromium.launch(executable_path=program, args=list(QUIET))
        except sync_api.Error as error:
            pytest.skip(f"no chromium: {error.message.splitlines()[0]}")
        yield found
        found.close()


@pytest.fixture(scope="module")
def page_file(report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(report.html, encoding="utf-8", errors="xmlcharrefreplace")
    return path


@pytest.fixture(scope="module")
def hostile_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report on trials whose every text is an attack, among them the name of the file that holds them."""
    folder = tmp_path_factory.mktemp("hostile")
    studies = ("scales", "riskeval", "lifeeval", "fermieval", "scales", "scales")
    for i, (study, text) in enumerate(zip(studies, HOSTILE, strict=True)):
        its_rows = [
            {
                **row,
                "question_id": row["question_id"] + text,
                "source": text,
                "answer": text * 3,
                "status": text if row["condition"] == "0-50" else row["status"],
                "model": f"{text}{i}",
                "task": text,
            }
            for row in rows(study)[:40]
        ]
        path = folder / f"{i}<img src=x onerror='window.owned=1'>.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in its_rows), encoding="utf-8")
    write(folder / "<script>window.owned = true<x>.jsonl", [{"a": SCRIPT}])
    made = report_of(collect(folder), settings=Settings(n_resamples=5), title=SCRIPT, viewer=ADDRESS)
    path = folder / "report.html"
    path.write_text(made.html, encoding="utf-8", errors="xmlcharrefreplace")
    return path


def opened(browser: Any, path: Path, **context: Any) -> tuple[Any, list[str], list[str]]:
    """Open a page; return it, what it asked for, and what it complained of."""
    page = browser.new_context(**context).new_page()
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.goto(path.as_uri())
    return page, asked, complaints


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_its_window_and_asks_for_nothing(browser, page_file, scheme):
    page, asked, complaints = opened(browser, page_file, color_scheme=scheme)
    page.evaluate(OPEN)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
        shown = page.evaluate(
            "[...document.querySelectorAll('.panel svg')].filter((one) => one.checkVisibility())"
            ".map((one) => one.getBoundingClientRect().width)"
        )
        assert len(shown) > 20
        assert min(shown) >= 220
    assert asked == [page_file.as_uri()]
    assert complaints == []
    page.context.close()


def test_a_row_of_ten_penalties_is_read_without_scrolling(browser, page_file):
    page, _, _ = opened(browser, page_file, viewport={"width": 1280, "height": 900})
    page.evaluate(OPEN)
    wider = page.evaluate(
        """[...document.querySelectorAll('[id^=riskeval] .scroll')].filter((one) => one.checkVisibility())
             .map((one) => [one.querySelectorAll('thead th').length, one.scrollWidth - one.clientWidth])"""
    )
    assert max(columns for columns, _ in wider) >= 11
    assert max(by for columns, by in wider if columns >= 11) <= 0
    page.context.close()


@pytest.mark.parametrize("width", [400, 1280])
def test_rows_of_the_samples_to_read_are_few_lines_high_and_their_second_column_is_shown(
    browser, tmp_path, width
):
    write(tmp_path / f"2026-11-23T21-02-29-00-00_{'scale_granularity' * 3}.jsonl", rows("scales"))
    path = tmp_path / "report.html"
    path.write_text(report_of(collect(tmp_path), settings=Settings(n_resamples=20)).html, encoding="utf-8")
    page, _, _ = opened(browser, path, viewport={"width": width, "height": 900})
    page.evaluate(OPEN)
    heights = page.evaluate(
        "[...document.querySelectorAll('.errors tbody tr')].map((one) => one.getBoundingClientRect().height)"
    )
    assert len(heights) == 8
    assert max(heights) < 100
    ends = page.evaluate(
        """[...document.querySelectorAll('.scroll')].filter((one) => one.checkVisibility()).map((one) =>
             one.querySelector('thead tr:last-child th:nth-child(2)').getBoundingClientRect().right
             - one.getBoundingClientRect().right)"""
    )
    assert len(ends) > 5
    assert max(ends) < 1
    page.context.close()


def test_every_marker_tells_its_number_even_where_a_line_is_drawn_over_it(browser, tmp_path):
    trials = rows("scales")
    for i in range(8):
        write(tmp_path / f"{i}.jsonl", [{**trial, "model": f"{i}"} for trial in trials])
    path = tmp_path / "report.html"
    path.write_text(report_of(collect(tmp_path), settings=Settings(n_resamples=20)).html, encoding="utf-8")
    page, _, _ = opened(browser, path, viewport={"width": 1280, "height": 900})
    under_the_pointer = page.evaluate(
        """[...document.querySelectorAll('.panel use')].filter((one) => one.querySelector('title')
             && one.checkVisibility()).slice(0, 60).map((one) => {
               one.scrollIntoView({ block: 'center', behavior: 'instant' });
               const { left, top, width, height } = one.getBoundingClientRect();
               const found = document.elementFromPoint(left + width / 2, top + height / 2);
               return found.querySelector('title') !== null && found.tagName;
             })"""
    )
    assert len(under_the_pointer) > 10
    assert set(under_the_pointer) == {"use"}
    page.context.close()


def test_a_page_on_paper_has_every_measure_in_dark_on_white_and_nothing_cut_off(browser, page_file):
    page, _, _ = opened(browser, page_file, color_scheme="dark", viewport={"width": 690, "height": 970})
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("document.documentElement.dataset.theme = 'dark'; dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.scrollWidth") <= 690
    assert page.evaluate("[...document.querySelectorAll('.measure')].every((one) => one.checkVisibility())")
    assert page.evaluate("[...document.querySelectorAll('details')].every((one) => one.open)")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 31, 36)"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(page.pdf(format="A4")) > 10_000
    page.context.close()


def test_paper_begins_with_the_findings_and_keeps_the_colours_of_bars(browser, page_file):
    page, _, _ = opened(browser, page_file)
    page.evaluate(OPEN)
    page.emulate_media(media="print")
    breaks = page.evaluate(
        "[...document.querySelectorAll('.task')].map((one) => getComputedStyle(one).breakBefore)"
    )
    assert breaks[0] == "auto"
    assert set(breaks[1:]) == {"page"}
    kept = page.evaluate(
        "[...document.querySelectorAll('.stack i, .swatch, td > i')]"
        ".map((one) => getComputedStyle(one).printColorAdjust)"
    )
    assert set(kept) == {"exact"}
    page.context.close()


def test_words_in_figures_are_at_least_11_pixels_high(browser, page_file):
    page, _, _ = opened(browser, page_file, viewport={"width": 1280, "height": 900})
    page.evaluate(OPEN)
    sizes = page.evaluate(
        """[...document.querySelectorAll('.panel svg')].filter((one) => one.checkVisibility()).flatMap((one) => {
             const scale = one.getBoundingClientRect().width / one.viewBox.baseVal.width;
             return [...one.querySelectorAll('text')]
               .map((text) => scale * parseFloat(getComputedStyle(text).fontSize));
           })"""
    )
    assert len(sizes) > 50
    assert min(sizes) >= 10.9
    page.context.close()


def test_the_first_screen_shows_models_by_tasks_and_significant_differences(browser, page_file):
    page, _, _ = opened(browser, page_file, viewport={"width": 1280, "height": 900})
    assert page.locator("#glance tbody tr").count() == 4
    heading = page.locator("#glance").get_by_role("heading", name="Significant differences")
    assert heading.bounding_box()["y"] < 900
    box = page.locator("#glance table").bounding_box()
    assert box["y"] < 300
    assert box["x"] + box["width"] <= 1280
    page.context.close()


def test_a_table_is_copied_and_saved_as_it_is_shown(browser, page_file):
    page, asked, complaints = opened(
        browser,
        page_file,
        viewport={"width": 1280, "height": 900},
        permissions=["clipboard-read", "clipboard-write"],
    )
    table = page.locator("#scale_granularity .measure:visible table").first
    tools = page.locator("#scale_granularity .measure:visible .scroll + .tools").first
    shown = [
        [cell.replace("\u2212", "-") for cell in row.locator("td:not(.n)").all_inner_texts()]
        for row in table.locator("tbody tr").all()
    ]
    numbers = [[re.findall(r"-?\d+\.\d+", cell) for cell in row] for row in shown]
    with page.expect_download() as saved:
        tools.get_by_role("button", name="CSV").click()
    assert saved.value.suggested_filename.endswith(".csv")
    head, *rows_saved = csv.reader(Path(saved.value.path()).read_text(encoding="utf-8").splitlines())
    assert head[0] == "model"
    assert [[text for text in row[1:-1] if text] for row in rows_saved] == [[*chain(*row)] for row in numbers]
    with page.expect_download() as saved:
        tools.get_by_role("button", name="LaTeX").click()
    latex = Path(saved.value.path()).read_text(encoding="utf-8")
    assert latex.count("{") == latex.count("}")
    assert latex.count(r"\\") == len(rows_saved) + 1
    assert "\u2212" not in latex
    assert all(number.replace("-", "$-$") in latex for row in numbers for cell in row for number in cell)
    tools.get_by_role("button", name="Copy").click()
    tools.get_by_text("Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert [line.split("\t") for line in copied.splitlines()] == [head, *rows_saved]
    assert complaints == []
    assert asked[0] == page_file.as_uri()
    page.context.close()


def test_a_figure_is_saved_as_a_drawing_of_its_own(browser, page_file, tmp_path):
    page, _, complaints = opened(browser, page_file, viewport={"width": 1280, "height": 900})
    page.evaluate("location.hash = 'scale_granularity_reliability'")
    figure = page.locator("#scale_granularity_reliability")
    figure.locator(".panel svg").first.wait_for(state="visible")
    with page.expect_download() as saved:
        figure.get_by_role("button", name="SVG").click()
    text = Path(saved.value.path()).read_text(encoding="utf-8")
    drawing = ElementTree.fromstring(text)
    panels = figure.locator(".panel svg").count()
    assert len([part for part in drawing if part.get("viewBox")]) >= panels
    assert "var(--" not in text
    used = set(re.findall(r'(?:href="#|url\(#)([\w-]+)', text))
    assert used <= set(re.findall(r'id="([^"]*)"', text))
    assert "lab/bold" in text
    assert complaints == []
    page.context.close()


def test_measures_models_and_themes_are_chosen_by_keyboard(browser, page_file):
    page, _, _ = opened(browser, page_file)
    task = page.locator("section.task:not(.glance)").first
    tabs = task.get_by_role("tab")
    tabs.nth(0).focus()
    page.keyboard.press("ArrowRight")
    assert tabs.nth(1).get_attribute("aria-selected") == "true"
    panels = task.locator(".measure")
    assert not panels.nth(0).is_visible()
    assert panels.nth(1).is_visible()
    chip = page.locator(".chip").first
    model = chip.get_attribute("data-model")
    chip.focus()
    page.keyboard.press("Enter")
    assert chip.get_attribute("aria-pressed") == "false"
    shown = page.evaluate(
        "(model) => [...document.querySelectorAll('main [data-model]:not(.chip)')]"
        ".filter((one) => one.dataset.model === model).map((one) => one.checkVisibility())",
        model,
    )
    assert len(shown) > 5
    assert not any(shown)
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator(".theme").focus()
    page.keyboard.press("Space")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.context.close()


def test_nothing_that_a_file_says_is_executed_and_all_of_it_is_shown(browser, hostile_file):
    page, asked, complaints = opened(browser, hostile_file, viewport={"width": 800, "height": 900})
    for details in page.locator("details").all():
        details.evaluate("(one) => { one.open = true; }")
    assert page.evaluate("window.owned") is None
    assert page.title() == SCRIPT
    text = page.inner_text("body")
    for attack in (SCRIPT, ATTRIBUTE, TEMPLATE, ADDRESS, CODE):
        assert attack in text, attack
    assert page.locator("main img").count() == 0
    assert page.locator("script").count() == 1
    links = page.evaluate("[...document.querySelectorAll('a')].map((one) => one.protocol)")
    assert set(links) <= {"file:", "https:"}
    assert page.evaluate("document.documentElement.scrollWidth") <= 800
    assert asked == [hostile_file.as_uri()]
    assert complaints == []
    page.context.close()


def test_files_are_written_inside_their_folder_whatever_a_task_is_called(tmp_path):
    trials = [{**row, "task": "../../outside/\u0000" + "x" * 300} for row in rows("scales")[:40]]
    path = write(tmp_path / "in" / "trials.jsonl", trials)
    out = tmp_path / "out"
    arguments = [str(path), "-o", str(tmp_path / "page.html"), "--resamples", "5"]
    arguments += ["--tables", str(out / "a" / "b"), "--figures", str(out / "a" / "b")]
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.exception
    assert {entry.name for entry in tmp_path.iterdir()} == {
        "in",
        "out",
        "page.html",
    }
    assert {entry.name for entry in out.iterdir()} == {"a"}
    assert list((out / "a" / "b").glob("*.svg"))
