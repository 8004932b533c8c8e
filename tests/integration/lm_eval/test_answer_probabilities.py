"""Token probabilities of answers on lm-eval: LifeEval's guesses and the question sets' options."""

import logging
import math

import pytest
from lm_eval.api.instance import Instance
from tests.integration.lm_eval.harnesses import Scripted, different, inspect_metrics, lm_eval_run

from confidence_tasks.harness.lm_eval.generation_scores import score_own_generation, score_request
from confidence_tasks.harness.lm_eval.option_scores import options_request, score_options
from confidence_tasks.harness.lm_eval.simulated import SimulatedLM
from confidence_tasks.reading.token_probabilities import YES_NO, letters, option_probabilities
from confidence_tasks.studies.lifeeval import trials as lifeeval_scorers
from confidence_tasks.studies.lifeeval.task import lifeeval
from confidence_tasks.studies.question_sets.prompts import options_reply
from confidence_tasks.studies.question_sets.task import boolq, sciq
from confidence_tasks.studies.question_sets.trials import measures_of

ASKED = {"n": 12, "token_probabilities": True}


def test_lifeeval_has_the_metrics_of_inspect(tmp_path):
    expected = inspect_metrics(
        lifeeval(metrics="all", radii="5", n=12, top_logprobs=20), "simulated/ideal", tmp_path
    )
    found = lm_eval_run(SimulatedLM("ideal"), ["lifeeval_radius5"], ASKED)["results"]["lifeeval_radius5"]
    measures = lifeeval_scorers.MEASURES + lifeeval_scorers.TOKEN_MEASURES
    assert not different(found, expected, measures, "radius=5")
    assert 0.0 < found["token_confidence,none"] < 1.0


@pytest.mark.parametrize(
    ("task", "source", "form", "name"),
    [
        (boolq, "arithmetic_boolean", "boolean", "boolq_confidence_arithmetic_boolean"),
        (sciq, "arithmetic", "options", "sciq_confidence_arithmetic"),
    ],
)
def test_question_sets_have_the_metrics_of_inspect(task, source, form, name, tmp_path):
    expected = inspect_metrics(
        task(metrics="all", source=source, n=12, top_logprobs=20), "simulated/ideal", tmp_path
    )
    found = lm_eval_run(SimulatedLM("ideal"), [name], ASKED)["results"][name]
    measures = measures_of(form, token_probabilities=True)
    assert not different(found, expected, measures, source)
    assert 0.0 < found["token_confidence,none"] < 1.0


@pytest.mark.parametrize("name", ["sciq_confidence_arithmetic", "lifeeval_radius5"])
def test_a_model_that_cannot_keeps_its_run_and_says_why(name, caplog):
    model = Scripted(lambda prompt: options_reply("A", [0.7, 0.1, 0.1, 0.1]))
    with caplog.at_level(logging.WARNING, logger="confidence_tasks"):
        found = lm_eval_run(model, [name], ASKED)["results"][name]
    assert math.isnan(found["token_confidence,none"])
    (warning,) = (record for record in caplog.records if record.name.startswith("confidence_tasks"))
    assert "Scripted does not compute log-probabilities" in warning.getMessage()


def test_without_asking_nothing_is_scored():
    found = lm_eval_run(SimulatedLM("ideal"), ["lifeeval_radius5"], {"n": 2})["results"]["lifeeval_radius5"]
    assert "token_confidence,none" not in found


@pytest.mark.usefixtures("mirror")
def test_judgements_have_no_options():
    found = lm_eval_run(SimulatedLM("ideal"), ["halueval_confidence"], ASKED)["results"][
        "halueval_confidence"
    ]
    assert found["parse_rate,none"] == 1.0
    assert "token_confidence,none" not in found


def asked(context, reply):
    generation = Instance("generate_until", {}, (context, {}), 0, ("task", 0, 1))
    generation.resps = [reply]
    return generation


CONTEXT = "Question: 2 + 2? A) 3 B) 4 C) 5\nAnswer as JSON.\n"


@pytest.fixture(scope="module")
def model(smollm2):
    from lm_eval.models.huggingface import HFLM

    return HFLM(pretrained=str(smollm2), dtype="float32", device="cpu", batch_size=4)


@pytest.mark.hf
@pytest.mark.slow
class TestSmolLM2:
    def following(self, model, text):
        """The model's own distribution of the next token."""
        import torch

        with torch.no_grad():
            return model.model(torch.tensor([model.tok_encode(text)])).logits[0, -1].softmax(-1)

    def test_options_are_all_tokens_that_write_them(self, model):
        reply = '{"Answer": "B", "Confidence": 0.9}'
        (tokens,) = score_options(model, [options_request(asked(CONTEXT, reply), letters(3))])
        assert "".join(token.text for token in tokens) == reply
        # The answer's first character stands within the token that precedes the letter or begins with it.
        own = self.following(model, CONTEXT + tokens[0].text)
        vocabulary = model.tokenizer.get_vocab()
        (answer,) = (token for token in tokens if token.alternatives)
        assert len(answer.alternatives) > 6
        for text, logprob in list(answer.alternatives.items())[1:]:
            assert math.exp(logprob) == pytest.approx(float(own[vocabulary[text]]), abs=1e-4)
        assert sum(option_probabilities(tokens, letters(3)).values()) == pytest.approx(1.0)

    def test_no_answer_and_an_empty_reply_have_no_tokens(self, model):
        requests = [options_request(asked(CONTEXT, reply), YES_NO) for reply in ("I do not know.", "")]
        assert score_options(model, requests) == [[], []]

    def test_a_guess_is_the_product_of_its_digits(self, model):
        from confidence_tasks.reading.token_probabilities import number_span

        reply = '{"Answer": 84, "Confidence": 0.7}'
        (score,) = score_own_generation(model, [score_request(asked(CONTEXT, reply), number_span)])
        digit = {text: model.tok_encode(text)[0] for text in "84"}
        expected = self.following(model, CONTEXT + reply[:11])[digit["8"]]
        expected = expected * self.following(model, CONTEXT + reply[:12])[digit["4"]]
        assert math.exp(score.sum_logprob) == pytest.approx(float(expected), rel=1e-3)
        assert score.n_tokens == 2
