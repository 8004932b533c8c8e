"""The true measures of a simulated subject on a question set."""

from __future__ import annotations

from collections.abc import Iterator

from confidence_tasks.reading.integer_scale import PERCENT
from confidence_tasks.simulation.reply import answer, reply_probabilities
from confidence_tasks.simulation.reports import report_distribution
from confidence_tasks.simulation.subject import Subject, expected_values
from confidence_tasks.studies.lifeeval.question_sets.measures import measures_of
from confidence_tasks.studies.lifeeval.question_sets.replies import (
    KINDS,
    QUESTION_SETS,
    Form,
    confidence_in_form,
    reply_in_form,
)
from confidence_tasks.studies.lifeeval.question_sets.trials import QuestionSetTrial, read_reply
from confidence_tasks.study import ModelReply, Question


def true_values(subject: Subject, condition: str, task: str, *run: object) -> dict[str, float]:
    """Return the true values of a subject's measures on a question set, with the paper's prompts.

    Half of HaluEval's given answers are right, and half of BoolQ's keys are "yes". Questions have four options, or five
    in LSAT-AR. Measures of token probabilities are left out.

    Examples
    --------
    >>> values = true_values(Subject(bias=1.0), "boolq", "boolq")
    >>> {name: round(values[name], 3) for name in ("accuracy", "confidence", "ece")}
    {'accuracy': 0.773, 'confidence': 0.895, 'ece': 0.121}
    """
    form = QUESTION_SETS[task].form
    options = tuple("vwxyz" if task == "lsat_ar" else "wxyz") if form == "options" else ()
    metadata = {"question_set": task}
    questions = [
        Question("true", condition, "?", KINDS[form], key, options, metadata=metadata)
        for key in (("A",) if form == "options" else ("yes", "no"))
    ]
    trials = [
        (trial, probability / len(questions))
        for question in questions
        for trial, probability in _trial_distribution(subject, question, condition, form)
    ]
    return expected_values(measures_of(form), trials)


def _trial_distribution(
    subject: Subject, question: Question, condition: str, form: Form
) -> Iterator[tuple[QuestionSetTrial, float]]:
    """Yield the trials of a subject's possible replies to a question, with their probabilities."""
    chosen = {correct: answer(question, correct=correct, seed=0) for correct in (True, False)}
    reports = report_distribution(
        subject,
        condition,
        PERCENT,
        lambda confidence, correct: confidence_in_form(form, question, chosen[correct], confidence),
    )
    for (correct, percent), p_report in reports.items():
        reply = reply_in_form(form, question, chosen[correct], percent / 100)
        for text, p_text in reply_probabilities(reply, subject):
            yield read_reply(question, condition, {"answer": [ModelReply(text)]}), p_report * p_text
