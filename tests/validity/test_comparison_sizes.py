"""``compare`` finds no difference of adjusted intervals where there is none: the adjustment is part of what varies."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.sizes import n_studies

from confidence_tasks.logs.task_trials import ModelTrials, TaskTrials
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.estimates.two_models import compare_models
from confidence_tasks.studies.fermieval import STUDY as FERMIEVAL

pytestmark = pytest.mark.slow

ALPHA, LEVEL, N, N_STUDIES = 0.05, 0.9, 100, n_studies(90)
LARGEST = ALPHA + 3.5 * math.sqrt(ALPHA * (1 - ALPHA) / N_STUDIES)
MEASURES = {
    "all": (
        "conformal_coverage",
        "conformal_width",
        "conformal_asymmetric_width",
        "conformal_normalized_width",
    ),
    "cross": ("conformal_jackknife_coverage", "conformal_jackknife_width"),
}


def _model(label: str, truth: NDArray[np.float64], split: str, rng: np.random.Generator) -> ModelTrials:
    width = rng.integers(0, 5, N)
    lower = truth + np.round(rng.normal(0.0, 2.0, N)) - width // 2
    texts: Mapping[str, NDArray[np.object_]] = {
        "question_id": np.array([f"q-{i}" for i in range(N)], dtype=object),
        "source": np.full(N, "fermi", dtype=object),
        "condition": np.full(N, f"p={LEVEL}", dtype=object),
        "status": np.full(N, "ok", dtype=object),
        "split": np.where((np.arange(N) % 2 == 0) & (split == "all"), "calibration", "test").astype(object),
    }
    numbers = {"truth": truth, "lower": lower, "upper": lower + width, "level": np.full(N, LEVEL)}
    return ModelTrials(label, label, {**texts, **numbers}, (), 0)


@pytest.mark.parametrize("split", MEASURES)
def test_models_that_are_alike_are_told_apart_as_seldom_as_the_level_says(split: str) -> None:
    rng = np.random.default_rng(0)
    rejected = dict.fromkeys(MEASURES[split], 0)
    for number in range(N_STUDIES):
        truth = np.round(rng.normal(5.0, 4.0, N))
        models = tuple(_model(label, truth, split, rng) for label in "ab")
        task_trials = TaskTrials(FERMIEVAL, "fermieval", models)
        for found in compare_models(*models, task_trials, MEASURES[split], Settings(199, seed=number)):
            rejected[found.measure] += found.p_value <= ALPHA
    assert max(rejected.values()) / N_STUDIES <= LARGEST, rejected
