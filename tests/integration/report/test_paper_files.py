"""The papers' files: LaTeX that compiles, CSV in full, figures in the light theme, and what the command says."""

import csv
import json
import re
import shutil
import subprocess
import zlib

import pytest
from click.testing import CliRunner
from tests.unit.report.paper_runs import (
    MODELS,
    scale_rows,
)
from tests.unit.report.runs import write
from tests.unit.report.test_paper import table

from confidence_tasks.drawing import Colour
from confidence_tasks.reading.integer_scale import GRANULARITY
from confidence_tasks.report.commands.report import report as command
from confidence_tasks.report.paper.files import paper_frame, write_paper

# A model of the trials has a Chinese name, which the fonts of matplotlib lack.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Glyph:UserWarning")]


@pytest.fixture(scope="module")
def folder(paper_results, tmp_path_factory):
    path = tmp_path_factory.mktemp("out")
    write_paper(paper_results.papers, path)
    return path


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs LaTeX: no pdflatex on the path")
def test_all_tables_and_figures_of_all_studies_compile_in_one_document(folder):
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Output written on paper.pdf" in done.stdout
    log = (folder / "paper.log").read_text(encoding="utf-8", errors="replace")
    assert "multiply defined" not in log
    assert "Missing character" not in log


def test_csv_has_the_numbers_in_full_and_no_formulas(paper_results, folder):
    with open(folder / "scales" / "table_1.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    filled = table(paper_results, "scales", "1")
    assert {row["Model"] for row in rows} == {f"'{MODELS[1]}", MODELS[0]}
    for row, (_, cells) in zip(rows, filled.rows, strict=True):
        assert float(row["Concentration Top-1 share"]) == cells[0].values[1]
        assert float(row["Performance M-ratio"]) == cells[-1].values[0]
    differences = paper_frame(table(paper_results, "scales", "16"))
    assert [*differences.columns[-3:]] == ["Δ [95% CI]", "Δ [95% CI] low", "Δ [95% CI] high"]


def colours_in_pdf(content):
    """The colours that its drawing operators set, wherever its lines break."""
    streams = re.findall(rb"/FlateDecode.*?stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)
    drawn = b"\n".join(zlib.decompressobj().decompress(stream) for stream in streams)
    found = re.findall(rb"([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+(?:rg|RG)\b", drawn)
    return {"#{:02x}{:02x}{:02x}".format(*(round(255 * float(value)) for value in each)) for each in found}


def test_figures_in_pdf_have_the_colours_of_the_light_theme(folder):
    drawn = {path: path.read_bytes() for path in folder.glob("*/*.pdf")}
    assert len(drawn) > 20
    for path, content in drawn.items():
        assert colours_in_pdf(content) & set(Colour), path.name
        start = int(content.rstrip().split(b"startxref")[-1].split()[0])
        assert content[start:].startswith(b"xref"), path.name
    by_bins = colours_in_pdf(drawn[folder / "scales" / "figure_3.pdf"])
    assert {Colour.ORDER_0, Colour.INK, Colour.GRID} <= by_bins


def test_without_a_folder_the_papers_go_to_one_called_paper(tmp_path, monkeypatch):
    path = write(tmp_path / "a.jsonl", list(scale_rows({"scale_granularity": GRANULARITY[4:]}, ("mmlu",), 6)))
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command, [str(path), "--paper", "--resamples", "9"])
    assert done.exit_code == 0, done.output
    assert {"paper", "report.html"} <= {each.name for each in tmp_path.iterdir()}
    assert (tmp_path / "paper" / "paper.tex").exists()


def test_the_command_writes_the_papers_folder_and_tells_what_is_lacking(tmp_path):
    rows = list(scale_rows({"scale_granularity": GRANULARITY[3:]}, ("mmlu",), 6))
    path = write(tmp_path / "a.jsonl", rows)
    arguments = [
        str(path),
        "-o",
        str(tmp_path / "r.html"),
        "--paper",
        str(tmp_path / "p"),
        "--resamples",
        "20",
    ]
    done = CliRunner().invoke(command, [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.count("<summary>Tables and figures of the paper</summary>") == 1
    assert "<code>inspect eval confidence_tasks/scale_granularity --model" in page
    assert re.search(r"\d+ of \d+ tables and figures of the papers", done.stderr)
    fragment = (tmp_path / "p" / "scales" / "table_17.html").read_text(encoding="utf-8")
    assert "<code>inspect eval confidence_tasks/scale_nonstandard --model" in fragment
    assert (tmp_path / "p" / "paper.tex").exists()
    for ending in ("html", "csv", "tex"):
        assert (tmp_path / "p" / "scales" / f"table_11.{ending}").exists()
    assert (tmp_path / "p" / "scales" / "figure_3.svg").exists()
    printed = {(each["study"], each["item"]): each for each in json.loads(done.stdout)["paper"]}
    assert printed["scales", "Table 8"]["filled"]
    lacking = printed["scales", "Table 9"]
    assert not lacking["filled"]
    assert "sources=gsm8k" in lacking["notes"][0]


def test_wide_tables_are_in_landscape_and_every_label_is_given_once(folder):
    document = (folder / "paper.tex").read_text(encoding="utf-8")
    tables = [path.read_text(encoding="utf-8") for path in folder.glob("*/*.tex")]
    labels = re.findall(r"\\label\{([^}]*)\}", "".join([document, *tables]))
    assert len(labels) == len(set(labels))
    assert len(labels) >= len(tables)
    in_landscape = "".join(re.findall(r"\\begin\{landscape\}(.*?)\\end\{landscape\}", document, re.DOTALL))
    inputs = re.findall(r"\\input\{(.*?)\}", document)
    wide = re.findall(r"\\input\{(.*?)\}", in_landscape)
    assert 0 < len(wide) < len(inputs)
