"""How much the slow tests do: a third of their simulated studies in each check, all before a release.

``CONFIDENCE_TASKS_TESTS=all`` is for a release. The bounds of a simulation follow its number of studies. Tests with the
mark ``sampled`` have more combinations of parameters than kinds of fault: of these, too, the check runs a part in which
each parameter has each of its values.
"""

import os
from collections import defaultdict
from collections.abc import Iterable

import pytest

ALL = os.environ.get("CONFIDENCE_TASKS_TESTS") == "all"

before_a_release = pytest.mark.skipif(not ALL, reason="only before a release: CONFIDENCE_TASKS_TESTS=all")
"""Marks a test that takes minutes, and of which another one tries the same on less."""


def n_studies(n: int) -> int:
    """Return how many studies to simulate, where a release simulates ``n``."""
    return n if ALL else -(-n // 3)


def is_sampled(positions: Iterable[int], one_in: int = 3) -> bool:
    """Return whether a check runs the combination of the values at these positions, one for each parameter.

    These combinations are the diagonals of a table: no value of a parameter is left out if another has ``one_in``.
    """
    return sum(positions) % one_in == 0


class Positions:
    """Positions of the values of parameters, in the order in which the tests of a function have them."""

    def __init__(self) -> None:
        self._of_value: defaultdict[tuple[str, str], dict[int, int]] = defaultdict(dict)

    def of(self, function: str, name: str, value: object) -> int:
        """Return the position of a value of a parameter."""
        known = self._of_value[function, name]
        return known.setdefault(id(value), len(known))
