"""The instrument of the log-probability study's author: wordings, questions, and the scoring of a whole reply.

Cacioli (2026), arXiv:2603.25112. The paper prints none of it; it is that of the author's repository.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from confidence_tasks.reading.answers import read_answer
from confidence_tasks.reading.cleaning import until_end_of_turn
from confidence_tasks.sources import load
from confidence_tasks.sources.source import shuffle_questions
from confidence_tasks.study.trial import Kind, Question, Status

SYSTEM = (
    "Answer the following question with a short factual answer. Respond with only the answer, nothing else."
)


@dataclass(frozen=True, slots=True)
class Wording:
    """A wording of the prompt; ``one_line`` says whether the reply ends at a line break, as a base model's does."""

    prompt: str
    system: str = ""
    one_line: bool = False


WORDINGS: Mapping[str, Wording] = {
    "author": Wording("Q: {question}", SYSTEM),
    "author_user": Wording(f"{SYSTEM}\n\nQ: {{question}}"),
    "author_base": Wording(f"{SYSTEM}\n\nQ: {{question}}\nA:", one_line=True),
    "short": Wording(
        "Answer the question with a name, a number or a few words, without an explanation.\n\n"
        "Question: {question}\nAnswer:"
    ),
}
"""The author's wordings for chat models, for chat models without a system role (Mistral, Gemma) and for base models,
and this package's own wording."""


def echo_end(reply: str, question: str, start: int) -> int:
    r"""Return where a reply begins behind the prompt that a server has repeated before it, else ``start``.

    Examples
    --------
    >>> echo_end("Q: Who wrote Emma?\nJane Austen", "Who wrote Emma?", 0), echo_end("Jane Austen", "Who wrote Emma?", 0)
    (19, 0)
    """
    begin = len(reply) - len(reply[start:].lstrip())
    prompts = (wording.prompt.format(question=question).strip() for wording in WORDINGS.values())
    echoed = max((len(prompt) for prompt in prompts if reply.startswith(prompt, begin)), default=0)
    end = begin + echoed
    return len(reply) - len(reply[end:].lstrip()) if echoed else start


# Questions ------------------------------------------------------------------------------------------------------

AUTHOR, VALIDATION = "author", "validation"
"""Splits from which questions are drawn: those of the author's repository, or the validation split alone."""

SPLITS: Mapping[str, tuple[str, ...]] = {
    "trivia_qa": ("trivia_qa_train",),
    "nq_open": ("nq_open_train", "nq_open"),
}
"""Sources of the author's questions, by the name of the data set."""

MOST_WORDS = 5
"""Largest number of words of an answer of Natural Questions that the author asks for."""


def author_questions(source: str, *, n: int | None, seed: int, mirror: str | None) -> Sequence[Question]:
    """Return a sample of the questions from which the author drew; they have the name of the data set as source."""
    parts = [load(name, seed=seed, mirror=mirror) for name in SPLITS[source]]
    questions = [replace(question, source=source) for part in parts for question in part]
    if source == "nq_open":
        questions = list(distinct_and_short(questions))
    return shuffle_questions(questions, seed)[:n]


def distinct_and_short(questions: Iterable[Question]) -> Iterable[Question]:
    """Yield the questions with a key of one to five words, each text once, as the author draws Natural Questions.

    Examples
    --------
    >>> texts = {"1": ("Who?", "Jane"), "2": ("who?", "Jane"), "3": ("Why?", "it was a dark and stormy night")}
    >>> asked = [Question(id, "demo", text, "text", gold) for id, (text, gold) in texts.items()]
    >>> [question.id for question in distinct_and_short(asked)]
    ['1']
    """
    seen: set[str] = set()
    for question in questions:
        text = " ".join(question.text.casefold().split())
        if text not in seen and 1 <= len((question.gold or "").split()) <= MOST_WORDS:
            seen.add(text)
            yield question


# Scoring --------------------------------------------------------------------------------------------------------

SIMILARITY = 0.85
"""Least similarity of a right answer and an alias (section 3.1); the author's robustness checks have .80 and .90."""

_LEAD = re.compile(
    r"(?:the answer is|sure|i think|i believe|it's|here's)(?![\w'-])[\s,.:;!-]*", re.IGNORECASE
)
_REFUSAL = re.compile(
    r"(?:i don't know|i'm not sure|i cannot|i can't|sorry|i don't have)(?![\w-])", re.IGNORECASE
)

LONGEST = 2_000
"""Maximum number of characters of a reply that are read."""


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """A short answer as read.

    Attributes
    ----------
    text : str
        The answer as written in the reply, or in canonical form if it is a number; empty if there is none.
    begin, end : int
        The span of the answer, ``reply[begin:end]``.
    status : Status
        ``ok``; ``repaired`` if something else was removed; ``refused``; ``missing_answer`` for an empty reply;
        ``unreadable`` for a reply without letters or digits.
    """

    text: str
    begin: int
    end: int
    status: Status


NO_ANSWER: frozenset[Status] = frozenset({"refused", "unreadable"})
"""What the author's scoring counts as a wrong answer, although it holds none."""


def whole_reply(reply: str, start: int, *, one_line: bool) -> tuple[int, int]:
    r"""Return the span of a reply without white space around it, from ``start`` to the end or to a line break.

    Special tokens of a chat template that a server leaves at the end are no part of it.

    Examples
    --------
    >>> whole_reply(" Paris\nQ: Who?", 0, one_line=True), whole_reply(" Paris.\nYes.", 0, one_line=False)
    ((1, 6), (1, 12))
    """
    text = until_end_of_turn(reply[start : start + LONGEST])
    if one_line:
        text = text.partition("\n")[0]
    visible = text.strip()
    begin = start + len(text) - len(text.lstrip())
    return (begin, begin + len(visible)) if visible else (0, 0)


def read_whole_reply(
    reply: str, kind: Kind = "text", start: int = 0, *, one_line: bool = False
) -> ShortAnswer:
    """Read a reply as the author does; it never raises.

    The whole reply from ``start`` is the answer, without a lead such as "The answer is". A reply that begins with a
    phrase such as "I don't know" is a refusal.

    Examples
    --------
    >>> [read_whole_reply(text).text for text in ("The answer is Paris.", "Paris, since 987", "It's a Wonderful Life")]
    ['Paris.', 'Paris, since 987', 'a Wonderful Life']
    >>> read_whole_reply("I’m not sure, but perhaps Paris").status
    'refused'
    """
    begin, end = whole_reply(reply, start, one_line=one_line)
    if begin == end:
        return ShortAnswer("", 0, 0, "missing_answer")
    straight = reply.replace("’", "'")
    lead = _LEAD.match(straight, begin, end)
    if lead and lead.end() < end:
        begin = lead.end()
    if _REFUSAL.match(straight, begin, end):
        return ShortAnswer("", 0, 0, "refused")
    text = reply[begin:end]
    if kind == "number":
        text = read_answer(text, "number").text
    if not any(map(str.isalnum, text)):
        return ShortAnswer("", 0, 0, "unreadable")
    return ShortAnswer(text, begin, end, "repaired" if lead else "ok")
