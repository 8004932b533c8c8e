"""Power analysis: the number of questions that a study needs, by simulation.

Two simulated subjects answer the same questions. They differ in one parameter, chosen so that the measure differs by
the effect. Studies are drawn from their paired replies and tested by the function that ``compare`` uses. The subjects
are the observer of :mod:`confidence_tasks.simulation`, vectorised over questions: they return correctness and
confidence, not texts, and every reply is readable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy  # loads its parts at first use: scipy.stats takes half a second

from confidence_tasks.catalogue import studies
from confidence_tasks.decisions.pilot import ClusterEffect
from confidence_tasks.report.estimates.difference import paired_differences
from confidence_tasks.report.estimates.distribution import Distribution
from confidence_tasks.report.estimates.distributions import informative, resampled
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import TrialSubset
from confidence_tasks.report.study_report import study_report
from confidence_tasks.simulation.power_design import PowerDesign, default_designs
from confidence_tasks.simulation.power_subjects import Answers, Pair, equal_subjects, pair_of_subjects
from confidence_tasks.simulation.subject import make_subject
from confidence_tasks.statistics import wilson_interval
from confidence_tasks.statistics.core import FloatArray, IntArray
from confidence_tasks.statistics.inference.resampling import as_estimate
from confidence_tasks.statistics.inference.tests import questions_needed
from confidence_tasks.study.definition import Study
from confidence_tasks.study.kinds import DistinctTrials
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.paired import PairedTables, influence_on
from confidence_tasks.study.parameter import did_you_mean

# The default design -----------------------------------------------------------------------------------------------


@cache
def power_designs() -> Mapping[str, PowerDesign]:
    """Return the designs for power analysis, by the name of the study."""
    simulated = [study for study in studies() if study.simulation.reply]
    return {study.name: design for study in simulated for design in _designs_of(study)}


def _designs_of(study: Study) -> Iterable[PowerDesign]:
    own = study_report(study).power
    return default_designs(study) if own is None else own


QUESTIONS = (50, 100, 200, 400, 800, 1600, 3200, 6400)
"""Default numbers of questions."""

MIN_QUESTIONS = 20
"""Minimum number of questions: with fewer, a test has too few exchanges to reject at the usual levels."""

EXCHANGES = 399
"""Minimum number of exchanges or resamples in the test of each simulated study."""


@dataclass(frozen=True, slots=True)
class PowerCurve:
    """Power against the number of questions.

    For each number of questions in ``n``, of shape (k,), ``power`` is the proportion of ``n_studies`` simulated studies
    in which the two-sided test of size ``alpha`` rejects; ``low`` and ``high`` are its 95% Wilson interval.
    ``withheld`` is the proportion of studies in which ``compare`` prints no interval and no p-value. ``needed`` is the
    interpolated number of questions at which the power reaches ``target``: infinite if no number in ``n`` reaches it,
    NaN if the smallest already does. ``clusters`` tells how clusters of questions enter, if there are any.
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
    clusters: ClusterEffect | None = None


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
    clusters: ClusterEffect | None = None,
    advance: Callable[[int, int], None] | None = None,
) -> PowerCurve:
    """Compute the power of a study to find a difference, by its number of questions.

    Parameters
    ----------
    study, measure : str
        Name of a study in :func:`power_designs`, and of one of its measures.
    effect : float
        Difference of the measure, first subject minus second; not 0.
    n : sequence of int
        Numbers of questions to simulate, each at least 20. Only questions with two readable replies count.
    condition : str, optional
        Condition under which both subjects are asked; by default that of the study's design.
    profile, parameters : str, mapping
        Profile of the first subject, and parameters that replace those of the profile.
    correlation : float
        Correlation of the questions' effects on the two subjects, in [0, 1]: 0 for unrelated models, 1 for one model
        under two conditions. Shared effects cancel in a paired comparison.
    alpha, target : float
        Size of the two-sided test and power to reach, both in (0, 1). Divide ``alpha`` by the number of conditions to
        plan for a correction.
    n_studies : int
        Number of simulated studies for each number of questions.
    clusters : ClusterEffect, optional
        The effect of clusters in a pilot (:func:`~confidence_tasks.decisions.pilot.pilot_clusters`). A number of
        questions then counts as that number divided by the design effect, which enlarges standard errors by its square
        root.
    advance : callable, optional
        Called after each number of questions with the count of those done and their total.

    Raises
    ------
    ValueError
        If there is no such study, measure or condition, a number is outside its range, or no value of the parameter
        gives the effect.

    Notes
    -----
    Each simulated study is tested with 399 exchanges or resamples, and with more for an ``alpha`` below .025;
    ``compare`` uses 10,000. ``benchmarks/results_power.md`` compares the results with studies simulated reply by reply.
    On a scale of more than 200 steps, confidence is rounded to at most 200 steps, to limit the time.

    Examples
    --------
    >>> curve = power_curve("fermieval", "coverage", 0.1, n=[100, 400], n_studies=200)
    >>> curve.pair.parameter, [bool(power > 0.8) for power in curve.power]
    ('perception', [False, True])
    """
    design = _design(study, measure)
    _check_options(effect, correlation, alpha, target)
    sizes = np.array(sorted(set(n)), dtype=np.int64)
    fewest, independent = fewest_questions(clusters), _independent(sizes, clusters)
    if not len(sizes) or sizes[0] < fewest:
        raise ValueError(f"n must name numbers of questions, {fewest} or more each")
    label = design.read_condition(condition or design.condition)
    subject = make_subject(profile, **dict(parameters or {}))
    first, second, pair = pair_of_subjects(design, measure, subject, label, effect, correlation, seed)
    rejected, withheld = np.zeros(len(sizes)), np.zeros(len(sizes))
    for i, size in enumerate(independent):
        rejected[i], withheld[i] = _rejections(
            first, second, design.measures[measure], int(size), alpha, n_studies, seed
        )
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
        clusters=clusters,
    )


_STEPS = 2
"""Number of steps in which a detectable difference is found; a third one changes it by about 1%."""


def detectable_difference(
    study: str,
    measure: str,
    n: int,
    *,
    condition: str = "",
    profile: str = "ideal",
    correlation: float = 0.0,
    alpha: float = 0.05,
    target: float = 0.8,
    seed: int = 0,
) -> float:
    """Compute the smallest difference of a measure that a study of n questions finds with a given power.

    The difference is the sum of the normal quantiles of ``1 - alpha / 2`` and ``target`` times its standard error,
    which is that of two subjects who differ by it, the second of them worse. The standard error follows from the
    influence of each question, as in the tests of ``compare``.

    Parameters
    ----------
    study, measure, condition, profile, correlation, alpha, target, seed
        As in :func:`power_curve`.
    n : int
        Number of questions.

    Returns
    -------
    float
        The difference, 0 or more. NaN if the measure has no known influence function, as an ECE, so that only
        :func:`power_curve` tells; if no subject is that much worse; or if n is below 20.

    Raises
    ------
    ValueError
        As in :func:`power_curve`.

    References
    ----------
    Miller (2024), Adding error bars to evals, section 5, arXiv:2411.00640.

    Examples
    --------
    >>> difference = detectable_difference("scales", "accuracy", 400)
    >>> 0.08 < difference < 0.1  # the formula of two proportions of .76 gives .085
    True
    """
    design = _design(study, measure)
    _check_options(1.0, correlation, alpha, target)
    label = design.read_condition(condition or design.condition)
    if n < MIN_QUESTIONS:
        return math.nan
    chosen = design.measures[measure]
    subject, worse = make_subject(profile), -1.0 if chosen.better == "lower" else 1.0
    quantiles = scipy.special.ndtri([1.0 - alpha / 2.0, target]).sum()
    first, second = equal_subjects(design, subject, label, correlation, seed)
    difference = quantiles * math.sqrt(_variance_per_question(chosen, first, second) / n)
    for _ in range(_STEPS):
        if math.isnan(difference):
            break
        try:
            effect = worse * difference
            first, second, _ = pair_of_subjects(design, measure, subject, label, effect, correlation, seed)
        except ValueError:  # no subject differs that much
            return math.nan
        difference = quantiles * math.sqrt(_variance_per_question(chosen, first, second) / n)
    return float(difference)


def _variance_per_question(measure: Measure, first: Answers, second: Answers) -> float:
    """Return the variance of a difference, times the number of questions; NaN if the influences are unknown."""
    everyone = np.arange(len(first.kind))
    source = PairedTables.of(first.table(everyone, measure), second.table(everyone, measure))
    influence = influence_on(measure, source)
    if influence is None:
        return math.nan
    (variance,) = source.variance(influence, source.stacked(), source.without_exchange())
    return float(variance) * len(everyone)


def fewest_questions(clusters: ClusterEffect | None = None) -> int:
    """Return the minimum number of questions, which clusters with a design effect above 1 increase."""
    return math.ceil(MIN_QUESTIONS * max(1.0, clusters.design_effect if clusters else 1.0))


def _independent(sizes: IntArray, clusters: ClusterEffect | None) -> IntArray:
    """Return the number of independent questions that questions in clusters are worth."""
    return np.rint(sizes / (clusters.design_effect if clusters else 1.0)).astype(np.int64)


def _check_options(effect: float, correlation: float, alpha: float, target: float) -> None:
    """Raise ValueError for an option of :func:`power_curve` outside its range."""
    if not np.isfinite(effect) or effect == 0.0:
        raise ValueError(f"effect must be a number other than 0, got {effect}")
    if not (0.0 < alpha < 1.0 and 0.0 < target < 1.0):
        raise ValueError(f"alpha and target must lie within (0, 1), got {alpha} and {target}")
    if not 0.0 <= correlation <= 1.0:
        raise ValueError(f"correlation must lie in [0, 1], got {correlation}")


def _design(study: str, measure: str) -> PowerDesign:
    """Return the power design of a study; ValueError if it lacks the measure."""
    if study not in power_designs():
        raise ValueError(f"study {study!r} is not one of {', '.join(power_designs())}")
    design = power_designs()[study]
    if measure not in design.measures:
        raise ValueError(
            f"the power of {study} cannot be computed for {measure!r}"
            f"{did_you_mean(measure, design.measures) or '.'} Its measures are {', '.join(design.measures)}"
        )
    return design


# The studies ------------------------------------------------------------------------------------------------------


def _rejections(
    first: Answers, second: Answers, measure: Measure, n: int, alpha: float, n_studies: int, seed: int
) -> tuple[int, int]:
    """Return the numbers of simulated studies in which the test rejects, and in which it is withheld."""
    # At least 10 of the possible p-values are at or below alpha, so that the grid of p-values is fine enough.
    settings = Settings(max(EXCHANGES, math.ceil(10 / alpha) - 1), level=1.0 - alpha, exchange_factor=1)
    rng = np.random.default_rng([seed, n])
    names = frozenset(map(str, range(n)))
    rejected, withheld = 0, 0
    for questions in rng.integers(len(first.kind), size=(n_studies, n)):
        tables = [answers.table(questions, measure) for answers in (first, second)]
        source = PairedTables.of(tables[0], tables[1])
        resamples: list[FloatArray | None] = [None, None]
        if influence_on(measure, source) is None:
            cells = [TrialSubset("", np.empty(0, dtype=np.int64)) for _ in tables]
            drawn = resampled(list(zip(cells, tables, strict=True)), settings.n_resamples, rng, rng)
            resamples = [drawn[cell, measure.name] for cell in cells]
        one, other = (_distribution(table, measure, names, resamples[i]) for i, table in enumerate(tables))
        tests = paired_differences([source], {measure.name: (one, other)}, settings, rng, papers_test=False)
        rejected += tests[measure.name].p_value <= alpha
        withheld += math.isnan(tests[measure.name].interval.low)
    return rejected, withheld


def _distribution(
    table: DistinctTrials, measure: Measure, questions: frozenset[str], resamples: FloatArray | None
) -> Distribution:
    """Return the measure of one subject in a simulated study, with its resamples if the test needs them."""
    trials, unit = table.expanded()
    value = float(np.asarray(measure.compute(table.columns, table.kinds.counts[np.newaxis]))[0])
    test_of = measure.inference.test
    return Distribution(
        as_estimate(value),
        np.array([value]) if resamples is None else resamples,
        questions,
        informative=informative(measure, trials),
        inverted_test=test_of(trials, unit) if test_of and resamples is not None else None,
    )
