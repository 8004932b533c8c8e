"""The pre-registered hypotheses and robustness checks of the log-probability study.

Cacioli (2026), arXiv:2603.25112, sections 3.3 and 3.4. All of them concern version 1's M-ratio, which takes correctness
for the stimulus. Its d' and meta-d' are functions of one table, so that M-ratio is 1 for evidence of equal variance,
however much the model knows about its own correctness. The tests are here for replication; H2 and H4 can also be
tested on a valid measure. Each test takes the resampled cells and returns an :class:`Outcome`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from confidence_tasks.report.estimates.distribution import Distribution
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.results import TaskResults
from confidence_tasks.statistics import Interval
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.studies.logprob_metacognition.cell_tables import PRIMARY, TEMPERATURE
from confidence_tasks.studies.logprob_metacognition.count_tables import RESAMPLED
from confidence_tasks.studies.logprob_metacognition.measures import FEWEST_OF_A_CLASS, RATINGS
from confidence_tasks.studies.logprob_metacognition.quarters import quarters_of
from confidence_tasks.studies.logprob_metacognition.resampling import Cell, LogprobResampler


def limits(drawn: Distribution, settings: Settings, level: float | None = None) -> dict[str, float]:
    """Return an estimate and its interval as columns of a row."""
    interval = drawn.interval(settings if level is None else replace(settings, level=level))
    return {limit: float(getattr(interval, limit)) for limit in ("estimate", "low", "high")}


def by_model(
    cells: Iterable[Cell], part: Literal["domain", "temperature"], *, min_cells: int = 1
) -> dict[str, dict[Any, Cell]]:
    """Return the cells of each model by domain or temperature; models with fewer than ``min_cells`` are left out."""
    parts_of: dict[str, dict[Any, Cell]] = {}
    for cell in cells:
        parts_of.setdefault(cell.key.model, {})[getattr(cell.key, part)] = cell
    return {model: parts for model, parts in parts_of.items() if len(parts) >= min_cells}


Test: TypeAlias = Mapping[str, Any]
"""One test of a hypothesis: ``what`` is tested, ``estimate``, ``low``, ``high``, and whether it ``passes``."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Outcome of a hypothesis or a robustness check.

    ``rule`` says when it is supported. ``verdict`` is supported, not supported or cannot be tested, and ``why`` gives
    the reason. ``about`` is the deciding case, such as a model or a pair of models, and ``estimate`` with ``low`` and
    ``high`` is its interval; NaN where nothing was tested. ``n`` is the number of trials. ``tests`` has one row per
    `Test`.
    """

    name: str
    title: str
    rule: str
    verdict: str
    why: str
    about: str = ""
    estimate: float = np.nan
    low: float = np.nan
    high: float = np.nan
    n: int = 0
    tests: pd.DataFrame = field(default_factory=pd.DataFrame)


def _magnitude(test: Test) -> float:
    """Return the distance of a test's estimate from 0; an undefined one has the smallest."""
    return -1.0 if np.isnan(test["estimate"]) else abs(test["estimate"])


def outcome_of(
    name: str,
    title: str,
    rule: str,
    tests: Sequence[Test],
    cells: Iterable[Cell],
    why: str,
    *,
    holds: bool,
    missing: str,
    weight: Callable[[Test], float] = _magnitude,
) -> Outcome:
    """Return the outcome of some tests; without tests it cannot be tested, for the reason ``missing``.

    The test with the largest ``weight`` is the deciding case.
    """
    if not tests:
        return Outcome(name, title, rule, "cannot be tested", missing)
    deciding = max(tests, key=weight)
    estimate, low, high = (float(deciding[limit]) for limit in ("estimate", "low", "high"))
    verdict, n = "supported" if holds else "not supported", sum(cell.n for cell in cells)
    frame = pd.DataFrame(list(tests))
    return Outcome(name, title, rule, verdict, why, deciding["what"], estimate, low, high, n, frame)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _after_colon(names: Sequence[str], separator: str = ", ") -> str:
    return f": {separator.join(names)}" if names else ""


def _passing_models(tests: Sequence[Test]) -> str:
    """Return how many models pass, and which if not all do."""
    passing = [test["what"] for test in tests if test["passes"]]
    named = passing if len(passing) < len(tests) else []
    return f"{len(passing)} of {_count(len(tests), 'model')}{_after_colon(named)}"


ENOUGH = f"{FEWEST_OF_A_CLASS} right and {FEWEST_OF_A_CLASS} wrong questions"
"""Description of what a cell needs to be tested."""

_TOO_FEW = f"No model has {ENOUGH} at T = {TEMPERATURE:g}."
TEMPERATURES = (0.3, 0.5, 0.7, 1.0)
"""Temperatures that H3 compares."""

DELTA = 0.3
"""Equivalence margin of H3 for meta-d', and the largest difference in d' that H4 counts as similar."""

_NAME_SUFFIX = {"mratio_v1": "", "meta_information": " by meta-information"}
"""Suffix of a hypothesis's name, by the measure that is tested."""


class Chance(NamedTuple):
    """Probability that a rule is met where there is no effect, as a function of the number of models."""

    null: str  # the null hypothesis, as the beginning of a sentence
    registered: Callable[[int], float]
    corrected: Callable[[int], float] | None = None  # with Bonferroni's correction for pairs


def _in_two(per_model: float) -> Callable[[int], float]:
    """Return the probability that at least two models pass, each with probability ``per_model``."""
    return lambda n: 1.0 - (1.0 - per_model) ** n - n * per_model * (1.0 - per_model) ** (n - 1)


def _simulated(by_n_models: Mapping[int, float]) -> Callable[[int], float]:
    """Return the simulated probability for the largest simulated number of models that is not above ``n``."""
    return lambda n: by_n_models[max(known for known in by_n_models if known <= max(n, 2))]


CHANCE: Mapping[str, Chance] = {
    "H1": Chance("in which M-ratio is 1", lambda n: 0.042**n),
    "H2": Chance("in which no two of four domains differ", _in_two(0.192), _in_two(0.044)),
    "H3": Chance("in which nothing depends on temperature", lambda n: 0.345**n),
    "H4": Chance(
        "in which no two models differ",
        _simulated({2: 0.05, 3: 0.107, 4: 0.167, 6: 0.31}),
        _simulated({2: 0.05, 3: 0.03, 4: 0.04, 6: 0.03}),
    ),
}
"""Chance of each hypothesis about version 1's M-ratio. The rates come from 250 to 500 simulated studies with normal
evidence (``python -m benchmarks.validity_nlp_metad``, docs/reliability.md) and assume that models answer
independently."""


def _chance_note(hypothesis: str, n_models: int, measure: str = "mratio_v1") -> str:
    """Return a sentence on how often the rule is met by chance; empty for other measures than the registered one."""
    if measure != "mratio_v1":
        return ""
    null, *rules = CHANCE[hypothesis]
    rates = [rule(n_models) for rule in rules if rule]
    registered, *corrected = ["less than 1%" if rate < 0.005 else f"{rate:.0%}" for rate in rates]
    addition = f", and with the correction in {corrected[0]}" if corrected else ""
    return f" In simulated studies {null}, the registered rule is met in {registered}{addition}."


def suboptimal_metacognition(resampler: LogprobResampler) -> Outcome:
    """Test H1: M-ratio is below 1 in every model (section 4.2, table 2).

    The estimate is that of the model with the highest upper limit.
    """
    cells = resampler.testable()
    tests: list[Test] = []
    for cell in cells:
        interval = limits(cell.measure("mratio_v1"), resampler.settings)
        tests.append({"what": cell.key.model, **interval, "passes": interval["high"] < 1.0})
    return outcome_of(
        "H1",
        "Suboptimal metacognition",
        f"The upper limit of every model’s {resampler.settings.level:.0%} interval is below 1.",
        tests,
        cells,
        f"The interval lies below 1 in {_passing_models(tests)}.{_chance_note('H1', len(tests))}",
        holds=all(test["passes"] for test in tests),
        missing=_TOO_FEW,
        weight=lambda test: np.inf if np.isnan(test["high"]) else test["high"],
    )


def domain_specific_efficiency(
    resampler: LogprobResampler, measure: str = "mratio_v1", *, corrected: bool = False
) -> Outcome:
    """Test H2: M-ratio varies across the domains of questions (section 4.4, table 6).

    The estimate is the largest difference of two domains.

    Parameters
    ----------
    resampler : LogprobResampler
        The cells.
    measure : str
        The measure that is compared; unlike version 1's M-ratio, ``"meta_information"`` is valid.
    corrected : bool
        Whether intervals with Bonferroni's correction for the number of pairs decide; ``tests`` has both. The study
        registered no correction: without any effect, one of a model's six pairs differs in 19% of models (``CHANCE``).
    """
    models = by_model(resampler.testable(domains=resampler.domains), "domain", min_cells=2)
    if len(models) < 2:
        models = {}
    tests = [
        {**test, "model": model, "what": f"{model}: {test['what']}"}
        for model, parts in models.items()
        for test in compare_pairs(parts, measure, resampler.settings, list(combinations(parts, 2)))
    ]
    varying, varying_corrected = _passing(tests, "model")
    return outcome_of(
        f"H2{_NAME_SUFFIX[measure]}",
        "Domain-specific efficiency",
        f"In at least two models, the {resampler.settings.level:.0%} interval of a difference between two domains,"
        f" {_correction(corrected)}, excludes 0.",
        tests,
        [cell for parts in models.values() for cell in parts.values()],
        f"Two domains differ in {len(varying)} of {_count(len(models), 'model')}{_after_colon(varying)};"
        f" after Bonferroni’s correction for pairs, in {len(varying_corrected)}."
        f"{_chance_note('H2', len(models), measure)}",
        holds=len(varying_corrected if corrected else varying) >= 2,
        missing=f"Fewer than two models have two domains with {ENOUGH} each at T = {TEMPERATURE:g}.",
    )


def temperature_dissociation(resampler: LogprobResampler) -> Outcome:
    """Test H3: meta-d' is stable over temperatures while d' varies (section 4.5, table 7).

    Equivalence is shown by two one-sided tests at .05 (Schuirmann 1987, doi:10.1007/BF01068419); rho is Spearman's. The
    estimate is the largest difference of meta-d' in any model.
    """
    models = by_model(resampler.testable(temperatures=TEMPERATURES), "temperature", min_cells=3)
    tests = [_test_dissociation(model, parts, resampler.settings) for model, parts in models.items()]
    listed = ", ".join(f"{temperature:g}" for temperature in TEMPERATURES)
    return outcome_of(
        "H3",
        "Temperature dissociation",
        f"In every model the 90% interval of each difference of meta-d′ lies within ±{DELTA:g}, and |ρ| with"
        " temperature is smaller for meta-d′ than for d′.",
        tests,
        [cell for parts in models.values() for cell in parts.values()],
        f"Both hold in {_passing_models(tests)}; meta-d′ is equivalent over temperatures in"
        f" {sum(test['equivalent'] for test in tests)}.{_chance_note('H3', len(tests))}",
        holds=all(test["passes"] for test in tests),
        missing=f"No model has {ENOUGH} at each of three of the temperatures {listed}.",
    )


def _test_dissociation(model: str, cells: Mapping[float, Cell], settings: Settings) -> dict[str, Any]:
    """Test both criteria of H3 in one model."""
    differences = [
        limits(one.measure("meta_d_v1") - other.measure("meta_d_v1"), settings, 0.9)
        for one, other in combinations(cells.values(), 2)
    ]
    names = "d_prime_v1", "meta_d_v1"
    table = pd.DataFrame(
        {name: [float(cell.measure(name).value) for cell in cells.values()] for name in names}
    )
    correlations = table.assign(temperature=list(cells)).corr("spearman", min_periods=len(table))
    # Rounded, so that equal ranks correlate equally.
    rho = correlations["temperature"].abs().round(9)
    equivalent = all(_lies_within(difference, DELTA) for difference in differences)
    largest = max(differences, key=_magnitude)
    return {
        "what": model,
        **largest,
        "equivalent": equivalent,
        "passes": equivalent and bool(rho["meta_d_v1"] < rho["d_prime_v1"]),
    }


def hidden_structure(
    resampler: LogprobResampler, measure: str = "mratio_v1", *, corrected: bool = False
) -> Outcome:
    """Test H4: models of similar d' differ in M-ratio (section 4.6).

    The estimate is the largest difference of two models, paired by question. Parameters are those of
    :func:`domain_specific_efficiency`.
    """
    cells = {cell.key.model: cell for cell in resampler.testable()}
    similar = [
        (one, other)
        for one, other in combinations(cells, 2)
        if abs(cells[one].measure("d_prime_v1").value - cells[other].measure("d_prime_v1").value) < DELTA
    ]
    tests = compare_pairs(cells, measure, resampler.settings, similar)
    differing, differing_corrected = _passing(tests, "what")
    return outcome_of(
        f"H4{_NAME_SUFFIX[measure]}",
        "Hidden structure",
        f"Among pairs of models whose d′ differ by less than {DELTA:g}, the {resampler.settings.level:.0%} interval of"
        f" a difference, {_correction(corrected)}, excludes 0.",
        tests,
        cells.values(),
        f"{len(differing)} of {_count(len(tests), 'pair')} of similar d′ differ{_after_colon(differing, '; ')};"
        f" after Bonferroni’s correction, {len(differing_corrected)}.{_chance_note('H4', len(cells), measure)}",
        holds=bool(differing_corrected if corrected else differing),
        missing=f"No two models with {ENOUGH} at T = {TEMPERATURE:g} have d′ within {DELTA:g} of each other.",
    )


def compare_pairs(
    cells: Mapping[str, Cell], measure: str, settings: Settings, pairs: Sequence[tuple[str, str]]
) -> list[dict[str, Any]]:
    """Test the difference of a measure for pairs of cells, with and without Bonferroni's correction."""
    tests = []
    for one, other in pairs:
        difference = cells[one].measure(measure) - cells[other].measure(measure)
        corrected_level = 1.0 - (1.0 - settings.level) / len(pairs)
        plain, corrected = limits(difference, settings), limits(difference, settings, corrected_level)
        test = {"what": f"{one} − {other}", **plain, "passes": _excludes_zero(plain)}
        test |= {"low_corrected": corrected["low"], "high_corrected": corrected["high"]}
        tests.append({**test, "passes_corrected": _excludes_zero(corrected)})
    return tests


def _passing(tests: Sequence[Test], column: str) -> tuple[list[str], list[str]]:
    """Return the distinct values of a column among the tests that pass, without and with the correction."""
    plain, corrected = (
        list(dict.fromkeys(test[column] for test in tests if test[passes]))
        for passes in ("passes", "passes_corrected")
    )
    return plain, corrected


def _correction(corrected: bool) -> str:
    return "corrected for the number of pairs" if corrected else "as registered"


def _excludes_zero(row: Mapping[str, float]) -> bool:
    return row["low"] > 0.0 or row["high"] < 0.0


def _lies_within(row: Mapping[str, float], margin: float) -> bool:
    return abs(row["low"]) < margin and abs(row["high"]) < margin


def hypotheses(resampler: LogprobResampler) -> Iterator[Outcome]:
    """Test all four as registered, then H2 and H4 on a valid measure."""
    yield suboptimal_metacognition(resampler)
    yield domain_specific_efficiency(resampler)
    yield temperature_dissociation(resampler)
    yield hidden_structure(resampler)
    yield domain_specific_efficiency(resampler, "meta_information", corrected=True)
    yield hidden_structure(resampler, "meta_information", corrected=True)


#
# The paper names six. Its supplement with R2 to R6 was not published; comments say how each is carried out here. One
# rule decides all six: an M-ratio is robust if its difference from the primary one is shown to be small in every model,
# by two one-sided tests at .05. A difference that merely cannot be shown is no evidence of robustness.


def monotonicity(resampler: LogprobResampler) -> Outcome:
    """Test that accuracy rises from each quarter of the evidence to the next, as evidence for correctness must.

    The rule must hold in every model and source at T = 1. The ``p_value`` of a cell is the largest of the three
    one-sided Fisher exact tests of neighbouring quarters (intersection-union test: Berger 1982, doi:10.2307/1267823).
    Trials of repeated questions count as the smallest number of independent trials that they can be worth. The estimate
    is the smallest rise, with the interval of Newcombe (1998,
    doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I, method 10). ``rises`` is the criterion of the
    paper (table 5): the four proportions rise strictly. Chance alone meets it once in 24 times.
    """
    cells = [cell for source in resampler.sources for cell in resampler.testable(source)]
    tests = [_test_rise(cell, names_source=len(resampler.sources) > 1) for cell in cells]
    failing = [test["what"] for test in tests if not test["passes"]]
    exceptions = f"; not shown in {', '.join(failing)}" if failing else ""
    return outcome_of(
        "Monotonicity",
        "Accuracy by quarter of the evidence",
        "Accuracy rises from each quarter of the evidence to the next, in every model and source (p < .05 for each"
        " rise).",
        tests,
        cells,
        f"Accuracy rises in {len(tests) - len(failing)} of {_count(len(tests), 'case')}{exceptions}. By the observed"
        f" proportions alone, as in the paper, it rises in {sum(test['rises'] for test in tests)}.",
        holds=not failing,
        missing=_TOO_FEW,
        weight=lambda test: -test["estimate"],
    )


def _test_rise(cell: Cell, *, names_source: bool) -> dict[str, Any]:
    """Test that accuracy rises from each quarter of a cell's evidence to the next."""
    quarters = quarters_of(cell)
    accuracy, low, high = quarters.accuracy
    n_trials = np.floor(quarters.independent + 1e-9)  # a whole number may be rounded down
    p_value = float(rise_p_values(np.rint(n_trials * accuracy), n_trials).max())
    return {
        "what": f"{cell.key.model}, {cell.key.source}" if names_source else cell.key.model,
        **smallest_rise(accuracy, low, high),
        **{f"q{i + 1}": float(value) for i, value in enumerate(accuracy)},
        "rises": len(accuracy) == 4 and bool((np.diff(accuracy) > 0.0).all()),
        "p_value": p_value,
        "passes": p_value < 0.05,
    }


def rise_p_values(right: FloatArray, total: FloatArray) -> FloatArray:
    """Return p-values of one-sided Fisher exact tests of each quarter against the next; 1 for a single quarter."""
    if len(total) < 2:
        return np.ones(1)
    from scipy.stats import hypergeom

    pair_right, pair_total = right[:-1] + right[1:], total[:-1] + total[1:]
    return np.asarray(hypergeom.sf(right[1:] - 1, pair_total, pair_right, total[1:]), dtype=np.float64)


def smallest_rise(proportion: FloatArray, low: FloatArray, high: FloatArray) -> dict[str, float]:
    """Return the smallest rise of a proportion from one quarter to the next, with an interval from those of both."""
    if len(proportion) < 2:
        return dict.fromkeys(("estimate", "low", "high"), np.nan)
    rise = np.diff(proportion)
    i = int(rise.argmin())
    below, above = proportion - low, high - proportion
    return {
        "estimate": float(rise[i]),
        "low": float(rise[i] - np.hypot(below[i + 1], above[i])),
        "high": float(rise[i] + np.hypot(above[i + 1], below[i])),
    }


SAME_TRIALS = 0.1
"""Margin of checks on the same trials: twice the largest change that table 4 of the paper calls small."""

OTHER_TRIALS = 0.3
"""Margin of checks on other trials: the registered margin of H3."""

LEVEL = 0.9
"""Level of the intervals, equivalent to two one-sided tests at .05."""


@dataclass(frozen=True, slots=True)
class RobustnessCheck:
    """A robustness check: the change of version 1's M-ratio with other cells, or with the unequal-variance model."""

    name: str
    title: str
    margin: float  # the largest change that counts as small
    binnings: tuple[str, ...] = (PRIMARY,)
    other_sources: bool = False  # the cells of the other sources instead of the primary one
    measure: str = RESAMPLED
    primary_measure: str = RESAMPLED  # both M-ratios of a difference have the same kind of distribution
    missing: str = _TOO_FEW  # why a run without such cells cannot be tested

    def __call__(self, resampler: LogprobResampler) -> Outcome:
        """Test that the change is small in every model; the estimate is the largest change."""
        primary = {cell.key.model: cell for cell in resampler.testable()}
        cells = self.cells(resampler)
        tests: list[Test] = []
        for cell in cells:
            model, (label, detail), m_ratio = cell.key.model, self.describe(cell), cell.measure(self.measure)
            difference = m_ratio - primary[model].measure(self.primary_measure)
            change = limits(difference, resampler.settings, LEVEL)
            test = {"what": f"{model}, {detail}", **change, "passes": _lies_within(change, self.margin)}
            tests.append({**test, "model": model, "label": label, "m_ratio": float(m_ratio.value)})
        run_has_any = any((key.source, key.binning) in self._selected(resampler) for key in resampler.cells)
        return outcome_of(
            self.name,
            self.title,
            f"In every model the {LEVEL:.0%} interval of its change lies within ±{self.margin:g}.",
            tests,
            cells,
            self._summary(tests, primary),
            holds=all(test["passes"] for test in tests),
            missing=_TOO_FEW if run_has_any else self.missing,
        )

    def cells(self, resampler: LogprobResampler) -> list[Cell]:
        """Return the cells whose M-ratio is compared with the primary one of the same model."""
        models = {cell.key.model for cell in resampler.testable()}
        return [
            cell
            for source, binning in self._selected(resampler)
            for cell in resampler.testable(source, binning=binning)
            if cell.key.model in models
        ]

    def _selected(self, resampler: LogprobResampler) -> list[tuple[str, str]]:
        """Return the sources and binnings of the cells."""
        sources = resampler.sources[1:] if self.other_sources else resampler.sources[:1]
        return list(product(sources, self.binnings))

    def describe(self, cell: Cell) -> tuple[str, str]:
        """Return the label of a cell in tables and figures, and what is particular about the cell."""
        if self.measure == "mratio_v1_unequal":
            return self.name, f"s = {cell.standard_deviation_ratio:.2f}"
        if self.other_sources:
            return f"{self.name} {cell.key.source}", cell.key.source
        binning = cell.key.binning
        return self.name if len(self.binnings) == 1 else binning.replace("=", " = "), binning

    def _size(self, test: Test) -> str:
        """Return whether a change is shown to be small or large, or neither."""
        if test["passes"]:
            return "small"
        is_large = test["low"] >= self.margin or test["high"] <= -self.margin
        return "large" if is_large else "uncertain"

    def _summary(self, tests: Sequence[Test], primary: Mapping[str, Cell]) -> str:
        cases: dict[str, list[str]] = {"small": [], "large": [], "uncertain": []}
        for test in tests:
            cases[self._size(test)].append(test["what"])
        parts = [
            f"The change lies within the margin in {len(cases['small'])} of {_count(len(tests), 'case')}"
        ]
        if cases["large"]:
            parts.append(f"larger than the margin in {'; '.join(cases['large'])}")
        if cases["uncertain"]:
            parts.append(f"too uncertain to decide in {'; '.join(cases['uncertain'])}")
        if tests and len(primary) > 1:
            parts.append(_order_of_models(tests, primary))
        return "; ".join(parts) + "."


def _order_of_models(tests: Sequence[Test], primary: Mapping[str, Cell]) -> str:
    """Return whether all cells order the models by M-ratio alike, those as registered among them."""
    by_label = pd.DataFrame(tests).pivot(index="label", columns="model", values="m_ratio")
    registered = {model: float(cell.measure("mratio_v1").value) for model, cell in primary.items()}
    m_ratios = pd.concat([pd.DataFrame([registered]), by_label]).dropna()
    orders = m_ratios.rank(axis=1, method="first").drop_duplicates()
    return f"the order of the models is {'' if len(orders) == 1 else 'not '}the same throughout"


ROBUSTNESS_CHECKS = (
    # 6 and 12 bins instead of 8 (section 4.8, table 4).
    RobustnessCheck("R1", "Number of bins", SAME_TRIALS, binnings=("K=3", "K=6")),
    # The M-ratio of the unequal-variance model (Maniscalco & Lau 2014, doi:10.1007/978-3-642-45190-4_3). The ratio of
    # standard deviations is fitted by maximum likelihood, in each resample anew. The criterion is measured from the
    # midpoint of the means, so that M-ratio is 1 for an ideal observer whatever the variances. If this check fails, the
    # primary M-ratio reflects unequal variance and not metacognition.
    RobustnessCheck(
        "R2", "Unequal variance", SAME_TRIALS, measure="mratio_v1_unequal", primary_measure="mratio_v1"
    ),
    # Bins of equal width between the lowest and the highest evidence, instead of octiles. The edges depend on two
    # trials, so that each resample has edges of its own.
    RobustnessCheck("R3", "Bins of equal width", SAME_TRIALS, binnings=("equal_width",)),
    # Other sources with octiles of their own; Natural Questions in the paper (section 3.1).
    RobustnessCheck(
        "R4",
        "Other questions",
        OTHER_TRIALS,
        other_sources=True,
        missing="No model was asked questions of two sources: run the task with source=nq_open as well.",
    ),
    # The evidence is the mean log-probability of the right answer, whatever the model answered (section 2.3). The right
    # answer is put in the model's mouth after the same prompt, so that the evidence does not depend on sampling.
    RobustnessCheck(
        "R5",
        "Right answer force-decoded",
        OTHER_TRIALS,
        binnings=("gold",),
        missing="The log-probability of the right answer was not requested: run the task with force_gold=true.",
    ),
    # Questions of equal difficulty for every model: equal numbers of right and wrong answers. The larger class is
    # sampled at random, and the octiles are those of the remaining trials.
    RobustnessCheck("R6", "Matched difficulty", OTHER_TRIALS, binnings=("balanced",)),
)


def outcomes(resampler: LogprobResampler) -> dict[str, Outcome]:
    """Test the hypotheses and the robustness; return the outcomes by name, in the order of the page."""
    checked = (check(resampler) for check in ROBUSTNESS_CHECKS)
    found = (*hypotheses(resampler), monotonicity(resampler), *checked)
    return {outcome.name: outcome for outcome in found}


def robustness_intervals(results: TaskResults) -> dict[str, dict[str, Interval]]:
    """Return the M-ratio of every model, as registered and by each check."""
    resampler = results.analysis
    primary = f"K = {RATINGS}"
    by_label = {cell.key.model: {primary: cell.interval("mratio_v1")} for cell in resampler.testable()}
    for robustness_check in ROBUSTNESS_CHECKS:
        for cell in robustness_check.cells(resampler):
            label, _ = robustness_check.describe(cell)
            by_label[cell.key.model][label] = cell.interval(robustness_check.measure)
    return by_label
