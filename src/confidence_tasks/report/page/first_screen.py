"""The first screen: every model in every task by one number, and which models a paired test tells apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from confidence_tasks.report.cache import Cache
from confidence_tasks.report.compare import Comparison, NamedComparison, comparisons
from confidence_tasks.report.contrasts import Contrast
from confidence_tasks.report.estimates import Estimated
from confidence_tasks.report.labels import group_label, limits, measure_label, number, p_is, signed
from confidence_tasks.report.page import NOTHING, CellView, RowView, TableView, cell_of, decimals_of
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.task_trials import ModelTrials
from confidence_tasks.report.workers import Workers
from confidence_tasks.study.measures import Measure

DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "neither": ""}
"""What is better, in words."""

_NAMED = 3
"""Differences, and models told apart, that are spelled out; of more, the number is given."""


def sentences(results: TaskResults) -> list[str]:
    """Say what can be told apart from the baseline, and which way confidence errs."""
    return [*contrast_sentences(results), *_overconfidence(results)]


def contrast_sentences(results: TaskResults) -> Iterator[str]:
    """Say which conditions differ from the baseline in the first tested measure, and what its witnesses say."""
    base = group_label(results.task_trials.design.baseline)
    for name in results.task_trials.study.tested[:1]:
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
            labels = map(measure_label, results.task_trials.study.witnesses[name])
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
    witnesses = results.task_trials.study.witnesses.get(contrast.measure, ())
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
"""Measures of which way confidence errs, and what a model is whose interval lies above 0, or below."""


def _overconfidence(results: TaskResults) -> Iterator[str]:
    """How many models state more, or less, confidence than their accuracy bears out."""
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
            for each in told[:_NAMED]
        )
        more = f"; and {len(told) - _NAMED} more" if len(told) > _NAMED else ""
        of = f"{len(told)} of {len(made)} models compared: " if len(made) > 1 else ""
        yield f"{start}, and is told apart from {of}{others}{more}."
    else:
        least = min((each.p_adjusted for each in made if not math.isnan(each.p_adjusted)), default=math.nan)
        of = f"any of {len(made)} models compared" if len(made) > 1 else made[0].second
        yield f"{start}, and is not told apart from {of} (smallest corrected {p_is(least)})."
