"""Maximum likelihood of meta-d' for a batch of count tables.

The model of Maniscalco & Lau: given response and stimulus, ratings come from a normal distribution truncated at
the type-1 criterion. Each response is one *side*, seen in the direction that leads away from the criterion, so
that both sides are the same problem: an upper tail cut into cells by positive, increasing thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
import scipy

from confidence_tasks.statistics.core import BoolArray, FloatArray, IntArray
from confidence_tasks.statistics.sdt.likelihood import (
    FAR,
    CellDerivatives,
    Expansion,
    Maximum,
    cell_derivatives,
    eliminate_thresholds,
    maximise,
)

#: Direction away from the type-1 criterion: to the left for response S1, to the right for S2.
_DIRECTION = np.array([-1.0, 1.0])[:, np.newaxis, np.newaxis]
#: Means of S1 and S2 in units of meta-d'.
_PLACE = np.array([-0.5, 0.5])[:, np.newaxis]
#: Bound of meta-d': beyond, the likelihood of finite counts is flat.
_LARGEST = 20.0
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


@dataclass(frozen=True, slots=True)
class MetaDProblems:
    """Type-2 data of a batch of tables, and where their type-1 criterion lies."""

    counts: FloatArray  # (2 sides, 2 stimuli, K, B) from next to the criterion outwards; empty ratings last
    criterion: FloatArray  # (B,) from the midpoint of the means
    relative: bool  # whether that is in units of meta-d', otherwise in standard deviations of S1
    s: FloatArray  # (B,) sd(S1) / sd(S2)
    scale: FloatArray = field(init=False)  # (2, B) one over the standard deviations
    slope: FloatArray = field(init=False)  # (2, 2, B) from mean to criterion: slope x meta-d' + offset
    offset: FloatArray = field(init=False)  # (2, 2, B)

    def __post_init__(self) -> None:
        scale = np.stack([np.ones_like(self.s), self.s])
        shift = np.stack([self.criterion, np.zeros_like(self.criterion)])
        along, fixed = shift if self.relative else shift[::-1]
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "slope", _DIRECTION * scale * (along - _PLACE))
        object.__setattr__(self, "offset", _DIRECTION * scale * fixed)

    def take(self, index: IntArray) -> Self:
        """Return some of the tables."""
        return type(self)(self.counts[..., index], self.criterion[index], self.relative, self.s[index])

    def boundaries(self, meta_d: FloatArray, thresholds: FloatArray) -> FloatArray:
        """Return criterion and thresholds in standard units from the mean of either stimulus."""
        criterion = (self.slope * meta_d + self.offset)[:, :, np.newaxis]
        outwards = self.scale[:, np.newaxis] * thresholds[:, np.newaxis]
        return np.concatenate([criterion, criterion + outwards], axis=2)

    def start(self, meta_d: FloatArray) -> FloatArray:
        """Return thresholds (2, K - 1, B) that give each stimulus about its observed proportions."""
        smooth = self.counts + 0.5 / self.counts.shape[2]
        reaching = smooth[:, :, ::-1].cumsum(axis=2)[:, :, ::-1]
        total = reaching[:, :, :1]
        criterion = (self.slope * meta_d + self.offset)[:, :, np.newaxis]
        near = np.clip(criterion, -6.0, 6.0)
        distance = -scipy.special.ndtri(reaching[:, :, 1:] / total * scipy.special.ndtr(-near)) - near
        # Far out in the tail the distribution is exponential, and distances shrink with the criterion's.
        distance *= 6.0 / np.maximum(np.abs(criterion), 6.0) / self.scale[:, np.newaxis]
        thresholds = (total * distance).sum(axis=1) / total.sum(axis=1)
        return np.where(self._used(), thresholds, FAR)

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

    def _used(self) -> BoolArray:
        """Which thresholds have trials beyond them, shape (2, K - 1, B)."""
        return np.asarray(self.counts[:, :, 1:].sum(axis=1) > 0.0)


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
    fixed = [] if (problems.s == 1.0).all() else [np.full(guess.shape, m) for m in (1.0, -1.0, 3.0, -3.0)]
    for start in (-best.border[0], modest, -modest, *fixed):
        _retry(problems, best, one_sided | ~best.converged, start)
    return problems.conclude(best)


def _climb(problems: MetaDProblems, meta_d: FloatArray) -> Maximum:
    return maximise(problems, meta_d[np.newaxis], problems.start(meta_d), limit=_LARGEST)


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
