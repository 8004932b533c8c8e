import numpy as np
import pytest

from confidence_tasks.statistics.core import decreasing_root


def test_each_row_has_its_own_root():
    targets = np.array([0.0, 0.1, 1.0, 7.0, 8.0])
    result = decreasing_root(lambda x: targets - x**3, np.zeros(5), np.full(5, 2.0))
    np.testing.assert_allclose(result, np.cbrt(targets), atol=1e-12)


def test_no_rows_have_no_roots():
    assert decreasing_root(lambda x: -x, np.zeros(0), np.ones(0)).shape == (0,)


@pytest.mark.parametrize(
    ("function", "root"),
    [(lambda x: 1e-3 - x**9, 1e-3 ** (1 / 9)), (lambda x: (1 - x) ** 9 - 1e-3, 1 - 1e-3 ** (1 / 9))],
    ids=["flat_at_the_low_end", "flat_at_the_high_end"],
)
def test_a_function_flat_at_one_end_takes_few_steps(function, root):
    # Plain false position creeps along here: one end of its bracket never moves.
    calls = []

    def counted(x):
        calls.append(x)
        return function(x)

    (result,) = decreasing_root(counted, np.zeros(1), np.ones(1))
    assert abs(result - root) < 1e-9
    assert len(calls) < 25
