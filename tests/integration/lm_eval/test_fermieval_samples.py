"""FermiEval by repeated samples on lm-eval: the same samples give the same numbers, and each has its own seed."""

import pytest
from inspect_ai.model import get_model
from lm_eval.api.instance import Instance
from tests.integration.inspect.test_stages import Mock, run
from tests.integration.lm_eval.harnesses import Scripted, inspect_metrics, lm_eval_run, same

from confidence_tasks import fermieval, fermieval_sampling
from confidence_tasks.harness.lm_eval.sample_requests import SAMPLES, generate_samples
from confidence_tasks.harness.lm_eval.simulated import SimulatedLM

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("mirror")]


@pytest.mark.parametrize(("task", "ask"), [("interval", "interval"), ("exponent", "direct,reasoned")])
def test_the_same_samples_give_the_same_value_of_every_metric(task, ask, tmp_path):
    expected = inspect_metrics(
        fermieval_sampling(metrics="all", ask=ask, n=8, samples=4, levels="0.8", temperatures="0.5,1"),
        get_model("simulated/tunnel", perception=0.3),
        tmp_path,
    )
    name = f"fermieval_sampling_{task}"
    metadata = {"n": 8, "samples": 4, "levels": "0.8", "temperatures": "0.5,1"}
    found = lm_eval_run(SimulatedLM("tunnel", perception=0.3), [name], metadata)["results"][name]
    assert not [
        metric
        for metric, value in expected.items()
        if not same(found[f"{metric.replace(',', '/')},none"], value)
    ]
    where = "coverage/direct/T=1/p=0.8" if "," in ask else "coverage/T=1/p=0.8"
    assert 0.0 < found[f"{where}_stderr,none"] < 0.6


class Recording(Scripted):
    """Remembers the settings of what it was asked, and replies with their seed or with a count."""

    def generate_until(self, requests, disable_tqdm=False):
        self.asked += [request.args[1] for request in requests]
        return [f'{{"L": {i}, "U": 40}}' for i, _ in enumerate(requests, start=len(self.asked))]


class VLLM(Recording):
    """As far as its name goes."""


@pytest.mark.parametrize(("kind", "different"), [(Recording, 1), (VLLM, 6)])
def test_each_sample_has_a_seed_of_its_own_where_models_take_seeds(kind, different):
    model = kind(None)
    lm_eval_run(model, ["fermieval_sampling_interval"], {"n": 2, "samples": 3, "levels": "0.9"})
    assert len(model.asked) == 6
    seeds = {settings.get("seed") for settings in model.asked}
    assert len(seeds) == different
    assert seeds == {None} or all(0 <= seed < 2**31 for seed in seeds)
    assert {(settings["temperature"], settings["do_sample"]) for settings in model.asked} == {(1.0, True)}


@pytest.mark.parametrize(("kind", "seeded"), [(Recording, False), (VLLM, True)])
def test_a_reply_that_is_sampled_once_has_a_seed_where_models_take_seeds(kind, seeded):
    model = kind(None)
    lm_eval_run(model, ["fermieval_p0_9"], {"n": 2, "temperature": 0.7})
    assert [("seed" in settings, settings["temperature"]) for settings in model.asked] == [(seeded, 0.7)] * 2


@pytest.mark.parametrize(
    ("made", "name", "given"),
    [
        (fermieval, "fermieval_p0_9", {"temperature": 0.7}),
        (fermieval_sampling, "fermieval_sampling_interval", {"samples": 3, "levels": "0.9"}),
    ],
)
def test_repeated_and_single_trials_have_the_seeds_that_they_have_on_inspect(made, name, given, tmp_path):
    ours, theirs = VLLM(None), Mock(lambda turns, config: '{"L": 1, "U": 40}')
    lm_eval_run(ours, [name], {"n": 2, **given})
    run(made(n=2, **{"levels": "0.9", **given}), theirs.model(), tmp_path)
    expected = sorted(config.seed for _, config in theirs.asked)
    assert sorted(settings["seed"] for settings in ours.asked) == expected
    assert len(set(expected)) == 2 * given.get("samples", 1)


def test_cached_samples_are_not_asked_again_and_still_differ(tmp_path):
    metadata = {"n": 2, "samples": 3, "levels": "0.9"}
    ends = []
    for asked in (6, 0):
        model = Recording(None)
        results = lm_eval_run(
            model, ["fermieval_sampling_interval"], metadata, use_cache=str(tmp_path / "cache")
        )
        assert len(model.asked) == asked
        ends.append(
            [sample["trial"]["lower"] for sample in results["samples"]["fermieval_sampling_interval"]]
        )
    assert ends[0] == ends[1]
    assert len(set(ends[0])) == 6


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"samples": 1}, "samples=1 must be 2 or more"),
        ({"temperatures": "0"}, "must be numbers above 0"),
        ({"condition": "twice"}, "not one of interval, direct, reasoned"),
        ({"ask": "direct"}, "has no parameter 'ask' on lm-eval: name tasks"),
    ],
)
def test_refused_before_the_first_call(metadata, message):
    model = Recording(None)
    with pytest.raises(ValueError, match=message):
        lm_eval_run(model, ["fermieval_sampling_interval"], metadata)
    assert model.asked == []


def test_a_sample_that_is_asked_for_twice_does_not_shift_those_after_it():
    def request(prompt):
        sampling = {"do_sample": True, "temperature": 1.0, "seed": 1}
        return Instance(SAMPLES, {}, (prompt, sampling), 0, ("task", 0, 1))

    model = Scripted(lambda prompt: f"reply to {prompt}")
    asked = ["a", "a", "b", "c"]
    replies = generate_samples(model, [request(prompt) for prompt in asked])
    assert replies == [f"reply to {prompt}" for prompt in asked]
