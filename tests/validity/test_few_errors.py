"""Meta-d' and M-ratio of few wrong answers say nothing, which is why fewer than five of a class withhold them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.given import columns_of
from confidence_tasks.report.summarised import _estimates
from confidence_tasks.statistics import sdt
from confidence_tasks.study.columns import GRADED
from confidence_tasks.study.computations import statistic_of
from confidence_tasks.study.given_trials import given_trials
from confidence_tasks.study.standard import FEWEST_OF_A_CLASS, HIGH_CONFIDENCE, M_RATIO, PADDING

pytestmark = pytest.mark.slow

ACCURACY, RATIO, CRITERION = 0.75, 0.8, 0.8
NOT_WITHHELD = replace(
    M_RATIO, compute=statistic_of(sdt.m_ratio_threshold, *GRADED, threshold=HIGH_CONFIDENCE, padding=PADDING)
)


class Intervals(NamedTuple):
    """Shares of the intervals that contain the true M-ratio, that contain 0, and that are ten or more wide."""

    true: float
    zero: float
    wide: float


def intervals(n_wrong: int, n_studies: int) -> Intervals:
    """Simulate an observer with a known M-ratio and accuracy, and the same number of wrong answers in each study."""
    rng = np.random.default_rng(n_wrong)
    n = round(n_wrong / (1.0 - ACCURACY))
    correct = (np.arange(n) >= n_wrong).astype(float)
    half = RATIO * ndtri(ACCURACY)
    high = np.where(
        correct == 1.0, ndtr(half - CRITERION) / ndtr(half), ndtr(-half - CRITERION) / ndtr(-half)
    )
    limits: list[tuple[float, float]] = []
    while len(limits) < n_studies:
        confidence = np.where(rng.random(n) < high, 0.95, 0.5)
        if len(set(confidence)) == 1:
            continue
        trials, _ = given_trials(None, correct, confidence, None, None)
        found = _estimates(columns_of(trials), [np.ones(n, dtype=bool)], [NOT_WITHHELD], Settings(1_000))
        interval = found["0", M_RATIO.name].interval
        limits.append((interval.low, interval.high))
    low, high_end = np.array(limits).T
    contain = [float(((low <= value) & (value <= high_end)).mean()) for value in (RATIO, 0.0)]
    return Intervals(*contain, float((high_end - low >= 10.0).mean()))


def test_four_wrong_answers_say_nothing_and_ten_do() -> None:
    few, more = intervals(FEWEST_OF_A_CLASS - 1, 100), intervals(10, 100)
    assert few.true >= 0.9
    assert more.true >= 0.9
    assert few.zero >= 0.9 > 0.85 > more.zero
    assert few.wide >= 0.3 > 0.05 > more.wide
