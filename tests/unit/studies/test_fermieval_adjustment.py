"""FermiEval's report: adjustment without a calibration half, and the sentence on overconfidence."""

import numpy as np
import pytest
from tests.unit.report.runs import SUBJECTS, rows, undrawn_report, write

from confidence_tasks.report import collect
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.estimates.two_models import compare_models
from confidence_tasks.studies.fermieval.summary import fermieval_summary

FEW = Settings(n_resamples=100)
LEVEL = "p=0.9"


@pytest.fixture(scope="module")
def crossed(tmp_path_factory):
    """A report on a run without a calibration half: all questions are test questions."""
    folder = tmp_path_factory.mktemp("crossed")
    for model in SUBJECTS:
        write(folder / f"{model[4:]}.jsonl", rows("fermieval", model, split="test"))
    return undrawn_report(collect(folder), settings=FEW)


def test_without_a_calibration_half_the_report_has_jackknife_measures(crossed):
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


def test_with_a_calibration_half_the_report_has_no_jackknife_measures(tmp_path):
    path = write(tmp_path / "a.jsonl", rows("fermieval", "lab/bold"))
    (results,) = undrawn_report(collect(path), settings=FEW).results
    names = [measure.name for measure in results.headline]
    assert "conformal_coverage" in names
    assert "conformal_jackknife_coverage" not in names
    assert np.isnan(results.estimate("lab/bold", LEVEL, "conformal_jackknife_coverage").interval.estimate)


def test_a_comparison_leaves_out_undefined_measures(crossed):
    (results,) = crossed.results
    compared = {each.measure for each in compare_models(*results.models, results.task_trials, settings=FEW)}
    assert "conformal_jackknife_winkler" in compared
    assert not {"conformal_coverage", "conformal_winkler"} & compared


def test_a_sentence_says_that_a_model_is_overconfident(tmp_path):
    missed = [
        {**row, "lower": row["truth"] + 1, "upper": row["truth"] + 1, "width": 0.0, "correct": 0.0}
        for row in rows("fermieval")
    ]
    (task,) = undrawn_report(collect(write(tmp_path / "a.jsonl", missed)), settings=FEW).tasks
    assert any(" is overconfident (intervals too narrow) at p" in said for said in task.sentences)
