import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from confidence_tasks.statistics import Reason
from confidence_tasks.statistics.calibration import (
    calibration_intercept,
    calibration_slope,
    logistic_recalibration,
)


def simulated(n, intercept, slope, seed=0):
    """Trials whose recalibration is known."""
    rng = np.random.default_rng(seed)
    confidence = rng.uniform(0.02, 0.98, n)
    return (rng.random(n) < expit(intercept + slope * logit(confidence))).astype(float), confidence


samples = st.lists(
    st.tuples(st.booleans(), st.sampled_from([0.0, 0.2, 0.5, 0.8, 0.95, 1.0])), min_size=4, max_size=30
).map(lambda trials: (np.array([t[0] for t in trials], float), np.array([t[1] for t in trials])))

# Errors and degenerate samples


@pytest.mark.parametrize("statistic", [logistic_recalibration, calibration_slope, calibration_intercept])
@pytest.mark.parametrize("clip", [0.0, 0.5, -0.1, np.nan])
def test_clip_outside_its_domain_raises(statistic, clip):
    with pytest.raises(ValueError, match=r"clip must lie in \(0, 0.5\)"):
        statistic([1, 0], [0.5, 0.6], clip=clip)


@pytest.mark.parametrize(
    ("correct", "confidence", "reason"),
    [
        ([1, 1], [0.5, 0.6], Reason.ONE_CLASS),
        ([0, 0], [0.5, 0.6], Reason.ONE_CLASS),
        ([1, 0, 1], [0.8, 0.8, 0.8], Reason.CONSTANT),
        ([1, 0, 1], [1.0, 1.0, 0.999], Reason.CONSTANT),  # one value once clipped
        ([0, 1, 1], [0.2, 0.6, 0.9], Reason.NOT_IDENTIFIED),
        ([1, 0, 0], [0.2, 0.6, 0.9], Reason.NOT_IDENTIFIED),
        ([0, 0, 1, 1], [0.2, 0.6, 0.6, 0.9], Reason.NOT_IDENTIFIED),  # only a tie holds both
    ],
)
def test_missing_slopes_have_a_reason(correct, confidence, reason):
    line = logistic_recalibration(correct, confidence)
    assert np.isnan(line.slope)
    assert np.isnan(line.intercept)
    assert line.slope.reason is line.intercept.reason is reason


def test_the_shift_needs_two_classes_only():
    assert calibration_intercept([1, 1], [0.5, 0.6]).reason is Reason.ONE_CLASS
    assert calibration_intercept([1, 0], [0.8, 0.8]) == pytest.approx(-logit(0.8))
    assert np.isfinite(calibration_intercept([0, 1, 1], [0.2, 0.6, 0.9]))


# Correctness


@pytest.mark.parametrize("n", [60, 3000])
def test_recalibration_matches_sklearn(n):
    correct, confidence = simulated(n, -0.5, 0.6)
    reference = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(
        logit(np.clip(confidence, 0.005, 0.995))[:, None], correct
    )
    line = logistic_recalibration(correct, confidence)
    assert line.slope == pytest.approx(reference.coef_[0, 0], abs=1e-6)
    assert line.intercept == pytest.approx(reference.intercept_[0], abs=1e-6)
    assert calibration_slope(correct, confidence) == line.slope


def test_shift_solves_its_likelihood_equation():
    correct, confidence = simulated(500, -0.7, 0.8)
    logits = logit(np.clip(confidence, 0.005, 0.995))
    expected = brentq(lambda shift: np.sum(correct - expit(shift + logits)), -10, 10, xtol=1e-14)
    assert calibration_intercept(correct, confidence) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(("intercept", "slope"), [(0.0, 1.0), (-0.8, 0.4), (0.5, 2.0), (0.3, -0.5)])
def test_the_true_line_is_recovered_by_expected_outcomes(intercept, slope):
    confidence = np.linspace(0.02, 0.98, 97)
    line = logistic_recalibration(expit(intercept + slope * logit(confidence)), confidence)
    assert line.slope == pytest.approx(slope, abs=1e-8)
    assert line.intercept == pytest.approx(intercept, abs=1e-8)


def test_certainty_is_read_as_half_a_percent_short_of_it():
    correct, confidence = [1, 0, 1, 1, 0], [1.0, 1.0, 0.7, 0.7, 0.0]
    shortened = [0.995, 0.995, 0.7, 0.7, 0.005]
    assert calibration_slope(correct, confidence) == pytest.approx(calibration_slope(correct, shortened))


def test_recalibrated_confidence_is_calibrated_in_mean():
    correct, confidence = simulated(800, -0.5, 0.6)
    line = logistic_recalibration(correct, confidence)
    recalibrated = line.apply(confidence)
    assert recalibrated.mean() == pytest.approx(correct.mean(), abs=1e-8)
    assert calibration_slope(correct, recalibrated, clip=1e-9) == pytest.approx(1.0, abs=1e-6)
    with pytest.raises(ValueError, match="confidence must lie"):
        line.apply([1.2])


# Properties


@given(samples)
def test_swapping_right_and_wrong_keeps_the_slope_and_turns_the_intercept(sample):
    correct, confidence = sample
    line, mirrored = (
        logistic_recalibration(correct, confidence),
        logistic_recalibration(1 - correct, 1 - confidence),
    )
    assert mirrored.slope == pytest.approx(line.slope, abs=1e-6, nan_ok=True)
    assert mirrored.intercept == pytest.approx(-line.intercept, abs=1e-6, nan_ok=True)


@given(samples)
def test_the_shift_has_the_sign_of_underconfidence(sample):
    correct, confidence = sample
    shift = calibration_intercept(correct, confidence)
    gap = correct.mean() - np.clip(confidence, 0.005, 0.995).mean()
    assert np.isnan(shift) or abs(gap) < 1e-9 or np.sign(shift) == np.sign(gap)
