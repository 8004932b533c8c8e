import sys

import numpy as np
import pytest
from scipy.stats import halfnorm, norm

from confidence_tasks.statistics import fit_meta_d
from confidence_tasks.statistics.sdt.hierarchical import (
    _log_likelihood,
    _model,
    _summarize,
    hierarchical_meta_d,
)

CRITERIA = np.array([0.4, 0.9, 1.4])
TABLES = np.array([[[9, 4, 3, 2], [1, 2, 4, 9]], [[8, 7, 5, 1], [2, 5, 6, 8]]])


def cell_probabilities(d_prime, criterion, m_ratio):
    """Probability of each of the 2K cells under either stimulus, shape (2, 2K)."""
    cells = []
    for side in (-0.5, 0.5):
        hit = norm.sf(criterion, side * d_prime)
        center = m_ratio * criterion
        edges = [-np.inf, *(center - CRITERIA[::-1]), center, *(center + CRITERIA), np.inf]
        ratings = np.diff(norm.cdf(edges, side * m_ratio * d_prime))
        low, high = ratings[:4], ratings[4:]
        cells.append(np.concatenate([(1 - hit) * low / low.sum(), hit * high / high.sum()]))
    return np.array(cells)


# Errors


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpyro", None)
    with pytest.raises(ImportError, match=r"confidence-tasks\[bayes\]"):
        hierarchical_meta_d(*TABLES)


@pytest.mark.parametrize(
    ("tables", "options", "message"),
    [
        (TABLES[:, :1], {}, "two or more units"),
        (TABLES - 0.5, {}, "whole numbers"),
        (TABLES - 2, {}, "negative"),
        (TABLES + 0.5, {}, "whole numbers"),
        (TABLES, {"n_samples": 1}, "n_samples"),
        (TABLES, {"n_chains": 0}, "n_chains"),
        (TABLES, {"level": 95}, "level"),
    ],
)
def test_units_and_options_outside_their_domain_raise(tables, options, message):
    with pytest.raises(ValueError, match=message):
        hierarchical_meta_d(*tables, **options)


# Correctness: the likelihood


def likelihood(counts, d_prime, criterion, m_ratio, gap):
    jax = pytest.importorskip("jax", reason="needs the extra: pip install 'confidence-tasks[bayes]'")
    with jax.enable_x64(True):
        return float(jax.jit(_log_likelihood)(counts, *map(np.array, (d_prime, criterion, m_ratio, gap))))


def by_side(nR_S1, nR_S2):
    """Counts by (unit, response, [wrong, correct], rating outwards)."""
    first = [nR_S2[:, 3::-1], nR_S1[:, 3::-1]]
    return np.stack([np.stack(first, axis=1), np.stack([nR_S1[:, 4:], nR_S2[:, 4:]], axis=1)], axis=1)


def test_likelihood_is_that_of_the_cells():
    rng = np.random.default_rng(0)
    d_prime, criterion, m_ratio = [1.2, 2.0, -0.3], [0.3, -0.2, 0.1], [0.7, 1.3, 1.0]
    tables = rng.integers(0, 20, (2, 3, 8)).astype(float)
    cells = np.array([cell_probabilities(*unit) for unit in zip(d_prime, criterion, m_ratio, strict=True)])
    expected = (np.moveaxis(tables, 0, 1) * np.log(cells)).sum()
    gap = np.broadcast_to(np.diff(CRITERIA, prepend=0.0), (3, 2, 3))
    assert likelihood(by_side(*tables), d_prime, criterion, m_ratio, gap) == pytest.approx(
        expected, rel=1e-12
    )


def test_likelihood_has_the_maximum_of_the_maximum_likelihood_fit():
    nR_S1, nR_S2 = np.array([[52, 32, 35, 37, 26, 12, 4, 2]]), np.array([[2, 5, 15, 22, 33, 38, 40, 45]])
    fit = fit_meta_d(nR_S1[0], nR_S2[0], padding="none")
    gap = np.abs(np.diff(fit.criteria))
    gap = np.stack([gap[2::-1], gap[3:]])[None]
    counts = by_side(nR_S1, nR_S2)
    arguments = [fit.d_prime], [fit.criterion], [fit.m_ratio]
    hits = norm.logcdf(fit.d_prime / 2 - fit.criterion), norm.logcdf(fit.d_prime / 2 + fit.criterion)
    misses = norm.logcdf(-fit.d_prime / 2 + fit.criterion), norm.logcdf(-fit.d_prime / 2 - fit.criterion)
    of_responses = (
        nR_S2[0, 4:].sum() * hits[0]
        + nR_S1[0, :4].sum() * hits[1]
        + nR_S2[0, :4].sum() * misses[0]
        + nR_S1[0, 4:].sum() * misses[1]
    )
    assert likelihood(counts, *arguments, gap) == pytest.approx(fit.log_likelihood + of_responses, rel=1e-10)


def test_likelihood_stays_finite_far_out():
    counts = by_side(np.full((1, 8), 3.0), np.full((1, 8), 3.0))
    gap = np.full((1, 2, 3), 4.0)
    assert np.isfinite(likelihood(counts, [6.0], [5.0], [3.0], gap))
    assert np.isfinite(likelihood(counts, [-6.0], [-5.0], [3.0], 1e-6 * gap))


# The model and its summary; that it recovers a group is in tests/validity/test_bayes.py


@pytest.mark.slow
def test_density_is_that_of_the_priors_and_the_likelihood():
    jax = pytest.importorskip("jax", reason="needs the extra: pip install 'confidence-tasks[bayes]'")
    from numpyro.infer.util import log_density

    rng = np.random.default_rng(0)
    counts = by_side(*rng.integers(0, 20, (2, 2, 8)).astype(float))
    spreads = {"log_m_spread": 0.4, "d_spread": 0.7, "c_spread": 0.3}
    means = {"log_m_mean": -0.2, "d_mean": 1.3, "c_mean": 0.1}
    units = {name: rng.normal(0.5, 0.2, 2) for name in ("deviation", "d_prime", "criterion")}
    log_gap = rng.normal(-0.7, 0.3, (2, 2, 3))
    at = {**spreads, **means, **units, "log_gap": log_gap}
    with jax.enable_x64(True):
        result, _ = log_density(_model, (counts,), {}, {name: np.array(value) for name, value in at.items()})
    expected = (
        sum(halfnorm.logpdf(spread) for spread in spreads.values())
        + norm.logpdf(-0.2, 0, 1)
        + norm.logpdf(1.3, 1, 1.5)
        + norm.logpdf(0.1, 0, 1)
        + norm.logpdf(units["deviation"]).sum()
        + norm.logpdf(units["d_prime"], 1.3, 0.7).sum()
        + norm.logpdf(units["criterion"], 0.1, 0.3).sum()
        + norm.logpdf(log_gap, np.log(0.5), 1).sum()
    )
    m_ratio = np.exp(-0.2 + 0.4 * units["deviation"])
    expected += likelihood(counts, units["d_prime"], units["criterion"], m_ratio, np.exp(log_gap))
    assert float(result) == pytest.approx(expected, rel=1e-10)


def test_a_posterior_is_summarised_over_chains_and_draws():
    rng = np.random.default_rng(0)
    draws = {"log_m_mean": rng.normal(size=(2, 50)), "log_m_spread": rng.random((2, 50))}
    draws["log_m"] = rng.normal(size=(2, 50, 3))
    result = _summarize(draws, 0.9)
    assert result.keys() == {"log_m_mean", "log_m_spread", "m_ratio", "unit_m_ratio"}
    assert result["log_m_mean"].mean == pytest.approx(draws["log_m_mean"].mean())
    assert result["log_m_spread"].standard_deviation == pytest.approx(draws["log_m_spread"].std())
    np.testing.assert_array_equal(result["m_ratio"].draws, np.exp(draws["log_m_mean"]))
    for unit in range(3):
        of_unit = np.exp(draws["log_m"][:, :, unit]).ravel()
        limits = result["unit_m_ratio"].low[unit], result["unit_m_ratio"].high[unit]
        assert limits == pytest.approx(tuple(np.quantile(of_unit, (0.05, 0.95))))


@pytest.mark.slow
def test_questions_asked_five_times_count_once_with_their_design_effect():
    pytest.importorskip("numpyro", reason="needs the extra: pip install 'confidence-tasks[bayes]'")
    tables = np.random.default_rng(0).integers(1, 20, (2, 3, 8))
    short = {"n_warmup": 150, "n_samples": 150, "n_chains": 1}
    once = hierarchical_meta_d(*tables, **short)
    repeated = hierarchical_meta_d(*(5 * tables), design_effect=5.0, **short)
    assert repeated.unit_m_ratio.draws == pytest.approx(once.unit_m_ratio.draws, rel=1e-6)


@pytest.mark.parametrize(
    ("effect", "message"), [(0.5, "at least 1"), ([1.0, np.nan, 2.0], "at least 1"), ([1.0, 2.0], "3 units")]
)
def test_a_design_effect_is_at_least_one_for_each_unit(effect, message):
    tables = np.full((2, 3, 8), 5.0)
    with pytest.raises(ValueError, match=message):
        hierarchical_meta_d(*tables, design_effect=effect)
