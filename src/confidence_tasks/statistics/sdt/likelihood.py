"""Maximum likelihood of ordered cells under normal distributions: derivatives, a batched Newton iteration, meta-d'."""

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
    """Move cells of counts (S, J, K, B) that no stimulus has behind the others, and count the others (S, B)."""
    # At the maximum of a likelihood an empty cell has no width: what remains is the table without it.
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
    """Maximum that the iteration found."""

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
    problems: Problems, border: FloatArray, thresholds: FloatArray, *, limit: float, floor: float = 0.0
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
        ended = arrived | lost
        if ended.any():
            index = running[ended]
            found.border[:, index], found.thresholds[..., index] = new_x[:, ended], new_t[..., ended]
            found.converged[index] = arrived[ended]
            go = np.flatnonzero(~ended)
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
    found.border[:, running], found.thresholds[..., running] = x, t  # of those that never ended
    return found


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


#: Direction away from the type-1 criterion: to the left for response S1, to the right for S2.
_DIRECTION = np.array([-1.0, 1.0])[:, np.newaxis, np.newaxis]
#: Means of S1 and S2 in units of meta-d'.
_PLACE = np.array([-0.5, 0.5])[:, np.newaxis]
#: Bound of meta-d': beyond, the likelihood of finite counts is flat.
_LARGEST_META_D = 20.0
#: Tables fitted at a time, so that the work stays in the cache.
_CHUNK = 4096


class MetaDSolution(NamedTuple):
    """Maximum-likelihood estimates in standard deviations of S1, each with the batch last."""

    meta_d: FloatArray  # (B,)
    thresholds: FloatArray  # (2, K - 1, B) outwards from the criterion, packed as the counts
    log_likelihood: FloatArray  # (B,)
    converged: BoolArray  # (B,)
    variance: FloatArray  # (B,) of meta-d' with the criterion known
    criterion_effect: FloatArray  # (B,)


class MetaDProblems(NamedTuple):
    """Type-2 data of a batch of tables, and where their type-1 criterion lies."""

    counts: FloatArray  # (2 sides, 2 stimuli, K, B) from next to the criterion outwards; empty ratings last
    criterion: FloatArray  # (B,) from the midpoint of the means
    scale: FloatArray  # (2, B) one over the standard deviations, that of S1 being 1
    slope: FloatArray  # (2, 2, B) from mean to criterion: slope x meta-d' + offset
    offset: FloatArray  # (2, 2, B)
    relative: bool  # whether the criterion is in units of meta-d', otherwise in standard deviations of S1

    @classmethod
    def of(cls, counts: FloatArray, criterion: FloatArray, *, relative: bool, s: FloatArray) -> Self:
        """Place the criterion; ``s`` is sd(S1) / sd(S2) of each table."""
        scale = np.stack([np.ones_like(s), s])
        along, fixed = (criterion, np.zeros_like(criterion))[:: 1 if relative else -1]
        slope, offset = _DIRECTION * scale * (along - _PLACE), _DIRECTION * scale * fixed
        return cls(counts, criterion, scale, slope, offset, relative)

    def take(self, index: IntArray) -> Self:
        """Return some of the tables."""
        names = self._fields[:-1]
        return self._replace(**{name: getattr(self, name)[..., index] for name in names})

    def boundaries(self, meta_d: FloatArray, thresholds: FloatArray) -> FloatArray:
        """Return criterion and thresholds in standard units from the mean of either stimulus."""
        criterion = self.distance(meta_d)
        outwards = self.scale[:, np.newaxis] * thresholds[:, np.newaxis]
        return np.concatenate([criterion, criterion + outwards], axis=2)

    def distance(self, meta_d: FloatArray) -> FloatArray:
        """Return the criterion (2, 2, 1, B) in standard units from the mean of either stimulus."""
        return (self.slope * meta_d + self.offset)[:, :, np.newaxis]

    def start(self, meta_d: FloatArray) -> FloatArray:
        """Return thresholds (2, K - 1, B) that give each stimulus about its observed proportions."""
        smooth = self.counts + 0.5 / self.counts.shape[2]
        reaching = smooth[:, :, ::-1].cumsum(axis=2)[:, :, ::-1]
        total = reaching[:, :, :1]
        criterion = self.distance(meta_d)
        near = np.clip(criterion, -6.0, 6.0)
        distance = -scipy.special.ndtri(reaching[:, :, 1:] / total * scipy.special.ndtr(-near)) - near
        # Far out in the tail the distribution is exponential, and distances shrink with the criterion's.
        distance *= 6.0 / np.maximum(np.abs(criterion), 6.0) / self.scale[:, np.newaxis]
        thresholds = (total * distance).sum(axis=1) / total.sum(axis=1)
        return np.where(self.counts[:, :, 1:].sum(axis=1) > 0.0, thresholds, FAR)

    def expand(self, border: FloatArray, thresholds: FloatArray) -> Expansion:
        """Expand the log-likelihood to second order in meta-d' (the border) and thresholds."""
        cells = cell_derivatives(self.boundaries(border[0], thresholds), self.counts)
        return self._expansion(cells, _row_sums(cells))

    def conclude(self, top: Maximum) -> MetaDSolution:
        """Read value, variance and the effect of the criterion off the expansion at the maximum."""
        meta_d = top.border[0]
        cells = cell_derivatives(self.boundaries(meta_d, top.thresholds), self.counts)
        row_sums = _row_sums(cells)
        expansion = self._expansion(cells, row_sums)
        reduced = eliminate_thresholds(expansion)
        towards = _DIRECTION * self.scale
        shift = towards * (meta_d if self.relative else np.ones_like(meta_d))
        score = (self.slope * shift * row_sums.sum(axis=2)).sum(axis=(0, 1))
        if self.relative:
            score += (towards * cells.gradient.sum(axis=2)).sum(axis=(0, 1))
        outwards = (self.scale * shift)[:, :, np.newaxis] * row_sums[:, :, 1:]
        score += (reduced.response[0] * outwards.sum(axis=1)).sum(axis=(0, 1))
        variance = -1.0 / reduced.schur[0, 0]
        converged = top.converged & (variance > 0.0) & np.isfinite(variance)
        return MetaDSolution(meta_d, top.thresholds, expansion.value, converged, variance, score * variance)

    def _expansion(self, cells: CellDerivatives, row_sums: FloatArray) -> Expansion:
        scale1, scale2 = self.scale
        gradient, diagonal, off = (a[:, :, 1:] for a in (cells.gradient, cells.diagonal, cells.off_diagonal))
        pull = self.scale[:, np.newaxis] * self.slope[:, :, np.newaxis] * row_sums[:, :, 1:]
        return Expansion(
            value=cells.log_likelihood.sum(axis=(0, 1)),
            border_gradient=(self.slope * cells.gradient.sum(axis=2)).sum(axis=(0, 1))[np.newaxis],
            threshold_gradient=scale1 * gradient[:, 0] + scale2 * gradient[:, 1],
            border_hessian=(self.slope**2 * row_sums.sum(axis=2)).sum(axis=(0, 1))[np.newaxis, np.newaxis],
            mixed_hessian=(pull[:, 0] + pull[:, 1])[np.newaxis],
            diagonal=scale1**2 * diagonal[:, 0] + scale2**2 * diagonal[:, 1],
            off_diagonal=scale1**2 * off[:, 0] + scale2**2 * off[:, 1],
        )


def _row_sums(cells: CellDerivatives) -> FloatArray:
    """Return the row sums of the Hessian: the change of the gradient when all boundaries move together."""
    sums = cells.diagonal.copy()
    sums[:, :, 1:] += cells.off_diagonal
    sums[:, :, :-1] += cells.off_diagonal
    return sums


@np.errstate(all="ignore")  # a step too far, or a flat likelihood, shows in its value
def solve(problems: MetaDProblems, guess: FloatArray) -> MetaDSolution:
    """Fit every table, from a first guess (B,) of meta-d' and then, where that is not enough, from others."""
    chunks = [np.arange(i, min(i + _CHUNK, guess.size)) for i in range(0, max(guess.size, 1), _CHUNK)]
    parts = [_solve_chunk(problems.take(index), guess[index]) for index in chunks]
    return MetaDSolution(*(np.concatenate(column, axis=-1) for column in zip(*parts, strict=True)))


def _solve_chunk(problems: MetaDProblems, guess: FloatArray) -> MetaDSolution:
    best = _climb(problems, guess)
    # With both means on one side of the criterion there can be a maximum of either sign, and for unequal
    # variances several: look for the others.
    at_criterion = problems.slope[1] * best.border[0] + problems.offset[1]
    one_sided = at_criterion[0] * at_criterion[1] >= 0.0
    modest = 1.0 / np.hypot(0.5, problems.criterion)
    fixed = [] if (problems.scale == 1.0).all() else [np.full(guess.shape, m) for m in (1.0, -1.0, 3.0, -3.0)]
    for start in (-best.border[0], modest, -modest, *fixed):
        _retry(problems, best, one_sided | ~best.converged, start)
    return problems.conclude(best)


def _climb(problems: MetaDProblems, meta_d: FloatArray) -> Maximum:
    return maximise(problems, meta_d[np.newaxis], problems.start(meta_d), limit=_LARGEST_META_D)


def _retry(problems: MetaDProblems, best: Maximum, where: BoolArray, meta_d: FloatArray) -> None:
    """Climb from other starts at ``where``, and update ``best`` where the maximum is higher."""
    index = np.flatnonzero(where)
    if not index.size:
        return
    some = problems.take(index)
    again = _climb(some, meta_d[index])
    height = some.expand(again.border, again.thresholds).value
    known = some.expand(best.border[:, index], best.thresholds[..., index]).value
    better = again.converged & ((height > known) | ~best.converged[index])
    for kept, new in zip(best, again, strict=True):
        kept[..., index[better]] = new[..., better]
