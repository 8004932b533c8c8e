"""FermiEval's samples of exponents in the report: how far they agree, and what reasoning takes from their entropy.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), appendix G.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from confidence_tasks.report.estimates import distributions, estimates
from confidence_tasks.report.extra_tables import extra_table, interval_cells
from confidence_tasks.report.figures import panels
from confidence_tasks.report.figures.figure import Colour, LegendEntry, Panel, panel
from confidence_tasks.report.figures.general import ModelStyles, figure_by_model
from confidence_tasks.report.figures.panels import Line
from confidence_tasks.report.groups import Group, split_by_source
from confidence_tasks.report.labels import measure_label
from confidence_tasks.statistics.intervals import empirical_distribution, tunnel_index
from confidence_tasks.studies.fermieval.prompts import TEST
from confidence_tasks.studies.fermieval_sampling.trials import (
    AGREEMENT,
    samples_by_question,
    sampling_measures,
)
from confidence_tasks.study.measures import Measure, rows_of

if TYPE_CHECKING:
    from confidence_tasks.report.results import TaskResults
    from confidence_tasks.report.task_trials import ModelTrials
    from confidence_tasks.statistics.core import FloatArray

_NAMES = (*AGREEMENT, "tunnel_index")


@extra_table(
    "self_consistency",
    "Agreement of samples, and the tunnel index",
    "On samples of exponents: accuracy of single samples and of the most frequent one, the share of samples that it"
    " is, and by how many bits the entropy of samples after reasoning lies below that of direct ones. Entropies of"
    " few samples are too low, both alike.",
)
def self_consistency(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return agreement and tunnel index (appendix G of the paper) by model, way of asking and temperature."""
    for model in results.models:
        measures = _measures_of(model)
        if not measures:
            continue
        group = Group("all", "all", split_by_source(model.columns, np.ones(len(model), dtype=bool)))
        drawn = distributions(model.columns, group.cells, measures, results.settings)
        made = estimates(model.label, [group], measures, drawn, results.settings)
        found = {each.measure: each.interval for each in made if not each.source}
        for condition in dict.fromkeys(name.partition("/")[2] for name in found):
            row: dict[str, Any] = {"model": model.label, "asked": condition.replace(",", ", ")}
            for name in _NAMES:
                if interval := found.get(f"{name}/{condition}"):
                    row |= interval_cells(measure_label(name), interval)
            yield row


def _measures_of(model: ModelTrials) -> list[Measure]:
    """Return the measures of samples of exponents, by temperature and way of asking."""
    temperatures = sorted(set(model.columns["temperature"].tolist()))
    asks = list(dict.fromkeys(map(str, model.columns["ask"])))
    every = sampling_measures(asks, temperatures, ())
    return [measure for measure in every if measure.name.partition("/")[0] in _NAMES]


def curve_over_samples(
    direct: Mapping[str, Sequence[float]], reasoned: Mapping[str, Sequence[float]]
) -> pd.DataFrame:
    """Return the empirical tunnel index and the agreement of m samples after reasoning, for every m (theorem 2).

    ``direct`` and ``reasoned`` are samples of exponents by question. One row for each m up to the fewest samples of a
    question: ``samples``, ``tunnel_index`` in bits (entropy of all direct samples less that of m pooled reasoned ones),
    and ``agreement``, the share of the most frequent among m. Each is the mean over questions, and over the runs of m
    consecutive samples of each. Empty without questions that were asked in both ways.
    """
    shared = [name for name in direct if name in reasoned]
    most = min((len(reasoned[name]) for name in shared), default=0)
    rows = []
    for m in range(1, most + 1):
        found = np.array([_of_m(np.asarray(direct[name]), np.asarray(reasoned[name]), m) for name in shared])
        index, agreement = found.mean(axis=0)
        rows.append({"samples": m, "tunnel_index": index, "agreement": agreement})
    return pd.DataFrame(rows)


def _of_m(direct: FloatArray, reasoned: FloatArray, m: int) -> tuple[float, float]:
    """Return tunnel index and agreement of one question, averaged over its runs of m samples."""
    runs = np.lib.stride_tricks.sliding_window_view(reasoned, m)
    values, shares = empirical_distribution(runs)
    own, without = empirical_distribution(direct[None])
    every = np.union1d(values[0], own[0])
    padded = np.zeros((len(runs), len(every)))
    padded[:, np.searchsorted(every, values[0])] = shares
    beside = np.zeros((len(runs), len(every)))
    beside[:, np.searchsorted(every, own[0])] = without
    index = tunnel_index(beside, padded[:, None], pooled=True)
    return float(np.mean(index)), float(np.mean(shares.max(axis=1)))


_CURVES = (
    ("tunnel_index", "tunnel index (bits)", Colour.SERIES_0),
    ("agreement", "agreement", Colour.SERIES_1),
)


@figure_by_model(
    "tunnel_over_samples",
    "Tunnel index over the number of samples",
    "Entropy of direct samples less that of m pooled samples after reasoning, in bits: it falls as more chains are"
    " pooled. Agreement is the share of the most frequent exponent among the m.",
    keys=tuple(LegendEntry(name, colour) for _, name, colour in _CURVES),
    size=(2.5, 2.1),
)
def tunnel_over_samples(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw the tunnel index and the agreement over the number m of pooled chains of reasoning (theorem 2)."""
    for temperature in sorted(set(model.columns["temperature"].tolist())):
        here = (model.columns["temperature"] == temperature) & (model.columns["split"] == TEST)
        direct, reasoned = (
            samples_by_question(rows_of(model.columns, here & (model.columns["ask"] == ask)))
            for ask in ("direct", "reasoned")
        )
        curve = curve_over_samples(direct, reasoned)
        if len(curve):
            m = curve["samples"].to_numpy(dtype=np.float64)
            lines = [Line(name, colour, m, curve[key].to_numpy()) for key, name, colour in _CURVES]
            yield panel(
                f"T = {temperature:g}", panels.points, lines=lines, x="samples m", y="", reference=0.0
            )
