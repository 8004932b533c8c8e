"""Differences of two groups of trials after exchanges of whole questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.inference.weights import SharedWeights, exchanged_kinds
from confidence_tasks.study.inference import Influence
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.paired import PairedTables


def exchanged_differences(
    sources: Sequence[PairedTables],
    influences: Mapping[str, Mapping[int, Influence]],
    settings: Settings,
    seed: np.random.Generator,
    *,
    papers_test: bool,
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return the difference of each measure after every exchange, and its standard error if the influence is known.

    A fitted measure is fitted anew for every exchange; one that is too costly to refit has no entry.
    """
    exchangeable = _exchangeable(sources)
    if not papers_test:
        exchangeable = {name: exchangeable[name] for name in exchangeable.keys() & influences.keys()}
    if not exchangeable:
        return {}
    stacked = [(source, source.stacked()) for source in sources]
    parts: dict[str, list[tuple[FloatArray, FloatArray]]] = {name: [] for name in exchangeable}
    for block in exchanged_kinds(
        [(source.first.kinds, source.second.kinds, source.questions) for source in sources],
        n_resamples=settings.n_resamples,
        seed=seed,
    ):
        for name, of_block in _differences_of_block(stacked, block, exchangeable, influences).items():
            parts[name].append(of_block)
    return {name: _concatenated(blocks) for name, blocks in parts.items()}


def _exchangeable(sources: Sequence[PairedTables]) -> dict[str, Measure]:
    """Return what to compute of each measure after an exchange, for measures that can be computed then."""
    variants = {}
    for source in sources:
        for measure in source.measures:
            if measure.exchangeable:
                variants[measure.name] = measure.exchangeable
    return variants


def _concatenated(blocks: Sequence[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    differences, errors = zip(*blocks, strict=True)
    return np.concatenate(differences), np.concatenate(errors)


def _differences_of_block(
    stacked: Sequence[tuple[PairedTables, Columns]],
    block: Sequence[Any],
    exchangeable: Mapping[str, Measure],
    influences: Mapping[str, Mapping[int, Influence]],
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return the difference of each measure and its standard error, in a block of exchanges of each source."""
    n_sources = Counter(measure.name for source, _ in stacked for measure in source.measures)
    size = len(block[0][0])
    differences = {name: np.zeros(size) for name in exchangeable}
    variances = {name: np.zeros(size) for name in exchangeable}
    for number, ((source, rows), drawn) in enumerate(zip(stacked, block, strict=True)):
        sides = SharedWeights.of(drawn[0]), SharedWeights.of(drawn[1]), drawn[2]
        for name in exchangeable.keys() & {measure.name for measure in source.measures}:
            compute, n = exchangeable[name].compute, n_sources[name]
            with np.errstate(invalid="ignore"):  # the difference of two infinite values is NaN
                differences[name] += np.asarray(compute(rows, sides[0]) - compute(rows, sides[1])) / n
            if name in influences:
                variances[name] += source.variance(influences[name][number], rows, sides) / n**2
    return {name: (values, np.sqrt(variances[name])) for name, values in differences.items()}
