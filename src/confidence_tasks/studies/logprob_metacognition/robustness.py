"""The robustness checks of the log-probability study: whether M-ratio is the same when it is computed another way.

Cacioli (2026), arXiv:2603.25112, section 3.4, names six checks; its supplement, with R2 to R6, was not published with
it. How they are carried out here is said at each. All six are decided alike: an M-ratio is robust when its difference
from the primary one is shown to be small, by two one-sided tests at .05 in every model. A difference that merely cannot
be shown is no robustness.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from confidence_tasks.report.estimates import Distribution
from confidence_tasks.statistics import wilson_interval
from confidence_tasks.statistics.calibration.binning import Bins, independent_trials
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.studies.logprob_metacognition.hypotheses import (
    ENOUGH,
    Outcome,
    Test,
    counted,
    enough_of_both,
    limits,
    outcome,
)
from confidence_tasks.studies.logprob_metacognition.resampling import RESAMPLED, Cell, LogprobResampler


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
    cells: list[Cell] = []
    for source in experiment.sources:
        for model, cell in enough_of_both(experiment, source).items():
            right, total, worth = quarter_counts(cell)
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
            cells.append(cell)
    if not tests:
        return outcome(*texts, why=_FEW)
    failing = [test["what"] for test in tests if not test["passes"]]
    which = f"; not shown in {', '.join(failing)}" if failing else ""
    return outcome(
        *texts,
        holds=not failing,
        why=f"It rises in {len(tests) - len(failing)} of {counted(len(tests), 'case')}{which}. By the shares alone, as"
        f" the paper has it, in {sum(test['rises'] for test in tests)}.",
        tests=tests,
        rows=rows,
        deciding=min(tests, key=lambda test: test["estimate"]),
        cells=cells,
    )


def quarter_counts(cell: Cell) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the right answers and all answers in each quarter of the evidence, equal evidence sharing one.

    The third is how many independent trials they are worth, where questions were asked several times.
    """
    partition = Bins(4, "equal_mass")
    quarter = partition.numbers(cell.evidence)
    right, total = (
        np.bincount(quarter, weights, minlength=4).astype(np.float64, copy=False)
        for weights in (cell.correct, np.ones(cell.n))
    )
    worth = independent_trials(cell.asked, partition, cell.evidence, total)
    used = total > 0
    return right[used], total[used], worth[used]


_ROUNDING = 1e-9
"""What a whole number of trials may lose."""


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


SAME_TRIALS = 0.1
"""Margin where the trials are the same: twice the largest change that table 4 of the paper calls small."""

OTHER_TRIALS = 0.3
"""Margin where the trials are others: the one that H3 was registered with."""

LEVEL = 0.9
"""Of the intervals: two one-sided tests at .05."""

_FEW = f"No model was asked {ENOUGH}."


Changed: TypeAlias = Mapping[tuple[str, str], tuple[Cell, Distribution]]
"""By model and way of computing it, another M-ratio, and the cell that it is of."""


@dataclass(frozen=True, slots=True)
class RobustnessCheck:
    """A robustness check; a call with the resampled cells gives its outcome, whose estimate is the largest change."""

    name: str
    title: str
    alternative: str  # how M-ratio is computed, as the end of a sentence
    margin: float  # the largest change that is small
    changed: Callable[[LogprobResampler], Changed]
    measure: str = RESAMPLED  # the primary M-ratio that was drawn together with the changed ones
    lacking: Callable[[LogprobResampler], str] = lambda experiment: _FEW  # why there is none

    def __call__(self, experiment: LogprobResampler) -> Outcome:
        """Decide the check."""
        texts = (
            self.name,
            self.title,
            f"M-ratio is the same {self.alternative}.",
            f"In every model the {LEVEL:.0%} interval of its change lies within ±{self.margin:g}.",
        )
        primary = enough_of_both(experiment, experiment.primary_source)
        kept = {key: value for key, value in self.changed(experiment).items() if key[0] in primary}
        if not kept:
            return outcome(*texts, why=self.lacking(experiment))
        tests: list[Test] = []
        for (model, way), (cell, ratio) in kept.items():
            found = limits(ratio - primary[model].measure(self.measure), experiment.settings, LEVEL)
            within = abs(found["low"]) < self.margin and abs(found["high"]) < self.margin
            test = {"what": f"{model}, {way}", **found, "passes": within, "n": cell.n}
            tests.append({**test, "model": model, "way": way})
        rows = [
            _row(model, "primary", cell, cell.measure("mratio_v1"), experiment)
            for model, cell in primary.items()
        ]
        rows += [_row(*key, cell, ratio, experiment) for key, (cell, ratio) in kept.items()]
        return outcome(
            *texts,
            holds=all(test["passes"] for test in tests),
            why=_reason(tests, rows, self.margin),
            tests=tests,
            rows=rows,
            cells=[cell for cell, _ in kept.values()],
        )


def _row(model: str, way: str, cell: Cell, ratio: Distribution, experiment: LogprobResampler) -> Test:
    found = limits(ratio, experiment.settings)
    return {"model": model, "way": way, "value": found.pop("estimate"), **found, "n": cell.n}


def _reason(tests: Sequence[Test], rows: Sequence[Test], margin: float) -> str:
    changed = [test["what"] for test in tests if test["low"] >= margin or test["high"] <= -margin]
    unsure = [test["what"] for test in tests if not test["passes"] and test["what"] not in changed]
    said = [f"Shown to be small in {sum(test['passes'] for test in tests)} of {counted(len(tests), 'case')}"]
    if changed:
        said.append(f"larger than the margin in {'; '.join(changed)}")
    if unsure:
        said.append(f"too uncertain to tell in {'; '.join(unsure)}")
    if len({row["model"] for row in rows}) > 1:
        order = "the same" if _same_order(rows) else "not the same"
        said.append(f"the order of the models is {order} throughout")
    return "; ".join(said) + "."


def _same_order(rows: Sequence[Test]) -> bool:
    """Return whether the models have the same order every way that all of them were computed."""
    by_way: dict[str, dict[str, float]] = {}
    for row in rows:
        by_way.setdefault(row["way"], {})[row["model"]] = row["value"]
    models = by_way["primary"]
    orders = {
        tuple(sorted(models, key=values.__getitem__))
        for values in by_way.values()
        if len(values) == len(models)
    }
    return len(orders) == 1


def _rebinned(*names: str) -> Callable[[LogprobResampler], Changed]:
    """Return what gives the M-ratio of other ways to bin the primary source."""
    return lambda experiment: {
        (model, name): (cell, cell.measure(RESAMPLED))
        for name in names
        for model, cell in enough_of_both(experiment, experiment.primary_source, binning=name).items()
    }


def _at_own_variances(experiment: LogprobResampler) -> Changed:
    return {
        (model, f"s = {cell.standard_deviation_ratio:.2f}"): (cell, cell.measure("mratio_v1_unequal"))
        for model, cell in enough_of_both(experiment, experiment.primary_source).items()
    }


def _of_other_sources(experiment: LogprobResampler) -> Changed:
    return {
        (model, source): (cell, cell.measure(RESAMPLED))
        for source in experiment.sources[1:]
        for model, cell in enough_of_both(experiment, source).items()
    }


def _without_other_source(experiment: LogprobResampler) -> str:
    one_source = "No model was asked questions of two sources: run the task with source=nq_open as well."
    return one_source if len(experiment.sources) < 2 else _FEW


def _without_gold(experiment: LogprobResampler) -> str:
    not_asked = (
        "The log-probability of the right answer was not asked for: run the task with force_gold=true."
    )
    return _FEW if any(key.binning == "gold" for key in experiment.cells) else not_asked


binning_sensitivity = RobustnessCheck(
    "R1", "Number of bins", "with K = 3 and with K = 6", SAME_TRIALS, _rebinned("K=3", "K=6")
)
"""M-ratio with 6 and with 12 bins instead of 8 (section 4.8, table 4)."""

unequal_variance = RobustnessCheck(
    "R2",
    "Unequal variance",
    "when variances may differ",
    SAME_TRIALS,
    _at_own_variances,
    measure="mratio_v1",
)
"""M-ratio of the unequal-variance model (Maniscalco & Lau 2014, doi:10.1007/978-3-642-45190-4_3).

The ratio of standard deviations is the maximum-likelihood one of a model's trials, and in a resample its own. The
criterion is measured from the midpoint of the means, so that an ideal observer has M = 1 whatever the variances: where
this check fails, the primary M-ratio shows unequal variance and not metacognition."""

equal_width_bins = RobustnessCheck(
    "R3", "Bins of equal width", "with bins of equal width", SAME_TRIALS, _rebinned("equal_width")
)
"""M-ratio with bins of one width between the least and the largest evidence, instead of octiles.

The edges hang on two trials, so that a resample has its own."""

other_questions = RobustnessCheck(
    "R4",
    "Other questions",
    "on other questions",
    OTHER_TRIALS,
    _of_other_sources,
    lacking=_without_other_source,
)
"""M-ratio on other sources, Natural Questions in the paper (section 3.1), between their own octiles."""

gold_answer = RobustnessCheck(
    "R5",
    "Right answer force-decoded",
    "by the log-probability of the right answer",
    OTHER_TRIALS,
    _rebinned("gold"),
    lacking=_without_gold,
)
"""M-ratio with the mean log-probability of the right answer as the evidence, whatever was answered (section 2.3).

The right answer's tokens are put in the model's mouth after the same prompt, so that the evidence does not depend on
what was sampled."""

matched_difficulty = RobustnessCheck(
    "R6", "Matched difficulty", "at an accuracy of one half", OTHER_TRIALS, _rebinned("balanced")
)
"""M-ratio on questions that are equally difficult for every model, half of them answered right.

Of the right and the wrong answers of a model, whichever are more, as many are drawn at random as there are of the
other, and the octiles are those of the trials left."""

ROBUSTNESS_CHECKS = (
    binning_sensitivity,
    unequal_variance,
    equal_width_bins,
    other_questions,
    gold_answer,
    matched_difficulty,
)
"""All six."""
