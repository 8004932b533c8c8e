"""Number of exchanges: a test has all of them where its p-value is about to be small, and fewer elsewhere."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest
import scipy

from confidence_tasks import compare, metrics, summary
from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.report.commands.report import report
from confidence_tasks.report.estimates.compare import compared_trials
from confidence_tasks.report.estimates.contrast import Contrast
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.statistics.core import FloatArray

FIRST_EXCHANGES, FACTOR = 200, 5
SETTINGS = Settings(FIRST_EXCHANGES, exchange_factor=FACTOR)


def answers(rng: np.random.Generator, n: int, share: float) -> Columns:
    """Answers to n questions, a share of which is right."""
    return answered((rng.random(n) < share).astype(np.float64), rng)


def answered(correct: FloatArray, rng: np.random.Generator) -> Columns:
    """Answers, with a confidence that says a little about them."""
    n = len(correct)
    return {
        "correct": correct,
        "confidence": np.clip(0.5 + 0.2 * correct + rng.normal(0.0, 0.15, n), 0.0, 1.0).round(2),
        "question_id": np.array([str(i) for i in range(n)], dtype=object),
        "source": np.array([""] * n, dtype=object),
        "condition": np.array([""] * n, dtype=object),
    }


def compared(first: Columns, second: Columns, settings: Settings = SETTINGS) -> dict[str, Contrast]:
    found = compared_trials("", ("accuracy", "brier", "auroc"), ("",), settings, first, second)
    return {contrast.measure: contrast for contrast in found}


def test_p_values_below_a_tenth_come_from_all_exchanges_and_others_from_fewer() -> None:
    """Models that are equal, nearly equal and different: 180 tests, of which some have either number."""
    rng = np.random.default_rng(0)
    numbers = set()
    for gain in np.linspace(0.0, 0.25, 60):
        tests = compared(answers(rng, 60, 0.6), answers(rng, 60, 0.6 + gain))
        for test in tests.values():
            numbers.add(test.interval.n_resamples)
            if test.p_value < 0.1:
                assert test.interval.n_resamples == FACTOR * FIRST_EXCHANGES
    assert numbers == {FIRST_EXCHANGES, FACTOR * FIRST_EXCHANGES}


def test_further_exchanges_are_drawn_on_and_do_not_repeat_the_first() -> None:
    """Of an accuracy it is McNemar's exact one, within five standard errors of 25,000 exchanges."""
    rng = np.random.default_rng(4)
    first, second = (answered(np.repeat(right, 20), rng) for right in ([1.0, 1.0, 0.0, 0.0], [1.0] * 4))
    second["correct"][:22] = 0.0
    found = compared(first, second, Settings(5_000, exchange_factor=5))["accuracy"]
    exact = scipy.stats.binomtest(22, 62).pvalue
    assert found.interval.n_resamples == 25_000
    assert found.p_exchange == pytest.approx(exact, abs=5.0 * (exact * (1.0 - exact) / 25_000) ** 0.5)


def test_a_measure_has_the_same_exchanges_whatever_else_is_tested() -> None:
    rng = np.random.default_rng(5)
    first, second = answers(rng, 60, 0.5), answers(rng, 60, 0.8)
    among = compared(first, second)["accuracy"]
    (alone,) = compared_trials("", ("accuracy",), ("",), SETTINGS, first, second)
    assert among.interval.n_resamples == FACTOR * FIRST_EXCHANGES
    assert (among.interval, among.p_value) == (alone.interval, alone.p_value)


def test_all_entrances_draw_the_same_number() -> None:
    (option,) = (each for each in report.params if each.name == "n_resamples")
    in_python = [signature(each).parameters["n_resamples"].default for each in (compare, metrics, summary)]
    assert [option.default, *in_python] == [Settings().n_resamples] * 4


@pytest.mark.parametrize(("n", "exact"), [(9, True), (10, False)])
def test_few_questions_have_every_exchange(n: int, exact: bool) -> None:
    """2 ** 9 exchanges are not more than 1,000, and 2 ** 10 are."""
    rng = np.random.default_rng(6)
    test = compared(answers(rng, n, 0.5), answers(rng, n, 0.5))["brier"]
    assert (test.interval.n_resamples == 2**n) is exact
