"""Samples that one call requests: what is sent, counted and cached, and what a server that gives fewer does to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai.log import EvalLog
from inspect_ai.model import Model, get_model
from tests.integration.faults.loopback import Server, stub
from tests.integration.faults.wire import Wire
from tests.integration.inspect.test_refusals import model, notes, run, trials

from confidence_tasks._registry import signals
from confidence_tasks.cli import main

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("environment")]

SAMPLES = 4
SIGNALS = "stated,agreement,semantic_entropy,sequence_entropy,p_true_samples"


def task(**given: Any) -> Any:
    return signals(**{"source": "arithmetic", "n": 3, "signals": SIGNALS, "samples": SAMPLES, **given})


def run_on(asked: Model, tmp_path: Path, **given: Any) -> EvalLog:
    return run(task(**{"one_request": True, **given}), asked, tmp_path)


def sampled(server: Server) -> list[dict[str, Any]]:
    """Return the requests for samples, which alone have a seed."""
    return [request for request in server.requests if "seed" in request]


def by_trial(log: EvalLog, *left_out: str) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (trial["question_id"], trial["condition"]): {
            name: value for name, value in trial.items() if name not in left_out
        }
        for trial in trials(log)
    }


COSTS = ("calls", "input_tokens", "output_tokens")


def test_one_call_brings_all_samples_at_the_price_of_one_prompt(server: Server, tmp_path: Path) -> None:
    log = run_on(model(server, ""), tmp_path)
    assert [request["n"] for request in sampled(server)] == [SAMPLES] * 3
    found = by_trial(log)
    for (_, signal), trial in found.items():
        assert trial["problem"] == ""
        assert trial["calls"] == {"stated": 1, "p_true_samples": 3}.get(signal, 2)
        if signal not in ("stated", "p_true_samples"):
            assert trial["samples"] == SAMPLES
    assert len({trial["value"] for trial in found.values()}) > 3
    assert notes(log) == set()

    agreement = found["arithmetic-s0-00000", "agreement"]
    stated = found["arithmetic-s0-00000", "stated"]
    # the samples repeat the prompt of the answer, which is paid for twice
    assert agreement["input_tokens"] == 2 * stated["input_tokens"]
    assert agreement["output_tokens"] > 3 * stated["output_tokens"]


def test_choices_are_read_in_their_order_each_with_its_tokens(server: Server, tmp_path: Path) -> None:
    log = run_on(model(server, ""), tmp_path)
    for sample in log.samples or []:
        if (replies := sample.store["replies"]["samples"]) == []:
            continue
        assert [reply.get("choice", 0) for reply in replies] == list(range(SAMPLES))
        assert ["".join(token["text"] for token in reply["tokens"]) for reply in replies] == [
            reply["text"] for reply in replies
        ]


def test_a_second_run_makes_no_call_and_another_number_of_samples_is_drawn_anew(
    server: Server, tmp_path: Path
) -> None:
    before = by_trial(run_on(model(server, ""), tmp_path, cache=True))
    n_calls = len(server.answers)
    after = by_trial(run_on(model(server, ""), tmp_path, cache=True))
    assert len(server.answers) == n_calls
    assert after == before
    run_on(model(server, ""), tmp_path, cache=True, samples=2)
    assert [request["n"] for request in sampled(server)[3:]] == [2] * 3


@pytest.mark.parametrize(
    ("quirks", "note", "requested"),
    [
        ("choices", "n is lowered by the server, which gives 1 of", [4, *[None] * 11]),
        ("no-n", "n=4 is left out, because the server says “Unsupported parameter: 'n'", [4, *[None] * 12]),
        ("choices=3", "n is lowered by the server, which gives 3 of", [4, None] * 3),
        ("n-2", "n=4 is lowered to 2, because the server says “'n' : number must be", [4, *[2] * 6]),
    ],
)
def test_what_a_server_does_not_give_at_once_is_requested_by_further_calls(
    quirks: str, note: str, requested: list[int | None], server: Server, tmp_path: Path
) -> None:
    log = run_on(model(server, quirks), tmp_path)
    assert sorted(map(str, [request.get("n") for request in sampled(server)])) == sorted(map(str, requested))
    assert len([found for found in notes(log) if found.startswith(note)]) == 1
    for trial in by_trial(log).values():
        assert trial["problem"] == ""
        if trial["condition"] == "agreement":
            paid = len(requested) - (quirks in ("no-n", "n-2"))  # a refusal costs nothing
            assert (trial["samples"], trial["calls"]) == (SAMPLES, 1 + paid / 3)
    page = tmp_path / "page.html"
    done = CliRunner().invoke(main, ["report", log.location, "-o", str(page), "--resamples", "50"])
    assert done.exit_code == 0, done.output
    assert note.partition(" the ")[0] in page.read_text()


def test_a_server_that_ignores_n_has_the_samples_of_single_calls(server: Server, tmp_path: Path) -> None:
    alone = run_on(model(server, "choices"), tmp_path, cache=False)
    single = run_on(model(server, ""), tmp_path, cache=False, one_request=False)
    # the stub counts the tokens of the choices that it leaves out
    assert by_trial(alone, "output_tokens") == by_trial(single, "output_tokens")


def test_empty_choices_are_samples_without_an_answer_and_are_not_requested_again(tmp_path: Path) -> None:
    def half_empty(attempt: int, asked: Any, reply: dict[str, Any]) -> Wire:
        for choice in reply["choices"][1::2]:
            choice["message"]["content"] = ""
            choice["logprobs"] = None
        return Wire(body=reply)

    with stub(half_empty) as server:
        log = run_on(model(server, ""), tmp_path, signals="agreement,semantic_entropy_discrete")
    assert [request["n"] for request in sampled(server)] == [SAMPLES] * 3
    assert {(trial["samples"], trial["calls"]) for trial in trials(log)} == {(2, 2)}


def test_a_call_with_a_choice_that_was_cut_off_has_no_sample_that_is_read(tmp_path: Path) -> None:
    def last_cut(attempt: int, asked: Any, reply: dict[str, Any]) -> Wire:
        if len(reply["choices"]) > 1:
            reply["choices"][-1] |= {
                "finish_reason": "length",
                "message": {"role": "assistant", "content": "A"},
            }
        return Wire(body=reply)

    with stub(last_cut) as server:
        log = run_on(model(server, ""), tmp_path, signals="stated,agreement")
    for trial in trials(log):
        if trial["condition"] == "stated":
            assert trial["status"] == "ok"
        else:
            assert trial["status"] == "truncated"
            assert trial["problem"] == "1 of 4 replies were cut off at the token limit"


def test_a_simulated_subject_has_the_same_trials_at_fewer_calls(tmp_path: Path) -> None:
    single, whole = (
        run(task(one_request=several), get_model("simulated/ideal", memoize=False), tmp_path)
        for several in (False, True)
    )
    assert by_trial(whole, *COSTS) == by_trial(single, *COSTS)
    calls = {trial["condition"]: trial["calls"] for trial in trials(whole)}
    assert calls == {
        "stated": 1,
        "agreement": 2,
        "semantic_entropy": 2,
        "sequence_entropy": 2,
        "p_true_samples": 3,
    }


def test_a_plan_has_one_call_for_all_samples(server: Server, tmp_path: Path) -> None:
    from confidence_tasks.decisions.plan import PlannedTask, plan_run
    from confidence_tasks.decisions.tokens import token_counter

    given = {"n": 3, "signals": SIGNALS, "samples": SAMPLES}
    single, whole = (
        plan_run(PlannedTask.make("signals", {**given, "one_request": several}), token_counter())
        for several in (False, True)
    )
    by_stage = {stage.stage: stage for stage in whole.stages}
    of_samples = {stage.stage: stage for stage in single.stages}["samples"]
    assert by_stage["samples"].n_calls * SAMPLES == of_samples.n_calls
    assert by_stage["samples"].prompt_tokens * SAMPLES == of_samples.prompt_tokens
    assert by_stage["samples"].reply_tokens == of_samples.reply_tokens
    assert any("one_request" in note for note in whole.notes)
    assert not single.notes
    run_on(model(server, ""), tmp_path)
    assert len(server.answers) == whole.n_calls
