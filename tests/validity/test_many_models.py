"""Comparisons of several models find no difference of equal models, and the limits of ranks hold."""

import math

import pytest
from tests.validity.many_models import false_positives, ranks_covered

pytestmark = pytest.mark.slow

WITH_INFLUENCES = ("accuracy", "overconfidence", "brier", "auroc")


def at_most(rate: float, n_studies: int) -> float:
    """Return a rate with three standard errors."""
    return rate + 3.0 * math.sqrt(rate * (1.0 - rate) / n_studies)


@pytest.mark.parametrize("asked", [{}, {"epochs": 3}, {"passages": 15}], ids=["once", "epochs", "passages"])
def test_ten_equal_models_differ_in_at_most_5_percent_of_studies(asked: dict[str, int]) -> None:
    for name, (simultaneous, single) in false_positives(50, 80, WITH_INFLUENCES, **asked).items():
        assert simultaneous <= at_most(0.05, 80), name
        assert single > 0.4, name


def test_ten_equal_models_differ_in_at_most_5_percent_of_studies_by_their_calibration_error() -> None:
    assert false_positives(50, 120, ("ece",))["ece"][0] <= at_most(0.05, 120)


def test_the_limits_of_all_ranks_contain_the_true_ranks_in_95_percent_of_studies() -> None:
    for name, covered in ranks_covered(100, 120, WITH_INFLUENCES).items():
        assert 1.0 - covered <= at_most(0.05, 120), name
