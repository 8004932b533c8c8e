"""Tables of papers: each cell has the estimate that it names, in the paper's order and format, also in files."""

import inspect
import math
import re
import shlex
from collections import Counter
from importlib import import_module

import numpy as np
import pytest
from tests.unit.report.paper_runs import (
    MODELS,
    filled_from,
    life_rows,
    scale_rows,
    set_rows,
)
from tests.unit.report.runs import write

from confidence_tasks.catalogue import studies
from confidence_tasks.reading.integer_scale import GRANULARITY
from confidence_tasks.report.labels import latex
from confidence_tasks.report.paper import NotMade, PaperTable, heading
from confidence_tasks.report.paper.files import html_table, latex_paper_table, write_paper
from confidence_tasks.report.paper.filled import replications
from confidence_tasks.statistics import complete, ece

REPLICATIONS = {paper.name: paper for paper in replications()}


@pytest.fixture(scope="module")
def report(paper_results):
    return paper_results


def items(report, study):
    return next(items for replication, items in report.papers if replication is REPLICATIONS[study])


def table(report, study, number):
    tables = [each for each in items(report, study) if isinstance(each.item, PaperTable)]
    return next(each for each in tables if each.item.number == number)


def results_of(report, task):
    return next(each for each in report.results if each.task_trials.task == task)


# Lists ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("study", REPLICATIONS)
def test_a_paper_has_each_item_once_and_names_parameters_of_its_tasks(study):
    replication = REPLICATIONS[study]
    titles = [item.title for item in replication.items]
    assert len(titles) == len(set(titles))
    registry = import_module("confidence_tasks._registry")
    for name, parameters in replication.tasks.items():
        known = set(inspect.signature(getattr(registry, name)).parameters)
        assert {parameters.conditions, parameters.sources} - {""} <= known
    for item in replication.items:
        assert item.caption.endswith(".")


UNFILLED = {
    "scales": {"Figure 1", "Table 10"},
    "riskeval": {"Table 3", "Table 4", "Figure 7", "Figure 8"},
    "lifeeval": {"Figure 8", "Table 5", "Table 6"},
    "fermieval": {"Table 1", "Figure 5"},
    "nlp_metad": {"Table 1"},
    "nlp_metad_2": set(),
}
"""Items that need a source, a strategy or token probabilities that these runs lack, and items that no log can fill."""


@pytest.mark.slow
@pytest.mark.parametrize("study", REPLICATIONS)
def test_all_items_are_filled_except_those_that_say_which_runs_are_missing(report, study):
    unfilled = [each for each in items(report, study) if not each.is_filled]
    assert {each.title for each in unfilled} == UNFILLED[study]
    for each in unfilled:
        assert isinstance(each.item, NotMade) or all(note.startswith(("Lacks", "`--")) for note in each.notes)
        assert each.notes
    for each in items(report, study):
        if isinstance(each.item, PaperTable):
            assert {len(cells) for _, cells in each.rows} <= {len(each.columns)}
            assert {len(labels) for labels, _ in each.rows} <= {len(each.item.stubs)}


@pytest.mark.parametrize("study", REPLICATIONS)
def test_every_measure_of_a_table_is_defined_by_a_study_of_the_paper(study):
    replication = REPLICATIONS[study]
    known = {
        measure.name
        for each in studies()
        if replication.tasks.keys() & each.designs.keys()
        for measure in each.measures
    }
    tables = [item for item in replication.items if isinstance(item, PaperTable)]
    ats = [at for item in tables for at in (item.at, item.order_by or {})]
    ats += [each.at for item in tables for each in item.headings]
    ats += [more for at in ats for more in at.get("more", ())]
    named = {at["measure"] for at in ats if isinstance(at.get("measure"), str)} - {""}
    assert named <= known
    assert tables


def test_a_misspelt_attribute_of_a_cell_raises_when_the_table_is_defined():
    with pytest.raises(TypeError, match="digist"):
        heading("ECE", digist=3)
    with pytest.raises(TypeError, match="mesure"):
        PaperTable(number="1", caption="", stubs=(), rows=(), columns=(), at={"mesure": "ece"})


# Numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_cell_has_the_estimate_that_it_names(report):
    results = results_of(report, "scale_granularity")
    filled = table(report, "scales", "2")
    assert filled.columns[:2] == (("meta-d′ ↑", "[0,5]"), ("meta-d′ ↑", "[0,10]"))
    for labels, cells in filled.rows:
        for (above, scale), cell in zip(filled.columns, cells, strict=True):
            measure = {"meta-d′ ↑": "meta_d", "M-ratio ↑": "mratio"}[above]
            group = scale.strip("[]").replace(",", "-")
            expected = float(results.estimate(labels[0], group, measure).interval.estimate)
            assert cell.values == pytest.approx((expected,), rel=0, abs=0, nan_ok=True)
            assert cell.text == ("–" if math.isnan(expected) else f"{expected:.2f}".replace("-", "−"))


def test_a_table_of_one_source_is_computed_from_the_trials_of_that_source(report):
    results = results_of(report, "scale_granularity")
    filled = table(report, "scales", "8")
    column = filled.columns.index(("ECE ↓",))
    for (label,), cells in filled.rows:
        columns = next(each.columns for each in results.models if each.label == label)
        rows = (columns["source"] == "mmlu") & (columns["condition"] == "0-100")
        expected = ece(*complete(columns["correct"][rows], columns["confidence"][rows]))
        assert cells[column].values[0] == pytest.approx(float(expected), abs=1e-12)
        assert cells[column].text == f"{expected:.2f}"


def test_models_are_ordered_by_m_ratio_and_numbers_have_the_papers_digits(report):
    filled = table(report, "scales", "1")
    heads = [labels[-1] for labels in filled.columns]
    assert heads == [
        "Top-1",
        "Top-3 (%)",
        "Unique",
        "H (bits)",
        "Acc",
        "AUROC",
        "ECE ↓",
        "meta-d′",
        "M-ratio",
    ]
    ratios = [cells[-1].values[0] for _, cells in filled.rows]
    assert ratios == sorted(ratios, reverse=True)
    assert len(ratios) == 2
    assert [labels for labels, _ in filled.rows] != [(model,) for model in sorted(MODELS)]
    patterns = (
        r"\d+( / \d+)* \(\d+\.\d%\)",
        r"\d+\.\d",
        r"\d+",
        r"\d\.\d\d",
        r"\.\d\d",
        r"\.\d\d",
        r"\.\d\d",
        r"−?\d\.\d\d",
        r"−?\d\.\d\d",
    )
    for _, cells in filled.rows:
        for cell, pattern in zip(cells, patterns, strict=True):
            assert re.fullmatch(pattern, cell.text), (cell.text, pattern)


def test_the_best_of_a_model_is_bold_and_stars_are_significant_improvements(report):
    results = results_of(report, "scale_granularity")
    for _, cells in table(report, "scales", "2").rows:
        for half in (cells[:5], cells[5:]):
            best = max(value for cell in half if not math.isnan(value := cell.values[0]))
            assert [cell.bold for cell in half] == [cell.values[0] == best for cell in half]
    for (label,), cells in table(report, "scales", "11").rows:
        for cell, group in zip(cells, ("0-5", "0-10", "0-20", "0-50", "0-100"), strict=True):
            contrast = results.contrast(label, group, "ece")
            improved = contrast is not None and contrast.significant and contrast.interval.estimate < 0
            assert cell.mark == ("*" if improved else "")


def test_differences_between_scales_are_contrasts_with_the_papers_sign(report):
    results = results_of(report, "scale_boundary")
    rows = dict(table(report, "scales", "16").rows)
    for model in MODELS:
        cells = rows[model, "[0,100] vs [60,100]"]
        contrast = results.contrast(model, "60-100", "meta_d").interval
        assert cells[2].values == pytest.approx(
            (-contrast.estimate, -contrast.high, -contrast.low), nan_ok=True
        )
        assert cells[0].values[0] - cells[1].values[0] == pytest.approx(-contrast.estimate)


def test_riskeval_tables_are_of_one_source_with_the_gain_in_parentheses(report):
    (results,) = [each for each in report.results if each.task_trials.task == "riskeval"]
    filled = table(report, "riskeval", "1")
    for (label,), cells in filled.rows:
        columns = next(each.columns for each in results.models if each.label == label)
        sums = []
        for penalty in (10.0, 100.0):  # the penalties from 10 on
            rows = (columns["source"] == "hle") & (columns["condition"] == f"lambda={penalty:g}")
            outcome = np.where(columns["outcome"][rows] == 1.0, 1.0, -penalty)
            earned = np.where(columns["answered"][rows] == 1.0, outcome, 0.0)
            sums.append(earned.mean() / (1.0 + penalty))
        policy, optimal, number = cells[-3:]
        assert policy.values[0] == pytest.approx(np.mean(sums))
        utility, gain = optimal.values
        assert re.fullmatch(r"−?\d\.\d{3} \([+−]\d\.\d{3}\)", optimal.text)
        assert utility == pytest.approx(policy.values[0] + gain)
        assert number.values == (40,)  # all trials have a confidence
    for column in range(len(filled.columns)):
        kinds = {(cells[column].bold, cells[column].italic) for _, cells in filled.rows}
        unranked = filled.columns[column][1] in ("Conf.", "n")
        assert kinds == ({(False, False)} if unranked else {(True, False), (False, True)})


def test_lifeeval_table_2_is_of_the_common_questions_with_a_mean_per_type(report, tmp_path):
    write(tmp_path / "a.jsonl", list(life_rows()))
    groups = (("reasoning", (MODELS[1],)), ("chat", (MODELS[0],)))
    grouped = filled_from(tmp_path, groups=groups)
    rows = table(grouped, "lifeeval", "2").rows
    assert [labels for labels, _ in rows] == [
        (MODELS[1], "reasoning"),
        ("Aggregate", ""),
        (MODELS[0], "chat"),
        ("Aggregate", ""),
        ("People", ""),
    ]
    results = results_of(grouped, "lifeeval")
    answered = ~np.isnan(
        next(each for each in results.models if each.label == MODELS[0]).columns["confidence"]
    )
    other = next(each for each in results.models if each.label == MODELS[1]).columns
    expected = ece(other["correct"][answered], other["confidence"][answered])
    assert rows[0][1][1].values[0] == pytest.approx(float(expected))
    assert rows[0][1][1].text == f"{expected:.3f}"
    assert [row[1][-1].text for row in rows] == ["48", "40", "40", "40", "980"]
    assert [cell.text for cell in rows[-1][1]] == ["49.0", "–", "63.0", "–", "–", "980"]
    assert [row[1][0].values for row in rows[:2]] == [rows[0][1][0].values] * 2
    assert table(grouped, "lifeeval", "3").columns == ((MODELS[1],),)
    assert table(grouped, "lifeeval", "4").columns == ((MODELS[0],),)
    both = table(report, "lifeeval", "4")
    assert {label for (label,) in both.columns} == set(MODELS)
    assert any("--group chat=MODEL,..." in note for note in both.notes)


def test_question_sets_are_in_the_papers_order_in_percent(report):
    rows = dict(table(report, "lifeeval", "3").rows)
    sets = list(dict.fromkeys(labels[0] for labels in rows))
    assert sets == ["BoolQ", "HaluEval", "LSAT-AR", "LifeEval", "SAT-EN", "SciQ"]
    assert {cell.text for cell in rows["BoolQ", "Accuracy"]} == {"70.00"}
    assert {cell.text for cell in rows["BoolQ", "Confidence"]} == {"70.00", "93.00"}
    assert {cell.text for cell in rows["SciQ", "ECE"]} == {"–"}
    for title in ("BoolQ", "LifeEval"):  # no confidence of 0
        texts = [[cell.text for cell in rows[title, name]] for name in ("ECE", "ECE, 0 in no bin")]
        assert texts[0] == texts[1] != ["–", "–"]


def test_a_question_set_asked_from_another_source_has_its_name_in_the_tables_of_the_paper(tmp_path):
    rows = [row | {"source": "arithmetic_boolean"} for row in set_rows() if row["task"] == "boolq"]
    report = filled_from(write(tmp_path / "a.jsonl", rows))
    for number in ("1", "3", "4"):
        sets = {labels[0] for labels, _ in table(report, "lifeeval", number).rows}
        assert {"arithmetic_boolean", "SciQ"} <= sets
        assert "BoolQ" not in sets


def test_fermieval_figure_2_is_a_table_of_winkler_scores_on_the_test_half(report):
    filled = next(each for each in items(report, "fermieval") if each.title == "Figure 2")
    rows = dict(filled.rows)
    assert [labels[0] for labels in rows][::3] == ["p=90 (α = 0.10)", "p=95 (α = 0.05)", "p=99 (α = 0.01)"]
    assert [labels[1] for labels in rows][:3] == ["base", "conformal", "logprob"]
    for (label,), cell in zip(filled.columns, rows["p=95 (α = 0.05)", "base"], strict=True):
        columns = next(each.columns for each in results_of(report, "fermieval").models if each.label == label)
        selected = (columns["condition"] == "p=0.95") & (columns["split"] == "test")
        near = selected & (np.abs(columns["upper"]) <= 100)
        assert near.sum() == selected.sum() - 1
        truth, low, high = (columns[name][near] for name in ("truth", "lower", "upper"))
        missed = np.abs(truth - np.clip(truth, low, high))
        assert cell.values == (pytest.approx(float(np.mean(high - low + 2 / 0.05 * missed))),)
    text = latex_paper_table(filled, REPLICATIONS["fermieval"])
    assert r"\renewcommand{\thefigure}{2}" in text
    assert r"\label{fig:fermieval-2}" in text
    coverage = dict(table(report, "fermieval", "2").rows)
    held = {label: cells[0].values[0] for (label, p), cells in coverage.items() if p == "0.95"}
    read = selected & ~np.isnan(columns["upper"])  # ends beyond 10^100 are not read
    truth, low, high = (columns[name][read] for name in ("truth", "lower", "upper"))
    assert held[label] == pytest.approx(float(np.mean((low <= truth) & (truth <= high))))


def test_log_probability_tables_have_the_estimates_ranks_quarters_and_the_weakest_domain(report):
    results = results_of(report, "nlp_metad")
    ordered = table(report, "nlp_metad", "2").rows
    assert [cells[3].values[0] for _, cells in ordered] == sorted(
        (cells[3].values[0] for _, cells in ordered), reverse=True
    )
    for (label,), cells in ordered:
        interval = results.estimate(label, "T=1", "mratio_v1", "trivia_qa").interval
        assert cells[4].values == (float(interval.low), float(interval.high))
        assert cells[4].text == f"[{interval.low:.3f}, {interval.high:.3f}]"
        assert cells[4].bold == (interval.high < 1)
    areas = {label: cells[0].values[0] for (label,), cells in table(report, "nlp_metad", "3").rows}
    ranks = {label: cells[1].text for (label,), cells in table(report, "nlp_metad", "3").rows}
    assert [ranks[label] for label in sorted(areas, key=lambda label: -areas[label])] == ["1st", "2nd"]
    for (label, dataset), cells in table(report, "nlp_metad", "5").rows:
        columns = next(each.columns for each in results.models if each.label == label)
        source = {"TriviaQA": "trivia_qa", "NQ": "nq_open"}[dataset]
        selected = (columns["source"] == source) & (columns["condition"] == "T=1")
        correct = columns["correct"][selected][np.argsort(columns["mean_logprob"][selected])]
        shares = [part.mean() for part in np.array_split(correct, 4)]
        assert [cell.values[0] for cell in cells] == pytest.approx(shares)
    domains = table(report, "nlp_metad", "6")
    for column in range(len(domains.columns)):
        *values, range_ = [cells[column].values[0] for _, cells in domains.rows]
        assert range_ == pytest.approx(max(values) - min(values))
        assert [cells[column].bold for _, cells in domains.rows[:4]] == [
            value == min(values) for value in values
        ]
        assert re.fullmatch(r"\d\.\d\d", domains.rows[-1][1][column].text)
    for (label, temperature), cells in table(report, "nlp_metad", "7").rows:
        entry = results.estimate(label, f"T={float(temperature):g}", "d_prime_v1", "trivia_qa")
        entry = entry or results.estimate(label, f"T={float(temperature):g}", "d_prime_v1")
        assert cells[0].values == (float(entry.interval.estimate),)


def test_the_calibration_figure_of_fermieval_has_a_legend_entry_for_every_line(report):
    (figure,) = next(each for each in items(report, "fermieval") if each.title == "Figure 1").figures
    named = {(key.label, key.colour) for key in figure.keys}
    assert {label for label, _ in named} == {"nominal", "conformal", *(f"{m}, as stated" for m in MODELS)}
    drawn = {line.colour for _, row in figure.rows for panel in row for line in panel.draw.keywords["lines"]}
    assert drawn == {colour for _, colour in named}


def test_the_discretisation_profile_shows_the_reports_on_the_baseline_scale(report):
    """Figure 2 of the scales paper, as means over the sources."""
    (figure,) = next(each for each in items(report, "scales") if each.title == "Figure 2").figures
    rows = [row for row in scale_rows() if (row["task"], row["condition"]) == ("scale_granularity", "0-100")]
    expected = {}
    for model in MODELS:
        profiles = []
        for source in ("mmlu", "gsm8k"):
            reports = [row for row in rows if (row["model"], row["source"]) == (model, source)]
            counts = sorted(Counter(row["confidence_raw"] for row in reports).values(), reverse=True)
            profiles.append((counts[0] / len(reports), sum(counts[:3]) / len(reports), len(counts)))
        expected[model] = np.mean(profiles, axis=0)
    ((_, panels),) = figure.rows
    for column, panel in enumerate(panels):
        for line in panel.draw.keywords["lines"]:
            assert line.y.tolist() == pytest.approx([expected[line.label][column]])
    assert len(panels) == 3


# Runs that are lacking --------------------------------------------------------------------------------------------


def test_a_table_that_the_logs_cannot_fill_names_the_missing_runs_and_the_command(report):
    (note,) = [note for note in table(report, "scales", "12").notes if note.startswith("Lacks")]
    assert note.startswith("Lacks scale_granularity · 0-5, 0-10, 0-20, 0-50, 0-100 · truthfulqa of ")
    (line,) = re.findall("`(.*)`", note)
    models = ",".join(sorted(MODELS))
    assert shlex.split(line) == [
        *("inspect", "eval", "confidence_tasks/scale_granularity", "--model", models),
        *("-T", "scales=0-5,0-10,0-20,0-50,0-100", "-T", "sources=truthfulqa"),
    ]


def test_a_table_without_runs_is_a_sentence_in_every_format(tmp_path):
    rows = list(scale_rows({"scale_granularity": GRANULARITY}, ("mmlu",), 6))
    partial = filled_from(write(tmp_path / "a.jsonl", rows))
    empty = table(partial, "scales", "9")
    assert empty.rows == ()
    (note,) = empty.notes
    assert note.endswith("-T scales=0-100 -T sources=gsm8k`")
    tables = [
        (paper, [each for each in filled if isinstance(each.item, PaperTable)])
        for paper, filled in partial.papers
    ]
    written = write_paper(tables, tmp_path / "out")
    assert "table_9.tex" not in {path.name for path in written}
    assert r"\paragraph{Table 9}" in written[-1].read_text(encoding="utf-8")


def test_every_command_in_a_note_is_valid_for_inspect(report):
    registry = import_module("confidence_tasks._registry")
    notes = [note for _, filled in report.papers for each in filled for note in getattr(each, "notes", ())]
    lines = [line for note in notes for line in re.findall("`(inspect eval .*?)`", note)]
    assert lines
    for line in lines:
        words = shlex.split(line)
        task = getattr(registry, words[2].partition("/")[2])
        given = [words[i + 1].partition("=")[0] for i, word in enumerate(words) if word == "-T"]
        assert set(given) <= set(inspect.signature(task).parameters), line


# Files ------------------------------------------------------------------------------------------------------------


def test_latex_has_the_papers_number_caption_label_and_booktabs(report):
    text = latex_paper_table(table(report, "scales", "17"), REPLICATIONS["scales"])
    for part in (
        r"\renewcommand{\thetable}{17}",
        r"\caption{Replies out of bounds",
        r"\label{tab:scales-17}",
        r"\toprule",
        r"\multicolumn{5}{c}{Granularity (G)}",
        r"\cmidrule(lr){2-6}",
        r"lab/a\_b\&50\%\textbackslash{}x\#\{1\}\$\textasciicircum{}\textasciitilde{}",
    ):
        assert part in text, part


def test_the_first_cell_of_a_latex_row_is_no_argument_of_the_row_above(report):
    text = latex_paper_table(table(report, "scales", "7"), REPLICATIONS["scales"])
    assert "{[}0, 20]" in text
    assert not re.search(r"\\\\\s*[\[*]", text)
    assert latex("* a") == "{*} a"


def test_html_is_escaped(report):
    html = html_table(table(report, "scales", "2"))
    assert "模型&lt;i&gt;é" in html
    assert "<i>é" not in html
    assert '<th scope="colgroup" colspan="5">meta-d′ ↑</th>' in html
