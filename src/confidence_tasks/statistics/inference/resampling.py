"""Bootstrap intervals whose unit of resampling is the question."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import Estimate, FloatArray, label_index
from confidence_tasks.statistics.inference.draws import Seed
from confidence_tasks.statistics.inference.limits import PROPORTION, Bounds, Method, Resampled
from confidence_tasks.statistics.inference.units import (
    Sample,
    Statistic,
    as_rows,
    check_options,
    paired_contrast,
    resample_values,
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
        How the limits were read off the resamples, as in :func:`bootstrap`; ``"test_inversion"`` as in
        :func:`~confidence_tasks.statistics.ece_interval`; ``"exchange"`` where the conditions of a difference were
        exchanged, ``"mover"`` where it is made of the intervals of its terms.
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
    method: Method | Literal["test_inversion", "exchange", "mover"]
    seed: int | None


OF_DIFFERENCES: tuple[Method, ...] = ("percentile", "student", "none")
"""Methods for statistics without bounds, such as differences; the others need bounds."""


def bootstrap_distribution(
    statistic: Statistic,
    *arrays: ArrayLike,
    clusters: ArrayLike | None = None,
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
    n_resamples : int, default 10000
        Number of resamples R.
    seed : int or numpy.random.Generator, default 0
        Source of the draws. The result depends on nothing else, in particular not on how the work is chunked.

    Returns
    -------
    ndarray, shape (R,)
        The statistic of each resample, NaN where it is undefined.

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
    check_options(n_resamples)
    return resample_values(_sample(statistic, arrays, clusters), n_resamples, seed)


def bootstrap(
    statistic: Statistic,
    *arrays: ArrayLike,
    clusters: ArrayLike | None = None,
    n_resamples: int = 10_000,
    level: float = 0.95,
    method: Method = "percentile",
    n_informative: float = math.inf,
    bounds: Bounds = PROPORTION,
    seed: Seed = 0,
) -> Interval:
    """Compute a statistic with its bootstrap interval over questions.

    Parameters
    ----------
    statistic, *arrays, clusters, n_resamples, seed
        As in :func:`bootstrap_distribution`; ``statistic`` is also called with weights of shape (n,), for the
        estimate.
    level : float, default 0.95
        Nominal coverage of the interval, in (0, 1).
    method : str, default "percentile"
        How limits are read off the resamples:

        * ``"percentile"``: their equal-tailed quantiles.
        * ``"student"``: Student's t times the standard error to either side, for means, slopes and differences.
        * ``"transformed"``: the same on the scale that takes the bounds away, by the delta method: the logit of an
          AUROC, Fisher's z of a correlation, the logarithm of a ratio.
        * ``"wilson"``: for proportions. Wilson's interval for the number of trials that the standard error is worth,
          which is not empty where every trial is alike.
        * ``"none"``: for what resamples say nothing of, such as a number of distinct values.
    n_informative : float, optional
        How many units decide the statistic, such as the questions answered wrong for an AUROC; by default all. Fewer
        than five give no interval, and Student's t has no more degrees of freedom than so many less one.
    bounds : tuple of float, default (0, 1)
        Values between which a statistic lies whose interval is ``"transformed"``; the upper may be infinite.

    Returns
    -------
    Interval
        Its limits are NaN, with a reason, when there are fewer than two units, no resample is defined, or all are alike
        (but for proportions and differences).

    References
    ----------
    Efron & Tibshirani (1993), An Introduction to the Bootstrap, doi:10.1201/9780429246593, chapters 12 and 13.
    Franco, Little, Louis & Slud (2019), Comparative study of confidence intervals for proportions in complex sample
    surveys, doi:10.1093/jssam/smy019, for Wilson's interval with an effective number of trials.

    Examples
    --------
    >>> def mean(x, *, weights):
    ...     return weights @ x / weights.sum(axis=-1)
    >>> interval = bootstrap(mean, range(100), n_resamples=2000)
    >>> interval.estimate, round(interval.low), round(interval.high), interval.n_undefined
    (49.5, 44, 55, 0)
    """
    check_options(n_resamples, level, method)
    sample = _sample(statistic, arrays, clusters)
    draws = resample_values(sample, n_resamples, seed)
    found = Resampled(sample.estimate(), draws, sample.n_units, n_informative, n_informative - 1.0)
    return interval_of(found, level, method, seed, bounds)


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
        ``"percentile"``, ``"student"`` or ``"none"``; the others are for what lies between 0 and 1.

    Returns
    -------
    Interval
        Of ``statistic(first) - statistic(second)`` over the common questions.

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
    draws = resample_values(contrast, n_resamples, seed)
    return interval_of(Resampled(contrast.estimate(), draws, contrast.n_units), level, method, seed)


def _sample(statistic: Statistic, arrays: Sequence[ArrayLike], clusters: ArrayLike | None) -> Sample:
    """Return the statistic as a function of unit weights."""
    rows = as_rows(arrays)
    unit = None if clusters is None else label_index(clusters, "clusters", len(rows[0]))
    return Sample(statistic, rows, unit)


def interval_of(
    found: Resampled, level: float, method: Method, seed: Seed, bounds: Bounds = PROPORTION
) -> Interval:
    """Read the interval off a bootstrap distribution."""
    defined = found.defined
    low, high = found.limits(level, method, bounds)
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
    """Return the seed that a result names; None for a generator."""
    return None if isinstance(seed, np.random.Generator) else int(seed)
