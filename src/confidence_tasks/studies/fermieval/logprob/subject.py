"""Simulated subject that states one exponent, drawn from its rounded belief.

Asked directly, it draws from the whole belief, and after reasoning from the visible part. The probabilities are raised
to the power ``gain``, and at temperature T to ``gain`` / T; T = 0 gives the most probable exponent.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from confidence_tasks.simulation.reply import Reply, StageRequest, call_temperature
from confidence_tasks.simulation.subject import Subject, even_points, expected_values, uniform
from confidence_tasks.studies.fermieval.logprob.measures import REPORTED_MEASURES
from confidence_tasks.studies.fermieval.logprob.trials import distribution_trial
from confidence_tasks.studies.fermieval.replies import TEST
from confidence_tasks.studies.fermieval.subject import belief, tunnel
from confidence_tasks.study.trial import Question


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
    return expected_values(REPORTED_MEASURES, trials)


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
