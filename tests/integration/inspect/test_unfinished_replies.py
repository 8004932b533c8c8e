"""Replies that the model did not finish, and samples that a limit or an error ended, in every study on Inspect."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai import Task, eval
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import (
    ContentReasoning,
    ContentText,
    Logprob,
    Logprobs,
    Model,
    ModelCost,
    ModelInfo,
    ModelOutput,
    ModelUsage,
    get_model,
    set_model_info,
)
from tests.small_runs import SMALL_RUNS, SmallRun, arguments

from confidence_tasks import _registry
from confidence_tasks.harness.logged_trials import scored_trial
from confidence_tasks.logs.rescore import rescore
from confidence_tasks.report import collect

pytestmark = pytest.mark.slow

DRAFTS = (
    "Okay, the question is easy.\nAnswer: B\nConfidence: 30\n"
    'So maybe {"Answer": "False", "Confidence": 0.3}, or {"L": 3, "U": 9}, or ABSTAIN with confidence 30%.\n12\n'
    "But wait, let me check that once more, because"
)
"""The thought of a model whose chat template begins the thought, cut off before its end."""

FIRST_TOKEN_ONLY = "fermieval_logprob"
"""The study that limits a reply to a few tokens and reads the first one."""


def saying(text: str, stop: str = "stop", **parts: Any) -> Model:
    """A model that always gives one reply, with log-probabilities where they are asked for."""

    def output(messages: Any, tools: Any, choice: Any, config: Any) -> ModelOutput:
        reply = ModelOutput.from_content("mockllm/model", text, stop_reason=stop)  # type: ignore[arg-type]
        reply.usage = ModelUsage(input_tokens=3, output_tokens=5, total_tokens=8)
        if parts.get("reasoning"):
            reply.choices[0].message.content = [ContentReasoning(reasoning=DRAFTS), ContentText(text=text)]
        if config.logprobs:
            tokens = [Logprob(token=word, logprob=-0.1) for word in text.split(" ")]
            reply.choices[0].logprobs = Logprobs(content=tokens)
        return reply

    return get_model("mockllm/model", custom_outputs=output, memoize=False)


@pytest.fixture(params=list(SMALL_RUNS))
def small(request: pytest.FixtureRequest) -> SmallRun:
    run = SMALL_RUNS[request.param]
    if run.needs_mirror:
        request.getfixturevalue("mirror")
    if run.task == "riskeval":
        return replace(run, arguments={**run.arguments, "parser": "rules", "judge": "rules"})
    return run


def task_of(small: SmallRun, folder: Path) -> Task:
    task: Task = getattr(_registry, small.task)(**arguments(small, folder), cache=False)
    return task


def run(task: Task, model: Model, folder: Path, **options: Any) -> EvalLog:
    options = {"display": "none", "log_realtime": False, "fail_on_error": False, **options}
    (log,) = eval(task, model=model, log_dir=str(folder / "logs"), **options)
    return read_eval_log(log.location)


def trials(log: EvalLog) -> list[dict[str, Any]]:
    scores = [score for sample in log.samples or [] for score in (sample.scores or {}).values()]
    return [
        scored_trial(score.value, score.metadata) if isinstance(score.value, dict) else {} for score in scores
    ]


UNFINISHED: dict[str, tuple[Callable[[], Model], str]] = {
    "a thought with drafts, cut off": (lambda: saying(DRAFTS, "max_tokens"), "truncated"),
    "the context is full": (lambda: saying("", "model_length"), "truncated"),
    "cut off within JSON": (lambda: saying('{"Answer": "True", "Confiden', "max_tokens"), "truncated"),
    "cut off before the confidence": (lambda: saying("Answer: B\nConf", "max_tokens"), "truncated"),
    "filtered": (lambda: saying("I'm sorry, but I cannot help with that.", "content_filter"), "filtered"),
    "filtered after an answer": (lambda: saying("Answer: B\nConfidence: 9", "content_filter"), "filtered"),
    "reasoning only": (lambda: saying("", reasoning=True), "reasoning_only"),
    "a thought that does not end": (lambda: saying(f"<think>{DRAFTS}"), "reasoning_only"),
}


@pytest.mark.sampled("name", "small")
@pytest.mark.parametrize("name", UNFINISHED)
def test_an_unfinished_reply_is_neither_answer_nor_abstention(
    name: str, small: SmallRun, tmp_path: Path
) -> None:
    model, status = UNFINISHED[name]
    log = run(task_of(small, tmp_path), model(), tmp_path)

    if not trials(log):  # nlp_metad and others need token probabilities, which an empty reply has none of
        assert log.status == "error" or all(sample.error for sample in log.samples or [])
        return
    if small.task == FIRST_TOKEN_ONLY and status == "truncated":
        return
    assert {trial["status"] for trial in trials(log)} == {status}
    for trial in trials(log):
        assert math.isnan(trial["confidence"]), trial
        if small.task != "halueval":  # whose answer is given
            assert math.isnan(trial["correct"]), trial
            assert not trial.get("answer"), trial
    assert all(math.isnan(trial["answered"]) for trial in trials(log) if "answered" in trial)
    rates = [value for key, value in _metrics(log).items() if key.startswith("parse_rate")]
    assert rates
    assert all(rate == 0.0 for rate in rates), rates
    again = rescore(log.location)
    assert not again.changed_trials


def _metrics(log: EvalLog) -> dict[str, float]:
    scores = log.results.scores if log.results else []
    return {name: float(metric.value) for score in scores for name, metric in score.metrics.items()}


@pytest.mark.parametrize("fails", [True, False])
def test_a_model_that_finishes_no_reply_is_not_asked_for_all(fails: bool, tmp_path: Path) -> None:
    task = _registry.scale_granularity(sources="arithmetic", n=20, scales="0-10,0-100", cache=False)
    log = run(task, saying("", reasoning=True), tmp_path, fail_on_error=fails, max_connections=2)
    errors = {sample.error.message for sample in log.samples or [] if sample.error}
    assert any("none of the first 10 replies of mockllm/model has a text" in error for error in errors)
    assert any("--max-tokens 8192" in error for error in errors)
    asked = [sample for sample in log.samples or [] if sample.model_usage]
    assert len(asked) < 20


def test_a_single_reply_with_a_text_is_enough(tmp_path: Path) -> None:
    texts = count()

    def output(*asked: Any) -> ModelOutput:
        text, stop = ("", "max_tokens") if next(texts) else ("Answer: B\nConfidence: 7", "stop")
        reply = ModelOutput.from_content("mockllm/model", text, stop_reason=stop)  # type: ignore[arg-type]
        reply.usage = ModelUsage(input_tokens=3, output_tokens=5, total_tokens=8)
        return reply

    model = get_model("mockllm/model", custom_outputs=output, memoize=False)
    task = _registry.scale_granularity(sources="arithmetic", n=8, scales="0-10,0-100", cache=False)
    statuses = [trial["status"] for trial in trials(run(task, model, tmp_path, max_connections=1))]
    assert sorted(statuses) == ["ok", *["truncated"] * 15]


COMPLETE = {
    "boolq": '{"Answer": "True", "Confidence": 0.9}',
    "lifeeval": 'About 80.\n{"Reasoning": "x", "Answer": 80, "Confidence": 0.7}',
    "scale_granularity": "Answer: B\nConfidence: 10\n",
    "riskeval": "Some thoughts.\nAnswer: B\nConfidence: 85%",
    "fermieval": 'Some grains.\n{"L": 4, "U": 6}',
}


@pytest.mark.parametrize("task", COMPLETE)
def test_a_reply_that_is_cut_off_after_its_whole_format_is_read(
    task: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    small = SMALL_RUNS[task]
    if small.needs_mirror:
        request.getfixturevalue("mirror")
    cut, whole = (
        trials(run(task_of(small, tmp_path), saying(COMPLETE[task], stop), tmp_path / stop))
        for stop in ("max_tokens", "stop")
    )

    assert repr(cut) == repr(whole)
    assert cut[0]["status"] in ("ok", "repaired")


# Samples that a limit or an error ended -----------------------------------------------------------------------------

LIMITS: dict[str, dict[str, Any]] = {
    "message": {"message_limit": 1},
    "token": {"token_limit": 7},
    "cost": {"cost_limit": 0.5},
    "time": {"time_limit": 1},
    "working": {"working_limit": 1},
}
DISTURBED = {
    "boolq": {"n": 2},
    "signals": {"n": 2},
    "riskeval": {"n": 2, "penalties": "1"},
    "nlp_metad": {"n": 2},
}
"""One task for each of this package's scorers, and one with several calls."""


def disturbed(task: str, folder: Path) -> tuple[SmallRun, Task]:
    small = SMALL_RUNS[task]
    run = replace(small, arguments={**small.arguments, **DISTURBED[task]})
    return run, task_of(run, folder)


def endless_or_dear(limit: str) -> Model:
    """A model whose replies never come, or take too many tokens, or cost too much."""
    model = saying("Answer: B\nConfidence: 90%")
    generate = model.api.generate

    async def output(*asked: Any, **options: Any) -> Any:
        if limit in ("time", "working"):
            await anyio.sleep_forever()
        return await generate(*asked, **options)

    model.api.generate = output  # type: ignore[method-assign]
    return model


@pytest.fixture
def price() -> None:
    """A dollar for eight tokens of the model."""
    cost = ModelCost(input=1e6 / 8, output=1e6 / 8, input_cache_write=0.0, input_cache_read=0.0)
    set_model_info("mockllm/model", ModelInfo(cost=cost))


@pytest.mark.sampled("task", "limit")
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("task", DISTURBED)
@pytest.mark.usefixtures("price")
def test_a_sample_that_a_limit_ended_is_lost_and_the_limit_is_named(
    task: str, limit: str, tmp_path: Path
) -> None:
    _, disturbed_task = disturbed(task, tmp_path)
    log = run(disturbed_task, endless_or_dear(limit), tmp_path, **LIMITS[limit])

    assert log.status == "success"
    assert log.samples
    for sample in log.samples:
        (score,) = (sample.scores or {}).values()
        assert isinstance(score.value, float)
        assert math.isnan(score.value)
        assert f"the {limit} limit" in (score.explanation or "")
    assert all(math.isnan(value) for value in _metrics(log).values())
    (skipped,) = collect(log.location).skipped
    assert f"{len(log.samples)} ended by the {limit} limit" in skipped.reason


def failing(name: str) -> Model:
    """A model whose second call and every second one after it fails."""
    model = saying("Answer: B\nConfidence: 90%")
    generate, calls = model.api.generate, count(1)

    async def output(*asked: Any, **options: Any) -> Any:
        if next(calls) % 2 == 0:
            raise RuntimeError("the line is dead")
        return await generate(*asked, **options)

    model.api.generate = output  # type: ignore[method-assign]
    return model


@pytest.mark.parametrize("task", DISTURBED)
def test_a_sample_that_an_error_ended_is_lost_even_if_it_is_to_be_scored(task: str, tmp_path: Path) -> None:
    _, disturbed_task = disturbed(task, tmp_path)
    log = run(disturbed_task, failing(task), tmp_path, score_on_error=True, max_samples=1)

    failed = [sample for sample in log.samples or [] if sample.error]
    assert failed
    assert not [sample for sample in failed if trials_of(sample)]
    assert len(trials(log)) - len(failed) == len(
        [sample for sample in log.samples or [] if trials_of(sample)]
    )


def trials_of(sample: EvalSample) -> list[dict[str, Any]]:
    values = [score.value for score in (sample.scores or {}).values()]
    return [value for value in values if isinstance(value, dict)]


# Limits between the calls of a sample --------------------------------------------------------------------------------

BETWEEN: dict[str, dict[str, Any]] = {
    "message": {"message_limit": 3},
    "token": {"token_limit": 12},
    "time": {"time_limit": 1},
    "working": {"working_limit": 1},
}
"""Limits that the first call of a sample keeps to, and further ones do not: each takes eight tokens."""

N_QUESTIONS = 2


def several_calls() -> Task:
    """A task whose samples take one to three calls, some of which continue a conversation."""
    signals = "stated,stated_after,p_true,agreement"
    return _registry.signals(source="arithmetic", n=N_QUESTIONS, signals=signals, samples=2, cache=False)


def slow_after_the_first(slow: bool) -> Model:
    """A model whose replies to the first turn come at once, and those to later or other questions never if slow."""
    model = saying("yes 90%\nAnswer: B\nConfidence: 90%")
    generate = model.api.generate
    asked: set[str] = set()

    async def output(messages: Any, *others: Any, **options: Any) -> Any:
        asked.add(messages[-1].text)
        if slow and (len(messages) > 1 or len(asked) > N_QUESTIONS):
            await anyio.sleep_forever()
        return await generate(messages, *others, **options)

    model.api.generate = output  # type: ignore[method-assign]
    return model


@pytest.mark.parametrize("limit", BETWEEN)
def test_a_limit_between_two_calls_loses_the_sample_and_changes_no_other(limit: str, tmp_path: Path) -> None:
    plain = run(several_calls(), slow_after_the_first(False), tmp_path / "plain")
    whole = {str(sample.id): trials_of(sample) for sample in plain.samples or []}
    assert all(whole.values())
    model = slow_after_the_first(limit in ("time", "working"))
    log = run(several_calls(), model, tmp_path / limit, **BETWEEN[limit])

    assert log.status == "success", log.error
    lost = 0
    for sample in log.samples or []:
        (score,) = (sample.scores or {}).values()
        if isinstance(score.value, dict):
            assert repr(trials_of(sample)) == repr(whole[str(sample.id)])
            continue
        lost += 1
        assert math.isnan(float(score.value))  # type: ignore[arg-type]
        assert f"the {limit} limit" in (score.explanation or "")
    assert 0 < lost < len(log.samples or [])
    (file,) = collect(log.location).files
    assert file.lost == lost
