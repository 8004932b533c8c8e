"""Differences of two groups of trials after exchanges of whole questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.inference.weights import SharedWeights, exchanged_kinds, is_exact
from confidence_tasks.study.inference import Columns, Influence
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.paired import PairedTables

Drawn: TypeAlias = tuple[FloatArray, FloatArray]
"""The difference of a measure after every exchange, and its standard error, shape (R,) each."""


def exchanged_differences(
    sources: Sequence[PairedTables],
    influences: Mapping[str, Mapping[int, Influence]],
    n_exchanges: tuple[int, int],
    seed: np.random.Generator,
    *,
    papers_test: bool,
    is_close: Callable[[str, FloatArray], bool],
) -> dict[str, Drawn]:
    """Return the difference of each measure after every exchange, and its standard error if its influence is known.

    A fitted measure is fitted anew for every exchange; one that is too costly to refit has no entry. ``n_exchanges`` is
    the smallest number and the largest: a measure has the largest if ``is_close(name, differences)`` is true of the
    first exchanges. If there are at most as many possible exchanges as that, each is made once.
    """
    exchangeable = _exchangeable(sources)
    if not papers_test:
        exchangeable = {name: exchangeable[name] for name in exchangeable.keys() & influences.keys()}
    if not exchangeable:
        return {}
    draw = partial(_drawn, sources, influences, seed=seed)
    at_first, most = n_exchanges
    if is_exact(sources[0].questions.members.shape[1], most):
        return draw(exchangeable, most)
    first = draw(exchangeable, at_first)
    close = {name: exchangeable[name] for name, (values, _) in first.items() if is_close(name, values)}
    if not close or most == at_first:
        return first
    return first | {
        name: _concatenated([first[name], more]) for name, more in draw(close, most - at_first).items()
    }


def _drawn(
    sources: Sequence[PairedTables],
    influences: Mapping[str, Mapping[int, Influence]],
    exchangeable: Mapping[str, Measure],
    n: int,
    *,
    seed: np.random.Generator,
) -> dict[str, Drawn]:
    """Draw n exchanges; all possible ones if these are not more."""
    stacked = [(source, source.stacked()) for source in sources]
    parts: dict[str, list[Drawn]] = {name: [] for name in exchangeable}
    for block in exchanged_kinds(
        [(source.first.kinds, source.second.kinds, source.questions) for source in sources],
        n_resamples=n,
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


def _concatenated(blocks: Sequence[Drawn]) -> Drawn:
    differences, errors = zip(*blocks, strict=True)
    return np.concatenate(differences), np.concatenate(errors)


def _differences_of_block(
    stacked: Sequence[tuple[PairedTables, Columns]],
    block: Sequence[Any],
    exchangeable: Mapping[str, Measure],
    influences: Mapping[str, Mapping[int, Influence]],
) -> dict[str, Drawn]:
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
