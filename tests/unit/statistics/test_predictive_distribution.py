import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from confidence_tasks.statistics import Reason, coverage, winkler_score
from confidence_tasks.statistics.intervals import (
    empirical_distribution,
    fit_temperature,
    smallest_set,
    tempered,
    tunnel_index,
)

masses = st.sampled_from([0.5, 0.9, 0.95, 0.99, 0.998])
tables = hnp.arrays(
    np.float64, hnp.array_shapes(min_dims=1, max_dims=2, max_side=6), elements=st.integers(0, 5)
)


def discretized_normal(center, spread, half_width=30):
    """A normal distribution on integers around each center."""
    values = np.round(center)[:, None] + np.arange(-half_width, half_width + 1)
    return values, stats.norm.pdf(values, center[:, None], spread)


# Errors


@pytest.mark.parametrize("bad", [[0.5, -0.1], [0.5, np.nan], [0.5, np.inf], [0.0, 0.0], 0.5])
def test_invalid_distributions_raise(bad):
    for call in (
        lambda: tempered(bad, 1.0),
        lambda: smallest_set([1, 2], bad, 0.9),
        lambda: tunnel_index(bad, [[0.5, 0.5]]),
    ):
        with pytest.raises(ValueError):
            call()


@pytest.mark.parametrize("temperature", [0.0, -1.0, np.inf, np.nan])
def test_temperature_outside_its_domain_raises(temperature):
    with pytest.raises(ValueError, match="temperature"):
        tempered([0.5, 0.5], temperature)


@pytest.mark.parametrize("mass", [0.0, 1.0, 95, np.nan])
def test_mass_outside_its_domain_raises(mass):
    with pytest.raises(ValueError, match="mass"):
        smallest_set([1, 2], [0.5, 0.5], mass)


def test_shapes_that_do_not_match_raise():
    with pytest.raises(ValueError, match="one shape"):
        smallest_set([1, 2, 3], [0.5, 0.5], 0.9)
    with pytest.raises(ValueError, match="one distribution per question"):
        fit_temperature([1.0], [[1, 2], [1, 2]], [[0.5, 0.5], [0.5, 0.5]], [0.9])
    with pytest.raises(ValueError, match="one more axis"):
        tunnel_index([0.5, 0.5], [0.5, 0.5])
    with pytest.raises(ValueError, match="chain"):
        tunnel_index([0.5, 0.5], np.empty((0, 2)))


@pytest.mark.parametrize("values", [[1, np.nan], [1, np.inf]])
def test_values_that_are_not_finite_raise(values):
    with pytest.raises(ValueError, match="finite"):
        smallest_set(values, [0.5, 0.5], 0.9)


@pytest.mark.parametrize("samples", [[1, 2], [[]], [[1, np.nan]]])
def test_samples_without_a_distribution_raise(samples):
    with pytest.raises(ValueError, match="samples"):
        empirical_distribution(samples)


def test_nothing_to_search_raises():
    with pytest.raises(ValueError, match="at least one"):
        fit_temperature([1.0], [[1, 2]], [[0.5, 0.5]], [])
    with pytest.raises(ValueError, match="at least one"):
        fit_temperature([1.0], [[1, 2]], [[0.5, 0.5]], [0.9], temperatures=[])


# Degenerate samples


def test_no_questions_give_no_temperature():
    fit = fit_temperature([], np.empty((0, 3)), np.empty((0, 3)), [0.9])
    assert fit.temperature.reason is Reason.EMPTY


def test_a_certain_model_has_a_set_of_one():
    result = smallest_set([7, 8], [1.0, 0.0], 0.998)
    assert (result.lower, result.upper, result.members.sum()) == (7, 7, 1)


# Correctness: sets


@given(st.lists(st.integers(0, 6), min_size=1, max_size=7), masses)
def test_no_smaller_set_has_the_mass(weights, mass):
    weights = np.array(weights, dtype=float)
    assume(weights.sum() > 0)
    p = weights / weights.sum()
    result = smallest_set(np.arange(len(p)), p, mass)
    size = result.members.sum()
    assert result.mass == pytest.approx(p[result.members].sum())
    assert result.mass >= mass - 1e-12
    smaller = [sum(p[list(s)]) for s in itertools.combinations(range(len(p)), int(size) - 1)]
    assert max(smaller, default=0.0) < mass
    members = np.flatnonzero(result.members)
    assert (result.lower, result.upper) == (members[0], members[-1])


def test_ties_go_to_the_smaller_value_wherever_it_stands():
    for order in itertools.permutations(range(4)):
        values = np.array([2, 5, 3, 9])[list(order)]
        result = smallest_set(values, np.full(4, 0.25), 0.5)
        assert sorted(values[result.members]) == [2, 3]


def test_mass_reached_exactly_is_enough_whatever_rounding_says():
    # Nine tenths add up to 0.8999999999999999.
    assert smallest_set(np.arange(10), np.full(10, 0.1), 0.9).members.sum() == 9


def test_unlikely_gaps_are_spanned_and_padding_is_not():
    result = smallest_set([[3, 10, 5, 99]], [[0.5, 0.45, 0.05, 0.0]], 0.9)
    assert (result.lower[0], result.upper[0]) == (3, 10)
    assert smallest_set([[3, 10, 5, 99]], [[0.5, 0.45, 0.05, 0.0]], 0.998).upper[0] == 10


def test_distributions_are_handled_one_by_one():
    rng = np.random.default_rng(0)
    values, p = np.sort(rng.normal(size=(4, 3, 6)), axis=-1), rng.random((4, 3, 6))
    result = smallest_set(values, p, 0.8)
    one = smallest_set(values[2, 1], p[2, 1], 0.8)
    np.testing.assert_array_equal(result.members[2, 1], one.members)
    assert (result.lower[2, 1], result.upper[2, 1], result.mass[2, 1]) == (one.lower, one.upper, one.mass)


# Correctness: temperature


def test_temperature_scales_log_odds():
    p = np.array([[0.7, 0.2, 0.1, 0.0]])
    for temperature in (0.5, 1.0, 3.0):
        odds = np.log(tempered(p, temperature)[0, :2])
        assert odds[0] - odds[1] == pytest.approx(np.log(0.7 / 0.2) / temperature)
        assert tempered(p, temperature)[0, 3] == 0.0


def test_extreme_temperatures_reach_their_limits_without_overflow():
    p = np.array([1e-300, 0.3, 0.7])
    np.testing.assert_allclose(tempered(p, 1e-6), [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(tempered(p, 1e6), np.full(3, 1 / 3), atol=1e-3)


@pytest.mark.parametrize("true_temperature", [0.25, 1.0, 4.0])
def test_temperature_of_a_misjudged_spread_is_recovered(true_temperature):
    """p^(1/T) of a normal is a normal of T times the variance."""
    rng = np.random.default_rng(1)
    center = rng.uniform(-40, 40, 1500)
    truth = np.round(rng.normal(center, 4.0))
    values, stated = discretized_normal(center, 4.0 / np.sqrt(true_temperature))
    fit = fit_temperature(truth, values, stated, [0.5, 0.9, 0.95])
    assert np.log(fit.temperature) == pytest.approx(np.log(true_temperature), abs=0.25)
    span = smallest_set(values, tempered(stated, fit.temperature), 0.9)
    assert 0.88 < coverage(truth, span.lower, span.upper) < 0.95  # sets of whole numbers hold a little more


def test_score_on_the_grid_is_the_winkler_score_of_the_spans():
    rng = np.random.default_rng(2)
    values, p = np.tile(np.arange(6.0), (20, 1)), rng.random((20, 6))
    truth = rng.integers(0, 6, 20).astype(float)
    fit = fit_temperature(truth, values, p, [0.5, 0.9], temperatures=[0.5, 2.0])
    for temperature, score in zip(fit.temperatures, fit.scores, strict=True):
        spans = {mass: smallest_set(values, tempered(p, temperature), mass) for mass in (0.5, 0.9)}
        expected = [winkler_score(truth, span.lower, span.upper, mass) for mass, span in spans.items()]
        assert score == pytest.approx(np.mean(expected))
    assert fit.temperature == fit.temperatures[np.argmin(fit.scores)]


def test_ties_go_to_the_temperature_nearest_to_one():
    fit = fit_temperature([3.0], [[3.0, 4.0]], [[1.0, 0.0]], [0.9])
    assert np.ptp(fit.scores) == 0.0
    assert fit.temperature == pytest.approx(1.0)


# Correctness: entropy


def test_index_is_the_mutual_information_when_direct_is_the_mixture():
    joint = np.array([[0.3, 0.1, 0.1], [0.05, 0.05, 0.4]])
    chains, answer = joint.sum(axis=1), joint.sum(axis=0)
    information = stats.entropy(joint.ravel(), np.outer(chains, answer).ravel(), base=2)
    # Both chains are equally probable, as the index weighs them.
    assert chains[0] == chains[1]
    assert tunnel_index(answer, joint) == pytest.approx(information, rel=1e-12)
    assert tunnel_index(answer, joint, pooled=True) == pytest.approx(0.0, abs=1e-12)


def test_index_is_in_bits():
    assert tunnel_index(np.full(8, 1 / 8), np.eye(8)[:1]) == pytest.approx(3.0)


def test_index_of_pooled_chains_falls_with_their_number():
    """The opposite of the printed inequality of theorem 2."""
    rng = np.random.default_rng(5)
    direct = np.full(5, 0.2)
    chains = rng.dirichlet(np.full(5, 0.3), size=(4000, 8))
    mean = [tunnel_index(np.tile(direct, (4000, 1)), chains[:, :m], pooled=True).mean() for m in (1, 2, 4, 8)]
    assert mean[0] == pytest.approx(tunnel_index(np.tile(direct, (4000, 1)), chains).mean(), abs=0.01)
    assert (np.diff(mean) < -0.05).all()


@given(hnp.arrays(np.float64, (3, 4, 5), elements=st.integers(0, 5)))
def test_pooling_never_raises_the_index(weights):
    weights = weights + np.eye(4, 5)
    direct = np.ones((3, 5))
    pooled = tunnel_index(direct, weights, pooled=True)
    assert (pooled <= tunnel_index(direct, weights) + 1e-12).all()


def test_counted_answers_are_relative_frequencies():
    samples = np.random.default_rng(6).integers(-3, 4, (5, 30))
    values, shares = empirical_distribution(samples)
    for row in range(5):
        for value, share in zip(values[row], shares[row], strict=True):
            assert share == (samples[row] == value).mean()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


# Properties


@given(tables, masses, st.floats(0.5, 100.0))
def test_probabilities_need_not_be_normalized(weights, mass, factor):
    assume((weights.sum(axis=-1) > 0).all())
    values = np.broadcast_to(np.arange(weights.shape[-1]), weights.shape)
    plain, scaled = smallest_set(values, weights, mass), smallest_set(values, factor * weights, mass)
    np.testing.assert_array_equal(plain.members, scaled.members)
    np.testing.assert_allclose(tempered(factor * weights, 1.7), tempered(weights, 1.7), rtol=1e-9)
