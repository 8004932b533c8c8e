"""Meta-information, the mutual information of correctness and confidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.calibration.binning import Bins
from confidence_tasks.statistics.core import (
    Estimate,
    FloatArray,
    IntArray,
    Reason,
    as_binary,
    as_vector,
    check_option,
    check_seed,
    label_index,
    same_length,
    undefined,
)
from confidence_tasks.statistics.inference.resampling import as_estimate
from confidence_tasks.statistics.inference.weights import Result, Seed, Weighting, Weights, ratio, tied
from confidence_tasks.statistics.information.interval import InformationTables, too_few_outside, usable_bins
from confidence_tasks.statistics.sdt.count_tables import counts_between

Correction: TypeAlias = Literal["simulation", "none"]
Unit: TypeAlias = Literal["entropy", "ideal", "bits"]

#: Differences of information up to this value are rounding errors and count as ties.
_TIE = 1e-12
_CHUNK_ELEMENTS = 1 << 22


@dataclass(frozen=True, slots=True)
class MetaInformation:
    """Information about correctness in confidence, in bits and as ratios, with a permutation test.

    Attributes
    ----------
    information : Estimate
        Meta-I, the mutual information of correctness and binned confidence in bits, with the requested bias correction.
        It can be negative by sampling error.
    uncorrected : Estimate
        Meta-I without bias correction. Its upward bias is about (bins - 1) / (2 n ln 2).
    entropy : Estimate
        H(correct) in bits, the upper bound of the information.
    ideal_information : Estimate
        Information in the confidence of an ideal two-choice observer with the same accuracy, in bits.
    meta_i1r : Estimate
        information / ideal_information: 1 for the ideal observer, apart from binning. Approximate for questions that do
        not have two choices.
    meta_i2r : Estimate
        information / entropy, at most 1; for questions of any kind.
    p_value : Estimate
        P-value of the permutation test of independence of correctness and confidence.
    n_permutations : int
        Number of permutations.
    """

    information: Estimate
    uncorrected: Estimate
    entropy: Estimate
    ideal_information: Estimate
    meta_i1r: Estimate
    meta_i2r: Estimate
    p_value: Estimate
    n_permutations: int


def meta_information(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    bins: int | None = 10,
    correction: Correction = "simulation",
    unit: Unit = "entropy",
    weights: Weights = None,
    questions: ArrayLike | None = None,
) -> Result:
    """Compute meta-information: the proportion of the uncertainty about correctness that confidence removes.

    This is I(correct; confidence) / H(correct), the mutual information of correctness and binned confidence, divided by
    the entropy of correctness. It needs neither a stimulus nor a model of the observer, and is defined for questions of
    any kind.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1 or 0.
    confidence : array_like, shape (n,)
        Any real number, such as a probability or a log-probability. Only the order of the values matters.
    bins : int or None, default 10
        Number of bins of equal mass; tied values share a bin. With None, each distinct value has its own bin, which is
        suitable for a few ratings. More bins can only increase the information, and its bias. With fewer than five
        trials per bin, there are fewer bins of equal mass, so that each has five trials and two answers of the smaller
        class.
    correction : {"simulation", "none"}, default "simulation"
        Bias correction. ``"simulation"`` estimates the bias as the mean information of tables of the same size, drawn
        from the observed proportions, minus the observed information. So the result is 2 * observed - E[simulated],
        where the mean is computed exactly. The empty cells of the observed table are empty in every simulated table, so
        that the correction is too small for fewer than two answers of the smaller class per bin. The result is then the
        value at which the test of :func:`meta_information_interval` is 0; rows of resamples keep the correction.
        ``"none"`` describes the trials as they are: bins are never fewer, and few trials give a value, too.
    unit : {"entropy", "ideal", "bits"}, default "entropy"
        ``"entropy"`` divides the information by H(correct) (meta-I2r), ``"ideal"`` by that in the confidence of an
        ideal two-choice observer with the same accuracy (meta-I1r). ``"bits"`` is the information in bits (meta-I).
    weights : array_like, shape (n,) or (R, n), optional
        Frequency weight of each trial; one row per resample gives one value per resample. For the correction,
        fractional counts are rounded to whole numbers.
    questions : array_like, shape (n,), optional
        Label of the question of each trial. If questions are repeated and there are no weights, the bias is multiplied
        by the factor that the variances of the numbers of errors between questions imply (Rao & Scott 1992).

    Returns
    -------
    Estimate, or ndarray of shape (R,)
        NaN without trials, if all answers are right or all wrong, or (``"ideal"``) at an accuracy of 1/2. Also NaN if
        there are too few trials for two bins, or if the expected number of answers of the smaller class outside the
        fullest bin, under independence, is below two: there is no interval either. It can be negative by sampling
        error. In units of the entropy it is at most 1.

    References
    ----------
    Dayan (2023), Metacognitive information theory, doi:10.1162/opmi_a_00091. For the bias of the plug-in estimate:
    Miller (1955); Panzeri & Treves (1996), doi:10.1080/0954898X.1996.11978656. (statConfR adds the estimated bias
    instead of subtracting it.)

    Examples
    --------
    >>> correct = [0] * 143 + [1] * 855
    >>> confident = [0] * 138 + [1] * 5 + [0] * 440 + [1] * 415
    >>> round(meta_information(correct, confident, correction="none", unit="bits"), 3)
    0.094
    """
    check_option("correction", correction, get_args(Correction))
    counts = _count_by_bin(correct, confidence, bins, weights, reduce=correction != "none")
    repeated = None
    if weights is None and correction != "none":
        repeated = _repeated(correct, confidence, bins, questions)
    if repeated and repeated.unknown:
        return undefined(repeated.unknown)
    information = _corrected_information(counts, correction, repeated)
    settle = counts.settle if correction == "none" else counts.settle_information
    return settle(_in_unit(counts.table, information, unit))


def meta_information_test(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    bins: int | None = 10,
    correction: Correction = "simulation",
    questions: ArrayLike | None = None,
    n_permutations: int = 10_000,
    seed: Seed = 0,
) -> MetaInformation:
    """Compute meta-information in all units, with a permutation test of independence of correctness and confidence.

    Parameters
    ----------
    correct, confidence, bins, correction
        As in :func:`meta_information`.
    questions : array_like, shape (n,), optional
        Label of the question of each trial, if questions are repeated. The outcomes of a question are then permuted
        together, among questions with the same number of trials, and the bias is that of :func:`meta_information`.
    n_permutations : int, default 10000
        Number of random permutations. The p-value is (1 + b) / (1 + n_permutations), where b is the number of
        permutations with at least the observed information.
    seed : int or numpy.random.Generator, default 0
        Seed of the permutations.

    Returns
    -------
    MetaInformation
        Values are NaN, with a reason, without trials, or if all answers are right or all wrong.

    References
    ----------
    Dayan (2023), doi:10.1162/opmi_a_00091. Phipson & Smyth (2010), Permutation p-values should never be zero,
    doi:10.2202/1544-6115.1585.

    Examples
    --------
    >>> result = meta_information_test([0, 0, 0, 1, 1, 1] * 20, [1, 2, 2, 2, 3, 3] * 20, n_permutations=999)
    >>> round(result.uncorrected, 3), round(result.meta_i2r, 3), result.p_value
    (0.541, 0.541, 0.001)
    """
    if n_permutations < 1:
        raise ValueError(f"n_permutations must be at least 1, got {n_permutations}")
    check_option("correction", correction, get_args(Correction))
    check_seed(seed)
    counts = _count_by_bin(correct, confidence, bins, None)
    repeated = None if correction == "none" else _repeated(correct, confidence, bins, questions)
    table, corrected = counts.table, _corrected_information(counts, correction, repeated)
    rng = np.random.default_rng(seed)
    permutations = _permuted_counts(counts, correct, confidence, questions, n_permutations, rng)
    always = {
        "uncorrected": table_information(table),
        "entropy": table_entropy(table.sum(axis=2)),
        "ideal_information": _ideal_information(table),
        "p_value": _p_value(table, permutations),
    }
    information = {
        "information": corrected,
        "meta_i1r": _in_unit(table, corrected, "ideal"),
        "meta_i2r": _in_unit(table, corrected, "entropy"),
    }
    return MetaInformation(
        **{name: as_estimate(counts.settle(value)) for name, value in always.items()},
        **{name: _settled_once(counts, value, repeated) for name, value in information.items()},
        n_permutations=n_permutations,
    )


def _settled_once(counts: _Counts, value: FloatArray, repeated: InformationTables | None) -> Estimate:
    """Return an information of unweighted trials, with the reason why it is undefined."""
    if repeated and repeated.unknown:
        return undefined(repeated.unknown)
    return as_estimate(counts.settle_information(value))


@dataclass(frozen=True, slots=True)
class _Counts:
    """Wrong and right answers by bin of confidence, for each row of weights."""

    table: FloatArray  # (R, 2, bins); rows with fewer bins end in zeros
    n_bins: IntArray  # (R,)
    weighting: Weighting

    def settle(self, values: FloatArray) -> Result:
        """Return values (R,), NaN if they are not defined."""
        one_class = (self.table.sum(axis=2) == 0.0).any(axis=1), Reason.ONE_CLASS
        # Any other NaN is a ratio to the information of an ideal observer at chance, which is 0.
        return self.weighting.settle(values, one_class, (np.isnan(values), Reason.ZERO_D_PRIME))

    def settle_information(self, values: FloatArray) -> Result:
        """Return values (R,) of the information, NaN also if too few trials determine them."""
        known = ~((self.n_bins < 2) | too_few_outside(self.table))
        one_class = (self.table.sum(axis=2) == 0.0).any(axis=1), Reason.ONE_CLASS
        few = ~known, Reason.FEW_INFORMATIVE
        return self.weighting.settle(values, one_class, few, (np.isnan(values), Reason.ZERO_D_PRIME))


def _count_by_bin(
    correct: ArrayLike, confidence: ArrayLike, bins: int | None, weights: Weights, *, reduce: bool = True
) -> _Counts:
    """Count answers by bin; with ``reduce``, the number of bins is that of :func:`usable_bins`."""
    right, values = as_binary(correct, "correct"), as_vector(confidence, "confidence")
    weighting = Weighting.of(weights, same_length(correct=right, confidence=values))
    if bins is None:
        return _count_by_value(right, values, weighting, reduce=reduce)
    number = np.full(len(weighting.rows), Bins(bins).number)
    if reduce:
        number = usable_bins(number, weighting.rows @ (1.0 - right), weighting.rows @ right)
    return _Counts(_counts_of_equal_mass(right, values, number, weighting), number, weighting)


def _count_by_value(right: FloatArray, values: FloatArray, weighting: Weighting, *, reduce: bool) -> _Counts:
    """Count answers by distinct value; in rows with too few trials for that, by bin of equal mass."""
    groups = tied(values, weighting, 1.0 - right, right)
    table, n_values = np.stack(groups.sums, axis=1), (groups.counts > 0.0).sum(axis=1)
    if not reduce:
        return _Counts(table, n_values, weighting)
    number = usable_bins(n_values, *table.sum(axis=2).T)
    fewer = np.flatnonzero(number != n_values)
    if fewer.size:
        counts = _counts_of_equal_mass(right, values, number[fewer], weighting.take(fewer))
        table[fewer] = 0.0
        table[fewer, :, : counts.shape[2]] = counts
    return _Counts(table, number, weighting)


def _counts_of_equal_mass(
    right: FloatArray, values: FloatArray, n_bins: IntArray, weighting: Weighting
) -> FloatArray:
    """Count wrong and right answers by bin of equal mass; row i has ``n_bins[i]`` bins, at least 1, and then zeros."""
    # Memory layout: rows are contiguous, so that sums over bins are vectorized over rows.
    table = np.zeros((2, max(int(n_bins.max(initial=1)), 1), len(n_bins))).transpose(2, 0, 1)
    if not values.size:
        return table
    order = np.argsort(values, kind="stable")
    for number in np.unique(n_bins):
        rows, size = np.flatnonzero(n_bins == number), max(int(number), 1)
        part = weighting.take(rows)
        positions = Bins(size, "equal_mass").inner_edge_positions(values[order], part.up_to(order))
        table[rows, :, :size] = counts_between(right[order].astype(np.intp), 2, positions, order, part)
    return table


def _repeated(
    correct: ArrayLike, confidence: ArrayLike, bins: int | None, questions: ArrayLike | None
) -> InformationTables | None:
    """Return tables that know the variance between questions; None if no question is repeated."""
    if questions is None:
        return None
    values = as_vector(confidence, "confidence")
    index = label_index(questions, "questions", len(values))
    if index.max(initial=-1) + 1 == len(values):
        return None
    number = len(np.unique(values)) if bins is None else bins
    return InformationTables.of(correct, values, bins=max(number, 1), questions=index)


def _corrected_information(
    counts: _Counts, correction: Correction, repeated: InformationTables | None = None
) -> FloatArray:
    table = counts.table
    observed = table_information(table)
    if correction == "none":
        return observed
    share = None
    if not counts.weighting.batch:
        share = (repeated or InformationTables.of_counts(table[0])).median_share
    if share is not None:
        return share * table_entropy(table.sum(axis=2))
    bias = sampled_mean(table) - observed
    return observed - bias * (repeated.bias_factor if repeated else 1.0)


def _in_unit(table: FloatArray, information: FloatArray, unit: Unit) -> FloatArray:
    check_option("unit", unit, get_args(Unit))
    if unit == "bits":
        return information
    if unit == "ideal":
        return ratio(information, _ideal_information(table))
    # The corrected information can exceed the entropy, which is not corrected.
    return np.minimum(ratio(information, table_entropy(table.sum(axis=2))), 1.0)


def _ideal_information(table: FloatArray) -> FloatArray:
    """Return the information of an ideal observer with d' = 2 z(accuracy), in bits, shape (R,).

    The confidence of this observer is the distance of the evidence from the criterion.
    """
    wrong, right = table.sum(axis=2).T
    accuracy = ratio(np.maximum(wrong, right), wrong + right)
    inside = (accuracy > 0.5) & (accuracy < 1.0)
    # At distance x the log odds of being correct are d' x. The error of the trapezoidal rule is negligible here.
    d_prime = 2.0 * scipy.special.ndtri(np.where(inside, accuracy, 0.75))[:, np.newaxis]
    x = np.linspace(-12.0, 12.0, 481)
    weight = np.exp(-0.5 * np.square(x)) / np.sqrt(2.0 * np.pi) * (x[1] - x[0])
    log_odds = np.abs(d_prime * (x + 0.5 * d_prime))
    conditional_entropy = (
        (np.log1p(np.exp(-log_odds)) + log_odds * scipy.special.expit(-log_odds)) @ weight / np.log(2.0)
    )
    entropy = table_entropy(table.sum(axis=2))
    return np.where(inside, entropy - conditional_entropy, np.where(accuracy == 0.5, 0.0, np.nan))


def _p_value(table: FloatArray, permutations: Iterator[FloatArray]) -> FloatArray:
    """Return the p-value (1,) of one table, given the right answers by bin (k, bins) of random permutations."""
    if (table[0].sum(axis=1) == 0.0).any():
        return np.full(1, np.nan)
    observed, columns = table_information(table)[0], table[0].sum(axis=0)
    n_as_informative = n_total = 0
    for right in permutations:
        information = table_information(np.stack([columns - right, right], axis=1))
        n_as_informative += int((information >= observed - _TIE).sum())
        n_total += len(right)
    return np.full(1, (1.0 + n_as_informative) / (1.0 + n_total))


def _permuted_counts(
    counts: _Counts,
    correct: ArrayLike,
    confidence: ArrayLike,
    questions: ArrayLike | None,
    n_permutations: int,
    rng: np.random.Generator,
) -> Iterator[FloatArray]:
    """Yield the right answers by bin under random permutations, in chunks of shape (k, bins)."""
    right, values = as_binary(correct, "correct"), as_vector(confidence, "confidence")
    table, question = counts.table, label_index(questions, "questions", len(right))
    if question.max(initial=-1) + 1 < len(right):
        distinct, index = np.unique(values, return_inverse=True)
        if len(distinct) != table.shape[2]:
            index = Bins(table.shape[2], "equal_mass").assign(values)
        yield from _question_permuted_counts(right, index, table.shape[2], question, n_permutations, rng)
        return
    columns, n_right = table[0].sum(axis=0).astype(np.int64), int(table[0, 1].sum())
    step = max(1, _CHUNK_ELEMENTS // columns.size)
    for start in range(0, n_permutations, step):
        size = min(step, n_permutations - start)
        yield rng.multivariate_hypergeometric(columns, n_right, size, "marginals").astype(np.float64)


def _question_permuted_counts(
    right: FloatArray,
    index: IntArray,
    n_bins: int,
    question: IntArray,
    n_permutations: int,
    rng: np.random.Generator,
) -> Iterator[FloatArray]:
    """Yield the right answers by bin if outcomes are permuted between questions with the same number of trials."""
    n_trials = np.bincount(question)
    order = np.argsort(question, kind="stable")
    groups = [order[n_trials[question[order]] == k].reshape(-1, k) for k in np.unique(n_trials)]
    in_bin = np.eye(n_bins)[index]
    step = max(1, _CHUNK_ELEMENTS // max(len(right), 1))
    for start in range(0, n_permutations, step):
        size = min(step, n_permutations - start)
        counts = np.zeros((size, n_bins))
        for trials in groups:  # (questions, k)
            permutation = rng.permuted(np.tile(np.arange(len(trials)), (size, 1)), axis=1)
            counts += right[trials][permutation].reshape(size, -1) @ in_bin[trials.ravel()]
        yield counts


#: Largest mean for which E[X log X] is summed. For larger means, the error of its Taylor series is below 1e-8.
_MAX_SUMMED_MEAN = 512
#: Half-width of the sums in standard deviations, and an additional half-width for skewed distributions.
_REACH, _EXTRA = 10.0, 40


def table_information(tables: FloatArray) -> FloatArray:
    """Return the mutual information of rows and columns of tables (R, 2, J), in bits, (R,); NaN without counts."""
    return _from_sums(tables, _x_log_x(tables), _x_log_x(tables.sum(axis=2)), _x_log_x(tables.sum(axis=1)))


def table_entropy(counts: FloatArray) -> FloatArray:
    """Return the entropy of counts (R, J), in bits, (R,); NaN without counts."""
    n = counts.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits: FloatArray = (np.log(n) - _x_log_x(counts).sum(axis=1) / n) / np.log(2.0)
    return bits


def sampled_mean(tables: FloatArray) -> FloatArray:
    """Return the expected information (R,) of tables of the same size, drawn from the observed proportions."""
    # Cells and margins of a multinomial table are binomial, so the expectation is a sum of expectations E[X log X].
    n = np.rint(tables.sum(axis=(1, 2)))
    # Cells and margins are computed in one call, whose overhead dominates for small tables.
    counts = np.empty((3, tables.shape[2] + 1, len(tables)))
    counts[:2, :-1] = tables.transpose(1, 2, 0)
    np.sum(counts[:2, :-1], axis=0, out=counts[2, :-1])
    np.sum(counts[:, :-1], axis=1, out=counts[:, -1])
    means = _binomial_mean(np.rint(counts, out=counts), n).transpose(2, 0, 1)
    return _from_sums(tables, means[:, :2, :-1], means[:, :2, -1], means[:, 2, :-1])


def _x_log_x(x: FloatArray) -> FloatArray:
    return np.asarray(scipy.special.xlogy(x, x), dtype=np.float64)


def _from_sums(tables: FloatArray, cells: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Compute information in bits from the values of x log x of cells and margins, or from their expectations."""
    n = tables.sum(axis=(1, 2))
    total = cells.sum(axis=(1, 2)) - rows.sum(axis=1) - columns.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits: FloatArray = (total / n + np.log(n)) / np.log(2.0)
    return bits


def _binomial_mean(counts: FloatArray, n: FloatArray) -> FloatArray:
    """Return E[X log X] for binomial X with n (R,) draws and means ``counts`` (..., R), which are whole numbers."""
    sizes = np.unique(n)
    if len(sizes) == 1:
        return _binomial_mean_of(counts, int(sizes[0]))
    means: FloatArray = np.empty(counts.shape)
    for size in sizes:
        rows = n == size
        means[..., rows] = _binomial_mean_of(counts[..., rows], int(size))
    return means


def _binomial_mean_of(counts: FloatArray, n: int) -> FloatArray:
    """Return E[X log X] as :func:`_binomial_mean` does, for one number of draws."""
    small = counts <= _MAX_SUMMED_MEAN
    if small.all():
        return _binomial_sums(n).take(counts.astype(np.intp))
    means: FloatArray = np.empty(counts.shape)
    means[small] = _binomial_sums(n)[counts[small].astype(np.intp)]
    large, position = np.unique(counts[~small], return_inverse=True)
    means[~small] = _binomial_series(n, large)[position]
    return means


@lru_cache(maxsize=1024)  # the resamples of all conditions of a study have few different sizes
def _binomial_sums(n: int) -> FloatArray:
    """Return E[X log X] for binomial X with n draws and means 0, 1, ..., min(n, _MAX_SUMMED_MEAN)."""
    mean = np.arange(min(n, _MAX_SUMMED_MEAN) + 1.0)
    reach = _REACH * np.sqrt(mean) + _EXTRA
    start = np.ceil(np.maximum(mean - reach, 0.0)).astype(np.int64)
    length = np.floor(np.minimum(mean + reach, n)).astype(np.int64) - start + 1
    offset = np.cumsum(length) - length
    x = np.arange(length.sum()) - np.repeat(offset - start, length)
    p = np.repeat(mean / max(n, 1), length)
    # Tabulate log factorials up to the largest x only, as n can be a billion (true values of simulated subjects).
    count = np.arange(x.max() + 1.0)
    log_factorial, log_rest = scipy.special.gammaln(count + 1.0), scipy.special.gammaln(n - count + 1.0)
    log_p = scipy.special.gammaln(n + 1.0) - log_factorial[x] - log_rest[x]
    log_p = log_p + scipy.special.xlogy(x, p) + scipy.special.xlog1py(n - x, -p)
    sums: FloatArray = np.add.reduceat(np.exp(log_p) * scipy.special.xlogy(x, x), offset)
    return sums


def _binomial_series(n: int, mean: FloatArray) -> FloatArray:
    """Return E[X log X] for binomial X with n draws, by a Taylor series with the first six central moments."""
    p = np.minimum(mean / max(n, 1), 1.0)
    q = 1.0 - p
    v = mean * q
    moments = (
        v,
        v * (q - p),
        v * (1.0 - 6.0 * p * q + 3.0 * v),
        v * (q - p) * (1.0 - 12.0 * p * q + 10.0 * v),
        v * (1.0 - 30.0 * p * q * (1.0 - 4.0 * p * q) + 5.0 * v * (5.0 - 26.0 * p * q) + 15.0 * v**2),
    )
    # Derivatives of x log x at the mean, divided by factorials.
    coefficients = (1 / 2, -1 / 6, 1 / 12, -1 / 20, 1 / 30)
    terms = (c * m / mean**r for r, (c, m) in enumerate(zip(coefficients, moments, strict=True), start=1))
    return _x_log_x(mean) + sum(terms)
