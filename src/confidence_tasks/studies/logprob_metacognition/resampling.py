"""One draw of questions for every cell of the log-probability study, and the ways to bin its evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from confidence_tasks.report.estimates import Settings
from confidence_tasks.statistics.calibration.binning import Bins
from confidence_tasks.statistics.core import FloatArray, IntArray
from confidence_tasks.statistics.inference.draws import (
    WeightColumns,
    auroc2_columns,
    cells_columns,
    weight_columns,
)
from confidence_tasks.statistics.sdt import quantile_edges, to_ratings
from confidence_tasks.studies.logprob_metacognition.tables import (
    CALIBRATION_BINS,
    GAPS,
    INFORMATION_BINS,
    PRIMARY,
    SETTINGS,
    SUMMED,
    TEMPERATURE,
    CellKey,
    ConditionCounts,
    LogprobResampler,
)
from confidence_tasks.study.trial import READABLE

Edges: TypeAlias = Callable[[FloatArray, int], FloatArray]


def equal_width_edges(evidence: FloatArray, n_bins: int) -> FloatArray:
    """Return the inner edges of bins of one width between the least and the largest evidence; zeros without any.

    Examples
    --------
    >>> equal_width_edges(np.array([-4.0, -1.0, 0.0]), 4)
    array([-3., -2., -1.])
    """
    if not evidence.size:
        return np.zeros(n_bins - 1)
    return np.linspace(evidence.min(), evidence.max(), n_bins + 1)[1:-1]


@dataclass(frozen=True, slots=True)
class Binning:
    """A way to make a count table of trials.

    Attributes
    ----------
    n_ratings : int
        K, for 2K bins.
    edges : callable
        Gives the inner edges for the evidence at the reference temperature and the number of bins.
    evidence : str
        The column that is binned.
    balanced : bool
        Whether as many right as wrong answers are taken, at random, before anything else.
    between_extremes : bool
        Whether the edges hang on the extremes, which a resample has of its own; otherwise they are quantiles.
    """

    n_ratings: int = 4
    edges: Edges = quantile_edges
    evidence: str = "mean_logprob"
    balanced: bool = False
    between_extremes: bool = False


BINNINGS: Mapping[str, Binning] = {
    PRIMARY: Binning(),
    "K=3": Binning(n_ratings=3),
    "K=6": Binning(n_ratings=6),
    "equal_width": Binning(edges=equal_width_edges, between_extremes=True),
    "gold": Binning(evidence="gold_mean_logprob"),
    "balanced": Binning(balanced=True),
}
"""The study's own, and those of its robustness checks."""


def resample(
    trials: pd.DataFrame, *, settings: Settings = SETTINGS, binnings: Mapping[str, Binning] = BINNINGS
) -> LogprobResampler:
    """Count every cell of the study, and count it anew in every resample of questions.

    ``trials`` are those of the log with their ``model``. All temperatures are counted in the primary one of
    ``binnings``, domains and the other ones at T = 1 only.

    Edges of bins are taken from a model's and source's trials at the temperature nearest to 1, and hold at all
    temperatures. Resamples keep quantiles, and have extremes of their own.

    Version 1's d', meta-d' and M-ratio are those of tables drawn from their posterior distribution. Questions have
    random weights (Rubin's Bayesian bootstrap, doi:10.1214/aos/1176345338), and each cell starts from 1/(2K) trials,
    half a trial on either side of the criterion (Jeffreys). What the paper adds to each cell, 0.5, would pull d'
    towards 0 once more where few answers are wrong; values have it, as in the log. A draw has edges of its own, as the
    paper's resamples, which recompute "the full pipeline": see :func:`at_quantiles`.
    """
    cells: dict[CellKey, ConditionCounts] = {}
    for source, its_trials in trials.groupby("source", sort=True):
        questions, unit = np.unique(its_trials["question_id"].astype(str), return_inverse=True)
        parts = list(_parts(its_trials.assign(unit=unit), str(source), len(questions), settings, binnings))
        if not parts:
            continue
        purpose, size = ("nlp_metad", str(source)), settings.n_resamples
        resamples = weight_columns(len(questions), n_resamples=size, seed=settings.generator(*purpose))
        weights = weight_columns(
            len(questions), n_resamples=size, seed=settings.generator(*purpose, "posterior"), bayesian=True
        )
        counted = _joined(_taken(parts, columns) for columns in resamples)
        weighted = _joined([part.weighted(columns) for part in parts] for columns in weights)
        draws = {part.key: own | drawn for part, own, drawn in zip(parts, counted, weighted, strict=True)}
        counts = {part.key: part.counts for part in parts}
        for part in parts:
            found = draws[part.key]
            if part.reference is not None:
                of = counts[part.reference], draws[part.reference]["posterior_draws"]
                tables = at_quantiles(counts[part.key], found["posterior_draws"], *of)
                # Cells of one shape start alike, as the questions of all have the same weights.
                start = settings.generator(*purpose, "prior").gamma(1.0 / tables.shape[-1], size=tables.shape)
                found = found | {"posterior_draws": tables + start}
            cells[part.key] = part.cell(questions[part.unit], counts[part.key], found)
    order = {model: i for i, model in enumerate(dict.fromkeys(trials["model"].astype(str)))}
    keys = sorted(cells, key=lambda key: (order[key.model], *key[1:]))
    return LogprobResampler({key: cells[key] for key in keys}, settings)


def _joined(blocks: Iterable[list[dict[str, FloatArray]]]) -> list[dict[str, FloatArray]]:
    """Put together what each cell comes to in all resamples."""
    return [
        {name: np.concatenate([block[name] for block in taken]) for name in taken[0]}
        for taken in zip(*blocks, strict=True)
    ]


def _taken(parts: list[_Part], columns: WeightColumns) -> list[dict[str, FloatArray]]:
    """Return what every cell comes to in some of the resamples."""
    added: FloatArray = np.concatenate([part.sums for part in parts]) @ columns
    ends = np.cumsum([len(part.sums) for part in parts])[:-1]
    return [
        part.drawn(columns) | ({"sum_draws": sums.T} if len(sums) else {})
        for part, sums in zip(parts, np.split(added, ends), strict=True)
    ]


def at_quantiles(counts: FloatArray, drawn: FloatArray, of: FloatArray, of_drawn: FloatArray) -> FloatArray:
    """Count draws (R, 2, 2K) between quantiles of their own, given their counts between those of the trials (2, 2K).

    Where a draw has more trials below an edge than it should, its own quantile lies lower, and as many as are too many
    belong to the bin above. Right and wrong answers are moved in the proportion that they have near the edge, in the
    two bins that meet there. (Resamples counted between the quantiles of the trials that they repeat would vary too
    much: of 200 questions, M-ratio's 95% intervals would hold the truth in 99% of studies.) The edges are quantiles of
    the trials that ``of`` and ``of_drawn`` count, which were drawn together with them, or are the same.

    Examples
    --------
    >>> counts = np.array([[3.0, 1.0], [1.0, 3.0]])
    >>> drawn = np.array([[[4.0, 1.0], [2.0, 1.0]]])  # six of eight below the median
    >>> at_quantiles(counts, drawn, counts, drawn)
    array([[[3., 2.],
            [1., 2.]]])
    """
    below, below_drawn = (np.cumsum(table.sum(axis=-2), axis=-1) for table in (of, of_drawn))
    surplus = below_drawn[:, :-1] - below_drawn[:, -1:] * below[:-1] / below[-1]
    meeting = of.sum(axis=0)[:-1] + of.sum(axis=0)[1:]
    share = (counts[:, :-1] + counts[:, 1:]) / np.maximum(meeting, 1.0)
    moved = np.pad(surplus[:, np.newaxis] * share, ((0, 0), (0, 0), (1, 1)))
    found: FloatArray = np.maximum(drawn + moved[..., :-1] - moved[..., 1:], 0.0)
    return found


@dataclass(frozen=True, slots=True)
class _Part:
    """Trials of a cell before they are resampled.

    ``unit`` numbers their questions. ``sums`` (S, U) has what each question adds to ``SUMMED``; no rows for parts of
    a condition. ``reference`` has the trials whose quantiles the edges are; none if edges lie between extremes.
    """

    key: CellKey
    correct: FloatArray
    evidence: FloatArray
    unit: IntArray
    edges: FloatArray
    sums: FloatArray
    reference: CellKey | None

    def drawn(self, columns: WeightColumns) -> dict[str, FloatArray]:
        """Return counts and AUROC2 in some of the resamples, as the cell has them."""
        counts = {"count_draws": self._tables(columns)}
        if self.key.binning != PRIMARY:
            return counts
        return counts | {
            "decile_draws": self._counted(self._deciles, INFORMATION_BINS, columns),
            "area_draws": auroc2_columns(self.correct, self.evidence, self.unit, columns),
        }

    def weighted(self, columns: WeightColumns) -> dict[str, FloatArray]:
        """Return tables between quantiles in some of the draws from their posterior distribution."""
        return {} if self.reference is None else {"posterior_draws": self._tables(columns)}

    def _tables(self, columns: WeightColumns) -> FloatArray:
        size = len(self.edges) + 1
        if self.reference is None:
            return self._between_extremes(size, columns)
        return self._counted(self._octiles, size, columns)

    def cell(
        self, asked: NDArray[np.str_], counts: FloatArray, draws: Mapping[str, FloatArray]
    ) -> ConditionCounts:
        """Return the cell, given the question of each trial, and what it comes to, also in all resamples."""
        return ConditionCounts(
            self.key,
            self.correct,
            self.evidence,
            asked,
            self.edges,
            counts=counts,
            deciles=self._counted(self._deciles, INFORMATION_BINS) if "decile_draws" in draws else None,
            sums=self.sums.sum(axis=1) if "sum_draws" in draws else None,
            **draws,
        )

    @property
    def counts(self) -> FloatArray:
        """Wrong and right answers by bin."""
        return self._counted(self._octiles, len(self.edges) + 1)

    @property
    def _octiles(self) -> IntArray:
        return to_ratings(self.evidence, self.edges) - 1

    @property
    def _deciles(self) -> IntArray:
        """The bins of equal mass, equal evidence sharing one."""
        return Bins(INFORMATION_BINS, "equal_mass").numbers(self.evidence)

    def _counted(self, bins: IntArray, size: int, columns: WeightColumns | None = None) -> FloatArray:
        """Count wrong and right answers by bin: of every resample (R, 2, size), or of the trials themselves."""
        cell = size * self.correct.astype(np.int64) + bins
        if columns is None:
            return np.bincount(cell, minlength=2 * size).reshape(2, size).astype(np.float64)
        return cells_columns(cell, self.unit, 2 * size, columns).reshape(-1, 2, size)

    def _between_extremes(self, size: int, columns: WeightColumns) -> FloatArray:
        """Count them between the extremes of every resample, shape (R, 2, size)."""
        order = np.argsort(self.evidence, kind="stable")
        evidence, right = self.evidence[order], self.correct[order]
        found = np.empty((columns.shape[1], 2, size))
        for r, drawn in enumerate(columns[self.unit[order]].T):
            there = drawn > 0
            edges = equal_width_edges(evidence[there], size)
            cell = size * right.astype(np.int64) + np.searchsorted(edges, evidence, side="right")
            found[r] = np.bincount(cell, drawn, 2 * size).reshape(2, size)
        return found


def _parts(
    trials: pd.DataFrame,
    source: str,
    n_questions: int,
    settings: Settings,
    binnings: Mapping[str, Binning],
) -> Iterator[_Part]:
    """Return the cells of one source."""
    for model, its_trials in trials.groupby("model", sort=False):
        temperatures = its_trials["temperature"].unique()
        reference = float(temperatures[np.argmin(np.abs(temperatures - TEMPERATURE))])
        for name, binning in binnings.items():
            rng = settings.generator("nlp_metad", "balanced", str(model), source)
            usable = _usable(its_trials, binning, rng)
            at_reference = usable[usable["temperature"] == reference]
            if at_reference.empty:
                continue
            evidence = at_reference[binning.evidence].to_numpy(dtype=np.float64)
            edges = binning.edges(evidence, 2 * binning.n_ratings)
            for temperature, part in usable.groupby("temperature", sort=True):
                at_one = temperature == TEMPERATURE
                if name != PRIMARY and not at_one:
                    continue
                key = CellKey(str(model), source, float(str(temperature)), binning=name)
                of = None if binning.between_extremes else key._replace(temperature=reference)
                asked = its_trials[its_trials["temperature"] == temperature] if name == PRIMARY else None
                yield _part(key, part, binning, edges, _sums(asked, n_questions), of)
                if name == PRIMARY and at_one:
                    for domain, of_domain in part.groupby("domain", sort=True):
                        its_key = key._replace(domain=str(domain))
                        yield _part(its_key, of_domain, binning, edges, _sums(None, n_questions), of)


def _part(
    key: CellKey,
    trials: pd.DataFrame,
    binning: Binning,
    edges: FloatArray,
    sums: FloatArray,
    reference: CellKey | None,
) -> _Part:
    correct, evidence = (trials[name].to_numpy(dtype=np.float64) for name in ("correct", binning.evidence))
    unit = trials["unit"].to_numpy(dtype=np.int64)
    return _Part(key, correct, evidence, unit, edges, sums, reference)


def _sums(trials: pd.DataFrame | None, n_questions: int) -> FloatArray:
    """Return what each question adds to ``SUMMED``; no rows where nothing is asked for."""
    if trials is None:
        return np.zeros((0, n_questions))
    correct, mean_logprob = (trials[name].to_numpy(dtype=np.float64) for name in ("correct", "mean_logprob"))
    evidence, has = np.nan_to_num(mean_logprob), ~np.isnan(mean_logprob)
    wrong, right = (correct == 0.0) & has, (correct == 1.0) & has
    confidence = np.exp(evidence)
    gap = (right - confidence) * (wrong | right)
    bins = CALIBRATION_BINS.numbers(confidence)
    added = {
        "asked": np.ones(len(trials)),
        "readable": trials["status"].isin(READABLE).to_numpy(),
        "judged": ~np.isnan(correct),
        "right": np.nan_to_num(correct),
        "with_evidence": has,
        "evidence": evidence,
        "wrong_complete": wrong,
        "evidence_of_wrong": evidence * wrong,
        "right_complete": right,
        "evidence_of_right": evidence * right,
        "complete": wrong | right,
        "squared_error": gap**2,
        **{name: gap * (bins == k) for k, name in enumerate(GAPS)},
    }
    unit = trials["unit"].to_numpy(dtype=np.int64)
    return np.stack([np.bincount(unit, added[name], minlength=n_questions) for name in SUMMED])


def _usable(trials: pd.DataFrame, binning: Binning, rng: np.random.Generator) -> pd.DataFrame:
    """Return the trials that have what a binning needs; at T = 1 only, as many right as wrong, if so asked."""
    complete = trials.dropna(subset=["correct", binning.evidence])
    complete = complete[complete["correct"].isin([0.0, 1.0])]
    if not binning.balanced:
        return complete
    at = complete[complete["temperature"] == TEMPERATURE]
    # What is drawn must not depend on the order of the rows.
    at = at.sort_values(["question_id", "correct", binning.evidence])
    rows = [np.flatnonzero(at["correct"] == value) for value in (0.0, 1.0)]
    size = min(map(len, rows))
    return at.iloc[np.sort(np.concatenate([rng.choice(some, size, replace=False) for some in rows]))]
