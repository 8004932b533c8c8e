"""A model's output as a reply: text, tokens, numbers of tokens and why it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from inspect_ai.model import ChatCompletionChoice, ContentReasoning, Logprob, ModelOutput, ModelUsage

from confidence_tasks.harness.refusals import REFUSED
from confidence_tasks.reading.token_probabilities import highest_logprobs, listed_texts
from confidence_tasks.study.stage import TOKENS, ModelReply, Stage, Stop, Token

_STOPS: Mapping[str, Stop] = {"max_tokens": "length", "model_length": "length", "content_filter": "filter"}
"""Inspect's reasons to stop before the model has finished; ``model_length`` is the context of the model."""


def why_stopped(output: ModelOutput) -> Stop:
    """Return why a reply ended before the model had finished; empty if it ended by itself, or nobody knows.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput
    >>> why_stopped(ModelOutput.from_content("m", "Answer: B"))
    ''
    >>> why_stopped(ModelOutput.from_content("m", "Answer:", stop_reason="max_tokens"))
    'length'
    """
    if not output.choices:
        return ""
    content = output.message.content
    has_reasoning = isinstance(content, list) and any(isinstance(part, ContentReasoning) for part in content)
    is_thought = has_reasoning and not output.completion.strip()
    return _STOPS.get(output.stop_reason, "thought" if is_thought else "")


def reply_text(output: ModelOutput) -> str:
    """Return the text of a reply; empty if a content filter stopped it.

    For a filtered reply, providers return no text, a part of the text, or a notice that is unrelated to the question.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput
    >>> reply_text(ModelOutput.from_content("m", "Answer: B"))
    'Answer: B'
    >>> reply_text(ModelOutput.from_content("m", "Policy 7.", stop_reason="content_filter"))
    ''
    """
    return "" if why_stopped(output) == "filter" else output.completion


def model_reply(output: ModelOutput, tokens: Sequence[Token] = (), problem: str = "") -> ModelReply:
    """Return a reply with its tokens, its token counts and the reason why it ended."""
    counts: dict[str, Any] = {**tokens_used(output.usage)}
    return ModelReply(reply_text(output), tuple(tokens), problem=problem, stop=why_stopped(output), **counts)


def logprob_tokens(output: ModelOutput) -> list[Token]:
    """Return the tokens of the first choice; empty if the provider returned no log-probabilities.

    If the provider returns the tokens' bytes, the texts join to the reply even where tokens split a character.
    """
    if not output.choices or output.choices[0].logprobs is None:
        return []
    content = output.choices[0].logprobs.content
    texts = listed_texts([item.token for item in content], [item.bytes for item in content])
    return [Token(text, item.logprob, _alternatives(item)) for text, item in zip(texts, content, strict=True)]


def _alternatives(item: Logprob) -> dict[str, float]:
    return highest_logprobs((top.token, top.logprob) for top in item.top_logprobs or ())


def stage_reply(stage: Stage, output: ModelOutput) -> ModelReply:
    """Return the reply to a stage, with its tokens if the stage needs them, or the reason why there are none."""
    tokens = logprob_tokens(output) if stage.logprobs else []
    if not stage.logprobs or tokens:
        return model_reply(output, tokens)
    refusals = (output.metadata or {}).get(REFUSED, ())
    refused = next((note for note in refusals if note.startswith("logprobs")), "")
    return model_reply(output, tokens, refused or "the provider returned no log-probabilities")


def stage_replies(stage: Stage, output: ModelOutput, number: int) -> list[ModelReply]:
    """Return the replies of a call for the samples of a stage from ``number`` on: at least one.

    There are several, one for each choice, if the stage requests its samples by one call. The first one has the token
    counts of the call.
    """
    first = stage_reply(stage, output)
    n_choices = stage.samples - number if stage.one_request else 1
    unused: dict[str, Any] = {kind: 0.0 * getattr(first, kind) for kind in TOKENS}  # NaN stays NaN
    others = [
        replace(stage_reply(stage, _of_choice(output, choice)), choice=number, **unused)
        for number, choice in enumerate(output.choices[1:n_choices], 1)
    ]
    return [first, *others]


def _of_choice(output: ModelOutput, choice: ChatCompletionChoice) -> ModelOutput:
    """Return an output with one of its choices, without its number of tokens."""
    return ModelOutput(model=output.model, choices=[choice], metadata=output.metadata)


def tokens_used(usage: ModelUsage | None) -> dict[str, float]:
    """Return the token counts reported for a call; the input tokens include those in the provider's prompt cache."""
    if usage is None:
        return {}
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    counts = (usage.input_tokens + cached, usage.output_tokens, usage.reasoning_tokens)
    return {kind: float(count) for kind, count in zip(TOKENS, counts, strict=True) if count is not None}


def with_tokens(metadata: Mapping[str, Any], used: Mapping[str, float]) -> dict[str, Any]:
    """Return a sample's metadata with the token counts of a further call added.

    A count that is unknown for either is left out.

    Examples
    --------
    >>> with_tokens({"condition": "plain", "input_tokens": 7.0, "reasoning_tokens": 2.0}, {"input_tokens": 5.0})
    {'condition': 'plain', 'input_tokens': 12.0}
    """
    others = {key: value for key, value in metadata.items() if key not in TOKENS}
    both = metadata.keys() & used.keys()
    return {**others, **{kind: metadata[kind] + used[kind] for kind in TOKENS if kind in both}}


def has_probabilities(output: ModelOutput) -> bool:
    """Return whether a reply has the log-probabilities of its tokens."""
    logprobs = output.choices[0].logprobs if output.choices else None
    return logprobs is not None and bool(logprobs.content)
