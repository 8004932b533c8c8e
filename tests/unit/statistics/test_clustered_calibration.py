"""The interval of a calibration error where a question has several trials, against means and simulated normal gaps."""

import numpy as np
import pytest

from confidence_tasks import compare
from confidence_tasks.statistics import ece, ece_interval
from confidence_tasks.statistics.calibration.clustering import Clustering


def repeated(n_questions, times, seed=1):
    """Return answers that are the same in every epoch, with a confidence that varies and is too high in every bin."""
    rng = np.random.default_rng(seed)
    correct = np.repeat((rng.random(n_questions) < 0.6).astype(float), times)
    return (
        correct,
        rng.choice([0.75, 0.85, 0.95], n_questions * times),
        np.repeat(np.arange(n_questions), times),
    )


@pytest.mark.parametrize("times", [3, 5, 10])
@pytest.mark.parametrize(
    "how", [{}, {"bins": 20}, {"binning": "equal_mass"}, {"edges": "left_closed"}], ids=str
)
def test_the_interval_of_an_ece_that_is_the_overconfidence_is_that_of_a_mean(times, how):
    correct, confidence, questions = repeated(100, times)
    by_question = (confidence - correct).reshape(100, times).mean(axis=1)
    assert ece(correct, confidence, **how) == pytest.approx(by_question.mean())
    low, high = ece_interval(correct, confidence, questions=questions, **how)
    reach = 1.984 * by_question.std(ddof=1) / 10.0
    assert (low, high) == pytest.approx((by_question.mean() - reach, by_question.mean() + reach), abs=0.012)


@pytest.mark.parametrize("how", [{}, {"binning": "equal_mass"}], ids=str)
def test_labels_of_single_trials_change_no_bit(how):
    correct, confidence, _ = repeated(100, 1)
    labels = np.random.default_rng(0).permutation(100)
    assert ece_interval(correct, confidence, questions=labels, **how) == ece_interval(
        correct, confidence, **how
    )


@pytest.mark.slow
def test_equal_models_asked_five_times_seldom_differ():
    """Without the covariance between bins, one difference in five is significant."""
    found = []
    for seed in range(60):
        first, second = (repeated(60, 5, seed=[seed, side]) for side in (0, 1))
        differences = compare(
            first[:2], second[:2], questions=first[2], measures=["ece"], n_resamples=100
        ).to_frame()
        found.append(bool(differences["p_value"].iloc[0] <= 0.05))
    assert np.mean(found) < 0.12


@pytest.mark.parametrize("gaps", [(0.0, 0.0, 0.0), (0.3, -0.8, 0.0), (1.0, 2.0, -1.5), (4.0, -5.0, 6.0)])
@pytest.mark.parametrize("correlation", [0.2, 0.5, -0.4])
def test_the_variance_of_a_sum_of_absolute_gaps_is_that_of_correlated_normal_ones(gaps, correlation):
    off_diagonal = correlation * (1.0 - np.eye(3))
    errors = np.array([1.0, 0.7, 1.2])
    zero = np.zeros((3, 3))
    clustering = Clustering(off_diagonal, off_diagonal**2, zero, zero, 99.0)
    added = clustering.of_absolute_values(np.array([gaps]), errors[np.newaxis], np.zeros((1, 3)))
    factor = np.linalg.cholesky(np.eye(3) + off_diagonal)
    drawn = np.abs(np.random.default_rng(0).normal(size=(400_000, 3)) @ factor.T * errors + gaps)
    expected = drawn.sum(axis=1).var() - drawn.var(axis=0).sum()
    assert added[0] == pytest.approx(expected, abs=0.03)


def test_a_passage_whose_questions_vary_in_number_adds_the_variance_of_the_numbers():
    """The gaps are .5 and .1, so the ECE varies with the share of trials in each bin."""
    rng = np.random.default_rng(0)
    widths = {}
    for alike in (True, False):
        in_first = np.repeat(rng.random(100) < 0.5, 10) if alike else rng.random(1_000) < 0.5
        confidence = np.where(in_first, 0.95, 0.55)
        correct = (rng.random(1_000) < 0.45).astype(float)
        low, high = ece_interval(correct, confidence, questions=np.repeat(np.arange(100), 10))
        widths[alike] = high - low
    assert widths[True] > 1.3 * widths[False]
