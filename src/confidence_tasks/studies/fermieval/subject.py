"""How a simulated subject states an interval: the perception tunnel over a normal belief about the exponent.

The subject's belief about a question is normal in the exponent. Its mean lies off the truth by a draw from that same
normal distribution, so that the belief is calibrated. In each call the subject sees only a part of its belief that has
the mass ``perception``, which begins at a uniformly drawn quantile, and takes that part for the whole: it states the
alpha/2 and 1 - alpha/2 quantiles of the part. So a nominal coverage p is met with probability p times ``perception``.

Asked for a single exponent, it draws from its belief, rounded; directly from all of it, after reasoning from the
part that it sees. Its probabilities are raised to the power ``gain``, and at a temperature T to ``gain`` / T; T = 0
gives the most probable exponent.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), theory 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from scipy.special import ndtr, ndtri

from confidence_tasks.report.power import Draws, EffectParameter, PowerDesign
from confidence_tasks.report.task_trials import Columns
from confidence_tasks.simulation.reply import (
    Reply,
    StageRequest,
    call_temperature,
    said,
    subject_seed,
    ways_to_say,
)
from confidence_tasks.simulation.subject import Subject, even_points, long_run, normal, uniform
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.studies.fermieval.replies import CONDITIONS, TEST, interval_reply, level_of
from confidence_tasks.studies.fermieval.trials import MEASURES as INTERVAL_MEASURES
from confidence_tasks.studies.fermieval.trials import read_interval
from confidence_tasks.study.stage import ModelReply
from confidence_tasks.study.trial import Question


def belief(question: Question, subject: Subject, seed: str) -> NormalDist:
    """Return what the subject believes of the exponent; it is the same in every call."""
    off = subject.belief_sd * normal(subject_seed(seed), question.id, "belief")
    return NormalDist(float(question.gold or 0.0) + off, subject.belief_sd)


def tunnel(perception: float, *key: object) -> tuple[float, float]:
    """Return between which quantiles of its belief the subject sees in one call."""
    start = uniform(*key, "tunnel") * (1.0 - perception)
    return start, start + perception


def perceived_interval(
    question: Question, subject: Subject, level: float, seed: str, *key: object
) -> tuple[float, float]:
    """Return the alpha/2 and 1 - alpha/2 quantiles of the part of the belief that is seen in one call."""
    start, _ = tunnel(subject.perception, seed, question.id, *key)
    return _quantiles(belief(question, subject, seed), subject, level, start)


def _quantiles(believed: NormalDist, subject: Subject, level: float, start: float) -> tuple[float, float]:
    """Return the outer quantiles of the part of a belief that begins at a quantile."""
    tail = (1.0 - level) / 2.0
    return (
        believed.inv_cdf(start + tail * subject.perception),
        believed.inv_cdf(start + (1.0 - tail) * subject.perception),
    )


def true_values(subject: Subject, condition: str, *run: object) -> dict[str, float]:
    """Return what the intervals of a subject are worth in the long run, by measure; it states whole exponents.

    Where an interval holds no whole number, the one nearest to it is stated; else the truth, which is a whole number
    and lies as the belief says, is held with probability level times perception.

    Examples
    --------
    >>> values = true_values(Subject(), "p=0.9")
    >>> {name: round(values[name], 2) for name in ("coverage", "coverage_gap", "mean_width")}
    {'coverage': 0.59, 'coverage_gap': -0.31, 'mean_width': 2.53}
    """
    level = float(condition.removeprefix("p="))
    question = Question("true", "fermi", "How many?", "number", "0", metadata={"split": TEST})
    found: dict[tuple[int, int], float] = {}
    for off, start in even_points(2):
        believed = NormalDist(subject.belief_sd * NormalDist().inv_cdf(off), subject.belief_sd)
        ends = whole(*_quantiles(believed, subject, level, start * (1.0 - subject.perception)))
        found[ends] = found.get(ends, 0.0) + 1.0
    total = sum(found.values())
    trials = [
        (read_interval(question, condition, {"interval": [ModelReply(text)]}), weight * probability / total)
        for ends, weight in found.items()
        for text, probability in ways_to_say(interval_reply(*ends), subject)
    ]
    return long_run(INTERVAL_MEASURES, trials)


def whole(lower: float, upper: float) -> tuple[int, int]:
    """Return the whole numbers from ``lower`` to ``upper``, which hold a whole truth just when the interval does.

    Where there is none in between, the one nearest to the middle.

    Examples
    --------
    >>> whole(2.3, 5.9), whole(2.3, 2.6)
    ((3, 5), (2, 2))
    """
    first, last = math.ceil(lower), math.floor(upper)
    middle = round((lower + upper) / 2.0)
    return (first, last) if first <= last else (middle, middle)


def exponent_distribution(
    believed: NormalDist, subject: Subject, within: tuple[float, float] = (0.0, 1.0)
) -> dict[int, float]:
    """Return the probability of each exponent in the part of a belief between two quantiles."""
    middle, reach = round(believed.mean), math.ceil(6.0 * subject.belief_sd)
    mass = {}
    for value in range(middle - reach, middle + reach + 1):
        low, high = (min(max(believed.cdf(value + side), within[0]), within[1]) for side in (-0.5, 0.5))
        if high > low:
            mass[value] = (high - low) ** subject.gain
    total = math.fsum(mass.values())
    return {value: p / total for value, p in mass.items()}


_BELIEFS = 1_000
"""Beliefs over which what their probabilities are worth is averaged."""


def true_values_of_tokens(subject: Subject, condition: str, *run: object) -> dict[str, float]:
    """Return what the token probabilities of a subject are worth in the long run, by measure.

    Examples
    --------
    >>> values = true_values_of_tokens(Subject(gain=2.0), "first_token")
    >>> {name: round(values[name], 2) for name in ("accuracy", "confidence")}
    {'accuracy': 0.2, 'confidence': 0.27}
    """
    from confidence_tasks.studies.fermieval_logprob.trials import REPORTED_MEASURES, distribution_trial

    question = Question("true", "fermi", "How many?", "number", "0")
    beliefs = [
        NormalDist(subject.belief_sd * NormalDist().inv_cdf(off), subject.belief_sd)
        for (off,) in even_points(1, _BELIEFS)
    ]
    trials = [
        distribution_trial(question, TEST, exponent_distribution(believed, subject)) for believed in beliefs
    ]
    return long_run(REPORTED_MEASURES, [(trial, 1.0 / _BELIEFS) for trial in trials])


def drawn(probabilities: dict[int, float], temperature: float, *key: object) -> int:
    """Draw an exponent at a temperature; the most probable one at 0."""
    most = max(probabilities.values())
    if not temperature:
        return next(value for value, p in probabilities.items() if p == most)
    weights = {value: (p / most) ** (1.0 / temperature) for value, p in probabilities.items()}
    left = uniform(*key, "exponent") * math.fsum(weights.values())
    for value, weight in weights.items():
        left -= weight
        if left <= 0.0:
            return value
    return max(weights)


def respond_exponent(question: Question, request: StageRequest, *, reasoned: bool = False) -> Reply:
    """State one exponent, at once or after reasoning."""
    subject, key = request.subject, (request.seed, question.id)
    within = tunnel(subject.perception, *key) if reasoned else (0.0, 1.0)
    probabilities = exponent_distribution(belief(question, subject, request.seed), subject, within)
    value = drawn(probabilities, call_temperature(request.seed), *key)
    if reasoned:
        return Reply(f"I combined rough estimates of each factor.\n{value}", probabilities[value])
    return Reply(str(value), probabilities[value], {str(other): p for other, p in probabilities.items()})


def respond_sample(question: Question, request: StageRequest) -> Reply:
    """State an interval or an exponent, as the condition of a sample asks."""
    from confidence_tasks.studies.fermieval_sampling.trials import read_cell

    ask, *_ = read_cell(request.condition)
    if ask == "interval":
        return respond(question, request)
    return respond_exponent(question, request, reasoned=ask == "reasoned")


def respond(question: Question, request: StageRequest) -> Reply:
    """State an interval of the coverage that the condition asks for, which its label ends with."""
    level = level_of(request.condition.rpartition(",")[2])
    key = (request.seed, question.id, level)
    ends = whole(*perceived_interval(question, request.subject, level, request.seed, level))
    reply = interval_reply(*ends, reasoning="I combined rough estimates of each factor.")
    return Reply(said(reply, request.subject, *key), level)


def stated_interval(subject: Subject, level: float, draws: Draws) -> tuple[FloatArray, FloatArray]:
    """Return the whole ends of the intervals that the subject states, as distances from the true exponent."""
    mean = subject.belief_sd * draws["belief"]
    start = ndtr(draws["tunnel"]) * (1.0 - subject.perception)
    tail = (1.0 - level) / 2.0
    lower, upper = (
        mean + subject.belief_sd * ndtri(start + quantile * subject.perception)
        for quantile in (tail, 1.0 - tail)
    )
    first, last = np.ceil(lower), np.floor(upper)
    middle = np.rint((lower + upper) / 2.0)
    none_between = first > last
    return np.where(none_between, middle, first), np.where(none_between, middle, last)


def _interval_replies(subject: Subject, draws: Sequence[Draws], condition: str) -> Columns:
    return dict(zip(("lower", "upper"), stated_interval(subject, level_of(condition), draws[0]), strict=True))


def _interval_trials(replies: Columns, condition: str) -> Columns:
    lower, upper = replies["lower"], replies["upper"]
    n = len(lower)
    return {
        "lower": lower,
        "upper": upper,
        "truth": np.zeros(n),
        "level": np.full(n, level_of(condition)),
        "correct": ((lower <= 0.0) & (upper >= 0.0)).astype(np.float64),
        "split": np.full(n, TEST, dtype=object),
    }


POWER = PowerDesign(
    condition="p=0.9",
    read_condition=CONDITIONS.label_of,
    n_replies=1,
    replies=_interval_replies,
    trials=_interval_trials,
    effects=dict.fromkeys(
        ("coverage", "coverage_gap", "mean_width", "winkler"), EffectParameter("perception", 0.02, 1.0)
    ),
    every_measure=INTERVAL_MEASURES,
)
