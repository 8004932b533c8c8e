"""Trials of the calibration question sets: correctness, confidence, missing values and measures."""

import math

import numpy as np
import pytest
from tests.trials import question_set_trial

from confidence_tasks.reading.explanation import explanation
from confidence_tasks.sources import Question
from confidence_tasks.statistics import fit_meta_d
from confidence_tasks.statistics.sdt import two_choice_table
from confidence_tasks.studies.lifeeval.question_sets import STUDY
from confidence_tasks.studies.lifeeval.question_sets.measures import measures_of
from confidence_tasks.studies.lifeeval.question_sets.replies import QUESTION_SETS
from confidence_tasks.study.metrics import summarise
from confidence_tasks.study.stage import Token

BOOLEAN = Question("boolq-1", "boolq", "is it so", "boolean", "yes")
CHOICE = Question("sciq-1", "sciq", "Which city?", "choice", "B", ("London", "Paris", "Rome", "Bonn"))
JUDGED = {
    gold: Question(f"halueval-{gold}", "halueval", "Which city?", "boolean", gold) for gold in ("yes", "no")
}


def options_trial(answer, *probabilities, tokens=()):
    fields = "".join(f', "{letter}": {p}' for letter, p in zip("ABCD", probabilities, strict=False))
    return question_set_trial("options", CHOICE, f'{{"Answer": "{answer}"{fields}}}', tokens)


# Multiple choice ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "probabilities", "correct", "confidence", "answer_correct", "answer_confidence"),
    [
        ("B", (0.1, 0.7, 0.1, 0.1), 1.0, 0.7, 1.0, 0.7),
        ("A", (0.7, 0.1, 0.1, 0.1), 0.0, 0.7, 0.0, 0.7),
        ("B", (0.2, 1.0, 0.4, 0.4), 1.0, 0.5, 1.0, 0.5),
        ("B", (0.4, 0.4, 0.1, 0.1), 1 / 2, 0.4, 1.0, 0.4),
        ("A", (0.3, 0.3, 0.3, 0.1), 1 / 3, 0.3, 0.0, 0.3),
        ("A", (0.3, 0.1, 0.3, 0.3), 0.0, 0.3, 0.0, 0.3),
        ("C", (0.1, 0.6, 0.2, 0.1), 1.0, 0.6, 0.0, 0.2),
        ("C", (0.25, 0.25, 0.25, 0.25), 1 / 4, 0.25, 0.0, 0.25),
    ],
)
def test_the_favourite_is_judged_and_ties_share_the_credit(
    answer, probabilities, correct, confidence, answer_correct, answer_confidence
):
    trial = options_trial(answer, *probabilities)
    assert trial["correct"] == pytest.approx(correct)
    assert trial["confidence"] == pytest.approx(confidence)
    assert trial["answer_correct"] == answer_correct
    assert trial["answer_confidence"] == pytest.approx(answer_confidence)


def test_the_raw_confidence_is_not_normalised():
    trial = options_trial("B", 0.2, 0.9, 0.4, 0.3)
    assert (trial["confidence_raw"], trial["stated"]) == (0.9, "0.2 0.9 0.4 0.3")


def test_probabilities_that_are_all_zero_have_no_correctness():
    trial = options_trial("B", 0, 0, 0, 0)
    assert trial["status"] == "unreadable"
    assert all(
        math.isnan(trial[key]) for key in ("correct", "confidence", "answer_correct", "answer_confidence")
    )


def test_an_answer_without_probabilities_counts_for_accuracy_only():
    trial = options_trial("B")
    assert (trial["status"], trial["correct"]) == ("missing_confidence", 1.0)
    assert math.isnan(trial["confidence"])


def test_an_answer_that_is_no_option_has_no_correctness_and_no_confidence():
    trial = options_trial("E", 0.25, 0.25, 0.25, 0.25)
    assert trial["status"] == "missing_answer"
    assert math.isnan(trial["correct"])
    assert math.isnan(trial["confidence"])


# True or false, and judgements ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("said", "correct"), [("True", 1.0), ("False", 0.0), ("Maybe", math.nan)])
def test_boolq(said, correct):
    trial = question_set_trial("boolean", BOOLEAN, f'{{"Answer": "{said}", "Confidence": 0.9}}')
    assert trial["correct"] == pytest.approx(correct, nan_ok=True)
    assert trial["gold"] == "yes"


@pytest.mark.parametrize("gold", ["yes", "no"])
def test_halueval_is_right_when_the_given_answer_is(gold):
    trial = question_set_trial("judgement", JUDGED[gold], '0.8"\n}', given="Paris")
    assert (trial["correct"], trial["confidence"], trial["answer"]) == (float(gold == "yes"), 0.8, "Paris")


def test_the_share_of_own_answers_counts_replies_that_replace_the_given_answer():
    replies = ['0.8"\n}', '{"Answer": "Rome", "Confidence": 0.8}', '{"Answer": "paris", "Confidence": 0.8}']
    trials = [question_set_trial("judgement", JUDGED["no"], reply, given="Paris") for reply in replies]
    summary = summarise(trials, measures_of("judgement"), ["halueval"])
    assert summary["own_answer_share/halueval"] == pytest.approx(1 / 3)


def test_judged_columns_exclude_confidence_in_an_own_answer():
    replies = {
        "yes": ['0.9"}', '0.7"}', '{"Answer": "Rome", "Confidence": 1.0}'],
        "no": [
            '0.3"}',
            '{"Answer": "Rome", "Confidence": 1.0}',
            '{"Answer": "Bonn", "Confidence": 0.8}',
            "no",
        ],
    }
    trials = [
        question_set_trial("judgement", JUDGED[gold], reply, given="Paris")
        for gold, said in replies.items()
        for reply in said
    ]
    summary = summarise(trials, measures_of("judgement"), ["halueval"])
    expected = {
        "ece": (1 - 0.9 + 1 - 0.7 + 0.3) / 3,
        "accuracy": 2 / 4,  # the reply without a confidence puts no other answer in the place
        "confidence": (0.9 + 0.7 + 0.3) / 3,
        "overconfidence": (0.9 + 0.7 + 0.3) / 3 - 2 / 3,
        "auroc": 1.0,
    }
    found = {name: summary[f"judged_{name}/halueval"] for name in expected}
    assert found == pytest.approx(expected)
    assert summary["auroc/halueval"] < 1.0
    alone = [trial for trial in trials if "own_answer" not in trial["rules"]]
    published = summarise(alone, measures_of("judgement"), ["halueval"])
    assert found == pytest.approx({name: published[f"{name}/halueval"] for name in expected})


@pytest.mark.parametrize("form", ["boolean", "options"])
def test_sets_without_a_given_answer_have_no_judgements(form):
    for trial in TRIALS[form]:
        assert math.isnan(trial["judged_correct"])
        assert math.isnan(trial["judged_confidence"])


# Token probabilities --------------------------------------------------------------------------------------------


def answer_tokens(**probabilities):
    alternatives = {text: math.log(p) for text, p in probabilities.items()}
    first = next(iter(alternatives))
    return [Token('{"Answer": "', 0.0, {}), Token(first, alternatives[first], alternatives)]


def test_token_probabilities_are_those_of_the_options():
    trial = options_trial("A", 0.7, 0.1, 0.1, 0.1, tokens=answer_tokens(A=0.2, B=0.6, The=0.2))
    assert (trial["token_correct"], trial["token_confidence"]) == (1.0, pytest.approx(0.75))


def test_token_probabilities_of_true_and_false():
    reply = '{"Answer": "False", "Confidence": 0.9}'
    tokens = [Token('"Answer": "', 0.0, {}), Token("False", math.log(0.6), {"True": math.log(0.2)})]
    trial = question_set_trial("boolean", BOOLEAN, reply, tokens)
    assert (trial["token_correct"], trial["token_confidence"]) == (0.0, pytest.approx(0.75))


def test_without_token_probabilities_there_are_none():
    trial = options_trial("A", 0.7, 0.1, 0.1, 0.1)
    assert math.isnan(trial["token_confidence"])
    assert math.isnan(trial["token_correct"])


# Measures -------------------------------------------------------------------------------------------------------

TRIALS = {
    "boolean": [
        question_set_trial("boolean", BOOLEAN, f'{{"Answer": "{said}", "Confidence": {confidence}}}')
        for said, confidence in [
            ("True", 0.9),
            ("False", 0.6),
            ("True", 1.0),
            ("It depends", 0.5),
            ("True", 3),
        ]
    ],
    "options": [
        options_trial("B", 0.1, 0.7, 0.1, 0.1),
        options_trial("A", 0.4, 0.4, 0.1, 0.1),
        options_trial("A", 0.9, 0.0, 0.1, 0.0),
        options_trial("B", 0, 0, 0, 0),
        options_trial("B"),
    ],
    "judgement": [
        question_set_trial("judgement", JUDGED[gold], reply, given="Paris")
        for gold in ("yes", "no")
        for reply in ('0.9"}', '{"Confidence": 0.2}', "no")
    ],
}
EXPECTED = {
    "boolean": {
        "accuracy": 3 / 4,
        "confidence": 0.75,
        "overconfidence": 2.5 / 3 - 2 / 3,
        "parse_rate": 3 / 5,
    },
    "options": {
        "accuracy": (1 + 0.5 + 0 + 1) / 4,
        "confidence": 2 / 3,
        "answer_accuracy": 2 / 4,
        "parse_rate": 3 / 5,
    },
    "judgement": {"accuracy": 0.5, "confidence": 0.55, "overconfidence": 0.05, "parse_rate": 4 / 6},
}

every_form = pytest.mark.parametrize("form", TRIALS)


@every_form
def test_trials_that_each_measure_leaves_out(form):
    trials = TRIALS[form]
    summary = summarise(trials, measures_of(form), [trials[0]["condition"]])
    for name, value in EXPECTED[form].items():
        assert summary[f"{name}/{trials[0]['condition']}"] == pytest.approx(value), name


def test_boolq_has_the_textbook_meta_d():
    rng = np.random.default_rng(0)
    trials = []
    for i in range(400):
        gold = ("yes", "no")[i % 2]
        question = Question(f"boolq-{i}", "boolq", "is it so", "boolean", gold)
        evidence = rng.normal(0.75 if gold == "yes" else -0.75)
        confidence = round(1 / (1 + math.exp(-1.5 * abs(evidence))), 2)
        said = {True: "True", False: "False"}[evidence > 0]
        reply = f'{{"Answer": "{said}", "Confidence": {confidence}}}'
        trials.append(question_set_trial("boolean", question, reply))
    summary = summarise(trials, measures_of("boolean"), ["boolq"])
    stimulus = [float(trial["gold"] == "yes") for trial in trials]
    table = two_choice_table([t["correct"] for t in trials], [t["confidence"] for t in trials], stimulus)
    assert summary["meta_d/boolq"] == fit_meta_d(*table).meta_d
    assert summary["mratio/boolq"] == fit_meta_d(*table).m_ratio
    assert summary["mratio/boolq"] == pytest.approx(1.0, abs=0.35)


@every_form
def test_every_measure_is_defined_on_any_trials(form):
    measures = measures_of(form, token_probabilities=True)
    for trials in (TRIALS[form], TRIALS[form][:1], TRIALS[form][-1:], []):
        summary = summarise(trials, measures, ["boolq", "sciq", "halueval"])
        assert len(summary) == 3 * len(measures)


@every_form
def test_every_trial_has_the_same_keys_and_no_missing_value_but_nan(form):
    assert {frozenset(trial) for trial in TRIALS[form]} == {frozenset(TRIALS["boolean"][0])}
    assert all(isinstance(value, float | str) for trial in TRIALS[form] for value in trial.values())


def test_measure_names_are_unique():
    for asked in QUESTION_SETS.values():
        names = [measure.name for measure in measures_of(asked.form, token_probabilities=True)]
        assert len(names) == len(set(names))


# Explanations ---------------------------------------------------------------------------------------------------


def test_the_explanation_shows_every_stated_probability_and_the_favourite():
    shown = explanation(STUDY, options_trial("C", 0.1, 0.6, 0.2, 0.1), CHOICE)
    assert "A 0.1, B 0.6, C 0.2, D 0.1" in shown
    assert "Favourite" in shown


def test_model_text_is_escaped():
    trial = question_set_trial(
        "judgement", JUDGED["no"], '{"Answer": "<img src=x>|", "Confidence": 0.8}', given="x"
    )
    shown = explanation(STUDY, trial, JUDGED["no"])
    assert r"\<img src=x\>\|: in place of the given one" in shown
