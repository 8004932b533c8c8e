"""Log-probability studies whose evidence is known, to see how often the intervals printed of them hold the truth.

What a study prints is read off the report's own functions. The truth is what the same functions print of so many
questions, with exactly the quantiles of the evidence, that nothing is left to chance, padding or bias.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TypeAlias

import numpy as np
import pandas as pd
from tests.unit.studies.logprob_trials import DOMAINS, TRIVIA, Evidence, together, trials

from confidence_tasks.replications.logprob_metacognition.hypotheses import (
    ROBUSTNESS_CHECKS,
    compare_pairs,
    limits,
    monotonicity,
)
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.studies.logprob_metacognition.cell_tables import BINNINGS, PRIMARY, CellKey
from confidence_tasks.studies.logprob_metacognition.resampling import Cell, LogprobResampler, resample

INFINITE = 100_000
"""Questions that stand for infinitely many."""

Printed: TypeAlias = Mapping[tuple[str, str], Mapping[str, float]]
"""By case and measure the ``estimate``, and the limits ``low`` and ``high``."""


@dataclass(frozen=True)
class Coverage:
    """How often intervals of a number held the truth.

    ``above`` and ``below`` are the shares of the printed intervals that lie wholly above and below it, ``printed`` the
    share of the studies that print one.
    """

    truth: float
    n: int
    printed: float
    above: float
    below: float

    @property
    def covered(self) -> float:
        """Share of the printed intervals that hold the truth."""
        return 1.0 - self.above - self.below


@dataclass(frozen=True)
class Design:
    """Trials that studies of some kind have, and what is looked at in them.

    ``parts`` make trials: called with a number of questions and random numbers, or None for exact quantiles.
    """

    parts: tuple[Callable[..., pd.DataFrame], ...]
    printed: Callable[[LogprobResampler], Printed]
    binnings: tuple[str, ...] = (PRIMARY,)

    def experiment(self, n: int, rng: np.random.Generator | None, settings: Settings) -> LogprobResampler:
        """Ask so many questions."""
        table = together(*(part(n=n, rng=rng) for part in self.parts))
        return resample(table, settings=settings, binnings={name: BINNINGS[name] for name in self.binnings})


def whole_condition(experiment: LogprobResampler) -> Printed:
    """Version 1's measures and meta-information at T = 1."""
    cell = experiment.cells.get(CellKey("a", TRIVIA))
    assert cell is not None
    return {
        ("T = 1", name): limits(cell.measure(name), experiment.settings)
        for name in ("meta_information", "d_prime_v1", "meta_d_v1", "mratio_v1")
    }


def two_temperatures(experiment: LogprobResampler) -> Printed:
    """Version 1 at another temperature than that of the edges, and the differences that H3 looks at."""
    cold, warm = (experiment.cells.get(CellKey("a", TRIVIA, temperature)) for temperature in (0.3, 1.0))
    assert cold is not None
    assert warm is not None
    settings = experiment.settings
    found = {
        ("T = 0.3", name): limits(cold.measure(name), settings)
        for name in ("d_prime_v1", "meta_d_v1", "mratio_v1")
    }
    difference = cold.measure("meta_d_v1") - warm.measure("meta_d_v1")
    return found | {("T = 0.3 minus T = 1, 90%", "meta_d_v1"): limits(difference, settings, 0.9)}


def two_models(experiment: LogprobResampler) -> Printed:
    """Differences of two models, as in H4."""
    cells = {key.model: cell for key, cell in experiment.cells.items() if key == CellKey(key.model, TRIVIA)}
    return _differences(cells, experiment)


def domains(experiment: LogprobResampler) -> Printed:
    """Measures of a domain, and differences of two, as in H2."""
    cells = {name: experiment.cells.get(CellKey("a", TRIVIA, domain=name)) for name in DOMAINS[:2]}
    known = {name: cell for name, cell in cells.items() if cell is not None}
    found = {
        ("domain", name): limits(known[DOMAINS[0]].measure(name), experiment.settings)
        for name in ("meta_information", "mratio_v1")
    }
    return found | dict(_differences(known, experiment))


def _differences(cells: Mapping[str, Cell], experiment: LogprobResampler) -> Printed:
    return {
        (test["what"], measure): test
        for measure in ("mratio_v1", "meta_information")
        for test in compare_pairs(cells, measure, experiment.settings, list(combinations(cells, 2))[:1])
    }


def other_ways(experiment: LogprobResampler) -> Printed:
    """Changes of M-ratio by R1, R2, R3 and R6, and the smallest rise of accuracy from quarter to quarter."""
    found: dict[tuple[str, str], Mapping[str, float]] = {}
    for check in ROBUSTNESS_CHECKS:
        tests = check(experiment).tests.to_dict("records")
        for test, cell in zip(tests, check.cells(experiment), strict=True):
            _, detail = check.describe(cell)
            name = f"{check.name} {detail.split(' = ')[0]}"
            found[f"{name}, 90%", "change of mratio_v1"] = test
            found[name, "mratio_v1"] = limits(cell.measure(check.measure), experiment.settings)
    rising = monotonicity(experiment)
    found["smallest rise", "accuracy"] = {
        "estimate": rising.estimate,
        "low": rising.low,
        "high": rising.high,
    }
    return found


def coverages(
    design: Design, n: int, n_studies: int, n_resamples: int = 400, seed: int = 0, infinite: int = INFINITE
) -> dict[tuple[str, str], Coverage]:
    """The coverage of every interval that such studies of ``n`` questions a condition print.

    The truth is what a study of ``infinite`` questions prints.
    """
    true = design.printed(design.experiment(infinite, None, Settings(2)))
    limits: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for study in range(n_studies):
        rng = np.random.default_rng([seed, n, study])
        experiment = design.experiment(n, rng, Settings(n_resamples, seed=study))
        for key, found in design.printed(experiment).items():
            limits.setdefault(key, []).append((found["low"], found["high"]))
    return {key: _coverage(float(true[key]["estimate"]), np.array(pairs)) for key, pairs in limits.items()}


def _coverage(truth: float, pairs: np.ndarray) -> Coverage:
    low, high = pairs[~np.isnan(pairs).any(axis=1)].T
    slack = 1e-9 * max(1.0, abs(truth))  # rounding
    if not len(low):
        return Coverage(truth, 0, 0.0, float("nan"), float("nan"))
    return Coverage(
        truth,
        len(low),
        len(low) / len(pairs),
        float(np.mean(low > truth + slack)),
        float(np.mean(high < truth - slack)),
    )


EVIDENCE: Mapping[str, Evidence] = {
    "equal variance": Evidence(1.4, 1.0, 0.5),
    "right answers vary more": Evidence(1.9, 1.7, 0.43),
    "right answers vary less": Evidence(1.2, 0.7, 0.8),
    "weak evidence": Evidence(0.3, 1.0, 0.6),
    "few wrong answers": Evidence(1.4, 1.3, 0.95),
    "few right answers": Evidence(1.4, 1.0, 0.08),
}
"""Wrong answers' evidence is N(0, 1), right ones' N(distance, sd^2), and a share of the answers is right."""

_TYPICAL = EVIDENCE["right answers vary more"]

DESIGNS: Mapping[str, Design] = {
    **{name: Design((partial(trials, one),), whole_condition) for name, one in EVIDENCE.items()},
    "two temperatures": Design(
        (
            partial(trials, Evidence(1.6, 1.5, 0.45), temperature=0.3),
            partial(trials, _TYPICAL, temperature=1.0),
        ),
        two_temperatures,
    ),
    "two models": Design(
        (partial(trials, _TYPICAL, model="a"), partial(trials, Evidence(1.7, 1.3, 0.5), model="b")),
        two_models,
    ),
    "two domains": Design(
        (
            partial(trials, _TYPICAL, domain=DOMAINS[0]),
            partial(trials, Evidence(1.7, 1.3, 0.5), domain=DOMAINS[1]),
        ),
        domains,
    ),
    "other ways to compute": Design(
        (partial(trials, _TYPICAL),), other_ways, (PRIMARY, "K=3", "K=6", "equal_width", "balanced")
    ),
}
"""By name."""
