"""The model's policy and the optimal policy: the trials on which each answers, and which of them are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from confidence_tasks import statistics
from confidence_tasks.study.columns import rows_of, where
from confidence_tasks.study.computations import StatisticCall, statistic_of
from confidence_tasks.study.inference import Columns, Compute, Value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from confidence_tasks.statistics.core import FloatArray

POLICY = ("answered", "confidence", "penalty")


SCAFFOLD = ("outcome", "confidence", "penalty", "available")


answers = where("answered", 1.0)


def _should_answer(trials: Columns) -> NDArray[Any]:
    """Return the trials on which the optimal policy answers, which requires a confidence."""
    rows: NDArray[Any] = trials["confidence"] >= statistics.optimal_threshold(trials["penalty"])
    return rows


def scaffold_without_answer(trials: Columns) -> NDArray[Any]:
    """Return the trials on which the optimal policy answers but the reply states no answer."""
    no_answer = (trials["answered"] == 0.0) & (trials["available"] == 0.0)
    rows: NDArray[Any] = _should_answer(trials) & no_answer & ~np.isnan(trials["outcome"])
    return rows


def _with_bare_abstentions(trials: Columns) -> Columns:
    """Set the confidence of a bare abstention to 0: the optimal policy abstains as well, as there is no answer.

    The prompt offers a reply of only ABSTAIN, without a confidence.
    """
    bare = np.isnan(trials["confidence"]) & (trials["answered"] == 0.0) & (trials["available"] == 0.0)
    return {**trials, "confidence": np.where(bare, 0.0, trials["confidence"])}


def optimal_policy(statistic: Callable[..., Any], *names: str, **options: Any) -> Compute:
    """Make a statistic of the optimal policy, which includes bare abstentions; arguments as in ``statistic_of``."""
    compute = statistic_of(statistic, *names, **options)

    def run(trials: Columns, weights: FloatArray | None = None) -> Value:
        return compute(_with_bare_abstentions(trials), weights)

    return StatisticCall(tuple(dict.fromkeys(("answered", *names))), run)


def compared(trials: Columns) -> NDArray[Any]:
    """Return the trials on which both the model's policy and the optimal policy decide."""
    confidence = _with_bare_abstentions(trials)["confidence"]
    rows: NDArray[Any] = ~(np.isnan(confidence) | np.isnan(trials["answered"]) | np.isnan(trials["outcome"]))
    return rows


def compared_trials(trials: Columns) -> Columns:
    """Return the trials on which both policies decide; a bare abstention has the confidence 0."""
    return rows_of(_with_bare_abstentions(trials), compared(trials))


def not_optimal(trials: Columns) -> NDArray[Any]:
    """Return the trials on which the model's decision differs from that of the optimal policy."""
    differs: NDArray[Any] = answers(trials) != _should_answer(trials)
    return differs & ~np.isnan(trials["confidence"]) & ~np.isnan(trials["answered"])
