"""FermiEval in the report: the coverage gap by size of the answer, and adjustment without a calibration half."""

import re

import numpy as np
import pytest
from tests.unit.report.runs import SUBJECTS, rows, write

from confidence_tasks.report import collect, report_of
from confidence_tasks.report.compare import compare
from confidence_tasks.report.estimates import Settings
from confidence_tasks.statistics import wilson_interval
from confidence_tasks.studies.fermieval.sizes import SIZES, gaps_by_size, size_label
from confidence_tasks.studies.fermieval.trials import fermieval_summary

FEW = Settings(n_resamples=100)
LEVEL = "p=0.9"


@pytest.fixture(scope="module")
def crossed(tmp_path_factory):
    """A report on a run that spared no calibration half: all questions are judged."""
    folder = tmp_path_factory.mktemp("crossed")
    for model in SUBJECTS:
        write(folder / f"{model[4:]}.jsonl", rows("fermieval", model, split="test"))
    return report_of(collect(folder), settings=FEW)


def test_a_gap_is_the_share_held_less_the_level_in_each_group_of_questions(crossed):
    (results,) = crossed.results
    gaps = gaps_by_size(results).set_index(["model", "condition", "size"])
    trials = next(each.columns for each in results.models if each.label == "lab/bold")
    at_level = trials["condition"] == LEVEL
    n = 0
    for low, high in SIZES:
        label = size_label((low, high))
        chosen = at_level & (np.abs(trials["truth"]) >= low) & (np.abs(trials["truth"]) <= high)
        if not chosen.any():
            assert ("lab/bold", LEVEL, label) not in gaps.index
            continue
        lower, upper, truth = (trials[name][chosen] for name in ("lower", "upper", "truth"))
        held, row = int(((lower <= truth) & (truth <= upper)).sum()), gaps.loc["lab/bold", LEVEL, label]
        assert row["gap"] == pytest.approx(held / chosen.sum() - 0.9)
        assert row["off"] == pytest.approx(np.median(np.abs((lower + upper) / 2 - truth)))
        assert (row["n"], row["low"] <= row["gap"] <= row["high"]) == (chosen.sum(), True)
        if held in (0, chosen.sum()):
            expected = [float(limit) - 0.9 for limit in wilson_interval(held, int(chosen.sum()))]
            assert [row["low"], row["high"]] == pytest.approx(expected)
        n += int(chosen.sum())
    assert n == at_level.sum()


def test_the_groups_hold_every_exponent_of_the_archive_once():
    exponents = [i for low, high in SIZES for i in range(low, high + 1)]
    assert exponents == list(range(101))


def test_gaps_are_drawn_and_tabled_with_what_makes_a_group_hard(crossed):
    assert "fermieval_gap_by_size" in {figure.name for figure in crossed.figures}
    table = next(extra for extra in crossed.extras if extra.name == "fermieval_by_size").frame
    assert {"model", "exponent", "off by", "n", "p = 0.9".replace(" ", "\u00a0")} <= set(table)
    assert re.search("not graded by difficulty", crossed.html)


def test_without_a_calibration_half_measures_are_of_intervals_adjusted_by_each_other(crossed):
    (results,) = crossed.results
    names = [measure.name for measure in results.headline]
    assert "conformal_jackknife_coverage" in names
    assert "conformal_coverage" not in names
    assert "Conformal jackknife coverage" in crossed.html
    (model, _) = results.models
    columns = model.columns
    trials = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    levels = sorted({trial["level"] for trial in trials})
    expected = fermieval_summary(trials, levels, conformal=False)
    for measure in ("coverage", "width", "winkler"):
        name = f"conformal_jackknife_{measure}"
        value = results.estimate(model.label, LEVEL, name).interval.estimate
        assert value == pytest.approx(expected[f"{name}/{LEVEL}"])
    assert np.isnan(results.estimate(model.label, LEVEL, "conformal_coverage").interval.estimate)


def test_with_a_calibration_half_there_is_no_adjustment_by_each_other(report):
    results = next(each for each in report.results if each.task_trials.study.name == "fermieval")
    names = [measure.name for measure in results.headline]
    assert "conformal_coverage" in names
    assert "conformal_jackknife_coverage" not in names
    assert np.isnan(results.estimate("lab/bold", LEVEL, "conformal_jackknife_coverage").interval.estimate)


def test_a_comparison_leaves_out_what_neither_has(crossed):
    (results,) = crossed.results
    compared = {each.measure for each in compare(*results.models, results.task_trials, settings=FEW)}
    assert "conformal_jackknife_winkler" in compared
    assert not {"conformal_coverage", "conformal_winkler"} & compared


def test_it_is_said_which_way_intervals_err(tmp_path):
    missed = [
        {**row, "lower": row["truth"] + 1, "upper": row["truth"] + 1, "width": 0.0, "correct": 0.0}
        for row in rows("fermieval")
    ]
    (task,) = report_of(collect(write(tmp_path / "a.jsonl", missed)), settings=FEW).tasks
    assert any(
        "The model is overconfident, with intervals too narrow, on p" in said for said in task.sentences
    )
