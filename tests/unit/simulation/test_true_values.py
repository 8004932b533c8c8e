"""What a subject's measures are in the long run: by formulas, and in large simulations of its replies."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import norm
from tests.items import items_of, reply_to

from confidence_tasks.catalogue import studies
from confidence_tasks.reading.token_probabilities import answer_tokens
from confidence_tasks.simulation.profiles import PROFILES
from confidence_tasks.simulation.reply import call_seed, token_logprobs
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.sources import Question
from confidence_tasks.studies.fermieval.trials import fermieval_trial
from confidence_tasks.studies.fermieval_logprob.trials import distribution_trial
from confidence_tasks.studies.lifeeval import STUDY as LIFEEVAL
from confidence_tasks.studies.lifeeval.trials import lifeeval_trial
from confidence_tasks.studies.logprob_metacognition.reader import read_short_answer
from confidence_tasks.studies.logprob_metacognition.trials import logprob_trial
from confidence_tasks.studies.question_sets.prompts import QUESTION_SETS
from confidence_tasks.studies.question_sets.trials import question_set_trial
from confidence_tasks.studies.riskeval.trials import riskeval_trial
from confidence_tasks.studies.scales.prompts import Scale
from confidence_tasks.studies.scales.trials import scale_trial
from confidence_tasks.study.measures import columns
from confidence_tasks.study.stage import Token

STUDIES = {study.name: study for study in studies()}
N, GROUPS = 3_000, 25

Trials = Iterator[Mapping[str, Any]]


def true_values(study: str, subject: Subject, condition: str, task: str = "") -> Mapping[str, float]:
    found = STUDIES[study].true_values
    assert found is not None
    return found(subject, condition, task or study)


# Simulations ------------------------------------------------------------------------------------------------------


def numbers(n: int = N) -> list[Question]:
    return [
        Question(f"q-{i}", "demo", f"How many of kind {i}?", "number", str(i % 41 - 20)) for i in range(n)
    ]


def scales(subject: Subject, condition: str, task: str) -> Trials:
    scale = Scale.parse(condition)
    for question in numbers():
        yield scale_trial(question, scale, reply_to(STUDIES["scales"], question, condition, subject).text)


def risks(subject: Subject, condition: str, task: str) -> Trials:
    penalty = float(condition.partition("=")[2])
    for question in numbers():
        reply = reply_to(STUDIES["riskeval"], question, condition, subject).text
        yield riskeval_trial(question, penalty, reply)


def sets(subject: Subject, condition: str, task: str) -> Trials:
    asked = QUESTION_SETS[task]
    for i in range(N):
        given = {"answer": f"a{i}", "knowledge": f"K{i}", "question_set": task}
        question = (
            Question(
                f"q-{i}", condition, f"which is {i}?", "choice", "ABCD"[i % 4], tuple("wxyz"), metadata=given
            )
            if asked.form == "options"
            else Question(f"q-{i}", condition, f"is it {i}?", "boolean", ("yes", "no")[i % 2], metadata=given)
        )
        reply = reply_to(STUDIES["question_sets"], question, condition, subject).text
        yield question_set_trial(asked.form, question, reply, given=given["answer"])


def lives(subject: Subject, condition: str, task: str) -> Trials:
    """Ask every question ten times, of subjects whose tables and noise are drawn anew."""
    for seed in range(10):
        for item in items_of(LIFEEVAL):
            if condition == item.condition:
                yield lifeeval_trial(
                    item.question, reply_to(LIFEEVAL, item.question, condition, subject, str(seed)).text
                )


def intervals(subject: Subject, condition: str, task: str) -> Trials:
    level = float(condition.partition("=")[2])
    for question in numbers():
        reply = reply_to(STUDIES["fermieval"], question, condition, subject).text
        yield fermieval_trial(question, level, "test", reply)


def distributions(subject: Subject, condition: str, task: str) -> Trials:
    for question in numbers(1_000):
        reply = reply_to(STUDIES["fermieval_logprob"], question, condition, subject)
        yield distribution_trial(question, "test", {int(value): p for value, p in reply.alternatives.items()})


def logprobs(subject: Subject, condition: str, task: str) -> Trials:
    temperature = float(condition.partition("=")[2])
    for i in range(N):
        question = Question(f"made-up-{i}", "demo", f"Who is number {i}?", "text", f"Person Number{i:05d}")
        reply = reply_to(STUDIES["nlp_metad"], question, condition, subject, call_seed(0, temperature))
        found = read_short_answer(reply.text)
        tokens = [Token(text, logprob, {}) for text, logprob in token_logprobs(reply)]
        evidence = answer_tokens(tokens, reply.text, found.begin, found.end)
        yield logprob_trial(question, temperature, found, evidence, domain="Unclassified")


SIMULATED: Mapping[str, Callable[[Subject, str, str], Trials]] = {
    "scales": scales,
    "riskeval": risks,
    "question_sets": sets,
    "lifeeval": lives,
    "fermieval": intervals,
    "fermieval_logprob": distributions,
    "nlp_metad": logprobs,
}

MIXED = Subject(d_prime=1.2, meta_d_prime=0.8, bias=0.5, noise=0.7, difficulty_spread=0.8, rounding=0.5)


@pytest.mark.parametrize(
    ("study", "task", "condition", "subject"),
    [
        ("scales", "scale_granularity", "0-20", PROFILES["overconfident"]),
        ("scales", "scale_nonstandard", "14-86", PROFILES["sloppy"]),
        ("scales", "scale_granularity", "0-100", MIXED),
        ("riskeval", "riskeval", "lambda=0.5", PROFILES["cautious"]),
        ("riskeval", "riskeval", "lambda=20", PROFILES["sloppy"]),
        ("riskeval", "riskeval", "lambda=20", Subject(risk_sensitivity=0.3, bias=0.5, noise=0.7)),
        ("question_sets", "boolq", "demo", PROFILES["overconfident"]),
        ("question_sets", "sciq", "demo", MIXED),
        ("question_sets", "halueval", "demo", PROFILES["sloppy"]),
        ("lifeeval", "lifeeval", "radius=10", PROFILES["overconfident"]),
        (
            "lifeeval",
            "lifeeval",
            "radius=5",
            Subject(meta_d_prime=1.0, hazard_noise=0.5, noise=0.5, rounding=0.5),
        ),
        ("lifeeval", "lifeeval", "radius=20", PROFILES["sloppy"]),
        ("fermieval", "fermieval", "p=0.9", PROFILES["overconfident"]),
        ("fermieval", "fermieval", "p=0.99", Subject(belief_sd=0.4, perception=0.3, sloppiness=0.4)),
        ("fermieval_logprob", "fermieval_logprob", "first_token", Subject(gain=2.0)),
        (
            "nlp_metad",
            "nlp_metad",
            "T=0.3",
            Subject(evidence_ratio=1.3, temperature_gain=0.5, sloppiness=0.3),
        ),
        ("nlp_metad", "nlp_metad", "T=1", PROFILES["overconfident"]),
    ],
)
def test_estimates_of_many_trials_are_the_true_values(
    study: str, task: str, condition: str, subject: Subject
) -> None:
    """Within four standard errors by the jackknife over groups of trials, and what small samples add to an ECE."""
    trials = columns(list(SIMULATED[study](subject, condition, task)))
    n = len(trials["correct"])
    kept = (np.arange(n) % GROUPS != np.arange(GROUPS)[:, None]).astype(float)
    true = true_values(study, subject, condition, task)
    assert len(true) > 4
    for name, value in true.items():
        measure = STUDIES[study].measure[name]
        found = float(measure.compute(trials, None))
        without = np.asarray(measure.compute(trials, kept))
        error = math.sqrt((GROUPS - 1) / GROUPS * np.sum((without - without.mean()) ** 2))
        allowed = 0.015 if "ece" in name else 0.005 * max(1.0, abs(value))
        assert found == pytest.approx(value, abs=4 * error + allowed), name


# Formulas ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("d_prime", "meta"), [(1.5, 1.5), (1.5, 0.8), (0.8, 1.2)])
def test_accuracy_meta_d_and_auroc_are_those_of_the_observer_that_was_put_in(
    d_prime: float, meta: float
) -> None:
    """The scale is fine enough for a thousandth of each. Evidence is normal, and positive."""

    def at_least(x: float, mean: float) -> float:
        return float(norm.sf(x, mean) / norm.sf(0.0, mean))

    def density_of_wrong(x: float) -> float:
        return float(norm.pdf(x, -meta / 2) / norm.sf(0.0, -meta / 2))

    auroc, _ = integrate.quad(lambda x: at_least(x, meta / 2) * density_of_wrong(x), 0.0, 12.0)
    found = true_values("scales", Subject(d_prime=d_prime, meta_d_prime=meta), "0-10000")
    assert found["accuracy"] == pytest.approx(norm.cdf(d_prime / 2), abs=1e-9)
    assert found["auroc"] == pytest.approx(auroc, abs=1e-3)
    assert found["meta_d"] == pytest.approx(meta, abs=0.02)
    assert found["mratio"] == pytest.approx(meta / d_prime, abs=0.02)
    assert found["overconfidence"] == pytest.approx(0.0, abs=1e-3)


def test_coverage_is_the_nominal_one_times_the_mass_perceived() -> None:
    for perception in (1.0, 0.65):
        found = true_values("fermieval", Subject(perception=perception, belief_sd=4.0), "p=0.9")
        assert found["coverage"] == pytest.approx(0.9 * perception, abs=0.003)


@pytest.mark.parametrize("ratio", [0.7, 1.0, 1.5])
def test_measures_of_log_probabilities_are_those_of_two_normals(ratio: float) -> None:
    found = true_values("nlp_metad", Subject(meta_d_prime=1.2, evidence_ratio=ratio), "T=1")
    assert found["auroc2"] == pytest.approx(norm.cdf(1.2 / math.sqrt(1 + ratio**2)), abs=1e-3)
    assert found["d_a"] == pytest.approx(1.2 * math.sqrt(2 / (1 + ratio**2)), abs=0.01)
    assert found["z_roc_slope"] == pytest.approx(1 / ratio, abs=0.02)


def test_who_knows_the_life_table_is_calibrated_and_scores_what_can_be_scored() -> None:
    for parameters, best in (({}, 0.5699), ({"window": "inclusive", "table": "None"}, 0.5977)):
        found = [
            STUDIES["lifeeval"].true_values(Subject(), f"radius={radius}", "lifeeval", parameters)
            for radius in (1, 5, 10, 20)
        ]
        assert np.mean([its["score"] for its in found]) == pytest.approx(best, abs=5e-5)
        assert [its["regret"] for its in found] == pytest.approx([0.0] * 4, abs=1e-12)
        assert [its["overconfidence"] for its in found] == pytest.approx([0.0] * 4, abs=2e-3)


@pytest.mark.parametrize("study", ["scales", "riskeval", "lifeeval", "fermieval", "nlp_metad"])
def test_a_mean_over_conditions_has_no_true_value(study: str) -> None:
    """It depends on which of them were asked."""
    with pytest.raises(ValueError, match=r"all|write radius=5"):
        true_values(study, Subject(), "all")


# Findings ---------------------------------------------------------------------------------------------------------

TYPICAL = PROFILES["overconfident"]


def test_the_overconfident_subject_discretises_as_the_models_of_the_scales_paper() -> None:
    """Three values make up over 78%, [0,20] is best, [60,100] compresses, round numbers outlast odd bounds."""
    found = {
        label: true_values("scales", TYPICAL, label) for label in ("0-20", "0-100", "60-100", "0-73", "3-38")
    }
    assert found["0-100"]["top3_share"] > 0.78
    assert found["0-100"]["top1_share"] > 0.3
    assert found["0-20"]["mratio"] > found["0-100"]["mratio"] > found["60-100"]["mratio"]
    assert found["3-38"]["mratio"] < found["0-73"]["mratio"]
    assert min(found[label]["round_share"] for label in ("0-73", "3-38")) > 0.8


def test_its_confidence_rises_less_with_the_radius_than_its_score() -> None:
    """LifeEval's figure 3 and its regression: overconfidence falls as the task gets easier."""
    found = [true_values("lifeeval", TYPICAL, f"radius={radius}") for radius in (1, 5, 10, 20)]
    for name in ("score", "confidence"):
        assert [its[name] for its in found] == sorted(its[name] for its in found)
    excess = [its["overconfidence"] for its in found]
    assert excess == sorted(excess, reverse=True)
    assert excess[0] > 0.2
    assert min(its["hard_easy"] for its in found[1:]) > 0.1
    assert true_values("question_sets", TYPICAL, "boolq", "boolq")["overconfidence"] > 0.1


def test_its_coverage_stagnates_while_what_is_asked_for_rises() -> None:
    found = [true_values("fermieval", TYPICAL, f"p={level}")["coverage"] for level in (0.9, 0.95, 0.99)]
    assert min(found) > 0.55
    assert max(found) < 0.68


def test_it_answers_whatever_the_penalty_and_its_utility_collapses() -> None:
    found = [true_values("riskeval", TYPICAL, f"lambda={penalty}") for penalty in (0, 10, 100)]
    assert {its["abstention_rate"] for its in found} == {0.0}
    assert found[0]["policy_consistency"] > 0.99
    assert found[2]["policy_consistency"] < 0.1
    assert [its["normalized_utility"] for its in found] == sorted(
        (its["normalized_utility"] for its in found), reverse=True
    )
    assert len({its["ece"] for its in found}) == 1


def test_temperature_moves_its_log_probabilities_and_not_what_they_tell() -> None:
    cold, warm = (true_values("nlp_metad", TYPICAL, f"T={t}") for t in (0.3, 1.0))
    assert cold["mean_logprob"] > warm["mean_logprob"] + 0.1
    for name in ("auroc2", "d_a", "meta_d_v1"):
        assert cold[name] == pytest.approx(warm[name], abs=1e-9)
