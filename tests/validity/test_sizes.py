"""No test of the package finds what is not there more often than it says."""

import math

import pytest
from tests.sizes import n_studies
from tests.validity.null_studies import ALPHA, STUDIES, size

pytestmark = pytest.mark.slow

N_STUDIES = n_studies(250)


@pytest.mark.parametrize("name", STUDIES)
def test_size_is_at_most_nominal(name: str) -> None:
    found = size(name, 60, N_STUDIES)
    assert found <= ALPHA + 3.5 * math.sqrt(ALPHA * (1 - ALPHA) / N_STUDIES)
