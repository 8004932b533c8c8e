"""Servers that refuse a parameter, or measure no log-probabilities, on lm-eval: what is sent, scored and logged."""

import math
from collections.abc import Iterator
from typing import Any

import pytest
from lm_eval import simple_evaluate
from lm_eval.api.model import TemplateLM
from lm_eval.models.openai_completions import LocalChatCompletion, LocalCompletionsAPI
from tests.integration.faults.loopback import Server, stub

from confidence_tasks.harness.lm_eval.scoring import NOT_ECHOED, scoring_problem
from confidence_tasks.harness.refusals import REFUSED


@pytest.fixture
def server() -> Iterator[Server]:
    with stub() as running:
        yield running


class Characters:
    """A tokenizer of single characters."""

    def __len__(self) -> int:
        return 128

    def decode(self, ids: list[int], **_: Any) -> str:
        return "".join(map(chr, ids))

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return list(map(chr, ids))


def chat(server: Server, quirks: str, **options: Any) -> LocalChatCompletion:
    return LocalChatCompletion(
        base_url=f"{server.address(quirks)}/chat/completions", model="m", max_retries=1, **options
    )


def completions(server: Server, quirks: str) -> TemplateLM:
    model = LocalCompletionsAPI(
        base_url=f"{server.address(quirks)}/completions",
        model="m",
        max_retries=1,
        tokenizer_backend=None,
    )
    model.tokenized_requests = True
    server.tokenizer = model.tokenizer = Characters()
    model.tok_encode = _encode  # type: ignore[method-assign]
    return model


def _encode(text: Any, **_: Any) -> Any:
    return list(map(ord, text)) if isinstance(text, str) else list(map(_encode, text))


def run(model: Any, task: str, **metadata: Any) -> list[dict[str, Any]]:
    found = simple_evaluate(
        model=model,
        tasks=[task],
        metadata={"n": 3, **metadata},
        apply_chat_template=isinstance(model, LocalChatCompletion),
        log_samples=True,
        bootstrap_iters=0,
    )
    return [sample for samples in found["samples"].values() for sample in samples]


def sent(server: Server) -> list[dict[str, Any]]:
    """Record what is asked from now on."""
    seen: list[dict[str, Any]] = []
    begin = server.begin

    def record(path: str, asked: Any) -> Any:
        seen.append(dict(asked))
        return begin(path, asked)

    server.begin = record  # type: ignore[method-assign]
    return seen


def notes(samples: list[dict[str, Any]]) -> list[str]:
    found = {note for sample in samples for note in sample["arguments"][0][1].get(REFUSED, ())}
    return sorted(found)


@pytest.mark.parametrize("concurrent", [1, 4])
@pytest.mark.parametrize(
    ("quirks", "expected"),
    [
        ("temperature-1", ["temperature=0.0 is left out"]),
        ("no-seed", ["seed is left out"]),
        ("max-512", ["max_tokens=1024 is lowered to 512"]),
        ("stop-not-empty", []),
        ("plain", []),
        (
            "reasoning-model",
            ["max_tokens=1024 is sent as max_completion_tokens", "temperature=0.0 is left out"],
        ),
    ],
)
def test_each_question_is_asked_without_what_the_server_refuses(
    quirks: str, expected: list[str], concurrent: int, server: Server
) -> None:
    model = chat(server, quirks, num_concurrent=concurrent)
    asked = sent(server)
    samples = run(model, "boolq_confidence_arithmetic_boolean")
    assert all(sample["trial"]["status"] == "ok" for sample in samples)
    assert [note.partition(",")[0] for note in notes(samples)] == expected
    assert len(server.answers) == 3
    assert len(asked) == 3 + len(expected)
    assert not any(request.get("stop") == [] for request in asked)


def test_the_user_s_temperature_is_sent_in_every_stage(server: Server) -> None:
    asked = sent(server)
    found = simple_evaluate(
        model=chat(server, "temperature-above-0"),
        tasks=["signals_stated_after"],
        metadata={"n": 2},
        gen_kwargs="temperature=0.01",
        apply_chat_template=True,
        log_samples=True,
        bootstrap_iters=0,
    )
    assert [request["temperature"] for request in asked] == [0.01] * 4
    assert not notes([sample for samples in found["samples"].values() for sample in samples])


@pytest.mark.usefixtures("mirror")
def test_a_temperature_that_is_a_condition_stops_before_a_call_is_paid_for(server: Server) -> None:
    with pytest.raises(RuntimeError, match=r"refuses temperature=.*“.*”.*Choose a temperature"):
        run(chat(server, "temperature-1"), "fermieval_sampling", levels="0.9", samples=2, temperatures="0.7")
    assert server.answers == []


# Not measured -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("quirks", ["generated-only", "echo-zero", "echo-none"])
def test_what_a_server_does_not_echo_is_missing_and_a_study_that_needs_it_stops(
    quirks: str, server: Server
) -> None:
    for sample in run(completions(server, quirks), "signals_mean_logprob"):
        assert math.isnan(sample["trial"]["value"])
        assert NOT_ECHOED in sample["trial"]["problem"]
        assert sample["trial"]["status"] == "missing_confidence"

    asked = sent(server)
    for task, metadata in (
        ("nlp_metad_T1_arithmetic", {}),
        ("boolq_confidence_arithmetic_boolean", {"top_logprobs": 20}),
    ):
        with pytest.raises(RuntimeError, match="returned no log-probabilities of the given tokens"):
            run(completions(server, quirks), task, **metadata)
    # Given tokens are scored before a reply is asked for.
    assert asked
    assert all(request.get("echo") for request in asked)


def test_what_a_server_echoes_is_measured(server: Server) -> None:
    trials = [sample["trial"] for sample in run(completions(server, "plain"), "signals_mean_logprob")]
    assert all(trial["value"] < 0 for trial in trials)


@pytest.mark.parametrize(
    ("pairs", "values", "problem"),
    [
        ([([1], [2])], [-0.5], ""),
        ([([1], [2])], [0.0], ""),
        ([([1], [2])], [0], NOT_ECHOED),
        ([([1], [2]), ([1, 2], [3])], [0.0, 0.0], NOT_ECHOED),
        ([([1], [2]), ([1, 2], [3])], [0.0, -0.1], ""),
        ([([1], [2]), ([1], [3])], [-0.1, -0.1], "of 2 continuations of one text add up to 1.81"),
        ([([1], [2]), ([1], [2, 3])], [-0.1, -0.2], ""),
        ([([1], [2]), ([2], [3])], [-0.1, -0.1], ""),
        ([([1], [2])], [math.nan], "nan, which is impossible"),
        ([([1], [2])], [5.0], "5, which is impossible"),
    ],
)
def test_log_probabilities_of_pairs_are_possible_and_measured(
    pairs: Any, values: list[float], problem: str
) -> None:
    found = scoring_problem(pairs, values)
    assert problem in found
    assert bool(found) == bool(problem)
