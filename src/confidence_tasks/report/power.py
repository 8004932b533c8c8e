"""How many questions a study needs: power by simulation of two subjects that differ by the effect.

Two simulated subjects answer the same questions. They differ in one parameter, which is moved until the measure differs
by the effect in question. Studies are drawn from their paired replies and tested as ``compare`` tests them, by the same
function. The subjects are the observer of :mod:`confidence_tasks.simulation` on arrays: they answer a hundred thousand
questions at once, without words, and without the habits that make a reply hard to read.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.sparse import csr_array
from scipy.special import expit, log_ndtr, logit, ndtr, ndtri

from confidence_tasks.catalogue import power_designs
from confidence_tasks.report.contrasts import PairedTables, influence_on, paired_differences
from confidence_tasks.report.estimates import CellTable, Distribution, Settings, informative, resampled
from confidence_tasks.report.task_trials import Columns, TrialSubset
from confidence_tasks.simulation.subject import STRONGEST, Subject, make_subject
from confidence_tasks.statistics import wilson_interval
from confidence_tasks.statistics.core import BoolArray, FloatArray, IntArray
from confidence_tasks.statistics.inference.resampling import as_estimate
from confidence_tasks.statistics.inference.weights import TrialCounts
from confidence_tasks.study.definition import Study
from confidence_tasks.study.measures import Measure, rows_of
from confidence_tasks.study.parameter import did_you_mean, one_of

Draws: TypeAlias = Mapping[str, FloatArray]
"""Standard normal numbers, one a question, by the name of what they determine."""

QUESTION_DRAWS = ("outcome", "evidence", "belief", "difficulty")
"""Draws that depend on the question: two subjects may share them in part."""

REPLY_DRAWS = ("noise", "rounding", "tunnel")
"""Draws that are made anew for every reply."""


def paired_draws(
    log2_n: int, correlation: float, rng: np.random.Generator, n_replies: int = 1
) -> tuple[list[Draws], list[Draws]]:
    """Draw for two subjects that are asked the same 2 ** log2_n questions, evenly rather than independently.

    What a question does to one and to the other correlates: 0 for models that have nothing in common, 1 for one
    model asked twice. Each subject has draws for ``n_replies`` replies to a question, one a condition.

    References
    ----------
    Sobol' points, scrambled: Owen (1998), doi:10.1006/jcom.1998.0487.
    """
    # What matters most comes first, where the points are most even.
    names = [(subject, name) for name in QUESTION_DRAWS for subject in (0, 1)]
    names += [
        (subject, f"{name}/{i}") for i in range(n_replies) for name in REPLY_DRAWS for subject in (0, 1)
    ]
    from scipy.stats import qmc  # takes half a second, and reports import this module without drawing

    points = qmc.Sobol(len(names), rng=rng).random_base2(log2_n)
    tiny = 2.0**-40  # a point of the unit cube may lie on its edge, where there is no normal number
    drawn = dict(zip(names, ndtri(np.clip(points, tiny, 1.0 - tiny)).T, strict=True))
    rest = np.sqrt(1.0 - correlation**2)
    for name in QUESTION_DRAWS:
        drawn[1, name] = correlation * drawn[0, name] + rest * drawn[1, name]

    def of(subject: int) -> list[Draws]:
        shared = {name: drawn[subject, name] for name in QUESTION_DRAWS}
        return [
            {**shared, **{name: drawn[subject, f"{name}/{i}"] for name in REPLY_DRAWS}}
            for i in range(n_replies)
        ]

    return of(0), of(1)


def decide(subject: Subject, draws: Draws, condition: str = "") -> tuple[BoolArray, FloatArray]:
    """Return whether the subject is right about each question, and its confidence, as ``Subject.decide``."""
    accuracy = accuracy_of(subject, draws)
    correct = ndtr(draws["outcome"]) < accuracy
    meta = np.clip(subject.meta_d_prime * subject.scale_gain.get(condition, 1.0), -STRONGEST, STRONGEST)
    mean = np.where(correct, meta / 2, -meta / 2)
    below = ndtr(-mean)
    quantile = np.minimum(below + ndtr(draws["evidence"]) * (1.0 - below), 1.0 - 1e-16)
    calibrated = meta * (mean + ndtri(quantile)) + logit(accuracy) + log_ndtr(-meta / 2) - log_ndtr(meta / 2)
    return correct, expit(subject.bias + subject.noise * draws["noise"] + subject.gain * calibrated)


def accuracy_of(subject: Subject, draws: Draws) -> FloatArray:
    """Return the chance that the subject is right about each question."""
    d_prime = subject.d_prime + subject.difficulty_spread * draws["difficulty"]
    return np.asarray(ndtr(np.clip(d_prime, -STRONGEST, STRONGEST) / 2))


@dataclass(frozen=True, slots=True)
class EffectParameter:
    """The parameter of a simulated subject that moves a measure, and how far it is moved."""

    parameter: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PowerDesign:
    """A study as power analysis simulates it.

    Attributes
    ----------
    condition : str
        The condition that is planned for by default; ``all`` for measures over all conditions.
    read_condition : callable
        Brings a condition to its label; ValueError says what a condition is.
    n_replies : int
        Replies to each question, one a condition.
    replies : callable
        ``replies(subject, draws, condition)``: what the subject says to each question, as columns of equal length that
        tell questions apart.
    trials : callable
        ``trials(replies, condition)``: the trials of these questions, ``n_replies`` for each, question by question.
    effects : mapping of str to EffectParameter
        What moves each measure that differences can be planned for, by its name.
    every_measure : sequence of Measure
        These measures, among others.
    """

    condition: str
    read_condition: Callable[[str], str]
    n_replies: int
    replies: Callable[[Subject, Sequence[Draws], str], Columns]
    trials: Callable[[Columns, str], Columns]
    effects: Mapping[str, EffectParameter]
    every_measure: Sequence[Measure]

    @property
    def measures(self) -> dict[str, Measure]:
        """The measures that differences can be planned for, by name."""
        every = {measure.name: measure for measure in self.every_measure}
        return {name: every[name] for name in self.effects}


METACOGNITION = EffectParameter("meta_d_prime", 0.0, 4.0)
"""Changes how much the confidence knows, in any study of answers that are right or wrong."""


# A study that says nothing of its own -----------------------------------------------------------------------------


def default_designs(study: Study) -> Iterator[PowerDesign]:
    """Yield how a study is simulated for power analysis; nothing if no measure reads simulated trials.

    The simulated trials are right or wrong with a confidence. Measures that read other columns cannot be planned for.
    A measure of correctness alone is moved by the subject's sensitivity, one of which less is better by its bias, and
    any other by its metacognition.
    """
    effects = {measure.name: effect for measure in study.measures if (effect := _effect(measure)) is not None}
    if effects:
        yield PowerDesign(
            condition=study.conditions[0],
            read_condition=lambda condition: one_of(study.conditions, condition, "condition"),
            n_replies=1,
            replies=_replies,
            trials=lambda replies, condition: replies,
            effects=effects,
            every_measure=study.measures,
        )


def _replies(subject: Subject, draws: Sequence[Draws], condition: str) -> Columns:
    """Answer and state confidence, in percent, so that questions are alike."""
    correct, confidence = decide(subject, draws[0], condition)
    return {"correct": correct.astype(np.float64), "confidence": np.rint(100 * confidence) / 100}


def _effect(measure: Measure) -> EffectParameter | None:
    """Return what moves a measure; None if it reads other columns than simulated trials have."""
    correct, confidence = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.9, 0.7, 0.6, 0.2])
    if measure.better == "neither" or not _reads(measure, {"correct": correct, "confidence": confidence}):
        return None
    if _reads(measure, {"correct": correct}):
        return EffectParameter("d_prime", 0.0, 4.0)
    return EffectParameter("bias", -4.0, 4.0) if measure.better == "lower" else METACOGNITION


def _reads(measure: Measure, trials: Columns) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            measure.compute(trials, None)
    except KeyError:
        return False
    return True


LOG2_POPULATION = 15
"""Logarithm to the base 2 of the number of questions that both subjects answer, from which studies are drawn."""

QUESTIONS = (50, 100, 200, 400, 800, 1600, 3200, 6400)
"""Numbers of questions tried by default."""

MIN_QUESTIONS = 20
"""Minimum number of questions: fewer give too few exchanges for a test to reject at the usual levels."""

EXCHANGES = 399
"""Number of exchanges or resamples in the test of each simulated study."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two subjects that differ by an effect: the value of a parameter and the measure of each, over the population."""

    parameter: str
    first: float
    second: float
    first_measure: float
    second_measure: float


@dataclass(frozen=True, slots=True)
class PowerCurve:
    """Power against the number of questions.

    ``pair`` are the subjects that differ by the effect. ``n``, of shape (k,), are the numbers of questions that
    both answer, and ``power`` is the share of the ``n_studies`` simulated for each in which the two-sided test of
    size ``alpha`` rejects, with the limits of Wilson's 95% interval. ``withheld`` is the share in which ``compare``
    would print no interval and no p-value. ``needed`` are the questions at which the power reaches the target,
    between those tried; infinite when none reaches it, NaN when the fewest already do.
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
    withheld: FloatArray
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

    ``study`` is a name in :func:`confidence_tasks.catalogue.power_designs`, and ``measure`` one of its measures.
    ``effect``, which is not 0, is that of the first subject minus that of the second, as ``compare`` subtracts. ``n``
    are the numbers of questions to try, each at least 20; a question counts when both replies to it can be read. Both
    subjects are asked under the ``condition``, by default the study's most usual one. The first is that of the
    ``profile``, but for the ``parameters`` that are given.

    ``correlation``, in [0, 1], says how alike questions affect the two: 0 for models that have nothing in common, 1 for
    one model under two conditions. What is alike cancels in a paired comparison. ``alpha``, in (0, 1), is the size of
    the two-sided test; divide it by the number of conditions to design for a correction. ``target``, in (0, 1), is the
    power aimed at, and ``n_studies`` are simulated for each number of questions. ``advance`` is told after each number
    how many are done, and of how many.

    ValueError if there is no such study, measure or condition, a number is out of its domain, or no change of the
    subject makes such a difference; the message says what can be.

    Notes
    -----
    Each simulated study is tested with 399 exchanges or resamples, more for an ``alpha`` below .025, where ``compare``
    makes 10,000.
    The agreement with studies gone through reply by reply is in ``benchmarks/results_power.md``.
    Confidence on a scale of more than 200 steps is rounded to 200 or fewer, so that any width takes as long.

    Examples
    --------
    >>> curve = power_curve("fermieval", "coverage", 0.1, n=[100, 400], n_studies=200)
    >>> curve.pair.parameter, [bool(power > 0.8) for power in curve.power]
    ('perception', [False, True])
    """
    design, chosen = _chosen(study, measure)
    _check_options(effect, correlation, alpha, target)
    sizes = np.array(sorted(set(n)), dtype=np.int64)
    if not len(sizes) or sizes[0] < MIN_QUESTIONS:
        raise ValueError(f"n must name numbers of questions, {MIN_QUESTIONS} or more each")
    label = design.read_condition(condition or design.condition)
    subject = make_subject(profile, **dict(parameters or {}))
    first, second, pair = _pair(design, measure, subject, label, effect, correlation, seed)
    rejected, withheld = np.zeros(len(sizes)), np.zeros(len(sizes))
    for i, size in enumerate(sizes):
        rejected[i], withheld[i] = _rejections(first, second, chosen, int(size), alpha, n_studies, seed)
        if advance:
            advance(i + 1, len(sizes))
    low, high = wilson_interval(rejected, n_studies)
    power = rejected / n_studies
    return PowerCurve(
        study=study,
        measure=measure,
        condition=label,
        pair=pair,
        effect=effect,
        alpha=alpha,
        target=target,
        n_studies=n_studies,
        n=sizes,
        power=power,
        low=low,
        high=high,
        withheld=withheld / n_studies,
        needed=questions_needed(sizes, power, target),
    )


def _check_options(effect: float, correlation: float, alpha: float, target: float) -> None:
    """Raise ValueError for an option of :func:`power_curve` outside its range."""
    if not np.isfinite(effect) or effect == 0.0:
        raise ValueError(f"effect must be a number other than 0, got {effect}")
    if not (0.0 < alpha < 1.0 and 0.0 < target < 1.0):
        raise ValueError(f"alpha and target must lie within (0, 1), got {alpha} and {target}")
    if not 0.0 <= correlation <= 1.0:
        raise ValueError(f"correlation must lie in [0, 1], got {correlation}")


def _chosen(study: str, measure: str) -> tuple[PowerDesign, Measure]:
    if study not in power_designs():
        raise ValueError(f"study {study!r} is not one of {', '.join(power_designs())}")
    design = power_designs()[study]
    if measure not in design.measures:
        raise ValueError(
            f"{study} cannot be planned for by {measure!r}{did_you_mean(measure, design.measures) or '.'} "
            f"Its measures are {', '.join(design.measures)}"
        )
    return design, design.measures[measure]


# The two subjects -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Answers:
    """Replies of a subject to every question of the population.

    Questions that are answered alike are one kind: ``kind`` is that of each question, ``trials`` are those of a
    question of each kind, ``n_replies`` a kind, and ``counts`` says how many questions are of each.
    """

    kind: NDArray[np.intp]
    trials: Columns
    n_replies: int
    counts: FloatArray

    def asked(self, questions: IntArray, measure: Measure) -> CellTable:
        """Return what is said to some questions of the population."""
        occurring, kind = np.unique(self.kind[questions], return_inverse=True)
        rows = (self.n_replies * occurring[:, np.newaxis] + np.arange(self.n_replies)).ravel()
        own = (self.n_replies * kind[:, np.newaxis] + np.arange(self.n_replies)).ravel()
        unit = np.repeat(np.arange(len(questions)), self.n_replies)
        members = csr_array((np.ones(len(own)), (own, unit)), shape=(len(rows), len(questions)))
        columns = rows_of(self.trials, rows)
        return CellTable(columns, TrialCounts(np.arange(len(rows)), members), (measure,))

    def value(self, measure: Measure) -> float:
        """Return the measure over the population."""
        weights = np.repeat(self.counts, self.n_replies)[np.newaxis]
        return float(np.asarray(measure.compute(self.trials, weights))[0])


def _answers(design: PowerDesign, subject: Subject, draws: Sequence[Draws], condition: str) -> _Answers:
    replies = design.replies(subject, draws, condition)
    code = np.zeros(len(next(iter(replies.values()))), dtype=np.int64)
    for column in replies.values():
        distinct, index = np.unique(column, return_inverse=True)
        # Renumbered after each column, so that the product cannot overflow.
        code = np.unique(code * len(distinct) + index, return_inverse=True)[1]
    _, example, kind, counts = np.unique(code, return_index=True, return_inverse=True, return_counts=True)
    trials = design.trials(rows_of(replies, example), condition)
    return _Answers(kind, trials, design.n_replies, counts.astype(np.float64))


def _pair(
    design: PowerDesign,
    name: str,
    subject: Subject,
    condition: str,
    effect: float,
    correlation: float,
    seed: int,
) -> tuple[_Answers, _Answers, Pair]:
    """Let the subject answer, and another whose measure is lower by ``effect``."""
    measure, parameter = design.measures[name], design.effects[name]
    rng = np.random.default_rng([seed, 0])
    of_first, of_second = paired_draws(LOG2_POPULATION, correlation, rng, design.n_replies)
    first = _answers(design, subject, of_first, condition)
    base = first.value(measure)

    def changed(value: float) -> _Answers:
        change: dict[str, Any] = {parameter.parameter: value}
        return _answers(design, replace(subject, **change), of_second, condition)

    start = float(getattr(subject, parameter.parameter))
    value = _moved(lambda at: base - changed(at).value(measure), parameter, start, effect, name, base)
    second = changed(value)
    return first, second, Pair(parameter.parameter, start, value, base, second.value(measure))


def _moved(
    difference: Callable[[float], float],
    parameter: EffectParameter,
    start: float,
    effect: float,
    name: str,
    base: float,
) -> float:
    """Return the value of a parameter, the nearest to ``start``, at which the difference is ``effect``."""
    tried = np.union1d(np.linspace(parameter.low, parameter.high, 17), [start])
    found = np.array([difference(float(value)) for value in tried])
    beyond = np.sign(found - effect)
    crossings = np.flatnonzero(beyond[:-1] * beyond[1:] <= 0)
    if not len(crossings):
        lowest, highest = np.nanmin(found), np.nanmax(found)
        raise ValueError(
            f"no change of {parameter.parameter} within {parameter.low:g} to {parameter.high:g} makes {name} differ by "
            f"{effect:+g}: A has {base:.3f}, and A minus B can be {lowest:+.3f} to {highest:+.3f}. Choose an effect in "
            "between, or another subject to begin with"
        )
    crossings = crossings[::-1]  # of two as near, the higher
    nearest = crossings[np.argmin(np.abs(tried[crossings] - start) + np.abs(tried[crossings + 1] - start))]
    low, high = float(tried[nearest]), float(tried[nearest + 1])
    return float(brentq(lambda value: difference(value) - effect, low, high, xtol=1e-4))


# The studies ------------------------------------------------------------------------------------------------------


def _rejections(
    first: _Answers, second: _Answers, measure: Measure, n: int, alpha: float, n_studies: int, seed: int
) -> tuple[int, int]:
    """Count the simulated studies in which the test rejects, and those in which it is withheld."""
    # Fewer than 10 p-values at or below the size of the test would leave to chance what it rejects.
    settings = Settings(max(EXCHANGES, math.ceil(10 / alpha) - 1), level=1.0 - alpha)
    rng = np.random.default_rng([seed, n])
    names = frozenset(map(str, range(n)))
    rejected, withheld = 0, 0
    for questions in rng.integers(len(first.kind), size=(n_studies, n)):
        tables = [answers.asked(questions, measure) for answers in (first, second)]
        source = PairedTables.of(tables[0], tables[1])
        spread: list[FloatArray | None] = [None, None]
        if influence_on(measure, source) is None:
            cells = [TrialSubset("", np.empty(0, dtype=np.int64)) for _ in tables]
            drawn = resampled(list(zip(cells, tables, strict=True)), settings.n_resamples, rng, rng)
            spread = [drawn[cell, measure.name] for cell in cells]
        one, other = (_side(table, measure, names, spread[i]) for i, table in enumerate(tables))
        found = paired_differences([source], {measure.name: (one, other)}, settings, rng, papers_test=False)
        rejected += found[measure.name].p_value <= alpha
        withheld += math.isnan(found[measure.name].interval.low)
    return rejected, withheld


def _side(
    table: CellTable, measure: Measure, questions: frozenset[str], resamples: FloatArray | None
) -> Distribution:
    """Return the measure of a simulated study under one condition, with its resamples if these are needed."""
    trials, unit = table.expanded()
    value = float(np.asarray(measure.compute(table.columns, table.kinds.counts[np.newaxis]))[0])
    return Distribution(
        as_estimate(value),
        np.array([value]) if resamples is None else resamples,
        questions,
        informative=informative(measure, trials),
        inverted_test=measure.test_inversion(trials, unit)
        if measure.test_inversion and resamples is not None
        else None,
    )


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
