"""Expected values of a subject's measures, by formulas. Simulations of its replies are in ``tests/validity``."""

import math
from collections.abc import Mapping

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import norm

from confidence_tasks.catalogue import studies
from confidence_tasks.simulation.subject import PROFILES, Subject

STUDIES = {study.name: study for study in studies()}


def true_values(study: str, subject: Subject, condition: str, task: str = "") -> Mapping[str, float]:
    found = STUDIES[study].simulation.true_values
    assert found is not None
    return found(subject, condition, task or study)


# Formulas ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("d_prime", "meta"), [(1.5, 1.5), (1.5, 0.8), (0.8, 1.2)])
def test_accuracy_meta_d_and_auroc_equal_the_formulas(d_prime: float, meta: float) -> None:
    """The scale is fine enough for a thousandth of each. Evidence is normal, and positive."""

    def at_least(x: float, mean: float) -> float:
        return float(norm.sf(x, mean) / norm.sf(0.0, mean))

    def density_of_wrong(x: float) -> float:
        return float(norm.pdf(x, -meta / 2) / norm.sf(0.0, -meta / 2))

    auroc, _ = integrate.quad(lambda x: at_least(x, meta / 2) * density_of_wrong(x), 0.0, 12.0)
    found = true_values("scales", Subject(d_prime=d_prime, meta_d_prime=meta), "0-1000")
    assert found["accuracy"] == pytest.approx(norm.cdf(d_prime / 2), abs=1e-9)
    assert found["auroc"] == pytest.approx(auroc, abs=1e-3)
    assert found["meta_d"] == pytest.approx(meta, abs=0.02)
    assert found["mratio"] == pytest.approx(meta / d_prime, abs=0.02)
    assert found["overconfidence"] == pytest.approx(0.0, abs=1e-3)


def test_coverage_is_the_nominal_one_times_the_perceived_mass() -> None:
    for perception in (1.0, 0.65):
        found = true_values("fermieval", Subject(perception=perception, belief_sd=4.0), "p=0.9")
        assert found["coverage"] == pytest.approx(0.9 * perception, abs=0.003)


@pytest.mark.parametrize("ratio", [0.7, 1.0, 1.5])
def test_measures_of_log_probabilities_follow_from_two_normal_distributions(ratio: float) -> None:
    found = true_values("nlp_metad", Subject(meta_d_prime=1.2, evidence_ratio=ratio), "T=1")
    assert found["auroc2"] == pytest.approx(norm.cdf(1.2 / math.sqrt(1 + ratio**2)), abs=1e-3)
    assert found["d_a"] == pytest.approx(1.2 * math.sqrt(2 / (1 + ratio**2)), abs=0.01)
    assert found["z_roc_slope"] == pytest.approx(1 / ratio, abs=0.02)


def test_a_subject_that_knows_the_life_table_is_calibrated_and_has_the_best_score() -> None:
    for parameters, best in (({}, 0.5699), ({"window": "inclusive", "table": "None"}, 0.5977)):
        found = [
            STUDIES["lifeeval"].simulation.true_values(Subject(), f"radius={radius}", "lifeeval", parameters)
            for radius in (1, 5, 10, 20)
        ]
        assert np.mean([its["score"] for its in found]) == pytest.approx(best, abs=5e-5)
        assert [its["regret"] for its in found] == pytest.approx([0.0] * 4, abs=1e-12)
        assert [its["overconfidence"] for its in found] == pytest.approx([0.0] * 4, abs=2e-3)


@pytest.mark.parametrize("study", ["scales", "riskeval", "lifeeval", "fermieval", "nlp_metad"])
def test_a_mean_over_conditions_has_no_true_value(study: str) -> None:
    """It would depend on the conditions that were asked."""
    with pytest.raises(ValueError, match=r"all|write radius=5"):
        true_values(study, Subject(), "all")


# Published effects ------------------------------------------------------------------------------------------------

TYPICAL = PROFILES["overconfident"]


def test_the_overconfident_subject_discretises_like_the_models_of_the_scales_paper() -> None:
    """Three values make up over 78%, [0,20] is best, [60,100] compresses, round numbers outlast odd bounds."""
    found = {
        label: true_values("scales", TYPICAL, label) for label in ("0-20", "0-100", "60-100", "0-73", "3-38")
    }
    assert found["0-100"]["top3_share"] > 0.78
    assert found["0-100"]["top1_share"] > 0.3
    assert found["0-20"]["mratio"] > found["0-100"]["mratio"] > found["60-100"]["mratio"]
    assert found["3-38"]["mratio"] < found["0-73"]["mratio"]
    assert min(found[label]["round_share"] for label in ("0-73", "3-38")) > 0.8


def test_confidence_of_the_overconfident_subject_increases_less_with_the_radius_than_its_score() -> None:
    """LifeEval's figure 3 and its regression: overconfidence falls as the task gets easier."""
    found = [true_values("lifeeval", TYPICAL, f"radius={radius}") for radius in (1, 5, 10, 20)]
    for name in ("score", "confidence"):
        assert [its[name] for its in found] == sorted(its[name] for its in found)
    excess = [its["overconfidence"] for its in found]
    assert excess == sorted(excess, reverse=True)
    assert excess[0] > 0.2
    assert min(its["hard_easy"] for its in found[1:]) > 0.1
    assert true_values("question_sets", TYPICAL, "boolq", "boolq")["overconfidence"] > 0.1


def test_coverage_of_the_overconfident_subject_stagnates_as_the_level_increases() -> None:
    found = [true_values("fermieval", TYPICAL, f"p={level}")["coverage"] for level in (0.9, 0.95, 0.99)]
    assert min(found) > 0.55
    assert max(found) < 0.68


def test_a_subject_that_ignores_the_penalty_has_a_low_utility() -> None:
    found = [true_values("riskeval", TYPICAL, f"lambda={penalty}") for penalty in (0, 10, 100)]
    assert {its["abstention_rate"] for its in found} == {0.0}
    assert found[0]["policy_consistency"] > 0.99
    assert found[2]["policy_consistency"] < 0.1
    assert [its["normalized_utility"] for its in found] == sorted(
        (its["normalized_utility"] for its in found), reverse=True
    )
    assert len({its["ece"] for its in found}) == 1


def test_temperature_changes_log_probabilities_and_not_their_sensitivity() -> None:
    cold, warm = (true_values("nlp_metad", TYPICAL, f"T={t}") for t in (0.3, 1.0))
    assert cold["mean_logprob"] > warm["mean_logprob"] + 0.1
    for name in ("auroc2", "d_a", "meta_d_v1"):
        assert cold[name] == pytest.approx(warm[name], abs=1e-9)
