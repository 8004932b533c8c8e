"""An adjustment fitted for each row of weights is the one fitted to as many copies of each trial."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from confidence_tasks.studies.fermieval.adjusted_measures import CONFORMAL_MEASURES, JACKKNIFE_MEASURES
from confidence_tasks.studies.riskeval.measures import MEASURES as RISK_MEASURES

FITTED = [measure for measure in CONFORMAL_MEASURES + JACKKNIFE_MEASURES if measure.refitted]


def _trials(whole: bool, level: float) -> Mapping[str, NDArray[np.object_ | np.float64]]:
    rng = np.random.default_rng(3)
    n = 60
    truth, error, width = rng.normal(5, 4, n), rng.normal(0, 2, n), rng.gamma(2.0, 1.0, n)
    lower, upper = truth + error - width / 2, truth + error + width / 2
    if whole:
        truth, lower, upper = np.round(truth), np.floor(lower), np.ceil(upper)
    lower[7], upper[7] = np.nan, np.nan
    return {
        "question_id": np.arange(n).astype(str).astype(object),
        "truth": truth,
        "lower": lower,
        "upper": upper,
        "level": np.full(n, level),
        "correct": ((lower <= truth) & (truth <= upper)).astype(np.float64),
        "split": np.where(np.arange(n) % 2 == 0, "calibration", "test").astype(object),
    }


@pytest.mark.parametrize("measure", FITTED, ids=lambda measure: measure.name)
@pytest.mark.parametrize(("whole", "level"), [(True, 0.9), (False, 0.8), (True, 0.97)])
def test_integer_weights_are_copies(measure, whole: bool, level: float) -> None:
    trials = _trials(whole, level)
    if measure in JACKKNIFE_MEASURES:
        trials["split"][:] = "test"
    weights = np.random.default_rng(1).integers(0, 3, (12, 60)).astype(np.float64)
    weights[0] = 1.0
    copied = []
    for row in weights.astype(int):
        copies = {key: np.repeat(column, row) for key, column in trials.items()}
        copies["question_id"] = np.arange(row.sum()).astype(str).astype(object)  # each is a draw of its own
        copied.append(float(measure.compute(copies, None)))
    assert measure.refitted(trials, weights) == pytest.approx(copied, rel=1e-12, nan_ok=True)
    assert measure.refitted(trials, None) == pytest.approx(float(measure.compute(trials, None)), rel=1e-12)


def test_measures_that_cannot_be_refitted_are_not_tested() -> None:
    (recalibrated,) = [each for each in RISK_MEASURES if each.name == "normalized_recalibrated_utility"]
    assert recalibrated.exchangeable is None
