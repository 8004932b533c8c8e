"""FermiEval on lm-eval: the same prompts, replies and numbers as on Inspect."""

import math
import zlib

import numpy as np
import pytest
from tests.integration.lm_eval.harnesses import Scripted, different, inspect_metrics, lm_eval_run, replying

from confidence_tasks import fermieval
from confidence_tasks.harness.lm_eval.simulated import SimulatedLM
from confidence_tasks.studies.fermieval.adjusted_measures import CONFORMAL_MEASURES, JACKKNIFE_MEASURES
from confidence_tasks.studies.fermieval.measures import MEASURES

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("mirror")]

N = 40

REPLIES = (
    'About right. {{"L": {lower}, "U": {upper}}}',
    "Between 10^{lower} and 10^{upper}.",
    '{{"L": {lower}}}',
    '{{"L": {lower}, "U": 5000}}',
    "I'm sorry, but I cannot help with that.",
    "",
)


def reply_to(prompt, question):
    """Return a fixed function of the prompt: some reply, whose interval may hold the truth."""
    draw = np.random.default_rng(zlib.crc32(prompt.encode()))
    lower = int(question.gold) - int(draw.integers(-1, 4))
    form = REPLIES[min(draw.geometric(0.6) - 1, len(REPLIES) - 1)]
    return form.format(lower=lower, upper=lower + int(draw.integers(0, 4)))


@pytest.mark.parametrize(
    ("lm_eval_model", "inspect_model"),
    [
        (lambda: Scripted(reply_to), lambda: replying(reply_to)),
        (lambda: SimulatedLM("sloppy"), lambda: "simulated/sloppy"),
    ],
    ids=["scripted", "simulated"],
)
def test_the_same_replies_give_the_same_value_of_every_metric(lm_eval_model, inspect_model, tmp_path):
    """At two levels: one has enough calibration questions for an adjustment, the other has not."""
    expected = inspect_metrics(fermieval(metrics="all", n=N, levels="0.9,0.998"), inspect_model(), tmp_path)
    names = {"p=0.9": "fermieval_p0_9", "p=0.998": "fermieval_p0_998"}
    found = lm_eval_run(lm_eval_model(), names.values(), {"n": N})["results"]
    for condition, name in names.items():
        assert not different(found[name], expected, MEASURES + CONFORMAL_MEASURES, condition)
    assert math.isfinite(expected["conformal_shift/p=0.9"])
    assert expected["conformal_shift/p=0.998"] == math.inf
    assert 0.0 < expected["coverage/p=0.9"] < 1.0


def test_both_halves_adjusted_by_each_other(tmp_path):
    expected = inspect_metrics(
        fermieval(metrics="all", n=N, levels="0.9", split="cross"), replying(reply_to), tmp_path
    )
    found = lm_eval_run(Scripted(reply_to), ["fermieval_p0_9"], {"n": N, "split": "cross"})["results"]
    assert not different(found["fermieval_p0_9"], expected, MEASURES + JACKKNIFE_MEASURES, "p=0.9")
    assert expected["conformal_jackknife_coverage/p=0.9"] >= 0.9


def test_the_test_half_alone_is_not_adjusted():
    results = lm_eval_run(Scripted(reply_to), ["fermieval_p0_9"], {"n": 3, "split": "test"})
    names = {name.partition(",")[0] for name in results["results"]["fermieval_p0_9"]}
    assert {measure.name for measure in MEASURES} < names
    assert not names & {measure.name for measure in CONFORMAL_MEASURES}
    assert {sample["trial"]["split"] for sample in results["samples"]["fermieval_p0_9"]} == {"test"}


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"condition": "p=1.5"}, "not a coverage between 0 and 1"),
        ({"source": "mmlu"}, "source='mmlu' is neither fermi nor the path"),
        ({"split": "half"}, "not one of all, test, authors, authors_test, cross"),
    ],
)
def test_refused_before_the_first_call(metadata, message):
    model = Scripted(reply_to)
    with pytest.raises(ValueError, match=message):
        lm_eval_run(model, ["fermieval_p0_9"], metadata)
    assert model.asked == []


def test_the_providers_temperature_is_refused_with_the_command_that_works():
    command = "run `inspect eval confidence_tasks/fermieval -T temperature=provider`"
    with pytest.raises(ValueError, match=command):
        lm_eval_run(Scripted(reply_to), ["fermieval_p0_9"], {"n": N, "temperature": "provider"})
