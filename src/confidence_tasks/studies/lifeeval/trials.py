"""The trial of LifeEval: a guess of the age at death, scored by the life table.

arXiv:2605.23909, sections 4.5 and 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from confidence_tasks.reading.explanation import escape_markdown, format_number, token_probability
from confidence_tasks.reading.fields import is_probability
from confidence_tasks.reading.token_probabilities import number_probability, tokens_from_reply
from confidence_tasks.studies.lifeeval.reader import read_lifeeval_reply
from confidence_tasks.studies.lifeeval.replies import OLDEST, death_probabilities
from confidence_tasks.study import Question, Reading, Replies, Token
from confidence_tasks.study.trial import ReadTrial, Status, read_trial

if TYPE_CHECKING:
    from confidence_tasks.statistics.life_table import Window

WINDOWS: tuple[Window, ...] = ("half_open", "inclusive")
"""Ages at death that are within r of a guess k: from k - r to k + r - 1 completed years, or to k + r."""


class LifeEvalTrial(ReadTrial):
    """A trial of LifeEval; ``correct`` is the score, the probability that the guess in ``answer`` is within the radius.

    Attributes
    ----------
    confidence_raw : float
        The confidence as stated.
    sex : str
        Sex of the person.
    age, radius : float
        Minimum age and radius in years.
    mas : float
        Maximum achievable score: the score of the best guess.
    difficulty : float
        1 minus the maximum achievable score.
    window : str
        Ages at death that are within the radius; scores of different windows must not be compared.
    token_confidence : float
        Token probability of the guess; NaN if there is none.
    """

    confidence_raw: float
    sex: str
    age: float
    radius: float
    mas: float
    difficulty: float
    window: str
    token_confidence: float


def _case(question: Question) -> tuple[str, str, int, int, Window]:
    """Return what determines the score of a guess: path of the life table, sex, age, radius and window."""
    metadata = question.metadata
    window = metadata.get("window", "half_open")
    return metadata.get("table", ""), metadata["sex"], metadata["age"], metadata["radius"], window


@lru_cache(maxsize=4096)
def _scores(table: str, sex: str, age: int, radius: int, window: Window) -> tuple[tuple[float, ...], float]:
    """Return the scores of the guesses from 0 to 150 years, and the maximum achievable score."""
    from confidence_tasks.statistics.life_table import best_guess, window_probability

    q = death_probabilities(table, sex)
    scores = window_probability(q, range(OLDEST + 1), minimum_age=age, radius=radius, window=window)
    return tuple(scores.tolist()), float(best_guess(q, minimum_age=age, radius=radius, window=window).score)


def guess_score(question: Question, guess: int) -> float:
    """Return the probability that the age at death is within the radius of ``guess``.

    Examples
    --------
    >>> from confidence_tasks.sources.generated import lifeeval_question
    >>> round(guess_score(lifeeval_question("male", 65, 10), 84), 5)
    0.71832
    """
    scores, _ = _scores(*_case(question))
    return scores[guess] if 0 <= guess <= OLDEST else 0.0


def maximum_score(question: Question) -> float:
    """Return the maximum achievable score of a question.

    Examples
    --------
    >>> from confidence_tasks.sources.generated import lifeeval_question
    >>> round(maximum_score(lifeeval_question("female", 65, 10, window="inclusive")), 5)
    0.75458
    """
    return _scores(*_case(question))[1]


def read_guess(question: Question, condition: str, replies: Replies) -> LifeEvalTrial:
    """Read the reply, and score its guess by the life table and the window in the question's metadata.

    Examples
    --------
    >>> from confidence_tasks.sources.generated import lifeeval_question
    >>> from confidence_tasks.study import ModelReply
    >>> reply = ModelReply('{"Answer": 84, "Confidence": 0.7}')
    >>> trial = read_guess(lifeeval_question("male", 65, 10), "radius=10", {"guess": [reply]})
    >>> round(trial["correct"], 5), trial["confidence"], trial["status"]
    (0.71832, 0.7, 'ok')
    """
    reply = replies["guess"][0]
    _, sex, age, radius, window = _case(question)
    reading = _without_years_left(read_lifeeval_reply(reply.text), age)
    mas = maximum_score(question)
    correct = guess_score(question, int(reading.answer)) if reading.answer else math.nan
    confidence = reading.confidence_raw if is_probability(reading.confidence_raw) else math.nan
    return LifeEvalTrial(
        **read_trial(question, f"radius={radius}", reading, correct=correct, confidence=confidence),
        confidence_raw=reading.confidence_raw,
        sex=sex,
        age=float(age),
        radius=float(radius),
        mas=mas,
        difficulty=1.0 - mas,
        window=window,
        token_confidence=number_probability(tokens_from_reply(reply)) if reading.answer else math.nan,
    )


_LATEST = 122
"""The greatest age at death on record."""


def _without_years_left(reading: Reading, age: int) -> Reading:
    """Take back a guess in words that is below the person's age and may be the years that are left, in any language."""
    if "remark" not in reading.rules or not reading.answer:
        return reading
    if int(reading.answer) >= age or age + int(reading.answer) > _LATEST:
        return reading
    status: Status = "unreadable" if math.isnan(reading.confidence_raw) else "missing_answer"
    return replace(reading, answer="", status=status, rules=(*reading.rules, "years_left"))


def explain(trial: LifeEvalTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Return the rows of the explanation that the log viewer shows."""
    radius, years = f"{trial['radius']:g}", "year" if trial["radius"] == 1 else "years"
    score = f", within {radius} {years} with probability {trial['correct']:.4f}"
    no_age = "no_age" in trial["rules"]
    return {
        "Person": f"{trial['sex']}, at least {trial['age']:g} years old",
        "Guess": f"{escape_markdown(trial['answer']) or 'none'}{'' if math.isnan(trial['correct']) else score}",
        "Best possible": f"{trial['mas']:.4f} (window {trial['window'].replace('_', ' ')})",
        "Confidence": format_number(trial["confidence_raw"]),
        **token_probability(trial, tokens),
        **({"Reading": "Nobody dies at the age guessed; the guess scores 0."} if no_age else {}),
    }
