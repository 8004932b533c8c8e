"""Unequal-variance signal detection from ratings, by maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import BoolArray, FloatArray, IntArray, Reason
from confidence_tasks.statistics.inference.weights import Result
from confidence_tasks.statistics.sdt.count_tables import Padding, Tables, known, settle, with_reason
from confidence_tasks.statistics.sdt.likelihood import (
    FAR,
    Expansion,
    cell_derivatives,
    eliminate_thresholds,
    maximise,
    pack,
    scatter,
    unpack,
)

#: Intercepts and log slopes beyond this are on their way to infinity.
_LARGEST = 20.0
_SQRT_HALF = np.sqrt(0.5)


@dataclass(frozen=True, slots=True)
class UnequalVarianceSDT:
    """Two normal distributions behind a table of ratings.

    Each value for one table is an Estimate, for a batch an array (B,).

    Attributes
    ----------
    slope, slope_se : Estimate or ndarray
        sd(S1) / sd(S2), the slope of the z-ROC, and its standard error.
    intercept : Estimate or ndarray
        (mean(S2) - mean(S1)) / sd(S2), the intercept of the z-ROC.
    d_a, d_a_se : Estimate or ndarray
        Distance of the means in root-mean-square standard deviations, and its standard error.
    area : Estimate or ndarray
        Area under the ROC, Phi(d_a / sqrt(2)).
    criteria : ndarray, shape (2K - 1,) or (B, 2K - 1)
        From the mean of S1, in its standard deviations. Criteria that nothing fixes coincide or are infinite;
        NaN where there is no fit.
    log_likelihood : Estimate or ndarray
        Of the responses given the stimulus, without the multinomial constant.
    converged : bool or ndarray of bool
        Whether a finite maximum was found.
    """

    slope: Result
    slope_se: Result
    intercept: Result
    d_a: Result
    d_a_se: Result
    area: Result
    criteria: FloatArray
    log_likelihood: Result
    converged: bool | BoolArray


def fit_uv_sdt(nR_S1: ArrayLike, nR_S2: ArrayLike, *, padding: Padding = "1/2K") -> UnequalVarianceSDT:
    """Fit the unequal-variance model to one count table or to a batch of them.

    Responses and ratings are cuts of one axis on which S1 and S2 are normal, with a variance of their own.

    Parameters
    ----------
    nR_S1, nR_S2 : array_like, shape (2K,) or (B, 2K)
        Non-negative counts under either stimulus, from "S1, highest rating" to "S2, highest rating".
    padding : {"1/2K", "hautus", "none"}, default "1/2K"
        Added to every cell.

    Returns
    -------
    UnequalVarianceSDT
        Values are NaN, with a reason, where a stimulus was never shown, fewer than three columns hold a trial,
        or no finite maximum exists.

    References
    ----------
    Dorfman & Alf (1969), Maximum-likelihood estimation of parameters of signal-detection theory,
    doi:10.1016/0022-2496(69)90019-4.

    Examples
    --------
    >>> fit = fit_uv_sdt([60, 25, 10, 5], [5, 15, 20, 60], padding="none")
    >>> round(fit.slope, 3), round(fit.d_a, 3), fit.converged
    (1.001, 1.89, True)
    """
    tables = Tables.of(nR_S1, nR_S2)
    padded = tables.padded(padding)
    counts = np.stack([padded.s1.T, padded.s2.T])[np.newaxis]
    packed, left = pack(counts)
    reasons = with_reason(tables.reasons, left[0] < 3, Reason.NOT_IDENTIFIED)
    fitted = np.flatnonzero(known(reasons))
    found = scatter(_solve(_Problems(packed[..., fitted])), fitted, len(reasons))
    reasons = with_reason(reasons, ~found.converged, Reason.NOT_CONVERGED)
    values = {
        "slope": found.slope,
        "slope_se": found.slope_se,
        "intercept": found.intercept,
        "d_a": found.d_a,
        "d_a_se": found.d_a_se,
        "area": scipy.special.ndtr(_SQRT_HALF * found.d_a),
        "log_likelihood": found.log_likelihood,
    }
    criteria = np.where(known(reasons), unpack(found.thresholds, counts, first=-np.inf)[0], np.nan)
    return UnequalVarianceSDT(
        **{name: settle(value, reasons, tables.batch) for name, value in values.items()},
        criteria=criteria.T if tables.batch else criteria[:, 0],
        converged=found.converged if tables.batch else bool(found.converged[0]),
    )


class _Solution(NamedTuple):
    """Estimates with the batch last."""

    slope: FloatArray
    slope_se: FloatArray
    intercept: FloatArray
    d_a: FloatArray
    d_a_se: FloatArray
    thresholds: FloatArray  # (1, 2K - 1, B)
    log_likelihood: FloatArray
    converged: BoolArray


@dataclass(frozen=True, slots=True)
class _Problems:
    """Likelihoods in the intercept a and log slope of the z-ROC, and the criteria t.

    In standard units a criterion lies at t from S1, and at slope x t - a from S2.
    """

    counts: FloatArray  # (1, 2 stimuli, 2K, B)

    def take(self, index: IntArray) -> Self:
        """Return some of the tables."""
        return type(self)(self.counts[..., index])

    def start(self) -> tuple[FloatArray, FloatArray]:
        """Return a z-ROC through the smoothed points, and criteria at their false-alarm rates."""
        smooth = self.counts[0] + 0.5 / self.counts.shape[2]
        below = np.cumsum(smooth, axis=1)
        z_hit, z_false_alarm = -scipy.special.ndtri(below[::-1, :-1] / below[::-1, -1:])
        x, y = z_false_alarm - z_false_alarm.mean(axis=0), z_hit - z_hit.mean(axis=0)
        slope = np.clip((x * y).sum(axis=0) / (x * x).sum(axis=0), 0.1, 10.0)
        intercept = z_hit.mean(axis=0) - slope * z_false_alarm.mean(axis=0)
        used = self.counts[:, :, 1:].sum(axis=1) > 0.0
        return np.stack([intercept, np.log(slope)]), np.where(used, -z_false_alarm, FAR)

    def expand(self, border: FloatArray, thresholds: FloatArray) -> Expansion:
        """Expand the log-likelihood to second order."""
        intercept, slope = border[0], np.exp(border[1])
        stretched = slope * thresholds
        boundaries = np.stack([thresholds, stretched - intercept], axis=1)
        whole = np.full_like(boundaries[:, :, :1], -FAR)
        cells = cell_derivatives(np.concatenate([whole, boundaries], axis=2), self.counts)
        gradient, diagonal, off = (a[:, :, 1:] for a in (cells.gradient, cells.diagonal, cells.off_diagonal))
        g2, towards = gradient[:, 1], np.stack([np.full_like(stretched, -1.0), stretched])
        # Change of the gradient at S2's boundaries when the border moves.
        change = diagonal[:, 1] * towards
        change[:, :, 1:] += off[:, 1] * towards[:, :, :-1]
        change[:, :, :-1] += off[:, 1] * towards[:, :, 1:]
        mixed = slope * change
        mixed[1] += slope * g2
        border_hessian = np.einsum("pstb,qstb->pqb", towards, change)
        border_hessian[1, 1] += (g2 * stretched).sum(axis=(0, 1))
        return Expansion(
            value=cells.log_likelihood.sum(axis=(0, 1)),
            border_gradient=(towards * g2).sum(axis=(1, 2)),
            threshold_gradient=gradient[:, 0] + slope * g2,
            border_hessian=border_hessian,
            mixed_hessian=mixed,
            diagonal=diagonal[:, 0] + slope**2 * diagonal[:, 1],
            off_diagonal=off[:, 0] + slope**2 * off[:, 1],
        )


@np.errstate(all="ignore")  # a step too far, or a flat likelihood, shows in its value
def _solve(problems: _Problems) -> _Solution:
    border, criteria = problems.start()
    top = maximise(problems, border, criteria, limit=_LARGEST, floor=-np.inf)
    expansion = problems.expand(top.border, top.thresholds)
    (aa, ab), (_, bb) = -eliminate_thresholds(expansion).schur
    determinant = aa * bb - ab**2
    intercept, slope = top.border[0], np.exp(top.border[1])
    # d_a = unit x intercept; its gradient in (intercept, log slope).
    unit = np.sqrt(2.0 / (1.0 + slope**2))
    da, db = unit, -unit * intercept * slope**2 / (1.0 + slope**2)
    return _Solution(
        slope=slope,
        slope_se=slope * np.sqrt(aa / determinant),
        intercept=intercept,
        d_a=unit * intercept,
        d_a_se=np.sqrt((da**2 * bb - 2.0 * da * db * ab + db**2 * aa) / determinant),
        thresholds=top.thresholds,
        log_likelihood=expansion.value,
        converged=top.converged,
    )
