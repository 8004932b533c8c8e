"""The pre-registered hypotheses and robustness checks of the log-probability study.

Cacioli (2026), arXiv:2603.25112, sections 3.3 and 3.4. All are about version 1's M-ratio, with correctness in the place
of the stimulus: d' and meta-d' are then functions of one table, so that M is 1 for evidence of equal variance, whatever
the model knows of what it knows. The tests are here to replicate; H2 and H4 can be put to a measure that is valid. Each
takes the resampled cells, and returns the verdict with the tests and the points that it rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from confidence_tasks.report.estimates import Distribution, Settings
from confidence_tasks.statistics import wilson_interval
from confidence_tasks.studies.logprob_metacognition.replies import UNCLASSIFIED
from confidence_tasks.studies.logprob_metacognition.resampling import (
    RESAMPLED,
    TEMPERATURE,
    VERSION_1,
    Cell,
    LogprobResampler,
    enough_of_both,
    limits,
    quarter_counts,
    rises,
    smallest_rise,
)
from confidence_tasks.studies.logprob_metacognition.trials import FEWEST_OF_A_CLASS

Test: TypeAlias = Mapping[str, Any]
"""A test that goes into a verdict: ``what`` was tested, ``estimate``, ``low``, ``high``, and whether it ``passes``."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Outcome of a hypothesis or a robustness check.

    ``verdict`` is supported, not supported or cannot be tested, and ``rule`` says when it is supported. ``estimate``
    with its interval, NaN where nothing was tested, is of the case that decides, ``about``. ``tests`` have a row a
    `Test`, ``rows`` are the points of its figure, with ``estimate``, ``low`` and ``high``; ``n`` trials were used.
    """

    name: str
    title: str
    rule: str
    verdict: str
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
    """Make an outcome of its name, title and rule.

    ``holds`` is None where that cannot be tested; the case that decides is by default that of the largest estimate.
    """
    decided = deciding or (largest(tests) if tests else {})
    name, title, rule = texts
    verdict = "cannot be tested" if holds is None else "supported" if holds else "not supported"
    estimate, low, high = (float(decided.get(limit, np.nan)) for limit in ("estimate", "low", "high"))
    about, n = str(decided.get("what", "")), sum(cell.n for cell in cells)
    frames = pd.DataFrame(list(tests)), pd.DataFrame(list(rows))
    return Outcome(name, title, rule, verdict, why, about, estimate, low, high, n, *frames)


def _points(
    cells: Iterable[Cell], measures: Sequence[str], settings: Settings, *labels: str
) -> list[dict[str, Any]]:
    """Return measures of cells as rows of a figure, labelled by parts of the cells' keys."""
    return [
        {**{label: getattr(cell.key, label) for label in labels}, "measure": measure}
        | {**limits(cell.measure(measure), settings), "n": cell.n}
        for cell in cells
        for measure in measures
    ]


def _by_model(experiment: LogprobResampler, part: str, values: Iterable[Any]) -> dict[str, dict[Any, Cell]]:
    """Return each model's cells with enough right and wrong answers by a part of their keys, such as the domain."""
    found: dict[str, dict[Any, Cell]] = {model: {} for model in experiment.models}
    for value in values:
        for model, cell in enough_of_both(experiment, experiment.primary_source, **{part: value}).items():
            found[model][value] = cell
    return found


def _all(by_model: Mapping[str, Mapping[Any, Cell]]) -> list[Cell]:
    return [cell for cells in by_model.values() for cell in cells.values()]


ENOUGH = f"at T = {TEMPERATURE:g} with {FEWEST_OF_A_CLASS} right and {FEWEST_OF_A_CLASS} wrong questions"
"""Words for what a cell needs."""


def largest(tests: Sequence[Test]) -> Test:
    """Return the test with the estimate that is farthest from 0; an undefined one only if all are."""
    return max(tests, key=lambda test: -1.0 if np.isnan(test["estimate"]) else abs(test["estimate"]))


def counted(n: int, thing: str) -> str:
    """Return a number of things, such as ``4 models``."""
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


_BY = {"mratio_v1": "", "meta_information": " by meta-information"}
"""Suffix of a hypothesis's number, by the measure that it is tested on."""


def _listed(names: Sequence[str], of: int | None = None, separator: str = ", ") -> str:
    """Return names behind a colon; empty if there are none, or if they are all of the ``of`` names."""
    return f": {separator.join(names)}" if names and len(names) != of else ""


TEMPERATURES = (0.3, 0.5, 0.7, 1.0)
"""Temperatures that H3 compares."""

Correction: TypeAlias = Literal["none", "bonferroni"]
_SAID: Mapping[Correction, str] = {"none": "as registered", "bonferroni": "corrected for the number of pairs"}

DELTA = 0.3
"""Largest difference of meta-d' that H3 counts as none, and of d' that H4 counts as similar."""


class Chance(NamedTuple):
    """Share of studies with nothing to find in which a rule is met, by the number of models."""

    nothing: str  # what is not there, as the beginning of a sentence
    registered: Callable[[int], float]
    corrected: Callable[[int], float] | None = None  # by Bonferroni's correction for pairs


def _in_two(of_one: float) -> Callable[[int], float]:
    """The rule asks for two models or more."""
    return lambda n: 1.0 - (1.0 - of_one) ** n - n * of_one * (1.0 - of_one) ** (n - 1)


def _simulated(by_models: Mapping[int, float]) -> Callable[[int], float]:
    """Return the share of as many models as were simulated, two or more, but no more than there are."""
    return lambda n: by_models[max(known for known in by_models if known <= max(n, 2))]


CHANCE: Mapping[str, Chance] = {
    "H1": Chance("Where M-ratio is 1", lambda n: 0.042**n),
    "H2": Chance("Where no two of four domains differ", _in_two(0.192), _in_two(0.044)),
    "H3": Chance("Where nothing depends on temperature", lambda n: 0.345**n),
    "H4": Chance(
        "Where no two models differ",
        _simulated({2: 0.05, 3: 0.107, 4: 0.167, 6: 0.31}),
        _simulated({2: 0.05, 3: 0.03, 4: 0.04, 6: 0.03}),
    ),
}
"""By hypothesis, about version 1's M-ratio: 250 to 500 simulated studies of normal evidence each, as ``python -m
benchmarks.validity_nlp_metad`` makes them (docs/reliability.md). Models are taken to answer independently."""


def _by_chance(hypothesis: str, n_models: int, measure: str = "mratio_v1") -> str:
    """Say how often the registered rule is met by chance, where it is put to the measure that it was registered for."""
    if measure != "mratio_v1":
        return ""
    nothing, *shares = CHANCE[hypothesis]
    said = [
        "less than 1%" if share(n_models) < 0.005 else f"{share(n_models):.0%}" for share in shares if share
    ]
    rest = f", corrected in {said[1]}" if said[1:] else ""
    return f" {nothing}, the rule as registered is met in {said[0]} of studies{rest} (simulated)."


def suboptimal_metacognition(experiment: LogprobResampler) -> Outcome:
    """Test H1: M-ratio is below 1 in every model (section 4.2, table 2).

    The estimate is that of the model whose upper limit is highest.
    """
    texts = (
        "H1",
        "Suboptimal metacognition",
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
        f"{_by_chance('H1', len(tests))}",
        tests=tests,
        rows=_points(cells.values(), VERSION_1, experiment.settings, "model"),
        deciding=max(tests, key=lambda test: np.inf if np.isnan(test["high"]) else test["high"]),
        cells=cells.values(),
    )


def domain_specific_efficiency(
    experiment: LogprobResampler, measure: str = "mratio_v1", *, correction: Correction = "none"
) -> Outcome:
    """Test H2: M-ratio varies across the domains of questions (section 4.4, table 6).

    The estimate is the largest difference. ``tests`` has each interval both ways. ``measure`` is compared:
    ``"meta_information"`` is valid where version 1's M-ratio is not. ``correction`` is for the number of pairs. The
    study registered none: where nothing differs, a pair of six does so one time in six (``CHANCE``).
    """
    texts = (
        f"H2{_BY[measure]}",
        "Domain-specific efficiency",
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
        f"{_by_chance('H2', len(by_model), measure)}",
        tests=tests,
        rows=rows,
        cells=_all(by_model),
    )


def temperature_dissociation(experiment: LogprobResampler) -> Outcome:
    """Test H3: meta-d' is stable over temperatures while d' varies (section 4.5, table 7).

    Equivalence is shown by two one-sided tests at .05 (Schuirmann 1987, doi:10.1007/BF01068419); rho is Spearman's. The
    estimate is the largest difference of meta-d', in the model where it is largest.
    """
    texts = (
        "H3",
        "Temperature dissociation",
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
        f" equivalent over temperatures in {len(equivalent)}.{_by_chance('H3', len(tests))}",
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
    table = pd.DataFrame(
        {name: [float(cell.measure(name).value) for cell in cells.values()] for name in VERSION_1[:2]}
    ).assign(temperature=list(cells))
    # Rounded, so that equal ranks correlate equally.
    rho = table.corr("spearman", min_periods=len(table))["temperature"].round(9)
    equivalent = all(abs(found[limit]) < DELTA for found in differences for limit in ("low", "high"))
    return {
        "what": model,
        **largest(differences),
        "equivalent": equivalent,
        "rho_meta_d": float(rho["meta_d_v1"]),
        "rho_d_prime": float(rho["d_prime_v1"]),
        "passes": equivalent and bool(abs(rho["meta_d_v1"]) < abs(rho["d_prime_v1"])),
    }


def hidden_structure(
    experiment: LogprobResampler, measure: str = "mratio_v1", *, correction: Correction = "none"
) -> Outcome:
    """Test H4: models of similar d' differ in M-ratio (section 4.6).

    The estimate is the largest difference, paired by question. Parameters are those of
    :func:`domain_specific_efficiency`.
    """
    texts = (
        f"H4{_BY[measure]}",
        "Hidden structure",
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
        f"{_by_chance('H4', len(cells), measure)}",
        tests=tests,
        rows=rows,
        cells=cells.values(),
    )


def _pairs(
    cells: Mapping[str, Cell],
    measure: str,
    settings: Settings,
    pairs: Sequence[tuple[str, str]] = (),
) -> list[dict[str, Any]]:
    """Compare cells by twos; by default all of them."""
    compared = pairs or list(combinations(cells, 2))
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
        "none": list(dict.fromkeys(test[what] for test in tests if test["passes"])),
        "bonferroni": list(dict.fromkeys(test[what] for test in tests if test["passes_corrected"])),
    }


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


# Robustness checks ------------------------------------------------------------------------------------------------
#
# The paper names six; its supplement, with R2 to R6, was not published with it. How they are carried out here is said
# at each. All six are decided alike: an M-ratio is robust when its difference from the primary one is shown to be
# small, by two one-sided tests at .05 in every model. A difference that merely cannot be shown is no robustness.


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
        "Accuracy rises from each quarter of it to the next in every model and source (p < .05 for each rise).",
    )
    tests: list[Test] = []
    rows: list[Test] = []
    cells: list[Cell] = []
    for source in experiment.sources:
        for model, cell in enough_of_both(experiment, source).items():
            right, total, worth = quarter_counts(cell)
            accuracy = right / total
            low, high = map(np.asarray, wilson_interval(worth * accuracy, worth))
            label = model if len(experiment.sources) == 1 else f"{model}, {source}"
            whole = np.floor(worth + 1e-9)  # what a whole number may have lost by rounding
            p_value = float(rises(np.rint(whole * accuracy), whole).max())
            tests.append(
                {
                    "what": label,
                    **smallest_rise(accuracy, low, high),
                    **{f"q{i + 1}": float(value) for i, value in enumerate(accuracy)},
                    "rises": len(total) == 4 and bool((np.diff(accuracy) > 0.0).all()),
                    "p_value": p_value,
                    "passes": p_value < 0.05,
                }
            )
            rows += [
                {"model": model, "source": source, "quarter": i + 1, "n": int(total[i])}
                | {"estimate": float(accuracy[i]), "low": float(low[i]), "high": float(high[i])}
                for i in range(len(total))
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


SAME_TRIALS = 0.1
"""Margin where the trials are the same: twice the largest change that table 4 of the paper calls small."""

OTHER_TRIALS = 0.3
"""Margin where the trials are others: the one that H3 was registered with."""

LEVEL = 0.9
"""Level of the intervals, which makes two one-sided tests at .05."""

_FEW = f"No model was asked {ENOUGH}."


Changed: TypeAlias = Mapping[tuple[str, str], tuple[Cell, Distribution]]
"""Another M-ratio and the cell that it is of, by model and method of computation."""


@dataclass(frozen=True, slots=True)
class RobustnessCheck:
    """A robustness check; a call with the resampled cells gives its outcome, whose estimate is the largest change."""

    name: str
    title: str
    margin: float  # the largest change that is small
    changed: Callable[[LogprobResampler], Changed]
    measure: str = RESAMPLED  # the primary M-ratio that was drawn together with the changed ones
    asked: Callable[[LogprobResampler], bool] = lambda experiment: True  # whether the run has what it needs
    unasked: str = ""  # what is missing where it has not

    def __call__(self, experiment: LogprobResampler) -> Outcome:
        """Decide the check."""
        texts = (
            self.name,
            self.title,
            f"In every model the {LEVEL:.0%} interval of its change lies within ±{self.margin:g}.",
        )
        primary = enough_of_both(experiment, experiment.primary_source)
        kept = {key: value for key, value in self.changed(experiment).items() if key[0] in primary}
        if not kept:
            return outcome(*texts, why=_FEW if self.asked(experiment) else self.unasked)
        tests: list[Test] = []
        for (model, way), (cell, ratio) in kept.items():
            found = limits(ratio - primary[model].measure(self.measure), experiment.settings, LEVEL)
            within = abs(found["low"]) < self.margin and abs(found["high"]) < self.margin
            test = {"what": f"{model}, {way}", **found, "passes": within, "n": cell.n}
            tests.append({**test, "model": model, "way": way})
        own = {(model, "primary"): (cell, cell.measure("mratio_v1")) for model, cell in primary.items()}
        rows = [
            {"model": model, "way": way, **limits(ratio, experiment.settings), "n": cell.n}
            for (model, way), (cell, ratio) in {**own, **kept}.items()
        ]
        return outcome(
            *texts,
            holds=all(test["passes"] for test in tests),
            why=_reason(tests, rows, self.margin),
            tests=tests,
            rows=rows,
            cells=[cell for cell, _ in kept.values()],
        )


def _reason(tests: Sequence[Test], rows: Sequence[Test], margin: float) -> str:
    changed = [test["what"] for test in tests if test["low"] >= margin or test["high"] <= -margin]
    unsure = [test["what"] for test in tests if not test["passes"] and test["what"] not in changed]
    said = [f"Shown to be small in {sum(test['passes'] for test in tests)} of {counted(len(tests), 'case')}"]
    if changed:
        said.append(f"larger than the margin in {'; '.join(changed)}")
    if unsure:
        said.append(f"too uncertain to tell in {'; '.join(unsure)}")
    if len({row["model"] for row in rows}) > 1:
        by_way = pd.DataFrame(list(rows)).pivot(index="way", columns="model", values="estimate").dropna()
        orders = by_way.rank(axis=1, method="first").drop_duplicates()
        said.append(f"the order of the models is {'' if len(orders) == 1 else 'not '}the same throughout")
    return "; ".join(said) + "."


def _rebinned(*names: str) -> Callable[[LogprobResampler], Changed]:
    """Return what gives the M-ratio of other ways to bin the primary source."""
    return lambda experiment: {
        (model, name): (cell, cell.measure(RESAMPLED))
        for name in names
        for model, cell in enough_of_both(experiment, experiment.primary_source, binning=name).items()
    }


ROBUSTNESS_CHECKS = (
    # With 6 and with 12 bins instead of 8 (section 4.8, table 4).
    RobustnessCheck("R1", "Number of bins", SAME_TRIALS, _rebinned("K=3", "K=6")),
    # The M-ratio of the unequal-variance model (Maniscalco & Lau 2014, doi:10.1007/978-3-642-45190-4_3). The ratio of
    # standard deviations is the maximum-likelihood one of a model's trials, and in a resample its own. The criterion is
    # measured from the midpoint of the means, so that an ideal observer has M = 1 whatever the variances: where this
    # check fails, the primary M-ratio shows unequal variance and not metacognition.
    RobustnessCheck(
        "R2",
        "Unequal variance",
        SAME_TRIALS,
        lambda experiment: {
            (model, f"s = {cell.standard_deviation_ratio:.2f}"): (cell, cell.measure("mratio_v1_unequal"))
            for model, cell in enough_of_both(experiment, experiment.primary_source).items()
        },
        measure="mratio_v1",
    ),
    # Between the least and the largest evidence, instead of octiles. The edges hang on two trials, so that a resample
    # has its own.
    RobustnessCheck("R3", "Bins of equal width", SAME_TRIALS, _rebinned("equal_width")),
    # On other sources, Natural Questions in the paper (section 3.1), between their own octiles.
    RobustnessCheck(
        "R4",
        "Other questions",
        OTHER_TRIALS,
        lambda experiment: {
            (model, source): (cell, cell.measure(RESAMPLED))
            for source in experiment.sources[1:]
            for model, cell in enough_of_both(experiment, source).items()
        },
        asked=lambda experiment: len(experiment.sources) > 1,
        unasked="No model was asked questions of two sources: run the task with source=nq_open as well.",
    ),
    # The mean log-probability of the right answer is the evidence, whatever was answered (section 2.3). Its tokens are
    # put in the model's mouth after the same prompt, so that the evidence does not depend on what was sampled.
    RobustnessCheck(
        "R5",
        "Right answer force-decoded",
        OTHER_TRIALS,
        _rebinned("gold"),
        asked=lambda experiment: any(key.binning == "gold" for key in experiment.cells),
        unasked="The log-probability of the right answer was not asked for: run the task with force_gold=true.",
    ),
    # On questions that are equally difficult for every model, half of them answered right: of the right and the wrong
    # answers of a model, whichever are more, as many are drawn at random as there are of the other, and the octiles are
    # those of the trials left.
    RobustnessCheck("R6", "Matched difficulty", OTHER_TRIALS, _rebinned("balanced")),
)
