"""The reply that is scored, and its tokens with their log-probabilities, from Inspect's output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.model import Logprob, ModelOutput, ModelUsage

from confidence_tasks.reading.token_probabilities import pieces_of_bytes
from confidence_tasks.study.stage import TOKENS, Token

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


def reply_tokens(output: ModelOutput) -> list[Token]:
    """Return the tokens of the first choice; none when the provider returned no log-probabilities.

    Their texts join to what was generated, also where a character is cut, if the provider tells the tokens' bytes.
    """
    if not output.choices or output.choices[0].logprobs is None:
        return []
    content = output.choices[0].logprobs.content
    return [
        Token(text, item.logprob, _alternatives(item))
        for text, item in zip(_texts(content), content, strict=True)
    ]


def _alternatives(item: Logprob) -> dict[str, float]:
    """Return the likeliest tokens; of one that is listed twice, the more probable entry."""
    listed: dict[str, float] = {}
    for top in item.top_logprobs or []:
        listed[top.token] = max(listed.get(top.token, top.logprob), top.logprob)
    return listed


def _texts(content: Sequence[Logprob]) -> list[str]:
    written = [item.token for item in content]
    if all(text.isascii() and "\\x" not in text for text in written):
        return written
    try:
        return pieces_of_bytes(
            [item.token.encode() if item.bytes is None else bytes(item.bytes) for item in content]
        )
    except ValueError:  # Inspect's hf provider gives the code points of vocabulary entries as bytes.
        return written


def tokens_used(usage: ModelUsage | None) -> dict[str, float]:
    """Return the tokens of a call, as far as the provider tells; a prompt that it had in its cache counts, too."""
    if usage is None:
        return {}
    prompt = (usage.input_tokens, usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0)
    told = zip(TOKENS, (sum(prompt), usage.output_tokens, usage.reasoning_tokens), strict=True)
    return {kind: float(count) for kind, count in told if count is not None}


def with_tokens(metadata: Mapping[str, Any], used: Mapping[str, float]) -> dict[str, Any]:
    """Return the metadata of a sample with the tokens of a further call; what is not told of each call is left out.

    Examples
    --------
    >>> with_tokens({"condition": "plain", "input_tokens": 7.0, "reasoning_tokens": 2.0}, {"input_tokens": 5.0})
    {'condition': 'plain', 'input_tokens': 12.0}
    """
    others = {key: value for key, value in metadata.items() if key not in TOKENS}
    both = metadata.keys() & used.keys()
    return {**others, **{kind: metadata[kind] + used[kind] for kind in TOKENS if kind in both}}
