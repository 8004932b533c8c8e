"""Logistic recalibration: the slope and intercept that confidence needs on the logit scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.calibration.logistic import fit_logistic
from confidence_tasks.statistics.core import BoolArray, FloatArray, Reason, as_probability
from confidence_tasks.statistics.inference.weights import Result, Tied, Weighting, ratio, tied, trials
from confidence_tasks.statistics.roots import decreasing_root

DEFAULT_CLIP = 0.005
"""Half a step of a percentage: a stated 100% is read as 99.5%."""


@dataclass(frozen=True, slots=True)
class LogisticRecalibration:
    """The line ``logit P(correct) = intercept + slope * logit(confidence)``.

    Attributes
    ----------
    intercept : Estimate or ndarray, shape (R,)
        0 for a calibrated subject.
    slope : Estimate or ndarray, shape (R,)
        1 for a calibrated subject, below 1 when confidence is too extreme, 0 when it tells nothing.
    clip : float
        Confidence was brought into [clip, 1 - clip].
    """

    intercept: Result
    slope: Result
    clip: float

    def apply(self, confidence: ArrayLike) -> FloatArray:
        """Recalibrate confidence of shape (n,) by the line of a plain call.

        Examples
        --------
        >>> LogisticRecalibration(intercept=-0.5, slope=0.5, clip=0.005).apply([0.2, 0.9]).round(3)
        array([0.233, 0.645])
        """
        line = self.intercept + self.slope * _logits(as_probability(confidence, "confidence"), self.clip)
        return np.asarray(scipy.special.expit(line))


def logistic_recalibration(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    clip: float = DEFAULT_CLIP,
    weights: ArrayLike | None = None,
) -> LogisticRecalibration:
    """Regress correctness on the logit of confidence by maximum likelihood.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1, 0, or the probability that the answer is right, in [0, 1].
    confidence : array_like, shape (n,)
        Confidence in [0, 1].
    clip : float, default 0.005
        Confidence is brought into [clip, 1 - clip] first, as 0 and 1 have no logit. In (0, 0.5).
    weights : array_like, shape (n,) or (R, n), optional
        How often each trial counts; R rows for R resamples.

    Returns
    -------
    LogisticRecalibration
        Intercept and slope. NaN without trials, for one class, for constant confidence, and when confidence
        separates right from wrong, as the slope is then infinite.

    Raises
    ------
    ValueError
        If an input is NaN, outside its range or of the wrong shape.

    References
    ----------
    Cox (1958), Two further applications of a model for binary regression, doi:10.1093/biomet/45.3-4.562.
    Van Calster et al. (2016), A calibration hierarchy for risk models, doi:10.1016/j.jclinepi.2015.12.005.

    Examples
    --------
    >>> line = logistic_recalibration([1, 0, 1, 1, 1, 0, 1, 1], [0.6] * 3 + [0.9] * 5)
    >>> round(line.slope, 4), round(line.intercept, 4)
    (0.3869, 0.5363)
    """
    groups, weighting = _logit_groups(correct, confidence, clip, weights)
    x, counts, hits = groups.values, groups.counts, groups.sums[0]
    curve = fit_logistic(x, counts, hits)
    cases = (
        weighting.empty,
        _one_class(counts, hits),
        (np.count_nonzero(counts, axis=1) < 2, Reason.CONSTANT),
        (np.isnan(curve.slope), Reason.NOT_IDENTIFIED),
    )
    return LogisticRecalibration(
        weighting.settle(curve.intercept, *cases), weighting.settle(curve.slope, *cases), clip
    )


def calibration_slope(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    clip: float = DEFAULT_CLIP,
    weights: ArrayLike | None = None,
) -> Result:
    """Compute the slope of :func:`logistic_recalibration`.

    Parameters
    ----------
    correct, confidence, clip, weights
        As in :func:`logistic_recalibration`.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        1 for a calibrated subject, below 1 when confidence is too extreme; NaN as there.

    Raises
    ------
    ValueError
        As in :func:`logistic_recalibration`.

    References
    ----------
    Van Calster et al. (2016), doi:10.1016/j.jclinepi.2015.12.005.

    Examples
    --------
    >>> round(calibration_slope([1, 0, 1, 1, 1, 0, 1, 1], [0.6] * 3 + [0.9] * 5), 4)
    0.3869
    """
    return logistic_recalibration(correct, confidence, clip=clip, weights=weights).slope


def calibration_intercept(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    clip: float = DEFAULT_CLIP,
    weights: ArrayLike | None = None,
) -> Result:
    """Compute calibration in the large: the shift of the logit of confidence that matches mean and accuracy.

    The intercept of the recalibration whose slope is held at 1.

    Parameters
    ----------
    correct, confidence, clip, weights
        As in :func:`logistic_recalibration`.

    Returns
    -------
    Estimate or ndarray, shape (R,)
        In logits: 0 for a calibrated subject, below 0 for an overconfident one. NaN without trials and for one
        class, as the shift is then infinite.

    Raises
    ------
    ValueError
        As in :func:`logistic_recalibration`.

    References
    ----------
    Van Calster et al. (2016), doi:10.1016/j.jclinepi.2015.12.005.

    Examples
    --------
    >>> round(calibration_intercept([1, 0], [0.8, 0.8]), 6)
    -1.386294
    """
    groups, weighting = _logit_groups(correct, confidence, clip, weights)
    x, counts, hits = groups.values, groups.counts, groups.sums[0]
    one_class = _one_class(counts, hits)
    accuracy = np.where(one_class[0], 0.5, ratio(hits.sum(axis=1), weighting.total))

    def shortfall(shift: FloatArray) -> FloatArray:
        expected = ratio((counts * scipy.special.expit(shift[:, None] + x)).sum(axis=1), weighting.total)
        # A row without an intercept is settled wherever it stands, and marked in the end.
        return np.where(one_class[0], 0.0, (accuracy - expected) / (accuracy * (1.0 - accuracy)))

    level = scipy.special.logit(accuracy)
    shift = decreasing_root(shortfall, level - x.max(initial=0.0), level - x.min(initial=0.0))
    return weighting.settle(shift, weighting.empty, one_class)


def _logits(confidence: FloatArray, clip: float) -> FloatArray:
    return np.asarray(scipy.special.logit(np.clip(confidence, clip, 1.0 - clip)))


def _logit_groups(
    correct: ArrayLike, confidence: ArrayLike, clip: float, weights: ArrayLike | None
) -> tuple[Tied, Weighting]:
    if not 0.0 < clip < 0.5:
        raise ValueError(f"clip must lie in (0, 0.5), got {clip}")
    right, stated, weighting = trials(correct, confidence, weights)
    return tied(_logits(stated, clip), weighting, right), weighting


def _one_class(counts: FloatArray, hits: FloatArray) -> tuple[BoolArray, Reason]:
    return (hits.sum(axis=1) <= 0.0) | ((counts - hits).sum(axis=1) <= 0.0), Reason.ONE_CLASS
