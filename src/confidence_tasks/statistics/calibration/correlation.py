"""How closely confidence follows the probability of being right, whatever its level."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import BoolArray, FloatArray, Reason
from confidence_tasks.statistics.inference.weights import Result, Weighting, ratio, tied, trials


def confidence_correlation(
    correct: ArrayLike, confidence: ArrayLike, *, weights: ArrayLike | None = None
) -> Result:
    """Compute the product-moment correlation of confidence with correctness.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1, 0, or the probability that the answer is right, in [0, 1].
    confidence : array_like, shape (n,)
        Confidence in [0, 1].
    weights : array_like, shape (n,) or (R, n), optional
        How often each trial counts; R rows for R resamples.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [-1, 1]; NaN without trials, and when one of the two is the same in all of them.

    Raises
    ------
    ValueError
        If an input is NaN, outside its range or of the wrong shape.

    References
    ----------
    Pearson (1895), Note on regression and inheritance in the case of two parents, doi:10.1098/rspl.1895.0041.

    Examples
    --------
    >>> round(confidence_correlation([0.1, 0.4, 0.7, 0.9], [0.3, 0.5, 0.6, 0.8]), 6)
    0.983644
    """
    right, stated, weighting = trials(correct, confidence, weights)
    first, second = weighting.centred(right), weighting.centred(stated)
    weighted = weighting.rows * first
    covariance = np.einsum("rn,rn->r", weighted, second)
    variances = (
        np.einsum("rn,rn->r", weighted, first),
        np.einsum("rn,rn,rn->r", weighting.rows, second, second),
    )
    value = np.clip(ratio(covariance, np.sqrt(variances[0]) * np.sqrt(variances[1])), -1.0, 1.0)
    constant = _constant(right, weighting) | _constant(stated, weighting)
    return weighting.settle(value, weighting.empty, (constant, Reason.CONSTANT))


def _constant(column: FloatArray, weighting: Weighting) -> BoolArray:
    """Return whether a row holds a single value."""
    counts = tied(column, weighting).counts if column.shape[0] else np.zeros((weighting.rows.shape[0], 1))
    single: BoolArray = np.count_nonzero(counts, axis=1) < 2
    return single
