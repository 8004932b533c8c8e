"""Prompts and readers of the log-probability study's short answers, and its simulated subject.

Cacioli (2026), arXiv:2603.25112, section 3.1. The author's wordings, questions and scoring are in :mod:`.author`; the
reader here is this package's, which takes the answer out of a longer reply.

The mean log-probability of a simulated subject's answer is linear in evidence x, which is N(0, 1) for wrong and
N(d, r^2) for right answers, where d is the subject's meta-d' and r is its ``evidence_ratio``. So, at any temperature,

    AUROC2 = Phi(d / sqrt(1 + r^2)),   slope of the z-ROC = 1 / r,   d_a = d sqrt(2 / (1 + r^2)).

Outcome and evidence are drawn anew at each temperature, like a sampled answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from confidence_tasks.reading.abstention import is_refusal
from confidence_tasks.reading.answers import ANSWER_FORMS, known_answers, read_answer
from confidence_tasks.reading.cleaning import trim_span, truncate_reply
from confidence_tasks.reading.grading import SIMILAR, grade
from confidence_tasks.reading.thoughts import strip_thoughts
from confidence_tasks.sources import load
from confidence_tasks.studies.logprob_metacognition.author import (
    AUTHOR,
    SPLITS,
    WORDINGS,
    ShortAnswer,
    author_questions,
    echo_end,
    read_whole_reply,
    whole_reply,
)
from confidence_tasks.study import Stage
from confidence_tasks.study.parameter import NumberedConditions
from confidence_tasks.study.trial import Kind, Question

TEMPERATURES = (0.1, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
"""The paper's temperatures of sampling (section 3.1)."""

MAX_TEMPERATURE = 2.0
"""The highest temperature that providers allow."""


def _check_temperature(number: float, text: str) -> float:
    if not 0.0 <= number <= MAX_TEMPERATURE:
        raise ValueError(
            f"temperature {text!r} must be a number from 0 (greedy decoding) to {MAX_TEMPERATURE:g}"
        )
    return abs(number)


CONDITIONS = NumberedConditions("temperature", "T=", _check_temperature, "{:.15g}".format)
"""Temperatures of sampling."""


def answer_prompt(question: str, wording: str = "author") -> str:
    """Return the user turn of a wording that asks for a short answer.

    Examples
    --------
    >>> answer_prompt("Who wrote Emma?")
    'Q: Who wrote Emma?'
    >>> print(answer_prompt("Who wrote Emma?", "short"))
    Answer the question with a name, a number or a few words, without an explanation.
    <BLANKLINE>
    Question: Who wrote Emma?
    Answer:
    """
    return WORDINGS[wording].prompt.format(question=question)


# Questions and calls ------------------------------------------------------------------------------------------

ANSWER, GOLD = "answer", "force_gold"
"""Names of the stages: the question, and the scoring of the right answer."""

PAPER_SIZES = {"trivia_qa": 5_000, "nq_open": 3_000}
"""Default number of questions of a source (section 3.1)."""

SHORT_ANSWERS = {"arithmetic": "arithmetic_number"}
"""Sources with options, and the same sources without options."""

KINDS = ("text", "number")
"""Kinds of short answers."""

LONGEST_REPLY = 64
"""Maximum number of tokens of a reply: enough for a short answer, too few for a model that reasons first."""


def logprob_questions(parameters: Mapping[str, Any]) -> Sequence[Question]:
    """Return the questions, by default as many as the paper has of a source, with how their replies are read.

    Raises
    ------
    ValueError
        If a question has no short answer as its key.
    """
    source, size = parameters["source"], parameters["n"]
    if size is None and source in PAPER_SIZES:
        size = PAPER_SIZES[source] + parameters["fewshot"]
    drawn = {"n": size, "seed": parameters["seed"], "mirror": parameters["mirror"]}
    if parameters["split"] == AUTHOR and source in SPLITS:
        questions = author_questions(source, **drawn)
    else:
        questions = load(SHORT_ANSWERS.get(source, source), **drawn)
    for question in questions:
        if question.kind not in KINDS or question.gold is None:
            raise ValueError(
                f"source={source}: question {question.id} has no short answer as its key (it is of the kind "
                f"{question.kind}); nlp_metad asks questions of the kinds {' and '.join(KINDS)}, such as those of "
                "trivia_qa, nq_open and arithmetic"
            )
    return [question.with_metadata(**reading_of_run(parameters)) for question in questions]


def nlp_metad_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the stage of the question and, with ``force_gold``, the stage that scores the right answer."""
    wording, how = parameters["prompt"], reading_of_run(parameters)

    def stage(name: str, **options: Any) -> Stage:
        common: dict[str, Any] = {"temperature": CONDITIONS.number, "logprobs": "required", "delimiter": " "}
        common["system"] = WORDINGS[wording].system
        return Stage(name, lambda question, *_: answer_prompt(question.text, wording), **common, **options)

    def evidence_span(question: Question, reply: str) -> tuple[int, int]:
        return span_of_evidence(question, reply, read_answer_of(question, reply, how), how)

    def span_of_key(question: Question, reply: str) -> tuple[int, int]:
        return len(reply) - len(_key(question)), len(reply)

    gold = [stage(GOLD, forced_reply=_key, span=span_of_key)] if parameters["force_gold"] else []
    return [stage(ANSWER, max_tokens=LONGEST_REPLY, span=evidence_span, complete=_has_answer_line), *gold]


def _key(question: Question) -> str:
    return question.gold or ""


LINE, ALL_TOKENS, ANSWER_TOKENS = "line", "all", "answer"
"""This package's scoring, and the tokens whose mean log-probability is the evidence."""

FIRST_RELEASE: Mapping[str, Any] = {
    "scoring": LINE,
    "span": ANSWER_TOKENS,
    "similarity": SIMILAR,
    "one_line": False,
}
"""How replies are read whose log does not say how: as in releases without these parameters. ``one_line`` says whether
a reply ends at a line break."""


def reading_of(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return how a reply is read: what the metadata of its question say, or the way of the first releases."""
    return {name: metadata.get(name, value) for name, value in FIRST_RELEASE.items()}


def reading_of_run(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return how the replies of a run are read."""
    return reading_of({**parameters, "one_line": WORDINGS[parameters["prompt"]].one_line})


def read_answer_of(question: Question, reply: str, how: Mapping[str, Any]) -> ShortAnswer:
    """Read the answer by the author's scoring, or by this package's."""
    if how["scoring"] == LINE:
        return read_short_answer(reply, question.kind, known_answers(question))
    return read_whole_reply(reply, question.kind, _start(question, reply), one_line=how["one_line"])


def _start(question: Question, reply: str) -> int:
    """Return the position after the thoughts in a reply and after the prompt that a server has repeated."""
    return echo_end(reply, question.text, _reasoning_end(reply))


def span_of_evidence(
    question: Question, reply: str, answer: ShortAnswer, how: Mapping[str, Any]
) -> tuple[int, int]:
    """Return the part of a reply whose tokens are the evidence: the whole reply, or its answer."""
    if how["span"] == ANSWER_TOKENS:
        return answer.begin, answer.end
    return whole_reply(reply, _start(question, reply), one_line=how["one_line"])


_MOST_WORDS = 6
"""Maximum number of words of an answer that stands on a line of its own before the place where the reply is cut off."""


def _has_answer_line(question: Question, condition: str, reply: str) -> bool:
    """Return whether a reply that was cut off begins with a line that is an answer.

    A base model goes on after the answer until it is cut off. A longer line, or a sentence, may be a thought.
    """
    answer = read_short_answer(reply, question.kind)
    is_sentence = reply[answer.end :].lstrip(AROUND)[:1] in (".", "!", "?", ":", ",", ";", "…")
    ends = "\n" in reply[answer.end :] and not is_sentence
    return bool(answer.text) and ends and len(reply[: answer.end].split()) <= _MOST_WORDS


def example_reply(question: Question, condition: str, number: int) -> str:
    """Return the reply of a worked example: the key."""
    return _key(question)


# Reading the answer --------------------------------------------------------------------------------

SPAN = 2_000
"""Maximum number of characters of a reply that are read."""

LABEL = re.compile(r"\W{0,4}(?:(?:final|short|my)\s)?(?:answer|a)\W{0,4}[:：][\s\"'*_“‘]{0,4}", re.IGNORECASE)
"""The label at the end of the prompt, repeated in a reply, such as ``**Answer:**``."""

AROUND = " \t\r\f\v\u00a0\"'`*_“”‘’«»"
"""Characters that may surround an answer without being part of it."""

_EXPLANATION = re.compile(
    r"""
    \s\((?=[^()]{0,300}\)?[\s."'*]{0,9}\Z) | \s[-–—]\s(?=[a-z]) | \s(?:because|since)\b | ;
    | ,\sI(?:\s(?:believe|think|guess|suppose|assume|would\ssay)|['’]d\ssay|(?:['’]m|\sam)\s(?:\w{1,12}\s)?sure)\b
    | \sI\s(?:believe|think|guess|suppose)[\s.!]{0,9}\Z
    | (?:(?<=[a-z]{4})|(?<=\d{4})|(?<=["”')*]))\.["”'*]{0,3}\s+(?=[A-Z])
    | [.!?]["”'*)]{0,3}\s{1,9}(?=(?:It|He|She|They|This|That|These|Those|There|His|Her|Its|Their)\b
        | The\s(?:[^\s.!?]{1,30}\s){1,6}?(?:is|was|are|were|has|had)\b)
    """,
    re.VERBOSE,
)
"""The beginning of an explanation.

A full stop counts if the word before it is too long for an abbreviation, or if the words after it begin a sentence
about the answer.
"""


def read_short_answer(reply: str, kind: Kind = "text", keys: Sequence[str] = ()) -> ShortAnswer:
    """Read the answer on the first line of a reply; it never raises.

    The first `SPAN` characters after the reasoning are read. ``kind`` is ``text`` or ``number``. A line that is one
    of the ``keys`` is no refusal.

    Examples
    --------
    >>> reply = "Answer: **Jane Austen**. She was born in 1775."
    >>> answer = read_short_answer(reply)
    >>> answer.text, reply[answer.begin : answer.end], answer.status
    ('Jane Austen', 'Jane Austen', 'repaired')
    >>> read_short_answer("I don't know.").status, read_short_answer(" ").status
    ('refused', 'missing_answer')
    """
    start = _reasoning_end(reply)
    begin, end = _first_line(reply, start, start + SPAN)
    if begin == end:
        return ShortAnswer("", 0, 0, "missing_answer")
    line = reply[begin:end]
    is_key = bool(keys) and grade(line, kind="text", gold=keys[0], aliases=keys[1:]) == 1.0
    if is_refusal(line) and not is_key:
        return ShortAnswer("", 0, 0, "refused")
    whole_line = _trim(reply, begin, end, " \t\r")
    for lead in (LABEL, ANSWER_FORMS["text"].lead_in):
        if match := lead.match(reply, begin, end):
            begin = match.end()
    if kind == "text" and (match := _EXPLANATION.search(reply, begin, end)):
        end = match.start() if reply[begin : match.start()].strip(AROUND) else end
    begin, end = _trim(reply, begin, end, AROUND)
    text = reply[begin:end]
    if kind == "number":
        text = read_answer(text, "number").text
        begin, end = _last_numeral(text, reply, begin, end)
    if not any(map(str.isalnum, text)):
        return ShortAnswer("", 0, 0, "unreadable")
    return ShortAnswer(text, begin, end, "ok" if whole_line == (begin, end) else "repaired")


def _reasoning_end(reply: str) -> int:
    """Return the position after the thoughts that the provider left in a reply; the end if they never end."""
    text = truncate_reply(reply)
    answer = strip_thoughts(text)
    if answer == text:
        return 0
    return len(reply) - len(answer) if reply.endswith(answer) else len(reply)


def _first_line(text: str, begin: int, end: int) -> tuple[int, int]:
    """Return the span of the first line that is more than a label; twice 0 for a blank text."""
    for line in text[begin:end].splitlines(keepends=True):
        label = LABEL.match(line)
        if line.strip() and not (label and not line[label.end() :].strip(AROUND)):
            return begin, begin + len(line.rstrip("\r\n"))
        begin += len(line)
    return 0, 0


def _last_numeral(numeral: str, text: str, begin: int, end: int) -> tuple[int, int]:
    """Return the last span of a number within a span; the whole span if the number is written in another form."""
    pattern = re.compile(rf"(?<![\d.,]){re.escape(numeral)}(?!\d)")
    matches = list(pattern.finditer(text, begin, end)) if numeral else []
    return matches[-1].span() if matches else (begin, end)


def _trim(text: str, begin: int, end: int, around: str) -> tuple[int, int]:
    """Return a span without the characters around an answer and without the full stop of a sentence."""
    while True:
        start, stop = begin, end
        begin, end = trim_span(text, begin, end, around, around + ",")
        last_word = text[begin:end].rpartition(" ")[2]
        if last_word.endswith(".") and "." not in last_word[:-1] and len(last_word) > 2:
            end -= 1
        if (begin, end) == (start, stop):
            return begin, end
