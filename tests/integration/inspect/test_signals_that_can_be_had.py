"""Servers with faults: every answer that was paid for keeps every signal that can be had, on Inspect."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from tests.integration.faults.loopback import Server, stub
from tests.integration.faults.wire import Wire
from tests.integration.inspect.test_refusals import model, run, trials
from tests.signal_trials import without_value

from confidence_tasks._registry import signals
from confidence_tasks.studies.signals.replies import DEFAULT
from confidence_tasks.studies.signals.table import REASONING_SIGNALS, SIGNALS

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("environment")]

N = 4


def had(server: Server, quirks: str, tmp_path: Path, *names: str, **given: Any) -> dict[str, list[Any]]:
    """Run the signals, by default those of the answer; return the trials of each."""
    chosen = {"signals": ",".join(names)} if names else {}
    task = signals(**{"source": "arithmetic", "n": N, "samples": 3, **chosen, **given})
    roles = {"panel": model(server, quirks)} if "panel" in names else {}
    found: dict[str, list[Any]] = {}
    for trial in trials(run(task, model(server, quirks), tmp_path, model_roles=roles)):
        found.setdefault(trial["condition"], []).append(trial)
    return found


@pytest.mark.sampled("quirks", one_in=2)
@pytest.mark.parametrize(
    ("quirks", "missing"),
    [
        ("plain", set(REASONING_SIGNALS)),
        ("think", set()),
        ("reasoning+lp-thought", set()),
        ("top-5+temperature-1+no-seed", set(REASONING_SIGNALS)),
        ("think+top-5+temperature-1+no-seed", set()),
    ],
)
def test_all_signals_of_a_server_with_log_probabilities(
    quirks: str, missing: set[str], server: Server, tmp_path: Path
) -> None:
    found = had(server, quirks, tmp_path, *SIGNALS)
    assert without_value(found) == missing
    assert {len(of_signal) for of_signal in found.values()} == {N}


@pytest.mark.parametrize(
    ("quirks", "missing"),
    [
        ("no-logprobs", {*DEFAULT} - {"stated"}),
        ("half-empty", set(REASONING_SIGNALS)),
        ("half-filter", set(REASONING_SIGNALS)),
        ("half-cut", set(REASONING_SIGNALS)),
    ],
)
def test_the_default_signals_of_the_answers_that_came(
    quirks: str, missing: set[str], server: Server, tmp_path: Path
) -> None:
    found = had(server, quirks, tmp_path, n=12)
    answered = [trial for trial in found["stated"] if trial["answer"]]
    assert answered
    assert without_value(found) <= missing
    assert (len(answered) < 12) == quirks.startswith("half")


@pytest.mark.parametrize("signal", ["p_true", "agreement", "semantic_entropy"])
def test_replies_that_are_all_empty_in_a_later_stage_cost_no_answer(signal: str, tmp_path: Path) -> None:
    def empty_later(attempt: int, asked: Any, reply: dict[str, Any]) -> Wire:
        if "Proposed answer" in str(asked["messages"]) or "seed" in asked:
            reply["choices"][0] |= {"message": {"role": "assistant", "content": ""}, "logprobs": None}
        return Wire(body=reply)

    with stub(empty_later) as server:
        found = had(server, "", tmp_path, "stated", "mean_logprob", signal)
    assert without_value(found) == {signal}
    assert all(trial["problem"] for trial in found[signal])


def test_one_sample_with_an_answer_has_agreement_and_no_entropy(tmp_path: Path) -> None:
    def one_sample(attempt: int, asked: Any, reply: dict[str, Any]) -> Wire:
        if "seed" in asked and (samples.setdefault(str(asked["messages"]), asked["seed"]) != asked["seed"]):
            reply["choices"][0] |= {"message": {"role": "assistant", "content": ""}, "logprobs": None}
        return Wire(body=reply)

    samples: dict[str, int] = {}
    of_samples = ("agreement", "cocoa", "consistency_and_confidence")
    with stub(one_sample) as server:
        found = had(server, "", tmp_path, "stated", *of_samples, "semantic_sets", "sequence_entropy")
    assert without_value(found) == {"semantic_sets", "sequence_entropy"}
    assert {trial["problem"] for trial in found["semantic_sets"]} == {
        "one sample with an answer has no entropy: two or more are needed"
    }


def test_a_judge_that_answers_nonsense_costs_only_the_signals_that_it_judges(
    server: Server, tmp_path: Path
) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text('{"id": "e", "question": "What is 3 + 4 in words?", "answer": "seven"}\n')
    task = signals(
        source=str(file), signals="stated,mean_logprob,agreement,semantic_sets", samples=8, entailment="judge"
    )
    log = run(
        task,
        model(server, "plain"),
        tmp_path,
        temperature=1.0,
        model_roles={"judge": model(server, "text=Hard to say.")},
    )
    found = {trial["condition"]: trial for trial in trials(log)}
    assert not math.isnan(found["stated"]["value"])
    assert not math.isnan(found["mean_logprob"]["value"])
    for name in ("agreement", "semantic_sets"):
        assert found[name]["problem"] == "the judge's verdict is neither yes nor no"
