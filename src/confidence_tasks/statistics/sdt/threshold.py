"""Meta-d' from confidence split in two: one equation with one root, for items of any kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import FloatArray, Reason, check_option
from confidence_tasks.statistics.inference.weights import Result, Weights, ratio, settle, trials
from confidence_tasks.statistics.sdt.count_tables import Padding, own, remembered
from confidence_tasks.statistics.sdt.meta_d import Metacognition, summary
from confidence_tasks.statistics.sdt.sensitivity import z_rate

#: Per cell of the 2 x 2 table. It folds a table with two ratings a side, whose cells it adds up in pairs.
_PADDING = {"1/2K": 0.5, "hautus": 0.5, "none": 0.0}

#: The root is about this multiple of z(HR2) - z(FAR2).
_NEAR = 1.7
_MOST_STEPS = 100
_ROOT_TOLERANCE = 1e-11
#: Bound of the search for the criterion, in standard deviations.
_FARTHEST = 40.0
#: Expected number of wrong answers above the threshold below which that cell counts as empty.
_HARDLY_ANY = 0.5
_ROOT_TWO_PI = np.sqrt(2.0 * np.pi)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdMetaD(Metacognition):
    """Meta-d' of confidence split in two, of one table or of a batch.

    To the attributes of :class:`Metacognition` it adds, each for one table an Estimate, for a batch an array (B,):

    Attributes
    ----------
    accuracy : Estimate or ndarray
        Of the padded table.
    hit_rate2, false_alarm_rate2 : Estimate or ndarray
        P(high confidence | correct) and P(high confidence | wrong), of the padded table.
    """

    accuracy: Result
    hit_rate2: Result
    false_alarm_rate2: Result


def threshold_table(
    correct: ArrayLike, confidence: ArrayLike, threshold: float = 0.9, *, weights: Weights = None
) -> FloatArray:
    """Count wrong and correct answers with confidence up to the threshold and above it.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1 or 0.
    confidence : array_like, shape (n,)
        In [0, 1].
    threshold : float, default 0.9
        High confidence is strictly above it.
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
    right, sure, weighting = trials(correct, confidence, weights, binary=True)
    cell = 2 * right.astype(np.intp) + (sure > threshold)
    tables = weighting.grouped(cell, 4, np.ones(len(cell))).reshape(-1, 2, 2)
    return tables if weighting.batch else tables[0]


def fit_meta_d_threshold(table: ArrayLike, *, padding: Padding = "1/2K") -> ThresholdMetaD:
    """Solve for meta-d' from a type-2 table of 2 x 2 counts, or from a batch of them.

    An unbiased observer with two choices and sensitivity m is correct with probability Phi(m / 2), and confident
    with ``HR2 = Phi(m/2 - tau) / Phi(m/2)`` if correct, ``FAR2 = Phi(-m/2 - tau) / Phi(-m/2)`` if wrong. Without
    tau: ``z(HR2 Phi(m/2)) - z(FAR2 Phi(-m/2)) - m = 0``, which falls in m and has one root. Type-1 d' is
    2 z(accuracy), so that such an observer has M-ratio 1 whatever its threshold.

    Parameters
    ----------
    table : array_like, shape (2, 2) or (B, 2, 2)
        ``[[wrong low, wrong high], [correct low, correct high]]``, non-negative counts.
    padding : {"1/2K", "hautus", "none"}, default "1/2K"
        Both conventions add 0.5 to each cell, as Dai (2026) does: the table folds one of two ratings a side,
        whose cells 1/(2K) = 0.25 come in pairs.

    Returns
    -------
    ThresholdMetaD
        Values are NaN, with a reason, without trials, if all answers are correct or all wrong, if all confidence
        falls on one side, or if there is no finite root (without padding).

    Notes
    -----
    Dai (2026, arXiv:2603.09309) does not define its type-1 d'. What it publishes amounts to d' of about 1.96 at
    any accuracy from .58 to .85, which no increasing function of accuracy gives: its M-ratios are not
    comparable with these.

    References
    ----------
    Maniscalco & Lau (2012), doi:10.1016/j.concog.2011.09.021, for one criterion a side and no bias.

    Examples
    --------
    >>> result = fit_meta_d_threshold([[50, 50], [10, 90]], padding="none")
    >>> round(result.meta_d, 4)
    2.4176
    """
    counts = np.asarray(table, dtype=np.float64)
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
    missing = cells.sum(axis=2) == 0.0
    empty = (missing.all(axis=1), Reason.EMPTY), (missing.any(axis=1), Reason.ONE_CLASS)
    d_cases = *empty, (~np.isfinite(d_prime), Reason.NOT_IDENTIFIED)
    one_side = (cells.sum(axis=1) == 0.0).any(axis=1)
    cases = *empty, (one_side, Reason.CONSTANT), (~np.isfinite(meta_d), Reason.NOT_IDENTIFIED)
    # Given how many answers are right, the type-2 rates and accuracy vary independently.
    moments = d_prime, d_variance, meta_d, meta_variance, np.zeros_like(meta_d)
    return ThresholdMetaD(
        **summary(*moments, d_cases=d_cases, m_cases=cases, batch=batch),
        accuracy=settle(accuracy.rate, d_cases, batch),
        hit_rate2=settle(ratio(right_high, right), d_cases, batch),
        false_alarm_rate2=settle(ratio(wrong_high, wrong), d_cases, batch),
    )


_fit = remembered(fit_meta_d_threshold)


def meta_d_threshold(
    correct: ArrayLike,
    confidence: ArrayLike,
    threshold: float = 0.9,
    *,
    padding: Padding = "1/2K",
    weights: Weights = None,
) -> Result:
    """Compute meta-d' from confidence split at a threshold, as :func:`fit_meta_d_threshold` does of its table.

    Arguments are those of :func:`threshold_table`, and the ``padding`` of :func:`fit_meta_d_threshold`. The result is
    an Estimate, or an array (R,).

    Examples
    --------
    >>> round(meta_d_threshold([1, 1, 1, 1, 0, 0], [1.0, 1.0, 0.95, 0.5, 0.95, 0.2]), 3)
    0.932
    """
    table = threshold_table(correct, confidence, threshold, weights=weights)
    return own(_fit(table, padding=padding).meta_d)


def m_ratio_threshold(
    correct: ArrayLike,
    confidence: ArrayLike,
    threshold: float = 0.9,
    *,
    padding: Padding = "1/2K",
    weights: Weights = None,
) -> Result:
    """Compute meta-d' / d' from confidence split at a threshold, as :func:`fit_meta_d_threshold` does of its table.

    Arguments and shapes are those of :func:`meta_d_threshold`. Unstable where d' is near 0:
    :func:`fit_meta_d_threshold` says so in ``unstable``.

    Examples
    --------
    >>> round(m_ratio_threshold([1, 1, 1, 1, 0, 0], [1.0, 1.0, 0.95, 0.5, 0.95, 0.2]), 3)
    1.462
    """
    table = threshold_table(correct, confidence, threshold, weights=weights)
    return own(_fit(table, padding=padding).m_ratio)


def threshold_influence(
    correct: ArrayLike,
    confidence: ArrayLike,
    threshold: float = 0.9,
    *,
    quantity: Literal["meta_d", "m_ratio"] = "m_ratio",
    padding: Padding = "1/2K",
    weights: Weights = None,
) -> tuple[FloatArray, FloatArray]:
    """Compute how much each trial moves meta-d' or M-ratio of confidence split at a threshold.

    Parameters
    ----------
    correct, confidence, threshold, weights
        As in :func:`threshold_table`.
    padding
        As in :func:`fit_meta_d_threshold`.
    quantity : {"meta_d", "m_ratio"}, default "m_ratio"
        Of which; M-ratio divides by the d' of two alternatives.

    Returns
    -------
    influence : ndarray, shape (R, n)
        Of each trial, once: the derivative with respect to its cell of the padded table, less the mean over trials.
    added : ndarray, shape (R,)
        Variance of the additions to the cells: half of the sum of squares of the four derivatives.

    Examples
    --------
    >>> influence, added = threshold_influence([1, 1, 1, 1, 0, 0], [1.0, 1.0, 0.95, 0.5, 0.95, 0.2])
    >>> influence.round(2)
    array([[-0.06, -0.06, -0.06, -1.74, -0.13,  2.03]])
    """
    right, sure, weighting = trials(correct, confidence, weights, binary=True)
    cell = 2 * right.astype(np.intp) + (sure > threshold)
    table = threshold_table(correct, confidence, threshold, weights=weighting.rows)
    held = table.reshape(-1, 4)
    fit = _fit(table, padding=padding)
    meta_d, d_prime = np.asarray(fit.meta_d), np.asarray(fit.d_prime)
    slopes = _slopes(held + _PADDING[padding], meta_d, d_prime if quantity == "m_ratio" else None)
    slopes = np.where(np.isfinite(slopes).all(axis=1, keepdims=True), slopes, np.nan)
    mean = ratio((held * slopes).sum(axis=1), held.sum(axis=1))
    return np.take(slopes.T - mean, cell, axis=0).T, 0.5 * np.square(slopes).sum(axis=1)


@np.errstate(all="ignore")  # NaN where there is no meta-d'
def _slopes(cells: FloatArray, meta_d: FloatArray, d_prime: FloatArray | None) -> FloatArray:
    """Return the derivatives of meta-d', or of its ratio to d', with respect to the four cells, shape (R, 4)."""
    wrong_low, wrong_high, right_low, right_high = cells.T
    right, wrong = right_low + right_high, wrong_low + wrong_high
    _, slope, by_hit, by_false = _equation(
        meta_d, right_high / right, right_low / right, wrong_high / wrong, wrong_low / wrong
    )
    of_hit, of_false = -by_hit / slope / right**2, -by_false / slope / wrong**2
    of_meta_d = np.stack(
        [-of_false * wrong_high, of_false * wrong_low, -of_hit * right_high, of_hit * right_low], axis=1
    )
    if d_prime is None:
        return of_meta_d
    # d' = 2 z(right / all); the density at z is that at d' / 2.
    of_rate = 2.0 * _ROOT_TWO_PI * np.exp(0.125 * np.square(d_prime)) / np.square(right + wrong)
    of_d_prime = np.stack([-of_rate * right, -of_rate * right, of_rate * wrong, of_rate * wrong], axis=1)
    m_ratio = (meta_d / d_prime)[:, np.newaxis]
    return np.asarray((of_meta_d - m_ratio * of_d_prime) / d_prime[:, np.newaxis])


def threshold_incomparable(
    correct: ArrayLike,
    confidence: ArrayLike,
    threshold: float = 0.9,
    *,
    quantity: Literal["meta_d", "m_ratio"] = "m_ratio",
    weights: Weights = None,
) -> Reason | None:
    """Return the reason to withhold a difference of meta-d' or M-ratio of such trials, or None.

    Parameters
    ----------
    correct, confidence, threshold, quantity
        As in :func:`threshold_influence`.
    weights : array_like, shape (n,), optional
        Frequency weight of each trial.

    Returns
    -------
    Reason or None
        That d' is about 0 (of M-ratio only), or that the cell of wrong and sure answers is expected to be empty: an
        ideal observer of this accuracy and with so many sure answers would have less than half a trial in it, and the
        addition of one half would then say what meta-d' is. The count that was seen does not decide: it is low where
        meta-d' is high by chance.

    Examples
    --------
    >>> import numpy as np
    >>> threshold_incomparable(np.repeat([1, 0], [80, 20]), np.tile([0.95, 0.5], 50))
    >>> threshold_incomparable(np.repeat([1, 0], [99, 1]), np.tile([0.95, 0.5, 0.5, 0.5], 25))
    <Reason.EMPTY_CELL: 'too few wrong answers above the threshold expected'>
    """
    table = threshold_table(correct, confidence, threshold, weights=weights)
    wrong, right = table.sum(axis=1)
    sure, n = table[:, 1].sum(), table.sum()
    if min(wrong, right) == 0.0:
        return Reason.ONE_CLASS
    if not 0.0 < sure < n:
        return Reason.CONSTANT
    fit = fit_meta_d_threshold(table)
    if quantity == "m_ratio" and fit.unstable:
        return Reason.UNSTABLE
    half = abs(float(fit.d_prime)) / 2.0

    def surplus(criterion: float) -> float:
        return float(
            n * (scipy.special.ndtr(half - criterion) + scipy.special.ndtr(-half - criterion)) - sure
        )

    criterion = float(scipy.optimize.brentq(surplus, 0.0, _FARTHEST))
    return Reason.EMPTY_CELL if n * float(scipy.special.ndtr(-half - criterion)) < _HARDLY_ANY else None


@np.errstate(all="ignore")  # tables without a root are told apart by their counts
def _solve(
    right_low: FloatArray, right_high: FloatArray, wrong_low: FloatArray, wrong_high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return meta-d' and its variance, NaN where there is no finite root."""
    right, wrong = right_low + right_high, wrong_low + wrong_high
    hit, false_alarm = right_high / right, wrong_high / wrong
    # Exchanging the two rates changes the sign of the root: solve for m >= 0.
    reverse = hit < false_alarm
    high, high_rest, low, low_rest = np.where(
        reverse,
        [false_alarm, wrong_low / wrong, hit, right_low / right],
        [hit, right_low / right, false_alarm, wrong_low / wrong],
    )
    rooted = (low > 0.0) & (high_rest > 0.0)
    m = np.where(rooted, _NEAR * (_z(high, high_rest) - _z(low, low_rest)), 0.0)
    bottom, top = np.zeros_like(m), np.full_like(m, np.inf)
    for _ in range(_MOST_STEPS):
        value, slope, by_high, by_low = _equation(m, high, high_rest, low, low_rest)
        bottom, top = np.where(value > 0.0, m, bottom), np.where(value < 0.0, m, top)
        newton = m - value / slope
        inside = (newton >= bottom) & (newton <= top)
        moved = np.where(inside, newton, np.where(np.isfinite(top), 0.5 * (bottom + top), 2.0 * m))
        change = np.abs(moved - m)
        m = moved
        if not (rooted & (change > _ROOT_TOLERANCE)).any():
            break
    # The slopes are those at the last step but one, less than the tolerance away.
    high_variance, low_variance = np.where(
        reverse, [1.0 / wrong, 1.0 / right], [1.0 / right, 1.0 / wrong]
    ) * [high * high_rest, low * low_rest]
    variance = (by_high**2 * high_variance + by_low**2 * low_variance) / slope**2
    root = np.where(reverse, -m, m)
    return np.where(rooted, root, np.nan), np.where(rooted, variance, np.nan)


def _equation(
    m: FloatArray, high: FloatArray, high_rest: FloatArray, low: FloatArray, low_rest: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return value and slope in m of z(high Phi(m/2)) - z(low Phi(-m/2)) - m, and its slopes in high and low."""
    wrong = scipy.special.ndtr(-0.5 * m)
    right = 1.0 - wrong
    z_high, z_low = _z(high * right, high_rest + high * wrong), _z(low * wrong, low_rest + low * right)
    by_high, by_low = (
        _ROOT_TWO_PI * np.exp(0.5 * np.square(z_high)),
        _ROOT_TWO_PI * np.exp(0.5 * np.square(z_low)),
    )
    density = np.exp(-0.125 * np.square(m)) / _ROOT_TWO_PI
    slope = 0.5 * density * (by_high * high + by_low * low) - 1.0
    return z_high - z_low - m, slope, by_high * right, -by_low * wrong


def _z(p: FloatArray, rest: FloatArray) -> FloatArray:
    """Return z(p) from p and 1 - p, whichever is smaller."""
    lower = p <= rest
    z = scipy.special.ndtri(np.where(lower, p, rest))
    return np.where(lower, z, -z)
