"""Intervals of the log-probability study hold the truth, and its rules find what is not there as often as is said.

The full tables, with more studies, are made by ``python -m benchmarks.validity_nlp_metad``.
"""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.sizes import n_studies
from tests.unit.studies.logprob_trials import DOMAINS, TRIVIA, Evidence, trials
from tests.validity.nlp_null_studies import supported
from tests.validity.nlp_studies import DESIGNS, EVIDENCE, Coverage, coverages

from confidence_tasks.replications.logprob_metacognition.hypotheses import CHANCE, monotonicity
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.studies.logprob_metacognition.cell_tables import BINNINGS, PRIMARY, CellKey
from confidence_tasks.studies.logprob_metacognition.resampling import resample

pytestmark = pytest.mark.slow

NOT_95: dict[str, float] = {
    "R1 K=3, 90%": 0.9,
    "R1 K=6, 90%": 0.9,
    "R2 s, 90%": 0.9,
    "R3 equal_width, 90%": 0.9,
    "R6 balanced, 90%": 0.9,
    "T = 0.3 minus T = 1, 90%": 0.9,
}
"""What covers another share than 93%, or at least that: intervals of 90%."""


def enough(case: str, found: Coverage) -> bool:
    """Whether a coverage is no lower than it should be, within four standard errors of so few studies."""
    least = NOT_95.get(case, 0.93)
    return found.covered >= least - 4.0 * math.sqrt(least * (1.0 - least) / found.n)


@pytest.mark.parametrize(
    ("design", "n"),
    [
        ("right answers vary less", 300),
        ("few wrong answers", 300),
        ("two models", 300),
        ("two temperatures", 300),
        ("other ways to compute", 500),
    ],
)
def test_intervals_cover(design: str, n: int) -> None:
    found = coverages(DESIGNS[design], n, n_studies(60), 125, infinite=20_000)
    assert {key: cell for key, cell in found.items() if cell.n and not enough(key[0], cell)} == {}


def test_few_wrong_answers_have_every_interval() -> None:
    """Fifteen of 300, of which version 1 in resamples would tell little: there it takes fifty."""
    found = coverages(DESIGNS["few wrong answers"], 300, 5, 100, infinite=2_000)
    assert {cell.printed for (_, measure), cell in found.items() if not measure.endswith("_v1")} == {1.0}
    assert {cell.printed for (_, measure), cell in found.items() if measure == "mratio_v1"} == {0.0}


@pytest.mark.parametrize(
    "evidence", [EVIDENCE["right answers vary more"], EVIDENCE["right answers vary less"]]
)
def test_changes_by_unequal_variance_vary_as_much_as_is_said(evidence: Evidence) -> None:
    """Were edges kept, intervals would be 1.7 times as wide as needed; were the ratio of variances, a fifth of it."""
    changes = []
    for study in range(30):
        table = trials(evidence, 500, domain=DOMAINS[0], rng=np.random.default_rng(study))
        drawn = resample(table, settings=Settings(100, seed=study), binnings={PRIMARY: BINNINGS[PRIMARY]})
        cell = drawn.cells[CellKey("a", TRIVIA)]
        changes.append(cell.measure("mratio_v1_unequal") - cell.measure("mratio_v1"))
    said = np.sqrt(np.mean([np.nanvar(change.resamples) for change in changes]))
    assert said == pytest.approx(np.std([change.value for change in changes]), rel=0.4)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("H1, M-ratio 1", CHANCE["H1"].registered(1)),
        ("H3, nothing varies", CHANCE["H3"].registered(1)),
        ("H3, meta-d' differs by the margin", 0.05),
    ],
)
def test_rules_for_every_model_are_met_by_chance_as_often_as_is_said(rule: str, said: float) -> None:
    size = n_studies(60)
    found = round(size * supported(rule, n=3_000, n_models=1, n_studies=size, n_resamples=400))
    assert binomtest(found, size, said, "greater").pvalue > 1e-3


@pytest.mark.parametrize(("rule", "hypothesis"), [("H2", "H2"), ("H4", "H4")])
def test_rules_for_pairs_are_met_by_chance_as_often_as_is_said(rule: str, hypothesis: str) -> None:
    """As registered and corrected; the quantiles of 500 resamples let a corrected interval miss a little more."""
    chance: Any = CHANCE[hypothesis]
    size = n_studies(45)
    options: dict[str, Any] = {"n": 2_000, "n_models": 2, "n_studies": size, "n_resamples": 500}
    for name, said in ((rule, chance.registered(2)), (f"{rule}, corrected", chance.corrected(2))):
        found = round(size * supported(name, **options))
        assert binomtest(found, size, max(said, 0.01), "greater").pvalue > 1e-3


def test_four_quarters_that_rise_but_for_the_last_are_found_to_rise_one_time_in_twenty() -> None:
    rng = np.random.default_rng(0)
    rises, size = 0, n_studies(120)
    for _ in range(size):
        place = (np.arange(800) + 0.5) / 800
        correct = (rng.random(800) < np.select([place < 0.25, place < 0.5], [0.1, 0.4], 0.75)).astype(float)
        table = trials(Evidence(), 800).assign(correct=correct, mean_logprob=place)
        cells = resample(table, settings=Settings(2), binnings={"": BINNINGS[""]})
        rises += monotonicity(cells).verdict == "supported"
    assert binomtest(rises, size, 0.05, "greater").pvalue > 1e-3
