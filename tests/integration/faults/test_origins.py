"""Who answered: other weights behind one address, two servers with one model's name, and replies of earlier runs."""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai.log import EvalLog
from inspect_ai.model import get_model
from tests.integration.faults.loopback import ENVIRONMENT, Server, stub
from tests.integration.faults.speakers import Speaker, completion

from confidence_tasks import boolq, riskeval
from confidence_tasks.harness.inspect import model_calls
from confidence_tasks.harness.logged_trials import scored_trial
from confidence_tasks.logs.inspect_logs import read_inspect_log
from confidence_tasks.report import collect, report_of
from confidence_tasks.report.estimates.settings import Settings

pytestmark = pytest.mark.slow

N = 4


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with stub() as running:
        yield running


def saying(answer: str, confidence: float) -> Speaker:
    """Weights that always say the same."""
    text = f'{{"Reasoning": "a", "Answer": "{answer}", "Confidence": {confidence}}}'
    return lambda asked: completion(text)


def run(address: str, folder: Path, task: Any = boolq, **arguments: Any) -> EvalLog:
    given = {"source": "arithmetic_boolean", "n": N, **arguments}
    model = get_model("openai-api/loopback/m", base_url=address, memoize=False)
    (log,) = eval(task(**given), model=model, log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    return log


def confidences(log: EvalLog) -> list[float]:
    scores = [score for sample in log.samples or [] for score in (sample.scores or {}).values()]
    return [scored_trial(score.value, score.metadata)["confidence"] for score in scores]


def test_other_weights_on_the_same_machine_are_asked_again(server: Server, tmp_path: Path) -> None:
    server.speak = saying("True", 0.9)
    first = run(server.url, tmp_path)
    server.speak = saying("False", 0.1)
    second = run(server.url, tmp_path)

    assert (confidences(first), confidences(second)) == ([0.9] * N, [0.1] * N)
    assert len(server.answers) == 2 * N


def test_the_user_decides_about_the_cache_and_the_log_tells_the_age_of_the_replies(
    server: Server, tmp_path: Path
) -> None:
    server.speak = saying("True", 0.9)
    run(server.url, tmp_path / "first", cache=True)
    server.speak = saying("False", 0.1)
    entries = [path for path in Path(os.environ["INSPECT_CACHE_DIR"]).rglob("*") if path.is_file()]
    assert len(entries) == N
    for path in entries:
        os.utime(path, (time.time(), 1_700_000_000))  # 14 November 2023
    log = run(server.url, tmp_path / "second", cache=True)

    assert confidences(log) == [0.9] * N
    assert len(server.answers) == N
    (file,) = read_inspect_log(log.location)
    assert file.from_cache == f"{N} replies of 2023-11-14"
    report = report_of(collect(tmp_path / "second"), settings=Settings(n_resamples=19))
    (notice,) = [
        each for task in report.tasks for each in task.notices if each.title == "Replies of earlier runs"
    ]
    assert re.search(rf"{N} replies of 2023-11-14 in .*\.eval", notice.where[0])

    (file,) = read_inspect_log(run(server.url, tmp_path / "third", cache=False).location)
    assert file.from_cache == ""
    assert len(server.answers) == 2 * N


def test_replies_of_a_server_elsewhere_are_cached(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_calls, "is_own_server", lambda address: False)
    for _ in range(2):
        run(server.url, tmp_path)
    assert len(server.answers) == N


def test_the_log_has_the_address_that_the_environment_names_and_the_served_model(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = [server.address("plain"), server.address("other-model")]
    for address in addresses:
        monkeypatch.setenv("LOOPBACK_BASE_URL", address)
        model = get_model("openai-api/loopback/m", memoize=False)
        (log,) = eval(
            boolq(source="arithmetic_boolean", n=N), model=model, log_dir=str(tmp_path), display="none"
        )
        assert log.status == "success", log.error
        assert log.eval.model_base_url is None

    setups = sorted(
        (file.setup for file in collect(tmp_path).files), key=lambda setup: "served" in str(setup)
    )
    assert [setup["model.base_url"] for setup in setups] == addresses
    assert [setup.get("model.served") for setup in setups] == [None, "fallback-model-7b"]
    (task,) = report_of(collect(tmp_path), settings=Settings(n_resamples=19)).tasks
    (notice,) = [notice for notice in task.notices if notice.title == "Several settings"]
    assert len(notice.where[0].split(", openai-api")) == 2, "two servers are two rows"


def test_the_log_has_the_servers_of_roles(server: Server, tmp_path: Path) -> None:
    role = get_model("openai-api/loopback/p", base_url=server.address("other-model"), memoize=False)
    model = get_model("openai-api/loopback/m", base_url=server.url, memoize=False)
    (log,) = eval(
        riskeval(source="arithmetic", n=2, penalties="1", parser="model"),
        model=model,
        model_roles={"parser": role, "judge": role},
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success", log.error
    (file,) = read_inspect_log(log.location)
    assert file.setup["role.parser.model.base_url"] == server.address("other-model")
    assert file.setup["role.parser.model.served"] == "fallback-model-7b"
    assert "model.served" not in file.setup
