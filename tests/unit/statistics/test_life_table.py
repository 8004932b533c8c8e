import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confidence_tasks.statistics.life_table import (
    best_guess,
    close_life_table,
    death_distribution,
    survival,
    window_probability,
)

WINDOWS = {"half_open": 0, "inclusive": 1}

tables = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30).map(close_life_table)


@pytest.fixture(scope="module")
def ssa(shared_data):
    """Death probabilities of the US Social Security Administration, 2022, by sex."""
    rows = list(csv.DictReader((shared_data / "ssa_2022_qx.csv").open()))
    return {sex: close_life_table([float(row[f"{sex}_qx"]) for row in rows]) for sex in ("male", "female")}


# Errors


@pytest.mark.parametrize("table", [[], [0.1, 1.1], [-0.1, 1.0], [np.nan, 1.0], [[0.1, 1.0]]])
def test_invalid_tables_raise(table):
    with pytest.raises(ValueError):
        close_life_table(table)
    with pytest.raises(ValueError):
        survival(table, 0)


def test_an_open_table_raises_and_names_the_way_to_close_it():
    with pytest.raises(ValueError, match="close_life_table"):
        death_distribution([0.1, 0.9], 0)


@pytest.mark.parametrize("age", [-1, 3])
def test_ages_outside_the_table_raise(age):
    with pytest.raises(ValueError, match="minimum_age"):
        survival([0.1, 0.2, 1.0], age)


@pytest.mark.parametrize(
    ("guess", "options", "message"),
    [
        ([1.5], {"radius": 1}, "guess"),
        ([np.nan], {"radius": 1}, "guess"),
        ([np.inf], {"radius": 1}, "guess"),
        ([1], {"radius": -1}, "radius"),
        ([1], {"radius": 0.5}, "radius"),
        ([1], {"radius": 1, "window": "open"}, "window"),
    ],
)
def test_guesses_and_windows_outside_their_domain_raise(guess, options, message):
    with pytest.raises(ValueError, match=message):
        window_probability([0.1, 0.2, 1.0], guess, minimum_age=0, **options)


# Correctness


def test_survival_and_deaths_of_a_table_computed_by_hand():
    table = [0.5, 0.2, 0.0, 1.0]
    np.testing.assert_allclose(survival(table, 0), [1.0, 0.5, 0.4, 0.4])
    np.testing.assert_allclose(death_distribution(table, 0), [0.5, 0.1, 0.0, 0.4])
    np.testing.assert_allclose(death_distribution(table, 1), [0.0, 0.2, 0.0, 0.8])


@given(tables, st.data())
def test_windows_are_the_printed_sum(table, data):
    minimum_age = data.draw(st.integers(0, len(table) - 1))
    radius = data.draw(st.integers(0, 35))
    guess = data.draw(st.integers(-40, 80))
    for window, after in WINDOWS.items():
        expected = 0.0
        for i in range(guess - radius, guess + radius + after):
            if minimum_age <= i < len(table):
                expected += np.prod(1 - table[minimum_age:i]) * table[i]
        result = window_probability(table, guess, minimum_age=minimum_age, radius=radius, window=window)
        assert result == pytest.approx(expected, abs=1e-12)


def test_windows_agree_with_simulated_lives():
    rng = np.random.default_rng(0)
    table = close_life_table(rng.random(12) * 0.4)
    alive, died = np.ones(100_000, dtype=bool), np.full(100_000, -1)
    for age in range(2, 12):
        now = alive & (rng.random(100_000) < table[age])
        died[now] = age
        alive &= ~now
    exact_age = died + rng.random(100_000)
    guesses = np.arange(13)
    result = window_probability(table, guesses, minimum_age=2, radius=2)
    simulated = [(np.abs(exact_age - guess) < 2).mean() for guess in guesses]
    np.testing.assert_allclose(result, simulated, atol=4 * np.sqrt(0.25 / 100_000))


@pytest.mark.parametrize(
    ("sex", "minimum_age", "radius", "window", "score", "age"),
    [
        ("male", 65, 10, "half_open", 0.71832, 84),
        ("female", 80, 1, "half_open", 0.12460, 89),
        ("male", 0, 1, "half_open", 0.06503, 86),
        ("male", 30, 5, "inclusive", 0.35066, 85),
        ("female", 65, 10, "inclusive", 0.75458, 86),
    ],
)
def test_best_guesses_of_the_published_table(ssa, sex, minimum_age, radius, window, score, age):
    best = best_guess(ssa[sex], minimum_age=minimum_age, radius=radius, window=window)
    assert best.score == pytest.approx(score, abs=5e-6)
    assert best.age == age


@pytest.mark.parametrize(("window", "mean"), [("half_open", 0.5699), ("inclusive", 0.5977)])
def test_mean_achievable_score_over_all_808_questions(ssa, window, mean):
    scores = [
        best_guess(table, minimum_age=age, radius=radius, window=window).score
        for table in ssa.values()
        for age in range(101)
        for radius in (1, 5, 10, 20)
    ]
    assert len(scores) == 808
    assert np.mean(scores) == pytest.approx(mean, abs=5e-5)


# Properties


@given(tables, st.data())
def test_lives_end_once(table, data):
    minimum_age = data.draw(st.integers(0, len(table) - 1))
    deaths = death_distribution(table, minimum_age)
    assert deaths.sum() == pytest.approx(1.0)
    assert (deaths[:minimum_age] == 0).all()
    before = np.append(0.0, np.cumsum(deaths)[:-1])
    np.testing.assert_allclose(survival(table, minimum_age), 1 - before, atol=1e-12)


@given(tables, st.integers(0, 10))
def test_windows_stay_probabilities_and_grow_with_the_radius(table, radius):
    guesses = np.arange(-5, len(table) + 5).reshape(1, -1)
    narrow = window_probability(table, guesses, minimum_age=0, radius=radius)
    wide = window_probability(table, guesses, minimum_age=0, radius=radius + 1)
    inclusive = window_probability(table, guesses, minimum_age=0, radius=radius, window="inclusive")
    assert narrow.shape == guesses.shape
    assert ((narrow >= 0) & (inclusive <= 1)).all()
    assert (wide >= narrow - 1e-12).all()
    assert (inclusive >= narrow - 1e-12).all()


@given(tables, st.integers(0, 10))
def test_no_guess_is_better_than_the_best(table, radius):
    best = best_guess(table, minimum_age=0, radius=radius)
    everywhere = window_probability(table, np.arange(-20, 60), minimum_age=0, radius=radius)
    assert best.score == pytest.approx(everywhere.max(), abs=1e-12)


def test_closing_does_not_change_the_input():
    table = np.array([0.1, 0.5])
    close_life_table(table)
    assert table[-1] == 0.5
