"""The metrics of every study: its headline measures by default, each of its measures on request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pkgutil import resolve_name
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Score, Value, metric

from confidence_tasks.harness.compat import is_live_metric
from confidence_tasks.harness.inspect.viewer import scored_trial
from confidence_tasks.study.definition import Study, TaskMetrics
from confidence_tasks.study.measures import Measure, select_measures, summarise
from confidence_tasks.study.parameter import METRICS
from confidence_tasks.study.trial import EFFORT


def metrics_of(
    study: Study, logged: TaskMetrics, which: str = METRICS.default, efforts: Sequence[str] = ()
) -> list[Any]:
    """Return what a task logs: the headline measures, or all; NaN without trials, so that the keys are always the same.

    ``efforts`` are those at which the task asks; none for that of the run. ValueError if ``which`` is neither
    ``headline`` nor ``all``.
    """
    METRICS.check(which)
    names = list(logged.default_measures or study.headline_measures) if which == METRICS.default else None
    overall = list(logged.overall) if names else []
    summary = reference_of(logged.summary or condition_summary)
    return [study_metrics(summary, dict(logged.arguments), names, overall, list(efforts))]


def reference_of(summary: Callable[..., Any]) -> str:
    """Return where a function is, for :func:`pkgutil.resolve_name`."""
    return f"{summary.__module__}:{summary.__qualname__}"


@metric(scores="unreduced")
def study_metrics(
    summary: str,
    arguments: dict[str, Any],
    measures: Sequence[str] | None = None,
    overall: Sequence[str] = (),
    efforts: Sequence[str] = (),
) -> Metric:
    """Measures of a study by condition, as `metrics_of` chooses them; all where ``measures`` is None.

    Of a task that asks at several efforts they are ``measure/condition/effort``.

    While a run goes on, they are computed anew when there are a quarter more scores: all live values take the
    time of five computations, however many samples it has. What the log holds is computed from all scores.
    """
    summarised = resolve_name(summary)
    shown: dict[int, tuple[Score, int, Value]] = {}

    def compute(scores: list[SampleScore]) -> Value:
        if not scores or not is_live_metric():
            return computed(scores)
        # A task may run with several models at once, each of which has a first score of its own.
        first = scores[0].score
        _, n_scores, values = shown.get(id(first), (first, 0, {}))
        if len(scores) >= GROWTH * n_scores:
            values = computed(scores)
            shown[id(first)] = first, len(scores), values
        return values

    def computed(scores: list[SampleScore]) -> Value:
        trials = [
            scored_trial(score.score.value, score.score.metadata)
            for score in scores
            if isinstance(score.score.value, Mapping)
        ]
        return {
            "/".join(filter(None, (key, effort))): value
            for effort in efforts or [""]
            for key, value in of_effort(
                [trial for trial in trials if trial.get(EFFORT, "") == effort]
            ).items()
        }

    def of_effort(trials: list[dict[str, Any]]) -> dict[str, float]:
        values = summarised(trials, names=measures, **arguments)
        if not measures or not overall:
            return dict(values)
        # The viewer's header shows the first five.
        logged = [key for key in values if key.partition("/")[2] in overall]
        logged += [key for key in values if key not in logged and key.startswith(f"{measures[0]}/")]
        return {key: values[key] for key in logged}

    return compute


GROWTH = 1.25
"""Factor by which the number of scores must grow before the values shown during a run are computed again."""


def condition_summary(
    trials: Sequence[Mapping[str, Any]],
    *,
    study: str,
    conditions: Sequence[str],
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return measures of a study, all or those of some names, in every condition, in the order of the design.

    ``study`` is where it is (:attr:`~confidence_tasks.study.Study.address`).
    """
    measures: Sequence[Measure] = resolve_name(study).measures
    return summarise(trials, select_measures(measures, names), conditions)
