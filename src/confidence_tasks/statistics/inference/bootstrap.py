"""Bootstrap intervals whose unit of resampling is the question."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import Estimate, FloatArray, IntArray
from confidence_tasks.statistics.inference.limits import limits
from confidence_tasks.statistics.inference.table_resampling import resample_cells
from confidence_tasks.statistics.inference.units import (
    Method,
    Resampled,
    Sample,
    Seed,
    Statistic,
    as_estimate,
    as_rows,
    check_options,
    check_values,
    corrected,
    one_stratum,
    paired_contrast,
    resample,
    resample_values,
    stratum_index,
    unit_index,
)


@dataclass(frozen=True, slots=True)
class Interval:
    """A statistic with its bootstrap interval.

    Attributes
    ----------
    estimate : Estimate
        The statistic of the data as they are; NaN with a reason where undefined.
    low, high : Estimate
        Limits of the interval; NaN with a reason where there is none.
    level : float
        Nominal coverage of the interval, in (0, 1).
    standard_error : float
        Standard deviation of the defined resamples; NaN where there is no interval.
    n_units : int
        Number of units (questions, clusters) that were resampled.
    n_resamples : int
        Number of resamples drawn.
    n_undefined : int
        How many of them left the statistic undefined or infinite; they are no part of the interval.
    method : str
        How the limits were read off the resamples, as in :func:`bootstrap`; ``"inverted"`` where a test was inverted
        instead, as in :func:`~confidence_tasks.statistics.ece_interval`; ``"exchange"`` where the conditions of a
        difference were exchanged, ``"mover"`` where it is made of the intervals of its terms.
    seed : int or None
        The seed; None when a generator was handed in.
    """

    estimate: Estimate
    low: Estimate
    high: Estimate
    level: float
    standard_error: float
    n_units: int
    n_resamples: int
    n_undefined: int
    method: Method | Literal["inverted", "exchange", "mover"]
    seed: int | None


OF_DIFFERENCES: tuple[Method, ...] = ("percentile", "bca", "student", "robust", "skewed", "mean", "none")
"""Methods for what may lie to either side of 0; the others are for what lies within bounds."""


def bootstrap_distribution(
    statistic: Statistic,
    *arrays: ArrayLike,
    clusters: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    n_resamples: int = 10_000,
    seed: Seed = 0,
) -> FloatArray:
    """Evaluate a statistic on bootstrap resamples of whole units.

    A resample is a vector of counts, how often each unit was drawn. The statistic is called with a matrix of
    them, never once per resample.

    Parameters
    ----------
    statistic : callable
        ``statistic(*arrays, weights=W)``, which returns an array (R,) for W of shape (R, n).
    *arrays : array_like, shape (n,)
        The trials, one value a row in each array.
    clusters : array_like, shape (n,), optional
        Label of the unit that a row belongs to, such as its question when a question appears under several
        conditions or epochs. By default every row is a unit.
    strata : array_like, shape (n,), optional
        Label of the stratum within which units are drawn, constant over the rows of a unit.
    n_resamples : int, default 10000
        Number of resamples R.
    seed : int or numpy.random.Generator, default 0
        Source of the draws. The result depends on nothing else, in particular not on how the work is chunked.

    Returns
    -------
    ndarray, shape (R,)
        The statistic of each resample, NaN where it is undefined.

    Raises
    ------
    ValueError
        If lengths differ, a label is missing, a unit spans two strata, or ``n_resamples`` is below 1.

    References
    ----------
    Efron (1979), Bootstrap methods: another look at the jackknife, doi:10.1214/aos/1176344552.

    Examples
    --------
    >>> def mean(x, *, weights):
    ...     return weights @ x / weights.sum(axis=-1)
    >>> bootstrap_distribution(mean, [0.0, 1.0, 1.0, 1.0], n_resamples=4)
    array([0.5 , 1.  , 0.75, 0.5 ])
    """
    check_options(n_resamples, 0.5, "percentile")
    sample, stratum = _sample(statistic, arrays, clusters, strata)
    return resample_values(sample, stratum, sample.n_rows, n_resamples, seed)


def bootstrap(
    statistic: Statistic,
    *arrays: ArrayLike,
    clusters: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    n_resamples: int = 10_000,
    level: float = 0.95,
    method: Method = "percentile",
    decisive: float = math.inf,
    seed: Seed = 0,
) -> Interval:
    """Compute a statistic with its bootstrap interval over questions.

    Parameters
    ----------
    statistic, *arrays, clusters, strata, n_resamples, seed
        As in :func:`bootstrap_distribution`; ``statistic`` is also called with weights of shape (n,), for the
        estimate.
    level : float, default 0.95
        Nominal coverage of the interval, in (0, 1).
    method : str, default "percentile"
        ``"percentile"`` takes the equal-tailed quantiles of the resamples. ``"bca"`` corrects them for bias and
        acceleration, at the price of one more evaluation per unit. The others read only moments off the resamples:

        * ``"student"``: Student's t times the standard error to either side.
        * ``"robust"``: the same with the spread of the middle two thirds of the resamples, for slopes that hang on few
          trials: resamples without these stray further than samples do.
        * ``"skewed"``: Student's interval for Hall's transformation of t, which has no skewness: a longer arm to the
          side where few trials weigh much.
        * ``"mean"``: for means. ``"skewed"`` as if two trials more weighed so much, for those that were not seen.
        * ``"logit"``: Student's interval on the logit scale, for what lies between 0 and 1, such as an AUROC.
        * ``"log"``: the same of the logarithms of the resamples, for ratios that lie above 0.
        * ``"wilson"``: for shares. Wilson's interval for the number of trials that the standard error is worth, which
          is not empty where every trial is alike.
        * ``"largest"``: for the share of the most frequent of many values, which is too high. Wilson's interval for
          the number of units, and beyond its lower end 1.4 times the bias that the resamples show, with fewer standard
          errors the larger that is, as the truth is at one end of the bias (Imbens & Manski).
        * ``"none"``: for what resamples say nothing of, such as a number of distinct values.
    decisive : float, optional
        How many units decide the statistic, such as the questions answered wrong for an AUROC; by default all. Fewer
        than five give no interval, and Student's t has no more degrees of freedom than so many less one.

    Returns
    -------
    Interval
        Its limits are NaN, with a reason, when there are fewer than two units, no resample is defined, all are alike
        (but for shares and differences), or the corrections of BCa do not exist (every resample on one side of the
        estimate, or a unit without which the statistic is undefined).

    Raises
    ------
    ValueError
        As in :func:`bootstrap_distribution`, and for a level outside (0, 1) or an unknown method.

    References
    ----------
    Efron (1987), Better bootstrap confidence intervals, doi:10.1080/01621459.1987.10478410.
    Davison & Hinkley (1997), Bootstrap Methods and their Application, doi:10.1017/CBO9780511802843.
    Franco, Little, Louis & Slud (2019), Comparative study of confidence intervals for proportions in complex sample
    surveys, doi:10.1093/jssam/smy019, for Wilson's interval with an effective number of trials.
    Hall (1992), On the removal of skewness by transformation, doi:10.1111/j.2517-6161.1992.tb01876.x.
    Imbens & Manski (2004), Confidence intervals for partially identified parameters,
    doi:10.1111/j.1468-0262.2004.00555.x.

    Examples
    --------
    >>> def mean(x, *, weights):
    ...     return weights @ x / weights.sum(axis=-1)
    >>> interval = bootstrap(mean, range(100), n_resamples=2000)
    >>> interval.estimate, round(interval.low), round(interval.high), interval.n_undefined
    (49.5, 44, 55, 0)
    """
    check_options(n_resamples, level, method)
    sample, stratum = _sample(statistic, arrays, clusters, strata)
    found = resample(sample, stratum, n_resamples, method, seed)
    return interval_of(replace(found, decisive=decisive, freedom=decisive - 1.0), level, method, seed)


def bootstrap_difference(
    statistic: Statistic,
    first: Sequence[ArrayLike],
    second: Sequence[ArrayLike],
    *,
    questions: tuple[ArrayLike, ArrayLike] | None = None,
    n_resamples: int = 10_000,
    level: float = 0.95,
    method: Method = "percentile",
    seed: Seed = 0,
) -> Interval:
    """Compute the difference of a statistic between two conditions, with a paired bootstrap interval.

    A resample draws questions and takes both conditions of every question drawn.

    Parameters
    ----------
    statistic : callable
        As in :func:`bootstrap`.
    first, second : sequence of array_like
        The arrays that ``statistic`` takes, under the first and under the second condition.
    questions : pair of array_like, optional
        Labels of the questions, one array per condition. They may repeat (epochs), and only questions found in
        both are used. By default row i of either condition is question i.
    n_resamples, level, seed
        As in :func:`bootstrap`.
    method : str, default "percentile"
        As in :func:`bootstrap`, but for those that are for shares and ratios, which a difference is not.

    Returns
    -------
    Interval
        Of ``statistic(first) - statistic(second)`` over the common questions.

    Raises
    ------
    ValueError
        As in :func:`bootstrap`; without labels, also when the conditions differ in length.

    Examples
    --------
    >>> def mean(x, *, weights):
    ...     return weights @ x / weights.sum(axis=-1)
    >>> interval = bootstrap_difference(mean, [[3.0, 5.0, 7.0]], [[2.0, 4.0, 6.0]], n_resamples=100)
    >>> interval.estimate, round(interval.low, 9), round(interval.high, 9)
    (1.0, 1.0, 1.0)
    """
    check_options(n_resamples, level, method)
    if method not in OF_DIFFERENCES:
        raise ValueError(
            f"method of a difference must be one of {', '.join(OF_DIFFERENCES)}, got {method!r}: that is for what lies"
            " within bounds"
        )
    contrast = paired_contrast(statistic, first, second, questions)
    found = resample(contrast, one_stratum(contrast.n_units), n_resamples, method, seed)
    return interval_of(found, level, method, seed)


def bootstrap_counts(
    statistic: Callable[[FloatArray], Any],
    counts: ArrayLike,
    *,
    n_resamples: int = 10_000,
    level: float = 0.95,
    method: Method = "percentile",
    seed: Seed = 0,
) -> Interval:
    """Compute a statistic of a count table with its bootstrap interval.

    Drawing trials with replacement and counting them anew is a multinomial draw from their table. So this is
    :func:`bootstrap` for a statistic that sees the table only, at a cost that does not grow with the trials.

    Parameters
    ----------
    statistic : callable
        Takes tables of shape (R, cells) and returns an array (R,).
    counts : array_like of int, shape (cells,)
        Number of trials in each cell.
    n_resamples, level, method, seed
        As in :func:`bootstrap`.

    Returns
    -------
    Interval
        Its units are the trials.

    Raises
    ------
    ValueError
        If a count is negative or not whole, and as in :func:`bootstrap`.

    Examples
    --------
    >>> def accuracy(tables):
    ...     return tables[:, 1] / tables.sum(axis=1)
    >>> interval = bootstrap_counts(accuracy, [200, 800])
    >>> interval.estimate, round(interval.low, 2), round(interval.high, 2)
    (0.8, 0.78, 0.82)
    """
    check_options(n_resamples, level, method)
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 1 or not np.isfinite(table).all() or (table < 0).any():
        raise ValueError("counts must be one-dimensional, finite, and zero or above")
    draws = resample_cells(table, n_resamples, np.random.default_rng(seed))

    def evaluate(tables: FloatArray) -> FloatArray:
        return check_values(np.asarray(statistic(tables), dtype=np.float64), len(tables))

    found = Resampled(as_estimate(evaluate(table[None])[0]), evaluate(draws), int(table.sum()))
    if method == "bca":
        cells = np.flatnonzero(table)
        left_out = evaluate(table - np.eye(len(table))[cells])
        found = corrected(found, left_out, one_stratum(len(cells)), table[cells])
    return interval_of(found, level, method, seed)


def _sample(
    statistic: Statistic, arrays: Sequence[ArrayLike], clusters: ArrayLike | None, strata: ArrayLike | None
) -> tuple[Sample, IntArray]:
    """Return the statistic as a function of unit weights, and the stratum of each unit."""
    rows = as_rows(arrays)
    unit, n_units = unit_index(clusters, "clusters", len(rows[0]))
    return Sample(statistic, rows, unit), stratum_index(strata, unit, n_units, len(rows[0]))


def interval_of(found: Resampled, level: float, method: Method, seed: Seed) -> Interval:
    """Read the interval off a bootstrap distribution."""
    defined = found.defined
    low, high = limits(found, level, method)
    return Interval(
        estimate=found.estimate,
        low=low,
        high=high,
        level=level,
        standard_error=float(defined.std(ddof=1)) if found.n_units > 1 and len(defined) > 1 else float("nan"),
        n_units=found.n_units,
        n_resamples=len(found.distribution),
        n_undefined=len(found.distribution) - len(defined),
        method=method,
        seed=seed_value(seed),
    )


def seed_value(seed: Seed) -> int | None:
    """Return the seed to name with a result; None for a generator."""
    return None if isinstance(seed, np.random.Generator) else int(seed)
