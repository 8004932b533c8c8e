"""What the log-probability study asks: questions with a short answer, their prompts and calls, and their domains.

Cacioli (2026), arXiv:2603.25112, section 3.1. The paper does not print its prompt; the wording is this package's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from confidence_tasks.sources import Question, load
from confidence_tasks.study import Stage
from confidence_tasks.study.parameter import NumberedConditions

UNCLASSIFIED = "Unclassified"

_SECTIONS = (Path(__file__).parent / "domains.txt").read_text(encoding="utf-8").split("\n\n")

LEXICON: Mapping[str, str] = dict(section.split("\n", 1) for section in _SECTIONS)
"""Words of each domain, from ``domains.txt``; ``·`` joins the words of a phrase, ``*`` stands for any ending."""

DOMAINS: tuple[str, ...] = (*LEXICON, UNCLASSIFIED)

LONGEST = 5_000
"""So many characters of a question are read."""


def domain_of(question: str) -> str:
    """Return the domain with most different words in a question, of several the one named first.

    A question names what it is about before it describes it: "Which river rises near the castle of ..." is about a
    river. Without any word it is ``Unclassified``; most such questions are of sport, food and words.

    Examples
    --------
    >>> domain_of("Which river flows through the capital of Austria?")
    'Geography'
    >>> domain_of("What was unusual about it?")
    'Unclassified'
    """
    text = question[:LONGEST].casefold().replace("’", "'")
    found = {domain: list(pattern.finditer(text)) for domain, pattern in _patterns().items()}
    named = {
        domain: (-len({word[0] for word in words}), words[0].start())
        for domain, words in found.items()
        if words
    }
    return min(named, key=lambda domain: named[domain], default=UNCLASSIFIED)


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Return one pattern a domain; longer entries come first, so that a phrase counts once."""
    return {
        domain: re.compile(rf"(?<![\w-])(?:{'|'.join(map(_entry, _entries(words)))})(?![\w-])")
        for domain, words in LEXICON.items()
    }


def _entries(words: str) -> list[str]:
    return sorted(words.split(), key=len, reverse=True)


def _entry(word: str) -> str:
    return re.escape(word).replace("·", " ").replace(r"\*", r"\w*")


TEMPERATURES = (0.1, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
"""The paper's temperatures of sampling (section 3.1)."""

HOTTEST = 2.0
"""The highest temperature that the providers allow."""

DIRECTIONS = "Answer the question with a name, a number or a few words, without an explanation."

CLASSIFIER_SYSTEM = "You sort trivia questions into domains of knowledge."


def _temperature(number: float, named: str) -> float:
    if not 0.0 <= number <= HOTTEST:
        raise ValueError(f"temperature {named!r} must be a number from 0 (greedy decoding) to {HOTTEST:g}")
    return abs(number)


CONDITIONS = NumberedConditions("temperature", "T=", _temperature, "{:.15g}".format)
"""Temperatures of sampling."""

condition_of, temperature_of = CONDITIONS.label, CONDITIONS.number


def answer_prompt(question: str) -> str:
    """Return the prompt that asks for a short answer.

    Examples
    --------
    >>> print(answer_prompt("Who wrote Emma?"))
    Answer the question with a name, a number or a few words, without an explanation.
    <BLANKLINE>
    Question: Who wrote Emma?
    Answer:
    """
    return f"{DIRECTIONS}\n\nQuestion: {question}\nAnswer:"


def classifier_prompt(question: str, answer: str) -> str:
    """Return the prompt that asks a model for the domain of a question."""
    listed = "\n".join(f"- {domain}" for domain in DOMAINS)
    return (
        f"Question: {question}\nAnswer: {answer}\n\n"
        f"Which of these domains does the question belong to?\n{listed}\n\n"
        "Reply with the name of one domain and nothing else."
    )


def read_domain(reply: str) -> str:
    """Return the one domain that a reply names; the last, ``Unclassified``, when it names none or several.

    Examples
    --------
    >>> read_domain("Geography."), read_domain("Geography or History & Politics")
    ('Geography', 'Unclassified')
    """
    said = reply[:1_000].casefold().replace(" and ", " & ")
    named = [domain for domain in DOMAINS if domain.casefold() in said]
    return named[0] if len(named) == 1 else DOMAINS[-1]


# Questions and calls ------------------------------------------------------------------------------------------

ANSWER, GOLD = "answer", "force_gold"
"""The question, and the right answer put in the model's mouth."""

PAPER_SIZES = {"trivia_qa": 5_000, "nq_open": 3_000}
"""Questions asked of a source when ``n`` is not given (section 3.1)."""

SHORT_ANSWERS = {"arithmetic": "arithmetic_number"}
"""Sources with options, and their form without."""

KINDS = ("text", "number")
"""What short answers may be."""

LONGEST_REPLY = 64
"""Tokens: enough for a short answer, too few for a model that reasons first."""


def logprob_questions(parameters: Mapping[str, Any]) -> Sequence[Question]:
    """Return the questions: of a source of the paper, as many as the paper's by default.

    ValueError if they have no short answers.
    """
    source, size = parameters["source"], parameters["n"]
    if size is None and source in PAPER_SIZES:
        size = PAPER_SIZES[source] + parameters["fewshot"]
    asked = {name: parameters[name] for name in ("seed", "mirror")}
    questions = load(SHORT_ANSWERS.get(source, source), n=size, **asked)
    for question in questions:
        if question.kind not in KINDS or question.gold is None:
            raise ValueError(
                f"source={source}: question {question.id} has no short answer as its key (it is of the kind "
                f"{question.kind}); nlp_metad asks questions of the kinds {' and '.join(KINDS)}, such as those of "
                "trivia_qa, nq_open and arithmetic"
            )
    return questions


def logprob_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the question and, with ``force_gold``, its key in the model's mouth."""

    def stage(name: str, **options: Any) -> Stage:
        common: dict[str, Any] = {"temperature": temperature_of, "logprobs": "required", "delimiter": " "}
        return Stage(name, lambda question, *_: answer_prompt(question.text), **common, **options)

    gold = [stage(GOLD, given=_key, span=_after_the_lead)] if parameters["force_gold"] else []
    return [stage(ANSWER, max_tokens=LONGEST_REPLY, span=_answer), *gold]


def _key(question: Question) -> str:
    return question.gold or ""


def _answer(question: Question, reply: str) -> tuple[int, int]:
    from confidence_tasks.studies.logprob_metacognition.reader import read_short_answer

    found = read_short_answer(reply, question.kind)
    return found.begin, found.end


def _after_the_lead(question: Question, reply: str) -> tuple[int, int]:
    return len(reply) - len(_key(question)), len(reply)


def key_shown(question: Question, condition: str, number: int) -> str:
    """Return the reply of a worked example."""
    return _key(question)
