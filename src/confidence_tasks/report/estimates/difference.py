"""Differences of two groups of trials on the same questions, with an interval and a test from one pivot.

The test depends on the measure:

* A mean, and every measure whose influence function is known, gets the studentised exchange test: the difference over
  its standard error is compared with its values after exchanges of whole questions, and with Student's distribution.
* A measure that is biased upwards by chance, such as a calibration error, is compared by the intervals of the two
  groups, which allow for the bias (MOVER).
* Any other measure is compared with Student's distribution, with the standard deviation of its resamples.

The interval holds the differences that the test does not reject, so interval and p-value cannot contradict each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from confidence_tasks.report.estimates.contrast import Contrast, Side
from confidence_tasks.report.estimates.distribution import Distribution
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.statistics import Estimate, Interval, Reason
from confidence_tasks.statistics.core import FloatArray, undefined
from confidence_tasks.statistics.inference.clusters import Clusters
from confidence_tasks.statistics.inference.limits import mover, resample_correlation
from confidence_tasks.statistics.inference.resampling import rounding_of, share_as_extreme
from confidence_tasks.statistics.inference.tests import Pivot, exchange_pivot, student_pivot
from confidence_tasks.statistics.inference.weights import is_exact
from confidence_tasks.study.exchanges import Drawn, exchanged_differences
from confidence_tasks.study.inference import Influence
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.paired import PairedTables, influence_on

# The test of one difference ------------------------------------------------------------------------------------------


def paired_differences(
    sources: Sequence[PairedTables],
    sides: Mapping[str, tuple[Distribution, Distribution]],
    settings: Settings,
    seed: np.random.Generator,
    *,
    papers_test: bool = True,
    by_question: Sequence[PairedTables] = (),
) -> dict[str, Contrast]:
    """Compare two conditions by each measure; return the contrasts by measure, without names and not corrected.

    A measure is averaged over ``sources`` first. ``sides`` holds its distribution under either condition.
    ``papers_test`` says whether to run the papers' test as well. With clusters, ``by_question`` are the sources with
    questions as units, for design effects.
    """
    measures = {measure.name: measure for source in sources for measure in source.measures}
    known = _known_influences(sources, measures)
    differences = {name: sides[name][0] - sides[name][1] for name in measures}
    student = {name: _error_by_influence(sources, influences) for name, influences in known.items()}
    drawn = exchanged_differences(
        sources,
        known,
        settings.n_exchanges,
        seed,
        papers_test=papers_test,
        is_close=partial(_is_close, differences, student),
    )
    exact = bool(sources) and is_exact(sources[0].questions.members.shape[1], settings.n_exchanges[1])
    by_measure = {}
    for name, measure in measures.items():
        first, second = sides[name]
        difference, tie = differences[name], rounding_of(first.value, second.value)
        values, errors = drawn.get(name, (np.empty(0), np.empty(0)))
        if name in known:
            center = float(difference.value)
            test = _exchange_test(center, student[name], (values, errors), settings.level, exact, tie)
        else:
            test = resampled_test(first, second, difference, tie, settings.level)
        low, high, p_value = _limits_and_p_value(measure, sources, difference, test, tie, settings.level)
        interval = Interval(
            estimate=Estimate(0.0) if abs(difference.value) <= tie else difference.value,
            low=low,
            high=high,
            level=settings.level,
            standard_error=test.error,
            n_units=len(difference.questions),
            n_resamples=test.n_resamples,
            n_undefined=test.n_undefined,
            method=test.method,
            seed=settings.seed,
        )
        p_exchange = _papers_p_value(difference.value, values, exact, tie)
        clusters = _clusters(difference, known.get(name), sources, by_question)
        n_questions = clusters.n_questions if clusters else interval.n_units
        by_measure[name] = Contrast(
            name, Side(), Side(), interval, p_value, p_value, p_exchange, n_questions, clusters
        )
    return by_measure


def _papers_p_value(difference: Estimate, values: FloatArray, exact: bool, tie: float) -> float:
    """Return the p-value of the papers' exchange test; NaN if it was not run."""
    if not len(values):
        return math.nan
    return float(share_as_extreme(difference, values, "two-sided", exact, tie))


_CLOSE = 0.1
"""p-value below which a test has all exchanges; one above has a standard error of at most 0.011 with 2,000."""


def _is_close(
    differences: Mapping[str, Distribution],
    student: Mapping[str, tuple[float, float]],
    name: str,
    exchanged: FloatArray,
) -> bool:
    """Return whether the p-value of a difference, by exchanges or by Student's distribution, is below a tenth.

    At any level below that, the test is the one with all exchanges: fewer are made only where it does not reject. As in
    sequential tests of Besag & Clifford (1991), doi:10.1093/biomet/78.2.301, draws are saved where they decide nothing.
    """
    value, (error, freedom) = differences[name].value, student.get(name, (math.nan, math.nan))
    by_exchanges = share_as_extreme(value, exchanged, "two-sided", exact=False, tie=0.0)
    by_student = student_pivot(float(value), error, freedom).p_value
    return bool(np.fmin(by_exchanges, by_student) < _CLOSE)


def _clusters(
    difference: Distribution,
    influences: Mapping[int, Influence] | None,
    sources: Sequence[PairedTables],
    by_question: Sequence[PairedTables],
) -> Clusters | None:
    """Return the clusters of a difference, with exact variances if its influences are known."""
    clusters = difference.clusters
    if clusters is None or influences is None or not by_question:
        return clusters
    variances = (_error_by_influence(each, influences)[0] ** 2 for each in (sources, by_question))
    return Clusters(clusters.n, clusters.n_questions, *variances)


class _Test(NamedTuple):
    """The test of a difference: its method, the center and the standard error of the interval, and the pivot."""

    method: Literal["exchange", "mover", "student"]
    center: float
    error: float
    pivot: Pivot
    n_resamples: int
    n_undefined: int


def _exchange_test(
    center: float, student: tuple[float, float], drawn: Drawn, level: float, exact: bool, tie: float
) -> _Test:
    """Test a difference by exchanges; ``student`` are its standard error and degrees of freedom."""
    error, freedom = student
    pivot = exchange_pivot(center, error, *drawn, freedom=freedom, level=level, exact=exact, tie=tie)
    values, errors = drawn
    return _Test("exchange", center, error, pivot, len(values), int(np.isnan(values + errors).sum()))


def _known_influences(
    sources: Sequence[PairedTables], names: Iterable[str]
) -> dict[str, dict[int, Influence]]:
    """Return the influence function of each measure, by number of source, for measures that have one in all sources."""
    influences: dict[str, dict[int, Influence | None]] = {name: {} for name in names}
    for number, source in enumerate(sources):
        for measure in source.measures:
            influences[measure.name][number] = influence_on(measure, source)
    return {
        name: {number: influence for number, influence in parts.items() if influence}
        for name, parts in influences.items()
        if all(parts.values())
    }


def resampled_test(
    first: Distribution, second: Distribution, difference: Distribution, tie: float, level: float
) -> _Test:
    """Test a difference against Student's distribution, or by MOVER if both terms have an inverted test."""
    n_resamples = len(difference.resamples)
    n_undefined = n_resamples - int(np.isfinite(difference.resamples).sum())
    method: Literal["mover", "student"] = "student"
    center, (error, freedom) = float(difference.value), difference.resampled.student_terms
    if first.inverted_test and second.inverted_test:
        correlation = resample_correlation(first.resamples, second.resamples)
        method, freedom = "mover", math.inf
        center, error = mover(first.limits_of_test, second.limits_of_test, correlation, level)
    pivot = student_pivot(center, error, freedom, level=level, tie=tie)
    return _Test(method, center, error, pivot, n_resamples, n_undefined)


def _limits_and_p_value(
    measure: Measure,
    sources: Sequence[PairedTables],
    difference: Distribution,
    test: _Test,
    tie: float,
    level: float,
) -> tuple[Estimate, Estimate, float]:
    """Return the limits and the p-value of a difference; either both or none are withheld."""
    value, pivot = float(difference.value), test.pivot
    reason = difference.resampled.reason or _incomparable(measure, sources) or _untested(pivot, value, level)
    if reason:
        return undefined(reason), undefined(reason), 1.0 if abs(value) <= tie else math.nan
    most = measure.inference.largest_difference
    low, high = max(test.center - pivot.reach, -most), min(test.center + pivot.reach, most)
    # A fitted measure that cannot be refitted varies more than its interval says: it gets no p-value.
    return Estimate(low), Estimate(high), math.nan if measure.exchangeable is None else pivot.p_value


def _untested(pivot: Pivot, value: float, level: float) -> Reason | None:
    """Return the reason why a pivot has no interval, if there is one."""
    if math.isnan(pivot.p_value):
        return Reason.NOT_IDENTIFIED
    if math.isinf(pivot.reach):
        return Reason.TOO_FEW  # there are too few exchanges for this level
    if pivot.reach == 0.0 < abs(value) and pivot.p_value > 1.0 - level:
        return Reason.TOO_FEW
    return None


def _incomparable(measure: Measure, sources: Sequence[PairedTables]) -> Reason | None:
    """Return the reason why the two conditions cannot be compared by a measure, if there is one."""
    incomparable = measure.inference.incomparable
    if incomparable is None:
        return None
    known = (source for source in sources if measure in source.measures)
    tables = (table for source in known for table in (source.first, source.second))
    reasons = (incomparable(table.columns, table.kinds.counts) for table in tables)
    return next(filter(None, reasons), None)


def _error_by_influence(
    sources: Sequence[PairedTables], influences: Mapping[int, Influence]
) -> tuple[float, float]:
    """Return the standard error of the mean over sources, and its degrees of freedom by Satterthwaite's formula."""
    pairs = [(sources[number], influence) for number, influence in influences.items()]
    variances = np.array(
        [
            source.variance(influence, source.stacked(), source.without_exchange())[0]
            for source, influence in pairs
        ]
    )
    freedom = np.array([max(source.questions.counts.sum() - 1.0, 1.0) for source, _ in pairs])
    total = float(variances.sum())
    spread = float((np.square(variances) / freedom).sum())
    return math.sqrt(total) / len(influences), total**2 / spread if spread > 0.0 else float(freedom.sum())
