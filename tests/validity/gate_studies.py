"""Gates on values whose true mean is known, looked at after every reply; the draws share no code with the package."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tests.validity.decision_studies import Answers, population

from confidence_tasks.statistics.sequential import gate_test

Array = NDArray[np.float64]

SUBJECTS = ("typical", "rounder", "blind", "ideal")

BOUNDS = {"overconfidence": (-1.0, 1.0), "accuracy": (0.0, 1.0), "brier": (0.0, 1.0)}
"""Smallest and largest value of an answer, by measure."""

N_QUESTIONS = 1000

FIRST_LOOK = 30
"""Questions after which the first ordinary interval is looked at: with fewer, it may have no width."""


class Gates(NamedTuple):
    """What the gates of some studies found.

    ``above`` and ``below`` are the shares of studies with this decision. ``median`` and ``mean`` are the numbers of
    questions asked, of at most ``N_QUESTIONS``. ``peeking`` is the share in which an ordinary interval has at any time
    excluded the bound.
    """

    above: float
    below: float
    median: float
    mean: float
    peeking: float

    @property
    def decided(self) -> float:
        """Share of studies with a decision."""
        return self.above + self.below


def values_of(answers: Answers, measure: str) -> Array:
    """Return the values of answers, of which a measure is the mean."""
    gap = answers.confidence - answers.correct
    return {"overconfidence": gap, "accuracy": answers.correct, "brier": gap**2}[measure]


def gates(subject: str, measure: str, margin: float, n_studies: int) -> Gates:
    """Return what gates find whose bound is the true mean of a measure plus a margin."""
    values = values_of(population(subject), measure)
    rng = np.random.default_rng((SUBJECTS.index(subject), list(BOUNDS).index(measure)))
    bound = float(values.mean()) + margin
    return _found(lambda: rng.choice(values, N_QUESTIONS), bound, BOUNDS[measure], n_studies)


def differences(difference: float, disagreement: float, n_studies: int) -> Gates:
    """Return what gates find on the accuracy of two releases that disagree on a share of the questions."""
    rng = np.random.default_rng(7)
    better, worse = (disagreement + difference) / 2.0, (disagreement - difference) / 2.0
    chances = [worse, 1.0 - disagreement, better]
    return _found(lambda: rng.choice([-1.0, 0.0, 1.0], N_QUESTIONS, p=chances), 0.0, (-1.0, 1.0), n_studies)


def _found(draw: Callable[[], Array], bound: float, bounds: tuple[float, float], n_studies: int) -> Gates:
    studies = [_study(draw(), bound, bounds) for _ in range(n_studies)]
    above, below, asked, peeking = np.array(studies, dtype=np.float64).T
    means = (float(each.mean()) for each in (above, below, asked, peeking))
    share_above, share_below, mean, share_peeking = means
    return Gates(share_above, share_below, float(np.median(asked)), mean, share_peeking)


def _study(values: Array, bound: float, bounds: tuple[float, float]) -> tuple[bool, bool, int, bool]:
    """Return whether the gate decides above and below, the questions asked, and whether an interval excludes it."""
    test = gate_test(values, bound, bounds=bounds)
    return (
        test.decision == "above",
        test.decision == "below",
        test.n_decided or len(values),
        bool(excluded(values, bound).any()),
    )


def excluded(values: Array, bound: float) -> NDArray[np.bool_]:
    """Return after which questions, from ``FIRST_LOOK`` on, an ordinary 95% interval excludes the bound."""
    n = np.arange(1, len(values) + 1)
    mean = values.cumsum() / n
    error = np.sqrt(np.maximum((values**2).cumsum() / n - mean**2, 0.0) / n)
    return (np.abs(mean - bound) > 1.96 * error)[FIRST_LOOK - 1 :]
