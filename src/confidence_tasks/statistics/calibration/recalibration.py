"""Recalibration of confidence: logistic regression, and cross-fitted recalibration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import (
    BoolArray,
    FloatArray,
    Reason,
    as_binary,
    as_floats,
    as_probability,
    check_option,
    check_seed,
    decreasing_root,
    label_index,
    same_length,
)
from confidence_tasks.statistics.inference.weights import (
    Result,
    Seed,
    Tied,
    Weighting,
    Weights,
    ratio,
    tied,
    trials,
)

_MAX_STEPS = 100
_TOLERANCE = 1e-9


class LogisticCurve(NamedTuple):
    """Maximum-likelihood fit of P(success) = expit(intercept + slope * x), shape (R,); NaN if it does not exist."""

    intercept: FloatArray
    slope: FloatArray


def extent(x: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest x with a positive weight in each row, (R,); inf and -inf if there is none."""
    present = weights > 0.0
    lowest = np.where(present, x, np.inf).min(axis=1, initial=np.inf)
    return lowest, np.where(present, x, -np.inf).max(axis=1, initial=-np.inf)


def fit_logistic(x: FloatArray, counts: FloatArray, successes: FloatArray) -> LogisticCurve:
    """Fit logistic regressions on one variable by damped Newton steps, one for each row of counts.

    ``x`` (g,) are the values of the regressor, ``counts`` (R, g) the weights of the trials at these values and
    ``successes`` (R, g) the weights of the successes among them. The slope is 0 if all weight is at one value of x and
    both outcomes occur.

    If a step changes the linear predictor by at most r, the curvature of the likelihood changes by a factor of at most
    e^r. So log(1 + r) / r times the Newton step increases the likelihood from any start, and no line search is needed
    (Bach 2010, doi:10.1214/09-EJS521).
    """
    total = counts.sum(axis=1)
    center = ratio(counts @ x, total)
    deviation = np.where(counts > 0.0, x - center[:, None], 0.0)
    scale = np.sqrt(ratio((counts * deviation**2).sum(axis=1), total))
    constant = np.abs(deviation).max(axis=1, initial=0.0) <= _TOLERANCE * np.abs(center)
    constant |= scale == 0.0  # deviations whose squares underflow
    z = deviation / np.where(constant | np.isnan(scale), 1.0, scale)[:, None]

    failures = counts - successes
    both_outcomes = (successes.sum(axis=1) > 0.0) & (failures.sum(axis=1) > 0.0)
    # If a value of x separates the outcomes, the slope is infinite.
    (low_success, high_success), (low_failure, high_failure) = extent(x, successes), extent(x, failures)
    overlap = (high_failure > low_success) & (high_success > low_failure)
    has_maximum = both_outcomes & (constant | overlap)
    intercept, slope = np.zeros((2, len(counts)))
    active = has_maximum.copy()
    for _ in range(_MAX_STEPS):
        rows = np.flatnonzero(active)
        if not len(rows):
            break
        d_intercept, d_slope = _newton_step(
            z[rows], counts[rows], successes[rows], intercept[rows], slope[rows], constant[rows]
        )
        change = np.abs(d_intercept[:, None] + d_slope[:, None] * z[rows]).max(axis=1)
        damping = np.where(change > 0.0, np.log1p(change) / np.where(change > 0.0, change, 1.0), 1.0)
        intercept[rows] += damping * d_intercept
        slope[rows] += damping * d_slope
        active[rows] = change > _TOLERANCE * (1.0 + np.abs(intercept[rows]) + np.abs(slope[rows]))
    converged = has_maximum & ~active
    slope = np.where(converged, slope / np.where(constant | ~converged, 1.0, scale), np.nan)
    return LogisticCurve(np.where(converged, intercept - slope * center, np.nan), slope)


def _newton_step(
    z: FloatArray,
    counts: FloatArray,
    successes: FloatArray,
    intercept: FloatArray,
    slope: FloatArray,
    constant: BoolArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the Newton step of intercept and slope, shape (R,) each; NaN if the Hessian is singular by rounding."""
    probability = scipy.special.expit(intercept[:, None] + slope[:, None] * z)
    residual = successes - counts * probability
    curvature = counts * probability * (1.0 - probability)
    gradient = residual.sum(axis=1), (residual * z).sum(axis=1)
    h00 = curvature.sum(axis=1)
    h01 = (curvature * z).sum(axis=1)
    h11 = np.where(constant, 1.0, (curvature * z * z).sum(axis=1))  # if constant, the step of the slope is 0
    determinant = h00 * h11 - h01**2
    determinant = np.where(determinant > 0.0, determinant, np.nan)
    return (
        (h11 * gradient[0] - h01 * gradient[1]) / determinant,
        (h00 * gradient[1] - h01 * gradient[0]) / determinant,
    )


DEFAULT_CLIP = 0.005
"""Half a percentage point: a stated 100% is treated as 99.5%."""


@dataclass(frozen=True, slots=True)
class LogisticRecalibration:
    """Fit of ``logit P(correct) = intercept + slope * logit(confidence)``.

    Attributes
    ----------
    intercept : Estimate or ndarray, shape (R,)
        0 for perfect calibration.
    slope : Estimate or ndarray, shape (R,)
        1 for perfect calibration, below 1 if confidence is too extreme, 0 if it is uninformative.
    clip : float
        Confidence is clipped to [clip, 1 - clip].
    """

    intercept: Result
    slope: Result
    clip: float

    def apply(self, confidence: ArrayLike) -> FloatArray:
        """Recalibrate confidence of shape (n,); only for a fit without rows of weights."""
        logits = _logits(as_probability(confidence, "confidence"), self.clip)
        return np.asarray(scipy.special.expit(self.intercept + self.slope * logits))


def logistic_recalibration(
    correct: ArrayLike, confidence: ArrayLike, *, clip: float = DEFAULT_CLIP, weights: Weights = None
) -> LogisticRecalibration:
    """Regress correctness on the logit of confidence by maximum likelihood.

    Parameters
    ----------
    correct, confidence, weights
        As in :func:`~confidence_tasks.statistics.ece`.
    clip : float, default 0.005
        Clip confidence to [clip, 1 - clip] first, as the logits of 0 and 1 are infinite; in (0, 0.5).

    Returns
    -------
    LogisticRecalibration
        Intercept and slope. NaN without trials, if all answers are right or all wrong, if confidence is constant, or
        if a threshold of confidence separates right from wrong answers, as the slope is then infinite.

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
        _one_class(counts, hits),
        (np.count_nonzero(counts, axis=1) < 2, Reason.CONSTANT),
        (np.isnan(curve.slope), Reason.NOT_IDENTIFIED),
    )
    return LogisticRecalibration(
        weighting.settle(curve.intercept, *cases), weighting.settle(curve.slope, *cases), clip
    )


def calibration_slope(
    correct: ArrayLike, confidence: ArrayLike, *, clip: float = DEFAULT_CLIP, weights: Weights = None
) -> Result:
    """Compute the slope of :func:`logistic_recalibration`.

    Arguments, shapes and missing values are those of :func:`logistic_recalibration`. The slope is 1 for perfect
    calibration and below 1 if confidence is too extreme.

    Examples
    --------
    >>> round(calibration_slope([1, 0, 1, 1, 1, 0, 1, 1], [0.6] * 3 + [0.9] * 5), 4)
    0.3869
    """
    return logistic_recalibration(correct, confidence, clip=clip, weights=weights).slope


def calibration_intercept(
    correct: ArrayLike, confidence: ArrayLike, *, clip: float = DEFAULT_CLIP, weights: Weights = None
) -> Result:
    """Compute calibration in the large: the shift of the logit of confidence at which mean confidence equals accuracy.

    This is the intercept of a logistic recalibration whose slope is fixed at 1, in logits. It is 0 for perfect
    calibration and negative for an overconfident subject. It is NaN without trials, or if all answers are right or all
    wrong, as the shift is then infinite.

    Arguments and shapes are those of :func:`logistic_recalibration`. The source is Van Calster et al. (2016).

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
        # Rows of one class have no root; weighting.settle() turns them into NaN.
        return np.where(one_class[0], 0.0, (accuracy - expected) / (accuracy * (1.0 - accuracy)))

    level = scipy.special.logit(accuracy)
    shift = decreasing_root(shortfall, level - x.max(initial=0.0), level - x.min(initial=0.0))
    return weighting.settle(shift, one_class)


def _logits(confidence: FloatArray, clip: float) -> FloatArray:
    return np.asarray(scipy.special.logit(np.clip(confidence, clip, 1.0 - clip)))


def _logit_groups(
    correct: ArrayLike, confidence: ArrayLike, clip: float, weights: Weights
) -> tuple[Tied, Weighting]:
    if not 0.0 < clip < 0.5:
        raise ValueError(f"clip must lie in (0, 0.5), got {clip}")
    right, stated, weighting = trials(correct, confidence, weights)
    return tied(_logits(stated, clip), weighting, right), weighting


def _one_class(counts: FloatArray, hits: FloatArray) -> tuple[BoolArray, Reason]:
    return (hits.sum(axis=1) <= 0.0) | ((counts - hits).sum(axis=1) <= 0.0), Reason.ONE_CLASS


RecalibrationMethod: TypeAlias = Literal["isotonic", "beta", "logistic", "histogram"]
_Fit: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""``fit(correct, inputs, new)`` fits ``correct`` on ``inputs`` and returns P(correct) at the ``new`` inputs."""


def cross_fitted_confidence(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    method: RecalibrationMethod = "isotonic",
    available: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    folds: int = 5,
    seed: Seed = 0,
) -> FloatArray:
    """Recalibrate the confidence of each trial, by cross-fitting over questions.

    Questions are split into folds at random. The confidence in a fold is recalibrated by a curve that is fitted to all
    other folds. Pass the result to :func:`~confidence_tasks.statistics.decision.scaffold_utility` to compute the
    utility lost by miscalibration.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1, 0, or the probability that the answer is right. Values of trials without an answer are ignored but must lie
        in [0, 1].
    confidence : array_like, shape (n,)
        Confidence in [0, 1].
    method : {"isotonic", "beta", "logistic", "histogram"}, default "isotonic"
        ``"isotonic"`` is isotonic regression, interpolated linearly between its steps. ``"logistic"`` is logistic
        regression on the logit of confidence, with Platt's smoothed targets in place of 1 and 0, so that the fit exists
        for every sample. ``"beta"`` is beta calibration: the logit of the result is a log(c) - b log(1 - c) + m with
        a, b >= 0, for the same targets. ``"histogram"`` is the accuracy in each of at most ten bins of equal mass.
    available : array_like, shape (n,), optional
        1 if the model gave an answer, 0 if it abstained without one. Trials without an answer are recalibrated, but not
        used for fitting. By default every trial has an answer.
    clusters : array_like, shape (n,), optional
        Label of the question of each trial. By default every trial is a question of its own.
    folds : int, default 5
        Number of folds, 2 or more; at most the number of questions is used.
    seed : int or numpy.random.Generator, default 0
        Seed of the split.

    Returns
    -------
    ndarray, shape (n,)
        Recalibrated confidence in [0, 1]; NaN if no other fold contains an answer.

    References
    ----------
    Zadrozny & Elkan (2002), Transforming classifier scores into accurate multiclass probability estimates,
    doi:10.1145/775047.775151. Platt (1999), Probabilistic outputs for support vector machines. Kull, Silva Filho &
    Flach (2017), Beta calibration, PMLR 54:623-631.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(5000)
    >>> recalibrated = cross_fitted_confidence(rng.random(5000) < truth, truth**0.25)
    >>> bool(np.abs(recalibrated - truth).mean() < 0.03)
    True
    """
    right, stated = as_probability(correct, "correct"), as_probability(confidence, "confidence")
    n = same_length(correct=right, confidence=stated)
    has_answer = np.ones(n) if available is None else as_binary(available, "available")
    same_length(correct=right, available=has_answer)
    check_option("method", method, FITS)
    return _cross_fit(FITS[method], right, stated, has_answer > 0.0, clusters, folds, seed)


def cross_fitted_logistic(
    correct: ArrayLike,
    features: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    folds: int = 5,
    seed: Seed = 0,
    penalty: float = 1.0,
) -> FloatArray:
    r"""Predict the correctness of each trial from several features, by cross-fitted ridge logistic regression.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1 or 0.
    features : array_like, shape (n, k)
        Features in any unit, such as logits of probabilities or log-probabilities; NaN for missing values.
    clusters, folds, seed
        As in :func:`cross_fitted_confidence`.
    penalty : float, default 1.0
        Ridge penalty, above 0. Half the penalty times the sum of squared coefficients of the standardized features is
        added to the negative log-likelihood.

    Returns
    -------
    ndarray, shape (n,)
        Predicted probability that the answer is right; NaN if there is no other question.

    Notes
    -----
    Features are standardized by the trials used for fitting. Missing values are replaced by the mean, and an indicator
    of missing values is added if some, but not all, of these trials have the feature. Platt's smoothed targets are
    used, as in :func:`cross_fitted_confidence`, so that the fit exists for every sample.

    References
    ----------
    le Cessie & van Houwelingen (1992), Ridge estimators in logistic regression, doi:10.2307/2347628. Platt (1999).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> signals = rng.normal(size=(5000, 2))
    >>> truth = 1 / (1 + np.exp(-signals.sum(axis=1)))
    >>> predicted = cross_fitted_logistic(rng.random(5000) < truth, signals)
    >>> bool(np.abs(predicted - truth).mean() < 0.02)
    True
    """
    right, inputs = as_binary(correct, "correct"), as_floats(features, "features")
    if inputs.ndim != 2 or len(inputs) != len(right):
        raise ValueError(f"features must have shape ({len(right)}, k), got {inputs.shape}")
    if np.isinf(inputs).any():
        raise ValueError("features must be finite, or NaN if missing")
    if not penalty > 0.0:
        raise ValueError(f"penalty must be above 0, got {penalty}")
    fit, usable = partial(_fit_ridge, penalty=penalty), np.ones(len(right), dtype=np.bool_)
    return _cross_fit(fit, right, inputs, usable, clusters, folds, seed)


def _cross_fit(
    fit: _Fit,
    correct: FloatArray,
    inputs: FloatArray,
    usable: BoolArray,
    clusters: ArrayLike | None,
    folds: int,
    seed: Seed,
) -> FloatArray:
    """Predict each fold of questions by a fit to the usable trials of the other folds; NaN if there are none."""
    if folds < 2:
        raise ValueError(f"folds must be 2 or more, got {folds}")
    question = label_index(clusters, "clusters", len(correct))
    n_questions = int(question.max(initial=-1)) + 1
    check_seed(seed)
    fold = (np.random.default_rng(seed).permutation(n_questions) % folds)[question]
    predicted = np.full(len(correct), np.nan)
    for k in range(min(folds, n_questions)):
        held_out = fold == k
        training = ~held_out & usable
        if training.any():
            predicted[held_out] = fit(correct[training], inputs[training], inputs[held_out])
    return predicted


def _fit_isotonic(correct: FloatArray, confidence: FloatArray, new: FloatArray) -> FloatArray:
    values, group, counts = np.unique(confidence, return_inverse=True, return_counts=True)
    accuracy = np.bincount(group, weights=correct) / counts
    steps = scipy.optimize.isotonic_regression(accuracy, weights=counts).x
    return np.interp(new, values, steps)


N_BINS = 10
"""Largest number of bins of a histogram."""


def upper_edges(confidence: FloatArray) -> FloatArray:
    """Return the distinct upper edges of at most ten bins of equal mass."""
    return np.unique(np.quantile(confidence, np.arange(1, N_BINS + 1) / N_BINS, method="inverted_cdf"))


def _fit_histogram(correct: FloatArray, confidence: FloatArray, new: FloatArray) -> FloatArray:
    edges = upper_edges(confidence)
    bins = np.searchsorted(edges, confidence)
    accuracy = np.bincount(bins, weights=correct) / np.bincount(bins)
    return np.asarray(accuracy[np.minimum(np.searchsorted(edges, new), len(edges) - 1)])


def _fit_beta(correct: FloatArray, confidence: FloatArray, new: FloatArray) -> FloatArray:
    targets, design = _platt_targets(correct), _beta_design(confidence)

    def loss(coefficients: FloatArray) -> tuple[float, FloatArray]:
        logits = design @ coefficients
        losses = np.logaddexp(0.0, logits) - targets * logits
        return float(losses.mean()), design.T @ (scipy.special.expit(logits) - targets) / len(targets)

    start, bounds = np.array([1.0, 1.0, 0.0]), [(0.0, None), (0.0, None), (None, None)]
    found = scipy.optimize.minimize(
        loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-10}
    ).x
    return np.asarray(scipy.special.expit(_beta_design(new) @ found))


def _beta_design(confidence: FloatArray) -> FloatArray:
    clipped = np.clip(confidence, DEFAULT_CLIP, 1.0 - DEFAULT_CLIP)
    return np.column_stack([np.log(clipped), -np.log1p(-clipped), np.ones(len(clipped))])


def _fit_platt(correct: FloatArray, confidence: FloatArray, new: FloatArray) -> FloatArray:
    targets = _platt_targets(correct)
    curve = logistic_recalibration(targets, confidence)
    if np.isnan(curve.slope):  # constant confidence: predict the mean
        return np.full(len(new), targets.mean())
    return curve.apply(new)


def _platt_targets(correct: FloatArray) -> FloatArray:
    """Return Platt's smoothed targets: the posterior means of 1 and 0 under a uniform prior."""
    right, wrong = correct.sum(), (1.0 - correct).sum()
    return np.asarray(correct * (right + 1.0) / (right + 2.0) + (1.0 - correct) / (wrong + 2.0))


_RIDGE_TOLERANCE = 1e-10


def _fit_ridge(correct: FloatArray, features: FloatArray, new: FloatArray, *, penalty: float) -> FloatArray:
    design, predictors = _design_matrices(features, new)
    targets = _platt_targets(correct)
    ridge = np.diag(np.append(0.0, np.full(design.shape[1] - 1, penalty)))
    coefficients = np.zeros(design.shape[1])
    for _ in range(_MAX_STEPS):
        probability = scipy.special.expit(design @ coefficients)
        gradient = design.T @ (targets - probability) - ridge @ coefficients
        curvature = (design.T * (probability * (1.0 - probability))) @ design + ridge
        step = np.linalg.solve(curvature, gradient)
        # Damped as in fit_logistic, so no line search is needed.
        change = float(np.abs(design @ step).max())
        coefficients += step * (np.log1p(change) / change if change > 0.0 else 1.0)
        if change <= _RIDGE_TOLERANCE:
            break
    return np.asarray(scipy.special.expit(predictors @ coefficients))


def _design_matrices(features: FloatArray, new: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the design matrices for fitting and for prediction; columns: intercept, features, missing indicators."""
    missing = np.isnan(features)
    counts = np.maximum((~missing).sum(axis=0), 1)
    mean = np.where(missing, 0.0, features).sum(axis=0) / counts
    deviation = np.sqrt(np.where(missing, 0.0, (features - mean) ** 2).sum(axis=0) / counts)
    varies = deviation > 1e-12 * np.abs(mean)  # a smaller deviation is rounding error
    partly_missing = missing.any(axis=0) & ~missing.all(axis=0)

    def design(rows: FloatArray) -> FloatArray:
        standardized = np.where(np.isnan(rows), 0.0, (rows - mean) / np.where(varies, deviation, 1.0))
        indicators = np.isnan(rows[:, partly_missing]).astype(np.float64)
        return np.column_stack([np.ones(len(rows)), standardized[:, varies], indicators])

    return design(features), design(new)


FITS: dict[RecalibrationMethod, _Fit] = {
    "isotonic": _fit_isotonic,
    "beta": _fit_beta,
    "logistic": _fit_platt,
    "histogram": _fit_histogram,
}
