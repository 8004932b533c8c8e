"""Bootstrap resamples of count tables, drawn as tables: the trials are never drawn one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.inference.running_sums import interpolated
from confidence_tasks.statistics.inference.weights import Weighting
from confidence_tasks.statistics.sdt.count_tables import binned_counts


def resample_cells(counts: FloatArray, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Resample the trials behind counts of any shape, (...) -> (R, ...): a multinomial draw.

    Raises
    ------
    ValueError
        If a count is not a whole number: there are no trials to draw then.
    """
    flat = counts.ravel()
    if (flat % 1.0).any():
        raise ValueError("only tables of whole counts can be resampled; padding is added afterwards")
    total = flat.sum()
    drawn = rng.multinomial(int(total), flat / max(total, 1.0), size=n_resamples)
    return drawn.reshape(n_resamples, *counts.shape).astype(np.float64)


def resample_binned(
    label: NDArray[np.intp],
    confidence: FloatArray,
    n_labels: int,
    n_bins: int,
    n_resamples: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Resample trials, put bin edges at the quantiles i/n_bins of each resample, count: (R, n_labels, n_bins).

    Notes
    -----
    A resample of n trials is n uniform draws from the sorted trials. Its edges depend on a few of its order
    statistics, which can be drawn directly: the gaps between uniform order statistics are proportional to
    gamma variates. Given them, the draws between two neighbours are again uniform, so that counts of labels are
    multinomial. A resample thus costs as much as there are bins, not as there are trials, and has exactly the
    distribution of one whose trials were drawn.
    """
    n = confidence.size
    if n < 2 or n_bins < 2:
        rows = np.full((n_resamples, n), 1.0)
        return binned_counts(label, confidence, n_labels, n_bins, None, Weighting(rows, batch=True))
    order = np.argsort(confidence, kind="stable")
    values, labels = confidence[order], label[order]
    position = (n - 1) * (np.arange(1, n_bins) / n_bins)
    lower = np.floor(position).astype(np.intp) + 1
    ranks = np.unique([lower, lower + 1])
    quantile = _order_statistics(ranks, n, n_resamples, rng)
    trial = np.minimum((n * quantile).astype(np.intp), n - 1)
    known, column = values[trial], np.searchsorted(ranks, lower)
    edges = interpolated(known[:, column], known[:, column + 1], position - (lower - 1))
    bins = (known[:, :, np.newaxis] >= edges[:, np.newaxis]).sum(axis=2)

    tables = np.zeros((n_resamples, n_labels, n_bins))
    row = np.arange(n_resamples)
    for drawn_trial, its_bin in zip(trial.T, bins.T, strict=True):
        tables[row, labels[drawn_trial], its_bin] += 1.0
    tie = np.searchsorted(values, values, side="left") / n
    cumulative = _cumulative(labels, n_labels)
    between = np.diff(ranks, prepend=0, append=n + 1) - 1
    for i in np.flatnonzero(between):
        # Between two known order statistics: the bin is that of the one below, but trials tied with the one
        # above are in its bin.
        first, last = i == 0, i == ranks.size
        low = np.zeros(n_resamples) if first else quantile[:, i - 1]
        high = np.ones(n_resamples) if last else quantile[:, i]
        tied = high if last else np.clip(tie[trial[:, i]], low, high)
        mass = np.concatenate([_mass(cumulative, low, tied), _mass(cumulative, tied, high)], axis=1)
        drawn = rng.multinomial(between[i], mass / mass.sum(axis=1, keepdims=True))
        bin_below = np.zeros_like(row) if first else bins[:, i - 1]
        bin_above = bin_below if last else bins[:, i]
        for index, counts in ((bin_below, drawn[:, :n_labels]), (bin_above, drawn[:, n_labels:])):
            tables[row[:, np.newaxis], np.arange(n_labels), index[:, np.newaxis]] += counts
    return tables


def _order_statistics(
    ranks: NDArray[np.intp], n: int, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Draw the order statistics of given ranks (from 1) of n uniform numbers, (R, ranks)."""
    gaps = rng.standard_gamma(np.diff(ranks, prepend=0, append=n + 1), size=(n_resamples, ranks.size + 1))
    sums = np.cumsum(gaps, axis=1)
    return sums[:, :-1] / sums[:, -1:]


def _cumulative(labels: NDArray[np.intp], n_labels: int) -> FloatArray:
    """Number of each label among the first 0, 1, ..., n of the sorted trials, (n_labels, n + 1)."""
    members = labels == np.arange(n_labels)[:, np.newaxis]
    return np.concatenate([np.zeros((n_labels, 1)), np.cumsum(members, axis=1)], axis=1)


def _mass(cumulative: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Number of each label between two places in [0, 1], parts of a trial included, (R, n_labels)."""
    n = cumulative.shape[1] - 1
    quantile = np.arange(n + 1) / n
    return np.stack(
        [np.interp(high, quantile, count) - np.interp(low, quantile, count) for count in cumulative], axis=1
    )
