"""Meta-d' and M-ratio of trials: of two-alternative tasks, and with correctness in the place of the stimulus."""

from __future__ import annotations

from typing import Unpack

from numpy.typing import ArrayLike

from confidence_tasks.statistics.inference.weights import Result, Weights
from confidence_tasks.statistics.sdt.count_tables import Padding, correctness_table, two_choice_table
from confidence_tasks.statistics.sdt.meta_d import MetaDOptions, fit_meta_d
from confidence_tasks.statistics.sdt.sensitivity import type1


def meta_d_2afc(
    correct: ArrayLike,
    confidence: ArrayLike,
    stimulus: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    weights: Weights = None,
    **options: Unpack[MetaDOptions],
) -> Result:
    """Compute meta-d' of a two-alternative task, such as true or false, from trials.

    This is the standard meta-d' of the literature: d' is computed from stimulus and response, meta-d' from the ratings.

    Parameters
    ----------
    correct, confidence, stimulus, n_ratings, edges, weights
        As in :func:`two_choice_table`.
    **options
        ``padding``, ``s``, ``criterion``, ``response``, ``compat`` of :func:`fit_meta_d`.

    Returns
    -------
    Estimate, or ndarray of shape (R,)
        Meta-d'; NaN in the cases listed at :func:`fit_meta_d`. For d', criteria and standard errors, pass the result of
        :func:`two_choice_table` to :func:`fit_meta_d`.

    Examples
    --------
    >>> correct, confidence, stimulus = [1, 1, 1, 0, 1, 0, 1, 1], [4, 3, 2, 1, 2, 3, 4, 3], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> round(meta_d_2afc(correct, confidence, stimulus, n_ratings=2, edges=[2.5]), 3)
    0.746
    """
    table = two_choice_table(correct, confidence, stimulus, n_ratings=n_ratings, edges=edges, weights=weights)
    return fit_meta_d(*table, **options).meta_d


def d_prime_2afc(
    correct: ArrayLike,
    confidence: ArrayLike,
    stimulus: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    padding: Padding = "1/2K",
    weights: Weights = None,
) -> Result:
    """Compute d' of a two-alternative task, the denominator of :func:`m_ratio_2afc`.

    Arguments and shapes are those of :func:`meta_d_2afc`. The result does not depend on confidence.

    Examples
    --------
    >>> correct, confidence, stimulus = [1, 1, 1, 0, 1, 0, 1, 1], [4, 3, 2, 1, 2, 3, 4, 3], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> round(d_prime_2afc(correct, confidence, stimulus, n_ratings=2, edges=[2.5]), 3)
    1.049
    """
    table = two_choice_table(correct, confidence, stimulus, n_ratings=n_ratings, edges=edges, weights=weights)
    return type1(*table, padding=padding).d_prime


def m_ratio_2afc(
    correct: ArrayLike,
    confidence: ArrayLike,
    stimulus: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    weights: Weights = None,
    **options: Unpack[MetaDOptions],
) -> Result:
    """Compute M-ratio, meta-d' / d', of a two-alternative task.

    Arguments and shapes are those of :func:`meta_d_2afc`. The result is NaN if meta-d' is not defined or d' is 0, and
    unstable if d' is near 0.

    Examples
    --------
    >>> correct, confidence, stimulus = [1, 1, 1, 0, 1, 0, 1, 1], [4, 3, 2, 1, 2, 3, 4, 3], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> round(m_ratio_2afc(correct, confidence, stimulus, n_ratings=2, edges=[2.5]), 3)
    0.711
    """
    table = two_choice_table(correct, confidence, stimulus, n_ratings=n_ratings, edges=edges, weights=weights)
    return fit_meta_d(*table, **options).m_ratio


def meta_d_ratings(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    weights: Weights = None,
    **options: Unpack[MetaDOptions],
) -> Result:
    """Compute meta-d' with correctness in the place of the stimulus; only for replication.

    .. warning::
       Here d' and meta-d' are computed from the same table of correctness and confidence, with high confidence in the
       place of the response. So meta-d' is close to d' by construction: M-ratio is near 1 whatever the metacognition,
       and depends on the base rate and the ratio of variances only. Cacioli (2026), who introduced it, withdrew it
       (arXiv:2603.25112, version 2). This function replicates version 1, section 3.2. Use :func:`meta_information`
       instead.

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
        Meta-d'; NaN in the cases listed at :func:`fit_meta_d`.

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
    weights: Weights = None,
    **options: Unpack[MetaDOptions],
) -> Result:
    """Compute M-ratio with correctness in the place of the stimulus; only for replication.

    .. warning::
       M-ratio is near 1 by construction, whatever the metacognition: see :func:`meta_d_ratings`.

    Arguments and shapes are those of :func:`meta_d_ratings`. The result is NaN if meta-d' is not defined or d' is 0,
    and unstable if d' is near 0.

    Examples
    --------
    >>> correct = [0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    >>> round(m_ratio_ratings(correct, range(16), n_ratings=2), 3)
    0.957
    """
    table = correctness_table(correct, confidence, n_ratings=n_ratings, edges=edges, weights=weights)
    return fit_meta_d(*table, **options).m_ratio
