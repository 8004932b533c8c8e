"""The random weights of units that every resampling and every exchange of the package starts from."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Seed: TypeAlias = int | np.random.Generator


def drawn_counts(n_units: int, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """How often each unit is drawn in k resamples, shape (U, k); drawn in an order that does not depend on k."""
    place = (rng.random((k, n_units)) * n_units).astype(np.intp)
    place *= k
    place += np.arange(k)[:, np.newaxis]
    return np.bincount(place.ravel(), minlength=k * n_units).reshape(n_units, k)


def is_exact(n_units: int, n_resamples: int) -> bool:
    """Whether so many units have no more than ``n_resamples`` exchanges in all."""
    return n_units <= math.log2(n_resamples)


def exchanges(n_units: int, exact: bool, rng: np.random.Generator) -> Callable[[int], NDArray[np.uint8]]:
    """Return a function that makes the next k exchanges, zeros and ones of shape (U, k): all in turn, or at random."""
    numbers = itertools.count()

    def next_of_all(k: int) -> NDArray[np.uint8]:
        bits = np.fromiter(itertools.islice(numbers, k), dtype=np.int64) >> np.arange(n_units)[:, np.newaxis]
        return (bits & 1).astype(np.uint8)

    def random(k: int) -> NDArray[np.uint8]:
        words = rng.integers(0, 2**64, size=(k, -(-n_units // 64)), dtype=np.uint64)
        return np.unpackbits(words.view(np.uint8), axis=1, count=n_units).T

    return next_of_all if exact else random
