"""Runs that stop when a gate is decided: a manager of Inspect's early stopping."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSampleSummary, EvalSpec, read_eval_log_sample_summaries
from inspect_ai.scorer import SampleScore, Score
from inspect_ai.util import EarlyStop

from confidence_tasks.harness.logged_trials import scored_trial
from confidence_tasks.harness.usage_errors import UsageError
from confidence_tasks.sources.source import seeded_key
from confidence_tasks.study.definition import Study
from confidence_tasks.study.gates import LEFT_OUT, LOST, Gate, GateProgress, difference, trial_value
from confidence_tasks.study.parameter import ALPHA, EFFORTS, SEED, STOP
from confidence_tasks.study.trial import Item

_log = logging.getLogger(__name__)

Key: TypeAlias = tuple[str, str, str]
"""Condition, source and identifier of a question."""


def planned(
    study: Study, parameters: Mapping[str, Any], items: Sequence[Item]
) -> tuple[Sequence[Item], GateStopping | None]:
    """Return the items of a task in their order, and the manager that stops it at the decision of its gate.

    Without a gate the order stays and there is no manager. With one, questions are in a seeded random order, the
    conditions of a question side by side: sources may balance the order of theirs.

    Raises
    ------
    ValueError
        If the gate cannot be decided while questions are being asked, or its earlier log was asked other questions.
    """
    if parameters[STOP.name] is None:
        return items, None
    gate = Gate.parse(parameters[STOP.name])
    if parameters[EFFORTS.name] is not None:
        raise ValueError(
            f"stop={gate} decides on one reasoning effort: leave out efforts, and set --reasoning-effort"
        )
    if repeats := study.asking.repeats_parameter:
        _refuse_epochs(gate, parameters[repeats])
    alpha = parameters[ALPHA.name]
    for condition in gate.conditions(item.condition for item in items):
        gate.test(study, condition, alpha)
    earlier = earlier_values(gate, study, items) if gate.earlier else None
    return _in_random_order(items, parameters[SEED.name]), GateStopping(gate, study, alpha, earlier)


def _in_random_order(items: Sequence[Item], seed: int) -> list[Item]:
    return sorted(items, key=lambda item: seeded_key(seed, STOP.name, item.question.source, item.question.id))


def _refuse_epochs(gate: Gate, epochs: int) -> None:
    if epochs > 1:
        raise ValueError(
            f"stop={gate} needs one epoch, got {epochs}: replies to one question are not independent of each other"
        )


class GateStopping:
    """Skips the samples of a condition as soon as its gate is decided; see Inspect's ``EarlyStopping``.

    Samples in flight at the decision are kept. A manager never ends a run: if it fails, it skips nothing any more.

    Parameters
    ----------
    gate : Gate
        The gate.
    study : Study
        The study whose trials are tested.
    alpha : float
        Largest probability of a wrong decision over all conditions.
    earlier : mapping, optional
        Values of the earlier log that the gate names.
    """

    def __init__(
        self, gate: Gate, study: Study, alpha: float, earlier: Mapping[Key, float | None] | None = None
    ) -> None:
        self.gate, self.study, self.alpha, self.earlier = gate, study, alpha, earlier
        self.measure = gate.measure_of(study)
        self.model = self.problem = self._eval_id = ""
        self.progress: dict[str, GateProgress] = {}
        self._keys: dict[str, Key] = {}
        self._done: dict[str, set[str]] = defaultdict(set)

    async def start_task(self, task: EvalSpec, samples: list[Sample], epochs: int) -> str:
        """Take the planned order of the samples, before the first call."""
        if self.model not in ("", task.model):
            raise UsageError(
                f"stop={self.gate}: one Task object cannot run with two models, {self.model} and {task.model}, because"
                " their replies would be mixed: make a task for each, as the command line does"
            )
        try:
            _refuse_epochs(self.gate, epochs)
            self._plan(samples)
        except ValueError as error:
            raise UsageError(str(error)) from error
        self.model, self.problem, self._eval_id = task.model, "", task.eval_id
        self._running()[task.eval_id] = self.lose
        return STOP.name

    def _running(self) -> dict[str, Callable[[str], None]]:
        """Return the running tasks that are told of lost samples.

        The hook is registered when a task stops early: Inspect prints the hooks that are registered when it starts.
        """
        from confidence_tasks.harness.inspect.lost_samples import RUNNING

        return RUNNING

    def _plan(self, samples: Sequence[Sample]) -> None:
        planned: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._done.clear()
        self._keys = {}
        for sample in samples:
            metadata, name = sample.metadata or {}, str(sample.id)
            key = self._keys[name] = _key(metadata)
            cluster = metadata.get("cluster")
            planned[key[0]].append((name, f"{key[1]}\x1f{cluster}" if cluster else name))
        conditions = self.gate.conditions(planned)
        alpha = self.alpha / len(conditions)
        self.progress = {
            each: GateProgress(planned[each], self.gate.test(self.study, each, alpha)) for each in conditions
        }

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:
        """Skip a sample whose condition is decided."""
        progress = self.progress.get(self._keys[str(id)][0])
        if progress is None or not progress.n_decided or self.problem:
            return None
        outcome = self.gate.outcome(progress.test.decision)
        return EarlyStop(id=id, epoch=epoch, reason=f"{self.gate}: {outcome}")

    async def complete_sample(self, id: str | int, epoch: int, scores: dict[str, SampleScore]) -> None:
        """Add the value of a sample."""
        scored = scores.get(self.study.scorer_name)
        self._add(str(id), lambda: self._value(str(id), scored.score if scored else None))

    def lose(self, sample: str) -> None:
        """Add a sample that an error or a limit ended."""
        self._add(sample, lambda: LOST)

    def _value(self, sample: str, score: Score | None) -> float | None:
        value = _value_of(self.study, self.gate, score)
        if self.earlier is None or value is LEFT_OUT:
            return value
        return difference(value, self.earlier.get(self._keys[sample], LEFT_OUT))

    def _add(self, sample: str, value: Callable[[], float | None]) -> None:
        try:
            condition = self._keys[sample][0]
            if condition in self.progress:
                self._done[condition].add(sample)
                self.progress[condition].add(sample, value())
        except Exception as error:  # whatever a measure raises: the run goes on without its gate
            self.problem = f"{type(error).__name__}: {error}"
            _log.warning("stop=%s does not stop the run: %s", self.gate, self.problem)

    async def complete_task(self) -> dict[str, Any]:
        """Return what was decided, for the log; reports decide again from the trials."""
        self._running().pop(self._eval_id, None)
        self.model = ""
        found = {condition: self._found(condition, each) for condition, each in self.progress.items()}
        problem = {"problem": self.problem} if self.problem else {}
        return {"gate": str(self.gate), "alpha": self.alpha, "conditions": found, **problem}

    def _found(self, condition: str, progress: GateProgress) -> dict[str, Any]:
        n_done = len(self._done[condition])
        return {
            "outcome": self.gate.outcome(progress.test.decision),
            "questions": progress.n_decided or n_done,
            "in_flight": n_done - progress.n_decided if progress.n_decided else 0,
        }


def _key(metadata: Mapping[str, Any]) -> Key:
    """Return condition, source and identifier of the question of a sample."""
    return metadata["condition"], metadata["source"], metadata["question_id"]


def _value_of(study: Study, gate: Gate, score: Score | None) -> float | None:
    """Return the value of a score; LOST if it has no trial."""
    if score is None or not isinstance(score.value, dict):
        return LOST
    return trial_value(gate.measure_of(study), scored_trial(score.value, score.metadata))


def earlier_values(gate: Gate, study: Study, items: Sequence[Item]) -> dict[Key, float | None]:
    """Return the values of the earlier log that a gate names, by question.

    Raises
    ------
    ValueError
        If the log cannot be read, is of another study, or was not asked all questions of ``items``.
    """
    try:
        summaries = read_eval_log_sample_summaries(gate.earlier)
    except (OSError, ValueError) as error:
        raise ValueError(f"stop={gate}: the earlier log cannot be read: {error}") from error
    asked = {_key(each.metadata): each for each in summaries if study.scorer_name in (each.scores or {})}
    if not asked:
        raise ValueError(f"stop={gate}: the earlier log has no trials of {study.name}")
    _refuse_others(gate, asked, items)
    return {key: _earlier_value(study, gate, each) for key, each in asked.items()}


def _refuse_others(gate: Gate, asked: Mapping[Key, EvalSampleSummary], items: Sequence[Item]) -> None:
    """Raise ValueError if the samples of the earlier log lack the question of an item."""
    missing = [item for item in items if not _is_same(asked.get(_key_of(item)), item)]
    if missing:
        raise ValueError(
            f"stop={gate}: the earlier log was not asked {len(missing):,} of the {len(items):,} questions, such as"
            f" {missing[0].id}: choose the source, n, seed and conditions of that run"
        )


def _key_of(item: Item) -> Key:
    return item.condition, item.question.source, item.question.id


_BEGINNING = 200
"""Number of characters by which questions are compared: summaries of samples lack the end of long ones."""


def _is_same(summary: EvalSampleSummary | None, item: Item) -> bool:
    """Return whether a sample of the earlier log asks the question of an item."""
    if summary is None:
        return False
    texts = summary.metadata.get("question", ""), item.question.text
    first, second = (" ".join(str(text).split())[:_BEGINNING] for text in texts)
    return first == second


def _earlier_value(study: Study, gate: Gate, summary: EvalSampleSummary) -> float | None:
    if summary.error or summary.limit:
        return LEFT_OUT
    score = (summary.scores or {})[study.scorer_name]
    return _value_of(study, gate, score) if isinstance(score.value, dict) else LEFT_OUT
