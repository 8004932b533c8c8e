"""Verdicts of others on answers: right, wrong or not attempted, in the words that files have."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

RIGHT, WRONG, ABSTAINED = 1.0, 0.0, "abstained"

WORDS: Mapping[str, float | str] = {
    **dict.fromkeys(
        ("1", "1.0", "true", "t", "yes", "y", "correct", "right", "pass", "passed", "✓", "✔"), RIGHT
    ),
    **dict.fromkeys(
        ("0", "0.0", "false", "f", "no", "n", "incorrect", "wrong", "fail", "failed", "✗", "✘"), WRONG
    ),
    **dict.fromkeys(
        ("not_attempted", "not attempted", "abstain", "abstained", "refused", "refusal"), ABSTAINED
    ),
}
"""Verdict of each word in lower case."""

GRADES: Mapping[str, float | str] = {"a": RIGHT, "b": WRONG, "c": ABSTAINED}
"""Letters of the grader of SimpleQA (Wei et al. 2024, arXiv:2411.04368)."""

INSPECT: Mapping[str, float | str] = {"c": RIGHT, "i": WRONG, "n": ABSTAINED}
"""Letters of Inspect: correct, incorrect and no answer."""


def verdict_words(values: Sequence[Any]) -> Mapping[str, float | str] | None:
    """Return the table that reads every value of a column of verdicts; None if none does.

    Examples
    --------
    >>> verdict_words(["CORRECT", "NOT_ATTEMPTED"]) is WORDS, verdict_words(["A", "C", "B"]) is GRADES
    (True, True)
    >>> verdict_words(["C", "C"]), verdict_words(["Lima"])
    (None, None)
    """
    words = {_word(value) for value in values}
    if words <= WORDS.keys():
        return WORDS
    fitting = [table for table in (GRADES, INSPECT) if words <= table.keys()]
    return fitting[0] if len(fitting) == 1 else None


def read_verdict(value: Any, words: Mapping[str, float | str]) -> tuple[float, bool]:
    """Return correctness, NaN for an abstention, and whether the answer was an abstention."""
    verdict = words[_word(value)]
    return (math.nan, True) if isinstance(verdict, str) else (verdict, False)


def _word(value: Any) -> str:
    return str(value).strip().strip(".").casefold()
