from fractions import Fraction
from itertools import product
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.calibration import calibration_curve

from confidence_tasks.statistics import ece, overconfidence
from confidence_tasks.statistics.calibration import debiased_ece, ece_noise_floor, mce, murphy_decomposition
from confidence_tasks.statistics.calibration.binning import Bins
from confidence_tasks.statistics.inference.weights import Weighting

EVERY_CONVENTION = [
    {"binning": "equal_width", "edges": "right_closed"},
    {"binning": "equal_width", "edges": "left_closed"},
    {"binning": "equal_width", "edges": "extra_bin"},
    {"binning": "equal_mass", "edges": "right_closed"},
    {"binning": "equal_mass", "edges": "left_closed"},
]
every_convention = pytest.mark.parametrize("convention", EVERY_CONVENTION, ids=lambda c: "-".join(c.values()))

samples = st.lists(
    st.tuples(st.booleans(), st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.3, 0.5, 0.7, 0.9, 1.0]))),
    min_size=1,
    max_size=40,
).map(lambda trials: (np.array([t[0] for t in trials], float), np.array([t[1] for t in trials])))


def exact_bin(confidence, bins, edges):
    """The bin of a decimal confidence by its definition, in rational arithmetic."""
    position = Fraction(confidence) * bins
    if edges == "right_closed":
        return max(ceil(position) - 1, 0)
    return floor(position) if edges == "extra_bin" else min(floor(position), bins - 1)


def binned_gaps(correct, confidence, index):
    """Count and |accuracy - confidence| of each occupied bin, one trial at a time."""
    gaps = {}
    for right, stated, where in zip(correct, confidence, index, strict=True):
        count, gap = gaps.get(where, (0, 0.0))
        gaps[where] = count + 1, gap + (stated - right)
    return [(count, abs(gap) / count) for count, gap in gaps.values()]


def simulated(n, seed=0):
    rng = np.random.default_rng(seed)
    confidence = rng.beta(4, 1, n)
    return (rng.random(n) < confidence**2).astype(float), confidence


# Errors


@pytest.mark.parametrize("statistic", [ece, mce, debiased_ece])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": 0}, "bins must be a whole number above zero, got 0"),
        ({"bins": 2.5}, "bins must be a whole number"),
        ({"bins": True}, "bins must be a whole number"),
        ({"binning": "quantile"}, "binning must be one of equal_width, equal_mass"),
        ({"edges": "closed"}, "edges must be one of right_closed, left_closed, extra_bin"),
        ({"binning": "equal_mass", "edges": "extra_bin"}, 'edges="extra_bin" needs binning="equal_width"'),
    ],
)
def test_unknown_options_raise(statistic, options, message):
    with pytest.raises(ValueError, match=message):
        statistic([1, 0], [0.5, 0.5], **options)


# Every confidence is counted once


@every_convention
@pytest.mark.parametrize("bins", [1, 2, 10, 15])
@pytest.mark.parametrize("end", [0.0, 1.0])
def test_a_certainty_that_is_wrong_costs_its_whole_weight(convention, bins, end):
    options = convention | {"bins": bins}
    assert ece([1.0 - end], [end], **options) == 1.0
    assert ece([1.0 - end] + [0.5] * 3, [end] + [0.5] * 3, **options) == pytest.approx(0.25)


@every_convention
def test_bins_hold_every_trial_once(convention):
    confidence = np.concatenate([np.arange(101) / 100, np.linspace(0, 1, 11), [0.1 * 3, 0.1 * 7, 1 - 0.7]])
    weighting = Weighting.of(None, len(confidence))
    (counts,) = Bins(10, **convention).sums(confidence, weighting, np.ones_like(confidence))
    assert counts.sum() == len(confidence)


@pytest.mark.parametrize("edges", ["right_closed", "left_closed", "extra_bin"])
@pytest.mark.parametrize("bins", [1, 3, 5, 7, 10, 15, 20, 25, 50, 100])
def test_decimals_lie_in_the_bin_that_rational_arithmetic_says(edges, bins):
    hundredths = range(101)
    expected = [exact_bin(Fraction(k, 100), bins, edges) for k in hundredths]
    partition = Bins(bins, edges=edges)
    for spelling in (
        [k / 100 for k in hundredths],
        [k * 0.01 for k in hundredths],
        [1 - (100 - k) / 100 for k in hundredths],
        np.cumsum([0.0] + [0.01] * 100),
        np.linspace(0, 1, 101),
        [((20 + 0.8 * k) - 20) / 80 for k in hundredths],
    ):
        stated = np.clip(spelling, 0, 1)
        np.testing.assert_array_equal(partition.index(stated, stated), expected)


@pytest.mark.parametrize(
    ("edges", "of_three_tenths", "of_seven_tenths", "of_one"),
    [("right_closed", 2, 6, 9), ("left_closed", 3, 7, 9), ("extra_bin", 3, 7, 10)],
)
def test_edges_lie_on_the_side_of_their_convention(edges, of_three_tenths, of_seven_tenths, of_one):
    stated = np.array([0.3, 0.1 + 0.2, 3 * 0.1, 0.7, 0.1 * 7, 1 - 0.3, 1.0, 0.0])
    index = Bins(10, edges=edges).index(stated, stated)
    np.testing.assert_array_equal(index, [of_three_tenths] * 3 + [of_seven_tenths] * 3 + [of_one, 0])


def test_values_near_an_edge_but_not_on_it_are_told_apart():
    stated = np.array([0.3 - 1e-9, 0.3 + 1e-9])
    assert Bins(10).index(stated, stated).tolist() == [2, 3]
    assert Bins(10, edges="extra_bin").index(np.array([1 - 1e-9]), np.array([1 - 1e-9])).tolist() == [9]


def test_the_extra_bin_keeps_certainty_apart():
    correct, confidence = [0, 1], [1.0, 0.9]
    assert ece(correct, confidence, edges="left_closed") == pytest.approx(0.45)
    assert ece(correct, confidence, edges="extra_bin") == pytest.approx(0.55)


# Correctness


@pytest.mark.parametrize("edges", ["right_closed", "left_closed", "extra_bin"])
@pytest.mark.parametrize("bins", [10, 15])
def test_equal_width_measures_match_their_definitions(edges, bins):
    rng = np.random.default_rng(1)
    hundredths = rng.integers(0, 101, 400)
    correct, confidence = (rng.random(400) < 0.6).astype(float), hundredths / 100
    index = [exact_bin(Fraction(int(k), 100), bins, edges) for k in hundredths]
    gaps = binned_gaps(correct, confidence, index)
    options = {"bins": bins, "edges": edges}
    assert ece(correct, confidence, **options) == pytest.approx(sum(n * g for n, g in gaps) / 400)
    reliability = murphy_decomposition(correct, confidence, **options).reliability
    assert reliability == pytest.approx(sum(n * g**2 for n, g in gaps) / 400)
    assert mce(correct, confidence, **options) == pytest.approx(max(g for _, g in gaps))


@pytest.mark.parametrize("bins", [5, 10, 15])
def test_ece_matches_the_calibration_curve_of_sklearn(bins):
    correct, confidence = simulated(5000)
    accuracy, mean = calibration_curve(correct, confidence, n_bins=bins)
    counts = np.histogram(confidence, np.linspace(0, 1, bins + 1))[0]
    expected = np.abs(accuracy - mean) @ counts[counts > 0] / 5000
    assert ece(correct, confidence, bins=bins) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("bins", [3, 10, 15])
@pytest.mark.parametrize("ties", [True, False])
def test_equal_mass_bins_end_at_the_quantiles_of_numpy(bins, ties):
    rng = np.random.default_rng(4)
    n = 420
    confidence = rng.choice([0.0, 0.2, 0.5, 0.8, 0.9, 0.95, 1.0], n) if ties else rng.random(n)
    correct = (rng.random(n) < confidence).astype(float)
    inner = np.quantile(confidence, np.arange(1, bins) / bins, method="inverted_cdf")
    gaps = binned_gaps(correct, confidence, np.searchsorted(inner, confidence, side="left"))
    assert ece(correct, confidence, bins=bins, binning="equal_mass") == pytest.approx(
        sum(count * gap for count, gap in gaps) / n
    )


def test_equal_mass_bins_without_ties_hold_equally_many():
    correct, confidence = simulated(1000)
    order = np.argsort(confidence)
    blocks = np.abs((confidence - correct)[order].reshape(10, 100).sum(axis=1)).sum() / 1000
    for edges in ("right_closed", "left_closed"):
        assert ece(correct, confidence, binning="equal_mass", edges=edges) == pytest.approx(blocks)


@given(samples)
def test_left_closed_bins_of_equal_mass_mirror_right_closed_ones(sample):
    correct, confidence = sample
    confidence = np.round(confidence, 6)
    mirrored = ece(
        1 - correct, np.round(1 - confidence, 6), bins=4, binning="equal_mass", edges="left_closed"
    )
    assert ece(correct, confidence, bins=4, binning="equal_mass") == pytest.approx(mirrored, abs=1e-12)


def test_probabilities_count_as_the_accuracy_they_stand_for():
    correct, confidence = [0.25, 0.75, 0.4], [0.5, 0.55, 0.4]
    assert ece(correct, confidence, bins=1) == pytest.approx(abs(1.45 - 1.4) / 3)
    assert overconfidence(correct, confidence) == pytest.approx(0.05 / 3)


def test_overconfidence_is_mean_confidence_less_accuracy():
    correct, confidence = simulated(300)
    assert overconfidence(correct, confidence) == pytest.approx(confidence.mean() - correct.mean())


@every_convention
def test_debiased_ece_subtracts_the_folded_normal_bias(convention):
    rng = np.random.default_rng(2)
    confidence = rng.choice([0.2, 0.4, 0.6, 0.95], 90)
    correct = (rng.random(90) < 0.7).astype(float)
    bias = 0.0
    for value in np.unique(confidence):
        outcome = correct[confidence == value]
        accuracy, n = outcome.mean(), len(outcome)
        gap, error = abs(accuracy - value), np.sqrt(accuracy * (1 - accuracy) / n)
        bias += n / 90 * (stats.foldnorm.mean(gap / error, scale=error) - gap)
    one_value_a_bin = convention | {"bins": 4 if convention["binning"] == "equal_width" else 90}
    plain = ece(correct, confidence, **one_value_a_bin)
    assert debiased_ece(correct, confidence, **one_value_a_bin) == pytest.approx(plain - bias, rel=1e-12)


def test_debiased_ece_is_nearer_the_truth():
    rng = np.random.default_rng(3)
    confidence = rng.choice(np.arange(0.05, 1.0, 0.1), 200)
    chance = np.clip(confidence - 0.05, 0, 1)
    truth = np.abs(confidence - chance).mean()
    outcomes = (rng.random((500, 200)) < chance).astype(float)
    plain = np.mean([ece(outcome, confidence) for outcome in outcomes]) - truth
    debiased = np.mean([debiased_ece(outcome, confidence) for outcome in outcomes]) - truth
    assert plain > 0.03
    assert abs(debiased) < 0.6 * plain


def mean_ece_by_enumeration(confidence, **options):
    """Mean ECE over every outcome, weighted by its probability under calibration."""
    return sum(
        np.prod(np.where(outcome, confidence, 1 - confidence)) * ece(outcome, confidence, **options)
        for outcome in map(np.array, product([0.0, 1.0], repeat=len(confidence)))
    )


def test_noise_floor_is_exact_for_tied_bins():
    confidence = np.array([0.0, 0.25, 0.25, 0.25, 0.6, 0.6, 0.85, 1.0])
    assert ece_noise_floor(confidence) == pytest.approx(mean_ece_by_enumeration(confidence), rel=1e-12)


@pytest.mark.parametrize("low", [0.0, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("n", [2, 3, 10])
def test_noise_floor_is_close_in_small_bins_of_mixed_confidence(low, n):
    confidence = low + 0.1 * np.linspace(0.01, 1, n)
    expected = mean_ece_by_enumeration(confidence)
    assert ece_noise_floor(confidence) == pytest.approx(expected, rel=0.03)


def test_noise_floor_allows_for_mixed_confidence_in_wide_bins():
    rng = np.random.default_rng(6)
    confidence = rng.beta(0.3, 0.3, 500)
    result = [ece(outcome, confidence, bins=1) for outcome in rng.random((2000, 500)) < confidence]
    assert ece_noise_floor(confidence, bins=1) == pytest.approx(np.mean(result), rel=0.07)


@every_convention
@pytest.mark.parametrize("n", [60, 3000])
def test_noise_floor_is_the_mean_ece_of_calibrated_subjects(convention, n):
    rng = np.random.default_rng(5)
    confidence = rng.beta(3, 1, n)
    result = [
        ece(outcome, confidence, **convention)
        for outcome in (rng.random((400, n)) < confidence).astype(float)
    ]
    tolerance = 4 * np.std(result) / 20 + 0.01 * np.mean(result)
    assert ece_noise_floor(confidence, **convention) == pytest.approx(np.mean(result), abs=tolerance)


def test_noise_floor_of_certainties_is_nothing():
    assert ece_noise_floor([0.0, 1.0, 1.0]) == 0.0


# Properties


@given(samples)
def test_measures_lie_within_their_bounds(sample):
    for convention in EVERY_CONVENTION:
        expected_error = ece(*sample, **convention)
        root = np.sqrt(murphy_decomposition(*sample, bins=10, **convention).reliability)
        largest = mce(*sample, **convention)
        assert abs(overconfidence(*sample)) - 1e-12 <= expected_error
        assert expected_error <= root + 1e-12
        assert root <= largest + 1e-12
        assert largest <= 1.0


@given(samples)
def test_one_bin_leaves_overconfidence_only(sample):
    for binning in ("equal_width", "equal_mass"):
        assert ece(*sample, bins=1, binning=binning) == pytest.approx(abs(overconfidence(*sample)), abs=1e-12)


@given(samples)
def test_exact_probabilities_are_calibrated(sample):
    confidence = sample[1]
    for convention in EVERY_CONVENTION:
        assert ece(confidence, confidence, **convention) == 0.0
        assert mce(confidence, confidence, **convention) == 0.0


@given(samples)
def test_swapping_right_and_wrong_turns_overconfidence_around(sample):
    correct, confidence = sample
    assert overconfidence(1 - correct, 1 - confidence) == pytest.approx(
        -overconfidence(correct, confidence), abs=1e-12
    )


@pytest.mark.parametrize(
    ("correct", "confidence", "message"),
    [
        (["true", "false"], [0.5, 0.5], "correct must be numeric: .*'true'"),
        ([1, 0], [50, 99], r"confidence must lie in \[0, 1\], got \[50, 99\]: divide percentages by 100"),
        ([1, 0], [-2.0, -0.5], r"confidence must lie in \[0, 1\], got \[-2, -0.5\]$"),
    ],
)
def test_values_that_are_no_numbers_in_range_name_their_argument(correct, confidence, message):
    with pytest.raises(ValueError, match=message):
        ece(correct, confidence)
