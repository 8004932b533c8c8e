"""Which answers mean the same: by rules, by a judge, or by a local model of natural-language inference."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from confidence_tasks.reading.answers import read_answer
from confidence_tasks.reading.cleaning import truncate_reply
from confidence_tasks.reading.equal_answers import are_equal
from confidence_tasks.reading.thoughts import strip_thoughts
from confidence_tasks.reading.token_signals import MissingSignalError
from confidence_tasks.studies.signals.reader import read_answer_reply
from confidence_tasks.study import ModelReply, Question

if TYPE_CHECKING:
    from numpy.typing import NDArray

ENTAILMENT = "entailment"
"""Key of the rule in a question's metadata: match, judge or nli."""


def sample_answers(question: Question, samples: Sequence[ModelReply]) -> list[str]:
    """Return the answer of each sample; empty if a sample has none."""
    return [read_answer_reply(reply.text, question).answer for reply in samples]


def matches(question: Question, first: str, second: str) -> bool:
    """Return True if the grader accepts each answer with the other one as the key.

    The question's own key and aliases are not used, because a signal must not depend on the key.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Who wrote Emma?", "text", "Jane Austen", aliases=("Austen",))
    >>> matches(question, "The Jane Austen", "jane austen!"), matches(question, "Jane Austen", "Austen")
    (True, False)
    """
    return are_equal(question.kind, first, second)


def _distinct_answers(question: Question, answers: Sequence[str]) -> list[str]:
    """Return one answer of each set of matching answers."""
    distinct: list[str] = []
    for answer in answers:
        if answer and not any(matches(question, answer, other) for other in distinct):
            distinct.append(answer)
    return distinct


def judge_prompts(question: Question, answer: str, samples: Sequence[ModelReply]) -> list[str]:
    """Return a prompt to the judge for each pair of short texts that do not match; other kinds need no judge."""
    if question.kind != "text":
        return []
    distinct = _distinct_answers(question, [answer, *sample_answers(question, samples)])
    return [
        f"Question: {question.text}\nFirst answer: {first}\nSecond answer: {second}\n\n"
        "Do the two answers mean the same? Reply with yes or no and nothing else."
        for first, second in combinations(distinct, 2)
    ]


def same_meaning(
    question: Question, answers: Sequence[str], verdicts: Sequence[ModelReply] = ()
) -> NDArray[np.bool_]:
    """Return which answers mean the same, by the rule in the question's metadata.

    Parameters
    ----------
    question : Question
        The question.
    answers : sequence of str, length n
        The answer and those of the samples, as :func:`judge_prompts` takes them; an empty text means the same as none.
    verdicts : sequence of ModelReply
        The judge's replies, in the order of the prompts.

    Returns
    -------
    ndarray of bool, shape (n, n)
        Symmetric.

    Raises
    ------
    MissingSignalError
        If a verdict is missing or cannot be read, or the model of entailment fails.
    """
    distinct = _distinct_answers(question, answers)
    positions = [
        next((i for i, other in enumerate(distinct) if answer and matches(question, answer, other)), -1)
        for answer in answers
    ]
    table = np.eye(len(distinct) + 1, dtype=np.bool_)
    table[-1, -1] = False  # the position of empty answers
    if question.kind == "text" and len(distinct) > 1:
        i, j = np.triu_indices(len(distinct), 1)
        table[i, j] = table[j, i] = _verdicts(question, list(combinations(distinct, 2)), verdicts)
    return np.asarray(table[np.ix_(positions, positions)])


def _verdicts(
    question: Question, pairs: Sequence[tuple[str, str]], replies: Sequence[ModelReply]
) -> list[bool]:
    """Return whether the answers of each pair mean the same although they do not match."""
    rule = question.metadata.get(ENTAILMENT, "match")
    if rule == "match":
        return [False] * len(pairs)
    if rule == "nli":
        try:
            return list(entails_both_ways(str(question.metadata["nli_model"]), question.text, tuple(pairs)))
        except (ImportError, OSError, ValueError, RuntimeError) as error:
            raise MissingSignalError(f"the entailment model failed: {error}") from error
    if len(replies) != len(pairs):
        raise MissingSignalError(f"the judge gave {len(replies)} of {len(pairs)} verdicts")
    if problem := next(filter(None, map(problem_of_verdict, replies)), ""):
        raise MissingSignalError(problem)
    verdicts = map(_read_verdict, replies)
    return [verdict == "yes" for verdict in verdicts]


_BATCH = 32


def check_nli_installed() -> None:
    """Raise ValueError with the command that installs them if transformers or torch is missing."""
    if missing := [name for name in ("transformers", "torch") if find_spec(name) is None]:
        raise ValueError(
            f"entailment='nli' needs {' and '.join(missing)}: pip install 'confidence-tasks[hf]'"
        )


@cache
def _load_nli_model(name: str) -> tuple[Any, Any, int]:
    """Return the tokenizer, the model and the index of its label for entailment; ValueError without such a label."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForSequenceClassification.from_pretrained(name)
    labels = {str(label).casefold(): int(i) for i, label in model.config.id2label.items()}
    entailment = [i for label, i in labels.items() if label.startswith("entail")]
    if len(entailment) != 1:
        raise ValueError(
            f"{name} has no label for entailment among {', '.join(labels)}: take a model of MNLI"
        )
    return tokenizer, model.eval(), entailment[0]


@lru_cache(maxsize=64)
def entails_both_ways(name: str, question: str, pairs: tuple[tuple[str, str], ...]) -> tuple[bool, ...]:
    """Return for each pair whether both answers entail each other, with the question before each answer.

    ``name`` is the name or folder of a sequence classifier with a label for entailment. All signals of the same samples
    share what is computed.

    Raises
    ------
    OSError, ValueError
        If the model cannot be loaded, or has no label for entailment.

    References
    ----------
    Kuhn, Gal & Farquhar (2023), Semantic uncertainty, arXiv:2302.09664, algorithm 1.
    """
    import torch

    tokenizer, model, entailment = _load_nli_model(name)
    texts = [(f"{question} {a}", f"{question} {b}") for pair in pairs for a, b in (pair, pair[::-1])]
    entailed: list[bool] = []
    for start in range(0, len(texts), _BATCH):
        premises, hypotheses = zip(*texts[start : start + _BATCH], strict=True)
        encoded = tokenizer(
            list(premises), list(hypotheses), return_tensors="pt", padding=True, truncation=True
        )
        with torch.inference_mode():
            logits = model(**encoded).logits
        entailed += (logits.argmax(dim=-1) == entailment).tolist()
    return tuple(forward and back for forward, back in zip(entailed[::2], entailed[1::2], strict=True))


def _read_verdict(reply: ModelReply) -> str:
    return read_answer(strip_thoughts(truncate_reply(reply.text)), "boolean").text


def problem_of_verdict(reply: ModelReply) -> str:
    """Return why a judge's verdict cannot be used; empty if it can.

    Examples
    --------
    >>> problem_of_verdict(ModelReply("Yes.")), problem_of_verdict(ModelReply("Perhaps"))
    ('', "the judge's verdict is neither yes nor no")
    """
    return "" if _read_verdict(reply) else "the judge's verdict is neither yes nor no"
