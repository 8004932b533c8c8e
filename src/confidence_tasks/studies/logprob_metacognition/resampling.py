"""Count tables that the hypotheses of the log-probability study compare, and their bootstrap distributions.

A cell is one count table of wrong and right answers by rating. Its trials are those of a model, source and temperature;
at T = 1 there are also cells of each domain, and cells with other bins. The report draws the questions of a source once
for all cells, so that the difference of any two cells is paired by question.

Cacioli (2026), arXiv:2603.25112, section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.report.estimates.distribution import Distribution
from confidence_tasks.report.estimates.distributions import Distributions, distributions
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import TrialSubset
from confidence_tasks.statistics import Estimate, Interval
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.inference.resampling import as_estimate
from confidence_tasks.statistics.sdt import fit_uv_sdt
from confidence_tasks.studies.logprob_metacognition.cell_tables import (
    BINNINGS,
    PRIMARY,
    TEMPERATURE,
    Binning,
    CellKey,
    cell_tables,
)
from confidence_tasks.studies.logprob_metacognition.count_tables import (
    MEASURES,
    RESAMPLED,
    m_ratio_of,
    observed_table,
)
from confidence_tasks.studies.logprob_metacognition.domains import UNCLASSIFIED
from confidence_tasks.studies.logprob_metacognition.measures import FEWEST_OF_A_CLASS
from confidence_tasks.study.columns import rows_of

PRIMARY_SOURCE = "trivia_qa"
"""Source on which the hypotheses are tested, if the run has it."""


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
        return observed_table(rows_of(self.resampler.columns, self.subset.rows))

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
            return m_ratio_of(self.counts, meta_d, d_prime)
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


def resample(
    trials: pd.DataFrame, *, settings: Settings, binnings: Mapping[str, Binning] = BINNINGS
) -> LogprobResampler:
    """Make the cells of some trials, which have their ``model`` as a column.

    The primary binning has cells of all temperatures; domains and the other binnings have cells at T = 1 only. The
    edges of the bins come from the trials of the same model and source at the temperature nearest to 1, and are used at
    all temperatures.
    """
    resampler = LogprobResampler(settings)
    tables = [(key, rows) for key, rows in cell_tables(trials, settings, binnings) if len(rows)]
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
