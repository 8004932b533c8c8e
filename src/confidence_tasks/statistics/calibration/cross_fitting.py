"""Recalibrated confidence in which no trial has a part in its own recalibration."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.calibration.recalibration import logistic_recalibration
from confidence_tasks.statistics.core import BoolArray, FloatArray, as_binary, as_probability, same_length
from confidence_tasks.statistics.inference.draws import Seed
from confidence_tasks.statistics.inference.units import unit_index

Recalibration: TypeAlias = Literal["isotonic", "logistic"]
_Fit: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""``fit(correct, inputs, new)``: the probability of being right at ``new`` confidence or signals, by the trials."""


def cross_fitted_confidence(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    method: Recalibration = "isotonic",
    available: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    folds: int = 5,
    seed: Seed = 0,
) -> FloatArray:
    """Recalibrate the confidence of each trial by the trials of other questions.

    Questions are split into folds at random; the curve that recalibrates a fold is fitted on all others. Give the
    result to :func:`~confidence_tasks.statistics.decision.scaffold_utility` to see what mis-stated confidence costs.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1, 0, or the probability that the answer is right; any such value where no answer is available.
    confidence : array_like, shape (n,)
        Confidence in [0, 1].
    method : {"isotonic", "logistic"}, default "isotonic"
        ``"isotonic"`` fits the best non-decreasing step function and interpolates between its steps.
        ``"logistic"`` fits a line on the logit scale, to targets drawn in from 1 and 0 as Platt does, so that it
        exists for every sample.
    available : array_like, shape (n,), optional
        1 where the model gave an answer, 0 where it abstained without one: those trials are recalibrated, but
        nothing is fitted to them.
    clusters : array_like, shape (n,), optional
        Label of the question of each trial. By default every trial is a question of its own.
    folds : int, default 5
        Number of folds, 2 or more; at most one per question is used.
    seed : int or numpy.random.Generator, default 0
        Source of the split.

    Returns
    -------
    ndarray, shape (n,)
        Recalibrated confidence in [0, 1]; NaN where no answer to another question is there to fit.

    Raises
    ------
    ValueError
        If an input is NaN, outside its range or of the wrong shape.

    References
    ----------
    Zadrozny & Elkan (2002), Transforming classifier scores into accurate multiclass probability estimates,
    doi:10.1145/775047.775151. Platt (1999), Probabilistic outputs for support vector machines.

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
    given = np.ones(n) if available is None else as_binary(available, "available")
    same_length(correct=right, available=given)
    if method not in _FITS:
        raise ValueError(f"method must be one of {', '.join(_FITS)}, got {method!r}")
    return _cross_fitted(_FITS[method], right, stated, given > 0.0, clusters, folds, seed)


def cross_fitted_logistic(
    correct: ArrayLike,
    features: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    folds: int = 5,
    seed: Seed = 0,
    penalty: float = 1.0,
) -> FloatArray:
    r"""Predict the correctness of each trial from several signals, by logistic regression on the other questions.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1 or 0.
    features : array_like, shape (n, k)
        Signals in any unit, such as logits of probabilities and log-probabilities; NaN where one is missing.
    clusters : array_like, shape (n,), optional
        Label of the question of each trial. By default every trial is a question of its own.
    folds : int, default 5
        Number of folds of questions, 2 or more; at most one per question is used.
    seed : int or numpy.random.Generator, default 0
        Source of the split.
    penalty : float, default 1.0
        Ridge penalty, above 0: half of it times the sum of squared coefficients of the standardised features is added
        to the negative log-likelihood.

    Returns
    -------
    ndarray, shape (n,)
        Predicted probability of being right; NaN where no other question is there to fit.

    Raises
    ------
    ValueError
        If an input is of the wrong shape, or an option outside its range.

    Notes
    -----
    Features are standardised by the trials that are fitted. A missing one takes their mean, and an indicator of its
    absence is added where some of these have it and others lack it. Targets are drawn in from 1 and 0 as in
    :func:`cross_fitted_confidence`, so that the fit exists for every sample.

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
    right, given = as_binary(correct, "correct"), np.asarray(features, dtype=np.float64)
    if given.ndim != 2 or len(given) != len(right):
        raise ValueError(f"features must have shape ({len(right)}, k), got {given.shape}")
    if np.isinf(given).any():
        raise ValueError("features must be finite, or NaN where one is missing")
    if not penalty > 0.0:
        raise ValueError(f"penalty must be above 0, got {penalty}")
    return _cross_fitted(
        partial(_ridge_logistic, penalty=penalty),
        right,
        given,
        np.ones(len(right), dtype=np.bool_),
        clusters,
        folds,
        seed,
    )


def _cross_fitted(
    fit: _Fit,
    correct: FloatArray,
    inputs: FloatArray,
    usable: BoolArray,
    clusters: ArrayLike | None,
    folds: int,
    seed: Seed,
) -> FloatArray:
    """Fit on the usable trials of the other folds of questions; NaN where there are none."""
    if folds < 2:
        raise ValueError(f"folds must be 2 or more, got {folds}")
    unit, n_units = unit_index(clusters, "clusters", len(correct))
    fold = np.random.default_rng(seed).permutation(n_units) % folds
    fold = fold if unit is None else fold[unit]
    predicted = np.full(len(correct), np.nan)
    for held_out in range(min(folds, n_units)):
        members = fold == held_out
        training = ~members & usable
        if training.any():
            predicted[members] = fit(correct[training], inputs[training], inputs[members])
    return predicted


def _isotonic(correct: FloatArray, confidence: FloatArray, new: FloatArray) -> FloatArray:
    values, group, counts = np.unique(confidence, return_inverse=True, return_counts=True)
    accuracy = np.bincount(group, weights=correct) / counts
    steps = scipy.optimize.isotonic_regression(accuracy, weights=counts).x
    return np.interp(new, values, steps)


def _logistic(correct: FloatArray, confidence: FloatArray, new: FloatArray) -> FloatArray:
    targets = _platt_targets(correct)
    curve = logistic_recalibration(targets, confidence)
    if np.isnan(curve.slope):  # constant confidence has no slope, only a mean
        return np.full(len(new), targets.mean())
    return curve.apply(new)


def _platt_targets(correct: FloatArray) -> FloatArray:
    """Return the posterior means of 1 and 0 under a uniform prior."""
    right, wrong = correct.sum(), (1.0 - correct).sum()
    return np.asarray(correct * (right + 1.0) / (right + 2.0) + (1.0 - correct) / (wrong + 2.0))


_MAX_STEPS = 100
_TOLERANCE = 1e-10


def _ridge_logistic(
    correct: FloatArray, features: FloatArray, new: FloatArray, *, penalty: float
) -> FloatArray:
    design, predictors = _standardised(features, new)
    targets = _platt_targets(correct)
    ridge = np.diag(np.append(0.0, np.full(design.shape[1] - 1, penalty)))
    coefficients = np.zeros(design.shape[1])
    for _ in range(_MAX_STEPS):
        probability = scipy.special.expit(design @ coefficients)
        gradient = design.T @ (targets - probability) - ridge @ coefficients
        curvature = (design.T * (probability * (1.0 - probability))) @ design + ridge
        step = np.linalg.solve(curvature, gradient)
        # Damped as in fit_logistic, so that no line search is needed.
        reach = float(np.abs(design @ step).max())
        coefficients += step * (np.log1p(reach) / reach if reach > 0.0 else 1.0)
        if reach <= _TOLERANCE:
            break
    return np.asarray(scipy.special.expit(predictors @ coefficients))


def _standardised(features: FloatArray, new: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the design matrices of the trials that are fitted and of those that are predicted, intercept first."""
    missing = np.isnan(features)
    counts = np.maximum((~missing).sum(axis=0), 1)
    centre = np.where(missing, 0.0, features).sum(axis=0) / counts
    spread = np.sqrt(np.where(missing, 0.0, (features - centre) ** 2).sum(axis=0) / counts)
    # Differences that rounding makes are none.
    varies = spread > 1e-12 * np.abs(centre)
    indicated = missing.any(axis=0) & ~missing.all(axis=0)

    def design(rows: FloatArray) -> FloatArray:
        scaled = np.where(np.isnan(rows), 0.0, (rows - centre) / np.where(varies, spread, 1.0))
        absent = np.isnan(rows[:, indicated]).astype(np.float64)
        return np.column_stack([np.ones(len(rows)), scaled[:, varies], absent])

    return design(features), design(new)


_FITS: dict[Recalibration, _Fit] = {"isotonic": _isotonic, "logistic": _logistic}
