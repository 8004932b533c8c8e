"""How a simulated subject replies to the calls of the signal study.

Each answer has a latent evidence, normal with a variance of 1 and a mean of half of meta-d', above 0 for right answers
and below for wrong ones. A signal is that evidence with a noise of its own, stated as the probability of being right
that it implies. So the AUROC of a signal stated without rounding is known: Phi(meta-d' / sqrt(2 (1 + noise^2))).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from statistics import NormalDist

from confidence_tasks.reading.grading import normalise_text
from confidence_tasks.simulation.instruments import Instrument
from confidence_tasks.simulation.reply import Reply, StageRequest, subject_seed
from confidence_tasks.simulation.reply import answer as answer_text
from confidence_tasks.simulation.subject import Subject, normal, pick, uniform
from confidence_tasks.studies.signals.prompts import EXPRESSIONS, GUESSES
from confidence_tasks.studies.signals.reader import read_answer_reply
from confidence_tasks.study import Question

NOISE: Mapping[str, float] = {
    "stated": 1.5,
    "stated_after": 1.2,
    "words": 2.0,
    "tokens": 0.6,
    "p_true": 0.8,
    "p_true_samples": 0.5,
    "samples": 0.4,
    "top_k": 1.0,
}
"""Standard deviation of each signal's noise; what is made of the answer's tokens, and of the samples, shares one."""

_NORMAL = NormalDist()


def true_auroc(subject: Subject, signal: str) -> float:
    """Return the AUROC of a signal that is stated without rounding.

    Examples
    --------
    >>> round(true_auroc(Subject(meta_d_prime=1.5), "tokens"), 4)
    0.8185
    """
    return _NORMAL.cdf(subject.meta_d_prime / math.sqrt(2 * (1 + NOISE[signal] ** 2)))


def belief(subject: Subject, question: Question, signal: str, seed: str) -> float:
    """Return the probability of being right that a signal's evidence implies, with the subject's bias and gain."""
    own = subject_seed(seed)
    accuracy = subject.accuracy(question.id, own)
    correct = subject.decide(question.id, "", own).correct
    mean = subject.meta_d_prime / 2 if correct else -subject.meta_d_prime / 2
    latent = mean + normal(own, question.id, "signals")
    seen = latent + NOISE[signal] * normal(own, question.id, "signals", signal)
    logit = math.log(accuracy / (1 - accuracy)) + subject.meta_d_prime * seen / (1 + NOISE[signal] ** 2)
    return 1 / (1 + math.exp(-min(max(subject.bias + subject.gain * logit, -500.0), 500.0)))


def _answer(question: Question, request: StageRequest) -> Reply:
    own = subject_seed(request.seed)
    correct = request.subject.decide(question.id, "", own).correct
    said = answer_text(question, correct=correct, seed=own)
    sure = 0.5 + belief(request.subject, question, "tokens", request.seed) / 2
    percent = round(100 * belief(request.subject, question, "stated", request.seed))
    return _answered(said, percent, sure)


def _answered(said: str, percent: int, sure: float) -> Reply:
    logprob = math.log(sure)
    tokens = (("Answer:", -0.01), (f" {said}", logprob), ("\nConfidence:", -0.01), (f" {percent}", -0.5))
    return Reply(f"Answer: {said}\nConfidence: {percent}", sure, {said: sure, "other": 1 - sure}, tokens)


def _sample(question: Question, request: StageRequest) -> Reply:
    """Repeat the answer as often as the samples' belief says; else say something else."""
    own, seed = subject_seed(request.seed), request.seed
    correct = request.subject.decide(question.id, "", own).correct
    sure = belief(request.subject, question, "samples", seed)
    percent = round(100 * belief(request.subject, question, "stated", seed))
    if uniform(seed, question.id, "agrees") < sure:
        return _answered(answer_text(question, correct=correct, seed=own), percent, max(sure, 1e-6))
    other = answer_text(question, correct=not correct, seed=f"{own}/{pick(3, seed, question.id, 'other')}")
    return _answered(other, percent, max(1 - sure, 1e-6))


def _percent(question: Question, request: StageRequest) -> Reply:
    sure = belief(request.subject, question, request.stage, request.seed)
    return Reply(str(round(100 * sure)), sure)


def _expression(question: Question, request: StageRequest) -> Reply:
    sure = belief(request.subject, question, "words", request.seed)
    return Reply(min(EXPRESSIONS, key=lambda name: abs(EXPRESSIONS[name] - sure)), sure)


def _true_or_false(question: Question, request: StageRequest) -> Reply:
    sure = belief(request.subject, question, request.stage, request.seed)
    said = "True" if sure >= 0.5 else "False"
    return Reply(said, max(sure, 1 - sure), {"True": sure, "False": 1 - sure})


def _guesses(question: Question, request: StageRequest) -> Reply:
    sure = belief(request.subject, question, "top_k", request.seed)
    best = read_answer_reply(request.replies["answer"][0].text, question).answer
    others = [letter for letter in question.options if letter != best] or [f"{best} or so"] * GUESSES
    lines = []
    for i, guess in enumerate([best, *others][:GUESSES]):
        percent = 100 * sure if i == 0 else 100 * (1 - sure) / GUESSES
        lines += [f"Answer {i + 1}: {guess}", f"Confidence {i + 1}: {round(percent)}"]
    return Reply("\n".join(lines), sure)


_STAGES: Mapping[str, Callable[[Question, StageRequest], Reply]] = {
    "answer": _answer,
    "samples": _sample,
    "stated_after": _percent,
    "words": _expression,
    "p_true": _true_or_false,
    "p_true_samples": _true_or_false,
    "top_k": _guesses,
}


def respond(question: Question, request: StageRequest) -> Reply:
    """Reply to a call of the study."""
    return _STAGES[request.stage](question, request)


_TWO_ANSWERS = re.compile(
    r"First answer: (?P<first>.*)\nSecond answer: (?P<second>.*)\n\nDo the two answers mean the same\?"
)


def _compare(instrument: Instrument, prompt: str, seed: str) -> str:
    """Judge whether two answers are the same but for case, articles and signs, or garble the verdict."""
    found = _TWO_ANSWERS.search(prompt)
    assert found is not None
    if uniform(seed, prompt, "garbled") < instrument.garbling:
        return "Hard to say."
    return "Yes" if normalise_text(found["first"]) == normalise_text(found["second"]) else "No"


INSTRUMENTS = ((_TWO_ANSWERS, _compare),)
"""What prompts to a judge contain, and how a simulated one replies."""
