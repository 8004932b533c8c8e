"""Meta-d' from trials: items with two alternatives, and correctness in the place of the stimulus.

The third way, confidence split at one threshold, is in :mod:`confidence_tasks.statistics.sdt.threshold`.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confidence_tasks.statistics.core import FloatArray, as_binary, as_vector, same_length
from confidence_tasks.statistics.inference.weights import Result, Weighting
from confidence_tasks.statistics.sdt.count_tables import CountTable, binned_counts, correctness_table
from confidence_tasks.statistics.sdt.meta_d import MetaDOptions, fit_meta_d


def two_choice_table(
    correct: ArrayLike,
    confidence: ArrayLike,
    stimulus: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> CountTable:
    """Count trials with two alternatives by stimulus, response and confidence bin.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1 or 0.
    confidence : array_like, shape (n,)
        Any real number, such as a probability.
    stimulus : array_like, shape (n,)
        Which alternative was right: 0 (S1) or 1 (S2). The response follows from it and ``correct``.
    n_ratings : int, default 4
        Number of confidence bins K.
    edges : array_like, shape (K - 1,), optional
        Inner bin edges, ascending; a value on an edge goes up. By default the quantiles i/K of all confidences,
        taken anew under each row of weights.
    weights : array_like, shape (n,) or (R, n), optional
        How often each trial counts; a row per resample gives a table per resample.

    Returns
    -------
    nR_S1, nR_S2 : ndarray, shape (2K,) or (R, 2K)

    Raises
    ------
    ValueError
        If lengths differ, a value is missing, or the edges are too many, too few or not ascending.

    Examples
    --------
    >>> two_choice_table([1, 1, 0, 1], [0.9, 0.6, 0.5, 0.8], [0, 1, 1, 1], n_ratings=2, edges=[0.7])
    (array([1., 0., 0., 0.]), array([0., 1., 1., 1.]))
    """
    sure, label = as_vector(confidence, "confidence"), label_cells(correct, stimulus)
    weighting = Weighting.of(weights, same_length(correct=label, confidence=sure))
    if n_ratings < 1:
        raise ValueError(f"n_ratings must be at least 1, got {n_ratings}")
    s1, s2 = fold_responses(binned_counts(label, sure, 4, n_ratings, edges, weighting))
    return (s1, s2) if weighting.batch else (s1[0], s2[0])


def label_cells(correct: ArrayLike, stimulus: ArrayLike) -> NDArray[np.intp]:
    """Number the cells of stimulus x response: 2 x stimulus + response."""
    right, shown = as_binary(correct, "correct"), as_binary(stimulus, "stimulus")
    same_length(correct=right, stimulus=shown)
    label: NDArray[np.intp] = (2 * shown + (right == shown)).astype(np.intp)
    return label


def fold_responses(counts: FloatArray) -> CountTable:
    """Turn counts (R, 4, K) by cell of :func:`label_cells` and rising confidence into count tables (R, 2K)."""
    s1, s2 = (
        np.concatenate([counts[:, 2 * shown, ::-1], counts[:, 2 * shown + 1]], axis=1) for shown in (0, 1)
    )
    return s1, s2


def meta_d_2afc(
    correct: ArrayLike,
    confidence: ArrayLike,
    stimulus: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    **options: Unpack[MetaDOptions],
) -> Result:
    """Compute meta-d' of items with two alternatives, such as true and false.

    The full fit to stimulus x response x rating, and the only textbook meta-d' among those offered here: d' and
    meta-d' come from different parts of the data.

    Parameters
    ----------
    correct, confidence, stimulus, n_ratings, edges, weights
        As in :func:`two_choice_table`.
    **options
        ``padding``, ``s``, ``criterion``, ``response``, ``compat`` of :func:`fit_meta_d`.

    Returns
    -------
    Estimate, or ndarray of shape (R,)
        NaN where :func:`fit_meta_d` has no meta-d'. For d', criteria and standard errors call it with
        :func:`two_choice_table`.

    Raises
    ------
    ValueError
        If lengths differ, a value is missing, or an option is unknown.

    Examples
    --------
    >>> correct, confidence, stimulus = [1, 1, 1, 0, 1, 0, 1, 1], [4, 3, 2, 1, 2, 2, 4, 3], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> round(meta_d_2afc(correct, confidence, stimulus, n_ratings=2, edges=[2.5]), 3)
    2.081
    """
    table = two_choice_table(correct, confidence, stimulus, n_ratings=n_ratings, edges=edges, weights=weights)
    return fit_meta_d(*table, **options).meta_d


def m_ratio_2afc(
    correct: ArrayLike,
    confidence: ArrayLike,
    stimulus: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    **options: Unpack[MetaDOptions],
) -> Result:
    """Compute meta-d' / d' of items with two alternatives, such as true and false.

    Parameters
    ----------
    correct, confidence, stimulus, n_ratings, edges, weights
        As in :func:`two_choice_table`.
    **options
        ``padding``, ``s``, ``criterion``, ``response``, ``compat`` of :func:`fit_meta_d`.

    Returns
    -------
    Estimate, or ndarray of shape (R,)
        NaN where there is no meta-d' or d' is 0; unstable where d' is near 0.

    Raises
    ------
    ValueError
        If lengths differ, a value is missing, or an option is unknown.

    Examples
    --------
    >>> correct, confidence, stimulus = [1, 1, 1, 0, 1, 0, 1, 1], [4, 3, 2, 1, 2, 2, 4, 3], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> round(m_ratio_2afc(correct, confidence, stimulus, n_ratings=2, edges=[2.5]), 3)
    1.984
    """
    table = two_choice_table(correct, confidence, stimulus, n_ratings=n_ratings, edges=edges, weights=weights)
    return fit_meta_d(*table, **options).m_ratio


def meta_d_ratings(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    **options: Unpack[MetaDOptions],
) -> Result:
    """Compute meta-d' with correctness in the place of the stimulus.

    .. warning::
       d' and meta-d' then come from one table of correctness x confidence, in which the "response" is high
       confidence. Meta-d' is about d' by construction: M-ratio is near 1 whatever the metacognition, and what
       moves it is the base rate and the ratio of variances. The author of the study that used it withdrew it
       (arXiv:2603.25112, version 2). It is here to replicate version 1; use :func:`meta_information`.

    Parameters
    ----------
    correct, confidence, n_ratings, edges, weights
        As in :func:`correctness_table`: 2K bins of confidence.
    **options
        ``padding``, ``s``, ``criterion``, ``response``, ``compat`` of :func:`fit_meta_d`. The study pads with
        0.5 (``"hautus"``).

    Returns
    -------
    Estimate, or ndarray of shape (R,)
        NaN where :func:`fit_meta_d` has no meta-d'.

    Raises
    ------
    ValueError
        If lengths differ, a value is missing, or an option is unknown.

    References
    ----------
    Cacioli (2026), arXiv:2603.25112, version 1, section 3.2.

    Examples
    --------
    >>> correct = [0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    >>> round(meta_d_ratings(correct, range(16), n_ratings=2), 3)
    1.21
    """
    table = correctness_table(correct, confidence, n_ratings=n_ratings, edges=edges, weights=weights)
    return fit_meta_d(*table, **options).meta_d


def m_ratio_ratings(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    **options: Unpack[MetaDOptions],
) -> Result:
    """Compute meta-d' / d' with correctness in the place of the stimulus.

    .. warning::
       Near 1 by construction, whatever the metacognition: see :func:`meta_d_ratings`. For replication only.

    Parameters
    ----------
    correct, confidence, n_ratings, edges, weights
        As in :func:`correctness_table`: 2K bins of confidence.
    **options
        ``padding``, ``s``, ``criterion``, ``response``, ``compat`` of :func:`fit_meta_d`.

    Returns
    -------
    Estimate, or ndarray of shape (R,)
        NaN where there is no meta-d' or d' is 0; unstable where d' is near 0.

    Raises
    ------
    ValueError
        If lengths differ, a value is missing, or an option is unknown.

    References
    ----------
    Cacioli (2026), arXiv:2603.25112, version 1, section 3.2.

    Examples
    --------
    >>> correct = [0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    >>> round(m_ratio_ratings(correct, range(16), n_ratings=2), 3)
    0.957
    """
    table = correctness_table(correct, confidence, n_ratings=n_ratings, edges=edges, weights=weights)
    return fit_meta_d(*table, **options).m_ratio
