"""What a subject's measures are in the long run, in large simulations of its replies."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from tests.items import items_of, reply_to
from tests.trials import fermieval_trial, lifeeval_trial, logprob_trial, question_set_trial, scale_trial
from tests.unit.simulation.test_true_values import STUDIES, true_values

from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.simulation.reply import call_seed, token_logprobs
from confidence_tasks.simulation.subject import PROFILES, Subject
from confidence_tasks.sources import Question
from confidence_tasks.studies.fermieval.logprob.trials import distribution_trial
from confidence_tasks.studies.lifeeval import STUDY as LIFEEVAL
from confidence_tasks.studies.lifeeval.question_sets.replies import QUESTION_SETS
from confidence_tasks.studies.riskeval.trials import riskeval_trial
from confidence_tasks.study.columns import columns

pytestmark = pytest.mark.slow

N, GROUPS = 3_000, 25

Trials = Iterator[Mapping[str, Any]]


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
        yield logprob_trial(question, temperature, reply.text, token_logprobs(reply))


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
        measure = STUDIES[study].measures_by_name[name]
        found = float(measure.compute(trials, None))
        without = np.asarray(measure.compute(trials, kept))
        error = math.sqrt((GROUPS - 1) / GROUPS * np.sum((without - without.mean()) ** 2))
        allowed = 0.015 if "ece" in name else 0.005 * max(1.0, abs(value))
        assert found == pytest.approx(value, abs=4 * error + allowed), name
