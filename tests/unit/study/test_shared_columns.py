"""What measures derive from the columns of trials is computed once for all measures and resamples."""

import numpy as np
import pytest

from confidence_tasks.statistics import calibration
from confidence_tasks.statistics.inference.weights import count_alike
from confidence_tasks.study.kinds import DistinctTrials
from confidence_tasks.study.signal_measures import SIGNAL_MEASURES


def test_blocks_of_resamples_share_the_recalibration(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    value = rng.random(40)
    columns = {
        "correct": (rng.random(40) < value) * 1.0,
        "confidence": value,
        "value": value,
        "probability": value,
        "question_id": np.arange(40).astype(str),
    }
    measures = tuple(each for each in SIGNAL_MEASURES if each.name.endswith("recalibrated"))
    assert len(measures) == 2
    fits = []
    fit = calibration.cross_fitted_logistic
    monkeypatch.setattr(
        calibration, "cross_fitted_logistic", lambda *args, **named: fits.append(args) or fit(*args, **named)
    )
    table = DistinctTrials(columns, count_alike([np.arange(40)], np.arange(40), 40), measures)
    blocks = [rng.multinomial(40, np.full(40, 1 / 40), size=5) for _ in range(2)]
    found = [table.values(block) for block in blocks]
    assert len(fits) == 1
    for block, values in zip(blocks, found, strict=True):
        for measure in measures:
            np.testing.assert_array_equal(values[measure.name], measure.compute(columns, block))
