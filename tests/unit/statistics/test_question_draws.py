"""One draw of units for the kinds of many samples, against the same draw counted trial by trial."""

import numpy as np
import pytest

from confidence_tasks.statistics import meta_information
from confidence_tasks.statistics.inference.weights import (
    alike_units,
    count_alike,
    drawn_counts,
    exchanged_kinds,
    resampled_kinds,
)

SIZES = pytest.mark.parametrize(("n_units", "each"), [(4, 3), (90, 7), (3, 30_000)])
"""So few, more and so many trials that their numbers take one, two and four bytes."""


def samples_of(n_units, each):
    """Two samples of the same units; the value of each trial is its kind."""
    unit = np.repeat(np.arange(n_units), each)
    values = np.random.default_rng(1).integers(0, 3, (2, len(unit)))
    return unit, values, [count_alike([value], unit, n_units) for value in values]


def counted(trial_weights, value):
    """Add up the weights of trials, shape (R, n), by value."""
    return np.stack([trial_weights[:, value == kind].sum(axis=1) for kind in range(3)], axis=1)


@SIZES
def test_a_resample_counts_the_trials_of_the_units_drawn(n_units, each):
    unit, values, samples = samples_of(n_units, each)
    drawn = drawn_counts(n_units, 20, np.random.default_rng(0)).T[:, unit]
    (found,) = resampled_kinds(samples, n_resamples=20)
    for value, weights in zip(values, found, strict=True):
        np.testing.assert_array_equal(weights, counted(drawn, value))


def test_random_weights_of_units_are_those_of_their_trials():
    unit, values, samples = samples_of(90, 7)
    drawn = np.random.default_rng(0).standard_exponential((20, 90))[:, unit]
    (found,) = resampled_kinds(samples, n_resamples=20, bayesian=True)
    for value, weights in zip(values, found, strict=True):
        np.testing.assert_allclose(weights, counted(drawn, value), rtol=1e-12)


@pytest.mark.parametrize(("n_units", "each"), [(4, 3), (6, 100), (3, 30_000)])
def test_an_exchange_takes_whole_units_to_the_other_side(n_units, each):
    unit, values, pair = samples_of(n_units, each)
    exchanged = np.arange(2**n_units)[:, np.newaxis] >> unit & 1
    alike = alike_units(pair)
    ((as_first, as_second, moved_units),) = (sides for (sides,) in exchanged_kinds([(*pair, alike)]))
    stayed, moved = (
        np.hstack([counted(rows, value) for value in values]) for rows in (1 - exchanged, exchanged)
    )
    np.testing.assert_array_equal(as_first, np.hstack([stayed[:, :3], moved[:, 3:]]))
    np.testing.assert_array_equal(as_second, np.hstack([moved[:, :3], stayed[:, 3:]]))
    # What questions of a kind have, times how many of them moved, is what moved.
    for kinds, columns in zip(pair, (slice(3), slice(3, 6)), strict=True):
        of_units = kinds.members[:, alike.example].toarray()
        np.testing.assert_array_equal(moved_units @ of_units.T, moved[:, columns])


def test_how_weights_lie_in_memory_does_not_matter():
    rng = np.random.default_rng(0)
    correct, confidence = rng.integers(0, 2, 60), rng.random(60).round(1)
    weights = rng.multinomial(60, np.full(60, 1 / 60), size=80)
    rows = meta_information(correct, confidence, weights=weights)
    columns = meta_information(correct, confidence, weights=np.asfortranarray(weights, dtype=np.float64))
    np.testing.assert_allclose(columns, rows, rtol=1e-12)
