"""The report's page: its tables of estimates, measures, contrasts and sources, and its first screen.

The first screen has every model in every task by one number, and says which models a paired test tells apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from urllib.parse import quote

from confidence_tasks.report.cache import Cache
from confidence_tasks.report.compare import Comparison, NamedComparison, comparisons
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
from confidence_tasks.report.task_trials import ModelTrials
from confidence_tasks.report.workers import Workers
from confidence_tasks.study.measures import Measure


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
        """Return the number of rows that each row's heading covers; 0 where the row above has the same heading."""
        sizes: list[int] = []
        for _, same in groupby(row.label for row in self.rows):
            n = len(list(same))
            sizes += [n, *[0] * (n - 1)]
        return sizes


NOTHING = CellView("")

MANY_ROWS = 12
"""Number of table rows above which intervals are not drawn."""

MODELS_IN_FULL = 6
"""Number of models up to which a page shows every measure."""

CONTRASTS_SHOWN = 80
"""Maximum number of rows in a table of contrasts."""

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


# The first screen ---------------------------------------------------------------------------------------------

DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "neither": ""}
"""Words for the better direction of a measure."""

_NAMED = 3
"""Maximum number of differences, and of models, that are named one by one; otherwise their number is given."""


def sentences(results: TaskResults) -> list[str]:
    """Say what can be told apart from the baseline, and which way confidence errs."""
    return [*contrast_sentences(results), *_overconfidence(results)]


def contrast_sentences(results: TaskResults) -> Iterator[str]:
    """Say which conditions differ from the baseline in the first tested measure, and what its witnesses say."""
    base = group_label(results.task_trials.design.baseline)
    for name in results.task_trials.study.tested_measures[:1]:
        compared = [contrast for contrast in results.contrasts if contrast.measure == name]
        told = sorted(
            (contrast for contrast in compared if contrast.significant),
            key=lambda contrast: -abs(contrast.interval.estimate),
        )
        borne_out = [contrast for contrast in told if _is_borne_out(results, contrast)]
        alone = [contrast for contrast in told if contrast not in borne_out]
        if borne_out:
            yield f"{measure_label(name)} differs from that on {base} for {_listed(borne_out)}."
        if alone:
            labels = map(measure_label, results.task_trials.study.corroborating_measures[name])
            witnesses = " nor ".join(map(in_a_sentence, labels))
            yield (
                f"{measure_label(name)} also differs" if borne_out else f"{measure_label(name)} differs"
            ) + (
                f" from that on {base} for {_listed(alone)}, but neither {witnesses} does so in the same direction:"
                " the threshold cuts the scales differently, which alone can make such a difference."
            )
        if not told and compared:
            least = min((c.p_adjusted for c in compared if not math.isnan(c.p_adjusted)), default=math.nan)
            yield (
                f"No condition’s {measure_label(name)} can be told apart from that on {base}, in any model"
                f" (smallest corrected {p_is(least)})."
            )


def _is_borne_out(results: TaskResults, contrast: Contrast) -> bool:
    """Whether a measure without a threshold differs significantly in the same direction, where a study names any."""
    witnesses = results.task_trials.study.corroborating_measures.get(contrast.measure, ())
    others = [results.contrast(contrast.model, contrast.group, name) for name in witnesses]
    return not witnesses or any(
        other is not None
        and other.significant
        and (other.interval.estimate > 0.0) == (contrast.interval.estimate > 0.0)
        for other in others
    )


def _listed(told: Sequence[Contrast]) -> str:
    parts = [
        f"{contrast.model} on {group_label(contrast.group)} ({signed(contrast.interval.estimate)}"
        f" {limits(contrast.interval)}, {p_is(contrast.p_adjusted)})"
        for contrast in told[:_NAMED]
    ]
    return "; ".join(parts) + (f", and {len(told) - _NAMED} more" if len(told) > _NAMED else "")


_BEYOND_0 = {
    "overconfidence": ("overconfident", "underconfident"),
    "coverage_gap": ("too cautious, with intervals too wide,", "overconfident, with intervals too narrow,"),
}
"""Measures of signed error, with the word for a model whose interval lies above 0, and below."""


def _overconfidence(results: TaskResults) -> Iterator[str]:
    """Say how many models are overconfident, and how many underconfident."""
    where = results.reference
    for measure, (above, below) in _BEYOND_0.items():
        entries = [
            entry
            for model in results.models
            if (entry := results.estimate(model.label, where, measure)) is not None
            and not math.isnan(entry.interval.low)
        ]
        for words, chosen in (
            (above, [entry for entry in entries if entry.interval.low > 0]),
            (below, [entry for entry in entries if entry.interval.high < 0]),
        ):
            if chosen:
                most = max(chosen, key=lambda entry: abs(entry.interval.estimate))
                by = f"by {signed(most.interval.estimate)} {limits(most.interval)}"
                if len(entries) == 1:
                    yield f"{most.model} is {words} {on_group(where)}, {by}."
                else:
                    are = f"{len(chosen)} of {len(entries)} models {'is' if len(chosen) == 1 else 'are'}"
                    yield f"{are} {words} {on_group(where)}, most of all {most.model}, {by}."


def in_a_sentence(label: str) -> str:
    """Return a label without its capital, if that is all that is capital in its first word."""
    return label[:1].lower() + label[1:] if label[1:2].islower() else label


def on_group(group: str) -> str:
    """Say what group of trials a number is of."""
    return "overall" if group == "all" else f"on {group_label(group)}"


MOST_COMPARED = 9
"""Number of models, next in rank, that the best model is compared with."""

MOST_RESAMPLES = 2_000
"""Maximum number of resamples for each of these comparisons."""

FEW_MODELS = 5
"""Number of models up to which models are columns of a table; more models are rows."""


@dataclass(frozen=True, slots=True)
class Headline:
    """The one number of a task: its first headline measure.

    ``entries`` are that measure of each model that has it, on the group that models are compared on; the best
    first, where there is a best. ``comparisons`` are of the best model with those next to it, paired by question,
    and corrected for all pairs of models, as the best is not known beforehand.
    """

    results: TaskResults
    measure: Measure
    entries: list[Estimated]
    comparisons: list[Comparison]

    @property
    def label(self) -> str:
        """Label of the number."""
        label = f"{measure_label(self.measure.name)} {on_group(self.results.reference)}"
        return ", ".join(filter(None, (label, DIRECTIONS[self.measure.better])))

    @property
    def told_apart(self) -> list[Comparison]:
        """The comparisons with a corrected p-value below 0.05."""
        return [each for each in self.comparisons if each.p_adjusted < 0.05]

    @property
    def leader(self) -> str:
        """The best model if it is told apart from every model that it was compared with; else empty."""
        return self.entries[0].model if self.comparisons and self.told_apart == self.comparisons else ""


def headline_of(results: TaskResults, workers: Workers | None = None, cache: Cache | None = None) -> Headline:
    """Return the one number of a task, and compare the models by it."""
    measure = results.headline[0]
    asked = (results.estimate(model.label, results.reference, measure.name) for model in results.models)
    entries = [entry for entry in asked if entry is not None and not math.isnan(entry.interval.estimate)]
    found: list[list[Comparison]] = []
    if measure.better != "neither":
        entries.sort(key=lambda entry: entry.interval.estimate, reverse=measure.better == "higher")
        models = [entry.model for entry in entries[: MOST_COMPARED + 1]]
        found = comparisons(
            [_compared(results, measure, models[0], other) for other in models[1:]], workers, cache
        )
    n_pairs = len(entries) * (len(entries) - 1) // 2
    corrected = [replace(each, p_adjusted=min(1.0, n_pairs * each.p_value)) for its in found for each in its]
    return Headline(results, measure, entries, corrected)


def _compared(results: TaskResults, measure: Measure, first: str, second: str) -> NamedComparison:
    """Return how two models are compared: on the questions of the reference group that both were asked."""
    models = {model.label: model for model in results.models}
    one, other = models[first], models[second]
    shared = sorted(_conditions(results, one) & _conditions(results, other))
    n_resamples = min(results.settings.n_resamples, MOST_RESAMPLES)
    settings = replace(results.settings, n_resamples=n_resamples, groups=())
    study = results.task_trials.study.name
    named = {"condition": results.reference, "first": first, "second": second}
    return named, (study, (measure.name,), shared, settings, dict(one.columns), dict(other.columns))


def _conditions(results: TaskResults, model: ModelTrials) -> set[str]:
    """Return the conditions that the reference group is made of."""
    return {
        str(condition)
        for group in results.groups[model.label]
        if group.label == results.reference
        for cell in group.cells
        for condition in {*model.columns["condition"][cell.rows]}
    }


def headline_table(headlines: Sequence[Headline]) -> TableView:
    """Return every model in every task: a row a task of a few models, a row a model of many."""
    models = list(dict.fromkeys(model.label for each in headlines for model in each.results.models))
    columns = [[_cell(each, model) for model in models] for each in headlines]
    if len(models) <= FEW_MODELS:
        rows = tuple(
            RowView(
                each.results.task_trials.design.title,
                tuple(cells),
                note=each.label,
                link=f"#{each.results.task_trials.slug}",
            )
            for each, cells in zip(headlines, columns, strict=True)
        )
        return TableView(tuple(models), rows, head="task")
    heads = (f"{each.results.task_trials.design.title}: {each.label}" for each in headlines)
    rows = tuple(
        RowView(model, cells) for model, cells in zip(models, zip(*columns, strict=True), strict=True)
    )
    return TableView(tuple(heads), rows)


def _cell(headline: Headline, model: str) -> CellView:
    entry = headline.results.estimate(model, headline.results.reference, headline.measure.name)
    if entry is None:
        return NOTHING
    return replace(cell_of(entry, decimals_of(headline.entries)), told=model == headline.leader)


def told_apart(headlines: Sequence[Headline]) -> list[str]:
    """Say task by task which models and conditions are told apart, and in how many tasks none are."""
    found = [(each, list(_sentences(each))) for each in headlines]
    said = [f"{each.results.task_trials.design.title}: {sentence}" for each, its in found for sentence in its]
    silent = [each for each, its in found if not its]
    if tests := sum(len(each.comparisons) + len(each.results.contrasts) for each in silent):
        titles = ", ".join(each.results.task_trials.design.title for each in silent)
        where = f"In {len(silent)} of {len(found)} tasks" + (f" ({titles})" if said else "")
        said.append(f"{where} nothing is told apart, by {tests:,} {'test' if tests == 1 else 'tests'}.")
    return said


def _sentences(headline: Headline) -> Iterator[str]:
    if headline.told_apart:
        yield from model_sentence(headline)
    results = headline.results
    tested = results.task_trials.study.tested_measures[:1]
    if any(contrast.significant for contrast in results.contrasts if contrast.measure in tested):
        yield from contrast_sentences(results)


def model_sentence(headline: Headline) -> Iterator[str]:
    """Say which model has the best number of a task, and which others a paired test tells it apart from."""
    told, made = headline.told_apart, headline.comparisons
    if not made:
        return
    best, decimals = headline.entries[0], decimals_of(headline.entries)
    value = f"{number(best.interval.estimate, decimals)} {limits(best.interval, decimals)}".strip()
    name = in_a_sentence(measure_label(headline.measure.name))
    start = f"{best.model} has the best {name} {on_group(headline.results.reference)}, {value}"
    if told:
        others = "; ".join(
            f"{each.second} ({signed(each.difference.estimate, decimals)} {limits(each.difference, decimals)},"
            f" corrected {p_is(each.p_adjusted)})"
            for each in told[:_NAMED]
        )
        more = f"; and {len(told) - _NAMED} more" if len(told) > _NAMED else ""
        of = f"{len(told)} of {len(made)} models compared: " if len(made) > 1 else ""
        yield f"{start}, and is told apart from {of}{others}{more}."
    else:
        least = min((each.p_adjusted for each in made if not math.isnan(each.p_adjusted)), default=math.nan)
        of = f"any of {len(made)} models compared" if len(made) > 1 else made[0].second
        yield f"{start}, and is not told apart from {of} (smallest corrected {p_is(least)})."
