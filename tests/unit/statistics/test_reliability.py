import numpy as np
import pytest
from scipy import stats
from sklearn.calibration import calibration_curve

from confidence_tasks.statistics import ece, reliability_curve, wilson_interval


def simulated(n, seed=0, values=None):
    rng = np.random.default_rng(seed)
    confidence = rng.beta(4, 1, n) if values is None else rng.choice(values, n)
    return (rng.random(n) < confidence**2).astype(float), confidence


CONVENTIONS = [
    ("equal_width", "right_closed"),
    ("equal_width", "left_closed"),
    ("equal_width", "extra_bin"),
    ("equal_mass", "right_closed"),
    ("equal_mass", "left_closed"),
]

# Shapes


@pytest.mark.parametrize(("binning", "edges"), CONVENTIONS)
def test_every_column_has_a_row_for_each_bin(binning, edges):
    curve = reliability_curve(*simulated(50), bins=7, binning=binning, edges=edges)
    columns = [getattr(curve, name) for name in curve.__slots__ if name != "level"]
    assert {column.shape for column in columns} == {(8,) if edges == "extra_bin" else (7,)}


# Errors and degenerate samples


@pytest.mark.parametrize(
    ("options", "message"), [({"bins": 0}, "bins"), ({"edges": "no"}, "edges"), ({"level": 1.0}, "level")]
)
def test_unknown_options_raise(options, message):
    with pytest.raises(ValueError, match=message):
        reliability_curve([1, 0], [0.5, 0.5], **options)


def test_bad_trials_raise():
    for correct, confidence in (([1], [0.5, 0.5]), ([1, 0], [0.5, np.nan]), ([1, 0], [0.5, 1.5])):
        with pytest.raises(ValueError, match=r"lengths differ|complete|must lie"):
            reliability_curve(correct, confidence)


@pytest.mark.parametrize(("binning", "edges"), CONVENTIONS)
def test_no_trials_leave_empty_bins(binning, edges):
    curve = reliability_curve([], [], binning=binning, edges=edges)
    assert (curve.count == 0).all()
    assert np.isnan(curve.accuracy).all()
    assert np.isnan([curve.accuracy_low, curve.consistency_high]).all()


def test_certainties_are_consistent_with_themselves_only():
    curve = reliability_curve([1, 0, 0], [1.0, 1.0, 0.0], bins=2)
    assert curve.consistency_low.tolist() == curve.consistency_high.tolist() == [0.0, 1.0]


# Correctness


def test_rows_match_the_calibration_curve_of_sklearn():
    correct, confidence = simulated(2000)
    curve = reliability_curve(correct, confidence, bins=15)
    accuracy, mean = calibration_curve(correct, confidence, n_bins=15)
    occupied = curve.count > 0
    np.testing.assert_allclose(curve.accuracy[occupied], accuracy, rtol=1e-12)
    np.testing.assert_allclose(curve.confidence[occupied], mean, rtol=1e-12)
    np.testing.assert_array_equal(curve.count, np.histogram(confidence, np.linspace(0, 1, 16))[0])


@pytest.mark.parametrize(("binning", "edges"), CONVENTIONS)
@pytest.mark.parametrize("values", [None, [0.0, 0.3, 0.5, 0.9, 1.0]])
def test_gaps_weighted_by_counts_are_the_ece(binning, edges, values):
    options = {"bins": 6, "binning": binning, "edges": edges}
    correct, confidence = simulated(300, values=values)
    curve = reliability_curve(correct, confidence, **options)
    gaps = np.nan_to_num(np.abs(curve.accuracy - curve.confidence))
    assert curve.count.sum() == 300
    assert gaps @ curve.count / 300 == pytest.approx(ece(correct, confidence, **options), rel=1e-12)


@pytest.mark.parametrize(("binning", "edges"), CONVENTIONS)
@pytest.mark.parametrize("values", [None, [0.0, 0.3, 0.5, 0.9, 1.0]])
def test_edges_hold_the_trials_that_are_counted(binning, edges, values):
    correct, confidence = simulated(97, values=values)
    curve = reliability_curve(correct, confidence, bins=5, binning=binning, edges=edges)
    for b, (low, high) in enumerate(zip(curve.low, curve.high, strict=True)):
        last = b == 4 if edges == "left_closed" else b == 5
        if edges == "right_closed":
            inside = (low < confidence) & (confidence <= high) | ((b == 0) & (confidence <= high))
        else:
            inside = (low <= confidence) & ((confidence < high) | (last & (confidence == high)))
        assert curve.count[b] == inside.sum()


def test_wide_edges_are_the_decimals_and_the_extra_bin_is_a_point():
    curve = reliability_curve([1], [1.0], edges="extra_bin")
    assert curve.low.tolist() == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert curve.high.tolist() == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0]
    assert curve.count.tolist() == [0.0] * 10 + [1.0]


def test_accuracy_has_the_interval_of_wilson():
    correct, confidence = simulated(200)
    curve = reliability_curve(correct, confidence, bins=4, level=0.9)
    for b in np.flatnonzero(curve.count):
        interval = stats.binomtest(round(curve.count[b] * curve.accuracy[b]), int(curve.count[b]))
        low, high = interval.proportion_ci(0.9, method="wilson")
        assert (curve.accuracy_low[b], curve.accuracy_high[b]) == pytest.approx((low, high), rel=1e-10)


@pytest.mark.parametrize(("binning", "edges"), CONVENTIONS)
def test_questions_asked_ten_times_have_the_intervals_of_questions_asked_once(binning, edges):
    correct, confidence = simulated(80)
    once = reliability_curve(correct, confidence, bins=4, binning=binning, edges=edges)
    again = reliability_curve(
        np.tile(correct, 10),
        np.tile(confidence, 10),
        bins=4,
        binning=binning,
        edges=edges,
        questions=np.tile(np.arange(80).astype(str), 10),
    )
    np.testing.assert_array_equal(again.count, 10 * once.count)
    for name in ("accuracy", "accuracy_low", "accuracy_high", "consistency_low", "consistency_high"):
        np.testing.assert_allclose(getattr(again, name), getattr(once, name), rtol=1e-9)


def test_the_effective_number_of_trials_gives_the_true_variance_of_the_mean():
    rng, sizes, accuracy = np.random.default_rng(2), np.array([12, 5, 2, 1, 1, 1]), 0.7
    questions = np.repeat(np.arange(len(sizes)), sizes)
    drawn = rng.random((40_000, len(sizes))) < accuracy
    variance = (drawn[:, questions].mean(axis=1)).var()
    worth = accuracy * (1 - accuracy) / variance
    right = (drawn[0][questions]).astype(float)
    curve = reliability_curve(right, np.full(len(right), 0.75), bins=1, questions=questions)
    limits = wilson_interval(worth * right.mean(), worth)
    np.testing.assert_allclose([curve.accuracy_low[0], curve.accuracy_high[0]], limits, atol=0.01)


def test_questions_asked_unequally_often_may_all_be_right_or_all_wrong():
    questions = [0, 0, 0, 0, 1, 1, 2, 2, 2, 3]
    for right in (0.0, 1.0):
        curve = reliability_curve(np.full(10, right), np.full(10, 0.9), bins=1, questions=questions)
        worth = 10**2 / (4**2 + 2**2 + 3**2 + 1**2)
        low, high = map(float, wilson_interval(right * worth, worth))
        assert (curve.accuracy_low[0], curve.accuracy_high[0]) == pytest.approx((low, high))


def test_each_trial_needs_its_question():
    with pytest.raises(ValueError, match="questions must have shape"):
        reliability_curve([1, 0], [0.5, 0.5], questions=["a"])


@pytest.mark.parametrize("values", [None, [0.3, 0.55, 0.8, 0.95]])
def test_calibrated_accuracy_lies_within_the_consistency_interval_often_enough(values):
    rng = np.random.default_rng(1)
    confidence = rng.beta(4, 1, 400) if values is None else rng.choice(values, 400)
    inside = []
    for outcome in (rng.random((400, 400)) < confidence).astype(float):
        curve = reliability_curve(outcome, confidence, bins=4)
        accuracy = curve.accuracy[curve.count > 20]
        low, high = (limit[curve.count > 20] for limit in (curve.consistency_low, curve.consistency_high))
        inside.append((low - 1e-12 <= accuracy) & (accuracy <= high + 1e-12))
    covered = np.mean(inside, axis=0)
    assert (covered >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 400)).all()
    assert (covered < 0.999).all()


def test_consistency_limits_are_binomial_quantiles_of_tied_confidence():
    curve = reliability_curve([1] * 30 + [0] * 10, [0.8] * 40, bins=1)
    assert curve.consistency_low[0] * 40 == pytest.approx(stats.binom(40, 0.8).ppf(0.025))
    assert curve.consistency_high[0] * 40 == pytest.approx(stats.binom(40, 0.8).ppf(0.975))


def test_a_million_trials():
    curve = reliability_curve(*simulated(1_000_000), binning="equal_mass")
    assert curve.count.sum() == 1_000_000
