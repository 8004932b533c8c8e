"""Parsers, judges and classifiers none of whose first replies can be used: the run stops before all are paid for."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model

from confidence_tasks import nlp_metad, riskeval
from confidence_tasks.harness.inspect.task import study_task
from confidence_tasks.logs.rescore import rescore
from confidence_tasks.studies.signals import STUDY as SIGNALS

pytestmark = pytest.mark.slow

AT_ONCE = 2

N = 16
"""Number of questions."""


class Scripted:
    """A model that replies by a function of the number of its calls so far and the prompt."""

    def __init__(self, reply: Callable[[int, str], str], stop: str = "stop") -> None:
        self.reply, self.stop = reply, stop
        self.n_calls = 0
        self.model: Model = get_model("mockllm/model", custom_outputs=self._output, memoize=False)

    def _output(self, messages: Any, *_: Any) -> ModelOutput:
        text = self.reply(self.n_calls, messages[-1].text)
        self.n_calls += 1
        output = ModelOutput.from_content("mockllm/model", text, stop_reason=self.stop)  # type: ignore[arg-type]
        output.usage = ModelUsage(input_tokens=3, output_tokens=5, total_tokens=8)
        return output


def saying(text: str, stop: str = "stop") -> Scripted:
    return Scripted(lambda *_: text, stop)


@pytest.fixture
def lands(tmp_path: Path) -> str:
    """A file of open questions."""
    path = tmp_path / "lands.jsonl"
    rows = [{"question": f"Capital of land {i}?", "answer": f"City{i}", "kind": "text"} for i in range(N)]
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


def run(task: Task, model: Any, folder: Path, roles: dict[str, Scripted], **options: Any) -> EvalLog:
    bound = {name: role.model for name, role in roles.items()}
    given = {"display": "none", "log_realtime": False, "max_connections": AT_ONCE, "max_samples": AT_ONCE}
    (log,) = eval(task, model=model, model_roles=bound, log_dir=str(folder / "logs"), **{**given, **options})
    return read_eval_log(log.location)


def error_of(log: EvalLog) -> str:
    errors = {sample.error.message for sample in log.samples or [] if sample.error}
    return next((error for error in errors if "none of the first" in error), "")


ANSWER = "Answer: Atlantis\nConfidence: 90%"

UNUSABLE = [
    ("", "stop", "the last one was empty"),
    ("<think>Is it", "max_tokens", "cut off at the token limit"),
    ('{"correct": true}', "max_tokens", "cut off at the token limit"),
    ("I cannot help with that.", "stop", "not one JSON object with a verdict: I cannot help"),
    ('{"correct": "perhaps"}', "stop", "neither true nor false: perhaps"),
]


@pytest.mark.parametrize(("text", "stop", "words"), UNUSABLE)
def test_a_judge_without_a_verdict_stops_the_run(
    text: str, stop: str, words: str, lands: str, tmp_path: Path
) -> None:
    subject, judge = saying(ANSWER), saying(text, stop)
    task = riskeval(source=lands, penalties="1", cache=False)
    log = run(task, subject.model, tmp_path, {"judge": judge}, fail_on_error=bool(text))
    error = error_of(log)
    assert "none of the first 10 replies of mockllm/model, the model of the role judge, can be used" in error
    assert words in error
    assert "--model-role judge=PROVIDER/MODEL" in error
    assert 10 <= judge.n_calls < 10 + AT_ONCE
    assert subject.n_calls < 10 + 2 * AT_ONCE
    kept = [sample for sample in log.samples or [] if sample.store.get("judge_reply")]
    assert len(kept) >= 10
    if log.status == "success":  # as errors of samples are tolerated
        asked = judge.n_calls, subject.n_calls
        assert rescore(log.location).changed_trials == 0
        assert (judge.n_calls, subject.n_calls) == asked


def test_a_parser_without_json_stops_the_run(tmp_path: Path) -> None:
    parser = saying("It says B.")
    task = riskeval(source="arithmetic", n=N, penalties="1", parser="model", cache=False)
    error = error_of(run(task, saying("Answer: B\nConfidence: 90%").model, tmp_path, {"parser": parser}))
    assert "the role parser, can be used" in error
    assert "not one JSON object with a final_answer: It says B." in error
    assert 10 <= parser.n_calls < 10 + AT_ONCE


def test_a_classifier_that_names_no_domain_stops_the_run(lands: str, tmp_path: Path) -> None:
    for text, stops in (("Well, it depends.", True), ("Sports", False)):
        classifier = saying(text)
        task = nlp_metad(source=lands, temperatures="1", domains="model", cache=False)
        log = run(task, "simulated/ideal", tmp_path, {"domain_classifier": classifier})
        assert ("the role domain_classifier, can be used" in error_of(log)) == stops
        assert (classifier.n_calls < 10 + AT_ONCE) == stops


def test_one_verdict_or_a_content_filter_is_no_reason_to_stop(lands: str, tmp_path: Path) -> None:
    one = Scripted(lambda n, _: '{"correct": true}' if n == 9 else "no idea")
    for judge in (one, saying('{"correct": true}', "content_filter")):
        log = run(
            riskeval(source=lands, penalties="1", cache=False),
            saying(ANSWER).model,
            tmp_path,
            {"judge": judge},
        )
        assert log.status == "success"
        assert judge.n_calls == N


# Roles that are asked in stages ---------------------------------------------------------------------------------------


def answering() -> Scripted:
    """A model whose samples are all different."""
    return Scripted(lambda n, _: f"Answer: Town{n}\nConfidence: 80")


def signals(lands: str, **parameters: Any) -> Task:
    given = {"source": lands, "cache": False, **parameters}
    task: Task = study_task(SIGNALS)(**given)
    return task


def test_a_judge_of_meaning_without_a_verdict_stops_the_run(lands: str, tmp_path: Path) -> None:
    for text, words in (("", "the last one was empty"), ("I cannot say", "neither yes nor no")):
        judge = saying(text)
        task = signals(lands, signals="stated,agreement", samples=2, entailment="judge")
        error = error_of(run(task, answering().model, tmp_path, {"judge": judge}))
        assert "the role judge, can be used" in error
        assert words in error
        assert judge.n_calls < 3 * 10 + 3 * AT_ONCE  # three pairs a question


def test_a_question_that_a_judge_refuses_is_counted_once(lands: str, tmp_path: Path) -> None:
    judge = Scripted(lambda n, _: "I cannot say" if n < 28 else "No")
    task = signals(lands, n=3, signals="stated,agreement", samples=7, entailment="judge")
    log = run(task, answering().model, tmp_path, {"judge": judge}, max_samples=1)
    assert log.status == "success"
    assert judge.n_calls == 3 * 28


def test_a_judge_of_a_panel_that_states_no_number_stops_the_run(lands: str, tmp_path: Path) -> None:
    sure, odd = saying("80"), saying("I would rather not")
    task = signals(lands, signals="stated,panel", panel="sure,odd")
    error = error_of(run(task, answering().model, tmp_path, {"sure": sure, "odd": odd}))
    assert "the role odd, can be used" in error
    assert "states no number from 0 to 100" in error
    assert odd.n_calls < 10 + AT_ONCE


def test_a_task_that_was_stopped_may_run_again(lands: str, tmp_path: Path) -> None:
    task = riskeval(source=lands, penalties="1", judge="rules", cache=False)
    subject = Scripted(lambda n, _: "" if n < 10 else ANSWER)
    assert error_of(run(task, subject.model, tmp_path, {}, max_samples=1))
    assert run(task, subject.model, tmp_path, {}).status == "success"
