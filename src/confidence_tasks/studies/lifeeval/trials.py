"""LifeEval: reading a reply into a trial that the life table scores, and the measures of the study.

arXiv:2605.23909, sections 4.5 and 6.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from confidence_tasks.reading.answers import Answer
from confidence_tasks.reading.explanation import escape_markdown, format_number, token_probability
from confidence_tasks.reading.fields import is_probability, read_answer_and_confidence
from confidence_tasks.reading.integer_scale import PERCENT
from confidence_tasks.reading.numbers import read_number
from confidence_tasks.reading.token_probabilities import number_probability, tokens_from_reply
from confidence_tasks.simulation.reply import reply_probabilities
from confidence_tasks.simulation.reports import possible_reports
from confidence_tasks.simulation.subject import Subject, expected_values
from confidence_tasks.sources.generated import lifeeval_questions
from confidence_tasks.statistics import calibration, discretization
from confidence_tasks.studies.lifeeval.replies import (
    CONDITIONS,
    OLDEST,
    belief,
    death_probabilities,
    lifeeval_reply,
)
from confidence_tasks.study import ModelReply, Question, Reading, Replies, TaskMetrics, Token
from confidence_tasks.study.inference import Bounded, BoundedMean, Student
from confidence_tasks.study.measures import (
    CONFIDENCE,
    GRADED,
    PARSE_RATE,
    PARSE_RATE_STRICT,
    UNIT,
    Measure,
    calibration_error,
    mean_measure,
    proportion_measure,
    proportion_of,
    select_measures,
    smallest_set,
    statistic_of,
    summarise,
)
from confidence_tasks.study.trial import ReadTrial, Status, read_trial

if TYPE_CHECKING:
    from confidence_tasks.statistics.life_table import Window


_YEARS_LEFT = re.compile(
    r"\b(?:more|additional|further|another|remaining|left)\b|\byears?\s(?:from\snow|later)\b|\bin\s\d{1,3}\syears?\b"
    r"|\b(?:noch|weitere|encore|reste|restants?|otros|más|quedan|restantes|ещё|еще|осталось)\b|还有|还能|剩|あと|متبقية",
    re.IGNORECASE,
)
"""Words of a number of years that a person still has, which is no age."""


def read_age(text: str) -> Answer:
    """Read an age in whole years from a short text; empty unless the text states exactly one number.

    Examples
    --------
    >>> for text in ("81", "81.0", "eighty", "about 80", "78.5 years", "80-85", "19 more years"):
    ...     print(text, read_age(text))
    81 Answer(text='81', rules=())
    81.0 Answer(text='81', rules=())
    eighty Answer(text='80', rules=('number_words',))
    about 80 Answer(text='80', rules=('remark',))
    78.5 years Answer(text='78', rules=('remark', 'rounded'))
    80-85 Answer(text='', rules=('several_numbers',))
    19 more years Answer(text='', rules=('years_left',))
    """
    number = read_number(text)
    if number is None:
        return Answer("")
    if "one_of_several" in number.forms:
        return Answer("", ("several_numbers",))
    if number.percent:
        return Answer("", ("percent",))
    if _YEARS_LEFT.search(text):
        return Answer("", ("years_left",))
    rules = number.forms or (() if text.strip() == number.text else ("remark",))
    years = round(number.value)
    return Answer(str(years), rules if years == number.value else (*rules, "rounded"))


def read_lifeeval_reply(text: str) -> Reading:
    r"""Read the guess and the confidence of a reply, which may be any text.

    The guess is in whole years. The confidence is as stated; a percentage is divided by 100. The status is
    ``out_of_range`` if the confidence is not in [0, 1] or the guess is not in [0, 150]. Such a guess is kept, since its
    score is known to be 0.

    Examples
    --------
    >>> read_lifeeval_reply('{"Reasoning": "...", "Answer": 84, "Confidence": 0.7}')
    Reading(answer='84', confidence_raw=0.7, status='ok', rules=())
    >>> read_lifeeval_reply('```json\n{"Answer": "84 years", "Confidence": "70%"}\n```')
    Reading(answer='84', confidence_raw=0.7, status='repaired', rules=('around', 'remark', 'percent'))
    """
    reading = read_answer_and_confidence(text, read_age)
    if reading.answer and not 0 <= int(reading.answer) <= OLDEST and not math.isnan(reading.confidence_raw):
        return replace(reading, status="out_of_range", rules=(*reading.rules, "no_age"))
    return reading


WINDOWS: tuple[Window, ...] = ("half_open", "inclusive")
"""Ages at death that are within r of a guess k: from k - r to k + r - 1 completed years, or to k + r."""

AGE_BANDS = ((0, 19), (20, 39), (40, 59), (60, 79), (80, 150))
"""Bands of the minimum age; both ends belong to the band."""


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


# Measures -------------------------------------------------------------------------------------------------------

_SAME_SCORE = 1e-9
"""Maximum rounding error of a score."""


def rounded_share(confidence: str) -> Measure:
    """Make the measure of how often the confidence in a column is rounded, as in tables 2 to 4 of the paper."""
    return proportion_measure(
        "round_share",
        statistic_of(discretization.round_share, confidence, lower=0.0, upper=1.0, step=0.05),
        "Share of stated confidences that are multiples of .05.",
    )


def extra_bin_error(*, graded: bool = False) -> Measure:
    """Make the measure of the calibration error by the bins that the paper's text describes."""
    return calibration_error(
        "ece_extra_bin",
        "Expected calibration error, bins closed on the left and an eleventh bin for a confidence of exactly 1.",
        graded=graded,
        edges="extra_bin",
    )


MEASURES: tuple[Measure, ...] = (
    calibration_error(
        "ece", "Expected calibration error against the life table, 10 bins closed on the right.", graded=True
    ),
    Measure(
        "score",
        proportion_of(lambda trials: trials["correct"]),
        "Mean probability that the guess is within the radius; replies without a guess are left out.",
        "higher",
        inference=Bounded(*UNIT),
    ),
    CONFIDENCE,
    mean_measure(
        "overconfidence",
        statistic_of(calibration.overconfidence, *GRADED),
        "Mean confidence minus mean score; above 0 is overconfident.",
    ),
    Measure(
        "hard_easy",
        statistic_of(calibration.hard_easy_slope, *GRADED, "difficulty"),
        "Slope of overconfidence on difficulty, 1 - MAS; above 0 is the hard-easy effect.",
        inference=Student(),
    ),
    Measure(
        "confidence_correlation",
        statistic_of(calibration.confidence_correlation, *GRADED),
        "Correlation of confidence with the probability that the guess is within the radius.",
        "higher",
        inference=Bounded(-1.0, 1.0),
    ),
    Measure(
        "mas",
        proportion_of(lambda trials: trials["mas"]),
        "Mean maximum achievable score of the questions asked.",
        inference=Bounded(*UNIT),
    ),
    Measure(
        "regret",
        proportion_of(lambda trials: trials["mas"] - trials["correct"]),
        "Mean maximum achievable score minus mean score.",
        "lower",
        inference=BoundedMean(
            *UNIT,
            informative=smallest_set(
                lambda trials: trials["mas"] - trials["correct"] > _SAME_SCORE, enough=10
            ),
        ),
    ),
    extra_bin_error(graded=True),
    rounded_share("confidence"),
    PARSE_RATE,
    PARSE_RATE_STRICT,
)

TOKEN_MEASURES: tuple[Measure, ...] = (
    mean_measure("token_confidence", "token_confidence", "Mean token probability of the guess.", bounds=UNIT),
    calibration_error(
        "token_ece",
        "Expected calibration error of the token probability of the guess.",
        confidence="token_confidence",
        graded=True,
    ),
)


def age_band(age: float) -> str:
    """Return the label of a minimum age's band.

    Examples
    --------
    >>> age_band(65.0), age_band(100.0)
    ('age=60-79', 'age=80+')
    """
    low, high = next(band for band in AGE_BANDS if age <= band[1])
    return f"age={low}+" if (low, high) == AGE_BANDS[-1] else f"age={low}-{high}"


GROUPINGS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "all": lambda trial: "all",
    "radius": lambda trial: str(trial["condition"]),
    "sex": lambda trial: f"sex={trial['sex']}",
    "age": lambda trial: age_band(trial["age"]),
}
"""Groupings of the trials: functions from a trial to the label of its group."""

N_LOGGED: Mapping[str, int] = {"sex": 4, "age": 4}
"""Number of measures that a log has for the groups of a grouping, where it does not have all; tables have all."""


def group_labels(radii: Sequence[int]) -> dict[str, list[str]]:
    """Return the group labels of every grouping, in order.

    Examples
    --------
    >>> group_labels([1, 20])["radius"]
    ['radius=1', 'radius=20']
    """
    return {
        "all": ["all"],
        "radius": [CONDITIONS.label(radius) for radius in radii],
        "sex": ["sex=female", "sex=male"],
        "age": [age_band(low) for low, _ in AGE_BANDS],
    }


def lifeeval_summary(
    trials: Sequence[Mapping[str, Any]],
    *,
    radii: Sequence[int],
    token_probabilities: bool = False,
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return measures over all trials and by radius, keyed ``name/group``.

    If ``names`` is None, all measures are returned, and the first four of them also by sex and age.
    """
    measures = select_measures(_measures(token_probabilities), names)
    summary: dict[str, float] = {}
    for grouping, labels in group_labels(radii).items():
        if names is None or grouping not in N_LOGGED:
            grouped = [{**trial, "condition": GROUPINGS[grouping](trial)} for trial in trials]
            summary |= summarise(grouped, measures[: N_LOGGED.get(grouping)], labels)
    return summary


def _measures(token_probabilities: bool) -> tuple[Measure, ...]:
    return MEASURES + TOKEN_MEASURES if token_probabilities else MEASURES


def lifeeval_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the metrics of a run: measures over all trials and by radius, sex and age."""
    token_probabilities = bool(parameters["top_logprobs"])
    radii = [int(CONDITIONS.number(label)) for label in conditions]
    arguments = {"radii": radii, "token_probabilities": token_probabilities}
    return TaskMetrics(lifeeval_summary, arguments, _measures(token_probabilities), "all", overall=("all",))


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


def _normal_quadrature(n: int, spread: float) -> list[tuple[float, float]]:
    """Return standard scores and their weights by Gauss-Hermite quadrature; 0 alone if ``spread`` is 0."""
    scores, weights = np.polynomial.hermite_e.hermegauss(n if spread else 1)
    return list(zip(scores.tolist(), (weights / weights.sum()).tolist(), strict=True))


def true_values(
    subject: Subject, condition: str, task: str = "", parameters: Mapping[str, str] = MappingProxyType({})
) -> dict[str, float]:
    """Return the true values of a subject's measures under a radius, over all questions with that radius.

    Only the parameters ``window`` and ``table`` of the run matter.

    Examples
    --------
    >>> values = true_values(Subject(), "radius=20")
    >>> {name: round(values[name], 4) for name in ("score", "confidence", "regret")}
    {'score': 0.9343, 'confidence': 0.9345, 'regret': 0.0}
    """
    CONDITIONS.number(condition)
    table = parameters.get("table", "")
    scoring = {
        "window": parameters.get("window", "half_open"),
        "table": "" if table == str(None) else table,  # logs write a missing parameter as "None"
    }
    questions = {
        question.id: question.with_metadata(**scoring)
        for question in lifeeval_questions()
        if question.level == condition
    }
    distribution: dict[tuple[str, str], float] = {}
    noises = _normal_quadrature(15, subject.noise)
    for score, p_score in _normal_quadrature(9, subject.hazard_noise):
        for question_id, question in questions.items():
            guess, probability = belief(question, subject, score)
            for noise, p_noise in noises:
                confidence = np.array([subject.restate_at(probability, noise)])
                for (percent,), p_report in possible_reports(confidence, PERCENT, subject):
                    key = question_id, lifeeval_reply(guess, int(percent) / 100)
                    distribution[key] = distribution.get(key, 0.0) + p_score * p_noise * p_report
    total = sum(distribution.values())
    trials = [
        (
            read_guess(questions[question_id], condition, {"guess": [ModelReply(text)]}),
            p_reply * p_text / total,
        )
        for (question_id, reply), p_reply in distribution.items()
        for text, p_text in reply_probabilities(reply, subject)
    ]
    return expected_values(MEASURES, trials)
