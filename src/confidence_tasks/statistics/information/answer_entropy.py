"""Entropy of what a model could have answered: over the tokens of one answer, and over the meanings of several."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import FloatArray, IntArray, as_probability, as_vector

_ROUNDING = 0.01
"""By so much may probabilities add up to more than 1: their logarithms may have two decimals."""


def token_entropy(probabilities: ArrayLike) -> float:
    r"""Compute the entropy of one token's distribution from the most probable alternatives.

    The mass that is missing to 1 counts as one further alternative: :math:`-\sum p \ln p - m \ln m`, which is the least
    that the entropy can be.

    Parameters
    ----------
    probabilities : array_like, shape (k,)
        Probability of each alternative that the provider returned, in [0, 1].

    Returns
    -------
    float
        In nats, 0 or above; NaN without alternatives.

    References
    ----------
    Malinin & Gales (2021), Uncertainty estimation in autoregressive structured prediction, arXiv:2002.07650, section 3.

    Examples
    --------
    >>> round(token_entropy([0.5, 0.5]), 4), round(token_entropy([0.5, 0.25]), 4)
    (0.6931, 1.0397)
    """
    known = as_probability(probabilities, "probabilities")
    total = known.sum()
    if total > 1.0 + _ROUNDING:
        raise ValueError(f"probabilities must add up to at most 1, got {total:g}")
    if not known.size:
        return float("nan")
    return _entropy(np.append(known, max(1.0 - total, 0.0)))


def meaning_clusters(same: ArrayLike) -> IntArray:
    """Group answers by meaning: two share a cluster when a chain of pairs that mean the same joins them.

    Parameters
    ----------
    same : array_like, shape (n, n)
        Whether the answers of a pair mean the same, as 1 or 0; one direction is enough.

    Returns
    -------
    ndarray, shape (n,)
        Number of each answer's cluster, from 0 in the order in which clusters first appear.

    References
    ----------
    Kuhn, Gal & Farquhar (2023), Semantic uncertainty, arXiv:2302.09664. Their algorithm compares an answer with the
    first of each cluster only; the two agree wherever meaning the same is transitive.

    Examples
    --------
    >>> meaning_clusters([[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    array([0, 1, 0])
    """
    pairs = np.asarray(same, dtype=np.bool_)
    if pairs.ndim != 2 or pairs.shape[0] != pairs.shape[1]:
        raise ValueError(f"same must have shape (n, n), got {pairs.shape}")
    _, component = scipy.sparse.csgraph.connected_components(pairs, directed=True, connection="weak")
    _, first, number = np.unique(component, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[number], dtype=np.int64)


def semantic_entropy(clusters: ArrayLike, logprobs: ArrayLike | None = None) -> float:
    r"""Compute the entropy over clusters of equal meaning: :math:`-\sum_c P(c) \ln P(c)`.

    Parameters
    ----------
    clusters : array_like, shape (n,)
        Label of each sampled answer's cluster.
    logprobs : array_like, shape (n,), optional
        Log-probability of each sampled answer, as a mean over its tokens or as their sum: P(c) is then the share of the
        answers' probabilities that falls on the cluster. By default, the discrete form, it is the share of the answers.

    Returns
    -------
    float
        In nats, from 0 to ln n; NaN without answers.

    References
    ----------
    Farquhar, Kossen, Kuhn & Gal (2024), Detecting hallucinations in large language models using semantic entropy,
    doi:10.1038/s41586-024-07421-0, equations 3 to 5, and the discrete form of its methods.

    Examples
    --------
    >>> round(semantic_entropy([0, 0, 1, 1]), 4)
    0.6931
    >>> round(semantic_entropy([0, 0, 1, 1], [-0.1, -0.1, -5.0, -5.0]), 4)
    0.0436
    """
    label = np.asarray(clusters)
    values = np.zeros(label.shape) if logprobs is None else as_vector(logprobs, "logprobs")
    if label.shape != values.shape:
        raise ValueError(f"lengths differ: clusters {label.shape}, logprobs {values.shape}")
    if not label.size:
        return float("nan")
    _, number = np.unique(label, return_inverse=True)
    share = np.exp(values - scipy.special.logsumexp(values))
    return _entropy(np.bincount(number, share).astype(np.float64))


def _entropy(probabilities: FloatArray) -> float:
    return max(0.0, -float(scipy.special.xlogy(probabilities, probabilities).sum()))
