"""Maximum likelihood for ordered ratings under normal distributions: derivatives, a batched Newton method, meta-d'."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
import scipy

from confidence_tasks.statistics.core import BoolArray, FloatArray, IntArray

#: Boundary beyond which the probability is 0. It is finite, as infinity times a zero density is NaN.
FAR = 1e8

_SQRT_HALF = np.sqrt(0.5)
_SQRT_HALF_PI = np.sqrt(0.5 * np.pi)
_SQRT_TWO_PI = np.sqrt(2.0 * np.pi)
_TINY = 1e-300


class CellDerivatives(NamedTuple):
    """Log-likelihood of cell counts, and its gradient and tridiagonal Hessian in the standardized boundaries."""

    log_likelihood: FloatArray  # (..., B)
    gradient: FloatArray  # (..., K, B)
    diagonal: FloatArray  # (..., K, B)
    off_diagonal: FloatArray  # (..., K - 1, B)


def cell_derivatives(boundaries: FloatArray, counts: FloatArray) -> CellDerivatives:
    """Return the log-likelihood of counts in the cells of a truncated standard normal distribution, and derivatives.

    Cell k is [z_k, z_{k+1}), the last cell extends to infinity, and the distribution is truncated below z_0 (``-FAR``:
    not truncated). The log-likelihood is sum_k n_k log((Q(z_k) - Q(z_{k+1})) / Q(z_0)), where Q is the upper tail
    probability. It is not finite if an observed cell has probability 0. Boundaries z_0 <= z_1 <= ... and counts have
    shape (..., K, B); unused cells have the boundary ``FAR`` and the count 0.

    Tail probabilities are computed as Mills ratio times density, on the side of the mean where they are smaller. If the
    truncation point is above the mean, they are relative to the density at this point. So there is neither cancellation
    nor underflow in the far tail.
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
    """Move the empty cells of counts (S, J, K, B) to the end of axis 2; also return the number of other cells (S, B).

    A cell is empty if it has no count in any of the J stimuli. At the maximum of the likelihood an empty cell has width
    0, so it can be left out.
    """
    used = counts.sum(axis=1) > 0.0
    order = np.argsort(~used, axis=1, kind="stable")
    packed = np.take_along_axis(counts, order[:, np.newaxis], axis=2)
    return packed, used.sum(axis=1)


def unpack(thresholds: FloatArray, counts: FloatArray, first: float) -> FloatArray:
    """Return the thresholds (S, K - 1, B) in the order of the cells before packing.

    Empty cells have width 0. Thresholds before the first used cell are ``first``, those after the last one infinite.
    """
    finite_or_inf = np.where(thresholds >= 0.5 * FAR, np.inf, thresholds)
    with_first = np.concatenate([np.full_like(finite_or_inf[:, :1], first), finite_or_inf], axis=1)
    n_used_before = np.cumsum(counts.sum(axis=1) > 0.0, axis=1)[:, :-1]
    return np.take_along_axis(with_first, n_used_before, axis=1)


#: A step leaves at least this fraction of every gap between thresholds, so that they remain in order.
_MIN_GAP_FRACTION = 0.1
_MAX_BORDER_STEP = 1.0
_MIN_STEP_LENGTH = 1e-10
_MAX_STEPS = 200
#: Convergence criterion. The error of Newton's method is about the square of the last step.
_STEP_TOLERANCE = 1e-7
_ROUNDING = 1e-13
#: A step longer than this that does not change the likelihood moves along a flat ridge, not to a maximum.
_MAX_STALLED_STEP = 0.1
#: Least curvature of a maximum, a standard error of 1e4. A flatter likelihood has its supremum at infinity.
_MIN_CURVATURE = 1e-8


Solution = TypeVar("Solution", bound=tuple[Any, ...])


class Expansion(NamedTuple):
    """Second-order expansion of a batch of log-likelihoods.

    There are B problems, with S blocks of T thresholds and P other parameters (one or two), which form the border of
    the block-tridiagonal Hessian.
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
        """Expand every log-likelihood at border (P, B) and thresholds (S, T, B)."""

    def take(self, index: IntArray) -> Self:
        """Return a subset of the batch."""


class Maximum(NamedTuple):
    """Result of :func:`maximise`."""

    border: FloatArray  # (P, B)
    thresholds: FloatArray  # (S, T, B)
    converged: BoolArray  # (B,)


class Reduction(NamedTuple):
    """Expansion of the profile likelihood of the border parameters, with the thresholds eliminated."""

    schur: FloatArray  # (P, P, B) Hessian of the profile likelihood (Schur complement)
    gradient: FloatArray  # (P, B) gradient of the profile likelihood
    step: FloatArray  # (S, T, B) Newton step of the thresholds with the border fixed
    response: FloatArray  # (P, S, T, B) derivative of the maximizing thresholds with respect to the border


def solve_tridiagonal(diagonal: FloatArray, off_diagonal: FloatArray, right: FloatArray) -> FloatArray:
    """Solve negative definite tridiagonal systems along axis -2 for right-hand sides (..., S, T, B)."""
    n = diagonal.shape[-2]
    solution = right.copy()
    if not n:
        return solution
    pivot = np.empty_like(diagonal)
    # The rows of unused thresholds are 0; their steps are 0 as well.
    pivot[:, 0] = np.minimum(diagonal[:, 0], -_TINY)
    for i in range(1, n):
        factor = off_diagonal[:, i - 1] / pivot[:, i - 1]
        pivot[:, i] = np.minimum(diagonal[:, i] - factor * off_diagonal[:, i - 1], -_TINY)
        solution[..., i, :] -= factor * solution[..., i - 1, :]
    solution[..., n - 1, :] /= pivot[:, n - 1]
    for i in range(n - 2, -1, -1):
        solution[..., i, :] -= off_diagonal[:, i] * solution[..., i + 1, :]
        solution[..., i, :] /= pivot[:, i]
    return solution


def eliminate_thresholds(expansion: Expansion) -> Reduction:
    """Maximize an expansion over the thresholds."""
    right = np.concatenate([expansion.threshold_gradient[np.newaxis], expansion.mixed_hessian])
    solution = solve_tridiagonal(expansion.diagonal, expansion.off_diagonal, right)
    step, response = -solution[0], -solution[1:]
    schur = expansion.border_hessian + np.einsum("pstb,qstb->pqb", expansion.mixed_hessian, response)
    gradient = expansion.border_gradient + np.einsum("pstb,stb->pb", expansion.mixed_hessian, step)
    return Reduction(schur, gradient, step, response)


def maximise(
    problems: Problems, border: FloatArray, thresholds: FloatArray, *, limit: float, floor: float = 0.0
) -> Maximum:
    """Increase the log-likelihoods from a start until they have a maximum with a negative definite Hessian.

    If a border parameter (P, B) leaves [-limit, limit], the problem has no finite maximum. Thresholds (S, T, B) are
    strictly increasing along T and above ``floor``, at the start and at every step.
    """
    result = Maximum(border.copy(), thresholds.copy(), np.zeros(border.shape[1], dtype=np.bool_))
    active: IntArray = np.arange(border.shape[1])
    x, t, expansion = border, thresholds, problems.expand(border, thresholds)
    damping: FloatArray = np.ones(active.size)
    stalled = np.zeros(active.size, dtype=np.bool_)
    for _ in range(_MAX_STEPS):
        if not active.size:
            break
        dx, dt, concave = _newton_step(expansion)
        step_size = np.maximum(np.abs(dx).max(axis=0), np.abs(dt).max(axis=(0, 1), initial=0.0))
        length = damping * _max_step_length(t, dt, floor)
        new_x, new_t = x + length * dx, t + length * dt
        converged = concave & (step_size < _STEP_TOLERANCE)
        failed = (length < _MIN_STEP_LENGTH) | (np.abs(new_x) > limit).any(axis=0)
        failed |= ~np.isfinite(expansion.value) | (stalled & (step_size > _MAX_STALLED_STEP))
        finished = converged | failed
        if finished.any():
            index = active[finished]
            result.border[:, index], result.thresholds[..., index] = new_x[:, finished], new_t[..., finished]
            result.converged[index] = converged[finished]
            rest = np.flatnonzero(~finished)
            problems, expansion = problems.take(rest), Expansion(*(a[..., rest] for a in expansion))
            active, damping = active[rest], damping[rest]
            x, t, new_x, new_t = x[:, rest], t[..., rest], new_x[:, rest], new_t[..., rest]
        new = problems.expand(new_x, new_t)
        gain, rounding = new.value - expansion.value, _ROUNDING * np.abs(expansion.value)
        accepted, stalled = gain >= -rounding, np.abs(gain) <= rounding
        damping = np.where(accepted, np.minimum(1.0, 2.0 * damping), 0.5 * damping)
        if accepted.all():
            x, t, expansion = new_x, new_t, new
        else:
            x, t = np.where(accepted, new_x, x), np.where(accepted, new_t, t)
            expansion = Expansion(*(np.where(accepted, a, b) for a, b in zip(new, expansion, strict=True)))
    result.border[:, active], result.thresholds[..., active] = x, t
    return result


def _newton_step(expansion: Expansion) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return an ascent step of border and thresholds, and whether the profile likelihood is strictly concave."""
    reduced = eliminate_thresholds(expansion)
    curvature, axes = _eigh(reduced.schur)
    gradient = np.einsum("pqb,pb->qb", axes, reduced.gradient)
    dx = np.einsum("pqb,qb->pb", axes, gradient / np.maximum(np.abs(curvature), _TINY))
    step_size = np.abs(dx).max(axis=0)
    dx = dx * np.minimum(1.0, _MAX_BORDER_STEP / np.maximum(step_size, _TINY))
    dt = reduced.step + np.einsum("pstb,pb->stb", reduced.response, dx)
    concave: BoolArray = np.asarray((curvature < -_MIN_CURVATURE).all(axis=0))
    return dx, dt, concave


def _eigh(matrices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues (P, B) and eigenvectors (P, P, B) of symmetric matrices (P, P, B), where P is 1 or 2."""
    if len(matrices) == 1:
        return matrices[0], np.ones_like(matrices)
    (a, b), (_, c) = matrices
    angle = 0.5 * np.arctan2(2.0 * b, a - c)
    cos, sin = np.cos(angle), np.sin(angle)
    mixed = 2.0 * b * cos * sin
    values = np.stack([a * cos**2 + mixed + c * sin**2, a * sin**2 - mixed + c * cos**2])
    return values, np.array([[cos, -sin], [sin, cos]])


def _max_step_length(t: FloatArray, dt: FloatArray, floor: float) -> FloatArray:
    """Return the largest multiple of the step, at most 1, that keeps the thresholds in order and above the floor."""
    gap = np.diff(t, axis=1, prepend=floor)
    change = np.diff(dt, axis=1, prepend=0.0)
    limit = np.where(change < 0.0, (1.0 - _MIN_GAP_FRACTION) * gap / np.minimum(change, -_TINY), -np.inf)
    length: FloatArray = np.minimum(1.0, -limit.max(axis=(0, 1), initial=-np.inf))
    return length


def scatter(solution: Solution, index: IntArray, size: int) -> Solution:
    """Insert the solutions of a subset of problems into a batch of ``size``; NaN or False for the other problems.

    ``solution`` is a named tuple of arrays whose last axis is the batch.
    """
    batch = []
    for subset in solution:
        fill = False if subset.dtype == np.bool_ else np.nan
        values = np.full((*subset.shape[:-1], size), fill, dtype=subset.dtype)
        values[..., index] = subset
        batch.append(values)
    return type(solution)(*batch)


#: Direction away from the type-1 criterion: negative for response S1, positive for S2.
_DIRECTION = np.array([-1.0, 1.0])[:, np.newaxis, np.newaxis]
#: Means of S1 and S2 in units of meta-d'.
_MEANS = np.array([-0.5, 0.5])[:, np.newaxis]
#: Bound of meta-d', beyond which the likelihood of finite counts is flat.
_MAX_META_D = 20.0
#: Number of tables fitted at a time, so that their arrays fit in the cache.
_CHUNK_SIZE = 4096
#: Bound of the distance of the criterion from the mean in the starting values.
_START_BOUND = 6.0


class MetaDSolution(NamedTuple):
    """Maximum-likelihood estimates in standard deviations of S1; the batch is the last axis."""

    meta_d: FloatArray  # (B,)
    thresholds: FloatArray  # (2, K - 1, B) distances from the criterion outwards, packed as the counts
    log_likelihood: FloatArray  # (B,)
    converged: BoolArray  # (B,)
    variance: FloatArray  # (B,) variance of meta-d', given the criterion
    criterion_effect: FloatArray  # (B,) derivative of meta-d' with respect to the criterion


class MetaDProblems(NamedTuple):
    """Likelihoods of meta-d' for a batch of tables, given their type-1 criteria.

    The distance of the criterion from the mean of a stimulus, in standard units and in the direction of the response,
    is slope * meta-d' + offset.
    """

    counts: FloatArray  # (2 responses, 2 stimuli, K, B) from the criterion outwards; empty ratings last
    criterion: FloatArray  # (B,) relative to the midpoint of the means
    scale: FloatArray  # (2, B) reciprocals of the standard deviations, that of S1 being 1
    slope: FloatArray  # (2, 2, B)
    offset: FloatArray  # (2, 2, B)
    relative: bool  # True: criterion in units of meta-d'; False: in standard deviations of S1

    @classmethod
    def of(cls, counts: FloatArray, criterion: FloatArray, *, relative: bool, s: FloatArray) -> Self:
        """Create the problems; ``s`` (B,) is sd(S1) / sd(S2)."""
        scale = np.stack([np.ones_like(s), s])
        zeros = np.zeros_like(criterion)
        proportional, constant = (criterion, zeros) if relative else (zeros, criterion)
        slope, offset = _DIRECTION * scale * (proportional - _MEANS), _DIRECTION * scale * constant
        return cls(counts, criterion, scale, slope, offset, relative)

    def take(self, index: IntArray) -> Self:
        """Return a subset of the tables."""
        names = self._fields[:-1]
        return self._replace(**{name: getattr(self, name)[..., index] for name in names})

    def boundaries(self, meta_d: FloatArray, thresholds: FloatArray) -> FloatArray:
        """Return criterion and thresholds as distances from the mean of each stimulus, in standard units."""
        criterion = self.criterion_distance(meta_d)
        outwards = self.scale[:, np.newaxis] * thresholds[:, np.newaxis]
        return np.concatenate([criterion, criterion + outwards], axis=2)

    def criterion_distance(self, meta_d: FloatArray) -> FloatArray:
        """Return the distance of the criterion from the mean of each stimulus in standard units, (2, 2, 1, B)."""
        return (self.slope * meta_d + self.offset)[:, :, np.newaxis]

    def start(self, meta_d: FloatArray) -> FloatArray:
        """Return starting values (2, K - 1, B) of the thresholds, from the smoothed proportions of ratings."""
        smooth = self.counts + 0.5 / self.counts.shape[2]
        at_least = smooth[:, :, ::-1].cumsum(axis=2)[:, :, ::-1]
        total = at_least[:, :, :1]
        criterion = self.criterion_distance(meta_d)
        clipped = np.clip(criterion, -_START_BOUND, _START_BOUND)
        distance = -scipy.special.ndtri(at_least[:, :, 1:] / total * scipy.special.ndtr(-clipped)) - clipped
        # In the far tail the distribution is nearly exponential: distances are inversely proportional to the criterion.
        distance *= _START_BOUND / np.maximum(np.abs(criterion), _START_BOUND) / self.scale[:, np.newaxis]
        thresholds = (total * distance).sum(axis=1) / total.sum(axis=1)
        return np.where(self.counts[:, :, 1:].sum(axis=1) > 0.0, thresholds, FAR)

    def expand(self, border: FloatArray, thresholds: FloatArray) -> Expansion:
        """Expand the log-likelihood to second order in meta-d' (the border) and the thresholds."""
        cells = cell_derivatives(self.boundaries(border[0], thresholds), self.counts)
        return self._expansion(cells, _row_sums(cells))

    def summarize(self, maximum: Maximum) -> MetaDSolution:
        """Compute log-likelihood, variance and the effect of the criterion at the maximum."""
        meta_d = maximum.border[0]
        cells = cell_derivatives(self.boundaries(meta_d, maximum.thresholds), self.counts)
        row_sums = _row_sums(cells)
        expansion = self._expansion(cells, row_sums)
        reduced = eliminate_thresholds(expansion)
        direction = _DIRECTION * self.scale
        # Derivative of the distance with respect to the criterion, and from it that of the score of meta-d'.
        shift = direction * (meta_d if self.relative else np.ones_like(meta_d))
        score_change = (self.slope * shift * row_sums.sum(axis=2)).sum(axis=(0, 1))
        if self.relative:
            score_change += (direction * cells.gradient.sum(axis=2)).sum(axis=(0, 1))
        threshold_change = (self.scale * shift)[:, :, np.newaxis] * row_sums[:, :, 1:]
        score_change += (reduced.response[0] * threshold_change.sum(axis=1)).sum(axis=(0, 1))
        variance = -1.0 / reduced.schur[0, 0]
        converged = maximum.converged & (variance > 0.0) & np.isfinite(variance)
        return MetaDSolution(
            meta_d, maximum.thresholds, expansion.value, converged, variance, score_change * variance
        )

    def _expansion(self, cells: CellDerivatives, row_sums: FloatArray) -> Expansion:
        scale1, scale2 = self.scale
        gradient, diagonal, off = (a[:, :, 1:] for a in (cells.gradient, cells.diagonal, cells.off_diagonal))
        mixed = self.scale[:, np.newaxis] * self.slope[:, :, np.newaxis] * row_sums[:, :, 1:]
        return Expansion(
            value=cells.log_likelihood.sum(axis=(0, 1)),
            border_gradient=(self.slope * cells.gradient.sum(axis=2)).sum(axis=(0, 1))[np.newaxis],
            threshold_gradient=scale1 * gradient[:, 0] + scale2 * gradient[:, 1],
            border_hessian=(self.slope**2 * row_sums.sum(axis=2)).sum(axis=(0, 1))[np.newaxis, np.newaxis],
            mixed_hessian=(mixed[:, 0] + mixed[:, 1])[np.newaxis],
            diagonal=scale1**2 * diagonal[:, 0] + scale2**2 * diagonal[:, 1],
            off_diagonal=scale1**2 * off[:, 0] + scale2**2 * off[:, 1],
        )


def _row_sums(cells: CellDerivatives) -> FloatArray:
    """Return the row sums of the Hessian, the derivative of the gradient under a common shift of all boundaries."""
    sums = cells.diagonal.copy()
    sums[:, :, 1:] += cells.off_diagonal
    sums[:, :, :-1] += cells.off_diagonal
    return sums


@np.errstate(all="ignore")  # the iteration handles values that are not finite
def solve(problems: MetaDProblems, start: FloatArray) -> MetaDSolution:
    """Fit every table from a starting value (B,) of meta-d', and from further ones if there may be several maxima."""
    chunks = [
        np.arange(i, min(i + _CHUNK_SIZE, start.size)) for i in range(0, max(start.size, 1), _CHUNK_SIZE)
    ]
    parts = [_solve_chunk(problems.take(index), start[index]) for index in chunks]
    return MetaDSolution(*(np.concatenate(column, axis=-1) for column in zip(*parts, strict=True)))


def _solve_chunk(problems: MetaDProblems, start: FloatArray) -> MetaDSolution:
    best = _maximise_from(problems, start)
    # If both means are on one side of the criterion, there can be a maximum for each sign of meta-d', and several for
    # unequal variances: try other starting values.
    distance = problems.slope[1] * best.border[0] + problems.offset[1]
    one_sided = distance[0] * distance[1] >= 0.0
    moderate = 1.0 / np.hypot(0.5, problems.criterion)
    fixed = [] if (problems.scale == 1.0).all() else [np.full(start.shape, m) for m in (1.0, -1.0, 3.0, -3.0)]
    for meta_d in (-best.border[0], moderate, -moderate, *fixed):
        _improve(problems, best, one_sided | ~best.converged, meta_d)
    return problems.summarize(best)


def _maximise_from(problems: MetaDProblems, meta_d: FloatArray) -> Maximum:
    return maximise(problems, meta_d[np.newaxis], problems.start(meta_d), limit=_MAX_META_D)


def _improve(problems: MetaDProblems, best: Maximum, mask: BoolArray, meta_d: FloatArray) -> None:
    """Repeat the iteration from ``meta_d`` for the masked problems; update ``best`` in place if a maximum is higher."""
    index = np.flatnonzero(mask)
    if not index.size:
        return
    subset = problems.take(index)
    new = _maximise_from(subset, meta_d[index])
    new_value = subset.expand(new.border, new.thresholds).value
    best_value = subset.expand(best.border[:, index], best.thresholds[..., index]).value
    better = new.converged & ((new_value > best_value) | ~best.converged[index])
    for best_array, new_array in zip(best, new, strict=True):
        best_array[..., index[better]] = new_array[..., better]
