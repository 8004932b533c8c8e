"""Uncertainty of one answer: from the alternatives to its tokens, and from the similarity of sampled answers.

Functions whose name is a kind of certainty (margin, negentropy, self-certainty, consistency) are higher for surer
answers; the others are higher for less sure ones.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import (
    FloatArray,
    IntArray,
    as_floats,
    as_probability,
    as_vector,
    unmasked,
)

# Tokens ---------------------------------------------------------------------------------------------------------

_ROUNDING = 0.01
"""Tolerance by which a sum of probabilities may exceed 1, as log-probabilities may be rounded to two decimals."""


def token_entropy(probabilities: ArrayLike) -> float:
    r"""Compute the entropy of the distribution of a token from its most probable alternatives.

    The remaining mass m counts as one further alternative: :math:`-\sum p \ln p - m \ln m`. This is a lower bound of
    the entropy.

    Parameters
    ----------
    probabilities : array_like, shape (k,)
        Probabilities of the alternatives that the provider returned, in [0, 1].

    Returns
    -------
    float
        Entropy in nats, 0 or above; NaN without alternatives.

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


def token_margin(probabilities: ArrayLike) -> float:
    """Compute the difference between the two highest probabilities at the position of a token.

    Parameters
    ----------
    probabilities : array_like, shape (k,)
        Probabilities of the token and its alternatives, in [0, 1], in any order.

    Returns
    -------
    float
        From 0 to 1; NaN with fewer than two probabilities.

    Raises
    ------
    ValueError
        If a probability is not in [0, 1].

    References
    ----------
    Farr et al. (2024), Red-CT, arXiv:2408.08217. The mean over tokens is ``probability_margin`` of uqlm.

    Examples
    --------
    >>> round(token_margin([0.2, 0.7, 0.1]), 6)
    0.5
    """
    known = as_probability(probabilities, "probabilities")
    if known.size < 2:
        return float("nan")
    second, first = np.partition(known, -2)[-2:]
    return float(first - second)


def token_negentropy(probabilities: ArrayLike) -> float:
    r"""Compute the normalised negentropy of a token: :math:`1 - H(p) / \ln k`, with listed probabilities scaled to 1.

    Parameters
    ----------
    probabilities : array_like, shape (k,)
        Probabilities of the token and its alternatives, in [0, 1]. The result depends on k: compare answers with the
        same number of alternatives.

    Returns
    -------
    float
        From 0 (all alternatives equally probable) to 1 (one has all the probability); NaN with fewer than two
        probabilities, or if all are 0.

    Raises
    ------
    ValueError
        If a probability is not in [0, 1].

    References
    ----------
    Scalena et al. (2025), EAGer, arXiv:2510.11170; Bouchard & Chauhan (2025), arXiv:2504.19254. The mean over tokens is
    ``mean_token_negentropy`` of uqlm.

    Examples
    --------
    >>> token_negentropy([0.25] * 4), round(token_negentropy([0.9, 0.1]), 4)
    (0.0, 0.531)
    """
    known = as_probability(probabilities, "probabilities")
    total = known.sum()
    if known.size < 2 or total == 0.0:
        return float("nan")
    return max(0.0, 1.0 - _entropy(known / total) / float(np.log(known.size)))


def self_certainty(logprobs: ArrayLike) -> float:
    r"""Compute the self-certainty of a token: :math:`-\frac{1}{k} \sum_i \ln p_i - \ln k`.

    Over a whole vocabulary, this is the Kullback-Leibler divergence of the token's distribution from the uniform one.
    Over the k most probable alternatives, it depends on k: compare answers with the same number of alternatives.

    Parameters
    ----------
    logprobs : array_like, shape (k,)
        Log-probabilities of the token and its alternatives, at most 0 and finite.

    Returns
    -------
    float
        In nats, 0 or above; NaN with fewer than two log-probabilities.

    Raises
    ------
    ValueError
        If a log-probability is above 0, infinite or NaN.

    References
    ----------
    Kang, Zhao & Song (2025), Scalable best-of-N selection for large language models via self-certainty,
    arXiv:2502.18581. The negative mean over tokens is ``SelfCertainty`` of lm-polygraph.

    Examples
    --------
    >>> import math
    >>> round(self_certainty([math.log(0.9), math.log(0.1)]), 4), self_certainty([math.log(0.5)] * 2)
    (0.5108, 0.0)
    """
    values = _as_logprobs(logprobs)
    if values.size < 2:
        return float("nan")
    return float(-values.mean() - np.log(values.size))


def _as_logprobs(values: ArrayLike, name: str = "logprobs") -> FloatArray:
    vector = as_vector(values, name)
    if (vector > 0.0).any():
        raise ValueError(f"{name} must be at most 0, got {vector.max():g}")
    return vector


# Samples --------------------------------------------------------------------------------------------------------


def meaning_clusters(same: ArrayLike) -> IntArray:
    """Cluster answers by meaning: the clusters are the connected components of the pairs with the same meaning.

    Parameters
    ----------
    same : array_like, shape (n, n)
        1 if two answers have the same meaning, otherwise 0. The matrix need not be symmetric; one direction is enough.

    Returns
    -------
    ndarray, shape (n,)
        Cluster of each answer, numbered from 0 in the order of first appearance.

    References
    ----------
    Kuhn, Gal & Farquhar (2023), Semantic uncertainty, arXiv:2302.09664. Their algorithm compares an answer only with
    the first answer of each cluster. The results are equal if "same meaning" is transitive.

    Examples
    --------
    >>> meaning_clusters([[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    array([0, 1, 0])
    """
    pairs = np.asarray(unmasked(same, "same"), dtype=np.bool_)
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
        Label of the cluster of each sampled answer.
    logprobs : array_like, shape (n,), optional
        Log-probability of each sampled answer, as the mean or the sum over tokens. P(c) is then the sum of the
        probabilities of the answers in cluster c, divided by the sum over all answers. By default, P(c) is the
        proportion of answers in cluster c (discrete semantic entropy).

    Returns
    -------
    float
        Entropy in nats, from 0 to ln n; NaN without answers.

    References
    ----------
    Farquhar, Kossen, Kuhn & Gal (2024), Detecting hallucinations in large language models using semantic entropy,
    doi:10.1038/s41586-024-07421-0, equations 3 to 5; for the discrete form see its methods section.

    Examples
    --------
    >>> round(semantic_entropy([0, 0, 1, 1]), 4)
    0.6931
    >>> round(semantic_entropy([0, 0, 1, 1], [-0.1, -0.1, -5.0, -5.0]), 4)
    0.0436
    """
    label = np.asarray(unmasked(clusters, "clusters"))
    values = np.zeros(label.shape) if logprobs is None else as_vector(logprobs, "logprobs")
    if label.shape != values.shape:
        raise ValueError(f"lengths differ: clusters {label.shape}, logprobs {values.shape}")
    if not label.size:
        return float("nan")
    _, number = np.unique(label, return_inverse=True)
    probability = np.exp(values - scipy.special.logsumexp(values))
    return _entropy(np.bincount(number, probability).astype(np.float64))


def monte_carlo_entropy(logprobs: ArrayLike) -> float:
    r"""Estimate the entropy of the distribution of answers from samples: :math:`-\frac{1}{n} \sum_i \ln p(s_i)`.

    Parameters
    ----------
    logprobs : array_like, shape (n,)
        Log-probability of each sampled answer, at most 0. The mean over tokens, in place of the sum, gives the
        length-normalised entropy.

    Returns
    -------
    float
        In nats, 0 or above; NaN without samples.

    Raises
    ------
    ValueError
        If a log-probability is above 0, infinite or NaN.

    References
    ----------
    Malinin & Gales (2021), Uncertainty estimation in autoregressive structured prediction, arXiv:2002.07650;
    Kuhn, Gal & Farquhar (2023), Semantic uncertainty, arXiv:2302.09664.

    Examples
    --------
    >>> monte_carlo_entropy([-1.0, -2.0])
    1.5
    """
    values = _as_logprobs(logprobs)
    return float(-values.mean()) if values.size else float("nan")


def cocoa(logprob: float, similarities: ArrayLike) -> float:
    r"""Compute CoCoA: the uncertainty of an answer, multiplied by its mean dissimilarity from sampled answers.

    .. math:: -\ln p \cdot \frac{1}{n} \sum_i (1 - s_i)

    Parameters
    ----------
    logprob : float
        Log-probability of the answer, at most 0: the sum over its tokens (MSP), or their mean (PPL).
    similarities : array_like, shape (n,)
        Similarity of the answer to each sample, in [0, 1].

    Returns
    -------
    float
        0 or above; 0 if all samples are equal to the answer, whatever its probability; NaN without samples.

    Raises
    ------
    ValueError
        If the log-probability is above 0 or not finite, or a similarity is not in [0, 1].

    References
    ----------
    Vashurin et al. (2025), Uncertainty quantification for LLMs through minimum Bayes risk, arXiv:2502.04964.

    Examples
    --------
    >>> cocoa(-2.0, [1.0, 0.5])
    0.5
    """
    (value,) = _as_logprobs([logprob], "logprob")
    known = as_probability(similarities, "similarities")
    return float(-value * (1.0 - known.mean())) if known.size else float("nan")


def consistency_and_confidence(logprob: float, similarities: ArrayLike) -> float:
    """Compute the probability of an answer, multiplied by its mean similarity to sampled answers.

    Parameters
    ----------
    logprob : float
        Log-probability of the answer, at most 0: the mean over its tokens, or their sum.
    similarities : array_like, shape (n,)
        Similarity of the answer to each sample, in [0, 1].

    Returns
    -------
    float
        From 0 to 1; NaN without samples.

    Raises
    ------
    ValueError
        If the log-probability is above 0 or not finite, or a similarity is not in [0, 1].

    References
    ----------
    Vashurin et al. (2025), arXiv:2502.04964, in the form of ``consistency_and_confidence`` of uqlm.

    Examples
    --------
    >>> import math
    >>> round(consistency_and_confidence(math.log(0.8), [1.0, 0.5]), 6)
    0.6
    """
    (value,) = _as_logprobs([logprob], "logprob")
    known = as_probability(similarities, "similarities")
    return float(np.exp(value) * known.mean()) if known.size else float("nan")


def degree_uncertainty(similarity: ArrayLike) -> float:
    r"""Compute the uncertainty of the degree matrix: 1 minus the mean similarity of two samples, :math:`1 - \bar W`.

    Parameters
    ----------
    similarity : array_like, shape (n, n)
        Similarity of each pair of samples, in [0, 1], with 1 on the diagonal. Both directions are averaged.

    Returns
    -------
    float
        From 0 (all samples equal) to 1 - 1/n (all different); NaN without samples.

    Raises
    ------
    ValueError
        If the matrix is not square, a similarity is not in [0, 1], or the diagonal is not 1.

    References
    ----------
    Lin, Trivedi & Sun (2024), Generating with confidence, arXiv:2305.19187 (Deg).

    Examples
    --------
    >>> degree_uncertainty([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]])
    0.5
    """
    weights = _as_similarity(similarity)
    return float(1.0 - weights.mean()) if weights.size else float("nan")


def eigenvalue_sum(similarity: ArrayLike) -> float:
    r"""Compute the sum of eigenvalues of the graph Laplacian, :math:`\sum_k \max(0, 1 - \lambda_k)`.

    It is the number of meanings, counted in fractions: if similarities are 0 or 1 and those of 1 form cliques, it is
    the number of cliques.

    Parameters
    ----------
    similarity : array_like, shape (n, n)
        Similarity of each pair of samples, as for :func:`degree_uncertainty`.

    Returns
    -------
    float
        1 (all samples equal) or above; n if all are different. NaN without samples.

    Raises
    ------
    ValueError
        As :func:`degree_uncertainty`.

    References
    ----------
    Lin, Trivedi & Sun (2024), arXiv:2305.19187 (EigV).

    Examples
    --------
    >>> round(eigenvalue_sum([[1, 1, 0], [1, 1, 0], [0, 0, 1]]), 6)
    2.0
    """
    affinity = _normalised_affinity(_as_similarity(similarity))
    if not affinity.size:
        return float("nan")
    return float(np.linalg.eigvalsh(affinity).clip(min=0.0).sum())


def eccentricity(similarity: ArrayLike, *, threshold: float = 0.9) -> float:
    """Compute the eccentricity: how far samples lie from their centre, in the space of the graph Laplacian.

    Samples are embedded by the eigenvectors of the Laplacian with an eigenvalue below the threshold. The result is the
    Euclidean norm of all their distances from the mean sample.

    Parameters
    ----------
    similarity : array_like, shape (n, n)
        Similarity of each pair of samples, as for :func:`degree_uncertainty`.
    threshold : float, default 0.9
        Largest eigenvalue of an informative eigenvector, in (0, 1].

    Returns
    -------
    float
        0 (all samples equal) or above; the square root of k - 1 for k cliques of equal samples. NaN without samples.

    Raises
    ------
    ValueError
        As :func:`degree_uncertainty`, or if the threshold is not in (0, 1].

    References
    ----------
    Lin, Trivedi & Sun (2024), arXiv:2305.19187 (Ecc). The threshold is that of lm-polygraph.

    Examples
    --------
    >>> round(eccentricity([[1, 1, 0], [1, 1, 0], [0, 0, 1]]), 6)
    1.0
    """
    if not 0.0 < threshold <= 1.0:
        raise ValueError(f"threshold must lie in (0, 1], got {threshold}")
    affinity = _normalised_affinity(_as_similarity(similarity))
    if not affinity.size:
        return float("nan")
    values, vectors = np.linalg.eigh(affinity)
    embedding = vectors[:, 1.0 - values < threshold]
    return float(np.linalg.norm(embedding - embedding.mean(axis=0)))


def kernel_language_entropy(similarity: ArrayLike, *, time: float = 0.3) -> float:
    """Compute kernel language entropy: the von Neumann entropy of the heat kernel over samples.

    The weight of two samples is the sum of their similarities in both directions, the kernel is exp(-time * Laplacian),
    scaled to a diagonal of 1/n. Divide by ln n for lm-polygraph's ``KernelLanguageEntropy``.

    Parameters
    ----------
    similarity : array_like, shape (n, n)
        Similarity of each pair of samples, as for :func:`degree_uncertainty`: 1 if one entails the other, 0.5 if they
        are neutral, 0 if they contradict each other.
    time : float, default 0.3
        Time of diffusion, above 0; the default is the paper's.

    Returns
    -------
    float
        In nats, from 0 to ln n: the more similar the samples, the lower. NaN without samples.

    Raises
    ------
    ValueError
        As :func:`degree_uncertainty`, or if the time is not above 0.

    References
    ----------
    Nikitin, Kossen, Gal & Marttinen (2024), Kernel language entropy, arXiv:2405.20003.

    Examples
    --------
    >>> import math
    >>> round(kernel_language_entropy([[1, 0], [0, 1]]), 6) == round(math.log(2), 6)
    True
    """
    if not time > 0.0:
        raise ValueError(f"time must be above 0, got {time}")
    weights = 2.0 * _as_similarity(similarity)
    if not weights.size:
        return float("nan")
    kernel = scipy.linalg.expm(-time * (np.diag(weights.sum(axis=1)) - weights))
    scale = np.sqrt(np.diag(kernel))
    eigenvalues = np.linalg.eigvalsh(kernel / np.outer(scale, scale) / len(kernel))
    return _entropy(eigenvalues.clip(min=0.0))


def _as_similarity(values: ArrayLike) -> FloatArray:
    """Return a similarity as a symmetric matrix; ValueError for values out of range or another diagonal than 1."""
    matrix = as_floats(values, "similarity")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"similarity must have shape (n, n), got {matrix.shape}")
    as_probability(matrix.ravel(), "similarity")
    if not (np.diag(matrix) == 1.0).all():
        raise ValueError("similarity must be 1 on the diagonal: a sample is equal to itself")
    return (matrix + matrix.T) / 2.0


def _normalised_affinity(weights: FloatArray) -> FloatArray:
    """Return the identity minus the symmetric normalised Laplacian."""
    degree = weights.sum(axis=1)
    return np.asarray(weights / np.sqrt(np.outer(degree, degree)))


def _entropy(probabilities: FloatArray) -> float:
    return max(0.0, -float(scipy.special.xlogy(probabilities, probabilities).sum()))
