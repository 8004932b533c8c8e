"""Calibration errors: ECE and its variants, its bias and noise floor; overconfidence and its relation to difficulty."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.calibration.binning import Binning, Bins, Edges, folded_normal_mean
from confidence_tasks.statistics.core import (
    BoolArray,
    FloatArray,
    Reason,
    as_probability,
    as_vector,
    decreasing_root,
    same_length,
)
from confidence_tasks.statistics.inference.weights import Result, Weighting, Weights, ratio, tied, trials


def ece(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    bins: int = 10,
    binning: Binning = "equal_width",
    edges: Edges = "right_closed",
    weights: Weights = None,
) -> Result:
    r"""Compute the expected calibration error.

    The ECE is the mean absolute difference between accuracy and mean confidence over bins of confidence, weighted by
    the number of trials in the bin: :math:`\mathrm{ECE} = \sum_b \frac{n_b}{n} |\mathrm{acc}_b - \mathrm{conf}_b|`.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1, 0, or the probability that the answer is right, in [0, 1].
    confidence : array_like, shape (n,)
        Confidence in [0, 1].
    bins : int, default 10
        Number of bins B.
    binning : {"equal_width", "equal_mass"}, default "equal_width"
        Bins of width 1/B, or bins that end at the quantiles 1/B, 2/B, ... of confidence. A quantile is the smallest
        value with at least this mass at or below it, so tied trials always share a bin.
    edges : {"right_closed", "left_closed", "extra_bin"}, default "right_closed"
        Bin of a confidence on an edge. ``"right_closed"``: bins ((b-1)/B, b/B], with 0 in the first one.
        ``"left_closed"``: bins [(b-1)/B, b/B), with 1 in the last one. ``"extra_bin"``: left-closed bins, with an extra
        bin, number B + 1, for confidence 1; only for bins of equal width.
    weights : array_like, shape (n,) or (R, n), optional
        Frequency weight of each trial; one row per resample.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1]; 0 for perfect calibration. NaN without trials.

    Notes
    -----
    A confidence within 1e-12 of an edge counts as on the edge, so that 0.3 and 0.1 + 0.2 share a bin. The rounding
    error of single precision exceeds this tolerance.

    References
    ----------
    Naeini, Cooper & Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian binning,
    doi:10.1609/aaai.v29i1.9602. Guo et al. (2017), arXiv:1706.04599, eq. 3, for the right-closed bins. Nixon et
    al. (2019), arXiv:1904.01685, for bins of equal mass.

    Examples
    --------
    >>> round(ece([1, 1, 0, 1], [0.9, 0.9, 0.9, 0.5]), 12)
    0.3
    >>> ece([1, 0], [0.0, 1.0], edges="extra_bin")
    1.0
    """
    right, stated, weighting = trials(correct, confidence, weights)
    (excess,) = Bins(bins, binning, edges).sums(stated, weighting, stated - right)
    return weighting.settle(ratio(np.abs(excess).sum(axis=1), weighting.total))


def mce(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    bins: int = 10,
    binning: Binning = "equal_width",
    edges: Edges = "right_closed",
    weights: Weights = None,
) -> Result:
    r"""Compute the maximum calibration error, :math:`\max_b |\mathrm{acc}_b - \mathrm{conf}_b|` over occupied bins.

    Arguments and shapes are those of :func:`ece`. The result lies in [0, 1]. It is NaN without trials. A bin with a
    single trial can determine it.

    Examples
    --------
    >>> mce([1, 1, 0, 1], [0.9, 0.9, 0.9, 0.5])
    0.5
    """
    right, stated, weighting = trials(correct, confidence, weights)
    count, excess = Bins(bins, binning, edges).sums(stated, weighting, np.ones_like(stated), stated - right)
    gaps = ratio(np.abs(excess), count, otherwise=0.0)
    return weighting.settle(gaps.max(axis=1))


def debiased_ece(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    bins: int = 10,
    binning: Binning = "equal_width",
    edges: Edges = "right_closed",
    weights: Weights = None,
) -> Result:
    r"""Compute the expected calibration error, corrected for its sampling bias.

    Sampling error of the accuracies increases the mean absolute difference. The accuracy of bin b is assumed to be
    normal with standard error :math:`s_b = \sqrt{\mathrm{acc}_b (1 - \mathrm{acc}_b) / n_b}`. The bias is estimated as
    the expected ECE of a new sample from the observed bins minus the observed ECE, and is subtracted:
    :math:`2\,\mathrm{ECE} - \sum_b \frac{n_b}{n} E|N(\mathrm{acc}_b - \mathrm{conf}_b, s_b^2)|`.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1 or 0. For probabilities, which have no sampling error of this kind, use :func:`ece`.
    confidence, bins, binning, edges, weights
        As in :func:`ece`.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        At most the ECE. It can be negative if the ECE is smaller than its bias. NaN without trials.

    Notes
    -----
    The reference estimates the expectation by simulation. Here it is computed exactly, as the mean of a folded normal
    distribution.

    References
    ----------
    Kumar, Liang & Ma (2019), Verified uncertainty calibration, arXiv:1909.10155, and its library
    `uncertainty-calibration`, for the absolute error. Roelofs et al. (2022), arXiv:2012.08668, on the bias.

    Examples
    --------
    >>> right, stated = [1, 1, 1, 0, 1, 0, 1, 1], [0.9] * 4 + [0.6] * 4
    >>> round(ece(right, stated), 6), round(debiased_ece(right, stated), 6)
    (0.15, 0.087376)
    """
    right, stated, weighting = trials(correct, confidence, weights, binary=True)
    count, hits, excess = Bins(bins, binning, edges).sums(
        stated, weighting, np.ones_like(stated), right, stated - right
    )
    deviation = np.sqrt(ratio(hits * np.maximum(count - hits, 0.0), count, otherwise=0.0))
    bias = (folded_normal_mean(excess, deviation) - np.abs(excess)).sum(axis=1)
    value = ratio(np.abs(excess).sum(axis=1) - bias, weighting.total)
    return weighting.settle(value)


def ece_noise_floor(
    confidence: ArrayLike,
    *,
    bins: int = 10,
    binning: Binning = "equal_width",
    edges: Edges = "right_closed",
    weights: Weights = None,
) -> Result:
    r"""Compute the mean of the expected calibration error under perfect calibration, given the confidences.

    This is the expected value of :func:`ece` if every trial is right with the stated probability. An ECE near it is no
    evidence of miscalibration.

    Arguments and shapes are those of :func:`ece`, without ``correct``. The result is positive unless every confidence
    is 0 or 1. It is NaN without trials.

    Notes
    -----
    If all confidences in a bin are equal, the number of right answers is binomial and its mean absolute deviation is
    given by de Moivre's formula. Otherwise that of the binomial distribution with the mean confidence is scaled to the
    variance of the bin. The result is then exact in the limit of large bins, and within 3% for small bins of width 0.1.
    It is too large for a bin of few trials whose confidences differ widely.

    References
    ----------
    Diaconis & Zabell (1991), Closed form summation for classical distributions, doi:10.1214/ss/1177011699.

    Examples
    --------
    >>> round(ece_noise_floor([0.5, 0.5]), 12)
    0.25
    >>> ece_noise_floor([0.0, 1.0])
    0.0
    """
    stated = as_probability(confidence, "confidence")
    weighting = Weighting.of(weights, stated.shape[0])
    count, expected, variance = Bins(bins, binning, edges).sums(
        stated, weighting, np.ones_like(stated), stated, stated * (1.0 - stated)
    )
    mean = ratio(expected, count, otherwise=0.0)
    scale = np.sqrt(ratio(variance, count * mean * (1.0 - mean), otherwise=0.0))
    floor = (_binomial_mean_deviation(count, mean) * scale).sum(axis=1)
    return weighting.settle(ratio(floor, weighting.total))


def overconfidence(correct: ArrayLike, confidence: ArrayLike, *, weights: Weights = None) -> Result:
    """Compute mean confidence minus accuracy.

    Arguments and shapes are those of :func:`ece`. The result lies in [-1, 1] and is positive for an overconfident
    subject. It is NaN without trials.

    References
    ----------
    Lichtenstein, Fischhoff & Phillips (1982), Calibration of probabilities: the state of the art to 1980,
    doi:10.1017/CBO9780511809477.023.

    Examples
    --------
    >>> overconfidence([1, 0], [0.75, 0.75])
    0.25
    """
    right, stated, weighting = trials(correct, confidence, weights)
    return weighting.average(stated - right)


def _binomial_mean_deviation(count: FloatArray, probability: FloatArray) -> FloatArray:
    """Return E|K - np| for K ~ Binomial(n, p); 0 if p is 0 or 1, or n is 0."""
    constant = (probability <= 0.0) | (probability >= 1.0) | (count <= 0.0)
    n, p = np.where(constant, 1.0, count), np.where(constant, 0.5, probability)
    below = np.floor(n * p)
    log_mean = (
        scipy.special.xlogy(below + 1.0, p)
        + scipy.special.xlog1py(n - below, -p)
        - scipy.special.betaln(below + 1.0, n - below)
    )
    return np.where(constant, 0.0, 2.0 * np.exp(log_mean))


_GRID_SIZE = 2048


def smooth_ece(
    correct: ArrayLike, confidence: ArrayLike, *, bandwidth: float | None = None, weights: Weights = None
) -> Result:
    r"""Compute the smooth expected calibration error.

    For confidence c, correctness y and a Gaussian kernel :math:`K_\sigma` that is reflected at 0 and 1,

    .. math:: \mathrm{smECE}_\sigma = \int_0^1 \Big| \frac1n \sum_i K_\sigma(t, c_i)(y_i - c_i) \Big| \, dt .

    This decreases with the bandwidth :math:`\sigma`. The smooth ECE is the value at which it equals the bandwidth. It
    needs no bins and is a continuous function of the confidences.

    Parameters
    ----------
    correct, confidence, weights
        As in :func:`ece`.
    bandwidth : float or None, default None
        Fixed bandwidth :math:`\sigma`, at least 0.005. By default the bandwidth at which smECE equals it.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In [0, 1]; 0 for perfect calibration. NaN without trials.

    Notes
    -----
    Residuals are assigned to a grid of 2,048 cells by linear interpolation and smoothed by a cosine transform, in which
    the reflected kernel is diagonal. For values of 0.01 or more, the error relative to exact quadrature is below 1e-5.

    References
    ----------
    Blasiok & Nakkiran (2023), Smooth ECE: principled reliability diagrams via kernel smoothing, arXiv:2309.12236,
    definitions of smECE at a bandwidth and at its fixed point (section 4).

    Examples
    --------
    >>> round(smooth_ece([1] * 60 + [0] * 40, [0.8] * 100), 6)
    0.2
    """
    if bandwidth is not None and not 0.005 <= bandwidth < np.inf:
        raise ValueError(f"bandwidth must be at least 0.005, got {bandwidth}")
    right, stated, weighting = trials(correct, confidence, weights)
    # Rows without trials are solved with an error of 0; weighting.settle() turns them into NaN.
    modes = scipy.fft.dct(_bin_linearly(stated, right - stated, weighting), axis=1)

    def error(sigma: FloatArray) -> FloatArray:
        frequency = np.pi * np.arange(_GRID_SIZE)
        smoothed = scipy.fft.idct(modes * np.exp(-0.5 * (sigma[:, None] * frequency) ** 2), axis=1)
        total: FloatArray = np.abs(smoothed).sum(axis=1)
        return total

    sigma = np.ones(modes.shape[0])
    if bandwidth is None:
        sigma = decreasing_root(lambda width: error(width) - width, np.zeros_like(sigma), sigma)
    else:
        sigma *= bandwidth
    return weighting.settle(error(sigma))


def _bin_linearly(confidence: FloatArray, residual: FloatArray, weighting: Weighting) -> FloatArray:
    """Return the mean residual in each cell, shape (R, cells); a trial is split between the two nearest centres."""
    position = confidence * _GRID_SIZE - 0.5
    left = np.floor(position)
    fraction = position - left
    # A point outside the outermost centre lies between this centre and its mirror image.
    lower, upper = (np.clip(cell, 0, _GRID_SIZE - 1).astype(np.intp) for cell in (left, left + 1))
    mass = weighting.grouped(lower, _GRID_SIZE, residual * (1.0 - fraction))
    mass = mass + weighting.grouped(upper, _GRID_SIZE, residual * fraction)
    return ratio(mass, weighting.total[:, None], otherwise=0.0)


def confidence_correlation(correct: ArrayLike, confidence: ArrayLike, *, weights: Weights = None) -> Result:
    """Compute Pearson's correlation of confidence and correctness.

    Arguments and shapes are those of :func:`ece`. The result lies in [-1, 1]. It is NaN without trials, or if
    confidence or correctness is constant.

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
    first_variance = np.einsum("rn,rn->r", weighted, first)
    second_variance = np.einsum("rn,rn,rn->r", weighting.rows, second, second)
    value = np.clip(ratio(covariance, np.sqrt(first_variance) * np.sqrt(second_variance)), -1.0, 1.0)
    constant = _is_constant(right, weighting) | _is_constant(stated, weighting)
    return weighting.settle(value, (constant, Reason.CONSTANT))


def _is_constant(column: FloatArray, weighting: Weighting) -> BoolArray:
    """Return True for each row of weights that gives weight to at most one distinct value."""
    return np.asarray(np.count_nonzero(tied(column, weighting).counts, axis=1) < 2)


def hard_easy_slope(
    correct: ArrayLike, confidence: ArrayLike, difficulty: ArrayLike, *, weights: Weights = None
) -> Result:
    """Compute the least-squares slope of overconfidence on difficulty.

    Parameters
    ----------
    correct, confidence, weights
        As in :func:`ece`.
    difficulty : array_like, shape (n,)
        Difficulty of each question on any scale. LifeEval uses 1 minus the maximum achievable score.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        Positive under the hard-easy effect. NaN without trials or if difficulty is constant.

    References
    ----------
    Lichtenstein & Fischhoff (1977), Do those who know more also know more about how much they know?,
    doi:10.1016/0030-5073(77)90001-0.

    Examples
    --------
    >>> round(hard_easy_slope([1, 1, 0, 0], [0.8, 0.9, 0.7, 0.8], [0.1, 0.2, 0.5, 0.6]), 6)
    2.176471
    """
    right, stated, weighting = trials(correct, confidence, weights)
    x = as_vector(difficulty, "difficulty")
    same_length(correct=right, difficulty=x)
    centred = weighting.centred(x)
    deviation = weighting.rows * centred
    slope = ratio(deviation @ (stated - right), np.einsum("rn,rn->r", deviation, centred))
    return weighting.settle(slope, (_is_constant(x, weighting), Reason.CONSTANT))
