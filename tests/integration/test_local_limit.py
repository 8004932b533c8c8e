"""Replies of a network in this process that reach the limit of tokens, on lm-eval; a small random network."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.integration.lm_eval.harnesses import lm_eval_run
from tests.integration.test_chat_templates import networks  # noqa: F401

pytestmark = [pytest.mark.slow, pytest.mark.hf]

LIMIT = 4


def ending(folder: str, share: int) -> tuple[Any, Any, list[int]]:
    """The network of a folder, of whose vocabulary every ``share``-th token ends a reply."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    network, tokenizer = (each.from_pretrained(folder) for each in (AutoModelForCausalLM, AutoTokenizer))
    with torch.no_grad():
        for weights in network.parameters():
            weights.mul_(20)  # with small weights, all prompts would have one reply
    ends = list(range(0, len(tokenizer), share))
    network.generation_config.eos_token_id = ends
    network.save_pretrained(folder)
    return network, tokenizer, ends


def goes_on(network: Any, tokenizer: Any, prompt: str, ends: list[int]) -> bool:
    """Generate token by token, as an oracle: whether none of the tokens up to the limit is an end."""
    import torch

    ids = tokenizer(prompt, return_tensors="pt", add_special_tokens=False).input_ids
    for _ in range(LIMIT):
        with torch.inference_mode():
            best = network(ids).logits[0, -1].argmax()
        if int(best) in ends:
            return False
        ids = torch.cat([ids, best.reshape(1, 1)], dim=1)
    return True


@pytest.mark.parametrize("batch_size", [1, 3])
def test_lm_eval_tells_the_replies_that_were_cut_off(
    batch_size: int,
    networks: Mapping[str, str],  # noqa: F811
) -> None:
    from lm_eval.models.huggingface import HFLM

    folder = networks["keeps"]
    network, tokenizer, ends = ending(folder, 6)
    found = lm_eval_run(
        HFLM(pretrained=folder, dtype="float32", device="cpu", batch_size=batch_size),
        ["riskeval_lambda10_arithmetic"],
        {"n": 12},
        apply_chat_template=True,
        gen_kwargs={"max_gen_toks": LIMIT},
        log_samples=True,
    )
    samples = found["samples"]["riskeval_lambda10_arithmetic"]
    expected = [goes_on(network, tokenizer, sample["arguments"][0][0], ends) for sample in samples]
    assert [sample["trial"]["status"] == "truncated" for sample in samples] == expected
    assert 0 < sum(expected) < 12
