from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss
from sklearn.metrics import log_loss as sklearn_log_loss

from confidence_tasks.statistics import Reason, brier, log_loss
from confidence_tasks.statistics.calibration import corp_decomposition, murphy_decomposition, spiegelhalter_z

samples = st.lists(
    st.tuples(st.one_of(st.booleans(), st.floats(0, 1)), st.sampled_from([0.0, 0.1, 0.5, 0.85, 0.9, 1.0])),
    min_size=1,
    max_size=30,
).map(lambda trials: (np.array([t[0] for t in trials], float), np.array([t[1] for t in trials])))


def simulated(n, seed=0, values=None):
    rng = np.random.default_rng(seed)
    confidence = rng.beta(4, 1, n) if values is None else rng.choice(values, n)
    return (rng.random(n) < confidence**2).astype(float), confidence


# Errors and degenerate samples


@pytest.mark.parametrize("clip", [-0.1, 0.5, np.nan])
def test_clip_outside_its_domain_raises(clip):
    with pytest.raises(ValueError, match=r"clip must lie in \[0, 0.5\)"):
        log_loss([1], [0.5], clip=clip)


@pytest.mark.parametrize(
    ("options", "message"), [({"bins": 0}, "bins"), ({"bins": 5, "edges": "no"}, "edges")]
)
def test_unknown_bins_raise(options, message):
    with pytest.raises(ValueError, match=message):
        murphy_decomposition([1], [0.5], **options)


@pytest.mark.parametrize("confidence", [[0.0, 1.0], [0.5, 0.5], [0.0, 0.5]])
def test_a_score_without_variance_has_no_z(confidence):
    value = spiegelhalter_z([1, 0], confidence)
    assert np.isnan(value)
    assert value.reason is Reason.NOT_IDENTIFIED


# Correctness


def test_brier_matches_sklearn():
    correct, confidence = simulated(500)
    assert brier(correct, confidence) == pytest.approx(brier_score_loss(correct, confidence), rel=1e-12)


def test_log_loss_matches_sklearn():
    correct, confidence = simulated(500)
    confidence[:5] = [0, 0, 1, 1, 1]
    clip = np.finfo(float).eps
    expected = sklearn_log_loss(correct, np.column_stack([1 - confidence, confidence]))
    assert log_loss(correct, confidence, clip=clip) == pytest.approx(expected, rel=1e-12)


def test_a_certainty_that_fails_costs_everything_and_one_that_holds_nothing():
    assert log_loss([0, 1], [1.0, 0.9]) == np.inf
    assert log_loss([1, 0], [1.0, 0.0]) == 0.0


def test_a_failed_certainty_that_is_not_drawn_costs_nothing():
    weights = [[0, 1, 0], [1, 1, 0], [0, 1, 2]]
    result = log_loss([0, 1, 1], [1.0, 0.5, 1.0], weights=weights)
    np.testing.assert_allclose(result, [np.log(2), np.inf, np.log(2) / 3])


@pytest.mark.parametrize("score", [brier, log_loss])
def test_scores_of_probabilities_are_expectations_over_outcomes(score):
    probability, confidence = np.array([0.2, 0.7, 0.9]), np.array([0.4, 0.7, 0.8])
    expected = sum(
        np.prod(np.where(outcome, probability, 1 - probability)) * score(outcome, confidence)
        for outcome in map(np.array, product([0.0, 1.0], repeat=3))
    )
    assert score(probability, confidence) == pytest.approx(expected, rel=1e-12)


@given(samples)
def test_murphy_parts_over_distinct_values_add_up_to_brier(sample):
    parts = murphy_decomposition(*sample)
    total = parts.reliability - parts.resolution + parts.uncertainty
    assert total == pytest.approx(brier(*sample), abs=1e-12)
    assert parts.within_bin == 0.0


@pytest.mark.parametrize("binning", ["equal_width", "equal_mass"])
def test_murphy_parts_over_bins_match_their_definitions(binning):
    correct, confidence = simulated(600, seed=1)
    parts = murphy_decomposition(correct, confidence, bins=8, binning=binning)
    inner = (
        np.arange(1, 8) / 8
        if binning == "equal_width"
        else np.quantile(confidence, np.arange(1, 8) / 8, method="inverted_cdf")
    )
    index = np.searchsorted(inner, confidence, side="left")
    reliability = resolution = variance = covariance = 0.0
    for where in np.unique(index):
        y, c = correct[index == where], confidence[index == where]
        reliability += len(y) / 600 * (c.mean() - y.mean()) ** 2
        resolution += len(y) / 600 * (y.mean() - correct.mean()) ** 2
        variance += np.sum((c - c.mean()) ** 2) / 600
        covariance += 2 * np.sum((y - y.mean()) * (c - c.mean())) / 600
    assert parts.reliability == pytest.approx(reliability, rel=1e-10)
    assert parts.resolution == pytest.approx(resolution, rel=1e-10)
    assert parts.uncertainty == pytest.approx(correct.var(), rel=1e-12)
    assert parts.within_bin == pytest.approx(variance - covariance, rel=1e-9)


@pytest.mark.parametrize("values", [None, np.arange(0, 1.01, 0.05), [0.8, 0.9]])
def test_corp_parts_are_those_of_isotonic_regression(values):
    correct, confidence = simulated(400, seed=2, values=values)
    weights = np.random.default_rng(3).multinomial(400, np.full(400, 1 / 400), size=40).astype(float)
    result = corp_decomposition(correct, confidence, weights=weights)
    for i, row in enumerate(weights):
        isotonic = IsotonicRegression(out_of_bounds="clip").fit(confidence, correct, sample_weight=row)
        fitted = isotonic.predict(confidence)
        recalibrated = np.average((fitted - correct) ** 2, weights=row)
        constant = np.average((np.average(correct, weights=row) - correct) ** 2, weights=row)
        score = np.average((confidence - correct) ** 2, weights=row)
        assert result.miscalibration[i] == pytest.approx(score - recalibrated, abs=1e-12)
        assert result.discrimination[i] == pytest.approx(constant - recalibrated, abs=1e-12)
        assert result.uncertainty[i] == pytest.approx(constant, abs=1e-12)


def test_corp_stays_exact_over_thousands_of_resamples():
    correct, confidence = simulated(50, seed=4)
    weights = np.random.default_rng(5).multinomial(50, np.full(50, 1 / 50), size=20_000).astype(float)
    result = corp_decomposition(correct, confidence, weights=weights).miscalibration
    np.testing.assert_allclose(
        result[-3:], corp_decomposition(correct, confidence, weights=weights[-3:]).miscalibration, atol=1e-12
    )


def test_spiegelhalter_z_is_the_standardised_brier_score():
    correct, confidence = np.array([1.0, 0, 1, 1, 0]), np.array([0.9, 0.3, 0.6, 0.75, 0.2])
    outcomes = np.array(list(product([0.0, 1.0], repeat=5)))
    chances = np.prod(np.where(outcomes == 1, confidence, 1 - confidence), axis=1)
    scores = ((outcomes - confidence) ** 2).mean(axis=1)
    mean = chances @ scores
    deviation = np.sqrt(chances @ (scores - mean) ** 2)
    expected = (brier(correct, confidence) - mean) / deviation
    assert spiegelhalter_z(correct, confidence) == pytest.approx(expected, rel=1e-12)


def test_spiegelhalter_z_is_standard_normal_under_calibration():
    rng = np.random.default_rng(6)
    confidence = rng.beta(3, 1, 400)
    result = [spiegelhalter_z(outcome, confidence) for outcome in (rng.random((1000, 400)) < confidence)]
    assert stats.kstest(result, "norm").pvalue > 0.01


# Properties


@given(samples)
def test_corp_parts_are_bounded_and_add_up_to_brier(sample):
    parts = corp_decomposition(*sample)
    assert parts.miscalibration >= -1e-12
    assert -1e-12 <= parts.discrimination <= parts.uncertainty + 1e-12
    total = parts.miscalibration - parts.discrimination + parts.uncertainty
    assert total == pytest.approx(brier(*sample), abs=1e-12)


@given(samples)
def test_corp_discriminates_no_more_than_distinct_values_do(sample):
    assert corp_decomposition(*sample).discrimination <= murphy_decomposition(*sample).resolution + 1e-12


@given(samples)
def test_corp_discrimination_depends_on_ranks_only(sample):
    correct, confidence = sample
    moved = corp_decomposition(correct, confidence**2 / 3).discrimination
    assert moved == pytest.approx(corp_decomposition(*sample).discrimination, abs=1e-12)


@given(samples)
def test_stating_the_truth_scores_best(sample):
    probability, confidence = sample
    assert brier(probability, probability) <= brier(probability, confidence) + 1e-12
    assert log_loss(probability, probability) <= log_loss(probability, confidence) + 1e-12
