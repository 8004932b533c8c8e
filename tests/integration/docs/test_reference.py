"""The reference builds without a warning and has every public name."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from tests.integration.docs.pages import ROOT

pytest.importorskip("pdoc", reason="needs the extra: pip install 'confidence-tasks[docs]'")

DOCUMENTED = (
    "confidence_tasks",
    "confidence_tasks.statistics",
    "confidence_tasks.sources",
    "confidence_tasks.report",
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference")
    script = ROOT / "docs" / "build_reference.py"
    built = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", script, folder],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert "Warn" not in built.stderr
    return folder


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_public_name_has_its_place(name: str, pages: Path) -> None:
    page = pages / f"{name.replace('.', '/')}.html"
    places = set(re.findall(r'id="([\w.]+)"', page.read_text(encoding="utf-8")))
    for public in import_module(name).__all__:
        own_page = page.with_suffix("") / f"{public}.html"  # a function named as its module
        assert public in places or own_page.exists(), public


def test_docstrings_are_laid_out_and_not_quoted(pages: Path) -> None:
    text = (pages / "confidence_tasks" / "statistics.html").read_text(encoding="utf-8")
    assert text.count("Parameters</h6>") > 50
    assert "----------" not in re.sub(r"<pre>.*?</pre>", "", text, flags=re.S)
