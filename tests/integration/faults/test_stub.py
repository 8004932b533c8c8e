"""The stub server: every quirk on every endpoint, and replies that every study reads."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai.model import get_model
from tests.integration.faults.loopback import ENVIRONMENT, Server, stub
from tests.integration.faults.quirks import QUIRKS
from tests.small_runs import KINDS, SMALL_RUNS, arguments

from confidence_tasks import _registry
from confidence_tasks.harness.logged_trials import scored_trial

TURNS = [{"role": "user", "content": "What is 3 + 4?\nA) 6\nB) 7\n\nAnswer: <letter>\nConfidence: <0-100>"}]
ENDPOINTS: dict[str, dict[str, Any]] = {
    "chat/completions": {"messages": TURNS, "logprobs": True, "top_logprobs": 6},
    "completions": {"prompt": [[3, 1, 4], [1, 5, 9]], "echo": True, "logprobs": 1, "max_tokens": 1},
    "responses": {"input": TURNS, "include": ["message.output_text.logprobs"], "top_logprobs": 6},
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with stub() as running:
        yield running


def ask(server: Server, quirks: str, endpoint: str, **asked: Any) -> tuple[int, bytes]:
    body = json.dumps({"model": "m", **ENDPOINTS[endpoint], **asked}).encode()
    try:
        with urllib.request.urlopen(f"{server.address(quirks)}/{endpoint}", body) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize("quirk", QUIRKS)
def test_every_endpoint_has_every_quirk(quirk: str, endpoint: str, server: Server) -> None:
    status, body = ask(server, "slow=0.01" if quirk == "slow" else quirk, endpoint)
    assert (status, bool(body)) in [(200, True), (400, True), (422, True), (429, True)]


def chat(server: Server, quirks: str, **asked: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ask(server, quirks, "chat/completions", **asked)[1])
    return found


def test_quirks_are_combined_and_a_half_is_the_same_half_in_every_run(server: Server) -> None:
    (choice,) = chat(server, "think+cut=20+other-model")["choices"]
    assert choice["message"]["content"] == "<think>\nLet me think."[:20]
    assert choice["finish_reason"] == "length"
    assert "".join(token["token"] for token in choice["logprobs"]["content"]) == "<think>\nLet me think."[:20]

    empty = [
        [not chat(server, "half-empty", seed=seed)["choices"][0]["message"]["content"] for seed in range(40)]
        for _ in range(2)
    ]
    assert empty[0] == empty[1]
    assert 10 <= sum(empty[0]) <= 30


def test_refusals_name_the_parameter_and_stop_when_it_is_left_out(server: Server) -> None:
    assert ask(server, "top-5", "chat/completions")[0] == 400
    assert ask(server, "top-5", "chat/completions", top_logprobs=5)[0] == 200
    assert ask(server, "no-seed", "chat/completions")[0] == 200
    assert "seed" in chat(server, "no-seed", seed=1)["error"]["message"]
    assert ask(server, "temperature-above-0", "chat/completions", temperature=0)[0] == 422


def test_completions_score_each_prompt(server: Server) -> None:
    choices = json.loads(ask(server, "shuffle", "completions")[1])["choices"]
    assert [choice["index"] for choice in choices] == [1, 0]
    assert choices[1]["logprobs"]["tokens"] == ["3", "1", "4", "x"]
    assert choices[1]["logprobs"]["token_logprobs"][0] is None
    last = json.loads(ask(server, "generated-only", "completions")[1])["choices"]
    assert [choice["logprobs"]["tokens"] for choice in last] == [["x"], ["x"]]


@pytest.mark.parametrize(
    "task",
    [pytest.param(name, marks=[] if name in ("riskeval", "signals") else pytest.mark.slow) for name in KINDS],
)
def test_every_study_reads_plain_replies(
    task: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    server: Server,
    tmp_path: Path,
) -> None:
    run = SMALL_RUNS[task]
    if run.needs_mirror:
        request.getfixturevalue("mirror")
    monkeypatch.setenv("LOOPBACK_API_KEY", ENVIRONMENT["LOOPBACK_API_KEY"])
    model = get_model("openai-api/loopback/subject", base_url=server.url, memoize=False)
    (log,) = eval(
        getattr(_registry, task)(**arguments(run, tmp_path)),
        model=model,
        log_dir=str(tmp_path),
        log_realtime=False,
        display="none",
    )
    assert log.status == "success", log.error
    scores = [score for sample in log.samples or [] for score in (sample.scores or {}).values()]
    statuses = {scored_trial(score.value, score.metadata)["status"] for score in scores}
    assert statuses == {"ok"}
