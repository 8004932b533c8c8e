"""LifeEval's trials: scored by the life table, and grouped by radius, sex and age."""

import json
import math
from itertools import product

import numpy as np
import pytest
from tests.trials import lifeeval_trial

from confidence_tasks.reading.explanation import explanation
from confidence_tasks.sources import SourceError
from confidence_tasks.sources.generated import lifeeval_question, load_life_table
from confidence_tasks.studies.lifeeval import STUDY
from confidence_tasks.studies.lifeeval.measures import MEASURES, age_band, lifeeval_summary
from confidence_tasks.studies.lifeeval.trials import guess_score, maximum_score, read_guess
from confidence_tasks.study.stage import ModelReply, Token
from confidence_tasks.study.trial import Question

RADII = (1, 5, 10, 20)


def case(sex="male", age=65, radius=10, window="half_open", table=""):
    return lifeeval_question(sex, age, radius, window=window, table=table)


def reply(answer=84, confidence=0.7):
    return f'{{"Reasoning": "...", "Answer": {answer}, "Confidence": {confidence}}}'


ALL_CASES = [(sex, age, radius) for sex, age, radius in product(("male", "female"), range(101), RADII)]


# Scores ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sex", "age", "radius", "window", "best", "guess"),
    [
        ("male", 65, 10, "half_open", 0.71832, 84),
        ("female", 80, 1, "half_open", 0.12460, 89),
        ("male", 0, 1, "half_open", 0.06503, 86),
        ("male", 30, 5, "inclusive", 0.35066, 85),
        ("female", 65, 10, "inclusive", 0.75458, 86),
    ],
)
def test_best_guesses(sex, age, radius, window, best, guess):
    asked = case(sex, age, radius, window)
    assert maximum_score(asked) == pytest.approx(best, abs=5e-6)
    assert guess_score(asked, guess) == pytest.approx(best, abs=5e-6)


@pytest.mark.parametrize(("window", "mean"), [("half_open", 0.5699), ("inclusive", 0.5977)])
def test_mean_maximum_score_over_all_questions(window, mean):
    scores = [maximum_score(case(sex, age, radius, window)) for sex, age, radius in ALL_CASES]
    assert len(scores) == 808
    assert np.mean(scores) == pytest.approx(mean, abs=5e-5)


@pytest.mark.parametrize("window", ["half_open", "inclusive"])
def test_scores_are_sums_over_the_table(window):
    table = load_life_table()
    for sex, age, radius in ALL_CASES[::37]:
        q = list(table.probabilities(sex))
        alive, deaths = 1.0, [0.0] * len(q)
        for year in range(age, len(q)):
            deaths[year] = alive * q[year]
            alive *= 1.0 - q[year]
        for guess in (0, age, 79, 84, 101, 126, 150):
            end = guess + radius + (window == "inclusive")
            expected = sum(deaths[max(guess - radius, 0) : max(end, 0)])
            assert guess_score(case(sex, age, radius, window), guess) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("guess", [-3, 151, 250, 10**30])
def test_a_guess_beyond_the_life_table_scores_zero(guess):
    trial = lifeeval_trial(case(), reply(answer=guess))
    assert (trial["correct"], trial["status"]) == (0.0, "out_of_range")
    assert trial["confidence"] == 0.7


def test_a_window_is_cut_at_the_minimum_age():
    assert guess_score(case(age=90, radius=1), 80) == 0.0
    assert 0.0 < guess_score(case(age=90, radius=20), 80) < 1.0


# Trials ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "status", "scored", "confident"),
    [
        (reply(), "ok", True, True),
        (reply(confidence=1.2), "out_of_range", True, False),
        (reply(confidence='"high"'), "missing_confidence", True, False),
        (reply(answer='"80-85"'), "missing_answer", False, True),
        ("", "unreadable", False, False),
        ("I cannot predict that.", "unreadable", False, False),
    ],
)
def test_missing_values_are_nan(text, status, scored, confident):
    trial = lifeeval_trial(case(), text)
    assert trial["status"] == status
    assert math.isnan(trial["correct"]) is not scored
    assert math.isnan(trial["confidence"]) is not confident


def test_a_trial_has_the_attributes_of_its_question():
    trial = lifeeval_trial(case("female", 40, 5, "inclusive"), reply())
    assert (trial["condition"], trial["sex"], trial["age"], trial["radius"], trial["window"]) == (
        "radius=5",
        "female",
        40.0,
        5.0,
        "inclusive",
    )
    assert trial["difficulty"] == 1.0 - trial["mas"]


def test_every_trial_has_the_same_keys_and_no_missing_value_but_nan():
    trials = [lifeeval_trial(case(), text) for text in (reply(), "", "{", reply(answer="null"))]
    assert {frozenset(trial) for trial in trials} == {frozenset(trials[0])}
    assert all(isinstance(value, float | str) for trial in trials for value in trial.values())


def test_token_probability_of_the_guess():
    tokens = [Token('"Answer": ', -0.1, {}), Token("84", math.log(0.4), {}), Token(",", 0.0, {})]
    assert lifeeval_trial(case(), reply(), tokens)["token_confidence"] == pytest.approx(0.4)
    assert math.isnan(lifeeval_trial(case(), reply())["token_confidence"])
    assert math.isnan(lifeeval_trial(case(), "", tokens)["token_confidence"])


# Another life table ---------------------------------------------------------------------------------------------


def test_scores_follow_from_the_life_table_of_the_question(tmp_path):
    path = tmp_path / "everybody_dies_at_90.csv"
    rows = [f"{age},{float(age >= 90)},{float(age >= 90)}" for age in range(101)]
    path.write_text("\n".join(["age,male_qx,female_qx", *rows]))
    asked = case(age=30, radius=1, table=str(path))
    assert maximum_score(asked) == 1.0
    assert [guess_score(asked, guess) for guess in (89, 90, 91, 92)] == [0.0, 1.0, 1.0, 0.0]


def test_the_error_names_a_missing_life_table():
    with pytest.raises(SourceError, match="no_such_table"):
        maximum_score(case(table="no_such_table.csv"))


# Measures -------------------------------------------------------------------------------------------------------


def perfect_trials(window="half_open"):
    """Return trials of a subject that guesses best and states the score."""
    cases = [case(sex, age, radius, window) for sex, age, radius in ALL_CASES[::5]]
    best = [max(range(151), key=lambda guess: guess_score(asked, guess)) for asked in cases]
    return [
        lifeeval_trial(asked, reply(guess, maximum_score(asked)))
        for asked, guess in zip(cases, best, strict=True)
    ]


def test_measures_of_perfect_trials_are_ideal_in_every_group():
    summary = lifeeval_summary(perfect_trials(), radii=RADII)
    for group in {name.partition("/")[2] for name in summary}:
        assert summary[f"ece/{group}"] == pytest.approx(0.0, abs=1e-12)
        assert summary[f"overconfidence/{group}"] == pytest.approx(0.0, abs=1e-12)
    for group in ("all", *(f"radius={radius}" for radius in RADII)):
        assert summary[f"regret/{group}"] == pytest.approx(0.0, abs=1e-12)
        assert summary[f"hard_easy/{group}"] == pytest.approx(0.0, abs=1e-9)
        assert summary[f"confidence_correlation/{group}"] == pytest.approx(1.0)
        assert summary[f"score/{group}"] == pytest.approx(summary[f"mas/{group}"])


def test_groups_are_radius_sex_and_age_band():
    summary = lifeeval_summary([], radii=(1, 20))
    groups = list(dict.fromkeys(name.partition("/")[2] for name in summary))
    assert groups == [
        *("all", "radius=1", "radius=20", "sex=female", "sex=male"),
        *("age=0-19", "age=20-39", "age=40-59", "age=60-79", "age=80+"),
    ]
    assert all(math.isnan(value) for value in summary.values())
    assert sum(name.endswith("/sex=male") for name in summary) == 4
    assert sum(name.endswith("/radius=20") for name in summary) == len(MEASURES)


def test_every_age_has_a_band():
    bands = {age_band(age) for age in range(101)}
    assert bands == {"age=0-19", "age=20-39", "age=40-59", "age=60-79", "age=80+"}


def test_a_constant_confidence_shows_the_whole_hard_easy_effect():
    trials = [{**trial, "confidence": 0.8, "confidence_raw": 0.8} for trial in perfect_trials()]
    summary = lifeeval_summary(trials, radii=RADII)
    assert summary["hard_easy/all"] == pytest.approx(1.0)
    assert math.isnan(summary["confidence_correlation/all"])


def test_an_unreadable_trial_changes_only_the_parse_rates():
    whole = perfect_trials()
    broken = [*whole, lifeeval_trial(case(), "")]
    before, after = (lifeeval_summary(trials, radii=RADII) for trials in (whole, broken))
    moved = {
        name.partition("/")[0] for name in before if before[name] != pytest.approx(after[name], nan_ok=True)
    }
    assert moved == {"parse_rate", "parse_rate_strict", "mas"}


def test_token_measures_compare_the_token_probability_with_the_score():
    trials = [{**trial, "token_confidence": 1.0} for trial in perfect_trials()]
    summary = lifeeval_summary(trials, radii=RADII, token_probabilities=True)
    mean = np.mean([trial["correct"] for trial in trials])
    assert summary["token_confidence/all"] == 1.0
    assert summary["token_ece/all"] == pytest.approx(1.0 - mean)


# Explanations ---------------------------------------------------------------------------------------------------


QUESTION = Question("q", "lifeeval", "How old?", "number", None)


def test_the_explanation_shows_the_reading_and_escapes_the_reply():
    shown = explanation(STUDY, lifeeval_trial(case(), reply('"<b>84</b>"')), QUESTION)
    assert "within 10 years with probability 0.7183" in shown
    assert "<b>" not in shown
    assert "Nobody dies" in explanation(STUDY, lifeeval_trial(case(), reply(answer=250)), QUESTION)


@pytest.mark.parametrize(
    ("answer", "guess"),
    [
        ("noch 20 Jahre", ""),
        ("il lui reste 20 ans", ""),
        ("otros 20 años", ""),
        ("ещё 20 лет", ""),
        ("还有20年", ""),
        ("a life expectancy of 20 years", ""),  # below the person's age, in words
        ("a life expectancy of 84 years", "84"),
        ("84 Jahre", "84"),
        ("20", "20"),  # a number alone is what the prompt asks for, however wrong
        ("64 years", "64"),  # nobody lives for 64 more years at 65
        ("twenty years", ""),
        ("eighty-four years", "84"),
        ("+19", ""),
        ("plus 19 years", ""),
        ("84+", "84"),
        ("another 66 yrs", ""),
        ("in about 66 years", ""),
        ("66 years longer", ""),
        ("66 years to live", ""),
        ("66 years from today", ""),
    ],
)
def test_a_number_of_years_that_are_left_is_no_age(answer, guess):
    reply = ModelReply(json.dumps({"Answer": answer, "Confidence": 0.5}))
    assert read_guess(lifeeval_question("male", 65, 10), "radius=10", {"guess": [reply]})["answer"] == guess


@pytest.mark.parametrize("answer", ["0.84", ".84", 0.84, "84/100", "1/2"])
def test_a_probability_is_no_age(answer):
    """It was rounded to 0 or 1 years, whose score is 0."""
    trial = lifeeval_trial(case(), json.dumps({"Answer": answer, "Confidence": 0.7}))
    assert (trial["answer"], trial["status"], trial["confidence"]) == ("", "missing_answer", 0.7)
    assert math.isnan(trial["correct"])
