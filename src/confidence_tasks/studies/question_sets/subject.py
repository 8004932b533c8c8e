"""How a simulated subject replies to the calibration question sets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from confidence_tasks.simulation.reply import Reply, StageRequest, answer, said, ways_to_say
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.simulation.true_values import long_run
from confidence_tasks.studies.lifeeval.subject import PERCENT
from confidence_tasks.studies.question_sets.prompts import (
    QUESTION_SETS,
    Form,
    boolean_reply,
    continued_reply,
    judgement_reply,
    options_reply,
)
from confidence_tasks.studies.scales.subject import report, report_distribution
from confidence_tasks.study.question import Question

_REASONING = "I worked it out step by step."


def respond(question: Question, request: StageRequest) -> Reply:
    """Reply in the form of the question's set; HaluEval's prompt may break off where the probability stands."""
    form = QUESTION_SETS[question.metadata["question_set"]].form
    subject, key = request.subject, (request.seed, question.id)
    decision = subject.decide(question.id, question.source, request.seed)
    chosen = answer(question, correct=decision.correct, seed=request.seed)
    believed = _believed(form, question, {decision.correct: chosen}, decision.confidence, decision.correct)
    stated = report(believed, PERCENT, subject, *key) / 100
    if request.prompt.endswith('"Confidence": "'):
        reply = continued_reply(stated)
    else:
        reply = _reply(form, question, chosen, stated, _REASONING)
    behind: dict[str, float] = {}
    if form == "options":
        behind = dict(zip(question.options, _spread(question, chosen, believed), strict=True))
    elif form == "boolean":
        said_true = believed if chosen == "yes" else 1.0 - believed
        behind = {"True": said_true, "False": 1.0 - said_true}
    return Reply(said(reply, subject, *key), believed, behind)


def _believed(
    form: Form, question: Question, chosen: Mapping[bool, str], confidence: float, correct: bool
) -> float:
    """Return what is stated in a form: of options at least chance, in judging an answer the chance of ``yes``."""
    if form == "options":
        return max(confidence, 1.0 / len(question.options))
    return confidence if form == "boolean" or chosen[correct] == "yes" else 1.0 - confidence


def _reply(form: Form, question: Question, chosen: str, stated: float, reasoning: str = "") -> str:
    if form == "options":
        return options_reply(chosen, _spread(question, chosen, stated), reasoning=reasoning)
    return (
        boolean_reply(chosen, stated, reasoning=reasoning) if form == "boolean" else judgement_reply(stated)
    )


def _spread(question: Question, chosen: str, probability: float) -> list[float]:
    """Return a probability for every option; those not chosen share what is left."""
    rest = round((1.0 - probability) / (len(question.options) - 1), 3)
    return [probability if letter == chosen else rest for letter in question.options]


_OPTIONS = {"lsat_ar": 5}
"""Options of a question, where they are not four."""


def true_values(subject: Subject, condition: str, task: str, *run: object) -> dict[str, float]:
    """Return what a subject's measures on a question set are in the long run, in the paper's wording.

    Half of the answers that HaluEval gives, and of BoolQ's keys, are taken to be "yes", and questions to have four
    options, or five in LSAT-AR. Measures of token probabilities are left out.

    Examples
    --------
    >>> values = true_values(Subject(bias=1.0), "boolq", "boolq")
    >>> {name: round(values[name], 3) for name in ("accuracy", "confidence", "ece")}
    {'accuracy': 0.773, 'confidence': 0.895, 'ece': 0.121}
    """
    from confidence_tasks.studies.question_sets.trials import measures_of, question_set_trial

    form = QUESTION_SETS[task].form
    options = tuple("wxyz" if task not in _OPTIONS else "vwxyz")
    questions = (
        [Question("true", condition, "?", "choice", "A", options)]
        if form == "options"
        else [Question("true", condition, "?", "boolean", key) for key in ("yes", "no")]
    )
    trials = []
    for question in questions:
        chosen = {correct: answer(question, correct=correct, seed=0) for correct in (True, False)}
        stated = partial(_believed, form, question, chosen)
        for (correct, percent), chance in report_distribution(subject, condition, PERCENT, stated).items():
            reply = _reply(form, question, chosen[correct], percent / 100)
            for text, probability in ways_to_say(reply, subject):
                trial = question_set_trial(form, question, text)
                trials.append((trial, chance * probability / len(questions)))
    return long_run(measures_of(form), trials)
