"""Posterior distributions of measures of trials with a few possible outcomes."""

import numpy as np
import pytest
from scipy import stats

from confidence_tasks.report.estimates.averages import mean
from confidence_tasks.report.estimates.distributions import distributions
from confidence_tasks.report.estimates.intervals import interval_of_measure
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import by_condition
from confidence_tasks.statistics.sdt import fit_meta_d_threshold
from confidence_tasks.studies.riskeval.measures import MEASURES as RISK
from confidence_tasks.studies.scales.measures import MEASURES as SCALES
from confidence_tasks.study.computations import proportion_of
from confidence_tasks.study.inference import Posterior
from confidence_tasks.study.measure import Measure

SETTINGS = Settings(n_resamples=20_000)


def trials(*groups, **columns):
    """Make trials: for each group a number, and the values of the columns. Each trial has its own question."""
    n = sum(count for count, *_ in groups)
    names = list(columns)
    made = {
        name: np.concatenate([np.full(count, float(values[i])) for count, *values in groups])
        for i, name in enumerate(names)
    }
    return made | {
        "source": np.full(n, "s", dtype=object),
        "condition": np.full(n, "c", dtype=object),
        "status": np.full(n, "ok", dtype=object),
        "question_id": np.array([f"q{i}" for i in range(n)], dtype=object),
    }


def judged(*groups):
    return trials(*groups, correct=None, confidence=None)


def interval(columns, measure):
    (group,) = by_condition(columns)
    found = distributions(columns, group.subsets, [measure], SETTINGS)
    whole = {measure.name: mean([found[cell, measure.name] for cell in group.subsets])}
    return interval_of_measure(measure, whole, SETTINGS)


ACCURACY = Measure(
    "accuracy",
    proportion_of(lambda columns: columns["correct"]),
    "A share.",
    inference=Posterior(
        lambda columns: {"correct": np.array([0.0, 1.0])}, proportion_of(lambda columns: columns["correct"])
    ),
)


@pytest.mark.parametrize("right", [0, 3, 50, 100])
def test_posterior_of_a_proportion_is_the_jeffreys_beta_distribution(right):
    found = interval(judged((right, 1.0, 0.9), (100 - right, 0.0, 0.9)), ACCURACY)
    exact = stats.beta.ppf([0.025, 0.975], right + 0.5, 100 - right + 0.5)
    assert (found.low, found.high) == pytest.approx(tuple(exact), abs=0.004)
    assert found.estimate == right / 100


@pytest.mark.parametrize("name", ["mratio", "meta_d"])
@pytest.mark.parametrize("table", [(80, 0, 20, 20), (120, 40, 30, 10), (90, 1, 9, 0)])
def test_posterior_of_m_ratio_equals_that_of_dirichlet_cells(name, table):
    """Cells drawn independently of the package's weights: gamma variates of each count and three quarters."""
    right_low, right_high, wrong_low, wrong_high = table
    columns = judged(
        (right_low, 1.0, 0.5), (right_high, 1.0, 0.95), (wrong_low, 0.0, 0.5), (wrong_high, 0.0, 0.95)
    )
    (measure,) = [measure for measure in SCALES if measure.name == name]
    cells = np.random.default_rng(1).gamma(np.reshape([*table], (2, 2))[::-1] + 0.75, size=(40_000, 2, 2))
    drawn = fit_meta_d_threshold(cells, padding="none")
    exact = np.asarray(drawn.m_ratio if name == "mratio" else drawn.meta_d)
    found = interval(columns, measure)
    assert (np.mean(exact < found.low), np.mean(exact > found.high)) == pytest.approx(
        (0.025, 0.025), abs=0.006
    )


@pytest.mark.parametrize("penalty", [0.5, 20.0])
def test_posterior_of_utility_equals_that_of_dirichlet_outcomes(penalty):
    columns = trials(
        (30, 1.0, 1.0, 0.99),
        (2, 1.0, 0.0, 0.99),
        (68, 0.0, 0.0, 0.2),
        answered=None,
        outcome=None,
        confidence=None,
    )
    columns |= {"penalty": np.full(100, penalty), "available": columns["answered"]}
    shares = np.random.default_rng(2).dirichlet([30.5, 2.5, 68.5], 40_000)
    exact = np.quantile(shares @ [1.0, -penalty, 0.0], [0.025, 0.975])
    for measure in RISK:
        if measure.name in ("utility", "scaffold_utility"):
            found = interval(columns, measure)
            assert (found.low, found.high) == pytest.approx(tuple(exact), abs=0.02 * (1.0 + penalty))
        if measure.name in ("normalized_utility", "normalized_scaffold_utility"):
            found = interval(columns, measure)
            assert (found.low, found.high) == pytest.approx(tuple(exact / (1.0 + penalty)), abs=0.02)


@pytest.mark.parametrize(("right", "wrong", "end"), [(6, 0, "high"), (0, 6, "low")])
def test_interval_of_utility_ends_at_the_estimate_where_the_prior_moved_it_past(right, wrong, end):
    columns = trials(
        (right, 1.0, 1.0, 0.9), (wrong, 1.0, 0.0, 0.9), answered=None, outcome=None, confidence=None
    ) | {"penalty": np.full(6, 2.0), "available": np.ones(6)}
    (utility,) = (measure for measure in RISK if measure.name == "utility")
    found = interval(columns, utility)
    assert getattr(found, end) == found.estimate == (right - 2.0 * wrong) / 6.0
    assert found.low < found.high


def test_utility_of_calibrated_confidence_does_not_change_by_recalibration():
    """It equals that of the scaffold, which has the same number of outcomes."""
    columns = trials(
        (90, 1.0, 1.0, 0.9), (10, 1.0, 0.0, 0.9), answered=None, outcome=None, confidence=None
    ) | {"penalty": np.full(100, 1.0), "available": np.ones(100)}
    plain, recalibrated = (
        interval(columns, measure)
        for measure in RISK
        if measure.name in ("normalized_scaffold_utility", "normalized_recalibrated_utility")
    )
    assert (recalibrated.low, recalibrated.high) == pytest.approx((plain.low, plain.high), abs=0.01)
    assert plain.low < plain.estimate == recalibrated.estimate < plain.high


def test_a_question_asked_twice_counts_once():
    """Two trials of every question give the same interval as one."""
    once = judged((20, 1.0, 0.9), (10, 0.0, 0.9))
    twice = {name: np.concatenate([column, column]) for name, column in once.items()}
    first, second = interval(once, ACCURACY), interval(twice, ACCURACY)
    assert second.high - second.low == pytest.approx(first.high - first.low, rel=0.05)


def test_differences_are_paired_by_question():
    """If every question has the same answer under two conditions, only the prior contributes to the interval."""
    one = judged((200, 1.0, 0.9), (100, 0.0, 0.9))
    other = one | {"condition": np.full(300, "d", dtype=object)}
    columns = {name: np.concatenate([column, other[name]]) for name, column in one.items()}
    cells = [cell for group in by_condition(columns) for cell in group.subsets]
    found = distributions(columns, cells, [ACCURACY], SETTINGS)
    first, second = (found[cell, "accuracy"] for cell in cells)
    difference = (first - second).interval(SETTINGS, "percentile")
    alone = first.interval(SETTINGS, "percentile")
    assert difference.high - difference.low < 0.15 * (alone.high - alone.low)
