"""The site builds without a warning, needs nothing from elsewhere, and its reference has every public name."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from tests.integration.docs.pages import ROOT
from tests.small_runs import published_tasks

from confidence_tasks.statistics import FAMILIES

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
    documented = set(import_module(name).__all__) - published_tasks()  # tasks have the pages of their studies
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
