"""The cells of the log-probability study, and the columns that the measures of a cell read.

Cacioli (2026), arXiv:2603.25112, section 3.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.statistics import meta_information
from confidence_tasks.statistics.calibration.binning import Bins
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.information import usable_bins
from confidence_tasks.statistics.sdt import quantile_edges
from confidence_tasks.studies.logprob_metacognition.measures import RATINGS
from confidence_tasks.study.units import SAMPLING_UNIT

TEMPERATURE = 1.0
"""Temperature at which the hypotheses are tested, and whose trials set the edges of the bins."""


PRIMARY = ""
"""Name of the paper's main binning."""


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


def cell_tables(
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
