"""What says whether an answer to a task of others is right: a metric, or a value of a scorer."""

from __future__ import annotations

import math
import re
from typing import NamedTuple, Self

from confidence_tasks.study.definition import short_repr

SCORE = "score"
"""Name of the value of a score that has one value."""

_CORRECT = re.compile(r"\s*(?P<name>[^<>=]+?)\s*(?:>=\s*(?P<least>[-+]?(?:\d+\.?\d*|\.\d+)))?\s*")


class Correctness(NamedTuple):
    """What says whether an answer is right.

    Attributes
    ----------
    name : str
        Metric of lm-eval, or key of a score of Inspect with several values; empty for the default.
    least : float
        Smallest value of a right answer; NaN if values are 1 for right and 0 for wrong answers.
    scorer : str
        Scorer of Inspect; empty for the first.
    """

    name: str = ""
    least: float = math.nan
    scorer: str = ""

    @classmethod
    def parse(cls, correct: str = "", scorer: str = "") -> Self:
        """Return what a user names: a metric such as ``exact_match``, or a bound such as ``f1>=0.5``.

        Raises
        ------
        ValueError
            If ``correct`` is neither.

        Examples
        --------
        >>> Correctness.parse("f1 >= .5")
        Correctness(name='f1', least=0.5, scorer='')
        """
        if not correct.strip():
            return cls(scorer=scorer)
        match = _CORRECT.fullmatch(correct)
        if match is None:
            raise ValueError(
                f"{short_repr(correct)} names no metric such as exact_match, and is no bound such as 'f1>=0.5'"
            )
        return cls(match["name"], float(match["least"] or math.nan), scorer)

    @property
    def text(self) -> str:
        """What the user named, without the scorer; empty for the default."""
        return self.name if math.isnan(self.least) else f"{self.name}>={self.least:g}"

    def of(self, value: float) -> float:
        """Return 1 for a right answer and 0 for a wrong one; without a bound, the value itself.

        Examples
        --------
        >>> [Correctness().of(value) for value in (1.0, 0.4)], Correctness.parse("score>=0.5").of(0.4)
        ([1.0, 0.4], 0.0)
        """
        is_decided = math.isnan(self.least) or math.isnan(value)
        return value if is_decided else float(value >= self.least)


def is_partial(value: float) -> bool:
    """Return whether a value is partial credit: neither 1, nor 0, nor missing."""
    return not math.isnan(value) and value not in (0.0, 1.0)


ASKED = "confidence_asked"
"""Key of a sample of lm-eval with what the model was asked about its reply."""

SUFFIX = "_confidence"
"""End of the name of a task of others that asks for a confidence."""

BY_DEFAULT = Correctness()
"""The first scorer, or the metric that goes with a signal."""
