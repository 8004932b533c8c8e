"""All signals of an answer together: a cross-fitted logistic regression, and what it gains over the best of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confidence_tasks.studies.signals.catalogue import COMBINED, SIGNALS
from confidence_tasks.studies.signals.trials import evidence
from confidence_tasks.study import Measure
from confidence_tasks.study.measures import Columns, Value, min_count, right_and_wrong

if TYPE_CHECKING:
    from confidence_tasks.statistics.core import FloatArray


@dataclass(frozen=True, slots=True)
class SignalTable:
    """The signals of each answer side by side, over the answers that have a key.

    Attributes
    ----------
    signals : tuple of str
        The columns.
    rows : ndarray of int, shape (answers, signals)
        The trial of each; -1 where there is none.
    first : ndarray of int, shape (answers,)
        A trial of each answer.
    evidence : ndarray, shape (answers, signals)
        What logistic regressions take (:func:`evidence`); NaN where a signal is missing.
    correct : ndarray, shape (answers,)
        1 or 0.
    """

    signals: tuple[str, ...]
    rows: Any
    first: Any
    evidence: FloatArray
    correct: FloatArray


def signal_table(trials: Columns) -> SignalTable:
    """Set the signals of each answer side by side; a question asked in several epochs has several answers."""
    import numpy as np

    signals = tuple(name for name in SIGNALS if (trials["condition"] == name).any())
    epoch = trials.get("epoch", np.ones(len(trials["question_id"])))
    asked = list(zip(trials["question_id"].tolist(), epoch.tolist(), strict=True))
    keys = {key: i for i, key in enumerate(dict.fromkeys(asked))}
    rows = np.full((len(keys), len(signals)), -1)
    for row, (key, condition) in enumerate(zip(asked, trials["condition"], strict=True)):
        if condition in signals:  # a file of trials may have others
            rows[keys[key], signals.index(condition)] = row
    rows = rows[(rows >= 0).any(axis=1)]
    first = rows.max(axis=1, initial=-1)
    judged = ~np.isnan(trials["correct"][first])
    rows, first = rows[judged], first[judged]
    values = np.where(rows >= 0, evidence(trials)[rows], np.nan)
    some = np.asarray(~np.isnan(values).all(axis=0))
    named = tuple(name for name, has in zip(signals, some.tolist(), strict=True) if has)
    return SignalTable(named, rows[:, some], first, values[:, some], trials["correct"][first])


def combined_probability(table: SignalTable, trials: Columns) -> FloatArray:
    """Return the cross-fitted probability of being right by all signals, shape (answers,); NaN with fewer than two."""
    import numpy as np

    from confidence_tasks.statistics.calibration import cross_fitted_logistic

    if len(table.signals) < 2:
        return np.full(len(table.correct), np.nan)
    return cross_fitted_logistic(table.correct, table.evidence, clusters=trials["question_id"][table.first])


def _areas(trials: Columns, weights: FloatArray | None) -> tuple[Value, Value]:
    """Return the AUROC of the combination, and of the single signal that has the highest on all trials."""
    import numpy as np

    from confidence_tasks.statistics import auroc2

    table = signal_table(trials)
    combined = combined_probability(table, trials)
    if not len(table.correct) or np.isnan(combined).any():
        nothing: Value = math.nan if weights is None else np.full(len(weights), np.nan)
        return nothing, nothing

    def area(column: FloatArray, weights: FloatArray | None) -> Value:
        known = ~np.isnan(column)
        ranks = np.unique(column[known], return_inverse=True)[1]
        result: Value = auroc2(
            table.correct[known],
            ranks / max(ranks.max(initial=0), 1),
            weights=None if weights is None else weights[..., table.first[known]],
        )
        return result

    singles = [float(area(column, None)) for column in table.evidence.T]
    if np.isnan(singles).all():
        return area(combined, weights), area(combined, weights)
    return area(combined, weights), area(table.evidence[:, int(np.nanargmax(singles))], weights)


def _combined_area(trials: Columns, weights: FloatArray | None = None) -> Value:
    return _areas(trials, weights)[0]


def _gain(trials: Columns, weights: FloatArray | None = None) -> Value:
    combined, best = _areas(trials, weights)
    return combined - best


POOLED: tuple[Measure, ...] = (
    Measure(
        f"auroc_{COMBINED}",
        _combined_area,
        "AUROC of a logistic regression on all signals, cross-fitted over questions.",
        "higher",
        "transformed",
        bounds=(0.0, 1.0),
        informative=min_count(*right_and_wrong()),
        fitted=True,
    ),
    Measure(
        f"gain_{COMBINED}",
        _gain,
        "The same minus the AUROC of the best single signal, which is the best on these very trials.",
        "higher",
        informative=min_count(*right_and_wrong()),
        bounds=(-1.0, 1.0),
        fitted=True,
    ),
)
"""Of all signals of a model together."""
