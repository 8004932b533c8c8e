"""Comparisons of several models find no difference of equal models, and the limits of ranks hold."""

import pytest
from tests.sizes import n_studies
from tests.validity.bounds import largest_share
from tests.validity.many_models import false_positives, ranks_covered

pytestmark = pytest.mark.slow

WITH_INFLUENCES = ("accuracy", "overconfidence", "brier", "auroc")

N_STUDIES = n_studies(75)
MOST = largest_share(0.05, N_STUDIES, len(WITH_INFLUENCES))


@pytest.mark.parametrize("asked", [{}, {"epochs": 3}, {"passages": 15}], ids=["once", "epochs", "passages"])
def test_ten_equal_models_differ_in_at_most_5_percent_of_studies(asked: dict[str, int]) -> None:
    for name, (simultaneous, single) in false_positives(50, N_STUDIES, WITH_INFLUENCES, **asked).items():
        assert simultaneous <= MOST, name
        assert single > 0.4, name


def test_ten_equal_models_differ_in_at_most_5_percent_of_studies_by_their_calibration_error() -> None:
    assert false_positives(50, N_STUDIES, ("ece",))["ece"][0] <= largest_share(0.05, N_STUDIES)


def test_the_limits_of_all_ranks_contain_the_true_ranks_in_95_percent_of_studies() -> None:
    for name, covered in ranks_covered(100, N_STUDIES, WITH_INFLUENCES).items():
        assert 1.0 - covered <= MOST, name
