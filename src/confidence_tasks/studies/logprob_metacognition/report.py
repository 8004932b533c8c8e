"""Report of the log-probability study, Cacioli (2026), arXiv:2603.25112: figures of its evidence, and checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd

from confidence_tasks.logs.task_trials import TaskTrials
from confidence_tasks.report import checks
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.extra_tables import interval_cells, trials_frame
from confidence_tasks.report.figures import Line, Panel, general, panel, panels
from confidence_tasks.report.figures.general import ModelStyles, figure_of
from confidence_tasks.report.labels import measure_label
from confidence_tasks.report.notices import check
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.study_report import StudyReport
from confidence_tasks.studies.logprob_metacognition.cell_tables import TEMPERATURE, CellKey
from confidence_tasks.studies.logprob_metacognition.fixed_edges import version_1
from confidence_tasks.studies.logprob_metacognition.power import POWER
from confidence_tasks.studies.logprob_metacognition.quarters import quarters_of
from confidence_tasks.studies.logprob_metacognition.replies import CONDITIONS
from confidence_tasks.studies.logprob_metacognition.resampling import Cell, LogprobResampler, resample

BY_CONSTRUCTION = (
    "Version 1 takes correctness for the stimulus, so that d′ and meta-d′ are functions of one table: M-ratio is 1 for"
    " evidence of equal variance, however much the model knows about its own correctness. M-ratio changes only with the"
    " ratio of variances and the share of right answers. The author withdrew it in the second version of the paper; the"
    " report has it for comparison with the first."
)
"""Warning that goes with version 1's M-ratio."""


def whole_cells(results: TaskResults, *, every_temperature: bool = False) -> list[Cell]:
    """Return the cell of each model and source at T = 1, or at every temperature."""
    cells: dict[CellKey, Cell] = results.analysis.cells
    return [
        cell
        for key, cell in cells.items()
        if not (key.domain or key.binning) and (every_temperature or key.temperature == TEMPERATURE)
    ]


def measure_cells(cell: Cell, measures: Sequence[str], results: TaskResults) -> dict[str, float | str]:
    """Return measures of a cell as in the main table, and the criterion, which is not in the main table."""
    row: dict[str, float | str] = {}
    for name in measures:
        label = measure_label(name)
        if name == "criterion_v1":
            row |= interval_cells(label, cell.measure(name).interval(results.settings))
            continue
        entry = results.estimate(
            cell.key.model, CONDITIONS.label(cell.key.temperature), name, cell.key.source
        )
        row |= interval_cells(label, entry.interval) if entry else {label: np.nan}
    return row


@check(
    "warning",
    "Version 1’s M-ratio is 1 by construction",
    BY_CONSTRUCTION,
)
def m_ratio_by_construction(results: TaskResults) -> Iterable[str]:
    """Name all models: the notice concerns each of them."""
    return [model.label for model in results.models]


@check(
    "note",
    f"No trials at T = {TEMPERATURE:g}",
    "The nearest temperature sets the edges of the bins, and the hypotheses cannot be tested.",
)
def no_reference_temperature(results: TaskResults) -> Iterator[str]:
    """Name models without trials at temperature 1."""
    keys = pd.DataFrame(list(results.analysis.cells), columns=CellKey._fields)
    for (model, source), temperature in keys.groupby(["model", "source"], sort=False)["temperature"]:
        nearest = temperature.iloc[(temperature - TEMPERATURE).abs().argmin()]
        if nearest != TEMPERATURE:
            yield f"{model}, {source}: T = {nearest:g} instead"


@check(
    "note",
    "Right and wrong answers differ in variance",
    "The z-ROC slope is not 1. Version 1’s M-ratio departs from 1 for that reason alone, in a direction that"
    " depends on the share of right answers; read d_a and meta-information instead.",
)
def unequal_variance(results: TaskResults) -> Iterator[str]:
    """Name models and sources whose z-ROC slope differs from 1."""
    for cell in whole_cells(results):
        slope = results.estimate(
            cell.key.model, CONDITIONS.label(TEMPERATURE), "z_roc_slope", cell.key.source
        )
        if slope and (slope.interval.low > 1.0 or slope.interval.high < 1.0):
            yield (
                f"{cell.key.model}, {cell.key.source}: slope {slope.interval.estimate:.2f}"
                f" [{slope.interval.low:.2f}, {slope.interval.high:.2f}],"
                f" M-ratio {float(cell.measure('mratio_v1').value):.2f}"
            )


@figure_of(
    "quarters",
    "Accuracy by quarter of the log-probability",
    "At T = 1, with Wilson’s intervals. A curve that rises throughout shows graded evidence of correctness.",
    size=(2.6, 2.1),
)
def by_quarter(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw accuracy by quarters of the evidence at T = 1."""
    resampler = results.analysis
    for source in resampler.sources:
        lines = []
        for cell in resampler.testable(source):
            accuracy, low, high = quarters_of(cell).accuracy
            colour, marker = styles[cell.key.model]
            x = np.arange(len(accuracy), dtype=np.float64)
            lines.append(Line(cell.key.model, colour, x, accuracy, low, high, marker))
        if lines:
            yield panel(source, panels.trends, labels=list("1234"), lines=lines, x="quarter", y="accuracy")


def analyse(task_trials: TaskTrials, settings: Settings) -> LogprobResampler:
    """Resample the cells of all models of the task together."""
    return resample(trials_frame(task_trials), settings=settings)


REPORT = StudyReport(
    figures=(by_quarter, general.type2_roc, general.selective),
    lead=general.type2_roc,
    checks=(*checks.GENERAL, m_ratio_by_construction, unequal_variance, no_reference_temperature),
    cross_condition_distributions=version_1,
    analysis=analyse,
    replication="confidence_tasks.replications.logprob_metacognition:REPLICATIONS",
    power=(POWER,),
)
