"""Table of all readers of replies, and the properties of their results that must hold for any text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, is_dataclass
from functools import partial
from typing import Any, TypeAlias

from tests.trials import fermieval_trial, lifeeval_trial, question_set_trial, sample_trial, scale_trial

from confidence_tasks.reading.abstention import is_refusal
from confidence_tasks.reading.answers import read_answer
from confidence_tasks.reading.cleaning import clean, clean_value
from confidence_tasks.reading.explanation import escape_markdown, explanation
from confidence_tasks.reading.fields import read_json_fields, read_probability
from confidence_tasks.reading.grading import normalise_text, same_number
from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.reading.numbers import canonical, find_numbers, read_number
from confidence_tasks.reading.token_probabilities import (
    letter_options,
    number_probability,
    option_probabilities,
)
from confidence_tasks.sources.generated import lifeeval_question
from confidence_tasks.studies.fermieval import STUDY as FERMIEVAL
from confidence_tasks.studies.fermieval.logprob import trials as fermieval_logprob
from confidence_tasks.studies.fermieval.logprob.distribution import integer_probabilities, read_distribution
from confidence_tasks.studies.fermieval.replies import read_fermi_exponent, read_fermi_interval
from confidence_tasks.studies.lifeeval import STUDY as LIFEEVAL
from confidence_tasks.studies.lifeeval.question_sets import STUDY as QUESTION_SETS
from confidence_tasks.studies.lifeeval.question_sets.reader import (
    read_boolean_reply,
    read_judgement,
    read_options_reply,
)
from confidence_tasks.studies.lifeeval.reader import read_lifeeval_reply
from confidence_tasks.studies.logprob_metacognition.replies import read_short_answer
from confidence_tasks.studies.riskeval import STUDY as RISKEVAL
from confidence_tasks.studies.riskeval.confidence import find_confidences, verbal_confidence
from confidence_tasks.studies.riskeval.judgements import read_parser_reply, read_verdict
from confidence_tasks.studies.riskeval.reader import read_risk_reply
from confidence_tasks.studies.riskeval.replies import judge_prompt, parser_prompt
from confidence_tasks.studies.riskeval.trials import riskeval_trial
from confidence_tasks.studies.scales import STUDY as SCALES
from confidence_tasks.studies.scales.replies import ELICITATIONS
from confidence_tasks.studies.scales.trials import read_scale_reply
from confidence_tasks.study.stage import Token
from confidence_tasks.study.trial import STATUSES, Kind, Question

CITIES = ("Paris", "London", "Rome", "Berlin")
CHOICE = Question("q-1", "demo", "Capital of the United Kingdom?", "choice", "B", CITIES)
TEXT = Question("q-2", "demo", "Capital of the United Kingdom?", "text", "London", aliases=("Londres",))
NUMBER = Question("q-3", "demo", "Pennies in a dollar, as a power of ten?", "number", "2")
BOOLEAN = Question("q-4", "demo", "Is the sky blue?", "boolean", "yes")
Scored: TypeAlias = tuple[Mapping[str, Any], str]

KINDS: tuple[Kind, ...] = ("choice", "number", "text", "boolean")


def _tokens(text: str) -> list[Token]:
    """Split a text into tokens that are each other's alternatives, some with impossible log-probabilities."""
    pieces = text.split("|")[:40]
    values = (-0.1, -3.0, 0.0, 5.0, -math.inf, math.nan)
    return [
        Token(
            piece, values[index % len(values)], {other: values[len(other) % len(values)] for other in pieces}
        )
        for index, piece in enumerate(pieces)
    ]


def _read_scale(kind: Kind, elicitation: Any, text: str) -> Any:
    choices = CITIES if kind == "choice" else ()
    return read_scale_reply(text, Scale(0, 20), kind=kind, choices=choices, elicitation=elicitation)


def _read_answer(kind: Kind, text: str) -> Any:
    return read_answer(text, kind, CITIES if kind == "choice" else ())


def _read_confidences(kind: Kind, text: str) -> Any:
    return find_confidences(text, kind, CITIES if kind == "choice" else ())


READERS: Mapping[str, Callable[[str], Any]] = {
    **{f"scale {kind} {how}": partial(_read_scale, kind, how) for kind in KINDS for how in ELICITATIONS},
    **{
        f"risk {kind}": lambda text, kind=kind: read_risk_reply(
            text, kind, CITIES if kind == "choice" else ()
        )
        for kind in KINDS
    },
    "parser": lambda text: read_parser_reply(text, CHOICE),
    "judge": read_verdict,
    "lifeeval": read_lifeeval_reply,
    "boolean": read_boolean_reply,
    "judgement": lambda text: read_judgement(text, "Rome"),
    "options": lambda text: read_options_reply(text, CITIES),
    "interval": read_fermi_interval,
    "exponent": read_fermi_exponent,
    "short answer": read_short_answer,
}
"""Readers of whole replies."""

PARTS: Mapping[str, Callable[[str], Any]] = {
    "clean": clean,
    "clean_value": clean_value,
    "json": lambda text: read_json_fields(text, ("Answer", "Confidence", "A", "B")),
    **{f"answer {kind}": partial(_read_answer, kind) for kind in KINDS},
    "number": read_number,
    "numbers": lambda text: [canonical(number.value) for number in find_numbers(text)],
    "probability": read_probability,
    **{f"confidences {kind}": partial(_read_confidences, kind) for kind in KINDS},
    "words": verbal_confidence,
    "refusal": is_refusal,
    "integers by token": lambda text: integer_probabilities(_tokens(text)),
    "options by token": lambda text: option_probabilities(_tokens(text), letter_options(4)),
    "number by token": lambda text: number_probability(_tokens(text)),
    "normalised": normalise_text,
    "same number": lambda text: same_number(text, "18"),
    "markdown": escape_markdown,
    "to the judge": lambda text: judge_prompt(TEXT, text),
    "to the parser": lambda text: parser_prompt(CHOICE, text),
}
"""Readers of parts of replies, and functions that quote them."""

DISTRIBUTION: Mapping[str, Callable[[str], Any]] = {"distribution": read_distribution}
"""Reader of the distributions in trials. It raises ValueError for any other text."""


def _score_scale(question: Question, reply: str) -> Scored:
    trial = scale_trial(question, Scale(0, 20), reply)
    return trial, explanation(SCALES, trial, question)


def _score_risk(question: Question, reply: str) -> Scored:
    trial = riskeval_trial(question, 10.0, reply)
    return trial, explanation(RISKEVAL, trial, question)


_LIFE = lifeeval_question("male", 65, 10)


def _score_life(reply: str) -> Scored:
    trial = lifeeval_trial(_LIFE, reply, _tokens(reply))
    return trial, explanation(LIFEEVAL, trial, _LIFE)


def _score_question_set(form: Any, question: Question, reply: str) -> Scored:
    trial = question_set_trial(form, question, reply, _tokens(reply), "Rome")
    return trial, explanation(QUESTION_SETS, trial, question)


def _score_interval(reply: str) -> Scored:
    trial = fermieval_trial(NUMBER, 0.9, "test", reply)
    return trial, explanation(FERMIEVAL, trial, NUMBER)


def _score_tokens(reply: str) -> Scored:
    trial = fermieval_logprob.distribution_trial(NUMBER, "test", integer_probabilities(_tokens(reply)))
    read_distribution(trial["distribution"])
    return trial, ""


SCORED: Mapping[str, Callable[[str], Scored]] = {
    **{f"scale {q.kind}": partial(_score_scale, q) for q in (CHOICE, TEXT, NUMBER, BOOLEAN)},
    **{f"risk {q.kind}": partial(_score_risk, q) for q in (CHOICE, TEXT, NUMBER, BOOLEAN)},
    "lifeeval": _score_life,
    "boolean": partial(_score_question_set, "boolean", BOOLEAN),
    "options": partial(_score_question_set, "options", CHOICE),
    "judgement": partial(_score_question_set, "judgement", BOOLEAN),
    "interval": _score_interval,
    "by token": _score_tokens,
    "sample": lambda reply: (sample_trial(NUMBER, "reasoned", 0.7, "test", reply), ""),
}
"""Functions from a reply to its trial and the explanation in the log viewer."""

LONGEST_TEXT = 50_000
"""Maximum length of a text in a trial, which must not contain replies of megabytes."""


def faults(result: Any) -> Iterator[str]:
    """Yield what is wrong with the result of a reader, or with a trial and its explanation."""
    if (
        isinstance(result, tuple)
        and len(result) == 2
        and isinstance(result[0], dict)
        and "status" in result[0]
    ):
        yield from _faults_of_trial(*result)
        return
    values = asdict(result) if is_dataclass(result) and not isinstance(result, type) else {"result": result}
    if (status := values.get("status", "ok")) not in STATUSES:
        yield f"{status!r} is no status"
    yield from (f"{name} is infinite" for name, value in values.items() if _is_infinite(value))


def _faults_of_trial(trial: Mapping[str, Any], explanation: str) -> Iterator[str]:
    if trial["status"] not in STATUSES:
        yield f"{trial['status']!r} is no status"
    for name, value in trial.items():
        if not isinstance(value, float | str):
            yield f"{name} is neither a number nor a text: {value!r}"
        if _is_infinite(value):
            yield f"{name} is infinite"
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            yield f"{name} has {len(value)} characters"
    for name in ("correct", "confidence"):
        if not (math.isnan(trial[name]) or 0.0 <= trial[name] <= 1.0):
            yield f"{name} is {trial[name]}"
    for line in filter(None, explanation.split("\n")):
        if not (line.startswith("| ") and line.endswith(" |")):
            yield f"the explanation leaves its table: {line[:80]!r}"


def _is_infinite(value: Any) -> bool:
    return isinstance(value, float) and math.isinf(value)
