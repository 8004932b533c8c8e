"""A run stops if none of a model's first replies has a text, before the others are paid for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from confidence_tasks.harness.refusals import FIRST_REPLIES, StopError
from confidence_tasks.harness.stopped import PROBLEMS
from confidence_tasks.reading.cleaning import truncate_reply
from confidence_tasks.reading.thoughts import strip_thoughts
from confidence_tasks.study.stage import Stop


class UnfinishedError(StopError):
    """None of the first replies of a model has a text."""


@dataclass
class FirstReplies:
    """Counts the first replies of a model that are empty or reasoning only, until one has a text.

    Replies that a content filter stopped are not counted: they depend on the question.

    Attributes
    ----------
    model : str
        The model, for the message.
    option : str
        The harness's option for a higher limit of tokens, with a value.
    fault : str
        Why the run stops; empty if it does not.

    Examples
    --------
    >>> first = FirstReplies("m", "--max-tokens 8192")
    >>> for _ in range(FIRST_REPLIES):
    ...     first.note("<think>So", "length")
    >>> first.fault[:41]
    'none of the first 10 replies of m has a t'
    """

    model: str
    option: str
    fault: str = ""
    _n_empty: float = 0.0

    def note(self, text: str, stop: Stop) -> None:
        """Note whether a reply has a text after its thoughts; it may be the last of too many without."""
        if strip_thoughts(truncate_reply(text)).strip():
            self._n_empty = math.inf
        elif stop != "filter":
            self._n_empty += 1
        if self._n_empty == FIRST_REPLIES and not self.fault:
            problem = PROBLEMS[stop] if stop else "empty"
            self.fault = (
                f"none of the first {FIRST_REPLIES} replies of {self.model} has a text, so the run stops before more"
                f" are paid for (the last one was {problem}). A reasoning model needs more room, such as"
                f" {self.option}, or less reasoning; a server that returns nothing but reasoning may need its"
                " reasoning parser"
            )
