"""The replies of a simulated subject and a simulated judge to the study of confidence signals."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from confidence_tasks.reading.grading import normalise_text
from confidence_tasks.reading.sureness import EXPRESSIONS
from confidence_tasks.simulation.reply import Reply, SimulatedRole, StageRequest, subject_seed
from confidence_tasks.simulation.reply import answer as answer_text
from confidence_tasks.simulation.subject import Subject, normal, pick, uniform
from confidence_tasks.studies.signals.of_calls import PANEL
from confidence_tasks.studies.signals.reader import options_of
from confidence_tasks.studies.signals.replies import _NUMBERS, GUESSES, _given_answer
from confidence_tasks.study import Question, Token
from confidence_tasks.study.structured import answer_value, is_structured

NOISE: Mapping[str, float] = {
    "stated": 1.5,
    "stated_after": 1.2,
    "words": 2.0,
    "tokens": 0.6,
    "p_true": 0.8,
    "p_true_samples": 0.5,
    "samples": 0.4,
    "top_k": 1.0,
    "trace": 0.9,
    "distribution": 1.1,
    "panel": 0.7,
}
"""Standard deviation of each signal's noise; signals of the same tokens, or of the same samples, share one."""


def belief(subject: Subject, question: Question, signal: str, seed: str, judge: str = "") -> float:
    """Return the probability of being right that a signal implies, distorted by the subject's bias and gain.

    ``judge`` is the name of a judge, whose noise is its own.
    """
    key = subject_seed(seed)
    accuracy = subject.accuracy(question.id, key)
    correct = subject.decide(question.id, "", key).correct
    mean = subject.meta_d_prime / 2 if correct else -subject.meta_d_prime / 2
    evidence = mean + normal(key, question.id, "signals")
    noisy = evidence + NOISE[signal] * normal(key, question.id, "signals", signal, *filter(None, [judge]))
    logit = math.log(accuracy / (1 - accuracy)) + subject.meta_d_prime * noisy / (1 + NOISE[signal] ** 2)
    return 1 / (1 + math.exp(-min(max(subject.bias + subject.gain * logit, -500.0), 500.0)))


def _reply_with_answer(question: Question, request: StageRequest) -> Reply:
    """Answer; a sample repeats the answer with the probability of the samples' belief, else it differs."""
    key, seed, subject = subject_seed(request.seed), request.seed, request.subject
    correct = subject.decide(question.id, "", key).correct
    percent = round(100 * belief(subject, question, "stated", seed))
    if request.stage == "answer":
        probability = 0.5 + belief(subject, question, "tokens", seed) / 2
    else:
        probability = belief(subject, question, "samples", seed)
        if uniform(seed, question.id, "agrees") >= probability:
            key = f"{key}/{pick(3, seed, question.id, 'other')}"
            correct, probability = not correct, 1 - probability
        probability = max(probability, 1e-6)
    text = answer_text(question, correct=correct, seed=key)
    tokens: tuple[tuple[str, float], ...] = (
        ("Answer:", -0.01),
        (f" {text}", math.log(probability)),
        ("\nConfidence:", -0.01),
        (f" {percent}", -0.5),
    )
    alternatives = {text: probability, "other": 1 - probability}
    if is_structured(question):
        tokens = _object_tokens(question, tokens)
    text = "".join(token for token, _ in tokens)
    return Reply(text, probability, alternatives, tokens, _trace(question, request))


def _object_tokens(question: Question, tokens: Sequence[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """Return the tokens of a reply in two lines as those of a JSON object."""
    texts = [text.strip() for text, _ in tokens]
    value = json.dumps(answer_value(question, texts[1]))
    parts = ('{"answer": ', value, ', "confidence": ', texts[3], "}")
    logprobs = [logprob for _, logprob in tokens]
    return tuple(zip(parts, (*logprobs, logprobs[0]), strict=True))


LONGEST_TRACE = 100
"""Number of tokens of the subject's longest reasoning."""


def _trace(question: Question, request: StageRequest) -> tuple[Token, ...]:
    """Return the subject's reasoning, which only signals of reasoning see: the surer, the shorter and more probable.

    That of a sample shares the more of its words with that of the answer, the surer the samples are.
    """
    if not request.condition.startswith("trace"):
        return ()
    p = belief(request.subject, question, "trace", request.seed)
    length = LONGEST_TRACE - round(p * (LONGEST_TRACE - 5))
    words = [f" step{i}" for i in range(length)]
    if request.condition == "trace_agreement":
        shared = LONGEST_TRACE
        if request.stage == "samples":
            shared = round(LONGEST_TRACE * belief(request.subject, question, "samples", request.seed))
        words = [f" step{i}" if i < shared else f" other{i}" for i in range(LONGEST_TRACE)]
    first, rest = math.log(0.5 + p / 2), math.log(max(0.5 - p / 2, 1e-9))
    return (
        Token("<think>", -0.01, {}),
        *(Token(word, first, {word: first, " or": rest}) for word in words),
        Token("</think>", -0.01, {}),
    )


def _reply_with_guesses(question: Question, request: StageRequest, belief_in_answer: float) -> Reply:
    best = _given_answer(question, request.replies)
    others = [letter for letter in question.options if letter != best] or [f"{best} or so"] * GUESSES
    rest = round(100 * (1 - belief_in_answer) / GUESSES)
    guesses = [(best, round(100 * belief_in_answer)), *((other, rest) for other in others)][:GUESSES]
    lines = [f"Answer {i}: {text}\nConfidence {i}: {percent}" for i, (text, percent) in enumerate(guesses, 1)]
    text = _guesses_object(question, guesses) if is_structured(question) else "\n".join(lines)
    return Reply(text, belief_in_answer)


def _guesses_object(question: Question, guesses: Sequence[tuple[str, int]]) -> str:
    """Return guesses as a JSON object, whose schema wants the last ones repeated if there are fewer options."""
    values: dict[str, Any] = {}
    for i in _NUMBERS:
        text, percent = guesses[min(i, len(guesses)) - 1]
        values |= {f"answer_{i}": answer_value(question, text), f"confidence_{i}": percent}
    return json.dumps(values)


def _reply_with_value(question: Question, key: str, value: str | int, p: float) -> Reply:
    return Reply(json.dumps({key: value}) if is_structured(question) else str(value), p)


def _reply_with_distribution(question: Question, request: StageRequest, belief_in_answer: float) -> Reply:
    best, options = _given_answer(question, request.replies), options_of(question)
    others = 100 * (1 - belief_in_answer) / (len(options) - 1)
    percents = {option: round(100 * belief_in_answer if option == best else others, 2) for option in options}
    lines = "\n".join(f"{option}: {percent:.2f}" for option, percent in percents.items())
    return Reply(json.dumps(percents) if is_structured(question) else lines, belief_in_answer)


def respond(question: Question, request: StageRequest) -> Reply:
    """Return the subject's reply to a call of the study."""
    if request.stage in ("answer", "samples"):
        return _reply_with_answer(question, request)
    kind, _, judge = request.stage.partition(":")
    p = belief(request.subject, question, kind, request.seed, judge)
    if kind == "distribution":
        return _reply_with_distribution(question, request, p)
    if kind == PANEL:
        return Reply(str(round(100 * p)), p)
    if kind == "stated_after":
        return _reply_with_value(question, "confidence", round(100 * p), p)
    if request.stage == "words":
        expression = min(EXPRESSIONS, key=lambda name: abs(EXPRESSIONS[name] - p))
        return _reply_with_value(question, "expression", expression, p)
    if request.stage == "top_k":
        return _reply_with_guesses(question, request, p)
    return Reply("True" if p >= 0.5 else "False", max(p, 1 - p), {"True": p, "False": 1 - p})


_TWO_ANSWERS = re.compile(
    r"First answer: (?P<first>.*)\nSecond answer: (?P<second>.*)\n\nDo the two answers mean the same\?"
)


def _judge_answers(role: SimulatedRole, prompt: str, seed: str) -> str:
    """Judge whether two answers are equal after normalisation, or garble the verdict."""
    answers = _TWO_ANSWERS.search(prompt)
    assert answers is not None
    if uniform(seed, prompt, "garbled") < role.garbling:
        return "Hard to say."
    return "Yes" if normalise_text(answers["first"]) == normalise_text(answers["second"]) else "No"


SIMULATED_ROLES = ((_TWO_ANSWERS, _judge_answers),)
"""Pattern that recognises prompts to a judge, and the reply of a simulated judge."""
