"""Statistics of decisions against those of other packages, which share no code with this one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.validity.many_models import replies

from confidence_tasks import compare, summary
from confidence_tasks.statistics import confidence_sequence


@pytest.fixture(scope="module")
def models() -> list[pd.DataFrame]:
    return [pd.DataFrame(each) for each in replies(np.array([0.8, 1.6]), 400, np.random.default_rng(5))]


def test_an_accuracy_and_its_interval_are_those_of_evalci(models: list[pd.DataFrame]) -> None:
    evalci = pytest.importorskip("evalci")
    (ours,) = summary(models[0], measures=["accuracy"]).to_frame().to_dict("records")
    theirs = evalci.ci(models[0]["correct"])
    assert ours["value"] == pytest.approx(theirs.estimate)
    assert (ours["low"], ours["high"]) == pytest.approx((theirs.lower, theirs.upper), abs=5e-4)


def test_a_paired_difference_is_that_of_evalci(models: list[pd.DataFrame]) -> None:
    evalci = pytest.importorskip("evalci")
    (ours,) = compare(*models, measures=["accuracy"]).to_frame().to_dict("records")
    theirs = evalci.compare(models[0]["correct"], models[1]["correct"], random_state=0)
    assert ours["difference"] == pytest.approx(theirs.delta)
    width = ours["high"] - ours["low"]
    assert (ours["low"], ours["high"]) == pytest.approx(theirs.ci, abs=0.05 * width)
    assert ours["p_value"] == pytest.approx(theirs.p_value, abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.6, 0.9])
def test_a_confidence_sequence_is_as_narrow_as_that_of_ville(rate: float) -> None:
    means = pytest.importorskip("ville.means")
    rng = np.random.default_rng(2)
    widths = []
    for _ in range(10):
        values = (rng.random(500) < rate).astype(float)
        ours, theirs = confidence_sequence(values), means.BettingCS(grid=2001).fit(values)
        assert max(ours.low[-1], theirs.lower_[-1]) < min(ours.high[-1], theirs.upper_[-1])
        widths.append((ours.high[-1] - ours.low[-1], theirs.upper_[-1] - theirs.lower_[-1]))
    own, other = np.mean(widths, axis=0)
    assert own <= 1.05 * other
