"""The simulated subject has the accuracy, the type-2 ROC curve and the calibration of its parameters."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from confidence_tasks.simulation.subject import PROFILES, Subject, make_subject, normal, pick, uniform

N = 20_000
PHI = NormalDist().cdf


def decisions(subject: Subject, condition: str = "0-100") -> tuple[np.ndarray, np.ndarray]:
    made = [subject.decide(f"q-{i}", condition, seed=1) for i in range(N)]
    return np.array([d.correct for d in made]), np.array([d.confidence for d in made])


def within(observed: float, expected: float, n: int) -> bool:
    """Return True if a proportion is within four standard errors of its expectation."""
    return abs(observed - expected) < 4 * math.sqrt(expected * (1 - expected) / n)


# draws


def test_draws_are_uniform_and_normal() -> None:
    u = [uniform("test", i) for i in range(5_000)]
    z = [normal("test", i) for i in range(5_000)]
    assert stats.kstest(u, "uniform").pvalue > 1e-3
    assert stats.kstest(z, "norm").pvalue > 1e-3
    assert {pick(3, i) for i in range(100)} == {0, 1, 2}


def test_draws_do_not_confuse_keys() -> None:
    assert uniform("a", "bc") != uniform("ab", "c")


# type 1


@pytest.mark.parametrize("d_prime", [0.0, 1.0, 2.5])
def test_accuracy_is_that_of_the_unbiased_observer(d_prime: float) -> None:
    correct, _ = decisions(Subject(d_prime=d_prime))
    assert within(correct.mean(), PHI(d_prime / 2), N)


def test_outcome_and_evidence_are_paired_over_conditions() -> None:
    subject = Subject(meta_d_prime=0.8)
    assert all(subject.decide(f"q-{i}", "0-5", 3) == subject.decide(f"q-{i}", "0-100", 3) for i in range(100))


# type 2


@pytest.mark.parametrize(("d_prime", "meta"), [(1.5, 1.5), (1.5, 0.7), (1.0, 1.4)])
@pytest.mark.parametrize("tau", [0.3, 1.0, 1.8])
def test_type_2_rates_are_those_of_meta_d_prime(d_prime: float, meta: float, tau: float) -> None:
    correct, confidence = decisions(Subject(d_prime=d_prime, meta_d_prime=meta))
    odds = math.log(PHI(d_prime / 2) / PHI(-d_prime / 2)) - math.log(PHI(meta / 2) / PHI(-meta / 2))
    criterion = 1 / (1 + math.exp(-(meta * tau + odds)))
    hits = (confidence > criterion)[correct]
    false_alarms = (confidence > criterion)[~correct]
    assert within(hits.mean(), PHI(meta / 2 - tau) / PHI(meta / 2), hits.size)
    assert within(false_alarms.mean(), PHI(-meta / 2 - tau) / PHI(-meta / 2), false_alarms.size)


def test_blind_confidence_varies_and_is_unrelated_to_correctness() -> None:
    correct, confidence = decisions(PROFILES["blind"])
    assert confidence.std() > 0.1
    assert stats.ks_2samp(confidence[correct], confidence[~correct]).pvalue > 1e-3


# calibration


def test_ideal_confidence_is_calibrated() -> None:
    correct, confidence = decisions(Subject(d_prime=1.2, meta_d_prime=0.9))
    for low in np.arange(0.0, 1.0, 0.1):
        chosen = (confidence >= low) & (confidence < low + 0.1)
        if chosen.sum() > 200:
            assert within(correct[chosen].mean(), confidence[chosen].mean(), chosen.sum())


def test_bias_changes_confidence_and_not_accuracy() -> None:
    plain, high = decisions(Subject()), decisions(Subject(bias=1.0))
    assert (high[0] == plain[0]).all()
    assert (high[1] > plain[1]).all()


def test_scale_gain_changes_the_named_condition_only() -> None:
    subject = Subject(meta_d_prime=0.8, scale_gain={"0-20": 2.0})
    correct, sharp = decisions(subject, "0-20")
    _, dull = decisions(subject, "0-100")
    assert sharp[correct].mean() - sharp[~correct].mean() > 1.5 * (
        dull[correct].mean() - dull[~correct].mean()
    )


# profiles


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_states_probabilities(profile: str) -> None:
    decision = make_subject(profile).decide("q-1", "0-5", 0)
    assert 0 <= decision.confidence <= 1


def test_errors_for_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(ValueError, match="ideal, overconfident"):
        make_subject("clever")
    with pytest.raises(ValueError, match="meta_d_prime"):
        make_subject("ideal", metad=1.0)


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("bias", "high", "a number, got 'high'"),
        ("gain", float("nan"), "a number, got nan"),
        ("bias", True, "a number, got True"),
        ("d_prime", 100, "of at least -10 and of at most 10, got 100"),
        ("meta_d_prime", -20, "of at least -10 and of at most 10, got -20"),
        ("risk_sensitivity", 500, "of at least 0 and of at most 10, got 500"),
        ("perception", 0.0, "a number above 0 and of at most 1, got 0.0"),
        ("sloppiness", 1.5, "of at least 0 and of at most 1, got 1.5"),
        ("round_to", 2.5, "a whole number of at least 1, got 2.5"),
        ("anchors", 0.9, "a list of numbers from 0 to 1, got 0.9"),
        ("anchors", [0.9, 95], "a list of numbers from 0 to 1"),
        ("scale_gain", {"0-20": "large"}, "a number for each condition"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused(parameter: str, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=f"{parameter} must .*{message}"):
        make_subject("ideal", **{parameter: value})


@pytest.mark.parametrize(
    "parameters",
    [
        {"d_prime": 10, "difficulty_spread": 50},
        {"d_prime": -10, "meta_d_prime": 10},
        {"meta_d_prime": -10},
        {"meta_d_prime": 5, "scale_gain": {"0-20": 30}},
        {"bias": 1e308, "noise": 1e300},
    ],
)
def test_extreme_subjects_state_probabilities(parameters: dict[str, object]) -> None:
    subject = make_subject("ideal", **parameters)
    stated = [subject.decide(f"q-{i}", "0-20", 0).confidence for i in range(200)]
    assert all(0.0 <= confidence <= 1.0 for confidence in stated)


def test_the_most_sensitive_observer_is_always_right() -> None:
    correct, _ = decisions(make_subject("ideal", d_prime=10), "0-20")
    assert correct.all()


def test_parameters_come_as_the_command_line_gives_them() -> None:
    subject = make_subject("ideal", d_prime=2, anchors=[0.5, 1], round_to=10.0, scale_gain={"0-20": 2})
    assert (subject.d_prime, subject.anchors, subject.round_to) == (2.0, (0.5, 1.0), 10)
    assert subject.scale_gain == {"0-20": 2}
