"""The prompts of the signal study, and the calls that its signals are made of.

The wording is this package's. Tian et al. (2023, arXiv:2305.14975) ask for confidence after the answer, for one of a
list of expressions, and for several guesses; Kadavath et al. (2022, arXiv:2207.05221) whether an answer is true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from confidence_tasks.studies.signals.catalogue import COMBINED, DEFAULT, SIGNALS
from confidence_tasks.studies.signals.meaning import ENTAILMENT, answers_of, judge_prompts
from confidence_tasks.studies.signals.reader import read_answer_reply
from confidence_tasks.study import Question, Replies, Stage

GUESSES = 4
"""Guesses of ``top_k``, the largest number in Tian et al. (2023)."""

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
"""Alternatives asked for of each token: of an answer, and of True or False, which have many spellings."""

JUDGE = "judge"

GREEDY: Mapping[str, Any] = {"temperature": 0.0}
"""Of everything but the samples."""

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


def _ask_answer(question: Question, condition: str, replies: Replies) -> str:
    return answer_prompt(question)


def _given(question: Question, replies: Replies) -> str:
    return read_answer_reply(replies["answer"][0].text, question).answer


def _needed(stage: str, question: Question, condition: str, replies: Replies) -> bool:
    """Whether a condition has a stage; what is asked about the answer needs one."""
    return stage in SIGNALS[condition].stages and bool(_given(question, replies))


def _ask_after(question: Question, condition: str, replies: Replies) -> str | None:
    if not _needed("stated_after", question, condition, replies):
        return None
    return f"How likely is it that your answer is right? Reply with {_PERCENT}, and nothing else."


def _ask_words(question: Question, condition: str, replies: Replies) -> str | None:
    if not _needed("words", question, condition, replies):
        return None
    listed = "\n".join(EXPRESSIONS)
    return (
        "How likely is it that your answer is right? Reply with one of these expressions and nothing else:\n"
        f"{listed}"
    )


def _ask_samples(question: Question, condition: str, replies: Replies) -> str | None:
    return answer_prompt(question) if _needed("samples", question, condition, replies) else None


def _p_true_prompt(question: Question, answer: str, candidates: Sequence[str] = ()) -> str:
    shown = [f"- {_shown(question, candidate)}" for candidate in candidates]
    before = ["Some answers that were given:", *shown] if shown else []
    return "\n".join(
        [
            _asked(question),
            *before,
            f"Proposed answer: {_shown(question, answer)}",
            "",
            "Is the proposed answer true or false? Reply with True or False and nothing else.",
        ]
    )


def _ask_p_true(question: Question, condition: str, replies: Replies) -> str | None:
    if not _needed("p_true", question, condition, replies):
        return None
    return _p_true_prompt(question, _given(question, replies))


def _ask_p_true_samples(question: Question, condition: str, replies: Replies) -> str | None:
    if not _needed("p_true_samples", question, condition, replies):
        return None
    candidates = [answer for answer in answers_of(question, replies["samples"]) if answer]
    return _p_true_prompt(question, _given(question, replies), candidates)


def _ask_top_k(question: Question, condition: str, replies: Replies) -> str | None:
    if not _needed("top_k", question, condition, replies):
        return None
    lines = [
        f"Answer {i}: <{_FORMS[question.kind]}>\nConfidence {i}: <{_PERCENT} that it is right>"
        for i in range(1, GUESSES + 1)
    ]
    return (
        f"Give your {GUESSES} best guesses at the answer, the best first, and how likely each is to be right.\n\n"
        f"{_asked(question)}\n\nReply in this format and nothing else:\n" + "\n".join(lines)
    )


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
    named = parameters.get("signals")
    listed = named.split(",") if isinstance(named, str) else named or DEFAULT
    chosen = [name for each in listed if (name := str(each).strip()) and name != COMBINED] or list(DEFAULT)
    chosen = list(dict.fromkeys(chosen))
    entailment = parameters["entailment"]
    if entailment != "match" and not any(
        "samples" in SIGNALS[name].stages for name in chosen if name in SIGNALS
    ):
        raise ValueError(
            f"entailment={entailment!r} compares samples, and none of the signals takes samples: "
            "add agreement, semantic_entropy or semantic_entropy_discrete to signals"
        )
    if entailment == "nli":
        from confidence_tasks.studies.signals.entailment import check_installed

        check_installed()
    return chosen


def signal_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the calls; log-probabilities are required where a signal that needs them was named."""
    named = chosen_signals({**parameters, "entailment": "match"}) if parameters.get("signals") else []
    needed = {stage for name in named if name in SIGNALS and (stage := SIGNALS[name].logprobs)}
    needed |= (
        {"answer"} if needed else set()
    )  # a provider without any is then refused at the first call of all

    def logprobs(stage: str) -> Literal["", "wanted", "required"]:
        if stage in needed:
            return "required"
        return "" if named else "wanted"

    def scored(stage: str, ask: Any, alternatives: int, **options: Any) -> Stage:
        wanted = logprobs(stage)
        return Stage(
            stage, ask, logprobs=wanted, top_logprobs=alternatives if wanted else 0, **{**GREEDY, **options}
        )

    sampling = {"samples": parameters["samples"], "temperature": float(parameters["temperature"])}
    judge = [Stage("judge", _ask_judge, role=JUDGE, **GREEDY)] if parameters["entailment"] == "judge" else []
    return [
        scored("answer", _ask_answer, ALTERNATIVES),
        Stage("stated_after", _ask_after, follows="answer", **GREEDY),
        Stage("words", _ask_words, follows="answer", **GREEDY),
        scored("p_true", _ask_p_true, ALTERNATIVES_OF_TRUE),
        scored("samples", _ask_samples, 0, **sampling),
        *judge,
        scored("p_true_samples", _ask_p_true_samples, ALTERNATIVES_OF_TRUE),
        Stage("top_k", _ask_top_k, **GREEDY),
    ]


def signal_questions(parameters: Mapping[str, Any]) -> list[Question]:
    """Return the questions, each with the rule by which answers mean the same."""
    from dataclasses import replace

    from confidence_tasks.sources import load_asked

    rule = {ENTAILMENT: parameters["entailment"]}
    if parameters["entailment"] == "nli":
        rule |= {"nli_model": parameters["nli_model"]}
    return [replace(question, metadata={**question.metadata, **rule}) for question in load_asked(parameters)]
