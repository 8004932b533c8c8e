"""A measure of some trials, and its distribution over resamples of the questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.statistics import Estimate, Interval
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.inference.clusters import Clusters, skewness_corrected
from confidence_tasks.statistics.inference.limits import (
    PROPORTION,
    Bounds,
    InvertedTest,
    Limits,
    Method,
    Resampled,
)
from confidence_tasks.statistics.inference.resampling import interval_of
from confidence_tasks.study.inference import Informative

ALL_INFORMATIVE = Informative()


@dataclass(frozen=True, slots=True)
class Distribution:
    """The value of a measure on some trials, and its distribution over resamples of the questions.

    Attributes
    ----------
    value : Estimate
        The measure of the trials as they are.
    resamples : ndarray, shape (R,)
        The measure of each resample, or draws from its posterior distribution.
    questions : frozenset of str
        Identifiers of the questions. For a proportion of 0 or 1, only the questions that enter it.
    informative : Informative
        The questions that determine the measure, such as the wrong answers for an AUROC.
    is_mean : bool
        True if the measure is a mean over trials.
    freedom : float, optional
        Degrees of freedom of the standard error. By default infinite for a mean, which is limited by the number of
        questions only, and otherwise the number of informative questions less one.
    inverted_test : InvertedTest, optional
        Test whose inversion gives the interval; without one, the resamples do.
    clusters : Clusters, optional
        The units, if there are clusters of questions; ``questions`` then holds the names of the units.
    by_question : ndarray, shape (R,), optional
        With clusters, the measure of each resample of single questions, for the design effect.
    """

    value: Estimate
    resamples: FloatArray
    questions: frozenset[str]
    informative: Informative = ALL_INFORMATIVE
    is_mean: bool = False
    freedom: float | None = None
    inverted_test: InvertedTest | None = None
    clusters: Clusters | None = None
    by_question: FloatArray | None = None
    _limits: dict[float, Limits] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def degrees(self) -> float:
        """Degrees of freedom of the standard error."""
        if self.freedom is not None:
            return self.freedom
        return math.inf if self.is_mean else self.informative.count - 1.0

    def __sub__(self, other: Distribution) -> Distribution:
        """Return the difference, which is paired by question if both share a draw."""
        reason = self.value.reason or other.value.reason
        questions = self.questions | other.questions
        asked = [side.clusters.n_questions for side in (self, other) if side.clusters]
        difference = Estimate(self.value - other.value, reason)
        with np.errstate(invalid="ignore"):  # both infinite: no difference, NaN
            resamples = self.resamples - other.resamples
            by_question = self.of_questions - other.of_questions
        return Distribution(
            difference,
            resamples,
            questions,
            informative=min(self.informative, other.informative, key=lambda side: side.count),
            freedom=freedom_of_sum([self, other]),
            clusters=Clusters.of_resamples(len(questions), max(asked), resamples, by_question)
            if asked
            else None,
        )

    @property
    def of_questions(self) -> FloatArray:
        """The resamples of questions; without clusters, these are the units of all resamples."""
        return self.resamples if self.by_question is None else self.by_question

    @property
    def resampled(self) -> Resampled:
        """The resamples that limits are computed from; infinite ones count as undefined."""
        return Resampled(
            self.value,
            self.resamples,
            len(self.questions),
            n_informative=self.informative.count,
            freedom=self.degrees,
        )

    def interval(
        self, settings: Settings, method: Method = "percentile", bounds: Bounds = PROPORTION
    ) -> Interval:
        """Return the interval."""
        found = self.resampled
        if self.clusters and method in ("wilson", "student"):
            # As Inspect's ci(cluster=...). Wilson's interval remains for proportions without a standard error.
            if self.clusters.error > 0.0:
                found = replace(found, exact_error=self.clusters.error, n_units=self.clusters.n)
            if method == "wilson" and not found.reason and found.standard_error > 0.0:
                low, high = found.limits(settings.level, "student")
                interval = interval_of(found, settings.level, method, settings.seed)
                within = (Estimate(min(max(limit, 0.0), 1.0)) for limit in (low, high))
                return replace(interval, method="student", low=next(within), high=next(within))
        interval = interval_of(found, settings.level, method, settings.seed, bounds)
        interval = skewness_corrected(interval, self.clusters, method, bounds)
        if self.inverted_test is None or len(self.questions) < 2:
            return interval
        low, high = self.limits_of_test(settings.level)
        return replace(interval, low=low, high=high, method="test_inversion")

    def limits_of_test(self, level: float) -> Limits:
        """Return the limits by the inverted test; a condition that others are compared with computes them once."""
        assert self.inverted_test is not None
        if level not in self._limits:
            self._limits[level] = self.inverted_test.limits(level)
        return self._limits[level]


def freedom_of_sum(parts: Sequence[Distribution]) -> float:
    """Return the degrees of freedom of a sum: the harmonic mean over the parts, weighted by their variances.

    Satterthwaite's formula (doi:10.2307/3002019) assumes independent parts and gives more degrees of freedom. Parts on
    the same questions, such as conditions with different penalties, are not independent.
    """
    variances = [finite_variance(part.resamples) for part in parts]
    if not sum(variances) > 0.0:
        return min(part.degrees for part in parts)
    inverse = sum(
        v / part.degrees if part.degrees > 0.0 else math.inf for v, part in zip(variances, parts, strict=True)
    )
    return sum(variances) / inverse if inverse > 0.0 else math.inf


def finite_variance(values: FloatArray) -> float:
    """Return the variance of the finite values; exactly 0 if they differ by rounding only."""
    defined = values[np.isfinite(values)]
    return float(defined.var()) if len(defined) and np.ptp(defined) > 1e-12 * abs(defined).max() else 0.0
