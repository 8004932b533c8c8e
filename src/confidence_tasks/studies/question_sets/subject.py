"""How a simulated subject replies to the calibration question sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from confidence_tasks.simulation.answers import answer, said, ways_to_say
from confidence_tasks.simulation.reply import Reply, StageRequest
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


def _boolean(question: Question, request: StageRequest) -> Reply:
    """Answer true or false and state a confidence."""
    subject, key = request.subject, (request.seed, question.id)
    decision = subject.decide(question.id, question.source, request.seed)
    chosen = answer(question, correct=decision.correct, seed=request.seed)
    stated = report(decision.confidence, PERCENT, subject, *key) / 100
    said_true = decision.confidence if chosen == "yes" else 1.0 - decision.confidence
    return Reply(
        said(boolean_reply(chosen, stated, reasoning=_REASONING), subject, *key),
        decision.confidence,
        {"True": said_true, "False": 1.0 - said_true},
    )


def _options(question: Question, request: StageRequest) -> Reply:
    """Answer with a letter and state a probability of every option; those not chosen share what is left."""
    subject, key = request.subject, (request.seed, question.id)
    decision = subject.decide(question.id, question.source, request.seed)
    chosen = answer(question, correct=decision.correct, seed=request.seed)
    share = _at_least_chance(question, decision.confidence)
    stated = report(share, PERCENT, subject, *key) / 100
    reply = options_reply(chosen, _spread(question, chosen, stated), reasoning=_REASONING)
    behind = dict(zip(question.options, _spread(question, chosen, share), strict=True))
    return Reply(said(reply, subject, *key), share, behind)


def _at_least_chance(question: Question, confidence: float) -> float:
    return max(confidence, 1.0 / len(question.options))


def _spread(question: Question, chosen: str, probability: float) -> list[float]:
    """Return a probability for every option."""
    rest = round((1.0 - probability) / (len(question.options) - 1), 3)
    return [probability if letter == chosen else rest for letter in question.options]


def _judgement(question: Question, request: StageRequest) -> Reply:
    """State the probability that the given answer is right, where the prompt breaks off if it does."""
    form = continued_reply if request.prompt.endswith('"Confidence": "') else judgement_reply
    subject, key = request.subject, (request.seed, question.id)
    decision = subject.decide(question.id, question.source, request.seed)
    believed = answer(question, correct=decision.correct, seed=request.seed) == "yes"
    probability = decision.confidence if believed else 1.0 - decision.confidence
    stated = report(probability, PERCENT, subject, *key) / 100
    return Reply(said(form(stated), subject, *key), probability)


_FORMS: Mapping[Form, Callable[[Question, StageRequest], Reply]] = {
    "boolean": _boolean,
    "options": _options,
    "judgement": _judgement,
}


def respond(question: Question, request: StageRequest) -> Reply:
    """Reply in the form of the question's set."""
    return _FORMS[QUESTION_SETS[question.metadata["question_set"]].form](question, request)


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
        stated = partial(_of_form, form, question)
        for (correct, percent), chance in report_distribution(subject, condition, PERCENT, stated).items():
            reply = _reply(form, question, percent / 100, correct=correct)
            for text, probability in ways_to_say(reply, subject):
                trial = question_set_trial(form, question, text)
                trials.append((trial, chance * probability / len(questions)))
    return long_run(measures_of(form), trials)


def _of_form(form: Form, question: Question, confidence: float, correct: bool) -> float:
    """Return what a subject states of its confidence in a form."""
    if form == "options":
        return _at_least_chance(question, confidence)
    is_yes = answer(question, correct=correct, seed=0) == "yes"
    return confidence if form == "boolean" or is_yes else 1.0 - confidence


def _reply(form: Form, question: Question, stated: float, *, correct: bool) -> str:
    chosen = answer(question, correct=correct, seed=0)
    if form == "options":
        return options_reply(chosen, _spread(question, chosen, stated))
    return boolean_reply(chosen, stated) if form == "boolean" else judgement_reply(stated)
