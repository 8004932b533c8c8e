"""Replies of the question sets' simulated subject follow from its parameters."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from tests.items import reply_to
from tests.trials import question_set_trial

from confidence_tasks.simulation.subject import make_subject
from confidence_tasks.sources import Question
from confidence_tasks.statistics import auroc2, ece, meta_d_2afc
from confidence_tasks.studies.lifeeval.question_sets import STUDY
from confidence_tasks.studies.lifeeval.question_sets.replies import HALUEVAL_PROMPTS, QUESTION_SETS

N = 1000
ACCURACY = NormalDist().cdf(0.75)
CITIES = ("London", "Paris", "Rome", "Bonn")


def question(name, i):
    about = {"question_set": name}
    if name == "boolq":
        return Question(f"boolq-{i}", "boolq", f"is it {i}", "boolean", ("yes", "no")[i % 2], metadata=about)
    if name == "halueval":
        given = {**about, "answer": CITIES[i % 4], "knowledge": f"K{i}"}
        return Question(
            f"halueval-{i}", "halueval", f"Is it {i}?", "boolean", ("yes", "no")[i % 2], metadata=given
        )
    return Question(f"sciq-{i}", "sciq", f"Which is {i}?", "choice", "ABCD"[i % 4], CITIES, metadata=about)


def trials(name, asked=None, **parameters):
    asked = asked or QUESTION_SETS[name]
    subject = make_subject("ideal", **parameters)
    questions = [question(name, i) for i in range(N)]
    return [
        question_set_trial(
            asked.form,
            q,
            reply_to(STUDY, q, q.source, subject, prompt=asked.prompt(q)).text,
            given=q.metadata.get("answer", ""),
        )
        for q in questions
    ]


def columns(made, names=("correct", "confidence")):
    return tuple(np.array([trial[name] for trial in made]) for name in names)


@pytest.mark.parametrize("name", ["boolq", "sciq"])
def test_accuracy_and_calibration_are_the_subjects(name):
    correct, confidence = columns(trials(name))
    assert abs(correct.mean() - ACCURACY) < 4 * math.sqrt(ACCURACY * (1 - ACCURACY) / N)
    assert ece(correct, confidence) < 0.04


@pytest.mark.parametrize("prompt", HALUEVAL_PROMPTS)
def test_a_judge_is_calibrated_about_given_answers(prompt):
    made = trials("halueval", HALUEVAL_PROMPTS[prompt])
    assert {trial["status"] for trial in made} == {"ok"}
    correct, confidence = columns(made)
    assert correct.mean() == 0.5
    assert ece(correct, confidence) < 0.05
    right = (confidence > 0.5) == (correct == 1.0)
    assert abs(right.mean() - ACCURACY) < 4 * math.sqrt(ACCURACY * (1 - ACCURACY) / N) + 0.01


@pytest.mark.parametrize("name", ["boolq", "sciq", "halueval"])
def test_bias_gives_overconfidence(name):
    correct, confidence = columns(trials(name, bias=1.2))
    gap = np.abs(confidence - 0.5).mean() - np.abs(columns(trials(name))[1] - 0.5).mean()
    assert gap > 0.08
    assert ece(correct, confidence) > 0.08


@pytest.mark.parametrize("name", ["boolq", "sciq"])
def test_a_blind_subject_has_uninformative_confidence(name):
    blind = trials(name, meta_d_prime=0.0, noise=1.5)
    correct, confidence = columns(blind, ("answer_correct", "answer_confidence"))
    assert abs(auroc2(correct, confidence) - 0.5) < 0.06


@pytest.mark.parametrize("name", ["boolq", "sciq", "halueval"])
def test_replies_keep_to_the_format(name):
    assert {trial["status"] for trial in trials(name)} == {"ok"}


@pytest.mark.parametrize("meta", [0.75, 1.5])
def test_the_textbook_meta_d_of_boolq_is_the_subjects(meta):
    """The standard error of meta-d' at a thousand trials is about 0.12."""
    correct, confidence, stimulus = columns(
        trials("boolq", meta_d_prime=meta), ("correct", "confidence", "stimulus")
    )
    assert meta_d_2afc(correct, confidence, stimulus) == pytest.approx(meta, abs=0.4)


def test_token_alternatives_are_those_of_the_confidence():
    asked, q = QUESTION_SETS["sciq"], question("sciq", 3)
    reply = reply_to(STUDY, q, q.source, make_subject("ideal"), prompt=asked.prompt(q))
    assert sum(reply.alternatives.values()) == pytest.approx(1.0, abs=0.002)
    assert max(reply.alternatives.values()) == pytest.approx(reply.confidence)
