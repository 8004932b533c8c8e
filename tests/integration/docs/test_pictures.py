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


@pytest.mark.slow
def test_the_pictures_are_those_of_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = texts(pictures.FOLDER)
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    pictures.main()
    assert texts(tmp_path) == kept
    assert all(kept.values())


def test_every_family_has_a_picture_on_the_page() -> None:
    page = (ROOT / "docs/statistics.md").read_text(encoding="utf-8")
    assert set(re.findall(r"images/statistics/(\w+)\.svg", page)) == set(FAMILIES)


@pytest.mark.parametrize("example", pictures.EXAMPLES, ids=lambda example: example.figure)
def test_a_study_begins_with_its_command_its_cost_and_its_picture(example: pictures.Example) -> None:
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")]
    starts = [page.split("\n## ")[1] for page in pages if "\n## What it asks" in page]
    (start,) = (start for start in starts if f"(images/studies/{example.figure}.svg)" in start)
    assert start.startswith("In short\n\n```bash\n")
    assert f"inspect eval confidence_tasks/{example.task} --model simulated/{example.subjects[-1]}" in start
    assert all(f"-T {parameter}" in start for parameter in example.parameters)
    assert "**Cost**:" in start
    assert "**Result**:" in start
    assert (ROOT / "docs/images/studies" / f"{example.figure}.svg").is_file()
