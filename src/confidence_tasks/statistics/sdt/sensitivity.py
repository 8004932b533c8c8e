"""Type-1 signal detection: rates, d', criterion, and the unequal-variance model by maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import (
    BoolArray,
    FloatArray,
    IntArray,
    Reason,
    as_binary,
    as_vector,
    same_length,
)
from confidence_tasks.statistics.inference.weights import (
    Case,
    Result,
    Weighting,
    Weights,
    defined,
    ratio,
    settle,
)
from confidence_tasks.statistics.sdt.count_tables import (
    Padding,
    Tables,
    cache_fits,
    copy_result,
    correctness_table,
    with_raw_cases,
)
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

#: Intercepts and log slopes beyond this bound diverge.
_PARAMETER_BOUND = 20.0
#: Absolute values below this count as 0.
ZERO = 1e-12
_SQRT_HALF = np.sqrt(0.5)


@dataclass(frozen=True, slots=True)
class UnequalVarianceSDT:
    """Fit of the unequal-variance model to a table of ratings.

    Each value is an Estimate for one table, and an array (B,) for a batch.

    Attributes
    ----------
    slope, slope_se : Estimate or ndarray
        sd(S1) / sd(S2), the slope of the z-ROC, and its standard error.
    intercept : Estimate or ndarray
        (mean(S2) - mean(S1)) / sd(S2), the intercept of the z-ROC.
    d_a, d_a_se : Estimate or ndarray
        Distance of the means in units of the root-mean-square standard deviation, and its standard error.
    area : Estimate or ndarray
        Area under the ROC, Phi(d_a / sqrt(2)).
    criteria : ndarray, shape (2K - 1,) or (B, 2K - 1)
        Criteria, relative to the mean of S1 and in units of its standard deviation. Criteria next to a rating without
        trials coincide or are infinite; NaN without a fit.
    log_likelihood : Estimate or ndarray
        Log-likelihood of the responses given the stimulus, without the multinomial constant.
    converged : bool or ndarray of bool
        True if a finite maximum was found.
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

    Evidence has a normal distribution for each stimulus, with different variances; criteria divide it into responses
    and ratings. Arguments are those of :func:`type1`.

    Returns
    -------
    UnequalVarianceSDT
        Values are NaN, with a reason, if the counts without padding do not identify the model: if a stimulus has no
        trials, if fewer than three ratings have trials, or if no finite maximum exists.

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
    counts, solution, cases = _fit_tables(tables.padded(padding))
    if padding != "none":
        cases = with_raw_cases(cases, tables, lambda raw, rows: _fit_tables(raw).cases)
    values = {"area": scipy.special.ndtr(_SQRT_HALF * solution.d_a), **solution._asdict()}
    for name in ("thresholds", "converged"):
        del values[name]
    criteria = np.where(defined(cases), unpack(solution.thresholds, counts, first=-np.inf)[0], np.nan)
    return UnequalVarianceSDT(
        **{name: settle(value, cases, tables.batch) for name, value in values.items()},
        criteria=criteria.T if tables.batch else criteria[:, 0],
        converged=solution.converged if tables.batch else bool(solution.converged[0]),
    )


class _Fit(NamedTuple):
    """Fits of tables: the arranged counts, the estimates, and the cases in which they are missing."""

    counts: FloatArray  # (1, 2 stimuli, 2K, B)
    solution: _Solution
    cases: tuple[Case, ...]


def _fit_tables(tables: Tables) -> _Fit:
    """Fit the tables for which the model is identified."""
    counts = np.stack([tables.s1.T, tables.s2.T])[np.newaxis]
    packed, n_used = pack(counts)
    cases = *tables.cases, (n_used[0] < 3, Reason.NOT_IDENTIFIED)
    fitted = np.flatnonzero(defined(cases))
    solution = scatter(_solve(_Problems(packed[..., fitted])), fitted, len(n_used[0]))
    return _Fit(counts, solution, (*cases, (~solution.converged, Reason.NOT_CONVERGED)))


_fit = cache_fits(fit_uv_sdt)


class _Solution(NamedTuple):
    """Estimates of a batch, which is the last axis."""

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
    """Likelihoods as functions of the intercept a and the log slope of the z-ROC, and of the criteria t.

    Criteria are in standard units of S1. In standard units of S2 they are slope * t - a.
    """

    counts: FloatArray  # (1, 2 stimuli, 2K, B)

    def take(self, index: IntArray) -> Self:
        """Return a subset of the tables."""
        return type(self)(self.counts[..., index])

    def start(self) -> tuple[FloatArray, FloatArray]:
        """Return starting values: a least-squares line through the smoothed z-ROC, and the criteria of its points."""
        smooth = self.counts[0] + 0.5 / self.counts.shape[2]
        below = np.cumsum(smooth, axis=1)
        z_hit, z_false_alarm = -scipy.special.ndtri(below[::-1, :-1] / below[::-1, -1:])
        x, y = z_false_alarm - z_false_alarm.mean(axis=0), z_hit - z_hit.mean(axis=0)
        slope = np.clip((x * y).sum(axis=0) / (x * x).sum(axis=0), 0.1, 10.0)
        intercept = z_hit.mean(axis=0) - slope * z_false_alarm.mean(axis=0)
        used = self.counts[:, :, 1:].sum(axis=1) > 0.0
        return np.stack([intercept, np.log(slope)]), np.where(used, -z_false_alarm, FAR)

    def expand(self, border: FloatArray, thresholds: FloatArray) -> Expansion:
        """Expand the log-likelihood to second order in the border (a and log slope) and the thresholds."""
        intercept, slope = border[0], np.exp(border[1])
        scaled = slope * thresholds
        boundaries = np.stack([thresholds, scaled - intercept], axis=1)
        not_truncated = np.full_like(boundaries[:, :, :1], -FAR)
        cells = cell_derivatives(np.concatenate([not_truncated, boundaries], axis=2), self.counts)
        gradient, diagonal, off = (a[:, :, 1:] for a in (cells.gradient, cells.diagonal, cells.off_diagonal))
        # Derivatives of the boundaries of S2 with respect to the border, and the resulting change of their gradient.
        g2, jacobian = gradient[:, 1], np.stack([np.full_like(scaled, -1.0), scaled])
        change = diagonal[:, 1] * jacobian
        change[:, :, 1:] += off[:, 1] * jacobian[:, :, :-1]
        change[:, :, :-1] += off[:, 1] * jacobian[:, :, 1:]
        mixed = slope * change
        mixed[1] += slope * g2
        border_hessian = np.einsum("pstb,qstb->pqb", jacobian, change)
        border_hessian[1, 1] += (g2 * scaled).sum(axis=(0, 1))
        return Expansion(
            value=cells.log_likelihood.sum(axis=(0, 1)),
            border_gradient=(jacobian * g2).sum(axis=(1, 2)),
            threshold_gradient=gradient[:, 0] + slope * g2,
            border_hessian=border_hessian,
            mixed_hessian=mixed,
            diagonal=diagonal[:, 0] + slope**2 * diagonal[:, 1],
            off_diagonal=off[:, 0] + slope**2 * off[:, 1],
        )


@np.errstate(all="ignore")  # the iteration handles values that are not finite
def _solve(problems: _Problems) -> _Solution:
    border, criteria = problems.start()
    maximum = maximise(problems, border, criteria, limit=_PARAMETER_BOUND, floor=-np.inf)
    expansion = problems.expand(maximum.border, maximum.thresholds)
    (aa, ab), (_, bb) = -eliminate_thresholds(expansion).schur
    determinant = aa * bb - ab**2
    intercept, slope = maximum.border[0], np.exp(maximum.border[1])
    # d_a = unit x intercept; its gradient in (intercept, log slope).
    unit = np.sqrt(2.0 / (1.0 + slope**2))
    da, db = unit, -unit * intercept * slope**2 / (1.0 + slope**2)
    return _Solution(
        slope=slope,
        slope_se=slope * np.sqrt(aa / determinant),
        intercept=intercept,
        d_a=unit * intercept,
        d_a_se=np.sqrt((da**2 * bb - 2.0 * da * db * ab + db**2 * aa) / determinant),
        thresholds=maximum.thresholds,
        log_likelihood=expansion.value,
        converged=maximum.converged,
    )


class Rate(NamedTuple):
    """A proportion and its z score."""

    rate: FloatArray
    z: FloatArray
    variance: FloatArray  # sampling variance of z, by the delta method


def z_rate(successes: FloatArray, failures: FloatArray) -> Rate:
    """Return rate, z(rate) and its sampling variance; for rates above 1/2, z is computed from the failures."""
    with np.errstate(divide="ignore", invalid="ignore"):
        total = successes + failures
        rate = successes / total
        z = np.where(successes <= failures, scipy.special.ndtri(rate), -scipy.special.ndtri(failures / total))
        variance = rate * (failures / total) / total * 2.0 * np.pi * np.exp(np.square(z))
    return Rate(rate, z, variance)


@dataclass(frozen=True, slots=True)
class TypeOne:
    """Equal-variance signal detection. Each value is an Estimate for one table, and an array (B,) for a batch.

    Attributes
    ----------
    hit_rate, false_alarm_rate : Estimate or ndarray
        P(respond S2 | S2) and P(respond S2 | S1) of the padded table.
    d_prime : Estimate or ndarray
        z(hit rate) - z(false-alarm rate).
    criterion : Estimate or ndarray
        c = -(z(hit rate) + z(false-alarm rate)) / 2; positive for a bias towards S1.
    d_prime_se : Estimate or ndarray
        Standard error of d' by the delta method.
    """

    hit_rate: Result
    false_alarm_rate: Result
    d_prime: Result
    criterion: Result
    d_prime_se: Result


def type1(nR_S1: ArrayLike, nR_S2: ArrayLike, *, padding: Padding = "1/2K") -> TypeOne:
    """Compute d', criterion and rates from a count table.

    Parameters
    ----------
    nR_S1, nR_S2 : array_like, shape (2K,) or (B, 2K)
        Non-negative counts under either stimulus, from "S1, highest rating" to "S2, highest rating".
    padding : {"1/2K", "hautus", "none"}, default "1/2K"
        Number added to every cell: 1/(2K), 0.5 or 0.

    Returns
    -------
    TypeOne
        Values are NaN without trials, if a stimulus has no trials, or (without padding) if a rate is 0 or 1.

    References
    ----------
    Macmillan & Creelman (2005), Detection Theory, chapters 1 and 2.
    Hautus (1995), doi:10.3758/BF03203619, for the padding.

    Examples
    --------
    >>> result = type1([60, 30, 8, 2], [10, 10, 30, 50], padding="none")
    >>> result.hit_rate, round(result.d_prime, 3), round(result.criterion, 3)
    (0.8, 2.123, 0.22)
    """
    tables = Tables.of(nR_S1, nR_S2)
    hit, false_alarm = response_rates(tables.padded(padding))
    with np.errstate(invalid="ignore"):
        d_prime, criterion = hit.z - false_alarm.z, -0.5 * (hit.z + false_alarm.z)
    cases = *tables.cases, (~np.isfinite(d_prime), Reason.NOT_IDENTIFIED)
    return TypeOne(
        hit_rate=settle(hit.rate, tables.cases, tables.batch),
        false_alarm_rate=settle(false_alarm.rate, tables.cases, tables.batch),
        d_prime=settle(d_prime, cases, tables.batch),
        criterion=settle(criterion, cases, tables.batch),
        d_prime_se=settle(np.sqrt(hit.variance + false_alarm.variance), cases, tables.batch),
    )


def response_rates(tables: Tables) -> tuple[Rate, Rate]:
    """Return the hit rate and the false-alarm rate of padded tables."""
    k = tables.ratings
    hit = z_rate(tables.s2[:, k:].sum(axis=1), tables.s2[:, :k].sum(axis=1))
    false_alarm = z_rate(tables.s1[:, k:].sum(axis=1), tables.s1[:, :k].sum(axis=1))
    return hit, false_alarm


class TypeOneModel(NamedTuple):
    """Type-1 model of tables, in standard deviations of S1; arrays have shape (B,)."""

    d1: FloatArray  # distance of the means
    d1_variance: FloatArray
    midpoint: FloatArray  # position of the criterion, relative to the midpoint of the means
    criterion: FloatArray  # the same, divided by d1 if ``relative``
    criterion_variance: FloatArray
    covariance: FloatArray  # of criterion and d1
    relative: bool


def fit_type1_model(tables: Tables, s: FloatArray, *, relative: bool, compat: bool) -> TypeOneModel:
    """Compute the distance of the means and the criterion; ``s`` (B,) is sd(S1) / sd(S2)."""
    hit, false_alarm = response_rates(tables)
    # Derivatives with respect to (z(hit rate), z(false-alarm rate)).
    d_gradient = np.stack([1.0 / s, np.full_like(s, -1.0)])
    c_gradient = np.stack([-1.0 / (1.0 + s)] * 2) if compat else np.stack([-0.5 / s, np.full_like(s, -0.5)])
    z, variance = np.stack([hit.z, false_alarm.z]), np.stack([hit.variance, false_alarm.variance])
    with np.errstate(divide="ignore", invalid="ignore"):
        d1, midpoint = (d_gradient * z).sum(axis=0), (c_gradient * z).sum(axis=0)
        criterion, gradient = midpoint, c_gradient
        if relative:
            d1 = np.where(np.abs(d1) < ZERO, 0.0, d1)
            centred = (d1 == 0.0) & (np.abs(midpoint) < ZERO)
            criterion = np.where(centred, 0.0, midpoint / d1)
            gradient = np.where(centred, 0.0, (c_gradient - criterion * d_gradient) / d1)
        return TypeOneModel(
            d1,
            (d_gradient**2 * variance).sum(axis=0),
            midpoint,
            criterion,
            (gradient**2 * variance).sum(axis=0),
            (gradient * d_gradient * variance).sum(axis=0),
            relative,
        )


def d_prime_ratings(
    correct: ArrayLike,
    evidence: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    padding: Padding = "1/2K",
    weights: Weights = None,
) -> Result:
    """Compute d' for right versus wrong answers, with a criterion at the median of the evidence.

    Parameters
    ----------
    correct, weights
        As in :func:`correctness_table`.
    evidence : array_like, shape (n,)
        Evidence, such as log-probabilities. Only the order of the values matters.
    n_ratings : int, default 4
        Half the number of bins, K. Evidence is divided into 2K bins; the K upper ones are the response "right".
    edges : array_like, shape (2K - 1,), optional
        Inner bin edges, ascending; by default the quantiles i/2K.
    padding
        As in :func:`type1`.

    Returns
    -------
    Estimate, or ndarray of shape (R,)
        z(hit rate) - z(false-alarm rate); NaN if all answers are right or all wrong. From Cacioli (2026),
        arXiv:2603.25112, section 3.2.

    Examples
    --------
    >>> correct = [0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    >>> round(d_prime_ratings(correct, range(16), n_ratings=2), 3)
    1.264
    """
    table = correctness_table(correct, evidence, n_ratings=n_ratings, edges=edges, weights=weights)
    return type1(*table, padding=padding).d_prime


def z_roc_slope(
    correct: ArrayLike,
    evidence: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    padding: Padding = "1/2K",
    weights: Weights = None,
) -> Result:
    """Compute the slope of the z-ROC for right versus wrong answers: sd(wrong) / sd(right) if both are normal.

    Arguments and shapes are those of :func:`d_prime_ratings`. The slope is 1 for equal variances. It is NaN if the
    maximum-likelihood fit does not exist, for instance if fewer than three ratings have trials.

    Notes
    -----
    The slope is the maximum-likelihood estimate of :func:`fit_uv_sdt`. Least squares gives the same weight to all
    points of the z-ROC, whether they depend on one trial or on hundreds; the coverage of its 95% intervals is 68 to 97%
    if variances differ.

    References
    ----------
    Dorfman & Alf (1969), doi:10.1016/0022-2496(69)90019-4. Macmillan & Creelman (2005), Detection Theory, chapter 3.

    Examples
    --------
    >>> correct = [0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    >>> round(z_roc_slope(correct, range(16), n_ratings=2), 3)
    0.798
    """
    table = correctness_table(correct, evidence, n_ratings=n_ratings, edges=edges, weights=weights)
    return copy_result(_fit(*table, padding=padding).slope)


def d_a(
    correct: ArrayLike,
    evidence: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    padding: Padding = "1/2K",
    weights: Weights = None,
) -> Result:
    """Compute d_a for right versus wrong answers: the distance of means over the root-mean-square standard deviation.

    Arguments and shapes are those of :func:`d_prime_ratings`. The result equals d' for equal variances, and is a
    sensitivity for unequal variances as well. It is NaN if the fit does not exist, as for :func:`z_roc_slope`.

    References
    ----------
    Macmillan & Creelman (2005), Detection Theory, equations 3.5 to 3.9. For the fit see :func:`z_roc_slope`.

    Examples
    --------
    >>> correct = [0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    >>> round(d_a(correct, range(16), n_ratings=2), 3)
    1.244
    """
    table = correctness_table(correct, evidence, n_ratings=n_ratings, edges=edges, weights=weights)
    return copy_result(_fit(*table, padding=padding).d_a)


def mean_difference(correct: ArrayLike, evidence: ArrayLike, *, weights: Weights = None) -> Result:
    """Compute the mean evidence of right answers minus that of wrong answers, in the unit of the evidence.

    Arguments and shapes are those of :func:`d_prime_ratings`. The result is NaN without trials, or if all answers are
    right or all wrong.

    Examples
    --------
    >>> mean_difference([1, 1, 0], [-0.5, -1.0, -2.0])
    1.25
    """
    right, values = as_binary(correct, "correct"), as_vector(evidence, "evidence")
    weighting = Weighting.of(weights, same_length(correct=right, evidence=values))
    classes = np.stack([1.0 - right, right], axis=1)
    sums, counts = np.split(weighting.rows @ np.hstack([values[:, np.newaxis] * classes, classes]), 2, axis=1)
    difference = np.diff(ratio(sums, counts))[:, 0]
    return weighting.settle(difference, (np.isnan(difference), Reason.ONE_CLASS))
