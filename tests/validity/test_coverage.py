"""Every interval of the report holds the truth about as often as it says, or is not printed.

The full table, with more studies and numbers of questions, is made by ``python -m benchmarks.validity``.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom
from tests.sizes import n_studies
from tests.validity.populations import population
from tests.validity.simulated_studies import Coverage, coverages, printed, studies

from confidence_tasks.report.estimates.distributions import distributions
from confidence_tasks.report.estimates.estimated import estimates
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.statistics import bootstrap, wilson_interval
from confidence_tasks.statistics.calibration import hard_easy_slope

pytestmark = pytest.mark.slow

N, N_STUDIES, SETTINGS = 200, n_studies(100), Settings(n_resamples=250)

CHECKED = (
    "scales, typical",
    "scales, contrast",
    "LifeEval",
    "options",
    "FermiEval, honest",
    "RiskEval, slope",
)


def enough(found: Coverage, least: float = 0.93) -> bool:
    """Whether a coverage is no lower than ``least``, within four standard errors of so few studies."""
    error = math.sqrt(least * (1.0 - least) / found.n_defined)
    return found.covered >= least - 4.0 * error


@pytest.fixture(scope="module", params=CHECKED)
def tried(request: pytest.FixtureRequest) -> tuple[str, dict[tuple[str, str], Coverage]]:
    return request.param, coverages(population(request.param), N, N_STUDIES, SETTINGS)


def test_no_interval_covers_less_than_it_should(tried: tuple[str, dict[tuple[str, str], Coverage]]) -> None:
    _, found = tried
    missed = {key: cell for key, cell in found.items() if cell.n_defined and not enough(cell)}
    assert missed == {}


SELDOM = {
    "scales, typical": ("distinct", "entropy", "utilization", "top1_share", "top3_share"),
    "scales, contrast": ("mratio", "meta_d"),
    "LifeEval": ("regret",),
    "options": (),
    "FermiEval, honest": ("winkler",),
    "RiskEval, slope": (),
}
"""Measures that few trials decide in these studies, or no resample tells of, so that they often have no interval."""


def test_intervals_are_withheld_where_few_trials_decide_and_nowhere_else(
    tried: tuple[str, dict[tuple[str, str], Coverage]],
) -> None:
    name, found = tried
    often = {measure for (_, measure), cell in found.items() if cell.withheld > 0.3}
    assert often == set(SELDOM[name])


def test_intervals_are_not_wide_for_nothing() -> None:
    """An interval as wide as the range covers everything: these are no wider than eight standard deviations."""
    chosen = population("scales, typical")
    values: dict[str, list[float]] = {}
    widths: dict[str, list[float]] = {}
    for study in studies(chosen, N, 60, SETTINGS, seed=1):
        for (_, measure), interval in printed(chosen, study, SETTINGS).items():
            values.setdefault(measure, []).append(float(interval.estimate))
            widths.setdefault(measure, []).append(float(interval.high - interval.low))
    for measure in ("accuracy", "auroc", "ece", "mratio", "meta_information", "brier", "overconfidence"):
        assert np.nanmedian(widths[measure]) < 8.0 * np.std(values[measure]), measure


def test_few_errors_do_not_make_information_miss() -> None:
    """Ten of 200; no resample plays a part, so two are drawn."""
    expert = population("scales, expert")
    information = tuple(measure for measure in expert.measures if measure.name == "meta_information")
    (found,) = coverages(replace(expert, measures=information), N, N_STUDIES, Settings(2)).values()
    assert enough(found)
    assert found.withheld < 0.1


def test_a_study_is_what_the_report_prints() -> None:
    """The short cut of these simulations, and the report's own way from trials, give the same estimates."""
    chosen = population("scales, typical")
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(chosen.columns["question_id"]), size=N)
    (study,) = studies(chosen, N, 1, SETTINGS, seed=0)
    rows = {name: column[drawn] for name, column in chosen.columns.items()}
    rows["question_id"] = np.array([f"q{i}" for i in range(N)], dtype=object)
    from confidence_tasks.report.groups import by_condition

    groups = by_condition(rows)
    found = distributions(rows, groups[0].subsets, chosen.measures, SETTINGS)
    short_cut = printed(chosen, study, SETTINGS)
    inverted_test = {measure.name for measure in chosen.measures if measure.inference.test}
    assert inverted_test
    for entry in estimates(groups, chosen.measures, found, SETTINGS):
        same = study[entry.group, entry.measure]
        assert float(entry.interval.estimate) == pytest.approx(float(same.value), abs=1e-9)
        assert np.nanstd(same.resamples) == pytest.approx(entry.interval.standard_error, rel=0.3, abs=0.02)
        if entry.measure in inverted_test:
            limits = short_cut[entry.group, entry.measure]
            assert (entry.interval.low, entry.interval.high) == pytest.approx(
                (limits.low, limits.high), abs=1e-9
            )


@pytest.mark.parametrize("n", [100, 200, 500, 1000])
@pytest.mark.parametrize("p", [0.5, 0.8, 0.9, 0.95, 0.99])
def test_wilson_s_interval_covers_exactly(n: int, p: float) -> None:
    """Summed over all outcomes; no simulation. It wavers with n and p, between .92 and .98 here."""
    k = np.arange(n + 1)
    low, high = wilson_interval(k, np.full(n + 1, n))
    assert 0.92 <= binom.pmf(k, n, p)[(low <= p) & (p <= high)].sum() <= 0.985


@pytest.mark.parametrize("n", [100, 400])
def test_the_regression_on_difficulty_covers(n: int) -> None:
    """Errors that vary with difficulty, as correctness does; Student's t with the standard error of resamples."""
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(300):
        difficulty = rng.random(n)
        noise = rng.uniform(-0.5, 0.5, n) * (0.1 + 0.2 * difficulty)
        correct = 0.9 - 0.7 * difficulty + noise
        confidence = 0.9 - 0.1 * difficulty
        columns = correct, confidence, difficulty
        line = bootstrap(hard_easy_slope, *columns, n_resamples=1000, method="student")
        held += line.low <= 0.6 <= line.high
    assert held / 300 >= 0.93 - 4 * math.sqrt(0.93 * 0.07 / 300)
