"""Helpers that all statistics share: estimates with a reason for NaN, input validation and root finding."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]


class Reason(StrEnum):
    """Reason why a statistic or its interval is NaN although the input is valid."""

    EMPTY = "no usable trials"
    TOO_FEW = "too few trials"
    FEW_INFORMATIVE = "too few informative questions"
    NOT_RESAMPLED = "the bootstrap is not valid for this measure"
    ONE_CLASS = "only one class: all correct or all wrong"
    CONSTANT = "all values are equal"
    INFINITE = "infinite value"
    ZERO_D_PRIME = "d' is 0"
    NEGATIVE_D_PRIME = "d' is negative: accuracy below one half"
    UNSTABLE = "d' is close to 0"
    EMPTY_CELL = "too few wrong answers expected above the threshold"
    NOT_IDENTIFIED = "not identified by the data"
    NOT_CONVERGED = "the model fit did not converge"


class Estimate(float):
    """A float with the reason why it is NaN.

    It behaves as a ``float`` in every computation. ``reason`` is None if the value is defined.

    Examples
    --------
    >>> Estimate(0.25)
    0.25
    >>> undefined(Reason.EMPTY).reason
    <Reason.EMPTY: 'no usable trials'>
    """

    __slots__ = ("reason",)
    reason: Reason | None

    def __new__(cls, value: float, reason: Reason | None = None) -> Self:
        """Create an estimate; give a ``reason`` only for NaN."""
        self = super().__new__(cls, value)
        self.reason = reason
        return self

    def __getnewargs__(self) -> tuple[float, Reason | None]:  # type: ignore[override]
        return float(self), self.reason


def undefined(reason: Reason) -> Estimate:
    """Return NaN with its reason."""
    return Estimate(float("nan"), reason)


def as_vector(values: ArrayLike, name: str) -> FloatArray:
    """Return ``values`` as a float64 vector; raise ValueError unless it is one-dimensional and finite."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numeric: {error}") from None
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinite values; drop missing trials with complete() first")
    return array


def as_probability(values: ArrayLike, name: str) -> FloatArray:
    """Return ``values`` as a float64 vector; raise ValueError unless all lie in [0, 1]."""
    array = as_vector(values, name)
    if array.size and (array.min() < 0.0 or array.max() > 1.0):
        hint = ": divide percentages by 100" if 1.0 < array.max() <= 100.0 else ""
        raise ValueError(f"{name} must lie in [0, 1], got [{array.min():g}, {array.max():g}]{hint}")
    return array


def as_binary(values: ArrayLike, name: str) -> FloatArray:
    """Return ``values`` as a float64 vector; raise ValueError unless all are 0 or 1."""
    array = as_vector(values, name)
    if not ((array == 0.0) | (array == 1.0)).all():
        raise ValueError(f"{name} must contain only 0 and 1")
    return array


def check_level(level: float) -> None:
    """Raise ValueError unless the nominal coverage ``level`` lies in (0, 1)."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie in (0, 1), got {level}")


def check_option(name: str, value: object, allowed: Iterable[object]) -> None:
    """Raise ValueError unless ``value`` is one of the ``allowed`` values."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(str, allowed))}, got {value!r}")


def as_labels(labels: ArrayLike, name: str, n_rows: int) -> NDArray[Any]:
    """Return the labels as an array of shape (n_rows,); raise ValueError for another shape or a missing label."""
    array = np.asarray(labels)
    if array.shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), one label per row, got {array.shape}")
    if array.dtype.kind not in "iub" and any(
        label is None or label != label for label in set(array.tolist())
    ):  # NaN is the only value that differs from itself
        raise ValueError(f"{name} has missing labels; drop these rows or give each a label of its own")
    return array


def label_index(labels: ArrayLike | None, name: str, n_rows: int) -> IntArray:
    """Return the integer code of the label of each row, from 0; without labels, every row has its own code."""
    if labels is None:
        return np.arange(n_rows)
    return np.unique(as_labels(labels, name, n_rows), return_inverse=True)[1]


def per_row(values: ArrayLike, name: str, n: int) -> FloatArray:
    """Broadcast a number, or a vector of n numbers, to shape (n,); raise ValueError for any other shape."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape not in ((), (n,)):
        raise ValueError(f"{name} must be a number or have shape ({n},), got {array.shape}")
    return np.broadcast_to(array, (n,))


def same_length(**arrays: NDArray[Any]) -> int:
    """Return the common length of the named vectors; raise ValueError if their lengths differ."""
    lengths = {name: int(array.shape[0]) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError("lengths differ: " + ", ".join(f"{name} {size}" for name, size in lengths.items()))
    return next(iter(lengths.values()))


def complete(*arrays: ArrayLike) -> tuple[FloatArray, ...]:
    """Drop the positions where any of the vectors is NaN (listwise deletion).

    Parameters
    ----------
    *arrays : array_like, shape (n,)
        Vectors of equal length.

    Returns
    -------
    tuple of ndarray, shape (m,)
        The vectors without the incomplete positions, m <= n.

    Examples
    --------
    >>> complete([1, 0, 1], [0.9, float("nan"), 0.2])
    (array([1., 1.]), array([0.9, 0.2]))
    """
    vectors = [np.asarray(array, dtype=np.float64) for array in arrays]
    same_length(**{f"argument {i}": vector for i, vector in enumerate(vectors)})
    keep = np.logical_and.reduce([~np.isnan(vector) for vector in vectors])
    return tuple(vector[keep] for vector in vectors)


_MAX_ROOT_STEPS = 200


def decreasing_root(
    function: Callable[[FloatArray], FloatArray],
    low: FloatArray,
    high: FloatArray,
    *,
    tolerance: float = 1e-12,
) -> FloatArray:
    """Find the root of a decreasing function in each row, by the Illinois variant of the false-position method.

    ``function`` maps an array (R,) to an array (R,), elementwise. Its values are >= 0 at ``low`` and <= 0 at ``high``.
    The iteration stops once all absolute values are below ``tolerance``. Dowell & Jarratt (1971),
    doi:10.1007/BF01934364.

    Examples
    --------
    >>> decreasing_root(lambda x: 2.0 - x**2, np.zeros(1), np.full(1, 2.0)).round(6)
    array([1.414214])
    """
    low_value, high_value = function(low), function(high)
    root, previous = low, np.zeros(low.shape, dtype=bool)
    for step in range(_MAX_ROOT_STEPS):
        span = high_value - low_value
        root = np.divide(low * high_value - high * low_value, span, out=root.copy(), where=span != 0.0)
        value = function(root)
        if np.abs(value).max(initial=0.0) < tolerance:
            break
        replaces_low = value > 0.0
        # Illinois rule: the value at an end that is retained twice in a row is halved, so that this end moves, too.
        halve = (replaces_low == previous) & (step > 0)
        low_value = np.where(replaces_low, value, np.where(halve, low_value / 2.0, low_value))
        high_value = np.where(replaces_low, np.where(halve, high_value / 2.0, high_value), value)
        low, high = np.where(replaces_low, root, low), np.where(replaces_low, high, root)
        previous = replaces_low
    return root
