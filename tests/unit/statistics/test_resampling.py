from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.unit.statistics.weighted_means import correlation, mean, mean_width, share_of_ones_known, variance

from confidence_tasks.statistics.core import Estimate, Reason, undefined
from confidence_tasks.statistics.inference import weights as _weights
from confidence_tasks.statistics.inference.limits import Resampled
from confidence_tasks.statistics.inference.resampling import (
    bootstrap,
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


def test_no_trials_give_nan_and_no_exception():
    def empty(x, *, weights):
        return undefined(Reason.EMPTY) if weights.ndim == 1 else np.full(len(weights), np.nan)

    interval = bootstrap(empty, [], n_resamples=10)
    assert interval.low.reason is Reason.EMPTY
    assert (interval.n_units, interval.n_undefined) == (0, 10)


def test_undefined_resamples_are_counted_and_left_out():
    x = np.array([1.0] + [0.0] * 9)
    interval = bootstrap(share_of_ones_known, x, n_resamples=4000)
    expected = 0.9**10
    assert interval.n_undefined / 4000 == pytest.approx(expected, abs=4 * np.sqrt(expected / 4000))
    assert interval.low == pytest.approx(0.1)


def test_a_constant_sample_has_an_interval_of_width_zero():
    interval = bootstrap(mean, np.full(20, 0.5), n_resamples=50)
    assert (interval.low, interval.high, interval.standard_error) == (0.5, 0.5, 0.0)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_an_infinite_estimate_says_so_in_place_of_limits():
    interval = bootstrap(mean_width, [1.0, 2.0, np.inf, np.inf], n_resamples=200)
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

    bootstrap_distribution(spy, np.arange(float(n_units)), n_resamples=n_resamples, **options)
    return np.concatenate(seen)


def test_a_generator_is_drawn_from_anew():
    x, seed = np.arange(20.0), np.random.default_rng(3)
    first, second = (bootstrap_distribution(mean, x, n_resamples=20, seed=seed) for _ in range(2))
    assert (first != second).any()


def test_equal_rows_reach_the_statistic_once_with_the_sum_of_their_weights():
    seen = []

    def spy(x, y, *, weights):
        seen.append((x.tolist(), y.tolist(), weights.sum(axis=1)))
        return weights[:, 0]

    bootstrap_distribution(spy, [2.0, 1.0, 2.0, 1.0], [1.0, 0.0, 1.0, 1.0], n_resamples=7)
    ((x, y, totals),) = seen
    assert sorted(zip(x, y, strict=True)) == [(1.0, 0.0), (1.0, 1.0), (2.0, 1.0)]
    np.testing.assert_array_equal(totals, 4.0)


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


@settings(max_examples=15)
@given(chunk=st.integers(1, 400), clustered=st.booleans(), most_kept=st.sampled_from([0, 1 << 25]))
def test_chunks_do_not_change_the_resamples(chunk, clustered, most_kept):
    x = np.random.default_rng(1).normal(size=24)
    options = {
        "clusters": np.arange(24) // 3 if clustered else None,
        "n_resamples": 50,
    }
    whole = bootstrap_distribution(mean, x, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_weights, "_BLOCK_ELEMENTS", chunk)
        patch.setattr(_weights, "_CACHED", chunk)
        patch.setattr(_weights, "_MOST_KEPT", most_kept)
        np.testing.assert_allclose(bootstrap_distribution(mean, x, **options), whole, rtol=1e-12)


# Correctness: intervals


def with_distribution_of(x, statistic, **options):
    return SimpleNamespace(bootstrap_distribution=bootstrap_distribution(statistic, x, **options))


@pytest.mark.parametrize(
    ("statistic", "peer"), [(mean, np.mean), (variance, np.var)], ids=["mean", "variance"]
)
def test_limits_are_those_of_scipy_on_the_same_resamples(rng, statistic, peer):
    x = rng.exponential(size=40)
    ours = bootstrap(statistic, x, n_resamples=999, level=0.9, seed=7)
    theirs = stats.bootstrap(
        (x,),
        peer,
        n_resamples=0,
        confidence_level=0.9,
        method="percentile",
        bootstrap_result=with_distribution_of(x, statistic, n_resamples=999, seed=7),
    )
    np.testing.assert_allclose((ours.low, ours.high), theirs.confidence_interval, rtol=1e-12)
    assert ours.standard_error == pytest.approx(theirs.standard_error, rel=1e-12)


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
    plain = bootstrap_difference(mean, [first], [second], n_resamples=200)
    labelled = bootstrap_difference(mean, [first], [second], questions=(labels, labels), n_resamples=200)
    assert labelled == plain


@pytest.mark.parametrize("method", ["wilson", "transformed"])
def test_a_difference_has_no_interval_of_what_lies_within_bounds(method):
    with pytest.raises(ValueError, match=f"method of a difference must be one of percentile.*{method}"):
        bootstrap_difference(mean, [[1.0, 0.0]], [[0.0, 0.0]], method=method)


def test_p_value_of_a_limit_is_its_level():
    values = stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    found = Resampled(Estimate(0.0), values, 50)
    for level in (0.02, 0.1, 0.5, 0.9, 0.95):
        low, high = found.limits(level, "percentile")
        assert found.p_below(high) - found.p_below(low) == pytest.approx(level, abs=1e-3)


# Invariance


@settings(max_examples=20)
@given(seed=st.integers(0, 1000))
def test_limits_move_and_scale_with_the_data(seed):
    x = np.random.default_rng(seed).gamma(2.0, size=25)
    plain = bootstrap(mean, x, n_resamples=200)
    moved = bootstrap(mean, 3.0 * x - 5.0, n_resamples=200)
    np.testing.assert_allclose((moved.low, moved.high), (3 * plain.low - 5, 3 * plain.high - 5), atol=1e-9)


def test_labels_of_any_kind_name_the_same_clusters(rng):
    x = rng.normal(size=12)
    numbers = np.arange(12) // 3
    names = np.array(["a", "b", "c", "d"], dtype=object)[numbers]
    by_number = bootstrap_distribution(mean, x, clusters=numbers, n_resamples=50)
    np.testing.assert_array_equal(bootstrap_distribution(mean, x, clusters=names, n_resamples=50), by_number)
