"""Replies with control tokens of unknown meaning are told by the report of every study on Inspect."""

import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import Logprob, Logprobs, Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate
from tests.small_runs import KINDS, SMALL_RUNS, SmallRun, arguments

from confidence_tasks import _registry
from confidence_tasks.report import trials

pytestmark = pytest.mark.slow

TITLE = "Unknown control tokens"


def saying(*texts: str) -> Model:
    """A model that gives some replies in turn, with log-probabilities where they are asked for."""
    replies = iter(texts * 1_000)

    def output(messages: Any, tools: Any, choice: Any, config: Any) -> ModelOutput:
        text = next(replies)
        reply = ModelOutput.from_content("mockllm/model", text)
        reply.usage = ModelUsage(input_tokens=3, output_tokens=5, total_tokens=8)
        if config.logprobs:
            top = [{"token": "7", "logprob": -0.1}, {"token": "8", "logprob": -3.0}]
            tokens = [
                Logprob(token=word, logprob=-0.1, top_logprobs=top) for word in re.findall(r"\s*\S+", text)
            ]
            reply.choices[0].logprobs = Logprobs(content=tokens)
        return reply

    return get_model("mockllm/model", custom_outputs=output, memoize=False)


def run(asked: Task, model: Model, folder: Path) -> EvalLog:
    (log,) = eval(asked, model=model, log_dir=str(folder), display="none", max_connections=1)
    return log


def told(log: EvalLog) -> list[int]:
    """The numbers of replies with control tokens, of replies in the cells that the notice names, and of trials."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = trials(log.location)
    places = " ".join(str(each["where"]) for each in table.attrs["notices"] if each["title"] == TITLE)
    counts = re.findall(r"(\d+) of (\d+) replies", places)
    return [*(sum(int(each[i]) for each in counts) for i in (0, 1)), len(table)]


@pytest.fixture(params=KINDS)
def small(request: pytest.FixtureRequest) -> SmallRun:
    chosen = SMALL_RUNS[request.param]
    if chosen.needs_mirror:
        request.getfixturevalue("mirror")
    return chosen


def test_every_study_tells_of_control_tokens(small: SmallRun, tmp_path: Path) -> None:
    model = saying("7 <|mask|>\nAnswer: 7\nConfidence: 60")
    log = run(getattr(_registry, small.task)(**arguments(small, tmp_path), cache=False), model, tmp_path)
    counted, replies, n_trials = told(log)
    assert counted == replies == n_trials > 0


@task
def sums() -> Task:
    """A task that no study asks."""
    samples = [Sample(input=f"{a} + 1 =", target=str(a + 1), id=a) for a in range(4)]
    return Task(samples, solver=generate(), scorer=includes())


def test_logs_of_any_task_tell_of_control_tokens(tmp_path: Path) -> None:
    log = run(sums(), saying("2 <|mask|> Confidence: 60", "2. Confidence: 60"), tmp_path)
    assert told(log) == [2, 4, 4]
