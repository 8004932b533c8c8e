"""Models of Transformers in this process: greedy settings, and the log-probabilities of given tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from anyio import to_thread
from inspect_ai.model import ChatMessage, Logprob, Logprobs, Model, ModelOutput, ModelUsage, TopLogprob
from inspect_ai.util import concurrency

from confidence_tasks.harness.compat import hf_parts, hf_prompt, run_settings
from confidence_tasks.harness.conversation import as_continuation
from confidence_tasks.reading.token_probabilities import scored_tokens
from confidence_tasks.study.stage import Token


def is_local(model: Model) -> bool:
    """Return whether a model is of Inspect's ``hf`` provider, which runs in this process."""
    return type(model.api).__name__ == "HuggingFaceAPI"


def greedy_settings(model: Model) -> dict[str, Any]:
    """Return the settings with which a model decodes greedily.

    Inspect's ``hf`` provider samples depending on a model argument, not on the temperature. With ``top_k=1``, sampling
    is greedy.
    """
    if not is_local(model):
        return {"temperature": 0.0}
    return {"temperature": 1.0, "top_k": 1} if getattr(model.api, "do_sample", True) else {}


def count_own_tokens(
    model: Model, messages: Sequence[ChatMessage], output: ModelOutput, limit: int | None
) -> None:
    """Give a reply of the ``hf`` provider its own token counts, and the limit as the reason why it ended if it did.

    The provider counts the padding of a batch as tokens of every prompt and reply, and never tells why a reply ended.
    The texts are tokenised again; a reply that ended by itself has an end token in addition to its text. ``limit`` is
    the call's own limit of tokens, if it has one.
    """
    if output.usage is None or not output.choices:
        return
    limit = limit or run_settings().max_tokens or model.config.max_tokens or model.api.max_tokens()
    _, tokenizer, options = hf_parts(model)
    n_prompt = len(tokenizer(hf_prompt(model, messages), **options)["input_ids"])
    n_text = len(tokenizer(output.completion, add_special_tokens=False)["input_ids"])
    n_reply = min(n_text + 1, output.usage.output_tokens)
    output.usage = ModelUsage(input_tokens=n_prompt, output_tokens=n_reply, total_tokens=n_prompt + n_reply)
    if limit and n_text >= limit:
        output.choices[0].stop_reason = "max_tokens"


async def text_logprobs(
    model: Model, messages: Sequence[ChatMessage], text: str, alternatives: int = 0
) -> Logprobs:
    """Return the log-probabilities of a text's tokens, as the reply of an ``hf`` model to some messages.

    The provider itself reports the probability of the most probable token instead of the sampled token, and continues
    after the end of the text. So the model is run once more on the prompt and the text. The text is tokenised again,
    which may give other tokens than were sampled. ``alternatives`` is the number of top tokens listed for each token.
    """
    prompt = hf_prompt(model, messages)
    async with concurrency(f"text_logprobs {id(model.api)}", 1, visible=False):
        return await to_thread.run_sync(_score_text, model, prompt, text, alternatives)


async def replace_logprobs(
    model: Model, messages: list[ChatMessage], output: ModelOutput, alternatives: int
) -> ModelOutput:
    """Replace the log-probabilities of the ``hf`` provider by those of the tokens of the reply."""
    logprobs = await text_logprobs(model, messages, output.completion, alternatives)
    if output.choices:
        output.choices[0].logprobs = logprobs
    return output


async def score_forced_reply(model: Model, messages: list[ChatMessage], text: str) -> ModelOutput:
    """Return a given text as the model's reply, with the log-probabilities of its tokens."""
    output = ModelOutput.from_content(str(model), as_continuation(hf_prompt(model, messages), text))
    return await replace_logprobs(model, messages, output, 0)


def _score_text(model: Model, prompt: str, text: str, alternatives: int) -> Logprobs:
    import torch

    network, tokenizer, options = hf_parts(model)
    prompt_ids = tokenizer(prompt, **options)["input_ids"]
    text_ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    if not text_ids:
        return Logprobs(content=[])
    with torch.inference_mode():
        logits = network(torch.tensor([prompt_ids + text_ids], device=network.device)).logits
    return as_logprobs(scored_tokens(logits[0, len(prompt_ids) - 1 : -1], tokenizer, text_ids, alternatives))


def as_logprobs(tokens: Iterable[Token]) -> Logprobs:
    """Convert tokens to Inspect's type."""
    return Logprobs(
        content=[
            Logprob(
                token=token.text,
                logprob=token.logprob,
                top_logprobs=[
                    TopLogprob(token=text, logprob=value) for text, value in token.alternatives.items()
                ]
                or None,
            )
            for token in tokens
        ]
    )
