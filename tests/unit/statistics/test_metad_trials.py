import numpy as np
import pytest
from scipy.special import ndtr

from confidence_tasks.statistics import Reason, fit_meta_d, meta_d_2afc
from confidence_tasks.statistics.sdt import (
    correctness_table,
    m_ratio_2afc,
    m_ratio_ratings,
    meta_d_ratings,
    two_choice_table,
)


@pytest.fixture
def rng():
    return np.random.default_rng(20240229)


def two_choice_trials(rng, n, d=1.5, noise=0.0):
    """An observer whose confidence reads its evidence through noise."""
    stimulus = rng.integers(0, 2, n)
    evidence = rng.normal(d * (stimulus - 0.5))
    correct = (evidence > 0) == stimulus
    return correct.astype(float), np.abs(evidence) + noise * rng.normal(size=n), stimulus.astype(float)


# Shapes


@pytest.mark.parametrize("statistic", [meta_d_2afc, m_ratio_2afc])
@pytest.mark.parametrize("edges", [None, [0.4, 0.9, 1.4]])
def test_weights_of_two_alternatives_are_repetitions(rng, statistic, edges):
    trials = two_choice_trials(rng, 60)
    weights = rng.multinomial(60, np.full(60, 1 / 60), size=6)
    values = statistic(*trials, edges=edges, weights=weights)
    for value, row in zip(values, weights, strict=True):
        assert value == pytest.approx(statistic(*(np.repeat(x, row) for x in trials), edges=edges), abs=1e-8)


@pytest.mark.parametrize("statistic", [meta_d_ratings, m_ratio_ratings])
@pytest.mark.parametrize("edges", [None, [-1, 0, 0.5, 1, 1.5, 2, 3]])
def test_weights_of_ratings_are_repetitions(rng, statistic, edges):
    correct = rng.integers(0, 2, 60)
    confidence = correct + rng.normal(size=60)
    weights = rng.multinomial(60, np.full(60, 1 / 60), size=6)
    values = statistic(correct, confidence, edges=edges, weights=weights)
    for value, row in zip(values, weights, strict=True):
        again = np.repeat(correct, row), np.repeat(confidence, row)
        assert value == pytest.approx(statistic(*again, edges=edges), abs=1e-8)


# Errors and degenerate input


@pytest.mark.parametrize(
    ("trials", "options", "message"),
    [
        (([1, 0], [0.5, 0.6], [1]), {}, "lengths differ"),
        (([1, 0], [0.5], [1, 0]), {}, "lengths differ"),
        (([1, 0], [0.5, np.nan], [1, 0]), {}, "NaN"),
        (([1, 0], [0.5, 0.6], [1, 2]), {}, "stimulus"),
        (([1, 0], [0.5, 0.6], [1, 0]), {"edges": [0.1]}, "3 inner edges"),
        (([1, 0], [0.5, 0.6], [1, 0]), {"n_ratings": 0}, "n_ratings"),
        (([1, 0], [0.5, 0.6], [1, 0]), {"s": -1}, "positive"),
    ],
)
def test_invalid_trials_and_options_raise(trials, options, message):
    with pytest.raises(ValueError, match=message):
        meta_d_2afc(*trials, **options)


def test_degenerate_trials_have_a_reason():
    assert meta_d_2afc([], [], []).reason is Reason.EMPTY
    assert meta_d_2afc([1, 0], [0.5, 0.6], [1, 1]).reason is Reason.ONE_CLASS
    assert meta_d_ratings([], []).reason is Reason.EMPTY
    assert meta_d_ratings([1], [0.5]).reason is Reason.ONE_CLASS
    assert meta_d_ratings([1, 1], [0.5, 0.7]).reason is Reason.ONE_CLASS
    constant = {"padding": "none"}
    assert meta_d_ratings([1, 0, 1], [0.5, 0.5, 0.5], **constant).reason is Reason.NOT_IDENTIFIED


# Correctness


def test_the_response_follows_from_stimulus_and_correctness():
    correct, stimulus, confidence = [1, 1, 0, 0, 1], [0, 1, 0, 1, 1], [1, 2, 1, 2, 2]
    built = two_choice_table(correct, confidence, stimulus, n_ratings=2, edges=[1.5])
    assert np.array_equal(built, [[0, 1, 1, 0], [1, 0, 0, 2]])


def test_results_are_the_fits_of_the_tables(rng):
    trials = two_choice_trials(rng, 500, noise=0.5)
    fit = fit_meta_d(*two_choice_table(*trials, n_ratings=3), s=1.2, padding="hautus", response="S2")
    options = {"n_ratings": 3, "s": 1.2, "padding": "hautus", "response": "S2"}
    assert meta_d_2afc(*trials, **options) == fit.meta_d
    assert m_ratio_2afc(*trials, **options) == fit.m_ratio
    fit = fit_meta_d(*correctness_table(*trials[:2]))
    assert (meta_d_ratings(*trials[:2]), m_ratio_ratings(*trials[:2])) == (fit.meta_d, fit.m_ratio)


def test_two_alternatives_distinguish_good_metacognition_from_bad(rng):
    assert m_ratio_2afc(*two_choice_trials(rng, 40_000)) == pytest.approx(1.0, abs=0.05)
    assert m_ratio_2afc(*two_choice_trials(rng, 40_000, noise=1.0)) < 0.75


def test_ratings_do_not_distinguish_good_metacognition_from_bad(rng):
    """The warning of the docstring: confidence of any quality gives a ratio near 1."""
    for quality in (0.5, 1.0, 2.0):
        correct = rng.integers(0, 2, 100_000)
        confidence = quality * correct + rng.normal(size=100_000)
        assert m_ratio_ratings(correct, confidence) == pytest.approx(1.0, abs=0.06)
        assert meta_d_ratings(correct, confidence) == pytest.approx(quality, rel=0.06)


# Invariance


def test_monotone_maps_of_confidence_change_nothing(rng):
    correct, confidence, stimulus = two_choice_trials(rng, 300, noise=0.3)
    plain = meta_d_2afc(correct, confidence, stimulus)
    # Edges lie between values: linear maps keep them there to the digit, others keep the order of all values.
    assert meta_d_2afc(correct, 3 * confidence - 7, stimulus) == pytest.approx(plain, abs=1e-9)
    assert meta_d_2afc(correct, np.argsort(np.argsort(confidence)), stimulus) == pytest.approx(
        plain, abs=1e-9
    )


def test_the_order_of_trials_does_not_matter(rng):
    trials = two_choice_trials(rng, 300)
    order = rng.permutation(300)
    assert meta_d_2afc(*trials) == pytest.approx(meta_d_2afc(*(x[order] for x in trials)), abs=1e-12)


@pytest.mark.slow
def test_many_trials(rng):
    correct, confidence, stimulus = two_choice_trials(rng, 100_000)
    result = fit_meta_d(*two_choice_table(correct, confidence, stimulus))
    assert result.m_ratio == pytest.approx(1.0, abs=0.03)
    assert result.m_ratio_se < 0.0175
    probability = ndtr(confidence)
    assert m_ratio_ratings(correct, probability) > 0
