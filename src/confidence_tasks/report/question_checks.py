"""Checks of questions: whether conditions and models were asked the same, and what questions share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from confidence_tasks.logs.task_trials import question_keys
from confidence_tasks.logs.trial_columns import QUESTION
from confidence_tasks.report.labels import measure_label, number
from confidence_tasks.report.notices import Notice, check, notice_if_any, subsets_of
from confidence_tasks.report.results import TaskResults
from confidence_tasks.sources.clusters import BY_SUBJECT, CLUSTER_KINDS
from confidence_tasks.statistics.inference.clusters import Clusters
from confidence_tasks.study.kinds import design_effect
from confidence_tasks.study.measures import ACCURACY
from confidence_tasks.study.standard import BRIER, OVERCONFIDENCE
from confidence_tasks.study.units import SAMPLING_UNIT


def different_questions(results: TaskResults) -> Iterator[Notice]:
    """Yield a notice if models were asked different questions."""
    questions = {model.label: set(model.columns["question_id"]) for model in results.models}
    union, common = set().union(*questions.values()), set.intersection(*questions.values())
    where = [f"{label}: {len(ids)} questions" for label, ids in questions.items()]
    yield from notice_if_any(
        "warning",
        "Models were asked different questions",
        f"Only {len(common)} of {len(union)} questions were asked of every model, so differences between models may be"
        " differences between questions. `confidence-tasks compare` pairs two models by question.",
        where if common != union else [],
    )


def id_conflicts(results: TaskResults) -> Iterator[Notice]:
    """Yield a notice if models were asked different questions under one id, as from two files of one name."""
    yield from id_conflict_notice([model.columns for model in results.models])


def id_conflict_notice(trials: Iterable[Mapping[str, NDArray[Any]]]) -> Iterator[Notice]:
    """Yield a notice that names the ids with several texts in trials, given as columns."""
    yield from notice_if_any(
        "serious",
        "Different questions under the same ids",
        "Models were asked different questions under one source and id, perhaps from two files of the same name."
        " Differences between these models are meaningless. `confidence-tasks compare` leaves these questions out.",
        sorted({name for _, _, name in conflicting_ids(trials)}),
    )


def conflicting_ids(trials: Iterable[Mapping[str, NDArray[Any]]]) -> set[tuple[str, str, str]]:
    """Return condition, source and id of the questions that have several texts in trials, given as columns.

    Trials without a digest of their question are ignored.
    """
    texts = set[tuple[str, ...]]().union(
        *(question_keys(columns, QUESTION) for columns in trials if QUESTION in columns)
    )
    counts = Counter((condition, source, name) for condition, source, name, text in texts if text)
    return {key for key, n_texts in counts.items() if n_texts > 1}


def no_baseline(results: TaskResults) -> Iterator[Notice]:
    """Yield a notice if models were not asked under the baseline condition."""
    baseline = results.task_trials.design.baseline
    missing = [
        model.label
        for model in results.models
        if baseline and baseline not in set(model.columns["condition"])
    ]
    yield from notice_if_any(
        "note",
        f"No baseline {baseline}",
        "These models did not run the baseline condition, so they have no contrasts with it.",
        missing,
    )


def different_sources(results: TaskResults) -> Iterator[Notice]:
    """Yield a notice if the sources of a condition differ from those of the baseline or reference condition."""
    baseline = results.task_trials.design.baseline or results.reference
    sources = _sources_of_conditions(results)
    where = []
    for (model, condition), of_condition in sources.items():
        of_baseline = sources.get((model, baseline), of_condition)
        if of_condition != of_baseline:
            shared = sorted(of_condition & of_baseline)
            compared = f"compared on {', '.join(shared)} only" if shared else "not compared"
            where.append(f"{model}, {condition}: {compared}")
    where += [
        f"{model}, {group.label}: averaged without {', '.join(subset.source for subset in group.not_averaged)}"
        for model, groups in results.groups.items()
        for group in groups
        if group.not_averaged
    ]
    yield from notice_if_any(
        "warning",
        "Conditions used different question sources",
        f"A difference from {baseline} is computed on the sources that both conditions share, and is missing if they"
        " share none. Tables and figures average over the shared sources; other sources are only in the table of"
        " sources. Conditions without a shared source may differ because of their questions.",
        where,
    )


def _sources_of_conditions(results: TaskResults) -> dict[tuple[str, str], set[str]]:
    """Return the sources that each model was asked under each condition."""
    sources = {}
    for model in results.models:
        for condition in results.conditions:
            rows = model.columns["condition"] == condition
            if rows.any():
                sources[model.label, condition] = set(map(str, model.columns["source"][rows]))
    return sources


FEW_CLUSTERS = 30
"""Number of clusters below which an interval depends on few of them."""


@check(
    "note",
    "Clusters of questions",
    "Questions that share a passage, a pair or a family are one unit of intervals and tests. The design effect is the"
    " variance of a measure with these units relative to that with questions as units. `--cluster none` makes questions"
    " the units.",
)
def clustered(results: TaskResults) -> Iterator[str]:
    """Yield the number of clusters of each model and source, and the design effects of the main measures."""
    for where, by_measure in _main_clusters(results):
        most = max(by_measure.values(), key=lambda each: each.n)
        effects = [
            f"{measure_label(name)} {number(each.design_effect, 2)}"
            for name, each in by_measure.items()
            if not math.isnan(each.design_effect)
        ]
        yield f"{where}: {most.n} clusters of {most.n_questions} questions; design effect of {', '.join(effects)}"


@check(
    "warning",
    "Few clusters",
    f"Intervals and tests with fewer than {FEW_CLUSTERS} clusters of questions depend on a few of them, and are less"
    " reliable than those with many. Ask questions from more clusters.",
)
def few_clusters(results: TaskResults) -> Iterator[str]:
    """Yield the models and sources with few clusters."""
    for where, by_measure in _main_clusters(results):
        if (n := max(each.n for each in by_measure.values())) < FEW_CLUSTERS:
            yield f"{where}: {n} clusters"


def _main_clusters(results: TaskResults) -> Iterator[tuple[str, dict[str, Clusters]]]:
    """Yield the model and source of trials with clusters, and their clusters in the reference group by main measure."""
    for model in results.models:
        for source in sorted(set(map(str, model.columns["source"]))):
            by_measure = {
                measure.name: entry.clusters
                for measure in results.headline
                if (entry := results.estimate(model.label, results.reference, measure.name, source))
                and entry.clusters
            }
            if by_measure:
                yield f"{model.label}, {source}, {results.reference}", by_measure


@check(
    "note",
    "Unknown clusters",
    "Questions of these sources share passages, but the files do not say which. Each question is a unit of its own, so"
    " that intervals may be too narrow. Logs of new runs have a column `cluster`.",
)
def unknown_clusters(results: TaskResults) -> Iterator[str]:
    """Yield the models and sources whose trials lack their clusters."""
    for model in results.models:
        if results.settings.cluster not in ("", *CLUSTER_KINDS.values()) or "cluster" not in model.columns:
            continue
        for source in sorted(CLUSTER_KINDS.keys() & set(model.columns["source"])):
            lacking = (model.columns["source"] == source) & (model.columns["cluster"] == "")
            if lacking.any():
                yield f"{model.label}, {source}: {int(lacking.sum())} trials"


@check(
    "note",
    "Questions share subjects",
    "The intervals are about other questions on the same subjects. About other subjects, multiply their width by the"
    " square root of the design effect, or use `--cluster subject`.",
)
def shared_subjects(results: TaskResults) -> Iterator[str]:
    """Yield the design effects by subject of means, for the sources that are samples of subjects."""
    for model, condition, trials in subsets_of(results):
        if SAMPLING_UNIT in trials or set(trials["source"]) - BY_SUBJECT or "subject" not in trials:
            continue
        effects = {
            measure.name: design_effect(measure, trials, trials["subject"])
            for measure in (ACCURACY, OVERCONFIDENCE, BRIER)
        }
        known = [f"{measure_label(name)} {effect:.1f}" for name, effect in effects.items() if effect > 0.0]
        if known:
            yield f"{model}, {condition}: {len(set(trials['subject']))} subjects; {', '.join(known)}"
