from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from sklearn.metrics import auc, roc_auc_score, roc_curve

from confidence_tasks.statistics import (
    Reason,
    accuracy_at_coverage,
    auarc,
    auroc2,
    risk_coverage_curve,
    selective,
)
from confidence_tasks.statistics.discrimination import auroc2_influence, type2_roc_curve
from confidence_tasks.statistics.inference.weights import SharedWeights
from confidence_tasks.statistics.selective import aurc, prediction_rejection_ratio

small_samples = st.lists(
    st.tuples(st.booleans(), st.sampled_from([0.0, 0.5, 0.9, 1.0])), min_size=1, max_size=7
).map(lambda trials: (np.array([t[0] for t in trials], float), np.array([t[1] for t in trials])))


def orderings(confidence):
    """Every order of the trials, most confident first, that the ties leave open."""
    ranked = [order for order in permutations(range(len(confidence))) if descends(confidence, order)]
    return np.array(ranked)


def descends(confidence, order):
    return all(confidence[a] >= confidence[b] for a, b in pairwise(order))


def accuracies(correct, confidence):
    """Accuracy of the m most confident trials, shape (orderings, n)."""
    return np.cumsum(correct[orderings(confidence)], axis=1) / np.arange(1, len(correct) + 1)


def simulated(n, seed=0, values=None):
    rng = np.random.default_rng(seed)
    confidence = rng.random(n) if values is None else rng.choice(values, n)
    return (rng.random(n) < 0.2 + 0.7 * confidence).astype(float), confidence


# Shapes


def test_risk_coverage_curve_has_a_point_for_each_trial():
    curve = risk_coverage_curve(*simulated(30, values=[0.5, 0.9]))
    assert curve.coverage.shape == curve.risk.shape == curve.threshold.shape == curve.accuracy.shape == (30,)


def test_roc_curve_has_a_point_for_each_confidence_and_one_for_none():
    curve = type2_roc_curve(*simulated(30, values=[0.5, 0.8, 0.9]))
    assert curve.threshold.tolist() == [np.inf, 0.9, 0.8, 0.5]
    assert curve.hit_rate.shape == curve.false_alarm_rate.shape == (4,)


# Errors and degenerate samples


@pytest.mark.parametrize("coverage", [0.0, -0.1, 1.1, np.nan])
def test_coverage_outside_its_domain_raises(coverage):
    with pytest.raises(ValueError, match=r"coverage must lie in \(0, 1\]"):
        accuracy_at_coverage([1, 0], [0.9, 0.1], coverage=coverage)


@pytest.mark.parametrize("curve", [risk_coverage_curve, type2_roc_curve])
def test_curves_check_their_input(curve):
    for correct, confidence in (([1, 0], [0.5]), ([1, 0], [0.5, np.nan]), ([1, 2], [0.5, 0.5])):
        with pytest.raises(ValueError, match=r"lengths differ|complete|must"):
            curve(correct, confidence)


def test_curves_of_no_trials_are_empty():
    assert risk_coverage_curve([], []).risk.shape == (0,)
    assert type2_roc_curve([], []).threshold.tolist() == [np.inf]


@pytest.mark.parametrize("correct", [[1, 1, 1], [0, 0, 0]])
def test_one_class_has_no_auroc(correct):
    value = auroc2(correct, [0.1, 0.5, 0.5])
    assert np.isnan(value)
    assert value.reason is Reason.ONE_CLASS


def test_a_rate_of_no_answers_is_nan():
    curve = type2_roc_curve([1, 1], [0.5, 0.9])
    assert np.isnan(curve.false_alarm_rate).all()
    assert curve.hit_rate.tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(("correct", "area"), [([1, 1, 1], 1.0), ([0, 0, 0], 0.0)])
def test_one_class_has_a_risk(correct, area):
    assert auarc(correct, [0.1, 0.5, 0.5]) == pytest.approx(area)


def test_constant_confidence_is_uninformative():
    correct, confidence = [1, 1, 0, 1, 0], [0.8] * 5
    assert auroc2(correct, confidence) == 0.5
    assert auarc(correct, confidence) == pytest.approx(0.6)
    assert accuracy_at_coverage(correct, confidence, coverage=0.2) == pytest.approx(0.6)
    np.testing.assert_allclose(risk_coverage_curve(correct, confidence).risk, 0.4)


# Correctness


@given(small_samples)
def test_areas_are_the_mean_over_all_orderings_of_ties(sample):
    expected = accuracies(*sample)
    np.testing.assert_allclose(risk_coverage_curve(*sample).accuracy, expected.mean(axis=0), atol=1e-12)
    assert auarc(*sample) == pytest.approx(expected.mean(), abs=1e-12)
    assert aurc(*sample) == pytest.approx(1 - expected.mean(), abs=1e-12)


@given(small_samples, st.integers(1, 7))
def test_accuracy_at_a_whole_number_of_trials_is_the_mean_over_orderings(sample, m):
    n = len(sample[0])
    m = min(m, n)
    expected = accuracies(*sample)[:, m - 1].mean()
    assert accuracy_at_coverage(*sample, coverage=m / n) == pytest.approx(expected, abs=1e-12)


def test_coverage_within_a_trial_takes_its_part():
    result = accuracy_at_coverage([1, 0, 1], [0.9, 0.8, 0.1], coverage=0.5)
    assert result == pytest.approx((1 + 0.5 * 0) / 1.5)


@pytest.mark.parametrize("values", [None, [0.0, 0.5, 0.8, 0.9, 1.0]])
def test_auroc2_matches_sklearn(values):
    correct, confidence = simulated(700, seed=1, values=values)
    weights = np.random.default_rng(2).multinomial(700, np.full(700, 1 / 700), size=5).astype(float)
    assert auroc2(correct, confidence) == pytest.approx(roc_auc_score(correct, confidence), rel=1e-12)
    expected = [roc_auc_score(correct, confidence, sample_weight=row) for row in weights]
    np.testing.assert_allclose(auroc2(correct, confidence, weights=weights), expected, rtol=1e-12)


def test_auroc2_takes_weights_of_any_size():
    correct, confidence = simulated(200, seed=1)
    weights = np.random.default_rng(3).random(200)
    expected = roc_auc_score(correct, confidence, sample_weight=weights)
    assert auroc2(correct, confidence, weights=weights) == pytest.approx(expected, rel=1e-12)


def test_roc_curve_matches_sklearn():
    correct, confidence = simulated(400, values=np.arange(0, 1.01, 0.05))
    curve = type2_roc_curve(correct, confidence)
    false_alarms, hits, thresholds = roc_curve(correct, confidence, drop_intermediate=False)
    np.testing.assert_allclose(curve.false_alarm_rate, false_alarms)
    np.testing.assert_allclose(curve.hit_rate, hits)
    np.testing.assert_array_equal(curve.threshold, thresholds)


@given(small_samples.filter(lambda sample: 0 < sample[0].sum() < len(sample[0])))
def test_auroc2_is_the_area_under_its_curve(sample):
    curve = type2_roc_curve(*sample)
    assert auroc2(*sample) == pytest.approx(auc(curve.false_alarm_rate, curve.hit_rate), abs=1e-12)


def test_a_perfect_ranking_has_area_1():
    correct = np.array([1.0] * 30 + [0.0] * 20)
    confidence = np.linspace(1, 0, 50)
    assert auroc2(correct, confidence) == 1.0


def test_fractional_weights_interpolate_harmonic_numbers():
    def harmonic(n):
        return quad(lambda x: (1 - x**n) / (1 - x), 0, 1)[0]

    right, wrong = 2.5, 1.25
    expected = right * (1 + harmonic(right + wrong) - harmonic(right)) / (right + wrong)
    assert auarc([1, 0], [0.9, 0.1], weights=[right, wrong]) == pytest.approx(expected, rel=1e-9)


def test_auarc_of_probabilities_is_its_expectation():
    rng = np.random.default_rng(6)
    probability, confidence = rng.random(40), rng.choice([0.2, 0.6, 0.9], 40)
    outcomes = rng.random((4000, 40)) < probability
    simulated_areas = [auarc(outcome, confidence) for outcome in outcomes]
    assert auarc(probability, confidence) == pytest.approx(np.mean(simulated_areas), abs=0.005)


# Properties


@pytest.mark.parametrize("share_tied", [0.0, 0.5, 1.0])
def test_the_order_of_rows_does_not_matter(share_tied):
    rng = np.random.default_rng(8)
    confidence = np.where(rng.random(300) < share_tied, 0.9, rng.random(300))
    correct = (rng.random(300) < 0.6).astype(float)
    orders = [np.argsort(correct, kind="stable"), np.argsort(-correct, kind="stable"), rng.permutation(300)]
    for statistic in (auroc2, auarc, aurc):
        values = [statistic(correct[order], confidence[order]) for order in orders]
        assert np.ptp(values) < 1e-12
    curves = [risk_coverage_curve(correct[order], confidence[order]).risk for order in orders]
    np.testing.assert_allclose(curves[1:], curves[:-1], atol=1e-12)


@given(small_samples)
def test_only_the_order_of_confidence_matters(sample):
    correct, confidence = sample
    for statistic in (auroc2, auarc):
        value = statistic(correct, confidence**3 / 2)
        assert value == pytest.approx(statistic(correct, confidence), abs=1e-12, nan_ok=True)


@given(small_samples)
def test_swapping_right_and_wrong_mirrors_the_roc(sample):
    correct, confidence = sample
    assert auroc2(1 - correct, confidence) == pytest.approx(1 - auroc2(*sample), abs=1e-12, nan_ok=True)
    assert auarc(1 - correct, confidence) == pytest.approx(aurc(*sample), abs=1e-12)


@given(small_samples)
def test_the_area_is_a_share(sample):
    assert 0.0 <= auarc(*sample) <= 1.0 + 1e-12


@given(small_samples)
def test_full_coverage_is_accuracy(sample):
    assert accuracy_at_coverage(*sample, coverage=1.0) == pytest.approx(sample[0].mean())
    assert risk_coverage_curve(*sample).accuracy[-1] == pytest.approx(sample[0].mean())
    assert risk_coverage_curve(*sample).risk.mean() == pytest.approx(aurc(*sample), abs=1e-12)


def test_weights_larger_than_memory_are_no_larger_work():
    right, stated = [1, 0, 1], [0.9, 0.8, 0.7]
    limit = auarc(right, stated, weights=[1e6] * 3)
    assert auarc(right, stated, weights=[5e11] * 3) == pytest.approx(limit, abs=1e-6)


def test_influence_on_the_area_adds_up_to_de_long_s_variance():
    """By pairs: the structural components of DeLong, DeLong & Clarke-Pearson, one answer at a time."""
    rng = np.random.default_rng(4)
    correct, confidence = rng.integers(0, 2, 40).astype(float), rng.integers(0, 6, 40) / 5
    right, wrong = confidence[correct == 1.0], confidence[correct == 0.0]
    wins = (right[:, None] > wrong) + 0.5 * (right[:, None] == wrong)
    variance = wins.mean(axis=1).var(ddof=1) / len(right) + wins.mean(axis=0).var(ddof=1) / len(wrong)
    influence, added = auroc2_influence(correct, confidence)
    assert np.square(influence).sum() == pytest.approx(variance)
    assert added.tolist() == [0.0]
    assert influence.sum() == pytest.approx(0.0, abs=1e-12)

    twice, _ = auroc2_influence(correct, confidence, weights=np.full((1, 40), 2.0))
    repeated, _ = auroc2_influence(np.tile(correct, 2), np.tile(confidence, 2))
    np.testing.assert_allclose(twice[0], repeated[0, :40])


# Prediction rejection ratio


def kept_accuracy(correct, order, rejected):
    """Return the mean accuracy of the remaining trials as trials are rejected from the end of an order."""
    n = len(correct)
    return np.mean([np.mean(correct[list(order[:m])]) for m in range(n - rejected + 1, n + 1)])


@given(small_samples, st.sampled_from([0.3, 0.5, 0.75, 1.0]))
def test_rejection_gains_a_part_of_what_the_best_order_gains(sample, most):
    correct, confidence = sample
    rejected = int(most * len(correct))
    result = prediction_rejection_ratio(correct, confidence, max_rejection=most)
    if rejected < 2 or correct.mean() in (0.0, 1.0):
        assert np.isnan(result)
        return
    n = len(correct)
    area = np.mean([kept_accuracy(correct, order, rejected) for order in orderings(confidence)])
    best = kept_accuracy(correct, sorted(range(n), key=lambda i: -correct[i]), rejected)
    accuracy = correct.mean()  # over all orders, any number of trials kept is as accurate as all
    assert result == pytest.approx((area - accuracy) / (best - accuracy))


def test_rejection_by_a_perfect_and_by_an_inverted_order():
    correct = np.array([1.0, 1.0, 0.0, 1.0, 0.0, 0.0])
    for most in (0.5, 1.0):
        assert prediction_rejection_ratio(correct, correct, max_rejection=most) == pytest.approx(1.0)
        assert prediction_rejection_ratio(correct, 1 - correct, max_rejection=most) < 0.0
        assert prediction_rejection_ratio(correct, np.full(6, 0.5), max_rejection=most) == pytest.approx(0.0)


def test_rejection_takes_weights_as_copies_of_trials():
    correct, confidence = simulated(25, values=[0.5, 0.7, 0.9])
    weights = np.random.default_rng(3).integers(0, 4, (6, 25))
    for most in (0.5, 1.0):
        together = prediction_rejection_ratio(correct, confidence, max_rejection=most, weights=weights)
        apart = [
            prediction_rejection_ratio(
                np.repeat(correct, row), np.repeat(confidence, row), max_rejection=most
            )
            for row in weights
        ]
        assert together == pytest.approx(apart)


def test_missing_rejection_ratios_have_a_reason():
    assert prediction_rejection_ratio([], []).reason is Reason.EMPTY
    assert prediction_rejection_ratio([1, 1], [0.5, 0.6]).reason is Reason.ONE_CLASS
    assert prediction_rejection_ratio([1, 0], [0.5, 0.6], max_rejection=0.5).reason is Reason.TOO_FEW
    for most in (0.0, 1.5, np.nan):
        with pytest.raises(ValueError, match="max_rejection"):
            prediction_rejection_ratio([1, 0], [0.5, 0.6], max_rejection=most)


def test_measures_of_the_same_resamples_rank_the_trials_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    correct, confidence = (rng.random(50) < 0.5) * 1.0, rng.random(50)
    weights = rng.multinomial(50, np.full(50, 1 / 50), size=20)
    apart = [
        auarc(correct, confidence, weights=weights),
        prediction_rejection_ratio(correct, confidence, weights=weights),
        prediction_rejection_ratio(correct, confidence, max_rejection=0.5, weights=weights),
    ]
    ranked = []
    ranking = selective._ranking
    monkeypatch.setattr(selective, "_ranking", lambda *args: ranked.append(args) or ranking(*args))
    shared = SharedWeights.of(weights)
    together = [
        auarc(correct, confidence, weights=shared),
        prediction_rejection_ratio(correct, confidence, weights=shared),
        prediction_rejection_ratio(correct, confidence, max_rejection=0.5, weights=shared),
    ]
    assert len(ranked) == 2  # by confidence, and by correctness for the oracle
    np.testing.assert_array_equal(apart, together)


@pytest.mark.parametrize("tied", ["none", "few", "all"])
@pytest.mark.parametrize("equal_totals", [True, False])
@pytest.mark.parametrize("dtype", [float, np.uint8])
def test_whole_weights_are_repeated_trials(dtype, equal_totals: bool, tied: str) -> None:
    rng = np.random.default_rng(1)
    n = 60
    correct, distinct = (rng.random(n) < 0.5) * 1.0, rng.random(n)
    share = {"none": 0.0, "few": 0.5, "all": 1.0}[tied]
    confidence = np.where(rng.random(n) < share, distinct.round(1), distinct)
    weights = (
        rng.multinomial(n, np.full(n, 1 / n), size=7) if equal_totals else rng.integers(0, 4, (7, n))
    ).astype(dtype)
    shared = SharedWeights.of(weights)
    areas = auarc(correct, confidence, weights=shared)
    ratios = prediction_rejection_ratio(correct, confidence, max_rejection=0.3, weights=shared)
    for row, area, gain in zip(weights.astype(int), areas, ratios, strict=True):
        repeated = [np.repeat(column, row) for column in (correct, confidence)]
        curve, ideal = risk_coverage_curve(*repeated).accuracy, risk_coverage_curve(repeated[0], repeated[0])
        kept = slice(row.sum() - int(0.3 * row.sum()), None)
        chance = repeated[0].mean()
        assert area == pytest.approx(curve.mean(), rel=1e-12)
        expected = (curve[kept].mean() - chance) / (ideal.accuracy[kept].mean() - chance)
        assert gain == pytest.approx(expected, rel=1e-9)
