"""The report's page: its tables of estimates, measures, contrasts and sources."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import quote

from confidence_tasks.report.contrasts import Contrast
from confidence_tasks.report.estimates import Estimated
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
    printable,
    signed,
    why_missing,
)
from confidence_tasks.report.results import TaskResults
from confidence_tasks.study.measures import Measure

if TYPE_CHECKING:
    from confidence_tasks.report.task_trials import ModelTrials


@dataclass(frozen=True, slots=True)
class CellView:
    """A number in a table, with its interval in words and as shares of the table's range, or why there is none."""

    value: str
    limits: str = ""
    tip: str = ""
    told: bool = False
    text: bool = False
    reason: str = ""
    link: str = ""
    at: float = math.nan
    low: float = math.nan
    high: float = math.nan

    @property
    def bar(self) -> bool:
        """Whether there is an interval to draw."""
        return not math.isnan(self.low)


@dataclass(frozen=True, slots=True)
class RowView:
    """A row of a table: its heading, with a note below it or a link, its cells, and of how many trials it is."""

    label: str
    cells: tuple[CellView, ...]
    n: str = ""
    note: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class TableView:
    """A table with its column headings; of a dense one, the notes below say alone why something is missing."""

    columns: tuple[str, ...]
    rows: tuple[RowView, ...]
    caption: str = ""
    head: str = "model"
    dense: bool = False
    left_out: str = ""

    @property
    def reasons(self) -> list[str]:
        """Why intervals or values are missing: the notes under the table, in order."""
        return list(dict.fromkeys(cell.reason for row in self.rows for cell in row.cells if cell.reason))

    @property
    def told(self) -> bool:
        """Whether any cell is marked as told apart, which a note must then explain."""
        return any(cell.told for row in self.rows for cell in row.cells)

    @property
    def spans(self) -> list[int]:
        """How many rows the heading of each row covers: 0 for a row whose heading is that of the row above."""
        sizes: list[int] = []
        for _, same in groupby(row.label for row in self.rows):
            n = len(list(same))
            sizes += [n, *[0] * (n - 1)]
        return sizes


NOTHING = CellView("")

MANY_ROWS = 12
"""Rows of a table beyond which its intervals are not drawn."""

MODELS_IN_FULL = 6
"""Models of which a page shows every measure."""

CONTRASTS_SHOWN = 80
"""Rows of a table of contrasts."""

_UNDRAWN = (math.nan, math.nan)
"""Range of a table whose intervals are not drawn: a long one, in which only what is unusual is said of a cell."""


def measure_tables(results: TaskResults, measure: Measure) -> tuple[TableView, ...]:
    """Return a measure of every model, one table a grouping of the trials."""
    tables = []
    entries = [entry for entry in results.estimates if entry.measure == measure.name and not entry.source]
    for by in results.groupings:
        labels = results.labels(by)
        rows = [
            (model.label, [results.estimate(model.label, label, measure.name) for label in labels])
            for model in results.models
        ]
        caption = "" if by == results.groupings[0] else f"By {by}"
        tables.append(_table(results, labels, rows, caption, entries))
    return tuple(table for table in tables if table.rows)


def overview_table(overview: Overview, measure: Measure) -> TableView:
    """Return a measure of every model in every task."""
    rows = [
        (model, [overview.estimate(model, column, measure.name) for column in overview.columns])
        for model in overview.models
    ]
    table = _table(None, overview.columns, rows)
    asked = zip(table.columns, zip(*(its for _, its in rows), strict=True), strict=True)
    columns = tuple(f"{column} (n\u00a0=\u00a0{_n(its)})" for column, its in asked)
    return replace(table, rows=tuple(replace(row, n="") for row in table.rows), columns=columns)


def source_tables(results: TaskResults, measures: Sequence[Measure]) -> tuple[TableView, ...]:
    """Return measures of every model and source of questions; none where there is one source."""
    if len(results.sources) < 2:
        return ()
    labels = results.conditions
    asked = [(model.label, source) for model in results.models for source in results.sources]
    return tuple(
        _table(
            results,
            labels,
            [
                (
                    f"{model} · {printable(source)}",
                    [results.estimate(model, label, measure.name, source) for label in labels],
                )
                for model, source in asked
            ],
            measure_label(measure.name),
        )
        for measure in measures
    )


def model_tables(results: TaskResults) -> tuple[TableView, ...]:
    """Return every measure that is defined anywhere, one table a model, of the first models."""
    labels = list(dict.fromkeys(label for by in results.groupings for label in results.labels(by)))
    tables = []
    for model in results.models[:MODELS_IN_FULL]:
        rows = []
        for measure in results.task_trials.study.measures:
            entries = [results.estimate(model.label, label, measure.name) for label in labels]
            if any(entry is not None and not math.isnan(entry.interval.estimate) for entry in entries):
                cells = _cells(results, entries, _UNDRAWN, decimals_of(entries))
                rows.append(RowView(measure_label(measure.name), cells, _n(entries)))
        tables.append(TableView(tuple(map(group_label, labels)), tuple(rows), model.label, dense=True))
    return tuple(tables)


def contrast_table(results: TaskResults) -> TableView | None:
    """Return every contrast with the baseline; None where there is none."""
    if not results.contrasts:
        return None
    rows = []
    # In the order of the study, but for those that are told apart, which come first.
    ranked = sorted(results.contrasts, key=lambda contrast: not contrast.significant)
    for contrast in ranked[:CONTRASTS_SHOWN]:
        decimals = decimals_for([contrast.interval.low, contrast.interval.high])
        difference = CellView(
            signed(contrast.interval.estimate, decimals),
            limits(contrast.interval, decimals),
            reason=why_missing(contrast.interval),
        )
        values = (
            CellView(group_label(contrast.group), text=True),
            CellView(measure_label(contrast.measure), text=True),
            difference,
            CellView(p_value(contrast.p_value)),
            CellView(p_value(contrast.p_adjusted), told=contrast.significant),
            CellView(p_value(contrast.p_exchange)),
        )
        rows.append(RowView(contrast.model, values, f"{contrast.interval.n_units:,}"))
    left_out = len(ranked) - len(rows)
    return TableView(
        ("condition", "measure", "difference", "p", "corrected", "exchange p"),
        tuple(rows),
        left_out=f"And {left_out:,} more: `--tables` writes all to contrasts.csv." if left_out else "",
    )


def extra_view(extra: ExtraTable, viewer: str = "") -> TableView:
    """Return a table of a study's own; columns of limits are shown with the values that they belong to.

    Its trials are linked to their samples in Inspect's viewer, whose address is given.
    """
    limits_of, reasons = extra.limits, extra.reasons
    hidden = {name for pair in limits_of.values() for name in pair} | set(reasons.values())
    head, *names = [str(name) for name in extra.frame.columns if name not in hidden]
    decimals = {
        name: decimals_for([float(value) for value in extra.frame[name] if isinstance(value, float)])
        if extra.decimals is None
        else extra.decimals
        for name in names
    }
    rows = []
    for position, record in enumerate(extra.frame.to_dict("records")):
        cells = []
        for name in names:
            low, high = (
                (record[limit] for limit in limits_of[name]) if name in limits_of else (math.nan, math.nan)
            )
            value = record[name]
            words = isinstance(value, str) and not value[:1].isdigit()
            reason = str(record.get(reasons.get(name, ""), ""))
            shown = number(value, decimals[name]) if isinstance(value, float) else str(value)
            link = sample_link(*extra.trials[name][position], viewer) if name in extra.trials else ""
            cells.append(
                CellView(shown, between(low, high, decimals[name]), text=words, reason=reason, link=link)
            )
        rows.append(RowView(str(record[head]), tuple(cells)))
    return TableView(tuple(name.replace("_", " ") for name in names), tuple(rows), head=head)


def sample_link(model: ModelTrials, row: int, viewer: str) -> str:
    """Return the address of a trial's sample in Inspect's viewer; empty where the file is none of its logs."""
    file = model.files[int(model.columns["file"][row])]
    if not file.is_log:
        return ""
    log = quote(file.path.rsplit("/", 1)[-1])
    sample = quote(str(model.columns["sample_id"][row]), safe="")
    return f"{viewer.rstrip('/')}/#/logs/{log}/samples/sample/{sample}/{model.columns['epoch'][row]}/"


def _table(
    results: TaskResults | None,
    labels: Sequence[str],
    rows: Sequence[tuple[str, list[Estimated | None]]],
    caption: str = "",
    alike: Sequence[Estimated] = (),
) -> TableView:
    """Return a table whose intervals are drawn over one range, with decimals for all entries ``alike``, or its own."""
    kept = [(label, entries) for label, entries in rows if any(entry is not None for entry in entries)]
    own = [entry for _, entries in kept for entry in entries if entry is not None]
    ends = [float(end) for entry in own for end in (entry.interval.low, entry.interval.high)]
    finite = [end for end in ends if math.isfinite(end)]
    span = (min(finite), max(finite)) if finite and len(kept) <= MANY_ROWS else _UNDRAWN
    decimals = decimals_of(alike or own)
    views = tuple(
        RowView(label, _cells(results, entries, span, decimals), _n(entries)) for label, entries in kept
    )
    return TableView(tuple(map(group_label, labels)), views, caption)


def decimals_of(entries: Sequence[Estimated | None]) -> int:
    """Return how many decimals tell estimates apart."""
    return decimals_for([float(entry.interval.estimate) for entry in entries if entry is not None])


def _cells(
    results: TaskResults | None, entries: Sequence[Estimated | None], span: tuple[float, float], decimals: int
) -> tuple[CellView, ...]:
    """Cells of one row; those of one task have contrasts."""
    cells = []
    for entry in entries:
        contrast = None
        if results and entry and not entry.source:
            contrast = results.contrast(entry.model, entry.group, entry.measure)
        cells.append(NOTHING if entry is None else cell_of(entry, decimals, contrast, span))
    return tuple(cells)


def cell_of(
    entry: Estimated, decimals: int, contrast: Contrast | None = None, span: tuple[float, float] = _UNDRAWN
) -> CellView:
    """Return an estimate as a cell: its interval drawn within a span, and told apart if its contrast is."""
    interval = entry.interval
    low, high = span
    drawn = not math.isnan(low)
    parts = [f"{entry.n:,} trials, {interval.n_units:,} questions"] if drawn else []
    if drawn and contrast is not None and not math.isnan(contrast.p_adjusted):
        difference = signed(contrast.interval.estimate, decimals)
        corrected = p_is(contrast.p_adjusted)
        parts.append(f"{difference} against {group_label(contrast.baseline)}, corrected {corrected}")
    width = high - low

    def share(value: float) -> float:
        return 100.0 * (value - low) / width if width > 0 else math.nan

    return CellView(
        number(interval.estimate, decimals),
        limits(interval, decimals),
        "; ".join(parts),
        told=contrast is not None and contrast.significant,
        reason=why_missing(interval),
        at=share(interval.estimate),
        low=share(interval.low),
        high=share(interval.high),
    )


def _n(entries: Sequence[Estimated | None]) -> str:
    """Return the number of trials of a row's entries, or their range."""
    sizes = sorted({entry.n for entry in entries if entry is not None})
    if not sizes:
        return ""
    return f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,}–{sizes[-1]:,}"
