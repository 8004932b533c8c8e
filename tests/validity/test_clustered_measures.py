"""Intervals of headline measures hold the truth with epochs and passages."""

import math

import numpy as np
import pytest
from tests.sizes import n_studies
from tests.validity.clustered_measures import DESIGNS, coverage, easy
from tests.validity.clustered_studies import informed, passages

from confidence_tasks.statistics import meta_information, meta_information_interval

pytestmark = pytest.mark.slow

N_STUDIES = n_studies(200)

KNOWN = {"meta_d": 0.91, "coverage": 0.93}
"""Measures whose intervals are known to hold the truth less often than 95% of the time."""


@pytest.mark.parametrize("times", [5, 10])
@pytest.mark.parametrize("is_epoch", [True, False])
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.study)
def test_intervals_hold_the_truth(design, is_epoch: bool, times: int) -> None:
    units, draws = (100, design.epochs) if is_epoch else (40, design.passages)
    for name, draw in draws.items():
        found = coverage(design, draw, units, times, N_STUDIES, is_epoch=is_epoch)
        for measure, (held, _) in found.items():
            wanted = KNOWN.get(measure, 0.95)
            assert held > wanted - 4.0 * math.sqrt(0.95 * 0.05 / N_STUDIES), (name, measure)


@pytest.mark.parametrize(
    ("generator", "units", "times"),
    [(informed, 100, 1), (informed, 100, 3), (informed, 100, 10), (easy, 100, 10), (passages, 40, 10)],
)
def test_the_interval_of_meta_information_lies_on_both_sides_of_the_truth(generator, units, times) -> None:
    """Trials of a question in several bins add to the variance, not to the bias: 11% of intervals lay too low."""
    right, stated = generator(np.random.default_rng(999), 200_000 // times, times)
    truth = float(meta_information(right.ravel(), stated.ravel(), correction="none"))
    below = above = 0
    for study in range(N_STUDIES):
        right, stated = generator(np.random.default_rng([study, units, times]), units, times)
        low, high = meta_information_interval(
            right.ravel(), stated.ravel(), questions=np.repeat(np.arange(units), times)
        )
        below, above = below + (truth < low), above + (truth > high)
    assert max(below, above) / N_STUDIES < 0.025 + 4.0 * math.sqrt(0.025 * 0.975 / N_STUDIES)
