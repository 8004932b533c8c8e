"""Intervals of the log-probability study hold the truth, and its rules find what is not there as often as is said.

The full tables, with more studies, are made by ``python -m benchmarks.validity_nlp_metad``.
"""

import math
from typing import Any

import pytest
from scipy.stats import binomtest
from tests.validity.nlp_null_studies import supported
from tests.validity.nlp_studies import DESIGNS, Coverage, coverages

from confidence_tasks.analysis.nlp_metad_chance import CHANCE

pytestmark = pytest.mark.slow

NOT_95: dict[str, float] = {
    # Intervals of 90%.
    "R1 K=3, 90%": 0.9,
    "R1 K=6, 90%": 0.9,
    "R2 s, 90%": 0.9,
    # Edges between the least and the largest evidence move from study to study, and resamples keep them.
    "R3 equal_width, 90%": 0.8,
    "R3 equal_width": 0.83,
    "R6 balanced, 90%": 0.9,
    "T = 0.3 minus T = 1, 90%": 0.9,
}
"""What covers another share than 93%, or at least that."""


def enough(case: str, found: Coverage) -> bool:
    """Whether a coverage is no lower than it should be, within four standard errors of so few studies."""
    least = NOT_95.get(case, 0.93)
    return found.covered >= least - 4.0 * math.sqrt(least * (1.0 - least) / found.n)


@pytest.mark.parametrize(
    ("design", "n", "n_studies"),
    [
        ("right answers vary less", 300, 50),
        ("few wrong answers", 300, 50),
        ("two models", 300, 25),
        ("two temperatures", 300, 25),
        ("other ways to compute", 500, 25),
    ],
)
def test_intervals_cover(design: str, n: int, n_studies: int) -> None:
    found = coverages(DESIGNS[design], n, n_studies, 250)
    assert {key: cell for key, cell in found.items() if cell.n and not enough(key[0], cell)} == {}


def test_version_1_has_no_interval_with_few_wrong_answers() -> None:
    """Fifteen of 300: what is added to each cell decides, and most intervals of d' would miss."""
    found = coverages(DESIGNS["few wrong answers"], 300, 5, 100)
    printed = {measure: cell.printed for (_, measure), cell in found.items()}
    assert {name for name, share in printed.items() if share == 0.0} == {
        "d_prime_v1",
        "meta_d_v1",
        "mratio_v1",
    }
    assert min(share for name, share in printed.items() if not name.endswith("v1")) == 1.0


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("H1, M-ratio 1", CHANCE["H1"].registered(1)),
        ("H3, nothing varies", CHANCE["H3"].registered(1)),
        ("H3, meta-d' differs by the margin", 0.05),
    ],
)
def test_rules_for_every_model_are_met_by_chance_as_often_as_is_said(rule: str, said: float) -> None:
    found = round(40 * supported(rule, n=3_000, n_models=1, n_studies=40, n_resamples=400))
    assert binomtest(found, 40, said, "greater").pvalue > 1e-3


@pytest.mark.parametrize(("rule", "hypothesis"), [("H2", "H2"), ("H4", "H4")])
def test_rules_for_pairs_are_met_by_chance_as_often_as_is_said(rule: str, hypothesis: str) -> None:
    """As registered and corrected; the quantiles of 500 resamples let a corrected interval miss a little more."""
    chance: Any = CHANCE[hypothesis]
    options: dict[str, Any] = {"n": 2_000, "n_models": 2, "n_studies": 25, "n_resamples": 500}
    for name, said in ((rule, chance.registered(2)), (f"{rule}, corrected", chance.corrected(2))):
        found = round(25 * supported(name, **options))
        assert binomtest(found, 25, max(said, 0.01), "greater").pvalue > 1e-3
