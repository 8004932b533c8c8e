"""How many questions a study needs: power by simulation of two subjects that differ by the effect.

Two simulated subjects answer the same questions. They differ in one parameter, which is moved until the measure differs
by the effect in question. Studies are drawn from their paired replies and tested as ``compare`` tests them: the
difference of the measure against the differences when the two are exchanged within questions at random.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtri

from confidence_tasks.analysis.groups import Columns
from confidence_tasks.analysis.plans import PLANS, Lever, Plan
from confidence_tasks.analysis.simulated_trials import Draws, paired_draws
from confidence_tasks.scorers._measures import Measure
from confidence_tasks.simulation.profiles import make_subject
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.statistics import wilson_interval
from confidence_tasks.statistics._core import Estimate, FloatArray, IntArray
from confidence_tasks.statistics._resampling import share_as_extreme
from confidence_tasks.statistics.question_draws import simulated_studies

LOG2_POPULATION = 15
"""Logarithm to the base 2 of the number of questions that both subjects answer, from which studies are drawn."""

QUESTIONS = (50, 100, 200, 400, 800, 1600, 3200, 6400)
"""Numbers of questions that are tried by default."""

FEWEST = 20
"""With fewer questions there are too few exchanges for a test to reject at the usual levels."""

EXCHANGES = 399
"""Exchanges in the test of each simulated study, where its size allows as few."""

_BELOW_ALPHA = 10
"""Smallest p-values that must lie at or below the size of the test: with fewer, chance decides what it rejects."""

_STEPS = 17
"""Values of a parameter that are tried before the one wanted is narrowed down."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two subjects that differ by an effect.

    Attributes
    ----------
    parameter : str
        What was changed.
    first, second : float
        Its value in either subject.
    first_measure, second_measure : float
        The measure of each, over the population.
    """

    parameter: str
    first: float
    second: float
    first_measure: float
    second_measure: float


@dataclass(frozen=True, slots=True)
class PowerCurve:
    """Power against the number of questions.

    Attributes
    ----------
    study, measure, condition : str
        What is planned.
    pair : Pair
        The subjects that differ by the effect.
    effect, alpha, target : float
        The difference, the size of the test, and the power aimed at.
    n_studies : int
        Studies simulated for each number of questions.
    n : ndarray of int, shape (k,)
        Numbers of questions that both answer.
    power, low, high : ndarray, shape (k,)
        Share of the simulated studies in which the two-sided permutation test rejects, with Wilson's 95% interval for
        the number of studies.
    needed : float
        Questions at which the power reaches the target, between those tried; infinite when none reaches it, NaN when
        the fewest already do.
    """

    study: str
    measure: str
    condition: str
    pair: Pair
    effect: float
    alpha: float
    target: float
    n_studies: int
    n: IntArray
    power: FloatArray
    low: FloatArray
    high: FloatArray
    needed: float


def power_curve(
    study: str,
    measure: str,
    effect: float,
    *,
    n: Sequence[int] = QUESTIONS,
    condition: str = "",
    profile: str = "ideal",
    parameters: Mapping[str, Any] | None = None,
    correlation: float = 0.0,
    alpha: float = 0.05,
    target: float = 0.8,
    n_studies: int = 1_000,
    seed: int = 0,
    advance: Callable[[int, int], None] | None = None,
) -> PowerCurve:
    """Compute how likely a study finds a difference, by its number of questions.

    Parameters
    ----------
    study, measure : str
        A name in :data:`~confidence_tasks.analysis.plans.PLANS`, and one of its measures.
    effect : float
        The measure of the second subject minus that of the first; not 0.
    n : sequence of int
        Numbers of questions to try, each at least 20. A question counts when both replies to it can be read.
    condition : str
        The condition that both are asked under; by default the study's most usual one.
    profile : str
        The simulated subject that the first one is.
    parameters : mapping, optional
        Its parameters that differ from the profile's.
    correlation : float
        How alike questions affect the two, in [0, 1]: 0 for models that have nothing in common, 1 for one model under
        two conditions. What is alike cancels in a paired comparison.
    alpha : float
        Size of the two-sided test, in (0, 1); divide it by the number of conditions to plan for a correction.
    target : float
        Power aimed at, in (0, 1).
    n_studies : int
        Studies simulated for each number of questions.
    seed : int
        Seed of everything.
    advance : callable, optional
        Told after each number of questions how many are done, and of how many.

    Returns
    -------
    PowerCurve

    Raises
    ------
    ValueError
        If there is no such study, measure or condition, a number is out of its domain, or no change of the subject
        makes such a difference; the message says what can be.

    Notes
    -----
    Each simulated study is tested with 399 exchanges, more for an ``alpha`` below .025, where ``compare`` makes 10,000.
    The agreement with studies gone through reply by reply is in ``benchmarks/results_power.md``.
    Confidence on a scale of more than 200 steps is rounded to 200 or fewer, so that any width takes as long.

    Examples
    --------
    >>> curve = power_curve("fermieval", "coverage", -0.1, n=[100, 400], n_studies=500)
    >>> curve.pair.parameter, [bool(power > 0.8) for power in curve.power]
    ('perception', [False, True])
    """
    plan, chosen = _chosen(study, measure)
    if not np.isfinite(effect) or effect == 0.0:
        raise ValueError(f"effect must be a number other than 0, got {effect}")
    if not (0.0 < alpha < 1.0 and 0.0 < target < 1.0):
        raise ValueError(f"alpha and target must lie within (0, 1), got {alpha} and {target}")
    if not 0.0 <= correlation <= 1.0:
        raise ValueError(f"correlation must lie in [0, 1], got {correlation}")
    sizes = np.array(sorted(set(n)), dtype=np.int64)
    if not len(sizes) or sizes[0] < FEWEST:
        raise ValueError(f"n must name numbers of questions, {FEWEST} or more each")
    label = plan.read_condition(condition or plan.condition)
    subject = make_subject(profile, **dict(parameters or {}))
    first, second, pair = _pair(plan, measure, subject, label, effect, correlation, seed)
    rejected = np.zeros(len(sizes))
    for i, size in enumerate(sizes):
        rejected[i] = _rejections(first, second, chosen, int(size), alpha, n_studies, seed)
        if advance:
            advance(i + 1, len(sizes))
    low, high = wilson_interval(rejected, n_studies)
    power = rejected / n_studies
    needed = questions_needed(sizes, power, target)
    return PowerCurve(
        study, measure, label, pair, effect, alpha, target, n_studies, sizes, power, low, high, needed
    )


def _chosen(study: str, measure: str) -> tuple[Plan, Measure]:
    if study not in PLANS:
        raise ValueError(f"study {study!r} is not one of {', '.join(PLANS)}")
    plan = PLANS[study]
    if measure not in plan.measures:
        raise ValueError(
            f"measure {measure!r} of {study} cannot be planned for; {', '.join(plan.measures)} can"
        )
    return plan, plan.measures[measure]


# The two subjects -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Answers:
    """What a subject says to every question of the population.

    Questions that are answered alike are one kind: ``kind`` is that of each question, ``trials`` are those of a
    question of each kind, ``n_replies`` a kind, and ``counts`` says how many questions are of each.
    """

    kind: NDArray[np.intp]
    trials: Columns
    n_replies: int
    counts: FloatArray

    def weights(self, of_kinds: FloatArray) -> FloatArray:
        """Hand the weight of each kind to its trials."""
        return np.repeat(of_kinds, self.n_replies, axis=-1)

    def value(self, measure: Measure) -> float:
        """The measure over the population."""
        return float(np.asarray(measure.compute(self.trials, self.weights(self.counts[np.newaxis])))[0])


def _answers(plan: Plan, subject: Subject, draws: Sequence[Draws], condition: str) -> _Answers:
    replies = plan.replies(subject, draws, condition)
    code = np.zeros(len(next(iter(replies.values()))), dtype=np.int64)
    for column in replies.values():
        distinct, index = np.unique(column, return_inverse=True)
        # Renumbered after each column, so that the product cannot overflow.
        code = np.unique(code * len(distinct) + index, return_inverse=True)[1]
    _, example, kind, counts = np.unique(code, return_index=True, return_inverse=True, return_counts=True)
    trials = plan.trials({name: column[example] for name, column in replies.items()}, condition)
    return _Answers(kind, trials, plan.n_replies, counts.astype(np.float64))


def _pair(
    plan: Plan, name: str, subject: Subject, condition: str, effect: float, correlation: float, seed: int
) -> tuple[_Answers, _Answers, Pair]:
    """Let the subject answer, and another whose measure differs by ``effect``."""
    measure, lever = plan.measures[name], plan.levers[name]
    rng = np.random.default_rng([seed, 0])
    of_first, of_second = paired_draws(LOG2_POPULATION, correlation, rng, plan.n_replies)
    first = _answers(plan, subject, of_first, condition)
    base = first.value(measure)

    def changed(value: float) -> _Answers:
        change: dict[str, Any] = {lever.parameter: value}
        return _answers(plan, replace(subject, **change), of_second, condition)

    start = float(getattr(subject, lever.parameter))
    value = _moved(lambda at: changed(at).value(measure) - base, lever, start, effect, name, base)
    second = changed(value)
    return first, second, Pair(lever.parameter, start, value, base, second.value(measure))


def _moved(
    difference: Callable[[float], float], lever: Lever, start: float, effect: float, name: str, base: float
) -> float:
    """Return the value of a parameter, the nearest to ``start``, at which the difference is ``effect``."""
    tried = np.union1d(np.linspace(lever.low, lever.high, _STEPS), [start])
    found = np.array([difference(float(value)) for value in tried])
    beyond = np.sign(found - effect)
    crossings = np.flatnonzero(beyond[:-1] * beyond[1:] <= 0)
    if not len(crossings):
        lowest, highest = np.nanmin(found), np.nanmax(found)
        raise ValueError(
            f"no change of {lever.parameter} within {lever.low:g} to {lever.high:g} moves {name} by {effect:+g}: from "
            f"{base:.3f} it can be moved by {lowest:+.3f} to {highest:+.3f}. Choose an effect in between, or another "
            "subject to begin with"
        )
    crossings = crossings[::-1]  # of two as near, the higher
    nearest = crossings[np.argmin(np.abs(tried[crossings] - start) + np.abs(tried[crossings + 1] - start))]
    low, high = float(tried[nearest]), float(tried[nearest + 1])
    return float(brentq(lambda value: difference(value) - effect, low, high, xtol=1e-4))


# The studies ------------------------------------------------------------------------------------------------------


def _rejections(
    first: _Answers, second: _Answers, measure: Measure, n: int, alpha: float, n_studies: int, seed: int
) -> int:
    """Count the simulated studies in which the test rejects."""
    both = {name: np.concatenate([column, second.trials[name]]) for name, column in first.trials.items()}
    n_exchanges = max(EXCHANGES, math.ceil(_BELOW_ALPHA / alpha) - 1)
    rejected = 0
    for (of_first, of_second), sides in simulated_studies(
        first.kind,
        second.kind,
        n,
        n_studies=n_studies,
        n_exchanges=n_exchanges,
        seed=np.random.default_rng([seed, n]),
    ):
        observed = measure.compute(first.trials, first.weights(of_first)) - measure.compute(
            second.trials, second.weights(of_second)
        )
        left, right = (np.asarray(measure.compute(both, first.weights(side))) for side in sides)
        exchanged = (left - right).reshape(-1, n_exchanges)
        rejected += sum(
            share_as_extreme(Estimate(value), its_own, "two-sided", exact=False) <= alpha
            for value, its_own in zip(np.asarray(observed), exchanged, strict=True)
        )
    return rejected


def questions_needed(n: IntArray, power: FloatArray, target: float) -> float:
    """Return the number of questions at which a power curve reaches ``target``.

    Between two numbers that were tried, the normal quantile of power is taken to be linear in the square root of the
    number of questions, as it is for the test of a mean.

    Examples
    --------
    >>> questions_needed(np.array([100, 400]), np.array([0.5, 0.9]), 0.8)
    275.0
    """
    reached = np.flatnonzero(power >= target)
    if not len(reached):
        return float("inf")
    after = int(reached[0])
    if after == 0:
        return float("nan")
    root = np.sqrt(n[after - 1 : after + 1].astype(np.float64))
    quantile = ndtri(np.clip(power[after - 1 : after + 1], 1e-3, 1.0 - 1e-3))
    share = (ndtri(target) - quantile[0]) / (quantile[1] - quantile[0])
    return float(np.ceil((root[0] + min(max(share, 0.0), 1.0) * (root[1] - root[0])) ** 2))
