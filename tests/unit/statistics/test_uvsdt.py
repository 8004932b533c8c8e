import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import optimize, stats

from confidence_tasks.statistics import Reason
from confidence_tasks.statistics.sdt import fit_uv_sdt


@pytest.fixture
def rng():
    return np.random.default_rng(20240229)


def proportions(mean, sd, criteria=(-0.8, -0.2, 0.3, 0.7, 1.1, 1.6, 2.1)):
    cuts = np.concatenate([[-np.inf], criteria, [np.inf]])
    return np.diff(stats.norm.cdf(cuts)), np.diff(stats.norm.cdf(cuts, mean, sd))


# Shapes


def test_a_batch_fits_each_of_its_tables(rng):
    s1, s2 = rng.integers(0, 30, (2, 5, 6))
    batch = fit_uv_sdt(s1, s2)
    assert batch.criteria.shape == (5, 5)
    for i in range(5):
        one = fit_uv_sdt(s1[i], s2[i])
        assert batch.d_a[i] == pytest.approx(one.d_a, rel=1e-9)
        assert batch.criteria[i] == pytest.approx(one.criteria, rel=1e-9)
        assert batch.converged[i] == one.converged


# Errors and degenerate input


@pytest.mark.parametrize(
    ("s1", "s2", "padding", "reason"),
    [
        ([0] * 4, [0] * 4, "1/2K", Reason.EMPTY),
        ([1, 2, 3, 4], [0] * 4, "1/2K", Reason.ONE_CLASS),
        ([5, 5], [3, 7], "1/2K", Reason.NOT_IDENTIFIED),
        ([10, 0, 10, 0], [5, 0, 20, 0], "none", Reason.NOT_IDENTIFIED),
        ([10, 5, 0, 0], [0, 0, 5, 10], "none", Reason.NOT_CONVERGED),
    ],
)
def test_missing_fits_have_a_reason(s1, s2, padding, reason):
    fit = fit_uv_sdt(s1, s2, padding=padding)
    assert fit.d_a.reason is reason
    assert not fit.converged
    assert np.isnan(fit.criteria).all()


@given(
    *[arrays(np.float64, 6, elements=st.integers(0, 40).map(float))] * 2, st.sampled_from(["1/2K", "none"])
)
def test_any_counts_give_a_number_or_a_reason(s1, s2, padding):
    fit = fit_uv_sdt(s1, s2, padding=padding)
    assert np.isfinite(fit.d_a) or fit.d_a.reason is not None


def test_empty_columns_change_nothing_but_their_criteria():
    full = fit_uv_sdt([40, 30, 20, 10], [10, 20, 30, 40], padding="none")
    holes = fit_uv_sdt([0, 40, 30, 0, 20, 10, 0, 0], [0, 10, 20, 0, 30, 40, 0, 0], padding="none")
    assert holes.d_a == pytest.approx(full.d_a, rel=1e-10)
    lower, middle, upper = full.criteria
    assert holes.criteria == pytest.approx([-np.inf, lower, middle, middle, upper, np.inf, np.inf])


# Correctness


@pytest.mark.parametrize(("mean", "sd"), [(1.2, 1.0), (1.5, 1.6), (0.8, 0.6), (-0.5, 2.0), (0.0, 1.0)])
def test_expected_counts_give_the_model_back(mean, sd):
    criteria = np.array([-0.8, -0.2, 0.3, 0.7, 1.1, 1.6, 2.1])
    s1, s2 = proportions(mean, sd, criteria)
    fit = fit_uv_sdt(1000 * s1, 1000 * s2, padding="none")
    assert fit.slope == pytest.approx(1 / sd, rel=1e-9)
    assert fit.intercept == pytest.approx(mean / sd, abs=1e-9)
    assert fit.area == pytest.approx(stats.norm.cdf(mean / np.hypot(1, sd)), abs=1e-9)
    assert fit.criteria == pytest.approx(criteria, abs=1e-9)


def test_no_other_parameters_are_more_likely(rng):
    """A derivative-free optimizer on an independent likelihood finds no higher value."""
    s1, s2 = np.array([40, 31, 22, 9, 5, 3]), np.array([4, 9, 18, 25, 30, 34])

    def negative(parameters):
        mean, log_sd, first, *steps = parameters
        cuts = np.concatenate([[-np.inf], first + np.cumsum([0, *np.exp(steps)]), [np.inf]])
        p1, p2 = np.diff(stats.norm.cdf(cuts)), np.diff(stats.norm.cdf(cuts, mean, np.exp(log_sd)))
        return -(s1 @ np.log(p1) + s2 @ np.log(p2))

    best = optimize.minimize(
        negative,
        [1.0, 0.0, -0.5, -1, -1, -1, -1],
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 20_000, "maxfev": 20_000},
    )
    fit = fit_uv_sdt(s1, s2, padding="none")
    assert fit.log_likelihood == pytest.approx(-best.fun, abs=1e-8)
    assert fit.log_likelihood >= -best.fun - 1e-9
    assert (1 / fit.slope, fit.intercept / fit.slope) == pytest.approx(
        (np.exp(best.x[1]), best.x[0]), abs=1e-4
    )


def test_standard_errors_are_those_of_simulated_tables(rng):
    s1, s2 = (rng.multinomial(1000, p, size=3000) for p in proportions(1.5, 1.6))
    fit = fit_uv_sdt(s1, s2)
    assert fit.converged.all()
    assert fit.slope.mean() == pytest.approx(1 / 1.6, rel=0.01)
    assert fit.slope.std() == pytest.approx(fit.slope_se.mean(), rel=0.06)
    assert fit.d_a.std() == pytest.approx(fit.d_a_se.mean(), rel=0.06)


# Invariance


@given(*[arrays(np.float64, 6, elements=st.integers(1, 40).map(float))] * 2)
def test_exchanging_the_stimuli_inverts_the_slope_and_keeps_d_a(s1, s2):
    plain, turned = fit_uv_sdt(s1, s2), fit_uv_sdt(s2[::-1], s1[::-1])
    if plain.converged and turned.converged:
        assert plain.slope * turned.slope == pytest.approx(1.0, rel=1e-6)
        assert plain.d_a == pytest.approx(turned.d_a, abs=1e-6)
