"""The cells that the hypotheses of the log-probability study compare, and what they are in resamples of questions.

A cell is the count table of wrong and right answers by rating: of a model, source and temperature, of a domain at
T = 1, or by other bins. The report's engine draws the questions of a source once for all its cells, so that the
difference of two cells is paired by question, whatever the two are.

Cacioli (2026), arXiv:2603.25112, section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from confidence_tasks.report.estimates import Distribution, Distributions, Settings, distributions
from confidence_tasks.report.task_trials import Columns, TrialSubset
from confidence_tasks.statistics import Estimate, Reason, fit_meta_d, meta_information
from confidence_tasks.statistics.calibration.binning import Bins, independent_trials
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.inference.resampling import as_estimate
from confidence_tasks.statistics.sdt import fit_uv_sdt, quantile_edges, to_ratings, type1
from confidence_tasks.statistics.sdt.count_tables import Padding
from confidence_tasks.studies.logprob_metacognition.trials import (
    FEWEST_OF_A_CLASS,
    LARGEST_RATIO,
    PADDING,
    RATINGS,
)
from confidence_tasks.study.measures import (
    Measure,
    Posterior,
    Value,
    inverted_test_of,
    right_and_wrong,
    smallest_set,
    statistic_of,
)

TEMPERATURE = 1.0
"""Temperature at which the hypotheses are tested and which sets the edges of the bins."""

PRIMARY_SOURCE = "trivia_qa"
"""Source on which the hypotheses are tested, if it was asked."""

PRIMARY = ""
"""Name of the study's own binning."""

RESAMPLED = "mratio_v1_resampled"
"""M-ratio, its distribution that of resamples. Changes from bins to others are read off these: which trials lie between
an edge and another differs from study to study as it does from resample to resample."""

SETTINGS = Settings(n_resamples=10_000, level=0.95, seed=42)
"""Settings of the paper."""

_INFORMATION_BINS = Bins(10, "equal_mass")
"""Number of bins, as in ``meta_information``."""


@dataclass(frozen=True, slots=True)
class Binning:
    """A way to make a count table of trials: 2K bins of a column, between quantiles or of one width.

    ``balanced`` takes as many right as wrong answers, at random, before anything else.
    """

    n_ratings: int = RATINGS
    equal_width: bool = False
    evidence: str = "mean_logprob"
    balanced: bool = False

    def edges(self, evidence: FloatArray) -> FloatArray:
        """Return the inner edges, shape (2K - 1,)."""
        size = 2 * self.n_ratings
        if self.equal_width:
            return np.linspace(evidence.min(), evidence.max(), size + 1)[1:-1]
        return quantile_edges(evidence, size)


BINNINGS: Mapping[str, Binning] = {
    PRIMARY: Binning(),
    "K=3": Binning(n_ratings=3),
    "K=6": Binning(n_ratings=6),
    "equal_width": Binning(equal_width=True),
    "gold": Binning(evidence="gold_mean_logprob"),
    "balanced": Binning(balanced=True),
}
"""The study's own binning, and those of its robustness checks."""


class CellKey(NamedTuple):
    """Model, source, temperature, domain and binning of a cell; an empty domain stands for all together."""

    model: str
    source: str
    temperature: float = TEMPERATURE
    domain: str = ""
    binning: str = PRIMARY


@dataclass(frozen=True, eq=False)
class Cell:
    """Trials under one condition: ``correct``, ``evidence`` and ``asked``, their questions, have shape (n,)."""

    key: CellKey
    correct: FloatArray
    evidence: FloatArray
    asked: NDArray[np.str_]
    subset: TrialSubset
    experiment: LogprobResampler

    @property
    def n(self) -> int:
        """Number of trials."""
        return len(self.correct)

    @cached_property
    def smaller_class(self) -> int:
        """Number of questions in the smaller class, right or wrong."""
        return min(len(np.unique(self.asked[self.correct == value])) for value in (0.0, 1.0))

    @property
    def counts(self) -> FloatArray:
        """Wrong and right answers by bin of evidence, lowest first, shape (2, 2K)."""
        return _own({name: column[self.subset.rows] for name, column in self.experiment.columns.items()})

    @property
    def standard_deviation_ratio(self) -> Estimate:
        """The sd of the evidence of wrong answers over that of right ones."""
        return as_estimate(fit_uv_sdt(*self.counts).slope)

    @property
    def n_dropped(self) -> int:
        """Draws without an M-ratio, or with one too large to be believed."""
        return int(np.isnan(self.measure("mratio_v1").resamples).sum())

    def measure(self, name: str) -> Distribution:
        """Return a measure, one of ``MEASURES`` or version 1's M-ratio, with its resamples."""
        if name == "mratio_v1":
            meta_d, d_prime = self.measure("meta_d_v1"), self.measure("d_prime_v1")
            with np.errstate(all="ignore"):
                m_ratio = _moderate(meta_d.resamples / d_prime.resamples)
            value = as_estimate(fit_meta_d(*self.counts, padding=PADDING).m_ratio)
            return replace(meta_d, value=value, resamples=m_ratio)
        return self.experiment.distributions(name)[self.subset, name]


_DRAWN_TOGETHER: Sequence[tuple[tuple[str, ...], Callable[[CellKey], bool]]] = (
    (("d_prime_v1", "meta_d_v1"), lambda key: key.binning == PRIMARY),
    (("criterion_v1", "meta_information"), lambda key: key.binning == PRIMARY),
    ((RESAMPLED,), lambda key: not key.domain),
    (("mratio_v1_unequal",), lambda key: not key.domain and key.binning == PRIMARY),
)
"""Measures, and the cells that have them."""


@dataclass(eq=False)
class LogprobResampler:
    """All cells of some models, their trials one cell behind the other, and what each measure of them is in resamples.

    ``settings`` say how uncertainty is computed; ``known`` has the measures that have been asked for.
    """

    settings: Settings
    columns: Columns = field(default_factory=dict)
    cells: dict[CellKey, Cell] = field(default_factory=dict)
    known: dict[str, Distributions] = field(default_factory=dict)

    def distributions(self, name: str) -> Distributions:
        """Return a measure of all cells that have it, with those that are drawn together with it."""
        if name not in self.known:
            names, has = next(group for group in _DRAWN_TOGETHER if name in group[0])
            subsets = [cell.subset for cell in self.cells.values() if has(cell.key)]
            found = distributions(self.columns, subsets, [MEASURES[each] for each in names], self.settings)
            self.known |= dict.fromkeys(names, found)
        return self.known[name]

    @property
    def models(self) -> list[str]:
        """The models, in order."""
        return list(dict.fromkeys(key.model for key in self.cells))

    @property
    def sources(self) -> list[str]:
        """The sources of questions, that of the hypotheses first."""
        return sorted({key.source for key in self.cells}, key=lambda name: (name != PRIMARY_SOURCE, name))

    @property
    def primary_source(self) -> str:
        """The source that the hypotheses are tested on; empty without trials."""
        return next(iter(self.sources), "")

    def temperatures(self, model: str, source: str) -> list[float]:
        """Temperatures at which a model was asked, ascending."""
        return sorted({key.temperature for key in self.cells if key.model == model and key.source == source})

    def domains(self, source: str) -> list[str]:
        """Domains of a source's questions."""
        return sorted({key.domain for key in self.cells if key.source == source and key.domain})


def enough_of_both(experiment: LogprobResampler, source: str, **key: Any) -> dict[str, Cell]:
    """Return the models with enough right and wrong answers, and their cells of some :class:`CellKey`."""
    found = {model: experiment.cells.get(CellKey(model, source, **key)) for model in experiment.models}
    return {model: cell for model, cell in found.items() if cell and cell.smaller_class >= FEWEST_OF_A_CLASS}


def limits(found: Distribution, settings: Settings, level: float | None = None) -> dict[str, float]:
    """Return a number and its interval as the columns of a test."""
    interval = found.interval(settings if level is None else replace(settings, level=level))
    return {limit: float(getattr(interval, limit)) for limit in ("estimate", "low", "high")}


def quarter_counts(cell: Cell) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the right answers and all answers in each quarter of the evidence, equal evidence sharing one.

    The third is how many independent trials they are worth, where questions were asked several times.
    """
    partition = Bins(4, "equal_mass")
    quarter = partition.assign(cell.evidence)
    right = np.bincount(quarter, cell.correct, minlength=4).astype(np.float64)
    total = np.bincount(quarter, minlength=4).astype(np.float64)
    worth = independent_trials(cell.asked, partition, cell.evidence, total)
    used = total > 0
    return right[used], total[used], worth[used]


def rises(right: FloatArray, total: FloatArray) -> FloatArray:
    """Return the one-sided exact p-values of neighbours being no higher; 1 where there are none."""
    if len(total) < 2:
        return np.ones(1)
    from scipy.stats import hypergeom

    both, of_both = right[:-1] + right[1:], total[:-1] + total[1:]
    return np.asarray(hypergeom.sf(right[1:] - 1, of_both, both, total[1:]), dtype=np.float64)


def smallest_rise(share: FloatArray, low: FloatArray, high: FloatArray) -> dict[str, float]:
    """Return the smallest rise of a share from one quarter to the next, with the interval that those of both make."""
    if len(share) < 2:
        return dict.fromkeys(("estimate", "low", "high"), np.nan)
    rise = np.diff(share)
    i = int(rise.argmin())
    return {
        "estimate": float(rise[i]),
        "low": float(rise[i] - np.hypot(share[i + 1] - low[i + 1], high[i] - share[i])),
        "high": float(rise[i] + np.hypot(high[i + 1] - share[i + 1], share[i] - low[i])),
    }


# Cells ----------------------------------------------------------------------------------------------------------


def resample(
    trials: pd.DataFrame, *, settings: Settings = SETTINGS, binnings: Mapping[str, Binning] = BINNINGS
) -> LogprobResampler:
    """Make every cell of the study of the trials of a log with their ``model``.

    All temperatures are counted in the primary one of ``binnings``, domains and the other ones at T = 1 only. Edges of
    bins are taken from a model's and source's trials at the temperature nearest to 1, and hold at all temperatures.
    """
    made = LogprobResampler(settings)
    parts = [part for part in _parts(trials, settings, binnings) if len(part[1])]
    order = {model: i for i, model in enumerate(dict.fromkeys(trials["model"].astype(str)))}
    parts.sort(key=lambda part: (order[part[0].model], *part[0][1:]))
    if parts:
        every = pd.concat([rows for _, rows in parts], ignore_index=True).drop(columns="value")
        made.columns = {str(name): column.to_numpy() for name, column in every.items()}
    end = 0
    for key, rows in parts:
        own = rows[rows["own"] == 1.0]
        correct, evidence = (own[name].to_numpy(dtype=np.float64) for name in ("correct", "value"))
        asked = own["question_id"].to_numpy().astype(str)
        subset = TrialSubset(key.source, np.arange(end, end := end + len(rows)))
        made.cells[key] = Cell(key, correct, evidence, asked, subset, made)
    return made


VERSION_1 = ("d_prime_v1", "meta_d_v1", "mratio_v1")
"""Measures between the edges of T = 1."""


def version_1(columns: Columns, subsets: Iterable[TrialSubset], settings: Settings) -> Distributions:
    """Return version 1's measures of the conditions of one model, between the edges of T = 1 at every temperature."""
    of_study = ("question_id", "source", "temperature", "correct", "mean_logprob")
    trials = pd.DataFrame({name: columns[name] for name in of_study}).assign(model="", domain=None)
    cells = resample(trials, settings=settings, binnings={PRIMARY: BINNINGS[PRIMARY]}).cells
    lacking = Distribution(
        Estimate(np.nan, Reason.EMPTY), np.full(settings.n_resamples, np.nan), frozenset[str]()
    )
    found: dict[tuple[TrialSubset, str], Distribution] = {}
    for subset in subsets:
        temperature = float(columns["temperature"][subset.rows[0]])
        cell = cells.get(CellKey("", subset.source, temperature))
        found |= {(subset, name): cell.measure(name) if cell else lacking for name in VERSION_1}
    return found


def _parts(
    trials: pd.DataFrame, settings: Settings, binnings: Mapping[str, Binning]
) -> Iterator[tuple[CellKey, pd.DataFrame]]:
    """Yield the cells, and the rows of each: its own trials, and those whose quantiles its edges are."""
    for (model, source), its_trials in trials.groupby(["model", "source"], sort=False):
        temperatures = its_trials["temperature"].unique()
        reference = float(temperatures[np.argmin(np.abs(temperatures - TEMPERATURE))])
        for name, binning in binnings.items():
            rng = settings.generator("nlp_metad", "balanced", str(model), str(source))
            usable = _usable(its_trials, binning, rng)
            at_reference = usable[usable["temperature"] == reference]
            if at_reference.empty:
                continue
            edges = binning.edges(at_reference[binning.evidence].to_numpy(dtype=np.float64))
            for temperature, part in usable.groupby("temperature"):
                if name != PRIMARY and temperature != TEMPERATURE:
                    continue
                key = CellKey(str(model), str(source), float(str(temperature)), binning=name)
                others = at_reference if name == PRIMARY else at_reference.iloc[:0]
                yield key, _rows(part, others, binning, edges)
                if name == PRIMARY and temperature == TEMPERATURE:
                    for domain, of_domain in part.groupby("domain"):
                        yield key._replace(domain=str(domain)), _rows(of_domain, others, binning, edges)


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


def _rows(own: pd.DataFrame, reference: pd.DataFrame, binning: Binning, edges: FloatArray) -> pd.DataFrame:
    """Return what measures of a cell read: of its ``own`` trials (1), and of those that settle its edges (0)."""
    every = pd.concat([own, reference], ignore_index=True)
    value = every[binning.evidence].to_numpy(dtype=np.float64)
    decile = np.full(len(every), np.nan)
    decile[: len(own)] = _INFORMATION_BINS.assign(value[: len(own)]) / _INFORMATION_BINS.number
    rows = pd.DataFrame(
        {
            "question_id": every["question_id"].astype(str).astype(object),
            "source": every["source"].astype(object),
            "correct": every["correct"].astype(np.float64),
            "own": np.repeat([1.0, 0.0], [len(own), len(reference)]),
            "rating": to_ratings(value, edges) - 1.0,
            "n_bins": len(edges) + 1.0,
            "decile": decile,
            "extreme": value if binning.equal_width else np.nan,
            "prior": 0.0,
            "value": value,
        }
    )
    pair = rows.loc[: len(own) - 1, "correct"], decile[: len(own)]
    kind = rows.groupby(["correct", "own", "rating", "decile"], dropna=False)
    return rows.assign(
        times=kind["value"].transform("size").astype(np.float64),
        bias=meta_information(*pair, bins=None, correction="none") - meta_information(*pair, bins=None),
    )


# Measures -------------------------------------------------------------------------------------------------------


def _tables(trials: Columns, weights: FloatArray | None, counts: FloatArray) -> FloatArray:
    """Count wrong and right answers by rating for each row of weights, shape (R, 2, 2K); ``counts`` says which."""
    size = int(trials["n_bins"][0])
    shown = np.zeros((len(counts), 2 * size))
    shown[np.arange(len(counts)), (size * trials["correct"] + trials["rating"]).astype(np.int64)] = counts
    rows = np.ones((1, len(counts))) if weights is None else weights
    return np.asarray(rows @ shown).reshape(-1, 2, size)


def _own(trials: Columns) -> FloatArray:
    return np.asarray(_tables(trials, None, trials["own"] * (1.0 - trials["prior"]))[0])


def _resampled(trials: Columns, weights: FloatArray) -> FloatArray:
    """Count the trials of each resample, between its own extremes where the bins are of one width."""
    if np.isnan(trials["extreme"]).any():
        return _tables(trials, weights, trials["own"])
    order = np.argsort(trials["extreme"], kind="stable")
    value, correct, drawn = trials["extreme"][order], trials["correct"][order], weights[:, order]
    size = int(trials["n_bins"][0])
    low, high = value[(drawn > 0.0).argmax(axis=1)], value[::-1][(drawn[:, ::-1] > 0.0).argmax(axis=1)]
    edges = low[:, np.newaxis] + (high - low)[:, np.newaxis] * np.arange(1, size) / size
    tables = np.empty((len(drawn), 2, size))
    for table, its_edges, weight in zip(tables, edges, drawn, strict=True):
        place = size * correct.astype(np.int64) + np.searchsorted(its_edges, value, side="right")
        table[:] = np.bincount(place, weight, 2 * size).reshape(2, size)
    return tables


def _posterior_tables(trials: Columns, weights: FloatArray) -> FloatArray:
    """Count the trials of each draw from the posterior distribution, between quantiles of its own.

    Each cell starts from 1/(2K) trials, half a trial on either side of the criterion (Jeffreys). What the paper adds to
    each cell, 0.5, would pull d' towards 0 once more where few answers are wrong; values have it, as in the log.
    """
    seen = 1.0 - trials["prior"]
    own, reference = trials["own"] * seen, (1.0 - trials["own"]) * seen
    pairs = [
        (_tables(trials, trials["times"][np.newaxis], rows)[0], _tables(trials, weights, rows))
        for rows in (own, reference)
    ]
    return at_quantiles(*pairs[0], *pairs[1]) + _tables(trials, weights, trials["prior"])


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


def _outcomes(trials: Columns) -> Columns:
    """Return a trial of each outcome, which the prior is about."""
    size = int(trials["n_bins"][0])
    n = 2 * size
    alike = {name: np.repeat(column[:1], n) for name, column in trials.items()}
    return alike | {
        "correct": np.repeat([0.0, 1.0], size),
        "rating": np.tile(np.arange(float(size)), 2),
        "decile": np.full(n, np.nan),
        "own": np.ones(n),
        "prior": np.ones(n),
    }


_Of = Callable[[FloatArray, FloatArray, Padding], Any]
"""A measure of tables of wrong and of right answers, with what is added to each cell."""


def _measure(name: str, description: str, of: _Of, *, posterior: bool = True, enough: int = 5) -> Measure:
    """Make a measure of count tables; ``enough`` right and ``enough`` wrong answers have an interval."""

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        if weights is None:
            wrong, right = _own(trials)
            return as_estimate(of(wrong, right, PADDING))
        tables = _resampled(trials, weights)
        return np.asarray(of(tables[:, 0], tables[:, 1], PADDING))

    def drawn(trials: Columns, weights: FloatArray | None) -> Value:
        assert weights is not None
        tables = _posterior_tables(trials, weights)
        found = np.asarray(of(tables[:, 0], tables[:, 1], "none"))
        return found if _own(trials).any(axis=1).all() else np.full(len(found), np.nan)

    return Measure(
        name,
        compute,
        description,
        informative=smallest_set(*right_and_wrong(confidence="decile"), enough=enough),
        posterior=Posterior(_outcomes, drawn, prior=0.5 / RATINGS) if posterior else None,
    )


def _moderate(m_ratio: Any) -> FloatArray:
    return np.where(np.abs(m_ratio) > LARGEST_RATIO, np.nan, m_ratio)


def _m_ratio(wrong: FloatArray, right: FloatArray, padding: Padding) -> Any:
    found = fit_meta_d(wrong, right, padding=padding).m_ratio
    return found if wrong.ndim == 1 else _moderate(found)


def _unequal_variance_m_ratio(wrong: FloatArray, right: FloatArray, padding: Padding) -> Any:
    """M-ratio at the ratio of standard deviations that a table suggests."""
    s = fit_uv_sdt(wrong, right, padding="1/2K" if padding == PADDING else padding).slope
    if wrong.ndim == 1:
        single = as_estimate(s)
        return single if np.isnan(single) else fit_meta_d(wrong, right, padding=padding, s=single).m_ratio
    found = fit_meta_d(wrong, right, padding=padding, s=np.where(np.isnan(s), 1.0, s)).m_ratio
    return np.where(np.isnan(s), np.nan, _moderate(found))


def _criterion(wrong: FloatArray, right: FloatArray, padding: Padding) -> Any:
    """Minus the mean of the z-scores of right and of wrong answers above the middle edge, 0.5 added to each cell."""
    counts = np.stack([wrong, right])
    high, total = counts[..., counts.shape[-1] // 2 :].sum(axis=-1), counts.sum(axis=-1)
    found = np.where((total > 0.0).all(axis=0), -ndtri((high + 0.5) / (total + 1.0)).mean(axis=0), np.nan)
    return found if wrong.ndim > 1 else Estimate(float(found), Reason.ONE_CLASS if np.isnan(found) else None)


def _meta_information(trials: Columns, weights: FloatArray | None = None) -> Value:
    """Bias-corrected share of the uncertainty about correctness that the evidence removes.

    A resample is drawn from the observed table, whose information is too large by the bias: in a resample it comes off
    twice, once for having been sampled from the trials and once for the trials having been sampled.
    """
    information = _INFORMATION(trials, weights)
    return information if weights is None else information - trials["bias"][0]


_INFORMATION = statistic_of("meta_information", "correct", "decile", bins=None)

MEASURES: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        _measure(
            "d_prime_v1", "d' of version 1.", lambda *table: type1(*table[:2], padding=table[2]).d_prime
        ),
        _measure("meta_d_v1", "Meta-d' of version 1.", lambda *of: fit_meta_d(*of[:2], padding=of[2]).meta_d),
        _measure("mratio_v1_unequal", "M-ratio where variances may differ.", _unequal_variance_m_ratio),
        _measure(RESAMPLED, "M-ratio of resamples.", _m_ratio, posterior=False, enough=FEWEST_OF_A_CLASS),
        _measure("criterion_v1", "Criterion of calling an answer sure.", _criterion, posterior=False),
        Measure(
            "meta_information",
            _meta_information,
            "Share of the uncertainty about correctness that the evidence removes.",
            informative=smallest_set(*right_and_wrong(confidence="decile")),
            test_inversion=inverted_test_of("InformationTables", "correct", "decile"),
        ),
    )
}
"""Measures of cells by name; version 1's M-ratio is meta-d' / d'. Their values at T = 1 are those of the log."""
