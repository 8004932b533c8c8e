"""The page that sets published numbers beside ours is what its script makes of the public material."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchmarks import against_papers
from benchmarks.against_papers import PAGE, TABLES, TABLES_OF_DATA, filled, tables

EMPTY = re.compile(r"(<!-- numbers: .*? -->\n).*?(<!-- end of numbers -->)", re.DOTALL)


NUMBER = re.compile(r"(?<![\w.,±^-])\d*\.?\d[\d,]*(?:\.\d+)?(?![\w^])")
NO_RESULTS = {
    *("4,908", "2,000", "1,000"),  # replies and questions that there are
    *(".1", ".2", ".3", ".6", ".55", "1000"),  # bins, and what is divided or bounded
    *("3.7", "4.5", "0.1.2"),  # a model, a section, a release
    ".07",  # a bound, which a test below checks
}
"""Numbers of the text that are not computed."""


def numbers(text: str) -> list[str]:
    return [found.rstrip(",") for found in NUMBER.findall(text)]


@pytest.fixture(scope="module")
def made(shared_data: Path) -> dict[str, str]:
    return tables(shared_data)


@pytest.fixture
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def cells(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


@pytest.mark.slow
def test_the_tables_that_need_no_data_are_those_of_the_script(page):
    assert filled(page, tables(None)) == page


@pytest.mark.slow
def test_the_page_is_that_of_the_script(page, made):
    assert made.keys() == TABLES.keys() | TABLES_OF_DATA.keys()
    assert filled(page, made) == page


@pytest.mark.slow
def test_what_is_written_by_hand_stays(page, made):
    emptied = EMPTY.sub(r"\1\2", page).replace("## FermiEval\n", "## FermiEval\n\nA remark | by hand.\n")
    assert emptied.count("| --- |") < page.count("| --- |")
    again = filled(emptied, made)
    assert again.replace("\nA remark | by hand.\n", "", 1) == page
    assert EMPTY.sub(r"\1\2", again) == emptied


def test_without_data_only_what_needs_none_is_written(page, tmp_path, monkeypatch, capsys):
    copy = tmp_path / PAGE.name
    copy.write_text(EMPTY.sub(r"\1An older table.\n\2", page), encoding="utf-8")
    monkeypatch.setattr(against_papers, "PAGE", copy)
    monkeypatch.setattr(against_papers, "local_data", lambda: None)
    against_papers.main()
    assert copy.read_text(encoding="utf-8").count("An older table.") == len(TABLES_OF_DATA)
    assert "CONFIDENCE_TASKS_MIRROR" in capsys.readouterr().err


@pytest.mark.parametrize("marks", [0, 2])
def test_a_table_has_its_marks_once(marks):
    page = "<!-- numbers: meta-d-fits -->\n<!-- end of numbers -->\n" * marks
    with pytest.raises(ValueError, match="marks of each table once: meta-d-fits"):
        filled(page, {"meta-d-fits": "| a |"})


def test_what_the_page_says_of_table_4(made):
    """Samples hold the published ECE in their intervals; the authors' parse of the same replies has our ECE."""
    rows = cells(made["lifeeval-table-4"])
    assert len(rows) == 18
    for task, _, *_, printed, ours, literal, theirs in rows:
        value, low, high = map(float, re.findall(r"\d\.\d+", ours))
        assert value == pytest.approx(float(theirs), abs=1.1e-3)
        assert float(literal) == pytest.approx(value, abs=0.02)  # few confidences are exactly 0
        if task != "LSAT-AR":
            assert low <= float(printed) <= high
        if task == "SAT-EN":
            assert round(value, 2) == float(printed)


def test_what_the_page_says_of_round_confidences(made):
    found = {(task, model): rest for task, model, *rest in cells(made["lifeeval-rounded"])}
    assert all(printed == slip for (task, _), (printed, slip, _) in found.items() if task == "SAT-EN")
    _, slip, exact = map(float, found["LSAT-AR", "DeepSeek-V3"])
    assert (exact, round(slip / 10)) == (100.0, 9)


def test_what_the_page_says_of_version_2(made):
    """Quarters hold less than octiles, and the same accuracy."""
    rows = cells(made["logprob-version-2"])
    assert len(rows) == 8
    for _, _, *texts in rows:
        accuracy, of_quarters, information, joined, area, joined_area, slope, joined_slope = texts
        assert not accuracy or float(of_quarters) == pytest.approx(float(accuracy), abs=5e-4)
        assert 0.7 < float(joined) / float(information) < 1.0
        assert float(area) - 0.04 < float(joined_area) < float(area)
        assert float(joined_slope) == pytest.approx(float(slope), abs=0.07)


def test_every_number_of_the_text_stands_in_a_table_to_the_digits_of_the_text(page):
    """Whole numbers below 100 are counts, sections and levels; everything else is made by the script."""
    text = re.sub(r"```.*?```|https?://\S+|arXiv:\S+", "", EMPTY.sub("", page), flags=re.DOTALL)
    computed = {float(number.replace(",", "")) for number in numbers("\n".join(tables_of(page)))}
    for number in {*numbers(text)} - NO_RESULTS:
        value, _, decimals = number.replace(",", "").partition(".")
        if not decimals and float(value) < 100:
            continue
        shown = float(f"{value or 0}.{decimals}")
        assert any(round(each, len(decimals)) == shown for each in computed), number


def tables_of(page: str) -> list[str]:
    return [match[0] for match in EMPTY.finditer(page)]
