"""The simulated subject's intervals and exponents follow from its perception tunnel."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy.special import ndtri
from tests.items import reply_to

from confidence_tasks.simulation.subject import PROFILES, Subject, make_subject
from confidence_tasks.sources import Question
from confidence_tasks.statistics.intervals import adjusted_interval
from confidence_tasks.studies.fermieval import STUDY
from confidence_tasks.studies.fermieval.logprob import STUDY as LOGPROB
from confidence_tasks.studies.fermieval.logprob.subject import draw_exponent, exponent_distribution
from confidence_tasks.studies.fermieval.replies import (
    LEVELS,
    condition_of,
    read_fermi_exponent,
    read_fermi_interval,
)
from confidence_tasks.studies.fermieval.sampling import STUDY as SAMPLING
from confidence_tasks.studies.fermieval.subject import (
    belief,
    stated_ends,
    true_values,
    tunnel,
)

QUESTIONS = [
    Question(f"made-up-{i}", "fermi", f"How many of kind {i}?", "number", str(i % 41 - 20))
    for i in range(1500)
]


@pytest.mark.parametrize(("perception", "level"), [(1.0, 0.9), (0.65, 0.9), (0.65, 0.998), (0.3, 0.99)])
def test_coverage_is_the_level_times_the_perception(perception, level):
    subject = make_subject("ideal", perception=perception)
    contained = []
    for question in QUESTIONS:
        lower, upper = stated_ends(question, subject, level, "1", level)
        contained.append(lower <= int(question.gold) <= upper)
    expected = level * perception
    assert np.mean(contained) == pytest.approx(
        expected, abs=4 * math.sqrt(expected * (1 - expected) / len(contained))
    )


@pytest.mark.parametrize("level", LEVELS)
def test_the_default_subject_is_overconfident_as_the_papers_models_are(level):
    """Coverage is about .65 at every level."""
    assert true_values(Subject(), f"p={level}")["coverage"] == pytest.approx(0.65 * level, abs=0.005)


def test_the_ideal_subject_reaches_the_nominal_coverage_and_others_do_not():
    covered = {name: true_values(subject, "p=0.99")["coverage"] for name, subject in PROFILES.items()}
    assert {name for name, coverage in covered.items() if coverage > 0.98} == {"ideal", "underconfident"}
    assert covered["overconfident"] == covered["tunnel"] == pytest.approx(0.6435, abs=0.005)


@pytest.mark.parametrize("perception", [0.1, 0.65, 1.0])
def test_ends_are_the_whole_numbers_within_the_quantiles_of_the_visible_part(perception):
    subject = make_subject("tunnel", perception=perception)
    for question in QUESTIONS[:300]:
        start, _ = tunnel(perception, "1", question.id)
        lower, upper = map(
            belief(question, subject, "1").inv_cdf, (start + 0.05 * perception, start + 0.95 * perception)
        )
        within = [value for value in range(-60, 60) if lower <= value <= upper]
        expected = within or [round((lower + upper) / 2)]
        assert stated_ends(question, subject, 0.9, "1") == (expected[0], expected[-1])


def test_the_belief_is_fixed_and_the_tunnel_varies_between_calls():
    question, subject = QUESTIONS[0], make_subject("tunnel")
    seeds = ["7", "7/T=1.0/0", "7/T=1.0/1"]
    assert len({belief(question, subject, seed).mean for seed in seeds}) == 1
    assert len({tunnel(subject.perception, seed, question.id) for seed in seeds}) == 3
    assert belief(question, subject, "8").mean != belief(question, subject, "7").mean


@pytest.mark.parametrize("level", LEVELS)
def test_the_level_is_that_of_the_condition(level):
    subject = make_subject("ideal")
    for question in QUESTIONS[:20]:
        reading = read_fermi_interval(reply_to(STUDY, question, condition_of(level), subject).text)
        assert reading.status == "ok"
        expected = stated_ends(question, subject, level, "1", level)
        assert (reading.lower, reading.upper) == expected


# Theorem 1 and the rate of convergence


def sampled_ends(perception, level, queries, repetitions):
    """Ends that a subject with a standard normal belief states, shape (repetitions, queries)."""
    start = np.random.default_rng(5).uniform(0.0, 1.0 - perception, (repetitions, queries))
    tail = (1.0 - level) / 2.0
    return ndtri(start + tail * perception), ndtri(start + (1.0 - tail) * perception)


@pytest.mark.parametrize("perception", [0.05, 0.3, 0.65, 1.0])
def test_quantiles_of_sampled_ends_are_those_of_the_whole_belief(perception):
    level = 0.9
    lower, upper = adjusted_interval(*sampled_ends(perception, level, 20_000, 1), level)
    assert lower[0] == pytest.approx(NormalDist().inv_cdf(0.05), abs=0.06)
    assert upper[0] == pytest.approx(NormalDist().inv_cdf(0.95), abs=0.06)


def test_the_start_of_the_tunnel_is_uniform():
    starts = np.array([tunnel(0.65, i) for i in range(2000)])
    assert np.allclose(starts[:, 1] - starts[:, 0], 0.65)
    assert starts[:, 0].min() >= 0.0
    assert starts[:, 1].max() <= 1.0
    assert starts[:, 0].mean() == pytest.approx(0.175, abs=0.01)


# single exponents


def test_a_greedy_subject_states_its_most_probable_exponent():
    question, subject = QUESTIONS[3], make_subject("ideal", gain=2.0)
    reply = reply_to(LOGPROB, question, "first_token", subject)
    probabilities = exponent_distribution(belief(question, subject, "1"), subject)
    assert int(reply.text) == round(belief(question, subject, "1").mean)
    assert reply.alternatives == {str(value): p for value, p in probabilities.items()}
    plain = exponent_distribution(belief(question, make_subject("ideal"), "1"), make_subject("ideal"))
    sharpened = {value: p**2 for value, p in plain.items()}
    total = sum(sharpened.values())
    assert probabilities == pytest.approx({value: p / total for value, p in sharpened.items()})


def test_samples_come_from_the_belief_at_their_temperature():
    question, subject = QUESTIONS[3], make_subject("ideal")
    probabilities = exponent_distribution(belief(question, subject, "1"), subject)
    mean = sum(value * p for value, p in probabilities.items())
    spread = math.sqrt(sum((value - mean) ** 2 * p for value, p in probabilities.items()))
    samples = np.array([draw_exponent(probabilities, 1.0, i) for i in range(4000)])
    assert samples.mean() == pytest.approx(mean, abs=4 * spread / math.sqrt(4000))
    assert samples.std() == pytest.approx(spread, rel=0.05)
    warm = np.array([draw_exponent(probabilities, 4.0, i) for i in range(4000)])
    assert warm.std() == pytest.approx(2 * spread, rel=0.1)  # a normal to the power 1/4 has twice the spread


def test_exponents_after_reasoning_come_from_the_visible_part():
    question, subject = QUESTIONS[3], make_subject("tunnel", perception=0.2)
    reply = reply_to(SAMPLING, question, "reasoned,T=1", subject, "1/T=1.0/2")
    start, end = tunnel(0.2, "1/T=1.0/2", question.id)
    distribution = belief(question, subject, "1")
    value = read_fermi_exponent(reply.text).lower
    assert distribution.inv_cdf(start) - 0.5 <= value <= distribution.inv_cdf(end) + 0.5
    seen = exponent_distribution(belief(question, subject, "1"), subject, (start, end))
    assert len(seen) < len(exponent_distribution(belief(question, subject, "1"), subject))
