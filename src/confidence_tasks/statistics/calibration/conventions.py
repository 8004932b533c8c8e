"""Calibration errors as published code computes them, by name, so that numbers of others can be reproduced.

The same answers have a different expected calibration error in different programs. They differ in the number of bins,
in the bin of a confidence on an edge, in whether a confidence of 0 is in any bin, and in how bins are averaged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confidence_tasks.statistics.calibration.binning import Bins, Edges, ece_interval
from confidence_tasks.statistics.calibration.errors import debiased_ece, smooth_ece
from confidence_tasks.statistics.core import (
    Estimate,
    FloatArray,
    IntArray,
    Reason,
    check_level,
    check_option,
    label_index,
    undefined,
)
from confidence_tasks.statistics.inference.limits import no_limits
from confidence_tasks.statistics.inference.weights import trials

Index: TypeAlias = NDArray[np.intp]
Limits: TypeAlias = tuple[Estimate, Estimate]

NO_BIN = -1
"""Index of a trial that a convention puts in no bin. It still counts in the number of trials."""

HLE_SIZE = 100
"""Number of trials of a bin in the code of Humanity's Last Exam."""


def _right_closed(confidence: FloatArray, bins: int) -> Index:
    return np.maximum(_not_zero(confidence, bins), 0)


def _not_zero(confidence: FloatArray, bins: int) -> Index:
    """Bins ((b-1)/B, b/B]: a confidence of 0 is in none."""
    return np.searchsorted(np.linspace(0.0, 1.0, bins + 1), confidence, side="left") - 1


def _left_closed(confidence: FloatArray, bins: int) -> Index:
    return np.minimum(_extra_bin(confidence, bins), bins - 1)


def _extra_bin(confidence: FloatArray, bins: int) -> Index:
    """Bins [(b-1)/B, b/B): a confidence of 1 has a bin of its own."""
    return np.searchsorted(np.linspace(0.0, 1.0, bins + 1), confidence, side="right") - 1


def _equal_mass(confidence: FloatArray, bins: int) -> Index:
    return Bins(bins, "equal_mass").assign(confidence)


def _equal_size(confidence: FloatArray, size: int) -> Index:
    """Bins of ``size`` consecutive trials in ascending order; the remaining trials join the last bin."""
    index = np.empty(len(confidence), dtype=np.intp)
    index[np.argsort(confidence)] = np.arange(len(confidence)) // size
    return np.minimum(index, max(len(confidence) // size - 1, 0))


def _equal_size_but_last(confidence: FloatArray, size: int) -> Index:
    """Bins as in :func:`_equal_size` without the last one, which the code of Humanity's Last Exam does not reach."""
    index = _equal_size(confidence, size)
    return np.where(index == index.max(initial=0), NO_BIN, index)


Norm: TypeAlias = Literal["mean", "rms"]


@dataclass(frozen=True, slots=True)
class Binned:
    """A convention with bins.

    Attributes
    ----------
    description : str
        What distinguishes the convention, and its source.
    bins : int
        Number of bins, or of trials in a bin.
    index : callable
        ``index(confidence, bins)`` returns the bin of each trial, :data:`NO_BIN` for none.
    norm : {"mean", "rms"}
        Mean of the absolute gaps, or root of the mean squared gap, weighted by trials.
    edges : str
        Edges of the bins in :func:`ece_interval`; empty if the interval is found by resampling.
    smallest : int
        Number of trials from which the convention is defined.
    """

    description: str
    bins: int
    index: Callable[[FloatArray, int], Index]
    norm: Norm = "mean"
    edges: Edges | Literal["equal_mass", ""] = ""
    smallest: int = 1

    def value(self, right: FloatArray, stated: FloatArray, bins: int | None = None) -> float:
        """Return the calibration error of at least ``smallest`` trials."""
        index = self.index(stated, bins or self.bins)
        inside = index != NO_BIN
        count, excess = (
            np.bincount(index[inside], weights)
            for weights in (np.ones(inside.sum()), (stated - right)[inside])
        )
        n = len(stated)
        if self.norm == "mean":
            return float(np.abs(excess).sum() / n)
        return float(np.sqrt((excess**2 / np.maximum(count, 1.0)).sum() / n))


class ConventionError(NamedTuple):
    """A calibration error by one convention.

    Attributes
    ----------
    convention : str
        Name of the convention.
    value, low, high : float
        Calibration error, and the limits of its interval; NaN where there is none.
    reason : str
        Why a number is missing; empty if none is.
    description : str
        What distinguishes the convention, and its source.
    """

    convention: str
    value: float
    low: float
    high: float
    reason: str
    description: str


BINNED: Mapping[str, Binned] = {
    "right_closed": Binned(
        "10 bins ((b-1)/10, b/10], 0 in the first (Naeini 2015)", 10, _right_closed, edges="right_closed"
    ),
    "left_closed": Binned("10 bins [(b-1)/10, b/10), 1 in the last", 10, _left_closed, edges="left_closed"),
    "equal_mass": Binned("10 bins that end at deciles (Nixon 2019)", 10, _equal_mass, edges="equal_mass"),
    "guo": Binned("15 bins (lower, upper], 0 in none: the code of Guo et al. 2017", 15, _not_zero),
    "torchmetrics": Binned(
        "15 bins [lower, upper), 1 in an extra one: torchmetrics, norm l1", 15, _extra_bin, edges="extra_bin"
    ),
    "torchmetrics_l2": Binned(
        "the same bins, root mean square: torchmetrics, norm l2", 15, _extra_bin, "rms"
    ),
    "netcal": Binned("10 bins [lower, upper), 1 in the last: netcal", 10, _left_closed, edges="left_closed"),
    "hle": Binned(
        "root mean square over bins of 100 trials, the last left out: the code of HLE",
        HLE_SIZE,
        _equal_size_but_last,
        "rms",
        smallest=HLE_SIZE,
    ),
    "hle_all_bins": Binned("the same with the last bin", HLE_SIZE, _equal_size, "rms"),
}
"""Conventions with bins, by name. Edges are ``numpy.linspace(0, 1, bins + 1)``, compared without a tolerance."""

OTHERS: Mapping[str, tuple[Callable[..., Any], str]] = {
    "debiased": (debiased_ece, "right_closed less its sampling bias (Kumar 2019)"),
    "smooth": (smooth_ece, "kernel smoothing, no bins (Blasiok & Nakkiran 2023)"),
}

CONVENTIONS: tuple[str, ...] = (*BINNED, *OTHERS)
"""Names of the conventions."""


def convention_error(
    correct: ArrayLike, confidence: ArrayLike, convention: str = "right_closed", *, bins: int | None = None
) -> Estimate:
    r"""Compute the calibration error as a published program does.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1, 0, or the probability that the answer is right, in [0, 1].
    confidence : array_like, shape (n,)
        Confidence in [0, 1].
    convention : str, default "right_closed"
        One of :data:`CONVENTIONS`.
    bins : int, optional
        Number of bins, or of trials in a bin for ``hle``; by default that of the program.

    Returns
    -------
    Estimate
        In [0, 1]. NaN without trials, and for ``hle`` with fewer than 100, for which its code fails.

    Raises
    ------
    ValueError
        If there is no such convention, it has no bins to be set, or an array is invalid.

    Notes
    -----
    ``guo`` and ``hle`` leave out trials and still divide by the number of all: with a confidence of 0, or in the last
    bin. The error of these trials counts as 0. For ``hle``, the order of tied confidences is that of ``numpy.argsort``,
    so that the value depends on the order of the rows. Guo's code rounds edges to 32 bits, which puts a confidence of
    exactly 0.6 in the next bin.

    References
    ----------
    Naeini, Cooper & Hauskrecht (2015), doi:10.1609/aaai.v29i1.9602. Guo et al. (2017), arXiv:1706.04599. Phan et
    al. (2025), arXiv:2501.14249, and Hendrycks, Mazeika & Dietterich (2019), arXiv:1812.04606, for bins of 100 trials.
    Detlefsen et al. (2022), doi:10.21105/joss.04101, for torchmetrics. Küppers et al. (2020), arXiv:2004.13546, for
    netcal.

    Examples
    --------
    >>> correct, confidence = [1, 1, 0, 1], [0.0, 0.5, 0.9, 1.0]
    >>> [round(convention_error(correct, confidence, name), 3) for name in ("right_closed", "guo", "torchmetrics")]
    [0.6, 0.35, 0.6]
    """
    check_option("convention", convention, CONVENTIONS)
    right, stated, _ = trials(correct, confidence, None)
    if bins is not None:
        Bins(bins)  # checks the number
        if convention in OTHERS:
            raise ValueError(f"the number of bins of {convention!r} cannot be set: leave out bins")
    return _value(convention, right, stated, bins)


def convention_errors(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    questions: ArrayLike | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> list[ConventionError]:
    """Compute the calibration error by every convention, with intervals.

    Parameters
    ----------
    correct, confidence
        As in :func:`convention_error`.
    questions : array_like, shape (n,), optional
        Label of the question of each trial, or of its cluster. By default every trial is a question of its own.
    level : float, default 0.95
        Nominal coverage of the intervals, in (0, 1).
    n_resamples : int, default 2000
        Number of resamples of the questions, where an interval needs them.
    seed : int, default 0
        Seed of the resamples.

    Returns
    -------
    list of ConventionError
        One for each convention; ``pandas.DataFrame`` makes a table of it.

    Notes
    -----
    A mean of absolute gaps has the interval of :func:`ece_interval` with the same bins, that of ``guo`` for the trials
    in a bin, times their share. ``debiased`` estimates the same number as ``right_closed`` and has the same interval.
    Other conventions have a normal interval of their square, from resamples: the sampling bias of the square is
    additive and is subtracted. In simulations of 200 to 1,000 trials, 90% to 100% of these 95% intervals covered the
    true value. Both limits can be below the estimate.

    Examples
    --------
    >>> rows = convention_errors([1, 1, 0, 1] * 50, [0.9, 0.8, 0.9, 0.6] * 50)
    >>> [(row.convention, round(row.value, 3)) for row in rows[:3]]
    [('right_closed', 0.35), ('left_closed', 0.35), ('equal_mass', 0.35)]
    """
    check_level(level)
    right, stated, _ = trials(correct, confidence, None)
    unit = label_index(questions, "questions", len(stated))
    draws = _drawn_rows(unit, n_resamples, seed)
    return [_row(name, right, stated, questions, level, draws) for name in CONVENTIONS]


def _row(
    name: str,
    right: FloatArray,
    stated: FloatArray,
    questions: ArrayLike | None,
    level: float,
    draws: list[IntArray],
) -> ConventionError:
    value = _value(name, right, stated)
    low, high = (
        no_limits(value.reason) if value.reason else _limits(name, right, stated, questions, level, draws)
    )
    reason = value.reason or low.reason
    description = BINNED[name].description if name in BINNED else OTHERS[name][1]
    return ConventionError(name, float(value), float(low), float(high), reason or "", description)


def _value(name: str, right: FloatArray, stated: FloatArray, bins: int | None = None) -> Estimate:
    if not len(stated):
        return undefined(Reason.EMPTY)
    if name in OTHERS:
        return Estimate(OTHERS[name][0](right, stated))
    convention = BINNED[name]
    smallest = bins or convention.smallest if convention.smallest > 1 else 1
    return (
        undefined(Reason.TOO_FEW)
        if len(stated) < smallest
        else Estimate(convention.value(right, stated, bins))
    )


def _limits(
    name: str,
    right: FloatArray,
    stated: FloatArray,
    questions: ArrayLike | None,
    level: float,
    draws: list[IntArray],
) -> Limits:
    """Return the interval of a convention, by test inversion where its bins allow it."""
    if name == "guo":
        return _limits_of_positive(right, stated, questions, level)
    binned = BINNED.get("right_closed" if name == "debiased" else name)
    if binned and binned.edges:
        return _inverted(binned, right, stated, questions, level)
    return _normal_of_square(name, right, stated, level, draws)


def _limits_of_positive(
    right: FloatArray, stated: FloatArray, questions: ArrayLike | None, level: float
) -> Limits:
    """Return the interval of Guo's convention: that of the trials in a bin, times their share."""
    inside = stated > 0.0
    labels = None if questions is None else np.asarray(questions)[inside]
    limits = ece_interval(
        right[inside], stated[inside], bins=BINNED["guo"].bins, questions=labels, level=level
    )
    low, high = (Estimate(limit * inside.mean(), limit.reason) for limit in limits)
    return low, high


def _inverted(
    convention: Binned, right: FloatArray, stated: FloatArray, questions: ArrayLike | None, level: float
) -> Limits:
    if convention.edges == "equal_mass":
        return ece_interval(right, stated, binning="equal_mass", questions=questions, level=level)
    edges: Edges = convention.edges or "right_closed"
    return ece_interval(right, stated, bins=convention.bins, edges=edges, questions=questions, level=level)


def _drawn_rows(unit: IntArray, n_resamples: int, seed: int) -> list[IntArray]:
    """Return the rows of each resample of units, in random order: a value may depend on the order of ties."""
    rng = np.random.default_rng(seed)
    order = np.argsort(unit, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(unit[order])) + 1)
    n = len(members)
    return [
        rng.permutation(np.concatenate([members[i] for i in rng.integers(0, n, n)]))
        for _ in range(n_resamples)
    ]


def _normal_of_square(
    name: str, right: FloatArray, stated: FloatArray, level: float, draws: list[IntArray]
) -> Limits:
    """Return the normal interval of the square less its bias; NaN if the resamples do not vary."""
    squares = np.array([_value(name, right[rows], stated[rows]) for rows in draws]) ** 2
    squares = squares[~np.isnan(squares)]
    if len(squares) < 2 or np.ptp(squares) == 0.0:
        return no_limits(Reason.CONSTANT)
    centre = 2.0 * _value(name, right, stated) ** 2 - squares.mean()
    reach = scipy.special.ndtri((1.0 + level) / 2.0) * squares.std(ddof=1)
    low, high = np.sqrt(np.clip([centre - reach, centre + reach], 0.0, 1.0))
    return Estimate(low), Estimate(high)
