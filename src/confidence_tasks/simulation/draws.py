"""Replies of two simulated subjects to many questions at once: correctness and confidence instead of texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import scipy  # loads its parts at first use: scipy.stats takes half a second
from scipy.special import expit, log_ndtr, logit, ndtr, ndtri

from confidence_tasks.simulation.subject import STRONGEST, Subject
from confidence_tasks.statistics.core import BoolArray, FloatArray

Draws: TypeAlias = Mapping[str, FloatArray]
"""Standard normal draws, one per question, by the name of the quantity that they determine."""

QUESTION_DRAWS = ("outcome", "evidence", "belief", "difficulty")
"""Draws that depend on the question; they may correlate between two subjects."""

REPLY_DRAWS = ("noise", "rounding", "tunnel")
"""Draws that are independent for each reply."""


def paired_draws(
    log2_n: int, correlation: float, rng: np.random.Generator, n_replies: int = 1
) -> tuple[list[Draws], list[Draws]]:
    """Return quasi-random draws of two subjects that answer the same 2 ** log2_n questions.

    ``correlation`` is that of the draws that depend on the question: 0 for unrelated models, 1 for one model asked
    twice. Each subject has draws for ``n_replies`` replies to each question, one per condition.

    References
    ----------
    Sobol' points, scrambled: Owen (1998), doi:10.1006/jcom.1998.0487.
    """
    # The first dimensions of a Sobol' sequence are the most even: they get the most important draws.
    names = [(subject, name) for name in QUESTION_DRAWS for subject in (0, 1)]
    names += [
        (subject, f"{name}/{i}") for i in range(n_replies) for name in REPLY_DRAWS for subject in (0, 1)
    ]
    points = scipy.stats.qmc.Sobol(len(names), rng=rng).random_base2(log2_n)
    tiny = 2.0**-40  # keeps points at the edge of the unit cube from becoming infinite
    drawn = dict(zip(names, ndtri(np.clip(points, tiny, 1.0 - tiny)).T, strict=True))
    rest = np.sqrt(1.0 - correlation**2)
    for name in QUESTION_DRAWS:
        drawn[1, name] = correlation * drawn[0, name] + rest * drawn[1, name]

    def draws_of(subject: int) -> list[Draws]:
        shared = {name: drawn[subject, name] for name in QUESTION_DRAWS}
        return [
            {**shared, **{name: drawn[subject, f"{name}/{i}"] for name in REPLY_DRAWS}}
            for i in range(n_replies)
        ]

    return draws_of(0), draws_of(1)


def decide(subject: Subject, draws: Draws, condition: str = "") -> tuple[BoolArray, FloatArray]:
    """Return whether the subject is right about each question, and its confidence, like ``Subject.decide``."""
    accuracy = accuracy_of(subject, draws)
    correct = ndtr(draws["outcome"]) < accuracy
    meta = np.clip(subject.meta_d_prime * subject.scale_gain.get(condition, 1.0), -STRONGEST, STRONGEST)
    mean = np.where(correct, meta / 2, -meta / 2)
    below = ndtr(-mean)
    quantile = np.minimum(below + ndtr(draws["evidence"]) * (1.0 - below), 1.0 - 1e-16)
    calibrated = meta * (mean + ndtri(quantile)) + logit(accuracy) + log_ndtr(-meta / 2) - log_ndtr(meta / 2)
    return correct, expit(subject.bias + subject.noise * draws["noise"] + subject.gain * calibrated)


def accuracy_of(subject: Subject, draws: Draws) -> FloatArray:
    """Return the probability that the subject is right about each question."""
    d_prime = subject.d_prime + subject.difficulty_spread * draws["difficulty"]
    return np.asarray(ndtr(np.clip(d_prime, -STRONGEST, STRONGEST) / 2))
