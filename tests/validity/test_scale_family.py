"""A subject whose confidence is the same on every scale: no scale differs, one by one and all twelve together."""

from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest
from tests.sizes import n_studies
from tests.validity.bounds import largest_share
from tests.validity.scale_family import SCALES, Family, families

pytestmark = pytest.mark.slow

LARGEST = 0.06
N_STUDIES = n_studies(45)
INFORMATION_STUDIES = n_studies(30)
SIZES = [100, 330]


@cache
def measured(n: int) -> Mapping[str, Family]:
    """What studies of ``n`` questions a source find: every test looks at the same."""
    return families(["mratio", "auroc", "ece", "brier"], n, N_STUDIES, n_exchanges=399, seed=1)


def test_a_threshold_that_cuts_scales_differently_finds_next_to_nothing() -> None:
    """By exchanges alone one comparison in seven would be found here, and something in one study in three."""
    found = measured(330)["mratio"]
    assert (found.p_values <= 0.05).mean() <= LARGEST
    assert not np.isnan(found.p_values).all()


@pytest.mark.parametrize("n", SIZES)
def test_rounding_otherwise_makes_no_difference_of_calibration_or_ranking(n: int) -> None:
    for name in ("ece", "auroc", "brier"):
        found = measured(n)[name]
        assert found.p_values.shape == (N_STUDIES, len(SCALES)), name
        assert (found.p_values <= 0.05).mean() <= largest_share(LARGEST, N_STUDIES, 3), name
        assert not np.isnan(found.p_values).all(), name


@pytest.mark.parametrize("n", SIZES)
def test_no_scale_is_told_from_another(n: int) -> None:
    """The full table is in docs/reliability_tables.md."""
    for name, found in measured(n).items():
        _seldom_told_apart(name, found, N_STUDIES)


def test_meta_information_is_told_apart_no_more_often() -> None:
    for name, found in families(
        ["meta_information"], 100, INFORMATION_STUDIES, n_exchanges=399, seed=1
    ).items():
        _seldom_told_apart(name, found, INFORMATION_STUDIES)


def _seldom_told_apart(name: str, found: Family, number: int) -> None:
    """Any of twelve intervals misses, or all together, or one finds something, no more often than said."""
    assert np.nanmax(found.missing) <= largest_share(LARGEST, number, len(SCALES)), name
    assert np.nanmean(found.missing) <= largest_share(LARGEST, number), name
    assert found.family_size <= largest_share(LARGEST, number), name
