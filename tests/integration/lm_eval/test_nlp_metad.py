"""Log-probability metacognition on lm-eval: the same trials and figures as in Inspect, and whose tokens are scored."""

import math
from pathlib import Path

import pytest
from tests.integration.lm_eval.harnesses import different, inspect_metrics, lm_eval_run
from tests.integration.lm_eval.test_token_scores import CountingLM

from confidence_tasks import nlp_metad
from confidence_tasks.harness.lm_eval.simulated import SimulatedLM
from confidence_tasks.studies.logprob_metacognition.measures import MEASURES

pytestmark = pytest.mark.slow

N = 60
NAME = "nlp_metad_T0_7_arithmetic"
OF_THE_ANSWER = {"prompt": "short", "scoring": "line", "span": "answer"}
"""The answer within a longer reply, as releases before the author's instrument asked for it and read it."""


def trials_of(run, name=NAME):
    return [sample["trial"] for sample in run["samples"][name]]


def test_both_harnesses_give_the_same_figures(tmp_path):
    names = [NAME, "nlp_metad_T1_5_arithmetic"]
    run = lm_eval_run(SimulatedLM("sloppy"), names, {"n": N})
    task = nlp_metad(source="arithmetic", temperatures="0.7,1.5", n=N, metrics="all")
    expected = inspect_metrics(task, "simulated/sloppy", tmp_path)
    for name, condition in zip(names, ["T=0.7", "T=1.5"], strict=True):
        assert different(run["results"][name], expected, MEASURES, condition) == []
        assert run["results"][name]["mean_logprob_stderr,none"] > 0.0


class CharacterTokenizer:
    def decode(self, ids, **kwargs):
        return "".join(map(chr, ids))


class SpellingLM(CountingLM):
    """A model of single characters whose log-probability is minus the character's place in the alphabet."""

    reply = "Answer: 12"

    def __init__(self):
        super().__init__()
        self.tokenizer = CharacterTokenizer()
        self.scored = []

    def _loglikelihood_tokens(self, requests, **kwargs):
        self.scored += [("".join(map(chr, before)), "".join(map(chr, text))) for _, before, text in requests]
        return [(-float(sum(text)), True) for _, _, text in requests]

    def generate_until(self, requests, disable_tqdm=False):
        self.settings = [request.args[1] for request in requests]
        return [self.reply] * len(requests)


def test_only_the_answers_tokens_are_scored_after_what_comes_before_them():
    model = SpellingLM()
    trial = trials_of(lm_eval_run(model, [NAME], {"n": 1, **OF_THE_ANSWER}))[0]
    ((before, scored),) = model.scored
    assert scored == "12"
    assert before.endswith("\nAnswer:Answer: ")
    assert trial["mean_logprob"] == -(ord("1") + ord("2")) / 2
    assert (trial["tokens"], trial["answer"], trial["status"]) == (2.0, "12", "repaired")


def test_temperature_reaches_the_model():
    model = SpellingLM()
    lm_eval_run(model, [NAME], {"n": 1, **OF_THE_ANSWER})
    assert (model.settings[0]["do_sample"], model.settings[0]["temperature"]) == (True, 0.7)
    greedy = SpellingLM()
    lm_eval_run(greedy, [NAME], {"n": 1, "condition": "T=0"})
    assert greedy.settings[0]["do_sample"] is False


def test_right_answer_is_forced_on_request():
    model = SpellingLM()
    run = lm_eval_run(
        model, [NAME], {"n": 3, "force_gold": True, **OF_THE_ANSWER}, gen_kwargs="max_gen_toks=12"
    )
    assert {settings["max_gen_toks"] for settings in model.settings} == {12}
    for sample in run["samples"][NAME]:
        gold = sample["doc"]["target"]
        assert sample["trial"]["gold_mean_logprob"] == -sum(map(ord, gold)) / len(gold)
        assert any(before.endswith("\nAnswer: ") and scored == gold for before, scored in model.scored)
    assert math.isnan(
        trials_of(lm_eval_run(SpellingLM(), [NAME], {"n": 1, **OF_THE_ANSWER}))[0]["gold_mean_logprob"]
    )


@pytest.mark.parametrize(
    ("reply", "status"), [("", "missing_answer"), ("I don't know", "refused"), ("?!", "unreadable")]
)
def test_reply_without_an_answer_is_not_scored(reply, status):
    model = SpellingLM()
    model.reply = reply
    (trial,) = trials_of(lm_eval_run(model, [NAME], {"n": 1, **OF_THE_ANSWER}))
    assert trial["status"] == status
    assert math.isnan(trial["mean_logprob"])
    assert model.scored == []


class OtherTextTokenizer:
    def decode(self, ids, **kwargs):
        return "?" * len(ids)


@pytest.mark.parametrize("tokenizer", ["characters", OtherTextTokenizer()], ids=["no decoder", "other text"])
def test_tokens_that_cannot_be_found_cost_no_run(tokenizer):
    model = SpellingLM()
    model.tokenizer = tokenizer
    (trial,) = trials_of(lm_eval_run(model, [NAME], {"n": 1, **OF_THE_ANSWER}))
    assert (trial["answer"], trial["status"]) == ("12", "missing_confidence")
    assert trial["correct"] in {0.0, 1.0}
    assert math.isnan(trial["mean_logprob"])


def test_worked_examples_end_in_the_answer():
    model = SpellingLM()
    lm_eval_run(model, [NAME], {"n": 1, **OF_THE_ANSWER}, num_fewshot=2)
    ((before, _),) = model.scored
    shown = [line for line in before.splitlines() if line.startswith("Answer:")]
    assert len(shown) == 3
    assert all(line.removeprefix("Answer: ").isdigit() for line in shown[:2])


@pytest.mark.hf
class TestSmolLM2:
    @pytest.mark.parametrize("chat", [True, False], ids=["chat", "plain"])
    def test_log_probabilities_are_the_models_own(self, smollm2: Path, chat):
        torch = pytest.importorskip("torch")
        from lm_eval.models.huggingface import HFLM

        model = HFLM(pretrained=str(smollm2), dtype="float32", batch_size=3, device="cpu")
        options = {"num_fewshot": 2, "apply_chat_template": chat, "fewshot_as_multiturn": chat}
        options["gen_kwargs"] = "max_gen_toks=12"
        run = lm_eval_run(model, [NAME], {"n": 3, "force_gold": True, **OF_THE_ANSWER}, **options)
        for sample in run["samples"][NAME]:
            trial, reply = sample["trial"], sample["resps"][0][0]["answer"][0]["text"]
            assert trial["status"] in {"ok", "repaired"}
            prompt = model.tok_encode(sample["arguments"][0][0])
            tokens = model.tok_encode(reply, add_special_tokens=False)
            begin = reply.rindex(trial["answer"])
            ends = [len(model.tok_decode(tokens[: i + 1])) for i in range(len(tokens))]
            overlapping = [
                i
                for i, end in enumerate(ends)
                if end > begin and (ends[i - 1] if i else 0) < begin + len(trial["answer"])
            ]
            with torch.no_grad():
                logits = model.model(torch.tensor([prompt + tokens])).logits[0].float().log_softmax(-1)
            own = [logits[len(prompt) + i - 1, tokens[i]].item() for i in overlapping]
            assert trial["tokens"] == len(own)
            assert trial["mean_logprob"] == pytest.approx(sum(own) / len(own), abs=1e-4)
            assert trial["gold_mean_logprob"] < 0.0
