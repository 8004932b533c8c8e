"""The signals, their prompts and calls, and how a simulated subject replies to them.

The wording is this package's. Tian et al. (2023, arXiv:2305.14975) ask for confidence after the answer, for one of a
list of expressions, and for several guesses; Kadavath et al. (2022, arXiv:2207.05221) whether an answer is true.

Each answer of the subject has a latent evidence, normal with a variance of 1 and a mean of half of meta-d', above 0 for
right answers and below for wrong ones. A signal is that evidence with a noise of its own, stated as the probability of
being right that it implies. So the AUROC of a signal stated without rounding is known:
Phi(meta-d' / sqrt(2 (1 + noise^2))).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from confidence_tasks.reading.grading import normalise_text
from confidence_tasks.simulation.reply import Reply, SimulatedRole, StageRequest, subject_seed
from confidence_tasks.simulation.reply import answer as answer_text
from confidence_tasks.simulation.subject import Subject, normal, pick, uniform
from confidence_tasks.sources import load_asked
from confidence_tasks.studies.signals.reader import (
    ENTAILMENT,
    answers_of,
    check_installed,
    judge_prompts,
    read_answer_reply,
)
from confidence_tasks.study import Question, Replies, Stage


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal of confidence in one answer.

    Attributes
    ----------
    title : str
        What it is, in a few words.
    stages : tuple of str
        The stages that it needs beside the answer.
    logprobs : str
        The stage whose token log-probabilities it needs; empty for none.
    is_probability : bool
        Whether its value is meant as the probability that the answer is right. The others are logarithms of
        probabilities, or entropies with their sign reversed.
    """

    title: str
    stages: tuple[str, ...] = ()
    logprobs: str = ""
    is_probability: bool = True


SIGNALS: Mapping[str, Signal] = {
    "stated": Signal("confidence stated with the answer"),
    "stated_after": Signal("confidence asked for after the answer", ("stated_after",)),
    "words": Signal("one of a list of expressions", ("words",)),
    "mean_logprob": Signal(
        "mean log-probability of the answer's tokens", logprobs="answer", is_probability=False
    ),
    "sum_logprob": Signal(
        "log-probability of the answer's tokens together", logprobs="answer", is_probability=False
    ),
    "min_logprob": Signal(
        "lowest log-probability of a token of the answer", logprobs="answer", is_probability=False
    ),
    "mean_entropy": Signal(
        "mean entropy of the answer's tokens, negative", logprobs="answer", is_probability=False
    ),
    "p_true": Signal("probability of True for the proposed answer", ("p_true",), "p_true"),
    "p_true_samples": Signal(
        "the same with the samples shown", ("samples", "p_true_samples"), "p_true_samples"
    ),
    "agreement": Signal("share of the samples that agree with the answer", ("samples",)),
    "semantic_entropy": Signal(
        "entropy over meanings of the samples, by their probability, negative", ("samples",), "samples", False
    ),
    "semantic_entropy_discrete": Signal(
        "entropy over meanings of the samples, by their number, negative", ("samples",), "", False
    ),
    "top_k": Signal("probability given to the answer among several guesses", ("top_k",)),
}
"""Every signal that trials hold, by the name of its condition; ``combined`` is made of these."""

COMBINED = "combined"
"""The logistic regression on all the others, which needs no trial of its own."""

DEFAULT: tuple[str, ...] = tuple(name for name, signal in SIGNALS.items() if not signal.stages)
"""Signals that need no further call."""

GUESSES = 4
"""Number of guesses of ``top_k``, the largest in Tian et al. (2023)."""

EXPRESSIONS: Mapping[str, float] = {
    "Almost certain": 0.95,
    "Highly likely": 0.90,
    "Very good chance": 0.80,
    "We believe": 0.75,
    "Probable": 0.70,
    "Likely": 0.70,
    "Better than even": 0.60,
    "About even": 0.50,
    "Probably not": 0.25,
    "We doubt": 0.20,
    "Unlikely": 0.20,
    "Little chance": 0.10,
    "Chances are slight": 0.10,
    "Improbable": 0.10,
    "Highly unlikely": 0.05,
    "Almost no chance": 0.02,
}
"""Expressions of likelihood, and what people take them for: medians of the survey that Tian et al. use.

Fagen-Ulmschneider (2019), Perception of probability words. ``Probably``, the same as ``probable``, is left out.
"""

ALTERNATIVES, ALTERNATIVES_OF_TRUE = 10, 20
"""Numbers of alternatives requested for each token: of an answer, and of True or False, which have many spellings."""

JUDGE = "judge"

_FORMS = {
    "choice": "the letter of one option",
    "number": "a number",
    "boolean": "yes or no",
    "text": "a name, a number or a few words",
}

_PERCENT = "a number from 0 to 100, the probability in percent"


def answer_prompt(question: Question) -> str:
    """Return the prompt of the answer, which samples repeat.

    Examples
    --------
    >>> print(answer_prompt(Question("q-1", "demo", "Who wrote Emma?", "text", "Jane Austen")))
    Answer the question, and say how likely it is that your answer is right.
    <BLANKLINE>
    Question: Who wrote Emma?
    <BLANKLINE>
    Reply in two lines and nothing else:
    Answer: <a name, a number or a few words>
    Confidence: <a number from 0 to 100, the probability in percent that your answer is right>
    """
    return (
        f"Answer the question, and say how likely it is that your answer is right.\n\n{_asked(question)}\n\n"
        "Reply in two lines and nothing else:\n"
        f"Answer: <{_FORMS[question.kind]}>\nConfidence: <{_PERCENT} that your answer is right>"
    )


def _asked(question: Question) -> str:
    options = [f"{letter}) {text}" for letter, text in question.options.items()]
    return "\n".join([f"Question: {question.text}", *options])


def _shown(question: Question, answer: str) -> str:
    """Return an answer as a model reads it: a letter with its option."""
    return f"{answer}) {question.options[answer]}" if answer in question.options else answer


def _given(question: Question, replies: Replies) -> str:
    return read_answer_reply(replies["answer"][0].text, question).answer


def _p_true(question: Question, answer: str, candidates: Sequence[str] = ()) -> str:
    shown = [f"- {_shown(question, candidate)}" for candidate in candidates]
    before = ["Some answers that were given:", *shown] if shown else []
    asked = "Is the proposed answer true or false? Reply with True or False and nothing else."
    return "\n".join([_asked(question), *before, f"Proposed answer: {_shown(question, answer)}", "", asked])


def _top_k(question: Question) -> str:
    lines = [
        f"Answer {i}: <{_FORMS[question.kind]}>\nConfidence {i}: <{_PERCENT} that it is right>"
        for i in range(1, GUESSES + 1)
    ]
    return (
        f"Give your {GUESSES} best guesses at the answer, the best first, and how likely each is to be right.\n\n"
        f"{_asked(question)}\n\nReply in this format and nothing else:\n" + "\n".join(lines)
    )


_HOW_LIKELY = "How likely is it that your answer is right? Reply with"

_PROMPTS: Mapping[str, Callable[[Question, str, Replies], str]] = {
    "stated_after": lambda *_: f"{_HOW_LIKELY} {_PERCENT}, and nothing else.",
    "words": lambda *_: "\n".join(
        [f"{_HOW_LIKELY} one of these expressions and nothing else:", *EXPRESSIONS]
    ),
    "samples": lambda question, *_: answer_prompt(question),
    "p_true": lambda question, answer, _: _p_true(question, answer),
    "p_true_samples": lambda question, answer, replies: _p_true(
        question, answer, list(filter(None, answers_of(question, replies["samples"])))
    ),
    "top_k": lambda question, *_: _top_k(question),
}
"""Prompts of the stages after the answer, made from the question, the answer and the replies."""


def _stage(name: str, **options: Any) -> Stage:
    """Make a stage that a condition has if its signal needs it and an answer was given."""

    def ask(question: Question, condition: str, replies: Replies) -> str | None:
        needed = name in SIGNALS[condition].stages and (answer := _given(question, replies))
        return _PROMPTS[name](question, answer, replies) if needed else None

    return Stage(name, ask, **{"temperature": 0.0, **options})


def _ask_judge(question: Question, condition: str, replies: Replies) -> list[str] | None:
    if condition == "p_true_samples" or not replies.get("samples"):
        return None
    return judge_prompts(question, _given(question, replies), replies["samples"]) or None


def chosen_signals(parameters: Mapping[str, Any]) -> list[str]:
    """Return the signals of a run: those named, or those that need no further call.

    Raises
    ------
    ValueError
        If the entailment is never asked for, or its model cannot be loaded.
    """
    named = parameters.get("signals") or ()
    listed = named.split(",") if isinstance(named, str) else map(str, named)
    chosen = [name for name in dict.fromkeys(map(str.strip, listed)) if name not in ("", COMBINED)] or DEFAULT
    entailment = parameters["entailment"]
    if entailment != "match" and not any(
        "samples" in SIGNALS[name].stages for name in SIGNALS.keys() & chosen
    ):
        raise ValueError(
            f"entailment={entailment!r} compares samples, and none of the signals takes samples: "
            "add agreement, semantic_entropy or semantic_entropy_discrete to signals"
        )
    if entailment == "nli":
        check_installed()
    return list(chosen)


def signal_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the calls; log-probabilities are required where a signal that needs them was named."""
    named = chosen_signals({**parameters, "entailment": "match"}) if parameters.get("signals") else []
    needed = {SIGNALS[name].logprobs for name in SIGNALS.keys() & named} - {""}
    if needed:
        needed.add("answer")  # a provider without any is then refused at the first call of all

    def scored(stage: str, alternatives: int) -> dict[str, Any]:
        wanted = "required" if stage in needed else "" if named else "wanted"
        return {"logprobs": wanted, "top_logprobs": alternatives if wanted else 0}

    sampling = {"samples": parameters["samples"], "temperature": float(parameters["temperature"])}
    judge = [Stage("judge", _ask_judge, role=JUDGE, temperature=0.0)]
    return [
        Stage(
            "answer",
            lambda question, condition, replies: answer_prompt(question),
            temperature=0.0,
            **scored("answer", ALTERNATIVES),
        ),
        _stage("stated_after", follows="answer"),
        _stage("words", follows="answer"),
        _stage("p_true", **scored("p_true", ALTERNATIVES_OF_TRUE)),
        _stage("samples", **scored("samples", 0), **sampling),
        *(judge if parameters["entailment"] == "judge" else ()),
        _stage("p_true_samples", **scored("p_true_samples", ALTERNATIVES_OF_TRUE)),
        _stage("top_k"),
    ]


def signal_questions(parameters: Mapping[str, Any]) -> list[Question]:
    """Return the questions, each with the rule by which answers mean the same."""
    rule = {ENTAILMENT: parameters["entailment"]}
    if parameters["entailment"] == "nli":
        rule |= {"nli_model": parameters["nli_model"]}
    return [question.with_metadata(**rule) for question in load_asked(parameters)]


# The simulated subject -----------------------------------------------------------------------------------------

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
"""Standard deviation of each signal's noise; signals of the same tokens, or of the same samples, share one."""

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
    """Answer; a sample repeats the answer as often as the samples' belief says, else it says something else."""
    own, seed, subject = subject_seed(request.seed), request.seed, request.subject
    correct = subject.decide(question.id, "", own).correct
    percent = round(100 * belief(subject, question, "stated", seed))
    if request.stage == "answer":
        sure = 0.5 + belief(subject, question, "tokens", seed) / 2
    else:
        sure = belief(subject, question, "samples", seed)
        if uniform(seed, question.id, "agrees") >= sure:
            own = f"{own}/{pick(3, seed, question.id, 'other')}"
            correct, sure = not correct, 1 - sure
        sure = max(sure, 1e-6)
    said = answer_text(question, correct=correct, seed=own)
    logprob = math.log(sure)
    tokens = (("Answer:", -0.01), (f" {said}", logprob), ("\nConfidence:", -0.01), (f" {percent}", -0.5))
    return Reply(f"Answer: {said}\nConfidence: {percent}", sure, {said: sure, "other": 1 - sure}, tokens)


def _true_or_false(sure: float) -> Reply:
    said = "True" if sure >= 0.5 else "False"
    return Reply(said, max(sure, 1 - sure), {"True": sure, "False": 1 - sure})


_ABOUT_THE_ANSWER: Mapping[str, Callable[[float], Reply]] = {
    "stated_after": lambda sure: Reply(str(round(100 * sure)), sure),
    "words": lambda sure: Reply(min(EXPRESSIONS, key=lambda name: abs(EXPRESSIONS[name] - sure)), sure),
    "p_true": _true_or_false,
    "p_true_samples": _true_or_false,
}
"""Replies to what is asked about the answer, by the belief in it."""


def _guesses(question: Question, request: StageRequest, sure: float) -> Reply:
    best = read_answer_reply(request.replies["answer"][0].text, question).answer
    others = [letter for letter in question.options if letter != best] or [f"{best} or so"] * GUESSES
    lines = []
    for i, guess in enumerate([best, *others][:GUESSES]):
        percent = 100 * sure if i == 0 else 100 * (1 - sure) / GUESSES
        lines += [f"Answer {i + 1}: {guess}", f"Confidence {i + 1}: {round(percent)}"]
    return Reply("\n".join(lines), sure)


def respond(question: Question, request: StageRequest) -> Reply:
    """Reply to a call of the study."""
    if request.stage in ("answer", "samples"):
        return _answer(question, request)
    sure = belief(request.subject, question, request.stage, request.seed)
    if request.stage == "top_k":
        return _guesses(question, request, sure)
    return _ABOUT_THE_ANSWER[request.stage](sure)


_TWO_ANSWERS = re.compile(
    r"First answer: (?P<first>.*)\nSecond answer: (?P<second>.*)\n\nDo the two answers mean the same\?"
)


def _compare(role: SimulatedRole, prompt: str, seed: str) -> str:
    """Judge whether two answers are the same but for case, articles and signs, or garble the verdict."""
    found = _TWO_ANSWERS.search(prompt)
    assert found is not None
    if uniform(seed, prompt, "garbled") < role.garbling:
        return "Hard to say."
    return "Yes" if normalise_text(found["first"]) == normalise_text(found["second"]) else "No"


SIMULATED_ROLES = ((_TWO_ANSWERS, _compare),)
"""Text by which prompts to a judge are recognised, and how a simulated judge replies."""
