"""Seeded orders: stable, balanced, and independent of the order of the rows."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confidence_tasks.sources.source import seeded_key, shuffle_options, shuffle_questions
from confidence_tasks.study.trial import Question


def make(identifier: str, level: str = "", subject: str = "") -> Question:
    return Question(id=identifier, source="s", text="?", kind="text", gold=None, level=level, subject=subject)


cells = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyzw")), max_size=60)
questions = cells.map(lambda pairs: [make(f"q-{i}", *pair) for i, pair in enumerate(pairs)])


def test_seeded_key_is_the_published_hash() -> None:
    # SHA-256 of "0", the unit separator, and "mmlu-00017", computed with coreutils' sha256sum.
    assert seeded_key(0, "mmlu-00017").hex().startswith("3d34723238d3481c")


@given(questions, st.integers(), st.randoms())
def test_order_depends_on_ids_and_seed_only(drawn: list[Question], seed: int, random) -> None:
    shuffled = drawn.copy()
    random.shuffle(shuffled)
    assert shuffle_questions(shuffled, seed, ("level", "subject")) == shuffle_questions(
        drawn, seed, ("level", "subject")
    )


@given(questions, st.integers())
def test_order_is_a_permutation(drawn: list[Question], seed: int) -> None:
    assert sorted(q.id for q in shuffle_questions(drawn, seed, ("level",))) == sorted(q.id for q in drawn)


@given(questions, st.integers())
def test_every_prefix_is_balanced(drawn: list[Question], seed: int) -> None:
    sizes = Counter(q.level for q in drawn)
    order = shuffle_questions(drawn, seed, ("level", "subject"))
    for n in range(len(order) + 1):
        counts = Counter(q.level for q in order[:n])
        largest = max(counts.values(), default=0)
        assert all(counts[level] >= min(largest - 1, size) for level, size in sizes.items())


@given(questions, st.integers())
def test_every_prefix_is_balanced_within_each_group(drawn: list[Question], seed: int) -> None:
    order = shuffle_questions(drawn, seed, ("level", "subject"))
    for level in {q.level for q in drawn}:
        sizes = Counter(q.subject for q in drawn if q.level == level)
        counts: Counter[str] = Counter()
        for question in order:
            if question.level == level:
                counts[question.subject] += 1
                largest = max(counts.values())
                assert all(counts[subject] >= min(largest - 1, size) for subject, size in sizes.items())


def test_seeds_give_different_orders() -> None:
    drawn = [make(f"q-{i}") for i in range(50)]
    assert shuffle_questions(drawn, 0) != shuffle_questions(drawn, 1)


@given(st.lists(st.text(), min_size=2, max_size=26), st.data(), st.integers(), st.text())
def test_shuffled_options_keep_the_right_one(options: list[str], data, seed: int, identifier: str) -> None:
    gold = data.draw(st.integers(0, len(options) - 1))
    shown, letter = shuffle_options(options, gold, seed, identifier)
    assert sorted(shown) == sorted(options)
    assert shown["ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(letter)] == options[gold]


@pytest.mark.parametrize("size", [2, 4, 7])
def test_shuffled_options_put_the_right_one_anywhere(size: int) -> None:
    n = 4_000
    letters = Counter(shuffle_options(["o"] * size, 0, 0, f"q-{i}")[1] for i in range(n))
    deviation = (n * (1 / size) * (1 - 1 / size)) ** 0.5
    assert len(letters) == size
    assert all(abs(count - n / size) < 5 * deviation for count in letters.values())
