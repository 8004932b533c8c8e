"""Recalibration maps against scikit-learn and pandas, and their files."""

from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from confidence_tasks.statistics.calibration import Recalibration, fit_recalibration

METHODS = ("isotonic", "beta", "logistic", "histogram")
every_method = pytest.mark.parametrize("method", METHODS)


def answers(n=500, seed=0):
    rng = np.random.default_rng(seed)
    stated = rng.beta(4.0, 2.0, n).round(2)
    return (rng.random(n) < stated**2).astype(float), stated


def test_an_isotonic_map_is_that_of_scikit_learn():
    correct, stated = answers()
    grid = np.linspace(stated.min(), stated.max(), 300)
    expected = IsotonicRegression().fit(stated, correct).predict(grid)
    np.testing.assert_allclose(fit_recalibration(correct, stated)(grid), expected, atol=1e-12)


def targets_as_rows(correct, features):
    """Platt's targets as rows of weight t and 1 - t."""
    right, wrong = correct.sum(), (1 - correct).sum()
    target = np.where(correct == 1, (right + 1) / (right + 2), 1 / (wrong + 2))
    rows = np.concatenate([features, features])
    outcome = np.repeat([1, 0], len(correct))
    return rows, outcome, np.concatenate([target, 1 - target])


FEATURES = {
    "logistic": lambda c: logit(c)[:, np.newaxis],
    "beta": lambda c: np.column_stack([np.log(c), -np.log1p(-c)]),
}


@pytest.mark.parametrize("method", FEATURES)
def test_a_smooth_map_is_that_of_scikit_learn(method):
    correct, stated = answers()
    stated = stated.clip(0.01, 0.99)
    rows, outcome, weight = targets_as_rows(correct, FEATURES[method](stated))
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(rows, outcome, weight)
    assert (model.coef_ >= 0).all()
    grid = np.linspace(stated.min(), stated.max(), 777)
    expected = model.predict_proba(FEATURES[method](grid))[:, 1]
    np.testing.assert_allclose(fit_recalibration(correct, stated, method=method)(grid), expected, atol=1e-3)


def test_a_beta_map_never_falls():
    rng = np.random.default_rng(2)
    stated = rng.random(400).round(2)
    falling = fit_recalibration((rng.random(400) > stated).astype(float), stated, method="beta")
    assert np.diff(falling.probability).min() >= -1e-9
    assert np.ptp(falling.probability) < 0.02


def test_a_histogram_has_the_accuracy_of_bins_of_equal_mass():
    correct, stated = answers()
    edges = np.unique(np.sort(stated)[[int(np.ceil(len(stated) * k / 10)) - 1 for k in range(1, 11)]])
    bins = pd.cut(pd.Series(stated), [-1.0, *edges])
    expected = pd.Series(correct).groupby(bins, observed=True).transform("mean")
    np.testing.assert_allclose(fit_recalibration(correct, stated, method="histogram")(stated), expected)


@every_method
def test_a_map_is_read_as_it_was_written_and_needs_numpy_alone(method, tmp_path):
    correct, stated = answers()
    found = fit_recalibration(correct, stated, method=method, made_from="mine")
    (tmp_path / "map.json").write_text(found.to_json())
    assert Recalibration.load(tmp_path / "map.json") == found
    assert (found.n_questions, found.n_wrong, found.made_from) == (500, int(500 - correct.sum()), "mine")
    if method != "histogram":
        plain = json.loads((tmp_path / "map.json").read_text())
        np.testing.assert_array_equal(
            found(stated), np.interp(stated, plain["confidence"], plain["probability"])
        )


@every_method
def test_a_map_never_extrapolates(method):
    correct, stated = answers()
    found = fit_recalibration(correct, stated, method=method)
    assert np.isnan(found([stated.min() - 0.001, stated.max() + 0.001, np.nan])).all()
    assert np.isfinite(found(stated)).all()


@pytest.mark.slow
@every_method
@given(data=st.data())
def test_probabilities_are_probabilities(method, data):
    n = data.draw(st.integers(1, 40))
    correct = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    stated = data.draw(st.lists(st.floats(0, 1), min_size=n, max_size=n))
    found = fit_recalibration(correct, stated, method=method, force=True)(stated)
    assert ((found >= 0) & (found <= 1)).all()


def test_many_distinct_confidences_make_a_small_file(tmp_path):
    rng = np.random.default_rng(0)
    stated = rng.random(50_000)
    found = fit_recalibration(rng.random(50_000) < stated, stated)
    (tmp_path / "map.json").write_text(found.to_json())
    assert (tmp_path / "map.json").stat().st_size < 20_000
    assert np.abs(Recalibration.load(tmp_path / "map.json")(stated) - stated).mean() < 0.02


@pytest.mark.parametrize(("n", "wrong"), [(99, 20), (200, 9), (200, 191)])
def test_too_little_is_refused_unless_forced(n, wrong):
    correct, stated = np.arange(n) >= wrong, np.linspace(0, 1, n)
    with pytest.raises(ValueError, match="too few for a map"):
        fit_recalibration(correct, stated)
    assert fit_recalibration(correct, stated, force=True).n_wrong == wrong


def test_epochs_are_no_questions_and_nothing_is_too_few_even_if_forced():
    correct, stated = answers(150)
    with pytest.raises(ValueError, match="50 questions"):
        fit_recalibration(correct, stated, clusters=np.arange(150) // 3)
    with pytest.raises(ValueError, match="too few"):
        fit_recalibration([], [], force=True)


# Files


def written(tmp_path, **changes):
    record = {
        "format": "confidence_tasks recalibration map 1",
        "confidence": [0.5, 0.9],
        "probability": [0.4, 0.7],
        "method": "isotonic",
        "n_questions": 200,
        "n_wrong": 50,
        "made_from": "",
    } | changes
    path = tmp_path / "map.json"
    path.write_text(json.dumps(record))
    return path


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "other"},
        {"confidence": [0.9, 0.5]},
        {"confidence": [0.5, 0.5]},
        {"confidence": [0.5]},
        {"confidence": [], "probability": []},
        {"confidence": [0.5, 1.5]},
        {"confidence": [0.5, float("nan")]},
        {"probability": [0.4, float("inf")]},
        {"probability": [0.4, "0.7"]},
        {"probability": [0.4, True]},
        {"probability": "0.4"},
        {"probability": {"0": 0.4}},
        {"method": "spline"},
        {"method": ["isotonic"]},
        {"n_questions": -1},
        {"n_wrong": 1.5},
        {"made_from": None},
        {"code": "import os"},
        {"confidence": [i / 20_000 for i in range(10_001)], "probability": [0.5] * 10_001},
    ],
)
def test_what_is_no_map_is_refused(tmp_path, changes):
    assert Recalibration.load(written(tmp_path)).confidence == (0.5, 0.9)
    with pytest.raises(ValueError, match="is no recalibration map"):
        Recalibration.load(written(tmp_path, **changes))


@pytest.mark.parametrize(
    "text", ["", "[", "[]", "null", "1" * 5000, "[" * 100_000, '"' + "a" * (1 << 20) + '"', "\udcff"]
)
def test_a_hostile_file_is_refused(tmp_path, text):
    path = tmp_path / "map.json"
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(ValueError, match="no recalibration map"):
        Recalibration.load(path)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda part: st.lists(part) | st.dictionaries(st.text(max_size=5), part),
    )
)
def test_any_json_is_a_map_or_refused(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("maps") / "map.json"
    for name in ("confidence", "probability", "n_wrong", "method"):
        record = json.loads(written(path.parent).read_text()) | {name: value}
        path.write_text(json.dumps(record))
        with suppress(ValueError):
            assert np.isfinite(Recalibration.load(path)(0.5))


def test_a_map_turns_logits_of_the_truth_into_the_truth():
    rng = np.random.default_rng(0)
    truth = rng.random(20_000)
    stated = expit(2.0 + 0.5 * logit(truth))
    found = fit_recalibration(rng.random(20_000) < truth, stated, method="logistic")
    assert np.abs(found(stated) - truth).mean() < 0.02
