"""A model that gives no token probabilities is refused at its first reply; impossible ones are no confidence."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.log import EvalLog
from inspect_ai.model import Logprob, Logprobs, Model, ModelOutput, ModelUsage, get_model

from confidence_tasks import boolq, lifeeval, nlp_metad
from confidence_tasks.harness.inspect.model_replies import has_probabilities
from confidence_tasks.harness.logged_trials import scored_trial
from confidence_tasks.harness.refusals import EMPTY_REPLIES

pytestmark = pytest.mark.slow


def output(text: str, *, probabilities: bool) -> ModelOutput:
    reply = ModelOutput.from_content("mockllm", text)
    reply.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    if probabilities:
        reply.choices[0].logprobs = Logprobs(content=[Logprob(token=text, logprob=-0.5)])
    return reply


def asked(reply: Callable[[int], ModelOutput], name: str = "") -> tuple[Model, list[int]]:
    """A model of scripted replies, and the number of every call that it has answered.

    Models of one name share a cache, which tells models apart by their arguments.
    """
    calls: list[int] = []

    class Respond:
        def __call__(self, *_: Any) -> ModelOutput:
            calls.append(len(calls))
            return reply(len(calls) - 1)

        def __repr__(self) -> str:
            return name or super().__repr__()

    return get_model("mockllm/model", custom_outputs=Respond(), memoize=False), calls


def run(model: Model, log_dir: Path, **options: Any) -> EvalLog:
    (log,) = eval(
        lifeeval(n=12, top_logprobs=2), model=model, log_dir=str(log_dir), display="none", **options
    )
    return log


def test_one_reply_is_paid_for(tmp_path: Path) -> None:
    model, calls = asked(lambda _: output("Paris", probabilities=False))
    log = run(model, tmp_path, max_connections=12)
    assert log.status == "error"
    assert log.error is not None
    assert (
        "stage 'guess' of lifeeval needs token probabilities, and mockllm/model returned none"
        in log.error.message
    )
    assert "vllm" in log.error.message
    assert len(calls) == 1


def test_one_reply_is_paid_for_where_errors_of_samples_are_tolerated(tmp_path: Path) -> None:
    model, calls = asked(lambda _: output("Paris", probabilities=False))
    log = run(model, tmp_path, fail_on_error=False)
    assert log.samples is not None
    assert all(sample.error and "token probabilities" in sample.error.message for sample in log.samples)
    assert len(calls) == 1


def numbers(logprob: Callable[[int], float]) -> Callable[[int], ModelOutput]:
    def reply(number: int) -> ModelOutput:
        made = output("25", probabilities=False)
        made.choices[0].logprobs = Logprobs(
            content=[Logprob(token="2", logprob=0.0), Logprob(token="5", logprob=logprob(number))]
        )
        return made

    return reply


def test_a_server_that_fills_in_0_for_short_replies_is_refused_when_there_are_enough(tmp_path: Path) -> None:
    task = nlp_metad(source="arithmetic_number", n=30, temperatures="1")
    model, calls = asked(numbers(lambda number: 0.0))
    (log,) = eval(task, model=model, log_dir=str(tmp_path), display="none", max_connections=1)
    assert log.error is not None
    assert "a log-probability of exactly 0 for each of its first 20 tokens" in log.error.message
    assert len(calls) == 10


def test_one_other_log_probability_shows_that_they_are_measured(tmp_path: Path) -> None:
    task = nlp_metad(source="arithmetic_number", n=30, temperatures="1")
    model, _ = asked(numbers(lambda number: -0.001 if number == 3 else 0.0))
    (log,) = eval(task, model=model, log_dir=str(tmp_path), display="none", max_connections=1)
    assert log.status == "success", log.error


def test_every_sample_is_asked_once_when_the_first_reply_has_them(tmp_path: Path) -> None:
    model, calls = asked(lambda _: output("Paris", probabilities=True))
    assert run(model, tmp_path).status == "success"
    assert len(calls) == 12


def test_empty_replies_tell_nothing_until_there_are_too_many(tmp_path: Path) -> None:
    model, calls = asked(lambda i: output("" if i < 2 else "Paris", probabilities=i >= 2))
    assert run(model, tmp_path).status == "success"
    assert len(calls) == 12

    model, calls = asked(lambda _: output("", probabilities=False))
    log = run(model, tmp_path)
    assert log.error is not None
    assert "--max-tokens" in log.error.message
    assert len(calls) == EMPTY_REPLIES


def test_a_first_reply_without_probabilities_does_not_stay_in_the_cache(tmp_path: Path) -> None:
    """A provider that gives probabilities at the second run only is asked again, and then never more."""
    made = []
    for _ in range(2):
        model, calls = asked(lambda _: output("Paris", probabilities=False), "one")
        assert run(model, tmp_path).status == "error"
        made.append(len(calls))
    assert made == [1, 1]

    model, calls = asked(lambda _: output("Paris", probabilities=True), "one")
    log = run(model, tmp_path)
    assert log.status == "success"
    assert len(calls) == 12
    assert log.samples is not None
    assert all(has_probabilities(sample.output) for sample in log.samples)
    assert all(
        [message.role for message in sample.messages] == ["system", "user", "assistant"]
        for sample in log.samples
    )

    model, calls = asked(lambda _: output("Paris", probabilities=True), "one")
    assert run(model, tmp_path).status == "success"
    assert calls == []


def test_the_log_probability_study_asks_again_too(tmp_path: Path) -> None:
    task = nlp_metad(source="arithmetic", n=2, temperatures="1")
    model, _ = asked(lambda _: output("7", probabilities=False), "one")
    (refused,) = eval(task, model=model, log_dir=str(tmp_path), display="none")
    assert refused.status == "error"
    model, calls = asked(lambda _: output("7", probabilities=True), "one")
    (log,) = eval(task, model=model, log_dir=str(tmp_path), display="none")
    assert log.status == "success"
    assert len(calls) == 2


@pytest.mark.parametrize("logprob", [5.0, math.inf, math.nan])
@pytest.mark.parametrize(
    "run",
    [
        (nlp_metad, {"source": "arithmetic", "n": 1, "temperatures": "1"}, "7", "missing_confidence"),
        (lifeeval, {"n": 1, "top_logprobs": 2}, '{"Answer": 80, "Confidence": 0.5}', "ok"),
        (boolq, {"source": "arithmetic_boolean", "n": 1, "top_logprobs": 2}, "Answer: True", ""),
    ],
    ids=lambda run: run[0].__name__,
)
def test_impossible_log_probabilities_are_no_confidence_of_any_task(
    run: tuple[Callable[..., Task], dict[str, Any], str, str], logprob: float, tmp_path: Path
) -> None:
    task, arguments, text, status = run
    reply = ModelOutput.from_content("mockllm", text)
    reply.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    reply.choices[0].logprobs = Logprobs(content=[Logprob(token=text, logprob=logprob)])
    model = get_model("mockllm/model", custom_outputs=lambda *_: reply, memoize=False)
    (log,) = eval(task(cache=False, **arguments), model=model, log_dir=str(tmp_path), display="none")
    assert log.samples is not None
    for sample in log.samples:
        (score,) = sample.scores.values()
        column = "confidence" if task is nlp_metad else "token_confidence"
        trial = scored_trial(score.value, score.metadata)
        assert math.isnan(trial[column])
        assert status in ("", trial["status"])
        assert "which is impossible" in score.explanation
