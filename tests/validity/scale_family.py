"""Whole scale studies in which the scale does not matter: how often anything is found all the same.

The subject's confidence is one number whatever the scale, and is written down to the nearest step of each. Three
sources of different difficulty are averaged, as the report does; twelve scales are compared with 0-100, on the same
questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.sparse import csr_array

from confidence_tasks.reading.integer_scale import ALL_SCALES, Scale
from confidence_tasks.report.estimates.averages import mean
from confidence_tasks.report.estimates.difference import paired_differences
from confidence_tasks.report.estimates.distribution import Distribution
from confidence_tasks.report.estimates.distributions import informative, resampled
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import TrialSubset
from confidence_tasks.simulation.draws import decide, paired_draws
from confidence_tasks.simulation.reports import simulated_reports
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.statistics.inference.resampling import as_estimate
from confidence_tasks.statistics.inference.weights import TrialCounts
from confidence_tasks.studies.scales.measures import MEASURES
from confidence_tasks.studies.scales.replies import BASELINE
from confidence_tasks.study.inference import Columns
from confidence_tasks.study.kinds import DistinctTrials
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.paired import PairedTables, influence_on

SOURCES = (
    Subject(d_prime=1.2, meta_d_prime=1.0, bias=0.5),
    Subject(d_prime=1.5, meta_d_prime=1.2, bias=0.5),
    Subject(d_prime=2.0, meta_d_prime=1.6, bias=0.5),
)
"""The subject on questions of three sources: M-ratio .8 on each, right 73, 77 and 84 times in 100, overconfident."""

SCALES = tuple(scale for scale in ALL_SCALES if scale != BASELINE)
BY_NAME: Mapping[str, Measure] = {measure.name: measure for measure in MEASURES}
LOG2_POPULATION = 15
ALPHA = 0.05


@cache
def population() -> tuple[dict[str, Columns], ...]:
    """For each source the trials of very many questions, by scale."""
    found = []
    for number, subject in enumerate(SOURCES):
        (draws,), _ = paired_draws(LOG2_POPULATION, 0.0, np.random.default_rng(number))
        trials = {}
        for scale in ALL_SCALES:
            correct, confidence = decide(subject, draws, BASELINE.label)
            raw = simulated_reports(subject, confidence, scale, draws)
            trials[scale.label] = {
                "correct": correct.astype(np.float64),
                "confidence": (raw - scale.lower) / scale.width,
            }
        found.append(trials)
    return tuple(found)


@cache
def truth(name: str, scale: Scale) -> float:
    """The measure over the population, averaged over the sources."""
    return float(
        np.mean([float(BY_NAME[name].compute(trials[scale.label], None)) for trials in population()])
    )


@dataclass
class Family:
    """What a number of studies found of one measure.

    Attributes
    ----------
    p_values : ndarray, shape (studies, scales)
        NaN where withheld.
    missed : ndarray, shape (studies, scales)
        Whether the 95% interval leaves out the truth; NaN where withheld.
    truth : ndarray, shape (scales,)
        What a coarse scale loses or gains.
    """

    p_values: np.ndarray
    missed: np.ndarray
    truth: np.ndarray

    @property
    def null(self) -> np.ndarray:
        """The scales on which nothing is lost: what is found there is not there."""
        return np.abs(self.truth) < 1e-3

    @property
    def sizes(self) -> np.ndarray:
        """Share of the studies that find a difference on each of these scales."""
        return np.asarray((self.p_values <= ALPHA).mean(axis=0)[self.null])

    @property
    def family_size(self) -> float:
        """Share of the studies that find any, corrected for all twelve."""
        return float((self.p_values <= ALPHA / len(SCALES))[:, self.null].any(axis=1).mean())

    @property
    def missing(self) -> np.ndarray:
        """Share of the intervals of each scale that leave out the truth; NaN where all are withheld."""
        with np.errstate(invalid="ignore"):
            return np.asarray(np.nansum(self.missed, axis=0) / (~np.isnan(self.missed)).sum(axis=0))


def families(
    names: Sequence[str], n: int, n_studies: int, n_exchanges: int = 999, seed: int = 0
) -> dict[str, Family]:
    """Let the subject go through studies of ``n`` questions a source, and test them as the report does."""
    measures = [BY_NAME[name] for name in names]
    # What a coarse scale loses is there.
    true = {
        name: np.array([truth(name, scale) for scale in SCALES]) - truth(name, BASELINE) for name in names
    }
    shape = (n_studies, len(SCALES))
    found = {name: Family(np.full(shape, np.nan), np.full(shape, np.nan), true[name]) for name in names}
    for study in range(n_studies):
        rng = np.random.default_rng([seed, study])
        questions = rng.integers(1 << LOG2_POPULATION, size=(len(SOURCES), n))
        tables = {scale: _tables(scale, questions, measures) for scale in ALL_SCALES}
        sides = _sides(tables, measures, n_exchanges, rng)
        for number, scale in enumerate(SCALES):
            sources = [PairedTables.of(*pair) for pair in zip(tables[scale], tables[BASELINE], strict=True)]
            pairs = {name: (sides[scale][name], sides[BASELINE][name]) for name in names}
            settings = Settings(n_exchanges, exchange_factor=1)
            tested = paired_differences(sources, pairs, settings, rng, papers_test=False)
            for name, difference in tested.items():
                interval = difference.interval
                found[name].p_values[study, number] = difference.p_value
                if not np.isnan(interval.low):
                    inside = interval.low <= true[name][number] <= interval.high
                    found[name].missed[study, number] = not inside
    return found


def _tables(scale: Scale, questions: np.ndarray, measures: Sequence[Measure]) -> list[DistinctTrials]:
    """The trials of a study on one scale, by source; the questions of all sources are numbered together."""
    found = []
    for number, (trials, of) in enumerate(zip(population(), questions, strict=True)):
        rows = np.stack([column[of] for column in trials[scale.label].values()])
        distinct, kind = np.unique(rows, axis=1, return_inverse=True)
        unit = np.arange(len(of)) + number * len(of)
        members = csr_array((np.ones(len(of)), (kind, unit)), shape=(distinct.shape[1], questions.size))
        columns = dict(zip(trials[scale.label], distinct, strict=True))
        found.append(
            DistinctTrials(columns, TrialCounts(np.arange(distinct.shape[1]), members), tuple(measures))
        )
    return found


def _sides(
    tables: Mapping[Scale, Sequence[DistinctTrials]],
    measures: Sequence[Measure],
    n_resamples: int,
    rng: np.random.Generator,
) -> dict[Scale, dict[str, Distribution]]:
    """The measures on each scale, as the mean over the sources, with resamples where a test takes them."""
    resampled_measures = tuple(
        measure
        for measure in measures
        if influence_on(measure, PairedTables.of(tables[BASELINE][0], tables[BASELINE][0])) is None
    )
    drawn = {}
    if resampled_measures:
        cells = {
            (scale, number): TrialSubset(str(number), np.empty(0, dtype=np.int64))
            for scale in tables
            for number in range(len(SOURCES))
        }
        of_cells = resampled(
            [
                (cell, replace(tables[scale][number], measures=resampled_measures))
                for (scale, number), cell in cells.items()
            ],
            n_resamples,
            rng,
            rng,
        )
        drawn = {
            (key, measure.name): of_cells[cell, measure.name]
            for key, cell in cells.items()
            for measure in resampled_measures
        }
    found: dict[Scale, dict[str, Distribution]] = {}
    for scale, its_tables in tables.items():
        found[scale] = {}
        for measure in measures:
            parts = []
            for number, table in enumerate(its_tables):
                counts = table.kinds.counts
                trials, unit = table.expanded()
                value = float(np.asarray(measure.compute(table.columns, counts[np.newaxis]))[0])
                parts.append(
                    Distribution(
                        as_estimate(value),
                        drawn.get(((scale, number), measure.name), np.array([value])),
                        frozenset(f"{number}-{i}" for i in range(int(counts.sum()))),
                        informative=informative(measure, trials),
                        inverted_test=measure.inference.test(trials, unit)
                        if measure.inference.test and measure in resampled_measures
                        else None,
                    )
                )
            found[scale][measure.name] = mean(parts)
    return found
