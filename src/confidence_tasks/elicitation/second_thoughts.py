"""Second thoughts on a line of their own: what takes back the answer on the line before is labelled as an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from confidence_tasks.elicitation.answers import ANNOUNCEMENT, FORMS, SECOND_THOUGHT, read_answer
from confidence_tasks.elicitation.cleaning import Rule
from confidence_tasks.elicitation.labels import find_labelled
from confidence_tasks.questions.question import Kind

_TAKES_BACK = re.compile(
    r"^[ \t]{0,4}(?:(?:oh|ah|hmm|no|wait|sorry|actually|correction|scratch\sthat|on\ssecond\sthoughts?)\b"
    r"[,.:;!-]{0,3}[ ]){1,4}",
    re.IGNORECASE | re.MULTILINE,
)
_LEADS_IN = re.compile(
    rf"(?:{ANNOUNCEMENT}|(?:it|that|this)(?:'s|\sis|\swould\sbe|\sshould\sbe|\smust\sbe)|make\s(?:it|that)"
    r"|i\smeant?)\s?:?\s",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[.!;,](?=\s|$)|\s(?:because|since|as|not|instead|rather)\b|\s[-(](?!\d)", re.IGNORECASE
)
_ANNOUNCES = re.compile(
    r"\b(?:answer|option|choice)\s(?:is|was|would\sbe|should\sbe|must\sbe)\b", re.IGNORECASE
)


def label_second_thoughts(text: str, kind: Kind, choices: Sequence[str] = ()) -> str:
    r"""Label the answer on a line that takes back the one before it.

    Such a line follows an answer, with nothing but a confidence between them, and gives nothing but another answer.

    Parameters
    ----------
    text : str
        A cleaned reply.
    kind : {"choice", "number", "text", "boolean"}
        What an answer looks like; a text is never taken back.
    choices : sequence of str
        The options in the order shown; needed for ``choice``.

    Examples
    --------
    >>> for thought in ("No wait, it's B.", "Correction: London", "Actually, this is hard."):
    ...     label_second_thoughts(f"Answer: A\nConfidence: 80\n{thought}", "choice", ("Paris", "London"))
    'Answer: A\nConfidence: 80\nAnswer: B'
    'Answer: A\nConfidence: 80\nAnswer: London'
    'Answer: A\nConfidence: 80\nActually, this is hard.'
    """
    if not (FORMS[kind].taken_back and _TAKES_BACK.search(text)):
        return text
    lines, before = text.split("\n"), ""
    for place, line in enumerate(lines):
        if not line.strip():
            continue
        thought = _TAKES_BACK.match(line)
        if thought and _answers(before, kind, choices):
            value = _new_answer(line, thought.end(), kind, choices)
            line = lines[place] = f"Answer: {value}" if value else line
        parts = find_labelled(line)
        if parts["answer"] or not parts["confidence"]:
            before = line
    return "\n".join(lines)


def second_thoughts(kind: Kind, choices: Sequence[str] = ()) -> Rule[Callable[[str], str]]:
    """Return `label_second_thoughts` of one question as a rule from text to text."""
    return Rule(
        "second_thought",
        partial(label_second_thoughts, kind=kind, choices=choices),
        "A line that takes back the answer before it.",
        "Answer: A\nNo wait, it's B.",
    )


def _answers(line: str, kind: Kind, choices: Sequence[str]) -> bool:
    """Whether a line gives an answer: behind a label, in so many words, or as nothing else."""
    if find_labelled(line)["answer"] or _ANNOUNCES.search(line):
        return True
    return any(rule.apply(line.strip(), tuple(choices)) for rule in FORMS[kind].plain)


def _new_answer(line: str, start: int, kind: Kind, choices: Sequence[str]) -> str:
    """Return the answer that a line gives from there on; empty if there is none, or anything beside it."""
    *_, start = (start, *(match.end() for match in SECOND_THOUGHT.finditer(line)))
    lead = _LEADS_IN.match(line, start)
    value = _CLAUSE_END.split(line[lead.end() if lead else start :], maxsplit=1)[0].strip()
    answer = read_answer("" if "?" in line else value, kind, choices)
    return value if answer.found and (not answer.rules or " " not in value) else ""
