"""Intervals over several cells: tests inverted, of the same or of other questions, and numbers of trials."""

import math
from operator import attrgetter

import numpy as np
import pytest

from confidence_tasks.report.estimates.averages import combined
from confidence_tasks.report.estimates.distributions import distributions, resampled
from confidence_tasks.report.estimates.intervals import interval_of_measure
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import TrialSubset, split_by_source
from confidence_tasks.statistics import ece_interval
from confidence_tasks.studies.riskeval.measures import COUNTS
from confidence_tasks.studies.scales.measures import MEASURES
from confidence_tasks.study.kinds import tabulate

SETTINGS = Settings(n_resamples=400)
ECE, INFORMATION = (next(m for m in MEASURES if m.name == name) for name in ("ece", "meta_information"))

NAME = attrgetter("name")


def trials(n, seed, source="s", condition="c", first=0):
    rng = np.random.default_rng(seed)
    confidence = rng.choice([0.55, 0.65, 0.75, 0.85, 0.95], n)
    return {
        "correct": (rng.random(n) < confidence - 0.15).astype(float),
        "confidence": confidence,
        "status": np.full(n, "ok", dtype=object),
        "source": np.full(n, source, dtype=object),
        "condition": np.full(n, condition, dtype=object),
        "question_id": np.array([f"q{first + i}" for i in range(n)], dtype=object),
    }


def joined(*parts):
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def interval(columns, cells, measure):
    found = distributions(columns, cells, [measure], SETTINGS)
    whole = combined(cells, [measure], found)
    return interval_of_measure(measure, whole, SETTINGS)


def width(found):
    return found.high - found.low


def by_condition(columns):
    return [TrialSubset("s", np.flatnonzero(columns["condition"] == name)) for name in ("a", "b")]


def alone(measure):
    columns = trials(600, 0)
    return interval(columns, split_by_source(columns, np.ones(600, dtype=bool)), measure)


@pytest.mark.parametrize("measure", [ECE, INFORMATION], ids=NAME)
def test_the_same_trials_twice_are_as_sure_as_once(measure):
    columns = joined(trials(600, 0, condition="a"), trials(600, 0, condition="b"))
    both, once = interval(columns, by_condition(columns), measure), alone(measure)
    assert both.method == "test_inversion"
    assert both.estimate == pytest.approx(once.estimate)
    assert (both.low, both.high) == pytest.approx((once.low, once.high), abs=0.002)


def all_right(n, confidence, **labels):
    return trials(n, 0, **labels) | {"correct": np.ones(n), "confidence": np.full(n, confidence)}


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("n", [100, 300, 1000])
def test_a_table_of_right_answers_at_one_confidence_has_the_interval_of_its_trials(n, confidence):
    """As resamples do not vary either, their rounding must not be taken for a variance."""
    columns = all_right(n, confidence)
    expected = ece_interval(np.ones(n), np.full(n, confidence))
    found = interval(columns, split_by_source(columns, np.ones(n, dtype=bool)), ECE)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)
    twice = joined(all_right(n, confidence, condition="a"), all_right(n, confidence, condition="b"))
    found = interval(twice, by_condition(twice), ECE)
    assert (found.low, found.high) == pytest.approx(expected, abs=0.005)
    others = joined(all_right(n, confidence), all_right(n, confidence, source="t", first=n))
    found = interval(others, split_by_source(others, np.ones(2 * n, dtype=bool)), ECE)
    assert 0.0 < found.low - expected[0] < 0.03
    assert found.high == pytest.approx(expected[1])


@pytest.mark.parametrize("measure", [ECE, INFORMATION], ids=NAME)
def test_trials_of_other_questions_add_to_what_is_known(measure):
    columns = joined(trials(600, 0), trials(600, 1, source="t"))
    both = interval(columns, split_by_source(columns, np.ones(1200, dtype=bool)), measure)
    assert width(both) / width(alone(measure)) == pytest.approx(math.sqrt(0.5), abs=0.08)


def test_the_interval_of_information_reaches_further_up_than_down():
    columns = trials(150, 0)
    found = interval(columns, split_by_source(columns, np.ones(150, dtype=bool)), INFORMATION)
    assert found.high - found.estimate > 1.1 * (found.estimate - found.low)


def test_numbers_of_trials_add_up():
    columns = joined(trials(30, 0), trials(20, 1, source="t")) | {"penalty": np.ones(50)}
    found = interval(columns, split_by_source(columns, np.ones(50, dtype=bool)), COUNTS[0])
    assert (found.estimate, found.low, found.high) == (50.0, 50.0, 50.0)


@pytest.mark.parametrize("with_posterior", [False, True])
def test_nothing_is_drawn_that_no_measure_reads(with_posterior):
    columns = trials(60, 0)
    (cell,) = split_by_source(columns, np.ones(60, dtype=bool))
    names = {"mratio", "meta_d"} if with_posterior else {"ece", "auroc", "accuracy"}
    measures = [measure for measure in MEASURES if measure.name in names]
    tables = [(cell, table) for table in tabulate(columns, cell.rows, measures, np.arange(60), 60)]
    draws = {is_bayesian: np.random.default_rng(1) for is_bayesian in (False, True)}
    found = resampled(tables, 20, draws[False], draws[True])
    assert {name for _, name in found} == {measure.name for measure in measures}
    untouched = np.random.default_rng(1).bit_generator.state
    for is_bayesian, rng in draws.items():
        assert (rng.bit_generator.state == untouched) == (is_bayesian != with_posterior)
