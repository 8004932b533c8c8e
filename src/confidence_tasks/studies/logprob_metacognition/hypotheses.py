"""The pre-registered hypotheses of the log-probability study.

Cacioli (2026), arXiv:2603.25112, section 3.3. All are about version 1's M-ratio, with correctness in the place of the
stimulus: d' and meta-d' are then functions of one table, so that M is 1 for evidence of equal variance, whatever the
model knows of what it knows. The tests are here to replicate; H2 and H4 can be put to a measure that is valid. Each
takes the resampled cells, and returns the verdict with the tests and the points that it rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from confidence_tasks.report.estimates import Distribution, Settings
from confidence_tasks.studies.logprob_metacognition.prompts import UNCLASSIFIED
from confidence_tasks.studies.logprob_metacognition.resampling import (
    PRIMARY,
    TEMPERATURE,
    Cell,
    LogprobResampler,
)
from confidence_tasks.studies.logprob_metacognition.trials import FEWEST_OF_A_CLASS

Verdict: TypeAlias = Literal["supported", "not supported", "cannot be tested"]

Test: TypeAlias = Mapping[str, Any]
"""A test that goes into a verdict: ``what`` was tested, ``estimate``, ``low``, ``high``, and whether it ``passes``."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of a hypothesis or a robustness check.

    ``claim`` is what it says and ``rule`` when that is taken to hold. ``estimate`` with its interval, NaN where nothing
    was tested, is of the case that decides, ``about``. ``tests`` have a row a test that went into the verdict, with
    ``estimate``, ``low``, ``high`` and ``passes``; ``rows`` are the points of its figure, with ``value``, ``low`` and
    ``high``; ``n`` trials were used.
    """

    name: str
    title: str
    claim: str
    rule: str
    verdict: Verdict
    why: str
    about: str
    estimate: float
    low: float
    high: float
    n: int
    tests: pd.DataFrame
    rows: pd.DataFrame


def outcome(
    *texts: str,
    verdict: Verdict,
    why: str,
    tests: Sequence[Test] = (),
    rows: Sequence[Mapping[str, Any]] = (),
    deciding: Test | None = None,
    n: int = 0,
) -> Outcome:
    """Make an outcome of its name, title, claim and rule, whose estimate is that of the test that decides."""
    name, title, claim, rule = texts
    decided = deciding or {"what": "", **dict.fromkeys(("estimate", "low", "high"), float("nan"))}
    low, estimate, high = (float(decided[limit]) for limit in ("low", "estimate", "high"))
    frames = pd.DataFrame(list(tests)), pd.DataFrame(list(rows))
    return Outcome(
        name, title, claim, rule, verdict, why, str(decided["what"]), estimate, low, high, n, *frames
    )


def limits(found: Distribution, settings: Settings, level: float | None = None) -> dict[str, float]:
    """Return a number and its interval as the columns of a test."""
    interval = found.interval(settings if level is None else replace(settings, level=level))
    return {limit: float(getattr(interval, limit)) for limit in ("estimate", "low", "high")}


def point(cell: Cell, measure: str, settings: Settings, **labels: Any) -> dict[str, Any]:
    """Return a measure of a cell as a row of a figure."""
    found = limits(cell.measure(measure), settings)
    return {**labels, "measure": measure, "value": found.pop("estimate"), **found, "n": cell.n}


def enough_of_both(
    experiment: LogprobResampler, source: str, *, temperature: float = TEMPERATURE, binning: str = PRIMARY
) -> dict[str, Cell]:
    """Return the models with enough right and wrong answers, and their cells."""
    found = {
        model: experiment.get(model, source, temperature=temperature, binning=binning)
        for model in experiment.models
    }
    return {
        model: cell
        for model, cell in found.items()
        if cell is not None and cell.smaller_class >= FEWEST_OF_A_CLASS
    }


ENOUGH = f"at T = {TEMPERATURE:g} with {FEWEST_OF_A_CLASS} right and {FEWEST_OF_A_CLASS} wrong questions"
"""What a cell needs, in words."""


def largest(tests: Sequence[Test]) -> Test:
    """Return the test with the estimate that is farthest from 0; an undefined one only if all are."""
    return max(tests, key=lambda test: -1.0 if np.isnan(test["estimate"]) else abs(test["estimate"]))


def counted(n: int, thing: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> counted(1, "model"), counted(4, "model")
    ('1 model', '4 models')
    """
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def named(measure: str) -> str:
    """Return what a measure is called within a sentence."""
    return {"mratio_v1": "M-ratio", "meta_information": "meta-information"}[measure]


TEMPERATURES = (0.3, 0.5, 0.7, 1.0)
"""Of H3."""

Correction: TypeAlias = Literal["none", "bonferroni"]

_PASSES: Mapping[Correction, str] = {"none": "passes", "bonferroni": "passes_corrected"}
_SAID: Mapping[Correction, str] = {"none": "as registered", "bonferroni": "corrected for the number of pairs"}

DELTA = 0.3
"""Difference of meta-d' that H3 takes for none; of d', what H4 calls similar."""


@dataclass(frozen=True, slots=True)
class Chance:
    """Share of studies with nothing to find in which a rule is met, by the number of models."""

    nothing: str  # what is not there, as the beginning of a sentence
    registered: Callable[[int], float]
    corrected: Callable[[int], float] | None = None  # by Bonferroni's correction for pairs

    def sentence(self, n_models: int) -> str:
        """Say how often a rule is met by chance."""
        said = f"{self.nothing}, the rule as registered is met in {_percent(self.registered(n_models))} of studies"
        if self.corrected is not None:
            said += f", corrected in {_percent(self.corrected(n_models))}"
        return f"{said} (simulated)."


def _percent(share: float) -> str:
    return "less than 1%" if share < 0.005 else f"{share:.0%}"


def _in_all(of_one: float) -> Callable[[int], float]:
    """The rule asks for every model."""
    return lambda n_models: of_one**n_models


def _in_two(of_one: float) -> Callable[[int], float]:
    """The rule asks for two models or more."""
    return lambda n: 1.0 - (1.0 - of_one) ** n - n * of_one * (1.0 - of_one) ** (n - 1)


def _simulated(by_models: Mapping[int, float]) -> Callable[[int], float]:
    """Return the share of as many models as were simulated, but no more than there are."""
    return lambda n_models: by_models[
        max(known for known in by_models if known <= max(n_models, min(by_models)))
    ]


CHANCE: Mapping[str, Chance] = {
    "H1": Chance("Where M-ratio is 1", _in_all(0.042)),
    "H2": Chance("Where no two of four domains differ", _in_two(0.192), _in_two(0.044)),
    "H3": Chance("Where nothing depends on temperature", _in_all(0.345)),
    "H4": Chance(
        "Where no two models differ",
        _simulated({2: 0.05, 3: 0.107, 4: 0.167, 6: 0.31}),
        _simulated({2: 0.05, 3: 0.03, 4: 0.04, 6: 0.03}),
    ),
}
"""By hypothesis, about version 1's M-ratio: 250 to 500 simulated studies of normal evidence each, as ``python -m
benchmarks.validity_nlp_metad`` makes them (docs/reliability.md). Models are taken to answer independently."""


def suboptimal_metacognition(experiment: LogprobResampler) -> Outcome:
    """Test H1: M-ratio is below 1 in every model.

    Supported when the upper limit of every model's interval is below 1. The estimate is that of the model whose upper
    limit is highest (section 4.2, table 2).
    """
    texts = (
        "H1",
        "Suboptimal metacognition",
        "M-ratio is below 1 in every model.",
        f"The upper limit of every model’s {experiment.settings.level:.0%} interval is below 1.",
    )
    cells = enough_of_both(experiment, experiment.primary_source)
    if not cells:
        return outcome(*texts, verdict="cannot be tested", why=f"No model was asked {ENOUGH}.")
    tests: list[Test] = []
    for model, cell in cells.items():
        found = limits(cell.measure("mratio_v1"), experiment.settings)
        tests.append({"what": model, **found, "passes": found["high"] < 1.0, "dropped": cell.n_dropped})
    below = [test["what"] for test in tests if test["passes"]]
    which = f": {', '.join(below)}" if 0 < len(below) < len(tests) else ""
    rows = [
        point(cell, measure, experiment.settings, model=model)
        for model, cell in cells.items()
        for measure in ("d_prime_v1", "meta_d_v1", "mratio_v1")
    ]
    return outcome(
        *texts,
        verdict="supported" if len(below) == len(tests) else "not supported",
        why=f"The interval lies below 1 in {len(below)} of {counted(len(tests), 'model')}{which}."
        f" {CHANCE['H1'].sentence(len(tests))}",
        tests=tests,
        rows=rows,
        deciding=max(tests, key=lambda test: np.inf if np.isnan(test["high"]) else test["high"]),
        n=sum(cell.n for cell in cells.values()),
    )


def domain_specific_efficiency(
    experiment: LogprobResampler, measure: str = "mratio_v1", *, correction: Correction = "none"
) -> Outcome:
    """Test H2: M-ratio varies across the domains of questions.

    Supported when in two models at least one pair of domains differs. The estimate is the largest difference. ``tests``
    has each interval both ways (section 4.4, table 6).

    ``measure`` is compared; ``"meta_information"`` is valid where version 1's M-ratio is not.
    ``correction`` is for the number of pairs. The study registered none: where nothing differs, a pair of six does so
    one time in six (``CHANCE``).
    """
    texts = (
        "H2",
        "Domain-specific efficiency",
        f"{named(measure)} varies across domains.",
        f"In two models or more, the {experiment.settings.level:.0%} interval of a difference between two domains,"
        f" {_SAID[correction]}, excludes 0.",
    )
    source = experiment.primary_source
    every = {model: _domains(experiment, model, source) for model in experiment.models}
    rows = [
        point(cell, measure, experiment.settings, model=model, domain=domain)
        for model, cells in every.items()
        for domain, cell in cells.items()
    ]
    by_model = {model: cells for model, cells in every.items() if len(cells) > 1}
    if len(by_model) < 2:
        return outcome(
            *texts,
            verdict="cannot be tested",
            why=f"Fewer than two models have two domains {ENOUGH} each.",
            rows=rows,
        )
    tests = [
        {**test, "model": model, "what": f"{model}: {test['what']}"}
        for model, cells in by_model.items()
        for test in _pairs(cells, measure, experiment.settings)
    ]
    varying = {
        way: list(dict.fromkeys(test["model"] for test in tests if test[passes]))
        for way, passes in _PASSES.items()
    }
    which = f": {', '.join(varying['none'])}" if varying["none"] else ""
    return outcome(
        *texts,
        verdict="supported" if len(varying[correction]) >= 2 else "not supported",
        why=f"Two domains differ in {len(varying['none'])} of {counted(len(by_model), 'model')}{which}; after"
        f" Bonferroni’s correction for pairs, in {len(varying['bonferroni'])}."
        f"{_by_chance('H2', measure, len(by_model))}",
        tests=tests,
        rows=rows,
        deciding=largest(tests),
        n=sum(cell.n for cells in by_model.values() for cell in cells.values()),
    )


def _domains(experiment: LogprobResampler, model: str, source: str) -> dict[str, Cell]:
    """Return a model's domains with enough right and wrong answers."""
    names = [name for name in experiment.domains(source) if name != UNCLASSIFIED]
    cells = {name: experiment.get(model, source, domain=name) for name in names}
    return {
        name: cell
        for name, cell in cells.items()
        if cell is not None and cell.smaller_class >= FEWEST_OF_A_CLASS
    }


def temperature_dissociation(experiment: LogprobResampler) -> Outcome:
    """Test H3: meta-d' is stable over temperatures while d' varies.

    Supported when every model passes: all differences of meta-d' between two temperatures are equivalent to none (two
    one-sided tests at .05, margin 0.3; Schuirmann 1987, doi:10.1007/BF01068419), and meta-d' follows temperature less
    closely than d' does (Spearman's rho). The estimate is the largest difference of meta-d', in the model where it is
    largest (section 4.5, table 7).
    """
    texts = (
        "H3",
        "Temperature dissociation",
        "Meta-d′ is stable over temperatures while d′ varies.",
        f"In every model the 90% interval of each difference of meta-d′ lies within ±{DELTA:g}, and |ρ| with"
        " temperature is smaller for meta-d′ than for d′.",
    )
    source = experiment.primary_source
    enough = {
        temperature: enough_of_both(experiment, source, temperature=temperature)
        for temperature in TEMPERATURES
    }
    every = {
        model: {temperature: cells[model] for temperature, cells in enough.items() if model in cells}
        for model in experiment.models
    }
    rows = [
        point(cell, measure, experiment.settings, model=model, temperature=temperature)
        for model, cells in every.items()
        for temperature, cell in cells.items()
        for measure in ("d_prime_v1", "meta_d_v1", "mratio_v1")
    ]
    by_model = {model: cells for model, cells in every.items() if len(cells) > 2}
    if not by_model:
        return outcome(
            *texts,
            verdict="cannot be tested",
            why=f"No model was asked at three of the temperatures {', '.join(f'{t:g}' for t in TEMPERATURES)} with"
            f" {FEWEST_OF_A_CLASS} right and {FEWEST_OF_A_CLASS} wrong questions.",
            rows=rows,
        )
    tests = [_dissociation(model, cells, experiment.settings) for model, cells in by_model.items()]
    passing, equivalent = (
        [test["what"] for test in tests if test[name]] for name in ("passes", "equivalent")
    )
    which = f": {', '.join(passing)}" if 0 < len(passing) < len(tests) else ""
    return outcome(
        *texts,
        verdict="supported" if len(passing) == len(tests) else "not supported",
        why=f"Both hold in {len(passing)} of {counted(len(tests), 'model')}{which}; meta-d′ is equivalent over"
        f" temperatures in {len(equivalent)}. {CHANCE['H3'].sentence(len(tests))}",
        tests=tests,
        rows=rows,
        deciding=largest(tests),
        n=sum(cell.n for cells in by_model.values() for cell in cells.values()),
    )


def _dissociation(model: str, cells: Mapping[float, Cell], settings: Settings) -> dict[str, Any]:
    """Return the two criteria of H3 for a model."""
    differences = [
        limits(one.measure("meta_d_v1") - other.measure("meta_d_v1"), settings, 0.9)
        for one, other in combinations(cells.values(), 2)
    ]
    values = {
        name: [float(cell.measure(name).value) for cell in cells.values()]
        for name in ("meta_d_v1", "d_prime_v1")
    }
    table = pd.DataFrame({"temperature": list(cells), **values})
    # Rounded, so that equal ranks correlate equally.
    rho = table.corr("spearman", min_periods=len(table))["temperature"].round(9)
    equivalent = all(abs(found[limit]) < DELTA for found in differences for limit in ("low", "high"))
    looser = bool(abs(rho["meta_d_v1"]) < abs(rho["d_prime_v1"]))
    return {
        "what": model,
        **largest(differences),
        "equivalent": equivalent,
        "rho_meta_d": float(rho["meta_d_v1"]),
        "rho_d_prime": float(rho["d_prime_v1"]),
        "passes": equivalent and looser,
    }


def hidden_structure(
    experiment: LogprobResampler, measure: str = "mratio_v1", *, correction: Correction = "none"
) -> Outcome:
    """Test H4: models of similar d' differ in M-ratio.

    Supported when a pair of models differs whose d' differ by less than 0.3. The estimate is the largest difference,
    paired by question (section 4.6). Parameters are those of :func:`domain_specific_efficiency`.
    """
    texts = (
        "H4",
        "Hidden structure",
        f"Models of similar d′ differ in {named(measure)}.",
        f"Among pairs of models whose d′ differ by less than {DELTA:g}, the {experiment.settings.level:.0%} interval of"
        f" a difference, {_SAID[correction]}, excludes 0.",
    )
    cells = enough_of_both(experiment, experiment.primary_source)
    rows = [
        point(cell, name, experiment.settings, model=model)
        for model, cell in cells.items()
        for name in ("d_prime_v1", measure)
    ]
    similar = [
        (one, other)
        for one, other in combinations(cells, 2)
        if abs(cells[one].measure("d_prime_v1").value - cells[other].measure("d_prime_v1").value) < DELTA
    ]
    if not similar:
        return outcome(
            *texts,
            verdict="cannot be tested",
            why=f"No two models {ENOUGH} have d′ within {DELTA:g} of each other.",
            rows=rows,
        )
    tests = _pairs(cells, measure, experiment.settings, similar)
    differing = {way: [test["what"] for test in tests if test[passes]] for way, passes in _PASSES.items()}
    which = f": {'; '.join(differing['none'])}" if differing["none"] else ""
    return outcome(
        *texts,
        verdict="supported" if differing[correction] else "not supported",
        why=f"{len(differing['none'])} of {counted(len(tests), 'pair')} of similar d′ differ{which}; after Bonferroni’s"
        f" correction, {len(differing['bonferroni'])}."
        f"{_by_chance('H4', measure, len(cells))}",
        tests=tests,
        rows=rows,
        deciding=largest(tests),
        n=sum(cell.n for cell in cells.values()),
    )


def _pairs(
    cells: Mapping[str, Cell],
    measure: str,
    settings: Settings,
    pairs: Sequence[tuple[str, str]] | None = None,
) -> list[dict[str, Any]]:
    """Compare cells by twos; by default all of them."""
    compared = list(combinations(cells, 2)) if pairs is None else list(pairs)
    corrected = 1.0 - (1.0 - settings.level) / len(compared)
    tests = []
    for one, other in compared:
        difference = cells[one].measure(measure) - cells[other].measure(measure)
        found, wide = limits(difference, settings), limits(difference, settings, corrected)
        tests.append(
            {
                "what": f"{one} − {other}",
                **found,
                "passes": _excludes_zero(found),
                "low_corrected": wide["low"],
                "high_corrected": wide["high"],
                "passes_corrected": _excludes_zero(wide),
            }
        )
    return tests


def _by_chance(hypothesis: str, measure: str, n_models: int) -> str:
    """Say how often the registered rule is met by chance, where it is put to the measure that it was registered for."""
    return f" {CHANCE[hypothesis].sentence(n_models)}" if measure == "mratio_v1" else ""


def _excludes_zero(found: Mapping[str, float]) -> bool:
    return found["low"] > 0.0 or found["high"] < 0.0


def hypotheses(experiment: LogprobResampler) -> Iterator[Outcome]:
    """Test all four as registered, then those two that can be put to a valid measure."""
    yield suboptimal_metacognition(experiment)
    yield domain_specific_efficiency(experiment)
    yield temperature_dissociation(experiment)
    yield hidden_structure(experiment)
    yield domain_specific_efficiency(experiment, "meta_information", correction="bonferroni")
    yield hidden_structure(experiment, "meta_information", correction="bonferroni")
