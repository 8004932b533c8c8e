"""The difference of two groups of trials by a measure."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from confidence_tasks.statistics import Interval
from confidence_tasks.statistics.inference.clusters import Clusters


class Side(NamedTuple):
    """One of the two groups of trials of a contrast.

    ``interval`` and ``design_effect`` are those of the measure on this side. A contrast of two conditions of one model
    lacks them: its sides are entries of the estimates.
    """

    model: str = ""
    group: str = ""
    interval: Interval | None = None
    design_effect: float = math.nan


@dataclass(frozen=True, slots=True)
class Contrast:
    """A measure of A minus that of B, on the questions that both were asked.

    A and B are two conditions of one model, of which B is the baseline, or two models under one condition.

    Attributes
    ----------
    measure : str
        Name of the measure.
    a, b : Side
        What is compared.
    interval : Interval
        The difference, paired by question.
    p_value : float
        Two-sided p-value. It is at most 1 - level exactly when the interval excludes 0. NaN without an interval, and
        for measures that are fitted to the trials and too costly to refit in each resample.
    p_adjusted : float
        The p-value corrected for all comparisons of the measure: by Bonferroni over conditions of a study, by Holm over
        the conditions under which two models are compared.
    p_exchange : float
        p-value of the papers' test, which exchanges A and B within questions and does not studentise.
    n_questions : int
        Number of questions.
    clusters : Clusters, optional
        The units that are exchanged, if there are clusters of questions, and their effect on the variance.
    study, task : str
        What was asked; empty where the context says it.
    """

    measure: str
    a: Side
    b: Side
    interval: Interval
    p_value: float
    p_adjusted: float
    p_exchange: float
    n_questions: int
    clusters: Clusters | None = None
    study: str = ""
    task: str = ""

    @property
    def model(self) -> str:
        """The model of A."""
        return self.a.model

    @property
    def group(self) -> str:
        """The group of trials of A, such as a condition."""
        return self.a.group

    @property
    def baseline(self) -> str:
        """The group of trials of B."""
        return self.b.group

    @property
    def values(self) -> tuple[Interval, Interval]:
        """The measure of A and of B, if the contrast has them."""
        assert self.a.interval is not None
        assert self.b.interval is not None
        return self.a.interval, self.b.interval

    @property
    def n_clusters(self) -> int | None:
        """Number of units, if there are clusters of questions."""
        return self.clusters.n if self.clusters else None

    @property
    def design_effect(self) -> float:
        """Variance of the difference with clusters, relative to that without; NaN without clusters."""
        return self.clusters.design_effect if self.clusters else math.nan

    @property
    def significant(self) -> bool:
        """Return True if the adjusted p-value is below 0.05."""
        return self.p_adjusted < 0.05

    def between(self, a: tuple[str, str], b: tuple[str, str]) -> Contrast:
        """Return the contrast with other names: model and group of A, and of B."""
        return replace(
            self,
            a=self.a._replace(model=a[0], group=a[1]),
            b=self.b._replace(model=b[0], group=b[1]),
        )
