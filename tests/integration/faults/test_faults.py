"""Bad days through the real harness: what goes wrong on the line loses no trial, doubles none and is called by name."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval, eval_retry
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import Model, get_model
from tests.integration.faults.loopback import ENVIRONMENT, Server
from tests.integration.faults.loopback import serving as serving_tasks
from tests.integration.faults.speakers import completion
from tests.integration.faults.wire import Behaviour, Wire, well_behaved

from confidence_tasks import lifeeval, scale_granularity
from confidence_tasks.harness.logged_trials import scored_trial

pytestmark = pytest.mark.slow

DESIGN = {"sources": "arithmetic", "n": 2, "scales": "0-10,0-100"}
CALLS = 4
AT_ONCE = {"retry-after-ms": "10"}


def serving(profile: str, behaviour: Behaviour = well_behaved) -> AbstractContextManager[Server]:
    """Run a server that knows the questions of these tests."""
    return serving_tasks(profile, behaviour, [scale_granularity(**DESIGN), lifeeval(n=8, top_logprobs=5)])


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


def model_of(server: Server) -> Model:
    return get_model("openai-api/loopback/subject", base_url=server.url, memoize=False)


def run(server: Server, folder: Path, cache: bool | None = None, **options: Any) -> EvalLog:
    task = scale_granularity(**DESIGN, cache=cache)
    (log,) = eval(task, model=model_of(server), log_dir=str(folder), display="none", max_retries=3, **options)
    return log


def samples(log: EvalLog) -> list[EvalSample]:
    assert log.samples is not None
    return sorted(log.samples, key=lambda sample: str(sample.id))


def trials(log: EvalLog) -> dict[str, str]:
    return {str(sample.id): repr(sample.scores["scale_scorer"]) for sample in samples(log)}


def statuses(log: EvalLog) -> list[str]:
    scores = [sample.scores["scale_scorer"] for sample in samples(log)]
    return [scored_trial(score.value, score.metadata)["status"] for score in scores]


def error(status: int, message: str, code: str = "", **headers: str) -> Wire:
    body = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return Wire(status, json.dumps(body).encode(), headers={**AT_ONCE, **headers})


def said(*args: Any, **kwargs: Any) -> Wire:
    return Wire(body=json.dumps(completion(*args, **kwargs)).encode())


def half_of(reply: Any) -> bytes:
    whole = json.dumps(reply).encode()
    return whole[: len(whole) // 2]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    (log,) = eval(
        scale_granularity(**DESIGN),
        model="simulated/sloppy",
        log_dir=str(tmp_path_factory.mktemp("undisturbed")),
        display="none",
    )
    return trials(log)


# What passes ----------------------------------------------------------------------------------------------------

PASSING: dict[str, Behaviour] = {
    "rate limit": lambda attempt, asked, reply: error(429, "slow down", "rate_limit_exceeded"),
    "overload": lambda attempt, asked, reply: error(503, "overloaded"),
    "disconnect": lambda attempt, asked, reply: Wire(body=None),
    "half a reply": lambda attempt, asked, reply: Wire(body=half_of(reply), claimed=len(json.dumps(reply))),
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=list(PASSING))
def test_a_fault_at_each_first_attempt_leaves_no_trace(
    fault: Behaviour, undisturbed: dict[str, str], tmp_path: Path
) -> None:
    with serving("sloppy", lambda *request: (well_behaved if request[0] else fault)(*request)) as server:
        log = run(server, tmp_path)

    assert log.status == "success", log.error
    assert trials(log) == undisturbed
    assert sum(server.attempts.values()) == 2 * CALLS
    assert len(server.answers) == CALLS
    assert server.asked_once


def test_a_model_that_hangs_is_asked_again(undisturbed: dict[str, str], tmp_path: Path) -> None:
    def hangs(attempt: int, asked: Any, reply: Any) -> Wire:
        return well_behaved(attempt, asked, reply) if attempt else Wire(body=None, delay=30.0)

    with serving("sloppy", hangs) as server:
        log = run(server, tmp_path, attempt_timeout=1)

    assert log.status == "success"
    assert trials(log) == undisturbed
    assert server.asked_once


# What the model is judged by ------------------------------------------------------------------------------------


def calls_a_tool(attempt: int, asked: Any, reply: Any) -> Wire:
    """Call a tool, of which there is none, as often as a turn says so; at last answer."""
    if len(asked["messages"]) > 6:
        return well_behaved(attempt, asked, reply)
    called = {"id": "call_1", "type": "function", "function": {"name": "answer", "arguments": "{}"}}
    whole = completion(None, finish="tool_calls")
    whole["choices"][0]["message"]["tool_calls"] = [called]
    return Wire(body=json.dumps(whole).encode())


JUDGED: dict[str, tuple[Behaviour, str]] = {
    "no content": (lambda *_: said(None), "unreadable"),
    "no text": (lambda *_: said(""), "unreadable"),
    "refusal": (lambda *_: said(None, refusal="I'm sorry, but I cannot help with that."), "refused"),
    "filtered reply": (lambda *_: said("", finish="content_filter"), "filtered"),
    "filtered half": (lambda *_: said("Answer: A\nConf", finish="content_filter"), "filtered"),
    "filtered prompt": (lambda *_: error(400, "The prompt was filtered.", "content_filter"), "filtered"),
    "cut off": (lambda *_: said("Answer: A\nConf", finish="length"), "truncated"),
    "call of a tool": (calls_a_tool, "unreadable"),
    "unpaired surrogate": (lambda *_: said("Answer: A\nConfidence: 7\ud800\x00"), "repaired"),
}


@pytest.mark.parametrize(("behaviour", "status"), JUDGED.values(), ids=list(JUDGED))
def test_what_a_model_says_is_a_trial_with_a_status(
    behaviour: Behaviour, status: str, tmp_path: Path
) -> None:
    with serving("sloppy", behaviour) as server:
        log = run(server, tmp_path)

    assert log.status == "success"
    assert statuses(log) == [status] * CALLS
    assert sum(server.attempts.values()) == CALLS


# What stops a run -----------------------------------------------------------------------------------------------

STOPPING: dict[str, Behaviour] = {
    "empty body": lambda attempt, asked, reply: Wire(body=b""),
    "half a JSON": lambda attempt, asked, reply: Wire(body=half_of(reply)),
    "not allowed": lambda attempt, asked, reply: error(401, "Incorrect API key provided"),
}


def at_the_third_request(fault: Behaviour) -> Behaviour:
    """A fault that one request meets, whichever is the third to come."""
    count: Iterator[int] = iter(range(10**6))
    return lambda *request: (fault if next(count) == 2 else well_behaved)(*request)


@pytest.mark.parametrize("fault", STOPPING.values(), ids=list(STOPPING))
def test_a_stopped_run_goes_on_where_it_was(
    fault: Behaviour, undisturbed: dict[str, str], tmp_path: Path
) -> None:
    with serving("sloppy", at_the_third_request(fault)) as server:
        stopped = run(server, tmp_path, max_connections=1)
        assert stopped.status == "error"
        before = len(server.answers)
        (log,) = eval_retry(stopped, log_dir=str(tmp_path), display="none")

    assert log.status == "success"
    assert trials(log) == undisturbed
    assert len(samples(log)) == CALLS
    sent = sum(server.attempts.values())
    assert sent == CALLS + 1
    assert before >= 2
    assert len(server.answers) - before <= CALLS - 2, "a reply that was there was paid for again"


def test_a_reply_without_choices_is_asked_for_anew_and_not_kept(
    undisturbed: dict[str, str], tmp_path: Path
) -> None:
    def empty(attempt: int, asked: Any, reply: Any) -> Wire:
        return Wire(body=json.dumps({**reply, "choices": []}).encode())

    with serving("sloppy", at_the_third_request(empty)) as server:
        log = run(server, tmp_path, max_connections=1)

    assert log.status == "success"
    assert trials(log) == undisturbed
    assert sum(server.attempts.values()) == CALLS + 1


def test_an_error_is_tried_again_where_the_run_says_so(undisturbed: dict[str, str], tmp_path: Path) -> None:
    with serving("sloppy", at_the_third_request(STOPPING["half a JSON"])) as server:
        log = run(server, tmp_path, retry_on_error=1)

    assert log.status == "success"
    assert trials(log) == undisturbed
    assert sum(server.attempts.values()) == CALLS + 1


def test_a_second_run_pays_for_nothing(undisturbed: dict[str, str], tmp_path: Path) -> None:
    with serving("sloppy") as server:
        first, second = run(server, tmp_path, cache=True), run(server, tmp_path, cache=True)

    assert trials(first) == trials(second) == undisturbed
    assert len(server.answers) == CALLS


# Token probabilities --------------------------------------------------------------------------------------------

WITHOUT: dict[str, Behaviour] = {
    "rejected": lambda *_: error(
        400, "'logprobs' is not supported with this model.", "invalid_request_error"
    ),
    "left out": lambda attempt, asked, reply: said(reply["choices"][0]["message"]["content"]),
}


@pytest.mark.parametrize("behaviour", WITHOUT.values(), ids=list(WITHOUT))
def test_a_model_without_token_probabilities_is_refused_at_its_first_call(
    behaviour: Behaviour, tmp_path: Path
) -> None:
    with serving("sloppy", behaviour) as server:
        (log,) = eval(
            lifeeval(n=8, top_logprobs=5), model=model_of(server), log_dir=str(tmp_path), display="none"
        )

    assert log.status == "error"
    assert log.error is not None
    assert "stage 'guess' of lifeeval needs token probabilities" in log.error.message
    assert "use a provider that returns them" in log.error.message
    assert sum(server.attempts.values()) == 1


def test_a_filtered_prompt_says_nothing_of_token_probabilities(tmp_path: Path) -> None:
    first = iter([True])

    def filters(attempt: int, asked: Any, reply: Any) -> Wire:
        return (
            error(400, "filtered", "content_filter") if next(first, False) else well_behaved(0, asked, reply)
        )

    with serving("ideal", filters) as server:
        (log,) = eval(
            lifeeval(n=8, top_logprobs=5), model=model_of(server), log_dir=str(tmp_path), display="none"
        )

    assert log.status == "success"
    found = [sample.scores["lifeeval_scorer"].value["status"] for sample in log.samples or []]
    assert sorted(found) == ["filtered"] + ["ok"] * 7
