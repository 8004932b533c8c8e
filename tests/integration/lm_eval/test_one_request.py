"""Samples that one call of a chat endpoint requests: what is sent and counted, also if a server gives fewer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.integration.faults.loopback import ENVIRONMENT, Server, stub
from tests.integration.inspect.test_refusals import model as inspect_model
from tests.integration.inspect.test_refusals import run as inspect_run
from tests.integration.inspect.test_refusals import trials as inspect_trials
from tests.integration.lm_eval.harnesses import Scripted, lm_eval_run
from tests.integration.lm_eval.servers import chat, samples_of

from confidence_tasks._registry import signals

pytestmark = pytest.mark.slow

SIGNALS = ("stated", "agreement", "semantic_entropy")
GIVEN: dict[str, Any] = {"source": "arithmetic", "n": 2, "samples": 4, "one_request": True}


def trials_on(model: Any, **options: Any) -> dict[tuple[str, str], dict[str, Any]]:
    tasks = [f"signals_{name}" for name in SIGNALS]
    found = lm_eval_run(model, tasks, GIVEN, log_samples=True, bootstrap_iters=0, **options)
    every = [sample["trial"] for sample in samples_of(found)]
    return {(trial["question_id"], trial["condition"]): trial for trial in every}


def choices_asked(server: Server) -> list[str]:
    """Return the number of choices in each request for samples, which alone have a temperature."""
    return sorted(str(request.get("n")) for request in server.requests if request["temperature"])


@pytest.mark.parametrize("quirks", ["", "choices", "choices=3", "no-n", "n-2"])
def test_samples_requests_and_trials_are_those_of_inspect(
    quirks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK_API_KEY", ENVIRONMENT["LOOPBACK_API_KEY"])
    with stub() as server:
        found = trials_on(chat(server, quirks, num_concurrent=4), apply_chat_template=True)
        asked = choices_asked(server)
    with stub() as server:
        task = signals(**GIVEN, signals=",".join(SIGNALS))
        log = inspect_run(task, inspect_model(server, quirks), tmp_path)
        of_inspect = choices_asked(server)
    expected = {(trial["question_id"], trial["condition"]): trial for trial in inspect_trials(log)}
    assert found.keys() == expected.keys()
    # Inspect requests several choices for one question only; the stub counts the tokens of those that it leaves out.
    ignores_n = quirks == "choices"
    assert asked == (["4", "4", *["None"] * 6] if ignores_n else of_inspect)
    for key, trial in found.items():
        assert trial["problem"] == ""
        compared = expected[key].keys() - ({"output_tokens"} if ignores_n else set())
        assert {name: repr(trial[name]) for name in compared} == {
            name: repr(expected[key][name]) for name in compared
        }


def test_a_server_that_gives_fewer_is_named(server: Server) -> None:
    found = lm_eval_run(
        chat(server, "choices=3"), ["signals_agreement"], GIVEN, apply_chat_template=True, log_samples=True
    )
    (note,) = {note for sample in samples_of(found) for note in sample["arguments"][0][1]["server_refusals"]}
    assert note.startswith("n is lowered by the server, which gives 3 of the choices that are asked for")


def test_other_models_make_single_calls() -> None:
    model = Scripted(lambda prompt: "Answer: B\nConfidence: 80")
    assert {trial["calls"] for (_, name), trial in trials_on(model).items() if name == "agreement"} == {5}
