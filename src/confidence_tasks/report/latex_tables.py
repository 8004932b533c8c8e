"""Estimates as LaTeX tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from confidence_tasks.report.estimates.estimated import Estimated
from confidence_tasks.report.extra_tables import Overview
from confidence_tasks.report.labels import latex, measure_label
from confidence_tasks.report.page import decimals_of
from confidence_tasks.report.results import TaskResults
from confidence_tasks.study.measure import Measure


def latex_table(
    source: TaskResults | Overview, models: Sequence[str], columns: Sequence[str], measures: Sequence[Measure]
) -> str:
    """Return estimates as a ``booktabs`` table: for each model a row per measure and one of numbers of trials."""
    task, contrasts = (source, source.contrasts) if isinstance(source, TaskResults) else (source.tasks[0], [])
    settings = task.settings
    note = f"{settings.n_resamples:,} resamples of questions, seed {settings.seed}"
    if contrasts:
        baseline = task.task_trials.design.baseline
        note += f"; * differs from {baseline} at .05 after Bonferroni's correction over the study"
    stars = {(each.model, each.group, each.measure) for each in contrasts if each.significant}
    lines = [
        f"% {settings.level:.0%} intervals over {note}",
        r"\begin{tabular}{ll" + "r" * len(columns) + "}",
        r"\toprule",
        " & ".join(["Model", "Measure", *map(latex, columns)]) + r" \\",
    ]
    for model in models:
        entries = {
            measure.name: [source.estimate(model, column, measure.name) for column in columns]
            for measure in measures
        }
        lines += [r"\midrule", *_latex_rows(model, entries, stars)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _latex_rows(
    model: str, by_measure: Mapping[str, Sequence[Estimated | None]], stars: set[tuple[str, str, str]]
) -> Iterator[str]:
    """Yield the rows of a model: its estimates by measure, and the numbers of trials of the last measure."""
    first = latex(model)
    for name, entries in by_measure.items():
        cells = [_latex_cell(entry, decimals_of(entries), stars) for entry in entries]
        yield " & ".join([first, latex(measure_label(name)), *cells]) + r" \\"
        first = ""
    sizes = ["--" if entry is None else f"{entry.n}" for entry in entries]
    yield " & ".join(["", "Trials", *sizes]) + r" \\"


def _latex_cell(entry: Estimated | None, decimals: int, stars: set[tuple[str, str, str]]) -> str:
    if entry is None or math.isnan(entry.interval.estimate):
        return "--"
    interval = entry.interval
    star = "^{*}" if (entry.model, entry.group, entry.measure) in stars else ""
    value, low, high = (
        # Adding 0 turns -0.0 into 0.0.
        f"{round(float(number), decimals) + 0.0:.{decimals}f}".replace("inf", r"\infty")
        for number in (interval.estimate, interval.low, interval.high)
    )
    if math.isnan(interval.low):
        return f"${value}{star}$"
    return f"${value}{star}$ {{\\scriptsize $[{low}, {high}]$}}"
