"""Power analysis for logs of tasks of others: every measure of a signal that is a probability."""

import pytest

from confidence_tasks.decisions.power import power_curve, power_designs


@pytest.mark.parametrize("study", ["benchmark", "signals"])
def test_measures_of_probabilities_are_changed_by_the_bias_and_rankings_by_metacognition(study: str) -> None:
    effects = power_designs()[study].effects
    assert {effects[name].parameter for name in ("ece", "brier")} == {"bias"}
    assert effects["auroc"].parameter == effects["meta_information"].parameter == "meta_d_prime"
    assert effects["accuracy"].parameter == "d_prime"
    assert not any("recalibrated" in name for name in effects)


def test_logs_of_others_have_conditions_of_their_own() -> None:
    assert power_designs()["benchmark"].read_condition("0-20 JSON") == "0-20 JSON"
    with pytest.raises(ValueError, match="not one of"):
        power_designs()["signals"].read_condition("0-20 JSON")


@pytest.mark.slow
def test_more_questions_have_more_power() -> None:
    curve = power_curve("benchmark", "ece", -0.1, n=[50, 400], n_studies=100, condition="0-100")
    assert curve.condition == "0-100"
    assert curve.power[0] < curve.power[1]
