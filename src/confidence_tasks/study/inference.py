"""How the interval of a measure is found and how its differences are tested: one object for each way."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from confidence_tasks.statistics.core import FloatArray, IntArray, Reason
from confidence_tasks.statistics.inference.limits import InvertedTest
from confidence_tasks.study.units import units_of

Bounds: TypeAlias = tuple[float, float]

ANY: Bounds = (-math.inf, math.inf)
UNIT: Bounds = (0.0, 1.0)
"""Bounds of probabilities and of their means."""

Columns: TypeAlias = Mapping[str, NDArray[Any]]
Value: TypeAlias = float | FloatArray
Compute: TypeAlias = Callable[[Columns, FloatArray | None], Value]
InvertedTestOf: TypeAlias = Callable[[Columns, IntArray], InvertedTest]
InformativeOf: TypeAlias = "Callable[[Columns], Informative]"
Influence: TypeAlias = Callable[[Columns, FloatArray], tuple[FloatArray, FloatArray]]
Incomparable: TypeAlias = Callable[[Columns, FloatArray], Reason | None]
Method: TypeAlias = Literal["percentile", "student", "transformed", "wilson", "none"]


@dataclass(frozen=True, slots=True)
class Informative:
    """The questions that limit the precision of a measure, such as those with a wrong answer for an AUROC.

    A question counts once, however often it is asked, and so does a cluster. An interval needs a count of five.

    Attributes
    ----------
    questions : frozenset of str, optional
        Identifiers of the questions or clusters; None if every trial is informative.
    weight : float
        What each question adds to the count.
    """

    questions: frozenset[str] | None = None
    weight: float = 1.0

    @property
    def count(self) -> float:
        """Number of questions times their weight."""
        return math.inf if self.questions is None else self.weight * len(self.questions)

    @classmethod
    def smallest(cls, trials: Columns, masks: Iterable[NDArray[Any]], weight: float = 1.0) -> Informative:
        """Return the questions of the smallest of several sets of trials, each given by a mask."""
        questions = [frozenset(map(str, units_of(trials)[mask])) for mask in masks]
        return cls(min(questions, key=len), weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """What every kind of inference has. The classes below are the kinds.

    ``columns`` below is a mapping of the names of trial columns to arrays of length n.

    Attributes
    ----------
    informative : callable, optional
        ``informative(columns)`` returns the :class:`Informative` questions. If they count less than five, tables print
        no interval. By default every trial is informative.
    influence : callable, optional
        ``influence(columns, weights)`` returns the influence of each trial on the measure, (resamples, n), and the
        variance that the influences do not contain, (resamples,). Tests of differences use them. Means need no such
        function.
    incomparable : callable, optional
        ``incomparable(columns, weights)``, with weights of shape (n,), returns the reason why differences of the
        measure must be withheld for these trials, or None.
    """

    informative: InformativeOf | None = None
    influence: Influence | None = None
    incomparable: Incomparable | None = None

    method: ClassVar[Method] = "percentile"
    """How limits follow from the resamples, see :func:`confidence_tasks.statistics.bootstrap`."""
    is_mean: ClassVar[bool] = False
    """Whether the measure is a mean over trials, but not a proportion. A permutation test may then exchange single
    trials, and the mean over several groups needs enough trials only in all groups together."""
    is_average: ClassVar[bool] = False
    """Whether the measure is a mean or a proportion."""
    is_count: ClassVar[bool] = False
    """Whether the measure is summed over conditions and sources instead of averaged."""

    @property
    def bounds(self) -> Bounds:
        """Smallest and largest possible value. The interval lies within these bounds."""
        return ANY

    @property
    def largest_difference(self) -> float:
        """Largest possible difference of two values."""
        low, high = self.bounds
        return high - low

    @property
    def proportion(self) -> str:
        """Name of the proportion that the measure equals but for a constant; empty if there is none."""
        return ""

    @property
    def test(self) -> InvertedTestOf | None:
        """Function that makes the test whose inversion is the interval; None if resamples give the interval."""
        return None

    @property
    def posterior(self) -> Posterior | None:
        """The posterior distribution whose quantiles are the interval; None if there is none."""
        return None


@dataclass(frozen=True, slots=True)
class Percentile(Inference):
    """Percentiles of the resamples, for numbers without a known distribution.

    Attributes
    ----------
    low, high : float
        Smallest and largest possible value.
    """

    low: float = -math.inf
    high: float = math.inf

    @property
    def bounds(self) -> Bounds:
        """Smallest and largest possible value."""
        return self.low, self.high


@dataclass(frozen=True, slots=True)
class Bounded(Percentile):
    """An interval on the transformed scale of numbers within bounds, such as areas under curves."""

    method: ClassVar[Method] = "transformed"


@dataclass(frozen=True, slots=True)
class BoundedMean(Bounded):
    """The same for a mean over trials, such as a mean width, of which one bound is near the values."""

    is_mean: ClassVar[bool] = True
    is_average: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Student(Percentile):
    """Student's t with the standard error of the resamples, for slopes and differences of means."""

    method: ClassVar[Method] = "student"


@dataclass(frozen=True, slots=True)
class Mean(Student):
    """The same for a mean over trials."""

    is_mean: ClassVar[bool] = True
    is_average: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Proportion(Inference):
    """Wilson's interval of a proportion, or of a mean of numbers from 0 to 1."""

    method: ClassVar[Method] = "wilson"
    is_average: ClassVar[bool] = True

    @property
    def largest_difference(self) -> float:
        """Largest possible difference of two proportions."""
        return 1.0


@dataclass(frozen=True, slots=True)
class Shifted(Inference):
    """The interval of a proportion, moved by the constant by which the measure differs from it.

    Attributes
    ----------
    of : str
        Name of the measure that is the proportion.
    """

    of: str

    @property
    def proportion(self) -> str:
        """Name of the measure that is the proportion."""
        return self.of


@dataclass(frozen=True, slots=True)
class Count(Inference):
    """A number of trials, which is summed over conditions and sources instead of averaged."""

    is_count: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class PointOnly(Percentile):
    """No interval: the number describes the trials themselves."""

    method: ClassVar[Method] = "none"


@dataclass(frozen=True, slots=True)
class Inverted(Inference):
    """The values that a test does not reject. The test also decides whether the interval is withheld.

    Attributes
    ----------
    test_of : callable
        ``test_of(columns, questions)`` returns the object whose tests are inverted, as for
        :func:`confidence_tasks.statistics.ece_interval`; ``questions`` numbers the question of each trial.
    """

    test_of: InvertedTestOf

    @property
    def test(self) -> InvertedTestOf:
        """Function that makes the test."""
        return self.test_of

    @property
    def largest_difference(self) -> float:
        """Largest possible difference of two values from 0 to 1."""
        return 1.0


@dataclass(frozen=True, slots=True)
class Posterior(Inference):
    """Quantiles of the posterior distribution of a measure of trials that have only a few possible outcomes.

    Every question has a random weight, as in the Bayesian bootstrap (Rubin 1981, doi:10.1214/aos/1176345338), so that
    the weight of an outcome that was observed k times is a gamma variate of shape k. The prior adds a gamma variate to
    every outcome, observed or not. Such an interval is never withheld.

    Attributes
    ----------
    outcomes : callable
        ``outcomes(columns)`` returns columns with one trial of each outcome, as far as ``compute`` reads them.
    compute : callable
        The measure, without a correction that adds to the numbers of trials.
    prepare : callable
        ``prepare(columns)`` returns the trials as ``compute`` takes them; by default unchanged.
    prior : float
        Shape of the prior's gamma variates, in trials per outcome. Jeffreys' prior of one half gives intervals of
        proportions with correct coverage, for rare outcomes too (Brown, Cai & DasGupta 2001,
        doi:10.1214/ss/1009213286).
    includes_estimate : bool
        Whether the interval is extended to the estimate where the prior moved its limits past it, as the interval of a
        proportion of 1 ends at 1. A measure with a padding of its own, of which the interval knows nothing, is not
        included.
    """

    outcomes: Callable[[Columns], Columns]
    compute: Compute
    prepare: Callable[[Columns], Columns] = lambda trials: trials
    prior: float = 0.5
    includes_estimate: bool = False

    @property
    def posterior(self) -> Self:
        """The distribution itself."""
        return self

    def add_outcomes(
        self, trials: Columns, weights: FloatArray, rng: Generator
    ) -> tuple[Columns, FloatArray]:
        """Return the trials and one trial of each outcome, and ``weights``, (R, n), with those of the prior."""
        prepared, outcomes = self.prepare(trials), self.outcomes(trials)
        rows = {key: np.concatenate([prepared[key], column]) for key, column in outcomes.items()}
        prior_weights = rng.gamma(self.prior, size=(len(weights), len(next(iter(outcomes.values())))))
        # Transposed, so that the memory layout is that of other weights.
        return rows, np.concatenate([weights.T, prior_weights.T]).T
