"""The calibration question sets on lm-eval: the same prompts, replies and numbers as on Inspect."""

import math
import re
import zlib

import numpy as np
import pytest
from tests.integration.lm_eval.harnesses import Scripted, both_models, different, inspect_metrics, lm_eval_run

import confidence_tasks
from confidence_tasks.studies.lifeeval.question_sets.measures import measures_of
from confidence_tasks.studies.lifeeval.question_sets.replies import (
    QUESTION_SETS,
    boolean_reply,
    judgement_reply,
    options_reply,
)

pytestmark = pytest.mark.slow

N = 12

FAULTS = (
    lambda reply: f"Let me think.\n\n```json\n{reply}\n```",
    lambda reply: reply.replace('"Confidence":', '"Confidence": 7, "Rest":').replace(
        '"A":', '"A": 3, "Rest":'
    ),
    lambda reply: reply[: len(reply) // 2],
    lambda reply: "I'm sorry, but I cannot help with that.",
    lambda reply: "",
)


def reply_to(prompt):
    """Return a fixed function of the prompt: some reply, in format or not."""
    draw = np.random.default_rng(zlib.crc32(prompt.encode()))
    confidence = round(float(draw.beta(2, 1)), 2)
    letters = sorted(set(re.findall(r"<Probability choice ([A-E]) is correct", prompt)))
    if letters:
        reply = options_reply(
            str(draw.choice(letters)), draw.dirichlet(np.ones(len(letters))).round(2).tolist()
        )
    elif "<True or False>" in prompt:
        reply = boolean_reply(str(draw.choice(["yes", "no"])), confidence)
    else:
        reply = judgement_reply(confidence)
    return reply if draw.random() < 0.6 else FAULTS[draw.integers(len(FAULTS))](reply)


def test_the_group_holds_the_five_sets():
    results = lm_eval_run(Scripted(lambda prompt: ""), ["question_sets_arithmetic"], {"n": 1})
    assert set(results["results"]) >= {
        "boolq_confidence_arithmetic_boolean",
        "sciq_confidence_arithmetic",
        "lsat_ar_confidence_arithmetic",
        "sat_en_confidence_arithmetic",
    }


class TestSameAsInspect:
    @pytest.mark.parametrize("name", QUESTION_SETS)
    @both_models(reply_to)
    def test_the_same_replies_give_the_same_value_of_every_metric(
        self, name, lm_eval_model, inspect_model, mirror, tmp_path
    ):
        task = getattr(confidence_tasks, name)
        expected = inspect_metrics(task(metrics="all", n=N), inspect_model(), tmp_path)
        found = lm_eval_run(lm_eval_model(), [f"{name}_confidence"], {"n": N})["results"]
        measures = measures_of(QUESTION_SETS[name].form)
        assert not different(found[f"{name}_confidence"], expected, measures, name)
        assert 0.2 < expected[f"parse_rate/{name}"] <= 1.0
        assert not math.isnan(expected[f"ece/{name}"])


@pytest.mark.parametrize(
    ("metadata", "options", "message"),
    [
        ({"condition": "triviaqa"}, {}, "not one of boolq, sciq, lsat_ar, sat_en, halueval"),
        ({"source": "arithmetic_number", "n": 2}, {}, "asks questions of kind 'choice'"),
        ({"n": 2}, {"num_fewshot": -1}, "fewshot=-1 must be"),
    ],
)
def test_refused_before_the_first_call(metadata, options, message):
    model = Scripted(reply_to)
    with pytest.raises(ValueError, match=message):
        lm_eval_run(model, ["sciq_confidence_arithmetic"], metadata, **options)
    assert model.asked == []
