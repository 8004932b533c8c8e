"""Answers of every kind in short texts, and the answers of real replies."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.studies.question_sets_replies import real_replies

from confidence_tasks.reading.answers import (
    ANSWER_FORMS,
    LENIENT_CHOICES,
    PLAIN_CHOICES,
    WHOLE_CHOICES,
    Answer,
    read_answer,
)
from confidence_tasks.reading.fields import read_json_fields
from confidence_tasks.study.trial import LETTERS, Kind

CAPITALS = ("Paris", "London", "Rome", "Berlin")


PLAIN = {
    "letter": "B)", "letter_and_text": "(B) London", "shown_text": "London",
    "numeral": "$1,234.50", "word": "Yes", "short_text": "Marie Curie",
}  # fmt: skip
LENIENT = {
    "lower_case_letter": "b", "option_text": "it is london", "several_letters": "A or B",
    "option_list": "A: no. B: yes.",
    "letter_first": "B, the largest", "marked_letter": "London (B)", "bare_letter": "surely B here",
    "text_within": "London, England", "alternatives": "6 or 7", "stated_number": "18 eggs",
    "leading_word": "No, it is not.", "polar_sentence": "that is not true", "bare_text": '"Marie Curie"',
}  # fmt: skip


@pytest.mark.parametrize("kind", ANSWER_FORMS)
def test_each_rule_reads_its_example(kind: Kind) -> None:
    choices = CAPITALS if kind == "choice" else ()
    forms = ANSWER_FORMS[kind]

    for name in forms.plain:
        assert read_answer(PLAIN[name], kind, choices).rules == ()
    for name in {**forms.whole, **forms.lenient}.keys() - forms.plain.keys():
        assert name in (*read_answer(LENIENT[name], kind, choices).rules, "bare_text")


@pytest.mark.parametrize(
    "value", ["A or B", "A and B", "A, B", "A/B", "both A and C", "(A) and (B)", "A & B", "A, B or C"]
)
def test_two_letters_are_no_answer(value: str) -> None:
    answer = read_answer(value, "choice", CAPITALS)

    assert answer.text == ""
    assert "two_claims" in answer.rules


@pytest.mark.parametrize(
    "value", ["B) Rome", "(B) Rome", "B: Rome", "B - Rome", "Paris or London", "Paris, London"]
)
def test_letter_and_text_of_different_options_are_two_claims(value: str) -> None:
    assert "two_claims" in read_answer(value, "choice", CAPITALS).rules


@pytest.mark.parametrize(
    ("value", "choices", "expected"),
    [
        ("not A", CAPITALS, ""),
        ("C*-algebra", CAPITALS, ""),
        ("not A but B", CAPITALS, "B"),
        ("A. No wait, it's B.", CAPITALS, ""),
        ("A - actually, no, London", CAPITALS, ""),
        ("A. Wait, no.", CAPITALS, ""),
        ("A. Correction: B", CAPITALS, ""),
        ("No wait, it's B", ("No wait, it's A", "No wait, it's B"), "B"),
        ("definitely not Paris", CAPITALS, ""),
        ("C is incorrect", CAPITALS, ""),
        ("B is wrong, so C", CAPITALS, "C"),
        ("(C) is wrong, (B) is right", CAPITALS, "B"),
        ("B is correct since A is wrong", CAPITALS, "B"),
        ("It could be A or C", CAPITALS, ""),
        ("Either A or C", CAPITALS, ""),
        ("A) 4", ("2", "4"), ""),
        ("no, it is London", CAPITALS, "B"),
        ("E", CAPITALS, ""),
        ("E", (*CAPITALS, "Madrid"), "E"),
        ("i.e. London", (*"abcdefgh", "London"), "I"),
        ("e.g. London", (*CAPITALS, "Madrid"), "B"),
        ("E. coli bacteria", ("yeast", "E. coli", "mould", "virus", "fungus"), "B"),
        ("I don't think so", tuple(f"option {i}" for i in range(10)), ""),
        ("A dog", ("cat", "dog"), "B"),
        ("A", ("B", "A"), "A"),
        ("x**2", ("x", "x**2"), "B"),
        ("15", ("5", "6"), ""),
        ("5.0", ("5", "6"), ""),
        ("5 apples", ("5", "6"), "A"),
        ("1,000", ("1000", "100"), "A"),
        ("Iron oxide", ("Iron", "Iron oxide"), "B"),
        ("It is iron oxide", ("Iron", "Iron oxide"), "B"),
        ("abduction", ("adduction", "rotation"), ""),
        ("the first one", CAPITALS, ""),
        ("B", (), ""),
    ],
)
def test_difficult_choices(value: str, choices: tuple[str, ...], expected: str) -> None:
    assert read_answer(value, "choice", choices).text == expected


@given(st.lists(st.text(min_size=1, max_size=30), min_size=2, max_size=8, unique=True), st.data())
def test_letter_always_claims_its_option(choices: list[str], data: st.DataObject) -> None:
    letter = LETTERS[data.draw(st.integers(0, len(choices) - 1))]

    for value in (letter, f"{letter})", f"({letter})", f"{letter}."):
        assert read_answer(value, "choice", choices) == Answer(letter)


words = st.lists(
    st.sampled_from(["red", "green", "old", "new", "tall", "river", "mountain", "city", "seven", "not"]),
    min_size=2,
    max_size=6,
)


@given(st.lists(words.map(" ".join), min_size=2, max_size=6, unique=True), st.data())
def test_text_of_an_option_is_read_with_any_mark_up(choices: list[str], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(choices) - 1))
    text = choices[index]

    assert read_answer(text, "choice", choices) == Answer(LETTERS[index])
    for value in (
        text.upper(),
        f'"{text}"',
        f"**{text}**",
        f"  {text} .",
        f"It is {text}",
        f"{LETTERS[index]}) {text}",
    ):
        assert read_answer(value, "choice", choices).text == LETTERS[index]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Yes", "yes"),
        ("no.", "no"),
        ("TRUE", "yes"),
        ("It is false", "no"),
        ("that isn't true", "no"),
        ("not false", "yes"),
        ("Correct", "yes"),
        ("Y", "yes"),
        ("It is not true", "no"),
        ("The statement is correct.", "yes"),
        ("Mostly true", ""),
        ("It's not entirely true", ""),
        ("Partly, but it is not a strictly true story", ""),
        ("False (it is based on a true story but changed)", "no"),
        ("yes/no", ""),
        ("true or false", ""),
        ("No official announcement", ""),
        ("No, there is no official announcement", "no"),
        ("None", ""),
        ("maybe", ""),
        ("I don't know", ""),
        ("False (it is based on a true story but much is invented)", "no"),
        ("No, not always, but generally yes.", ""),
        ("not strictly 'based on a true story'", ""),
        ("I don't have enough information to determine if these claims are correct", ""),
    ],
)
def test_difficult_booleans(value: str, expected: str) -> None:
    assert read_answer(value, "boolean").text == expected


@pytest.mark.parametrize(
    ("value", "expected", "plain"),
    [
        ("Marie Curie", "Marie Curie", True),
        ("It's a Wonderful Life", "It's a Wonderful Life", True),
        ("the United States (U.S.)", "the United States (U.S.)", True),
        ("U.S.", "U.S.", True),
        ("Paris.", "Paris", True),
        ("The answer is Marie Curie.", "Marie Curie", False),
        ("I think it is Marie Curie", "Marie Curie", False),
        ('"Marie Curie".', "Marie Curie", False),
        ("**Marie  Curie**", "Marie Curie", False),
        (r"$\boxed{\text{Marie Curie}}$", "Marie Curie", False),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}", False),
        ("[1, 2, 3]", "[1, 2, 3]", True),
        ("x**2 * y_1", "x**2 * y_1", True),
        ('"Emma" and "Persuasion"', '"Emma" and "Persuasion"', True),
        ('"She wrote "Emma" in 1815."', 'She wrote "Emma" in 1815', False),
        ("...", "", False),
    ],
)
def test_marks_around_a_short_text_are_removed(value: str, expected: str, plain: bool) -> None:
    answer = read_answer(value, "text")

    assert answer.text == expected
    assert (answer.rules == ()) == (plain or not expected)


@pytest.mark.parametrize("value", ["I don't know", "Unknown", "I cannot answer that", "N/A"])
@pytest.mark.parametrize("kind", ANSWER_FORMS)
def test_a_refusal_is_no_answer(kind: Kind, value: str) -> None:
    answer = read_answer(value, kind, CAPITALS)

    assert answer.text == ""
    assert "refusal" in answer.rules


@pytest.mark.parametrize(
    "value", ["<your answer>", "[your answer]", "<numerical answer>", "(insert answer here)"]
)
@pytest.mark.parametrize("kind", ANSWER_FORMS)
def test_a_placeholder_is_no_answer(kind: Kind, value: str) -> None:
    assert read_answer(value, kind, CAPITALS) == Answer("", ("placeholder",))


@given(st.text(st.characters(), max_size=200), st.sampled_from(list(ANSWER_FORMS)))
def test_any_text_gives_an_answer_or_none(value: str, kind: Kind) -> None:
    answer = read_answer(value, kind, CAPITALS)

    assert answer.found == bool(answer.text)
    assert kind != "choice" or answer.text in ("", *"ABCD")


def test_tables_of_choices_have_different_names() -> None:
    names = [*PLAIN_CHOICES, *WHOLE_CHOICES, *LENIENT_CHOICES]
    assert len(set(names)) == len(names)


# Real replies, with the reading of the people who collected them

KINDS: dict[str, tuple[Kind, int]] = {
    "boolq": ("boolean", 0),
    "lifeeval": ("number", 0),
    "lsat_ar": ("choice", 5),
    "sat_en": ("choice", 4),
    "sciq": ("choice", 4),
}


def test_real_replies_are_read_as_their_collectors_read_them(shared_data: Path) -> None:
    read = differing = 0
    for reply in real_replies(shared_data):
        if reply.task not in KINDS or reply.theirs is None:
            continue
        kind, size = KINDS[reply.task]
        said = read_json_fields(reply.text, ("Answer",)).fields.get("Answer", "")
        answer = read_answer(said, kind, tuple(f"option {i}" for i in range(size))).text
        theirs = {"True": "yes", "False": "no"}.get(
            reply.theirs["Answer"], reply.theirs["Answer"].removesuffix(".0")
        )
        read += 1
        differing += answer != theirs

    assert read > 3_800
    assert differing <= 1  # one claims option E of four


@pytest.mark.parametrize(
    ("value", "choices", "answer", "rules"),
    [
        ("Lima (90%)", (), "Lima", ("percentage",)),
        ("Lima [90 %].", (), "Lima", ("percentage",)),
        ('"Lima" (90%)', ("Lima",), "Lima", ("percentage", "wrapped")),
        ("Lima, 90%", (), "Lima", ("percentage",)),
        ("Lima, Peru - 90%.", (), "Lima, Peru", ("percentage",)),
        ("alcohol, 40%", ("alcohol, 40%",), "alcohol, 40%", ()),
        ("between 80-90%", (), "between 80-90%", ()),
        ("alcohol (40%)", ("alcohol (40%)",), "alcohol (40%)", ()),
        ("Lima (Peru)", (), "Lima (Peru)", ()),
        ("90%", (), "90%", ()),
    ],
)
def test_a_percentage_behind_a_text_is_no_part_of_it_unless_it_is_one_of_the_key(
    value, choices, answer, rules
):
    assert read_answer(value, "text", choices) == Answer(answer, rules)
