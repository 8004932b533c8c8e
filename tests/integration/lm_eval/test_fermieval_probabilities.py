"""FermiEval by token probabilities on lm-eval: exact, and the same as on Inspect from the same probabilities."""

import json
import logging
import math
from types import MethodType

import pytest
from tests.integration.lm_eval.harnesses import Scripted, inspect_metrics, lm_eval_run, same
from tests.integration.lm_eval.test_token_scores import CountingLM, request

from confidence_tasks import fermieval_logprob
from confidence_tasks.harness.lm_eval.simulated import SimulatedLM
from confidence_tasks.harness.lm_eval.token_requests import candidate_probabilities, score_tokens
from confidence_tasks.studies.fermieval.logprob.distribution import integer_probabilities, read_distribution
from confidence_tasks.studies.fermieval.logprob.replies import INTEGERS, logprob_stages

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("mirror")]

TASK = "fermieval_logprob_first_token"
N = 24


def test_the_same_probabilities_give_the_same_value_of_every_metric(tmp_path):
    """A narrow belief, all of whose exponents are among the twenty alternatives that a provider returns."""
    expected = inspect_metrics(
        fermieval_logprob(metrics="all", n=N, levels="0.9,0.99"), inspect_model(), tmp_path
    )
    found = lm_eval_run(
        SimulatedLM("ideal", belief_sd=1.0, gain=4.0), [TASK], {"n": N, "levels": "0.9,0.99"}
    )["results"][TASK]
    assert not [name for name, value in expected.items() if not same(found[f"{name},none"], value)]
    assert expected["temperature/all"] > 1.5
    assert 0.0 < found["coverage/p=0.9_stderr,none"] < 0.5


def inspect_model():
    from inspect_ai.model import get_model

    return get_model("simulated/ideal", belief_sd=1.0, gain=4.0)


CHANCES = {**dict.fromkeys("0123456789", 0.06), "-": 0.01}


class Digits(CountingLM):
    """A model of single characters: every digit has the same chance, a sign a small one, and then the reply ends."""

    tokenizer_name = "digits"

    def _loglikelihood_tokens(self, requests, **kwargs):
        self.calls += len(requests)
        return [
            (sum(math.log(CHANCES.get(chr(token), 1e-9)) for token in continuation), False)
            for _, _, continuation in requests
        ]


def test_a_number_that_goes_on_is_another_number():
    (stage,) = logprob_stages({"top_logprobs": 20})
    (tokens,) = score_tokens(Digits(), [request("", "How many?", stage)])
    found = integer_probabilities(tokens)
    assert list(map(str, found)) == list(INTEGERS)
    assert found[7] == pytest.approx(0.06 * (1 - 10 * 0.06))
    assert found[0] == pytest.approx(0.06)
    assert found[42] == pytest.approx(0.06**2)
    assert found[10] == pytest.approx(0.06**2 - 0.06**3), "100 goes on from it"
    assert found[-3] == pytest.approx(0.01 * 0.06 * (1 - 10 * 0.06))
    assert math.fsum(found.values()) == pytest.approx(10 * 0.06 + 0.01 * 9 * 0.06)


def test_tokens_of_several_digits_are_numbers_of_their_own():
    written = {(1,): "1", (12,): "12", (1, 2): "121"}
    found = candidate_probabilities(written, {(1,): 0.3, (12,): 0.5, (1, 2): 0.1})
    assert found == pytest.approx({"1": 0.2, "12": 0.5, "121": 0.1})


def test_the_answer_begins_after_the_prompt_in_plain_text_and_after_the_turn_in_chat():
    seen = []
    model = Digits()
    render = lambda self, history, add_generation_prompt=True: f"{json.dumps(history)}\n"  # noqa: E731
    model.apply_chat_template = MethodType(render, model)
    model.tok_encode = lambda text, add_special_tokens=None: seen.append(text) or [ord(c) for c in text]
    for chat in (False, True):
        lm_eval_run(model, [TASK], {"n": 1, "levels": "0.9", "split": "test"}, apply_chat_template=chat)
    plain, chat = dict.fromkeys(text for text in seen if "Reply with the integer exponent x only" in text)
    assert plain.endswith("no reasoning.\n\n")
    assert chat.endswith("]\n")


def test_a_model_that_has_none_is_refused_before_the_first_call():
    model = Scripted(lambda prompt: "7")
    with pytest.raises(RuntimeError, match="needs token probabilities, and Scripted does not compute"):
        lm_eval_run(model, [TASK], {"n": 4, "levels": "0.9"})
    assert model.asked == []


def test_a_model_that_breaks_costs_no_run_and_says_why(caplog):
    with caplog.at_level(logging.WARNING, logger="confidence_tasks"):
        results = lm_eval_run(Broken(), [TASK], {"n": 4, "levels": "0.9"})
    assert results["results"][TASK]["parse_rate/all,none"] == 0.0
    assert {sample["trial"]["status"] for sample in results["samples"][TASK]} == {"missing_confidence"}
    (warning,) = (record for record in caplog.records if record.name.startswith("confidence_tasks"))
    assert "the endpoint gave up" in warning.getMessage()


class Broken(CountingLM):
    def _loglikelihood_tokens(self, requests, **kwargs):
        raise TimeoutError("the endpoint gave up")


def test_an_unknown_level_is_refused_before_the_first_call():
    model = Digits()
    with pytest.raises(ValueError, match="not a coverage between 0 and 1"):
        lm_eval_run(model, [TASK], {"n": 2, "levels": "2"})
    assert model.calls == 0


@pytest.mark.hf
def test_a_real_models_integers_are_those_of_its_own_logits(smollm2):
    """Digit by digit, from the softmax after each beginning of a number."""
    torch = pytest.importorskip("torch")
    from lm_eval.models.huggingface import HFLM

    model = HFLM(pretrained=str(smollm2), dtype="float32", device="cpu", batch_size=4)
    results = lm_eval_run(model, [TASK], {"n": 2, "levels": "0.9"}, apply_chat_template=True)
    for sample in results["samples"][TASK]:
        context = model.tok_encode(sample["arguments"][0][0])

        def following(text, context=context):
            tokens = context + model.tok_encode(text, add_special_tokens=False)
            with torch.no_grad():
                return model.model(torch.tensor([tokens])).logits[0, -1].softmax(-1)

        digits = [model.tok_encode(digit, add_special_tokens=False)[0] for digit in "0123456789"]
        first, after_one = following(""), following("1")
        found = read_distribution(sample["trial"]["distribution"])
        assert found[1] == pytest.approx(float(first[digits[1]] * (1 - after_one[digits].sum())), abs=1e-4)
        assert found[13] == pytest.approx(float(first[digits[1]] * after_one[digits[3]]), abs=1e-4)
        assert 0.0 < sum(found.values()) <= 1.0
