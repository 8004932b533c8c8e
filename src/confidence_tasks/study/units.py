"""Units of intervals and tests: questions, or clusters of questions that share something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

SAMPLING_UNIT = "unit"
"""Column with the unit of each trial: its cluster, or its question if it has none. Missing if there are no clusters."""


def units_of(trials: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Return the unit of each trial; without clusters, its question."""
    return trials[SAMPLING_UNIT] if SAMPLING_UNIT in trials else trials["question_id"]


def halves(units: NDArray[Any], seed: int) -> NDArray[np.int64]:
    """Return the half of each trial, 0 or 1: that of its unit, in a random order of the units.

    Examples
    --------
    >>> halves(np.array(["a", "b", "a", "c"]), seed=0).tolist()
    [0, 0, 0, 1]
    """
    _, index = np.unique(units, return_inverse=True)
    order = np.random.default_rng(seed).permutation(int(index.max(initial=-1)) + 1)
    return np.asarray(order[index] % 2, dtype=np.int64)


def clustered_units(trials: Mapping[str, NDArray[Any]], labels: NDArray[Any]) -> NDArray[Any] | None:
    """Return the unit of each trial; None if no cluster has two questions.

    Parameters
    ----------
    trials : mapping of str to ndarray, shape (n,)
        Trials with the columns ``source`` and ``question_id``.
    labels : ndarray, shape (n,)
        The cluster of each trial, empty for none. Clusters of different sources are different.

    Raises
    ------
    ValueError
        If a question is in several clusters.

    Examples
    --------
    >>> trials = {"source": np.array(["a", "a", "a"]), "question_id": np.array(["1", "2", "3"])}
    >>> [unit[-5:] for unit in clustered_units(trials, np.array(["first", "first", ""]))]
    ['first', 'first', '3']
    """
    cluster_of = _clusters(trials, labels)
    sizes = Counter((source, label) for (source, _), label in cluster_of.items())
    shared = {source for (source, label), size in sizes.items() if label and size > 1}
    if not shared:
        return None
    units = {
        (source, name): f"{source}\x1f{label}" if label and source in shared else name
        for (source, name), label in cluster_of.items()
    }
    return _look_up(units, trials)


def _clusters(trials: Mapping[str, NDArray[Any]], labels: NDArray[Any]) -> dict[tuple[str, str], str]:
    """Return the cluster of each question; ValueError if a question is in several."""
    cluster_of: dict[tuple[str, str], str] = {}
    for question, label in zip(_questions(trials), labels.tolist(), strict=True):
        if cluster_of.setdefault(question, label) != label:
            raise ValueError(
                f"question {question[1]} is in the clusters {cluster_of[question]!r} and {label!r}: choose a column"
                " with one value for each question"
            )
    return cluster_of


def with_shared_units(*models: Mapping[str, NDArray[Any]]) -> tuple[Mapping[str, NDArray[Any]], ...]:
    """Return the trials of several models with the same units: a question has the cluster that any model knows."""
    if not any(SAMPLING_UNIT in trials for trials in models):
        return models
    known: dict[tuple[str, str], str] = {}
    for trials in models:
        for question, unit in zip(_questions(trials), units_of(trials).tolist(), strict=True):
            known[question] = unit if unit != question[1] else known.get(question, unit)
    return tuple({**trials, SAMPLING_UNIT: _look_up(known, trials)} for trials in models)


def _questions(trials: Mapping[str, NDArray[Any]]) -> Iterator[tuple[str, str]]:
    return zip(trials["source"].tolist(), trials["question_id"].tolist(), strict=True)


def _look_up(of_question: Mapping[tuple[str, str], str], trials: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    units: NDArray[Any] = np.array([of_question[question] for question in _questions(trials)], dtype=object)
    return units
