"""What every statistic makes of masked values, floats of 32 bits, rounding errors, and odd seeds and weights."""

import inspect

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confidence_tasks import summary
from confidence_tasks.statistics import (
    acceptance,
    auroc2,
    bootstrap,
    brier,
    calibration,
    complete,
    decision,
    discretization,
    discrimination,
    ece,
    information,
    intervals,
    life_table,
    m_ratio_threshold,
    permutation_test,
    sdt,
    selective,
)
from confidence_tasks.statistics.calibration import cross_fitted_logistic
from confidence_tasks.statistics.inference import (
    bootstrap_difference,
    bootstrap_distribution,
    equivalence_test,
)
from confidence_tasks.statistics.inference.weights import Weighting
from confidence_tasks.statistics.information import meta_information_test

N = 120
RNG = np.random.default_rng(0)
CORRECT = (RNG.random(N) < 0.7).astype(float)
CONFIDENCE = RNG.integers(1, 100, N) / 100
ARGUMENTS = {
    "correct": CORRECT,
    "confidence": CONFIDENCE,
    "evidence": CONFIDENCE,
    "stimulus": RNG.integers(0, 2, N).astype(float),
    "values": CONFIDENCE,
    "raw": CONFIDENCE,
    "difficulty": CONFIDENCE[::-1],
    "lower": CONFIDENCE - 0.2,
    "upper": CONFIDENCE + 0.2,
    "truth": CONFIDENCE[::-1],
    "answered": CORRECT[::-1],
    "decision": CORRECT[::-1],
    "penalty": np.full(N, 2.0),
    "available": np.ones(N),
}
OPTIONS = {
    "nominal": 0.9,
    "accuracy": 0.6,
    "share": 0.5,
    "coverage": 0.5,
    "lower": 0.1,
    "upper": 0.9,
    "penalty": 2.0,
}
MODULES = (
    acceptance,
    calibration,
    decision,
    discretization,
    discrimination,
    information,
    intervals,
    life_table,
    sdt,
    selective,
)


def statistics_of_trials():
    """Return every public function of trials with its required arguments."""
    functions = {
        name: getattr(module, name)
        for module in MODULES
        for name in getattr(module, "__all__", ())
        if inspect.isfunction(getattr(module, name))
    }
    for name, function in functions.items():
        needed = [
            each for each in inspect.signature(function).parameters.values() if each.default is each.empty
        ]
        vectors = [
            each.name for each in needed if each.kind is each.POSITIONAL_OR_KEYWORD and each.name != "nominal"
        ]
        options = [each.name for each in needed if each.name not in vectors]
        if (
            vectors
            and set(vectors) <= ARGUMENTS.keys()
            and set(options) <= OPTIONS.keys()
            and vectors != ["penalty"]
        ):
            arguments = {key: ARGUMENTS[key] for key in vectors} | {key: OPTIONS[key] for key in options}
            yield pytest.param(function, arguments, id=name)


STATISTICS = list(statistics_of_trials())
vectors = [
    pytest.param(*each.values, key, id=f"{each.id}-{key}")
    for each in STATISTICS
    for key, value in each.values[1].items()
    if np.ndim(value)
]


def test_the_list_of_statistics_is_long():
    assert len(STATISTICS) > 35


# Masks


@pytest.mark.parametrize(("function", "arguments", "key"), vectors)
def test_masked_values_are_no_data(function, arguments, key):
    mask = np.arange(N) == 3
    masked = np.ma.array(arguments[key], mask=mask)
    with pytest.raises(ValueError, match="masked"):
        function(**{**arguments, key: masked})


@pytest.mark.parametrize("values", ["weights", "questions"])
def test_masked_weights_and_questions_are_refused(values):
    masked = np.ma.array(np.arange(1.0, N + 1.0), mask=np.arange(N) == 3)
    function = ece if values == "weights" else calibration.ece_interval
    with pytest.raises(ValueError, match="masked"):
        function(CORRECT, CONFIDENCE, **{values: masked})


def test_masked_counts_are_refused():
    counts = np.ma.array([10.0, 5.0, 3.0, 2.0], mask=[0, 1, 0, 0])
    with pytest.raises(ValueError, match="masked"):
        sdt.fit_meta_d(counts, [2, 3, 5, 10])


def test_an_array_without_masked_entries_is_data():
    assert ece(CORRECT, np.ma.array(CONFIDENCE)) == ece(CORRECT, CONFIDENCE)


def test_complete_drops_masked_positions():
    masked = np.ma.array([0.9, 0.2, 0.4], mask=[False, True, False])
    right, stated = complete([1, 0, np.nan], masked)
    assert (right.tolist(), stated.tolist()) == ([1.0], [0.9])
    flags, _ = complete(np.ma.array([1, 0, 1], mask=[True, False, False]), [0.1, 0.2, 0.3])
    assert flags.tolist() == [0.0, 1.0]


def test_masked_values_are_missing_in_a_summary():
    mask = np.arange(N) % 5 == 0
    masked = summary(CORRECT, np.ma.array(CONFIDENCE, mask=mask), n_resamples=20).to_frame()
    missing = summary(CORRECT, np.where(mask, np.nan, CONFIDENCE), n_resamples=20).to_frame()
    pd.testing.assert_frame_equal(masked, missing)
    with pytest.raises(ValueError, match="masked"):
        summary(CORRECT, CONFIDENCE, questions=np.ma.array(np.arange(N), mask=mask))


# Floats of 32 and 16 bits


@pytest.mark.slow
@pytest.mark.sampled("function", "dtype", one_in=2)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(("function", "arguments"), STATISTICS)
def test_hundredths_of_any_type_give_the_same_number(function, arguments, dtype):
    narrow = {
        key: np.round(value, 2).astype(dtype) if np.ndim(value) else value for key, value in arguments.items()
    }
    wide = {key: np.round(value, 2) if np.ndim(value) else value for key, value in arguments.items()}
    found, expected = function(**narrow), function(**wide)
    if isinstance(expected, float | np.ndarray):
        np.testing.assert_array_equal(found, expected)


@given(st.lists(st.integers(0, 100), min_size=2, max_size=30), st.sampled_from([5, 10, 15, 20, 100]))
def test_bins_of_computed_floats_of_32_bits_are_those_of_64(percent, bins):
    """One minus a confidence is off by rounding, which differs between types."""
    correct = np.arange(len(percent)) % 2
    narrow = np.float32(1.0) - (np.array(percent) / 100).astype(np.float32)
    assert ece(correct, narrow, bins=bins) == pytest.approx(
        ece(correct, 1 - np.array(percent) / 100, bins=bins), abs=1e-12
    )


def test_a_threshold_of_32_bits_is_the_number_that_it_stands_for():
    correct, stated = np.tile([1.0, 1.0, 0.0], 20), np.tile([0.8, 0.95, 0.8], 20)
    expected = sdt.threshold_table(correct, stated, 0.8)
    assert expected[:, 1].tolist() == [0.0, 20.0]
    np.testing.assert_array_equal(sdt.threshold_table(correct, stated.astype(np.float32), 0.8), expected)
    np.testing.assert_array_equal(sdt.threshold_table(correct, stated, np.float32(0.8)), expected)
    for computed in (0.1 + 0.7, 1 - 0.2, 0.8 + 1e-16):
        assert sdt.threshold_table([1], [computed], 0.8)[1, 1] == 0.0
    assert m_ratio_threshold(correct, stated.astype(np.float32), 0.8) == m_ratio_threshold(
        correct, stated, 0.8
    )


def test_a_summary_of_32_bits_is_that_of_64():
    wide = summary(CORRECT, CONFIDENCE, n_resamples=20).to_frame()
    for narrow in (CONFIDENCE.astype(np.float32), pd.Series(CONFIDENCE, dtype="Float32")):
        pd.testing.assert_frame_equal(summary(CORRECT, narrow, n_resamples=20).to_frame(), wide)


def test_the_order_of_floats_of_32_bits_is_kept():
    """Log-probabilities near 0 differ in the last bits only."""
    evidence = (
        np.nextafter(np.float32(1.0), np.float32(0.0), dtype=np.float32)
        - np.arange(6, dtype=np.float32) * 6e-8
    )
    assert auroc2([1, 1, 1, 0, 0, 0], evidence) == 1.0


# Rounding errors out of range


def test_one_by_rounding_is_one():
    assert brier([1, 1], np.array([1.0000001, 1.0], dtype=np.float32)) == 0.0
    assert brier([1, 0], [1 + 2e-16, -1e-17]) == 0.0
    assert (
        summary([1, 0], np.array([1.0000001, 0.0], np.float32), measures=["brier"]).to_frame()["value"][0]
        == 0.0
    )


@pytest.mark.parametrize("value", [1.0000001, -1e-7, 1.5])
def test_more_than_rounding_is_refused_without_a_wrong_hint(value):
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\]") as caught:
        brier([1, 0], [value, 0.5])
    assert "percent" not in str(caught.value)
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\]"):
        summary([1, 0], [value, 0.5])


def test_percentages_get_the_hint():
    with pytest.raises(ValueError, match="divide percentages by 100"):
        brier([1, 0], [90.0, 50.0])


# Seeds and weights


def mean(x, *, weights):
    return weights @ x / weights.sum(axis=-1)


SEEDED = {
    "bootstrap": lambda seed: bootstrap(mean, CORRECT, seed=seed, n_resamples=20),
    "bootstrap_distribution": lambda seed: bootstrap_distribution(mean, CORRECT, seed=seed, n_resamples=20),
    "bootstrap_difference": lambda seed: bootstrap_difference(
        mean, [CORRECT], [CONFIDENCE], seed=seed, n_resamples=20
    ),
    "permutation_test": lambda seed: permutation_test(
        mean, [CORRECT], [CONFIDENCE], seed=seed, n_resamples=20
    ),
    "equivalence_test": lambda seed: equivalence_test(
        mean, [CORRECT], [CONFIDENCE], margin=0.1, seed=seed, n_resamples=20
    ),
    "meta_information_test": lambda seed: meta_information_test(
        CORRECT, CONFIDENCE, seed=seed, n_permutations=20
    ),
    "acceptance_threshold": lambda seed: acceptance.acceptance_threshold(
        CORRECT, CONFIDENCE, accuracy=0.6, seed=seed
    ),
    "cross_fitted_logistic": lambda seed: cross_fitted_logistic(
        CORRECT, CONFIDENCE[:, np.newaxis], seed=seed
    ),
    "summary": lambda seed: summary(CORRECT, CONFIDENCE, seed=seed, n_resamples=20),
}


@pytest.mark.parametrize("seed", [None, True, False, -1, 1.5, "0"])
@pytest.mark.parametrize("run", SEEDED.values(), ids=list(SEEDED))
def test_an_odd_seed_is_refused(run, seed):
    with pytest.raises(ValueError, match="seed must be a whole number from 0 up"):
        run(seed)


def test_an_odd_seed_is_refused_before_the_work():
    def never(x, *, weights):
        raise AssertionError("the statistic was called")

    with pytest.raises(ValueError, match="seed"):
        bootstrap(never, CORRECT, seed=None)


@pytest.mark.parametrize("seed", [0, 7, np.int64(7)])
@pytest.mark.parametrize("run", SEEDED.values(), ids=list(SEEDED))
def test_a_whole_number_is_a_seed(run, seed):
    run(seed)


weighted = [each for each in STATISTICS if "weights" in inspect.signature(each.values[0]).parameters]


@pytest.mark.parametrize("weight", [1e-300, 1e-320, 1e150, 1e308])
@pytest.mark.parametrize(("function", "arguments"), weighted)
def test_weights_that_are_no_numbers_of_trials_are_refused(function, arguments, weight):
    for shape in (N, (2, N)):
        with pytest.raises(ValueError, match="weights are numbers of trials"):
            function(**arguments, weights=np.full(shape, weight))


@pytest.mark.parametrize(("function", "arguments"), weighted)
def test_weights_of_zero_and_large_counts_are_taken(function, arguments):
    function(**arguments, weights=np.zeros(N))
    function(**arguments, weights=np.full(N, 1e9))


def test_tiny_weights_beside_others_are_taken():
    weights = np.ones(N)
    weights[0] = 1e-300
    assert Weighting.of(weights, N).total[0] == N - 1
