"""How a simulated subject gives a short answer, with tokens whose log-probabilities carry normal evidence.

The mean log-probability of the answer's tokens is linear in evidence x, which is N(0, 1) when the answer is wrong and
N(d, r^2) when it is right, with d the subject's meta-d' and r its ``evidence_ratio``. So, at any temperature,

    AUROC2 = Phi(d / sqrt(1 + r^2)),   slope of the z-ROC = 1 / r,   d_a = d sqrt(2 / (1 + r^2)).

Outcome and evidence are drawn anew at each temperature, as a sampled answer is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from confidence_tasks.report.groups import Columns
from confidence_tasks.report.power import (
    METACOGNITION,
    Draws,
    EffectParameter,
    PowerDesign,
    accuracy_of,
    by_name,
)
from confidence_tasks.simulation.reply import Reply, StageRequest, answer, call_temperature, subject_seed
from confidence_tasks.simulation.subject import Subject, normal, pick, uniform
from confidence_tasks.simulation.true_values import even_points, of_columns
from confidence_tasks.statistics.core import BoolArray, FloatArray
from confidence_tasks.studies.logprob_metacognition.prompts import CONDITIONS, GOLD, temperature_of
from confidence_tasks.studies.logprob_metacognition.trials import MEASURES as EVIDENCE_MEASURES
from confidence_tasks.study.question import Question

CENTRE, SCALE = -2.5, 0.3
"""Mean log-probability of wrong answers at temperature 1, and its standard deviation, in nats."""

HIGHEST = -1e-6
"""Log-probabilities stay below 0: evidence 8 standard deviations above that of wrong answers is cut."""

FORGOTTEN = 2.0
"""How much less probable a right answer is than a wrong one that was given, in standard deviations of the latter."""

OTHER_TOKENS = -6.0
"""Log-probability of tokens that are no part of the answer, which no alignment may let in."""

END = ("<|end|>", -0.01)

WRONG_TEXTS = ("Quirinus Blott", "the other one", "Zanzibar Jones", "Upper Framblewick", "vorpal geometry")
"""Answers that no key resembles."""

SLOPPY_FORMS: tuple[tuple[str, str], ...] = (
    ("Answer: ", ""),
    ("**", "**"),
    ("The answer is ", "."),
    ("", "\n\nThis is well known."),
    ("", "\nQuestion: What else?\nAnswer: Nothing"),
)
"""What a sloppy subject says before and after its answer."""

EVASIONS = ("I don't know.", "")
"""Replies that answer nothing."""


def evidence(subject: Subject, correct: bool, temperature: float, *key: object) -> float:
    """Return the mean log-probability of an answer's tokens."""
    return float(_mean_logprob(subject, correct, temperature, normal(*key, "evidence")))


def _mean_logprob(subject: Subject, correct: ArrayLike, temperature: float, noise: ArrayLike) -> FloatArray:
    distance = subject.meta_d_prime + subject.temperature_gain * (temperature - 1.0)
    x = np.where(correct, distance + subject.evidence_ratio * np.asarray(noise), noise)
    return np.minimum(CENTRE + SCALE * x - subject.temperature_shift * (temperature - 1.0), HIGHEST)


def is_right(question: Question, subject: Subject, seed: str) -> bool:
    """Return whether the subject's answer in one call is right."""
    return uniform(seed, question.id, "outcome") < subject.accuracy(question.id, subject_seed(seed))


def gold_mean_logprob(question: Question, subject: Subject, seed: str) -> float:
    """Return the mean log-probability of the right answer's tokens after the prompt of one call.

    It is that of the answer where the answer is right; else it is drawn as those of wrong answers are, and is
    ``FORGOTTEN`` standard deviations lower.
    """
    temperature = call_temperature(seed)
    if is_right(question, subject, seed):
        return evidence(subject, True, temperature, seed, question.id)
    own = evidence(subject, False, temperature, seed, question.id, "gold")
    return own - SCALE * FORGOTTEN


def spread_tokens(text: str, mean: float, *key: object) -> list[tuple[str, float]]:
    """Cut a text into tokens of up to four characters, whose log-probabilities differ but have a given mean.

    Examples
    --------
    >>> tokens = spread_tokens("Jane Austen", -0.5, 0)
    >>> [token for token, _ in tokens], round(sum(logprob for _, logprob in tokens) / len(tokens), 12)
    (['Jane', ' Aust', 'en'], -0.5)
    """
    pieces = re.findall(r"\s*\S{1,4}|\s+$", text)
    draws = [uniform(*key, position, "token") for position in range(len(pieces))]
    middle = sum(draws) / max(len(draws), 1)
    return [(piece, mean * (1.0 + draw - middle)) for piece, draw in zip(pieces, draws, strict=True)]


def respond(question: Question, request: StageRequest) -> Reply:
    """Answer ``question`` in a few words, or sloppily; where the right answer is given, say how probable it is."""
    subject, seed = request.subject, request.seed
    key, temperature = (seed, question.id), call_temperature(seed)
    if request.stage == GOLD:
        mean, text = gold_mean_logprob(question, subject, seed), question.gold or ""
        return Reply(text, 0.5, tokens=tuple(spread_tokens(text, mean, *key, "gold")))
    correct = is_right(question, subject, seed)
    before, after = "", ""
    if uniform(*key, "sloppy") < subject.sloppiness:
        form = pick(len(SLOPPY_FORMS) + len(EVASIONS), *key, "form")
        if form >= len(SLOPPY_FORMS):
            return Reply(EVASIONS[form - len(SLOPPY_FORMS)], 0.5)
        before, after = SLOPPY_FORMS[form]
    text = _answer(question, correct, seed)
    tokens = (
        *spread_tokens(before, OTHER_TOKENS, *key, "before"),
        *spread_tokens(text, evidence(subject, correct, temperature, *key), *key),
        *spread_tokens(after, OTHER_TOKENS, *key, "after"),
        END,
    )
    return Reply(before + text + after, 0.5, tokens=tokens)


def _answer(question: Question, correct: bool, seed: str) -> str:
    if question.kind == "number" or correct:
        return answer(question, correct=correct, seed=seed)
    return WRONG_TEXTS[pick(len(WRONG_TEXTS), seed, question.id, "wrong")]


def true_values(subject: Subject, condition: str, *run: object) -> dict[str, float]:
    """Return what a subject's measures at a temperature are in the long run, whatever the run.

    AUROC2, d_a and the slope of the z-ROC are those of the module's formulas, but for the bins that the latter two are
    read off and for log-probabilities cut at 0.

    Examples
    --------
    >>> values = true_values(Subject(), "T=1")
    >>> {name: round(values[name], 2) for name in ("accuracy", "auroc2", "z_roc_slope", "d_a")}
    {'accuracy': 0.77, 'auroc2': 0.86, 'z_roc_slope': 1.0, 'd_a': 1.5}
    """
    temperature, normal_ = float(condition.removeprefix("T=")), NormalDist()
    lost = subject.sloppiness * len(EVASIONS) / (len(SLOPPY_FORMS) + len(EVASIONS))
    correct, noises, chances = [], [], []
    for noise, difficulty in even_points(2):
        accuracy = subject.accuracy_at(normal_.inv_cdf(difficulty))
        for right, chance in ((True, accuracy), (False, 1.0 - accuracy)):
            correct.append(float(right))
            noises.append(normal_.inv_cdf(noise))
            chances.append(chance)
    said = _mean_logprob(subject, correct, temperature, noises)
    weights = np.array(chances) * (1.0 - lost) / (sum(chances) or 1.0)
    trials = {
        "correct": np.array([*correct, math.nan]),
        "mean_logprob": np.array([*said, math.nan]),
        "confidence": np.array([*np.exp(said), math.nan]),
        "status": np.array([*["ok"] * len(said), "unreadable"]),
    }
    return of_columns(EVIDENCE_MEASURES, trials, np.array([*weights, lost]))


_GRID = 0.03
"""Log-probabilities are rounded to this, in nats, so that questions are alike: a tenth of their spread."""


def answered_shortly(subject: Subject, temperature: float, draws: Draws) -> tuple[BoolArray, FloatArray]:
    """Return whether each short answer is right, and the mean log-probability of its tokens."""
    correct = ndtr(draws["outcome"]) < accuracy_of(subject, draws)
    return correct, _mean_logprob(subject, correct, temperature, draws["evidence"])


def _short_replies(subject: Subject, draws: Sequence[Draws], condition: str) -> Columns:
    correct, mean_logprob = answered_shortly(subject, temperature_of(condition), draws[0])
    return {"correct": correct.astype(np.float64), "mean_logprob": _GRID * np.rint(mean_logprob / _GRID)}


def _short_trials(replies: Columns, condition: str) -> Columns:
    return {**replies, "confidence": np.exp(replies["mean_logprob"])}


_EVIDENCE_EFFECTS = {
    "meta_information": METACOGNITION,
    "auroc2": METACOGNITION,
    "d_a": METACOGNITION,
    "mean_logprob_difference": METACOGNITION,
    "z_roc_slope": EffectParameter("evidence_ratio", 0.3, 3.0),
    "accuracy": EffectParameter("d_prime", 0.0, 4.0),
}


POWER = PowerDesign(
    condition="T=1",
    read_condition=CONDITIONS.label_of,
    n_replies=1,
    replies=_short_replies,
    trials=_short_trials,
    measures=by_name(EVIDENCE_MEASURES, _EVIDENCE_EFFECTS),
    effects=_EVIDENCE_EFFECTS,
)
