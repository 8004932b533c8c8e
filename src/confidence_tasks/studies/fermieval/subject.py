"""Simulated subjects of FermiEval's three tasks: the perception tunnel over a normal belief about the exponent.

The belief about a question is a normal distribution of the exponent. The distance of its mean from the truth is a draw
from the same distribution around 0, so the belief is calibrated. In each call the subject sees a part of its belief
with mass ``perception`` that begins at a uniformly drawn quantile, and takes the part for the whole: it states the
alpha/2 and 1 - alpha/2 quantiles of the part. An interval of nominal coverage p thus contains the truth with
probability p times ``perception``.

A single exponent is drawn from the rounded belief: from the whole belief if asked directly, from the visible part after
reasoning. The probabilities are raised to the power ``gain``, and at temperature T to ``gain`` / T; T = 0 gives the
most probable exponent.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), theory 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from scipy.special import ndtr, ndtri

from confidence_tasks.report.power import Draws, EffectParameter, PowerDesign
from confidence_tasks.report.task_trials import Columns
from confidence_tasks.simulation.reply import (
    Reply,
    StageRequest,
    apply_sloppiness,
    call_temperature,
    reply_probabilities,
    subject_seed,
)
from confidence_tasks.simulation.subject import Subject, even_points, expected_values, normal, uniform
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.studies.fermieval.replies import CONDITIONS, TEST, interval_reply, level_of
from confidence_tasks.studies.fermieval.trials import MEASURES as INTERVAL_MEASURES
from confidence_tasks.studies.fermieval.trials import read_interval
from confidence_tasks.studies.fermieval_logprob.trials import REPORTED_MEASURES as DISTRIBUTION_MEASURES
from confidence_tasks.studies.fermieval_logprob.trials import distribution_trial
from confidence_tasks.studies.fermieval_sampling.trials import read_cell
from confidence_tasks.study.stage import ModelReply
from confidence_tasks.study.trial import Question


def belief(question: Question, subject: Subject, seed: str) -> NormalDist:
    """Return the subject's belief about the exponent, which is the same in every call."""
    error = subject.belief_sd * normal(subject_seed(seed), question.id, "belief")
    return NormalDist(float(question.gold or 0.0) + error, subject.belief_sd)


def tunnel(perception: float, *key: object) -> tuple[float, float]:
    """Return the quantiles of the belief between which the subject sees it in one call."""
    start = uniform(*key, "tunnel") * (1.0 - perception)
    return start, start + perception


def stated_interval(subject: Subject, level: float, draws: Draws) -> tuple[FloatArray, FloatArray]:
    """Return the whole-number ends of simulated intervals, as distances from the true exponent.

    These are the smallest and the largest whole number between the alpha/2 and 1 - alpha/2 quantiles of the visible
    part; if there is none, both are the one nearest the middle. Of the standard normal ``draws``, ``belief`` is the
    error of the belief and ``tunnel`` determines which part is visible.
    """
    start, tail = ndtr(draws["tunnel"]) * (1.0 - subject.perception), (1.0 - level) / 2.0
    lower, upper = (
        subject.belief_sd * (draws["belief"] + ndtri(start + quantile * subject.perception))
        for quantile in (tail, 1.0 - tail)
    )
    first, last, middle = np.ceil(lower), np.floor(upper), np.rint((lower + upper) / 2.0)
    empty = first > last
    return np.where(empty, middle, first), np.where(empty, middle, last)


def stated_ends(
    question: Question, subject: Subject, level: float, seed: str, *key: object
) -> tuple[int, int]:
    """Return the ends of the subject's interval in one call."""
    draws = {
        "belief": np.array(normal(subject_seed(seed), question.id, "belief")),
        "tunnel": np.array(normal(seed, question.id, *key, "tunnel")),
    }
    truth = int(float(question.gold or 0.0))
    lower, upper = stated_interval(subject, level, draws)
    return truth + int(lower), truth + int(upper)


def true_values(subject: Subject, condition: str, *run: object) -> dict[str, float]:
    """Return the expected measures of the subject's intervals, whose ends are whole numbers.

    An interval that contains a whole number contains the truth with probability ``level * perception``. Any other
    interval is replaced by the nearest whole number.

    Examples
    --------
    >>> values = true_values(Subject(), "p=0.9")
    >>> {name: round(values[name], 2) for name in ("coverage", "coverage_gap", "mean_width")}
    {'coverage': 0.59, 'coverage_gap': -0.31, 'mean_width': 2.53}
    """
    question = Question("true", "fermi", "How many?", "number", "0", metadata={"split": TEST})
    belief_draws, tunnel_draws = ndtri(list(even_points(2))).T
    lower, upper = stated_interval(
        subject, level_of(condition), {"belief": belief_draws, "tunnel": tunnel_draws}
    )
    counts = Counter(zip(lower.astype(int).tolist(), upper.astype(int).tolist(), strict=True))
    trials = [
        (
            read_interval(question, condition, {"interval": [ModelReply(text)]}),
            count * probability / counts.total(),
        )
        for ends, count in counts.items()
        for text, probability in reply_probabilities(interval_reply(*ends), subject)
    ]
    return expected_values(INTERVAL_MEASURES, trials)


def exponent_distribution(
    distribution: NormalDist, subject: Subject, visible: tuple[float, float] = (0.0, 1.0)
) -> dict[int, float]:
    """Return the probability of each exponent in the part of a belief between two quantiles."""
    middle, reach = round(distribution.mean), math.ceil(6.0 * subject.belief_sd)
    mass = {}
    for value in range(middle - reach, middle + reach + 1):
        low, high = (min(max(distribution.cdf(value + side), visible[0]), visible[1]) for side in (-0.5, 0.5))
        if high > low:
            mass[value] = (high - low) ** subject.gain
    total = math.fsum(mass.values())
    return {value: p / total for value, p in mass.items()}


_N_BELIEFS = 1_000
"""Number of beliefs over which the expected measures of token probabilities are averaged."""


def true_values_of_tokens(subject: Subject, condition: str, *run: object) -> dict[str, float]:
    """Return the expected measures of the subject's token probabilities.

    Examples
    --------
    >>> values = true_values_of_tokens(Subject(gain=2.0), "first_token")
    >>> {name: round(values[name], 2) for name in ("accuracy", "confidence")}
    {'accuracy': 0.2, 'confidence': 0.27}
    """
    question = Question("true", "fermi", "How many?", "number", "0")
    trials = []
    for (quantile,) in even_points(1, _N_BELIEFS):
        error = subject.belief_sd * NormalDist().inv_cdf(quantile)
        probabilities = exponent_distribution(NormalDist(error, subject.belief_sd), subject)
        trials.append((distribution_trial(question, TEST, probabilities), 1.0 / _N_BELIEFS))
    return expected_values(DISTRIBUTION_MEASURES, trials)


def draw_exponent(probabilities: dict[int, float], temperature: float, *key: object) -> int:
    """Draw an exponent at a temperature; the most probable one at temperature 0."""
    p = np.array(list(probabilities.values()))
    if not temperature:
        return list(probabilities)[int(p.argmax())]
    cumulative = np.cumsum((p / p.max()) ** (1.0 / temperature))
    drawn = np.searchsorted(cumulative, uniform(*key, "exponent") * cumulative[-1])
    return list(probabilities)[int(drawn)]


def respond_exponent(question: Question, request: StageRequest, *, reasoned: bool = False) -> Reply:
    """Reply with one exponent, at once or after reasoning."""
    subject, key = request.subject, (request.seed, question.id)
    visible = tunnel(subject.perception, *key) if reasoned else (0.0, 1.0)
    probabilities = exponent_distribution(belief(question, subject, request.seed), subject, visible)
    value = draw_exponent(probabilities, call_temperature(request.seed), *key)
    if reasoned:
        return Reply(f"I combined rough estimates of each factor.\n{value}", probabilities[value])
    return Reply(str(value), probabilities[value], {str(other): p for other, p in probabilities.items()})


def respond_sample(question: Question, request: StageRequest) -> Reply:
    """Reply with an interval or an exponent, depending on the condition."""
    ask, *_ = read_cell(request.condition)
    if ask == "interval":
        return respond(question, request)
    return respond_exponent(question, request, reasoned=ask == "reasoned")


def respond(question: Question, request: StageRequest) -> Reply:
    """Reply with an interval of the nominal coverage with which the label of the condition ends."""
    level = level_of(request.condition.rpartition(",")[2])
    key = (request.seed, question.id, level)
    ends = stated_ends(question, request.subject, level, request.seed, level)
    reply = interval_reply(*ends, reasoning="I combined rough estimates of each factor.")
    return Reply(apply_sloppiness(reply, request.subject, *key), level)


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
