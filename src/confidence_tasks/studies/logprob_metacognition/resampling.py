"""Count tables that the hypotheses of the log-probability study compare, and their bootstrap distributions.

A cell is one count table of wrong and right answers by rating. Its trials are those of a model, source and temperature;
at T = 1 there are also cells of each domain, and cells with other bins. The report draws the questions of a source once
for all cells, so that the difference of any two cells is paired by question.

Cacioli (2026), arXiv:2603.25112, section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.report.estimates.distribution import Distribution
from confidence_tasks.report.estimates.distributions import Distributions, distributions
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import TrialSubset
from confidence_tasks.statistics import (
    Estimate,
    Interval,
    Reason,
    fit_meta_d,
    information,
    meta_information,
    wilson_interval,
)
from confidence_tasks.statistics.calibration.binning import Bins, independent_trials
from confidence_tasks.statistics.core import FloatArray, undefined
from confidence_tasks.statistics.inference.resampling import as_estimate
from confidence_tasks.statistics.information import usable_bins
from confidence_tasks.statistics.sdt import MetaD, fit_uv_sdt, quantile_edges, stable_m_ratio, type1
from confidence_tasks.statistics.sdt.count_tables import Padding
from confidence_tasks.studies.logprob_metacognition.measures import (
    FEWEST_OF_A_CLASS,
    PADDING,
    RATINGS,
    drop_large_ratios,
)
from confidence_tasks.studies.logprob_metacognition.replies import UNCLASSIFIED
from confidence_tasks.study.inference import Inference, Inverted, Percentile
from confidence_tasks.study.measures import (
    Measure,
    Posterior,
    Value,
    inverted_test_of,
    right_and_wrong,
    rows_of,
    smallest_set,
    statistic_of,
)
from confidence_tasks.study.units import SAMPLING_UNIT

TEMPERATURE = 1.0
"""Temperature at which the hypotheses are tested, and whose trials set the edges of the bins."""

PRIMARY_SOURCE = "trivia_qa"
"""Source on which the hypotheses are tested, if the run has it."""

PRIMARY = ""
"""Name of the paper's main binning."""

RESAMPLED = "mratio_v1_resampled"
"""M-ratio with a bootstrap distribution instead of a posterior one. A change of bins moves trials over an edge, and how
many it moves varies between resamples as it does between studies."""

_INFORMATION_BINS = 10
"""Largest number of bins of ``meta_information``."""


@dataclass(frozen=True, slots=True)
class Binning:
    """Definition of a count table: 2K bins of the column ``evidence``, between quantiles or of equal width.

    With ``balanced``, a random subset with equal numbers of right and wrong answers is drawn first.
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
"""The main binning, and those of the robustness checks."""


class CellKey(NamedTuple):
    """Model, source, temperature, domain and binning of a cell; an empty domain stands for all domains."""

    model: str
    source: str
    temperature: float = TEMPERATURE
    domain: str = ""
    binning: str = PRIMARY


@dataclass(frozen=True, eq=False)
class Cell:
    """Trials of one count table: ``correct``, ``evidence`` and ``questions``, their identifiers, have shape (n,)."""

    key: CellKey
    correct: FloatArray
    evidence: FloatArray
    questions: NDArray[np.str_]
    subset: TrialSubset
    resampler: LogprobResampler

    @property
    def n(self) -> int:
        """Number of trials."""
        return len(self.correct)

    @cached_property
    def smaller_class(self) -> int:
        """Number of questions answered right, or answered wrong, whichever is smaller."""
        return min(len(np.unique(self.questions[self.correct == value])) for value in (0.0, 1.0))

    @property
    def counts(self) -> FloatArray:
        """Wrong and right answers by bin of evidence, lowest first, shape (2, 2K)."""
        return _observed_table(rows_of(self.resampler.columns, self.subset.rows))

    @property
    def standard_deviation_ratio(self) -> Estimate:
        """Standard deviation of wrong answers' evidence divided by that of right answers' evidence."""
        return as_estimate(fit_uv_sdt(*self.counts).slope)

    @property
    def n_dropped(self) -> int:
        """Number of draws whose M-ratio is undefined or above ``LARGEST_RATIO``."""
        return int(np.isnan(self.measure("mratio_v1").resamples).sum())

    def interval(self, name: str) -> Interval:
        """Return the interval of a measure."""
        return self.measure(name).interval(self.resampler.settings)

    def measure(self, name: str) -> Distribution:
        """Return the distribution of a measure: one of ``MEASURES``, or ``mratio_v1``."""
        if name == "mratio_v1":
            meta_d, d_prime = self.measure("meta_d_v1"), self.measure("d_prime_v1")
            with np.errstate(all="ignore"):
                m_ratio = drop_large_ratios(meta_d.resamples / d_prime.resamples)
            value = _of_one_table(fit_meta_d(*self.counts, padding=PADDING))
            if self.counts.sum(axis=1).min() < FEWEST_OF_A_CLASS:
                value = undefined(Reason.FEW_INFORMATIVE)
            return replace(meta_d, value=value, resamples=m_ratio)
        return self.resampler.distributions(name)[self.subset, name]


_DRAWN_TOGETHER: Sequence[tuple[tuple[str, ...], Callable[[CellKey], bool]]] = (
    (("d_prime_v1", "meta_d_v1"), lambda key: key.binning == PRIMARY),
    (("criterion_v1", "meta_information"), lambda key: key.binning == PRIMARY),
    ((RESAMPLED,), lambda key: not key.domain),
    (("mratio_v1_unequal",), lambda key: not key.domain and key.binning == PRIMARY),
)
"""Names of measures that are resampled in one pass, and the rule by which a cell is part of it."""


@dataclass(eq=False)
class LogprobResampler:
    """Cells of all models, and the bootstrap distributions of their measures, each computed when it is first used.

    ``columns`` are the trials of all cells, one cell after the other.
    """

    settings: Settings
    columns: Columns = field(default_factory=dict)
    cells: dict[CellKey, Cell] = field(default_factory=dict)
    computed: dict[str, Distributions] = field(default_factory=dict)

    def distributions(self, name: str) -> Distributions:
        """Return the distributions of a measure, of every cell that has it."""
        if name not in self.computed:
            names, in_pass = next(group for group in _DRAWN_TOGETHER if name in group[0])
            subsets = [cell.subset for cell in self.cells.values() if in_pass(cell.key)]
            drawn = distributions(self.columns, subsets, [MEASURES[each] for each in names], self.settings)
            self.computed |= dict.fromkeys(names, drawn)
        return self.computed[name]

    @property
    def sources(self) -> list[str]:
        """The sources of questions, the one of the hypotheses first."""
        return sorted({key.source for key in self.cells}, key=lambda name: (name != PRIMARY_SOURCE, name))

    @property
    def domains(self) -> set[str]:
        """The domains of questions that are compared."""
        return {key.domain for key in self.cells} - {"", UNCLASSIFIED}

    def testable(
        self,
        source: str | None = None,
        *,
        temperatures: Container[float] = (TEMPERATURE,),
        domains: Container[str] = ("",),
        binning: str = PRIMARY,
    ) -> list[Cell]:
        """Return the cells of a source, by default the first, that have enough right and enough wrong answers."""
        sources = self.sources[:1] if source is None else [source]
        return [
            cell
            for key, cell in self.cells.items()
            if key.source in sources
            and key.binning == binning
            and key.temperature in temperatures
            and key.domain in domains
            and cell.smaller_class >= FEWEST_OF_A_CLASS
        ]


def limits(drawn: Distribution, settings: Settings, level: float | None = None) -> dict[str, float]:
    """Return an estimate and its interval as columns of a row."""
    interval = drawn.interval(settings if level is None else replace(settings, level=level))
    return {limit: float(getattr(interval, limit)) for limit in ("estimate", "low", "high")}


def by_model(
    cells: Iterable[Cell], part: Literal["domain", "temperature"], *, min_cells: int = 1
) -> dict[str, dict[Any, Cell]]:
    """Return the cells of each model by domain or temperature; models with fewer than ``min_cells`` are left out."""
    parts_of: dict[str, dict[Any, Cell]] = {}
    for cell in cells:
        parts_of.setdefault(cell.key.model, {})[getattr(cell.key, part)] = cell
    return {model: parts for model, parts in parts_of.items() if len(parts) >= min_cells}


class Quarters(NamedTuple):
    """Numbers of right answers, of all answers and of independent trials in each quarter of a cell's evidence."""

    right: FloatArray
    total: FloatArray
    independent: FloatArray

    @property
    def accuracy(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Proportion of right answers, and the limits of Wilson's interval."""
        accuracy = self.right / self.total
        low, high = wilson_interval(self.independent * accuracy, self.independent)
        return accuracy, low, high


def quarters_of(cell: Cell) -> Quarters:
    """Count the answers in each quarter of the evidence; trials with equal evidence are in the same quarter.

    The independent trials are fewer than the answers where a question was asked several times.
    """
    partition = Bins(4, "equal_mass")
    quarter = partition.assign(cell.evidence)
    right = np.bincount(quarter, cell.correct, minlength=4).astype(np.float64)
    total = np.bincount(quarter, minlength=4).astype(np.float64)
    independent = independent_trials(cell.questions, partition, cell.evidence, total)
    used = total > 0
    return Quarters(right[used], total[used], independent[used])


# Cells ----------------------------------------------------------------------------------------------------------


def resample(
    trials: pd.DataFrame, *, settings: Settings, binnings: Mapping[str, Binning] = BINNINGS
) -> LogprobResampler:
    """Make the cells of some trials, which have their ``model`` as a column.

    The primary binning has cells of all temperatures; domains and the other binnings have cells at T = 1 only. The
    edges of the bins come from the trials of the same model and source at the temperature nearest to 1, and are used at
    all temperatures.
    """
    resampler = LogprobResampler(settings)
    tables = [(key, rows) for key, rows in _cell_tables(trials, settings, binnings) if len(rows)]
    order = {model: i for i, model in enumerate(dict.fromkeys(trials["model"].astype(str)))}
    tables.sort(key=lambda table: (order[table[0].model], *table[0][1:]))
    if tables:
        stacked = pd.concat([rows for _, rows in tables], ignore_index=True).drop(columns="evidence")
        resampler.columns = {str(name): column.to_numpy() for name, column in stacked.items()}
    end = 0
    for key, rows in tables:
        in_cell = rows[rows["in_cell"] == 1.0]
        correct, evidence = (in_cell[name].to_numpy(dtype=np.float64) for name in ("correct", "evidence"))
        questions = in_cell["question_id"].to_numpy().astype(str)
        subset = TrialSubset(key.source, np.arange(end, end := end + len(rows)))
        resampler.cells[key] = Cell(key, correct, evidence, questions, subset, resampler)
    return resampler


VERSION_1 = ("d_prime_v1", "meta_d_v1", "mratio_v1")
"""Measures of version 1 of the paper, whose bins have the edges of T = 1."""


def version_1(columns: Columns, subsets: Iterable[TrialSubset], settings: Settings) -> Distributions:
    """Return the distributions of version 1's measures for the conditions of one model."""
    needed = ("question_id", "source", "temperature", "correct", "mean_logprob")
    present = [name for name in (*needed, SAMPLING_UNIT) if name in columns]
    trials = pd.DataFrame({name: columns[name] for name in present}).assign(model="", domain=None)
    cells = resample(trials, settings=settings, binnings={PRIMARY: BINNINGS[PRIMARY]}).cells
    missing = Distribution(
        Estimate(np.nan, Reason.EMPTY), np.full(settings.n_resamples, np.nan), frozenset[str]()
    )
    drawn: dict[tuple[TrialSubset, str], Distribution] = {}
    for subset in subsets:
        temperature = float(columns["temperature"][subset.rows[0]])
        cell = cells.get(CellKey("", subset.source, temperature))
        drawn |= {(subset, name): cell.measure(name) if cell else missing for name in VERSION_1}
    return drawn


def _cell_tables(
    trials: pd.DataFrame, settings: Settings, binnings: Mapping[str, Binning]
) -> Iterator[tuple[CellKey, pd.DataFrame]]:
    """Yield the key of each cell and the table that its measures read."""
    for (model, source), source_trials in trials.groupby(["model", "source"], sort=False):
        temperatures = source_trials["temperature"].unique()
        nearest = float(temperatures[np.argmin(np.abs(temperatures - TEMPERATURE))])
        for name, binning in binnings.items():
            rng = settings.generator("nlp_metad", "balanced", str(model), str(source))
            usable = _usable(source_trials, binning, rng)
            reference = usable[usable["temperature"] == nearest]
            if reference.empty:
                continue
            edges = binning.edges(reference[binning.evidence].to_numpy(dtype=np.float64))
            if name != PRIMARY:
                usable, reference = usable[usable["temperature"] == TEMPERATURE], reference.iloc[:0]
            for temperature, in_cell in usable.groupby("temperature"):
                key = CellKey(str(model), str(source), float(str(temperature)), binning=name)
                yield key, _cell_table(in_cell, reference, binning, edges)
                if name == PRIMARY and temperature == TEMPERATURE:
                    for domain, in_domain in in_cell.groupby("domain"):
                        domain_key = key._replace(domain=str(domain))
                        yield domain_key, _cell_table(in_domain, reference, binning, edges)


def _usable(trials: pd.DataFrame, binning: Binning, rng: np.random.Generator) -> pd.DataFrame:
    """Return the graded trials with evidence; for a balanced binning, the random subset at T = 1."""
    complete = trials.dropna(subset=["correct", binning.evidence])
    complete = complete[complete["correct"].isin([0.0, 1.0])]
    if not binning.balanced:
        return complete
    # Sorted, because the subset must not depend on the order of the rows.
    candidates = complete[complete["temperature"] == TEMPERATURE].sort_values(
        ["question_id", "correct", binning.evidence]
    )
    classes = [np.flatnonzero(candidates["correct"] == value) for value in (0.0, 1.0)]
    size = min(map(len, classes))
    chosen = [rng.choice(members, size, replace=False) for members in classes]
    return candidates.iloc[np.sort(np.concatenate(chosen))]


def _cell_table(
    in_cell: pd.DataFrame, reference: pd.DataFrame, binning: Binning, edges: FloatArray
) -> pd.DataFrame:
    """Return the columns that measures of a cell read.

    The rows are the trials ``in_cell``, then the ``reference`` trials whose quantiles are the edges of the bins.
    """
    trials = pd.concat([in_cell, reference], ignore_index=True)
    evidence = trials[binning.evidence].to_numpy(dtype=np.float64)
    right = in_cell["correct"].to_numpy(dtype=np.float64).sum(keepdims=True)
    partition = Bins(
        max(int(usable_bins(_INFORMATION_BINS, len(in_cell) - right, right)[0]), 1), "equal_mass"
    )
    decile = np.full(len(trials), np.nan)
    decile[: len(in_cell)] = partition.assign(evidence[: len(in_cell)]) / partition.number
    table = pd.DataFrame(
        {
            # Clusters are resampled as questions are.
            "question_id": trials.get(SAMPLING_UNIT, trials["question_id"]).astype(str).astype(object),
            "source": trials["source"].astype(object),
            "correct": trials["correct"].astype(np.float64),
            "in_cell": np.repeat([1.0, 0.0], [len(in_cell), len(reference)]),
            "rating": np.searchsorted(edges, evidence, side="right").astype(np.float64),
            "n_bins": len(edges) + 1.0,
            "decile": decile,
            "equal_width_evidence": evidence if binning.equal_width else np.nan,
            "prior": 0.0,
            "evidence": evidence,
        }
    )
    alike = table.groupby(["correct", "in_cell", "rating", "decile"], dropna=False)
    return table.assign(
        n_alike=alike["evidence"].transform("size").astype(np.float64),
        bias=_bias_of_resamples(table[: len(in_cell)]),
    )


def _bias_of_resamples(trials: pd.DataFrame) -> float:
    """Return what resamples of trials have more of meta-information than the trials, although each is corrected.

    That is the bias of the trials, and the part of a resample's own bias that comes from repeated questions: the
    correction of a resample takes its trials for independent ones.
    """
    pair = trials["correct"], trials["decile"]
    plain = meta_information(*pair, bins=None, correction="none")
    of_questions = plain - meta_information(*pair, bins=None, questions=trials["question_id"])
    of_independent_trials = plain - meta_information(*pair, bins=None)
    return float(2.0 * of_questions - of_independent_trials)


# Measures -------------------------------------------------------------------------------------------------------


def _tables(trials: Columns, weights: FloatArray, included: FloatArray) -> FloatArray:
    """Count wrong and right answers by rating for each row of ``weights`` (R, n), shape (R, 2, 2K).

    ``included``, of shape (n,), is 1 for the trials that count and 0 for the others.
    """
    n_bins = int(trials["n_bins"][0])
    indicator = np.zeros((len(included), 2 * n_bins))
    position = (n_bins * trials["correct"] + trials["rating"]).astype(np.int64)
    indicator[np.arange(len(included)), position] = included
    return np.asarray(weights @ indicator).reshape(-1, 2, n_bins)


def _observed_table(trials: Columns) -> FloatArray:
    included = trials["in_cell"] * (1.0 - trials["prior"])
    return np.asarray(_tables(trials, np.ones((1, len(included))), included)[0])


def _bootstrap_tables(trials: Columns, weights: FloatArray) -> FloatArray:
    """Count the trials of each resample; bins of equal width have edges of their own in each."""
    if np.isnan(trials["equal_width_evidence"]).any():
        return _tables(trials, weights, trials["in_cell"])
    order = np.argsort(trials["equal_width_evidence"], kind="stable")
    evidence, correct = trials["equal_width_evidence"][order], trials["correct"][order].astype(np.int64)
    drawn = weights[:, order]
    n_bins = int(trials["n_bins"][0])
    low = evidence[(drawn > 0.0).argmax(axis=1)]
    high = evidence[::-1][(drawn[:, ::-1] > 0.0).argmax(axis=1)]
    edges = low[:, np.newaxis] + (high - low)[:, np.newaxis] * np.arange(1, n_bins) / n_bins
    tables = np.empty((len(drawn), 2, n_bins))
    for table, inner_edges, weight in zip(tables, edges, drawn, strict=True):
        position = n_bins * correct + np.searchsorted(inner_edges, evidence, side="right")
        table[:] = np.bincount(position, weight, 2 * n_bins).reshape(2, n_bins)
    return tables


def _posterior_tables(trials: Columns, weights: FloatArray) -> FloatArray:
    """Count the trials of each draw from the posterior distribution, between quantiles of the draw.

    Each cell of the table starts from 1/(2K) trials, half a trial on either side of the criterion (Jeffreys). The
    paper's 0.5 trials in each cell are part of the estimate, as in the log, and not of the draws: they would pull d'
    towards 0 a second time where few answers are wrong.
    """
    observed = 1.0 - trials["prior"]
    n_alike = trials["n_alike"][np.newaxis]
    cell, reference = (
        (_tables(trials, n_alike, included)[0], _tables(trials, weights, included))
        for included in (trials["in_cell"] * observed, (1.0 - trials["in_cell"]) * observed)
    )
    return at_quantiles(*cell, *reference) + _tables(trials, weights, trials["prior"])


def at_quantiles(
    counts: FloatArray, drawn: FloatArray, reference: FloatArray, reference_drawn: FloatArray
) -> FloatArray:
    """Move the edges of the bins in each draw to quantiles of the draw.

    Where a draw has too many reference trials below an edge, its quantile lies lower, and the surplus belongs to the
    bin above. The surplus is taken from wrong and right answers in proportion to their numbers in the two bins that
    meet at the edge. Fixed edges would make the draws vary too much: with 200 questions, 95% intervals of M-ratio would
    cover the true value in 99% of studies.

    Parameters
    ----------
    counts : ndarray, shape (2, 2K)
        Wrong and right answers of the cell by bin.
    drawn : ndarray, shape (R, 2, 2K)
        The same in each draw.
    reference, reference_drawn : ndarray, shapes (2, 2K) and (R, 2, 2K)
        Counts of the trials whose quantiles are the edges, drawn together with those of the cell.

    Examples
    --------
    >>> counts = np.array([[3.0, 1.0], [1.0, 3.0]])
    >>> drawn = np.array([[[4.0, 1.0], [2.0, 1.0]]])  # six of eight below the median
    >>> at_quantiles(counts, drawn, counts, drawn)
    array([[[3., 2.],
            [1., 2.]]])
    """
    below, below_drawn = (np.cumsum(table.sum(axis=-2), axis=-1) for table in (reference, reference_drawn))
    surplus = below_drawn[:, :-1] - below_drawn[:, -1:] * below[:-1] / below[-1]
    meeting = reference.sum(axis=0)[:-1] + reference.sum(axis=0)[1:]
    proportion = (counts[:, :-1] + counts[:, 1:]) / np.maximum(meeting, 1.0)
    moved = np.pad(surplus[:, np.newaxis] * proportion, ((0, 0), (0, 0), (1, 1)))
    adjusted: FloatArray = np.maximum(drawn + moved[..., :-1] - moved[..., 1:], 0.0)
    return adjusted


def _one_of_each(trials: Columns) -> Columns:
    """Return one trial of each cell of the table, to which the prior adds its trials."""
    n_bins = int(trials["n_bins"][0])
    n = 2 * n_bins
    constant = {name: np.repeat(column[:1], n) for name, column in trials.items()}
    return constant | {
        "correct": np.repeat([0.0, 1.0], n_bins),
        "rating": np.tile(np.arange(float(n_bins)), 2),
        "decile": np.full(n, np.nan),
        "in_cell": np.ones(n),
        "prior": np.ones(n),
    }


TableStatistic: TypeAlias = Callable[[FloatArray, FloatArray, Padding], Any]
"""A statistic of the counts of wrong and of right answers, with the padding added to each cell."""


def _table_measure(
    name: str, description: str, statistic: TableStatistic, *, posterior: bool = True, enough: int = 5
) -> Measure:
    """Make a measure of count tables, with an interval from ``enough`` right and ``enough`` wrong answers on."""

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        if weights is None:
            wrong, right = _observed_table(trials)
            return as_estimate(statistic(wrong, right, PADDING))
        tables = _bootstrap_tables(trials, weights)
        return np.asarray(statistic(tables[:, 0], tables[:, 1], PADDING))

    def compute_posterior(trials: Columns, weights: FloatArray | None) -> Value:
        assert weights is not None
        tables = _posterior_tables(trials, weights)
        values = np.asarray(statistic(tables[:, 0], tables[:, 1], "none"))
        return values if _observed_table(trials).any(axis=1).all() else np.full(len(values), np.nan)

    informative = smallest_set(*right_and_wrong(confidence="decile"), enough=enough)
    inference: Inference = Percentile(informative=informative)
    if posterior:
        inference = Posterior(_one_of_each, compute_posterior, prior=0.5 / RATINGS, informative=informative)
    return Measure(
        name,
        compute,
        description,
        inference=inference,
    )


def _m_ratio(wrong: FloatArray, right: FloatArray, padding: Padding) -> Any:
    fit = fit_meta_d(wrong, right, padding=padding)
    return _of_one_table(fit) if wrong.ndim == 1 else drop_large_ratios(fit.m_ratio)


def _of_one_table(fit: MetaD) -> Estimate:
    return stable_m_ratio(as_estimate(fit.m_ratio), as_estimate(fit.d_prime))


def _unequal_variance_m_ratio(wrong: FloatArray, right: FloatArray, padding: Padding) -> Any:
    """M-ratio with the ratio of standard deviations that is fitted to the same table."""
    s = fit_uv_sdt(wrong, right, padding="1/2K" if padding == PADDING else padding).slope
    if wrong.ndim == 1:
        single = as_estimate(s)
        return (
            single if np.isnan(single) else _of_one_table(fit_meta_d(wrong, right, padding=padding, s=single))
        )
    m_ratio = fit_meta_d(wrong, right, padding=padding, s=np.where(np.isnan(s), 1.0, s)).m_ratio
    return np.where(np.isnan(s), np.nan, drop_large_ratios(m_ratio))


def _criterion(wrong: FloatArray, right: FloatArray, padding: Padding) -> Any:
    """Minus the mean z-score of the proportions of wrong and of right answers above the middle edge.

    0.5 is added to each of the four counts, whatever the padding.
    """
    halves = (counts.reshape(*counts.shape[:-1], 2, -1).sum(axis=-1) for counts in (wrong, right))
    return type1(*halves, padding="hautus").criterion


def _meta_information(trials: Columns, weights: FloatArray | None = None) -> Value:
    """Bias-corrected share of the uncertainty about correctness that the evidence removes.

    The bias is subtracted from a resample a second time, because the trials that it is drawn from are a sample too.
    """
    information = _CORRECTED_INFORMATION(trials, weights)
    return information if weights is None else information - trials["bias"][0]


_CORRECTED_INFORMATION = statistic_of(
    information.meta_information, "correct", "decile", by_unit=True, bins=None
)

MEASURES: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        _table_measure(
            "d_prime_v1",
            "d' of version 1.",
            lambda wrong, right, padding: type1(wrong, right, padding=padding).d_prime,
        ),
        _table_measure(
            "meta_d_v1",
            "Meta-d' of version 1.",
            lambda wrong, right, padding: fit_meta_d(wrong, right, padding=padding).meta_d,
        ),
        _table_measure(
            "mratio_v1_unequal", "M-ratio of the unequal-variance model.", _unequal_variance_m_ratio
        ),
        _table_measure(
            RESAMPLED, "M-ratio of resamples.", _m_ratio, posterior=False, enough=FEWEST_OF_A_CLASS
        ),
        _table_measure("criterion_v1", "Type-2 criterion of version 1.", _criterion, posterior=False),
        Measure(
            "meta_information",
            _meta_information,
            "Share of the uncertainty about correctness that the evidence removes.",
            inference=Inverted(
                inverted_test_of(information.InformationTables, "correct", "decile"),
                informative=smallest_set(*right_and_wrong(confidence="decile")),
            ),
        ),
    )
}
"""Measures of cells by name. At T = 1 their values are those of the log."""
