"""Resamples of continuous evidence: the same draws however they are blocked, the same AUROC2 however it is summed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from confidence_tasks.statistics import auroc2
from confidence_tasks.statistics.inference import draws
from confidence_tasks.statistics.inference.draws import auroc2_columns, cells_columns, weight_columns


@pytest.fixture
def rng():
    return np.random.default_rng(20240229)


def all_columns(n_units, n_resamples, seed=0):
    return np.concatenate(list(weight_columns(n_units, n_resamples=n_resamples, seed=seed)), axis=1)


# Shapes and errors


@pytest.mark.parametrize(("units", "draws"), [(0, 1), (1, 0)])
def test_there_must_be_something_to_weight(units, draws):
    with pytest.raises(ValueError, match="at least 1"):
        list(weight_columns(units, bayesian=True, n_resamples=draws))


def test_shares_of_random_weights_are_drawn_from_a_dirichlet_distribution(monkeypatch):
    """Three trials of one cell and one of another: the first's share is Beta(3, 1), in blocks of any size."""
    monkeypatch.setattr(draws, "_COLUMN_ELEMENTS", 4_000)
    blocks = list(weight_columns(4, bayesian=True, n_resamples=6_000))
    assert [block.shape[1] for block in blocks] == [1_000] * 6
    cells = np.concatenate([cells_columns([0, 0, 0, 1], range(4), 2, block) for block in blocks])
    share = cells[:, 0] / cells.sum(axis=1)
    assert stats.kstest(share, stats.beta(3, 1).cdf).pvalue > 1e-3


def test_as_many_columns_as_resamples_and_as_many_units_as_were_drawn():
    columns = all_columns(7, 50)
    assert columns.shape == (7, 50)
    assert (columns.sum(axis=0) == 7).all()


@pytest.mark.parametrize(("units", "resamples"), [(0, 1), (1, 0)])
def test_there_must_be_something_to_draw(units, resamples):
    with pytest.raises(ValueError, match="at least 1"):
        list(weight_columns(units, n_resamples=resamples))


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="lengths differ"):
        auroc2_columns([1, 0], [0.1, 0.2, 0.3], [0, 1], np.ones((2, 1), dtype=np.int32))
    with pytest.raises(ValueError, match="lengths differ"):
        cells_columns([0, 1], [0], 2, np.ones((2, 1), dtype=np.int32))


@pytest.mark.parametrize("correct", [[], [1, 1], [0, 0]])
def test_there_is_no_area_without_both_kinds(correct):
    columns = np.ones((2, 3), dtype=np.int32)
    area = auroc2_columns(correct, np.arange(len(correct)), np.arange(len(correct)), columns)
    assert np.isnan(area).all()
    assert area.shape == (3,)


def test_a_resample_that_lost_one_kind_has_no_area():
    columns = np.array([[1, 2], [1, 0]], dtype=np.int32)
    assert auroc2_columns([1, 0], [2.0, 1.0], [0, 1], columns).tolist() == pytest.approx(
        [1.0, np.nan], nan_ok=True
    )


# Correctness


def test_draws_do_not_depend_on_their_blocks(monkeypatch):
    whole = all_columns(40, 60, seed=3)
    monkeypatch.setattr(draws, "_COLUMN_ELEMENTS", 40 * 7)
    monkeypatch.setattr(draws, "_CACHED", 40 * 3)
    assert (all_columns(40, 60, seed=3) == whole).all()


def test_units_are_drawn_with_equal_chance():
    columns = all_columns(5, 4_000)
    total = columns.sum(axis=1)
    assert stats.chisquare(total).pvalue > 1e-3
    assert np.bincount(columns[0], minlength=6)[:4] / 4_000 == pytest.approx(
        stats.binom.pmf(range(4), 5, 0.2), abs=0.03
    )


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(-3, 3), st.integers(0, 4)), min_size=1, max_size=25),
    st.lists(st.integers(0, 3), min_size=5, max_size=5),
)
def test_the_area_is_that_of_the_repeated_trials(drawn, times):
    correct, evidence, unit = map(np.array, zip(*drawn, strict=True))
    weights = np.array(times, dtype=np.int32)[:, np.newaxis]
    area = auroc2_columns(correct, evidence, unit, weights)[0]
    repeated = np.repeat(np.arange(len(correct)), weights[unit, 0])
    kinds = set(correct[repeated])
    if len(kinds) < 2:
        assert np.isnan(area)
    else:
        assert area == pytest.approx(roc_auc_score(correct[repeated], evidence[repeated]), abs=1e-12)


def test_it_is_the_auroc2_of_weights(rng):
    correct = rng.integers(0, 2, 300)
    evidence = np.round(correct + rng.normal(size=300), 1)
    unit = rng.integers(0, 120, 300)
    columns = all_columns(120, 20)
    expected = auroc2(correct, stats.norm.cdf(evidence), weights=columns[unit].T.astype(float))
    assert auroc2_columns(correct, evidence, unit, columns) == pytest.approx(expected, abs=1e-12)


def test_only_the_order_of_evidence_counts(rng):
    correct, evidence = rng.integers(0, 2, 50), rng.normal(size=50)
    columns = all_columns(50, 10)
    plain = auroc2_columns(correct, evidence, np.arange(50), columns)
    assert (auroc2_columns(correct, np.exp(3 * evidence), np.arange(50), columns) == plain).all()
    shuffle = rng.permutation(50)
    moved = auroc2_columns(correct[shuffle], evidence[shuffle], shuffle, columns)
    assert (moved == plain).all()


def test_cells_are_counted_in_every_resample(rng):
    cell, unit = rng.integers(0, 6, 80), rng.integers(0, 30, 80)
    columns = all_columns(30, 8)
    counts = cells_columns(cell, unit, 7, columns)
    assert counts.shape == (8, 7)
    for row, weights in zip(counts, columns.T, strict=True):
        assert (row == np.bincount(cell, weights[unit], minlength=7)).all()
