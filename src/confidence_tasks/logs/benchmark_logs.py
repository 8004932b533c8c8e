"""Trials in Inspect logs of any task."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from inspect_ai.log import EvalSample

from confidence_tasks.harness.correctness import BY_DEFAULT, Correctness, is_partial
from confidence_tasks.harness.inspect.foreign_scores import correctness, own_scorers
from confidence_tasks.harness.inspect.model_replies import reply_text, why_stopped
from confidence_tasks.harness.stopped import PROBLEMS
from confidence_tasks.logs.benchmark_samples import MOST_CHARACTERS
from confidence_tasks.logs.benchmark_signals import (
    columns_of_signal,
    problem_of_asked,
    sample_signals,
    signals_worth_showing,
)
from confidence_tasks.logs.digests import prompt_digest, question_digest
from confidence_tasks.logs.log_contents import fallback_models
from confidence_tasks.logs.log_header import LogHeader
from confidence_tasks.logs.trial_columns import SHARED
from confidence_tasks.logs.trial_files import NotTrialsError
from confidence_tasks.logs.validated import whole_samples
from confidence_tasks.reading.cleaning import marks_of_reply
from confidence_tasks.study.stage import Stop
from confidence_tasks.study.structured import STRUCTURED
from confidence_tasks.study.trial import RULES


@dataclass
class BenchmarkLog:
    """The trials in an Inspect log, as columns, and how many of its samples have a trial.

    Attributes
    ----------
    rows : dict of str to list
        Columns of the trials: one trial for each sample and signal. ``fallback`` is the model that answered instead of
        the requested one, empty for none.
    n_samples, n_read : int
        Number of samples in the log, and of those with a trial.
    graded_by : dict of str to str
        The scorer, if there are several, and the bound that say whether an answer is right.
    """

    rows: dict[str, list[Any]] = field(default_factory=dict)
    n_samples: int = 0
    n_read: int = 0
    graded_by: dict[str, str] = field(default_factory=dict)

    def add(self, values: Mapping[str, Any]) -> None:
        """Add a trial."""
        for key, value in values.items():
            self.rows.setdefault(key, []).append(value)


def task_of(header: LogHeader) -> str:
    """Return the name of the task, without its package and without the suffix of ``with_confidence``."""
    return str(_wrapping(header).get("task") or header.eval.task).rsplit("/", 1)[-1]


def changes_of_prompt(header: LogHeader) -> dict[str, str]:
    """Return the settings of ``with_confidence`` that change the prompt of the task, or the form of replies."""
    wrapped = _wrapping(header)
    changes = {"task.when": wrapped.get("when"), f"task.{STRUCTURED}": wrapped.get(STRUCTURED)}
    return {name: str(value) for name, value in changes.items() if value in ("within", True)}


def chosen_correctness(header: LogHeader, correct: Correctness) -> Correctness:
    """Return what the user names, or what ``with_confidence`` was given, to say whether an answer is right."""
    wrapped = _wrapping(header)
    if not correct.is_default:
        return correct
    of_run = Correctness.parse(str(wrapped.get("correct") or ""), str(wrapped.get("scorer") or ""))
    return Correctness(of_run.name, of_run.least, of_run.scorer, correct.signals)


def _wrapping(header: LogHeader) -> Mapping[str, Any]:
    """Return what ``with_confidence`` wrote into a log; empty for other logs."""
    wrapped = (header.eval.metadata or {}).get("confidence_tasks")
    return wrapped if isinstance(wrapped, Mapping) else {}


def benchmark_log(
    path: str, header: LogHeader, invalid: frozenset[tuple[str, int]], correct: Correctness = BY_DEFAULT
) -> BenchmarkLog:
    """Return the trials in an Inspect log of a task that no study asks.

    Parameters
    ----------
    path : str
        Path or address of the log.
    header : LogHeader
        Its header.
    invalid : frozenset of (str, int)
        Identifier and epoch of the samples that do not count.
    correct : Correctness, optional
        Scorer and value that say whether an answer is right; by default those that ``with_confidence`` was given, or
        the first scorer.

    Raises
    ------
    NotTrialsError
        If no answer is right or wrong, with the most frequent reason.
    """
    log, task = BenchmarkLog(), task_of(header)
    correct = chosen_correctness(header, correct)
    read: list[_Read] = []
    for sample in _samples(path, invalid):
        log.n_samples += 1
        if not sample.error and not sample.limit:  # otherwise it is lost, whatever its scorer said
            stop = why_stopped(sample.output)
            outcome = _FILTERED if stop == "filter" else correctness(sample.scores or {}, correct)
            read.append(_Read(sample, *outcome, sample_signals(sample, correct.signals), stop))
    _require_outcomes(read, f"task {task} (status: {header.status})")
    signals = signals_worth_showing([each.signals for each in read])
    log.n_read = len(read)
    log.graded_by = _graded_by(read[0].sample, correct)
    for each in read:
        facts = _facts(each.sample, task)
        for signal in signals:
            value, problem = each.signals.get(signal, math.nan), problem_of_asked(each.sample, signal)
            columns = columns_of_signal(signal, value, each.stop, problem)
            log.add({**facts, "correct": each.correct, **columns})
    return log


def _graded_by(sample: EvalSample, correct: Correctness) -> dict[str, str]:
    """Return what says whether an answer is right, as far as it is a choice."""
    scorers = own_scorers(sample.scores or {})
    scorer = {"scorer": correct.scorer or scorers[0]} if len(scorers) > 1 else {}
    return {**scorer, **({"right answers": correct.text} if correct.text else {})}


class _Read(NamedTuple):
    """A sample with its correctness, or the reason why it has none, its signals, and why its reply is unfinished."""

    sample: EvalSample
    correct: float
    reason: str
    signals: dict[str, float]
    stop: Stop


_FILTERED = math.nan, f"the answers were {PROBLEMS['filter']}"
"""Correctness of a reply that a content filter stopped: it is no answer, whatever the scorer says of its text."""


def _samples(path: str, invalid: frozenset[tuple[str, int]]) -> Iterator[EvalSample]:
    """Yield the valid samples of a log without what no signal needs."""
    for sample in whole_samples(path, _NOT_NEEDED):
        if (str(sample.id), sample.epoch) not in invalid:
            yield sample


_NOT_NEEDED = {"events", "attachments", "store", "messages"}


def _require_outcomes(read: list[_Read], where: str) -> None:
    """Raise NotTrialsError if no answer is right or wrong, or if one has partial credit."""
    partial = [each.reason for each in read if is_partial(each.correct)]
    if partial:
        raise NotTrialsError(f"{where}: {partial[0]}")
    if all(math.isnan(each.correct) for each in read):
        reasons = Counter(each.reason for each in read).most_common(1)
        raise NotTrialsError(f"{where}: {reasons[0][0] if reasons else 'no sample was scored'}")


def _facts(sample: EvalSample, task: str) -> dict[str, Any]:
    """Return the columns that do not depend on the signal."""
    messages = (
        sample.input if isinstance(sample.input, str) else [(each.role, each.text) for each in sample.input]
    )
    answer = next((str(score.answer) for score in (sample.scores or {}).values() if score.answer), "")
    options = sample.choices or []
    return {
        "question_id": str(sample.id),
        "source": task,
        "task": task,
        "answer": answer[:MOST_CHARACTERS],
        "option_mass": math.nan,
        "n_options": float(len(options)) if options else math.nan,
        "equal_options": float(len(set(options)) < len(options)) if options else math.nan,
        "question_digest": question_digest(str(messages), options),
        "prompt_digest": prompt_digest(messages) if messages else "",
        RULES: _marks(sample),
        **_shared(sample),
        "fallback": _fallback(sample),
        "sample_id": str(sample.id),
        "epoch": sample.epoch,
    }


def _fallback(sample: EvalSample) -> str:
    return fallback_models([each.model_dump() for each in sample.model_fallbacks or ()])


def _shared(sample: EvalSample) -> dict[str, str]:
    """Return the subject and the cluster of a question, as its task named them in the metadata of the sample."""
    named = {key: (sample.metadata or {}).get(key) for key in SHARED}
    return {key: str(value) if isinstance(value, str | int) else "" for key, value in named.items()}


def _marks(sample: EvalSample) -> str:
    """Return the rules of a reply with a thought or with control tokens."""
    return "+".join(marks_of_reply(reply_text(sample.output))) if sample.output.choices else ""
