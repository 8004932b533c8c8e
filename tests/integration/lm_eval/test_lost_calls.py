"""Calls that a server does not answer on lm-eval, who answered, and what a cache keeps of that."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from lm_eval.loggers import EvaluationTracker
from tests.integration.commands import run as run_command
from tests.integration.faults.loopback import Server
from tests.integration.lm_eval.servers import chat, completions, run_on_server, samples_of

from confidence_tasks.harness.address import ORIGIN
from confidence_tasks.harness.lm_eval.chat import UNKNOWN_ORIGIN
from confidence_tasks.harness.refusals import LOST, REFUSED, StopError
from confidence_tasks.report import collect, report_of
from confidence_tasks.report.estimates.settings import Settings

pytestmark = pytest.mark.slow

TASK = "boolq_confidence_arithmetic_boolean"
STAGES = "signals_stated_after"
NOT_JSON = {"html": "answered HTML instead of JSON", "half-a-line": "answered something that is not JSON"}


def origin(found: dict[str, Any]) -> dict[str, str]:
    (configuration,) = found["configs"].values()
    known: dict[str, str] = configuration["metadata"].get(ORIGIN, {})
    return known


def written(found: dict[str, Any], folder: Path) -> Path:
    """Write the files of a run as the command does."""
    tracker = EvaluationTracker(output_path=str(folder))
    tracker.general_config_tracker.log_experiment_args("m", "", None, None, False)
    samples = found.pop("samples")
    tracker.save_results_aggregated(found, samples)
    for task, of_task in samples.items():
        tracker.save_results_samples(task, of_task)
    return folder


@pytest.mark.parametrize("quirk", [*NOT_JSON, "error-200"])
def test_a_server_that_answers_no_call_stops_the_run_after_three(quirk: str, server: Server) -> None:
    with pytest.raises(StopError, match=r"http://127\.0\.0\.1:\d+/.* answers no call: .*base_url"):
        run_on_server(chat(server, quirk), TASK, n=9)
    assert len(server.requests) == 3


@pytest.mark.sampled("concurrent", "task", "quirk", one_in=2)
@pytest.mark.parametrize("concurrent", [1, 4])
@pytest.mark.parametrize("task", [TASK, STAGES])
@pytest.mark.parametrize("quirk", NOT_JSON)
def test_a_call_without_a_reply_is_lost_and_named(
    quirk: str, task: str, concurrent: int, server: Server, tmp_path: Path
) -> None:
    plain = {
        sample["doc"]["id"]: sample["trial"]
        for sample in samples_of(run_on_server(chat(server, ""), task, n=8))
    }
    found = run_on_server(chat(server, f"half-{quirk}", num_concurrent=concurrent), task, n=8)
    samples = samples_of(found)
    kept = [sample for sample in samples if "trial" in sample]
    lost = [sample for sample in samples if "trial" not in sample]
    assert kept
    assert lost
    assert all(repr(sample["trial"]) == repr(plain[sample["doc"]["id"]]) for sample in kept)
    assert all(NOT_JSON[quirk] in sample["arguments"][0][1][LOST] for sample in lost)
    assert NOT_JSON[quirk] in origin(found)["lost"]

    collection = collect(written(found, tmp_path))
    assert not collection.skipped, collection.skipped
    (file,) = collection.files
    assert file.lost == len(lost)
    assert [count for reason, count in file.why_lost.items() if NOT_JSON[quirk] in reason] == [len(lost)]
    (report,) = report_of(collect(tmp_path), settings=Settings(n_resamples=9)).tasks
    (notice,) = [each for each in report.notices if each.title == "Unfinished runs"]
    assert NOT_JSON[quirk] in notice.where[0]


def test_a_lost_call_is_made_again_by_the_next_run(server: Server, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    run_on_server(chat(server, "half-html"), TASK, n=8, use_cache=cache)
    answered = len(server.requests)
    samples = samples_of(run_on_server(chat(server, ""), TASK, n=8, use_cache=cache))
    assert all("trial" in sample for sample in samples)
    assert 0 < len(server.requests) - answered < 8


def test_the_model_that_the_server_says_it_served_is_in_the_results(server: Server) -> None:
    found = origin(run_on_server(chat(server, "other-model"), TASK))
    assert found["served"] == "fallback-model-7b"
    assert found["base_url"] == f"{server.address('other-model')}/chat/completions"
    assert "served" not in origin(run_on_server(chat(server, "plain"), TASK))


@pytest.mark.parametrize(
    ("quirk", "problem"),
    [("echo-one-more", "scored"), ("echo-other-tokens", "scored 'zebra")],
)
def test_log_probabilities_of_other_tokens_are_missing(quirk: str, problem: str, server: Server) -> None:
    for sample in samples_of(run_on_server(completions(server, quirk), "signals_mean_logprob")):
        assert math.isnan(sample["trial"]["value"])
        assert problem in sample["trial"]["problem"]
        assert "where it was given" in sample["trial"]["problem"]
    with pytest.raises(StopError, match="needs token probabilities, and the server scored"):
        run_on_server(completions(server, quirk), "nlp_metad_T1_arithmetic")


def test_a_run_from_the_cache_keeps_who_answered_and_what_was_refused(server: Server, tmp_path: Path) -> None:
    quirks, cache = "other-model+no-seed+temperature-1", str(tmp_path / "cache")
    first = run_on_server(chat(server, quirks), TASK, use_cache=cache)
    asked = len(server.requests)
    second = run_on_server(chat(server, quirks), TASK, use_cache=cache)
    assert len(server.requests) == asked
    notes = [
        {note for sample in samples_of(found) for note in sample["arguments"][0][1][REFUSED]}
        for found in (first, second)
    ]
    assert len(notes[0]) == 2
    assert notes[1] == notes[0]
    assert origin(second)["served"] == origin(first)["served"] == "fallback-model-7b"
    assert "from_cache" not in origin(first)
    assert "replies of 20" in origin(second)["from_cache"]
    # Another server under the same name tells nothing of those who replied.
    assert origin(run_on_server(chat(server, "plain"), TASK, use_cache=cache))["from_cache"] == UNKNOWN_ORIGIN


def test_the_usual_temperature_of_a_later_stage_is_left_out_and_another_one_stops(server: Server) -> None:
    quirk = "no-temperature"
    samples = samples_of(run_on_server(chat(server, quirk), "signals_agreement", samples=2))
    assert all(sample["trial"]["status"] == "ok" for sample in samples)
    notes = {note.partition(",")[0] for sample in samples for note in sample["arguments"][0][1][REFUSED]}
    assert notes == {"temperature=0.0 is left out", "temperature=1.0 is left out"}
    with pytest.raises(StopError, match=r"refuses temperature=0\.5: “.*”.*Choose a temperature"):
        run_on_server(chat(server, quirk), "signals_agreement", samples=2, temperature=0.5)


def test_the_command_prints_the_sentence_and_no_traceback(server: Server, tmp_path: Path) -> None:
    done = run_command(
        tmp_path,
        *("lm_eval", "--model", "local-chat-completions", "--apply_chat_template", "--tasks", TASK),
        *("--model_args", f"model=m,max_retries=1,base_url={server.address('html')}/chat/completions"),
        *("--metadata", json.dumps({"n": 4})),
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(
        f"Error: {server.address('html')}/chat/completions answers no call: it answered HTML"
    )
