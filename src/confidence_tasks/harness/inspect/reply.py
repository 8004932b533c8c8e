"""The reply that is scored, from Inspect's output."""

from __future__ import annotations

from inspect_ai.model import ModelOutput

FILTERED = "I cannot answer this question."
"""Stands for a reply that the provider's content filter kept back; every reader takes it for a refusal."""


def reply_text(output: ModelOutput) -> str:
    """Return the text to be read: what the model said, or `FILTERED` where a content filter stopped it.

    Some providers then send nothing, some a part, some a notice of their own, which says nothing of the question.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput
    >>> reply_text(ModelOutput.from_content("m", "Answer: B"))
    'Answer: B'
    >>> reply_text(ModelOutput.from_content("m", "Policy 7.", stop_reason="content_filter")) == FILTERED
    True
    """
    return FILTERED if output.choices and output.stop_reason == "content_filter" else output.completion
