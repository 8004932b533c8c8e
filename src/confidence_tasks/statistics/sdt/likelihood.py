"""Maximum likelihood of ordered cells under normal distributions: derivatives, and a batched Newton iteration."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
import scipy

from confidence_tasks.statistics.core import BoolArray, FloatArray, IntArray

#: A boundary so far out that nothing lies beyond it, yet finite: infinity times a zero density would be NaN.
FAR = 1e8

_SQRT_HALF = np.sqrt(0.5)
_SQRT_HALF_PI = np.sqrt(0.5 * np.pi)
_SQRT_TWO_PI = np.sqrt(2.0 * np.pi)
_NEVER_ZERO = 1e-300


class CellDerivatives(NamedTuple):
    """Log-likelihood of cell counts, gradient and (tridiagonal) Hessian in the standardised boundaries."""

    log_likelihood: FloatArray  # (..., B)
    gradient: FloatArray  # (..., K, B)
    diagonal: FloatArray  # (..., K, B)
    off_diagonal: FloatArray  # (..., K - 1, B)


def cell_derivatives(boundaries: FloatArray, counts: FloatArray) -> CellDerivatives:
    """Return log-likelihood and derivatives of counts in cells of a truncated standard normal.

    Cell k is [z_k, z_{k+1}), the last one reaches to infinity, and the distribution is truncated below z_0 (``-FAR``:
    not truncated). The log-likelihood is sum_k n_k log((Q(z_k) - Q(z_{k+1})) / Q(z_0)) with Q the upper tail; it is not
    finite where the boundaries make an observed cell impossible. Boundaries z_0 <= z_1 <= ... and counts are of shape
    (..., K, B); cells that do not exist have boundary ``FAR`` and count 0.

    Tails are Mills ratio times density, relative to the density at the truncation point where that lies above the mean,
    on whichever side of the mean is smaller: no difference is taken from 1, and nothing underflows far out in the tail.
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
    """Move cells that are empty under every stimulus behind the others, and count the others.

    At the maximum of a likelihood an empty cell has no width: what remains is the table without it. Counts are of shape
    (S, J, K, B), numbers of cells (S, B).
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


#: Threshold steps keep at least this share of every gap, so that the order is never lost.
_KEPT_GAP = 0.1
_LONGEST_BORDER_STEP = 1.0
_SHORTEST_STEP = 1e-10
_MOST_STEPS = 200
#: Newton's error is about the square of the last step's: 1e-7 leaves rounding only.
_LAST_STEP = 1e-7
_ROUNDING = 1e-13
#: A longer step that gains nothing moves along a flat likelihood, not to a maximum.
_LONG_STEP = 0.1
#: A standard error of 1e4: flatter than this, a likelihood has no maximum but rises for ever.
_FLAT = 1e-8


Solution = TypeVar("Solution", bound=tuple[Any, ...])


class Expansion(NamedTuple):
    """Second-order expansion of a batch of log-likelihoods.

    P border parameters (one or two), S blocks of T thresholds, B problems.
    """

    value: FloatArray  # (B,)
    border_gradient: FloatArray  # (P, B)
    threshold_gradient: FloatArray  # (S, T, B)
    border_hessian: FloatArray  # (P, P, B)
    mixed_hessian: FloatArray  # (P, S, T, B)
    diagonal: FloatArray  # (S, T, B)
    off_diagonal: FloatArray  # (S, T - 1, B)


class Problems(Protocol):
    """A batch of likelihoods."""

    def expand(self, border: FloatArray, thresholds: FloatArray) -> Expansion:
        """Expand every likelihood at border (P, B) and thresholds (S, T, B)."""

    def take(self, index: IntArray) -> Self:
        """Return some of the batch."""


class Maximum(NamedTuple):
    """Where the iteration ended."""

    border: FloatArray  # (P, B)
    thresholds: FloatArray  # (S, T, B)
    converged: BoolArray  # (B,)


class Reduction(NamedTuple):
    """The thresholds eliminated from an expansion."""

    schur: FloatArray  # (P, P, B) curvature of the profile likelihood of the border
    gradient: FloatArray  # (P, B) its gradient
    step: FloatArray  # (S, T, B) threshold step with the border held
    response: FloatArray  # (P, S, T, B) move of the thresholds for a unit move of the border


def solve_tridiagonal(diagonal: FloatArray, off_diagonal: FloatArray, right: FloatArray) -> FloatArray:
    """Solve negative definite tridiagonal systems along axis -2 for right-hand sides (..., S, T, B)."""
    n = diagonal.shape[-2]
    solution = right.copy()
    if not n:
        return solution
    pivot = np.empty_like(diagonal)
    # An empty cell's threshold has a zero row: it stays where it is.
    pivot[:, 0] = np.minimum(diagonal[:, 0], -_NEVER_ZERO)
    for i in range(1, n):
        factor = off_diagonal[:, i - 1] / pivot[:, i - 1]
        pivot[:, i] = np.minimum(diagonal[:, i] - factor * off_diagonal[:, i - 1], -_NEVER_ZERO)
        solution[..., i, :] -= factor * solution[..., i - 1, :]
    solution[..., n - 1, :] /= pivot[:, n - 1]
    for i in range(n - 2, -1, -1):
        solution[..., i, :] -= off_diagonal[:, i] * solution[..., i + 1, :]
        solution[..., i, :] /= pivot[:, i]
    return solution


def eliminate_thresholds(at: Expansion) -> Reduction:
    """Reduce an expansion to the border parameters."""
    right = np.concatenate([at.threshold_gradient[np.newaxis], at.mixed_hessian])
    solved = solve_tridiagonal(at.diagonal, at.off_diagonal, right)
    step, response = -solved[0], -solved[1:]
    schur = at.border_hessian + np.einsum("pstb,qstb->pqb", at.mixed_hessian, response)
    gradient = at.border_gradient + np.einsum("pstb,stb->pb", at.mixed_hessian, step)
    return Reduction(schur, gradient, step, response)


def maximise(
    problems: Problems,
    border: FloatArray,
    thresholds: FloatArray,
    *,
    limit: float,
    floor: float = 0.0,
) -> Maximum:
    """Climb from (border, thresholds) to a stationary point with negative definite Hessian.

    Where a border parameter (P, B) leaves [-limit, limit], the maximum is taken to lie at infinity. Thresholds (S, T,
    B) are strictly increasing along T and above ``floor``, and stay so.
    """
    found = Maximum(border.copy(), thresholds.copy(), np.zeros(border.shape[1], dtype=np.bool_))
    running: IntArray = np.arange(border.shape[1])
    x, t, at = border, thresholds, problems.expand(border, thresholds)
    damping: FloatArray = np.ones(running.size)
    idle = np.zeros(running.size, dtype=np.bool_)
    for _ in range(_MOST_STEPS):
        if not running.size:
            break
        dx, dt, concave = _newton_step(at)
        longest = np.maximum(np.abs(dx).max(axis=0), np.abs(dt).max(axis=(0, 1), initial=0.0))
        length = damping * _allowed_share(t, dt, floor)
        new_x, new_t = x + length * dx, t + length * dt
        arrived = concave & (longest < _LAST_STEP)
        lost = (length < _SHORTEST_STEP) | (np.abs(new_x) > limit).any(axis=0) | ~np.isfinite(at.value)
        lost |= idle & (longest > _LONG_STEP)
        if (arrived | lost).any():
            _record(found, running, new_x, new_t, arrived, arrived | lost)
            go = np.flatnonzero(~(arrived | lost))
            problems, at = problems.take(go), Expansion(*(a[..., go] for a in at))
            running, damping = running[go], damping[go]
            x, t, new_x, new_t = x[:, go], t[..., go], new_x[:, go], new_t[..., go]
        new = problems.expand(new_x, new_t)
        gain, rounding = new.value - at.value, _ROUNDING * np.abs(at.value)
        risen, idle = gain >= -rounding, np.abs(gain) <= rounding
        damping = np.where(risen, np.minimum(1.0, 2.0 * damping), 0.5 * damping)
        if risen.all():
            x, t, at = new_x, new_t, new
        else:
            x, t = np.where(risen, new_x, x), np.where(risen, new_t, t)
            at = Expansion(*(np.where(risen, a, b) for a, b in zip(new, at, strict=True)))
    else:
        nowhere = np.zeros(running.size, dtype=np.bool_)
        _record(found, running, x, t, nowhere, ~nowhere)
    return found


def _record(
    found: Maximum,
    running: IntArray,
    border: FloatArray,
    thresholds: FloatArray,
    arrived: BoolArray,
    ended: BoolArray,
) -> None:
    """Record the final position of the problems that have ended."""
    index = running[ended]
    found.border[:, index] = border[:, ended]
    found.thresholds[..., index] = thresholds[..., ended]
    found.converged[index] = arrived[ended]


def _newton_step(at: Expansion) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return a step of border and thresholds that ascends, and whether the likelihood is concave there."""
    reduced = eliminate_thresholds(at)
    curvature, axes = _principal(reduced.schur)
    along = np.einsum("pqb,pb->qb", axes, reduced.gradient)
    dx = np.einsum("pqb,qb->pb", axes, along / np.maximum(np.abs(curvature), _NEVER_ZERO))
    longest = np.abs(dx).max(axis=0)
    dx = dx * np.minimum(1.0, _LONGEST_BORDER_STEP / np.maximum(longest, _NEVER_ZERO))
    dt = reduced.step + np.einsum("pstb,pb->stb", reduced.response, dx)
    concave: BoolArray = np.asarray((curvature < -_FLAT).all(axis=0))
    return dx, dt, concave


def _principal(matrices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues (P, B) and eigenvectors (P, P, B) of symmetric matrices (P, P, B), where P is 1 or 2."""
    if len(matrices) == 1:
        return matrices[0], np.ones_like(matrices)
    (a, b), (_, c) = matrices
    angle = 0.5 * np.arctan2(2.0 * b, a - c)
    cos, sin = np.cos(angle), np.sin(angle)
    twist = 2.0 * b * cos * sin
    values = np.stack([a * cos**2 + twist + c * sin**2, a * sin**2 - twist + c * cos**2])
    return values, np.array([[cos, -sin], [sin, cos]])


def _allowed_share(t: FloatArray, dt: FloatArray, floor: float) -> FloatArray:
    """Return the share of the step, at most 1, that keeps the thresholds in order and above the floor."""
    gap = np.diff(t, axis=1, prepend=floor)
    change = np.diff(dt, axis=1, prepend=0.0)
    share = np.where(change < 0.0, (1.0 - _KEPT_GAP) * gap / np.minimum(change, -_NEVER_ZERO), -np.inf)
    allowed: FloatArray = np.minimum(1.0, -share.max(axis=(0, 1), initial=-np.inf))
    return allowed


def scatter(solution: Solution, index: IntArray, size: int) -> Solution:
    """Return the solutions of some problems among all ``size`` of them; NaN, or False, for the others.

    ``solution`` is a named tuple of arrays whose last axis counts problems.
    """
    whole = []
    for found in solution:
        fill = False if found.dtype == np.bool_ else np.nan
        values = np.full((*found.shape[:-1], size), fill, dtype=found.dtype)
        values[..., index] = found
        whole.append(values)
    return type(solution)(*whole)
