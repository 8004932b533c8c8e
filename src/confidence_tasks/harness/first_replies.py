"""A run stops if none of a model's first replies can be used, before the others are paid for."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from confidence_tasks.harness.refusals import FIRST_REPLIES, StopError
from confidence_tasks.harness.stopped import PROBLEMS
from confidence_tasks.reading.cleaning import truncate_reply
from confidence_tasks.reading.thoughts import strip_thoughts
from confidence_tasks.study.stage import Stop


class UnfinishedError(StopError):
    """None of the first replies of a model can be used."""


@dataclass
class FirstReplies:
    """Counts the first replies of a model that cannot be used, until one can.

    They are empty or reasoning only, or they have another problem. Replies that a content filter stopped are not
    counted, and of those to a question with another problem only one: they depend on the question.

    Attributes
    ----------
    model : str
        The model, for the message.
    fix : str
        What the user can do.
    wanted : str
        What none of the replies has or is.
    fault : str
        Why the run stops; empty if it does not.

    Examples
    --------
    >>> first = FirstReplies("m", more_room("--max-tokens 8192"))
    >>> for _ in range(FIRST_REPLIES):
    ...     first.note("<think>So", "length")
    >>> first.fault[:45]
    'none of the first 10 replies of m has a text,'
    """

    model: str
    fix: str
    wanted: str = "has a text"
    fault: str = ""
    _n_unusable: float = 0.0
    _questions: set[str] = field(default_factory=set)

    def note(self, text: str, stop: Stop, problem: str = "", question: str = "") -> None:
        """Note a reply; it may be the last of too many that cannot be used.

        ``problem`` says why a reply to a ``question`` cannot be used although it has a text; empty if it can.
        """
        has_text = bool(strip_thoughts(truncate_reply(text)).strip())
        if has_text and not problem:
            self._n_unusable = math.inf
            return
        if stop == "filter" or (has_text and question in self._questions):
            return
        self._n_unusable += 1
        self._questions.add(question)
        if self._n_unusable == FIRST_REPLIES:
            last = f"the last one was {PROBLEMS[stop] if stop else 'empty'}"
            reason = problem if has_text and not stop else last
            self.fault = (
                f"none of the first {FIRST_REPLIES} replies of {self.model} {self.wanted}, so the run stops before more"
                f" are paid for ({reason}). {self.fix}"
            )


def more_room(option: str) -> str:
    """Return what helps a model whose replies have no text; ``option`` is the harness's, with a value."""
    return (
        f"A reasoning model needs more room, such as {option}, or less reasoning; a server that returns nothing but"
        " reasoning may need its reasoning parser"
    )
