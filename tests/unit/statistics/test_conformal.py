import math
from collections import Counter
from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from crepes import ConformalRegressor
from hypothesis import given
from hypothesis import strategies as st
from mapie.regression import ConformalizedQuantileRegressor
from scipy import stats

from confidence_tasks.statistics import coverage
from confidence_tasks.statistics.intervals import fit_conformal, jackknife_conformal

LEVELS = [0.5, 0.8, 0.9, 0.95]


def conformal_rank(n, nominal):
    """Return the rank of the score that guarantees a coverage, above n if n is too small."""
    return ceil(Fraction(str(nominal)) * (n + 1))


def stated(n, seed=0):
    """Draw overconfident intervals of different widths around wrong guesses."""
    rng = np.random.default_rng(seed)
    guess, width = rng.normal(0.0, 5.0, n), rng.exponential(2.0, n)
    return guess + rng.normal(0.5, 1.0 + width), guess - width / 2, guess + width / 2


class Column:
    """A quantile regressor for MAPIE that returns a column of its input."""

    def __init__(self, column):
        self.column = column
        self.fitted_ = True

    def fit(self, x, y):
        return self

    def predict(self, x):
        return x[:, self.column]


# Errors


@pytest.mark.parametrize(
    ("truth", "lower", "upper"),
    [
        ([1.0], [0.0, 1.0], [2.0, 3.0]),
        ([1.0], [2.0], [0.0]),
        ([np.nan], [0.0], [2.0]),
        ([1.0], [-np.inf], [2.0]),
        ([[1.0]], [[0.0]], [[2.0]]),
    ],
)
def test_invalid_intervals_raise(truth, lower, upper):
    with pytest.raises(ValueError):
        jackknife_conformal(truth, lower, upper, 0.9)
    with pytest.raises(ValueError):
        fit_conformal(truth, lower, upper, 0.9)


@pytest.mark.parametrize("nominal", [0.0, 1.0, 95, np.nan])
def test_nominal_coverage_outside_its_domain_raises(nominal):
    with pytest.raises(ValueError, match="nominal"):
        fit_conformal(*stated(10), nominal)


@pytest.mark.parametrize("floor", [0.0, -1.0, np.inf, np.nan])
def test_width_floor_outside_its_domain_raises(floor):
    with pytest.raises(ValueError, match="width_floor"):
        fit_conformal(*stated(10), 0.9, normalized=True, width_floor=floor)


# Degenerate samples


@pytest.mark.parametrize(("n", "nominal"), [(0, 0.5), (8, 0.9), (50, 0.99), (498, 0.998)])
@pytest.mark.parametrize("options", [{}, {"asymmetric": True}, {"normalized": True}])
def test_too_few_questions_give_an_infinite_interval(n, nominal, options):
    adjustment = fit_conformal(*stated(n), nominal, **options)
    assert not adjustment.finite
    assert adjustment.rank > n
    lower, upper = adjustment.apply([1.0], [2.0])
    assert (lower[0], upper[0]) == (-np.inf, np.inf)


@pytest.mark.parametrize(("n", "nominal"), [(1, 0.5), (9, 0.9), (99, 0.99), (499, 0.998), (500, 0.998)])
def test_just_enough_questions_give_a_finite_interval(n, nominal):
    assert fit_conformal(*stated(n), nominal).finite


def test_ends_that_would_cross_are_set_to_their_midpoint():
    adjustment = fit_conformal([0.0] * 9, [-10.0] * 9, [10.0] * 9, 0.9)
    assert adjustment.above == -10.0
    lower, upper = adjustment.apply([0.0, 0.0], [6.0, 30.0])
    np.testing.assert_array_equal(lower, [3.0, 10.0])
    np.testing.assert_array_equal(upper, [3.0, 20.0])


# Correctness


@given(st.integers(0, 1000), st.integers(1, 999))
def test_rank_is_exact_for_the_decimal_that_was_written(n, thousandths):
    expected = -(-thousandths * (n + 1) // 1000)
    assert fit_conformal(*stated(n), thousandths / 1000).rank == expected


@pytest.mark.parametrize("nominal", LEVELS)
def test_point_guesses_are_adjusted_as_by_crepes(nominal):
    truth, lower, upper = stated(100)
    guess, new = (lower + upper) / 2, np.array([-3.0, 0.0, 8.0])
    result = fit_conformal(truth, guess, guess, nominal).apply(new, new)
    peer = ConformalRegressor().fit(truth - guess).predict_int(new, confidence=nominal)
    np.testing.assert_allclose(np.transpose(result), peer, rtol=1e-12)


@pytest.mark.parametrize("nominal", LEVELS)
def test_normalized_intervals_are_those_of_crepes(nominal):
    """Both end up at the guess, plus and minus the width times a quantile of error over width."""
    truth, lower, upper = stated(100)
    new_lower, new_upper = np.array([-1.0, 0.0, 2.0]), np.array([1.0, 0.3, 7.0])
    adjustment = fit_conformal(truth, lower, upper, nominal, normalized=True, width_floor=1e-9)
    peer = ConformalRegressor().fit(truth - (lower + upper) / 2, sigmas=upper - lower)
    expected = peer.predict_int((new_lower + new_upper) / 2, sigmas=new_upper - new_lower, confidence=nominal)
    np.testing.assert_allclose(np.transpose(adjustment.apply(new_lower, new_upper)), expected, rtol=1e-9)


def quantile_peer(truth, lower, upper, nominal):
    peer = ConformalizedQuantileRegressor(
        [Column(0), Column(1), Column(2)], confidence_level=nominal, prefit=True
    )
    return peer.conformalize(np.column_stack([lower, upper, (lower + upper) / 2]), truth)


@pytest.mark.parametrize("nominal", LEVELS)
@pytest.mark.parametrize("asymmetric", [False, True])
def test_intervals_are_those_of_mapie(nominal, asymmetric):
    truth, lower, upper = stated(120)
    new = np.array([[-1.0, 1.0], [0.0, 4.0], [2.0, 7.0]])
    result = fit_conformal(truth, lower, upper, nominal, asymmetric=asymmetric).apply(*new.T)
    peer = quantile_peer(truth, lower, upper, nominal)
    _, expected = peer.predict_interval(
        np.column_stack([new, new.mean(axis=1)]), symmetric_correction=not asymmetric
    )
    np.testing.assert_allclose(np.transpose(result), expected[:, :, 0], rtol=1e-12)


@pytest.mark.parametrize("nominal", [*LEVELS, 0.998])
@pytest.mark.parametrize("decimals", [0, 12], ids=["ties", "no ties"])
def test_each_question_of_the_jackknife_is_adjusted_by_split_conformal_of_the_others(nominal, decimals):
    truth, lower, upper = (np.round(column, decimals) for column in stated(60))
    result = np.transpose(jackknife_conformal(truth, lower, upper, nominal))
    for i in range(60):
        others = np.arange(60) != i
        split = fit_conformal(truth[others], lower[others], upper[others], nominal)
        np.testing.assert_array_equal(np.ravel(split.apply(lower[[i]], upper[[i]])), result[i])


@pytest.mark.parametrize("n", [0, 1, 5])
def test_too_few_questions_for_the_jackknife_give_infinite_intervals(n):
    lower, upper = jackknife_conformal(*stated(n), 0.9)
    assert np.isinf(lower).all()
    assert np.isinf(upper).all()
    assert len(lower) == len(upper) == n


def test_in_sample_coverage_of_the_jackknife_is_fixed():
    """So it is no evidence of the coverage of new questions."""
    for seed in range(20):
        truth, lower, upper = stated(50, seed=seed)
        lower, upper = lower - 100.0, upper + 100.0  # so wide that no adjusted ends cross
        assert coverage(truth, *jackknife_conformal(truth, lower, upper, 0.9)) == conformal_rank(49, 0.9) / 50


# The guarantee


@pytest.mark.slow
@pytest.mark.sampled("options", "n", one_in=2)
@pytest.mark.parametrize("options", [{}, {"normalized": True}], ids=["plain", "normalized"])
@pytest.mark.parametrize(("n", "nominal"), [(50, 0.9), (500, 0.9), (500, 0.99), (50, 0.99)])
def test_2000_splits_cover_a_new_question_at_the_nominal_level(options, n, nominal):
    """The coverage is k / (n + 1) within an exact binomial interval, and 1 if k > n, as the interval is infinite."""
    splits, k = 2_000, conformal_rank(n, nominal)
    truth, lower, upper = (column.reshape(splits, n + 1) for column in stated(splits * (n + 1), seed=n))
    covered = 0
    for y, low, high in zip(truth, lower, upper, strict=True):
        adjustment = fit_conformal(y[:n], low[:n], high[:n], nominal, **options)
        assert adjustment.finite == (k <= n)
        covered += round(coverage(y[n:], *adjustment.apply(low[n:], high[n:])))
    if k > n:
        assert covered == splits
        return
    interval = stats.binomtest(covered, splits).proportion_ci(0.99, method="exact")
    assert interval.low <= k / (n + 1) <= interval.high
    assert nominal <= interval.high


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"normalized": True}], ids=["plain", "normalized"])
@pytest.mark.parametrize(("n", "nominal"), [(50, 0.9), (50, 0.95), (500, 0.99)])
def test_number_covered_is_beta_binomial(options, n, nominal):
    """The number of m new intervals that contain the truth is BetaBinomial(m, k, n + 1 - k)."""
    repeats, m = 1500, 100
    covered = np.empty(repeats, dtype=int)
    truth, lower, upper = (column.reshape(repeats, n + m) for column in stated(repeats * (n + m), seed=n))
    for i in range(repeats):
        adjustment = fit_conformal(truth[i, :n], lower[i, :n], upper[i, :n], nominal, **options)
        covered[i] = round(m * coverage(truth[i, n:], *adjustment.apply(lower[i, n:], upper[i, n:])))
    k = conformal_rank(n, nominal)
    expected = stats.betabinom(m, k, n + 1 - k)
    assert covered.mean() == pytest.approx(expected.mean(), abs=4 * expected.std() / np.sqrt(repeats))
    assert covered.var() == pytest.approx(expected.var(), rel=0.25)
    quantile = expected.ppf(0.1)
    chance = expected.cdf(quantile)
    assert (covered <= quantile).mean() == pytest.approx(
        chance, abs=4 * np.sqrt(chance * (1 - chance) / repeats)
    )


def test_asymmetric_adjustment_misses_either_side_rarely_enough():
    n, repeats = 50, 2000
    missed = np.zeros((repeats, 2))
    truth, lower, upper = (column.reshape(repeats, n + 40) for column in stated(repeats * (n + 40), seed=3))
    for i in range(repeats):
        adjustment = fit_conformal(truth[i, :n], lower[i, :n], upper[i, :n], 0.9, asymmetric=True)
        low, high = adjustment.apply(lower[i, n:], upper[i, n:])
        missed[i] = (truth[i, n:] < low).mean(), (truth[i, n:] > high).mean()
    expected = 1 - conformal_rank(n, 0.95) / (n + 1)
    np.testing.assert_allclose(missed.mean(axis=0), expected, atol=4 * missed.std() / np.sqrt(repeats))


def test_whole_numbers_with_ties_are_covered_more_often_never_less():
    n, repeats = 50, 1500
    covered = np.zeros(repeats)
    for i, seed in enumerate(range(repeats)):
        truth, lower, upper = (np.round(column) for column in stated(n + 40, seed=seed))
        adjustment = fit_conformal(truth[:n], lower[:n], upper[:n], 0.9)
        covered[i] = coverage(truth[n:], *adjustment.apply(lower[n:], upper[n:]))
    assert covered.mean() > 0.9 - 3 * covered.std() / np.sqrt(repeats)


# Repeated questions


def repeated(n, seed=0, times=(1, 2, 3, 4, 5)):
    """Intervals of n questions, several of each, whose errors have a part of the question; and the questions."""
    rng = np.random.default_rng(seed)
    question = np.repeat(np.arange(n), rng.choice(times, n))
    truth, lower, upper = stated(len(question), seed=seed)
    shared = np.round(3.0 * rng.normal(size=n)[question])
    return question, (truth, lower + shared, upper + shared)


def by_hand(intervals, question, nominal):
    """The smallest score up to which the questions, of weight 1 in all, add up to the rank, in exact fractions."""
    sizes = Counter(question.tolist())
    scores = sorted(
        (float(max(low - y, y - high)), Fraction(1, sizes[each]))
        for y, low, high, each in zip(*intervals, question.tolist(), strict=True)
    )
    needed, total = math.ceil(Fraction(str(nominal)) * (len(sizes) + 1)), Fraction(0)
    for score, share in scores:
        total += share
        if total >= needed:
            return score
    return math.inf


@pytest.mark.parametrize("nominal", [0.5, 0.8, 0.9, 0.99])
@pytest.mark.parametrize("seed", range(5))
def test_the_intervals_of_a_question_share_its_weight(nominal, seed):
    question, intervals = repeated(30, seed)
    found = fit_conformal(*intervals, nominal, questions=question)
    assert found.above == found.below == by_hand(intervals, question, nominal)
    assert (found.n, found.finite) == (30, nominal < 0.99)


@pytest.mark.parametrize("times", [2, 3, 7])
def test_epochs_of_equal_replies_change_no_adjustment(times):
    intervals = stated(40)
    again = [np.tile(column, times) for column in intervals]
    question = np.tile(np.arange(40), times)
    once, often = fit_conformal(*intervals, 0.9), fit_conformal(*again, 0.9, questions=question)
    assert once == often
    ends = jackknife_conformal(*again, 0.9, questions=question)
    np.testing.assert_array_equal(ends, np.tile(jackknife_conformal(*intervals, 0.9), times))


@pytest.mark.parametrize("nominal", [0.5, 0.8, 0.9, 0.99])
def test_the_jackknife_leaves_out_all_intervals_of_a_question(nominal):
    question, intervals = repeated(30)
    result = np.transpose(jackknife_conformal(*intervals, nominal, questions=question))
    for each in np.unique(question):
        own = question == each
        split = fit_conformal(*(column[~own] for column in intervals), nominal, questions=question[~own])
        expected = split.apply(intervals[1][own], intervals[2][own])
        np.testing.assert_array_equal(np.transpose(expected), result[own])


def test_a_new_question_is_covered_at_the_nominal_level_with_epochs():
    """Where a few questions are asked 40 times, their replies err together: counted apart, they cover too little."""
    covered = {"question": 0, "reply": 0}
    for seed in range(400):
        question, (truth, lower, upper) = repeated(10, seed, (1, 1, 1, 1, 40))
        known = question < 9
        kept = [column[known] for column in (truth, lower, upper)]
        new = int(np.flatnonzero(question == 9)[0])
        for unit, labels in (("question", question[known]), ("reply", None)):
            low, high = fit_conformal(*kept, 0.8, questions=labels).apply(lower[[new]], upper[[new]])
            covered[unit] += bool(low[0] <= truth[new] <= high[0])
    error = math.sqrt(0.8 * 0.2 / 400)
    assert covered["question"] / 400 > 0.8 - 2.0 * error > covered["reply"] / 400
