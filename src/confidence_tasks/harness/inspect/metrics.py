"""Metrics in the logs of Inspect: a study's headline measures by default, all its measures on request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from inspect_ai.scorer import Metric, SampleScore, Score, Value, metric

from confidence_tasks.harness.compat import is_live_metric
from confidence_tasks.harness.logged_addresses import resolve_address
from confidence_tasks.harness.logged_trials import scored_trial
from confidence_tasks.sources.clusters import cluster_of
from confidence_tasks.study.columns import columns
from confidence_tasks.study.definition import Study
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.metrics import select_measures, summarise
from confidence_tasks.study.parameter import METRICS
from confidence_tasks.study.records import TaskMetrics
from confidence_tasks.study.trial import EFFORT
from confidence_tasks.study.units import SAMPLING_UNIT, clustered_units


def metrics_of(
    study: Study, logged: TaskMetrics, which: str = METRICS.default, efforts: Sequence[str] = ()
) -> list[Any]:
    """Return the metrics that a task logs: the headline measures, or all measures.

    ``efforts`` are the reasoning efforts at which the task asks; empty for the effort of the run. Without trials the
    values are NaN, so that the keys never change. Raises ValueError if ``which`` is neither ``headline`` nor ``all``.
    """
    METRICS.check(which)
    names = list(logged.default_measures or study.headline_measures) if which == METRICS.default else None
    overall = list(logged.overall) if names else []
    summary = reference_of(logged.summary or condition_summary)
    return [study_metrics(summary, dict(logged.arguments), names, overall, list(efforts))]


def reference_of(summary: Callable[..., Any]) -> str:
    """Return the address ``module:function`` of a function, for :func:`resolve_address`."""
    return f"{summary.__module__}:{summary.__qualname__}"


@metric(scores="unreduced")
def study_metrics(
    summary: str,
    arguments: dict[str, Any],
    measures: Sequence[str] | None = None,
    overall: Sequence[str] = (),
    efforts: Sequence[str] = (),
) -> Metric:
    """Compute the measures of a study by condition, as ``measure/condition``; all measures if ``measures`` is None.

    If a task asks at several efforts, the keys are ``measure/condition/effort``.

    During a run, the displayed values are recomputed when the number of scores has grown by a quarter, so that all
    live values together take the time of five computations. The values in the log are computed from all scores.
    """
    summarise_trials = resolve_address(summary)
    displayed: dict[int, tuple[Score, int, Value]] = {}

    def compute(scores: list[SampleScore]) -> Value:
        if not scores or not is_live_metric():
            return compute_values(scores)
        # A task may run with several models at once; the first score tells their runs apart.
        first = scores[0].score
        _, n_scores, values = displayed.get(id(first), (first, 0, {}))
        if len(scores) >= GROWTH * n_scores:
            values = compute_values(scores)
            displayed[id(first)] = first, len(scores), values
        return values

    def compute_values(scores: list[SampleScore]) -> Value:
        trials = _trials_with_units(scores)
        return {
            "/".join(filter(None, (key, effort))): value
            for effort in efforts or [""]
            for key, value in compute_for_effort(
                [trial for trial in trials if trial.get(EFFORT, "") == effort]
            ).items()
        }

    def compute_for_effort(trials: list[dict[str, Any]]) -> dict[str, float]:
        values = summarise_trials(trials, names=measures, **arguments)
        if not measures or not overall:
            return dict(values)
        # The viewer's header shows the first five metrics.
        logged = [key for key in values if key.partition("/")[2] in overall]
        logged += [key for key in values if key not in logged and key.startswith(f"{measures[0]}/")]
        return {key: values[key] for key in logged}

    return compute


def _trials_with_units(scores: Sequence[SampleScore]) -> list[dict[str, Any]]:
    """Return the trials of scores; if questions are in clusters, each with its unit, as in the report."""
    read = [
        (scored_trial(each.score.value, each.score.metadata), each.sample_metadata or {})
        for each in scores
        if isinstance(each.score.value, Mapping)
    ]
    trials = [trial for trial, _ in read]
    units = _units(trials, [_cluster(*each) for each in read])
    if not units:
        return trials
    return [{**trial, SAMPLING_UNIT: unit} for trial, unit in zip(trials, units, strict=True)]


def _units(trials: list[dict[str, Any]], clusters: list[str]) -> list[Any]:
    """Return the unit of each trial; nothing if no cluster has two questions."""
    if not any(clusters):
        return []
    questions = columns([{key: trial.get(key, "") for key in _QUESTION} for trial in trials])
    units = clustered_units(questions, np.array(clusters, dtype=object))
    return [] if units is None else units.tolist()


_QUESTION = ("source", "question_id")


def _cluster(trial: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    """Return the cluster of a trial; logs of earlier versions tell it by the question or its passage only."""
    texts = (str(metadata.get(key, "")) for key in ("question", "passage"))
    return metadata.get("cluster") or cluster_of(*(trial.get(key, "") for key in _QUESTION), *texts)


GROWTH = 1.25
"""Factor by which the number of scores must grow before the displayed values are recomputed."""


def condition_summary(
    trials: Sequence[Mapping[str, Any]],
    *,
    study: str,
    conditions: Sequence[str],
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Compute the measures of a study, all or those in ``names``, in every condition, in the order of the design.

    ``study`` is the study's address (:attr:`~confidence_tasks.study.Study.address`).
    """
    measures: Sequence[Measure] = resolve_address(study).measures
    return summarise(trials, select_measures(measures, names), conditions)
