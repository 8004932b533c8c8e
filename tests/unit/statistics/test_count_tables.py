import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confidence_tasks.statistics.sdt.count_tables import (
    Tables,
    correctness_table,
    quantile_edges,
    two_choice_table,
)

BETWEEN_RATINGS = [1.5, 2.5]


@st.composite
def binary_trials(draw):
    n = draw(st.integers(1, 12))
    column = st.lists(st.integers(0, 1), min_size=n, max_size=n)
    rating = st.lists(st.integers(1, 3), min_size=n, max_size=n)
    return draw(column), draw(rating), draw(column), draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))


# Shapes


def test_tables_have_2k_columns_and_a_row_per_resample(rng):
    weights = rng.integers(0, 3, (5, 4))
    table = two_choice_table([1, 1, 0, 0], [1, 2, 3, 3], [0, 1, 1, 0], n_ratings=3, weights=weights)
    assert [counts.shape for counts in table] == [(5, 6), (5, 6)]
    assert correctness_table([0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4], weights=weights)[0].shape == (5, 8)


# Errors and degenerate input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edges": [0.1, 0.2]}, "3 inner edges"),
        ({"edges": [0.3, 0.2, 0.1]}, "ascending"),
        ({"weights": [1, -1]}, "non-negative"),
        ({"weights": [1]}, "shape"),
        ({"n_ratings": 0}, "at least 1"),
    ],
)
def test_correctness_table_rejects(options, message):
    with pytest.raises(ValueError, match=message):
        correctness_table([0, 1], [0.5, 0.6], **{"n_ratings": 2, **options})


def test_no_trials_give_empty_tables():
    assert not np.any(two_choice_table([], [], [], n_ratings=2))
    assert not np.any(correctness_table([], [], n_ratings=2))
    assert not np.any(correctness_table([0, 1], [0.1, 0.2], n_ratings=2, weights=[0, 0]))


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (([1, 2], [1, 2, 3, 4]), "shape"),
        (([1, 2, 3], [1, 2, 3]), "shape"),
        (([], []), "shape"),
        ((np.ones((2, 2, 2)), np.ones((2, 2, 2))), "shape"),
        (([1, -1], [1, 1]), "negative"),
        (([1, np.nan], [1, 1]), "finite"),
        (([1, np.inf], [1, 1]), "finite"),
    ],
)
def test_tables_reject(counts, message):
    with pytest.raises(ValueError, match=message):
        Tables.of(*counts)


def test_padding_adds_its_amount_to_every_cell():
    tables = Tables.of([1, 0, 0, 2], [0, 0, 3, 0])
    for padding, amount in (("1/2K", 0.25), ("hautus", 0.5), ("none", 0.0)):
        padded = tables.padded(padding)
        assert np.array_equal(padded.s1, [[1 + amount, amount, amount, 2 + amount]])
        assert np.array_equal(padded.s2, [[amount, amount, 3 + amount, amount]])
    with pytest.raises(ValueError, match="padding"):
        tables.padded("loglinear")


# Correctness


def test_columns_run_from_s1_highest_to_s2_highest():
    stimulus, response, rating = np.array(
        [(shown, chosen, level) for shown in (0, 1) for chosen in (0, 1) for level in (1, 2, 3)]
    ).T
    weights = np.arange(1, 13)
    s1, s2 = two_choice_table(
        stimulus == response, rating, stimulus, n_ratings=3, edges=BETWEEN_RATINGS, weights=weights
    )
    assert np.array_equal(s1, [3, 2, 1, 4, 5, 6])
    assert np.array_equal(s2, [9, 8, 7, 10, 11, 12])


@given(binary_trials())
def test_whole_weights_are_repetitions(case):
    *columns, weights = case
    options = {"n_ratings": 3, "edges": BETWEEN_RATINGS}
    weighted = two_choice_table(*columns, **options, weights=weights)
    assert np.array_equal(
        weighted, two_choice_table(*(np.repeat(column, weights) for column in columns), **options)
    )


def test_edges_are_numpy_quantiles_and_values_on_them_go_up(rng):
    values = rng.normal(size=37)
    edges = quantile_edges(values, 8)
    assert np.array_equal(edges, np.quantile(values, np.arange(1, 8) / 8))
    _, counts = correctness_table(np.ones(7), edges, n_ratings=4, edges=edges)
    assert np.array_equal(counts, [0, 1, 1, 1, 1, 1, 1, 1])


@pytest.mark.parametrize("decimals", [0, 1, 6])
@pytest.mark.parametrize("n_ratings", [1, 2, 4])
def test_moving_edges_follow_the_weights_as_if_trials_were_repeated(rng, decimals, n_ratings):
    correct, confidence = rng.integers(0, 2, 40), np.round(rng.normal(size=40), decimals)
    weights = rng.multinomial(40, np.full(40, 1 / 40), size=30)
    batch = correctness_table(correct, confidence, n_ratings=n_ratings, weights=weights)
    for row, *tables in zip(weights, *batch, strict=True):
        again, level = np.repeat(correct, row), np.repeat(confidence, row)
        bins = np.searchsorted(quantile_edges(level, 2 * n_ratings), level, side="right")
        for value, table in zip((0, 1), tables, strict=True):
            assert np.array_equal(table, np.bincount(bins[again == value], minlength=2 * n_ratings))


def test_fixed_edges_do_not_move_with_the_weights():
    wrong, right = correctness_table(
        [0, 1, 1], [0.2, 0.5, 0.9], n_ratings=1, edges=[0.5], weights=[[1, 0, 0], [1, 2, 3]]
    )
    assert np.array_equal(wrong, [[1, 0], [1, 0]])
    assert np.array_equal(right, [[0, 0], [0, 5]])


@pytest.fixture
def rng():
    return np.random.default_rng(20240229)
