"""A subject whose confidence is the same on every scale: no scale differs, one by one and all twelve together."""

import math

import numpy as np
import pytest
from tests.validity.scale_family import families

pytestmark = pytest.mark.slow

LARGEST = 0.06


def most(n_studies: int) -> float:
    """The largest share of so few studies that a size of 6% leads to but by bad luck."""
    return LARGEST + 3.5 * math.sqrt(LARGEST * (1 - LARGEST) / n_studies)


def test_a_threshold_that_cuts_scales_differently_finds_next_to_nothing() -> None:
    """By exchanges alone one comparison in seven would be found here, and something in one study in three."""
    found = families(["mratio"], 330, 15, n_exchanges=299)["mratio"]
    assert (found.p_values <= 0.05).mean() <= LARGEST
    assert not np.isnan(found.p_values).all()


@pytest.mark.parametrize("n", [100, 330])
def test_rounding_otherwise_makes_no_difference_of_calibration_or_ranking(n: int) -> None:
    for name, found in families(["ece", "auroc", "brier"], n, 12, n_exchanges=199).items():
        assert found.p_values.shape == (12, 12), name
        assert (found.p_values <= 0.05).mean() <= most(12), name
        assert not np.isnan(found.p_values).all(), name


@pytest.mark.parametrize("n", [100, 330])
def test_no_scale_is_told_from_another(n: int) -> None:
    """The full table is in docs/reliability_tables.md."""
    for name, found in families(["mratio", "auroc", "ece", "brier"], n, 60, n_exchanges=399, seed=1).items():
        assert np.nanmax(found.missing) <= most(60), name
        assert found.family_size <= most(60), name


def test_meta_information_is_told_apart_no_more_often() -> None:
    (found,) = families(["meta_information"], 100, 30, n_exchanges=399, seed=1).values()
    assert np.nanmax(found.missing) <= most(30)
    assert found.family_size <= most(30)
