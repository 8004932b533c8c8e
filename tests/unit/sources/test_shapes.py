"""Rows of every shape become questions; rows of another shape are refused with the reason."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confidence_tasks.sources import hub
from confidence_tasks.sources.hub import RowIdentity, Shape
from confidence_tasks.sources.source import RowError
from confidence_tasks.study.trial import Question

MMLU = {"question": "Q?", "subject": "college_physics", "choices": ["w", "x", "y", "z"], "answer": 2}
GSM8K = {"question": "Q?", "answer": "Work <<1+1=2>>2.\n#### 1,450,000"}
TRUTHFULQA = {"question": "Q?", "mc1_targets": {"choices": ["right", "a", "b"], "labels": [1, 0, 0]}}
BOOLQ = {"question": "is it so", "answer": False, "passage": "It is not."}
SCIQ = {"question": "Q?", "correct_answer": "r", "distractor1": "a", "distractor2": "b", "distractor3": "c"}
AGIEVAL = {
    "query": "A premise.\nQ: Which? Answer Choices: (A)one (B)two\nA: Among A through B, the answer is",
    "choices": ["(A)one", "(B)two"],
    "gold": [1],
}
HALUEVAL = {"question": "Q?", "knowledge": "K.", "right_answer": "r", "hallucinated_answer": "h"}
TRIVIA_QA = {
    "question": "Q?",
    "question_id": "tc_1",
    "answer": {"value": "Onion", "aliases": ["Bulb", "Onion"]},
}
NQ_OPEN = {"question": "who", "answer": ["one", "other", "one"]}
GPQA = {
    "Record ID": "rec1",
    "Question": " Q? \n",
    "Correct Answer": "right\n",
    "Incorrect Answer 1": "a",
    "Incorrect Answer 2": "b",
    "Incorrect Answer 3": "c",
    "High-level domain": "Physics",
}
HLE = {
    "id": "x1",
    "question": "Q?",
    "image": "",
    "answer": "42",
    "answer_type": "exactMatch",
    "category": "Math",
}

ROWS = {
    "MMLU": MMLU,
    "GSM8K": GSM8K,
    "TRUTHFULQA": TRUTHFULQA,
    "BOOLQ": BOOLQ,
    "SCIQ": SCIQ,
    "AGIEVAL": AGIEVAL,
    "HALUEVAL": HALUEVAL,
    "TRIVIA_QA": TRIVIA_QA,
    "NQ_OPEN": NQ_OPEN,
    "GPQA": GPQA,
    "HLE": HLE,
}


def read(shape: Shape, row: Mapping[str, Any], seed: int = 0) -> list[Question]:
    return list(shape.read(row, RowIdentity("source", "source-1", seed)))


def one(shape: Shape, row: Mapping[str, Any]) -> Question:
    (question,) = read(shape, row)
    return question


def test_every_shape_has_a_row_here() -> None:
    assert {name for name, value in vars(hub).items() if isinstance(value, Shape)} == set(ROWS)


@pytest.mark.parametrize("name", ROWS)
def test_declared_columns_suffice(name: str) -> None:
    shape: Shape = getattr(hub, name)
    questions = read(shape, {column: ROWS[name][column] for column in shape.columns})
    assert len(questions) == (2 if name == "HALUEVAL" else 1)
    for question in questions:
        assert question.text
        assert (question.kind == "choice") == bool(question.choices)
        assert question.kind != "choice" or question.gold in question.options


@pytest.mark.parametrize("name", ROWS)
@given(data=st.data())
def test_wrong_values_are_refused_or_read_but_never_crash(name: str, data: st.DataObject) -> None:
    shape: Shape = getattr(hub, name)
    column = data.draw(st.sampled_from(shape.columns))
    value = data.draw(
        st.none()
        | st.booleans()
        | st.integers()
        | st.text(max_size=20)
        | st.lists(st.text(max_size=3), max_size=3)
    )
    try:
        questions = read(shape, {**ROWS[name], column: value})
    except RowError:
        return
    assert all(isinstance(question.text, str) for question in questions)


def test_mmlu_level_is_in_the_subject() -> None:
    question = one(hub.MMLU, MMLU)
    assert (question.gold, question.options["C"]) == ("C", "y")
    assert (question.subject, question.level) == ("college_physics", "college")


@pytest.mark.parametrize("answer", [4, -1, "C", True, None, 1.0])
def test_mmlu_gold_out_of_range_is_refused(answer: object) -> None:
    with pytest.raises(RowError, match="gold out of range"):
        one(hub.MMLU, {**MMLU, "answer": answer})


@pytest.mark.parametrize(
    ("written", "gold"), [("1,450,000", "1450000"), ("-10", "-10"), ("18", "18"), ("2.50", "2.50")]
)
def test_gsm8k_gold_is_a_plain_number(written: str, gold: str) -> None:
    question = one(hub.GSM8K, {**GSM8K, "answer": f"1+1=<<1+1=2>>2.\n#### {written}"})
    assert (question.gold, question.metadata["solution"]) == (gold, "1+1=2.")


@pytest.mark.parametrize("answer", ["18", "#### eighteen", "#### 18 or 19", "#### "])
def test_gsm8k_without_a_final_number_is_refused(answer: str) -> None:
    with pytest.raises(RowError, match="does not end in"):
        one(hub.GSM8K, {**GSM8K, "answer": answer})


@pytest.mark.parametrize("name", ["TRUTHFULQA", "GPQA"])
def test_options_are_shuffled_by_seed_and_gold_follows(name: str) -> None:
    shape: Shape = getattr(hub, name)
    questions = [read(shape, ROWS[name], seed)[0] for seed in range(40)]
    right = {"TRUTHFULQA": "right", "GPQA": "right"}[name]
    assert all(question.options[question.gold] == right for question in questions)
    assert {question.gold for question in questions} == set(questions[0].options)


@pytest.mark.parametrize("labels", [[0, 0, 0], [1, 1, 0], [1, 0], [2, 0, 0]])
def test_truthfulqa_needs_exactly_one_right_choice(labels: list[int]) -> None:
    with pytest.raises(RowError, match="exactly one"):
        one(
            hub.TRUTHFULQA,
            {"question": "Q?", "mc1_targets": {"choices": ["a", "b", "c"], "labels": labels}},
        )


def test_agieval_prompt_is_taken_apart() -> None:
    question = one(hub.AGIEVAL, AGIEVAL)
    assert question.text == "A premise.\n\nWhich?"
    assert (question.choices, question.gold) == (("one", "two"), "B")
    assert question.metadata == {"passage": "A premise.", "question": "Which?"}


def test_agieval_options_without_letters_stay_as_they_are() -> None:
    question = one(hub.AGIEVAL, {**AGIEVAL, "choices": ["(B)one", "two"], "gold": 0})
    assert question.choices == ("(B)one", "two")


def test_halueval_row_gives_a_right_and_a_hallucinated_answer() -> None:
    right, hallucinated = read(hub.HALUEVAL, HALUEVAL)
    assert (right.id, right.gold, right.metadata["answer"]) == ("source-1_r", "yes", "r")
    assert (hallucinated.id, hallucinated.gold) == ("source-1_h", "no")
    assert hallucinated.metadata == {"answer": "h", "knowledge": "K."}


def test_short_answers_have_their_other_names_as_aliases() -> None:
    assert one(hub.TRIVIA_QA, TRIVIA_QA).aliases == ("Bulb",)
    question = one(hub.NQ_OPEN, NQ_OPEN)
    assert (question.gold, question.aliases) == ("one", ("other",))


def test_hle_text_question() -> None:
    question = one(hub.HLE, HLE)
    assert (question.kind, question.gold, question.image, question.subject) == ("text", "42", None, "Math")


def test_hle_inline_options_are_split_off() -> None:
    text = "Which?\n\nAnswer Choices:\nA. one\nB. two\nlines\nC. three"
    question = one(hub.HLE, {**HLE, "question": text, "answer": "B", "answer_type": "multipleChoice"})
    assert (question.kind, question.text, question.gold) == ("choice", "Which?", "B")
    assert question.choices == ("one", "two\nlines", "three")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Which? A or B", "B"),
        ("Which?\nAnswer Choices:\nA. one\nC. two", "C"),
        ("Which?\nAnswer Choices:\nA. one\nB. two", "C"),
        ("Which?\nAnswer Choices:\nA. one\nB. two", "AB"),
    ],
)
def test_hle_options_that_cannot_be_split_stay_in_the_text(text: str, answer: str) -> None:
    question = one(hub.HLE, {**HLE, "question": text, "answer": answer, "answer_type": "multipleChoice"})
    assert (question.kind, question.text, question.gold, question.choices) == ("text", text, answer, ())


def test_hle_without_an_answer_has_no_gold() -> None:
    assert one(hub.HLE, {**HLE, "answer": ""}).gold is None


@pytest.mark.parametrize(
    ("value", "image"),
    [
        ("data:image/jpeg;base64,iVBORw0KGgo=", "data:image/png;base64,iVBORw0KGgo="),
        ("data:image/jpeg;base64,/9j/4AAQ", "data:image/jpeg;base64,/9j/4AAQ"),
        ("data:image/svg+xml;base64,PHN2Zz4=", "data:image/svg+xml;base64,PHN2Zz4="),
    ],
)
def test_hle_image_has_the_type_of_its_bytes(value: str, image: str) -> None:
    assert one(hub.HLE, {**HLE, "image": value}).image == image


@pytest.mark.parametrize("value", ["https://example.org/a.png", "data:text/html,x", {"bytes": b""}])
def test_hle_image_must_be_a_data_url(value: object) -> None:
    with pytest.raises(RowError, match="data URL"):
        one(hub.HLE, {**HLE, "image": value})


def test_errors_do_not_repeat_the_question() -> None:
    with pytest.raises(RowError) as raised:
        one(hub.MMLU, {**MMLU, "choices": "a secret question"})
    assert "secret" not in str(raised.value)
