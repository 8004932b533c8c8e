"""Whether the mean log-probability is graded evidence for correctness: accuracy by quarters of it.

Cacioli (2026), arXiv:2603.25112, sections 2.3 and 4.1.
"""

from __future__ import annotations

import numpy as np

from confidence_tasks.statistics import wilson_interval
from confidence_tasks.statistics.calibration.binning import Bins, independent_trials
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.studies.logprob_metacognition.outcomes import (
    ENOUGH,
    Outcome,
    Test,
    counted,
    enough_of_both,
    outcome,
)
from confidence_tasks.studies.logprob_metacognition.tables import ConditionCounts, LogprobResampler


def monotonicity(experiment: LogprobResampler) -> Outcome:
    """Test that accuracy rises from each quarter of the evidence to the next, as evidence for correctness must.

    Supported when it does in every model and source at T = 1. A cell's ``p_value`` is the largest of the three
    one-sided exact tests (Fisher) of neighbouring quarters: that of the hypothesis that one of them does not rise
    (Berger 1982, doi:10.2307/1267823). Trials of a question that was asked several times count for as many independent
    ones as they are worth at least. The estimate is the smallest rise, with the interval of Newcombe (1998,
    doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I, method 10). ``rises`` says whether the four
    shares rise strictly, which is all that the paper asks (table 5); chance alone makes that happen once in 24 times.
    """
    texts = (
        "Monotonicity",
        "Accuracy by quarter of the evidence",
        "The mean log-probability is graded evidence for correctness.",
        "Accuracy rises from each quarter of it to the next in every model and source (p < .05 for each rise).",
    )
    tests: list[Test] = []
    rows: list[Test] = []
    n = 0
    for source in experiment.sources:
        for model, cell in enough_of_both(experiment, source).items():
            right, total = quarter_counts(cell)
            worth = quarter_worth(cell)
            low, high = (np.asarray(limit) for limit in wilson_interval(worth * (right / total), worth))
            label = model if len(experiment.sources) == 1 else f"{model}, {source}"
            whole = np.floor(worth + _ROUNDING)
            p_values = _rises(np.rint(whole * (right / total)), whole)
            tests.append(
                {
                    "what": label,
                    **_smallest_rise(right / total, low, high),
                    **{f"q{i + 1}": float(value) for i, value in enumerate(right / total)},
                    "rises": len(total) == 4 and bool((np.diff(right / total) > 0.0).all()),
                    "p_value": float(p_values.max()),
                    "passes": bool(p_values.max() < 0.05),
                }
            )
            rows += [
                {"model": model, "source": source, "quarter": i + 1, "value": float(right[i] / total[i])}
                | {"low": float(low[i]), "high": float(high[i]), "n": int(total[i])}
                for i in range(len(right))
            ]
            n += cell.n
    if not tests:
        return outcome(*texts, verdict="cannot be tested", why=f"No model was asked {ENOUGH}.")
    failing = [test["what"] for test in tests if not test["passes"]]
    which = f"; not shown in {', '.join(failing)}" if failing else ""
    return outcome(
        *texts,
        verdict="not supported" if failing else "supported",
        why=f"It rises in {len(tests) - len(failing)} of {counted(len(tests), 'case')}{which}. By the shares alone, as"
        f" the paper has it, in {sum(test['rises'] for test in tests)}.",
        tests=tests,
        rows=rows,
        deciding=min(tests, key=lambda test: test["estimate"]),
        level=0.95,
        n=n,
    )


def quarter_counts(cell: ConditionCounts) -> tuple[FloatArray, FloatArray]:
    """Return the right answers and all answers in each quarter of the evidence, equal evidence sharing one."""
    quarter = Bins(4, "equal_mass").numbers(cell.evidence)
    right, total = (np.bincount(quarter, weights, minlength=4) for weights in (cell.correct, np.ones(cell.n)))
    used = total > 0
    return right[used].astype(np.float64), total[used].astype(np.float64)


_ROUNDING = 1e-9
"""What a whole number of trials may lose."""


def quarter_worth(cell: ConditionCounts) -> FloatArray:
    """Return how many independent trials those of each quarter are worth, where questions were asked several times."""
    partition = Bins(4, "equal_mass")
    total = np.bincount(partition.numbers(cell.evidence), minlength=4).astype(np.float64)
    return independent_trials(cell.asked, partition, cell.evidence, total)[total > 0]


def _rises(right: FloatArray, total: FloatArray) -> FloatArray:
    """Return the one-sided exact p-values of neighbours being no higher; 1 where there are none."""
    if len(total) < 2:
        return np.ones(1)
    from scipy.stats import hypergeom

    both, of_both = right[:-1] + right[1:], total[:-1] + total[1:]
    return np.asarray(hypergeom.sf(right[1:] - 1, of_both, both, total[1:]), dtype=np.float64)


def _smallest_rise(share: FloatArray, low: FloatArray, high: FloatArray) -> dict[str, float]:
    if len(share) < 2:
        return {"estimate": float("nan"), "low": float("nan"), "high": float("nan")}
    rise = np.diff(share)
    i = int(rise.argmin())
    return {
        "estimate": float(rise[i]),
        "low": float(rise[i] - np.hypot(share[i + 1] - low[i + 1], high[i] - share[i])),
        "high": float(rise[i] + np.hypot(high[i + 1] - share[i + 1], share[i] - low[i])),
    }
