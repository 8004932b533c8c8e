"""The simulated subject: measures of its answers equal those of its parameters."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr
from tests.items import reply_to
from tests.trials import logprob_trial

from confidence_tasks.simulation.reply import call_seed, token_logprobs
from confidence_tasks.simulation.subject import make_subject
from confidence_tasks.sources import Question
from confidence_tasks.statistics.inference import bootstrap_distribution
from confidence_tasks.studies.logprob_metacognition import STUDY
from confidence_tasks.studies.logprob_metacognition.measures import MEASURES
from confidence_tasks.studies.logprob_metacognition.simulated_replies import SCALE
from confidence_tasks.study.columns import columns

N = 4_000
QUESTIONS = [
    Question(f"made-up-{i}", "demo", f"Who is number {i}?", "text", f"Person Number{i:05d}") for i in range(N)
]
COMPUTE = {measure.name: measure.compute for measure in MEASURES}


def trials_of(questions=QUESTIONS, temperature=1.0, **parameters):
    subject = make_subject("ideal", **parameters)
    trials = []
    for question in questions:
        reply = reply_to(STUDY, question, "", subject, call_seed(0, temperature))
        trials.append(logprob_trial(question, temperature, reply.text, token_logprobs(reply)))
    return trials


def information(distance, ratio, accuracy, bins=10):
    """Share of the uncertainty about correctness that the evidence removes in bins of equal mass, by quadrature."""

    def below(x):
        return np.array([(1 - accuracy) * ndtr(x), accuracy * ndtr((x - distance) / ratio)])

    def entropy(p):
        return -sum(q * math.log2(q) for q in (p, 1 - p) if q > 0)

    cuts = [brentq(lambda x, share=i / bins: below(x).sum() - share, -40, 40) for i in range(1, bins)]
    masses = np.diff(np.column_stack([np.zeros(2), *map(below, cuts), [1 - accuracy, accuracy]]), axis=1)
    left = sum(mass.sum() * entropy(mass[1] / mass.sum()) for mass in masses.T)
    return 1.0 - left / entropy(accuracy)


def expected(distance, ratio, accuracy):
    """The measures' values in the population."""
    return {
        "auroc2": ndtr(distance / math.sqrt(1 + ratio**2)),
        "z_roc_slope": 1 / ratio,
        "d_a": distance * math.sqrt(2 / (1 + ratio**2)),
        "meta_information": information(distance, ratio, accuracy),
        "mean_logprob_difference": SCALE * distance,
        "accuracy": accuracy,
        **({"d_prime_v1": distance, "meta_d_v1": distance, "mratio_v1": 1.0} if ratio == 1 else {}),
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("distance", "ratio", "d_prime"),
    [(1.5, 1.0, 1.5), (0.8, 1.0, 0.6), (2.2, 1.0, 1.0), (1.5, 1.5, 1.0), (1.5, 0.7, 0.6)],
)
def test_measures_agree_with_closed_forms_and_quadrature(distance, ratio, d_prime):
    """Within four standard errors of a bootstrap; version 1's M-ratio is 1 under equal variance, whatever the area."""
    trials = columns(trials_of(meta_d_prime=distance, evidence_ratio=ratio, d_prime=d_prime))
    assert set(trials["status"]) == {"ok"}
    for name, truth in expected(distance, ratio, ndtr(d_prime / 2)).items():
        found = COMPUTE[name](trials, None)
        spread = bootstrap_distribution(
            lambda _, *, weights, compute=COMPUTE[name]: compute(trials, weights),
            np.arange(N),
            n_resamples=100,
        )
        assert abs(found - truth) < 4.0 * np.std(np.asarray(spread)), name


def test_blind_evidence_tells_nothing():
    trials = columns(trials_of(meta_d_prime=0.0))
    assert COMPUTE["meta_information"](trials, None) == pytest.approx(0.0, abs=0.01)
    assert COMPUTE["auroc2"](trials, None) == pytest.approx(0.5, abs=0.04)


def test_temperature_shifts_the_evidence_and_may_change_its_distance():
    few = QUESTIONS[:2_000]
    cool, hot = (columns(trials_of(few, temperature)) for temperature in (0.5, 1.5))
    assert COMPUTE["mean_logprob"](cool, None) - COMPUTE["mean_logprob"](hot, None) == pytest.approx(
        0.2, abs=0.05
    )
    assert COMPUTE["d_a"](cool, None) == pytest.approx(COMPUTE["d_a"](hot, None), abs=0.2)
    gained = columns(trials_of(few, 1.5, temperature_gain=2.0))
    assert COMPUTE["d_a"](gained, None) == pytest.approx(2.5, abs=0.25)


def test_answers_are_drawn_anew_at_each_temperature_and_the_same_in_each_run():
    few = QUESTIONS[:50]
    assert trials_of(few)[0]["mean_logprob"] == trials_of(few)[0]["mean_logprob"]
    assert [trial["correct"] for trial in trials_of(few)] != [
        trial["correct"] for trial in trials_of(few, 0.5)
    ]


def test_sloppy_replies_leave_the_evidence_as_it_is():
    """The tokens around an answer are improbable: if one counted, the mean would fall by a nat or more."""
    neat, sloppy = trials_of(QUESTIONS[:300]), trials_of(QUESTIONS[:300], sloppiness=1.0)
    assert {trial["status"] for trial in sloppy} == {"ok", "repaired", "refused", "missing_answer"}
    read = [(a, b) for a, b in zip(neat, sloppy, strict=True) if b["answer"]]
    assert len(read) > 150
    for plain, found in read:
        assert found["mean_logprob"] == pytest.approx(plain["mean_logprob"], abs=1e-9)
        assert (found["answer"], found["correct"]) == (plain["answer"], plain["correct"])
