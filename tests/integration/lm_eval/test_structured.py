"""Replies that are JSON objects by a response schema, on lm-eval."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.integration.faults.loopback import Server, stub
from tests.integration.faults.speakers import Reply, completion
from tests.integration.lm_eval.harnesses import Scripted, lm_eval_run
from tests.integration.lm_eval.servers import chat, completions, run_on_server, samples_of

from confidence_tasks.harness.lm_eval.simulated import SimulatedLM


@pytest.fixture
def server() -> Iterator[Server]:
    with stub() as running:
        yield running


def conforming(asked: Mapping[str, Any]) -> Reply:
    """Reply with an object of the schema that was sent."""
    properties = asked["response_format"]["json_schema"]["schema"]["properties"]
    values = {"string": "x", "integer": 80, "number": 0.8}
    return completion(
        json.dumps({name: each.get("enum", [values[each["type"]]])[0] for name, each in properties.items()})
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "task", ["scale_granularity_0_100_arithmetic", "boolq_confidence_arithmetic_boolean", "lifeeval"]
)
def test_a_chat_server_is_sent_the_schema_of_the_study(task: str, server: Server) -> None:
    server.speak = conforming
    samples = samples_of(run_on_server(chat(server, ""), task, structured=True))
    assert {sample["trial"]["status"] for sample in samples} == {"ok"}
    assert all(sample["doc"]["structured"] for sample in samples)
    assert {each["response_format"]["type"] for each in server.requests} == {"json_schema"}


@pytest.mark.slow
@pytest.mark.usefixtures("mirror")
@pytest.mark.parametrize(
    ("task", "keys"),
    [
        ("fermieval_p0_9", {("L", "U")}),
        ("fermieval_sampling_interval", {("L", "U")}),
        ("fermieval_sampling_exponent", {("exponent",), ("reasoning", "exponent")}),
    ],
)
def test_a_chat_server_is_sent_the_schema_of_intervals_and_of_exponents(
    task: str, keys: set[tuple[str, ...]], server: Server
) -> None:
    server.speak = conforming
    settings = {"n": 2} if task == "fermieval_p0_9" else {"n": 2, "samples": 2, "levels": "0.9"}
    samples = samples_of(run_on_server(chat(server, ""), task, structured=True, **settings))
    assert {(each["trial"]["status"], each["trial"]["lower"]) for each in samples} == {("ok", 80.0)}
    schemas = [each["response_format"]["json_schema"]["schema"] for each in server.requests]
    assert {tuple(schema["properties"]) for schema in schemas} == keys


def test_a_schema_of_the_user_is_sent_as_it_is(server: Server) -> None:
    form = {
        "type": "json_schema",
        "json_schema": {"name": "mine", "schema": {"type": "object", "properties": {}}},
    }
    server.speak = lambda asked: completion('{"Reasoning": "", "Answer": "True", "Confidence": 0.8}')
    task = "boolq_confidence_arithmetic_boolean"
    samples = samples_of(run_on_server(chat(server, ""), task, gen_kwargs={"response_format": form}))
    assert [each["response_format"] for each in server.requests] == [form] * 3
    assert {sample["trial"]["confidence"] for sample in samples} == {0.8}


def test_a_simulated_subject_replies_with_the_object() -> None:
    found = lm_eval_run(
        SimulatedLM("ideal", sloppiness=0.9),
        ["scale_granularity_0_100_arithmetic"],
        {"n": 8, "metrics": "headline", "structured": True},
        log_samples=True,
        bootstrap_iters=0,
    )
    assert {sample["trial"]["status"] for sample in samples_of(found)} == {"ok"}


def test_models_that_are_sent_no_schema_are_refused_before_the_first_call(server: Server) -> None:
    task = "boolq_confidence_arithmetic_boolean"
    scripted = Scripted(lambda prompt: "")
    for model in (completions(server, ""), scripted):
        with pytest.raises(RuntimeError, match="is sent no response schema: use local-chat-completions"):
            run_on_server(model, task, structured=True)
    assert server.requests == []
    assert scripted.asked == []


@pytest.mark.parametrize(
    ("task", "metadata"),
    [
        ("signals_stated_after", {}),
        ("boolq_confidence_arithmetic_boolean", {"top_logprobs": 20}),
    ],
)
def test_several_calls_and_token_probabilities_are_refused_with_the_command_that_works(
    task: str, metadata: dict[str, Any]
) -> None:
    with pytest.raises(Exception, match=r"run `inspect eval confidence_tasks/.* -T structured=true`"):
        run_on_server(Scripted(lambda prompt: ""), task, structured=True, **metadata)


@pytest.mark.parametrize("task", ["nlp_metad_T1_arithmetic", "fermieval_logprob_first_token"])
def test_a_parameter_that_only_other_studies_have_is_refused(task: str) -> None:
    calls: list[str] = []
    study = "nlp_metad" if task.startswith("nlp") else "fermieval_logprob"
    said = f"{study} has no parameter 'structured' on lm-eval; it is one of .*scales.*: leave it out"
    with pytest.raises(Exception, match=said):
        run_on_server(Scripted(lambda prompt: calls.append(prompt) or ""), task, structured=True)
    assert not calls
