import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from confidence_tasks.statistics import Reason, bootstrap, optimal_threshold
from confidence_tasks.statistics.decision import (
    abstention_rate,
    answered_accuracy,
    fitted_threshold,
    mean_utility,
    optimal_decision,
    policy_consistency,
    regret,
    scaffold_gain,
    scaffold_utility,
)

PAPER_PENALTIES = [0.0, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]

penalties = st.floats(0.0, 1000.0)
probabilities = st.floats(0.0, 1.0)


def simulated(n=200, seed=0):
    rng = np.random.default_rng(seed)
    confidence = rng.random(n)
    answered = (rng.random(n) < 0.8).astype(float)
    return answered, (rng.random(n) < confidence).astype(float), confidence, rng.choice(PAPER_PENALTIES, n)


# Errors


@pytest.mark.parametrize("penalty", [-0.1, np.nan, np.inf])
def test_invalid_penalties_raise(penalty):
    for call in (
        lambda: optimal_threshold(penalty),
        lambda: optimal_decision([0.5], penalty),
        lambda: mean_utility([1], [1], penalty),
        lambda: regret([1], [0.5], penalty),
        lambda: scaffold_utility([1], [0.5], penalty),
    ):
        with pytest.raises(ValueError, match="penalty must be finite"):
            call()


def test_penalties_of_another_length_raise():
    with pytest.raises(ValueError, match="penalty must be a number or have shape"):
        mean_utility([1, 0], [1, 0], [1.0, 2.0, 3.0])


def test_decisions_other_than_0_and_1_raise():
    with pytest.raises(ValueError, match="answered must contain only 0 and 1"):
        abstention_rate([1, 0.5])


# Degenerate samples


def test_accuracy_without_an_answer_is_undefined():
    assert answered_accuracy([0, 0], [1, 0]).reason is Reason.EMPTY


def test_accuracy_is_undefined_in_resamples_without_an_answer():
    weights = np.array([[2.0, 0.0], [0.0, 2.0]])
    np.testing.assert_array_equal(answered_accuracy([1, 0], [1, 0], weights=weights), [1.0, np.nan])


# Correctness


def test_threshold_is_where_answering_breaks_even():
    for penalty in PAPER_PENALTIES[1:]:
        break_even = optimize.brentq(lambda c, penalty=penalty: c - (1 - c) * penalty, 0.0, 1.0, xtol=1e-15)
        assert optimal_threshold(penalty) == pytest.approx(break_even, abs=1e-14)


@pytest.mark.parametrize(
    ("penalty", "stated"), [(0, 0.0), (1, 0.5), (4, 0.8), (9, 0.9), (19, 0.95), (99, 0.99)]
)
def test_confidence_at_the_threshold_answers(penalty, stated):
    assert optimal_decision([stated], penalty) == 1.0


@given(probabilities, penalties)
def test_optimal_decision_has_the_greater_expected_utility(confidence, penalty):
    value = {decision: mean_utility([decision], [confidence], penalty) for decision in (0, 1)}
    chosen = optimal_decision([confidence], penalty)[0]
    assert value[chosen] >= value[1 - chosen] - 1e-12 * (1 + penalty)


def test_utility_of_a_table_counted_by_hand():
    answered, correct = [1, 1, 1, 0, 0], [1, 0, 0, 1, 0]
    assert mean_utility(answered, correct, 10) == pytest.approx((1 - 10 - 10) / 5)
    assert mean_utility(answered, correct, 10, normalized=True) == pytest.approx((1 - 10 - 10) / 5 / 11)
    assert mean_utility(answered, correct, [0, 1, 2, 3, 4]) == pytest.approx((1 - 1 - 2) / 5)


@given(probabilities, penalties, st.integers(0, 1))
def test_regret_is_the_distance_to_the_threshold_of_a_wrong_decision(confidence, penalty, answered):
    wrong = answered != optimal_decision([confidence], penalty)[0]
    distance = abs(confidence - optimal_threshold(penalty)) * wrong
    assert regret([answered], [confidence], penalty, normalized=True) == pytest.approx(distance, abs=1e-12)
    assert regret([answered], [confidence], penalty) == pytest.approx(
        (1 + penalty) * distance, abs=1e-12 * (1 + penalty)
    )


def test_regret_is_what_the_optimal_decision_gains_in_expected_utility():
    answered, _, confidence, penalty = simulated()
    best = mean_utility(optimal_decision(confidence, penalty), confidence, penalty)
    chosen = mean_utility(answered, confidence, penalty)
    assert regret(answered, confidence, penalty) == pytest.approx(best - chosen, abs=1e-12)


def test_consistency_counts_agreement_with_the_optimal_policy():
    # Thresholds 1/2 and 10/11.
    assert policy_consistency([1, 0, 1, 0], [0.5, 0.4, 0.9, 0.9], [1, 1, 10, 10]) == 0.75


def test_gain_is_scaffold_minus_model():
    answered, correct, confidence, penalty = simulated()
    available = (np.random.default_rng(1).random(200) < 0.7).astype(float)
    for normalized in (False, True):
        options = {"normalized": normalized}
        difference = scaffold_utility(correct, confidence, penalty, available, **options) - mean_utility(
            answered, correct, penalty, **options
        )
        gain = scaffold_gain(answered, correct, confidence, penalty, available, **options)
        assert gain == pytest.approx(difference, abs=1e-12)


def test_scaffold_earns_nothing_where_there_is_no_answer():
    assert scaffold_utility([1, 1], [1.0, 1.0], 10, [1, 0]) == 0.5
    assert scaffold_utility([1, 1], [1.0, 1.0], 10) == 1.0


def test_a_model_that_follows_its_confidence_has_no_regret_and_nothing_to_gain():
    _, correct, confidence, penalty = simulated()
    answered = optimal_decision(confidence, penalty)
    assert regret(answered, confidence, penalty) == 0.0
    assert policy_consistency(answered, confidence, penalty) == 1.0
    assert scaffold_gain(answered, correct, confidence, penalty) == 0.0


def test_calibrated_scaffold_is_near_the_optimal_utility():
    """With calibrated uniform confidence the optimal utility at penalty L is 1 / (2 (1 + L))."""
    rng = np.random.default_rng(4)
    confidence = rng.random(200_000)
    correct = rng.random(200_000) < confidence
    for penalty in (0.0, 1.0, 10.0):
        result = scaffold_utility(correct, confidence, penalty)
        assert result == pytest.approx(1 / (2 * (1 + penalty)), abs=5 * np.sqrt((1 + penalty) / 200_000))


# Properties


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), probabilities), min_size=1), penalties)
def test_measures_stay_in_their_range(trials, penalty):
    answered, correct, confidence = np.array(trials, dtype=float).T
    assert -1.0 <= mean_utility(answered, correct, penalty, normalized=True) <= 1.0
    assert 0.0 <= regret(answered, confidence, penalty, normalized=True) <= 1.0
    assert -1.0 <= scaffold_gain(answered, correct, confidence, penalty, normalized=True) <= 1.0


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1), penalties)
def test_correctness_of_an_abstention_does_not_matter(trials, penalty):
    answered, correct = np.array(trials, dtype=float).T
    other = np.where(answered > 0, correct, 1 - correct)
    assert mean_utility(answered, correct, penalty) == mean_utility(answered, other, penalty)
    assert answered_accuracy(answered, correct) == pytest.approx(
        answered_accuracy(answered, other), nan_ok=True
    )


def test_value_of_the_scaffold_has_an_interval_paired_by_question():
    answered, correct, confidence, _ = simulated(n=100)
    penalty = np.full(100, 10.0)
    interval = bootstrap(scaffold_gain, answered, correct, confidence, penalty, n_resamples=2000)
    per_question = scaffold_gain(answered, correct, confidence, 10.0, weights=100 * np.eye(100))
    assert interval.estimate == pytest.approx(per_question.mean())
    assert interval.standard_error == pytest.approx(per_question.std() / 10, rel=0.05)


# The fitted threshold


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 1.0]),
            st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]),
            st.sampled_from([0.0, 1.0]),
        ),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from(PAPER_PENALTIES),
)
def test_no_threshold_has_a_higher_utility_than_the_fitted_one_and_no_higher_one_the_same(trials, penalty):
    def utility(threshold):
        return sum(
            (1.0 if right else -penalty) for right, sure, given_ in trials if given_ and sure >= threshold
        )

    options = [*{sure for _, sure, _ in trials}, np.inf]
    highest = max(map(utility, options))
    right, sure, available = map(list, zip(*trials, strict=True))
    found = fitted_threshold(right, sure, penalty, available)
    assert found == max(each for each in options if utility(each) > highest - 1e-9)


@pytest.mark.parametrize("penalty", PAPER_PENALTIES)
def test_the_fitted_threshold_of_calibrated_confidence_is_the_next_above_the_optimal_one(penalty):
    confidence = np.arange(1.0, 1000.0) / 1000.0  # the outcome is its expectation
    above = confidence[confidence > optimal_threshold(penalty) + 1e-6]
    assert fitted_threshold(confidence, confidence, penalty) == above.min()


def test_a_threshold_cannot_be_fitted_without_trials_or_on_other_numbers_of_trials():
    assert np.isnan(fitted_threshold([], [], 1.0))
    with pytest.raises(ValueError, match="available"):
        fitted_threshold([1, 0], [0.5, 0.6], 1.0, [1])
