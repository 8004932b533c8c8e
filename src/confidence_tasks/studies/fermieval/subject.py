"""Simulated subject of FermiEval: the perception tunnel over a normal belief about the exponent.

The belief about a question is a normal distribution of the exponent. The distance of its mean from the truth is a draw
from the same distribution around 0, so the belief is calibrated. In each call the subject sees a part of its belief
with mass ``perception`` that begins at a uniformly drawn quantile, and takes the part for the whole: it states the
alpha/2 and 1 - alpha/2 quantiles of the part. An interval of nominal coverage p thus contains the truth with
probability p times ``perception``.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), theory 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from statistics import NormalDist

import numpy as np
import scipy

from confidence_tasks.simulation.reply import (
    Reply,
    StageRequest,
    apply_sloppiness,
    reply_probabilities,
    subject_seed,
)
from confidence_tasks.simulation.subject import Subject, even_points, expected_values, normal, uniform
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.studies.fermieval.measures import MEASURES as INTERVAL_MEASURES
from confidence_tasks.studies.fermieval.replies import TEST, interval_reply, level_of
from confidence_tasks.studies.fermieval.trials import read_interval
from confidence_tasks.study.stage import ModelReply
from confidence_tasks.study.structured import is_structured
from confidence_tasks.study.trial import Question


def belief(question: Question, subject: Subject, seed: str) -> NormalDist:
    """Return the subject's belief about the exponent, which is the same in every call."""
    error = subject.belief_sd * normal(subject_seed(seed), question.id, "belief")
    return NormalDist(float(question.gold or 0.0) + error, subject.belief_sd)


def tunnel(perception: float, *key: object) -> tuple[float, float]:
    """Return the quantiles of the belief between which the subject sees it in one call."""
    start = uniform(*key, "tunnel") * (1.0 - perception)
    return start, start + perception


def stated_interval(
    subject: Subject, level: float, draws: Mapping[str, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Return the whole-number ends of simulated intervals, as distances from the true exponent.

    These are the smallest and the largest whole number between the alpha/2 and 1 - alpha/2 quantiles of the visible
    part; if there is none, both are the one nearest the middle. Of the standard normal ``draws``, ``belief`` is the
    error of the belief and ``tunnel`` determines which part is visible.
    """
    start, tail = scipy.special.ndtr(draws["tunnel"]) * (1.0 - subject.perception), (1.0 - level) / 2.0
    lower, upper = (
        subject.belief_sd * (draws["belief"] + scipy.special.ndtri(start + quantile * subject.perception))
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
    belief_draws, tunnel_draws = scipy.special.ndtri(list(even_points(2))).T
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


def respond(question: Question, request: StageRequest) -> Reply:
    """Reply with an interval of the nominal coverage with which the label of the condition ends."""
    level = level_of(request.condition.rpartition(",")[2])
    key = (request.seed, question.id, level)
    ends = stated_ends(question, request.subject, level, request.seed, level)
    reasoning = "" if is_structured(question) else "I combined rough estimates of each factor."
    reply = interval_reply(*ends, reasoning=reasoning)
    return Reply(apply_sloppiness(reply, request.subject, *key), level)
