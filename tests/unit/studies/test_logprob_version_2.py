"""The estimators of the log-probability study's second version against slow computations of the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm
from sklearn.metrics import mutual_info_score, roc_auc_score
from tests.unit.studies.logprob_trials import Evidence, trials

from confidence_tasks.replications.logprob_metacognition.octiles import (
    auroc2_of_bins,
    edges_of,
    estimate,
    meta_i2r,
    octile_table,
    regressed_slope,
)
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.studies.logprob_metacognition.cell_tables import CellKey
from confidence_tasks.studies.logprob_metacognition.resampling import resample

counts = arrays(np.float64, (2, 8), elements=st.integers(0, 30).map(float))


def long_form(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Correctness and bin of every trial."""
    correct, rating = np.indices(table.shape)
    times = table.astype(int).ravel()
    return np.repeat(correct.ravel(), times), np.repeat(rating.ravel(), times)


@pytest.mark.slow
def test_information_is_that_of_sklearn_less_the_mean_of_shuffled_labels() -> None:
    table = np.array([[40.0, 30, 25, 20, 15, 10, 8, 2], [10.0, 15, 20, 25, 30, 35, 40, 45]])
    correct, rating = long_form(table)
    rng = np.random.default_rng(0)
    entropy = -sum(p * np.log(p) for p in np.bincount(correct) / len(correct))
    shuffled = np.mean([mutual_info_score(rng.permutation(correct), rating) for _ in range(2_000)])
    expected = (mutual_info_score(correct, rating) - shuffled) / entropy
    assert meta_i2r(table[np.newaxis])[0] == pytest.approx(expected, abs=5e-4)


@given(counts)
def test_area_and_slope_are_those_of_the_trials(table: np.ndarray) -> None:
    correct, rating = long_form(table)
    found = auroc2_of_bins(table[np.newaxis])[0]
    if len(set(correct)) < 2:
        assert np.isnan(found)
        return
    assert found == pytest.approx(roc_auc_score(correct, rating))
    points = []
    for edge in range(1, 8):
        rates = [np.mean(rating[correct == value] >= edge) for value in (0, 1)]
        if all(0 < rate < 1 for rate in rates):
            points.append(norm.ppf(rates))
    points = np.array(points)
    slope = regressed_slope(table[np.newaxis])[0]
    if len(points) < 2 or np.ptp(points[:, 0]) < 1e-9:
        assert np.isnan(slope)
    else:
        assert slope == pytest.approx(np.polyfit(points[:, 0], points[:, 1], 1)[0], rel=1e-6, abs=1e-6)


QUARTERS = {
    "Llama-3-Instruct": ((0.179, 0.400, 0.667, 0.927), 0.2757, 0.8313, 0.863),
    "Mistral-Instruct": ((0.098, 0.198, 0.533, 0.882), 0.3285, 0.8551, 0.812),
    "Llama-3-Base": ((0.059, 0.292, 0.539, 0.823), 0.2922, 0.8392, 1.179),
    "Gemma-2-Instruct": ((0.314, 0.539, 0.690, 0.859), 0.1428, 0.7470, 0.992),
}
"""Accuracy by quarter of version 1's table 5 on TriviaQA, and version 2's estimates from octiles of the same trials."""


@pytest.mark.parametrize(("accuracy", "information", "area", "slope"), QUARTERS.values(), ids=QUARTERS)
def test_quarters_of_version_1_hold_a_little_less_than_the_octiles_of_version_2(
    accuracy: tuple[float, ...], information: float, area: float, slope: float
) -> None:
    right = 1_250 * np.array(accuracy)
    table = np.stack([1_250 - right, right])[np.newaxis]
    assert meta_i2r(table)[0] == pytest.approx(information, abs=0.02)
    assert meta_i2r(table)[0] < information
    assert auroc2_of_bins(table)[0] == pytest.approx(area, abs=0.016)
    assert auroc2_of_bins(table)[0] < area
    assert regressed_slope(table)[0] == pytest.approx(slope, abs=0.05)


def test_domains_have_the_edges_of_the_model_and_intervals_hold_the_estimate() -> None:
    resampler = resample(trials(Evidence(1.4, 1.2)), settings=Settings(n_resamples=50))
    whole = next(key for key in resampler.cells if not (key.domain or key.binning))
    domain = next(key for key in resampler.cells if key.domain and key[:3] == whole[:3])
    assert edges_of(resampler, domain).tolist() == edges_of(resampler, whole).tolist()
    table = octile_table(resampler.cells[whole], edges_of(resampler, whole))
    assert table.sum() == resampler.cells[whole].n
    for name in ("meta_i2r", "auroc2_bins", "z_roc_slope_regression"):
        found = estimate(resampler, CellKey(*whole), name)
        assert found.low < found.estimate < found.high
        assert found.n_resamples == 2_000
