import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import ndtr, ndtri
from scipy.stats import norm

from confidence_tasks.statistics import Reason, fit_meta_d, m_ratio_threshold, meta_d_threshold
from confidence_tasks.statistics.sdt import (
    fit_meta_d_threshold,
    threshold_incomparable,
    threshold_influence,
    threshold_table,
)

tables = arrays(np.float64, (2, 2), elements=st.integers(0, 60).map(float))


@pytest.fixture
def rng():
    return np.random.default_rng(20240229)


def from_rates(hit_rate, false_alarm_rate):
    return [[1 - false_alarm_rate, false_alarm_rate], [1 - hit_rate, hit_rate]]


def ideal_table(m, tau):
    """Proportions of an unbiased observer with two choices whose confidence is high beyond tau."""
    right, right_high, wrong_high = ndtr(m / 2), ndtr(m / 2 - tau), ndtr(-m / 2 - tau)
    return [[ndtr(-m / 2) - wrong_high, wrong_high], [right - right_high, right_high]]


# Shapes


def test_a_batch_solves_each_of_its_tables(rng):
    batch = rng.integers(0, 30, (50, 2, 2))
    solved = fit_meta_d_threshold(batch)
    for i, table in enumerate(batch):
        one = fit_meta_d_threshold(table)
        for name in ("d_prime", "meta_d", "m_ratio", "meta_d_se", "accuracy", "hit_rate2"):
            assert getattr(solved, name)[i] == pytest.approx(getattr(one, name), rel=1e-10, nan_ok=True), name


def test_weights_give_a_value_per_row(rng):
    correct, confidence = rng.integers(0, 2, 30), rng.random(30)
    weights = rng.integers(0, 3, (7, 30))
    values = meta_d_threshold(correct, confidence, 0.5, weights=weights)
    assert values.shape == (7,)
    for value, row in zip(values, weights, strict=True):
        again = np.repeat(correct, row), np.repeat(confidence, row)
        assert value == pytest.approx(meta_d_threshold(*again, 0.5), abs=1e-12)
        ratio = m_ratio_threshold(correct, confidence, 0.5, weights=row)
        assert ratio == pytest.approx(m_ratio_threshold(*again, 0.5), abs=1e-12, nan_ok=True)


# Errors and degenerate input


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ([1, 2, 3, 4], {}, "shape"),
        ([[1, 2, 3], [1, 2, 3]], {}, "shape"),
        ([[1, -1], [1, 1]], {}, "non-negative"),
        ([[1, np.nan], [1, 1]], {}, "finite"),
        ([[1, 1], [1, 1]], {"padding": "much"}, "padding"),
    ],
)
def test_invalid_tables_and_options_raise(table, options, message):
    with pytest.raises(ValueError, match=message):
        fit_meta_d_threshold(table, **options)


@pytest.mark.parametrize(
    ("correct", "confidence"),
    [
        ([1, 0], [0.5]),
        ([1, 0.5], [0.5, 0.5]),
        ([1, 0], [0.5, 1.1]),
        ([1, 0], [0.5, np.nan]),
        ([[1]], [[0.5]]),
    ],
)
def test_invalid_trials_raise(correct, confidence):
    with pytest.raises(ValueError, match=r"correct|confidence|lengths"):
        meta_d_threshold(correct, confidence)


@pytest.mark.parametrize(
    ("table", "padding", "reason"),
    [
        ([[0, 0], [0, 0]], "1/2K", Reason.EMPTY),
        ([[0, 0], [3, 2]], "1/2K", Reason.ONE_CLASS),
        ([[2, 3], [0, 0]], "none", Reason.ONE_CLASS),
        ([[5, 0], [9, 0]], "1/2K", Reason.ONE_SIDE),
        ([[0, 5], [0, 9]], "1/2K", Reason.ONE_SIDE),
        ([[5, 0], [0, 9]], "none", Reason.NOT_IDENTIFIED),
        ([[5, 5], [0, 9]], "none", Reason.NOT_IDENTIFIED),
    ],
)
def test_missing_meta_d_has_a_reason(table, padding, reason):
    result = fit_meta_d_threshold(table, padding=padding)
    assert result.meta_d.reason is reason
    assert result.m_ratio.reason is reason
    assert result.unstable


def test_no_trials_and_one_trial():
    assert meta_d_threshold([], []).reason is Reason.EMPTY
    assert meta_d_threshold([1], [1.0]).reason is Reason.ONE_CLASS


def test_chance_accuracy_has_meta_d_but_no_ratio():
    result = fit_meta_d_threshold([[30, 20], [10, 40]])
    assert result.meta_d > 1
    assert result.m_ratio.reason is Reason.ZERO_D_PRIME


@given(tables, st.sampled_from(["1/2K", "hautus", "none"]))
def test_any_counts_give_a_number_or_a_reason(table, padding):
    result = fit_meta_d_threshold(table, padding=padding)
    for name in ("d_prime", "meta_d", "m_ratio", "m_diff", "accuracy"):
        value = getattr(result, name)
        assert np.isfinite(value) or value.reason is not None


def test_a_million_trials(rng):
    correct = rng.integers(0, 2, 1_000_000)
    confidence = ndtr(correct + rng.normal(size=1_000_000))
    assert meta_d_threshold(correct, confidence, 0.5) > 1


# Correctness


@pytest.mark.parametrize(
    ("hit_rate", "false_alarm_rate", "meta_d"),
    [(0.9, 0.5, 2.4176), (0.8, 0.3, 2.3115), (0.5, 0.1, 1.9028), (0.4, 0.4, 0.0)],
)
def test_matches_the_reference(hit_rate, false_alarm_rate, meta_d):
    result = fit_meta_d_threshold(from_rates(hit_rate, false_alarm_rate), padding="none")
    assert result.meta_d == pytest.approx(meta_d, abs=5e-5)


@pytest.mark.parametrize(
    ("hit_rate", "false_alarm_rate"),
    [(0.9, 0.5), (0.999999, 1e-6), (1e-6, 1e-9), (0.51, 0.5), (0.02, 0.9), (1 - 1e-9, 0.9999)],
)
def test_the_root_is_a_root_to_thirty_digits(hit_rate, false_alarm_rate):
    fitted = fit_meta_d_threshold(from_rates(hit_rate, false_alarm_rate), padding="none").meta_d
    with mpmath.workdps(30):

        def z(p):
            return mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1)

        def equation(m):
            return z(hit_rate * mpmath.ncdf(m / 2)) - z(false_alarm_rate * mpmath.ncdf(-m / 2)) - m

        exact = mpmath.findroot(equation, float(fitted))
        assert fitted == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("m", [-1.5, 0.05, 0.5, 1.0, 2.0, 4.0, 6.0])
@pytest.mark.parametrize("tau", [0.1, 0.7, 1.5, 2.5])
def test_an_ideal_observer_has_ratio_one_at_any_threshold(m, tau):
    result = fit_meta_d_threshold(ideal_table(m, tau), padding="none")
    assert result.meta_d == pytest.approx(m, abs=1e-9)
    assert result.m_ratio == pytest.approx(1.0, abs=1e-9 / abs(m) + 1e-12)


def test_it_is_the_fit_of_the_unfolded_table():
    """Two ratings a side, no bias: folding loses nothing, padding included."""
    wrong_low, wrong_high, right_low, right_high = 30.0, 12.0, 40.0, 60.0
    s1 = np.array([right_high, right_low, wrong_low, wrong_high]) / 2
    full = fit_meta_d(s1, s1[::-1])
    folded = fit_meta_d_threshold([[wrong_low, wrong_high], [right_low, right_high]])
    assert folded.meta_d == pytest.approx(full.meta_d, abs=1e-9)
    assert folded.d_prime == pytest.approx(full.d_prime, abs=1e-12)
    assert folded.d_prime_se == pytest.approx(full.d_prime_se, rel=1e-9)
    assert folded.meta_d_se == pytest.approx(full.meta_d_se, rel=1e-6)


def test_both_conventions_add_a_half_to_each_cell():
    for padding in ("1/2K", "hautus"):
        padded = fit_meta_d_threshold([[3, 2], [4, 8]], padding=padding)
        assert padded.meta_d == fit_meta_d_threshold([[3.5, 2.5], [4.5, 8.5]], padding="none").meta_d
        assert padded.accuracy == 13 / 19
        assert padded.d_prime == pytest.approx(2 * ndtri(13 / 19), rel=1e-12)


@pytest.mark.parametrize(
    ("threshold", "n", "ratio"), [(0.9, 100, 0.99), (0.9, 200, 1.0), (0.95, 100, 0.79), (0.95, 200, 0.9)]
)
def test_padding_decreases_the_ratio_of_an_ideal_observer(threshold, n, ratio):
    rng, d_prime = np.random.default_rng(5), 1.5
    toward_truth = rng.normal(d_prime / 2, 1.0, (2_000, n))
    sure = 1.0 / (1.0 + np.exp(-d_prime * np.abs(toward_truth))) > threshold
    cells = 2 * (toward_truth > 0) + sure
    tables = np.stack([(cells == cell).sum(axis=1) for cell in range(4)], axis=1).reshape(-1, 2, 2)
    fitted = fit_meta_d_threshold(tables.astype(float), padding="hautus").m_ratio
    assert np.nanmean(fitted) == pytest.approx(ratio, abs=0.04)


def test_confidence_is_high_strictly_above_the_threshold():
    assert np.array_equal(threshold_table([1, 1, 0, 0], [0.9, 0.91, 0.9, 1.0], 0.9), [[1, 1], [1, 1]])
    assert np.array_equal(threshold_table([1, 1], [0.95, 0.96], 0.95), [[0, 0], [1, 1]])


@pytest.mark.parametrize("measure", [meta_d_threshold, m_ratio_threshold])
def test_resamples_are_fitted_like_their_tables_and_can_be_changed(rng, measure):
    correct, confidence = rng.integers(0, 2, 60), rng.random(60)
    weights = rng.multinomial(60, np.full(60, 1 / 60), size=20).astype(float)
    fit = fit_meta_d_threshold(threshold_table(correct, confidence, 0.5, weights=weights))
    for _ in range(2):
        values = measure(correct, confidence, threshold=0.5, weights=weights)
        np.testing.assert_array_equal(values, fit.meta_d if measure is meta_d_threshold else fit.m_ratio)
        values[:] = 0.0


def test_standard_errors_are_those_of_simulated_tables(rng):
    simulated = rng.multinomial(800, [0.15, 0.10, 0.15, 0.60], size=20_000).reshape(-1, 2, 2)
    result = fit_meta_d_threshold(simulated)
    for name in ("d_prime", "meta_d", "m_ratio", "m_diff"):
        assert getattr(result, name).std() == pytest.approx(getattr(result, f"{name}_se").mean(), rel=0.04), (
            name
        )


# Invariance


@given(tables)
def test_exchanging_wrong_and_right_changes_every_sign(table):
    plain, turned = fit_meta_d_threshold(table), fit_meta_d_threshold(table[::-1])
    assert plain.meta_d == pytest.approx(-turned.meta_d, abs=1e-9, nan_ok=True)
    assert plain.d_prime == pytest.approx(-turned.d_prime, abs=1e-12, nan_ok=True)


@given(tables, st.floats(0.5, 100))
def test_only_proportions_count(table, factor):
    one = fit_meta_d_threshold(table, padding="none").meta_d
    assert one == pytest.approx(
        fit_meta_d_threshold(factor * table, padding="none").meta_d, abs=1e-8, nan_ok=True
    )


def test_meta_d_grows_with_the_hit_rate_and_falls_with_the_false_alarm_rate():
    rates = np.linspace(0.05, 0.95, 19)
    for fixed in (0.1, 0.5, 0.9):
        up = fit_meta_d_threshold([from_rates(rate, fixed) for rate in rates], padding="none").meta_d
        down = fit_meta_d_threshold([from_rates(fixed, rate) for rate in rates], padding="none").meta_d
        assert (np.diff(up) > 0).all()
        assert (np.diff(down) < 0).all()


@pytest.mark.parametrize("quantity", ["meta_d", "m_ratio"])
@pytest.mark.parametrize("padding", ["none", "hautus"])
@pytest.mark.parametrize("table", [[[30, 12], [40, 70]], [[20, 25], [60, 30]]])
def test_influence_of_a_trial_is_its_derivative(quantity, padding, table):
    correct = np.array([0.0, 0.0, 1.0, 1.0])
    confidence = np.array([0.5, 0.95, 0.5, 0.95])
    counts = np.array(table, dtype=float).ravel()
    step = 1e-4

    def value(cells):
        return float(getattr(fit_meta_d_threshold(cells.reshape(2, 2), padding=padding), quantity))

    slopes = np.array(
        [(value(counts + step * one) - value(counts - step * one)) / (2 * step) for one in np.eye(4)]
    )
    influence, added = threshold_influence(
        correct, confidence, quantity=quantity, padding=padding, weights=counts[None]
    )
    np.testing.assert_allclose(influence[0], slopes - counts @ slopes / counts.sum(), rtol=1e-5, atol=1e-8)
    assert added[0] == pytest.approx(0.5 * np.square(slopes).sum(), rel=1e-5)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([[30, 12], [40, 70]], None),
        ([[30, 0], [40, 70]], None),  # by chance none, where several are expected
        ([[40, 2], [38, 20]], Reason.UNSTABLE),  # right as often as a coin
        ([[9, 1], [985, 5]], Reason.EMPTY_CELL),  # hardly ever as sure, and hardly ever wrong
        ([[0, 0], [30, 70]], Reason.ONE_CLASS),
        ([[30, 0], [70, 0]], Reason.ONE_SIDE),
    ],
)
def test_differences_are_withheld_by_the_expected_count(table, reason):
    counts = np.array(table, dtype=float).ravel()
    correct, confidence = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.5, 0.95, 0.5, 0.95])
    assert threshold_incomparable(correct, confidence, weights=counts) is reason


def test_the_expected_count_is_that_of_an_ideal_observer():
    """Of 500 answers at d' = 2, as many as pass a criterion: the counts are those of two normal distributions."""
    for criterion, empty in ((2.2, True), (1.5, False)):
        sure_and_wrong = 500 * norm.sf(criterion + 1.0)
        assert (sure_and_wrong < 0.5) == empty
        cells = 500 * np.array([norm.sf(1.0), norm.cdf(1.0)])
        sure = np.array([sure_and_wrong, 500 * norm.sf(criterion - 1.0)])
        counts = np.stack([cells - sure, sure], axis=1).ravel()
        reason = threshold_incomparable([0, 0, 1, 1], [0.5, 0.95, 0.5, 0.95], weights=counts)
        assert reason is (Reason.EMPTY_CELL if empty else None)
