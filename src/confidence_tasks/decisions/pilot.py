"""Clusters in a power analysis: how they change the variance of a measure in the trials of a pilot study."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from confidence_tasks.logs.asked_tasks import ALL, asked_tasks
from confidence_tasks.logs.clusters import with_units
from confidence_tasks.logs.task_trials import ModelTrials, TaskTrials
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.estimates.two_models import compare_models
from confidence_tasks.report.groups import ALL_TRIALS
from confidence_tasks.report.results import results_and_lost
from confidence_tasks.study.units import units_of

_SETTINGS = Settings(2_000)
"""Settings of the pilot's estimates: a design effect needs no more resamples."""


@dataclass(frozen=True, slots=True)
class ClusterEffect:
    """How clusters of questions change the variance of a measure, or of a paired difference.

    Attributes
    ----------
    n_clusters, n_questions : int
        Number of units and of questions in the pilot.
    size : float
        Number of questions in the cluster of a question, averaged over questions; more than 1.
    design_effect : float
        Variance with clusters relative to that of as many independent questions.

    References
    ----------
    Kish (1965), Survey Sampling, section 5.4.

    Examples
    --------
    >>> passages = ClusterEffect(40, 200, size=5.0, design_effect=1.8)
    >>> round(passages.correlation, 3), round(passages.design_effect_at(10), 3)
    (0.2, 2.8)
    >>> passages.clusters_needed(180.0, 5), passages.clusters_needed(180.0, 10)  # as many as 180 independent questions
    (65, 51)
    """

    n_clusters: int
    n_questions: int
    size: float
    design_effect: float

    @property
    def correlation(self) -> float:
        """Intraclass correlation of the questions of a cluster."""
        return (self.design_effect - 1.0) / (self.size - 1.0)

    def design_effect_at(self, size: float) -> float:
        """Return the design effect of clusters with ``size`` questions each; NaN if the correlation excludes them."""
        effect = 1.0 + (size - 1.0) * self.correlation
        return effect if effect > 0.0 else math.nan

    def clusters_needed(self, independent: float, size: float) -> float:
        """Return how many clusters of ``size`` questions are worth a number of independent questions."""
        needed = independent * self.design_effect_at(size) / size
        return math.ceil(needed - 1e-9) if math.isfinite(needed) else needed


def pilot_clusters(
    tasks: Sequence[TaskTrials], study: str, measure: str, condition: str, cluster: str = ""
) -> ClusterEffect:
    """Estimate from a pilot study how clusters change the variance of a measure.

    Parameters
    ----------
    tasks : sequence of TaskTrials
        The trials of the pilot. With one model, the design effect is that of the measure; with several, it is the mean
        over the pairs of models of that of their paired difference, in which what the models share cancels.
    study, measure, condition : str
        Names of the study and of one of its measures, and a condition of the pilot, or ``all`` for all of them.
    cluster : str
        As in :func:`~confidence_tasks.logs.clusters.with_units`.

    Raises
    ------
    ValueError
        If the pilot has no trials of the study or under the condition, no column of that name, or no two questions in
        one cluster.
    """
    of_study = with_units(asked_tasks(tasks, study, condition), cluster)
    every = [each for task in of_study for each in _effects(task, measure, condition)]
    found = [each for each in every if not math.isnan(each.design_effect)]
    if not found:
        raise ValueError(
            f"the pilot does not show how clusters change {measure}: no two questions of {study} are in one cluster, or"
            " too few trials have the measure. Name the column of the clusters with --cluster"
        )
    return ClusterEffect(
        max(each.n_clusters for each in found),
        max(each.n_questions for each in found),
        float(np.mean([each.size for each in found])),
        float(np.mean([each.design_effect for each in found])),
    )


def _effects(task: TaskTrials, measure: str, condition: str) -> Iterator[ClusterEffect]:
    """Yield the effect on the measure of the only model, or on the difference of each pair of models."""
    label = ALL_TRIALS if condition == ALL else condition
    size = _cluster_size(task.models[0], condition)
    if len(task.models) == 1:
        ((results,), _) = results_and_lost([task], _SETTINGS)
        entry = results.estimate(task.models[0].label, label, measure)
        if entry is not None and entry.clusters:
            clusters = entry.clusters
            yield ClusterEffect(clusters.n, clusters.n_questions, size, clusters.design_effect)
    for first, second in combinations(task.models, 2):
        for each in compare_models(first, second, task, [measure], _SETTINGS):
            if each.group == label and each.n_clusters:
                yield ClusterEffect(each.n_clusters, each.n_questions, size, each.design_effect)


def _cluster_size(model: ModelTrials, condition: str) -> float:
    """Return the number of questions in the cluster of a question, averaged over the questions of a condition."""
    columns = model.columns
    chosen = columns["condition"] == condition
    rows = chosen | (condition == ALL)
    questions = set(zip(units_of(columns)[rows].tolist(), columns["question_id"][rows].tolist(), strict=True))
    sizes = Counter(unit for unit, _ in questions)
    return sum(size**2 for size in sizes.values()) / len(questions)
