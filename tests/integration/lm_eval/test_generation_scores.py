"""Log-probabilities of generated text: against the model's own logits, and every way of having none."""

import logging
import math

import pytest
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, CachingLM, TemplateLM
from lm_eval.evaluator import simple_evaluate
from lm_eval.tasks import TaskManager

from confidence_tasks.harness.lm_eval.generation_scores import GenerationScore, score_request, unscored
from confidence_tasks.harness.lm_eval.integer_scores import integers_request
from confidence_tasks.harness.lm_eval.option_scores import options_request
from confidence_tasks.harness.lm_eval.simulated import SimulatedLM
from confidence_tasks.harness.lm_eval.staged import task_class
from confidence_tasks.reading.token_probabilities import letters, option_probabilities
from confidence_tasks.studies.scales import STUDY

QUESTIONS = 7
TOKENS = 8
REPLY = "Answer: 4\nConfidence: 9"


ScaleTask = task_class(STUDY)


class ScoredScaleTask(ScaleTask):
    """The scale study, asking for the score of each generation too."""

    def requests_about(self, generation, doc):
        return [score_request(generation)]

    def trial(self, doc, reply, score):
        return {
            **super().trial(doc, reply, score),
            "sum_logprob": score.sum_logprob,
            "n_tokens": float(score.n_tokens),
            "greedy": float(score.greedy),
            "problem": score.problem,
        }


def scored_task(**settings):
    metadata = {"condition": "0-20", "source": "arithmetic", "n": QUESTIONS}
    generation = {"until": [], "max_gen_toks": TOKENS, "do_sample": False, "temperature": 0.0}
    return ScoredScaleTask(
        {"task": "scored", "metadata": metadata, "generation_kwargs": generation, **settings}
    )


def samples_of(model, task=None, **options):
    manager = TaskManager(include_defaults=False)
    results = simple_evaluate(model, tasks=[task or scored_task()], task_manager=manager, **options)
    return results["samples"]["scored"]


def request(text, context="2+2=", repeats=1):
    generation = Instance("generate_until", {}, (context, {}), 0, ("task", 0, repeats))
    generation.resps = [text] * repeats
    return score_request(generation)


@pytest.mark.hf
class TestSmolLM2:
    @pytest.fixture(scope="class")
    @classmethod
    def loaded(cls, smollm2):
        from transformers import AutoModelForCausalLM, AutoTokenizer

        return AutoModelForCausalLM.from_pretrained(smollm2), AutoTokenizer.from_pretrained(smollm2)

    def language_model(self, loaded, batch_size):
        from lm_eval.models.huggingface import HFLM

        model, tokenizer = loaded
        return HFLM(pretrained=model, tokenizer=tokenizer, batch_size=batch_size, device="cpu")

    def own_score(self, loaded, prompt):
        """Generate with transformers, and read off the logits that chose each token."""
        model, tokenizer = loaded
        encoding = tokenizer(prompt, return_tensors="pt")
        generated = model.generate(
            **encoding,
            max_new_tokens=TOKENS,
            do_sample=False,
            return_dict_in_generate=True,
            output_logits=True,
        )
        tokens = generated.sequences[0, encoding.input_ids.shape[1] :]
        steps = [
            (token.item(), logits[0].log_softmax(-1)[token].item())
            for token, logits in zip(tokens, generated.logits, strict=True)
            if token != tokenizer.eos_token_id
        ]
        text = tokenizer.decode([token for token, _ in steps])
        return text, len(steps), math.fsum(logprob for _, logprob in steps)

    @pytest.mark.slow
    @pytest.mark.parametrize("chat", [True, False], ids=["chat", "plain"])
    def test_equals_the_models_own_logits_for_every_batch_size(self, loaded, chat):
        runs = {
            batch_size: samples_of(self.language_model(loaded, batch_size), apply_chat_template=chat)
            for batch_size in (1, 4, 7)
        }
        for i, sample in enumerate(runs[1]):
            text, n_tokens, sum_logprob = self.own_score(loaded, sample["arguments"][0][0])
            # The limit on tokens can cut a character of several bytes: then the text is not what was generated.
            whole = text != "" and not text.endswith("\N{REPLACEMENT CHARACTER}")
            for run in runs.values():
                trial = run[i]["trial"]
                assert run[i]["resps"][0] == [text]
                assert trial["greedy"] == whole
                assert trial["problem"] == ("" if text else "empty generation")
                if whole:
                    assert trial["n_tokens"] == n_tokens
                    assert trial["sum_logprob"] == pytest.approx(sum_logprob, abs=1e-4)
        assert sum(sample["trial"]["greedy"] for sample in runs[1]) >= 3

    def test_empty_generation_has_no_score(self, loaded):
        asked = [request(" 4"), request(""), request(None)]
        full, *nothing = self.language_model(loaded, 2).score_own_generation(asked)
        assert (full.n_tokens, full.problem) == (2, "")
        for empty in nothing:
            assert empty.problem == "empty generation"
            assert math.isnan(empty.sum_logprob)

    def test_cached_scores_need_no_second_computation(self, loaded, tmp_path, monkeypatch):
        model = CachingLM(self.language_model(loaded, 2), str(tmp_path / "cache.db"))
        requests = [request(" 4"), request(" 5", repeats=2), request("")]
        first = model.score_own_generation(requests)
        monkeypatch.delattr(type(model.lm), "_loglikelihood_tokens")
        assert model.score_own_generation(requests[:2]) == first[:2]
        assert first[0].sum_logprob > first[1].sum_logprob


class CountingLM(TemplateLM):
    """A model of single characters, each of log-probability -1."""

    eot_token_id = 0
    tokenizer = "characters"
    calls = 0

    def tok_encode(self, string, add_special_tokens=None, **kwargs):
        return [ord(character) for character in string]

    def _loglikelihood_tokens(self, requests, **kwargs):
        self.calls += len(requests)
        return [(-float(len(continuation)), True) for _, _, continuation in requests]

    def generate_until(self, requests, disable_tqdm=False):
        return [REPLY] * len(requests)

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise NotImplementedError


class TestRequests:
    def test_text_starts_where_the_prompt_ends(self):
        """White space at the end of the prompt stays there, unlike in lm-eval's loglikelihood."""
        seen = []
        model = CountingLM()
        model._loglikelihood_tokens = lambda requests: seen.extend(requests) or [(-1.0, True)]
        model.score_own_generation([request("4", context="is\n")])
        assert seen == [(None, [105, 115, 10], [52])]

    def test_each_repetition_is_scored(self):
        repeated = request("", repeats=3)
        repeated.generation.resps = ["a", "bcd", ""]
        scores = CountingLM().score_own_generation([repeated] * 3)
        assert [score.n_tokens for score in scores] == [1, 3, 0]

    def test_equal_generations_are_computed_once(self):
        model = CountingLM()
        first, second = model.score_own_generation([request("same"), request("same")])
        assert first == second
        assert model.calls == 1

    def test_trial_holds_the_score(self):
        trials = [sample["trial"] for sample in samples_of(CountingLM())]
        assert {(trial["sum_logprob"], trial["n_tokens"]) for trial in trials} == {(-len(REPLY), len(REPLY))}

    def test_task_that_needs_no_score_asks_for_none(self):
        task = ScaleTask(
            {"task": "scored", "metadata": {"condition": "0-20", "source": "arithmetic", "n": 3}}
        )
        model = CountingLM()
        assert "sum_logprob" not in samples_of(model, task)[0]["trial"]
        assert model.calls == 0

    def test_simulated_subject_scores_its_replies(self):
        trials = [sample["trial"] for sample in samples_of(SimulatedLM("ideal"))]
        for trial in trials:
            per_token = math.exp(trial["sum_logprob"] / trial["n_tokens"])
            assert per_token == pytest.approx(trial["confidence"], abs=0.5 / 20)


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
        (ReasoningLM, "the reasoning, which lm-eval removes"),
        (TextOnlyLM, "TextOnlyLM does not compute log-probabilities"),
        (BrokenLM, "TimeoutError: the endpoint gave up"),
    ],
)
def test_model_that_cannot_score_keeps_its_run_and_says_why(model, reason, caplog):
    with caplog.at_level(logging.WARNING, logger="confidence_tasks"):
        trials = [sample["trial"] for sample in samples_of(model())]
    assert len(trials) == QUESTIONS
    for trial in trials:
        assert trial["problem"].startswith(reason)
        assert math.isnan(trial["sum_logprob"])
    (warning,) = (record for record in caplog.records if record.name.startswith("confidence_tasks"))
    assert reason.removeprefix("TimeoutError: ") in warning.getMessage()


def test_no_score_is_not_a_number_of_no_tokens():
    assert unscored("why").n_tokens == 0
    assert repr(unscored("why")) == repr(GenerationScore(math.nan, 0, greedy=False, problem="why"))


class OnlyLater(CountingLM):
    """A model whose log-probabilities are impossible at the first run."""

    tokenizer_name = "characters"

    def __init__(self, impossible):
        super().__init__()
        self.impossible = impossible

    def _loglikelihood_tokens(self, requests, **kwargs):
        made = super()._loglikelihood_tokens(requests, **kwargs)
        return made if self.impossible is None else [(self.impossible, True)] * len(made)


@pytest.mark.parametrize("impossible", [5.0, math.inf, math.nan])
def test_an_impossible_score_is_none_and_is_not_cached(impossible, tmp_path):
    cache = str(tmp_path / "cache.db")
    for first, scored in ((impossible, None), (None, -4.0), (impossible, -4.0)):
        model = CachingLM(OnlyLater(first), cache)
        (found,) = model.score_own_generation([request("Rome")])
        (repeated, *_) = model.score_own_generation([request("Rome")])
        assert repr(repeated) == repr(found)
        if scored is None:
            assert math.isnan(found.sum_logprob)
            assert f"{impossible:g}, which is impossible" in found.problem
        else:
            assert (found.sum_logprob, found.problem) == (scored, "")


@pytest.mark.parametrize("impossible", [5.0, math.inf, math.nan])
def test_impossible_probabilities_of_integers_are_none_and_are_not_cached(impossible, tmp_path, caplog):
    cache = str(tmp_path / "cache.db")
    asked = integers_request({}, "How many?", metadata=("task", 0, 1))
    assert CachingLM(OnlyLater(impossible), cache).score_integers([asked]) == [{}]
    assert "1 of 1 prompts have no probabilities of integers" in caplog.text
    (found,) = CachingLM(OnlyLater(None), cache).score_integers([asked])
    assert found[100] > 0.0
    assert CachingLM(OnlyLater(impossible), cache).score_integers([asked]) == [found]


class WordsLM(OnlyLater):
    """A model whose vocabulary can be gone through, as the scoring of options does."""

    class tokenizer:
        def __len__(self):
            return 128

        def convert_ids_to_tokens(self, ids):
            return [chr(i) for i in ids]

        def decode(self, ids, **options):
            return "".join(map(chr, ids))

    tokenizer = tokenizer()


@pytest.mark.parametrize("impossible", [5.0, math.inf, math.nan])
def test_impossible_probabilities_of_options_are_none_and_are_not_cached(impossible, tmp_path, caplog):
    cache = str(tmp_path / "cache.db")
    generation = Instance("generate_until", {}, ("Which?", {}), 0, ("task", 0, 1))
    generation.resps = ["Answer: B"]
    asked = options_request(generation, letters(2))
    assert CachingLM(WordsLM(impossible), cache).score_options([asked]) == [[]]
    assert "which is impossible" in caplog.text
    (found,) = CachingLM(WordsLM(None), cache).score_options([asked])
    assert option_probabilities(found, letters(2))["B"] > 0.0
    assert repr(CachingLM(WordsLM(impossible), cache).score_options([asked])) == repr([found])
