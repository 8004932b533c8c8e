"""Common properties of all statistics of (correct, confidence, weights), tested on a table of the statistics."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confidence_tasks.statistics as s

VALUES = np.array([0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 1.0])
"""Confidences as models state them, with both ends and many ties."""


def part(function, name, **options):
    """Return one attribute of the result of a statistic as a statistic."""
    return lambda *arrays, weights=None: getattr(function(*arrays, weights=weights, **options), name)


def of_confidence(function, **options):
    """A statistic of confidence alone, called like the others."""
    return lambda correct, confidence, *, weights=None: function(confidence, weights=weights, **options)


CALIBRATION = {
    "ece": s.ece,
    "ece_left_closed": partial(s.ece, edges="left_closed"),
    "ece_extra_bin": partial(s.ece, edges="extra_bin"),
    "ece_equal_mass": partial(s.ece, bins=4, binning="equal_mass"),
    "ece_equal_mass_left_closed": partial(s.ece, bins=4, binning="equal_mass", edges="left_closed"),
    "mce": s.calibration.mce,
    "overconfidence": s.overconfidence,
    "smooth_ece": s.calibration.smooth_ece,
    "smooth_ece_fixed": partial(s.calibration.smooth_ece, bandwidth=0.1),
    "brier": s.brier,
    "log_loss": partial(s.log_loss, clip=0.005),
    "log_loss_unclipped": s.log_loss,
    "murphy_reliability": part(s.calibration.murphy_decomposition, "reliability"),
    "murphy_resolution": part(s.calibration.murphy_decomposition, "resolution", bins=5),
    "murphy_uncertainty": part(s.calibration.murphy_decomposition, "uncertainty"),
    "murphy_within_bin": part(s.calibration.murphy_decomposition, "within_bin", bins=5, binning="equal_mass"),
    "corp_miscalibration": part(s.calibration.corp_decomposition, "miscalibration"),
    "corp_discrimination": part(s.calibration.corp_decomposition, "discrimination"),
    "corp_uncertainty": part(s.calibration.corp_decomposition, "uncertainty"),
    "recalibration_intercept": part(s.calibration.logistic_recalibration, "intercept"),
    "confidence_correlation": s.calibration.confidence_correlation,
    "calibration_slope": s.calibration.calibration_slope,
    "calibration_intercept": s.calibration.calibration_intercept,
    "auarc": s.auarc,
    "aurc": s.selective.aurc,
    "accuracy_at_coverage": partial(s.accuracy_at_coverage, coverage=0.37),
}
BINARY = {
    "debiased_ece": s.calibration.debiased_ece,
    "spiegelhalter_z": s.calibration.spiegelhalter_z,
    "auroc2": s.auroc2,
}
CONFIDENCE_ONLY = {
    "ece_noise_floor": of_confidence(s.calibration.ece_noise_floor),
    "top_value": of_confidence(s.discretization.top_value),
    "top_share": of_confidence(s.discretization.top_share, k=3),
    "distinct_values": of_confidence(s.discretization.distinct_values),
    "confidence_entropy": of_confidence(s.discretization.confidence_entropy),
    "round_share": of_confidence(s.discretization.round_share, lower=0.0, upper=1.0, step=0.05),
    "violation_share": of_confidence(s.discretization.violation_share, lower=0.2, upper=0.8),
    "scale_utilization": of_confidence(s.discretization.scale_utilization, lower=0.0, upper=1.0),
}
TRIALS = CALIBRATION | BINARY
ALL = TRIALS | CONFIDENCE_ONLY

every = pytest.mark.parametrize("name", ALL)
every_of_trials = pytest.mark.parametrize("name", TRIALS)


def simulated(n, seed=0, *, ties=True):
    rng = np.random.default_rng(seed)
    confidence = rng.choice(VALUES, n) if ties else rng.random(n)
    return (rng.random(n) < 0.2 + 0.6 * confidence).astype(float), confidence


def counts(rows, n, seed=1):
    return np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=rows).astype(float)


# Shapes


@every
def test_plain_call_returns_an_estimate(name):
    assert isinstance(ALL[name](*simulated(50)), s.Estimate)


@every
def test_one_vector_of_weights_returns_an_estimate(name):
    assert isinstance(ALL[name](*simulated(50), weights=np.ones(50)), s.Estimate)


@every
def test_rows_of_weights_return_one_number_a_row(name):
    for rows in (0, 1, 7):
        values = ALL[name](*simulated(50), weights=np.ones((rows, 50)))
        assert type(values) is np.ndarray
        assert values.shape == (rows,)
        assert values.dtype == np.float64


@every
def test_lists_booleans_and_integers_are_taken(name):
    correct, confidence = simulated(30)
    expected = ALL[name](correct, confidence)
    assert ALL[name](correct.astype(bool), list(confidence)) == pytest.approx(expected, nan_ok=True)
    assert ALL[name](correct.astype(int), confidence) == pytest.approx(expected, nan_ok=True)


# Errors


def assert_each_raises(match, calls):
    for call in calls:
        with pytest.raises(ValueError, match=match):
            call()


@every
def test_confidence_that_is_no_number_raises(name):
    assert_each_raises(
        "complete", [partial(ALL[name], [1, 0], [0.5, bad]) for bad in (np.nan, np.inf, -np.inf)]
    )


@every_of_trials
def test_correct_that_is_no_number_raises(name):
    assert_each_raises("complete", [partial(TRIALS[name], [1, bad], [0.5, 0.5]) for bad in (np.nan, np.inf)])


@every_of_trials
def test_confidence_outside_the_unit_interval_raises(name):
    assert_each_raises(
        r"confidence must lie in \[0, 1\]",
        [partial(TRIALS[name], [1, 0], [0.5, bad]) for bad in (-1e-9, 1.0000001, 85)],
    )


@every_of_trials
def test_correct_outside_the_unit_interval_raises(name):
    assert_each_raises("correct must", [partial(TRIALS[name], [1, bad], [0.5, 0.5]) for bad in (-1, 2)])


@pytest.mark.parametrize("name", BINARY)
def test_probabilities_raise_where_outcomes_are_required(name):
    assert_each_raises("only 0 and 1", [partial(BINARY[name], [1, 0.5], [0.5, 0.5])])


@every_of_trials
def test_lengths_that_differ_raise(name):
    assert_each_raises(
        "lengths differ: correct 2, confidence 3", [partial(TRIALS[name], [1, 0], [0.5, 0.5, 0.5])]
    )


@every
def test_impossible_weights_raise(name):
    call = partial(ALL[name], [1, 0], [0.5, 0.5])
    assert_each_raises(
        "weights must have shape",
        [partial(call, weights=np.ones(shape)) for shape in ((3,), (2, 3), (1, 1, 2))],
    )
    assert_each_raises(
        "weights must be finite and non-negative",
        [partial(call, weights=[1.0, bad]) for bad in (-1.0, np.nan, np.inf)],
    )


@every
def test_matrices_raise(name):
    assert_each_raises("one-dimensional", [partial(ALL[name], np.ones((2, 2)), np.ones((2, 2)))])


# Degenerate samples


@every
def test_no_trials_are_nan_with_the_reason(name):
    value = ALL[name]([], [])
    assert np.isnan(value)
    assert value.reason is s.Reason.EMPTY


@every
def test_no_trials_are_nan_in_every_row(name):
    np.testing.assert_array_equal(ALL[name]([], [], weights=np.ones((3, 0))), [np.nan] * 3)


@every
def test_a_row_without_weight_is_nan_and_does_not_change_others(name):
    correct, confidence = simulated(40)
    weights = counts(3, 40)
    weights[1] = 0.0
    values = ALL[name](correct, confidence, weights=weights)
    assert np.isnan(values[1])
    others = ALL[name](correct, confidence, weights=weights[[0, 2]])
    np.testing.assert_allclose(values[[0, 2]], others, rtol=1e-12)


DEGENERATE = {
    "one": ([1], [1.0]),
    "one zero": ([0], [0.0]),
    "one half": ([1], [0.5]),
    "all right": ([1, 1, 1], [0.5, 0.7, 1.0]),
    "all wrong": ([0, 0, 0], [0.0, 0.7, 1.0]),
    "constant": ([1, 0, 1], [0.8, 0.8, 0.8]),
    "constant one": ([1, 0, 1], [1.0, 1.0, 1.0]),
    "constant zero": ([1, 0, 0], [0.0, 0.0, 0.0]),
}


@every
def test_degenerate_samples_give_a_number_or_a_reason(name):
    for sample, trials in DEGENERATE.items():
        value = ALL[name](*trials)
        assert np.isnan(value) == (value.reason is not None), sample


# Properties


@every
@pytest.mark.parametrize("ties", [True, False])
def test_whole_weights_are_repetitions(name, ties):
    correct, confidence = simulated(60, seed=3, ties=ties)
    weights = counts(12, 60)
    repeated = [ALL[name](np.repeat(correct, row), np.repeat(confidence, row)) for row in weights.astype(int)]
    for as_they_lie in (weights, np.asfortranarray(weights)):
        np.testing.assert_allclose(
            ALL[name](correct, confidence, weights=as_they_lie), repeated, rtol=1e-9, atol=1e-11
        )
    np.testing.assert_allclose(
        ALL[name](correct, confidence, weights=weights[0]), repeated[0], rtol=1e-9, atol=1e-11
    )


@every
def test_weights_of_one_change_nothing(name):
    trials = simulated(60)
    assert ALL[name](*trials, weights=np.ones(60)) == ALL[name](*trials)


@every
@pytest.mark.parametrize("ties", [True, False])
def test_the_order_of_the_rows_does_not_matter(name, ties):
    correct, confidence = simulated(80, ties=ties)
    order = np.random.default_rng(5).permutation(80)
    assert ALL[name](correct[order], confidence[order]) == pytest.approx(
        ALL[name](correct, confidence), rel=1e-11, abs=1e-13
    )


@pytest.mark.parametrize("name", CALIBRATION)
def test_probabilities_of_being_right_are_accepted(name):
    rng = np.random.default_rng(2)
    confidence = rng.choice(VALUES, 50)
    assert not np.isnan(CALIBRATION[name](rng.random(50), confidence))


@every
def test_inputs_are_not_changed(name):
    correct, confidence = simulated(30)
    before = correct.copy(), confidence.copy()
    weights = counts(2, 30)
    original = weights.copy()
    ALL[name](correct, confidence, weights=weights)
    for array, copy in zip((correct, confidence, weights), (*before, original), strict=True):
        np.testing.assert_array_equal(array, copy)


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from([*VALUES, 0.1 + 0.2, 1 - 0.9, 1e-300])), max_size=12)
)
def test_nothing_raises_or_warns_on_any_valid_sample(trials):
    correct, confidence = np.array(trials, dtype=float).reshape(-1, 2).T
    for name, statistic in ALL.items():
        value = statistic(correct, confidence)
        assert np.isnan(value) == (value.reason is not None), name


@pytest.fixture(scope="module")
def million():
    return simulated(1_000_000, ties=False)


@pytest.mark.slow
@every
def test_a_million_trials(name, million):
    correct, confidence = million
    assert np.isfinite(ALL[name](correct, confidence)) or name == "log_loss_unclipped"
