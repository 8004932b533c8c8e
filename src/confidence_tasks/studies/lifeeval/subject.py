"""The true measures of a simulated subject in LifeEval."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from confidence_tasks.reading.integer_scale import PERCENT
from confidence_tasks.simulation.reply import reply_probabilities
from confidence_tasks.simulation.reports import possible_reports
from confidence_tasks.simulation.subject import Subject, expected_values
from confidence_tasks.sources.generated import lifeeval_questions
from confidence_tasks.studies.lifeeval.measures import MEASURES
from confidence_tasks.studies.lifeeval.replies import CONDITIONS, belief, lifeeval_reply
from confidence_tasks.studies.lifeeval.trials import read_guess
from confidence_tasks.study import ModelReply


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
