"""Coverage of a random third of all intervals, on trials from an independent generator.

    python -m benchmarks.independent_coverage --studies 400 > benchmarks/results_independent_coverage.md

NumPy alone draws the trials: confidence from a mixture of a beta distribution and round numbers, correctness from a
calibration curve, intervals with lognormal arms, and replies that are unreadable at random. The true value of a mean is
that of the generator's own trials (`MEANS`); of any other measure, it is the value that the package computes for a
million trials. Measures that are fitted to the trials (conformal and recalibrated ones) are left out, as their true
value depends on the fit. ``python -m benchmarks.validity`` tests the intervals on simulated subjects.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.catalogue import studies
from confidence_tasks.report.estimates.distributions import distributions
from confidence_tasks.report.estimates.intervals import interval_of_measure
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import TrialSubset
from confidence_tasks.study.definition import Study
from confidence_tasks.study.measure import Measure

Array = NDArray[np.float64]
Table = dict[str, NDArray[np.generic]]
Rng = np.random.Generator

QUESTIONS = 200
MANY = 1_000_000
"""Number of trials for the true value of a measure."""

RESAMPLES = 500
PROPER = (0.93, 0.97)

# Trials ---------------------------------------------------------------------------------------------------------


def _beliefs(rng: Rng, n: int) -> Array:
    """Half of them round to twentieths, one in ten exactly .9, the others to hundredths."""
    exact = rng.beta(5.0, 2.0, n)
    kind = rng.random(n)
    return np.where(kind < 0.1, 0.9, np.where(kind < 0.6, np.round(20 * exact) / 20, np.round(exact, 2)))


def _happens(rng: Rng, probability: Array) -> Array:
    return (rng.random(len(probability)) < probability).astype(float)


def _graded(rng: Rng, n: int) -> Table:
    """Overconfident answers, of which some lack a confidence and some cannot be read."""
    confidence = _beliefs(rng, n)
    correct = _happens(rng, 0.25 + 0.6 * confidence**1.5)
    status = rng.choice(["ok", "repaired", "missing_confidence", "unreadable"], n, p=[0.86, 0.08, 0.03, 0.03])
    confidence[np.isin(status, ["missing_confidence", "unreadable"])] = np.nan
    correct[status == "unreadable"] = np.nan
    return {"correct": correct, "confidence": confidence, "status": status.astype(object)}


def _scales(rng: Rng, n: int) -> Table:
    table = _graded(rng, n)
    ends = {"lower": np.zeros(n), "upper": np.full(n, 100.0)}
    return {**table, "confidence_raw": 100.0 * table["confidence"], **ends}


def _question_sets(rng: Rng, n: int) -> Table:
    table = _graded(rng, n)
    for kind in ("answer", "judged", "token"):
        belief = _beliefs(rng, n)
        table |= {f"{kind}_confidence": belief, f"{kind}_correct": _happens(rng, 0.2 + 0.5 * belief)}
    told = rng.choice(["", "own_answer"], n, p=[0.8, 0.2]).astype(object)
    stimulus = _happens(rng, np.full(n, 0.5))
    return {**table, "confidence_raw": table["confidence"], "stimulus": stimulus, "rules": told}


def _lifeeval(rng: Rng, n: int) -> Table:
    """Guesses with a probability of being right, which is the best possible one in a third of the questions."""
    table = _graded(rng, n)
    correct = rng.beta(2.0, 3.0, n)
    best = np.minimum(1.0, correct + rng.lognormal(-2.5, 0.7, n) * (rng.random(n) < 0.67))
    confidence = np.round(np.clip(0.4 * correct + 0.6 * rng.beta(4.0, 2.0, n), 0.0, 1.0), 2)
    confidence[np.isnan(table["confidence"].astype(float))] = np.nan
    belief = _beliefs(rng, n)
    own = {"correct": correct, "confidence": confidence, "mas": best, "difficulty": 1.0 - best}
    return {**table, **own, "token_confidence": belief}


def _riskeval(rng: Rng, n: int) -> Table:
    """Decisions that answer to confidence, but not always, at a penalty of 5."""
    table = _graded(rng, n)
    confidence = table["confidence"].astype(float)
    answered = _happens(rng, 1.0 / (1.0 + np.exp((0.65 - np.nan_to_num(confidence, nan=0.5)) / 0.1)))
    answered[table["status"] == "unreadable"] = np.nan
    available = np.where(answered == 1.0, 1.0, _happens(rng, np.full(n, 0.6)))
    outcome = np.where(available == 1.0, table["correct"].astype(float), 0.0)
    outcome[np.isnan(answered)] = np.nan
    own = {"answered": answered, "available": available, "outcome": outcome, "penalty": np.full(n, 5.0)}
    return {**table, **own}


def _fermieval(rng: Rng, n: int) -> Table:
    """Whole exponents with lognormal arms around a centre that errs by Student's t."""
    truth = np.round(6.0 * rng.standard_normal(n))
    centre = truth + 1.2 * rng.standard_t(4.0, n)
    lower = np.floor(centre - rng.lognormal(0.5, 0.6, n))
    upper = np.ceil(centre + rng.lognormal(0.5, 0.6, n))
    short = np.maximum(lower - truth, 0.0) + np.maximum(truth - upper, 0.0)
    status = rng.choice(["ok", "unreadable"], n, p=[0.96, 0.04]).astype(object)
    lost = np.where(status == "ok", 0.0, np.nan)
    return {
        "lower": lower + lost,
        "upper": upper + lost,
        "truth": truth,
        "correct": (short == 0.0) + lost,
        "width": upper - lower + lost,
        "winkler": upper - lower + 20.0 * short + lost,
        "level": np.full(n, 0.9),
        "confidence": 0.9 + lost,
        "status": status,
        "split": rng.choice(["calibration", "test"], n).astype(object),
    }


def _fermieval_logprob(rng: Rng, n: int) -> Table:
    return {**_graded(rng, n), "integer_mass": 1.0 - 0.3 * rng.beta(1.0, 6.0, n)}


def _nlp_metad(rng: Rng, n: int) -> Table:
    """Mean log-probabilities from a gamma distribution: no two are alike."""
    logprob = -rng.gamma(1.5, 0.4, n)
    correct = _happens(rng, 0.15 + 0.7 * np.exp(logprob) ** 2)
    status = rng.choice(["ok", "unreadable"], n, p=[0.97, 0.03]).astype(object)
    lost = np.where(status == "ok", 0.0, np.nan)
    return {
        "mean_logprob": logprob + lost,
        "confidence": np.exp(logprob) + lost,
        "correct": correct + lost,
        "status": status,
    }


def _signals(rng: Rng, n: int) -> Table:
    table = _graded(rng, n)
    confidence = table["confidence"].astype(float)
    tokens = {f"{side}put_tokens": np.round(rng.lognormal(4.0, 0.5, n)) for side in ("in", "out")}
    return {
        **table,
        "value": np.log(np.clip(confidence, 0.01, 0.99)),
        "probability": confidence,
        "calls": 1.0 + rng.poisson(2.0, n),
        **tokens,
    }


GENERATORS: Mapping[str, Callable[[Rng, int], Table]] = {
    "scales": _scales,
    "question_sets": _question_sets,
    "lifeeval": _lifeeval,
    "riskeval": _riskeval,
    "fermieval": _fermieval,
    "fermieval_logprob": _fermieval_logprob,
    "fermieval_sampling": _fermieval,
    "nlp_metad": _nlp_metad,
    "signals": _signals,
}


def _trials(study: str, rng: Rng, n: int) -> Table:
    same = {"source": "drawn", "condition": "drawn", "temperature": 1.0}
    ids = np.array([f"q{i}" for i in range(n)], dtype=object) if n == QUESTIONS else np.arange(n)
    return {
        **{
            key: np.full(n, value, dtype=object if isinstance(value, str) else float)
            for key, value in same.items()
        },
        "question_id": ids,
        **GENERATORS[study](rng, n),
    }


# Truths ---------------------------------------------------------------------------------------------------------


def _tested(trials: Table, values: NDArray[np.generic]) -> NDArray[np.generic]:
    """Values of the test half."""
    return np.where(trials["split"] == "test", values, np.nan)


MEANS: Mapping[str, Callable[[Table], NDArray[np.generic]]] = {
    "accuracy": lambda trials: trials["correct"],
    "confidence": lambda trials: trials["confidence"],
    "overconfidence": lambda trials: trials["confidence"] - trials["correct"],
    "brier": lambda trials: (trials["confidence"] - trials["correct"]) ** 2,
    "parse_rate": lambda trials: np.isin(trials["status"], ["ok", "repaired"]).astype(float),
    "parse_rate_strict": lambda trials: (trials["status"] == "ok").astype(float),
    "abstention_rate": lambda trials: 1.0 - trials["answered"],
    "score": lambda trials: trials["correct"],
    "mas": lambda trials: trials["mas"],
    "integer_mass": lambda trials: trials["integer_mass"],
    "calls": lambda trials: trials["calls"],
    "tokens": lambda trials: trials["input_tokens"] + trials["output_tokens"],
    "coverage": lambda trials: _tested(trials, trials["correct"]),
    "coverage_gap": lambda trials: _tested(trials, trials["correct"] - 0.9),
    "coverage_of_all": lambda trials: _tested(trials, np.nan_to_num(trials["correct"])),
    "mean_width": lambda trials: _tested(trials, trials["width"]),
    "winkler_calibration": lambda trials: np.where(trials["split"] == "test", np.nan, trials["winkler"]),
    "own_answer_share": lambda trials: trials["rules"] == "own_answer",
    "answer_overconfidence": lambda trials: trials["answer_confidence"] - trials["answer_correct"],
    **{
        f"{kind}_{name}": lambda trials, column=f"{kind}_{column}": trials[column]
        for kind in ("answer", "judged", "token")
        for name, column in (("accuracy", "correct"), ("confidence", "confidence"))
    },
}
"""Measures that are means, by the trials that have what they need."""


def _truth(study: Study, measure: Measure, trials: Table) -> tuple[float, str]:
    own = MEANS.get(measure.name)
    if own is None or (study.name, measure.name) in OTHERWISE:
        return float(measure.compute(trials, None)), "package"
    return float(np.nanmean(own(trials).astype(float))), "own"


OTHERWISE = {("riskeval", "brier"), ("fermieval", "parse_rate"), ("fermieval", "parse_rate_strict")}
"""Measures of a part of the trials: of the answers given, of the test half."""

# Coverage -------------------------------------------------------------------------------------------------------


def chosen_third(seed: int) -> list[tuple[Study, Measure]]:
    """Return a random third of all intervals that the report gives, in their order."""
    every = [
        (study, measure)
        for study in studies()
        if study.name in GENERATORS
        for measure in study.measures
        if measure.inference.method != "none" and not measure.inference.is_count and not measure.fitted
    ]
    picked = np.random.default_rng(seed).choice(len(every), size=-(-len(every) // 3), replace=False)
    return [every[index] for index in sorted(picked)]


def main() -> None:
    """Print the coverage of each interval."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chosen = chosen_third(options.seed)
    print(f"# Coverage of {len(chosen)} randomly chosen intervals on independent trials\n")
    print((__doc__ or "").partition("\n\n")[2].partition("\n\n")[2])
    print(
        f"{options.studies} studies of {QUESTIONS} questions, {RESAMPLES} resamples, seed {options.seed}. "
        "Percentages, with two binomial standard errors. *withheld*: studies with a value but without an interval.\n"
    )
    print("| study | measure | interval | truth | by | coverage | ± | above | below | withheld | |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    start = time.process_time()
    for study, pairs in groupby(chosen, key=lambda pair: pair[0]):
        _of_study(study, [measure for _, measure in pairs], options.studies, options.seed)
    print(f"\n{time.process_time() - start:.0f} seconds of processor time.")


def _of_study(study: Study, measures: list[Measure], n_studies: int, seed: int) -> None:
    partners = [
        each for each in study.measures if each.name in {measure.inference.proportion for measure in measures}
    ]
    needed = list(dict.fromkeys([*measures, *partners]))
    rng = np.random.default_rng([seed, *study.name.encode()])
    many = _trials(study.name, rng, MANY)
    truths = {measure.name: _truth(study, measure, many) for measure in measures}
    cell = TrialSubset("drawn", np.arange(QUESTIONS))
    limits: dict[str, list[tuple[float, float, float]]] = {}
    methods = {}
    for number in range(n_studies):
        settings = Settings(RESAMPLES, seed=number)
        found = distributions(_trials(study.name, rng, QUESTIONS), [cell], needed, settings)
        whole = {measure.name: found[cell, measure.name] for measure in needed}
        for measure in measures:
            interval = interval_of_measure(measure, whole, settings)
            methods[measure.name] = "posterior" if measure.inference.posterior else interval.method
            numbers = float(interval.estimate), float(interval.low), float(interval.high)
            limits.setdefault(measure.name, []).append(numbers)
    for name, rows in limits.items():
        print(
            f"| {study.name} | `{name}` | {methods[name]} | {_line(*truths[name], np.array(rows))}",
            flush=True,
        )


def _line(truth: float, by: str, limits: Array) -> str:
    estimate, low, high = limits.T
    printed = ~np.isnan(low) & ~np.isnan(high)
    withheld = 1.0 - printed.sum() / max((~np.isnan(estimate)).sum(), 1)
    if not printed.any():
        return f"{truth:.4g} | {by} | - | - | - | - | {100 * withheld:.0f} | none printed |"
    slack = 1e-9 * max(1.0, abs(truth))
    above, below = np.mean(low[printed] > truth + slack), np.mean(high[printed] < truth - slack)
    covered = 1.0 - above - below
    error = 2.0 * np.sqrt(max(covered * (1.0 - covered), 1.0 / printed.sum() ** 2) / printed.sum())
    beyond = covered + error < PROPER[0] or covered - error > PROPER[1]
    note = "at its end" if np.ptp(estimate[printed]) == 0.0 else "beyond" if beyond else ""
    numbers = (f"{100 * value:.1f}" for value in (covered, error, above, below))
    return f"{truth:.4g} | {by} | {' | '.join(numbers)} | {100 * withheld:.0f} | {note} |"


if __name__ == "__main__":
    main()
