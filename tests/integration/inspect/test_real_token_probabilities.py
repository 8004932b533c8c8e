"""Token probabilities of a real model, through Inspect, against its own output distribution."""

import asyncio
import math
from pathlib import Path

import pytest

from confidence_tasks.harness.inspect.model_replies import logprob_tokens
from confidence_tasks.reading.token_probabilities import letter_options, option_probabilities

pytestmark = pytest.mark.slow

PROMPT = '{"Answer": "A"} - repeat this JSON exactly.'


@pytest.mark.hf
def test_option_probabilities_are_the_models_softmax_over_the_letters(smollm2: Path) -> None:
    torch = pytest.importorskip("torch")
    from inspect_ai.model import GenerateConfig, get_model

    model = get_model("hf/smollm2", model_path=str(smollm2), dtype="float32", do_sample=False, device="cpu")
    config = GenerateConfig(temperature=0.0, max_tokens=8, logprobs=True, top_logprobs=20)
    output = asyncio.run(model.generate(PROMPT, config=config))
    reply = logprob_tokens(output)
    found = option_probabilities(reply, letter_options(3))
    assert output.completion.startswith('{"Answer": "A"')

    place = next(i for i, token in enumerate(reply) if token.text == "A")
    tokenizer, network = model.api.tokenizer, model.api.model
    chat = [{"role": "user", "content": PROMPT}]
    text = tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
    before = tokenizer.convert_tokens_to_ids([token.text for token in reply[:place]])
    ids = torch.tensor([tokenizer(text)["input_ids"] + before])
    with torch.no_grad():
        logprobs = torch.log_softmax(network(ids).logits[0, -1].float(), dim=-1)
    mass = {
        letter: sum(
            math.exp(logprobs[tokenizer.convert_tokens_to_ids(form)].item())
            for form in (letter, f"Ġ{letter}")
        )
        for letter in "ABC"
    }
    expected = {letter: p / sum(mass.values()) for letter, p in mass.items()}
    assert found == pytest.approx(expected, abs=1e-4)
