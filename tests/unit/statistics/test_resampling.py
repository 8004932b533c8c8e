from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.unit.statistics.weighted_means import correlation, mean, mean_width, share_of_ones_known, variance

from confidence_tasks.statistics.core import Estimate, Reason, undefined
from confidence_tasks.statistics.inference import units as _resampling
from confidence_tasks.statistics.inference.bootstrap import (
    bootstrap,
    bootstrap_counts,
    bootstrap_difference,
    bootstrap_distribution,
)


@pytest.fixture
def rng():
    return np.random.default_rng(20240229)


# Shapes


def test_distribution_has_one_value_per_resample(rng):
    assert bootstrap_distribution(mean, rng.normal(size=7), n_resamples=13).shape == (13,)


def test_every_array_reaches_the_statistic(rng):
    x, y = rng.normal(size=(2, 50))
    assert bootstrap(correlation, x, y, n_resamples=10).estimate == pytest.approx(np.corrcoef(x, y)[0, 1])


def test_a_million_trials_are_resampled_in_bounded_memory(rng):
    interval = bootstrap(mean, rng.random(1_000_000), n_resamples=20)
    assert interval.standard_error == pytest.approx(np.sqrt(1 / 12 / 1e6), rel=0.6)


def test_result_names_the_seed_and_none_for_a_generator():
    assert bootstrap(mean, [1.0, 2.0], n_resamples=5, seed=3).seed == 3
    assert bootstrap(mean, [1.0, 2.0], n_resamples=5, seed=np.random.default_rng(3)).seed is None


# Errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 0.0}, "level"),
        ({"level": 1.0}, "level"),
        ({"n_resamples": 0}, "n_resamples"),
        ({"method": "basic"}, "method"),
        ({"clusters": ["a", "b"]}, "clusters must have shape"),
        ({"clusters": [1.0, np.nan, 2.0]}, "missing labels"),
        ({"clusters": np.array(["a", None, "b"], dtype=object)}, "missing labels"),
        ({"clusters": ["a", "a", "b"], "strata": [0, 1, 1]}, "constant within a cluster"),
    ],
)
def test_options_outside_their_domain_raise(options, message):
    with pytest.raises(ValueError, match=message):
        bootstrap(mean, [1.0, 2.0, 3.0], **options)


@pytest.mark.parametrize("arrays", [[], [[[1.0]]], [[1.0, 2.0], [1.0]]])
def test_arrays_that_are_no_table_of_trials_raise(arrays):
    with pytest.raises(ValueError, match="array"):
        bootstrap(correlation, *arrays)


def test_a_statistic_without_a_value_per_resample_raises():
    with pytest.raises(ValueError, match="one value per row of weights"):
        bootstrap_distribution(lambda x, *, weights: (weights @ x).sum(), [1.0, 2.0])


@pytest.mark.parametrize("counts", [[-1, 2], [0.5, 2], [[1, 2]], [np.nan, 1]])
def test_tables_that_are_no_counts_raise(counts):
    with pytest.raises(ValueError, match="counts"):
        bootstrap_counts(lambda tables: tables[:, 0], counts)


# Degenerate samples


def test_one_unit_has_an_estimate_but_no_interval():
    interval = bootstrap(mean, [1.0, 3.0], clusters=["a", "a"], n_resamples=10)
    assert interval.estimate == 2.0
    assert interval.low.reason is Reason.TOO_FEW
    assert np.isnan(interval.high)
    assert np.isnan(interval.standard_error)


def test_undefined_estimate_hands_its_reason_to_the_limits():
    interval = bootstrap(share_of_ones_known, np.zeros(5), n_resamples=10)
    assert interval.estimate.reason is interval.low.reason is interval.high.reason is Reason.ONE_CLASS
    assert interval.n_undefined == 10


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_no_trials_give_nan_and_no_exception(method):
    def empty(x, *, weights):
        return undefined(Reason.EMPTY) if weights.ndim == 1 else np.full(len(weights), np.nan)

    interval = bootstrap(empty, [], n_resamples=10, method=method)
    assert interval.low.reason is Reason.EMPTY
    assert (interval.n_units, interval.n_undefined) == (0, 10)


def test_undefined_resamples_are_counted_and_left_out():
    x = np.array([1.0] + [0.0] * 9)
    interval = bootstrap(share_of_ones_known, x, n_resamples=4000)
    expected = 0.9**10
    assert interval.n_undefined / 4000 == pytest.approx(expected, abs=4 * np.sqrt(expected / 4000))
    assert interval.low == pytest.approx(0.1)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_a_constant_sample_has_an_interval_of_width_zero(method):
    interval = bootstrap(mean, np.full(20, 0.5), n_resamples=50, method=method)
    assert (interval.low, interval.high, interval.standard_error) == (0.5, 0.5, 0.0)


def test_bca_without_its_acceleration_says_so():
    interval = bootstrap(share_of_ones_known, [1.0, 0.0, 0.0, 0.0], n_resamples=99, method="bca")
    assert interval.low.reason is Reason.NOT_IDENTIFIED


def test_bca_of_an_estimate_above_every_resample_says_so():
    def distinct(x, *, weights):
        return (weights > 0).sum(axis=-1)

    interval = bootstrap(distinct, np.zeros(50), n_resamples=99, method="bca")
    assert interval.estimate == 50
    assert interval.high.reason is Reason.NOT_IDENTIFIED


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_an_infinite_estimate_says_so_in_place_of_limits(method):
    interval = bootstrap(mean_width, [1.0, 2.0, np.inf, np.inf], n_resamples=200, method=method)
    assert interval.estimate == np.inf
    assert (interval.low.reason, interval.high.reason) == (Reason.INFINITE, Reason.INFINITE)
    assert interval.n_undefined > 150


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_infinite_resamples_are_counted_and_left_out():
    widths = np.array([1.0, 2.0, 3.0, 4.0])

    def infinite_above_three(x, *, weights):
        means = mean(x, weights=weights)
        return np.where(means > 3.0, np.inf, means)

    interval = bootstrap(infinite_above_three, widths, n_resamples=500)
    assert 0 < interval.n_undefined < 500
    assert np.isfinite([interval.low, interval.high, interval.standard_error]).all()
    assert interval.high <= 3.0


# Correctness: the draws


def drawn(n_units, n_resamples=2000, **options):
    """Return the weights that the statistic sees."""
    seen = []

    def spy(x, *, weights):
        seen.append(weights.copy())
        return weights[:, 0]

    bootstrap_distribution(spy, np.zeros(n_units), n_resamples=n_resamples, **options)
    return np.concatenate(seen)


def test_counts_have_the_moments_of_a_multinomial():
    n, size = 6, 40_000
    counts = drawn(n, size)
    expected = np.full((n, n), -1 / n)
    np.fill_diagonal(expected, 1 - 1 / n)
    np.testing.assert_array_equal(counts.sum(axis=1), n)
    np.testing.assert_allclose(counts.mean(axis=0), 1.0, atol=5 / np.sqrt(size))
    np.testing.assert_allclose(np.cov(counts.T), expected, atol=8 / np.sqrt(size))


def test_all_resamples_of_three_units_are_equally_likely():
    counts = drawn(3, 27_000)
    _, observed = np.unique(counts, axis=0, return_counts=True)
    kinds = np.array([1, 3, 3, 1, 3, 6, 3, 3, 3, 1])  # orderings of (0,0,3), (0,1,2), ... as np.unique sorts
    assert stats.chisquare(observed, kinds * 1000.0).pvalue > 1e-3


def test_rows_of_a_cluster_are_drawn_together():
    counts = drawn(7, clusters=["b", "a", "b", "c", "a", "b", "c"])
    for rows in ([0, 2, 5], [1, 4], [3, 6]):
        assert (counts[:, rows] == counts[:, rows[:1]]).all()
    np.testing.assert_array_equal(counts[:, [0, 1, 3]].sum(axis=1), 3)


def test_units_are_drawn_from_their_own_stratum():
    strata = np.array([1, 0, 1, 2, 1, 0])
    counts = drawn(6, strata=strata)
    for stratum in range(3):
        np.testing.assert_array_equal(counts[:, strata == stratum].sum(axis=1), (strata == stratum).sum())
    np.testing.assert_allclose(counts.mean(axis=0), 1.0, atol=0.12)


def test_clusters_are_drawn_from_their_own_stratum():
    clusters = np.array(["a", "a", "b", "c", "d", "d"])
    strata = np.array(["x", "x", "x", "y", "y", "y"])
    counts = drawn(6, clusters=clusters, strata=strata)
    np.testing.assert_array_equal(counts[:, [0, 2]].sum(axis=1), 2)
    np.testing.assert_array_equal(counts[:, [3, 4]].sum(axis=1), 2)


@settings(max_examples=15, deadline=None)
@given(chunk=st.integers(1, 400), clustered=st.booleans(), stratified=st.booleans())
def test_chunks_do_not_change_the_resamples(chunk, clustered, stratified):
    x = np.random.default_rng(1).normal(size=24)
    options = {
        "clusters": np.arange(24) // 3 if clustered else None,
        "strata": np.arange(24) // 12 if stratified else None,
        "n_resamples": 50,
    }
    whole = bootstrap_distribution(mean, x, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_resampling, "_CHUNK_ELEMENTS", chunk)
        np.testing.assert_allclose(bootstrap_distribution(mean, x, **options), whole, rtol=1e-14)


# Correctness: intervals


def with_distribution_of(x, statistic, **options):
    return SimpleNamespace(bootstrap_distribution=bootstrap_distribution(statistic, x, **options))


@pytest.mark.parametrize("scipy_method", ["percentile", "BCa"])
@pytest.mark.parametrize(
    ("statistic", "peer"), [(mean, np.mean), (variance, np.var)], ids=["mean", "variance"]
)
def test_limits_are_those_of_scipy_on_the_same_resamples(rng, scipy_method, statistic, peer):
    x = rng.exponential(size=40)
    ours = bootstrap(statistic, x, n_resamples=999, level=0.9, method=scipy_method.lower(), seed=7)
    theirs = stats.bootstrap(
        (x,),
        peer,
        n_resamples=0,
        confidence_level=0.9,
        method=scipy_method,
        bootstrap_result=with_distribution_of(x, statistic, n_resamples=999, seed=7),
    )
    np.testing.assert_allclose((ours.low, ours.high), theirs.confidence_interval, rtol=1e-12)
    assert ours.standard_error == pytest.approx(theirs.standard_error, rel=1e-12)


def test_bca_counts_ties_with_the_estimate_by_half():
    # A median-like lattice: scipy's mean percentile-of-score is the same convention.
    x = np.repeat([0.0, 1.0], [30, 10])
    ours = bootstrap(mean, x, n_resamples=999, method="bca", seed=1)
    theirs = stats.bootstrap(
        (x,),
        np.mean,
        n_resamples=0,
        method="BCa",
        bootstrap_result=with_distribution_of(x, mean, n_resamples=999, seed=1),
    )
    np.testing.assert_allclose((ours.low, ours.high), theirs.confidence_interval, rtol=1e-12)


def test_standard_error_of_a_mean_is_that_of_the_formula(rng):
    x = rng.normal(size=60)
    expected = x.std() / np.sqrt(60)
    assert bootstrap(mean, x).standard_error == pytest.approx(expected, rel=0.03)


def test_standard_error_over_clusters_is_that_of_their_means(rng):
    x = rng.normal(size=(50, 4)) + 2 * rng.normal(size=(50, 1))
    expected = x.mean(axis=1).std() / np.sqrt(50)
    clustered = bootstrap(mean, x.ravel(), clusters=np.repeat(np.arange(50), 4))
    assert clustered.standard_error == pytest.approx(expected, rel=0.03)
    assert clustered.n_units == 50
    assert bootstrap(mean, x.ravel()).standard_error < 0.7 * expected


def test_standard_error_within_strata_leaves_their_difference_out(rng):
    strata = np.repeat([0, 1, 2], [20, 30, 50])
    x = rng.normal(size=100) + 10.0 * strata
    by_stratum = [x[strata == s] for s in range(3)]
    expected = np.sqrt(sum(len(part) * part.var() for part in by_stratum)) / 100
    assert bootstrap(mean, x, strata=strata).standard_error == pytest.approx(expected, rel=0.03)


def test_standard_error_of_a_paired_contrast_is_that_of_the_differences(rng):
    shared = rng.normal(size=80)
    first, second = shared + 0.3 * rng.normal(size=(2, 80))
    interval = bootstrap_difference(mean, [first], [second])
    assert interval.estimate == pytest.approx((first - second).mean())
    assert interval.standard_error == pytest.approx((first - second).std() / np.sqrt(80), rel=0.03)


def test_contrast_uses_the_common_questions_whatever_their_order_and_number():
    first = ([9.0, 1.0, 2.0, 4.0], ["only", "q1", "q2", "q2"])
    second = ([5.0, 7.0, 100.0], ["q2", "q1", "other"])
    interval = bootstrap_difference(
        mean, [first[0]], [second[0]], questions=(first[1], second[1]), n_resamples=500
    )
    assert interval.estimate == pytest.approx((1 + 2 + 4) / 3 - (5 + 7) / 2)
    assert interval.n_units == 2
    # q1 twice: 1 - 7; q2 twice: 3 - 5.
    assert (interval.low, interval.high) == pytest.approx((-6.0, -2.0))


def test_paired_labels_in_row_order_change_nothing(rng):
    first, second = rng.normal(size=(2, 15))
    labels = np.arange(15)
    for method in ("percentile", "bca"):
        plain = bootstrap_difference(mean, [first], [second], n_resamples=200, method=method)
        labelled = bootstrap_difference(
            mean, [first], [second], questions=(labels, labels), n_resamples=200, method=method
        )
        assert labelled == plain


@pytest.mark.parametrize("method", ["wilson", "largest", "logit", "log"])
def test_a_difference_has_no_interval_of_what_lies_within_bounds(method):
    with pytest.raises(ValueError, match=f"method of a difference must be one of percentile.*{method}"):
        bootstrap_difference(mean, [[1.0, 0.0]], [[0.0, 0.0]], method=method)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_resampled_counts_are_resampled_trials(method):
    counts = [60, 25, 15]

    def second_moment(tables):
        return tables @ np.array([0.0, 1.0, 4.0]) / tables.sum(axis=1)

    trials = np.repeat([0.0, 1.0, 2.0], counts)
    of_counts = bootstrap_counts(second_moment, counts, n_resamples=40_000, method=method)
    of_trials = bootstrap(
        lambda x, *, weights: mean(x**2, weights=weights), trials, n_resamples=40_000, method=method
    )
    assert of_counts.estimate == of_trials.estimate
    assert of_counts.n_units == 100
    assert of_counts.standard_error == pytest.approx(of_trials.standard_error, rel=0.02)
    np.testing.assert_allclose(
        (of_counts.low, of_counts.high), (of_trials.low, of_trials.high), atol=0.1 * of_trials.standard_error
    )


def test_acceleration_of_a_table_is_that_of_its_trials():
    left_out, counts = np.array([0.3, 0.5, 0.9]), np.array([7, 4, 2])
    strata = np.zeros(3, dtype=int)
    of_cells = _resampling.acceleration(left_out, strata, counts.astype(float))
    repeated = np.repeat(left_out, counts)
    of_trials = _resampling.acceleration(repeated, np.zeros(13, dtype=int), np.ones(13))
    assert of_cells == pytest.approx(of_trials, rel=1e-12)


@pytest.mark.parametrize(("bias", "acceleration"), [(0.0, 0.0), (0.3, 0.0), (0.0, 0.1), (-0.2, 0.15)])
def test_p_value_of_a_limit_is_its_level(bias, acceleration):
    values = stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    found = _resampling.Resampled(Estimate(0.0), values, 50, bias, acceleration)
    for level in (0.01, 0.05, 0.5, 0.9, 0.975):
        assert found.p_below(found.limit(level)) == pytest.approx(level, abs=1e-3)


# Invariance


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), method=st.sampled_from(["percentile", "bca"]))
def test_limits_move_and_scale_with_the_data(seed, method):
    x = np.random.default_rng(seed).gamma(2.0, size=25)
    plain = bootstrap(mean, x, n_resamples=200, method=method)
    moved = bootstrap(mean, 3.0 * x - 5.0, n_resamples=200, method=method)
    np.testing.assert_allclose((moved.low, moved.high), (3 * plain.low - 5, 3 * plain.high - 5), atol=1e-9)


def test_labels_of_any_kind_name_the_same_clusters(rng):
    x = rng.normal(size=12)
    numbers = np.arange(12) // 3
    names = np.array(["a", "b", "c", "d"], dtype=object)[numbers]
    by_number = bootstrap_distribution(mean, x, clusters=numbers, n_resamples=50)
    np.testing.assert_array_equal(bootstrap_distribution(mean, x, clusters=names, n_resamples=50), by_number)


# Statistical promises


@pytest.mark.slow
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_intervals_of_a_skewed_mean_come_near_their_level(method):
    """Exponential, n = 40: 95% intervals cover 92.7% by either method (6,000 simulations with other seeds)."""
    rng = np.random.default_rng(11)
    covered = []
    for _ in range(1500):
        interval = bootstrap(mean, rng.exponential(size=40), n_resamples=1000, method=method, seed=rng)
        covered.append(interval.low <= 1.0 <= interval.high)
    assert np.mean(covered) == pytest.approx(0.927, abs=4 * np.sqrt(0.07 * 0.93 / 1500))


@pytest.mark.slow
def test_clustered_intervals_cover_where_unclustered_ones_do_not():
    rng = np.random.default_rng(12)
    covered = {"clustered": 0, "rows": 0}
    labels = np.repeat(np.arange(60), 5)
    for _ in range(800):
        x = (rng.normal(size=(60, 5)) + rng.normal(size=(60, 1))).ravel()
        for kind, clusters in (("clustered", labels), ("rows", None)):
            interval = bootstrap(mean, x, clusters=clusters, n_resamples=800, seed=rng)
            covered[kind] += interval.low <= 0.0 <= interval.high
    assert 0.92 < covered["clustered"] / 800 < 0.97
    assert covered["rows"] / 800 < 0.80
