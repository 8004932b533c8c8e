"""Tables of the report's page: estimates, contrasts, sources, and the tables of a study."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any
from urllib.parse import quote

from confidence_tasks.logs.task_trials import ModelTrials
from confidence_tasks.logs.texts import printable
from confidence_tasks.report.estimates.contrast import Contrast
from confidence_tasks.report.estimates.estimated import Estimated
from confidence_tasks.report.extra_tables import ExtraTable, Overview
from confidence_tasks.report.labels import (
    between,
    decimals_for,
    group_label,
    limits,
    measure_label,
    number,
    p_is,
    p_value,
    signed,
    why_missing,
)
from confidence_tasks.report.results import TaskResults
from confidence_tasks.study.measure import Measure


@dataclass(frozen=True, slots=True)
class CellView:
    """A cell of a table.

    ``value`` and ``limits`` are printed; ``reason`` says why the value or its interval is missing. ``position``,
    ``low`` and ``high`` draw the interval, in percent of the table's range; NaN where it is not drawn.
    """

    value: str
    limits: str = ""
    tooltip: str = ""
    significant: bool = False
    is_text: bool = False
    reason: str = ""
    link: str = ""
    position: float = math.nan
    low: float = math.nan
    high: float = math.nan

    @property
    def has_bar(self) -> bool:
        """Whether the interval is drawn."""
        return not math.isnan(self.low)


@dataclass(frozen=True, slots=True)
class RowView:
    """A row of a table: its heading with an optional note or link, its cells, and its number of trials."""

    label: str
    cells: tuple[CellView, ...]
    n: str = ""
    note: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class TableView:
    """A table with its column headings.

    A ``dense`` table has no tooltips. ``left_out`` says how many rows are not shown.
    """

    columns: tuple[str, ...]
    rows: tuple[RowView, ...]
    caption: str = ""
    head: str = "model"
    dense: bool = False
    left_out: str = ""

    @property
    def reasons(self) -> list[str]:
        """The distinct reasons for missing values and intervals: the notes under the table, in order."""
        return list(dict.fromkeys(cell.reason for row in self.rows for cell in row.cells if cell.reason))

    @property
    def any_significant(self) -> bool:
        """Whether any cell is marked as significant, so that a note must explain the mark."""
        return any(cell.significant for row in self.rows for cell in row.cells)

    @property
    def spans(self) -> list[int]:
        """The number of rows that each heading covers; 0 for a row with the same heading as the row above."""
        sizes: list[int] = []
        for _, rows in groupby(row.label for row in self.rows):
            n = len(list(rows))
            sizes += [n, *[0] * (n - 1)]
        return sizes


EMPTY_CELL = CellView("")

MANY_ROWS = 12
"""Number of table rows above which intervals are not drawn."""

MANY_COLUMNS = 12
"""Number of groups above which the groups are the rows of a table, if there are fewer models."""

MODELS_IN_FULL = 6
"""Number of models up to which a page shows every measure."""

CONTRASTS_SHOWN = 80
"""Maximum number of rows in a table of contrasts."""


def measure_tables(results: TaskResults, measure: Measure) -> tuple[TableView, ...]:
    """Return tables of one measure: every model by the groups of one grouping of the trials."""
    tables = []
    entries = [entry for entry in results.estimates if entry.measure == measure.name and not entry.source]
    for by in results.groupings:
        labels, caption = results.labels(by), "" if by == results.groupings[0] else f"By {by}"
        many = len(labels) > MANY_COLUMNS > len(results.models)
        make = _table_of_groups if many else _table_of_models
        tables.append(make(results, measure, labels, caption, decimals_of(entries)))
    return tuple(table for table in tables if table.rows)


def _table_of_models(
    results: TaskResults, measure: Measure, labels: Sequence[str], caption: str, decimals: int
) -> TableView:
    """Return a table of one measure with a row for each model, and a column for each group."""
    models = [model.label for model in results.models]
    rows = [(model, [results.estimate(model, label, measure.name) for label in labels]) for model in models]
    return _table(results, labels, rows, caption, decimals)


def _table_of_groups(
    results: TaskResults, measure: Measure, labels: Sequence[str], caption: str, decimals: int
) -> TableView:
    """Return a table of one measure with a row for each of many groups, and a column for each model."""
    models = [model.label for model in results.models]
    rows = [
        (group_label(label), [results.estimate(model, label, measure.name) for model in models])
        for label in labels
    ]
    return replace(_table(results, (), rows, caption, decimals), columns=tuple(models), head="condition")


def overview_table(overview: Overview, measure: Measure) -> TableView:
    """Return a table of one measure: every model by task."""
    rows = [
        (model, [overview.estimate(model, column, measure.name) for column in overview.columns])
        for model in overview.models
    ]
    table = _table(None, overview.columns, rows)
    columns = tuple(
        f"{column} (n\u00a0=\u00a0{_n_trials([entries[i] for _, entries in rows])})"
        for i, column in enumerate(table.columns)
    )
    return replace(table, rows=tuple(replace(row, n="") for row in table.rows), columns=columns)


def source_tables(results: TaskResults, measures: Sequence[Measure]) -> tuple[TableView, ...]:
    """Return a table of each measure: every model and source by condition; none where there is one source."""
    if len(results.sources) < 2:
        return ()
    labels = results.conditions
    tables = []
    for measure in measures:
        rows = [
            (
                f"{model.label} · {printable(source)}",
                [results.estimate(model.label, label, measure.name, source) for label in labels],
            )
            for model in results.models
            for source in results.sources
        ]
        tables.append(_table(results, labels, rows, measure_label(measure.name)))
    return tuple(tables)


def model_tables(results: TaskResults) -> tuple[TableView, ...]:
    """Return a table of each of the first models: every measure that has a value, by group."""
    labels = list(dict.fromkeys(label for by in results.groupings for label in results.labels(by)))
    tables = []
    for model in results.models[:MODELS_IN_FULL]:
        rows = []
        for measure in results.task_trials.study.measures:
            entries = [results.estimate(model.label, label, measure.name) for label in labels]
            if any(entry is not None and not math.isnan(entry.interval.estimate) for entry in entries):
                cells = _cells(results, entries, decimals_of(entries))
                rows.append(RowView(measure_label(measure.name), cells, _n_trials(entries)))
        tables.append(TableView(tuple(map(group_label, labels)), tuple(rows), model.label, dense=True))
    return tuple(tables)


def contrast_table(results: TaskResults) -> TableView | None:
    """Return the contrasts with the baseline, significant ones first; None where there is none."""
    if not results.contrasts:
        return None
    rows = []
    ranked = sorted(results.contrasts, key=lambda contrast: not contrast.significant)
    has_clusters = any(contrast.clusters for contrast in ranked)
    for contrast in ranked[:CONTRASTS_SHOWN]:
        decimals = decimals_for([contrast.interval.low, contrast.interval.high])
        difference = CellView(
            signed(contrast.interval.estimate, decimals),
            limits(contrast.interval, decimals),
            reason=why_missing(contrast.interval),
        )
        cells = (
            CellView(group_label(contrast.group), is_text=True),
            CellView(measure_label(contrast.measure), is_text=True),
            difference,
            CellView(p_value(contrast.p_value)),
            CellView(p_value(contrast.p_adjusted), significant=contrast.significant),
            CellView(p_value(contrast.p_exchange)),
            *([_design_effect(contrast)] if has_clusters else []),
        )
        rows.append(RowView(contrast.model, cells, f"{contrast.n_questions:,}"))
    left_out = len(ranked) - len(rows)
    return TableView(
        (
            *("condition", "measure", "difference", "p", "corrected", "exchange p"),
            *(["design effect"] if has_clusters else []),
        ),
        tuple(rows),
        left_out=f"{left_out:,} more are in contrasts.csv, which `--tables` writes." if left_out else "",
    )


def _design_effect(contrast: Contrast) -> CellView:
    return CellView(number(contrast.clusters.design_effect, 2) if contrast.clusters else "")


def extra_view(extra: ExtraTable, viewer: str = "") -> TableView:
    """Return a study's own table; columns of limits and of reasons are shown in the cells that they belong to.

    Trials that the table names are linked to their samples in Inspect's viewer, at the address ``viewer``.
    """
    hidden = {name for pair in extra.limits.values() for name in pair} | set(extra.reasons.values())
    head, *names = [str(name) for name in extra.frame.columns if name not in hidden]
    decimals = {name: _decimals_of_column(extra, name) for name in names}
    rows = []
    for position, record in enumerate(extra.frame.to_dict("records")):
        cells = []
        for name in names:
            link = sample_link(*extra.trials[name][position], viewer) if name in extra.trials else ""
            cells.append(_extra_cell(extra, record, name, decimals[name], link))
        rows.append(RowView(str(record[head]), tuple(cells)))
    return TableView(tuple(name.replace("_", " ") for name in names), tuple(rows), head=head)


def _decimals_of_column(extra: ExtraTable, name: str) -> int:
    """Return the number of decimals of a column: the table's, or by default that of its values."""
    if extra.decimals is not None:
        return extra.decimals
    return decimals_for([float(value) for value in extra.frame[name] if isinstance(value, float)])


def _extra_cell(
    extra: ExtraTable, record: Mapping[Hashable, Any], name: str, decimals: int, link: str
) -> CellView:
    """Return a cell of a study's own table."""
    value = record[name]
    low, high = (record[limit] for limit in extra.limits[name]) if name in extra.limits else (math.nan,) * 2
    return CellView(
        number(value, decimals) if isinstance(value, float) else str(value),
        between(low, high, decimals),
        is_text=isinstance(value, str) and not value[:1].isdigit(),
        reason=str(record.get(extra.reasons.get(name, ""), "")),
        link=link,
    )


def sample_link(model: ModelTrials, row: int, viewer: str) -> str:
    """Return the address of a trial's sample in Inspect's viewer; empty if the trial is not from an Inspect log."""
    file = model.files[int(model.columns["file"][row])]
    if not file.is_log:
        return ""
    log = quote(file.name)
    sample = quote(str(model.columns["sample_id"][row]), safe="")
    return f"{viewer.rstrip('/')}/#/logs/{log}/samples/sample/{sample}/{model.columns['epoch'][row]}/"


def _table(
    results: TaskResults | None,
    labels: Sequence[str],
    rows: Sequence[tuple[str, list[Estimated | None]]],
    caption: str = "",
    decimals: int | None = None,
) -> TableView:
    """Return a table without its empty rows; by default its own entries determine the number of decimals.

    The intervals of a table of few rows are drawn over one range.
    """
    shown = [(label, entries) for label, entries in rows if any(entry is not None for entry in entries)]
    entries_shown = [entry for _, entries in shown for entry in entries if entry is not None]
    span = _range(entries_shown) if len(shown) <= MANY_ROWS else None
    if decimals is None:
        decimals = decimals_of(entries_shown)
    row_views = [
        RowView(label, _cells(results, entries, decimals, span), _n_trials(entries))
        for label, entries in shown
    ]
    return TableView(tuple(map(group_label, labels)), tuple(row_views), caption)


def _range(entries: Sequence[Estimated]) -> tuple[float, float] | None:
    """Return the range of the limits of intervals; None without any."""
    ends = [float(end) for entry in entries for end in (entry.interval.low, entry.interval.high)]
    finite = [end for end in ends if math.isfinite(end)]
    return (min(finite), max(finite)) if finite else None


def decimals_of(entries: Sequence[Estimated | None]) -> int:
    """Return the number of decimals that estimates are printed with."""
    return decimals_for([float(entry.interval.estimate) for entry in entries if entry is not None])


def _cells(
    results: TaskResults | None,
    entries: Sequence[Estimated | None],
    decimals: int,
    span: tuple[float, float] | None = None,
) -> tuple[CellView, ...]:
    """Return the cells of one row; those of a task's ``results`` are marked where their contrast is significant."""
    cells = []
    for entry in entries:
        contrast = None
        if results and entry and not entry.source:
            contrast = results.contrast(entry.model, entry.group, entry.measure)
        cells.append(EMPTY_CELL if entry is None else estimate_cell(entry, decimals, contrast, span))
    return tuple(cells)


def estimate_cell(
    entry: Estimated,
    decimals: int,
    contrast: Contrast | None = None,
    span: tuple[float, float] | None = None,
) -> CellView:
    """Return the cell of an estimate; its interval is drawn within ``span`` if that is given."""
    interval = entry.interval
    low, high = span or (math.nan, math.nan)
    tooltip = [f"{entry.n:,} trials, {entry.n_questions:,} questions"] if span else []
    if span and entry.clusters:
        effect = number(entry.clusters.design_effect, 2)
        tooltip.append(f"{entry.clusters.n:,} clusters, design effect {effect}")
    if span and contrast is not None and not math.isnan(contrast.p_adjusted):
        difference = signed(contrast.interval.estimate, decimals)
        corrected = p_is(contrast.p_adjusted)
        tooltip.append(f"{difference} against {group_label(contrast.baseline)}, corrected {corrected}")

    def percent(value: float) -> float:
        return 100.0 * (value - low) / (high - low) if high > low else math.nan

    return CellView(
        number(interval.estimate, decimals),
        limits(interval, decimals),
        "; ".join(tooltip),
        significant=contrast is not None and contrast.significant,
        reason=why_missing(interval),
        position=percent(interval.estimate),
        low=percent(interval.low),
        high=percent(interval.high),
    )


def _n_trials(entries: Sequence[Estimated | None]) -> str:
    """Return the number of trials of a row's entries, or the range of these numbers."""
    sizes = sorted({entry.n for entry in entries if entry is not None})
    if not sizes:
        return ""
    return f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,}–{sizes[-1]:,}"
