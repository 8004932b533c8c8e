"""Decisions from 5 to 50 answers: no threshold, map, sequence or reliability that its own documentation disowns."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.small_studies import SIZES, SUBJECTS

from confidence_tasks.cli import main
from confidence_tasks.statistics import acceptance_threshold
from confidence_tasks.statistics.acceptance import acceptance_curve, fewest_answers
from confidence_tasks.statistics.calibration.maps import fit_recalibration
from confidence_tasks.statistics.calibration.recalibration import cross_fitted_confidence
from confidence_tasks.statistics.core import Reason
from confidence_tasks.statistics.reliability import retest_reliability, split_half_reliability
from confidence_tasks.statistics.sequential import confidence_sequence

every_subject = pytest.mark.parametrize("subject", SUBJECTS)
every_size = pytest.mark.parametrize("n", SIZES)


@every_subject
@every_size
@pytest.mark.parametrize("accuracy", [0.6, 0.9])
def test_a_threshold_is_one_that_these_answers_can_guarantee(subject, n, accuracy):
    correct, confidence = SUBJECTS[subject](np.random.default_rng(n), n)
    found = acceptance_threshold(correct, confidence, accuracy=accuracy)
    if n < fewest_answers(accuracy):
        assert found.threshold.reason is Reason.TOO_FEW
    elif correct.max() == 0.0:
        assert found.threshold.reason is Reason.NOT_REACHED
    if np.isnan(found.threshold):
        assert found.threshold.reason is not None
        assert found.share == found.n_accepted == 0
        assert np.isnan([found.accuracy, found.low]).all()
    else:
        accepted = confidence >= found.threshold
        assert found.accuracy == correct[accepted].mean() >= found.low >= accuracy - 1e-12
        assert found.share == accepted.mean() > 0.0


@every_subject
@every_size
def test_a_curve_of_accuracy_holds_no_bound_beyond_its_answers(subject, n):
    correct, confidence = SUBJECTS[subject](np.random.default_rng(n), n)
    curve = acceptance_curve(correct, confidence)
    low, value = np.asarray(curve.low), np.asarray(curve.accuracy)
    assert ((low <= value + 1e-12) | np.isnan(low)).all()
    assert (low[~np.isnan(low)] >= 0.0).all()


@pytest.mark.slow
@every_subject
@every_size
@pytest.mark.parametrize("method", ["isotonic", "beta", "logistic", "histogram"])
def test_no_map_is_fitted_to_so_few_answers(subject, n, method):
    correct, confidence = SUBJECTS[subject](np.random.default_rng(n), n)
    with pytest.raises(ValueError, match=f"{n} questions with .* are too few"):
        fit_recalibration(correct, confidence, method=method)
    fitted = cross_fitted_confidence(correct, confidence, method=method)
    assert ((fitted >= 0.0) & (fitted <= 1.0)).all()


@every_subject
@every_size
def test_a_sequence_holds_the_mean_of_its_own_values(subject, n):
    correct, _ = SUBJECTS[subject](np.random.default_rng(n), n)
    found = confidence_sequence(correct)
    assert 0.0 <= found.low[-1] <= correct.mean() <= found.high[-1] <= 1.0


@every_subject
@every_size
def test_reliability_needs_values_that_vary(subject, n):
    correct, confidence = SUBJECTS[subject](np.random.default_rng(n), n)
    for reliability in (retest_reliability, split_half_reliability):
        same = reliability(np.column_stack([confidence, confidence]))
        assert (same.reason is Reason.CONSTANT) if len(set(confidence)) == 1 else (same == pytest.approx(1.0))
        assert reliability(np.column_stack([correct, correct])[:2]).reason is Reason.TOO_FEW


@pytest.mark.parametrize("command", [["threshold", "--accuracy", "0.9"], ["recalibrate"]])
@pytest.mark.parametrize("subject", ["unrelated", "all right", "all wrong", "constant"])
def test_commands_on_ten_answers_say_why_there_is_nothing(command, subject, tmp_path):
    correct, confidence = SUBJECTS[subject](np.random.default_rng(10), 10)
    path = tmp_path / "mine.csv"
    core = {"study": "scales", "source": "mine", "condition": "0-100", "status": "ok"}
    answers = {"question_id": [f"q{i}" for i in range(10)], "correct": correct, "confidence": confidence}
    pd.DataFrame({**answers, **core}).to_csv(path, index=False)
    result = CliRunner().invoke(main, [command[0], str(path), *command[1:]])
    assert "too few" in result.output
    assert "Traceback" not in result.output
