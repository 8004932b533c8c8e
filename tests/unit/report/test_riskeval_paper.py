"""The tables and figures of RiskEval's paper: each value from the trials by hand, each panel where the paper has it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.report.runs import undrawn_report

from confidence_tasks.replications.riskeval import SOURCES
from confidence_tasks.report import Report, collect
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.paper import PaperFigure
from confidence_tasks.report.paper.filled import Filled
from confidence_tasks.sources import Question
from confidence_tasks.studies.riskeval.replies import PENALTIES
from confidence_tasks.studies.riskeval.report import COMPARABLE, NOT_COMPARABLE
from confidence_tasks.studies.riskeval.trials import riskeval_trial

PAPER = {
    1: ("hle", 10.0),
    2: ("hle", 0.0),
    3: ("gpqa_diamond", 0.0),
    4: ("gpqa_diamond", 10.0),
    5: ("gsm8k", 0.0),
    6: ("gsm8k", 10.0),
}
"""Source and least penalty of each table of the paper."""


def made_up(source: str, seed: int, n: int = 25) -> list[dict[str, Any]]:
    """Trials of a model that abstains below a confidence of .4, on made-up questions under a source's name."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        question = Question(f"{source}-{i}", source, "Which?", "choice", "A", ("x", "y"))
        percent, letter = int(rng.integers(0, 101)), "AB"[int(rng.integers(2))]
        said = f"Answer: {letter}" if percent >= 40 else "ABSTAIN"
        for penalty in PENALTIES:
            trial = riskeval_trial(question, penalty, f"{said}\nConfidence: {percent}%")
            rows.append({"study": "riskeval", "task": "riskeval", **trial})
    return rows


def write(path: Path, rows: Sequence[dict[str, Any]], model: str) -> None:
    path.write_text("\n".join(json.dumps({**row, "model": model}) for row in rows))


@pytest.fixture(scope="module")
def trials() -> list[dict[str, Any]]:
    return [row for seed, source in enumerate(SOURCES) for row in made_up(source, seed)]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, trials: list[dict[str, Any]]) -> Report:
    folder = tmp_path_factory.mktemp("riskeval")
    write(folder / "every.jsonl", trials, "lab/every")
    write(folder / "one.jsonl", [row for row in trials if row["source"] == "gsm8k"], "lab/one")
    return undrawn_report(collect(folder), settings=Settings(n_resamples=50))


NAMES = ["AUARC", "ECE", "Brier", "Conf.", "Pol. Con.", "N. Reg.", "w/ π_M", "w/ π*", "n"]
"""The paper's columns, without arrows, and the number of trials."""


def as_table(report: Report, number: int) -> Filled:
    ((_, items),) = report.papers
    return next(each for each in items if each.item.kind == "table" and each.item.number == str(number))


def row_of(report: Report, number: int, model: str) -> dict[str, str]:
    rows = {label: cells for (label,), cells in as_table(report, number).rows}
    return dict(zip(NAMES, (cell.text for cell in rows[model]), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("number", PAPER)
def test_a_table_holds_means_over_its_source_and_its_penalties(
    report: Report, trials: list[dict[str, Any]], number: int
) -> None:
    source, least = PAPER[number]
    by_penalty = []
    for penalty in (p for p in PENALTIES if p >= least):
        rows = [row for row in trials if row["source"] == source and row["penalty"] == penalty]
        c = np.array([row["confidence"] for row in rows])
        answered = np.array([row["decision"] == "answer" for row in rows])
        right = np.array([row["correct"] == 1.0 for row in rows])
        threshold = penalty / (1 + penalty)
        points = np.where(answered, np.where(right, 1, -penalty), 0) / (1 + penalty)
        by_penalty.append(
            {
                "Brier": np.mean((c - right)[answered] ** 2),
                "Conf.": c.mean(),
                "Pol. Con.": np.mean(answered == (c >= threshold)),
                "N. Reg.": np.mean(abs(c - threshold) * (answered != (c >= threshold))),
                "w/ π_M": points.mean(),
                "w/ π*": np.where(c >= threshold, points, 0.0).mean(),
            }
        )
    means = {name: float(np.mean([its[name] for its in by_penalty])) for name in by_penalty[0]}
    found = row_of(report, number, "lab/every")
    optimal = means.pop("w/ π*")
    shown = {name: float(found[name].replace("−", "-")) for name in means}
    assert shown == pytest.approx(means, abs=0.0005 + 1e-12)
    gain = optimal - means["w/ π_M"]
    assert found["w/ π*"].replace("−", "-") == f"{optimal:.3f} ({gain:+.3f})".replace("-0.000", "0.000")


def test_a_model_is_in_the_tables_of_the_sources_that_it_was_asked(report: Report) -> None:
    assert {label for (label,), _ in as_table(report, 5).rows} == {"lab/every", "lab/one"}
    assert row_of(report, 6, "lab/every") == row_of(report, 6, "lab/one")
    assert not set(row_of(report, 1, "lab/every").values()) & set(row_of(report, 1, "lab/one").values())


def test_tables_say_whether_they_compare_with_the_papers(report: Report) -> None:
    for number, (_, least) in PAPER.items():
        assert (COMPARABLE if least else NOT_COMPARABLE) in as_table(report, number).item.caption
    notes = {extra.name: extra.note for extra in report.extras}
    assert COMPARABLE in notes["riskeval_high_penalties"]
    assert NOT_COMPARABLE in notes["riskeval_all_penalties"]


def test_the_mean_thresholds_that_the_notes_give_are_those_of_the_grid() -> None:
    for note, least in ((COMPARABLE, 10.0), (NOT_COMPARABLE, 0.0)):
        thresholds = [penalty / (1 + penalty) for penalty in PENALTIES if penalty >= least]
        assert f"{np.mean(thresholds):.3f}".lstrip("0") in note


@pytest.mark.parametrize(
    ("number", "rows"), [(1, 1), (2, 1), (3, 1), (4, 1), (5, 4), (6, 2)], ids=lambda value: str(value)
)
def test_a_figure_has_a_row_a_measure_and_a_column_a_source(report: Report, number: int, rows: int) -> None:
    figure = next(figure for figure in report.figures if figure.name == f"riskeval_figure_{number}")
    assert len(figure.rows) == rows
    for _, panels in figure.rows:
        assert [panel.title for panel in panels] == ["HLE", "GPQA Diamond", "GSM8K"]


@pytest.mark.slow
def test_the_papers_figures_show_its_own_sources_and_say_which_a_model_was_not_asked(
    tmp_path: Path, trials: list[dict[str, Any]]
) -> None:
    write(tmp_path / "every.jsonl", [*trials, *made_up("arithmetic", 9, n=5)], "lab/every")
    write(tmp_path / "one.jsonl", [row for row in trials if row["source"] == "gsm8k"], "lab/one")
    made = undrawn_report(collect(tmp_path), settings=Settings(n_resamples=20))
    ((_, items),) = made.papers
    shown = {each.title: each for each in items if isinstance(each.item, PaperFigure)}
    titles = {
        title: [[panel.title for panel in panels] for figure in each.figures for _, panels in figure.rows]
        for title, each in shown.items()
    }
    assert titles["Figure 1"] == [["HLE"]]
    assert titles["Figure 5"] == [["HLE", "GPQA Diamond", "GSM8K"]] * 4
    (page,) = (figure for figure in made.figures if figure.name == "riskeval_figure_1")
    assert [panel.title for panel in page.rows[0][1]] == ["HLE", "GPQA Diamond", "GSM8K", "arithmetic"]
    (note,) = shown["Figure 1"].notes
    assert note.startswith("Lacks riskeval · hle of lab/one: `inspect eval")
    assert note.endswith("-T source=hle`")
    assert not shown["Figure 7"].figures


def test_a_figure_without_the_papers_sources_is_not_made_of_others(tmp_path: Path) -> None:
    write(tmp_path / "other.jsonl", made_up("arithmetic", 9, n=5), "lab/other")
    ((_, items),) = undrawn_report(collect(tmp_path), settings=Settings(n_resamples=20)).papers
    figures = [each for each in items if isinstance(each.item, PaperFigure)]
    assert not any(each.is_filled for each in figures)
    assert all("-T source=hle" in note for each in figures for note in each.notes)


def test_figures_of_the_second_prompt_are_there_once_both_were_asked(report: Report) -> None:
    assert not {"riskeval_figure_7", "riskeval_figure_8"} & {figure.name for figure in report.figures}
