"""What every weighted statistic of decisions and of intervals promises, tested on all of them from one table."""

from functools import partial

import numpy as np
import pytest

import confidence_tasks.statistics as s
from confidence_tasks.statistics.inference import weights as weighting
from confidence_tasks.statistics.inference.weights import SharedWeights

PENALTIES = np.array([0.0, 0.5, 1.0, 10.0, 100.0])
CONFIDENCES = np.array([0.0, 0.3, 0.5, 0.8, 0.9, 0.95, 1.0])


def decisions(n, seed=0):
    """Simulate trials whose answers depend on confidence and whose confidence depends on correctness."""
    rng = np.random.default_rng(seed)
    confidence = rng.choice(CONFIDENCES, n)
    return {
        "answered": (rng.random(n) < 0.2 + 0.7 * confidence).astype(float),
        "correct": (rng.random(n) < 0.1 + 0.8 * confidence).astype(float),
        "confidence": confidence,
        "penalty": rng.choice(PENALTIES, n),
        "available": (rng.random(n) < 0.9).astype(float),
    }


def stated_intervals(n, seed=0):
    rng = np.random.default_rng(seed)
    lower = rng.integers(-5, 6, n).astype(float)
    return {
        "truth": rng.integers(-8, 9, n).astype(float),
        "lower": lower,
        "upper": lower + rng.integers(0, 5, n),
        "nominal": rng.choice([0.9, 0.95, 0.998], n),
    }


STATISTICS = {
    "mean_utility": (s.decision.mean_utility, decisions, "answered correct penalty"),
    "normalized utility": (
        partial(s.decision.mean_utility, normalized=True),
        decisions,
        "answered correct penalty",
    ),
    "abstention_rate": (s.decision.abstention_rate, decisions, "answered"),
    "answered_accuracy": (s.decision.answered_accuracy, decisions, "answered correct"),
    "policy_consistency": (s.decision.policy_consistency, decisions, "answered confidence penalty"),
    "regret": (s.decision.regret, decisions, "answered confidence penalty"),
    "normalized regret": (
        partial(s.decision.regret, normalized=True),
        decisions,
        "answered confidence penalty",
    ),
    "scaffold_utility": (s.decision.scaffold_utility, decisions, "correct confidence penalty available"),
    "scaffold_gain": (s.decision.scaffold_gain, decisions, "answered correct confidence penalty available"),
    "abstention_slope": (s.decision.abstention_slope, decisions, "answered penalty"),
    "implied_threshold": (s.decision.implied_threshold, decisions, "answered confidence"),
    "coverage": (s.coverage, stated_intervals, "truth lower upper"),
    "mean_width": (s.intervals.mean_width, stated_intervals, "lower upper"),
    "degenerate_share": (s.intervals.degenerate_share, stated_intervals, "lower upper"),
    "winkler_score": (s.winkler_score, stated_intervals, "truth lower upper nominal"),
}
every = pytest.mark.parametrize("name", STATISTICS)


def call(name, n, seed=0):
    """Return a statistic and the arrays that it takes."""
    statistic, simulate, arguments = STATISTICS[name]
    columns = simulate(n, seed)
    return statistic, [columns[argument] for argument in arguments.split()]


def counts(rows, n):
    return np.random.default_rng(1).multinomial(n, np.full(n, 1 / n), size=rows).astype(float)


# Shapes


@every
def test_plain_call_returns_an_estimate(name):
    statistic, arrays = call(name, 50)
    for weights in (None, np.ones(50)):
        assert isinstance(statistic(*arrays, weights=weights), s.Estimate)


@every
@pytest.mark.parametrize("rows", [0, 1, 7])
def test_rows_of_weights_return_one_number_a_row(name, rows):
    statistic, arrays = call(name, 50)
    values = statistic(*arrays, weights=np.ones((rows, 50)))
    assert values.shape == (rows,)
    assert values.dtype == np.float64


@every
def test_a_million_trials(name):
    statistic, arrays = call(name, 1_000_000)
    assert np.isfinite(statistic(*arrays))


# Errors


@every
@pytest.mark.parametrize("bad", [np.nan, -np.inf, np.inf])
def test_values_that_are_no_numbers_raise(name, bad):
    statistic, arrays = call(name, 5)
    for position, array in enumerate(arrays):
        changed = np.where(np.arange(5) == 2, bad, array)
        open_end = STATISTICS[name][2].split()[position], bad
        if open_end in (("lower", -np.inf), ("upper", np.inf)):
            continue
        with pytest.raises(ValueError):
            statistic(*arrays[:position], changed, *arrays[position + 1 :])


@every
def test_lengths_that_differ_raise(name):
    statistic, arrays = call(name, 5)
    for position in range(1, len(arrays)):
        shorter = [array[:4] if i == position else array for i, array in enumerate(arrays)]
        with pytest.raises(ValueError):
            statistic(*shorter)


@every
@pytest.mark.parametrize(
    "weights", [np.ones(4), np.ones((2, 4)), np.array([1, 1, -1, 1, 1]), np.full(5, np.nan)]
)
def test_impossible_weights_raise(name, weights):
    statistic, arrays = call(name, 5)
    with pytest.raises(ValueError, match="weights"):
        statistic(*arrays, weights=weights)


@every
def test_matrices_raise(name):
    statistic, arrays = call(name, 4)
    with pytest.raises(ValueError):
        statistic(*[array.reshape(2, 2) for array in arrays])


# Degenerate samples


@every
def test_no_trials_are_nan_with_the_reason(name):
    statistic, arrays = call(name, 0)
    assert statistic(*arrays).reason is s.Reason.EMPTY
    np.testing.assert_array_equal(statistic(*arrays, weights=np.ones((2, 0))), [np.nan, np.nan])


@every
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_few_trials_give_a_number_or_a_reason(name, n, seed):
    statistic, arrays = call(name, n, seed)
    value = statistic(*arrays)
    assert np.isnan(value) == (value.reason is not None)


@every
def test_a_row_without_weight_is_nan_and_leaves_the_others_alone(name):
    statistic, arrays = call(name, 40)
    weights = counts(3, 40)
    weights[1] = 0.0
    values = statistic(*arrays, weights=weights)
    assert np.isnan(values[1])
    np.testing.assert_allclose(values[[0, 2]], statistic(*arrays, weights=weights[[0, 2]]), rtol=1e-12)


# Properties


@every
def test_whole_weights_are_repetitions(name):
    statistic, arrays = call(name, 60, seed=3)
    weights = counts(12, 60)
    repeated = [statistic(*(np.repeat(array, row) for array in arrays)) for row in weights.astype(int)]
    np.testing.assert_allclose(statistic(*arrays, weights=weights), repeated, rtol=1e-9, atol=1e-11)


@every
def test_the_order_of_the_rows_does_not_matter(name):
    statistic, arrays = call(name, 80)
    order = np.random.default_rng(5).permutation(80)
    expected = statistic(*arrays)
    assert statistic(*(array[order] for array in arrays)) == pytest.approx(expected, rel=1e-11, abs=1e-13)


@every
def test_it_can_be_resampled(name):
    statistic, arrays = call(name, 60)
    interval = s.bootstrap(statistic, *arrays, clusters=np.arange(60) // 2, n_resamples=200)
    assert interval.low <= interval.estimate <= interval.high


OF_EVIDENCE = {
    "auroc2": s.auroc2,
    "meta_information": s.meta_information,
    "z_roc_slope": s.sdt.z_roc_slope,
    "d_a": s.sdt.d_a,
    "mean_difference": s.sdt.mean_difference,
    "accuracy of half": partial(s.accuracy_at_coverage, coverage=0.5),
    "accuracy of most": partial(s.accuracy_at_coverage, coverage=0.83),
    "ece": s.ece,
    "brier": s.brier,
}


def evidence(n, seed, *, tied):
    rng = np.random.default_rng(seed)
    correct = (rng.random(n) < 0.6).astype(float)
    confidence = 1.0 / (1.0 + np.exp(-rng.normal(0.8 * correct, 1.0)))
    return correct, confidence.round(1) if tied else confidence


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float64])
def test_shared_weights_give_the_same_numbers(dtype, tied):
    correct, confidence = evidence(150, 3, tied=tied)
    rows = np.random.default_rng(4).multinomial(150, np.full(150, 1.0 / 150), size=12)
    drawn = np.asfortranarray(rows.astype(dtype))
    keep = np.arange(150) % 7 > 0
    shared = SharedWeights.of(drawn)
    for of, its in ((np.ones(150, dtype=bool), shared), (keep, shared.weighting.kept(keep))):
        plain = rows[:, of].astype(float)
        for name, statistic in OF_EVIDENCE.items():
            found = statistic(correct[of], confidence[of], weights=its)
            expected = statistic(correct[of], confidence[of], weights=plain)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=name)
    assert (shared == rows).all()
    assert (drawn == rows).all()


def test_shared_weights_are_added_up_once_for_all_that_ask(monkeypatch):
    added = []

    def counted(rows):
        added.append(rows.shape[1])
        return np.cumsum(rows, axis=1, dtype=rows.dtype)

    monkeypatch.setattr(weighting, "running_sums", counted)
    correct, confidence = evidence(150, 3, tied=False)
    shared = SharedWeights.of(np.ones((4, 150), dtype=np.uint8))
    for statistic in OF_EVIDENCE.values():
        statistic(correct, confidence, weights=shared)
    assert shared.weighting.kept(np.arange(150) > 3) is shared.weighting.kept(np.arange(150) > 3)
    assert shared[:2].weighting is None
    assert sorted(added) == [int(correct.sum()), 150]


@pytest.mark.parametrize("tied", [False, True])
def test_auroc_of_weighted_trials_is_the_share_of_pairs(tied):
    correct, confidence = evidence(40, 5, tied=tied)
    weights = np.random.default_rng(6).gamma(0.7, size=(5, 40))
    for row, area in zip(weights, s.auroc2(correct, confidence, weights=weights), strict=True):
        won = pairs = 0.0
        for i in np.flatnonzero(correct == 1.0):
            for j in np.flatnonzero(correct == 0.0):
                pairs += row[i] * row[j]
                won += row[i] * row[j] * (np.sign(confidence[i] - confidence[j]) + 1.0) / 2.0
        assert area == pytest.approx(won / pairs, rel=1e-12)


@pytest.mark.parametrize("coverage", [0.2, 0.5, 0.83, 1.0])
def test_accuracy_at_coverage_of_graded_answers_goes_through_the_trials(coverage):
    rng = np.random.default_rng(7)
    correct, confidence = rng.random(30), rng.random(30)
    weights = rng.integers(0, 4, (5, 30)).astype(float)
    found = s.accuracy_at_coverage(correct, confidence, coverage=coverage, weights=weights)
    for row, accuracy in zip(weights, found, strict=True):
        wanted = left = coverage * row.sum()
        right = 0.0
        for i in np.argsort(-confidence):
            part = min(left, row[i])
            right += part * correct[i]
            left -= part
        assert accuracy == pytest.approx(right / wanted, rel=1e-12)
