"""Statistics keep over many simulated studies what their pages promise, and agree with a peer on random tables."""

import math
from importlib.util import find_spec
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats
from tests.sizes import n_studies
from tests.unit.statistics.observers import meta_d_proportions, simulate_tables
from tests.unit.statistics.peers import load_fit_metad
from tests.unit.statistics.test_calibration_interval import sample as right_less_often
from tests.unit.statistics.test_information_interval import sample as evidence
from tests.unit.statistics.test_metad_trials import two_choice_trials
from tests.unit.statistics.weighted_means import mean, variance
from tests.unit.studies.test_fermieval_subject import sampled_ends

from confidence_tasks.statistics import (
    bootstrap,
    ece_interval,
    fit_meta_d,
    meta_d_2afc,
    meta_information,
    meta_information_interval,
)
from confidence_tasks.statistics.inference.tests import equivalence_test, permutation_test
from confidence_tasks.statistics.intervals import adjusted_interval

pytestmark = pytest.mark.slow


def test_intervals_of_a_skewed_mean_come_near_their_level():
    """Exponential, n = 40: 95% intervals cover 92.7% (6,000 simulations with other seeds)."""
    rng = np.random.default_rng(11)
    covered, size = [], n_studies(1_200)
    for _ in range(size):
        interval = bootstrap(mean, rng.exponential(size=40), n_resamples=1000, seed=rng)
        covered.append(interval.low <= 1.0 <= interval.high)
    assert np.mean(covered) == pytest.approx(0.927, abs=4 * np.sqrt(0.07 * 0.93 / size))


def test_clustered_intervals_cover_where_unclustered_ones_do_not():
    rng = np.random.default_rng(12)
    covered, size = {"clustered": 0, "rows": 0}, n_studies(600)
    labels = np.repeat(np.arange(60), 5)
    for _ in range(size):
        x = (rng.normal(size=(60, 5)) + rng.normal(size=(60, 1))).ravel()
        for kind, clusters in (("clustered", labels), ("rows", None)):
            interval = bootstrap(mean, x, clusters=clusters, n_resamples=800, seed=rng)
            covered[kind] += interval.low <= 0.0 <= interval.high
    assert covered["clustered"] / size == pytest.approx(0.945, abs=4 * np.sqrt(0.945 * 0.055 / size))
    assert covered["rows"] / size < 0.80


@pytest.mark.parametrize("statistic", [mean, variance])
def test_permutation_test_keeps_its_size(statistic):
    rng = np.random.default_rng(13)
    rejected, size = [], n_studies(1_500)
    for _ in range(size):
        shared = rng.exponential(size=(40, 1))
        first, second = (shared + rng.exponential(size=(40, 2))).T
        rejected.append(
            permutation_test(statistic, [first], [second], n_resamples=399, seed=rng).p_value <= 0.05
        )
    assert np.mean(rejected) == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / size))


def test_equivalence_test_keeps_its_size_at_the_margin():
    rng = np.random.default_rng(14)
    found, size = [], n_studies(1_200)
    for _ in range(size):
        first = rng.normal(size=80)
        second = first - 0.2 + rng.normal(0.0, 0.5, size=80)
        found.append(
            equivalence_test(mean, [first], [second], margin=0.2, n_resamples=800, seed=rng).equivalent
        )
    assert np.mean(found) == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / size))


@pytest.mark.parametrize("overconfidence", [0.0, 0.03, 0.1])
@pytest.mark.parametrize("how", [{}, {"bins": 20}, {"binning": "equal_mass"}], ids=str)
def test_the_interval_of_a_calibration_error_holds_the_truth(overconfidence, how):
    """400 studies of 150 questions."""
    found = []
    for seed in range(400):
        correct, confidence = right_less_often(150, seed, overconfidence)
        low, high = ece_interval(correct, confidence, **how)
        found.append(low <= overconfidence <= high)
    error = 4 * np.sqrt(0.95 * 0.05 / 400)
    assert 0.95 - error < np.mean(found) < 0.985


@pytest.mark.parametrize(
    ("distance", "accuracy"), [(0.0, 0.6), (0.3, 0.6), (1.4, 0.6), (1.4, 0.95), (1.4, 0.08)]
)
def test_the_interval_of_meta_information_holds_the_truth(distance, accuracy):
    """200 studies of 150 questions.

    No value lies below no information, which is missed on one side only.
    """
    n = 200_000
    correct = np.repeat([0.0, 1.0], [round(n * (1 - accuracy)), round(n * accuracy)])
    quantiles = np.concatenate(
        [stats.norm.ppf((np.arange(k) + 0.5) / k) for k in (int(n - correct.sum()), int(correct.sum()))]
    )
    truth = meta_information(correct, quantiles + distance * correct)
    found = []
    for seed in range(200):
        low, high = meta_information_interval(*evidence(150, seed, distance=distance, accuracy=accuracy))
        found += [] if math.isnan(low) else [low <= max(truth, 0.0) <= high]
    assert len(found) > 175
    error = 4 * np.sqrt(0.95 * 0.05 / 200)
    assert 0.95 - error < np.mean(found) < (0.99 if distance else 1.0 + 1e-9)


def test_intervals_of_meta_d_hold_the_truth():
    rng = np.random.default_rng(20240229)
    covered, size = 0, n_studies(300)
    for _ in range(size):
        trials = two_choice_trials(rng, 600)
        found = bootstrap(meta_d_2afc, *trials, n_resamples=500, seed=rng, level=0.9)
        covered += found.low <= 1.5 <= found.high
    assert covered / size == pytest.approx(0.9, abs=4 * np.sqrt(0.9 * 0.1 / size))


# d'=1.5, meta-d'=1.0, K=4, criteria +-(.4, .9, 1.4): mean and sd of the estimates.
@pytest.mark.parametrize(
    ("n", "mean", "sd"), [(200, 0.990, 0.294), (1000, 0.999, 0.132), (5000, 0.9997, 0.0593)]
)
def test_meta_d_is_recovered(n, mean, sd):
    rng = np.random.default_rng(20240229)
    size = 10_000
    fit = fit_meta_d(*simulate_tables(rng, n, meta_d_proportions(1.5, 1.0), size))
    assert fit.converged.all()
    # The figures are rounded, and themselves from a simulation.
    assert fit.meta_d.mean() == pytest.approx(mean, abs=4 * sd / np.sqrt(size) + 0.002)
    assert fit.meta_d.std() == pytest.approx(sd, rel=4 / np.sqrt(2 * size))


def test_padding_by_a_half_costs_what_is_said():
    rng = np.random.default_rng(20240229)
    tables = simulate_tables(rng, 200, meta_d_proportions(1.5, 1.5), 10_000)
    loss = fit_meta_d(*tables).meta_d.mean() - fit_meta_d(*tables, padding="hautus").meta_d.mean()
    assert 0.07 < loss < 0.14


@pytest.mark.skipif(find_spec("metadpy") is None, reason="the peer metadpy is not installed")
def test_matches_metadpy_on_random_tables_where_it_converges():
    rng = np.random.default_rng(20240229)
    peer, agreed = load_fit_metad(), 0
    for i in range(45):
        k = int(rng.integers(2, 6))
        d, s = rng.uniform(0.4, 2.5), (1.0 if i % 2 else float(np.exp(rng.normal(0, 0.25))))
        proportions = meta_d_proportions(
            d,
            d * rng.uniform(0.4, 1.4),
            criterion=rng.uniform(-0.6, 0.6),
            cuts=np.cumsum(rng.uniform(0.15, 0.6, k - 1)),
            s=s,
        )
        s1, s2 = (rng.multinomial(int(rng.integers(100, 1500)), p) + 0.5 / k for p in proportions)
        ours = fit_meta_d(s1, s2, padding="none", s=s, compat="metadpy")
        try:
            theirs = peer(s1, s2, k, s=s)
        except ZeroDivisionError:  # one table in twenty
            continue
        assert ours.d_prime == pytest.approx(theirs["dprime"], abs=1e-10)
        assert ours.log_likelihood >= theirs["logL"] - 1e-7
        if theirs["logL"] >= ours.log_likelihood - 1e-7:
            agreed += 1
            assert ours.meta_d == pytest.approx(theirs["meta_d"], abs=2e-5)
    assert agreed >= 37


@pytest.mark.parametrize("perception", [0.2, 0.65])
def test_the_error_of_the_adjusted_ends_is_as_large_as_proposition_1_says(perception):
    level, queries, repetitions = 0.8, 2_000, 400
    lower, upper = adjusted_interval(*sampled_ends(perception, level, queries, repetitions), level)
    tail, normal = (1.0 - level) / 2.0, NormalDist()
    scale = 1.0 / normal.pdf(normal.inv_cdf(tail))
    # F(L) is uniform on a stretch of length 1 - beta, where its density is 1 / (1 - beta): the variance of a quantile
    # has the square of 1 - beta. The paper prints 1 - beta, and a correlation of 1 between the two.
    expected = (1.0 - perception) * scale * math.sqrt(tail * (1.0 - tail) / queries)
    for ends, quantile in ((lower, tail), (upper, 1.0 - tail)):
        assert ends.mean() == pytest.approx(
            normal.inv_cdf(quantile), abs=4 * expected / math.sqrt(repetitions) + 0.002
        )
        assert ends.std() == pytest.approx(expected, rel=0.15)
    assert np.corrcoef(lower, upper)[0, 1] == pytest.approx(
        tail / (1.0 - tail), abs=4 / math.sqrt(repetitions)
    )
