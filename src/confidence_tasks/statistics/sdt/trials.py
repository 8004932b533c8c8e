"""Meta-d' from trials: items with two alternatives, and correctness in the place of the stimulus.

The third way, confidence split at one threshold, is in :mod:`confidence_tasks.statistics.sdt.threshold`.
"""

from __future__ import annotations

from typing import Unpack

from numpy.typing import ArrayLike

from confidence_tasks.statistics.inference.weights import Result
from confidence_tasks.statistics.sdt.count_tables import correctness_table, two_choice_table
from confidence_tasks.statistics.sdt.meta_d import MetaDOptions, fit_meta_d


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
