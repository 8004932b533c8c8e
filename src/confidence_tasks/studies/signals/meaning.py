"""Whether two answers mean the same: by the grader of their kind, by a judge, or by a model of entailment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import combinations
from typing import TYPE_CHECKING, Any

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
    return all(
        grade(answer, kind=question.kind, gold=key) == 1.0
        for answer, key in ((first, second), (second, first))
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


class MissingSignalError(ValueError):
    """A signal has no value; the message says why."""


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
    MissingSignalError
        If a verdict cannot be read or is missing, or the model of entailment fails.
    """
    import numpy as np

    distinct = _distinct(question, answers)
    kinds = [
        next((i for i, other in enumerate(distinct) if answer and matches(question, answer, other)), -1)
        for answer in answers
    ]
    table = np.eye(len(distinct) + 1, dtype=np.bool_)
    table[-1, -1] = False  # answers that are none
    if pairs := list(_open_pairs(question, answers)):
        i, j = np.triu_indices(len(distinct), 1)
        table[i, j] = table[j, i] = _verdicts(question, pairs, verdicts)
    return np.asarray(table[np.ix_(kinds, kinds)])


def _verdicts(
    question: Question, pairs: Sequence[tuple[str, str]], replies: Sequence[ModelReply]
) -> list[bool]:
    """Return the verdict on each pair of answers that do not match."""
    rule = question.metadata.get(ENTAILMENT, "match")
    if rule == "match":
        return [False] * len(pairs)
    if rule == "nli":
        try:
            return entails_both_ways(str(question.metadata["nli_model"]), question.text, pairs)
        except (ImportError, OSError, ValueError, RuntimeError) as error:
            raise MissingSignalError(f"the entailment model failed: {error}") from error
    if len(replies) != len(pairs):
        raise MissingSignalError(f"the judge gave {len(replies)} of {len(pairs)} verdicts")
    said = [read_answer(strip_thoughts(bounded(reply.text)), "boolean").text for reply in replies]
    if "" in said:
        raise MissingSignalError("the judge's verdict is neither yes nor no")
    return [verdict == "yes" for verdict in said]


# A local model of natural-language inference --------------------------------------------------------------------

_BATCH = 32


def check_installed() -> None:
    """Raise ValueError, naming the fix, if transformers or torch is missing."""
    if missing := [name for name in ("transformers", "torch") if find_spec(name) is None]:
        raise ValueError(
            f"entailment='nli' needs {' and '.join(missing)}: pip install 'confidence-tasks[hf]'"
        )


@cache
def _load(name: str) -> tuple[Any, Any, int]:
    """Load a model by its name or folder, once; ValueError if it has no label for entailment."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer, model = (
        made.from_pretrained(name) for made in (AutoTokenizer, AutoModelForSequenceClassification)
    )
    labels = {str(label).casefold(): int(i) for i, label in model.config.id2label.items()}
    found = [i for label, i in labels.items() if label.startswith("entail")]
    if len(found) != 1:
        raise ValueError(
            f"{name} has no label for entailment among {', '.join(labels)}: take a model of MNLI"
        )
    return tokenizer, model.eval(), found[0]


def entails_both_ways(name: str, question: str, pairs: Sequence[tuple[str, str]]) -> list[bool]:
    """Tell for each pair of answers whether each entails the other, both after the question.

    Parameters
    ----------
    name : str
        Name or folder of a sequence classifier with a label for entailment.
    question : str
        What was asked, the context of the answers.
    pairs : sequence of (str, str)
        Answers.

    Raises
    ------
    OSError, ValueError
        If the model cannot be loaded, or has no label for entailment.

    References
    ----------
    Kuhn, Gal & Farquhar (2023), Semantic uncertainty, arXiv:2302.09664, algorithm 1.
    """
    import torch

    tokenizer, model, entailment = _load(name)
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
    return [forth and back for forth, back in zip(entailed[::2], entailed[1::2], strict=True)]
