"""Recalibration maps: what a stated confidence means, as a table in plain JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.calibration.recalibration import FITS, RecalibrationMethod, upper_edges
from confidence_tasks.statistics.core import (
    FloatArray,
    as_binary,
    as_floats,
    as_probability,
    check_option,
    label_index,
    same_length,
)

FEWEST_QUESTIONS = 100
FEWEST_ANSWERS = 10
"""Smallest numbers of questions, and of right and of wrong answers, that a map is fitted to."""

_MOST_BYTES = 1 << 20
_MOST_KNOTS = 10_000
_GRID = 0.0025
"""Distance of the knots of a smooth curve: linear interpolation between them is exact to three digits or more."""

_FORMAT = "confidence_tasks recalibration map 1"


@dataclass(frozen=True, slots=True)
class Recalibration:
    """A map from stated confidence to the probability of being right.

    Attributes
    ----------
    confidence, probability : tuple of float, shape (k,)
        Knots, in increasing order of confidence; all numbers lie in [0, 1].
    method : str
        How the map was fitted.
    n_questions, n_wrong : int
        Number of questions and of wrong answers that it was fitted to.
    made_from : str
        Whose answers these were; free text.
    """

    confidence: tuple[float, ...]
    probability: tuple[float, ...]
    method: RecalibrationMethod
    n_questions: int
    n_wrong: int
    made_from: str = ""

    def __post_init__(self) -> None:
        check_option("method", self.method, FITS)
        if not 1 <= len(self.confidence) == len(self.probability) <= _MOST_KNOTS:
            raise ValueError(f"a map has from 1 to {_MOST_KNOTS:,} knots, and as many probabilities")
        stated = as_probability(self.confidence, "confidence")
        as_probability(self.probability, "probability")
        if not (np.diff(stated) > 0.0).all():
            raise ValueError("confidence must increase from knot to knot")

    def __call__(self, confidence: ArrayLike) -> FloatArray:
        """Return the probability of being right at each confidence.

        NaN below the first and above the last knot: a map does not extrapolate. Between knots it is interpolated
        linearly; the map of a histogram is constant from above one knot up to and including the next.
        """
        stated = as_floats(confidence, "confidence")
        knots, values = np.array(self.confidence), np.array(self.probability)
        inside = (stated >= knots[0]) & (stated <= knots[-1])
        if self.method == "histogram":
            found = values[np.minimum(np.searchsorted(knots, stated), len(knots) - 1)]
        else:
            found = np.interp(stated, knots, values)
        return np.where(inside, found, np.nan)

    def to_json(self) -> str:
        """Return the map as JSON."""
        return json.dumps({"format": _FORMAT, **asdict(self)}, indent=1, allow_nan=False) + "\n"

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a map from a file that holds the text of :meth:`to_json`.

        Raises
        ------
        ValueError
            If the file is larger than 1 MiB, is not JSON, or is not a map: fields are missing, unknown or of another
            type, numbers are out of range, or confidences do not increase.
        """
        with Path(path).open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ValueError(f"{path} is larger than 1 MiB: it is no recalibration map")
        try:
            fields = _checked(json.loads(content))
            return cls(**{**fields, **{name: tuple(fields[name]) for name in ("confidence", "probability")}})
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{path} is no recalibration map ({str(error)[:200]}): write one with `confidence-tasks recalibrate"
                " LOGS -o map.json`"
            ) from None


def _is_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(type(each) in (int, float) for each in value)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


_FIELDS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "confidence": (_is_numbers, "a list of numbers"),
    "probability": (_is_numbers, "a list of numbers"),
    "method": (_is_text, "a text"),
    "n_questions": (_is_count, "a whole number from 0 up"),
    "n_wrong": (_is_count, "a whole number from 0 up"),
    "made_from": (_is_text, "a text"),
}
"""Fields of a map, and what each must be in a file."""


def _checked(record: Any) -> dict[str, Any]:
    """Return the fields of a map; ValueError if they are not exactly those of :class:`Recalibration`."""
    if not isinstance(record, dict) or record.pop("format", None) != _FORMAT:
        raise ValueError(f"its format is not {_FORMAT!r}")
    if record.keys() != _FIELDS.keys():
        raise ValueError(f"its fields are not {', '.join(_FIELDS)}")
    for name, (is_right, description) in _FIELDS.items():
        if not is_right(record[name]):
            raise ValueError(f"{name} is not {description}")
    return record


def fit_recalibration(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    method: RecalibrationMethod = "isotonic",
    clusters: ArrayLike | None = None,
    made_from: str = "",
    force: bool = False,
) -> Recalibration:
    """Fit a map from stated confidence to the probability of being right.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1 or 0.
    confidence : array_like, shape (n,)
        Confidence in [0, 1].
    method
        As in :func:`~confidence_tasks.statistics.calibration.cross_fitted_confidence`, which estimates how good the map
        is for other questions.
    clusters : array_like, shape (n,), optional
        Label of the question of each trial; by default every trial is a question of its own.
    made_from : str
        Whose answers these are; kept in the map.
    force : bool, default False
        Fit a map to fewer than 100 questions, or fewer than 10 right or 10 wrong answers, too.

    Returns
    -------
    Recalibration
        Defined between the lowest and the highest confidence of the trials.

    Raises
    ------
    ValueError
        If there are too few questions or answers, or none.

    References
    ----------
    Those of :func:`~confidence_tasks.statistics.calibration.cross_fitted_confidence`.

    Examples
    --------
    >>> confidence = np.repeat([0.6, 0.9], 100)
    >>> correct = np.r_[np.tile([1, 0], 50), np.tile([1, 1, 1, 0], 25)]
    >>> meaning = fit_recalibration(correct, confidence)
    >>> meaning([0.6, 0.75, 0.9, 0.99])
    array([0.5  , 0.625, 0.75 ,   nan])
    """
    right, stated = as_binary(correct, "correct"), as_probability(confidence, "confidence")
    n = same_length(correct=right, confidence=stated)
    check_option("method", method, FITS)
    n_questions, n_wrong = len(np.unique(label_index(clusters, "clusters", n))), int(n - right.sum())
    _check_enough(n_questions, n_wrong, n - n_wrong, force)
    knots = _knots(method, stated)
    values = np.clip(FITS[method](right, stated, knots), 0.0, 1.0)
    if method == "isotonic":
        knots, values = _turns(knots, values)
    return Recalibration(
        tuple(knots.tolist()), tuple(values.tolist()), method, n_questions, n_wrong, made_from
    )


def _turns(knots: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the knots without those within a flat step, which are not needed."""
    flat = np.diff(values) == 0.0
    kept = ~(np.append(False, flat) & np.append(flat, False))
    return knots[kept], values[kept]


def _check_enough(n_questions: int, n_wrong: int, n_right: int, force: bool) -> None:
    """Raise ValueError if there is too little to fit a map to."""
    too_few = n_questions < FEWEST_QUESTIONS or min(n_wrong, n_right) < FEWEST_ANSWERS
    if not n_questions or (too_few and not force):
        raise ValueError(
            f"{n_questions:,} questions with {n_right:,} right and {n_wrong:,} wrong answers are too few for a map: ask"
            f" {FEWEST_QUESTIONS} questions or more, with {FEWEST_ANSWERS} right and {FEWEST_ANSWERS} wrong answers or"
            " more, or force it"
        )


def _knots(method: RecalibrationMethod, stated: FloatArray) -> FloatArray:
    """Return the confidences at which a map is tabulated."""
    lowest, highest = float(stated.min()), float(stated.max())
    if method == "histogram":
        return np.unique(np.append(lowest, upper_edges(stated)))
    if method == "isotonic":
        distinct = np.unique(stated)
        step = math.ceil(len(distinct) / (_MOST_KNOTS - 1))
        return np.unique(np.append(distinct[::step], highest))
    inner = np.arange(math.floor(lowest / _GRID) + 1, math.ceil(highest / _GRID)) * _GRID
    return np.unique(np.concatenate([[lowest], inner, [highest]]))
