"""What says whether an answer to a task of others is right, in scores of Inspect."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.scorer import Score

from confidence_tasks.harness.correctness import Correctness
from confidence_tasks.harness.inspect.foreign_scores import correctness

SCORES = {
    "match": Score(value="I"),
    "judge": Score(value={"style": 1, "facts": 0.75}),
    "stated_confidence": Score(value={"correct": 1.0, "0-100": 0.8}),
}


@pytest.mark.parametrize(
    ("correct", "scorer", "expected"),
    [
        ("", "", 0.0),
        ("", "match", 0.0),
        ("style", "judge", 1.0),
        ("facts>=0.75", "judge", 1.0),
        ("facts >= .8", "judge", 0.0),
        ("score>=0.5", "", 0.0),
        ("match>=0.5", "match", 0.0),
    ],
)
def test_the_named_value_of_the_named_scorer_counts(correct, scorer, expected):
    assert correctness(SCORES, Correctness.parse(correct, scorer)) == (expected, "")


@pytest.mark.parametrize(
    ("correct", "scorer", "reason"),
    [
        ("", "judg", "no scorer 'judg'; did you mean 'judge'.*--scorer match or judge"),
        ("", "judge", "several values: --correct style or facts"),
        ("fact", "judge", "several values: --correct style or facts"),
        ("facts", "judge", "0.75 of 'judge' is neither right nor wrong; --correct 'facts>=0.5'"),
        ("exact_match", "match", "'match' has no value 'exact_match'"),
    ],
)
def test_a_choice_that_does_not_fit_is_told_with_the_choices(correct, scorer, reason):
    value, why = correctness(SCORES, Correctness.parse(correct, scorer))
    assert value not in (0.0, 1.0)
    with pytest.raises(ValueError, match=reason):
        raise ValueError(why)


def test_a_task_without_a_scorer_of_its_own_has_no_right_answers():
    assert correctness({"stated_confidence": SCORES["stated_confidence"]})[1].startswith("no scorer")
    assert correctness({"list": Score(value=[1, 0])}, Correctness.parse("x"))[1].startswith(
        "the score of 'list'"
    )


@pytest.mark.parametrize("text", ["f1>0.5", "f1=1", ">=0.5", "f1>=high", "a<b"])
def test_what_is_no_bound_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no bound such as"):
        Correctness.parse(text)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_bound_splits_all_values_and_includes_itself(value, bound):
    chosen = Correctness("f1", bound)
    assert chosen.of(value) == (1.0 if value >= bound else 0.0)
    assert math.isnan(chosen.of(math.nan))
    assert Correctness("f1").of(value) == value


def test_a_text_that_is_no_grade_is_not_wrong():
    value, reason = correctness({"label": Score(value="maybe")})
    assert math.isnan(value)
    assert reason == "the score 'maybe' of 'label' is neither right nor wrong"
    for grade, expected in (("C", 1.0), ("N", 0.0), ("Yes", 1.0), ("0", 0.0), (True, 1.0)):
        assert correctness({"label": Score(value=grade)}) == (expected, "")


@pytest.mark.parametrize(("score", "bound"), [(0.4, "score>=0.5"), (7, "score>=7"), (2.5, "score>=2.5")])
def test_the_bound_that_is_named_lies_on_the_scale_of_the_score(score, bound):
    _, reason = correctness({"judge": Score(value=score)})
    assert f"--correct '{bound}'" in reason
