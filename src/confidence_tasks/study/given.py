"""Columns of trials that a user gives as arrays or as columns of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from confidence_tasks.statistics.core import (
    FloatArray,
    as_floats,
    masked_as_nan,
    unmasked,
    without_rounding_errors,
)
from confidence_tasks.study.parameter import did_you_mean


def _numbers(values: ArrayLike, name: str, text_hint: str, number_hint: str) -> FloatArray:
    """Return a column of numbers in [0, 1], NaN where one is missing.

    ValueError for other values; the message ends in a hint for texts or for numbers.
    """
    if isinstance(values, pd.Series) and isinstance(values.dtype, pd.Float32Dtype):
        values = values.to_numpy(np.float32, na_value=np.nan)
    array = np.asarray(masked_as_nan(values))
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}: give one number per trial")
    if array.dtype.kind in "OUST":
        for value in array.tolist():
            if isinstance(value, str | bytes):
                raise ValueError(f"{name} holds the text {value!r}: {text_hint}")
    try:
        numbers = pd.to_numeric(pd.Series(array), errors="raise").to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} holds a value that is not a number: {number_hint}") from error
    if array.dtype.kind == "f":
        numbers = as_floats(array, name)
    numbers = without_rounding_errors(numbers, array.dtype)
    with np.errstate(invalid="ignore"):
        outside = np.flatnonzero((numbers < 0.0) | (numbers > 1.0))
    if len(outside):
        trial = outside[0]
        raise ValueError(
            f"{name} must lie in [0, 1], but trial {trial} has {numbers[trial]:.9g}: {number_hint}"
        )
    return numbers


def answer_columns(correct: Any, confidence: Any) -> tuple[FloatArray, FloatArray]:
    """Return both columns as numbers; ValueError if their lengths differ, or they seem to be swapped."""
    outcome_hint = "give 1 for right, 0 for wrong and NaN for neither, such as `answers == key`"
    right = _numbers(correct, "correct", outcome_hint, outcome_hint)
    stated = _numbers(
        confidence,
        "confidence",
        "give numbers in [0, 1], such as by `float(text)`, and NaN where none was stated",
        "divide percentages by 100, and take `numpy.exp` of log-probabilities",
    )
    if len(right) != len(stated):
        raise ValueError(
            f"correct has {len(right)} values and confidence {len(stated)}: give one of each per trial, NaN where it is"
            " missing"
        )
    if np.asarray(confidence).dtype == bool and ((right > 0.0) & (right < 1.0)).any():
        raise ValueError("confidence holds True and False, and correct holds fractions: give correct first")
    return right, stated


def label_column(values: Any, name: str, n: int) -> NDArray[Any]:
    """Return the labels of ``n`` trials as texts; ValueError if one is missing."""
    labels = pd.Series(np.asarray(unmasked(values, name)).ravel())
    if len(labels) != n:
        raise ValueError(f"{name} has {len(labels)} values for {n} trials: give one per trial")
    if labels.isna().any():
        trial = int(labels.isna().argmax())
        raise ValueError(f"{name} lacks a value at trial {trial}: drop such trials or give them a label")
    return labels.map(str).to_numpy(dtype=object)


def named_column(table: pd.DataFrame, given: Any, argument: str) -> Any:
    """Return a column of a table by its name, or values as they are; ValueError lists the columns."""
    if np.ndim(given):
        return given
    if given not in table:
        names = [str(name) for name in table.columns]
        others = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        raise ValueError(
            f"{argument}={given!r} is not a column; there are {others}: name one, with the table as data="
            f"{did_you_mean(str(given), names)}"
            if names
            else f"{argument}={given!r}: give one value per trial, or the table that has this column as data="
        )
    return table[given]
