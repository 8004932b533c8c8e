"""The estimators of version 2 of Cacioli (2026), arXiv:2603.25112, by the names that its author's repository has.

Evidence is cut at the octiles of a model's trials at T = 1; each estimator is a function of the table of wrong and
right answers by octile. The measures of the log are the better statistics: bins lose information, and the unit of
sampling is the question and not the trial.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from confidence_tasks.statistics import Interval, auroc2
from confidence_tasks.statistics.core import BoolArray, FloatArray, IntArray
from confidence_tasks.statistics.inference.limits import Resampled
from confidence_tasks.statistics.inference.resampling import as_estimate, interval_of
from confidence_tasks.statistics.information.estimates import table_entropy, table_information
from confidence_tasks.statistics.sdt import quantile_edges
from confidence_tasks.statistics.sdt.sensitivity import z_rate
from confidence_tasks.studies.logprob_metacognition.cell_tables import CellKey
from confidence_tasks.studies.logprob_metacognition.resampling import Cell, LogprobResampler

OCTILES = 8
"""Number of bins."""

N_RESAMPLES = 2_000
"""Number of permutations and of bootstrap resamples."""

SEED = 42


def meta_i2r(tables: FloatArray, *, seed: int = SEED, n_permutations: int = N_RESAMPLES) -> FloatArray:
    """Return meta-I2r, the corrected share of the uncertainty about correctness that the bin of evidence removes.

    It is I(correctness; bin) / H(correctness), less the mean of the same over permutations of correctness. All tables
    have the correction of the first one, of which the others are resamples.

    Parameters
    ----------
    tables : ndarray, shape (R, 2, bins)
        Wrong and right answers by bin.
    seed, n_permutations : int
        Seed and number of the permutations.

    Returns
    -------
    ndarray, shape (R,)
        1 at most; NaN if all answers are right or all are wrong.

    Examples
    --------
    >>> meta_i2r(np.array([[[50.0, 0.0], [0.0, 50.0]]])).round(2)
    array([0.99])
    """
    permuted = _permuted(np.rint(tables[0]).astype(np.int64), seed, n_permutations)
    return np.asarray(_information_ratio(tables) - _information_ratio(permuted).mean())


def _permuted(table: IntArray, seed: int, n_permutations: int) -> FloatArray:
    """Return tables with the margins of a table whose answers are permuted over its trials, shape (k, 2, bins)."""
    rng, columns = np.random.default_rng(seed), table.sum(axis=0)
    right = rng.multivariate_hypergeometric(columns, int(table[1].sum()), size=n_permutations)
    return np.stack([columns - right, right], axis=1).astype(np.float64)


def _information_ratio(tables: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(table_information(tables) / table_entropy(tables.sum(axis=2)))


def auroc2_of_bins(tables: FloatArray) -> FloatArray:
    """Return the chance that a right answer is in a higher bin than a wrong one; ties count one half.

    Examples
    --------
    >>> auroc2_of_bins(np.array([[[3.0, 1.0], [1.0, 3.0]]]))
    array([0.75])
    """
    n_bins = tables.shape[2]
    correct, bins = np.repeat([0.0, 1.0], n_bins), np.tile(np.linspace(0.0, 1.0, n_bins), 2)
    return np.asarray(auroc2(correct, bins, weights=tables.reshape(len(tables), -1)))


def regressed_slope(tables: FloatArray) -> FloatArray:
    """Return the slope of the z-ROC by linear regression of z(hit rate) on z(false-alarm rate) at the edges.

    Edges with a rate of 0 or 1 are left out; NaN with fewer than two others.

    Examples
    --------
    >>> regressed_slope(np.array([[[60.0, 25.0, 10.0, 5.0], [5.0, 15.0, 20.0, 60.0]]])).round(3)
    array([1.001])
    """
    above = np.cumsum(tables[:, :, :0:-1], axis=2)
    z = z_rate(above, tables.sum(axis=2, keepdims=True) - above).z
    usable = np.asarray(np.isfinite(z).all(axis=1))
    false_alarm, hit = np.moveaxis(np.where(usable[:, np.newaxis], z, np.nan), 1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = (values - _mean(values, usable) for values in (false_alarm, hit))
        return np.asarray(np.nansum(x * y, axis=1) / np.nansum(x * x, axis=1))


def _mean(values: FloatArray, usable: BoolArray) -> FloatArray:
    return np.asarray(np.nansum(values, axis=1, keepdims=True) / usable.sum(axis=1, keepdims=True))


ESTIMATORS: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "meta_i2r": meta_i2r,
    "auroc2_bins": auroc2_of_bins,
    "z_roc_slope_regression": regressed_slope,
}
"""Estimators by name, functions of tables (R, 2, bins)."""


def octile_table(cell: Cell, edges: FloatArray) -> FloatArray:
    """Return the wrong and right answers of a cell by bin, shape (2, 8); values on an edge go up."""
    rating = np.searchsorted(edges, cell.evidence, side="right")
    return np.stack(
        [
            np.bincount(rating[cell.correct == value], minlength=OCTILES).astype(np.float64)
            for value in (0.0, 1.0)
        ]
    )


def edges_of(resampler: LogprobResampler, key: CellKey) -> FloatArray:
    """Return the edges of a cell: the octiles of the model's trials; a domain has those of all domains."""
    return quantile_edges(resampler.cells[key._replace(domain="")].evidence, OCTILES)


def estimate(resampler: LogprobResampler, key: CellKey, name: str, level: float = 0.95) -> Interval:
    """Return an estimate of a cell with its percentile interval over 2,000 resamples of the trials.

    Edges stay as they are in resamples.
    """
    table = octile_table(resampler.cells[key], edges_of(resampler, key))
    n = int(table.sum())
    drawn = np.random.default_rng(SEED).multinomial(n, table.ravel() / n, size=N_RESAMPLES)
    tables = np.concatenate([table[np.newaxis], drawn.reshape(-1, 2, OCTILES).astype(np.float64)])
    value, *resamples = ESTIMATORS[name](tables)
    found = Resampled(
        as_estimate(value), np.asarray(resamples), n, n_informative=float(table.sum(axis=1).min())
    )
    return interval_of(found, level, "percentile", SEED)
