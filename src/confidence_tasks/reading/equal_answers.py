"""Whether two answers are the same, and how many words two texts have in common."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from confidence_tasks.reading.grading import grade
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.study.trial import Kind


def are_equal(kind: Kind, first: str, second: str) -> bool:
    """Return True if the grader accepts each answer with the other one as the key.

    Examples
    --------
    >>> are_equal("text", "The Jane Austen", "jane austen!"), are_equal("number", "7.0", "7")
    (True, True)
    """
    return all(
        grade(answer, kind=kind, gold=key) == 1.0 for answer, key in ((first, second), (second, first))
    )


def word_similarity(texts: Sequence[str]) -> FloatArray:
    """Return the Jaccard similarity of the words of each pair of texts: the share of their words that both have.

    Parameters
    ----------
    texts : sequence of str, length n
        Words are what white space divides, whatever their case.

    Returns
    -------
    ndarray, shape (n, n)
        From 0 to 1; 1 on the diagonal, and 0 for two texts without words.

    Examples
    --------
    >>> word_similarity(["Jane Austen", "Austen", "Emily"]).tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    words = [set(text.casefold().split()) for text in texts]
    similarity = np.eye(len(words))
    for i, j in combinations(range(len(words)), 2):
        either = len(words[i] | words[j])
        similarity[i, j] = similarity[j, i] = len(words[i] & words[j]) / either if either else 0.0
    return similarity
