"""LifeEval on lm-eval: the same prompts, replies and numbers as on Inspect."""

import json
import math
import zlib

import numpy as np
import pytest
from tests.integration.lm_eval.harnesses import Scripted, both_models, different, inspect_metrics, lm_eval_run
from tests.items import items_of

from confidence_tasks import lifeeval
from confidence_tasks.studies.lifeeval import RADII, STUDY
from confidence_tasks.studies.lifeeval.measures import MEASURES
from confidence_tasks.studies.lifeeval.replies import lifeeval_reply

pytestmark = pytest.mark.slow

REPLIES = (
    lifeeval_reply,
    lambda guess, confidence: f"**Answer:** {guess}\n\n**Confidence:** {round(100 * confidence)}%",
    lambda guess, confidence: f'{{"Answer": "{guess} years", "Confidence": {confidence}',
    lambda guess, confidence: f'{{"Answer": {guess}, "Confidence": 7}}',
    lambda guess, confidence: f'{{"Answer": {guess}}}',
    lambda guess, confidence: "I'm sorry, but I cannot help with that.",
    lambda guess, confidence: "",
)


def reply_to(prompt):
    """Return a fixed function of the prompt: some reply, good or bad."""
    draw = np.random.default_rng(zlib.crc32(prompt.encode()))
    form = REPLIES[min(draw.geometric(0.4) - 1, len(REPLIES) - 1)]
    return form(int(draw.integers(60, 105)), round(float(draw.beta(2, 2)), 2))


class TestSameAsInspect:
    """Under every radius; the questions of one alone are those of the whole design."""

    N = 12

    @both_models(reply_to)
    def test_the_same_replies_give_the_same_value_of_every_metric(
        self, lm_eval_model, inspect_model, tmp_path
    ):
        expected = inspect_metrics(lifeeval(metrics="all", n=4 * self.N), inspect_model(), tmp_path)
        found = lm_eval_run(lm_eval_model(), ["lifeeval"], {"n": self.N})["results"]
        for radius in RADII:
            assert not different(found[f"lifeeval_radius{radius}"], expected, MEASURES, f"radius={radius}")
        assert not math.isnan(expected["hard_easy/radius=5"])
        assert 0.4 < expected["parse_rate/all"] < 1.0

    def test_the_directions_are_the_system_message(self):
        (item,) = items_of(STUDY, radii=5, n=1)
        plain, chat = Scripted(reply_to), Scripted(reply_to)
        lm_eval_run(plain, ["lifeeval_radius5"], {"n": 1})
        lm_eval_run(chat, ["lifeeval_radius5"], {"n": 1}, apply_chat_template=True)
        assert plain.asked == [f"{item.system}\n\n{item.prompt}"]
        assert json.loads(chat.asked[0]) == [
            {"role": "system", "content": item.system},
            {"role": "user", "content": item.prompt},
        ]


def test_another_window_and_population():
    model = Scripted(lambda prompt: lifeeval_reply(84, 0.5))
    metadata = {"n": 4, "window": "inclusive", "population": "a Japanese"}
    trials = lm_eval_run(model, ["lifeeval_radius1"], metadata)["samples"]["lifeeval_radius1"]
    assert {sample["trial"]["window"] for sample in trials} == {"inclusive"}
    assert all("Given that a Japanese " in prompt for prompt in model.asked)


@pytest.mark.parametrize(
    ("metadata", "options", "message"),
    [
        ({"condition": "radius=3"}, {}, "radii='3' is not one of 1, 5, 10, 20"),
        ({"window": "open"}, {}, "not one of half_open, inclusive"),
        ({"n": 2}, {"num_fewshot": -1}, "fewshot=-1 must be"),
    ],
)
def test_refused_before_the_first_call(metadata, options, message):
    model = Scripted(reply_to)
    with pytest.raises(ValueError, match=message):
        lm_eval_run(model, ["lifeeval_radius1"], metadata, **options)
    assert model.asked == []
