import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from confidence_tasks.statistics.inference.tests import bonferroni, holm

ADJUSTMENTS = [bonferroni, holm]

p_values = hnp.arrays(np.float64, st.integers(0, 6), elements=st.floats(0.0, 1.0))


def holm_by_closure(p):
    """The largest Bonferroni p-value over all intersections of hypotheses that hold each one."""
    subsets = [
        list(subset)
        for size in range(1, len(p) + 1)
        for subset in itertools.combinations(range(len(p)), size)
    ]
    worst = {i: [min(1.0, len(s) * min(p[j] for j in s)) for s in subsets if i in s] for i in range(len(p))}
    return np.array([max(worst[i]) for i in range(len(p))])


# Shapes


@pytest.mark.parametrize("adjust", ADJUSTMENTS)
def test_no_tests_no_p_values(adjust):
    assert adjust([]).shape == (0,)


# Errors


@pytest.mark.parametrize("adjust", ADJUSTMENTS)
@pytest.mark.parametrize("bad", [[0.1, 1.1], [-0.1], [np.nan, 0.1], [[0.1]]])
def test_values_that_are_no_p_values_raise(adjust, bad):
    with pytest.raises(ValueError, match="p_values"):
        adjust(bad)


# Correctness


@given(p_values)
def test_holm_is_bonferroni_closed_over_all_intersections(p):
    np.testing.assert_allclose(holm(p), holm_by_closure(p), rtol=1e-12, atol=0)


def test_holm_of_a_worked_example():
    # m = 4: 0.005 x 4, 0.01 x 3, 0.03 x 2, 0.04 x 1 raised to the 0.06 before it.
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02], rtol=1e-15)


def test_bonferroni_multiplies_by_the_number_of_tests():
    np.testing.assert_allclose(bonferroni([0.01, 0.3, 0.5]), [0.03, 0.9, 1.0], rtol=1e-15)


@pytest.mark.parametrize("adjust", ADJUSTMENTS)
def test_family_wise_error_rate_is_kept_when_all_hypotheses_are_true(adjust):
    rng = np.random.default_rng(5)
    rejected = [(adjust(rng.random(8)) <= 0.05).any() for _ in range(4000)]
    exact = 1.0 - (1.0 - 0.05 / 8) ** 8  # both reject when the smallest p is at most 0.05 / 8
    assert np.mean(rejected) == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 4000))


# Invariance


@pytest.mark.parametrize("adjust", ADJUSTMENTS)
@given(p=p_values, seed=st.integers(0, 99))
def test_order_does_not_matter(adjust, p, seed):
    order = np.random.default_rng(seed).permutation(len(p))
    np.testing.assert_array_equal(adjust(p[order]), adjust(p)[order])


@given(p_values)
def test_holm_lies_between_the_p_value_and_bonferroni(p):
    assert (p <= holm(p)).all()
    assert (holm(p) <= bonferroni(p)).all()
