import numpy as np
import pytest
from scipy import stats
from tests.unit.statistics.weighted_means import correlation, mean, mean_width, share_of_ones_known, variance

from confidence_tasks.statistics.core import Reason
from confidence_tasks.statistics.inference import weights as _weights
from confidence_tasks.statistics.inference.resampling import bootstrap_difference
from confidence_tasks.statistics.inference.tests import (
    equivalence_test,
    exchange_pivot,
    permutation_test,
    student_pivot,
)


@pytest.fixture
def rng():
    return np.random.default_rng(20240229)


# Errors


@pytest.mark.parametrize("compare", [bootstrap_difference, permutation_test])
@pytest.mark.parametrize(
    ("first", "second", "options"),
    [
        ([[1.0, 2.0]], [[1.0]], {}),
        ([[1.0, 2.0]], [[1.0, 2.0], [1.0, 2.0]], {}),
        ([[1.0, 2.0]], [[1.0, 2.0]], {"questions": (["a", "b"], ["a"])}),
    ],
)
def test_conditions_that_do_not_line_up_raise(compare, first, second, options):
    with pytest.raises(ValueError):
        compare(mean, first, second, **options)


def test_unknown_alternative_raises():
    with pytest.raises(ValueError, match="alternative"):
        permutation_test(mean, [[1.0]], [[2.0]], alternative="larger")


@pytest.mark.parametrize("options", [{"margin": 0.0}, {"margin": np.inf}, {"margin": 1.0, "alpha": 0.5}])
def test_margin_and_alpha_outside_their_domain_raise(options):
    with pytest.raises(ValueError):
        equivalence_test(mean, [[1.0]], [[2.0]], **options)


# Degenerate samples


@pytest.mark.parametrize("n", [0, 1])
def test_contrasts_of_too_few_questions_are_undefined(n):
    values = [np.arange(n, dtype=float)]
    questions = (np.arange(n), np.arange(n))
    with np.errstate(invalid="ignore"):
        assert np.isnan(bootstrap_difference(mean, values, values, questions=questions, n_resamples=9).low)
        test = equivalence_test(mean, values, values, margin=1.0, questions=questions, n_resamples=9)
    assert not test.equivalent
    assert np.isnan(test.p_value)


def test_an_undefined_contrast_has_no_p_value():
    test = permutation_test(share_of_ones_known, [np.zeros(4)], [np.ones(4)])
    assert test.p_value.reason is Reason.ONE_CLASS


def test_undefined_exchanges_are_left_out():
    test = permutation_test(share_of_ones_known, [[1.0, 1.0]], [[1.0, 0.0]], alternative="greater")
    # Contrasts over the four exchanges: 1/2, 1/2, -1/2, -1/2; with a question fewer, one side has no ones.
    assert test.p_value == 0.5
    undefined_half = permutation_test(share_of_ones_known, [[1.0, 0.0]], [[0.0, 1.0]], alternative="greater")
    assert undefined_half.n_undefined == 2
    assert undefined_half.p_value == 1.0  # the two that are left are a contrast of 0, as the data are
    third = permutation_test(share_of_ones_known, [[1.0, 1.0, 0.0]], [[1.0, 0.0, 0.0]], alternative="greater")
    assert third.n_undefined == 0
    assert third.p_value == 0.5


def test_identical_conditions_differ_by_chance_whatever_rounding_leaves(rng):
    """The same trials in another order: sums and slopes differ in their last digits."""
    values = rng.normal(size=300) + 1e3
    order = rng.permutation(300)
    test = permutation_test(
        variance, [values], [values[order]], questions=(np.arange(300), order), n_resamples=99
    )
    assert abs(test.estimate) < 1e-6
    assert test.p_value == 1.0


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_two_infinite_conditions_have_no_difference():
    open_ended = [[1.0, np.inf, np.inf]]
    assert np.isnan(bootstrap_difference(mean_width, open_ended, open_ended, n_resamples=50).estimate)
    p = permutation_test(mean_width, [[np.inf, 1.0, 2.0]], [[1.0, 1.0, 2.0]])
    assert p.p_value.reason is Reason.INFINITE


# Correctness: permutation


def test_chunks_do_not_change_the_exchanges(rng, monkeypatch):
    first, second = rng.normal(size=(2, 30))
    whole = permutation_test(mean, [first], [second], n_resamples=500)
    monkeypatch.setattr(_weights, "_BLOCK_ELEMENTS", 7)
    monkeypatch.setattr(_weights, "_CACHED", 7)
    assert permutation_test(mean, [first], [second], n_resamples=500) == whole


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize(
    ("statistic", "peer"), [(mean, np.mean), (variance, np.var)], ids=["mean", "variance"]
)
def test_exact_p_value_is_that_of_scipy(rng, alternative, statistic, peer):
    first, second = rng.normal(0.3, 1.0, 9), rng.normal(0.0, 1.5, 9)
    ours = permutation_test(statistic, [first], [second], alternative=alternative)
    theirs = stats.permutation_test(
        (first, second),
        lambda x, y: peer(x) - peer(y),
        permutation_type="samples",
        alternative=alternative,
        n_resamples=10_000,
    )
    assert ours.exact
    assert ours.n_resamples == 2**9
    assert ours.estimate == pytest.approx(theirs.statistic, rel=1e-12)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-12)


def test_exact_p_value_of_a_statistic_of_two_arrays(rng):
    first, second = rng.normal(size=(2, 8)), rng.normal(size=(2, 8))
    ours = permutation_test(correlation, list(first), list(second))
    observed = np.corrcoef(first)[0, 1] - np.corrcoef(second)[0, 1]
    contrasts = []
    for index in range(2**8):
        swap = (index >> np.arange(8)) & 1 == 1
        a, b = np.where(swap, second, first), np.where(swap, first, second)
        contrasts.append(np.corrcoef(a)[0, 1] - np.corrcoef(b)[0, 1])
    assert ours.p_value == np.mean(np.abs(contrasts) >= abs(observed) - 1e-12)


def test_random_p_value_approaches_the_exact_one(rng):
    first, second = rng.normal(0.4, 1.0, 12), rng.normal(size=12)
    exact = permutation_test(mean, [first], [second], n_resamples=2**12)
    drawn_at_random = permutation_test(mean, [first], [second], n_resamples=2**12 - 1)
    assert exact.exact
    assert not drawn_at_random.exact
    error = 4 * np.sqrt(exact.p_value * (1 - exact.p_value) / 2**12)
    assert drawn_at_random.p_value == pytest.approx(exact.p_value, abs=error)


def test_repeats_of_a_question_change_sides_together():
    first, second = [1.0, 1.0, 5.0, 5.0], [0.0, 0.0, 2.0, 2.0]
    labels = ["a", "a", "b", "b"]
    repeated = permutation_test(mean, [first], [second], questions=(labels, labels))
    once = permutation_test(mean, [[1.0, 5.0]], [[0.0, 2.0]])
    assert (repeated.estimate, repeated.p_value, repeated.n_units) == (once.estimate, once.p_value, 2)


def test_p_value_is_never_zero():
    test = permutation_test(mean, [np.arange(30.0) + 100], [np.arange(30.0)], n_resamples=99)
    assert test.p_value == 0.01


def test_exchanging_the_conditions_turns_the_contrast_round(rng):
    first, second = rng.normal(size=(2, 10))
    forth = permutation_test(mean, [first], [second], alternative="greater")
    back = permutation_test(mean, [second], [first], alternative="less")
    assert (back.estimate, back.p_value) == (-forth.estimate, forth.p_value)


# Correctness: equivalence


@pytest.mark.parametrize("margin", [0.05, 0.2, 0.3, 0.4, 1.0])
def test_p_value_and_interval_decide_alike(rng, margin):
    first = rng.exponential(size=60)
    second = first + rng.exponential(size=60) - 0.9
    test = equivalence_test(mean, [first], [second], margin=margin)
    assert test.equivalent == (test.p_value < 0.05)
    assert test.interval.level == pytest.approx(0.9)


def test_p_value_is_close_to_the_normal_one(rng):
    first = rng.normal(size=200)
    second = first + rng.normal(0.02, 0.3, size=200)
    difference = first - second
    error = difference.std() / np.sqrt(200)
    expected = max(
        stats.norm.sf((difference.mean() + 0.06) / error), stats.norm.cdf((difference.mean() - 0.06) / error)
    )
    test = equivalence_test(mean, [first], [second], margin=0.06, n_resamples=20_000)
    assert test.p_value == pytest.approx(expected, abs=0.01)


# One pivot for p-value and interval


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("freedom", [3.0, np.inf])
def test_an_exchange_is_significant_exactly_when_its_interval_leaves_out_0(rng, level, exact, freedom):
    """Ties among the exchanges, and with what was observed, included."""
    said = set()
    for _ in range(300):
        differences = rng.integers(-4, 5, 39 + exact).astype(float)
        errors = rng.choice([1.0, 2.0], 39 + exact)
        difference, error = float(rng.integers(-6, 7)), float(rng.choice([1.0, 2.0]))
        pivot = exchange_pivot(
            difference, error, differences, errors, level=level, exact=exact, freedom=freedom
        )
        significant = pivot.p_value <= 1.0 - level + 1e-12
        assert significant == (abs(difference) > pivot.reach)
        said.add(significant)
    assert said == {False, True}


def test_the_reach_of_an_exchange_is_an_order_statistic(rng):
    """The 95th of 99 studentised differences, as (1 - alpha) (R + 1) says."""
    differences, errors = 4.0 * rng.normal(size=99), rng.uniform(1.0, 2.0, 99)
    pivot = exchange_pivot(3.0, 0.5, differences, errors)
    assert pivot.reach == pytest.approx(0.5 * np.sort(np.abs(differences / errors))[94], rel=1e-6)
    more = np.sum(np.abs(differences / errors) >= 6.0)
    assert pivot.p_value == (1 + more) / 100


def test_no_difference_without_error_is_no_difference():
    nothing = exchange_pivot(0.0, 0.0, [0.0, 0.1, -0.1], [0.0, 0.1, 0.1])
    assert (nothing.p_value, nothing.reach) == (1.0, 0.0)
    rounding = exchange_pivot(1e-15, 1e-16, [1e-15, -2e-16], [1e-16, 0.0], tie=1e-12)
    assert rounding.p_value == 1.0
    assert student_pivot(1e-15, 0.0, 9, tie=1e-12).p_value == 1.0


def test_exchanges_that_vary_little_do_not_decide_alone():
    exchanges = np.linspace(-1.0, 1.0, 99)
    assert exchange_pivot(1.5, 1.0, exchanges, np.ones(99), freedom=30) == student_pivot(1.5, 1.0, 30)


def test_undefined_exchanges_tell_nothing():
    with_gaps = exchange_pivot(3.0, 1.0, [4.0, np.nan, 0.5, 0.1], [1.0, 1.0, np.nan, 1.0])
    assert with_gaps.p_value == exchange_pivot(3.0, 1.0, [4.0, 0.1], [1.0, 1.0]).p_value == 2 / 3


def test_student_s_pivot_is_the_t_test(rng):
    differences = rng.normal(0.3, 1.0, 20)
    error = differences.std(ddof=1) / np.sqrt(20)
    wanted = stats.ttest_1samp(differences, 0.0)
    pivot = student_pivot(differences.mean(), error, 19)
    assert pivot.p_value == pytest.approx(wanted.pvalue)
    assert differences.mean() + pivot.reach == pytest.approx(wanted.confidence_interval().high)
