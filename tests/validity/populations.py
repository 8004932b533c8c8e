"""The populations that intervals are tried on: every study, with subjects that are easy and hard to measure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from tests.items import items_asking, items_of, riskeval_items, scale_items
from tests.trials import fermieval_trial, lifeeval_trial, question_set_trial, scale_trial
from tests.validity.simulated_studies import Population, replies

from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.report.groups import Group, by_condition
from confidence_tasks.simulation.subject import Subject, normal
from confidence_tasks.sources import Question, load
from confidence_tasks.studies.fermieval import STUDY as FERMIEVAL
from confidence_tasks.studies.fermieval.measures import MEASURES as FERMI_MEASURES
from confidence_tasks.studies.fermieval.replies import LEVELS, TEST, level_of
from confidence_tasks.studies.lifeeval import STUDY as LIFEEVAL
from confidence_tasks.studies.lifeeval import measures as lifeeval
from confidence_tasks.studies.lifeeval.question_sets import STUDY as QUESTION_SETS
from confidence_tasks.studies.lifeeval.question_sets import measures as question_sets
from confidence_tasks.studies.lifeeval.report import by_radius_sex_and_age
from confidence_tasks.studies.riskeval import measures as riskeval_measures
from confidence_tasks.studies.riskeval.replies import penalty_of
from confidence_tasks.studies.riskeval.report import by_penalty_and_regime
from confidence_tasks.studies.riskeval.summary import OVER_PENALTIES
from confidence_tasks.studies.riskeval.trials import riskeval_trial
from confidence_tasks.studies.scales import STUDY as SCALES
from confidence_tasks.studies.scales import measures as scales
from confidence_tasks.studies.scales.replies import BASELINE
from confidence_tasks.study.columns import columns
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.trial import Item

N = 4_000
"""Questions of a population."""

TYPICAL = Subject(d_prime=1.4, meta_d_prime=1.0, bias=0.5, rounding=0.7)
"""Right three times in four, overconfident, and fond of round numbers."""

CALIBRATED = Subject(d_prime=1.4, meta_d_prime=1.4)
"""States the chance of being right: its calibration error is 0, where an estimate can only be too high."""

THREE_VALUES = Subject(d_prime=1.4, meta_d_prime=1.0, anchors=(0.9, 0.95, 1.0))
"""Says 90, 95 or 100 and nothing else."""

EXPERT = Subject(d_prime=3.3, meta_d_prime=2.4, bias=0.5, rounding=0.7)
"""Right 19 times in 20: few errors to tell from right answers."""


def _population(
    subject: Subject,
    items: Iterable[Item],
    trial: Callable[[Item, str], Mapping[str, Any]],
    measures: Iterable[Measure],
    grouping: Callable[[Columns], list[Group]] = by_condition,
    group: Callable[[str], bool] = lambda label: True,
) -> Population:
    items = list(items)
    table = columns([trial(item, reply) for item, reply in zip(items, replies(subject, items), strict=True)])
    chosen = tuple(found for found in grouping(table) if group(found.label))
    return Population(table, chosen, tuple(measures))


def scale_study(subject: Subject, scale: Scale = BASELINE) -> Population:
    """Confidence on one scale."""
    return _population(
        subject,
        scale_items([scale], ["arithmetic"], n=N),
        lambda item, reply: scale_trial(item.question, scale, reply),
        scales.MEASURES,
    )


def scale_contrast(subject: Subject) -> Population:
    """A condition against the baseline, as tested."""
    two = (Scale(0, 20), BASELINE)
    whole = _population(
        subject,
        scale_items(two, ["arithmetic"], n=N),
        lambda item, reply: scale_trial(item.question, Scale.parse(item.condition), reply),
        [measure for measure in scales.MEASURES if measure.name in SCALES.tested_measures],
    )
    return replace(whole, contrast=True)


_LIFE_GROUPS = {"all", "radius=5", "sex=female", "age=80+"}


def life_study(subject: Subject) -> Population:
    """LifeEval, all questions together and a group of each kind."""
    return _population(
        subject,
        items_of(LIFEEVAL),
        lambda item, reply: lifeeval_trial(item.question, reply),
        lifeeval.MEASURES,
        by_radius_sex_and_age,
        lambda label: label in _LIFE_GROUPS,
    )


def true_or_false(subject: Subject) -> Population:
    """A question set with two alternatives."""
    return _population(
        subject,
        items_of(QUESTION_SETS, "boolq", source="arithmetic_boolean", n=N),
        lambda item, reply: question_set_trial("boolean", item.question, reply),
        question_sets.measures_of("boolean"),
    )


def options(subject: Subject) -> Population:
    """A question set with a probability for every option."""
    return _population(
        subject,
        items_of(QUESTION_SETS, "sciq", source="arithmetic", n=N),
        lambda item, reply: question_set_trial("options", item.question, reply),
        question_sets.measures_of("options"),
    )


PENALTIES = (0.5, 1.0, 10.0, 20.0)
"""Four of the ten, two of them high."""

_RISK_GROUPS = {"lambda=1", "lambda=20", "all", "high_penalty"}


def risk_study(subject: Subject) -> Population:
    """Every question under four penalties, by penalty and by regime."""
    return _population(
        subject,
        riskeval_items(load("arithmetic", n=N), PENALTIES),
        lambda item, reply: riskeval_trial(item.question, penalty_of(item.condition), reply),
        riskeval_measures.MEASURES,
        by_penalty_and_regime,
        lambda label: label in _RISK_GROUPS,
    )


def wavering_study(seed: int = 0) -> Population:
    """Decisions that answer to confidence and penalty, but not always: a threshold with errors on either side of it."""
    whole = risk_study(Subject(d_prime=1.4, meta_d_prime=1.0, noise=0.4, risk_sensitivity=1.0))
    confidence, penalty = whole.columns["confidence"], whole.columns["penalty"]
    threshold = 0.5 + 0.1 * np.log10(penalty)
    answers = np.random.default_rng(seed).random(len(penalty)) < 1 / (
        1 + np.exp((threshold - confidence) / 0.1)
    )
    thresholds = [
        measure
        for measure in riskeval_measures.MEASURES
        if measure.name in ("implied_threshold", "threshold_excess")
    ]
    return replace(
        whole, columns={**whole.columns, "answered": answers.astype(float)}, measures=tuple(thresholds)
    )


def risk_slope(subject: Subject) -> Population:
    """The measure over all penalties."""
    whole = risk_study(subject)
    return Population(whole.columns, _all_together(whole), OVER_PENALTIES)


def _all_together(population: Population) -> tuple[Any, ...]:
    return tuple(by_condition({**population.columns, "condition": population.columns["source"]}))


def fermi_study(subject: Subject, n: int = N, levels: Sequence[float] = LEVELS) -> Population:
    """Intervals for quantities of every size, as stated."""
    questions = [
        Question(
            f"quantity-{i}",
            "simulated",
            f"What is the order of magnitude of quantity {i}?",
            "number",
            str(round(6 * normal(i, "truth"))),
            metadata={"split": TEST},
        )
        for i in range(n)
    ]
    return _population(
        subject,
        items_asking(FERMIEVAL, questions, levels=list(levels)),
        lambda item, reply: fermieval_trial(item.question, level_of(item.condition), TEST, reply),
        FERMI_MEASURES,
    )


POPULATIONS: Mapping[str, Callable[[], Population]] = {
    "scales, typical": lambda: scale_study(TYPICAL),
    "scales, calibrated": lambda: scale_study(CALIBRATED),
    "scales, three values": lambda: scale_study(THREE_VALUES),
    "scales, expert": lambda: scale_study(EXPERT),
    "scales, contrast": lambda: scale_contrast(Subject(d_prime=1.4, meta_d_prime=1.0, noise=0.6)),
    "LifeEval": lambda: life_study(Subject(hazard_noise=0.7, bias=0.5)),
    "true or false": lambda: true_or_false(TYPICAL),
    "options": lambda: options(TYPICAL),
    "RiskEval": lambda: risk_study(Subject(d_prime=1.4, meta_d_prime=1.0, noise=0.4, risk_sensitivity=0.5)),
    "RiskEval, wavering": wavering_study,
    "RiskEval, slope": lambda: risk_slope(
        Subject(d_prime=1.4, meta_d_prime=1.0, noise=0.4, risk_sensitivity=0.5)
    ),
    "FermiEval": lambda: fermi_study(Subject(perception=0.65)),
    "FermiEval, honest": lambda: fermi_study(Subject(perception=1.0), N // 2, (0.9, 0.99)),
}
"""By name."""


@cache
def population(name: str) -> Population:
    """Make a population once."""
    return POPULATIONS[name]()
