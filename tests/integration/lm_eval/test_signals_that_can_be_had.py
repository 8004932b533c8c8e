"""Servers with faults: an answer that was paid for keeps every signal that can be had, on chat endpoints of lm-eval."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from tests.integration.faults.loopback import ENVIRONMENT, Server, stub
from tests.integration.faults.wire import Wire
from tests.integration.inspect.test_refusals import model as inspect_model
from tests.integration.inspect.test_refusals import run as inspect_run
from tests.integration.inspect.test_refusals import trials as inspect_trials
from tests.integration.lm_eval.harnesses import lm_eval_run
from tests.integration.lm_eval.servers import chat, samples_of
from tests.signal_trials import without_value

from confidence_tasks._registry import signals
from confidence_tasks.studies.signals.table import REASONING_SIGNALS, SIGNALS

pytestmark = pytest.mark.slow


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


ON_LM_EVAL = {name for name, signal in SIGNALS.items() if signal.on_lm_eval}
OF_LOGPROBS = {name for name, signal in SIGNALS.items() if signal.logprobs}


@pytest.mark.parametrize(
    ("quirks", "missing"),
    [
        ("reasoning+lp-thought", set()),
        ("top-5+temperature-1+no-seed+no-logprobs", OF_LOGPROBS | set(REASONING_SIGNALS)),
    ],
)
def test_all_signals_that_a_chat_endpoint_can_give(quirks: str, missing: set[str], server: Server) -> None:
    found = had(server, quirks, *ON_LM_EVAL, n=2)
    assert without_value(found) == missing & ON_LM_EVAL
    assert {len(of_signal) for of_signal in found.values()} == {2}
    assert all(trial["input_tokens"] > 0 for of_signal in found.values() for trial in of_signal)


def test_both_harnesses_have_the_same_trials_of_a_chat_endpoint(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK_API_KEY", ENVIRONMENT["LOOPBACK_API_KEY"])
    quirks = "think+top-5+temperature-1"
    given = {"source": "arithmetic", "n": 2, "samples": 3, "signals": ",".join(ON_LM_EVAL)}
    log = inspect_run(signals(**given), inspect_model(server, quirks), tmp_path)
    expected = {(trial["condition"], trial["question_id"]): trial for trial in inspect_trials(log)}
    found = had(server, quirks, *ON_LM_EVAL, n=2)
    assert not without_value(found)
    trials = [trial for each in found.values() for trial in each]
    assert len(trials) == len(expected) == 2 * len(ON_LM_EVAL)
    for trial in trials:
        other = expected[trial["condition"], trial["question_id"]]
        assert {name: repr(trial[name]) for name in other} == {name: repr(other[name]) for name in other}


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
    assert all("the reply has no reasoning" in trial["problem"] for trial in found["trace_logprob"])
