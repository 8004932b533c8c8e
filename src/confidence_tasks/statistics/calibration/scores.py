"""Proper scoring rules and their decompositions: Brier score, log loss, Murphy, CORP, Spiegelhalter's z."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.calibration.binning import Binning, Bins, Edges
from confidence_tasks.statistics.core import FloatArray, Reason
from confidence_tasks.statistics.inference.weights import Result, Tied, Weights, ratio, tied, trials


@dataclass(frozen=True, slots=True)
class MurphyDecomposition:
    """Murphy's decomposition: the Brier score equals ``reliability - resolution + uncertainty + within_bin``.

    Attributes
    ----------
    reliability : Estimate or ndarray, shape (R,)
        Mean squared difference between mean confidence and accuracy over bins; 0 for perfect calibration. Its square
        root is the RMS calibration error.
    resolution : Estimate or ndarray, shape (R,)
        Variance of accuracy between bins; 0 if confidence is uninformative.
    uncertainty : Estimate or ndarray, shape (R,)
        accuracy * (1 - accuracy): the Brier score of a confidence that always equals the accuracy.
    within_bin : Estimate or ndarray, shape (R,)
        Variance and covariance within bins; 0 if all confidences in each bin are equal.
    """

    reliability: Result
    resolution: Result
    uncertainty: Result
    within_bin: Result


@dataclass(frozen=True, slots=True)
class CorpDecomposition:
    """CORP decomposition: the Brier score equals ``miscalibration - discrimination + uncertainty``.

    Attributes
    ----------
    miscalibration : Estimate or ndarray, shape (R,)
        Brier score minus that of the isotonically recalibrated confidence, 0 or above.
    discrimination : Estimate or ndarray, shape (R,)
        ``uncertainty`` minus the Brier score of the recalibrated confidence, 0 or above.
    uncertainty : Estimate or ndarray, shape (R,)
        accuracy * (1 - accuracy).
    """

    miscalibration: Result
    discrimination: Result
    uncertainty: Result


def brier(correct: ArrayLike, confidence: ArrayLike, *, weights: Weights = None) -> Result:
    """Compute the Brier score, the mean of (confidence - correct) squared.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1, 0, or the probability that the answer is right, in [0, 1]. For a probability p and a confidence c, the
        expected score p (1 - c)^2 + (1 - p) c^2 is used. Its minimum, at c = p, is p (1 - p) and not 0.
    confidence, weights
        As in :func:`~confidence_tasks.statistics.ece`.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1]; lower is better. NaN without trials.

    References
    ----------
    Brier (1950), doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2; here half the original score, as is usual for
    two outcomes.

    Examples
    --------
    >>> brier([1, 0], [0.5, 1.0])
    0.625
    """
    right, stated, weighting = trials(correct, confidence, weights)
    return weighting.average(_brier_terms(right, stated))


def log_loss(
    correct: ArrayLike, confidence: ArrayLike, *, clip: float = 0.0, weights: Weights = None
) -> Result:
    """Compute the logarithmic score, the negative mean log-likelihood of the outcomes.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1, 0, or the probability that the answer is right, in [0, 1], for which the expected score is used.
    confidence, weights
        As in :func:`brier`.
    clip : float, default 0
        Clip confidence to [clip, 1 - clip] first; in [0, 0.5). Without clipping, one wrong answer at confidence 1
        makes the score infinite.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In nats, 0 or above; lower is better. NaN without trials.

    References
    ----------
    Good (1952), Rational decisions, doi:10.1111/j.2517-6161.1952.tb00104.x.

    Examples
    --------
    >>> round(log_loss([1, 0], [0.5, 0.5]), 6)
    0.693147
    >>> log_loss([0], [1.0])
    inf
    """
    if not 0.0 <= clip < 0.5:
        raise ValueError(f"clip must lie in [0, 0.5), got {clip}")
    right, stated, weighting = trials(correct, confidence, weights)
    stated = np.clip(stated, clip, 1.0 - clip)
    likelihood = scipy.special.xlogy(right, stated) + scipy.special.xlog1py(1.0 - right, -stated)
    return weighting.average(np.asarray(-likelihood, dtype=np.float64))


def murphy_decomposition(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    bins: int | None = None,
    binning: Binning = "equal_width",
    edges: Edges = "right_closed",
    weights: Weights = None,
) -> MurphyDecomposition:
    """Decompose the Brier score into reliability, resolution and uncertainty over bins of confidence.

    Parameters
    ----------
    correct, confidence, weights
        As in :func:`brier`.
    bins : int or None, default None
        Number of bins. By default every distinct confidence has its own bin, as in Murphy's paper.
    binning, edges
        As in :func:`~confidence_tasks.statistics.ece`; ignored if ``bins`` is None.

    Returns
    -------
    MurphyDecomposition
        The terms, which add up to :func:`brier` exactly. They are NaN without trials.

    References
    ----------
    Murphy (1973), doi:10.1175/1520-0450(1973)012<0595:ANVPOT>2.0.CO;2. Stephenson, Coelho & Jolliffe (2008),
    doi:10.1175/2007WAF2006116.1, for the two within-bin terms; ``within_bin`` is their sum.

    Examples
    --------
    >>> parts = murphy_decomposition([1, 1, 0, 0], [0.75, 0.75, 0.75, 0.25])
    >>> round(parts.reliability, 6), round(parts.resolution, 6), parts.uncertainty
    (0.020833, 0.083333, 0.25)
    """
    right, stated, weighting = trials(correct, confidence, weights)
    if bins is None:
        groups = tied(stated, weighting, right)
        count, hits = groups.counts, groups.sums[0]
        mean = np.broadcast_to(groups.values, count.shape)
    else:
        count, hits, total = Bins(bins, binning, edges).sums(
            stated, weighting, np.ones_like(stated), right, stated
        )
        mean = ratio(total, count, otherwise=0.0)
    accuracy = ratio(hits, count, otherwise=0.0)
    overall = weighting.mean(right)
    n = weighting.total
    reliability = ratio((count * (mean - accuracy) ** 2).sum(axis=1), n)
    resolution = ratio((count * (accuracy - overall[:, None]) ** 2).sum(axis=1), n)
    uncertainty = overall * (1.0 - overall)
    score = weighting.mean(_brier_terms(right, stated))
    within = np.zeros_like(score) if bins is None else score - (reliability - resolution + uncertainty)
    return MurphyDecomposition(
        *(weighting.settle(part) for part in (reliability, resolution, uncertainty, within))
    )


def corp_decomposition(
    correct: ArrayLike, confidence: ArrayLike, *, weights: Weights = None
) -> CorpDecomposition:
    """Decompose the Brier score by isotonic regression of correctness on confidence, without bins.

    Arguments are those of :func:`brier`. The terms add up to the Brier score exactly. They are NaN without trials.

    References
    ----------
    Dimitriadis, Gneiting & Jordan (2021), Stable reliability diagrams for probabilistic classifiers,
    doi:10.1073/pnas.2016191118, eqs. 2-4.

    Examples
    --------
    >>> parts = corp_decomposition([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8])
    >>> round(parts.miscalibration, 12), round(parts.discrimination, 12), parts.uncertainty
    (0.075, 0.125, 0.25)
    """
    right, stated, weighting = trials(correct, confidence, weights)
    squares = _isotonic_squares(tied(stated, weighting, right))
    overall = weighting.mean(right)
    # The Brier score of the recalibrated confidence is the accuracy minus the mean square of this confidence.
    recalibrated = overall - ratio(squares, weighting.total)
    uncertainty = overall * (1.0 - overall)
    score = weighting.mean(_brier_terms(right, stated))
    parts = (score - recalibrated, uncertainty - recalibrated, uncertainty)
    return CorpDecomposition(*(weighting.settle(part) for part in parts))


def spiegelhalter_z(correct: ArrayLike, confidence: ArrayLike, *, weights: Weights = None) -> Result:
    r"""Compute Spiegelhalter's z, the Brier score standardized under the hypothesis of perfect calibration.

    :math:`z = \sum (y - c)(1 - 2c) / \sqrt{\sum (1 - 2c)^2 c (1 - c)}` is asymptotically standard normal under perfect
    calibration.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1 or 0.
    confidence, weights
        As in :func:`brier`.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        Positive if the Brier score is worse than expected under calibration. The two-sided p-value is
        ``2 * scipy.special.ndtr(-abs(z))``. NaN without trials, or if every confidence is 0, 0.5 or 1, as the score
        then has no variance under calibration.

    References
    ----------
    Spiegelhalter (1986), Probabilistic prediction in patient management and clinical trials,
    doi:10.1002/sim.4780050506.

    Examples
    --------
    >>> round(spiegelhalter_z([0, 0, 1, 1], [0.8, 0.8, 0.8, 0.8]), 12)
    1.5
    """
    right, stated, weighting = trials(correct, confidence, weights, binary=True)
    factor = 1.0 - 2.0 * stated
    variance = weighting.rows @ (factor**2 * stated * (1.0 - stated))
    z = ratio(weighting.rows @ ((right - stated) * factor), np.sqrt(variance))
    return weighting.settle(z, (variance == 0.0, Reason.NOT_IDENTIFIED))


def _brier_terms(correct: FloatArray, confidence: FloatArray) -> FloatArray:
    """Return the Brier score of each trial, or its expectation if ``correct`` is a probability."""
    return (confidence - correct) ** 2 + correct * (1.0 - correct)


def _isotonic_squares(groups: Tied) -> FloatArray:
    """Return the sum of squares of the isotonic fit in each row, shape (R,).

    A single regression fits all rows: 2r is added to the accuracies of row r, so no block can span two rows.
    """
    row, group = np.nonzero(groups.counts)
    if row.size == 0:
        return np.zeros(groups.counts.shape[0])
    count, hits = groups.counts[row, group], groups.sums[0][row, group]
    blocks = scipy.optimize.isotonic_regression(hits / count + 2.0 * row, weights=count).blocks[:-1]
    squares = np.add.reduceat(hits, blocks) ** 2 / np.add.reduceat(count, blocks)
    total = np.bincount(row[blocks], squares, minlength=groups.counts.shape[0])
    return total.astype(np.float64, copy=False)
