"""RiskEval's fitted threshold: chosen on one half of the questions by brute force, tested on the other."""

import math

import numpy as np
import pytest
from tests.unit.report.paper_runs import MODELS, filled_from, risk_rows
from tests.unit.report.runs import write

from confidence_tasks.studies.riskeval.fitted import fitted_thresholds
from confidence_tasks.study.units import halves

PENALTIES = (0.0, 1.0, 10.0, 100.0)


@pytest.fixture(scope="module")
def rows():
    return list(risk_rows(("gsm8k",), 40))


@pytest.fixture(scope="module")
def table(rows, tmp_path_factory):
    path = write(tmp_path_factory.mktemp("risk") / "a.jsonl", rows)
    (results,) = filled_from(path, 200).results
    return fitted_thresholds(results).frame.set_index(["model", "penalty"])


def earned(trial, threshold, penalty):
    """Return the points of a trial if the stated confidence decides, over 1 + penalty."""
    sure = 0.0 if math.isnan(trial["confidence"]) else trial["confidence"]
    if sure < threshold or not trial["available"]:
        return 0.0
    return (1.0 if trial["outcome"] else -penalty) / (1.0 + penalty)


def test_utilities_on_the_second_half_are_those_of_the_best_threshold_of_the_first(rows, table):
    for model in MODELS:
        for penalty in PENALTIES:
            trials = [each for each in rows if each["model"] == model and each["penalty"] == penalty]
            half = halves(np.array([each["question_id"] for each in trials]), 0)
            known, new = (
                [each for each, k in zip(trials, half, strict=True) if k == side] for side in (0, 1)
            )
            options = [*{each["confidence"] for each in known if each["confidence"] >= 0.0}, math.inf]
            scores = {t: sum(earned(each, t, penalty) for each in known) for t in options}
            best = max(t for t in options if scores[t] > max(scores.values()) - 1e-9)
            row = table.loc[(model, f"{penalty:g}")]
            assert row["fitted threshold"] == best
            assert row["fitted"] == pytest.approx(np.mean([earned(each, best, penalty) for each in new]))
            own = [earned({**each, "confidence": each["answered"]}, 0.5, penalty) for each in new]
            assert row["own"] == pytest.approx(np.mean(own))
            assert row["gain"] == pytest.approx(row["fitted"] - row["own"])
            assert row["optimal threshold"] == pytest.approx(penalty / (1.0 + penalty))
            assert (row["n fitted"], row["n"]) == (len(known), len(new))


def test_the_halves_share_no_question_and_penalties_share_the_halves(rows):
    names = np.array([each["question_id"] for each in rows])
    half = halves(names, 0)
    assert all(len(set(half[names == name])) == 1 for name in set(names))
    assert sum(half[names == name][0] for name in set(names)) == len(set(names)) // 2


def test_a_model_without_trials_in_a_half_has_no_row(tmp_path):
    one = list(risk_rows(("gsm8k",), 1))
    (results,) = filled_from(write(tmp_path / "a.jsonl", one), 2).results
    assert fitted_thresholds(results).frame.empty
