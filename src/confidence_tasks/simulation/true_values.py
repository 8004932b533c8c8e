"""What a simulated subject's measures are in the long run: its replies, weighted by their probabilities.

A study's ``true_values(subject, condition, task, parameters)`` goes through every reply that the subject can give under
a condition and evaluates the study's measures on them. What a subject draws from a continuum is averaged over points
that fill it evenly (Roberts' R sequence), so that the numbers depend on no seed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from confidence_tasks.simulation.subject import Subject
from confidence_tasks.study.measures import Measure, columns

if TYPE_CHECKING:
    from confidence_tasks.study.measures import Columns

_NORMAL = NormalDist()

_POINTS = 10_000

TRIALS = 1e9
"""How many trials the long run is, for measures that are corrected for their number."""


def even_points(dimensions: int, n: int = _POINTS) -> Iterator[tuple[float, ...]]:
    """Yield points that fill the open unit cube evenly.

    Examples
    --------
    >>> [round(u, 3) for (u,) in even_points(1, 4)]
    [0.118, 0.736, 0.354, 0.972]
    """
    ratio = 2.0
    for _ in range(64):  # the root of x^(d + 1) = x + 1
        ratio = (1.0 + ratio) ** (1.0 / (dimensions + 1))
    steps = [ratio ** -(j + 1) for j in range(dimensions)]
    for i in range(1, n + 1):
        yield tuple((0.5 + i * step) % 1.0 or 0.5 for step in steps)


def decisions(subject: Subject, condition: str) -> Iterator[tuple[bool, float, float]]:
    """Yield outcome, confidence and probability of what a subject decides under a condition, over all questions."""
    for evidence, noise, difficulty in even_points(3):
        accuracy = subject.accuracy_at(_NORMAL.inv_cdf(difficulty))
        shift = subject.noise * _NORMAL.inv_cdf(noise)
        for correct, chance in ((True, accuracy), (False, 1.0 - accuracy)):
            confidence = subject.confidence_at(
                evidence, condition, correct=correct, accuracy=accuracy, shift=shift
            )
            yield correct, confidence, chance / _POINTS


def sloppily(reply: str, strayed: Sequence[str], subject: Subject) -> list[tuple[str, float]]:
    """Return a reply in format and those of a sloppy subject, each with its probability."""
    share = subject.sloppiness / len(strayed)
    ways = [(reply, 1.0 - subject.sloppiness), *((text, share) for text in strayed)]
    return [(text, probability) for text, probability in ways if probability]


def long_run(
    measures: Iterable[Measure], trials: Iterable[tuple[Mapping[str, Any], float]]
) -> dict[str, float]:
    """Evaluate measures, by name, on the trials that can be, weighted by their probabilities.

    Numbers of trials are left out, as are measures that are not defined.
    """
    import numpy as np

    rows, weights = zip(*trials, strict=True)
    return of_columns(
        measures,
        columns([{**row, "question_id": str(i)} for i, row in enumerate(rows)]),
        np.array(weights),
    )


def of_columns(measures: Iterable[Measure], trials: Columns, probabilities: Any) -> dict[str, float]:
    """Evaluate measures on columns of trials that are weighted by their probabilities, as :func:`long_run`."""
    values = {
        measure.name: float(measure.compute(trials, TRIALS * probabilities))
        for measure in measures
        if not measure.is_count
    }
    return {name: value for name, value in values.items() if not math.isnan(value)}
