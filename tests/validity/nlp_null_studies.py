"""Log-probability studies in which a hypothesis is false, to see how often its verdict is "supported" nevertheless.

Cells are made as :func:`confidence_tasks.studies.logprob_metacognition.resampling.resample` makes them, but each is
resampled by itself, as a table: answers of different cells are independent here, and thousands of resamples then cost
little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from tests.unit.studies.logprob_trials import DOMAINS, TRIVIA, Evidence

from confidence_tasks.report.estimates import Settings
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.sdt import quantile_edges, to_ratings
from confidence_tasks.studies.logprob_metacognition.hypotheses import (
    TEMPERATURES,
    domain_specific_efficiency,
    hidden_structure,
    suboptimal_metacognition,
    temperature_dissociation,
)
from confidence_tasks.studies.logprob_metacognition.outcomes import Outcome
from confidence_tasks.studies.logprob_metacognition.resampling import at_quantiles
from confidence_tasks.studies.logprob_metacognition.tables import CellKey, ConditionCounts, LogprobResampler

BINS, DECILES = 8, 10

Answers: TypeAlias = tuple[FloatArray, FloatArray]
"""Correctness and evidence."""

Whole: TypeAlias = Callable[[FloatArray], FloatArray]
"""From tables of all parts, shape (..., parts, 2, bins), to the table that edges are quantiles of, (..., 2, bins)."""

EQUAL = Evidence(1.4, 1.0, 0.5)
"""M-ratio 1."""

UNEQUAL = Evidence(1.9, 1.7, 0.43)
"""About a model of the paper; M-ratio 1.08."""


def answers(evidence: Evidence, n: int, rng: np.random.Generator) -> Answers:
    """Answer n questions."""
    correct = (rng.random(n) < evidence.accuracy).astype(np.float64)
    return correct, evidence.given(correct, rng)


def count(found: Answers, edges: FloatArray) -> FloatArray:
    """Count wrong and right answers by bin."""
    correct, evidence = found
    cell = (len(edges) + 1) * correct.astype(np.int64) + to_ratings(evidence, edges) - 1
    return np.bincount(cell, minlength=2 * (len(edges) + 1)).reshape(2, -1).astype(np.float64)


def resampled(counts: FloatArray, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Draw the trials behind whole counts anew, (...) -> (R, ...)."""
    total = int(counts.sum())
    drawn = rng.multinomial(total, counts.ravel() / max(total, 1), size=n_resamples)
    return drawn.reshape(n_resamples, *counts.shape).astype(np.float64)


def cells_of(
    parts: Mapping[CellKey, Answers],
    whole: Whole,
    edges: FloatArray,
    n_resamples: int,
    rng: np.random.Generator,
) -> Iterator[ConditionCounts]:
    """Count answers whose edges are the quantiles of the whole, and in each resample and draw."""
    tables = np.array([count(found, edges) for found in parts.values()])
    weights = rng.standard_gamma(tables, size=(n_resamples, *tables.shape))
    for i, (key, (correct, evidence)) in enumerate(parts.items()):
        deciles = count((correct, evidence), quantile_edges(evidence, DECILES))
        start = rng.gamma(1.0 / BINS, size=(n_resamples, 2, BINS))
        yield ConditionCounts(
            key,
            correct,
            evidence,
            np.arange(len(correct)).astype(str),
            edges,
            tables[i],
            resampled(tables[i], n_resamples, rng),
            at_quantiles(tables[i], weights[:, i], whole(tables), whole(weights)) + start,
            deciles,
            resampled(deciles, n_resamples, rng),
        )


def _last(tables: FloatArray) -> FloatArray:
    return tables[..., -1, :, :]


def _all_together(tables: FloatArray) -> FloatArray:
    return np.asarray(tables.sum(axis=-3))


def _experiment(cells: Iterator[ConditionCounts], n_resamples: int) -> LogprobResampler:
    return LogprobResampler({cell.key: cell for cell in cells}, Settings(n_resamples))


def models_alike(
    rng: np.random.Generator, n: int, n_resamples: int, n_models: int, evidence: Evidence = EQUAL
) -> LogprobResampler:
    """Models that do not differ, at T = 1."""

    def cells() -> Iterator[ConditionCounts]:
        for model in range(n_models):
            found = answers(evidence, n, rng)
            edges = quantile_edges(found[1], BINS)
            yield from cells_of({CellKey(str(model), TRIVIA, 1.0): found}, _last, edges, n_resamples, rng)

    return _experiment(cells(), n_resamples)


def domains_alike(
    rng: np.random.Generator, n: int, n_resamples: int, n_models: int, evidence: Evidence = EQUAL
) -> LogprobResampler:
    """Models whose four domains do not differ."""

    def cells() -> Iterator[ConditionCounts]:
        for model in range(n_models):
            correct, value = answers(evidence, n, rng)
            edges = quantile_edges(value, BINS)
            parts = {
                CellKey(str(model), TRIVIA, 1.0, domain): (correct[i::4], value[i::4])
                for i, domain in enumerate(DOMAINS)
            }
            yield from cells_of(parts, _all_together, edges, n_resamples, rng)

    return _experiment(cells(), n_resamples)


def over_temperatures(
    rng: np.random.Generator, n: int, n_resamples: int, n_models: int, distances: Sequence[float]
) -> LogprobResampler:
    """Models of equal variance, so that d' and meta-d' are one: these at the four temperatures of H3."""

    def cells() -> Iterator[ConditionCounts]:
        for model in range(n_models):
            found = [answers(Evidence(distance, 1.0, 0.5), n, rng) for distance in distances]
            edges = quantile_edges(found[-1][1], BINS)
            parts = {
                CellKey(str(model), TRIVIA, temperature): its_answers
                for temperature, its_answers in zip(TEMPERATURES, found, strict=True)
            }
            yield from cells_of(parts, _last, edges, n_resamples, rng)

    return _experiment(cells(), n_resamples)


Study: TypeAlias = Callable[[np.random.Generator, int, int, int], LogprobResampler]
"""``study(rng, n, n_resamples, n_models)``."""

_CORRECTED: Mapping[str, Callable[[LogprobResampler], Outcome]] = {
    "H2": partial(domain_specific_efficiency, correction="bonferroni"),
    "H4": partial(hidden_structure, correction="bonferroni"),
}

STUDIES: Mapping[str, tuple[Study, Callable[[LogprobResampler], Outcome]]] = {
    "H1, M-ratio 1": (models_alike, suboptimal_metacognition),
    "H2": (domains_alike, domain_specific_efficiency),
    "H2, corrected": (domains_alike, _CORRECTED["H2"]),
    "H2 by meta-information": (
        domains_alike,
        partial(domain_specific_efficiency, measure="meta_information", correction="bonferroni"),
    ),
    "H3, nothing varies": (partial(over_temperatures, distances=(1.4,) * 4), temperature_dissociation),
    "H3, meta-d' differs by the margin": (
        partial(over_temperatures, distances=(1.4, 1.4, 1.4, 1.7)),
        temperature_dissociation,
    ),
    "H4": (models_alike, hidden_structure),
    "H4, corrected": (models_alike, _CORRECTED["H4"]),
    "H4 by meta-information": (
        models_alike,
        partial(hidden_structure, measure="meta_information", correction="bonferroni"),
    ),
}
"""By name: studies in which a hypothesis is false, and its test."""


def supported(
    name: str, *, n: int, n_models: int, n_studies: int, n_resamples: int = 2_000, seed: int = 0
) -> float:
    """Share of the studies in which a false hypothesis is supported."""
    study, test = STUDIES[name]
    rng = np.random.default_rng([seed, n, n_models])
    return float(
        np.mean([test(study(rng, n, n_resamples, n_models)).verdict == "supported" for _ in range(n_studies)])
    )
