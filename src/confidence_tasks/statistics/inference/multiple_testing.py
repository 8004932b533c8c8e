"""p-values adjusted for the number of contrasts tested, with control of the family-wise error rate."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import FloatArray, as_probability


def bonferroni(p_values: ArrayLike) -> FloatArray:
    """Adjust p-values by Bonferroni's inequality: each times their number, at most 1.

    Parameters
    ----------
    p_values : array_like, shape (m,)
        p-values of one family of tests, in [0, 1], in any order and under any dependence.

    Returns
    -------
    ndarray, shape (m,)
        Adjusted p-values, in the order given. Reject those not above the family-wise error rate.

    Raises
    ------
    ValueError
        If a p-value is missing or outside [0, 1].

    References
    ----------
    Dunn (1961), Multiple comparisons among means, doi:10.1080/01621459.1961.10482090.

    Examples
    --------
    >>> bonferroni([0.01, 0.02, 0.4])
    array([0.03, 0.06, 1.  ])
    """
    p = as_probability(p_values, "p_values")
    return np.minimum(len(p) * p, 1.0)


def holm(p_values: ArrayLike) -> FloatArray:
    """Adjust p-values by Holm's step-down method: never larger than Bonferroni's, with the same guarantee.

    The k-th smallest of m is multiplied by m - k + 1, and raised to the largest adjusted value before it.

    Parameters
    ----------
    p_values : array_like, shape (m,)
        p-values of one family of tests, in [0, 1], in any order and under any dependence.

    Returns
    -------
    ndarray, shape (m,)
        Adjusted p-values, in the order given. Reject those not above the family-wise error rate.

    Raises
    ------
    ValueError
        If a p-value is missing or outside [0, 1].

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6,
    65-70.

    Examples
    --------
    >>> holm([0.01, 0.02, 0.4])
    array([0.03, 0.04, 0.4 ])
    """
    p = as_probability(p_values, "p_values")
    order = np.argsort(p)
    stepped = np.maximum.accumulate(np.arange(len(p), 0, -1) * p[order])
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted
