"""The interval of meta-information, against drawn tables, identities, and studies with a known truth."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import xlogy

from confidence_tasks.statistics import meta_information, meta_information_interval
from confidence_tasks.statistics.core import Reason
from confidence_tasks.statistics.inference import bootstrap_distribution
from confidence_tasks.statistics.information import InformationTables, usable_bins
from confidence_tasks.statistics.information.interval import _sampled_entropy, _Table

trials = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.8, 0.95, 1.0])),
    min_size=2,
    max_size=60,
)


def sample(n, seed=0, *, distance=1.2, accuracy=0.6):
    """Draw trials with evidence N(0, 1) for wrong answers and N(distance, 1) for right ones."""
    rng = np.random.default_rng(seed)
    correct = (rng.random(n) < accuracy).astype(float)
    return correct, rng.normal(distance * correct)


def table(wrong, count):
    return _Table(np.array(wrong, float), np.array(count, float), 1.0)


def limits(interval):
    return tuple(map(float, interval))


# Shapes and invariance


@given(trials, st.sampled_from([4, 10]))
def test_limits_lie_in_0_to_1_and_do_not_depend_on_order(rows, bins):
    correct, confidence = np.array(rows).T
    low, high = meta_information_interval(correct, confidence, bins=bins)
    assert 0.0 <= low <= high <= 1.0 or low.reason is high.reason is not None
    again = meta_information_interval(correct[::-1], confidence[::-1], bins=bins)
    assert limits(again) == pytest.approx(limits((low, high)), nan_ok=True)


@given(trials)
def test_only_the_order_of_confidence_matters_and_classes_can_be_swapped(rows):
    correct, confidence = np.array(rows).T
    expected = limits(meta_information_interval(correct, confidence))
    assert limits(meta_information_interval(correct, confidence**3 - 7.0)) == pytest.approx(
        expected, nan_ok=True
    )
    swapped = meta_information_interval(1.0 - correct, confidence)
    assert limits(swapped) == pytest.approx(expected, abs=1e-5, nan_ok=True)


@given(trials)
@example(
    [(0.0, 0.0)] * 5 + [(0.0, 0.05)] + [(0.0, 0.3)] * 3 + [(1.0, 0.0)] * 3 + [(1.0, 0.05)] + [(1.0, 0.3)] * 2
)
def test_a_higher_level_gives_a_wider_interval(rows):
    correct, confidence = np.array(rows).T
    low, high = meta_information_interval(correct, confidence, level=0.8)
    lower, higher = meta_information_interval(correct, confidence, level=0.99)
    assert math.isnan(low) or (lower <= low + 1e-6 and high <= higher + 1e-6)


@given(trials)
def test_tables_have_the_information(rows):
    correct, confidence = np.array(rows).T
    n_wrong, n_right = np.array([len(correct) - correct.sum()]), np.array([correct.sum()])
    bins = max(int(usable_bins(10, n_wrong, n_right)[0]), 1)
    plain = meta_information(correct, confidence, bins=bins, correction="none")
    tables = InformationTables.of(correct, confidence)
    assert math.isnan(plain) or tables.estimate == pytest.approx(plain, abs=1e-12)


# Correctness


@pytest.mark.parametrize("n", [1, 7, 24, 25, 400, 5000])
@pytest.mark.parametrize("p", [1e-3, 0.05, 0.4, 0.97])
def test_entropy_of_a_binomial_sample_is_summed_over_all_outcomes(n, p):
    x, slope = np.arange(n + 1), 0.7
    q = x / n
    entropy, weight = -xlogy(q, q) - xlogy(1 - q, 1 - q), stats.binom.pmf(x, n, p)
    line = entropy - slope * q
    mean, variance = _sampled_entropy(np.array([float(n)]), np.array([p]), np.array([slope]))
    assert mean == pytest.approx(weight @ entropy, rel=1e-4, abs=1e-7)
    assert variance == pytest.approx(weight @ line**2 - (weight @ line) ** 2, rel=2e-3, abs=1e-7)


@pytest.mark.parametrize(
    ("wrong", "count"),
    [
        ([12, 9, 5, 3], [20, 20, 20, 20]),
        ([4, 3, 1, 1, 0, 1], [33, 33, 34, 33, 33, 34]),  # few errors
        ([9, 1], [30, 70]),
    ],
)
@pytest.mark.parametrize("steepness", [0.0, 0.5, 1.5])
def test_moments_are_those_of_samples_from_the_population(wrong, count, steepness):
    """The moments are those of the linearized share in simulated tables."""
    observed = table(wrong, count)
    rates = observed.error_rates(np.array([steepness]))
    mean, variance = (float(each[0]) for each in observed.sampled(rates))
    n, total = observed.count.sum(), observed.wrong.sum() / observed.count.sum()
    assert float((rates @ observed.count)[0]) == pytest.approx(observed.wrong.sum(), rel=1e-5)

    cells = np.stack([rates[0], 1 - rates[0]]) * observed.count / n
    drawn = np.random.default_rng(0).multinomial(int(n), cells.ravel(), 40_000).reshape(-1, *cells.shape) / n

    def entropy(shares):
        return -xlogy(shares, shares).sum(axis=-1)

    row_entropy = entropy(drawn.sum(axis=2))
    information = row_entropy + entropy(drawn.sum(axis=1)) - entropy(drawn.reshape(len(drawn), -1))
    share, uncertainty = float(observed.share(rates)[0]), entropy(np.array([total, 1 - total]))
    result = (information - share * row_entropy) / uncertainty + share
    assert mean == pytest.approx(result.mean(), rel=0.03, abs=0.003)
    assert variance**0.5 == pytest.approx(result.std(), rel=0.08)


def test_many_trials_have_the_width_of_the_bootstrap_interval():
    correct, confidence = sample(4_000)
    low, high = meta_information_interval(correct, confidence)
    spread = bootstrap_distribution(meta_information, correct, confidence, n_resamples=300).std()
    assert (high - low) / (2.0 * 1.96 * spread) == pytest.approx(1.0, abs=0.12)
    assert (low + high) / 2.0 == pytest.approx(meta_information(correct, confidence), abs=0.2 * spread)


def test_chance_information_has_an_interval_from_0():
    correct, confidence = sample(100, distance=0.0)
    assert meta_information(correct, confidence, correction="none") > 0.04
    low, high = meta_information_interval(correct, confidence)
    assert low == 0.0
    assert 0.02 < high < 0.2


def test_complete_separation_has_a_lower_limit_below_1():
    correct = np.repeat([0.0, 1.0], 25)
    low, high = meta_information_interval(correct, correct)
    assert 0.6 < low < 0.9
    assert high == pytest.approx(1.0, abs=1e-6)


def test_equal_bins_have_an_interval():
    low, high = meta_information_interval([0.0, 1.0] * 50, [0.2, 0.2, 0.7, 0.7] * 25)
    assert low == 0.0
    assert 0.0 < high < 0.05


@pytest.mark.parametrize("times", [2, 5])
def test_repeated_questions_do_not_change_the_interval(times):
    correct, confidence = sample(300)
    questions = np.arange(300)
    once = limits(meta_information_interval(correct, confidence))
    again = [np.repeat(column, times) for column in (correct, confidence, questions)]
    assert limits(meta_information_interval(*again[:2], questions=again[2])) == pytest.approx(once, abs=0.005)
    low, high = meta_information_interval(*again[:2])
    assert high - low < 0.85 * (once[1] - once[0])


def test_correlated_replies_to_a_question_count_as_fewer_trials():
    """All replies to an easy question tend to be right, with a high confidence."""
    rng = np.random.default_rng(1)
    ease = np.repeat(rng.normal(size=200), 4)
    correct = (rng.random(800) < stats.norm.cdf(2.0 * ease)).astype(float)
    confidence = ease + 0.5 * rng.normal(size=800)
    low, high = meta_information_interval(correct, confidence)
    lower, higher = meta_information_interval(correct, confidence, questions=np.repeat(np.arange(200), 4))
    assert higher - lower > 1.1 * (high - low)


def test_the_mean_of_copies_has_the_same_interval():
    """The mean of two equal conditions has their variance; that of two independent conditions has half of it."""
    one = InformationTables.of(*sample(1_000))
    low, high = one.limits(0.95)
    assert limits(InformationTables.mean([one, one], 2.0).limits(0.95)) == pytest.approx(
        (low, high), abs=1e-3
    )
    narrow = InformationTables.mean([one, one], 1.0)
    assert narrow.estimate == pytest.approx(one.estimate)
    assert (narrow.limits(0.95)[1] - narrow.limits(0.95)[0]) / (high - low) == pytest.approx(
        math.sqrt(0.5), abs=0.03
    )


# Errors and degenerate input


@pytest.mark.parametrize(
    ("correct", "confidence", "reason"),
    [
        ([], [], Reason.EMPTY),
        ([1.0], [0.5], Reason.ONE_CLASS),
        ([0.0, 0.0], [0.1, 0.9], Reason.ONE_CLASS),
        ([0.0, 1.0] * 50, [0.5] * 100, Reason.FEW_INFORMATIVE),
        ([0.0] + [1.0] * 99, np.arange(100), Reason.FEW_INFORMATIVE),
        ([0.0, 1.0] * 50, [0.9] * 98 + [0.8] * 2, Reason.FEW_INFORMATIVE),
    ],
)
def test_too_few_informative_trials_have_no_interval(correct, confidence, reason):
    low, high = meta_information_interval(correct, confidence)
    assert math.isnan(low)
    assert low.reason is high.reason is reason


def test_a_mean_has_no_interval_if_a_term_has_none():
    parts = [InformationTables.of(*sample(100)), InformationTables.of([0.0, 1.0] * 50, [0.5] * 100)]
    assert InformationTables.mean(parts, 1.0).limits(0.95)[0].reason is Reason.FEW_INFORMATIVE


def test_a_single_repeated_question_has_no_interval():
    low, _ = meta_information_interval([1, 0, 1], [0.5, 0.6, 0.7], questions=["a"] * 3)
    assert low.reason is Reason.TOO_FEW


@pytest.mark.parametrize(
    ("correct", "confidence", "options", "message"),
    [
        ([1, 0], [0.5, 0.5], {"level": 1.0}, "level"),
        ([1, 0], [0.5, 0.5], {"questions": ["a"]}, "questions must have shape"),
        ([1, 0.5], [0.5, 0.5], {}, "only 0 and 1"),
        ([1, 0], [0.5, np.nan], {}, "NaN"),
        ([1, 0], [0.5, 0.6], {"bins": 0}, "bins"),
    ],
)
def test_invalid_arguments_raise(correct, confidence, options, message):
    with pytest.raises(ValueError, match=message):
        meta_information_interval(correct, confidence, **options)


def test_a_million_trials():
    correct, confidence = sample(1_000_000)
    low, high = meta_information_interval(correct, confidence)
    assert low < meta_information(correct, confidence) < high < low + 0.004


def test_no_interval_is_empty_and_limits_of_no_information_are_zero():
    """An estimate that is small even without information has an upper limit above 0."""
    highs, lows = [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        low, high = meta_information_interval((rng.random(60) < 0.7).astype(float), rng.integers(0, 9, 60))
        lows.append(low), highs.append(high)
    assert min(highs) > 0.005
    assert np.mean(np.array(lows) == 0.0) > 0.93


def test_whether_there_is_a_value_does_not_depend_on_the_order_of_the_trials() -> None:
    """With four wrong answers in two bins of ten, the least number is met exactly; rounding must not decide."""
    rng = np.random.default_rng(0)
    correct, confidence = np.ones(20), np.arange(20) / 20
    correct[[0, 1, 2, 12]] = 0.0
    tables = []
    for _ in range(40):
        order = rng.permutation(20)
        tables.append(InformationTables.of(correct[order], confidence[order], questions=rng.permutation(20)))
    assert len({table.tables[0].dispersion for table in tables}) > 1  # they differ by rounding
    assert {table.unknown for table in tables} == {None}
