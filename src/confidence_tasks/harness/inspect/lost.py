"""Samples without a trial: an error or a limit of the sample ended the calls before the last reply."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile

from inspect_ai.event import ErrorEvent, Event, SampleLimitEvent, SpanBeginEvent
from inspect_ai.log import transcript
from inspect_ai.scorer import Score
from inspect_ai.util import Store

from confidence_tasks.reading.explanation import escape_markdown

_ASKING = "asking"
"""Key of a sample's store that is set until the last reply has come."""


@contextmanager
def until_last_reply(store: Store) -> Iterator[None]:
    """Mark a sample as lost, unless the block comes to its end."""
    store.set(_ASKING, True)
    yield
    store.delete(_ASKING)


def _is_scoring(event: Event) -> bool:
    return isinstance(event, SpanBeginEvent) and event.name == "scorers"


def score_of_lost(store: Store) -> Score | None:
    """Return the score of the current sample if its calls did not come to their end, which no metric counts; else None.

    Inspect scores a sample that a limit ended and, with ``--score-on-error``, one that an error ended, although nobody
    replied. ``store`` is the sample's.
    """
    for event in takewhile(lambda event: not _is_scoring(event), transcript().events):
        if isinstance(event, SampleLimitEvent):
            why = f"the {event.type} limit ended the sample before its last reply"
            return Score.unscored(reason="sample_limit", explanation=f"No trial: {why}.")
        if isinstance(event, ErrorEvent):
            why = f"an error ended the sample before its last reply: {escape_markdown(event.error.message)}"
            return Score.unscored(reason="sample_error", explanation=f"No trial: {why}")
    if store.get(_ASKING):
        return Score.unscored(
            reason="sample_limit", explanation="No trial: the sample ended before its last reply."
        )
    return None
