"""Generated arithmetic: right, balanced, and stable."""

import re
from collections import Counter

import pytest

from confidence_tasks.sources import SourceError, load
from confidence_tasks.sources.generated import FORMS, LEVELS, SOURCE_NAMES, arithmetic

PROBLEM = re.compile(r"(\d+) ([-+×]) (\d+)(?: = (-?\d+))?\?")


def compute(text: str) -> int:
    first, symbol, second, _ = PROBLEM.search(text).groups()
    return {"+": int(first) + int(second), "-": int(first) - int(second), "×": int(first) * int(second)}[
        symbol
    ]


def test_number_gold_is_the_result() -> None:
    for question in arithmetic(700, seed=3, form="number"):
        assert question.gold == str(compute(question.text)) == question.metadata["result"]


def test_choice_gold_is_the_letter_of_the_result_and_options_differ() -> None:
    for question in arithmetic(700, seed=3):
        assert question.options[question.gold] == str(compute(question.text))
        assert len(set(question.choices)) == 4


def test_boolean_gold_is_the_truth_of_the_claim() -> None:
    for question in arithmetic(700, seed=3, form="boolean"):
        claimed = int(PROBLEM.search(question.text)[4])
        assert question.gold == ("yes" if claimed == compute(question.text) else "no")


def test_gold_letters_are_balanced_within_each_level() -> None:
    for form, size in (("choice", 4), ("boolean", 2)):
        golds = Counter((q.level, q.gold) for q in arithmetic(len(LEVELS) * 40, form=form))
        assert set(golds.values()) == {40 // size}


def test_rank_of_the_result_among_options_is_uniform() -> None:
    n = 4_000
    ranks = Counter(sorted(map(int, q.choices)).index(int(q.metadata["result"])) for q in arithmetic(n))
    deviation = (n * 0.25 * 0.75) ** 0.5
    assert all(abs(ranks[rank] - n / 4) < 5 * deviation for rank in range(4))


def test_operands_grow_with_the_level() -> None:
    results = {
        level: max(abs(compute(q.text)) for q in arithmetic(700) if q.level == level) for level in LEVELS
    }
    assert results["1"] < results["2"] < results["4"] < results["5"] < results["6"] < results["7"]


def test_levels_alternate_and_operands_do_not_repeat_unnecessarily() -> None:
    questions = arithmetic(len(LEVELS) * 700)
    assert set(Counter(q.level for q in questions).values()) == {700}
    easiest = [q.text for q in questions if q.level == "1"]
    assert len(set(easiest)) == 700  # of 90 x 8 problems


def test_operands_of_an_exhausted_level_repeat() -> None:
    easiest = [q.text for q in arithmetic(len(LEVELS) * 721) if q.level == "1"]
    assert len(easiest) == 721
    assert len(set(easiest)) == 720


@pytest.mark.parametrize("form", FORMS)
def test_smaller_sizes_are_prefixes_and_ids_are_unique(form) -> None:
    name = SOURCE_NAMES[form]
    large = load(name, n=300, seed=5)
    assert load(name, n=100, seed=5) == large[:100]
    assert len({q.id for q in large}) == 300
    assert {q.source for q in large} == {name}
    assert {q.kind for q in large} == {form}


def test_forms_ask_about_the_same_operands() -> None:
    problems = [[PROBLEM.search(q.text).group(1, 2, 3) for q in arithmetic(50, form=form)] for form in FORMS]
    assert problems[0] == problems[1] == problems[2]


def test_questions_of_a_seed_never_change() -> None:
    assert [(q.id, q.text, q.gold) for q in arithmetic(3, seed=0)] == [
        ("arithmetic-s0-00000", "What is 60 + 6?", "C"),
        ("arithmetic-s0-00001", "What is 37 + 72?", "A"),
        ("arithmetic-s0-00002", "What is 378 - 516?", "B"),
    ]


def test_unknown_form_lists_the_forms() -> None:
    with pytest.raises(SourceError, match="choice, number, boolean"):
        arithmetic(5, form="essay")  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [0, -1, 100_001])
def test_size_out_of_range_is_refused(n: int) -> None:
    with pytest.raises(SourceError, match="n must be"):
        arithmetic(n)
