"""Gates decide wrongly in at most 5% of studies, however often one looks, and soon where the mean is elsewhere."""

import math

import pytest
from tests.validity.gate_studies import BOUNDS, SUBJECTS, differences, gates

pytestmark = pytest.mark.slow

N_STUDIES = 300

ERROR = 3.0 * math.sqrt(0.05 * 0.95 / N_STUDIES)


@pytest.mark.parametrize("measure", BOUNDS)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_at_the_bound_a_gate_rarely_decides_and_an_ordinary_interval_often_excludes_it(
    subject: str, measure: str
) -> None:
    found = gates(subject, measure, 0.0, N_STUDIES)
    assert found.decided <= 0.05 + ERROR
    assert found.peeking > 0.3


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_tenth_below_the_bound_is_known_after_less_than_200_questions(subject: str) -> None:
    found = gates(subject, "overconfidence", 0.1, N_STUDIES)
    assert found.median < 200
    assert found.below > 0.99


def test_a_difference_of_7_points_is_found_in_9_of_10_studies_with_half_of_the_questions() -> None:
    found = differences(0.07, 0.25, N_STUDIES)
    assert found.above > 0.9 - 3.0 * math.sqrt(0.9 * 0.1 / N_STUDIES)
    assert found.below <= 0.025
    assert found.mean < 550
