import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from confidence_tasks.statistics import brier
from confidence_tasks.statistics.calibration import cross_fitted_confidence, cross_fitted_logistic

METHODS = ["isotonic", "beta", "logistic", "histogram"]
every_method = pytest.mark.parametrize("method", METHODS)


def overconfident(n, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random(n)
    return (rng.random(n) < truth).astype(float), expit(2.0 + 0.5 * logit(truth)).round(3), truth


def two_folds(n):
    """Labels of two questions: leaving out the one is fitting on the other."""
    return np.arange(n) % 2


# Shapes, errors, degenerate samples


@every_method
def test_every_trial_has_a_recalibrated_confidence(method):
    correct, confidence, _ = overconfident(50)
    result = cross_fitted_confidence(correct, confidence, method=method)
    assert result.shape == (50,)
    assert ((result >= 0) & (result <= 1)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 1}, "folds"),
        ({"method": "spline"}, "method"),
        ({"available": [1, 1]}, "lengths differ"),
        ({"available": [1, 1, 0.5]}, "available"),
        ({"clusters": ["a", "b"]}, "clusters"),
    ],
)
def test_options_outside_their_domain_raise(options, message):
    with pytest.raises(ValueError, match=message):
        cross_fitted_confidence([1, 0, 1], [0.5, 0.6, 0.7], **options)


@every_method
def test_nothing_to_fit_gives_nan(method):
    assert cross_fitted_confidence([], [], method=method).shape == (0,)
    assert np.isnan(cross_fitted_confidence([1.0], [0.5], method=method)).all()
    none_available = cross_fitted_confidence([1, 0], [0.5, 0.6], method=method, available=[0, 0])
    assert np.isnan(none_available).all()


@every_method
@pytest.mark.parametrize(
    ("correct", "confidence"),
    [([1, 1, 1, 1], [0.2, 0.4, 0.6, 0.8]), ([1, 0, 1, 0], [0.5] * 4), ([0, 0, 1, 1], [0.0, 0.0, 1.0, 1.0])],
    ids=["one class", "constant", "separated"],
)
def test_degenerate_folds_are_fitted_all_the_same(method, correct, confidence):
    assert np.isfinite(cross_fitted_confidence(correct, confidence, method=method)).all()


# Correctness


def test_isotonic_curve_is_that_of_scikit_learn():
    correct, confidence, _ = overconfident(400)
    labels = two_folds(400)
    result = cross_fitted_confidence(correct, confidence, clusters=labels, folds=2)
    for held_out in (0, 1):
        training = labels != held_out
        peer = IsotonicRegression(out_of_bounds="clip").fit(confidence[training], correct[training])
        np.testing.assert_allclose(result[~training], peer.predict(confidence[~training]), atol=1e-12)


def test_logistic_curve_maximizes_the_likelihood_of_platts_targets():
    correct, confidence, _ = overconfident(300)
    labels = two_folds(300)
    result = cross_fitted_confidence(correct, confidence, method="logistic", clusters=labels, folds=2)
    training = labels == 1
    right, wrong = correct[training].sum(), (1 - correct[training]).sum()
    targets = np.where(correct[training] == 1, (right + 1) / (right + 2), 1 / (wrong + 2))

    def line(parameters, stated):
        return parameters[0] + parameters[1] * logit(np.clip(stated, 0.005, 0.995))

    def minus_likelihood(parameters):
        predicted = line(parameters, confidence[training])
        return np.sum(np.logaddexp(0.0, predicted) - targets * predicted)

    best = minimize(minus_likelihood, [0.0, 1.0], tol=1e-12).x
    np.testing.assert_allclose(result[~training], expit(line(best, confidence[~training])), atol=1e-5)


@every_method
def test_no_trial_is_used_for_its_own_recalibration(method):
    correct, confidence, _ = overconfident(40)
    labels = np.arange(40) // 2
    result = cross_fitted_confidence(correct, confidence, method=method, clusters=labels)
    for question in range(0, 20, 5):
        held_out = labels == question
        flipped = np.where(held_out, 1 - correct, correct)
        changed = cross_fitted_confidence(flipped, confidence, method=method, clusters=labels)
        np.testing.assert_array_equal(changed[held_out], result[held_out])
        assert not np.array_equal(changed[~held_out], result[~held_out])


@every_method
def test_trials_without_an_answer_are_recalibrated_but_not_fitted(method):
    correct, confidence, _ = overconfident(60)
    available = (np.arange(60) % 3 > 0).astype(float)
    result = cross_fitted_confidence(correct, confidence, method=method, available=available)
    flipped = np.where(available > 0, correct, 1 - correct)
    np.testing.assert_array_equal(
        cross_fitted_confidence(flipped, confidence, method=method, available=available), result
    )
    assert np.isfinite(result).all()


@every_method
def test_recalibrated_confidence_comes_near_the_truth(method):
    correct, confidence, truth = overconfident(20_000)
    result = cross_fitted_confidence(correct, confidence, method=method)
    error = np.abs(result - truth).mean()
    assert error < (0.03 if method == "histogram" else 0.015)  # a tenth of the answers share a bin
    assert brier(correct, result) < brier(correct, confidence) - 0.05


@every_method
def test_uninformative_confidence_becomes_the_mean(method):
    rng = np.random.default_rng(1)
    correct, confidence = (rng.random(5000) < 0.3).astype(float), rng.random(5000)
    result = cross_fitted_confidence(correct, confidence, method=method)
    assert np.abs(result - 0.3).mean() < 0.03


# Properties


@every_method
def test_same_seed_same_folds(method):
    correct, confidence, _ = overconfident(60)
    calls = [cross_fitted_confidence(correct, confidence, method=method, seed=seed) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(calls[0], calls[1])
    assert not np.array_equal(calls[0], calls[2])


# Several signals


def two_signals(n, seed=1):
    rng = np.random.default_rng(seed)
    signals = rng.normal(size=(n, 2)) * [1.0, 30.0] + [0.0, -50.0]
    chance = expit(signals[:, 0] + (signals[:, 1] + 50.0) / 30.0)
    return (rng.random(n) < chance).astype(float), signals, chance


def test_several_signals_are_combined_as_scikit_learn_combines_them():
    correct, signals, _ = two_signals(80)
    folds = two_folds(80)
    result = cross_fitted_logistic(correct, signals, clusters=folds)
    for held_out in (0, 1):
        training, members = folds != held_out, folds == held_out
        scaler = StandardScaler().fit(signals[training])
        x, y = scaler.transform(signals[training]), correct[training]
        n_right, n_wrong = y.sum(), (1 - y).sum()
        target = np.where(y == 1, (n_right + 1) / (n_right + 2), 1 / (n_wrong + 2))
        model = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000)
        model.fit(
            np.vstack([x, x]),
            np.repeat([1, 0], len(x)),
            sample_weight=np.concatenate([target, 1 - target]),
        )
        expected = model.predict_proba(scaler.transform(signals[members]))[:, 1]
        assert result[members] == pytest.approx(expected, abs=1e-5)


def test_no_question_is_used_for_its_own_prediction():
    correct, signals, _ = two_signals(60)
    questions = np.arange(60) // 3
    changed = correct.copy()
    changed[questions == 7] = 1 - changed[questions == 7]
    before = cross_fitted_logistic(correct, signals, clusters=questions)
    after = cross_fitted_logistic(changed, signals, clusters=questions)
    assert (before[questions == 7] == after[questions == 7]).all()
    assert (before != after).any()


def test_a_missing_signal_is_replaced_by_the_mean_and_an_indicator():
    correct, signals, chance = two_signals(4000)
    lacking = np.random.default_rng(2).random(4000) < 0.3
    signals[lacking, 1] = np.nan
    correct = np.where(lacking, 0.0, correct)  # those without a second signal are all wrong
    result = cross_fitted_logistic(correct, signals)
    assert result[lacking].max() < 0.2
    assert np.abs(result - chance)[~lacking].mean() < 0.1


def test_constant_and_separating_signals_can_be_combined():
    correct = np.array([1.0, 1.0, 0.0, 0.0] * 5)
    constant = cross_fitted_logistic(correct, np.full((20, 1), 0.1 + 0.2))
    assert ((constant > 0.3) & (constant < 0.7)).all()
    separating = cross_fitted_logistic(correct, correct[:, None])
    assert (separating[correct == 1] > separating[correct == 0].max()).all()
    assert np.isfinite(cross_fitted_logistic(np.ones(20), correct[:, None])).all()
    assert np.isfinite(cross_fitted_logistic(correct, np.full((20, 2), np.nan))).all()
    twice = cross_fitted_logistic(correct, np.column_stack([correct, correct]))
    assert np.isfinite(twice).all()
    assert np.isnan(cross_fitted_logistic([1], [[0.5]])).all()
    assert cross_fitted_logistic([], np.zeros((0, 2))).shape == (0,)


@pytest.mark.parametrize(
    ("features", "options", "message"),
    [
        ([[1.0]], {}, "features must have shape"),
        ([1.0, 2.0], {}, "features must have shape"),
        ([[1.0], [np.inf]], {}, "finite"),
        ([[1.0], [2.0]], {"penalty": 0.0}, "penalty"),
        ([[1.0], [2.0]], {"folds": 1}, "folds"),
    ],
)
def test_signals_outside_their_domain_raise(features, options, message):
    with pytest.raises(ValueError, match=message):
        cross_fitted_logistic([1, 0], features, **options)
