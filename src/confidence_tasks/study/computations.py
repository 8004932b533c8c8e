"""Functions that make ``Measure.compute``, and the functions of its inference, from statistics and columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.statistics.core import FloatArray, IntArray, Reason
from confidence_tasks.statistics.inference.limits import InvertedTest
from confidence_tasks.statistics.inference.weights import Weighting
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.inference import Columns, Compute, Incomparable, Influence, InvertedTestOf, Value
from confidence_tasks.study.statistic import Statistic, check_statistic
from confidence_tasks.study.units import units_of


@dataclass(frozen=True, slots=True)
class StatisticCall:
    """A function of trials that declares which columns it reads, so that a study can check their names.

    Attributes
    ----------
    columns : tuple of str
        Columns that the function passes to a statistic. The condition of a restriction may read others.
    run : callable
        The function.
    unrestricted : callable, optional
        The function that this one calls on some of the trials.
    """

    columns: tuple[str, ...]
    run: Callable[..., Any]
    unrestricted: Compute | None = None

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
    >>> from confidence_tasks.study.columns import columns
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
        return weighting.settle(weighting.mean(values[keep]))

    return compute


def mean_of(column: str) -> Compute:
    """Make ``Measure.compute`` of the mean of a column. Trials where it is NaN are left out."""
    return StatisticCall((column,), proportion_of(lambda trials: trials[column]))


def restrict_to(condition: Callable[[Columns], NDArray[Any]], compute: Compute) -> Compute:
    """Restrict a computation to the trials for which ``condition(columns)`` is true."""

    def restricted(trials: Columns, weights: FloatArray | None = None) -> Any:
        keep = condition(trials)
        return compute(rows_of(trials, keep), None if weights is None else weights[..., keep])

    columns = compute.columns if isinstance(compute, StatisticCall) else ()
    return StatisticCall(columns, restricted, unrestricted=compute)


def nan_for(weights: FloatArray | None) -> Value:
    """Return NaN, or an array with NaN for every row of weights."""
    return math.nan if weights is None else np.full(weights.shape[:-1], np.nan)[()]


def not_resampled(compute: Callable[[Columns], float]) -> Compute:
    """Make ``Measure.compute`` of a number that is not computed for resamples, so that it has no interval."""

    def value(trials: Columns, weights: FloatArray | None = None) -> Value:
        return compute(trials) if weights is None else nan_for(weights)

    return value
