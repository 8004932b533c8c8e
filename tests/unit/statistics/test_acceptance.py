"""Acceptance thresholds against a plain search with SciPy's exact binomial test."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from confidence_tasks.statistics import Reason, acceptance_threshold
from confidence_tasks.statistics.acceptance import fewest_answers, threshold_of_share


def searched(correct: Sequence[int], confidence: Sequence[float], accuracy: float, level: float) -> float:
    """Go down the confidences one by one, and test whether the accuracy of those at or above is too low."""
    found, started, n = math.nan, False, len(correct)
    for threshold in sorted(set(confidence), reverse=True):
        accepted = [right for right, stated in zip(correct, confidence, strict=True) if stated >= threshold]
        started = started or (accuracy ** len(accepted) <= 1 - level and len(accepted) * 5 >= n)
        if not started:
            continue
        if binomtest(sum(accepted), len(accepted), accuracy, alternative="greater").pvalue > 1 - level:
            break
        found = threshold
    return found


answers = st.lists(st.tuples(st.sampled_from([1, 1, 1, 1, 0]), st.integers(0, 10)), min_size=1, max_size=120)


@given(answers, st.sampled_from([0.5, 0.6, 0.77]), st.sampled_from([0.9, 0.93]))
def test_a_threshold_is_that_of_a_plain_search(rows, accuracy, level):
    correct, confidence = [right for right, _ in rows], [stated / 10 for _, stated in rows]
    found = acceptance_threshold(correct, confidence, accuracy=accuracy, level=level)
    np.testing.assert_equal(float(found.threshold), searched(correct, confidence, accuracy, level))
    if found.n_accepted:
        taken = [
            right for right, stated in zip(correct, confidence, strict=True) if stated >= found.threshold
        ]
        assert (found.n_accepted, found.accuracy) == (len(taken), pytest.approx(np.mean(taken)))
        exact = binomtest(sum(taken), len(taken), alternative="greater").proportion_ci(level, method="exact")
        assert found.low == pytest.approx(exact.low)
        assert found.low >= accuracy


@given(answers, st.floats(0.01, 1.0))
def test_a_share_is_accepted_and_no_higher_confidence_would_do(rows, share):
    correct, confidence = [right for right, _ in rows], np.array([stated / 10 for _, stated in rows])
    found = threshold_of_share(correct, confidence, share=share)
    assert found.share >= share - 1e-9
    higher = confidence[confidence > found.threshold]
    assert len(higher) / len(rows) < share
    assert 0.0 <= found.low <= found.accuracy


@given(answers, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, random):
    shuffled = random.sample(rows, len(rows))
    first, second = (
        acceptance_threshold([r for r, _ in each], [c / 10 for _, c in each], accuracy=0.6)
        for each in (rows, shuffled)
    )
    np.testing.assert_equal(float(first.threshold), float(second.threshold))


def test_repeated_trials_of_a_question_are_no_more_questions():
    correct, confidence = np.ones(40), np.full(40, 0.9)
    assert acceptance_threshold(correct, confidence, accuracy=0.9).n_accepted == 40
    repeated = acceptance_threshold(
        np.tile(correct, 3), np.tile(confidence, 3), accuracy=0.9, clusters=np.tile(np.arange(40), 3)
    )
    assert (repeated.n, repeated.n_accepted) == (40, 40)
    one = acceptance_threshold(correct, confidence, accuracy=0.9, clusters=np.zeros(40))
    assert (one.n, one.threshold.reason) == (1, Reason.TOO_FEW)


def test_of_the_trials_of_a_question_every_one_may_be_drawn():
    correct, question = np.tile([1, 0], 50), np.repeat(np.arange(50), 2)
    found = {
        threshold_of_share(correct, np.full(100, 0.5), share=1, clusters=question, seed=seed).accuracy
        for seed in range(20)
    }
    assert 0.2 < min(found) < 0.5 < max(found) < 0.8


@pytest.mark.parametrize(
    ("accuracy", "level", "n"), [(0.9, 0.95, 29), (0.95, 0.95, 59), (0.99, 0.95, 299), (0.5, 0.5, 1)]
)
def test_that_many_right_answers_show_an_accuracy_and_one_less_does_not(accuracy, level, n):
    assert fewest_answers(accuracy, level=level) == n
    confidence = np.full(n, 0.9)
    assert acceptance_threshold(np.ones(n), confidence, accuracy=accuracy, level=level).threshold == 0.9
    fewer = acceptance_threshold(np.ones(n - 1), confidence[1:], accuracy=accuracy, level=level)
    assert fewer.threshold.reason is (Reason.TOO_FEW if n > 1 else Reason.EMPTY)


def test_no_threshold_is_an_answer():
    found = acceptance_threshold(np.tile([1, 0], 200), np.full(400, 0.9), accuracy=0.9)
    assert math.isnan(found.threshold)
    assert (found.threshold.reason, found.share, found.n_accepted) == (Reason.NOT_REACHED, 0.0, 0)
    assert threshold_of_share([], [], share=0.5).threshold.reason is Reason.EMPTY


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"accuracy": 95}, "accuracy must lie in"),
        ({"accuracy": 0.0}, "accuracy must lie in"),
        ({"accuracy": 0.9, "level": 1.0}, "level must lie in"),
        ({"accuracy": 0.9, "clusters": [1]}, "clusters must have shape"),
    ],
)
def test_odd_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        acceptance_threshold([1, 0], [0.9, 0.2], **options)


@pytest.mark.parametrize("share", [0.0, 1.5, math.nan])
def test_odd_shares_are_refused(share):
    with pytest.raises(ValueError, match="share must lie in"):
        threshold_of_share([1, 0], [0.9, 0.2], share=share)


def test_a_probability_of_being_right_is_refused():
    with pytest.raises(ValueError, match="only 0 and 1"):
        acceptance_threshold([0.5], [0.9], accuracy=0.9)
