"""The pre-registered hypotheses of the log-probability study.

Cacioli (2026), arXiv:2603.25112, section 3.3. All are about version 1's M-ratio, with correctness in the place of the
stimulus: d' and meta-d' are then functions of one table, so that M is 1 for evidence of equal variance, whatever the
model knows of what it knows. The tests are here to replicate; H2 and H4 can be put to a measure that is valid. Each
takes the resampled cells, and returns the verdict with the tests and the points that it rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from confidence_tasks.report.estimates import Distribution, Settings
from confidence_tasks.studies.logprob_metacognition.prompts import UNCLASSIFIED
from confidence_tasks.studies.logprob_metacognition.resampling import (
    TEMPERATURE,
    VERSION_1,
    Cell,
    CellKey,
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
    why: str,
    holds: bool | None = None,
    tests: Sequence[Test] = (),
    rows: Sequence[Test] = (),
    deciding: Test | None = None,
    cells: Iterable[Cell] = (),
) -> Outcome:
    """Make an outcome of its name, title, claim and rule.

    ``holds`` is None where that cannot be tested; the case that decides is by default that of the largest estimate.
    """
    decided = deciding or (largest(tests) if tests else dict.fromkeys(("estimate", "low", "high"), np.nan))
    name, title, claim, rule = texts
    verdict: Verdict = "cannot be tested" if holds is None else "supported" if holds else "not supported"
    about, n = str(decided.get("what", "")), sum(cell.n for cell in cells)
    estimate, low, high = (float(decided[limit]) for limit in ("estimate", "low", "high"))
    frames = pd.DataFrame(list(tests)), pd.DataFrame(list(rows))
    return Outcome(name, title, claim, rule, verdict, why, about, estimate, low, high, n, *frames)


def limits(found: Distribution, settings: Settings, level: float | None = None) -> dict[str, float]:
    """Return a number and its interval as the columns of a test."""
    interval = found.interval(settings if level is None else replace(settings, level=level))
    return {limit: float(getattr(interval, limit)) for limit in ("estimate", "low", "high")}


def _points(
    cells: Iterable[Cell], measures: Sequence[str], settings: Settings, *labels: str
) -> list[dict[str, Any]]:
    """Return measures of cells as rows of a figure, labelled by parts of the cells' keys."""
    return [
        {**{label: getattr(cell.key, label) for label in labels}, "measure": measure}
        | {"value": found.pop("estimate"), **found, "n": cell.n}
        for cell in cells
        for measure in measures
        for found in [limits(cell.measure(measure), settings)]
    ]


def enough_of_both(experiment: LogprobResampler, source: str, **key: Any) -> dict[str, Cell]:
    """Return the models with enough right and wrong answers, and their cells of some :class:`CellKey`."""
    found = {model: experiment.cells.get(CellKey(model, source, **key)) for model in experiment.models}
    return {model: cell for model, cell in found.items() if cell and cell.smaller_class >= FEWEST_OF_A_CLASS}


def _by_model(experiment: LogprobResampler, part: str, values: Iterable[Any]) -> dict[str, dict[Any, Cell]]:
    """Return each model's cells with enough right and wrong answers by a part of their keys, such as the domain."""
    source = experiment.primary_source
    enough = {value: enough_of_both(experiment, source, **{part: value}) for value in values}
    return {
        model: {value: cells[model] for value, cells in enough.items() if model in cells}
        for model in experiment.models
    }


def _all(by_model: Mapping[str, Mapping[Any, Cell]]) -> list[Cell]:
    return [cell for cells in by_model.values() for cell in cells.values()]


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


_NAMED = {"mratio_v1": "M-ratio", "meta_information": "meta-information"}
"""What measures are called within a sentence."""


def _listed(names: Sequence[str], of: int | None = None, separator: str = ", ") -> str:
    """Return names behind a colon; nothing where there is none, or where they are all ``of`` so many."""
    return f": {separator.join(names)}" if names and len(names) != of else ""


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
        return outcome(*texts, why=f"No model was asked {ENOUGH}.")
    tests: list[Test] = []
    for model, cell in cells.items():
        found = limits(cell.measure("mratio_v1"), experiment.settings)
        tests.append({"what": model, **found, "passes": found["high"] < 1.0, "dropped": cell.n_dropped})
    below = [test["what"] for test in tests if test["passes"]]
    return outcome(
        *texts,
        holds=len(below) == len(tests),
        why=f"The interval lies below 1 in {len(below)} of {counted(len(tests), 'model')}{_listed(below, len(tests))}."
        f" {CHANCE['H1'].sentence(len(tests))}",
        tests=tests,
        rows=_points(cells.values(), VERSION_1, experiment.settings, "model"),
        deciding=max(tests, key=lambda test: np.inf if np.isnan(test["high"]) else test["high"]),
        cells=cells.values(),
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
        f"{_NAMED[measure]} varies across domains.",
        f"In two models or more, the {experiment.settings.level:.0%} interval of a difference between two domains,"
        f" {_SAID[correction]}, excludes 0.",
    )
    named = [name for name in experiment.domains(experiment.primary_source) if name != UNCLASSIFIED]
    every = _by_model(experiment, "domain", named)
    rows = _points(_all(every), [measure], experiment.settings, "model", "domain")
    by_model = {model: cells for model, cells in every.items() if len(cells) > 1}
    if len(by_model) < 2:
        return outcome(*texts, why=f"Fewer than two models have two domains {ENOUGH} each.", rows=rows)
    tests = [
        {**test, "model": model, "what": f"{model}: {test['what']}"}
        for model, cells in by_model.items()
        for test in _pairs(cells, measure, experiment.settings)
    ]
    varying = _passing(tests, "model")
    return outcome(
        *texts,
        holds=len(varying[correction]) >= 2,
        why=f"Two domains differ in {len(varying['none'])} of {counted(len(by_model), 'model')}"
        f"{_listed(varying['none'])}; after Bonferroni’s correction for pairs, in {len(varying['bonferroni'])}."
        f"{_by_chance('H2', measure, len(by_model))}",
        tests=tests,
        rows=rows,
        cells=_all(by_model),
    )


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
    every = _by_model(experiment, "temperature", TEMPERATURES)
    rows = _points(_all(every), VERSION_1, experiment.settings, "model", "temperature")
    by_model = {model: cells for model, cells in every.items() if len(cells) > 2}
    if not by_model:
        return outcome(
            *texts,
            why=f"No model was asked at three of the temperatures {', '.join(f'{t:g}' for t in TEMPERATURES)} with"
            f" {FEWEST_OF_A_CLASS} right and {FEWEST_OF_A_CLASS} wrong questions.",
            rows=rows,
        )
    tests = [_dissociation(model, cells, experiment.settings) for model, cells in by_model.items()]
    passing, equivalent = (
        [test["what"] for test in tests if test[name]] for name in ("passes", "equivalent")
    )
    return outcome(
        *texts,
        holds=len(passing) == len(tests),
        why=f"Both hold in {len(passing)} of {counted(len(tests), 'model')}{_listed(passing, len(tests))}; meta-d′ is"
        f" equivalent over temperatures in {len(equivalent)}. {CHANCE['H3'].sentence(len(tests))}",
        tests=tests,
        rows=rows,
        cells=_all(by_model),
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
        f"Models of similar d′ differ in {_NAMED[measure]}.",
        f"Among pairs of models whose d′ differ by less than {DELTA:g}, the {experiment.settings.level:.0%} interval of"
        f" a difference, {_SAID[correction]}, excludes 0.",
    )
    cells = enough_of_both(experiment, experiment.primary_source)
    rows = _points(cells.values(), ["d_prime_v1", measure], experiment.settings, "model")
    similar = [
        (one, other)
        for one, other in combinations(cells, 2)
        if abs(cells[one].measure("d_prime_v1").value - cells[other].measure("d_prime_v1").value) < DELTA
    ]
    if not similar:
        return outcome(
            *texts, why=f"No two models {ENOUGH} have d′ within {DELTA:g} of each other.", rows=rows
        )
    tests = _pairs(cells, measure, experiment.settings, similar)
    differing = _passing(tests, "what")
    return outcome(
        *texts,
        holds=bool(differing[correction]),
        why=f"{len(differing['none'])} of {counted(len(tests), 'pair')} of similar d′ differ"
        f"{_listed(differing['none'], separator='; ')}; after Bonferroni’s correction, {len(differing['bonferroni'])}."
        f"{_by_chance('H4', measure, len(cells))}",
        tests=tests,
        rows=rows,
        cells=cells.values(),
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
        test = {"what": f"{one} − {other}", **found, "passes": _excludes_zero(found)}
        test |= {"low_corrected": wide["low"], "high_corrected": wide["high"]}
        tests.append({**test, "passes_corrected": _excludes_zero(wide)})
    return tests


def _passing(tests: Sequence[Test], what: str) -> dict[Correction, list[str]]:
    """Name by ``what`` the tests that pass with each correction."""
    return {
        correction: list(dict.fromkeys(test[what] for test in tests if test[passes]))
        for correction, passes in _PASSES.items()
    }


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
