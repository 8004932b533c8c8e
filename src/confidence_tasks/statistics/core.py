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
    NO_PROBABILITY = "the signal is no probability"
    TOO_FEW = "too few trials"
    FEW_INFORMATIVE = "too few informative questions"
    NOT_RESAMPLED = "the bootstrap is not valid for this measure"
    ONE_CLASS = "only one class: all correct or all wrong"
    CONSTANT = "all values are equal"
    ONE_SIDE = "all confidences are on one side of the threshold"
    INFINITE = "infinite value"
    ZERO_D_PRIME = "d' is 0"
    NEGATIVE_D_PRIME = "d' is negative: accuracy below one half"
    UNSTABLE = "d' is close to 0"
    EMPTY_CELL = "too few wrong answers expected above the threshold"
    NOT_IDENTIFIED = "not identified by the data"
    NOT_CONVERGED = "the model fit did not converge"
    NOT_REACHED = "no threshold reaches this accuracy"


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


EDGE_TOLERANCE = 1e-12
"""A confidence this close to an edge or a threshold lies on it, so that 1 - 0.7 and 3 * 0.1 both equal 0.3."""

_ULPS = 4.0
"""Rounding error of a probability that is out of range, in units of the machine epsilon of its type."""

_SHORT_DECIMALS = {"float16": 2, "float32": 3}
"""Decimals of the numbers to which probabilities of these types are rounded if they differ by rounding only."""


def _has_masked(values: Any) -> bool:
    # `np.ma.is_masked` is also true for nullable arrays of pandas, which convert their gaps themselves.
    return isinstance(values, np.ma.MaskedArray) and bool(np.ma.is_masked(values))


def unmasked(values: Any, name: str) -> Any:
    """Return ``values``; raise ValueError if they have masked entries, which NumPy would count as data."""
    if _has_masked(values):
        raise ValueError(f"{name} has masked values; drop missing trials with complete() first")
    return values


def as_floats(values: ArrayLike, name: str) -> FloatArray:
    """Return ``values`` of any shape as float64; raise ValueError if some are masked or not numeric.

    All numbers that a caller passes come in here. A float of 16 or 32 bits becomes the shortest decimal number that it
    stands for, as in a text file: a cast would make 0.8 of 32 bits 0.800000012, which lies in the next bin.

    Examples
    --------
    >>> as_floats(np.array([0.8, 0.35], dtype=np.float32), "confidence")
    array([0.8 , 0.35])
    """
    array = unmasked(values, name)
    try:
        array = np.asarray(array)
        if array.dtype.name not in _SHORT_DECIMALS:
            return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numeric: {error}") from None
    distinct, index = np.unique(array, return_inverse=True)
    return np.asarray(distinct.astype(str).astype(np.float64)[index].reshape(array.shape))


def without_rounding_errors(probabilities: FloatArray, dtype: np.dtype[Any]) -> FloatArray:
    """Correct rounding errors of probabilities, which were numbers of type ``dtype``; NaN stays NaN.

    Values out of [0, 1] by rounding become 0 or 1. With 16 or 32 bits, values that differ from a short decimal number
    by rounding become this number, so that 1 - 0.9 equals 0.1.

    Examples
    --------
    >>> without_rounding_errors(np.array([1.0000001, 0.10000002]), np.dtype(np.float32))
    array([1. , 0.1])
    >>> without_rounding_errors(np.array([1.0000001]), np.dtype(np.float64))
    array([1.0000001])
    """
    epsilon = float(np.finfo(dtype if dtype.kind == "f" else np.float64).eps)
    clipped = np.clip(probabilities, 0.0, 1.0)
    inside = np.where(np.abs(probabilities - clipped) <= _ULPS * epsilon, clipped, probabilities)
    if dtype.name not in _SHORT_DECIMALS:
        return inside
    short = np.round(inside, _SHORT_DECIMALS[dtype.name])
    is_short = (np.abs(inside - short) <= epsilon) & (short > 0.0) & (short < 1.0)
    return np.where(is_short, short, inside)


def as_vector(values: ArrayLike, name: str) -> FloatArray:
    """Return ``values`` as a float64 vector; raise ValueError unless it is one-dimensional and finite."""
    array = as_floats(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinite values; drop missing trials with complete() first")
    return array


def as_probability(values: ArrayLike, name: str) -> FloatArray:
    """Return ``values`` as a float64 vector; raise ValueError unless all lie in [0, 1]."""
    array = without_rounding_errors(as_vector(values, name), np.asarray(values).dtype)
    if array.size and (array.min() < 0.0 or array.max() > 1.0):
        hint = ": divide percentages by 100" if array.min() >= 1.0 and array.max() <= 100.0 else ""
        raise ValueError(f"{name} must lie in [0, 1], got [{array.min():.9g}, {array.max():.9g}]{hint}")
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
    array = np.asarray(unmasked(labels, name))
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
    array = as_floats(values, name)
    if array.shape not in ((), (n,)):
        raise ValueError(f"{name} must be a number or have shape ({n},), got {array.shape}")
    return np.broadcast_to(array, (n,))


def same_length(**arrays: NDArray[Any]) -> int:
    """Return the common length of the named vectors; raise ValueError if their lengths differ."""
    lengths = {name: int(array.shape[0]) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError("lengths differ: " + ", ".join(f"{name} {size}" for name, size in lengths.items()))
    return next(iter(lengths.values()))


def masked_as_nan(values: Any) -> Any:
    """Return an array whose masked entries are NaN; other values as they are.

    Examples
    --------
    >>> masked_as_nan(np.ma.array([0.5, 0.9], mask=[False, True]))
    array([0.5, nan])
    """
    if not _has_masked(values):
        return values
    kept = values if values.dtype.kind in "fO" else values.astype(np.float64)
    return kept.filled(np.nan)


def check_seed(seed: object) -> None:
    """Raise ValueError unless ``seed`` is a whole number from 0 up, or a generator."""
    is_whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not isinstance(seed, np.random.Generator) and not (is_whole and int(seed) >= 0):  # type: ignore[call-overload]
        raise ValueError(f"seed must be a whole number from 0 up, or a numpy Generator, got {seed!r}")


def complete(*arrays: ArrayLike) -> tuple[FloatArray, ...]:
    """Drop the positions where any of the vectors is NaN or masked (listwise deletion).

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
    vectors = [as_floats(masked_as_nan(array), f"argument {i}") for i, array in enumerate(arrays)]
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
