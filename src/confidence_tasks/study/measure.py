"""A measure: a number computed from trials, for the metrics of both harnesses and for all reports.

A measure computes one number from the columns of some trials. For intervals it also takes weights of shape
(resamples, n), and returns one number per resample. A measure selects the trials that it can use: a trial that lacks an
answer or a confidence is left out or counted by the measure itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from confidence_tasks.study.computations import StatisticCall
from confidence_tasks.study.inference import Compute, Inference, Percentile
from confidence_tasks.study.moved_inference import moved_attribute, with_inference

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
