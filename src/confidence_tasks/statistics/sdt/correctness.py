"""Signal detection with correctness in the place of the stimulus: how far right and wrong answers lie apart.

The evidence, such as a log-probability, is cut at its own quantiles into 2K ratings, as for
:func:`confidence_tasks.statistics.meta_d_ratings`. These measures describe its two distributions, those of right and of
wrong answers, and claim nothing about metacognition beyond that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import Reason, as_binary, as_vector, same_length
from confidence_tasks.statistics.inference.weights import Result, Weighting, ratio
from confidence_tasks.statistics.sdt.count_tables import Padding, correctness_table
from confidence_tasks.statistics.sdt.type1 import type1
from confidence_tasks.statistics.sdt.unequal_variance import fit_uv_sdt


def d_prime_ratings(
    correct: ArrayLike,
    evidence: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    padding: Padding = "1/2K",
    weights: ArrayLike | None = None,
) -> Result:
    """Compute d' of right against wrong answers at the median of the evidence.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1 or 0.
    evidence : array_like, shape (n,)
        Any real number: only its order counts.
    n_ratings : int, default 4
        K; the evidence is cut into 2K ratings, and "above the middle cut" is the response.
    edges : array_like, shape (2K - 1,), optional
        Inner cuts, ascending; by default the quantiles i/2K.
    padding : {"1/2K", "hautus", "none"}, default "1/2K"
        Added to every cell.
    weights : array_like, shape (n,) or (R, n), optional
        How often each trial counts; a row per resample gives a value per resample.

    Returns
    -------
    Estimate, or ndarray of shape (R,)
        z(hit rate) - z(false-alarm rate); NaN if all are correct or all wrong.

    Raises
    ------
    ValueError
        If lengths differ, a value is missing, or an option is unknown.

    References
    ----------
    Cacioli (2026), arXiv:2603.25112, section 3.2.

    Examples
    --------
    >>> correct = [0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    >>> round(d_prime_ratings(correct, range(16), n_ratings=2), 3)
    1.264
    """
    table = correctness_table(correct, evidence, n_ratings=n_ratings, edges=edges, weights=weights)
    return type1(*table, padding=padding).d_prime


def z_roc_slope(
    correct: ArrayLike,
    evidence: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    padding: Padding = "1/2K",
    weights: ArrayLike | None = None,
) -> Result:
    """Compute the slope of the z-ROC of right against wrong answers: sd(wrong) / sd(right), if both are normal.

    Parameters
    ----------
    correct, evidence, n_ratings, edges, padding, weights
        As in :func:`d_prime_ratings`.

    Returns
    -------
    Estimate, or ndarray of shape (R,)
        1 under equal variance; NaN where there is no maximum-likelihood line, as with fewer than three ratings in use.

    Raises
    ------
    ValueError
        If lengths differ, a value is missing, or an option is unknown.

    Notes
    -----
    The line is that of maximum likelihood, :func:`fit_uv_sdt`. Least squares through the points of the ROC
    (:func:`z_roc`) gives as much weight to a point that one trial decides as to one that hundreds do: its 95% intervals
    hold the truth in 68 to 97% of studies where variances differ (see docs/reliability.md).

    References
    ----------
    Dorfman & Alf (1969), doi:10.1016/0022-2496(69)90019-4. Macmillan & Creelman (2005), Detection Theory, chapter 3.

    Examples
    --------
    >>> correct = [0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    >>> round(z_roc_slope(correct, range(16), n_ratings=2), 3)
    0.798
    """
    table = correctness_table(correct, evidence, n_ratings=n_ratings, edges=edges, weights=weights)
    return fit_uv_sdt(*table, padding=padding).slope


def d_a(
    correct: ArrayLike,
    evidence: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    padding: Padding = "1/2K",
    weights: ArrayLike | None = None,
) -> Result:
    """Compute the distance of right from wrong answers in root-mean-square standard deviations.

    Parameters
    ----------
    correct, evidence, n_ratings, edges, padding, weights
        As in :func:`d_prime_ratings`.

    Returns
    -------
    Estimate, or ndarray of shape (R,)
        d' under equal variance, and comparable where variances differ; NaN where there is no line, as for
        :func:`z_roc_slope`.

    Raises
    ------
    ValueError
        If lengths differ, a value is missing, or an option is unknown.

    References
    ----------
    Macmillan & Creelman (2005), Detection Theory, equations 3.5 to 3.9; the line as in :func:`z_roc_slope`.

    Examples
    --------
    >>> correct = [0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    >>> round(d_a(correct, range(16), n_ratings=2), 3)
    1.244
    """
    table = correctness_table(correct, evidence, n_ratings=n_ratings, edges=edges, weights=weights)
    return fit_uv_sdt(*table, padding=padding).d_a


def mean_difference(correct: ArrayLike, evidence: ArrayLike, *, weights: ArrayLike | None = None) -> Result:
    """Compute the mean evidence of right answers minus that of wrong ones, in the evidence's own unit.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1 or 0.
    evidence : array_like, shape (n,)
        Any real number.
    weights : array_like, shape (n,) or (R, n), optional
        How often each trial counts.

    Returns
    -------
    Estimate, or ndarray of shape (R,)
        NaN without trials, and when all are right or all wrong.

    Raises
    ------
    ValueError
        If lengths differ or a value is missing.

    Examples
    --------
    >>> mean_difference([1, 1, 0], [-0.5, -1.0, -2.0])
    1.25
    """
    right, values = as_binary(correct, "correct"), as_vector(evidence, "evidence")
    weighting = Weighting.of(weights, same_length(correct=right, evidence=values))
    wrong_mean, right_mean = (
        ratio(weighting.rows @ (of * values), weighting.rows @ of) for of in (1.0 - right, right)
    )
    difference = np.asarray(right_mean - wrong_mean)
    return weighting.settle(difference, weighting.empty, (np.isnan(difference), Reason.ONE_CLASS))
