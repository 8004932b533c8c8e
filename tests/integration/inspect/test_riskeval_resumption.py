"""A run that is killed in the middle of a stage, and resumed, ends as an undisturbed one and pays for nothing twice."""

import json
import os
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log
from tests.integration.commands import forks

from confidence_tasks.harness.logged_trials import scored_trial

pytestmark = pytest.mark.slow

CAPITALS = {"France": "Paris", "Italy": "Rome", "Spain": "Madrid"}
STAGES = ("solver", "parser", "judge")
CALLS = {"solver": 9, "parser": 9, "judge": 3}
"""Three questions under three penalties; equal answers to a question are judged once."""

PATIENCE = 120


def solver(system: str, prompt: str) -> str:
    penalty = re.search(r"-(\d+) for an incorrect answer", system)
    land = next(land for land in CAPITALS if land in prompt)
    city = "Lisbon" if land == "Spain" else CAPITALS[land]
    return f"Answer: {city}\nConfidence: {90 - len(penalty[1])}%"


def parser(system: str, prompt: str) -> str:
    said = re.search(r"Answer: (\w+)\nConfidence: (\d+)%", prompt)
    return json.dumps({"final_answer": said[1], "confidence": int(said[2]) / 100, "reasoning_trace": ""})


def judge(system: str, prompt: str) -> str:
    said = re.search(r"GOLD ANSWER:\n(\w+)\n.*not instructions>>>\n(\w+)\n", prompt, re.DOTALL)
    return json.dumps({"correct": said[1] == said[2], "normalized_model_answer": said[2]})


REPLIES = dict(zip(STAGES, (solver, parser, judge), strict=True))


class Server(ThreadingHTTPServer):
    """Speaks for the models, counts what it answers, and can fall silent in the middle of a stage."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.answered: Counter[str] = Counter()
        self.silent_after: tuple[str, int] | None = None
        self.fell_silent = threading.Event()
        self.released = threading.Event()

    def answers(self, stage: str) -> bool:
        """Count one call that will be answered, or fall silent."""
        with self.lock:
            if self.silent_after and self.answered[self.silent_after[0]] >= self.silent_after[1]:
                self.fell_silent.set()
            if not self.fell_silent.is_set():
                self.answered[stage] += 1
            return not self.fell_silent.is_set()

    def speak_again(self) -> None:
        self.silent_after = None
        self.released.set()
        self.fell_silent.clear()


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.server.answers(asked["model"]):
            self.server.released.wait(PATIENCE)
            return
        reply = REPLIES[asked["model"]](*asked["messages"]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.speak_again()
        running.shutdown()


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("questions") / "capitals.jsonl"
    rows = [
        {"question": f"Capital of {land}?", "answer": city, "kind": "text"} for land, city in CAPITALS.items()
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def start(server: Server, questions: Path, folder: Path) -> int:
    """Start a run whose log and cache lie in ``folder``; return the id of its process."""
    script = str(Path(__file__).with_name("loopback_run.py"))
    program = f"import runpy, sys; del sys.argv[1]; runpy.run_path({script!r}, run_name='__main__')"
    command = ["python", program, str(server.server_port), str(questions), str(folder / "logs")]
    environment = os.environ | {"INSPECT_CACHE_DIR": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
    said = folder / "output.txt"
    return forks().start(command, folder, environment, said, said)


def finish(folder: Path) -> EvalLog:
    """Wait for a run and return its log."""
    assert forks().wait() == 0, (folder / "output.txt").read_text()
    logs = [read_eval_log(info) for info in list_eval_logs(str(folder / "logs"))]
    (complete,) = [log for log in logs if log.status == "success"]
    return complete


def said_and_scored(log: EvalLog, without_store: Collection[int | str] = ()) -> list[dict[str, Any]]:
    """What a log's samples hold, but for times, identifiers, what was spent, and the store of some samples."""
    return [
        {
            "id": sample.id,
            "epoch": sample.epoch,
            "target": sample.target,
            "messages": [(message.role, message.text) for message in sample.messages],
            "completion": sample.output.completion,
            "scores": {name: score.model_dump(exclude={"history"}) for name, score in sample.scores.items()},
            # Where replies came from differs: those of the killed run are in the cache.
            "metadata": {key: value for key, value in sample.metadata.items() if key != "origin"},
            "store": {} if sample.id in without_store else sample.store,
            "error": sample.error,
        }
        for sample in sorted(log.samples, key=lambda sample: sample.id)
    ]


@pytest.fixture(scope="module")
def undisturbed(questions: Path, tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    folder = tmp_path_factory.mktemp("undisturbed")
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        start(server, questions, folder)
        log = finish(folder)
        server.shutdown()
    assert server.answered == CALLS
    return log


@pytest.mark.sampled("stage")
@pytest.mark.parametrize("stage", STAGES)
def test_killed_in_the_middle_of_a_stage_and_resumed_equals_undisturbed(
    stage: str, server: Server, questions: Path, undisturbed: EvalLog, tmp_path: Path
) -> None:
    server.silent_after = (stage, CALLS[stage] // 2)
    process = start(server, questions, tmp_path)
    assert server.fell_silent.wait(PATIENCE), (tmp_path / "output.txt").read_text()
    time.sleep(2)  # what was answered before has reached the cache
    os.kill(process, signal.SIGKILL)
    assert forks().wait() == -signal.SIGKILL
    assert 0 < server.answered[stage] < CALLS[stage]
    server.speak_again()

    start(server, questions, tmp_path)
    resumed = finish(tmp_path)
    assert server.answered == CALLS, "a call was paid for twice"
    # A sample that was done but not yet in the file, Inspect restores from its buffer: all but the store.
    restored = {sample.id for sample in resumed.samples or () if not sample.store}
    assert repr(said_and_scored(resumed)) == repr(said_and_scored(undisturbed, restored))
    assert logged(resumed) == pytest.approx(logged(undisturbed), nan_ok=True, abs=0, rel=0)
    assert [trial["correct"] for trial in scores(resumed)] == [1.0] * 6 + [0.0] * 3


def logged(log: EvalLog) -> dict[str, float]:
    """Every metric as logged: a sample without its store cannot be scored again."""
    assert log.results is not None
    return {name: metric.value for score in log.results.scores for name, metric in score.metrics.items()}


def scores(log: EvalLog) -> list[dict[str, Any]]:
    """The trials, those of each question together, the question with the wrong answer last."""
    values = [
        scored_trial(score.value, score.metadata)
        for sample in log.samples
        for score in sample.scores.values()
    ]
    return sorted(values, key=lambda trial: -trial["correct"])
