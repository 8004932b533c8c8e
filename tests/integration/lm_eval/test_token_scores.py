"""Log-probabilities of replies: against the model's own logits, and every way of having none."""

import logging
import math

import pytest
from lm_eval.api.model import LM, CachingLM, TemplateLM

from confidence_tasks.harness.lm_eval.sample_requests import StageGeneration
from confidence_tasks.harness.lm_eval.token_requests import score_tokens
from confidence_tasks.reading.token_probabilities import (
    letter_options,
    number_span,
    option_probabilities,
    option_span,
)
from confidence_tasks.simulation.reply import StageCall
from confidence_tasks.sources import Question
from confidence_tasks.studies.scales import STUDY
from confidence_tasks.study import Stage

pytestmark = pytest.mark.slow

QUESTION = Question("q-1", "demo", "2 + 2?", "choice", "B", ("3", "4", "5"))

WHOLE = Stage("answer", lambda question, condition, replies: question.text, logprobs="required")
GUESS = Stage("answer", WHOLE.ask, logprobs="required", span=lambda question, reply: number_span(reply))
OPTION = Stage(
    "answer",
    WHOLE.ask,
    logprobs="required",
    span=lambda question, reply: option_span(reply),
    options=lambda question: letter_options(3),
)


def request(reply, context="2+2=", stage=WHOLE):
    call = StageCall(STUDY, QUESTION, "0-100", "answer", {})
    made = StageGeneration(
        "generate_until", {}, (context, {}), 0, call=call, stage=stage, prompt="", number=0
    )
    made.resps = [reply]
    return made


class CountingLM(TemplateLM):
    """A model of single characters, each of log-probability -3, so that those of all options add up to less than 1."""

    eot_token_id = 0
    calls = 0

    class tokenizer:
        def __len__(self):
            return 128

        def convert_ids_to_tokens(self, ids):
            return [chr(i) for i in ids]

        def decode(self, ids, **options):
            return "".join(map(chr, ids))

    tokenizer = tokenizer()

    def tok_encode(self, string, add_special_tokens=None, **kwargs):
        return [ord(character) for character in string]

    def _loglikelihood_tokens(self, requests, **kwargs):
        self.calls += len(requests)
        return [(-3.0 * len(continuation), True) for _, _, continuation in requests]

    def generate_until(self, requests, disable_tqdm=False):
        return ["Answer: 4\nConfidence: 9"] * len(requests)

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise NotImplementedError


def test_a_reply_starts_where_the_prompt_ends():
    """White space at the end of the prompt stays there, unlike in lm-eval's loglikelihood."""
    seen = []
    model = CountingLM()
    model._loglikelihood_tokens = lambda requests: seen.extend(requests) or [(-1.0, True)]
    score_tokens(model, [request("4", context="is\n")])
    assert seen == [(None, [105, 115, 10], [52])]


def test_every_token_is_scored_after_those_before_it_and_equal_replies_once():
    model = CountingLM()
    first, second = score_tokens(model, [request("same"), request("same")])
    assert first == second
    assert [(token.text, token.logprob) for token in first] == [(letter, -3.0) for letter in "same"]
    assert model.calls == 4


def test_of_a_part_the_sum_is_asked_for_once_and_each_token_has_its_mean():
    model = CountingLM()
    model._loglikelihood_tokens = lambda requests: [(-3.0, True)] * len(requests)
    (tokens,) = score_tokens(model, [request("Answer: 84 or so", stage=GUESS)])
    assert [token.text for token in tokens] == ["Answer: ", "8", "4", " or so"]
    assert [token.logprob for token in tokens[1:3]] == [-1.5, -1.5]
    assert math.isnan(tokens[0].logprob)


@pytest.mark.parametrize(("reply", "stage"), [("", WHOLE), ("no number", GUESS), ("none", OPTION)])
def test_where_there_is_nothing_to_score_nothing_is_asked_and_the_problem_is_told(reply, stage):
    model = CountingLM()
    (problem,) = score_tokens(model, [request(reply, stage=stage)])
    assert isinstance(problem, str)
    assert problem
    assert model.calls == 0


class ChatEndpoint(CountingLM):
    tokenizer = None


class ReasoningLM(CountingLM):
    think_end_token = "</think>"


class BrokenLM(CountingLM):
    def _loglikelihood_tokens(self, requests, **kwargs):
        raise TimeoutError("the endpoint gave up")


class TextOnlyLM(LM):
    generate_until = CountingLM.generate_until
    loglikelihood = loglikelihood_rolling = CountingLM.loglikelihood_rolling


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (ChatEndpoint, "ChatEndpoint has no tokenizer"),
        (ReasoningLM, "lm-eval removes the reasoning"),
        (TextOnlyLM, "TextOnlyLM does not compute log-probabilities"),
        (BrokenLM, "TimeoutError: the endpoint gave up"),
    ],
)
def test_a_model_that_cannot_score_says_why(model, reason, caplog):
    with caplog.at_level(logging.WARNING, logger="confidence_tasks"):
        found = score_tokens(model(), [request("4"), request("5")])
    assert all(problem.startswith(reason) for problem in found)
    (warning,) = (record for record in caplog.records if record.name.startswith("confidence_tasks"))
    assert reason.removeprefix("TimeoutError: ") in warning.getMessage()


class OnlyLater(CountingLM):
    """A model whose log-probabilities are impossible at the first run."""

    tokenizer_name = "characters"

    def __init__(self, impossible):
        super().__init__()
        self.impossible = impossible

    def _loglikelihood_tokens(self, requests, **kwargs):
        made = super()._loglikelihood_tokens(requests, **kwargs)
        return made if self.impossible is None else [(self.impossible, True)] * len(made)


INTEGERS = Stage("answer", WHOLE.ask, logprobs="required", candidates=("1", "12", "3"))


@pytest.mark.parametrize("impossible", [5.0, math.inf, math.nan])
@pytest.mark.parametrize(
    "stage", [WHOLE, GUESS, OPTION, INTEGERS], ids=["whole", "part", "options", "integers"]
)
def test_an_impossible_score_is_none_and_is_not_cached(impossible, stage, tmp_path, caplog):
    asked = [request("Answer: 84" if stage is GUESS else "Answer: B", stage=stage)]
    cache = str(tmp_path / "cache.db")
    (problem,) = CachingLM(OnlyLater(impossible), cache).score_tokens(asked)
    assert f"{impossible:g}, which is impossible" in problem
    assert "which is impossible" in caplog.text
    (found,) = CachingLM(OnlyLater(None), cache).score_tokens(asked)
    assert any(token.logprob < 0 for token in found)
    (again,) = CachingLM(OnlyLater(impossible), cache).score_tokens(asked)
    assert repr(again) == repr(found)


CONTEXT = "Question: 2 + 2? A) 3 B) 4 C) 5\nAnswer as JSON.\n"


@pytest.mark.hf
class TestSmolLM2:
    @pytest.fixture(scope="class")
    @classmethod
    def model(cls, smollm2):
        from lm_eval.models.huggingface import HFLM

        return HFLM(pretrained=str(smollm2), dtype="float32", device="cpu", batch_size=4)

    def following(self, model, text):
        """The model's own distribution of the next token."""
        import torch

        with torch.no_grad():
            return model.model(torch.tensor([model.tok_encode(text)])).logits[0, -1].softmax(-1)

    def test_a_greedy_reply_has_the_logits_that_chose_it(self, model, smollm2):
        from transformers import AutoModelForCausalLM, AutoTokenizer

        tokenizer, network = (
            AutoTokenizer.from_pretrained(smollm2),
            AutoModelForCausalLM.from_pretrained(smollm2),
        )
        encoding = tokenizer(CONTEXT, return_tensors="pt")
        options = {"do_sample": False, "return_dict_in_generate": True, "output_logits": True}
        generated = network.generate(**encoding, max_new_tokens=8, **options)
        tokens = generated.sequences[0, encoding.input_ids.shape[1] :].tolist()
        own = [
            logits[0].log_softmax(-1)[token].item()
            for token, logits in zip(tokens, generated.logits, strict=True)
        ]
        (found,) = score_tokens(model, [request(tokenizer.decode(tokens), CONTEXT)])
        assert [token.logprob for token in found] == pytest.approx(own, abs=1e-3)

    def test_options_are_all_tokens_that_write_them(self, model):
        reply = '{"Answer": "B", "Confidence": 0.9}'
        (tokens,) = score_tokens(model, [request(reply, CONTEXT, OPTION)])
        assert "".join(token.text for token in tokens) == reply
        # The answer's first character stands within the token that precedes the letter or begins with it.
        own = self.following(model, CONTEXT + tokens[0].text)
        vocabulary = model.tokenizer.get_vocab()
        (answer,) = (token for token in tokens if token.alternatives)
        assert len(answer.alternatives) > 6
        for text, logprob in list(answer.alternatives.items())[1:]:
            assert math.exp(logprob) == pytest.approx(float(own[vocabulary[text]]), abs=1e-4)
        assert sum(option_probabilities(tokens, letter_options(3)).values()) == pytest.approx(1.0)

    def test_a_guess_is_the_product_of_its_digits(self, model):
        reply = '{"Answer": 84, "Confidence": 0.7}'
        (tokens,) = score_tokens(model, [request(reply, CONTEXT, GUESS)])
        digit = {text: model.tok_encode(text)[0] for text in "84"}
        expected = self.following(model, CONTEXT + reply[:11])[digit["8"]]
        expected = expected * self.following(model, CONTEXT + reply[:12])[digit["4"]]
        scored = [token.logprob for token in tokens if not math.isnan(token.logprob)]
        assert math.exp(sum(scored)) == pytest.approx(float(expected), rel=1e-3)
        assert len(scored) == 2
