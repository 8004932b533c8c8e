"""Measures: numbers computed from trials, for the metrics of both harnesses and for all reports.

A measure computes one number from the columns of some trials. For intervals it also takes weights of shape
(resamples, n), and returns one number per resample. A measure selects the trials that it can use: a trial that lacks an
answer or a confidence is left out or counted by the measure itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.statistics import calibration, discrimination
from confidence_tasks.statistics.core import FloatArray, IntArray, Reason
from confidence_tasks.statistics.inference.limits import InvertedTest
from confidence_tasks.statistics.inference.weights import Weighting
from confidence_tasks.study.inference import ANY as ANY
from confidence_tasks.study.inference import UNIT as UNIT
from confidence_tasks.study.inference import (
    Bounded,
    Count,
    Incomparable,
    Inference,
    Inverted,
    InvertedTestOf,
    Mean,
    Percentile,
    Proportion,
)
from confidence_tasks.study.inference import Bounds as Bounds
from confidence_tasks.study.inference import Columns as Columns
from confidence_tasks.study.inference import Compute as Compute
from confidence_tasks.study.inference import Influence as Influence
from confidence_tasks.study.inference import Informative as Informative
from confidence_tasks.study.inference import InformativeOf as InformativeOf
from confidence_tasks.study.inference import Posterior as Posterior
from confidence_tasks.study.inference import Value as Value
from confidence_tasks.study.moved_inference import moved_attribute, with_inference
from confidence_tasks.study.statistic import Statistic, check_statistic
from confidence_tasks.study.trial import READABLE, UNFINISHED
from confidence_tasks.study.units import units_of

Better: TypeAlias = Literal["higher", "lower", "neither"]


class _TakesOldArguments(type):
    """Lets a measure of version 0.1 load: the fields that are its inference now are put there, with a warning."""

    def __call__(cls, *args: Any, **arguments: Any) -> Any:
        positional, named = with_inference(args, arguments)
        return super().__call__(*positional, **named)


@dataclass(frozen=True, slots=True)
class Measure(metaclass=_TakesOldArguments):
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
    inference : Inference
        How the interval is found and how differences are tested: one of the classes of
        :mod:`confidence_tasks.study.inference`, such as ``Proportion()``, ``Mean()`` or ``Bounded(0.0, 1.0)``; by
        default the percentiles of resamples.
    fitted : bool
        Whether ``compute`` fits a model to the trials once and uses it for all rows of weights. The interval then holds
        for the model as fitted, and a permutation test is not possible.
    refitted : callable, optional
        ``compute`` of a ``fitted`` measure with a model fitted for each row of weights, which must be whole numbers. A
        permutation test uses it.
    """

    name: str
    compute: Compute
    description: str
    better: Better = "neither"
    inference: Inference = field(default_factory=Percentile)
    fitted: bool = False
    refitted: Compute | None = None

    if not TYPE_CHECKING:  # a type checker refuses names that do not exist

        def __getattr__(self, name: str) -> Any:
            """Return a field by its name in version 0.1, with a warning."""
            return moved_attribute(self, name)

    @property
    def exchangeable(self) -> Measure | None:
        """The measure as a permutation test uses it; None if no such test is possible."""
        if not self.fitted:
            return self
        return None if self.refitted is None else replace(self, compute=self.refitted, fitted=False)

    @property
    def columns(self) -> list[tuple[str, ...]]:
        """Columns that the measure passes to functions of ``confidence_tasks.statistics``, one tuple per function."""
        return [
            value.columns
            for record in (self, self.inference)
            for value in (getattr(record, each.name) for each in fields(record))
            if isinstance(value, StatisticCall)
        ]


def columns(trials: Sequence[Mapping[str, Any]]) -> Columns:
    """Return one NumPy array per column of the first trial: float64 for numbers, object for texts.

    Other trials may lack a text, such as the rules of a reply; it is then empty.

    Examples
    --------
    >>> columns([{"correct": 1.0, "status": "ok"}])["correct"]
    array([1.])
    """
    if not trials:
        return {}
    return {
        key: np.array([trial.get(key, "") for trial in trials], dtype=object)
        if isinstance(value, str)
        else np.asarray([trial[key] for trial in trials], dtype=np.float64)
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
    by_unit: bool = False,
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
    by_unit : bool
        Whether the function takes ``questions``: the question of each trial, or its cluster.
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
        fixed: dict[str, Any] = {key: float(trials[key][0]) for key in constants}
        if by_unit and "question_id" in trials:
            fixed["questions"] = units_of(trials)[keep]
        value: Value = statistic(*complete, weights=kept_weights, **fixed, **options)
        return value

    return StatisticCall((*column_names, *constants), compute)


def influence_of(function: Statistic | str, *column_names: str, **options: Any) -> Influence:
    """Make ``influence`` of an inference from a function of ``confidence_tasks.statistics``.

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
    """Make ``incomparable`` of an inference from a function of ``confidence_tasks.statistics``.

    The parameters are those of :func:`statistic_of`.
    """
    statistic = check_statistic(function, len(column_names), options)

    def incomparable(trials: Columns, weights: FloatArray) -> Reason | None:
        keep, complete = _complete_trials(trials, column_names)
        reason: Reason | None = statistic(*complete, weights=weights[keep], **options)
        return reason

    return StatisticCall(column_names, incomparable)


def inverted_test_of(test_class: type | str, *column_names: str, **options: Any) -> InvertedTestOf:
    """Make ``test_of`` of ``Inverted`` from a class of ``confidence_tasks.statistics``, by its method ``of``.

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
    """Make ``informative`` of a measure that compares sets of trials: the questions of the smallest set.

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
    return Measure(name, compute, description, better, inference=Proportion())


def mean_measure(
    name: str, compute: Compute | str, description: str, better: Better = "neither", *, bounds: Bounds = ANY
) -> Measure:
    """Make the measure of a mean over trials. ``compute`` may be the name of a column."""
    compute = mean_of(compute) if isinstance(compute, str) else compute
    return Measure(
        name,
        compute,
        description,
        better,
        inference=Mean(*bounds),
    )


def count_measure(
    name: str, condition: Callable[[Columns], NDArray[Any]], description: str, better: Better = "neither"
) -> Measure:
    """Make the measure of the number of trials for which ``condition(columns)`` is true."""

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        counted = condition(trials).astype(float)
        return float(counted.sum()) if weights is None else weights @ counted

    return Measure(name, compute, description, better, inference=Count())


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
        inference=Bounded(
            0.0,
            1.0,
            informative=smallest_set(*right_and_wrong(correct, confidence)),
            influence=influence_of(discrimination.auroc2_influence, correct, confidence),
        ),
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
        inference=Inverted(
            inverted_test_of(calibration.BinnedTrials, correct, confidence, **options),
            informative=None if graded else smallest_set(*right_and_wrong(correct, confidence)),
        ),
    )


def overconfidence(
    name: str, description: str, correct: str = "correct", confidence: str = "confidence"
) -> Measure:
    """Make the measure of mean confidence minus accuracy of the trials that have both columns."""
    return Measure(
        name,
        statistic_of(calibration.overconfidence, correct, confidence),
        description,
        inference=Mean(
            -1.0,
            1.0,
            informative=smallest_set(*right_and_wrong(correct, confidence), enough=MIN_QUESTIONS_OF_MEAN),
        ),
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
            divisor = 1 if measure.inference.is_count else len(values)
            metrics[f"{measure.name}/{condition}"] = sum(values) / divisor if values else math.nan
    return metrics
