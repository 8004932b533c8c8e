"""Prompts and calls of the signal study, and its simulated subject.

The wording is this package's. Tian et al. (2023, arXiv:2305.14975) ask for confidence after the answer, for one of a
list of expressions, and for several guesses; Kadavath et al. (2022, arXiv:2207.05221) ask whether an answer is true.

Each answer of the subject has latent evidence: normal with variance 1 and mean meta-d'/2 if the answer is right,
-meta-d'/2 if it is wrong. A signal adds noise of its own to the evidence, and states the probability of being right
that the noisy evidence implies. The AUROC of a signal stated without rounding is therefore
Phi(meta-d' / sqrt(2 (1 + noise^2))).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from confidence_tasks.reading.sureness import EXPRESSIONS, TRUE_FALSE
from confidence_tasks.sources import load_asked
from confidence_tasks.studies.signals.meaning import (
    ENTAILMENT,
    check_nli_installed,
    judge_prompts,
    problem_of_verdict,
    sample_answers,
)
from confidence_tasks.studies.signals.of_calls import PANEL
from confidence_tasks.studies.signals.reader import (
    answer_schemas,
    begins_with_verdict,
    ends_in_answer,
    options_of,
    problem_of_percent,
    read_answer_reply,
)
from confidence_tasks.studies.signals.table import COMBINED, SIGNALS
from confidence_tasks.study import Question, Replies, Stage, Structured
from confidence_tasks.study.parameter import parse_list
from confidence_tasks.study.structured import on_one_line

DEFAULT: tuple[str, ...] = tuple(name for name, signal in SIGNALS.items() if not signal.stages)
"""Signals without a call beside the answer's."""

GUESSES = 4
"""Number of guesses of ``top_k``, the largest in Tian et al. (2023)."""

ALTERNATIVES, ALTERNATIVES_OF_TRUE = 10, 20
"""Number of alternatives requested for each token of an answer, and of True or False, which have many spellings."""

JUDGE = "judge"

_FORMS = {
    "choice": "the letter of one option",
    "number": "a number",
    "boolean": "yes or no",
    "text": "a name, a number or a few words",
}

_PERCENT = "a number from 0 to 100, the probability in percent"
_WHOLE_PERCENT = f"a whole {_PERCENT.removeprefix('a ')}"


_ANSWER = "Answer the question, and say how likely it is that your answer is right."


def answer_prompt(question: Question) -> str:
    """Return the prompt of the answer and of the samples.

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
        f"{_ANSWER}\n\n{_question_text(question)}\n\n"
        "Reply in two lines and nothing else:\n"
        f"Answer: <{_FORMS[question.kind]}>\nConfidence: <{_PERCENT} that your answer is right>"
    )


def _question_text(question: Question) -> str:
    options = [f"{letter}) {text}" for letter, text in question.options.items()]
    return "\n".join([f"Question: {question.text}", *options])


def _answer_text(question: Question, answer: str) -> str:
    """Return an answer as a prompt shows it: a letter with its option."""
    return f"{answer}) {question.options[answer]}" if answer in question.options else answer


def _given_answer(question: Question, replies: Replies) -> str:
    return read_answer_reply(replies["answer"][0].text, question).answer


def _p_true_prompt(question: Question, answer: str, samples: Sequence[str] = ()) -> str:
    listed = [f"- {_answer_text(question, sample)}" for sample in samples]
    before = ["Some answers that were given:", *listed] if listed else []
    request = "Is the proposed answer true or false? Reply with True or False and nothing else."
    proposed = f"Proposed answer: {_answer_text(question, answer)}"
    return "\n".join([_question_text(question), *before, proposed, "", request])


_BEST_GUESSES = (
    f"Give your {GUESSES} best guesses at the answer, the best first, and how likely each is to be right."
)
_NUMBERS = range(1, GUESSES + 1)


def _top_k_prompt(question: Question) -> str:
    lines = [
        f"Answer {i}: <{_FORMS[question.kind]}>\nConfidence {i}: <{_PERCENT} that it is right>"
        for i in _NUMBERS
    ]
    request = "Reply in this format and nothing else:\n" + "\n".join(lines)
    return f"{_BEST_GUESSES}\n\n{_question_text(question)}\n\n{request}"


_HOW_LIKELY_EACH = "How likely is each option to be the right answer? The numbers add up to 100."


def _distribution_prompt(question: Question) -> str | None:
    options = options_of(question)
    if not options:
        return None
    lines = "\n".join(f"{option}: <{_PERCENT}>" for option in options)
    return (
        f"{_HOW_LIKELY_EACH}\n\n{_question_text(question)}\n\nReply in this format and nothing else:\n{lines}"
    )


def _panel_prompt(question: Question, answer: str) -> str:
    proposed = f"Proposed answer: {_answer_text(question, answer)}"
    request = f"How likely is it that the proposed answer is right? Reply with {_PERCENT}, and nothing else."
    return f"{_question_text(question)}\n{proposed}\n\n{request}"


_HOW_LIKELY = "How likely is it that your answer is right? Reply with"

_PROMPTS: Mapping[str, Callable[[Question, str, Replies], str | None]] = {
    "stated_after": lambda *_: f"{_HOW_LIKELY} {_PERCENT}, and nothing else.",
    "words": lambda *_: "\n".join(
        [f"{_HOW_LIKELY} one of these expressions and nothing else:", *EXPRESSIONS]
    ),
    "samples": lambda question, *_: answer_prompt(question),
    "p_true": lambda question, answer, _: _p_true_prompt(question, answer),
    "p_true_samples": lambda question, answer, replies: _p_true_prompt(
        question, answer, list(filter(None, sample_answers(question, replies["samples"])))
    ),
    "top_k": lambda question, *_: _top_k_prompt(question),
    "distribution": lambda question, *_: _distribution_prompt(question),
    PANEL: lambda question, answer, _: _panel_prompt(question, answer),
}
"""Prompt of each stage after the answer, made from the question, the answer and the replies."""


# Replies that are JSON objects


def _answer_object_prompt(question: Question, *_: object) -> str:
    """Return the prompt of the answer and of the samples."""
    return (
        f"{_ANSWER}\n\n{_question_text(question)}\n\nReply with a JSON object with the keys answer, which is"
        f" {_FORMS[question.kind]}, and confidence, which is {_WHOLE_PERCENT} that your answer is right."
    )


def _top_k_object_prompt(question: Question) -> str:
    return (
        f"{_BEST_GUESSES}\n\n{_question_text(question)}\n\nReply with a JSON object with the keys answer_1,"
        f" confidence_1 and so on up to {GUESSES}: an answer is {_FORMS[question.kind]}, and a confidence is"
        f" {_WHOLE_PERCENT} that it is right."
    )


def _distribution_object_prompt(question: Question) -> str | None:
    options = options_of(question)
    if not options:
        return None
    return (
        f"{_HOW_LIKELY_EACH}\n\n{_question_text(question)}\n\nReply with a JSON object with the keys"
        f" {', '.join(options)}, each of which is {_PERCENT}."
    )


def _distribution_schemas(question: Question, condition: str) -> dict[str, Mapping[str, Any]]:
    return {option: {"type": "number"} for option in options_of(question)}


def _write_distribution(question: Question, values: Mapping[str, Any]) -> str:
    return "\n".join(f"{option}: {values[option]}" for option in options_of(question))


def _top_k_schemas(question: Question, condition: str) -> dict[str, Mapping[str, Any]]:
    values = answer_schemas(question)
    return {f"{name}_{i}": schema for i in _NUMBERS for name, schema in values.items()}


def _write_guesses(question: Question, values: Mapping[str, Any]) -> str:
    """Return the values of a JSON object in the format of a text."""
    return "\n".join(
        f"{name.capitalize()} {i}: {on_one_line(values[f'{name}_{i}'])}"
        for i in _NUMBERS
        for name in ("answer", "confidence")
    )


_ANSWER_OBJECT = Structured(lambda question, condition: answer_schemas(question), _answer_object_prompt)

_OBJECTS: Mapping[str, Structured] = {
    "stated_after": Structured(
        lambda *_: {"confidence": {"type": "integer"}},
        lambda *_: f"{_HOW_LIKELY} a JSON object with the key confidence, which is {_WHOLE_PERCENT}.",
        lambda question, values: f"{values['confidence']}%",
    ),
    "words": Structured(
        lambda *_: {"expression": {"type": "string", "enum": list(EXPRESSIONS)}},
        lambda *_: (
            f"{_HOW_LIKELY} a JSON object with the key expression, which is one of {', '.join(EXPRESSIONS)}."
        ),
        lambda question, values: str(values["expression"]),
    ),
    "samples": _ANSWER_OBJECT,
    "distribution": Structured(
        _distribution_schemas, lambda question, *_: _distribution_object_prompt(question), _write_distribution
    ),
    "top_k": Structured(_top_k_schemas, lambda question, *_: _top_k_object_prompt(question), _write_guesses),
}
"""What each stage after the answer asks for if replies are JSON objects; ``ask`` takes what a prompt is made from.

True or False stays a word, whose token has a probability, and judges reply in words, so that any model may be one.
"""


def _stage(name: str, *, kind: str = "", **options: Any) -> Stage:
    """Make a stage of the conditions whose signal needs it; without an answer it has no prompt.

    ``kind`` is the name of its prompt, if several stages have the same one.
    """
    kind = kind or name

    def asking(prompt: Callable[[Question, str, Replies], str | None]) -> Callable[..., str | None]:
        def ask(question: Question, condition: str, replies: Replies) -> str | None:
            needed = kind in SIGNALS[condition].stages and (answer := _given_answer(question, replies))
            return prompt(question, answer, replies) if needed else None

        return ask

    structured = _OBJECTS.get(name)
    if structured and structured.ask:
        structured = replace(structured, ask=asking(structured.ask))
    return Stage(name, asking(_PROMPTS[kind]), **{"temperature": 0.0, "structured": structured, **options})


def _judge_prompts(question: Question, condition: str, replies: Replies) -> list[str] | None:
    if condition == "p_true_samples" or not replies.get("samples"):
        return None
    return judge_prompts(question, _given_answer(question, replies), replies["samples"]) or None


def chosen_signals(parameters: Mapping[str, Any]) -> list[str]:
    """Return the signals of a run: those named by the user, or the default.

    Raises
    ------
    ValueError
        If no signal uses the entailment or the panel, or the packages of the local model are not installed.
    """
    named = parameters.get("signals") or ()
    names = named.split(",") if isinstance(named, str) else map(str, named)
    chosen = [name for name in dict.fromkeys(map(str.strip, names)) if name not in ("", COMBINED)] or DEFAULT
    _check_entailment(parameters["entailment"], chosen)
    if PANEL not in chosen and parameters.get("panel", PANEL) != PANEL:
        raise ValueError(f"panel={parameters['panel']!r} names judges: add {PANEL} to signals")
    return list(chosen)


def _check_entailment(entailment: str, chosen: Sequence[str]) -> None:
    """Raise ValueError if no signal uses the entailment, or the packages of its local model are not installed."""
    if entailment != "match" and not any(
        "samples" in SIGNALS[name].stages for name in SIGNALS.keys() & chosen
    ):
        raise ValueError(
            f"entailment={entailment!r} compares samples, and none of the signals takes samples: "
            "add agreement, semantic_entropy or semantic_entropy_discrete to signals"
        )
    if entailment == "nli":
        check_nli_installed()


def signal_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the stages; those whose log-probabilities a named signal needs require log-probabilities."""
    named = chosen_signals({**parameters, "entailment": "match"}) if parameters.get("signals") else []
    needed = {SIGNALS[name].logprobs for name in SIGNALS.keys() & named} - {""}
    if needed:
        needed.add("answer")  # so that the first call refuses a provider without log-probabilities

    verdict: dict[str, Any] = {"complete": begins_with_verdict, "options": lambda question: TRUE_FALSE}

    def logprob_options(stage: str, alternatives: int) -> dict[str, Any]:
        logprobs = "required" if stage in needed else "" if named else "wanted"
        return {"logprobs": logprobs, "top_logprobs": alternatives if logprobs else 0}

    sampling = {
        "samples": parameters["samples"],
        "temperature": float(parameters["temperature"]),
        "one_request": parameters["one_request"],
    }
    judge = [Stage("judge", _judge_prompts, role=JUDGE, temperature=0.0, problem=problem_of_verdict)]
    return [
        Stage(
            "answer",
            lambda question, condition, replies: answer_prompt(question),
            temperature=0.0,
            complete=ends_in_answer,
            structured=_ANSWER_OBJECT,
            **logprob_options("answer", ALTERNATIVES),
        ),
        _stage("stated_after", follows="answer"),
        _stage("words", follows="answer"),
        _stage("p_true", **verdict, **logprob_options("p_true", ALTERNATIVES_OF_TRUE)),
        _stage("samples", complete=ends_in_answer, **logprob_options("samples", 0), **sampling),
        *(judge if parameters["entailment"] == "judge" else ()),
        _stage(
            "p_true_samples",
            **verdict,
            **logprob_options("p_true_samples", ALTERNATIVES_OF_TRUE),
        ),
        _stage("top_k"),
        _stage("distribution"),
        *(
            _stage(f"{PANEL}:{role}", kind=PANEL, role=role, problem=problem_of_percent)
            for role in _judges(parameters, named)
        ),
    ]


def _judges(parameters: Mapping[str, Any], named: Sequence[str]) -> list[str]:
    """Return the model roles of the panel, if its signal is asked for."""
    return parse_list(parameters["panel"], "panel") if PANEL in named else []


def signal_questions(parameters: Mapping[str, Any]) -> list[Question]:
    """Return the questions, each with the rule of equal meaning in its metadata."""
    rule = {ENTAILMENT: parameters["entailment"]}
    if parameters["entailment"] == "nli":
        rule |= {"nli_model": parameters["nli_model"]}
    return [question.with_metadata(**rule) for question in load_asked(parameters)]
