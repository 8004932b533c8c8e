"""Gates on the trials of logs: after how many questions a run would have stopped, or why it stopped."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from confidence_tasks.logs.task_trials import Columns, ModelTrials, TaskTrials, in_order, question_keys
from confidence_tasks.sources.source import seeded_key
from confidence_tasks.statistics.sequential import ConfidenceSequence, GateTest, confidence_sequence
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.gates import LEFT_OUT, LOST, Gate, GateProgress, Outcome, difference, trial_values
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.parameter import ALPHA, STOP

Key: TypeAlias = tuple[str, ...]
"""Condition, source and identifier of a question."""

Values: TypeAlias = Mapping[Key, float | None]
"""Value of each question."""


@dataclass(frozen=True, slots=True)
class GateSequence:
    """What a gate makes of the questions that one model was asked under one condition.

    Attributes
    ----------
    task, model, condition : str
        Who was asked what, and how.
    gate : Gate
        The gate.
    outcome : {"met", "not met", "open"}
        The decision.
    n_decided : int
        Number of questions that had been asked at the decision; 0 if there is none.
    n, n_lost : int
        Number of questions, and of those without a trial.
    is_planned : bool
        Whether the questions are in the planned order; otherwise their order is a seeded permutation.
    limits : ConfidenceSequence
        Intervals of the mean after each value. Questions without a value are left out.
    """

    task: str
    model: str
    condition: str
    gate: Gate
    outcome: Outcome
    n_decided: int
    n: int
    n_lost: int
    is_planned: bool
    limits: ConfidenceSequence


def gate_sequences(
    task: TaskTrials,
    model: ModelTrials,
    gate: Gate,
    alpha: float,
    *,
    seed: int = 0,
    earlier: Values | None = None,
) -> list[GateSequence]:
    """Return what a gate makes of a model's trials under each condition; together they err in ``alpha`` of cases.

    ``earlier`` are the values of the earlier log that the gate names. ``seed`` is that of the order of questions, if no
    planned order is known.

    Raises
    ------
    ValueError
        If the measure is unknown or no mean of bounded values, or the bound or the condition does not exist.
    """
    conditions = gate.conditions(in_order(model.columns["condition"]))
    tests = {each: gate.test(task.study, each, alpha / len(conditions)) for each in conditions}
    values = question_values(gate.measure_of(task.study), model.columns)
    if earlier is not None:
        values = {key: difference(value, earlier.get(key, LEFT_OUT)) for key, value in values.items()}
    planned = _planned(model)
    found = []
    for condition, test in tests.items():
        order = planned.get(condition) or _random_order(values, condition, seed)
        progress = _played(order, values, _clusters(model.columns), test)
        where = task.task, model.label, condition
        n_lost = sum(key not in values for key in order)
        found.append(_sequence(where, gate, progress, n_lost, is_planned=condition in planned))
    return found


def _random_order(values: Values, condition: str, seed: int) -> list[Key]:
    """Return the questions of a condition in a seeded random order."""
    return sorted((key for key in values if key[0] == condition), key=lambda key: seeded_key(seed, *key))


def _played(
    order: Sequence[Key], values: Values, clusters: Mapping[Key, str], test: GateTest
) -> GateProgress:
    """Return the progress of a gate after all questions."""
    progress = GateProgress([(repr(key), clusters.get(key, repr(key))) for key in order], test)
    for key in order:
        progress.add(repr(key), values.get(key, LOST))
    return progress


def _sequence(
    where: tuple[str, str, str], gate: Gate, progress: GateProgress, n_lost: int, *, is_planned: bool
) -> GateSequence:
    test = progress.test
    return GateSequence(
        *where,
        gate,
        gate.outcome(test.decision),
        progress.n_decided,
        len(progress.planned),
        n_lost,
        is_planned,
        confidence_sequence(progress.evidence, bounds=test.bounds, level=1.0 - test.alpha, bound=gate.bound),
    )


def question_values(measure: Measure, columns: Columns) -> dict[Key, float | None]:
    """Return the value of each question under each condition: the mean over its epochs."""
    by_key: dict[Key, list[float]] = defaultdict(list)
    for condition in in_order(columns["condition"]):
        trials = rows_of(columns, columns["condition"] == condition)
        for key, value in zip(question_keys(trials), trial_values(measure, trials), strict=True):
            by_key[key] += [] if value is LEFT_OUT else [value]
    return {key: float(np.mean(values)) if values else LEFT_OUT for key, values in by_key.items()}


def _clusters(columns: Columns) -> dict[Key, str]:
    """Return the cluster of each question that has one."""
    labels = columns["cluster"].tolist()
    return {
        key: f"{key[1]}\x1f{label}"
        for key, label in zip(question_keys(columns), labels, strict=True)
        if label
    }


def _planned(model: ModelTrials) -> dict[str, list[Key]]:
    """Return the questions of each condition in the planned order of the run; empty if that is unknown.

    A sample without a trial is named by its id, which ends with the condition.
    """
    if len(model.files) != 1:
        return {}
    key_of = dict(zip(model.columns["sample_id"].tolist(), question_keys(model.columns), strict=True))
    conditions = sorted({key[0] for key in key_of.values()}, key=len)
    order: dict[str, list[Key]] = defaultdict(list)
    for sample in model.files[0].planned:
        condition = next((each for each in conditions[::-1] if sample.endswith(f"/{each}")), "")
        key = key_of.get(sample, (condition, "", sample))
        order[key[0]].append(key)
    return order


def of_stopped_run(task: TaskTrials, model: ModelTrials) -> list[GateSequence]:
    """Return what the gate of a run that stopped early found, decided again from its trials.

    Empty if the run did not stop early, has no gate or is compared with an earlier log, or some of its trials are left
    out.
    """
    file = model.files[0]
    stop = file.parameters.get(STOP.name)
    if not (file.stopped and stop and len(model.files) == 1 and len(file) == len(model)):
        return []
    gate = Gate.parse(stop)
    alpha = float(file.parameters.get(ALPHA.name, ALPHA.default))
    return [] if gate.earlier else gate_sequences(task, model, gate, alpha)


def sentence_on(found: GateSequence) -> str:
    """Return a sentence that says what a gate found, with the interval of the mean."""
    limits, n = found.limits, len(found.limits.low)
    if not n:
        return f"{found.condition}: {found.gate} is open, as no question has a value"
    after = f" after {found.n_decided:,} questions" if found.n_decided else ""
    estimate = limits.estimate[-1]
    value = "" if math.isnan(estimate) else f"{_number(estimate)} "
    return (
        f"{found.condition}: {found.gate} is {found.outcome}{after}; {value}[{_number(limits.low[-1])},"
        f" {_number(limits.high[-1])}], a {100 * limits.level:.4g}% confidence sequence of {n:,} questions"
    )


def _number(value: float) -> str:
    """Format a number with a true minus sign, as the report does."""
    return f"{value:.3f}".replace("-", "−")
