"""The replies of a simulated subject to the log-probability study."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from confidence_tasks.simulation.reply import Reply, StageRequest, answer, call_temperature, subject_seed
from confidence_tasks.simulation.subject import Subject, normal, pick, uniform
from confidence_tasks.studies.logprob_metacognition.replies import GOLD, _key
from confidence_tasks.study.trial import Question

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from confidence_tasks.statistics.core import FloatArray

CENTRE, SCALE = -2.5, 0.3
"""Mean and standard deviation of wrong answers' mean log-probability at temperature 1, in nats."""


HIGHEST = -1e-6
"""Upper bound of log-probabilities, 8 standard deviations above the mean of wrong answers."""


GOLD_DEFICIT = 2.0
"""Difference between the mean log-probabilities of a wrong answer and of the key, in units of ``SCALE``."""


OTHER_TOKENS = -6.0
"""Log-probability of tokens outside the answer: low, so that an error of alignment shows."""


END = ("<|end|>", -0.01)


WRONG_TEXTS = ("Quirinus Blott", "the other one", "Zanzibar Jones", "Upper Framblewick", "vorpal geometry")
"""Answers that resemble no key."""


SLOPPY_FORMS: tuple[tuple[str, str], ...] = (
    ("Answer: ", ""),
    ("**", "**"),
    ("The answer is ", "."),
    ("", "\n\nThis is well known."),
    ("", "\nQuestion: What else?\nAnswer: Nothing"),
)
"""Texts that a sloppy subject writes before and after its answer."""


EVASIONS = ("I don't know.", "")
"""Replies without an answer."""


def answer_logprob(subject: Subject, correct: bool, temperature: float, *key: object) -> float:
    """Return the mean log-probability of one answer, a fixed function of ``key``."""
    return float(draw_mean_logprob(subject, correct, temperature, normal(*key, "evidence")))


def draw_mean_logprob(
    subject: Subject, correct: ArrayLike, temperature: float, noise: ArrayLike
) -> FloatArray:
    """Return the mean log-probability of answers; ``noise`` is standard normal and broadcasts with ``correct``."""
    distance = subject.meta_d_prime + subject.temperature_gain * (temperature - 1.0)
    x = np.where(correct, distance + subject.evidence_ratio * np.asarray(noise), noise)
    return np.minimum(CENTRE + SCALE * x - subject.temperature_shift * (temperature - 1.0), HIGHEST)


def is_right(question: Question, subject: Subject, seed: str) -> bool:
    """Return whether the subject's answer in one call is right."""
    return uniform(seed, question.id, "outcome") < subject.accuracy(question.id, subject_seed(seed))


def gold_logprob(question: Question, subject: Subject, seed: str) -> float:
    """Return the mean log-probability of the key after the prompt of one call.

    If the answer is right, it is that of the answer. Otherwise it is drawn like that of a wrong answer, minus
    ``GOLD_DEFICIT`` standard deviations.
    """
    temperature = call_temperature(seed)
    if is_right(question, subject, seed):
        return answer_logprob(subject, True, temperature, seed, question.id)
    return answer_logprob(subject, False, temperature, seed, question.id, "gold") - SCALE * GOLD_DEFICIT


def spread_tokens(text: str, mean: float, *key: object) -> list[tuple[str, float]]:
    """Cut a text into tokens of up to four characters, with different log-probabilities of a given mean.

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
    """Answer a question in a few words, neatly or sloppily; in the stage of the right answer, score the key."""
    subject, seed = request.subject, request.seed
    key = (seed, question.id)
    if request.stage == GOLD:
        text, mean = _key(question), gold_logprob(question, subject, seed)
        return Reply(text, 0.5, tokens=tuple(spread_tokens(text, mean, *key, "gold")))
    correct = is_right(question, subject, seed)
    before, after = "", ""
    if uniform(*key, "sloppy") < subject.sloppiness:
        form = pick(len(SLOPPY_FORMS) + len(EVASIONS), *key, "form")
        if form >= len(SLOPPY_FORMS):
            return Reply(EVASIONS[form - len(SLOPPY_FORMS)], 0.5)
        before, after = SLOPPY_FORMS[form]
    if correct or question.kind == "number":
        text = answer(question, correct=correct, seed=seed)
    else:
        text = WRONG_TEXTS[pick(len(WRONG_TEXTS), seed, question.id, "wrong")]
    tokens = (
        *spread_tokens(before, OTHER_TOKENS, *key, "before"),
        *spread_tokens(text, answer_logprob(subject, correct, call_temperature(seed), *key), *key),
        *spread_tokens(after, OTHER_TOKENS, *key, "after"),
        END,
    )
    return Reply(before + text + after, 0.5, tokens=tokens)
