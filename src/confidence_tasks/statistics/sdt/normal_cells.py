"""Probability of ordered cells under a normal distribution, with derivatives in the cell boundaries.

The kernel of every signal-detection likelihood here: meta-d' (truncated at the type-1 criterion) and the
unequal-variance model (not truncated).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from confidence_tasks.statistics.core import FloatArray, IntArray

#: A boundary so far out that nothing lies beyond it, yet finite: infinity times a zero density would be NaN.
FAR = 1e8

_SQRT_HALF = np.sqrt(0.5)
_SQRT_HALF_PI = np.sqrt(0.5 * np.pi)
_SQRT_TWO_PI = np.sqrt(2.0 * np.pi)
_NEVER_ZERO = 1e-300


class CellDerivatives(NamedTuple):
    """Log-likelihood of cell counts, and its derivatives in the standardised boundaries.

    Attributes
    ----------
    log_likelihood : ndarray, shape (..., B)
    gradient : ndarray, shape (..., K, B)
    diagonal : ndarray, shape (..., K, B)
        Diagonal of the (tridiagonal) Hessian.
    off_diagonal : ndarray, shape (..., K - 1, B)
        Its first off-diagonal.
    """

    log_likelihood: FloatArray
    gradient: FloatArray
    diagonal: FloatArray
    off_diagonal: FloatArray


def cell_derivatives(boundaries: FloatArray, counts: FloatArray) -> CellDerivatives:
    """Return log-likelihood and derivatives of counts in cells of a truncated standard normal.

    Cell k is [z_k, z_{k+1}), the last one reaches to infinity, and the distribution is truncated below z_0
    (``-FAR``: not truncated). The log-likelihood is sum_k n_k log((Q(z_k) - Q(z_{k+1})) / Q(z_0)) with Q the
    upper tail.

    Parameters
    ----------
    boundaries : ndarray, shape (..., K, B)
        z_0 <= z_1 <= ..., finite; cells that do not exist have boundary ``FAR`` and count 0.
    counts : ndarray, shape (..., K, B)
        Non-negative.

    Returns
    -------
    CellDerivatives
        Not finite where the boundaries make an observed cell impossible.

    Notes
    -----
    Tails are carried as Mills ratio x density, both relative to the density at the truncation point where that
    lies above the mean, and on whichever side of the mean is smaller: no difference is ever taken from 1, and
    nothing underflows far out in the truncated tail.
    """
    z = boundaries
    origin = np.maximum(z[..., :1, :], 0.0)
    density = np.exp(0.5 * (origin - z) * (origin + z))
    tail = scipy.special.erfcx(np.abs(z) * _SQRT_HALF)
    tail *= _SQRT_HALF_PI
    tail *= density
    np.copysign(tail, z, out=tail)
    below_mean = np.signbit(z)
    upper = tail[..., 0, :] + _SQRT_TWO_PI * below_mean[..., 0, :]
    cells = tail.copy()
    cells[..., :-1, :] -= tail[..., 1:, :]
    cells[..., :-1, :] += _SQRT_TWO_PI * (below_mean[..., :-1, :] ^ below_mean[..., 1:, :])
    cells[..., -1, :] += _SQRT_TWO_PI * below_mean[..., -1, :]
    cells += counts == 0.0
    total = counts.sum(axis=-2)
    log_likelihood = (counts * np.log(cells)).sum(axis=-2) - total * np.log(upper)
    ratio = counts / cells
    curvature = ratio / cells
    drift = -ratio
    drift[..., 1:, :] += ratio[..., :-1, :]
    drift[..., 0, :] += total / upper
    gradient = density * drift
    bend = curvature.copy()
    bend[..., 1:, :] += curvature[..., :-1, :]
    bend[..., 0, :] -= total / np.square(upper)
    diagonal = -z * gradient - np.square(density) * bend
    off_diagonal = curvature[..., :-1, :] * density[..., :-1, :] * density[..., 1:, :]
    return CellDerivatives(log_likelihood, gradient, diagonal, off_diagonal)


def pack(counts: FloatArray) -> tuple[FloatArray, IntArray]:
    """Move cells that are empty under every stimulus behind the others.

    At the maximum of a likelihood an empty cell has no width: what remains is the table without it.

    Parameters
    ----------
    counts : ndarray, shape (S, J, K, B)

    Returns
    -------
    packed : ndarray, shape (S, J, K, B)
    left : ndarray of int, shape (S, B)
        Number of cells that are not empty.
    """
    used = counts.sum(axis=1) > 0.0
    order = np.argsort(~used, axis=1, kind="stable")
    packed = np.take_along_axis(counts, order[:, np.newaxis], axis=2)
    return packed, used.sum(axis=1)


def unpack(thresholds: FloatArray, counts: FloatArray, first: float) -> FloatArray:
    """Return thresholds (S, K - 1, B) of the cells as they were before packing.

    An empty cell has no width; before the first cell in use lies the boundary ``first``, after the last infinity.
    """
    beyond = np.where(thresholds >= 0.5 * FAR, np.inf, thresholds)
    ladder = np.concatenate([np.full_like(beyond[:, :1], first), beyond], axis=1)
    steps = np.cumsum(counts.sum(axis=1) > 0.0, axis=1)[:, :-1]
    return np.take_along_axis(ladder, steps, axis=1)
