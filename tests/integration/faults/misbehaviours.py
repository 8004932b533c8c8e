"""What a server may do wrong, one line each, and runs of any task in which each question meets one of these."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import Model, ModelOutput, get_model
from tenacity import wait_none
from tests.integration.faults.loopback import Server, running
from tests.integration.faults.quirks import (
    Exchange,
    Quirk,
    each_token,
    error,
    finish,
    half_of_the_tokens,
    logprobs,
)
from tests.integration.faults.speakers import Record, completion, recording_subject, spoken
from tests.integration.faults.wire import Wire, request_key, well_behaved
from tests.small_runs import SmallRun, arguments

from confidence_tasks import _registry
from confidence_tasks.catalogue import studies
from confidence_tasks.harness.logged_trials import scored_trial
from confidence_tasks.study.definition import Domain, Study
from confidence_tasks.study.trial import READABLE, STATUSES, question_from_metadata

UNDISTURBED, LOST = "undisturbed", "lost"

OUTCOMES: Mapping[str, Callable[[str, float], bool]] = {
    UNDISTURBED: lambda label, confidence: label == UNDISTURBED,
    LOST: lambda label, confidence: label == LOST,
    "lost where used": lambda label, confidence: label in (LOST, UNDISTURBED),
    "not read": lambda label, confidence: label not in (LOST, *READABLE) and math.isnan(confidence),
    "undisturbed or missing": lambda label, confidence: (
        label == UNDISTURBED or (label != LOST and math.isnan(confidence))
    ),
    "trial": lambda label, confidence: label != LOST,
}
"""What may become of a question, by what did: the trial of an undisturbed run, an error of the sample, which then has
no trial, or the status of another trial; with its confidence."""


@dataclass(frozen=True, slots=True)
class Misbehaviour:
    """What is sent instead of the good reply.

    Attributes
    ----------
    quirk : callable
        What goes wrong.
    outcome : str
        What must become of it, of `OUTCOMES`.
    once : bool
        Whether the next attempt at the same request is answered well.
    """

    quirk: Quirk
    outcome: str
    once: bool = False

    def __call__(self, attempt: int, asked: dict[str, Any], reply: dict[str, Any]) -> Wire:
        if self.once and attempt:
            return well_behaved(attempt, asked, reply)
        exchange = Exchange(attempt, asked, reply)
        return self.quirk(exchange) or Wire(body=exchange.reply)


def raw(body: bytes, **headers: str) -> Quirk:
    """These bytes."""
    return lambda exchange: Wire(body=body, headers=headers)


def whole(exchange: Exchange) -> bytes:
    """The bytes of the good reply."""
    return json.dumps(exchange.reply).encode()


def half(exchange: Exchange) -> bytes:
    """The first half of the good reply."""
    return whole(exchange)[: len(whole(exchange)) // 2]


def frame(**parts: Any) -> Quirk:
    """Other values of some keys of the reply."""
    return lambda exchange: exchange.reply.update(parts)


def without(*keys: str) -> Quirk:
    """The reply without some keys."""

    def quirk(exchange: Exchange) -> None:
        for key in keys:
            del exchange.reply[key]

    return quirk


def replied(content: Any, finish: Any = "stop", **message: Any) -> Quirk:
    """Another message of the model, without token probabilities for it."""

    def quirk(exchange: Exchange) -> None:
        exchange.reply.update(completion(content, finish=finish))
        exchange.message.update(message)

    return quirk


def first_choice(edit: Callable[[dict[str, Any]], Any]) -> Quirk:
    """The first choice changed in place."""

    def quirk(exchange: Exchange) -> None:
        edit(exchange.reply["choices"][0])

    return quirk


def further(choice: Callable[[Exchange], dict[str, Any]]) -> Quirk:
    """One choice more."""
    return lambda exchange: exchange.reply["choices"].append(choice(exchange))


_TOOL = {"id": "call_1", "type": "function", "function": {"name": "answer", "arguments": '{"answer": "B"}'}}
_OTHER_CHOICE = {
    "index": 1,
    "finish_reason": "stop",
    "message": {"role": "assistant", "content": "Answer: Z"},
}
_HTML = b"<!DOCTYPE html><html><body><h1>504 Gateway Time-out</h1></body></html>"

MISBEHAVIOURS: Mapping[str, Misbehaviour] = {
    # The line, and errors of the protocol.
    "429, then fine": Misbehaviour(error(429, "slow down", "rate_limit_exceeded"), UNDISTURBED, once=True),
    "500, then fine": Misbehaviour(error(500, "internal error"), UNDISTURBED, once=True),
    "502 with a page of HTML, then fine": Misbehaviour(
        lambda exchange: Wire(502, _HTML), UNDISTURBED, once=True
    ),
    "529 overloaded, then fine": Misbehaviour(error(529, "overloaded"), UNDISTURBED, once=True),
    "hangs up, then fine": Misbehaviour(lambda exchange: Wire(body=None), UNDISTURBED, once=True),
    "resets the connection, then fine": Misbehaviour(
        lambda exchange: Wire(body=None, reset=True), UNDISTURBED, once=True
    ),
    "half of the body, then fine": Misbehaviour(
        lambda exchange: Wire(body=half(exchange), claimed=len(whole(exchange))), UNDISTURBED, once=True
    ),
    "no choices, then fine": Misbehaviour(frame(choices=[]), UNDISTURBED, once=True),
    "slow trickle": Misbehaviour(lambda exchange: Wire(body=whole(exchange), pieces=8), UNDISTURBED),
    "400": Misbehaviour(error(400, "bad request"), LOST),
    "403": Misbehaviour(error(403, "not in your country"), LOST),
    "404": Misbehaviour(error(404, "no such model"), LOST),
    "500 at every attempt": Misbehaviour(error(500, "internal error"), LOST),
    "prompt filtered": Misbehaviour(error(400, "filtered", "content_filter"), "not read"),
    # Bodies that are no reply.
    "empty body": Misbehaviour(raw(b""), LOST),
    "half a JSON": Misbehaviour(lambda exchange: Wire(body=half(exchange)), LOST),
    "a page of HTML": Misbehaviour(raw(_HTML, **{"Content-Type": "text/html"}), LOST),
    "a list": Misbehaviour(raw(b"[]"), LOST),
    "null": Misbehaviour(raw(b"null"), LOST),
    "an error with status 200": Misbehaviour(raw(b'{"error": {"message": "overloaded"}}'), LOST),
    "invalid UTF-8": Misbehaviour(
        lambda exchange: Wire(body=whole(exchange).replace(b"assistant", b"\xff\xfe")), LOST
    ),
    "choices null": Misbehaviour(frame(choices=None), LOST),
    "choices a text": Misbehaviour(frame(choices="B"), LOST),
    "choice null": Misbehaviour(frame(choices=[None]), LOST),
    "no message": Misbehaviour(first_choice(lambda choice: choice.pop("message")), LOST),
    # Replies whose frame is odd.
    "no model": Misbehaviour(without("model"), LOST),
    "no id, time": Misbehaviour(without("id", "created", "object"), UNDISTURBED),
    "unknown keys": Misbehaviour(frame(n=[{}], choice={"a": None}), UNDISTURBED),
    "two equal choices": Misbehaviour(further(lambda exchange: exchange.reply["choices"][0]), UNDISTURBED),
    "a second choice": Misbehaviour(further(lambda exchange: _OTHER_CHOICE), UNDISTURBED),
    "wrong index": Misbehaviour(first_choice(lambda choice: choice.update(index=7)), UNDISTURBED),
    "unknown stop reason": Misbehaviour(finish("eos"), UNDISTURBED),
    "no stop reason": Misbehaviour(first_choice(lambda choice: choice.pop("finish_reason")), UNDISTURBED),
    "no usage": Misbehaviour(without("usage"), "trial"),
    # Messages that are no answer.
    "content null": Misbehaviour(replied(None), "not read"),
    "no text": Misbehaviour(replied(""), "not read"),
    "spaces only": Misbehaviour(replied(" \n\u200b\ufeff\t "), "not read"),
    "content a number": Misbehaviour(replied(7), LOST),
    "refusal field": Misbehaviour(replied(None, refusal="I cannot help with that."), "not read"),
    "refusal in words": Misbehaviour(replied("I'm sorry, but I cannot help with that."), "not read"),
    "tool call instead of text": Misbehaviour(
        replied(None, finish="tool_calls", tool_calls=[_TOOL]), "not read"
    ),
    "stopped by a filter": Misbehaviour(replied("Answer: A\nConf", finish="content_filter"), "not read"),
    "cut off": Misbehaviour(replied("Let me think. The", finish="length"), "not read"),
    "reasoning only": Misbehaviour(replied("", reasoning_content="It is 7, 90% sure."), "not read"),
    "reasoning that does not end": Misbehaviour(replied("<think>It is 7, I am 90% sure."), "not read"),
    "control characters": Misbehaviour(replied("\x00\x1b[31m\x07\u202e\u0085"), "not read"),
    "unpaired surrogates": Misbehaviour(replied("\ud800\udfff\ud83d"), "not read"),
    "impossible numbers": Misbehaviour(replied("Answer: NaN\nConfidence: 1e999%"), "trial"),
    "a million characters": Misbehaviour(replied("I wonder. " * 100_000), "not read"),
    "deep JSON": Misbehaviour(replied('{"answer":' * 5_000), "not read"),
    # Token probabilities that are none.
    "no token probabilities": Misbehaviour(logprobs(None), "undisturbed or missing"),
    "empty token probabilities": Misbehaviour(logprobs({"content": []}), "undisturbed or missing"),
    "half of the tokens": Misbehaviour(half_of_the_tokens, "undisturbed or missing"),
    "log-probability NaN": Misbehaviour(
        each_token(lambda token: token.update(logprob=math.nan, top_logprobs=[])), "undisturbed or missing"
    ),
    "log-probability positive": Misbehaviour(
        each_token(lambda token: token.update(logprob=3.0, top_logprobs=[])), "undisturbed or missing"
    ),
    "log-probability minus infinity": Misbehaviour(
        each_token(lambda token: token.update(logprob=-math.inf, top_logprobs=[])), "undisturbed or missing"
    ),
    "log-probability null": Misbehaviour(
        each_token(lambda token: token.update(logprob=None)), "lost where used"
    ),
    "other tokens": Misbehaviour(
        each_token(lambda token: token.update(token="zebra", bytes=None)), "undisturbed or missing"
    ),
    "alternatives twice and too probable": Misbehaviour(
        each_token(
            lambda token: token.update(top_logprobs=[{"token": "B", "logprob": 1.0, "bytes": None}] * 2)
        ),
        "trial",
    ),
}
"""By name; the first question of a run meets none."""


# Runs -----------------------------------------------------------------------------------------------------------


class Recorded(Server):
    """Says again what a simulated subject said, whatever the number of stages and turns, and misbehaves by question.

    Parameters
    ----------
    task : Task
        What is asked. The first question is answered well, each of the others meets one misbehaviour.
    record : dict
        What the subject said.
    """

    def __init__(self, task: Task, record: Record) -> None:
        super().__init__(self._say_again, self._misbehave)
        self.replies = {asked: iter(said) for asked, said in record.items()}
        self.given: dict[str, ModelOutput | None] = {}
        named = behaviours_of(task)
        self.by_text = {
            text: named[_question(sample)] for sample in task.dataset for text in _texts_of(sample)
        }

    def _say_again(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the next reply to a conversation, or some reply to one that the subject did not have."""
        turns = tuple(turn["content"] or "" for turn in asked["messages"])
        key = request_key(asked)
        with self.lock:
            if key not in self.given:
                self.given[key] = next(self.replies.get((turns, asked.get("temperature")), iter(())), None)
            output = self.given[key]
        whole = spoken(output or ModelOutput.from_content("subject", "B"))
        if output and output.usage:
            whole["usage"] = {
                "prompt_tokens": output.usage.input_tokens,
                "completion_tokens": output.usage.output_tokens,
                "total_tokens": output.usage.total_tokens,
            }
        return whole

    def _misbehave(self, attempt: int, asked: dict[str, Any], reply: dict[str, Any]) -> Wire:
        said = "\n".join(turn["content"] or "" for turn in asked["messages"])
        text = max(
            (text for text in self.by_text if text in said), key=lambda text: (said.rfind(text), len(text))
        )
        name = self.by_text[text]
        return (MISBEHAVIOURS[name] if name else well_behaved)(attempt, asked, reply)


def _texts_of(sample: Sample) -> tuple[str, str]:
    """What a conversation about a question holds: its text, or at least its first prompt."""
    prompt = sample.input if isinstance(sample.input, str) else sample.input[-1].text
    return question_from_metadata(sample.metadata or {}).text, prompt


def _question(sample: Any) -> str:
    return question_from_metadata(sample.metadata or {}).id


def behaviours_of(task: Task) -> dict[str, str]:
    """Return the name of the misbehaviour that each question meets; empty for the first."""
    questions = dict.fromkeys(map(_question, task.dataset))
    return dict(zip(questions, ["", *MISBEHAVIOURS], strict=False))


N_QUESTIONS = 1 + len(MISBEHAVIOURS)


def task_of(run: SmallRun, folder: Path) -> Task:
    """Make a task of as many questions as there are misbehaviours."""
    own = folder / "questions.jsonl"
    own.write_text("\n".join(map(json.dumps, _own_questions(run.task))), encoding="utf-8")
    given = arguments(run, folder)
    if run.task in ("halueval", "fermieval"):
        given["source"] = str(own)
    if run.task != "halueval":
        given["n"] = N_QUESTIONS
    task: Task = getattr(_registry, run.task)(**given)
    return task


def _own_questions(task: str) -> Iterator[dict[str, Any]]:
    for number in range(N_QUESTIONS):
        if task == "fermieval":
            yield {"question": f"How many grains are in {number} sacks?", "exponent": number % 9}
        else:
            yield {
                "question": f"What is {number} + 4?",
                "answer": "yes" if number % 2 else "no",
                "kind": "boolean",
                "metadata": {"answer": str(number + 3 + number % 2)},
            }


def undisturbed(run: SmallRun, folder: Path) -> tuple[EvalLog, Record]:
    """Run a task with its simulated subject; return the log, and what was said to each conversation."""
    model, record = recording_subject(run.profile)
    return _log(task_of(run, folder), model, folder), record


def misbehaving(run: SmallRun, record: Record, folder: Path) -> EvalLog:
    """Run the same task with a model behind a server that misbehaves."""
    task = task_of(run, folder)
    with running(Recorded(task, record)) as server:
        model = get_model("openai-api/loopback/subject", base_url=server.url, memoize=False, max_retries=0)
        model.api.retry_wait = wait_none  # type: ignore[method-assign]
        return _log(task, model, folder)


def _log(task: Task, model: Model, folder: Path) -> EvalLog:
    (log,) = eval(
        task,
        model=model,
        log_dir=str(folder / "logs"),
        display="none",
        log_realtime=False,
        max_retries=2,
        fail_on_error=False,
    )
    return log


# What becomes of them -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a sample.

    Attributes
    ----------
    behaviour : str
        What its question met.
    label : str
        `UNDISTURBED`, `LOST` or the status of its trial.
    faults : list of str
        What is wrong with it.
    """

    behaviour: str
    label: str
    faults: list[str]


def fates(run: SmallRun, folder: Path) -> tuple[list[Fate], list[str]]:
    """Run a task undisturbed and against all misbehaviours; say what became of each sample, and what is wrong."""
    study = next(study for study in studies() if run.task in study.designs)
    before, record = undisturbed(run, folder)
    after = misbehaving(run, record, folder)
    trials = {_sample(sample): _trial(sample) for sample in before.samples or []}
    named = behaviours_of(task_of(run, folder))
    faults = [] if after.status == "success" else [f"the run ends in {after.status}: {after.error}"]
    found = {_sample(sample): sample for sample in after.samples or []}
    if found.keys() != trials.keys():
        faults.append(f"{len(found)} samples of {len(trials)}")
    faults += _faults_of_metrics(after, study)
    return [
        _fate(sample, trials[key], named[_question(sample)], study) for key, sample in found.items()
    ], faults


def _sample(sample: EvalSample) -> tuple[str, int]:
    return str(sample.id), sample.epoch


def _trial(sample: EvalSample) -> dict[str, Any]:
    (score,) = (sample.scores or {}).values()
    assert isinstance(score.value, dict)
    return scored_trial(score.value, score.metadata)


def _fate(sample: EvalSample, before: Mapping[str, Any], behaviour: str, study: Study) -> Fate:
    outcome = MISBEHAVIOURS[behaviour].outcome if behaviour else UNDISTURBED
    if sample.error is not None:
        last = [line for line in sample.error.traceback.splitlines() if line.lstrip().startswith("File ")][-1]
        named = "that is no reply of a model" in sample.error.message
        ours = ["an exception of this package"] if "confidence_tasks" in last and not named else []
        label, confidence, faults = (
            LOST,
            math.nan,
            ours + (["a lost call has a score"] if sample.scores else []),
        )
    else:
        trial = _trial(sample)
        label = UNDISTURBED if _rounded(trial) == _rounded(before) else str(trial["status"])
        confidence, faults = trial["confidence"], _faults_of_trial(trial, study)
    if not OUTCOMES[outcome](label, confidence):
        faults.append(f"{label}, {confidence} instead of {outcome}")
    return Fate(behaviour, label, faults)


def _rounded(trial: Mapping[str, Any]) -> str:
    """Return a trial as text; the last digits of a mean depend on the order in which samples came back."""
    return repr(
        {key: round(value, 12) if isinstance(value, float) else value for key, value in trial.items()}
    )


def _faults_of_trial(trial: Mapping[str, Any], study: Study) -> list[str]:
    shares = dict.fromkeys(("correct", "confidence"), BINARY_OR_SHARE)
    wrong = [] if trial["status"] in STATUSES else ["no status"]
    for name, domain in {**shares, **study.domains}.items():
        if name in trial:
            kind = object if isinstance(trial[name], str) else float
            wrong += [f"{name}: {why}" for _, why in domain.faults(np.array([trial[name]], dtype=kind))]
    return wrong


BINARY_OR_SHARE = Domain(0.0, 1.0)


def _faults_of_metrics(log: EvalLog, study: Study) -> list[str]:
    """Metrics outside of what their measure can be; NaN says that there is none."""
    bounds = {measure.name: measure.inference.bounds for measure in study.measures}
    values = {
        name: metric.value
        for score in (log.results.scores if log.results else [])
        for name, metric in score.metrics.items()
    }
    wrong = [] if values else ["no metrics"]
    for name, value in values.items():
        low, high = bounds.get(name.partition("/")[0], (-math.inf, math.inf))
        if value < low or value > high:
            wrong.append(f"{name} is {value}")
    return wrong
