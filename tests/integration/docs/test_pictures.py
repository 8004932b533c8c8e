"""The pictures of the statistics are those of their script, one a family."""

import re
from pathlib import Path

import pytest
from docs import pictures
from tests.integration.docs.pages import ROOT

from confidence_tasks.statistics import FAMILIES


def texts(folder: Path) -> dict[str, list[str]]:
    """The titles, labels and numbers of each picture."""
    return {
        path.stem: re.findall(r"<text[^>]*>(.*?)</text>", path.read_text()) for path in folder.glob("*.svg")
    }


def test_the_pictures_are_those_of_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = texts(pictures.FOLDER)
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    pictures.main()
    assert texts(tmp_path) == kept
    assert all(kept.values())


def test_every_family_has_a_picture_on_the_page() -> None:
    page = (ROOT / "docs/statistics.md").read_text(encoding="utf-8")
    assert set(re.findall(r"images/statistics/(\w+)\.svg", page)) == set(FAMILIES)
