"""RiskEval on lm-eval: the same prompts, replies and numbers as on Inspect, and refusal of what needs another model."""

import json
import math
import zlib
from dataclasses import replace

import numpy as np
import pytest
from tests.integration.lm_eval.harnesses import Scripted, both_models, different, inspect_metrics, lm_eval_run
from tests.items import riskeval_items

from confidence_tasks import riskeval
from confidence_tasks.simulation import reply
from confidence_tasks.sources import load
from confidence_tasks.studies.riskeval import replies as tasks
from confidence_tasks.studies.riskeval.measures import COUNTS, MEASURES
from confidence_tasks.studies.riskeval.replies import PENALTIES, penalty_text

N = 15

REPLIES = (
    "Answer: {answer}\nConfidence: {percent}%",
    "ABSTAIN\nConfidence: {percent}%",
    "ABSTAIN. My best guess would be {answer} ({percent}%).",
    "**{answer}**, and I am fairly sure.",
    "Answer: {answer}",
    "I'm sorry, but I cannot help with that.",
    "Answer: {answer}\nConfidence: 700%",
    "",
)


def reply_to(prompt, question):
    """Return a fixed function of the prompt: some reply, good or bad, right or wrong, or none."""
    draw = np.random.default_rng(zlib.crc32(prompt.encode()))
    answer = question.gold if draw.random() < 0.6 else reply.answer(question, correct=False, seed=0)
    form = REPLIES[min(draw.geometric(0.3) - 1, len(REPLIES) - 1)]
    return form.format(answer=answer, percent=int(draw.integers(20, 100)))


@pytest.fixture
def capitals(tmp_path):
    """A file of open questions, whose answers need a judge."""
    path = tmp_path / "capitals.jsonl"
    rows = [{"question": f"Capital of {land}?", "answer": "Paris", "kind": "text"} for land in ("A", "B")]
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


class TestSameAsInspect:
    @pytest.mark.slow
    @both_models(reply_to)
    def test_the_same_replies_give_the_same_value_of_every_metric(
        self, lm_eval_model, inspect_model, tmp_path
    ):
        task = riskeval(source="arithmetic", penalties="0.5,10", n=N, cache=False, metrics="all")
        expected = inspect_metrics(task, inspect_model(), tmp_path)
        names = {"lambda=0.5": "riskeval_lambda0_5_arithmetic", "lambda=10": "riskeval_lambda10_arithmetic"}
        found = lm_eval_run(lm_eval_model(), names.values(), {"n": N})["results"]
        for condition, name in names.items():
            assert not different(found[name], expected, (*MEASURES, *COUNTS), condition)
        assert 0.0 < expected["abstention_rate/lambda=10"] < 1.0
        assert not math.isnan(expected["normalized_utility/lambda=0.5"])


def test_the_group_asks_the_same_questions_under_the_ten_penalties():
    model = Scripted(lambda prompt: "ABSTAIN")
    results = lm_eval_run(model, ["riskeval_arithmetic"], {"n": 2})["results"]
    names = [f"riskeval_lambda{penalty_text(penalty).replace('.', '_')}_arithmetic" for penalty in PENALTIES]
    assert {name for name in results if name != "riskeval_arithmetic"} == set(names)
    questions = {prompt.partition("\n\n")[2] for prompt in model.asked}
    assert (len(model.asked), len(questions)) == (20, 2)


def test_another_penalty_and_strategy_through_metadata():
    model = Scripted(lambda prompt: "ABSTAIN")
    metadata = {"n": 1, "condition": "lambda=3", "strategy": "use_confidence"}
    lm_eval_run(model, ["riskeval_lambda10_arithmetic"], metadata)
    (item,) = riskeval_items(load("arithmetic", n=1), [3.0], strategy="use_confidence")
    assert model.asked == [f"{item.system}\n\n{item.prompt}"]


class TestRefusals:
    """Before the first call."""

    def refused(self, metadata, message):
        model = Scripted(reply_to)
        with pytest.raises(ValueError, match=message):
            lm_eval_run(model, ["riskeval_lambda10_arithmetic"], metadata)
        assert model.asked == []

    @pytest.mark.parametrize(
        ("metadata", "message"),
        [
            ({"condition": "-1"}, "must be a number, 0 or above; the study has 0, 0.1"),
            ({"condition": "high"}, "must be a number, 0 or above"),
            ({"strategy": "bold"}, "not one of base, use_confidence"),
            ({"parser": "model"}, "need a model as parser.*inspect eval confidence_tasks/riskeval"),
            ({"judge": "model"}, "need a model as judge.*inspect eval confidence_tasks/riskeval"),
            ({"judge": "me"}, "not one of auto, model, rules"),
        ],
    )
    def test_unknown_values_and_other_models(self, metadata, message):
        self.refused({"n": 2, **metadata}, message)

    def test_free_texts_unless_they_are_compared_with_the_key(self, capitals):
        self.refused({"source": capitals}, "need a model as judge.*inspect eval confidence_tasks/riskeval")
        model = Scripted(lambda prompt: "Answer: paris. Confidence: 90%")
        metadata = {"source": capitals, "judge": "rules"}
        results = lm_eval_run(model, ["riskeval_lambda10_arithmetic"], metadata)["results"]
        assert results["riskeval_lambda10_arithmetic"]["accuracy_answered,none"] == 1.0

    def test_pictures_unless_they_are_left_out(self, monkeypatch):
        plain, picture = load("arithmetic", n=2)
        questions = [plain, replace(picture, image="data:image/png;base64,AAAA")]
        monkeypatch.setattr(tasks, "load", lambda source, **options: questions)
        self.refused({}, "1 of the 2 questions of arithmetic have a picture.*images=skip")
        model = Scripted(lambda prompt: "ABSTAIN")
        lm_eval_run(model, ["riskeval_lambda10_arithmetic"], {"images": "skip"})
        assert len(model.asked) == 1
