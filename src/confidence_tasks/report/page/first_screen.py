"""The first screen: every model in every task by one number, and which models a paired test tells apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from confidence_tasks.report.compare import Comparison, compared_measures, paired_trials
from confidence_tasks.report.estimates import Estimated
from confidence_tasks.report.labels import measure_label
from confidence_tasks.report.page.numbers import limits, number, p_is, signed
from confidence_tasks.report.page.sentences import contrast_sentences, in_a_sentence, on_group
from confidence_tasks.report.page.tables import NOTHING, cell_of, decimals_of
from confidence_tasks.report.page.views import CellView, RowView, TableView
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.task_trials import ModelTrials
from confidence_tasks.study.measures import Measure

MOST_COMPARED = 9
"""Models that the best one is compared with: those next to it."""

MOST_RESAMPLES = 2_000
"""Of a comparison: there may be many."""

FEW_MODELS = 5
"""Models that stand in columns, beside one another; more stand in rows."""


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
        """What the number is."""
        direction = {"higher": ", higher is better", "lower": ", lower is better"}.get(
            self.measure.better, ""
        )
        return f"{measure_label(self.measure.name)} {on_group(self.results.reference)}{direction}"

    @property
    def told_apart(self) -> list[Comparison]:
        """The comparisons with a corrected p-value below 0.05."""
        return [each for each in self.comparisons if each.p_adjusted < 0.05]

    @property
    def leader(self) -> str:
        """The best model if it is told apart from every model that it was compared with; else empty."""
        return self.entries[0].model if self.comparisons and self.told_apart == self.comparisons else ""


def headline_of(results: TaskResults) -> Headline:
    """Return the one number of a task, and compare the models by it."""
    measure = results.headline[0]
    asked = (results.estimate(model.label, results.reference, measure.name) for model in results.models)
    entries = [entry for entry in asked if entry is not None and not math.isnan(entry.interval.estimate)]
    comparisons: list[Comparison] = []
    if measure.better != "neither":
        entries.sort(key=lambda entry: entry.interval.estimate, reverse=measure.better == "higher")
        comparisons = [
            found
            for entry in entries[1 : MOST_COMPARED + 1]
            for found in _compared(results, measure, entries[0].model, entry.model)
        ]
    n_pairs = len(entries) * (len(entries) - 1) // 2
    corrected = [replace(each, p_adjusted=min(1.0, n_pairs * each.p_value)) for each in comparisons]
    return Headline(results, measure, entries, corrected)


def _compared(results: TaskResults, measure: Measure, first: str, second: str) -> Iterator[Comparison]:
    """Compare two models by a measure, on the questions of the reference group that both were asked."""
    models = {model.label: model for model in results.models}
    one, other = models[first], models[second]
    shared = sorted(_conditions(results, one) & _conditions(results, other))
    columns, side = paired_trials(one.columns, other.columns, shared)
    settings = replace(results.settings, n_resamples=min(results.settings.n_resamples, MOST_RESAMPLES))
    if len(side):
        named = {"condition": results.reference, "first": first, "second": second}
        yield from compared_measures(columns, side, [measure], settings, **named)


def _conditions(results: TaskResults, model: ModelTrials) -> set[str]:
    """Return the conditions that the reference group is made of."""
    return {
        str(condition)
        for group in results.groups[model.label]
        if group.label == results.reference
        for cell in group.cells
        for condition in model.columns["condition"][cell.rows]
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
    if silent:
        tests = sum(len(each.comparisons) + len(each.results.contrasts) for each in silent)
        titles = ", ".join(each.results.task_trials.design.title for each in silent)
        where = f"In {len(silent)} of {len(found)} tasks" + (f" ({titles})" if said else "")
        said.append(f"{where} nothing is told apart, by {tests:,} {'test' if tests == 1 else 'tests'}.")
    return said


def _sentences(headline: Headline) -> Iterator[str]:
    if headline.told_apart:
        yield from model_sentence(headline)
    results = headline.results
    tested = results.task_trials.study.tested[:1]
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
            for each in told[:NAMED]
        )
        more = f"; and {len(told) - NAMED} more" if len(told) > NAMED else ""
        of = f"{len(told)} of {len(made)} models compared: " if len(made) > 1 else ""
        yield f"{start}, and is told apart from {of}{others}{more}."
    else:
        least = min((each.p_adjusted for each in made if not math.isnan(each.p_adjusted)), default=math.nan)
        of = f"any of {len(made)} models compared" if len(made) > 1 else made[0].second
        yield f"{start}, and is not told apart from {of} (smallest corrected {p_is(least)})."


NAMED = 3
"""Models named of those that the best is told apart from."""
