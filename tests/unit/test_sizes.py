"""The check runs a part of many combinations of parameters, and every value of each."""

from itertools import product

import pytest
from tests.sizes import Positions, is_sampled, n_studies


@pytest.mark.parametrize(("lengths", "one_in"), [((8, 15), 3), ((11, 4, 6), 3), ((2, 3), 2), ((2, 4, 5), 2)])
def test_every_value_is_in_a_combination_that_the_check_runs(lengths: tuple[int, ...], one_in: int) -> None:
    every = list(product(*map(range, lengths)))
    run = [positions for positions in every if is_sampled(positions, one_in)]
    assert len(run) <= len(every) / one_in + 1
    assert [{*values} for values in zip(*run, strict=True)] == [{*range(length)} for length in lengths]


def test_values_have_positions_of_their_own_function_and_parameter() -> None:
    positions, values = Positions(), ["a", "b"]
    assert [positions.of("f", "x", value) for value in (*values, *values)] == [0, 1, 0, 1]
    assert positions.of("f", "y", values[1]) == positions.of("g", "x", values[1]) == 0


@pytest.mark.parametrize(("everything", "expected"), [(True, 100), (False, 34)])
def test_the_check_simulates_a_third_of_the_studies(
    everything: bool, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.sizes.ALL", everything)
    assert n_studies(100) == expected
