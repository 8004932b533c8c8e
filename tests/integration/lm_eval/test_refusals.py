"""Servers that refuse a parameter, or measure no log-probabilities, on lm-eval: what is sent, scored and logged."""

import math
from typing import Any

import pytest
from tests.integration.faults.loopback import Server
from tests.integration.lm_eval.servers import chat, completions, run_on_server, samples_of

from confidence_tasks.harness.lm_eval.measured import NOT_ECHOED
from confidence_tasks.harness.lm_eval.scoring import scoring_problem
from confidence_tasks.harness.refusals import REFUSED

pytestmark = pytest.mark.slow

FERMI = "fermieval_logprob_first_token"


def run(model: Any, task: str, gen_kwargs: Any = None, **metadata: Any) -> list[dict[str, Any]]:
    return samples_of(run_on_server(model, task, gen_kwargs=gen_kwargs, **metadata))


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
        ("no-system", ["the system message stands before the first user turn"]),
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


def test_a_parameter_that_a_refusal_does_not_name_is_found(server: Server) -> None:
    samples = run(chat(server, "fixed-sampling"), "boolq_confidence_arithmetic_boolean")
    assert all(sample["trial"]["status"] == "ok" for sample in samples)
    assert [note.partition(",")[0] for note in notes(samples)] == ["temperature=0.0 is left out"]
    assert len(server.answers) == 4  # that by which it was found, and one for each question


def test_the_user_s_temperature_is_sent_in_every_stage(server: Server) -> None:
    asked = sent(server)
    model = chat(server, "temperature-above-0")
    samples = run(model, "signals_stated_after", n=2, gen_kwargs="temperature=0.01")
    assert [request["temperature"] for request in asked] == [0.01] * 4
    assert not notes(samples)


@pytest.mark.usefixtures("mirror")
def test_a_temperature_that_is_a_condition_stops_before_a_call_is_paid_for(server: Server) -> None:
    with pytest.raises(RuntimeError, match=r"refuses temperature=.*“.*”.*Choose a temperature"):
        run(chat(server, "temperature-1"), "fermieval_sampling", levels="0.9", samples=2, temperatures="0.7")
    assert server.answers == []


# Log-probabilities that a chat endpoint lists beside its reply -----------------------------------------------------


@pytest.mark.parametrize(
    ("quirks", "task", "metadata", "problem"),
    [
        (
            "no-logprobs",
            "boolq_confidence_arithmetic_boolean",
            {"top_logprobs": 20},
            "refuses logprobs=True: “",
        ),
        ("no-logprobs", "nlp_metad_T1_arithmetic", {}, "refuses logprobs=True: “"),
        ("lp-none", "nlp_metad_T1_arithmetic", {}, "with the first reply of .*, there are none"),
        ("top-empty", FERMI, {"levels": "0.9"}, "with the first reply of .* no alternatives to the tokens"),
    ],
)
@pytest.mark.usefixtures("mirror")
def test_a_study_that_needs_them_stops_after_the_first_reply(
    quirks: str, task: str, metadata: dict[str, Any], problem: str, server: Server
) -> None:
    with pytest.raises(RuntimeError, match=f"{problem}.*use a server that returns them"):
        run(chat(server, quirks, num_concurrent=4), task, **metadata)
    assert len(server.requests) == 1


@pytest.mark.usefixtures("mirror")
def test_candidates_are_read_from_the_alternatives_to_a_reply(server: Server) -> None:
    for sample in run(chat(server, "plain"), FERMI, levels="0.9"):
        assert sample["trial"]["status"] == "ok"


def test_a_study_that_needs_them_stops_after_empty_replies(server: Server) -> None:
    with pytest.raises(RuntimeError, match=r"returned no text 3 times .*max_gen_toks=4096"):
        run(chat(server, "empty-stop"), "nlp_metad_T1_arithmetic", n=5)
    assert len(server.requests) == 3


def test_fewer_alternatives_than_were_asked_for_are_noted(server: Server) -> None:
    samples = run(chat(server, "top-capped"), "signals_mean_entropy")
    assert notes(samples) == [
        "top_logprobs=10 is lowered by the server, which lists 5 alternatives to a token and does not say so"
    ]
    assert all(math.isfinite(sample["trial"]["value"]) for sample in samples)


def test_what_is_no_log_probability_is_missing(server: Server) -> None:
    for quirks, problem in {
        "lp-zero": "of exactly 0, so none was measured",
        "lp-legacy": "the provider returned no log-probabilities",
    }.items():
        for sample in run(chat(server, quirks), "signals_mean_logprob"):
            assert problem in sample["trial"]["problem"]


def test_cached_replies_keep_their_log_probabilities(server: Server, tmp_path: Any) -> None:
    def measure() -> list[float]:
        found = run_on_server(
            chat(server, "plain"), "signals_mean_logprob", use_cache=str(tmp_path / "cache")
        )
        return [sample["trial"]["value"] for sample in samples_of(found)]

    first = measure()
    n_requests = len(server.requests)
    assert measure() == first
    assert len(server.requests) == n_requests == 3


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
