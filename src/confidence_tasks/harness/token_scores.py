"""Log-probabilities of a text's tokens, and the most probable tokens in their places, from a network's own output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from confidence_tasks.reading.token_probabilities import token_texts
from confidence_tasks.study.stage import Token

if TYPE_CHECKING:
    from torch import Tensor


def scored_tokens(logits: Tensor, tokenizer: Any, ids: Sequence[int], alternatives: int = 0) -> list[Token]:
    """Return the tokens of a text with their log-probabilities.

    Parameters
    ----------
    logits : Tensor, shape (n, vocabulary)
        What the network says of each token of the text, from those before it.
    tokenizer : PreTrainedTokenizer
        That of the network.
    ids : sequence of int, length n
        The tokens.
    alternatives : int
        Number of the most probable tokens to list for each.
    """
    if not ids:
        return []
    distribution = logits.float().log_softmax(dim=-1)
    likeliest = distribution.topk(alternatives, dim=-1)
    listed = [
        {_text(tokenizer, token): value for token, value in zip(tokens, values, strict=True)}
        for tokens, values in zip(likeliest.indices.tolist(), likeliest.values.tolist(), strict=True)
    ]
    return [
        Token(text, float(row[token]), others)
        for text, row, token, others in zip(
            token_texts(tokenizer, ids), distribution, ids, listed, strict=True
        )
    ]


def _text(tokenizer: Any, token: int) -> str:
    text: str = tokenizer.decode([token], skip_special_tokens=False, clean_up_tokenization_spaces=False)
    return text
