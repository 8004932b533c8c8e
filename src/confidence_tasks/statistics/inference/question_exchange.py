"""Trials under random exchanges of whole questions: those asked several times are right or wrong together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.statistics.core import FloatArray, IntArray

_CHUNK = 1 << 21


def exchanged_counts(
    right: FloatArray,
    cell: IntArray,
    n_cells: int,
    question: NDArray[Any],
    n_exchanges: int,
    rng: np.random.Generator,
) -> Iterator[FloatArray]:
    """Yield the right answers in each cell when questions exchange their answers at random, shape (k, n_cells).

    All answers of a question go together to another one that was asked equally often.

    Examples
    --------
    >>> right, cell, question = np.array([1.0, 1.0, 0.0, 0.0]), np.array([0, 0, 1, 1]), np.array(["a", "a", "b", "b"])
    >>> (counts,) = exchanged_counts(right, cell, 2, question, 4, np.random.default_rng(0))
    >>> counts.tolist()
    [[2.0, 0.0], [2.0, 0.0], [2.0, 0.0], [0.0, 2.0]]
    """
    _, number, asked = np.unique(question, return_inverse=True, return_counts=True)
    order = np.argsort(number, kind="stable")
    alike = [
        order[asked[number[order]] == times].reshape(-1, times) for times in np.unique(asked)
    ]  # (questions, times)
    member = np.eye(n_cells)[cell]
    step = max(1, _CHUNK // max(len(right), 1))
    for start in range(0, n_exchanges, step):
        size = min(step, n_exchanges - start)
        counts = np.zeros((size, n_cells))
        for trials in alike:
            places = rng.permuted(np.tile(np.arange(len(trials)), (size, 1)), axis=1)
            counts += right[trials][places].reshape(size, -1) @ member[trials.ravel()]
        yield counts
