"""Meta-d' from confidence that is split at a threshold, for questions of any kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confidence_tasks.statistics.core import (
    EDGE_TOLERANCE,
    FloatArray,
    Reason,
    as_floats,
    check_option,
    decreasing_root,
)
from confidence_tasks.statistics.inference.weights import Result, Weights, ratio, settle, trials
from confidence_tasks.statistics.sdt.count_tables import Padding, cache_fits, copy_result
from confidence_tasks.statistics.sdt.metacognition import Metacognition, metacognition_fields
from confidence_tasks.statistics.sdt.sensitivity import z_rate

#: Padding per cell of the 2 x 2 table, each of which is the sum of two cells of a table with K = 2.
_PADDING = {"1/2K": 0.5, "hautus": 0.5, "none": 0.0}

#: The first guess of the root is this multiple of z(HR2) - z(FAR2).
_START_FACTOR = 1.7
_MAX_STEPS = 100
_ROOT_TOLERANCE = 1e-11
#: Upper bound of the search for the criterion, in standard deviations.
_MAX_CRITERION = 40.0
#: Expected number of wrong answers above the threshold below which this cell counts as empty.
_MIN_EXPECTED_COUNT = 0.5
_ROOT_TWO_PI = np.sqrt(2.0 * np.pi)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdMetaD(Metacognition):
    """Meta-d' of confidence that is split at a threshold, for one table or a batch.

    Each value is an Estimate for one table, and an array (B,) for a batch. Additional attributes to those of
    :class:`Metacognition`:

    Attributes
    ----------
    accuracy : Estimate or ndarray
        Accuracy of the padded table.
    hit_rate2, false_alarm_rate2 : Estimate or ndarray
        P(high confidence | correct) and P(high confidence | wrong) of the padded table.
    """

    accuracy: Result
    hit_rate2: Result
    false_alarm_rate2: Result


def threshold_table(
    correct: ArrayLike, confidence: ArrayLike, threshold: float = 0.9, *, weights: Weights = None
) -> FloatArray:
    """Count wrong and correct answers with confidence at or below the threshold, and above it.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1 or 0.
    confidence : array_like, shape (n,)
        In [0, 1].
    threshold : float, default 0.9
        Confidence above the threshold is high, confidence at the threshold is low.
    weights : array_like, shape (n,) or (R, n), optional
        Frequency weight of each trial; one row per resample gives one table per resample.

    Returns
    -------
    ndarray, shape (2, 2) or (R, 2, 2)
        ``[[wrong low, wrong high], [correct low, correct high]]``.

    Examples
    --------
    >>> threshold_table([1, 1, 0, 0], [0.95, 0.9, 0.95, 0.3])
    array([[1., 1.],
           [1., 1.]])
    """
    right, stated, weighting = trials(correct, confidence, weights, binary=True)
    cell = _cells(right, stated, threshold)
    tables = weighting.grouped(cell, 4, np.ones(len(cell))).reshape(-1, 2, 2)
    return tables if weighting.batch else tables[0]


def _cells(right: FloatArray, stated: FloatArray, threshold: float) -> NDArray[np.intp]:
    """Return the cell of each trial in the flattened table."""
    limit = float(as_floats(threshold, "threshold")) + EDGE_TOLERANCE
    return np.asarray(2 * right.astype(np.intp) + (stated > limit))


def fit_meta_d_threshold(table: ArrayLike, *, padding: Padding = "1/2K") -> ThresholdMetaD:
    """Compute meta-d' from a 2 x 2 table of correctness and high confidence, or from a batch of tables.

    An unbiased two-choice observer with sensitivity m and confidence criterion tau is correct with probability
    Phi(m/2). The probability of high confidence is ``HR2 = Phi(m/2 - tau) / Phi(m/2)`` if the answer is correct and
    ``FAR2 = Phi(-m/2 - tau) / Phi(-m/2)`` if it is wrong. Elimination of tau gives
    ``z(HR2 Phi(m/2)) - z(FAR2 Phi(-m/2)) - m = 0``. The left side decreases in m and has one root, meta-d'. Type-1 d'
    is 2 z(accuracy), so this observer has an M-ratio of 1 whatever the criterion.

    Parameters
    ----------
    table : array_like, shape (2, 2) or (B, 2, 2)
        ``[[wrong low, wrong high], [correct low, correct high]]``, non-negative counts.
    padding : {"1/2K", "hautus", "none"}, default "1/2K"
        ``"1/2K"`` and ``"hautus"`` both add 0.5 to each cell, as Dai (2026) does. The table corresponds to K = 2, and
        each cell is the sum of two cells that are padded by 1/(2K) = 0.25.

    Returns
    -------
    ThresholdMetaD
        Values are NaN, with a reason, without trials, if all answers are correct or all wrong, if all confidence is on
        one side of the threshold, or (without padding) if there is no finite root.

    Notes
    -----
    Dai (2026, arXiv:2603.09309) does not define type-1 d'. The published values imply a d' of about 1.96 at every
    accuracy from .58 to .85, which no increasing function of accuracy gives. So the published M-ratios are not
    comparable with those computed here.

    References
    ----------
    Maniscalco & Lau (2012), doi:10.1016/j.concog.2011.09.021, with one confidence criterion per response and no bias.

    Examples
    --------
    >>> result = fit_meta_d_threshold([[50, 50], [10, 90]], padding="none")
    >>> round(result.meta_d, 4)
    2.4176
    """
    counts = as_floats(table, "table")
    if counts.ndim not in (2, 3) or counts.shape[-2:] != (2, 2):
        raise ValueError(f"table must have shape (2, 2) or (B, 2, 2), got {counts.shape}")
    if not (np.isfinite(counts).all() and (counts >= 0.0).all()):
        raise ValueError("counts must be finite and non-negative")
    check_option("padding", padding, _PADDING)
    batch = counts.ndim == 3
    cells = counts.reshape(-1, 2, 2)
    (wrong_low, wrong_high), (right_low, right_high) = np.moveaxis(cells + _PADDING[padding], 0, -1)
    right, wrong = right_low + right_high, wrong_low + wrong_high
    accuracy = z_rate(right, wrong)
    d_prime, d_variance = 2.0 * accuracy.z, 4.0 * accuracy.variance
    meta_d, meta_variance = _solve(right_low, right_high, wrong_low, wrong_high)
    no_trials = cells.sum(axis=2) == 0.0
    class_cases = (no_trials.all(axis=1), Reason.EMPTY), (no_trials.any(axis=1), Reason.ONE_CLASS)
    d_cases = *class_cases, (~np.isfinite(d_prime), Reason.NOT_IDENTIFIED)
    one_side = (cells.sum(axis=1) == 0.0).any(axis=1)
    cases = *class_cases, (one_side, Reason.ONE_SIDE), (~np.isfinite(meta_d), Reason.NOT_IDENTIFIED)
    # Given the number of correct answers, the type-2 rates are independent of accuracy: the covariance is 0.
    moments = d_prime, d_variance, meta_d, meta_variance, np.zeros_like(meta_d)
    nowhere = np.zeros(len(cells), dtype=np.bool_)
    return ThresholdMetaD(
        **metacognition_fields(
            *moments, d_cases=d_cases, m_cases=cases, zero_d=nowhere, unstable=nowhere, batch=batch
        ),
        accuracy=settle(accuracy.rate, d_cases, batch),
        hit_rate2=settle(ratio(right_high, right), d_cases, batch),
        false_alarm_rate2=settle(ratio(wrong_high, wrong), d_cases, batch),
    )


_fit = cache_fits(fit_meta_d_threshold)


def meta_d_threshold(
    correct: ArrayLike,
    confidence: ArrayLike,
    threshold: float = 0.9,
    *,
    padding: Padding = "1/2K",
    weights: Weights = None,
) -> Result:
    """Compute meta-d' from confidence that is split at a threshold, by :func:`fit_meta_d_threshold`.

    Arguments are those of :func:`threshold_table`, and ``padding`` is that of :func:`fit_meta_d_threshold`. The result
    is an Estimate, or an array (R,) for R rows of weights.

    Examples
    --------
    >>> round(meta_d_threshold([1, 1, 1, 1, 0, 0], [1.0, 1.0, 0.95, 0.5, 0.95, 0.2]), 3)
    0.932
    """
    table = threshold_table(correct, confidence, threshold, weights=weights)
    return copy_result(_fit(table, padding=padding).meta_d)


def d_prime_threshold(
    correct: ArrayLike,
    confidence: ArrayLike,
    threshold: float = 0.9,
    *,
    padding: Padding = "1/2K",
    weights: Weights = None,
) -> Result:
    """Compute d' = 2 z(accuracy), the denominator of :func:`m_ratio_threshold`.

    Arguments and shapes are those of :func:`meta_d_threshold`. The result does not depend on confidence.

    Examples
    --------
    >>> round(d_prime_threshold([1, 1, 1, 1, 0, 0], [1.0, 1.0, 0.95, 0.5, 0.95, 0.2]), 3)
    0.637
    """
    table = threshold_table(correct, confidence, threshold, weights=weights)
    return copy_result(_fit(table, padding=padding).d_prime)


def m_ratio_threshold(
    correct: ArrayLike,
    confidence: ArrayLike,
    threshold: float = 0.9,
    *,
    padding: Padding = "1/2K",
    weights: Weights = None,
) -> Result:
    """Compute M-ratio, meta-d' / d', from confidence that is split at a threshold, by :func:`fit_meta_d_threshold`.

    Arguments and shapes are those of :func:`meta_d_threshold`. M-ratio is unstable if d' is near 0; see ``unstable`` of
    :func:`fit_meta_d_threshold`.

    Examples
    --------
    >>> round(m_ratio_threshold([1, 1, 1, 1, 0, 0], [1.0, 1.0, 0.95, 0.5, 0.95, 0.2]), 3)
    1.462
    """
    table = threshold_table(correct, confidence, threshold, weights=weights)
    return copy_result(_fit(table, padding=padding).m_ratio)


def threshold_influence(
    correct: ArrayLike,
    confidence: ArrayLike,
    threshold: float = 0.9,
    *,
    quantity: Literal["meta_d", "m_ratio"] = "m_ratio",
    padding: Padding = "1/2K",
    weights: Weights = None,
) -> tuple[FloatArray, FloatArray]:
    """Compute the influence of each trial on meta-d' or M-ratio of confidence that is split at a threshold.

    Parameters
    ----------
    correct, confidence, threshold, weights
        As in :func:`threshold_table`.
    padding
        As in :func:`fit_meta_d_threshold`.
    quantity : {"meta_d", "m_ratio"}, default "m_ratio"
        Statistic whose influence values are computed.

    Returns
    -------
    influence : ndarray, shape (R, n)
        Influence of each trial, counted once whatever its weight: the derivative with respect to the count of its cell
        in the padded table, minus the mean of this derivative over trials.
    extra_variance : ndarray, shape (R,)
        Variance due to the padding: half the sum of squares of the four derivatives.

    Examples
    --------
    >>> influence, _ = threshold_influence([1, 1, 1, 1, 0, 0], [1.0, 1.0, 0.95, 0.5, 0.95, 0.2])
    >>> influence.round(2)
    array([[-0.06, -0.06, -0.06, -1.74, -0.13,  2.03]])
    """
    right, stated, weighting = trials(correct, confidence, weights, binary=True)
    cell = _cells(right, stated, threshold)
    table = threshold_table(correct, confidence, threshold, weights=weighting.rows)
    counts = table.reshape(-1, 4)
    fit = _fit(table, padding=padding)
    meta_d, d_prime = np.asarray(fit.meta_d), np.asarray(fit.d_prime)
    gradient = _count_gradient(counts + _PADDING[padding], meta_d, d_prime if quantity == "m_ratio" else None)
    gradient = np.where(np.isfinite(gradient).all(axis=1, keepdims=True), gradient, np.nan)
    mean = ratio((counts * gradient).sum(axis=1), counts.sum(axis=1))
    return np.take(gradient.T - mean, cell, axis=0).T, 0.5 * np.square(gradient).sum(axis=1)


@np.errstate(all="ignore")  # NaN if meta-d' is not defined
def _count_gradient(counts: FloatArray, meta_d: FloatArray, d_prime: FloatArray | None) -> FloatArray:
    """Return the derivatives of meta-d', or of M-ratio if d' is given, with respect to the four counts, (R, 4)."""
    wrong_low, wrong_high, right_low, right_high = counts.T
    right, wrong = right_low + right_high, wrong_low + wrong_high
    # By the implicit function theorem, applied to _equation.
    _, slope, hit_slope, false_alarm_slope = _equation(
        meta_d, right_high / right, right_low / right, wrong_high / wrong, wrong_low / wrong
    )
    hit, false_alarm = -hit_slope / slope / right**2, -false_alarm_slope / slope / wrong**2
    meta_d_gradient = np.stack(
        [-false_alarm * wrong_high, false_alarm * wrong_low, -hit * right_high, hit * right_low], axis=1
    )
    if d_prime is None:
        return meta_d_gradient
    # d' = 2 z(right / (right + wrong)), and the normal density at this z is that at d' / 2.
    rate = 2.0 * _ROOT_TWO_PI * np.exp(0.125 * np.square(d_prime)) / np.square(right + wrong)
    d_prime_gradient = np.stack([-rate * right, -rate * right, rate * wrong, rate * wrong], axis=1)
    m_ratio = (meta_d / d_prime)[:, np.newaxis]
    return np.asarray((meta_d_gradient - m_ratio * d_prime_gradient) / d_prime[:, np.newaxis])


def threshold_incomparable(
    correct: ArrayLike,
    confidence: ArrayLike,
    threshold: float = 0.9,
    *,
    quantity: Literal["meta_d", "m_ratio"] = "m_ratio",
    weights: Weights = None,
) -> Reason | None:
    """Return the reason why meta-d' or M-ratio of these trials should not be compared with others, or None.

    Parameters
    ----------
    correct, confidence, threshold, quantity
        As in :func:`threshold_influence`.
    weights : array_like, shape (n,), optional
        Frequency weight of each trial.

    Returns
    -------
    Reason or None
        That d' is unstable (for M-ratio only), or that the expected number of wrong answers with high confidence is
        below one half. The expectation is that of an ideal observer with the same accuracy and the same number of
        answers with high confidence. Below one half, meta-d' would be determined by the padding. The observed number is
        not used, because it is low whenever meta-d' is high by chance.

    Examples
    --------
    >>> import numpy as np
    >>> threshold_incomparable(np.repeat([1, 0], [80, 20]), np.tile([0.95, 0.5], 50))
    >>> threshold_incomparable(np.repeat([1, 0], [99, 1]), np.tile([0.95, 0.5, 0.5, 0.5], 25))
    <Reason.EMPTY_CELL: 'too few wrong answers expected above the threshold'>
    """
    table = threshold_table(correct, confidence, threshold, weights=weights)
    wrong, right = table.sum(axis=1)
    n_high, n = table[:, 1].sum(), table.sum()
    if min(wrong, right) == 0.0:
        return Reason.ONE_CLASS
    if not 0.0 < n_high < n:
        return Reason.ONE_SIDE
    fit = fit_meta_d_threshold(table)
    if quantity == "m_ratio" and fit.unstable:
        return Reason.UNSTABLE
    half = abs(float(fit.d_prime)) / 2.0

    def excess(criterion: FloatArray) -> FloatArray:
        above = scipy.special.ndtr(half - criterion) + scipy.special.ndtr(-half - criterion)
        return np.asarray(n * above - n_high)

    # Not by scipy.optimize, which takes longer to import than all these roots.
    root = decreasing_root(excess, np.zeros(1), np.full(1, _MAX_CRITERION), tolerance=1e-10 * n)
    criterion = float(root[0])
    expected_count = n * float(scipy.special.ndtr(-half - criterion))
    return Reason.EMPTY_CELL if expected_count < _MIN_EXPECTED_COUNT else None


@np.errstate(all="ignore")  # values of tables without a root are discarded
def _solve(
    right_low: FloatArray, right_high: FloatArray, wrong_low: FloatArray, wrong_high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return meta-d' and its variance by safeguarded Newton steps; NaN if there is no finite root."""
    right, wrong = right_low + right_high, wrong_low + wrong_high
    hit, false_alarm = right_high / right, wrong_high / wrong
    # Exchanging the two rates changes the sign of the root: solve for m >= 0.
    reverse = hit < false_alarm
    high, high_rest, low, low_rest = np.where(
        reverse,
        [false_alarm, wrong_low / wrong, hit, right_low / right],
        [hit, right_low / right, false_alarm, wrong_low / wrong],
    )
    has_root = (low > 0.0) & (high_rest > 0.0)
    m = np.where(has_root, _START_FACTOR * (_z(high, high_rest) - _z(low, low_rest)), 0.0)
    lower, upper = np.zeros_like(m), np.full_like(m, np.inf)
    for _ in range(_MAX_STEPS):
        value, slope, high_slope, low_slope = _equation(m, high, high_rest, low, low_rest)
        lower, upper = np.where(value > 0.0, m, lower), np.where(value < 0.0, m, upper)
        newton = m - value / slope
        inside = (newton >= lower) & (newton <= upper)
        new_m = np.where(inside, newton, np.where(np.isfinite(upper), 0.5 * (lower + upper), 2.0 * m))
        change = np.abs(new_m - m)
        m = new_m
        if not (has_root & (change > _ROOT_TOLERANCE)).any():
            break
    # The slopes are those before the last step, which is shorter than the tolerance.
    high_variance, low_variance = np.where(
        reverse, [1.0 / wrong, 1.0 / right], [1.0 / right, 1.0 / wrong]
    ) * [high * high_rest, low * low_rest]
    variance = (high_slope**2 * high_variance + low_slope**2 * low_variance) / slope**2
    root = np.where(reverse, -m, m)
    return np.where(has_root, root, np.nan), np.where(has_root, variance, np.nan)


def _equation(
    m: FloatArray, high: FloatArray, high_rest: FloatArray, low: FloatArray, low_rest: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return z(high Phi(m/2)) - z(low Phi(-m/2)) - m and its derivatives with respect to m, high and low."""
    wrong = scipy.special.ndtr(-0.5 * m)
    right = 1.0 - wrong
    z_high, z_low = _z(high * right, high_rest + high * wrong), _z(low * wrong, low_rest + low * right)
    # Derivatives of z(p): the reciprocals of the normal density.
    z_high_slope, z_low_slope = (_ROOT_TWO_PI * np.exp(0.5 * np.square(z)) for z in (z_high, z_low))
    density = np.exp(-0.125 * np.square(m)) / _ROOT_TWO_PI
    slope = 0.5 * density * (z_high_slope * high + z_low_slope * low) - 1.0
    return z_high - z_low - m, slope, z_high_slope * right, -z_low_slope * wrong


def _z(p: FloatArray, rest: FloatArray) -> FloatArray:
    """Return z(p), computed from the smaller of p and ``rest`` = 1 - p."""
    lower = p <= rest
    z = scipy.special.ndtri(np.where(lower, p, rest))
    return np.where(lower, z, -z)
