"""What Inspect's ``hf`` provider leaves out: the token counts of one reply of a batch, and why it ended."""

from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelOutput, ModelUsage

from confidence_tasks.harness.inspect.local_model import count_own_tokens
from confidence_tasks.harness.inspect.model_replies import why_stopped


def model(limit: int | None = None) -> Any:
    """As much as is needed of a model of the provider: a word is a token, and the template adds two."""
    api = SimpleNamespace(
        model=None,
        tokenizer=lambda text, **_: {"input_ids": text.split()},
        tokenizer_call_args={},
        hf_chat=lambda messages, tools: f"user {messages[0].text} assistant",
        max_tokens=lambda: 2048,
    )
    return SimpleNamespace(api=api, config=GenerateConfig(max_tokens=limit))


def counted(reply: str, limit: int | None, of_model: Any = None, padded: int = 64) -> ModelOutput:
    output = ModelOutput.from_content("hf/m", reply, stop_reason="unknown")
    output.usage = ModelUsage(input_tokens=500, output_tokens=padded, total_tokens=500 + padded)
    count_own_tokens(of_model or model(), [ChatMessageUser(content="Which one ?")], output, limit)
    return output


def test_padding_of_the_batch_is_not_counted() -> None:
    usage = counted("Answer: B", 64).usage
    assert usage is not None
    # Three words and the template's two; two words and the end token.
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (5, 3, 8)


@pytest.mark.parametrize(
    ("n_words", "limit", "of_model", "stop"),
    [
        (64, 64, None, "length"),
        (63, 64, None, ""),
        (64, None, 64, "length"),
        (64, None, None, ""),
        (2048, None, None, "length"),
    ],
)
def test_a_reply_with_as_many_tokens_as_the_limit_was_cut_off(
    n_words: int, limit: int | None, of_model: int | None, stop: str
) -> None:
    output = counted(" ".join(["word"] * n_words), limit, model(of_model), padded=n_words)
    assert why_stopped(output) == stop
    assert output.usage is not None
    assert output.usage.output_tokens == n_words


def test_a_reply_without_counts_is_left_as_it_is() -> None:
    output = ModelOutput.from_content("hf/m", "word " * 64, stop_reason="unknown")
    count_own_tokens(model(), [ChatMessageUser(content="?")], output, 64)
    assert (why_stopped(output), output.usage) == ("", None)
