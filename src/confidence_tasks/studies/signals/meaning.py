"""Whether two answers mean the same: by the grader of their kind, by a judge, or by a model of entailment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from confidence_tasks.reading.answers import read_answer
from confidence_tasks.reading.cleaning import bounded, strip_thoughts
from confidence_tasks.reading.grading import grade
from confidence_tasks.studies.signals.reader import read_answer_reply
from confidence_tasks.study import ModelReply, Question

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENTAILMENT = "entailment"
"""The key of a question's metadata that names the rule."""

_SAME = "Do the two answers mean the same? Reply with yes or no and nothing else."


def answers_of(question: Question, samples: Sequence[ModelReply]) -> list[str]:
    """Return the answer of each sample; empty where there is none."""
    return [read_answer_reply(reply.text, question).answer for reply in samples]


def matches(question: Question, first: str, second: str) -> bool:
    """Whether the grader takes either answer for right when the other is the key.

    The key of the question and its aliases have no part in it: what a signal knows must not come from the key.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Who wrote Emma?", "text", "Jane Austen", aliases=("Austen",))
    >>> matches(question, "The Jane Austen", "jane austen!"), matches(question, "Jane Austen", "Austen")
    (True, False)
    """
    return (
        grade(first, kind=question.kind, gold=second) == 1.0
        and grade(second, kind=question.kind, gold=first) == 1.0
    )


def _distinct(question: Question, answers: Sequence[str]) -> list[str]:
    """Return one answer of each set that match."""
    distinct: list[str] = []
    for answer in answers:
        if answer and not any(matches(question, answer, other) for other in distinct):
            distinct.append(answer)
    return distinct


def _open_pairs(question: Question, answers: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs that only a model can compare: short texts that do not match."""
    if question.kind == "text":
        yield from combinations(_distinct(question, answers), 2)


def judge_prompts(question: Question, answer: str, samples: Sequence[ModelReply]) -> list[str]:
    """Return what a judge is asked about the answer and the samples, a prompt a pair."""
    return [
        f"Question: {question.text}\nFirst answer: {first}\nSecond answer: {second}\n\n{_SAME}"
        for first, second in _open_pairs(question, [answer, *answers_of(question, samples)])
    ]


class UnknownMeaningError(ValueError):
    """It cannot be told whether two answers mean the same; the message says why."""


def same_meaning(
    question: Question, answers: Sequence[str], verdicts: Sequence[ModelReply] = ()
) -> NDArray[np.bool_]:
    """Tell which answers mean the same, by the rule in the question's metadata.

    Parameters
    ----------
    question : Question
        What was asked.
    answers : sequence of str
        The answer, and those of the samples, as they were put to a judge; empty where there is none.
    verdicts : sequence of ModelReply
        The judge's replies, in the order of its prompts.

    Returns
    -------
    ndarray, shape (n, n)
        Symmetric; an empty answer means the same as none.

    Raises
    ------
    UnknownMeaningError
        If a verdict cannot be read or is missing, or the model of entailment fails.
    """
    import numpy as np

    pairs = list(_open_pairs(question, answers))
    rule = str(question.metadata.get(ENTAILMENT, "match"))
    joined = dict(zip(pairs, _RULES[rule](question, pairs, verdicts), strict=True)) if pairs else {}
    distinct = _distinct(question, answers)
    kinds = [
        next((i for i, other in enumerate(distinct) if answer and matches(question, answer, other)), -1)
        for answer in answers
    ]
    table = np.eye(len(distinct) + 1, dtype=np.bool_)
    table[-1, -1] = False  # answers that are none
    for (first, second), same in joined.items():
        i, j = distinct.index(first), distinct.index(second)
        table[i, j] = table[j, i] = same
    return np.asarray(table[np.ix_(kinds, kinds)])


def _by_match(
    question: Question, pairs: Sequence[tuple[str, str]], verdicts: Sequence[ModelReply]
) -> list[bool]:
    return [False] * len(pairs)


def _by_judge(
    question: Question, pairs: Sequence[tuple[str, str]], verdicts: Sequence[ModelReply]
) -> list[bool]:
    if len(verdicts) != len(pairs):
        raise UnknownMeaningError(f"the judge gave {len(verdicts)} of {len(pairs)} verdicts")
    said = [read_answer(strip_thoughts(bounded(reply.text)), "boolean").text for reply in verdicts]
    if "" in said:
        raise UnknownMeaningError("the judge's verdict is neither yes nor no")
    return [verdict == "yes" for verdict in said]


def _by_nli(
    question: Question, pairs: Sequence[tuple[str, str]], verdicts: Sequence[ModelReply]
) -> list[bool]:
    from confidence_tasks.studies.signals.entailment import entails_both_ways

    try:
        return entails_both_ways(str(question.metadata["nli_model"]), question.text, pairs)
    except (ImportError, OSError, ValueError, RuntimeError) as error:
        raise UnknownMeaningError(f"the entailment model failed: {error}") from error


_RULES = {"match": _by_match, "judge": _by_judge, "nli": _by_nli}
