"""Conditions and calls of FermiEval by token probabilities and by samples, and parameters that raise."""

import math

import pytest

from confidence_tasks import fermieval_logprob, fermieval_sampling


def test_the_call_is_greedy_and_requests_token_probabilities(mirror):
    task = fermieval_logprob(n=4, top_logprobs=5)
    assert len(task.dataset) == 4
    assert (task.config.temperature, task.config.logprobs, task.config.top_logprobs) == (0.0, True, 5)
    assert "Reply with the integer exponent x only" in task.dataset[0].input[-1].text


def test_conditions_are_kinds_of_sample_by_temperature_and_for_intervals_by_level(mirror):
    task = fermieval_sampling(
        ask="interval,direct,reasoned", temperatures="0.5,1", levels="0.9,0.95", n=2, samples=3, metrics="all"
    )
    assert task.epochs == 3
    conditions = [sample.metadata["condition"] for sample in task.dataset][:8]
    assert conditions == [
        *("interval,T=0.5,p=0.9", "interval,T=0.5,p=0.95", "interval,T=1,p=0.9", "interval,T=1,p=0.95"),
        *("direct,T=0.5", "direct,T=1", "reasoned,T=0.5", "reasoned,T=1"),
    ]
    (metric,) = task.metrics
    nothing_yet = metric([])
    assert {"tunnel_index/T=0.5", task.headline_metric.metric} <= nothing_yet.keys()
    assert all(math.isnan(value) for value in nothing_yet.values())


def test_a_single_number_is_accepted_as_a_list(mirror):
    task = fermieval_sampling(temperatures=1, levels=0.9, n=1, samples=2)
    assert [sample.metadata["condition"] for sample in task.dataset] == ["interval,T=1,p=0.9"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ask": "point"}, "ask='point' is not one of interval, direct, reasoned"),
        ({"samples": 1}, "samples=1"),
        ({"temperatures": "0"}, "temperatures='0'"),
        ({"temperatures": "warm"}, "temperatures='warm'"),
        ({"temperatures": 3}, "temperatures=3"),
        ({"levels": 95}, "levels: '95'"),
    ],
)
def test_wrong_values_raise_before_any_call(parameters, message):
    with pytest.raises(ValueError, match=message):
        fermieval_sampling(**parameters)


def test_too_few_alternatives_raise():
    with pytest.raises(ValueError, match="top_logprobs=1"):
        fermieval_logprob(top_logprobs=1)
