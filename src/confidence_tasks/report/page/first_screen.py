"""The first screen of the report's page: one number per model and task, and sentences on significant differences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from confidence_tasks.harness.workers import Workers
from confidence_tasks.logs.cache import Cache
from confidence_tasks.logs.task_trials import ModelTrials
from confidence_tasks.report.estimates.compare import Pair, compare
from confidence_tasks.report.estimates.contrast import Contrast
from confidence_tasks.report.estimates.estimated import Estimated
from confidence_tasks.report.estimates.ranking import Ranking, rank_text
from confidence_tasks.report.labels import group_label, limits, measure_label, number, p_is, signed
from confidence_tasks.report.page import EMPTY_CELL, CellView, RowView, TableView, decimals_of, estimate_cell
from confidence_tasks.report.ranked_tasks import rank_on_conditions
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.study_report import study_report
from confidence_tasks.study.measure import Measure

DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "neither": ""}
"""Words for the better direction of a measure."""

MOST_COMPARED = 9
"""Number of models, next in rank, that the best model is compared with."""

MOST_RESAMPLES = 2_000
"""Maximum number of resamples for each of these comparisons."""

FEW_MODELS = 5
"""Number of models up to which models are columns of the table; more models are rows."""

_LISTED = 3
"""Maximum number of differences that a sentence lists; it counts the others."""


@dataclass(frozen=True, slots=True)
class Headline:
    """A task's first headline measure, for all models, and comparisons of the best model with others.

    Attributes
    ----------
    entries : list of Estimated
        The measure of each model that has it, on the group that models are compared on. The best model is first,
        if the measure has a better direction.
    comparisons : list of Contrast
        The best model against those next in rank, paired by question. The p-values are corrected for all pairs of
        models, as the best model is not known beforehand.
    ranking : Ranking, optional
        The ranks of more than two models, on the questions that all of them were asked.
    """

    results: TaskResults
    measure: Measure
    entries: list[Estimated]
    comparisons: list[Contrast]
    ranking: Ranking | None = None

    @property
    def ranks(self) -> dict[str, str]:
        """The limits of the rank of each model that has one."""
        models = self.ranking.models if self.ranking else []
        return {each.model: rank_text(each.first, each.last) for each in models if each.first}

    @property
    def title(self) -> str:
        """Title of the task."""
        return self.results.task_trials.title

    @property
    def label(self) -> str:
        """Label of the measure, with its group of trials and its better direction."""
        label = f"{measure_label(self.measure.name)} {_on_group(self.results.reference)}"
        return ", ".join(filter(None, (label, DIRECTIONS[self.measure.better])))

    @property
    def significant(self) -> list[Contrast]:
        """The comparisons with a corrected p-value below 0.05."""
        return [each for each in self.comparisons if each.p_adjusted < 0.05]

    @property
    def leader(self) -> str:
        """The best model if it differs significantly from every model that it is compared with; else empty."""
        return self.entries[0].model if self.comparisons and self.significant == self.comparisons else ""


def headline_of(results: TaskResults, workers: Workers | None = None, cache: Cache | None = None) -> Headline:
    """Return the headline of a task; compute its comparisons, in ``workers`` if these are given."""
    measure = results.headline[0]
    estimates = (results.estimate(model.label, results.reference, measure.name) for model in results.models)
    entries = [entry for entry in estimates if entry is not None and not math.isnan(entry.interval.estimate)]
    compared: list[list[Contrast]] = []
    if measure.better != "neither":
        entries.sort(key=lambda entry: entry.interval.estimate, reverse=measure.better == "higher")
        ranked = [entry.model for entry in entries[: MOST_COMPARED + 1]]
        pairs = [_pair(results, measure, ranked[0], other) for other in ranked[1:]]
        n_resamples = min(results.settings.n_resamples, MOST_RESAMPLES)
        settings = replace(results.settings, n_resamples=n_resamples, groups=())
        compared = compare(pairs, settings, workers, cache)
    n_pairs = len(entries) * (len(entries) - 1) // 2
    corrected = [
        replace(each, p_adjusted=min(1.0, n_pairs * each.p_value)) for pair in compared for each in pair
    ]
    return Headline(results, measure, entries, corrected, _ranking(results, measure, workers, cache))


def _ranking(
    results: TaskResults, measure: Measure, workers: Workers | None, cache: Cache | None
) -> Ranking | None:
    """Return the ranks of more than two models on the reference group, if one direction is better."""
    if len(results.models) < 3 or measure.better == "neither":
        return None
    shared = set.intersection(*(_reference_conditions(results, model) for model in results.models))
    n_resamples = min(results.settings.n_resamples, MOST_RESAMPLES)
    settings = replace(results.settings, n_resamples=n_resamples, groups=())
    return rank_on_conditions(results.task_trials, measure.name, sorted(shared), settings, workers, cache)


def _pair(results: TaskResults, measure: Measure, first: str, second: str) -> Pair:
    """Return two models, on the conditions of the reference group that both were asked."""
    models = {model.label: model for model in results.models}
    one, other = models[first], models[second]
    shared = sorted(_reference_conditions(results, one) & _reference_conditions(results, other))
    study = results.task_trials.study.name
    return Pair(
        one.columns,
        other.columns,
        (measure.name,),
        study,
        tuple(shared),
        first_model=first,
        second_model=second,
        condition=results.reference,
    )


def _reference_conditions(results: TaskResults, model: ModelTrials) -> set[str]:
    return {
        str(condition)
        for group in results.groups[model.label]
        if group.label == results.reference
        for subset in group.subsets
        for condition in {*model.columns["condition"][subset.rows]}
    }


def headline_table(headlines: Sequence[Headline]) -> TableView:
    """Return the table of headlines: tasks by models, or models by tasks where there are many models."""
    models = list(dict.fromkeys(model.label for each in headlines for model in each.results.models))
    if len(models) <= FEW_MODELS:
        rows = [
            RowView(
                each.title,
                tuple(_headline_cell(each, model) for model in models),
                note=each.label,
                link=f"#{each.results.task_trials.slug}",
            )
            for each in headlines
        ]
        return TableView(tuple(models), tuple(rows), head="task")
    rows = [RowView(model, tuple(_headline_cell(each, model) for each in headlines)) for model in models]
    return TableView(tuple(f"{each.title}: {each.label}" for each in headlines), tuple(rows))


def _headline_cell(headline: Headline, model: str) -> CellView:
    entry = headline.results.estimate(model, headline.results.reference, headline.measure.name)
    if entry is None:
        return EMPTY_CELL
    cell = estimate_cell(entry, decimals_of(headline.entries))
    rank = f"rank {headline.ranks[model]}" if model in headline.ranks else ""
    shown = ", ".join(filter(None, (cell.limits, rank)))
    return replace(cell, limits=shown, significant=model == headline.leader)


# Sentences ------------------------------------------------------------------------------------------------------


def significant_differences(headlines: Sequence[Headline]) -> list[str]:
    """Return sentences on the significant differences of each task, and one on the tasks that have none."""
    sentences: list[str] = []
    without: list[Headline] = []
    for headline in headlines:
        of_task = list(_significant_sentences(headline))
        sentences += [f"{headline.title}: {sentence}" for sentence in of_task]
        if not of_task:
            without.append(headline)
    if n_tests := sum(map(_n_tests, without)):
        titles = f": {', '.join(each.title for each in without)}" if sentences else ""
        tests = f"{n_tests:,} {'test' if n_tests == 1 else 'tests'}"
        where = f" in {len(without)} of {len(headlines)} tasks" if len(headlines) > 1 else ""
        sentences.append(f"No significant differences{where}{titles} ({tests}).")
    return sentences


def _n_tests(headline: Headline) -> int:
    """Return the number of comparisons that have a p-value."""
    tests = (*headline.comparisons, *headline.results.contrasts)
    return sum(not math.isnan(each.p_adjusted) for each in tests)


def _significant_sentences(headline: Headline) -> Iterator[str]:
    results = headline.results
    if headline.significant:
        yield from model_sentences(headline)
    tested = results.task_trials.study.tested_measures[:1]
    if any(contrast.significant for contrast in results.contrasts if contrast.measure in tested):
        yield from contrast_sentences(results)


def model_sentences(headline: Headline) -> Iterator[str]:
    """Yield a sentence on the best model of a task and the models that it differs from significantly.

    Nothing is yielded where no models are compared.
    """
    significant, compared = headline.significant, headline.comparisons
    if not compared:
        return
    best, decimals = headline.entries[0], decimals_of(headline.entries)
    value = f"{number(best.interval.estimate, decimals)} {limits(best.interval, decimals)}".strip()
    name = _in_a_sentence(measure_label(headline.measure.name))
    start = f"{best.model} has the best {name} {_on_group(headline.results.reference)}, {value}"
    if significant:
        differences = [
            f"{each.b.model} ({signed(each.interval.estimate, decimals)} {limits(each.interval, decimals)},"
            f" corrected {p_is(each.p_adjusted)})"
            for each in significant
        ]
        count = f"{len(significant)} of {len(compared)} models compared: " if len(compared) > 1 else ""
        yield f"{start}, and differs significantly from {count}{_listed(differences)}."
    else:
        others = f"any of {len(compared)} models compared" if len(compared) > 1 else compared[0].b.model
        if smallest := _smallest_p(compared):
            yield f"{start}, and does not differ significantly from {others} ({smallest})."
        else:
            yield f"{start}; its difference from {others} has no test."


def contrast_sentences(results: TaskResults) -> Iterator[str]:
    """Yield sentences on the conditions whose first tested measure differs significantly from the baseline.

    A difference that no corroborating measure shares gets a sentence of its own.
    """
    for name in results.task_trials.study.tested_measures[:1]:
        contrasts = [contrast for contrast in results.contrasts if contrast.measure == name]
        significant = _largest_first(contrast for contrast in contrasts if contrast.significant)
        baseline, label = group_label(results.task_trials.design.baseline), measure_label(name)
        if significant:
            yield from _sentences_on_differences(results, name, significant)
        elif _smallest_p(contrasts):
            yield (
                f"{label} does not differ significantly from the baseline {baseline} under any condition, in any model"
                f" ({_smallest_p(contrasts)})."
            )


def _sentences_on_differences(
    results: TaskResults, name: str, significant: Sequence[Contrast]
) -> Iterator[str]:
    """Yield sentences on the significant contrasts of one measure."""
    label, baseline = measure_label(name), group_label(results.task_trials.design.baseline)
    differs = f"differs significantly from the baseline {baseline} for"
    confirmed = [contrast for contrast in significant if _is_confirmed(results, contrast)]
    if confirmed:
        yield f"{label} {differs} {_listed_contrasts(confirmed)}."
    unconfirmed = [contrast for contrast in significant if contrast not in confirmed]
    if unconfirmed:
        also = "also " if confirmed else ""
        yield f"{label} {also}{differs} {_listed_contrasts(unconfirmed)}, but {_neither(results, name)}"


def _largest_first(contrasts: Iterable[Contrast]) -> list[Contrast]:
    return sorted(contrasts, key=lambda contrast: -abs(contrast.interval.estimate))


def _neither(results: TaskResults, name: str) -> str:
    """Return that no corroborating measure shares a difference of a measure, and what can cause that."""
    names = study_report(results.task_trials.study).corroborating_measures[name]
    corroborating = [_in_a_sentence(measure_label(each)) for each in names]
    return (
        f"neither {' nor '.join(corroborating)} differs in the same direction. The threshold splits the scales at"
        " different points, which can cause such a difference by itself."
    )


def _is_confirmed(results: TaskResults, contrast: Contrast) -> bool:
    """Return True if a corroborating measure differs significantly in the same direction, or the study names none."""
    corroborating = study_report(results.task_trials.study).corroborating_measures.get(contrast.measure, ())
    others = [results.contrast(contrast.model, contrast.group, name) for name in corroborating]
    return not corroborating or any(
        other is not None
        and other.significant
        and (other.interval.estimate > 0.0) == (contrast.interval.estimate > 0.0)
        for other in others
    )


def _listed_contrasts(contrasts: Sequence[Contrast]) -> str:
    return _listed(
        [
            f"{contrast.model} {_on_group(contrast.group)} ({signed(contrast.interval.estimate)}"
            f" {limits(contrast.interval)}, corrected {p_is(contrast.p_adjusted)})"
            for contrast in contrasts
        ]
    )


def _listed(differences: Sequence[str]) -> str:
    """Join the first differences; count the others."""
    more = len(differences) - _LISTED
    return "; ".join(differences[:_LISTED]) + (f"; and {more} more" if more > 0 else "")


def _smallest_p(tests: Sequence[Contrast]) -> str:
    """Return the smallest p-value of tests; empty if none has one."""
    known = [each.p_adjusted for each in tests if not math.isnan(each.p_adjusted)]
    return f"smallest corrected {p_is(min(known))}" if known else ""


_ERRORS = {
    "overconfidence": ("overconfident", "underconfident"),
    "coverage_gap": ("underconfident (intervals too wide)", "overconfident (intervals too narrow)"),
}
"""Measures of signed error, with the words for a model whose interval lies above 0, and below."""


def overconfidence_sentences(results: TaskResults) -> Iterator[str]:
    """Yield how many models are overconfident or underconfident by their intervals, and which one most."""
    for measure, (above, below) in _ERRORS.items():
        entries = _with_intervals(results, measure)
        over = [entry for entry in entries if entry.interval.low > 0]
        under = [entry for entry in entries if entry.interval.high < 0]
        for words, chosen in ((above, over), (below, under)):
            if chosen:
                yield _sentence_on_error(words, chosen, len(entries), _on_group(results.reference))


def _with_intervals(results: TaskResults, measure: str) -> list[Estimated]:
    """Return the estimates of a measure that have an interval, on the group that models are compared on."""
    estimates = [results.estimate(model.label, results.reference, measure) for model in results.models]
    return [entry for entry in estimates if entry and not math.isnan(entry.interval.low)]


def _sentence_on_error(words: str, chosen: Sequence[Estimated], n_models: int, where: str) -> str:
    """Return how many of the models have an error, and which one the largest."""
    most = max(chosen, key=lambda entry: abs(entry.interval.estimate))
    value = f"{signed(most.interval.estimate)} {limits(most.interval)}"
    if n_models == 1:
        return f"{most.model} is {words} {where}: {value}."
    if len(chosen) == 1:
        return f"1 of {n_models} models is {words} {where}, {most.model}: {value}."
    return f"{len(chosen)} of {n_models} models are {words} {where}, most of all {most.model}: {value}."


def _in_a_sentence(label: str) -> str:
    """Return a label without its initial capital, unless the first word has other capitals."""
    return label[:1].lower() + label[1:] if label[1:2].islower() else label


def _on_group(group: str) -> str:
    if group == "all":
        return "overall"
    return f"{'at' if '=' in group else 'on'} {group_label(group)}"
