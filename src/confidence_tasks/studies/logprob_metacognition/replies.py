"""Replies of the log-probability study: short answers, how they are asked for and read, and a simulated subject.

Cacioli (2026), arXiv:2603.25112, section 3.1. The paper does not print its prompt; the wording is this package's.

The mean log-probability of the tokens of a simulated subject's answer is linear in evidence x, which is N(0, 1) when
the answer is wrong and N(d, r^2) when it is right, with d the subject's meta-d' and r its ``evidence_ratio``. So, at
any temperature,

    AUROC2 = Phi(d / sqrt(1 + r^2)),   slope of the z-ROC = 1 / r,   d_a = d sqrt(2 / (1 + r^2)).

Outcome and evidence are drawn anew at each temperature, as a sampled answer is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confidence_tasks.reading.answers import FORMS, is_refusal, read_answer
from confidence_tasks.reading.cleaning import bounded, strip_thoughts, trimmed
from confidence_tasks.simulation.reply import Reply, StageRequest, answer, call_temperature, subject_seed
from confidence_tasks.simulation.subject import Subject, normal, pick, uniform
from confidence_tasks.sources import load
from confidence_tasks.study import Stage
from confidence_tasks.study.parameter import NumberedConditions
from confidence_tasks.study.reference import np
from confidence_tasks.study.trial import Kind, Question, Status

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from confidence_tasks.statistics.core import FloatArray

UNCLASSIFIED = "Unclassified"

_SECTIONS = (Path(__file__).parent / "domains.txt").read_text(encoding="utf-8").split("\n\n")

LEXICON: Mapping[str, str] = dict(section.split("\n", 1) for section in _SECTIONS)
"""Words of each domain, from ``domains.txt``; ``·`` joins the words of a phrase, ``*`` stands for any ending."""

DOMAINS: tuple[str, ...] = (*LEXICON, UNCLASSIFIED)

LONGEST = 5_000
"""Maximum number of characters that are read of a question."""


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
        domain: re.compile(rf"(?<![\w-])(?:{_entries(words)})(?![\w-])") for domain, words in LEXICON.items()
    }


def _entries(words: str) -> str:
    longest_first = sorted(words.split(), key=len, reverse=True)
    return "|".join(map(re.escape, longest_first)).replace("·", " ").replace(r"\*", r"\w*")


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
"""Kinds of short answers."""

LONGEST_REPLY = 64
"""Maximum number of tokens: enough for a short answer, too few for a model that reasons first."""


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

    def span_of_key(question: Question, reply: str) -> tuple[int, int]:
        return len(reply) - len(_key(question)), len(reply)

    gold = [stage(GOLD, forced_reply=_key, span=span_of_key)] if parameters["force_gold"] else []
    return [stage(ANSWER, max_tokens=LONGEST_REPLY, span=_answer), *gold]


def _key(question: Question) -> str:
    return question.gold or ""


def _answer(question: Question, reply: str) -> tuple[int, int]:
    found = read_short_answer(reply, question.kind)
    return found.begin, found.end


def key_shown(question: Question, condition: str, number: int) -> str:
    """Return the reply of a worked example."""
    return _key(question)


# Reading the answer --------------------------------------------------------------------------------

SPAN = 2_000
"""Maximum number of characters that are read of a reply."""

LABEL = re.compile(r"\W{0,4}(?:(?:final|short|my)\s)?(?:answer|a)\W{0,4}[:：][\s\"'*_“‘]{0,4}", re.IGNORECASE)
"""A line that repeats what the prompt ends with, such as ``**Answer:**``."""

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
"""Where an explanation begins.

A full stop ends a sentence after a word too long for an abbreviation, or before words that begin a sentence about it.
"""


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """A short answer as read.

    Attributes
    ----------
    text : str
        The answer as it stands in the reply, or in canonical form if it is a number; empty when there is none.
    begin, end : int
        The reply's characters that are the answer, ``reply[begin:end]``.
    status : Status
        ``ok``, ``repaired`` when something had to be taken off, ``refused``, ``missing_answer`` for an empty reply,
        ``unreadable`` for one without letters or digits.
    """

    text: str
    begin: int
    end: int
    status: Status


def read_short_answer(reply: str, kind: Kind = "text") -> ShortAnswer:
    """Read the answer on the first line of a reply; any text in, an answer out.

    The first `SPAN` characters after reasoning are read; ``kind``, ``text`` or ``number``, says what an answer is.

    Examples
    --------
    >>> reply = "Answer: **Jane Austen**. She was born in 1775."
    >>> found = read_short_answer(reply)
    >>> found.text, reply[found.begin : found.end], found.status
    ('Jane Austen', 'Jane Austen', 'repaired')
    >>> read_short_answer("I don't know.").status, read_short_answer(" ").status
    ('refused', 'missing_answer')
    """
    start = _after_reasoning(reply)
    begin, end = _first_line(reply, start, start + SPAN)
    if begin == end:
        return ShortAnswer("", 0, 0, "missing_answer")
    if is_refusal(reply[begin:end]):
        return ShortAnswer("", 0, 0, "refused")
    plain = _trimmed(reply, begin, end, " \t\r")
    for lead in (LABEL, FORMS["text"].lead_in):
        if match := lead.match(reply, begin, end):
            begin = match.end()
    if kind == "text" and (match := _EXPLANATION.search(reply, begin, end)):
        end = match.start() if reply[begin : match.start()].strip(AROUND) else end
    begin, end = _trimmed(reply, begin, end, AROUND)
    text = reply[begin:end]
    if kind == "number":
        text = read_answer(text, "number").text
        begin, end = _last_numeral(text, reply, begin, end)
    if not any(map(str.isalnum, text)):
        return ShortAnswer("", 0, 0, "unreadable")
    return ShortAnswer(text, begin, end, "ok" if plain == (begin, end) else "repaired")


def _after_reasoning(reply: str) -> int:
    """Return where a reply goes on after thoughts that the provider left in it; at its end, if it never does."""
    text = bounded(reply)
    said = strip_thoughts(text)
    if said == text:
        return 0
    return len(reply) - len(said) if reply.endswith(said) else len(reply)


def _first_line(text: str, begin: int, end: int) -> tuple[int, int]:
    """Return where the first line that is more than a label begins and ends; nothing for a blank text."""
    for line in text[begin:end].splitlines(keepends=True):
        label = LABEL.match(line)
        if line.strip() and not (label and not line[label.end() :].strip(AROUND)):
            return begin, begin + len(line.rstrip("\r\n"))
        begin += len(line)
    return 0, 0


def _last_numeral(numeral: str, text: str, begin: int, end: int) -> tuple[int, int]:
    """Return where a number stands within a span; the whole span where it is written in another way."""
    pattern = re.compile(rf"(?<![\d.,]){re.escape(numeral)}(?!\d)")
    found = list(pattern.finditer(text, begin, end)) if numeral else []
    return found[-1].span() if found else (begin, end)


def _trimmed(text: str, begin: int, end: int, around: str) -> tuple[int, int]:
    """Take what surrounds an answer off both ends, and the full stop of a sentence."""
    while True:
        start, stop = begin, end
        begin, end = trimmed(text, begin, end, around, around + ",")
        last_word = text[begin:end].rpartition(" ")[2]
        if last_word.endswith(".") and "." not in last_word[:-1] and len(last_word) > 2:
            end -= 1
        if (begin, end) == (start, stop):
            return begin, end


# The simulated subject -----------------------------------------------------------------------------------------

CENTRE, SCALE = -2.5, 0.3
"""Mean log-probability of wrong answers at temperature 1, and its standard deviation, in nats."""

HIGHEST = -1e-6
"""Log-probabilities stay below 0: evidence 8 standard deviations above that of wrong answers is cut."""

FORGOTTEN = 2.0
"""How much less probable a right answer is than a wrong one that was given, in standard deviations of the latter."""

OTHER_TOKENS = -6.0
"""Log-probability of tokens that are no part of the answer, which no alignment may let in."""

END = ("<|end|>", -0.01)

WRONG_TEXTS = ("Quirinus Blott", "the other one", "Zanzibar Jones", "Upper Framblewick", "vorpal geometry")
"""Answers that no key resembles."""

SLOPPY_FORMS: tuple[tuple[str, str], ...] = (
    ("Answer: ", ""),
    ("**", "**"),
    ("The answer is ", "."),
    ("", "\n\nThis is well known."),
    ("", "\nQuestion: What else?\nAnswer: Nothing"),
)
"""Texts that a sloppy subject puts before and after its answer."""

EVASIONS = ("I don't know.", "")
"""Replies that answer nothing."""


def evidence(subject: Subject, correct: bool, temperature: float, *key: object) -> float:
    """Return the mean log-probability of an answer's tokens."""
    return float(mean_logprob_of(subject, correct, temperature, normal(*key, "evidence")))


def mean_logprob_of(subject: Subject, correct: ArrayLike, temperature: float, noise: ArrayLike) -> FloatArray:
    """Return the mean log-probability of answers' tokens; ``noise`` is standard normal, broadcast with ``correct``."""
    distance = subject.meta_d_prime + subject.temperature_gain * (temperature - 1.0)
    x = np.where(correct, distance + subject.evidence_ratio * np.asarray(noise), noise)
    return np.minimum(CENTRE + SCALE * x - subject.temperature_shift * (temperature - 1.0), HIGHEST)


def is_right(question: Question, subject: Subject, seed: str) -> bool:
    """Return whether the subject's answer in one call is right."""
    return uniform(seed, question.id, "outcome") < subject.accuracy(question.id, subject_seed(seed))


def goldmean_logprob_of(question: Question, subject: Subject, seed: str) -> float:
    """Return the mean log-probability of the right answer's tokens after the prompt of one call.

    It is that of the answer where the answer is right; else it is drawn as those of wrong answers are, and is
    ``FORGOTTEN`` standard deviations lower.
    """
    temperature = call_temperature(seed)
    if is_right(question, subject, seed):
        return evidence(subject, True, temperature, seed, question.id)
    own = evidence(subject, False, temperature, seed, question.id, "gold")
    return own - SCALE * FORGOTTEN


def spread_tokens(text: str, mean: float, *key: object) -> list[tuple[str, float]]:
    """Cut a text into tokens of up to four characters, whose log-probabilities differ but have a given mean.

    Examples
    --------
    >>> tokens = spread_tokens("Jane Austen", -0.5, 0)
    >>> [token for token, _ in tokens], round(sum(logprob for _, logprob in tokens) / len(tokens), 12)
    (['Jane', ' Aust', 'en'], -0.5)
    """
    pieces = re.findall(r"\s*\S{1,4}|\s+$", text)
    draws = [uniform(*key, position, "token") for position in range(len(pieces))]
    middle = sum(draws) / max(len(draws), 1)
    return [(piece, mean * (1.0 + draw - middle)) for piece, draw in zip(pieces, draws, strict=True)]


def respond(question: Question, request: StageRequest) -> Reply:
    """Answer ``question`` in a few words, or sloppily; where the right answer is given, say how probable it is."""
    subject, seed = request.subject, request.seed
    key, temperature = (seed, question.id), call_temperature(seed)
    if request.stage == GOLD:
        mean, text = goldmean_logprob_of(question, subject, seed), question.gold or ""
        return Reply(text, 0.5, tokens=tuple(spread_tokens(text, mean, *key, "gold")))
    correct = is_right(question, subject, seed)
    before, after = "", ""
    if uniform(*key, "sloppy") < subject.sloppiness:
        form = pick(len(SLOPPY_FORMS) + len(EVASIONS), *key, "form")
        if form >= len(SLOPPY_FORMS):
            return Reply(EVASIONS[form - len(SLOPPY_FORMS)], 0.5)
        before, after = SLOPPY_FORMS[form]
    text = _text(question, correct, seed)
    tokens = (
        *spread_tokens(before, OTHER_TOKENS, *key, "before"),
        *spread_tokens(text, evidence(subject, correct, temperature, *key), *key),
        *spread_tokens(after, OTHER_TOKENS, *key, "after"),
        END,
    )
    return Reply(before + text + after, 0.5, tokens=tokens)


def _text(question: Question, correct: bool, seed: str) -> str:
    if question.kind == "number" or correct:
        return answer(question, correct=correct, seed=seed)
    return WRONG_TEXTS[pick(len(WRONG_TEXTS), seed, question.id, "wrong")]
