"""What is read from a log of a task of others: what says whether an answer is right, and which further signals."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import NamedTuple, Self

from confidence_tasks.study.definition import short_repr
from confidence_tasks.study.parameter import did_you_mean

SCORE = "score"
"""Name of the value of a score that has one value."""

_CORRECT = re.compile(r"\s*(?P<name>[^<>=]+?)\s*(?:>=\s*(?P<least>[-+]?(?:\d+\.?\d*|\.\d+)))?\s*")


FURTHER_SIGNALS: Mapping[str, str] = {
    "option_negentropy": "1 - entropy / ln k over the k options of a question of lm-eval",
    "option_self_certainty": "divergence of the uniform distribution from that of the options (lm-eval)",
    "option_logprob": "log-likelihood of the chosen option, not divided by that of the others (lm-eval)",
    "mean_entropy": "negative mean entropy of the reply's tokens (Inspect, --top-logprobs)",
    "token_margin": "mean difference of the two highest probabilities at the reply's tokens (Inspect, --top-logprobs)",
    "negentropy": "mean of 1 - entropy / ln k over the k alternatives to a token (Inspect, --top-logprobs)",
    "self_certainty": "mean divergence of the uniform distribution from that of the alternatives (Inspect)",
    "trace_length": "negative number of tokens of the reasoning (Inspect)",
    "trace_logprob": "mean log-probability of the tokens of the reasoning (Inspect)",
    "trace_entropy": "negative mean entropy of the tokens of the reasoning (Inspect, --top-logprobs)",
}
"""Signals that are read only if they are asked for, by name, each with what it is."""

ALL = "all"
"""Stands for all further signals."""


class Correctness(NamedTuple):
    """What says whether an answer is right, and which further signals are read.

    Attributes
    ----------
    name : str
        Metric of lm-eval, or key of a score of Inspect with several values; empty for the default.
    least : float
        Smallest value of a right answer; NaN if values are 1 for right and 0 for wrong answers.
    scorer : str
        Scorer of Inspect; empty for the first.
    signals : tuple of str
        Further signals, of those in ``FURTHER_SIGNALS``.
    """

    name: str = ""
    least: float = math.nan
    scorer: str = ""
    signals: tuple[str, ...] = ()

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
        Correctness(name='f1', least=0.5, scorer='', signals=())
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
    def is_default(self) -> bool:
        """Whether the user names neither a metric nor a scorer."""
        return not self.name and not self.scorer

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


def further_signals(text: str) -> tuple[str, ...]:
    """Return the further signals that a user names, separated by commas; ``all`` stands for all.

    Raises
    ------
    ValueError
        If a name is unknown, with the nearest one.

    Examples
    --------
    >>> further_signals("negentropy, token_margin"), len(further_signals("all"))
    (('negentropy', 'token_margin'), 10)
    """
    names = tuple(dict.fromkeys(filter(None, map(str.strip, text.split(",")))))
    if ALL in names:
        return tuple(FURTHER_SIGNALS)
    for name in names:
        if name not in FURTHER_SIGNALS:
            hint = did_you_mean(name, (*FURTHER_SIGNALS, ALL))
            raise ValueError(
                f"there is no further signal {short_repr(name)}; there are {', '.join(FURTHER_SIGNALS)}{hint}"
            )
    return names


def is_partial(value: float) -> bool:
    """Return whether a value is partial credit: neither 1, nor 0, nor missing."""
    return not math.isnan(value) and value not in (0.0, 1.0)


ASKED = "confidence_asked"
"""Key of a sample of lm-eval with what the model was asked about its reply."""

SUFFIX = "_confidence"
"""End of the name of a task of others that asks for a confidence."""

BY_DEFAULT = Correctness()
"""The first scorer, or the metric that goes with a signal."""
