"""Servers that refuse a parameter, or measure no log-probabilities, on Inspect: what is sent, scored and written."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import Model, get_model
from inspect_ai.scorer import match
from tests.integration.faults.loopback import Server

from confidence_tasks import with_confidence
from confidence_tasks._registry import boolq, fermieval_logprob, nlp_metad, riskeval, signals
from confidence_tasks.cli import main
from confidence_tasks.harness.logged_trials import scored_trial
from confidence_tasks.harness.refusals import REFUSED, refusals_in

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("environment")]


def model(server: Server, quirks: str) -> Model:
    return get_model("openai-api/loopback/m", base_url=server.address(quirks), memoize=False, max_retries=0)


def run(task: Any, asked: Model, tmp_path: Path, **options: Any) -> EvalLog:
    (log,) = eval(
        task,
        model=asked,
        log_dir=str(tmp_path / "logs"),
        display="none",
        log_realtime=False,
        max_retries=0,
        **options,
    )
    return log


def trials(log: EvalLog) -> list[dict[str, Any]]:
    assert log.status == "success", log.error
    scores = [score for sample in log.samples or [] for score in (sample.scores or {}).values()]
    return [scored_trial(score.value, score.metadata) for score in scores]


def notes(log: EvalLog) -> set[str]:
    return {
        note for sample in log.samples or [] for note in refusals_in((sample.metadata or {}).get(REFUSED))
    }


ALL_SIGNALS = "stated,mean_logprob,mean_entropy,p_true,agreement,semantic_entropy"


@pytest.mark.parametrize(
    ("quirks", "note"),
    [
        ("temperature-above-0", "temperature=0.0 is left out"),
        ("temperature-1", "temperature=0.0 is left out"),
        ("no-seed", "seed is left out"),
        ("fixed-sampling", "temperature=0.0 is left out"),
        ("no-reproduction", "seed is left out"),
        ("top-5", "top_logprobs=10 is lowered to 5"),
        ("top-capped", "top_logprobs=10 is lowered by the server, which lists 5 alternatives"),
    ],
)
def test_signals_are_measured_without_what_a_server_refuses(
    quirks: str, note: str, server: Server, tmp_path: Path
) -> None:
    task = signals(source="arithmetic", n=3, signals=ALL_SIGNALS, samples=2)
    log = run(task, model(server, quirks), tmp_path)
    assert len(trials(log)) == 18
    assert all(trial["problem"] == "" for trial in trials(log))
    assert any(found.startswith(note) for found in notes(log))


def test_a_server_without_alternatives_keeps_the_signals_that_need_none(
    server: Server, tmp_path: Path
) -> None:
    log = run(signals(source="arithmetic", n=3), model(server, "no-top_logprobs"), tmp_path)
    by_signal = {trial["condition"]: trial for trial in trials(log)}
    for name in ("mean_logprob", "sum_logprob", "min_logprob", "stated"):
        assert math.isfinite(by_signal[name]["value"])
    assert by_signal["mean_entropy"]["problem"] == "there are no alternatives to the answer's tokens"


def test_a_server_without_log_probabilities_is_quoted(server: Server, tmp_path: Path) -> None:
    log = run(signals(source="arithmetic", n=2), model(server, "no-logprobs"), tmp_path)
    for trial in trials(log):
        if trial["condition"] == "trace_length":
            assert "the reply has no reasoning" in trial["problem"]
        elif trial["condition"] != "stated":
            assert math.isnan(trial["value"])
            assert "because the server says “" in trial["problem"]


def test_the_user_s_temperature_is_sent_in_every_stage_and_role(server: Server, tmp_path: Path) -> None:
    sent: list[Any] = []
    begin = server.begin
    server.begin = lambda path, asked: sent.append(asked.get("temperature")) or begin(path, asked)  # type: ignore[method-assign, func-returns-value]
    asked = model(server, "temperature-above-0")
    log = run(signals(source="arithmetic", n=2, signals="stated,p_true"), asked, tmp_path, temperature=0.01)
    assert trials(log)
    assert notes(log) == set()
    assert set(sent) == {0.01}

    roles = {role: model(server, "temperature-above-0") for role in ("parser", "judge")}
    task = riskeval(source="arithmetic", n=2, penalties="1", parser="model", judge="model")
    run(task, asked, tmp_path, temperature=0.01, model_roles=roles)
    assert set(sent) == {0.01}


def test_roles_do_without_a_temperature_that_their_server_refuses(server: Server, tmp_path: Path) -> None:
    roles = {role: model(server, "temperature-1+no-max_tokens") for role in ("parser", "judge")}
    task = riskeval(source="arithmetic", n=2, penalties="1", parser="model", judge="model")
    log = run(task, model(server, "plain"), tmp_path, model_roles=roles)
    assert trials(log)
    assert any(note.startswith("temperature=0.0 is left out") for note in notes(log))


def test_a_system_message_that_a_server_refuses_stands_before_the_first_user_turn(
    server: Server, tmp_path: Path
) -> None:
    roles = {"judge": model(server, "no-system")}
    task = riskeval(source="arithmetic", n=2, penalties="1", judge="model")
    log = run(task, model(server, "no-system"), tmp_path, model_roles=roles)
    assert len(trials(log)) == 2
    assert any(note.startswith("the system message stands before") for note in notes(log))
    answered = [asked["messages"] for asked in server.requests if asked["messages"][0]["role"] == "user"]
    assert any(turns[0]["content"].startswith("You are a careful expert test-taker.") for turns in answered)
    assert any(turns[0]["content"].startswith("You are a strict grader.") for turns in answered)


REFUSING_RUNS: dict[str, tuple[Any, str, str]] = {
    "nlp_metad": (
        lambda: nlp_metad(source="arithmetic", n=6, temperatures="0.7"),
        "temperature-1",
        "refuses temperature=0.7: “",
    ),
    "boolq": (
        lambda: boolq(source="arithmetic_boolean", n=6, top_logprobs=20),
        "no-logprobs",
        "refuses logprobs=True: “",
    ),
    "p_true": (
        lambda: signals(source="arithmetic", n=6, signals="p_true"),
        "no-logprobs",
        "refuses logprobs=True: “",
    ),
}


@pytest.mark.parametrize("name", REFUSING_RUNS)
def test_what_a_study_needs_stops_the_run_before_a_call_is_paid_for(
    name: str, server: Server, tmp_path: Path
) -> None:
    task, quirks, message = REFUSING_RUNS[name]
    log = run(task(), model(server, quirks), tmp_path, fail_on_error=False)
    assert all(sample.error and message in sample.error.message for sample in log.samples or [])
    assert server.answers == []
    assert sum(server.attempts.values()) == 1


def test_the_user_s_own_setting_is_not_left_out(server: Server, tmp_path: Path) -> None:
    log = run(
        boolq(source="arithmetic_boolean", n=2), model(server, "temperature-1"), tmp_path, temperature=0.5
    )
    assert log.error is not None
    assert "Leave out --temperature=0.5" in log.error.message


# Reasoning --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("quirk", ["think", "think-closed", "channel", "reasoning"])
def test_a_thought_is_no_part_of_the_conversation_that_goes_on(
    server: Server, quirk: str, tmp_path: Path
) -> None:
    asked = {}
    for quirks in ("plain", quirk):
        server.requests.clear()
        task = signals(source="arithmetic", n=3, signals="stated_after")
        assert run(task, model(server, quirks), tmp_path).status == "success"
        asked[quirks] = sorted(json.dumps(request["messages"]) for request in server.requests)
    assert asked[quirk] == asked["plain"]


@pytest.mark.sampled("quirks", "make", one_in=2)
@pytest.mark.parametrize("quirks", ["think+lp-thought", "reasoning+lp-thought"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: signals(source="arithmetic", n=4, signals="p_true,p_true_samples,mean_logprob", samples=2),
        lambda: nlp_metad(source="arithmetic", n=4, temperatures="1"),
        lambda: boolq(source="arithmetic_boolean", n=4, top_logprobs=20),
    ],
    ids=["signals", "nlp_metad", "boolq"],
)
def test_log_probabilities_of_reasoning_are_not_those_of_the_reply(
    make: Any, quirks: str, server: Server, tmp_path: Path
) -> None:
    column = {"signals": "value", "nlp_metad": "mean_logprob"}.get(make().name, "token_confidence")
    plain = trials(run(make(), model(server, "plain"), tmp_path))
    thoughtful = trials(run(make(), model(server, quirks), tmp_path))
    # The server's log-probabilities depend on the position, so the values differ.
    measured = [math.isfinite(trial[column]) for trial in plain]
    assert [math.isfinite(trial[column]) for trial in thoughtful] == measured
    assert all(measured)


@pytest.mark.parametrize(
    ("task", "limit"),
    [
        (lambda: nlp_metad(source="arithmetic", n=6, temperatures="1"), 64),
        (lambda: fermieval_logprob(n=6), 8),
    ],
)
@pytest.mark.usefixtures("mirror")
def test_a_study_s_limit_that_is_too_low_for_reasoning_stops_after_one_reply(
    task: Any, limit: int, server: Server, tmp_path: Path
) -> None:
    log = run(task(), model(server, "think-cut"), tmp_path, fail_on_error=False)
    assert len(server.answers) == 1
    assert log.samples is not None
    assert log.samples[0].error is not None
    assert f"ended within its reasoning after {limit} tokens" in log.samples[0].error.message
    assert "--max-tokens" in log.samples[0].error.message


# Not measured -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("quirks", ["top-empty", "top-null", "top-absent"])
@pytest.mark.usefixtures("mirror")
def test_without_alternatives_there_is_no_distribution(quirks: str, server: Server, tmp_path: Path) -> None:
    found = trials(
        run(boolq(source="arithmetic_boolean", n=4, top_logprobs=20), model(server, quirks), tmp_path)
    )
    assert all(math.isnan(trial["token_confidence"]) for trial in found)
    assert any(math.isfinite(trial["confidence"]) for trial in found)

    paid = len(server.answers)
    log = run(fermieval_logprob(n=4), model(server, quirks), tmp_path)
    assert log.error is not None
    assert "returned no alternatives" in log.error.message
    assert len(server.answers) == paid + 1


@pytest.mark.parametrize("quirks", ["lp-zero", "lp-other-tokens", "lp-ids"])
def test_zeros_and_other_tokens_are_no_signal(quirks: str, server: Server, tmp_path: Path) -> None:
    log = run(signals(source="arithmetic", n=3), model(server, quirks), tmp_path)
    for trial in trials(log):
        assert math.isnan(trial["value"]) or trial["condition"] == "stated"
        assert trial["problem"] or trial["condition"] == "stated"


def test_the_report_quotes_the_server(server: Server, tmp_path: Path) -> None:
    run(signals(source="arithmetic", n=3), model(server, "top-5+temperature-1+no-max_tokens"), tmp_path)
    output = tmp_path / "report.html"
    ran = CliRunner().invoke(main, ["report", str(tmp_path / "logs"), "--output", str(output)])
    assert ran.exit_code == 0, ran.output
    page = output.read_text(encoding="utf-8")
    assert "Refused parameters" in page
    assert "top_logprobs=10 is lowered to 5, because the server says" in page
    assert "temperature=0.0 is left out, because the server says" in page


@pytest.mark.usefixtures("mirror")
def test_fewer_alternatives_than_asked_for_are_noted(server: Server, tmp_path: Path) -> None:
    """The distribution over integers has fewer of them, and the server does not say so."""
    note = (
        "top_logprobs=20 is lowered by the server, which lists 5 alternatives to a token and does not say so"
    )
    assert notes(run(fermieval_logprob(n=3), model(server, "top-capped"), tmp_path)) == {note}
    assert notes(run(fermieval_logprob(n=3), model(server, "plain"), tmp_path)) == set()
    assert notes(run(fermieval_logprob(n=3, top_logprobs=5), model(server, "top-capped"), tmp_path)) == set()


def test_counts_of_tokens_that_are_null_are_named(server: Server, tmp_path: Path) -> None:
    log = run(riskeval(source="arithmetic", n=2, penalties="1"), model(server, "usage-null"), tmp_path)
    assert log.error is not None
    assert "such as a count of tokens in its usage" in log.error.message


def test_the_usual_temperature_of_a_later_stage_is_left_out_and_another_one_stops(
    server: Server, tmp_path: Path
) -> None:
    settings = {"source": "arithmetic", "n": 2, "samples": 2, "signals": "agreement"}
    log = run(signals(**settings), model(server, "no-temperature"), tmp_path)
    assert log.status == "success", log.error
    assert any(note.startswith("temperature=1.0 is left out") for note in notes(log))
    log = run(signals(**settings, temperature=0.5), model(server, "no-temperature"), tmp_path)
    assert log.error is not None
    assert "refuses temperature=0.5: “" in log.error.message


@pytest.mark.parametrize("quirks", ["html", "half-a-line", "error-200"])
def test_an_answer_that_is_no_reply_names_the_server_and_what_to_check(
    quirks: str, server: Server, tmp_path: Path
) -> None:
    log = run(riskeval(source="arithmetic", n=2, penalties="1"), model(server, quirks), tmp_path)
    assert log.status == "error"
    assert log.error is not None
    assert (
        f"the server {server.address(quirks)} answered with something that is no reply" in log.error.message
    )
    assert "Check that the address (base_url)" in log.error.message


def test_a_message_in_parts_names_the_server_and_another_provider(server: Server, tmp_path: Path) -> None:
    log = run(riskeval(source="arithmetic", n=2, penalties="1"), model(server, "parts"), tmp_path)
    assert log.error is not None
    assert f"the server {server.address('parts')} answered" in log.error.message
    assert "use the provider that Inspect has for this service" in log.error.message


def test_a_server_that_a_task_of_another_package_asks_is_named(server: Server, tmp_path: Path) -> None:
    task = with_confidence(Task([Sample("1 + 1 =", target="2")], scorer=match()))
    log = run(task, model(server, "html"), tmp_path)
    assert log.error is not None
    assert f"the server {server.address('html')} answered" in log.error.message


def test_no_control_token_is_sent_back(server: Server, tmp_path: Path) -> None:
    settings = {"source": "arithmetic", "n": 1, "signals": "stated_after"}
    run(signals(**settings), model(server, "end-token"), tmp_path)
    (turns,) = [asked["messages"] for asked in server.requests if len(asked["messages"]) > 1]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert "<|im_end|>" not in str(turns)
