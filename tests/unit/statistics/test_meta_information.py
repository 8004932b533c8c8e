import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import xlogy
from sklearn.metrics import mutual_info_score

from confidence_tasks.statistics import Reason, meta_information, meta_information_interval
from confidence_tasks.statistics.inference import bootstrap_distribution
from confidence_tasks.statistics.information import estimates as machinery
from confidence_tasks.statistics.information import meta_information_test


@pytest.fixture
def rng():
    return np.random.default_rng(20240229)


@pytest.fixture
def table_trials():
    """Correctness and ratings with the counts of a table: rows wrong and right, columns ratings."""

    def trials(table):
        table = np.asarray(table)
        wrong, right = np.indices(table.shape).reshape(2, -1)
        return np.repeat(wrong, table.ravel()), np.repeat(right, table.ravel())

    return trials


@st.composite
def binary_trials(draw):
    n = draw(st.integers(2, 30))
    correct = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    return correct, draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))


OPTIONS = [
    {"correction": correction, "unit": unit}
    for correction in ("simulation", "none")
    for unit in ("entropy", "ideal", "bits")
]


# Shapes


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("bins", [None, 4])
def test_weights_are_repetitions(rng, options, bins):
    correct, confidence = rng.integers(0, 2, 50), rng.integers(0, 8, 50)
    weights = rng.multinomial(50, np.full(50, 1 / 50), size=5)
    values = meta_information(correct, confidence, bins=bins, weights=weights, **options)
    assert values.shape == (5,)
    for value, row in zip(values, weights, strict=True):
        again = np.repeat(correct, row), np.repeat(confidence, row)
        assert value == pytest.approx(meta_information(*again, bins=bins, **options), abs=1e-9, nan_ok=True)


# Errors and degenerate input


@pytest.mark.parametrize(
    ("correct", "confidence", "options", "message"),
    [
        ([1, 0], [0.5], {}, "lengths differ"),
        ([1, 0.5], [0.5, 0.5], {}, "only 0 and 1"),
        ([1, 0], [0.5, np.nan], {}, "NaN"),
        ([1, 0], [0.5, 0.6], {"bins": 0}, "bins"),
        ([1, 0], [0.5, 0.6], {"correction": "jackknife"}, "correction"),
        ([1, 0], [0.5, 0.6], {"unit": "nats"}, "unit"),
        ([1, 0], [0.5, 0.6], {"weights": [1, -1]}, "non-negative"),
    ],
)
def test_invalid_arguments_raise(correct, confidence, options, message):
    with pytest.raises(ValueError, match=message):
        meta_information(correct, confidence, **options)


def test_the_test_needs_a_permutation():
    with pytest.raises(ValueError, match="n_permutations"):
        meta_information_test([1, 0], [0.5, 0.6], n_permutations=0)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(
    ("correct", "confidence", "reason"),
    [
        ([], [], Reason.EMPTY),
        ([1], [0.5], Reason.ONE_CLASS),
        ([0, 0, 0], [0.1, 0.5, 0.9], Reason.ONE_CLASS),
    ],
)
def test_missing_information_has_a_reason(correct, confidence, reason, options):
    assert meta_information(correct, confidence, **options).reason is reason
    result = meta_information_test(correct, confidence, n_permutations=9)
    assert {getattr(result, name).reason for name in result.__slots__ if name != "n_permutations"} == {reason}


def test_chance_accuracy_has_no_ideal_observer():
    assert meta_information([1, 0, 1, 0] * 5, [1, 2, 1, 2] * 5, unit="ideal").reason is Reason.ZERO_D_PRIME


def test_constant_confidence_has_no_information():
    assert meta_information([1, 0, 1], [0.5] * 3, correction="none") == pytest.approx(0.0, abs=1e-12)
    assert meta_information_test([1, 0, 1], [0.5] * 3, n_permutations=99).p_value == 1.0


@pytest.mark.parametrize("n", [3, 400])
@pytest.mark.parametrize("bins", [10, None])
def test_constant_confidence_determines_no_corrected_value(n, bins):
    """There is no interval either."""
    found = meta_information(np.arange(n) % 3 == 0, np.full(n, 0.5), bins=bins)
    assert np.isnan(found)
    assert found.reason is Reason.FEW_INFORMATIVE


# Few trials, few errors


@pytest.mark.parametrize("bins", [10, None])
@pytest.mark.parametrize("n", [5, 9])
def test_too_few_trials_for_two_bins_have_no_value(n, bins, rng):
    found = meta_information(np.arange(n) % 2, rng.random(n), bins=bins)
    assert np.isnan(found)
    assert found.reason is Reason.FEW_INFORMATIVE
    resampled = meta_information(np.arange(n) % 2, rng.random(n), bins=bins, weights=np.ones((3, n)))
    assert np.isnan(resampled).all()


@pytest.mark.slow
@pytest.mark.sampled("n", "accuracy", "bins")
@pytest.mark.parametrize("bins", [10, None])
@pytest.mark.parametrize("accuracy", [0.6, 0.8])
@pytest.mark.parametrize("n", [10, 12, 20, 30, 50, 100])
def test_unrelated_confidence_has_no_information_from_few_trials_on_average(n, accuracy, bins, rng):
    found = [meta_information(rng.random(n) < accuracy, rng.random(n), bins=bins) for _ in range(400)]
    defined = [float(value) for value in found if not np.isnan(value)]
    assert np.median(defined) < 0.04
    assert np.mean(defined) == pytest.approx(0.0, abs=0.06)


def test_few_errors_do_not_raise_the_information(rng):
    """At an accuracy of .95, 100 trials have five errors in ten bins."""
    found = []
    for _ in range(300):
        correct = rng.random(100) < 0.95
        found.append(float(meta_information(correct, rng.random(100))))
    assert np.nanmedian(found) < 0.03  # the corrected estimate has a mean of .17


@given(binary_trials(), st.sampled_from([1, 4, 10]))
def test_what_has_no_interval_has_no_value(trials, bins):
    low, _ = meta_information_interval(*trials, bins=bins)
    value = meta_information(*trials, bins=bins)
    assert np.isnan(value) == np.isnan(low)


def test_each_row_of_weights_has_its_own_number_of_bins(rng):
    correct, confidence = np.tile([0.0, 1.0], 30), rng.random(60)
    rows = np.stack([np.ones(60), np.arange(60) < 22, np.arange(60) < 4]).astype(float)
    found = meta_information(correct, confidence, weights=rows)
    some = slice(None, 22)
    assert found[0] == pytest.approx(meta_information(correct, confidence))
    assert found[1] == pytest.approx(meta_information(correct[some], confidence[some]))
    assert np.isnan(found[2])


@given(binary_trials(), st.sampled_from(OPTIONS), st.sampled_from([None, 1, 10]))
def test_any_trials_give_a_number_or_a_reason(trials, options, bins):
    value = meta_information(*trials, bins=bins, **options)
    assert np.isfinite(value) or value.reason is not None


def test_a_million_trials(rng):
    correct = rng.integers(0, 2, 1_000_000)
    confidence = rng.normal(size=1_000_000)
    assert abs(meta_information(correct, confidence)) < 3e-5


# Correctness


def test_matches_the_worked_example_of_the_source(table_trials):
    """Dayan (2023), table 1: subject 5, condition 3."""
    trials = table_trials([[138, 5], [440, 415]])
    assert round(meta_information(*trials, correction="none", unit="bits"), 3) == 0.094


def test_matches_scikit_learn(rng, table_trials):
    for n in (20, 300, 5000):
        table = rng.multinomial(n, rng.dirichlet(np.ones(10))).reshape(2, 5) + 1
        trials = table_trials(table)
        bits = meta_information(*trials, bins=None, correction="none", unit="bits")
        assert bits * np.log(2) == pytest.approx(mutual_info_score(*trials), abs=1e-12)


@pytest.mark.parametrize("n", [1, 7, 600, 5000, 40_000])
def test_the_mean_of_x_log_x_under_a_binomial(n):
    means = np.unique(np.clip([0, 1, 2, 30, n // 3, n - 1, n, 511, 512, 513, 2000], 0, n)).astype(float)
    x = np.arange(n + 1)
    direct = [stats.binom.pmf(x, n, mean / n) @ xlogy(x, x) for mean in means]
    assert machinery._binomial_mean(means, np.full(len(means), n)) == pytest.approx(
        np.array(direct), abs=1e-6, rel=1e-10
    )


def test_a_mean_of_x_log_x_needs_little_memory():
    """The true values of a simulated subject are computed from a billion trials: a table would be too large."""
    n, means = 10**11, np.array([1.0, 30.0, 300.0])
    x = np.arange(1000)
    limit = [stats.poisson.pmf(x, mean) @ xlogy(x, x) for mean in means]
    assert machinery._binomial_mean(means, np.full(3, float(n))) == pytest.approx(limit, rel=1e-2)


def test_a_mean_of_x_log_x_does_not_depend_on_the_cache():
    n, means = 400, np.array([3.0, 17.0, 30.0, 3.0, 399.0])
    machinery._binomial_sums.cache_clear()
    at_once = machinery._binomial_mean(means, np.full(len(means), n))
    machinery._binomial_sums.cache_clear()
    one_by_one = [machinery._binomial_mean(means[[i]], np.array([n]))[0] for i in range(len(means))]
    np.testing.assert_array_equal(one_by_one, at_once)


def test_the_mean_of_samples_is_that_of_drawn_samples(rng):
    table = np.array([[[12.0, 6.0, 3.0], [5.0, 14.0, 25.0]]])
    drawn = rng.multinomial(65, table.ravel() / 65, size=200_000).reshape(-1, 2, 3)
    simulated = machinery.table_information(drawn.astype(float))
    error = simulated.std() / np.sqrt(len(simulated))
    assert machinery.sampled_mean(table)[0] == pytest.approx(simulated.mean(), abs=4 * error)
    bits = machinery.table_information(table)[0]
    correct = np.repeat([0, 0, 0, 1, 1, 1], table.ravel().astype(int))
    rating = np.repeat([1, 2, 3, 1, 2, 3], table.ravel().astype(int))
    assert meta_information(correct, rating, unit="bits") == pytest.approx(
        2 * bits - simulated.mean(), abs=4 * error
    )


def test_correction_removes_most_of_the_bias(rng):
    proportions = np.array([[0.20, 0.12, 0.05, 0.03], [0.10, 0.13, 0.15, 0.22]])
    truth = machinery.table_information(proportions[np.newaxis])[0]
    tables = rng.multinomial(200, proportions.ravel(), size=4000).reshape(-1, 2, 4).astype(float)
    raw = machinery.table_information(tables)
    surplus = machinery.sampled_mean(tables) - raw
    assert raw.mean() - truth == pytest.approx(3 / (2 * 200 * np.log(2)), rel=0.15)
    assert abs((raw - surplus).mean() - truth) < 0.15 * (raw.mean() - truth)


@pytest.mark.parametrize("d_prime", [0.2, 1.0, 2.0, 4.0])
def test_the_ideal_observer_by_quadrature(d_prime):
    accuracy = stats.norm.cdf(d_prime / 2)

    def uncertainty(p):
        return stats.bernoulli(p).entropy() / np.log(2)

    def remaining(distance):
        density = stats.norm.pdf(distance - d_prime / 2) + stats.norm.pdf(distance + d_prime / 2)
        return density * uncertainty(1 / (1 + np.exp(-d_prime * distance)))

    left, _ = integrate.quad(remaining, 0, 12)
    # Confidence that is always right about correctness has the entropy of correctness as its information.
    perfect = {"correct": [0, 1], "confidence": [0, 1], "weights": [1 - accuracy, accuracy], "bins": None}
    ratio = meta_information(**perfect, correction="none", unit="ideal")
    assert uncertainty(accuracy) / ratio == pytest.approx(uncertainty(accuracy) - left, abs=1e-8)


def test_confidence_of_an_ideal_observer_has_unit_efficiency(rng):
    stimulus = rng.integers(0, 2, 200_000)
    evidence = rng.normal(1.6 * (stimulus - 0.5))
    correct, confidence = (evidence > 0) == stimulus, np.abs(evidence)
    assert meta_information(correct, confidence, bins=100, unit="ideal") == pytest.approx(1.0, abs=0.03)
    noisy = confidence + rng.normal(size=confidence.size)
    assert meta_information(correct, noisy, bins=100, unit="ideal") < 0.7


def test_all_units_come_from_one_table(rng):
    correct = rng.integers(0, 2, 400)
    confidence = np.round(correct + rng.normal(size=400))
    result = meta_information_test(correct, confidence, n_permutations=99)
    assert result.information == meta_information(correct, confidence, unit="bits")
    assert result.uncorrected == meta_information(correct, confidence, unit="bits", correction="none")
    assert result.meta_i1r == pytest.approx(result.information / result.ideal_information, rel=1e-12)
    assert result.meta_i2r == pytest.approx(result.information / result.entropy, rel=1e-12)
    assert result.entropy == pytest.approx(
        stats.entropy([1 - correct.mean(), correct.mean()], base=2), rel=1e-12
    )


def test_the_permutation_test_agrees_with_shuffled_trials(rng):
    correct = rng.integers(0, 2, 40)
    confidence = np.round(0.5 * correct + rng.normal(size=40))
    observed = meta_information(correct, confidence, bins=None, correction="none")
    shuffled = [
        meta_information(rng.permutation(correct), confidence, bins=None, correction="none")
        for _ in range(800)
    ]
    share = np.mean(np.array(shuffled) >= observed - 1e-12)
    p_value = meta_information_test(correct, confidence, bins=None, n_permutations=20_000).p_value
    assert p_value == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 800))


def test_the_permutation_test_keeps_its_size(rng):
    """With uninformative confidence, one p-value in ten is below .1, and none is 0."""
    p_values = [
        meta_information_test(
            rng.integers(0, 2, 60), rng.integers(0, 4, 60), n_permutations=199, seed=rng
        ).p_value
        for _ in range(250)
    ]
    assert np.mean(np.array(p_values) <= 0.1) == pytest.approx(0.1, abs=0.06)
    assert min(p_values) >= 1 / 200


# Invariance


def test_questions_asked_once_change_nothing_and_the_same_replies_again_prove_nothing(rng):
    confidence = rng.integers(1, 5, 80).astype(float)
    correct = (rng.random(80) < 0.4 + 0.06 * confidence).astype(float)
    once = meta_information_test(correct, confidence, bins=None, n_permutations=4000).p_value
    labelled = meta_information_test(
        correct, confidence, bins=None, questions=rng.permutation(80), n_permutations=4000
    )
    assert labelled.p_value == once
    three_times = meta_information_test(
        *(np.repeat(column, 3) for column in (correct, confidence)),
        bins=None,
        questions=np.repeat(np.arange(80), 3),
        n_permutations=4000,
    )
    assert three_times.p_value == pytest.approx(once, abs=4 * np.sqrt(once * (1 - once) / 2000))
    columns = (np.repeat(column, 3) for column in (correct, confidence))
    alone = meta_information(*columns, bins=None, questions=np.repeat(np.arange(80), 3))
    assert three_times.meta_i2r == alone == pytest.approx(labelled.meta_i2r, abs=0.01)


def test_the_permutation_test_keeps_its_size_with_repeated_questions(rng):
    questions = np.repeat(np.arange(60), rng.integers(1, 5, 60))
    p_values = []
    for seed in range(300):
        right, evidence = rng.integers(0, 2, 60), rng.normal(size=60)
        again = rng.random(len(questions)) < 0.1
        p_values.append(
            meta_information_test(
                (right[questions] ^ again).astype(float),
                evidence[questions] + rng.normal(0.0, 0.2, len(questions)),
                questions=questions,
                n_permutations=99,
                seed=seed,
            ).p_value
        )
    # Three standard errors above five in a hundred; matched trial by trial, it is 30.
    assert np.mean(np.array(p_values) <= 0.05) < 0.088


def test_questions_must_be_as_many_as_trials():
    with pytest.raises(ValueError, match="questions"):
        meta_information_test([1, 0], [0.5, 0.6], questions=["a"])


@given(binary_trials())
def test_information_lies_between_nothing_and_everything(trials):
    share = meta_information(*trials, bins=None, correction="none")
    if not np.isnan(share):
        assert -1e-12 <= share <= 1 + 1e-12


@given(binary_trials(), st.sampled_from([None, 3]), st.sampled_from(["simulation", "none"]))
def test_only_the_order_of_confidence_counts(trials, bins, correction):
    correct, confidence = trials
    plain = meta_information(correct, confidence, bins=bins, correction=correction)
    mapped = meta_information(correct, np.exp(confidence), bins=bins, correction=correction)
    assert plain == pytest.approx(mapped, abs=1e-12, nan_ok=True)


@given(binary_trials(), st.randoms())
def test_the_order_of_trials_does_not_count(trials, random):
    pairs = list(zip(*trials, strict=True))
    random.shuffle(pairs)
    plain = meta_information(*trials)
    assert plain == pytest.approx(meta_information(*zip(*pairs, strict=True)), abs=1e-9, nan_ok=True)


@given(binary_trials())
def test_wrong_and_right_may_change_places(trials):
    correct, confidence = trials
    plain = meta_information(correct, confidence)
    turned = meta_information([1 - c for c in correct], confidence)
    assert plain == pytest.approx(turned, abs=1e-9, nan_ok=True)


@given(binary_trials())
def test_merging_ratings_loses_information(trials):
    correct, confidence = trials
    fine = meta_information(correct, confidence, bins=None, correction="none", unit="bits")
    coarse = meta_information(
        correct, [c // 2 for c in confidence], bins=None, correction="none", unit="bits"
    )
    assert np.isnan(fine) or coarse <= fine + 1e-12


def test_it_can_be_bootstrapped(rng):
    correct = rng.integers(0, 2, 200)
    confidence = np.round(correct + rng.normal(size=200))
    values = bootstrap_distribution(meta_information, correct, confidence, n_resamples=300)
    assert values.shape == (300,)
    assert np.isfinite(values).all()


def test_weights_beyond_any_table_are_no_larger_work():
    right, stated = [1, 0, 1, 0], [0.9, 0.8, 0.9, 0.9]
    limit = meta_information(right, stated, weights=[1e6] * 4)
    assert meta_information(right, stated, weights=[2e7] * 4) == pytest.approx(limit, abs=1e-5)


@pytest.mark.parametrize("correction", ["simulation", "none"])
@pytest.mark.parametrize("n", [20, 40, 200])
def test_corrected_information_is_at_most_the_entropy(n, correction):
    """With complete separation, the corrected information in bits exceeds the entropy, which is not corrected."""
    correct = np.repeat([0.0, 1.0], n // 2)
    assert meta_information(correct, correct, correction=correction) <= 1.0
    assert meta_information(correct, correct, correction="simulation") == 1.0


@pytest.mark.parametrize("epochs", [2, 5, 10])
def test_asking_again_for_equal_answers_adds_no_information(rng, epochs):
    """The value of repeated questions is that of one epoch; without questions, it would be the value of more trials."""
    correct, confidence = (rng.random(200) < 0.6).astype(float), rng.random(200)
    once = meta_information(correct, confidence)
    again = np.repeat(correct, epochs), np.repeat(confidence, epochs)
    assert meta_information(*again, questions=np.repeat(np.arange(200), epochs)) == pytest.approx(
        once, abs=3e-3
    )
    assert meta_information(*again) > once + 0.01
    assert meta_information(correct, confidence, questions=np.arange(200)) == once


def test_confidence_that_is_unrelated_to_repeated_questions_has_no_information_on_average(rng):
    values = []
    for _ in range(150):
        question = np.repeat(np.arange(100), 5)
        easy = rng.normal(0.7, 2.0, 100)[question]
        correct = (rng.random(500) < 1.0 / (1.0 + np.exp(-easy))).astype(float)
        confidence = np.round(rng.normal(size=100)[question] + 0.7 * rng.normal(size=500))
        values.append(meta_information(correct, confidence, questions=question))
    assert abs(np.mean(values)) < 3.0 * np.std(values) / np.sqrt(150)
