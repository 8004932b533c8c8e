"""Discretisation: to what extent stated confidence is limited to a few distinct values."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import BoolArray, FloatArray, as_vector
from confidence_tasks.statistics.inference.weights import (
    Result,
    Tied,
    Weighting,
    Weights,
    ratio,
    row_quantiles,
    running_sums,
    tied,
)

__all__ = [
    "confidence_entropy",
    "distinct_values",
    "round_share",
    "scale_utilization",
    "top_share",
    "top_value",
    "violation_share",
]

_CENTRAL_RANGE = np.array([0.05, 0.95])
_VIOLATION_TOLERANCE = 0.05
_ROUNDING = 1e-9
"""Tolerance in units of the step or of the scale, so that 0.55 is a multiple of 0.05."""


def top_value(raw: ArrayLike, *, weights: Weights = None) -> Result:
    """Find the most frequent report; the lowest one in case of a tie.

    Parameters
    ----------
    raw : array_like, shape (n,)
        Confidence as reported, in the units of the scale, before clipping or normalization.
    weights : array_like, shape (n,) or (R, n), optional
        Frequency weight of each report; one row per resample.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In the units of the scale; NaN without reports.

    Examples
    --------
    >>> top_value([90, 95, 95, 90, 80])
    90.0
    """
    groups, weighting = _count_values(raw, weights)
    return weighting.settle(groups.values[groups.counts.argmax(axis=1)])


def top_share(raw: ArrayLike, *, k: int = 1, weights: Weights = None) -> Result:
    """Compute the proportion of reports that equal one of the k most frequent values.

    Parameters
    ----------
    raw, weights
        As in :func:`top_value`.
    k : int, default 1
        Number of values.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1]; 1 if there are at most k distinct values, NaN without reports.

    Examples
    --------
    >>> top_share([90, 95, 95, 90, 80]), top_share([90, 95, 95, 90, 80], k=3)
    (0.4, 1.0)
    """
    if k < 1:
        raise ValueError(f"k must be above zero, got {k}")
    groups, weighting = _count_values(raw, weights)
    top = np.sort(groups.counts, axis=1)[:, -k:].sum(axis=1)
    return weighting.settle(ratio(top, weighting.total))


def distinct_values(raw: ArrayLike, *, weights: Weights = None) -> Result:
    """Count the distinct reported values.

    Arguments and shapes are those of :func:`top_value`. The result is NaN without reports. The number increases with
    the number of reports, and bootstrap resamples underestimate it, because they leave out values.

    Examples
    --------
    >>> distinct_values([90, 95, 95, 90, 80])
    3.0
    """
    groups, weighting = _count_values(raw, weights)
    distinct = np.count_nonzero(groups.counts, axis=1).astype(np.float64)
    return weighting.settle(distinct)


def confidence_entropy(raw: ArrayLike, *, weights: Weights = None) -> Result:
    r"""Compute the Shannon entropy of the reports, :math:`-\sum_v p_v \log_2 p_v`.

    Arguments and shapes are those of :func:`top_value`. The result is in bits: 0 for a single value and log2(101) =
    6.66 if all whole percentages are equally frequent. It is NaN without reports. This is the plug-in estimate, which
    is biased downwards in small samples.

    References
    ----------
    Shannon (1948), A mathematical theory of communication, doi:10.1002/j.1538-7305.1948.tb01338.x.

    Examples
    --------
    >>> confidence_entropy([90, 95, 80, 85])
    2.0
    """
    groups, weighting = _count_values(raw, weights)
    share = ratio(groups.counts, weighting.total[:, None], otherwise=0.0)
    # Adding 0.0 turns -0.0, the result for a single value, into 0.0.
    entropy = -scipy.special.xlogy(share, share).sum(axis=1) / np.log(2.0) + 0.0
    return weighting.settle(entropy)


def round_share(
    raw: ArrayLike, *, lower: float, upper: float, step: float = 5.0, weights: Weights = None
) -> Result:
    """Compute the proportion of reports that are multiples of the step and lie on the scale.

    Parameters
    ----------
    raw, weights
        As in :func:`top_value`.
    lower, upper : float
        Ends of the scale that the prompt specifies.
    step : float, default 5
        Step of which round numbers are multiples; use 0.05 for a scale from 0 to 1.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1]; NaN without reports. A report off the scale counts as not round.

    Examples
    --------
    >>> round_share([0.55, 0.6, 0.62, 0.95], lower=0, upper=1, step=0.05)
    0.75
    """
    if not step > 0.0:
        raise ValueError(f"step must be above zero, got {step}")
    reports = as_vector(raw, "raw")
    steps = reports / step
    multiple = np.abs(steps - np.rint(steps)) <= _ROUNDING
    on_scale = ~_outside(reports, lower, upper, 0.0)
    return Weighting.of(weights, len(reports)).average((multiple & on_scale).astype(np.float64))


def violation_share(raw: ArrayLike, *, lower: float, upper: float, weights: Weights = None) -> Result:
    """Compute the proportion of reports that lie outside the scale by more than 5% of its width.

    Arguments, shapes and range are those of :func:`round_share`, without ``step``.

    Examples
    --------
    >>> violation_share([73, 76, 77, 100], lower=0, upper=73)
    0.5
    """
    off_scale = _outside(as_vector(raw, "raw"), lower, upper, _VIOLATION_TOLERANCE)
    return Weighting.of(weights, len(off_scale)).average(off_scale.astype(np.float64))


def scale_utilization(raw: ArrayLike, *, lower: float, upper: float, weights: Weights = None) -> Result:
    """Compute the range between the 5th and the 95th percentile of the reports, as a proportion of the scale.

    Arguments and shapes are those of :func:`round_share`, without ``step``. The result is 0 or above, and exceeds 1
    only if reports lie outside the scale. It is NaN without reports. Percentiles are interpolated linearly, as in
    :func:`numpy.quantile`.

    Examples
    --------
    >>> round(scale_utilization(range(101), lower=0, upper=100), 12)
    0.9
    """
    width = _width(lower, upper)
    groups, weighting = _count_values(raw, weights)
    ends = row_quantiles(groups.values, running_sums(groups.counts), _CENTRAL_RANGE)
    return weighting.settle(np.diff(ends)[:, 0] / width)


def _count_values(raw: ArrayLike, weights: Weights) -> tuple[Tied, Weighting]:
    reports = as_vector(raw, "raw")
    weighting = Weighting.of(weights, reports.shape[0])
    if reports.shape[0]:
        return tied(reports, weighting), weighting
    # Without reports, a value of weight 0 keeps all operations defined.
    return Tied(np.zeros(1), np.zeros((weighting.rows.shape[0], 1)), (), np.empty(0, np.intp)), weighting


def _width(lower: float, upper: float) -> float:
    if not -np.inf < lower < upper < np.inf:
        raise ValueError(f"lower must be below upper, got [{lower}, {upper}]")
    return upper - lower


def _outside(reports: FloatArray, lower: float, upper: float, tolerance: float) -> BoolArray:
    """Return which reports lie outside the scale by more than ``tolerance`` times its width."""
    margin = (tolerance + _ROUNDING) * _width(lower, upper)
    return (reports < lower - margin) | (reports > upper + margin)
