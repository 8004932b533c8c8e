"""The power that is predicted from the clusters of a pilot is that of simulated studies of passages."""

import math

import pytest
from tests.sizes import n_studies
from tests.validity.clustered_power import effect_in, pilot, share_found

from confidence_tasks.decisions.power import power_curve

pytestmark = pytest.mark.slow

N_STUDIES = n_studies(180)


@pytest.mark.parametrize(("passages", "each"), [(40, 5), (80, 5), (40, 10)])
def test_predicted_power_is_that_of_studies_of_passages(tmp_path, passages: int, each: int) -> None:
    clusters = effect_in(pilot(tmp_path, 300, 5))
    there = type(clusters)(0, 0, float(each), clusters.design_effect_at(each))
    curve = power_curve("scales", "accuracy", 0.1, n=[passages * each], clusters=there, n_studies=1_000)
    found = share_found(passages, each, N_STUDIES)
    print(passages, each, clusters, found, curve.power[0])
    assert abs(found - curve.power[0]) < 3.5 * math.sqrt(0.25 / N_STUDIES) + 0.02
