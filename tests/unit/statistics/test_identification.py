"""What the counts do not identify has no estimate, whatever the padding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from confidence_tasks.statistics import Reason, fit_meta_d
from confidence_tasks.statistics.sdt import (
    d_a,
    fit_uv_sdt,
    hierarchical_meta_d,
    m_ratio_2afc,
    m_ratio_ratings,
    m_ratio_threshold,
    meta_d_2afc,
    meta_d_ratings,
    meta_d_threshold,
    z_roc_slope,
)

PADDED = ("1/2K", "hautus")
counts_of = {
    k: arrays(np.float64, (2, 2 * k), elements=st.one_of(st.integers(0, 9), st.just(0)).map(float))
    for k in (1, 2, 3)
}
any_table = st.sampled_from(sorted(counts_of)).flatmap(counts_of.get)
n_trials = st.integers(1, 30)


@st.composite
def any_trials(draw):
    """Correctness, ratings and the key of a few trials, often constant or all right."""
    n = draw(n_trials)
    correct, key = (draw(arrays(np.float64, n, elements=st.integers(0, 1).map(float))) for _ in range(2))
    ratings = draw(arrays(np.float64, n, elements=st.sampled_from([0.2, 0.6, 0.95])))
    everywhere = draw(st.sampled_from(["varied", "constant", "all right"]))
    return (
        np.ones(n) if everywhere == "all right" else correct,
        ratings[:1].repeat(n) if everywhere == "constant" else ratings,
        key,
    )


@pytest.mark.slow
@given(
    any_table,
    st.sampled_from(PADDED),
    st.sampled_from(["relative", "absolute"]),
    st.sampled_from(["both", "S1", "S2"]),
    st.sampled_from([1.0, 0.7]),
)
def test_meta_d_undefined_without_padding_is_undefined_with_any(table, padding, criterion, response, s):
    options = {"criterion": criterion, "response": response, "s": s}
    raw, padded = (fit_meta_d(*table, padding=each, **options) for each in ("none", padding))
    for name in ("meta_d", "meta_d_se", "m_ratio", "m_ratio_se", "m_diff"):
        if np.isnan(getattr(raw, name)):
            assert np.isnan(getattr(padded, name))
            assert getattr(padded, name).reason is not None
            assert padded.unstable or name == "m_ratio_se"


@pytest.mark.slow
@given(any_table, st.sampled_from(PADDED))
def test_unequal_variances_undefined_without_padding_are_undefined_with_any(table, padding):
    raw, padded = (fit_uv_sdt(*table, padding=each) for each in ("none", padding))
    for name in ("d_a", "slope", "area", "intercept"):
        if np.isnan(getattr(raw, name)):
            assert np.isnan(getattr(padded, name))
            assert getattr(padded, name).reason is not None


@pytest.mark.slow
@given(any_trials(), st.sampled_from(PADDED))
@pytest.mark.parametrize("statistic", [m_ratio_2afc, meta_d_2afc])
def test_trials_of_two_choices_need_no_padding_to_be_defined(statistic, trials, padding):
    if np.isnan(statistic(*trials, padding="none")):
        assert np.isnan(statistic(*trials, padding=padding))


@pytest.mark.slow
@given(any_trials(), st.sampled_from(PADDED))
@pytest.mark.parametrize("statistic", [m_ratio_ratings, meta_d_ratings, d_a, z_roc_slope])
def test_trials_of_ratings_need_no_padding_to_be_defined(statistic, trials, padding):
    if np.isnan(statistic(*trials[:2], padding="none")):
        assert np.isnan(statistic(*trials[:2], padding=padding))


@pytest.mark.parametrize("padding", [*PADDED, "none"])
@pytest.mark.parametrize(
    "statistic",
    [
        m_ratio_2afc,
        meta_d_2afc,
        m_ratio_ratings,
        meta_d_ratings,
        d_a,
        z_roc_slope,
        m_ratio_threshold,
        meta_d_threshold,
    ],
)
def test_constant_confidence_has_no_metacognition_in_any_resample(statistic, padding, rng):
    key = rng.integers(0, 2, 400)
    evidence = rng.normal(1.5 * (key - 0.5))
    correct = ((evidence > 0.0) == key).astype(float)
    arguments = (
        (correct, np.full(400, 0.9), key)
        if statistic in (m_ratio_2afc, meta_d_2afc)
        else (correct, np.full(400, 0.9))
    )
    value = statistic(*arguments, padding=padding)
    assert np.isnan(value)
    assert value.reason in (Reason.CONSTANT, Reason.ONE_SIDE, Reason.NOT_IDENTIFIED)
    resamples = rng.multinomial(400, np.full(400, 1 / 400), 50).astype(float)
    assert np.isnan(statistic(*arguments, padding=padding, weights=resamples)).all()


@pytest.mark.parametrize("padding", PADDED)
def test_resamples_are_judged_one_by_one(padding, rng):
    key = rng.integers(0, 2, 60)
    correct, ratings = (rng.random(60) < 0.75).astype(float), rng.choice([0.2, 0.6, 0.95], 60)
    resamples = rng.multinomial(60, np.full(60, 1 / 60), 400).astype(float)
    resamples[0] = ratings == 0.6  # one rating only
    raw, padded = (
        m_ratio_2afc(correct, ratings, key, edges=[0.3, 0.7, 0.99], padding=each, weights=resamples)
        for each in ("none", padding)
    )
    assert np.isnan(padded[0])
    np.testing.assert_array_equal(np.isnan(padded), np.isnan(raw))


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_a_fit_without_errors_has_no_value_and_is_unstable():
    fit = fit_meta_d([40, 30, 20, 10, 0, 0, 0, 0], [0, 0, 0, 0, 10, 20, 30, 40])
    assert np.isnan(fit.m_ratio)
    assert fit.unstable
    assert fit.d_prime > 4.0  # padding exists for rates of 0 and 1


def test_a_fit_that_few_trials_carry_is_unstable():
    """Of 896 trials, nearly all have the highest rating."""
    few = fit_meta_d([298, 1, 0, 1, 1, 148], [147, 1, 1, 1, 0, 297])
    many = fit_meta_d([200, 60, 40, 30, 40, 79], [79, 40, 30, 40, 60, 200])
    assert few.d_prime == pytest.approx(many.d_prime, abs=0.1)
    assert few.unstable
    assert not many.unstable


def test_units_with_one_rating_have_no_hierarchical_m_ratio():
    """Too few units are left for a group, so that no sampler runs."""
    constant, varied = [[0, 0, 20, 10, 0, 0]] * 2, [[9, 4, 7, 5, 3, 2]]
    mirrored = [[0, 0, 10, 20, 0, 0]] * 2, [[2, 3, 5, 7, 4, 9]]
    fit = hierarchical_meta_d([*constant, *varied], [*mirrored[0], *mirrored[1]])
    assert fit.reasons == (Reason.NOT_IDENTIFIED, Reason.NOT_IDENTIFIED, None)
    assert np.isnan(fit.unit_m_ratio.mean).all()
    assert np.isnan(fit.m_ratio.mean)
    assert not fit.converged
