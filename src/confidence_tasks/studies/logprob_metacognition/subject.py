"""The true measures of a simulated subject in the log-probability study."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist

import numpy as np

from confidence_tasks.simulation.subject import Subject, evaluate_measures, even_points
from confidence_tasks.studies.logprob_metacognition.author import AUTHOR
from confidence_tasks.studies.logprob_metacognition.measures import MEASURES
from confidence_tasks.studies.logprob_metacognition.replies import (
    ALL_TOKENS,
    CONDITIONS,
    FIRST_RELEASE,
    reading_of,
)
from confidence_tasks.studies.logprob_metacognition.simulated_replies import (
    EVASIONS,
    SLOPPY_FORMS,
    draw_mean_logprob,
)


def true_values(subject: Subject, condition: str, *run: object) -> dict[str, float]:
    """Return the true values of a subject's measures at a temperature.

    Raises ValueError for a sloppy subject whose whole reply is the answer or the evidence: what it says around its
    answers has no known effect. ``run`` is the task and its parameters, if they are known.

    AUROC2, d_a and the slope of the z-ROC agree with the formulas of :mod:`.replies`, except for the binning of the
    latter two and the bound of log-probabilities at 0.

    Examples
    --------
    >>> values = true_values(Subject(), "T=1")
    >>> {name: round(values[name], 2) for name in ("accuracy", "auroc2", "z_roc_slope", "d_a")}
    {'accuracy': 0.77, 'auroc2': 0.86, 'z_roc_slope': 1.0, 'd_a': 1.5}
    """
    how = reading_of(run[1]) if len(run) > 1 and isinstance(run[1], Mapping) else FIRST_RELEASE
    if subject.sloppiness and (how["scoring"] == AUTHOR or how["span"] == ALL_TOKENS):
        raise ValueError("true values of a sloppy subject are known for scoring=line and span=answer only")
    temperature, standard_normal = CONDITIONS.number(condition), NormalDist()
    evasion_rate = subject.sloppiness * len(EVASIONS) / (len(SLOPPY_FORMS) + len(EVASIONS))
    correct, noises, probabilities = [], [], []
    for noise, difficulty in even_points(2):
        accuracy = subject.accuracy_at(standard_normal.inv_cdf(difficulty))
        for right, probability in ((True, accuracy), (False, 1.0 - accuracy)):
            correct.append(float(right))
            noises.append(standard_normal.inv_cdf(noise))
            probabilities.append(probability)
    mean_logprob = draw_mean_logprob(subject, correct, temperature, noises)
    weights = np.array(probabilities) * (1.0 - evasion_rate) / (sum(probabilities) or 1.0)
    trials = {
        "correct": np.array([*correct, math.nan]),
        "mean_logprob": np.array([*mean_logprob, math.nan]),
        "confidence": np.array([*np.exp(mean_logprob), math.nan]),
        "status": np.array([*["ok"] * len(mean_logprob), "unreadable"]),
    }
    return evaluate_measures(MEASURES, trials, np.array([*weights, evasion_rate]))
