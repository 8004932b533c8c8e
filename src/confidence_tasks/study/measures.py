"""From trials to metrics: a table of measures, applied to each condition, on either harness and in every report.

A measure takes the columns of some trials and, for intervals, weights over them: with weights of shape (resamples, n)
it returns one value a resample. It picks the rows that it needs itself, so that what it does with a missing answer or
confidence is said in one place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from confidence_tasks import statistics
from confidence_tasks.study.reference import check_statistic, np, statistic
from confidence_tasks.study.trial import READABLE

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from confidence_tasks.statistics.core import FloatArray, IntArray, Reason
    from confidence_tasks.statistics.inference.limits import InvertedTest

Better: TypeAlias = Literal["higher", "lower", "neither"]
Bounds: TypeAlias = tuple[float, float]

ANY: Bounds = (-math.inf, math.inf)
UNIT: Bounds = (0.0, 1.0)
"""Bounds of probabilities, and of means of them."""

# As texts, because NumPy is not imported before it is needed.
Columns: TypeAlias = "Mapping[str, NDArray[Any]]"
Value: TypeAlias = "float | FloatArray"
Compute: TypeAlias = "Callable[[Columns, FloatArray | None], Value]"
InvertedTestOf: TypeAlias = "Callable[[Columns, IntArray], InvertedTest]"
InformativeOf: TypeAlias = "Callable[[Columns], Informative]"
Influence: TypeAlias = "Callable[[Columns, FloatArray], tuple[FloatArray, FloatArray]]"
Incomparable: TypeAlias = "Callable[[Columns, FloatArray], Reason | None]"


@dataclass(frozen=True, slots=True)
class Posterior:
    """The posterior distribution of a measure that depends on how often each of a few outcomes occurs.

    Questions have random weights, as in Rubin's Bayesian bootstrap (1981, doi:10.1214/aos/1176345338), which makes
    the weight of an outcome that was seen k times a gamma variate of shape k. The prior adds a gamma variate to each
    outcome, seen or not.

    Attributes
    ----------
    outcomes : callable
        From trials to one trial of each outcome, with the columns that ``compute`` reads.
    compute : callable
        The measure, without additions of its own to the numbers of trials.
    prepared : callable
        What becomes of the trials, but not of those of ``outcomes``, before.
    prior : float
        Shape of the prior's gamma variates: trials of each outcome that the distribution starts from. With Jeffreys'
        half, shares of few outcomes, all of them rare or not, are covered as often as they should be (Brown, Cai &
        DasGupta 2001, doi:10.1214/ss/1009213286, for two).
    """

    outcomes: Callable[[Columns], Columns]
    compute: Compute
    prepared: Callable[[Columns], Columns] = lambda trials: trials
    prior: float = 0.5

    def weighted(self, trials: Columns, weights: FloatArray, rng: Generator) -> tuple[Columns, FloatArray]:
        """Return trials and outcomes, and a weight of each for every row of random weights of the trials, (R, n)."""
        own, one_of_each = self.prepared(trials), self.outcomes(trials)
        rows = {key: np.concatenate([own[key], column]) for key, column in one_of_each.items()}
        added = rng.gamma(self.prior, size=(len(weights), len(next(iter(one_of_each.values())))))
        return rows, np.concatenate([weights.T, added.T]).T  # in memory as the weights of kinds are


@dataclass(frozen=True, slots=True)
class Informative:
    """The questions that decide a measure, such as those answered wrong for an AUROC: each once, however often asked.

    Attributes
    ----------
    questions : frozenset of str, optional
        Their identifiers; None where all trials decide.
    weight : float
        How many each counts as, of the five that an interval needs.
    """

    questions: frozenset[str] | None = None
    weight: float = 1.0

    @property
    def count(self) -> float:
        """Number of questions, each counted with the weight."""
        return math.inf if self.questions is None else self.weight * len(self.questions)

    @classmethod
    def smallest(cls, trials: Columns, members: Iterable[NDArray[Any]], weight: float = 1.0) -> Informative:
        """Return the questions of the smallest of several sets of trials."""
        asked = [frozenset(map(str, trials["question_id"][of])) for of in members]
        return cls(min(asked, key=len), weight)


@dataclass(frozen=True, slots=True)
class Measure:
    """One number about a set of trials.

    Attributes
    ----------
    name : str
        The metric's name in logs and tables.
    compute : callable
        ``compute(columns, weights)`` with ``weights`` None, or of shape (resamples, n) for one value a resample.
    description : str
        One sentence: what it is, and how it treats trials that lack something.
    better : {"higher", "lower", "neither"}
        Which direction is good.
    interval : str
        How tables read its interval off the resamples, see :func:`confidence_tasks.statistics.bootstrap`:
        ``"student"`` is for means and slopes, ``"wilson"`` for proportions, ``"transformed"`` for what else lies within
        ``bounds``, ``"percentile"`` for draws from a posterior distribution, ``"none"`` for what resamples do not tell.
    is_mean : bool
        Whether it is a mean over trials other than a proportion, so that a test may exchange its trials and all those
        of several groups decide the mean of the groups.
    proportion : str
        Name of a proportion that differs from this measure by a constant; its interval is shifted instead of
        recomputed.
    informative : callable, optional
        ``informative(columns)``: which questions decide it, such as those answered wrong for an AUROC. With fewer than
        five, tables print no interval. By default all do.
    bounds : tuple of float
        The values between which it lies, and so its interval.
    is_count : bool
        Whether it is a number of trials, which conditions and sources add up instead of averaging.
    fitted : bool
        Whether ``compute`` fits something to the trials that it leaves as it is for all weights, so that its interval
        takes it as it is, and exchanging trials does not tell how it varies.
    refitted : callable, optional
        For such a measure, the same fitted for each row of weights, which are whole numbers.
    test_inversion : callable, optional
        Where its interval inverts a test: from trials and the number of each one's question to the bins that the
        interval is made of, as of :func:`confidence_tasks.statistics.ece_interval`. These say whether it is withheld.
    posterior : Posterior, optional
        Where a trial has few outcomes, some of them rare: the distribution that its interval is read off instead of
        the resamples. Then nothing needs to be withheld.
    influence : callable, optional
        ``influence(columns, weights)``: for each row of weights, how much every trial moves the measure, shape
        (resamples, n), and the variance that no trial accounts for, (resamples,). Differences are tested by these; a
        mean needs none.
    incomparable : callable, optional
        ``incomparable(columns, weights)``: why a difference of the measure from such trials is withheld, if so;
        weights of shape (n,).
    """

    name: str
    compute: Compute
    description: str
    better: Better = "neither"
    interval: Literal["percentile", "student", "transformed", "wilson", "none"] = "percentile"
    is_mean: bool = False
    proportion: str = ""
    informative: InformativeOf | None = None
    bounds: Bounds = ANY
    is_count: bool = False
    fitted: bool = False
    refitted: Compute | None = None
    test_inversion: InvertedTestOf | None = None
    posterior: Posterior | None = None
    influence: Influence | None = None
    incomparable: Incomparable | None = None

    @property
    def exchangeable(self) -> Measure | None:
        """The measure as a test that exchanges trials takes it; None where it cannot be tested so."""
        if not self.fitted:
            return self
        return None if self.refitted is None else replace(self, compute=self.refitted, fitted=False)

    @property
    def largest_difference(self) -> float:
        """Largest possible difference of two values; 1 for shares."""
        if self.test_inversion is not None or self.interval == "wilson":
            return 1.0
        return self.bounds[1] - self.bounds[0]

    @property
    def columns(self) -> list[tuple[str, ...]]:
        """The columns that its calls of ``confidence_tasks.statistics`` read."""
        return [
            value.columns
            for value in (getattr(self, each.name) for each in fields(self))
            if isinstance(value, StatisticCall)
        ]

    @property
    def is_average(self) -> bool:
        """Whether it is a mean or a proportion."""
        return self.is_mean or self.interval == "wilson"


def columns(trials: Sequence[Mapping[str, Any]]) -> Columns:
    """Return trials as one NumPy array a key: float64 for numbers, object for texts.

    Examples
    --------
    >>> columns([{"correct": 1.0, "status": "ok"}])["correct"]
    array([1.])
    """
    if not trials:
        return {}
    return {
        key: np.asarray(
            [trial[key] for trial in trials], dtype=object if isinstance(value, str) else np.float64
        )
        for key, value in trials[0].items()
    }


GRADED = ("correct", "confidence")
"""Columns that most statistics read: correctness and confidence."""


@dataclass(frozen=True, slots=True)
class StatisticCall:
    """A call of a function of ``confidence_tasks.statistics``, with the columns of trials that a study can check."""

    columns: tuple[str, ...]
    run: Callable[..., Any]

    def __call__(self, *args: Any) -> Any:
        """Make the call."""
        return self.run(*args)


def statistic_of(
    name: str,
    *needed: str,
    constants: Sequence[str] = (),
    **options: Any,
) -> Compute:
    """Make a measure of a function of ``confidence_tasks.statistics``, over the trials that have all that it needs.

    Parameters
    ----------
    name : str
        The function, called as ``function(*columns, weights=..., **options)``; ValueError if there is none, or no such
        option.
    *needed : str
        Columns it takes, in order; a trial where one of them is NaN is left out.
    constants : sequence of str
        Columns that hold one value in all trials of a condition, passed as keyword options of the same name.
    **options
        Keyword options of the function.
    """
    check_statistic(name, len(needed), [*constants, *options])

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        keep, kept = _complete_trials(trials, needed)
        kept_weights = None if weights is None else _of_kept(weights, keep)
        fixed = {key: float(trials[key][0]) for key in constants}
        value: Value = statistic(name)(*kept, weights=kept_weights, **fixed, **options)
        return value

    return StatisticCall((*needed, *constants), compute)


def influence_of(name: str, *needed: str, **options: Any) -> Influence:
    """Make the influence of trials by a function of ``confidence_tasks.statistics``; as :func:`statistic_of` a measure.

    A trial that is left out has none.
    """
    check_statistic(name, len(needed), options)

    def influence(trials: Columns, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        keep, kept = _complete_trials(trials, needed)
        of_kept, added = statistic(name)(*kept, weights=_of_kept(weights, keep), **options)
        return of_all(of_kept, keep), added

    return StatisticCall(needed, influence)


def of_all(kept: FloatArray, keep: NDArray[Any]) -> FloatArray:
    """Return the influence of all trials, 0 for those that were left out."""
    if keep.all():
        return kept
    influence = np.zeros((len(keep), len(kept))).T
    influence[:, keep] = kept
    return influence


def incomparable_by(name: str, *needed: str, **options: Any) -> Incomparable:
    """Make the reason to withhold differences by a function of ``confidence_tasks.statistics``."""
    check_statistic(name, len(needed), options)

    def incomparable(trials: Columns, weights: FloatArray) -> Reason | None:
        keep, kept = _complete_trials(trials, needed)
        reason: Reason | None = statistic(name)(*kept, weights=weights[keep], **options)
        return reason

    return StatisticCall(needed, incomparable)


def inverted_test_of(name: str, *needed: str, **options: Any) -> InvertedTestOf:
    """Make the bins of an interval by a class of ``confidence_tasks.statistics``; as :func:`statistic_of` a measure."""
    check_statistic(name, len(needed), options, "of")

    def inverted(trials: Columns, questions: IntArray) -> InvertedTest:
        keep, kept = _complete_trials(trials, needed)
        made: InvertedTest = statistic(name).of(*kept, questions=questions[keep], **options)
        return made

    return StatisticCall(needed, inverted)


def _complete_trials(trials: Columns, needed: Sequence[str]) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Return which trials have a value in every column needed, and these columns of them."""
    keep = np.logical_and.reduce([~np.isnan(trials[key]) for key in needed])
    return keep, [trials[key][keep] for key in needed]


def _of_kept(weights: FloatArray, keep: NDArray[Any]) -> FloatArray:
    """Return the weights of some trials; without copying them where all are kept, as they mostly are."""
    if keep.all():
        return weights
    shared = getattr(weights, "weighting", None)
    return shared.kept(keep) if shared else weights[..., keep]


def proportion(of: Callable[[Columns], NDArray[Any]]) -> Compute:
    """Make a measure of the proportion of all trials for which ``of`` holds; NaN rows of ``of`` are left out."""

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        holds = np.asarray(of(trials), dtype=np.float64)
        keep = ~np.isnan(holds)
        weighting = statistics.inference.weights.Weighting.of(
            None if weights is None else _of_kept(weights, keep), int(keep.sum())
        )
        value = weighting.mean(holds[keep])
        return value if weighting.batch else float(value[0])

    return compute


def mean_of(column: str) -> Compute:
    """Make a measure of the mean of a column; trials where it is NaN are left out."""
    return StatisticCall((column,), proportion(lambda trials: trials[column]))


def rows_of(trials: Columns, rows: Any) -> dict[str, NDArray[Any]]:
    """Return some trials, by their positions or by a mask."""
    return {key: column[rows] for key, column in trials.items()}


def among(kept: Callable[[Columns], NDArray[Any]], compute: Compute) -> Compute:
    """Restrict what is computed to the trials for which ``kept`` holds."""

    def restricted(trials: Columns, weights: FloatArray | None = None) -> Any:
        keep = kept(trials)
        return compute(rows_of(trials, keep), None if weights is None else weights[..., keep])

    return restricted


def undefined(weights: FloatArray | None) -> Value:
    """Return NaN, for every row of weights where there are any."""
    return math.nan if weights is None else np.full(weights.shape[:-1], np.nan)[()]


def not_resampled(compute: Callable[[Columns], float]) -> Compute:
    """Make a measure of what is fitted to the trials: resampling leaves it as it is and so does not tell its error."""

    def value(trials: Columns, weights: FloatArray | None = None) -> Value:
        return compute(trials) if weights is None else undefined(weights)

    return value


def min_count(*sets: Callable[[Columns], NDArray[Any]], enough: int = 5) -> InformativeOf:
    """Find the questions that have a trial in the smallest of several sets: those that decide what compares the sets.

    Where another number than five is ``enough`` for an interval, each counts so that so many make five.

    Examples
    --------
    >>> import numpy as np
    >>> asked = {"correct": np.array([1.0, 0.0, 0.0]), "question_id": np.array(["a", "b", "b"])}
    >>> min_count(where("correct", 1.0), where("correct", 0.0))(asked).count
    1.0
    """

    def informative(trials: Columns) -> Informative:
        return Informative.smallest(trials, [of(trials) for of in sets], 5.0 / enough)

    return informative


def share(name: str, compute: Compute | str, description: str, better: Better = "neither") -> Measure:
    """Make the measure of a proportion of the trials; of a column that is 0 or 1 where its name is given."""
    return Measure(name, _computed(compute), description, better, interval="wilson")


def mean(
    name: str, compute: Compute | str, description: str, better: Better = "neither", *, bounds: Bounds = ANY
) -> Measure:
    """Make the measure of a mean over trials; of a column where its name is given."""
    return Measure(
        name, _computed(compute), description, better, interval="student", is_mean=True, bounds=bounds
    )


def _computed(compute: Compute | str) -> Compute:
    return mean_of(compute) if isinstance(compute, str) else compute


def count(
    name: str, of: Callable[[Columns], NDArray[Any]], description: str, better: Better = "neither"
) -> Measure:
    """Make the measure of the number of trials for which ``of`` holds."""

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        holds = of(trials).astype(float)
        return float(holds.sum()) if weights is None else weights @ holds

    return Measure(name, compute, description, better, is_count=True)


ENOUGH_FOR_A_MEAN = 2
"""Minimum number of questions in the smaller class, right or wrong, for an interval of a mean, which adds two more."""


def where(column: str, value: float, *needed: str) -> Callable[[Columns], NDArray[Any]]:
    """Make the set of trials that have a value in a column, and any value in some others."""

    def holds(trials: Columns) -> NDArray[Any]:
        present = [~np.isnan(trials[key]) for key in needed]
        return np.asarray(np.logical_and.reduce([trials[column] == value, *present]))

    return holds


def right_and_wrong(
    correct: str = "correct", confidence: str = "confidence"
) -> tuple[Callable[[Columns], NDArray[Any]], Callable[[Columns], NDArray[Any]]]:
    """Make the sets of right and of wrong answers with a confidence."""
    return where(correct, 1.0, confidence), where(correct, 0.0, confidence)


def auroc(name: str, description: str, correct: str = "correct", confidence: str = "confidence") -> Measure:
    """Make the measure of the area under the type-2 ROC curve, over the trials that have both columns."""
    return Measure(
        name,
        statistic_of("auroc2", correct, confidence),
        description,
        "higher",
        interval="transformed",
        bounds=(0.0, 1.0),
        informative=min_count(*right_and_wrong(correct, confidence)),
        influence=influence_of("auroc2_influence", correct, confidence),
    )


def calibration_error(
    name: str,
    description: str,
    correct: str = "correct",
    confidence: str = "confidence",
    *,
    graded: bool = False,
    **options: Any,
) -> Measure:
    """Make the measure of an expected calibration error, over the trials that have both columns.

    If ``graded``, ``correct`` holds probabilities of being right; otherwise the fewer of right and wrong answers decide
    its differences. ``options`` are keyword options of :func:`confidence_tasks.statistics.ece`: how confidence is cut
    into bins.
    """
    return Measure(
        name,
        statistic_of("ece", correct, confidence, **options),
        description,
        "lower",
        informative=None if graded else min_count(*right_and_wrong(correct, confidence)),
        test_inversion=inverted_test_of("BinnedTrials", correct, confidence, **options),
    )


def overconfidence(
    name: str, description: str, correct: str = "correct", confidence: str = "confidence"
) -> Measure:
    """Make the measure of mean confidence less accuracy, over the trials that have both columns."""
    return Measure(
        name,
        statistic_of("overconfidence", correct, confidence),
        description,
        interval="student",
        is_mean=True,
        informative=min_count(*right_and_wrong(correct, confidence), enough=ENOUGH_FOR_A_MEAN),
    )


def _has_status(*statuses: str) -> Callable[[Columns], NDArray[Any]]:
    def holds(trials: Columns) -> NDArray[Any]:
        return np.asarray([status in statuses for status in trials["status"]], dtype=np.bool_)

    return holds


def _wrong_if_missing(trials: Columns) -> NDArray[Any]:
    """Correctness, 0 for a reply without an answer, NaN for an answer without a key."""
    missing = _has_status("missing_answer", "unreadable", "refused")(trials)
    return np.where(missing & np.isnan(trials["correct"]), 0.0, trials["correct"])


ACCURACY = share(
    "accuracy",
    "correct",
    "Mean correctness of the answers given; replies without an answer are left out.",
    "higher",
)
ACCURACY_OF_ALL = share(
    "accuracy_of_all",
    proportion(_wrong_if_missing),
    "The same where a reply without an answer is wrong.",
    "higher",
)
PARSE_RATE = share(
    "parse_rate",
    proportion(_has_status(*READABLE)),
    "Share of replies with a readable answer and a confidence within what was asked.",
    "higher",
)
PARSE_RATE_STRICT = share(
    "parse_rate_strict",
    proportion(_has_status("ok")),
    "Share of replies that keep to the letter of the format.",
    "higher",
)
CONFIDENCE = mean("confidence", "confidence", "Mean confidence of the replies that state one.", bounds=UNIT)


def named(measures: Sequence[Measure], names: Sequence[str] | None) -> list[Measure]:
    """Return the measures of some names, in the order of the names; all where there are none.

    A name that ends in a group, such as ``coverage/p=0.9``, is known by what stands before it.

    Examples
    --------
    >>> [measure.name for measure in named([ACCURACY, CONFIDENCE], ["confidence", "ece"])]
    ['confidence']
    """
    if names is None:
        return list(measures)
    position = {name: place for place, name in enumerate(names)}
    known = [measure for measure in measures if measure.name.partition("/")[0] in position]
    return sorted(known, key=lambda measure: position[measure.name.partition("/")[0]])


def values_of(trials: Sequence[Mapping[str, Any]], measures: Sequence[Measure]) -> dict[str, float]:
    """Return every measure of all trials together by its name; NaN without trials."""
    together = columns(trials)
    return {
        measure.name: float(measure.compute(together, None)) if trials else math.nan for measure in measures
    }


def summarise(
    trials: Sequence[Mapping[str, Any]],
    measures: Sequence[Measure],
    conditions: Sequence[str],
) -> dict[str, float]:
    """Return every measure in every condition, keyed ``name/condition``, measure by measure, in the design's order.

    Where a condition holds trials of several sources, its value is the mean over the sources, as the papers pool
    their data sets; numbers of trials are added up. A condition without trials gives NaN, so that the keys are always
    the same.
    """
    cells: dict[str, dict[str, list[Mapping[str, Any]]]] = {condition: {} for condition in conditions}
    for trial in trials:
        cells[trial["condition"]].setdefault(trial["source"], []).append(trial)
    tables = {
        condition: [columns(cell) for cell in by_source.values()] for condition, by_source in cells.items()
    }
    return {
        f"{measure.name}/{condition}": sum(values) / (1 if measure.is_count else len(values))
        if values
        else math.nan
        for measure in measures
        for condition, cell_tables in tables.items()
        for values in [[float(measure.compute(table, None)) for table in cell_tables]]
    }
