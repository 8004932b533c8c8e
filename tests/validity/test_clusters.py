"""Intervals of the calibration error hold the truth, and its tests keep their size, with epochs and passages."""

import math

import pytest
from tests.sizes import n_studies
from tests.validity.clustered_studies import EPOCHS, PASSAGES, coverage, size

pytestmark = pytest.mark.slow

N_STUDIES = n_studies(150)
ERROR = 4.0 * math.sqrt(0.95 * 0.05 / N_STUDIES)


@pytest.mark.sampled("binning", "epochs", "name", one_in=2)
@pytest.mark.parametrize("binning", ["equal_width", "equal_mass"])
@pytest.mark.parametrize("epochs", [1, 3, 5, 10])
@pytest.mark.parametrize("name", EPOCHS)
def test_the_interval_of_a_calibration_error_covers_with_epochs(name: str, epochs: int, binning: str) -> None:
    assert abs(coverage(EPOCHS[name], 150, epochs, N_STUDIES, binning=binning) - 0.95) < ERROR


@pytest.mark.parametrize("binning", ["equal_width", "equal_mass"])
@pytest.mark.parametrize("questions", [5, 10])
@pytest.mark.parametrize("name", PASSAGES)
def test_the_interval_of_a_calibration_error_covers_with_passages(
    name: str, questions: int, binning: str
) -> None:
    assert abs(coverage(PASSAGES[name], 40, questions, N_STUDIES, binning=binning) - 0.95) < ERROR


@pytest.mark.parametrize("name", {**EPOCHS, **PASSAGES})
def test_the_calibration_errors_of_equal_models_seldom_differ(name: str) -> None:
    assert size({**EPOCHS, **PASSAGES}[name], 60, 5, N_STUDIES) < 0.05 + ERROR
