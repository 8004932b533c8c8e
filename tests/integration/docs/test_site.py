"""The site builds without a warning, needs nothing from elsewhere, and its reference has every public name."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.integration.docs.pages import ROOT

from confidence_tasks.catalogue import studies
from confidence_tasks.statistics import FAMILIES

pytestmark = pytest.mark.slow

pytest.importorskip("mkdocs", reason="needs the extra: pip install 'confidence-tasks[docs]'")

DOCUMENTED = (
    "confidence_tasks",
    "confidence_tasks.statistics",
    *(f"confidence_tasks.statistics.{family}" for family in FAMILIES),
    "confidence_tasks.report",
    "confidence_tasks.study",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_public_name_has_its_place(name: str, site: Path) -> None:
    page = (site / "reference" / f"{name}.html").read_text(encoding="utf-8")
    places = set(re.findall(r'id="([\w.]+)"', page))
    tasks = {task for study in studies() for task in study.designs}  # they have the pages of their studies
    documented = set(import_module(name).__all__) - tasks
    assert {f"{name}.{public}" for public in documented} <= places


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 15
    loaded = re.compile(
        r'<(?:script|img|iframe|link(?! rel="canonical"))[^>]*(?:src|href)="(?:https?:)?//[^"]*"'
    )
    assert {
        page.name: found for page in pages if (found := loaded.findall(page.read_text(encoding="utf-8")))
    } == {}


def test_docstrings_are_laid_out_and_not_quoted(site: Path) -> None:
    pages = [site / "reference" / f"confidence_tasks.statistics.{family}.html" for family in FAMILIES]
    page = "".join(each.read_text(encoding="utf-8") for each in pages)
    prose = re.sub(r"<(pre|code)\b.*?</\1>", "", page, flags=re.S)
    assert prose.count("Parameters:") > 60
    assert "<math" in prose
    assert re.findall(r"-----|:\w+:`|\.\. \w+::", prose) == []


def test_a_parameter_that_shares_a_line_keeps_its_own_type_and_default(site: Path) -> None:
    page = (site / "reference" / "confidence_tasks.html").read_text(encoding="utf-8")
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page))
    assert re.findall(r"n_resamples \((\w+), default: (\w+) ?\)", text) == [("int", "2000")] * 3
    assert re.findall(r"seed \((\w+), default: (\w+) ?\)", text)[:3] == [("int", "0")] * 3


def test_names_in_tables_break_behind_underscores(site: Path) -> None:
    assert "<td><code>policy_<wbr>consistency</code>" in (site / "riskeval.html").read_text(encoding="utf-8")


SIDEWAYS = """() => [document.documentElement, ...document.querySelectorAll("article :is(div, pre, code, img)")]
    .filter((one) => one.clientWidth && one.scrollWidth > one.clientWidth + 4)
    .map((one) => `${one.scrollWidth} ${one.innerText.slice(0, 60)}`)"""
WIDE = {
    "against_the_papers.html": 4,  # tables of ten figures a row
    "contributing.html": 1,  # the drawing of the layers
    "reliability_tables.html": 5,
    "decisions.html": 2,  # what a command prints, and the table of other packages
    "own_replies.html": 1,  # what a command prints
    "report.html": 1,
    "tutorial.html": 1,  # what a command prints
}
"""How many tables and drawings of a page scroll within themselves at 400 px."""
WIDE_ON_A_DESK = {"reliability_tables.html": 2}  # studies and faults of servers, on each harness
"""The same at 1280 px."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_api.sync_playwright() as playwright:
        try:
            quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
            found = playwright.chromium.launch(executable_path=program, args=quiet)
        except sync_api.Error as error:
            pytest.skip(f"no chromium: {error.message.splitlines()[0]}")
        yield found
        found.close()


@pytest.mark.browser
def test_nothing_on_the_site_is_cut_or_scrolls_sideways(browser: Any, site: Path) -> None:
    found = {}
    for width, wide in ((1280, WIDE_ON_A_DESK), (400, WIDE)):
        page = browser.new_page(viewport={"width": width, "height": 900})
        for path in site.rglob("*.html"):
            page.goto(path.as_uri())
            name = str(path.relative_to(site))
            sideways = page.evaluate(SIDEWAYS)
            if len(sideways) > wide.get(name, 0):
                found[name, width] = sideways
    assert found == {}


@pytest.mark.browser
@pytest.mark.parametrize(
    ("start", "word", "page"),
    [
        ("index.html", "semantic entropy", "signals.html"),
        ("reference/confidence_tasks.html", "smollm2", "smollm2.html"),
    ],
)
def test_the_search_works_in_a_folder_without_a_network(
    browser: Any, site: Path, start: str, word: str, page: str
) -> None:
    opened = browser.new_context(offline=True).new_page()
    opened.goto((site / start).as_uri())
    opened.locator("input.md-search__input").focus()
    opened.keyboard.type(word)
    found = opened.locator(".md-search-result__link")
    found.first.wait_for()
    targets = [
        Path(link.get_attribute("href").partition("?")[0].partition("#")[0]).name for link in found.all()
    ]
    opened.context.close()
    assert page in targets
