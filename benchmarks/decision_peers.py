"""Print numbers of this package and of others that compare models, on the same replies.

    pip install evalci evalstats ppi-python ville
    python -m benchmarks.decision_peers > benchmarks/results_decision_peers.md

The replies are those of four models to 400 questions by ``tests/validity/many_models.py``. Where methods are the same,
so are the numbers; where one draws random numbers, they agree within the error of the draws.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from tests.validity.many_models import replies

from confidence_tasks import compare, summary
from confidence_tasks.statistics import confidence_sequence
from confidence_tasks.statistics.inference.prediction_powered import prediction_powered_mean

Row = tuple[str, str, tuple[float, ...], str, tuple[float, ...]]
"""Quantity, our method and numbers, and the other package's method and numbers."""

SKILLS = np.array([0.8, 1.0, 1.2, 1.6])
MODELS = replies(SKILLS, 400, np.random.default_rng(5))
RIGHT = np.array([model["correct"] for model in MODELS])
LABELS = list("ABCD")
"""Labels that `compare` gives to models without one."""


def single() -> Iterator[Row]:
    """Yield intervals of the accuracy of one model."""
    import evalci
    import evalstats

    found = summary(RIGHT[0], MODELS[0]["confidence"], measures=["accuracy"]).to_frame().iloc[0]
    ours = tuple(found[["value", "low", "high"]].astype(float))
    theirs = evalci.ci(RIGHT[0])
    yield "accuracy", "Wilson", ours, "evalci, Wilson", (theirs.estimate, theirs.lower, theirs.upper)
    of_stats = evalstats.mean_ci(RIGHT[0], rng=0)
    numbers = of_stats.mean, of_stats.ci_low, of_stats.ci_high
    yield "accuracy", "Wilson", ours, f"evalstats, {of_stats.method}", numbers


def pairs() -> Iterator[Row]:
    """Yield the difference of two models, and simultaneous intervals of all pairs."""
    import evalci
    from evalstats.core.paired import all_pairwise

    tables = [pd.DataFrame(model) for model in MODELS]
    found = compare(tables[0], tables[3], measures=["accuracy"]).to_frame().iloc[0]
    ours = tuple(found[["difference", "low", "high", "p_value"]].astype(float))
    theirs = evalci.compare(RIGHT[0], RIGHT[3], random_state=0)
    numbers = theirs.delta, *theirs.ci, theirs.p_value
    yield "difference and p", "studentised exchange", ours, "evalci, bootstrap and permutation", numbers
    matrix = all_pairwise(RIGHT, LABELS, rng=np.random.default_rng(0), prefer="max_t")
    many = compare(*tables, measures=["accuracy"]).pairs
    for _, row in many.iterrows():
        ours = tuple(row[["difference", "low", "high"]].astype(float))
        numbers = _numbers(matrix.results, row["first"], row["second"])
        where = f"all pairs at once, {row['first']} - {row['second']}"
        yield where, "max-T, exchange", ours, "evalstats, max-T, bootstrap", numbers


def _numbers(results: Mapping[tuple[str, str], Any], first: str, second: str) -> tuple[float, ...]:
    """Return a difference and its limits from pairs that may stand the other way round."""
    if (first, second) in results:
        pair = results[first, second]
        return pair.point_diff, pair.ci_low, pair.ci_high
    pair = results[second, first]
    return -pair.point_diff, -pair.ci_high, -pair.ci_low


def judged() -> Iterator[Row]:
    """Yield an accuracy that labels of people correct."""
    import evalstats
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    rng = np.random.default_rng(3)
    right = RIGHT[0]
    grade = np.where(right == 1.0, rng.random(400) < 0.9, rng.random(400) < 0.05).astype(float)
    labels = np.where(rng.permutation(400) < 100, right, np.nan)
    known = ~np.isnan(labels)
    found = prediction_powered_mean(labels, grade)
    ours = float(found.estimate), float(found.low), float(found.high)
    parts = labels[known], grade[known], grade[~known]
    (point,), (low, high) = ppi_mean_pointestimate(*parts), ppi_mean_ci(*parts, alpha=0.05)
    yield "judged accuracy", "PPI++", ours, "ppi_python, PPI++", (point, low[0], high[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = evalstats.judge_debias_mean_ci(grade, labels, n_bootstrap=10_000, rng=0)
    yield (
        "judged accuracy",
        "PPI++",
        ours,
        "evalstats, bootstrap",
        (theirs.mean, theirs.ci_low, theirs.ci_high),
    )


def sequences() -> Iterator[Row]:
    """Yield confidence sequences of an accuracy."""
    from ville.means import BettingCS

    ours, theirs = confidence_sequence(RIGHT[0]), BettingCS().fit(RIGHT[0])
    for n in (50, 100, 400):
        own = float(ours.low[n - 1]), float(ours.high[n - 1])
        other = float(theirs.lower_[n - 1]), float(theirs.upper_[n - 1])
        yield (
            f"accuracy at all times, {n} questions",
            "betting, mixture",
            own,
            "ville, betting, plug-in",
            other,
        )


def main() -> None:
    """Print the table."""
    print("# Decisions beside other packages\n\nEstimates and limits, p-values last, on the same replies.\n")
    print("| quantity | this package | | other package | |\n| --- | --- | --- | --- | --- |")
    for part in (single, pairs, judged, sequences):
        for quantity, method, ours, other, theirs in part():
            numbers = (", ".join(f"{each:.4f}" for each in side) for side in (ours, theirs))
            own, their = numbers
            print(f"| {quantity} | {method} | {own} | {other} | {their} |", flush=True)


if __name__ == "__main__":
    main()
