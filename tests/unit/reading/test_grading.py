"""Grades: answers compared with the key and its aliases, exactly and by similarity."""

from collections import Counter

import pytest

from confidence_tasks.reading.grading import LONGEST, match_answer, normalise_text, wordings
from confidence_tasks.sources import load
from confidence_tasks.study.trial import Question

WROTE = Question(
    "q-1", "demo", "Who wrote Emma?", "text", "Jane Austen", aliases=("Austen, Jane", "J. Austen")
)
SUM = Question("q-2", "demo", "What is 1000 + 234?", "number", "1234")


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        ("Jane Austen", "exact"),
        ("the JANE austen!", "exact"),
        ("Austen Jane", "exact"),
        ("Jane Austin", "fuzzy"),
        ("Jan Austen", "fuzzy"),
        ("Jane Eyre", "none"),
        ("Emma", "none"),
        ("Jane Austen, the English novelist", "none"),
        ("It's Jane Austen", "exact"),
        ("It's Jane Austin", "none"),
        ("It's not Jane Austen", "none"),
        ("1. Jane Austen", "exact"),
        ("2) It's Jane Eyre", "none"),
        ("", "none"),
    ],
)
def test_answers_are_compared_with_the_key_and_its_aliases(answer, match):
    assert match_answer(answer, WROTE) == match


def test_an_article_alone_is_no_pictogram():
    assert match_answer("The", Question("q-3", "demo", "?", "text", "Horse", aliases=("🐎",))) == "none"
    assert match_answer("the the", Question("q-3", "demo", "?", "text", "The The")) == "exact"


@pytest.mark.parametrize(
    ("answer", "key", "match"),
    [
        ("1. 1969", "1969", "exact"),
        ("3. 5", "5", "none"),
        ("It's not Constantinople", "Constantinople", "none"),
    ],
)
def test_words_that_are_part_of_the_answer(answer, key, match):
    assert match_answer(answer, Question("q-3", "demo", "?", "text", key)) == match


def test_no_title_becomes_the_answer_to_another_question(mirror):
    keys = [{*filter(None, (asked.gold, *asked.aliases))} for asked in load("trivia_qa", mirror=mirror)]
    normalised = [set(map(normalise_text, of_question)) for of_question in keys]
    n_questions = Counter(key for of_question in normalised for key in of_question)
    parts = [
        (key, part, of_question)
        for unnormalised, of_question in zip(keys, normalised, strict=True)
        for key in unnormalised
        for part in wordings(key)[1:]
    ]
    assert parts
    assert not [(key, part) for key, part, of_question in parts if n_questions[part] > (part in of_question)]


def test_similarity_is_difflibs_ratio_from_085_on():
    """17 of 20 characters in common are enough, 16 are not."""
    key = Question("q-3", "demo", "?", "text", "abcdefghijklmnopqrst")
    assert match_answer("abcdefghijklmnopq012", key) == "fuzzy"
    assert match_answer("abcdefghijklmnop0123", key) == "none"


@pytest.mark.parametrize(
    ("key", "answer", "match"), [("bbaababa", "babaabba", "fuzzy"), ("babaabba", "bbaababa", "none")]
)
def test_similarity_is_that_of_the_key_with_the_answer_which_is_not_symmetric(key, answer, match):
    """Of 8 characters, difflib pairs 7 of the key with the answer (0.875), and 4 in the other order."""
    assert match_answer(answer, Question("q-3", "demo", "?", "text", key)) == match


@pytest.mark.parametrize(("answer", "match"), [("1234.0", "exact"), ("1235", "none"), ("12340", "none")])
def test_numbers_are_never_similar(answer, match):
    assert match_answer(answer, SUM) == match


def test_long_texts_are_no_spelling_of_a_short_answer():
    text = "a" * (LONGEST + 1)
    assert match_answer(text + "b", Question("q-4", "demo", "?", "text", text)) == "none"
    assert match_answer(text, Question("q-4", "demo", "?", "text", text)) == "exact"


@pytest.mark.parametrize(
    ("answer_length", "key_length", "match"),
    [
        (LONGEST, LONGEST, "fuzzy"),
        (LONGEST + 1, LONGEST, "none"),
        (LONGEST, LONGEST + 1, "none"),
    ],
)
def test_similarity_is_computed_up_to_a_length_of_the_answer_and_of_the_key(answer_length, key_length, match):
    answer = "a" * (answer_length - 1) + "b"
    key = Question("q-4", "demo", "?", "text", "a" * (key_length - 1) + "c")
    assert match_answer(answer, key) == match


@pytest.mark.parametrize("kind", ["choice", "boolean", "number"])
def test_only_texts_are_similar(kind):
    key = Question("q-5", "demo", "?", kind, "abcdefghijklmnopqrst")
    assert match_answer("abcdefghijklmnopq012", key) == "none"
    assert match_answer("abcdefghijklmnopqrst", key) == ("none" if kind == "number" else "exact")


def test_without_a_key_no_answer_is_right_even_if_it_is_one_of_the_aliases():
    assert match_answer("Emma", Question("q-6", "demo", "?", "text", None, aliases=("Emma",))) == "none"


def test_no_answer_is_similar_to_no_alias():
    assert match_answer("", Question("q-7", "demo", "?", "text", "Emma", aliases=(" ",))) == "none"


def test_the_same_letters_in_another_order_are_no_spelling():
    assert match_answer("nsteau jane", Question("q-9", "demo", "?", "text", "jane austen")) == "none"


def test_any_alias_may_be_the_similar_one():
    key = Question("q-8", "demo", "?", "text", "Emma", aliases=("Persuasion", "Northanger Abbey"))
    assert match_answer("Northanger Abby", key) == "fuzzy"
