"""Replies of Inspect's ``hf`` provider that were cut off at the limit of tokens, which the provider does not tell."""

from __future__ import annotations

from typing import Any

from inspect_ai.model import ModelOutput

from confidence_tasks.harness.inspect.origin import model_events

_TOLERANCE = 0.95
"""Share of the limit from which a text that is tokenised again may be that of a reply which was cut off."""


def note_cut(output: ModelOutput, tokenizer: Any) -> ModelOutput:
    """Return the last reply of the current sample, with its stop reason if it was cut off.

    The provider counts the tokens of the longest reply of its batch. A reply was cut off if the batch went as far as
    the limit and the reply's own text is as long. Another tokenisation of the text may have a few tokens less.
    """
    call = next(model_events(), None)
    limit = call.config.max_tokens if call else None
    if not (limit and output.choices and output.usage) or output.usage.output_tokens < limit:
        return output
    n_tokens = len(tokenizer(output.completion, add_special_tokens=False)["input_ids"])
    if n_tokens >= _TOLERANCE * limit:
        output.choices[0].stop_reason = "max_tokens"
    return output
