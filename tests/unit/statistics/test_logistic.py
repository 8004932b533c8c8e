import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from confidence_tasks.statistics.calibration.recalibration import extent, fit_logistic

X = np.array([0.0, 0.2, 0.5, 0.6, 0.9, 1.0])


def fit_one(counts, successes, x=X):
    curve = fit_logistic(x, np.atleast_2d(counts).astype(float), np.atleast_2d(successes).astype(float))
    return curve.intercept[0], curve.slope[0]


# Shapes and degenerate samples


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_one_curve_per_row(rows):
    curve = fit_logistic(X, np.full((rows, 6), 4.0), np.full((rows, 6), 2.0))
    assert curve.intercept.shape == curve.slope.shape == (rows,)


@pytest.mark.parametrize(
    ("counts", "successes"),
    [
        ([0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]),
        ([1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]),
        ([1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0]),
        ([1, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1]),
        ([1, 1, 2, 1, 1, 1], [1, 1, 1, 0, 0, 0]),
    ],
    ids=["empty", "all", "none", "separated", "touching"],
)
def test_no_maximum_gives_nan(counts, successes):
    assert np.isnan(fit_one(counts, successes)).all()


def test_one_value_of_the_regressor_has_slope_0():
    assert fit_one([0, 8, 0, 0, 0, 0], [0, 2, 0, 0, 0, 0]) == (pytest.approx(np.log(2 / 6)), 0.0)


def test_no_values_of_the_regressor():
    assert np.isnan(fit_logistic(np.empty(0), np.empty((3, 0)), np.empty((3, 0))).slope).all()


# Correctness


def test_curves_are_those_of_unpenalized_logistic_regression():
    rng = np.random.default_rng(0)
    counts = rng.multinomial(120, np.full(6, 1 / 6), size=30).astype(float)
    successes = rng.binomial(counts.astype(int), expit(4 * (X - 0.5))).astype(float)
    curve = fit_logistic(X, counts, successes)
    for row in range(30):
        peer = LogisticRegression(C=np.inf, tol=1e-12, solver="newton-cholesky").fit(
            np.tile(X, 2)[:, None],
            np.repeat([1, 0], 6),
            sample_weight=np.append(successes[row], counts[row] - successes[row]),
        )
        assert curve.slope[row] == pytest.approx(peer.coef_[0, 0], rel=1e-8)
        assert curve.intercept[row] == pytest.approx(peer.intercept_[0], rel=1e-8, abs=1e-8)


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.integers(0, 50), st.floats(0, 1)), min_size=6, max_size=6),
    st.sampled_from([1.0, 1e-6, 1e6]),
)
def test_a_curve_solves_the_likelihood_equations(groups, unit):
    counts, share = np.array(groups, dtype=float).T
    successes = np.round(counts * share)
    x = unit * X
    success, failure = x[successes > 0.0], x[counts > successes]
    intercept, slope = fit_one(counts, successes, x)
    residual = successes - counts * expit(intercept + slope * x)
    if success.size and failure.size and failure.max() > success.min() and success.max() > failure.min():
        np.testing.assert_allclose([residual.sum(), residual @ X], 0.0, atol=1e-7)


@pytest.mark.parametrize("overlap", [1, 1e-3, 1e-6])
def test_a_maximum_far_away_is_found(overlap):
    counts = np.array([50, 50, 50, 50, 50, 50.0])
    successes = np.array([0, 0, overlap, 50 - overlap, 50, 50])
    intercept, slope = fit_one(counts, successes)
    residual = successes - counts * expit(intercept + slope * X)
    np.testing.assert_allclose([residual.sum(), residual @ X], 0.0, atol=1e-8)


def test_a_maximum_at_which_full_newton_steps_diverge_is_found():
    x = np.array([1.34, 2.633, 2.671, 7.545, 71.68, 314.56])
    counts, successes = np.array([4, 178, 17, 7664, 2, 3242]), np.array([2, 89, 0, 77, 0, 0])
    intercept, slope = fit_one(counts, successes, x)
    residual = successes - counts * expit(intercept + slope * x)
    np.testing.assert_allclose([residual.sum(), residual @ x], 0.0, atol=1e-6)


def test_values_without_weight_do_not_matter():
    counts, successes = [0, 5, 4, 0, 6, 0], [0, 1, 2, 0, 5, 0]
    used = np.array([1, 2, 4])
    expected = fit_one(np.take(counts, used), np.take(successes, used), X[used])
    assert fit_one(counts, successes) == pytest.approx(expected, rel=1e-12)


def test_extent_is_of_values_with_weight():
    lowest, highest = extent(X, np.array([[0, 1, 0, 2, 0, 0], [0] * 6], dtype=float))
    np.testing.assert_array_equal(lowest, [0.2, np.inf])
    np.testing.assert_array_equal(highest, [0.6, -np.inf])
