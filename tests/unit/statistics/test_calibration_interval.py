"""The interval of a calibration error, against Wilson's interval, identities, and studies with a known truth."""

import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from confidence_tasks.statistics import ece, ece_interval, wilson_interval
from confidence_tasks.statistics.calibration import BinnedTrials
from confidence_tasks.statistics.core import Reason

trials = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.8, 0.95, 1.0])),
    min_size=2,
    max_size=60,
)
options = st.sampled_from([{}, {"bins": 20}, {"binning": "equal_mass"}, {"edges": "extra_bin"}])


def sample(n, seed=0, overconfidence=0.1):
    """Draw trials whose accuracy is the confidence minus the overconfidence."""
    rng = np.random.default_rng(seed)
    confidence = rng.choice([0.55, 0.65, 0.75, 0.85, 0.95], n)
    return (rng.random(n) < confidence - overconfidence).astype(float), confidence


@given(trials, options)
def test_limits_lie_in_0_to_1_and_do_not_depend_on_order(rows, how):
    correct, confidence = np.array(rows).T
    low, high = ece_interval(correct, confidence, **how)
    assert 0.0 <= low <= high <= 1.0
    assert ece_interval(correct[::-1], confidence[::-1], **how) == pytest.approx((low, high), abs=1e-9)


@given(trials, options, st.integers(1, 4), st.randoms(use_true_random=False))
def test_order_and_rounding_do_not_matter(rows, how, times, random):
    """Floating-point sums of .95 depend on their order; without any variance the interval must not depend on it."""
    trials = [(*row, question) for question, row in enumerate(rows) for _ in range(times)]
    shuffled = random.sample(trials, len(trials))
    ends = []
    for each in (trials, shuffled):
        correct, confidence, questions = np.array(each).T
        ends.append(ece_interval(correct, confidence, questions=questions, **how))
    assert ends[1] == pytest.approx(ends[0], abs=1e-9)
    assert 0.0 <= ends[0][0] <= ends[0][1] <= 1.0


@given(trials, options)
def test_a_higher_level_gives_a_wider_interval(rows, how):
    correct, confidence = np.array(rows).T
    low, high = ece_interval(correct, confidence, level=0.8, **how)
    lower, higher = ece_interval(correct, confidence, level=0.99, **how)
    assert lower <= low + 1e-6
    assert high <= higher + 1e-6


def test_an_estimate_too_small_for_any_error_has_the_limit_of_one_that_is_a_standard_error_below_the_mean():
    """With one bin the ECE is a folded normal variable: SciPy's distribution says which error is rejected."""
    n = 10_000
    error = 0.5 / math.sqrt(n)
    low, high = ece_interval([1, 0] * (n // 2), [0.5] * n)
    of_none = scipy.stats.foldnorm(0.0, scale=error)
    smallest = of_none.mean() - of_none.std()

    def standard_errors(gap):
        expected = scipy.stats.foldnorm(gap / error, scale=error)
        return (smallest - expected.mean()) / expected.std() + scipy.stats.norm.ppf(0.975)

    assert low == 0.0
    assert high == pytest.approx(scipy.optimize.brentq(standard_errors, error, 5.0 * error), rel=0.01)


@pytest.mark.parametrize("n", [20, 60, 500])
def test_no_interval_of_calibrated_confidence_is_a_point(n):
    """Six of 400 with n = 60 were [0, 0] beside an estimate of about .05, which excludes no error of .03."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        confidence = rng.random(n)
        _, high = ece_interval(rng.random(n) < confidence, confidence)
        assert high > 0.5 / math.sqrt(n)


@given(trials, options)
def test_binned_trials_have_the_ece(rows, how):
    correct, confidence = np.array(rows).T
    binned = BinnedTrials.of(correct, confidence, **how)
    assert binned.estimate == pytest.approx(float(ece(correct, confidence, **how)), abs=1e-12)


@pytest.mark.parametrize(
    ("right", "n", "confidence"),
    [(600, 1000, 0.75), (150, 200, 0.95), (940, 1000, 0.7), (180, 200, 1.0), (30, 200, 0.0)],
)
def test_a_single_miscalibrated_confidence_has_wilsons_interval(right, n, confidence):
    """If the sign of accuracy - c is certain, the interval is the score interval of the accuracy, minus c."""
    correct = np.repeat([1.0, 0.0], [right, n - right])
    ends = sorted(abs(float(end) - confidence) for end in wilson_interval(right, n))
    assert ece_interval(correct, np.full(n, confidence)) == pytest.approx(ends, abs=2e-3)


def test_certain_and_always_right_has_an_upper_limit_above_0():
    """The upper limit is between the rule of three, which is one-sided, and Wilson's limit."""
    low, high = ece_interval(np.ones(200), np.ones(200))
    assert low == 0.0
    assert 3.0 / 200.0 < high < 1.0 - wilson_interval(200, 200)[0]


def from_wilson(right, n, confidence):
    """Return the range of |accuracy - c| over Wilson's interval of the accuracy."""
    low, high = (float(end) for end in wilson_interval(right, n))
    ends = sorted((abs(low - confidence), abs(high - confidence)))
    return (0.0 if low <= confidence <= high else ends[0]), ends[1]


@pytest.mark.parametrize("confidence", [0.0, 0.05, 0.5, 0.8, 0.95, 0.99, 1.0])
@pytest.mark.parametrize("n", [20, 100, 300, 1000, 3000])
@pytest.mark.parametrize("wrong", [0, 1, 2, 5, -5, -2, -1, -0.0])
def test_a_single_confidence_with_an_extreme_accuracy_is_near_wilsons_interval(confidence, n, wrong):
    """Negative numbers of wrong answers are counted from n: -0.0 means all wrong."""
    errors = int(n + wrong) if math.copysign(1.0, wrong) < 0.0 else int(wrong)
    correct = np.repeat([0.0, 1.0], [errors, n - errors])
    result = ece_interval(correct, np.full(n, confidence))
    assert result == pytest.approx(from_wilson(n - errors, n, confidence), abs=0.6 / n + 0.3 / n**0.75)


@pytest.mark.parametrize(
    ("n", "expected"), [(100, (0.013, 0.05)), (300, (0.037, 0.05)), (1000, (0.046, 0.05))]
)
def test_all_right_at_95(n, expected):
    assert ece_interval(np.ones(n), np.full(n, 0.95)) == pytest.approx(expected, abs=0.008)


@pytest.mark.parametrize("n", [100, 300])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_one_more_wrong_answer_changes_the_limits_slightly(n, confidence):
    def ends(wrong):
        return np.array(ece_interval(np.repeat([0.0, 1.0], [wrong, n - wrong]), np.full(n, confidence)))

    steps = [np.abs(ends(wrong + 1) - ends(wrong)).max() for wrong in range(8)]
    assert max(steps) < 3.0 / n


@pytest.mark.parametrize("right", [0.0, 1.0])
@pytest.mark.parametrize("n", [20, 100, 300])
def test_all_right_in_several_bins(n, right):
    stated = np.array([0.75, 0.85, 0.95, 0.95])
    confidence = np.repeat(stated if right else 1.0 - stated, n)
    low, high = ece_interval(np.full(4 * n, right), confidence)
    estimate = float(ece(np.full(4 * n, right), confidence))
    unseen = 1.0 - float(wilson_interval(n, n)[0])
    assert estimate - unseen < low < estimate - 0.1 * unseen
    assert high == pytest.approx(estimate)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 1.0])
@pytest.mark.parametrize("times", [2, 6])
def test_repeated_questions_that_are_all_right_do_not_change_the_interval(times, confidence):
    once = ece_interval(np.ones(60), np.full(60, confidence))
    questions = np.repeat(np.arange(60), times)
    again = ece_interval(np.ones(60 * times), np.full(60 * times, confidence), questions=questions)
    assert again == pytest.approx(once, abs=0.004)


def test_a_question_that_is_always_wrong_counts_once():
    questions, wrong = np.repeat(np.arange(60), 6), np.repeat([1.0, 0.0], [6, 354])
    result = ece_interval(1.0 - wrong, np.full(360, 0.8), questions=questions)
    assert result == pytest.approx(ece_interval(np.r_[0.0, np.ones(59)], np.full(60, 0.8)), abs=0.012)


def test_constant_probabilities_have_no_interval():
    low, high = ece_interval(np.full(50, 0.7), np.full(50, 0.8))
    assert low.reason is high.reason is Reason.CONSTANT
    assert np.isnan([low, high]).all()


def test_accuracies_stay_in_0_to_1():
    """For all right at .5, no ECE can be larger than the observed one."""
    assert ece_interval(np.ones(20), np.full(20, 0.5))[1] == 0.5


def test_certain_and_always_right_is_not_proof_of_calibration():
    low, high = ece_interval(np.ones(50), np.ones(50))
    assert low == 0.0
    assert 0.01 < high < 0.1


def test_the_interval_of_a_calibrated_subject_contains_0():
    correct, confidence = sample(100, overconfidence=0.0)
    assert ece(correct, confidence, bins=20) > 0.04
    assert ece_interval(correct, confidence, bins=20)[0] == 0.0


@pytest.mark.parametrize("times", [2, 5])
def test_repeated_questions_do_not_change_the_interval(times):
    correct, confidence = sample(400)
    questions = np.arange(400)
    once = ece_interval(correct, confidence)
    repeated = [np.repeat(column, times) for column in (correct, confidence, questions)]
    assert ece_interval(*repeated[:2], questions=repeated[2]) == pytest.approx(once, abs=0.004)
    low, high = ece_interval(*repeated[:2])
    assert high - low < 0.85 * (once[1] - once[0])


def test_probabilities_of_being_right_vary_less_than_answers():
    rng = np.random.default_rng(0)
    _, confidence = sample(300)
    graded = np.clip(confidence - 0.1 + 0.05 * rng.normal(size=300), 0.0, 1.0)
    low, high = ece_interval(graded, confidence)
    assert low < ece(graded, confidence) < high
    assert high - low < 0.03


def test_dispersion_does_not_depend_on_the_number_of_questions():
    """With eight trials per bin, the variance around the bin mean is smaller than that around the truth."""

    def dispersion(n, seed):
        _, confidence = sample(n, seed)
        chance = np.clip(confidence - 0.1 + 0.05 * np.random.default_rng(seed).normal(size=n), 0.0, 1.0)
        return BinnedTrials.of(chance, confidence).dispersion[0]

    few = np.mean([dispersion(40, seed) for seed in range(400)])
    assert few == pytest.approx(dispersion(40_000, 0), rel=0.05)


def test_the_mean_of_copies_has_the_same_interval():
    """The mean of two equal conditions has their variance; that of two independent conditions has half of it."""
    one = BinnedTrials.of(*sample(1000))
    low, high = one.limits(0.95)
    assert BinnedTrials.mean([one, one], 2.0).limits(0.95) == pytest.approx((low, high), abs=1e-3)
    narrow = BinnedTrials.mean([one, one], 1.0)
    assert narrow.estimate == pytest.approx(one.estimate)
    assert (narrow.limits(0.95)[1] - narrow.limits(0.95)[0]) / (high - low) == pytest.approx(
        math.sqrt(0.5), abs=0.03
    )


@pytest.mark.parametrize(("n", "reason"), [(0, Reason.EMPTY), (1, Reason.TOO_FEW)])
def test_fewer_than_two_trials_have_no_interval(n, reason):
    low, high = ece_interval(np.ones(n), np.ones(n))
    assert math.isnan(low)
    assert high.reason is reason


def test_a_single_repeated_question_has_no_interval():
    assert ece_interval([1, 0, 1], [0.5, 0.6, 0.7], questions=["a"] * 3)[0].reason is Reason.TOO_FEW


def test_invalid_arguments_raise():
    with pytest.raises(ValueError, match="level"):
        ece_interval([1, 0], [0.5, 0.5], level=1.0)
    with pytest.raises(ValueError, match="questions must have shape"):
        ece_interval([1, 0], [0.5, 0.5], questions=["a"])
    with pytest.raises(ValueError, match="correct must lie"):
        ece_interval([2, 0], [0.5, 0.5])
