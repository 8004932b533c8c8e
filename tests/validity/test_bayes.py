"""Hierarchical meta-d' recovers the population that units were drawn from."""

import numpy as np
import pytest
from scipy.stats import norm
from tests.unit.statistics.test_bayes import cell_probabilities

from confidence_tasks.statistics.sdt import hierarchical_meta_d

pytestmark = pytest.mark.slow


def simulated_units(m_ratio, trials, rng):
    """Count tables of one unit per M-ratio, with d' and criterion of its own."""
    tables = [
        rng.multinomial(trials // 2, cell_probabilities(rng.normal(1.5, 0.3), rng.normal(0, 0.2), m))
        for m in m_ratio
    ]
    return np.moveaxis(np.array(tables), 1, 0)


def population(units):
    """M-ratios whose logarithms are the quantiles of a normal distribution of mean log 0.8 and spread 0.3."""
    return np.exp(np.log(0.8) + 0.3 * norm.ppf((np.arange(units) + 0.5) / units))


def assert_recovered(found, m_ratio):
    assert found.n_divergent < 10
    assert found.r_hat < 1.1
    assert found.log_m_mean.low < np.log(0.8) < found.log_m_mean.high
    assert found.log_m_spread.low < 0.3 < found.log_m_spread.high
    assert found.log_m_mean.standard_deviation < 0.15
    held = (found.unit_m_ratio.low < m_ratio) & (m_ratio < found.unit_m_ratio.high)
    assert held.mean() > 0.8
    assert np.corrcoef(found.unit_m_ratio.mean, m_ratio)[0, 1] > 0.7
    np.testing.assert_allclose(found.m_ratio.draws, np.exp(found.log_m_mean.draws))


SHORT = {"n_warmup": 250, "n_samples": 400, "n_chains": 1, "level": 0.99}


def test_group_is_recovered_from_two_alternatives():
    pytest.importorskip("numpyro", reason="needs the extra: pip install 'confidence-tasks[bayes]'")
    m_ratio = population(12)
    tables = simulated_units(m_ratio, 1000, np.random.default_rng(1))
    assert_recovered(hierarchical_meta_d(*tables, **SHORT), m_ratio)
