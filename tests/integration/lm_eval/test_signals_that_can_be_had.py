"""Servers with faults: an answer that was paid for keeps every signal that can be had, on chat endpoints of lm-eval."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.integration.faults.loopback import Server, stub
from tests.integration.faults.wire import Wire
from tests.integration.lm_eval.harnesses import lm_eval_run
from tests.integration.lm_eval.servers import chat, samples_of

pytestmark = pytest.mark.slow

SPOKEN = ("stated", "stated_after", "words", "top_k", "distribution")
OF_SAMPLES = ("agreement", "semantic_sets", "semantic_entropy_discrete", "degree_matrix", "kernel_entropy")


def had(server: Server, quirks: str, *names: str, n: int = 4) -> dict[str, list[dict[str, Any]]]:
    """Return the trials of each signal."""
    found = lm_eval_run(
        chat(server, quirks),
        [f"signals_{name}" for name in names],
        {"n": n, "samples": 3, "source": "arithmetic"},
        apply_chat_template=True,
        log_samples=True,
        bootstrap_iters=0,
    )
    by_signal: dict[str, list[dict[str, Any]]] = {}
    for sample in samples_of(found):
        by_signal.setdefault(sample["trial"]["condition"], []).append(sample["trial"])
    return by_signal


@pytest.mark.parametrize("quirks", ["think", "reasoning", "top-5+temperature-1+no-seed+no-logprobs"])
def test_signals_that_need_no_log_probabilities(quirks: str, server: Server) -> None:
    found = had(server, quirks, *SPOKEN, *OF_SAMPLES)
    trials = [trial for of_signal in found.values() for trial in of_signal]
    assert {trial["problem"] for trial in trials} == {""}
    assert all(trial["input_tokens"] > 0 for trial in trials)


@pytest.mark.parametrize(
    ("quirks", "status"),
    [("half-empty", "truncated"), ("half-filter", "filtered"), ("half-cut", "truncated")],
)
def test_the_signals_of_the_answers_that_came(quirks: str, status: str, server: Server) -> None:
    found = had(server, quirks, "stated", "agreement", n=12)
    assert {trial["status"] for trial in found["stated"]} == {"ok", status}
    for stated, agreement in zip(found["stated"], found["agreement"], strict=True):
        assert math.isnan(stated["value"]) == (not stated["answer"])
        if stated["answer"] and math.isnan(agreement["value"]):
            assert "of 3 replies were" in agreement["problem"]


def test_reasoning_that_the_server_counts_has_a_length() -> None:
    def counting(attempt: int, asked: Any, reply: dict[str, Any]) -> Wire:
        reply["usage"]["completion_tokens_details"] = {"reasoning_tokens": 40}
        return Wire(body=reply)

    with stub(counting) as server:
        found = had(server, "", "stated", "trace_length", "trace_logprob")
    assert {trial["value"] for trial in found["trace_length"]} == {-40}
    assert all("no tokenizer" in trial["problem"] for trial in found["trace_logprob"])
