"""Measures: numbers computed from trials, for the metrics of both harnesses and for all reports.

A measure computes one number from the columns of some trials. For intervals it also takes weights of shape
(resamples, n), and returns one number per resample. A measure selects the trials that it can use: a trial that lacks an
answer or a confidence is left out or counted by the measure itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from confidence_tasks.statistics import calibration, discrimination
from confidence_tasks.statistics.core import FloatArray, IntArray, Reason
from confidence_tasks.statistics.inference.limits import InvertedTest
from confidence_tasks.statistics.inference.weights import Weighting
from confidence_tasks.study.statistic import Statistic, check_statistic
from confidence_tasks.study.trial import READABLE, UNFINISHED
from confidence_tasks.study.units import units_of

Better: TypeAlias = Literal["higher", "lower", "neither"]
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


@dataclass(frozen=True, slots=True)
class Posterior:
    """Posterior distribution of a measure of trials that have only a few possible outcomes.

    Every question has a random weight, as in the Bayesian bootstrap (Rubin 1981, doi:10.1214/aos/1176345338), so that
    the weight of an outcome that was observed k times is a gamma variate of shape k. The prior adds a gamma variate to
    every outcome, observed or not.

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
    """

    outcomes: Callable[[Columns], Columns]
    compute: Compute
    prepare: Callable[[Columns], Columns] = lambda trials: trials
    prior: float = 0.5

    def add_outcomes(
        self, trials: Columns, weights: FloatArray, rng: Generator
    ) -> tuple[Columns, FloatArray]:
        """Return the trials and one trial of each outcome, and ``weights``, (R, n), with those of the prior."""
        prepared, outcomes = self.prepare(trials), self.outcomes(trials)
        rows = {key: np.concatenate([prepared[key], column]) for key, column in outcomes.items()}
        prior_weights = rng.gamma(self.prior, size=(len(weights), len(next(iter(outcomes.values())))))
        # Transposed, so that the memory layout is that of other weights.
        return rows, np.concatenate([weights.T, prior_weights.T]).T


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


@dataclass(frozen=True, slots=True)
class Measure:
    """A number computed from a set of trials, with the way in which its interval is found.

    ``columns`` below is a mapping of the names of trial columns to arrays of length n.

    Attributes
    ----------
    name : str
        Name of the metric in logs and tables.
    compute : callable
        ``compute(columns, weights)`` returns the number if ``weights`` is None, and one number per row of ``weights``
        if they have the shape (resamples, n).
    description : str
        One sentence that says what the measure is, and what it does with trials that lack a value.
    better : {"higher", "lower", "neither"}
        Which values are better.
    interval : {"percentile", "student", "transformed", "wilson", "none"}
        Kind of interval that is computed from the resamples, see :func:`confidence_tasks.statistics.bootstrap`:
        ``"student"`` for means and slopes, ``"wilson"`` for proportions, ``"transformed"`` for other numbers within
        ``bounds``, ``"percentile"`` for draws from a posterior distribution, ``"none"`` for no interval.
    is_mean : bool
        Whether the measure is a mean over trials, but not a proportion. A permutation test may then exchange single
        trials, and the mean over several groups needs enough trials only in all groups together.
    proportion : str
        Name of a proportion that differs from this measure by a constant. The interval of the proportion is shifted by
        the constant instead of computed anew.
    informative : callable, optional
        ``informative(columns)`` returns the :class:`Informative` questions. If they count less than five, tables print
        no interval. By default every trial is informative.
    bounds : tuple of float
        Smallest and largest possible value. The interval lies within these bounds.
    is_count : bool
        Whether the measure is a number of trials, which is summed over conditions and sources instead of averaged.
    fitted : bool
        Whether ``compute`` fits a model to the trials once and uses it for all rows of weights. The interval then holds
        for the model as fitted, and a permutation test is not possible.
    refitted : callable, optional
        ``compute`` of a ``fitted`` measure with a model fitted for each row of weights, which must be whole numbers. A
        permutation test uses it.
    test_inversion : callable, optional
        ``test_inversion(columns, questions)`` returns the object whose tests are inverted for the interval, as for
        :func:`confidence_tasks.statistics.ece_interval`; ``questions`` numbers the question of each trial. This object
        also decides whether the interval is withheld.
    posterior : Posterior, optional
        Distribution whose quantiles are the interval, for trials that have a few outcomes, some of them rare. Such an
        interval is never withheld.
    influence : callable, optional
        ``influence(columns, weights)`` returns the influence of each trial on the measure, (resamples, n), and the
        variance that the influences do not contain, (resamples,). Tests of differences use them. Means need no such
        function.
    incomparable : callable, optional
        ``incomparable(columns, weights)``, with weights of shape (n,), returns the reason why differences of the
        measure must be withheld for these trials, or None.
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
        """The measure as a permutation test uses it; None if no such test is possible."""
        if not self.fitted:
            return self
        return None if self.refitted is None else replace(self, compute=self.refitted, fitted=False)

    @property
    def largest_difference(self) -> float:
        """Largest possible difference of two values; 1 for proportions."""
        if self.test_inversion is not None or self.interval == "wilson":
            return 1.0
        return self.bounds[1] - self.bounds[0]

    @property
    def columns(self) -> list[tuple[str, ...]]:
        """Columns that the measure passes to functions of ``confidence_tasks.statistics``, one tuple per function."""
        return [
            value.columns
            for value in (getattr(self, each.name) for each in fields(self))
            if isinstance(value, StatisticCall)
        ]

    @property
    def is_average(self) -> bool:
        """Whether the measure is a mean or a proportion."""
        return self.is_mean or self.interval == "wilson"


def columns(trials: Sequence[Mapping[str, Any]]) -> Columns:
    """Return one NumPy array per column of trials: float64 for numbers, object for texts.

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
"""The two columns that most statistics take."""


@dataclass(frozen=True, slots=True)
class StatisticCall:
    """A function of trials that declares which columns it reads, so that a study can check their names."""

    columns: tuple[str, ...]
    run: Callable[..., Any]

    def __call__(self, *args: Any) -> Any:
        """Call the function."""
        return self.run(*args)


def statistic_of(
    function: Statistic | str,
    *column_names: str,
    constants: Sequence[str] = (),
    **options: Any,
) -> Compute:
    """Make ``Measure.compute`` from a function of ``confidence_tasks.statistics``.

    Parameters
    ----------
    function : callable
        The function, which is called as ``function(*columns, weights=..., **options)``.
    *column_names : str
        Columns that the function takes, in order. Trials where one of them is NaN are left out.
    constants : sequence of str
        Columns that have the same value in all trials of a condition. They are passed as keyword options of the same
        name.
    **options
        Keyword options of the function.

    Raises
    ------
    ValueError
        If the function has no such option, or takes fewer columns.

    Examples
    --------
    >>> from confidence_tasks.statistics import calibration
    >>> trials = columns([{"correct": 1.0, "confidence": 0.9}, {"correct": 0.0, "confidence": 0.5}])
    >>> round(statistic_of(calibration.brier, "correct", "confidence")(trials, None), 2)
    0.13
    """
    statistic = check_statistic(function, len(column_names), [*constants, *options])

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        keep, complete = _complete_trials(trials, column_names)
        kept_weights = None if weights is None else _select_weights(weights, keep)
        fixed = {key: float(trials[key][0]) for key in constants}
        value: Value = statistic(*complete, weights=kept_weights, **fixed, **options)
        return value

    return StatisticCall((*column_names, *constants), compute)


def influence_of(function: Statistic | str, *column_names: str, **options: Any) -> Influence:
    """Make ``Measure.influence`` from a function of ``confidence_tasks.statistics``.

    The parameters are those of :func:`statistic_of`. A trial that is left out has no influence.
    """
    statistic = check_statistic(function, len(column_names), options)

    def influence(trials: Columns, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        keep, complete = _complete_trials(trials, column_names)
        values, variance = statistic(*complete, weights=_select_weights(weights, keep), **options)
        return expand_influence(values, keep), variance

    return StatisticCall(column_names, influence)


def expand_influence(values: FloatArray, keep: NDArray[Any]) -> FloatArray:
    """Return the influence of all trials, given that of the trials in ``keep``; it is 0 for the others."""
    if keep.all():
        return values
    influence = np.zeros((len(keep), len(values))).T
    influence[:, keep] = values
    return influence


def incomparable_by(function: Statistic | str, *column_names: str, **options: Any) -> Incomparable:
    """Make ``Measure.incomparable`` from a function of ``confidence_tasks.statistics``.

    The parameters are those of :func:`statistic_of`.
    """
    statistic = check_statistic(function, len(column_names), options)

    def incomparable(trials: Columns, weights: FloatArray) -> Reason | None:
        keep, complete = _complete_trials(trials, column_names)
        reason: Reason | None = statistic(*complete, weights=weights[keep], **options)
        return reason

    return StatisticCall(column_names, incomparable)


def inverted_test_of(test_class: type | str, *column_names: str, **options: Any) -> InvertedTestOf:
    """Make ``Measure.test_inversion`` from a class of ``confidence_tasks.statistics``, by its method ``of``.

    The parameters are those of :func:`statistic_of`.
    """
    test_of = check_statistic(test_class, len(column_names), options, method="of")

    def make_test(trials: Columns, questions: IntArray) -> InvertedTest:
        keep, complete = _complete_trials(trials, column_names)
        test: InvertedTest = test_of(*complete, questions=questions[keep], **options)
        return test

    return StatisticCall(column_names, make_test)


def _complete_trials(trials: Columns, column_names: Sequence[str]) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Return the mask of trials that have a value in every column, and these columns of the selected trials."""
    keep = np.logical_and.reduce([~np.isnan(trials[key]) for key in column_names])
    return keep, [trials[key][keep] for key in column_names]


def _select_weights(weights: FloatArray, keep: NDArray[Any]) -> FloatArray:
    """Return the weights of the selected trials, without a copy if all trials are selected."""
    if keep.all():
        return weights
    shared = getattr(weights, "weighting", None)
    return shared.kept(keep) if shared else weights[..., keep]


def proportion_of(condition: Callable[[Columns], NDArray[Any]]) -> Compute:
    """Make ``Measure.compute`` of a proportion: the mean of what ``condition(columns)`` returns for each trial.

    ``condition`` returns booleans or numbers. Trials for which it returns NaN are left out.
    """

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        values = np.asarray(condition(trials), dtype=np.float64)
        keep = ~np.isnan(values)
        weighting = Weighting.of(None if weights is None else _select_weights(weights, keep), int(keep.sum()))
        value = weighting.mean(values[keep])
        return value if weighting.batch else float(value[0])

    return compute


def mean_of(column: str) -> Compute:
    """Make ``Measure.compute`` of the mean of a column. Trials where it is NaN are left out."""
    return StatisticCall((column,), proportion_of(lambda trials: trials[column]))


def rows_of(trials: Columns, rows: Any) -> dict[str, NDArray[Any]]:
    """Return the columns of some trials, which are given by their positions or by a mask."""
    return {key: column[rows] for key, column in trials.items()}


def restrict_to(condition: Callable[[Columns], NDArray[Any]], compute: Compute) -> Compute:
    """Restrict a computation to the trials for which ``condition(columns)`` is true."""

    def restricted(trials: Columns, weights: FloatArray | None = None) -> Any:
        keep = condition(trials)
        return compute(rows_of(trials, keep), None if weights is None else weights[..., keep])

    return restricted


def undefined(weights: FloatArray | None) -> Value:
    """Return NaN, or an array with NaN for every row of weights."""
    return math.nan if weights is None else np.full(weights.shape[:-1], np.nan)[()]


def not_resampled(compute: Callable[[Columns], float]) -> Compute:
    """Make ``Measure.compute`` of a number that is not computed for resamples, so that it has no interval."""

    def value(trials: Columns, weights: FloatArray | None = None) -> Value:
        return compute(trials) if weights is None else undefined(weights)

    return value


def smallest_set(*sets: Callable[[Columns], NDArray[Any]], enough: int = 5) -> InformativeOf:
    """Make ``Measure.informative`` of a measure that compares sets of trials: the questions of the smallest set.

    A set is a function from columns to the mask of its trials, see :func:`where`. The measure has an interval if the
    smallest set has ``enough`` questions.

    Examples
    --------
    >>> import numpy as np
    >>> trials = {"correct": np.array([1.0, 0.0, 0.0]), "question_id": np.array(["a", "b", "b"])}
    >>> smallest_set(where("correct", 1.0), where("correct", 0.0))(trials).count
    1.0
    """

    def informative(trials: Columns) -> Informative:
        return Informative.smallest(trials, [members(trials) for members in sets], 5.0 / enough)

    return informative


def proportion_measure(
    name: str, compute: Compute | str, description: str, better: Better = "neither"
) -> Measure:
    """Make the measure of a proportion. ``compute`` may be the name of a column that is 0, 1 or NaN."""
    compute = mean_of(compute) if isinstance(compute, str) else compute
    return Measure(name, compute, description, better, interval="wilson")


def mean_measure(
    name: str, compute: Compute | str, description: str, better: Better = "neither", *, bounds: Bounds = ANY
) -> Measure:
    """Make the measure of a mean over trials. ``compute`` may be the name of a column."""
    compute = mean_of(compute) if isinstance(compute, str) else compute
    return Measure(name, compute, description, better, interval="student", is_mean=True, bounds=bounds)


def count_measure(
    name: str, condition: Callable[[Columns], NDArray[Any]], description: str, better: Better = "neither"
) -> Measure:
    """Make the measure of the number of trials for which ``condition(columns)`` is true."""

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        counted = condition(trials).astype(float)
        return float(counted.sum()) if weights is None else weights @ counted

    return Measure(name, compute, description, better, is_count=True)


MIN_QUESTIONS_OF_MEAN = 2
"""Minimum number of right and of wrong answers for an interval of overconfidence, which itself adds two of each."""


def where(column: str, value: float, *present: str) -> Callable[[Columns], NDArray[Any]]:
    """Make the function that selects the trials with a value in a column, and any number in the columns ``present``."""

    def members(trials: Columns) -> NDArray[Any]:
        not_missing = [~np.isnan(trials[key]) for key in present]
        return np.asarray(np.logical_and.reduce([trials[column] == value, *not_missing]))

    return members


def right_and_wrong(
    correct: str = "correct", confidence: str = "confidence"
) -> tuple[Callable[[Columns], NDArray[Any]], Callable[[Columns], NDArray[Any]]]:
    """Make the functions that select the right and the wrong answers with a confidence."""
    return where(correct, 1.0, confidence), where(correct, 0.0, confidence)


def auroc(name: str, description: str, correct: str = "correct", confidence: str = "confidence") -> Measure:
    """Make the measure of the area under the type-2 ROC curve of the trials that have both columns."""
    return Measure(
        name,
        statistic_of(discrimination.auroc2, correct, confidence),
        description,
        "higher",
        interval="transformed",
        bounds=(0.0, 1.0),
        informative=smallest_set(*right_and_wrong(correct, confidence)),
        influence=influence_of(discrimination.auroc2_influence, correct, confidence),
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
    """Make the measure of an expected calibration error of the trials that have both columns.

    If ``graded``, ``correct`` holds probabilities of being right; otherwise an interval needs five right and five wrong
    answers. ``options`` are those of :func:`confidence_tasks.statistics.ece`, such as the number of bins.
    """
    return Measure(
        name,
        statistic_of(calibration.ece, correct, confidence, **options),
        description,
        "lower",
        informative=None if graded else smallest_set(*right_and_wrong(correct, confidence)),
        test_inversion=inverted_test_of(calibration.BinnedTrials, correct, confidence, **options),
    )


def overconfidence(
    name: str, description: str, correct: str = "correct", confidence: str = "confidence"
) -> Measure:
    """Make the measure of mean confidence minus accuracy of the trials that have both columns."""
    return Measure(
        name,
        statistic_of(calibration.overconfidence, correct, confidence),
        description,
        interval="student",
        is_mean=True,
        informative=smallest_set(*right_and_wrong(correct, confidence), enough=MIN_QUESTIONS_OF_MEAN),
    )


def _has_status(*statuses: str) -> Callable[[Columns], NDArray[Any]]:
    def members(trials: Columns) -> NDArray[Any]:
        return np.asarray([status in statuses for status in trials["status"]], dtype=np.bool_)

    return members


unfinished: Callable[[Columns], NDArray[Any]] = _has_status(*UNFINISHED)
"""Function that returns which trials have a reply that the model did not finish."""


def _wrong_if_missing(trials: Columns) -> NDArray[Any]:
    """Return correctness: 0 for a reply without an answer, NaN for an unfinished reply or a question without a key."""
    missing = _has_status("missing_answer", "unreadable", "refused")(trials)
    return np.where(missing & np.isnan(trials["correct"]), 0.0, trials["correct"])


ACCURACY = proportion_measure(
    "accuracy",
    "correct",
    "Mean correctness of the answers given; replies without an answer are left out.",
    "higher",
)
ACCURACY_OF_ALL = proportion_measure(
    "accuracy_of_all",
    proportion_of(_wrong_if_missing),
    "The same where a reply without an answer is wrong. Replies that were cut off, filtered or hold only reasoning are "
    "left out.",
    "higher",
)
PARSE_RATE = proportion_measure(
    "parse_rate",
    proportion_of(_has_status(*READABLE)),
    "Share of replies with a readable answer and a confidence within what was asked.",
    "higher",
)
PARSE_RATE_STRICT = proportion_measure(
    "parse_rate_strict",
    proportion_of(_has_status("ok")),
    "Share of replies that keep to the letter of the format.",
    "higher",
)
CONFIDENCE = mean_measure(
    "confidence", "confidence", "Mean confidence of the replies that state one.", bounds=UNIT
)


def select_measures(measures: Sequence[Measure], names: Sequence[str] | None) -> list[Measure]:
    """Return the measures that have one of the names, in the order of the names; all measures if ``names`` is None.

    A measure whose name ends in a group, such as ``coverage/p=0.9``, is selected by the part before the slash.

    Examples
    --------
    >>> [measure.name for measure in select_measures([ACCURACY, CONFIDENCE], ["confidence", "ece"])]
    ['confidence']
    """
    if names is None:
        return list(measures)
    position = {name: i for i, name in enumerate(names)}
    selected = [measure for measure in measures if measure.name.partition("/")[0] in position]
    return sorted(selected, key=lambda measure: position[measure.name.partition("/")[0]])


def values_of(trials: Sequence[Mapping[str, Any]], measures: Sequence[Measure]) -> dict[str, float]:
    """Return every measure, by name, of all trials together; NaN if there are no trials."""
    table = columns(trials)
    return {measure.name: float(measure.compute(table, None)) if trials else math.nan for measure in measures}


def summarise(
    trials: Sequence[Mapping[str, Any]],
    measures: Sequence[Measure],
    conditions: Sequence[str],
) -> dict[str, float]:
    """Return every measure in every condition, keyed ``measure/condition``, in the order given.

    If a condition has trials of several sources, its value is the mean over the sources, as the papers pool their data
    sets, or the sum of numbers of trials. A condition without trials has NaN.
    """
    cells: dict[str, dict[str, list[Mapping[str, Any]]]] = {condition: {} for condition in conditions}
    for trial in trials:
        cells[trial["condition"]].setdefault(trial["source"], []).append(trial)
    tables = {
        condition: [columns(cell) for cell in by_source.values()] for condition, by_source in cells.items()
    }
    metrics = {}
    for measure in measures:
        for condition, cell_tables in tables.items():
            values = [float(measure.compute(table, None)) for table in cell_tables]
            divisor = 1 if measure.is_count else len(values)
            metrics[f"{measure.name}/{condition}"] = sum(values) / divisor if values else math.nan
    return metrics
