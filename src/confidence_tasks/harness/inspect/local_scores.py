"""Log-probabilities of any text under a model of Inspect's ``hf`` provider, from the model's own output distribution.

The provider reports, at each step, the probability of the most probable token in place of the sampled one, and goes on
after the end. So the text is put through the model once more, after the tokens of the prompt that it was given.
"""

from __future__ import annotations

from collections.abc import Sequence

from anyio import to_thread
from inspect_ai.model import ChatMessage, Logprob, Model, TopLogprob
from inspect_ai.util import concurrency

from confidence_tasks.harness.compat import hf_parts, hf_prompt
from confidence_tasks.harness.token_scores import scored_tokens


async def text_logprobs(
    model: Model, messages: Sequence[ChatMessage], text: str, alternatives: int = 0
) -> list[Logprob]:
    """Return the tokens of a text with their log-probabilities as the reply to messages.

    Parameters
    ----------
    model : Model
        A model of the ``hf`` provider.
    messages : sequence of ChatMessage
        What the model was asked.
    text : str
        What it said, or might have said. It is tokenised anew: a sampled text may have been made of other tokens.
    alternatives : int
        Number of the most probable tokens to list for each token.
    """
    prompt = hf_prompt(model, messages)
    async with concurrency(f"text_logprobs {id(model.api)}", 1, visible=False):
        return await to_thread.run_sync(_scored, model, prompt, text, alternatives)


def forced_text(model: Model, messages: Sequence[ChatMessage], text: str) -> str:
    """Return a text as it continues the prompt: after a space, unless the prompt ends in white space."""
    return text if hf_prompt(model, messages)[-1:].isspace() else f" {text}"


def _scored(model: Model, prompt: str, text: str, alternatives: int) -> list[Logprob]:
    import torch

    network, tokenizer, options = hf_parts(model)
    before = tokenizer(prompt, **options)["input_ids"]
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    if not ids:
        return []
    with torch.inference_mode():
        logits = network(torch.tensor([before + ids], device=network.device)).logits
    tokens = scored_tokens(logits[0, len(before) - 1 : -1], tokenizer, ids, alternatives)
    return [
        Logprob(
            token=token.text,
            logprob=token.logprob,
            top_logprobs=[TopLogprob(token=text, logprob=value) for text, value in token.alternatives.items()]
            or None,
        )
        for token in tokens
    ]
