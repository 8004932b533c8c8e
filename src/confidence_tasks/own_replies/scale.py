"""The unit of the confidences in a file: percentages or fractions, decided over all replies or cells."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from confidence_tasks.reading.confidence import ConfidenceReader, Direction
from confidence_tasks.reading.confidence_scale import AUTO, ConfidenceScale, parse_scale
from confidence_tasks.statistics.core import FloatArray

FEW = 0.02
"""Share of numbers in another unit that are missing instead of a reason to ask."""

_FIX = "say which with --scale 0-1 or --scale 0-100, or convert one of them"


class NumbersError(ValueError):
    """Numbers of which the unit is not known; the message says what to do."""


def file_reader(reader: ConfidenceReader, replies: Sequence[str]) -> tuple[ConfidenceReader, str]:
    """Return the reader with the scale of a file's numbers, and a sentence on it; the same if a scale is given.

    Raises
    ------
    NumbersError
        If numbers without a percent sign are fractions in some replies and above 1 in others.
    """
    if reader.scale.name != AUTO:
        return reader, f"scale: {reader.scale.name}"
    units = Counter(reader.read(reply).unit for reply in replies)
    if not units["probability"] and not units["percent"]:
        return reader, ""
    candidates = [replace(reader, scale=parse_scale(name)) for name in ("0-1", "0-100")]
    fractions, percentages = (_numbers_in(each, replies) for each in candidates)
    lost = [
        int(np.sum(np.isnan(fractions) & ~np.isnan(percentages))),
        int(np.sum(np.isnan(percentages) & ~np.isnan(fractions))),
    ]
    if max(lost) == 0 and units["percent"]:  # each number shows its unit
        return reader, ""
    return _chosen(candidates, lost, fractions, percentages)


def _chosen(
    candidates: Sequence[ConfidenceReader],
    lost: Sequence[int],
    fractions: FloatArray,
    percentages: FloatArray,
) -> tuple[ConfidenceReader, str]:
    """Return the reader that loses fewer numbers, and a sentence on it."""
    if min(lost) > FEW * int(np.sum(~np.isnan(fractions) | ~np.isnan(percentages))):
        raise NumbersError(
            f"{lost[1]} replies state fractions and {lost[0]} percentages without a sign: {_FIX}"
        )
    if lost[1] < lost[0]:
        _refuse_small(percentages[np.isnan(fractions)])
    chosen = candidates[lost.index(min(lost))]
    left = f"; {min(lost)} in another unit are missing" if min(lost) > 0 else ""
    return chosen, f"scale: {chosen.scale.name}, by the numbers in the replies{left}"


def _numbers_in(reader: ConfidenceReader, replies: Sequence[str]) -> FloatArray:
    return np.array([_number_in(reader, reply) for reply in replies])


def _number_in(reader: ConfidenceReader, reply: str) -> float:
    """Return the number that a reply states as a probability or a percentage, as written; NaN for any other."""
    read = reader.read(reply)
    return read.raw if read.unit in ("probability", "percent") else math.nan


LARGEST_OF_SMALL = 10.0
"""Largest number of a scale such as 1-5 or 0-10. Percentages without a sign are ambiguous if all are so small."""


def _refuse_small(bare: FloatArray) -> None:
    """Raise NumbersError if all numbers without a percent sign could be on a scale such as 1-5 or 0-10.

    NaN stands for replies without a number; there is at least one number.
    """
    largest = float(np.nanmax(bare))
    if largest <= LARGEST_OF_SMALL:
        raise NumbersError(
            f"replies state numbers up to {largest:g} without a percent sign: give their scale, such as --scale 1-5,"
            " --scale 0-10 or --scale 0-100"
        )


def read_numbers(
    cells: Sequence[Any], name: str, scale: str, direction: Direction, *, is_score: bool
) -> tuple[list[float], str]:
    """Return the confidences in a column, from 0 to 1 unless they are scores, and a sentence on their unit.

    Raises
    ------
    NumbersError
        If the numbers are outside 0 to 100, or percentages stand beside fractions.
    """
    if is_score:
        return [_plain_number(cell, name) for cell in cells], f"{name}: scores of any range"
    scale = scale or _scale_of([x for x in map(_number, cells) if not math.isnan(x)], name)
    on = parse_scale(scale)
    values = [_on_scale(cell, on) for cell in cells]
    if direction == "uncertainty":
        values = [1.0 - value for value in values]
    return values, _sentence(cells, values, name, scale)


def _sentence(cells: Sequence[Any], values: Sequence[float], name: str, scale: str) -> str:
    """Return how many cells were read; NumbersError if none was."""
    present = [cell for cell in cells if cell is not None]
    n_missing = len(present) - sum(not math.isnan(value) for value in values)
    if present and n_missing == len(present):
        raise NumbersError(
            f"no value of the column {name} can be read on the scale {scale}, such as {str(present[0])[:40]!r}:"
            f" {_other_scale(present)}"
        )
    left = f"; {n_missing} of {len(present)} values cannot be read" if n_missing else ""
    return f"{name}: scale {scale}{left}"


def _other_scale(cells: Sequence[Any]) -> str:
    """Return which scale reads the cells, or how to give one."""
    for name in ("levels", "words", "likert-5", "E-A"):
        scale = parse_scale(name)
        if all(scale.read(str(cell)).reason == "" for cell in cells):
            return f"give their scale, --scale {name}"
    words = list(dict.fromkeys(str(cell)[:20] for cell in cells))[:5]
    return (
        "give the range of numbers, such as --scale 1-5, or the words in order, the least sure first, such as"
        f" --scale 'unsure<sure'; there are {', '.join(map(repr, words))}"
    )


def _scale_of(numbers: Sequence[float], name: str) -> str:
    if not numbers:
        return AUTO
    if min(numbers) < 0.0 or max(numbers) > 100.0:
        whole = "-1-1" if min(numbers) >= -1.0 and max(numbers) <= 1.0 else "0-1000"
        raise NumbersError(
            f"the column {name} has numbers from {min(numbers):g} to {max(numbers):g}: give their range, such as"
            f" --scale {whole}; or --kind score (high is sure) or --kind uncertainty if they are no probabilities"
        )
    if max(numbers) <= 1.0:
        return "0-1"
    fractions = sum(0.0 < number < 1.0 for number in numbers)
    if fractions > FEW * len(numbers):
        raise NumbersError(f"the column {name} has {fractions} fractions beside percentages: {_FIX}")
    if max(numbers) <= LARGEST_OF_SMALL:
        raise NumbersError(
            f"the column {name} has numbers from {min(numbers):g} to {max(numbers):g}: give their scale, such as"
            f" --scale {min(numbers):g}-{max(numbers):g} or 0-100"
        )
    return "0-100"


def _on_scale(cell: Any, scale: ConfidenceScale) -> float:
    """Return the value of a cell from 0 to 1. A number is on the scale; a text may have a percent sign or words."""
    number = _number(cell)
    if math.isnan(number) or math.isnan(scale.low):
        return scale.read("" if cell is None else str(cell)).value
    value = _rounded((number - scale.low) / (scale.high - scale.low))
    return value if 0.0 <= value <= 1.0 else math.nan


def _rounded(number: float) -> float:
    """Return 0 or 1 for a number beyond it by the rounding error of 32 bits."""
    nearest = min(max(number, 0.0), 1.0)
    return nearest if abs(number - nearest) <= 5e-7 else number


def _number(cell: Any) -> float:
    """Return a number without a percent sign; NaN for any other cell."""
    try:
        return _rounded(float(cell)) if not isinstance(cell, bool) and cell is not None else math.nan
    except (TypeError, ValueError):
        return math.nan


def _plain_number(cell: Any, name: str) -> float:
    value = _number(cell)
    if (
        math.isnan(value)
        and cell is not None
        and str(cell).strip().casefold() not in ("nan", "none", "null", "")
    ):
        raise NumbersError(f"the column {name} has {str(cell)[:40]!r}, which is no number")
    return float(cell) if not math.isnan(value) else math.nan
