"""Meta-information, what confidence removes of the uncertainty about correctness; and entropy of possible answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confidence_tasks.statistics.calibration.binning import Bins
from confidence_tasks.statistics.core import (
    Estimate,
    FloatArray,
    IntArray,
    Reason,
    as_binary,
    as_probability,
    as_vector,
    check_option,
    label_index,
    same_length,
)
from confidence_tasks.statistics.inference.resampling import as_estimate
from confidence_tasks.statistics.inference.weights import Result, Seed, Weighting, Weights, ratio, tied
from confidence_tasks.statistics.sdt.count_tables import counts_between

Correction: TypeAlias = Literal["simulation", "none"]
Unit: TypeAlias = Literal["entropy", "ideal", "bits"]

#: Values of information closer than this are ties: equal tables give values that differ by rounding.
_TIE = 1e-12
_CHUNK = 1 << 22


@dataclass(frozen=True, slots=True)
class MetaInformation:
    """Information that confidence has about correctness, in bits and as shares, with a test against none.

    Attributes
    ----------
    information : Estimate
        Meta-I, the mutual information of correctness and binned confidence in bits, corrected as asked. May fall
        below 0 by its sampling error.
    uncorrected : Estimate
        The same as observed: biased upwards, by about (bins - 1) / (2 n ln 2).
    entropy : Estimate
        H(correct) in bits, the upper bound.
    ideal_information : Estimate
        What the confidence of an ideal observer with two choices and the same accuracy tells.
    meta_i1r : Estimate
        information / ideal_information. The ideal observer has 1, but for the binning. It compares with a
        two-choice observer: approximate for items of another kind.
    meta_i2r : Estimate
        information / entropy, from 0 to 1, for items of any kind.
    p_value : Estimate
        Of the permutation test that confidence tells nothing.
    n_permutations : int
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
) -> Result:
    """Compute the share of the uncertainty about correctness that confidence removes.

    I(correct; confidence) / H(correct), the mutual information of correctness and binned confidence over entropy.

    Needs no stimulus and no model, and is valid for any kind of item: the headline for open-ended questions.

    Parameters
    ----------
    correct : array_like, shape (n,)
        1 or 0.
    confidence : array_like, shape (n,)
        Any real number, such as a probability or a log-probability: only its order counts.
    bins : int or None, default 10
        Number of bins of equal mass; equal values always share one. None takes each distinct value for itself,
        which suits a few ratings. More bins can only add information, and bias.
    correction : {"simulation", "none"}, default "simulation"
        What is taken off the observed information for being estimated: its surplus over the truth when tables of
        this size are drawn from the observed one, so that 2 x observed - E[simulated] is left. The mean is computed
        exactly, nothing is drawn. With few trials a bin (below about five) it is too small: a table drawn from an
        observed one never fills its empty cells.
    unit : {"entropy", "ideal", "bits"}, default "entropy"
        ``"entropy"`` divides by H(correct) (meta-I2r), ``"ideal"`` by the information in the confidence of an
        ideal two-choice observer of the same accuracy (meta-I1r), ``"bits"`` by nothing (meta-I).
    weights : array_like, shape (n,) or (R, n), optional
        Frequency weight of each trial; one row per resample gives one value per resample. Fractional counts are rounded
        for the correction, which is about whole trials.

    Returns
    -------
    Estimate, or ndarray of shape (R,)
        NaN without trials, if all are correct or all wrong, or (``"ideal"``) at an accuracy of 1/2. May fall
        below 0 by sampling error; of the entropy it is at most 1.

    References
    ----------
    Dayan (2023), Metacognitive information theory, doi:10.1162/opmi_a_00091. The bias of plug-in information:
    Miller (1955); Panzeri & Treves (1996), doi:10.1080/0954898X.1996.11978656. (statConfR adds the estimated
    bias where it should subtract it.)

    Examples
    --------
    >>> correct = [0] * 143 + [1] * 855
    >>> confident = [0] * 138 + [1] * 5 + [0] * 440 + [1] * 415
    >>> round(meta_information(correct, confident, correction="none", unit="bits"), 3)
    0.094
    """
    table, weighting = _table(correct, confidence, bins, weights)
    return _settle(_in_unit(table, _corrected(table, correction), unit), table, weighting)


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
    """Compute meta-information in all its units, and test it against confidence that tells nothing.

    Parameters
    ----------
    correct, confidence, bins, correction
        As in :func:`meta_information`.
    questions : array_like, shape (n,), optional
        Which question each trial asked, by any labels, where one was asked several times: its answers are then matched
        together, with the confidences of a question that was asked as often.
    n_permutations : int, default 10000
        Random matchings of correctness and confidence. The p-value is (1 + as informative) / (1 + all).
    seed : int or numpy.random.Generator, default 0
        Source of the permutations.

    Returns
    -------
    MetaInformation
        Values are NaN, with a reason, without trials or if all are correct or all wrong.

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
    table, weighting = _table(correct, confidence, bins, None)
    corrected = _corrected(table, correction)
    rng = np.random.default_rng(seed)
    matchings = _matched(table, correct, confidence, bins, questions, n_permutations, rng)
    values = {
        "information": corrected,
        "uncorrected": table_information(table),
        "entropy": table_entropy(table.sum(axis=2)),
        "ideal_information": _ideal(table),
        "meta_i1r": _in_unit(table, corrected, "ideal"),
        "meta_i2r": _in_unit(table, corrected, "entropy"),
        "p_value": _p_value(table, matchings),
    }
    return MetaInformation(
        **{name: as_estimate(_settle(value, table, weighting)) for name, value in values.items()},
        n_permutations=n_permutations,
    )


def _table(
    correct: ArrayLike, confidence: ArrayLike, bins: int | None, weights: Weights
) -> tuple[FloatArray, Weighting]:
    """Count wrong and correct answers by confidence bin, (R, 2, bins)."""
    right, sure = as_binary(correct, "correct"), as_vector(confidence, "confidence")
    weighting = Weighting.of(weights, same_length(correct=right, confidence=sure))
    if bins is None:
        return np.stack(tied(sure, weighting, 1.0 - right, right).sums, axis=1), weighting
    if not sure.size:
        return np.zeros((len(weighting.rows), 2, bins)), weighting
    order = np.argsort(sure, kind="stable")
    positions = Bins(bins, "equal_mass").inner_edge_positions(sure[order], weighting.up_to(order))
    return counts_between(right[order].astype(np.intp), 2, positions, order, weighting), weighting


def _corrected(table: FloatArray, correction: Correction) -> FloatArray:
    check_option("correction", correction, get_args(Correction))
    observed = table_information(table)
    return observed if correction == "none" else 2.0 * observed - sampled_mean(table)


def _in_unit(table: FloatArray, information: FloatArray, unit: Unit) -> FloatArray:
    check_option("unit", unit, get_args(Unit))
    if unit == "bits":
        return information
    if unit == "ideal":
        return ratio(information, _ideal(table))
    # The correction is of the information alone, and can leave more than there is to know.
    return np.minimum(ratio(information, table_entropy(table.sum(axis=2))), 1.0)


def _settle(values: FloatArray, table: FloatArray, weighting: Weighting) -> Result:
    one_class = (table.sum(axis=2) == 0.0).any(axis=1), Reason.ONE_CLASS
    # What is left undefined is information relative to that of an observer at chance.
    return weighting.settle(values, one_class, (np.isnan(values), Reason.ZERO_D_PRIME))


def _ideal(table: FloatArray) -> FloatArray:
    """Information (R,) about correctness in the distance from the criterion, where d' = 2 z(accuracy)."""
    wrong, right = table.sum(axis=2).T
    accuracy = ratio(np.maximum(wrong, right), wrong + right)
    inside = (accuracy > 0.5) & (accuracy < 1.0)
    # At distance x the log odds of being correct are d' x. The trapezoid rule is as good as exact here.
    d_prime = 2.0 * scipy.special.ndtri(np.where(inside, accuracy, 0.75))[:, np.newaxis]
    x = np.linspace(-12.0, 12.0, 481)
    weight = np.exp(-0.5 * np.square(x)) / np.sqrt(2.0 * np.pi) * (x[1] - x[0])
    odds = np.abs(d_prime * (x + 0.5 * d_prime))
    left = (np.log1p(np.exp(-odds)) + odds * scipy.special.expit(-odds)) @ weight / np.log(2.0)
    entropy = table_entropy(table.sum(axis=2))
    return np.where(inside, entropy - left, np.where(accuracy == 0.5, 0.0, np.nan))


def _p_value(table: FloatArray, matchings: Iterator[FloatArray]) -> FloatArray:
    """Return the p-value (1,) of one table, from the right answers by bin (k, bins) of random matchings."""
    if (table[0].sum(axis=1) == 0.0).any():
        return np.full(1, np.nan)
    observed, columns = table_information(table)[0], table[0].sum(axis=0)
    as_informative = total = 0
    for matched in matchings:
        drawn = table_information(np.stack([columns - matched, matched], axis=1))
        as_informative += int((drawn >= observed - _TIE).sum())
        total += len(matched)
    return np.full(1, (1.0 + as_informative) / (1.0 + total))


def _matched(
    table: FloatArray,
    correct: ArrayLike,
    confidence: ArrayLike,
    bins: int | None,
    questions: ArrayLike | None,
    n_permutations: int,
    rng: np.random.Generator,
) -> Iterator[FloatArray]:
    """Yield the right answers by bin of random matchings, the margins of one table kept."""
    right, sure = as_binary(correct, "correct"), as_vector(confidence, "confidence")
    question = label_index(questions, "questions", len(right))
    if question.max(initial=-1) + 1 < len(right):
        ranked = np.unique(sure, return_inverse=True)[1]
        cell = ranked if bins is None else Bins(bins, "equal_mass").assign(sure)
        yield from _exchanged_counts(right, cell, table.shape[2], question, n_permutations, rng)
        return
    columns, n_right = table[0].sum(axis=0).astype(np.int64), int(table[0, 1].sum())
    step = max(1, _CHUNK // columns.size)
    for start in range(0, n_permutations, step):
        size = min(step, n_permutations - start)
        yield rng.multivariate_hypergeometric(columns, n_right, size, "marginals").astype(np.float64)


def _exchanged_counts(
    right: FloatArray,
    cell: IntArray,
    n_cells: int,
    question: NDArray[Any],
    n_exchanges: int,
    rng: np.random.Generator,
) -> Iterator[FloatArray]:
    """Yield the right answers by cell (k, n_cells) when questions asked as often exchange all their answers."""
    _, number, asked = np.unique(question, return_inverse=True, return_counts=True)
    order = np.argsort(number, kind="stable")
    alike = [
        order[asked[number[order]] == times].reshape(-1, times) for times in np.unique(asked)
    ]  # (questions, times)
    member = np.eye(n_cells)[cell]
    step = max(1, _CHUNK // max(len(right), 1))
    for start in range(0, n_exchanges, step):
        size = min(step, n_exchanges - start)
        counts = np.zeros((size, n_cells))
        for trials in alike:
            places = rng.permuted(np.tile(np.arange(len(trials)), (size, 1)), axis=1)
            counts += right[trials][places].reshape(size, -1) @ member[trials.ravel()]
        yield counts


#: Up to here the expectation of x log x is summed, from here on its Taylor series is exact to 1e-8.
_SUMMED = 512
#: Half-width of the sums in standard deviations, and what is added for skewed distributions.
_REACH, _EXTRA = 10.0, 40


def table_information(tables: FloatArray) -> FloatArray:
    """Return the mutual information of rows and columns in bits, tables (R, 2, J) -> (R,); NaN without counts."""
    return _from_sums(tables, _x_log_x(tables), _x_log_x(tables.sum(axis=2)), _x_log_x(tables.sum(axis=1)))


def table_entropy(counts: FloatArray) -> FloatArray:
    """Return the entropy in bits of counts (R, J) -> (R,); NaN without counts."""
    n = counts.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits: FloatArray = (np.log(n) - _x_log_x(counts).sum(axis=1) / n) / np.log(2.0)
    return bits


def sampled_mean(tables: FloatArray) -> FloatArray:
    """Return the expected information (R,) of samples as large as the table, drawn from its proportions."""
    # Cells and margins of a multinomial sample are binomial: the expectation is a sum of those of x log x.
    n = np.rint(tables.sum(axis=(1, 2)))
    # Cells and margins in one: the work is in the call more often than in the numbers.
    counts = np.concatenate([tables, tables.sum(axis=1, keepdims=True)], axis=1)
    counts = np.concatenate([counts, counts.sum(axis=2, keepdims=True)], axis=2)
    means = _binomial_mean(np.rint(counts).T, n).T
    return _from_sums(tables, means[:, :2, :-1], means[:, :2, -1], means[:, 2, :-1])


def _x_log_x(x: FloatArray) -> FloatArray:
    return np.asarray(scipy.special.xlogy(x, x), dtype=np.float64)


def _from_sums(tables: FloatArray, cells: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Combine sums of x log x, a table's own or their expectations, into information in bits."""
    n = tables.sum(axis=(1, 2))
    total = cells.sum(axis=(1, 2)) - rows.sum(axis=1) - columns.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits: FloatArray = (total / n + np.log(n)) / np.log(2.0)
    return bits


def _binomial_mean(counts: FloatArray, n: FloatArray) -> FloatArray:
    """Return E[X log X] for X binomial with n draws and mean ``counts``; n (R,), counts (..., R)."""
    means: FloatArray = np.empty(counts.shape)
    for size in np.unique(n):
        rows = n == size
        its = counts[..., rows]
        found, few = np.empty(its.shape), its <= _SUMMED
        found[few] = _binomial_sums(int(size))[its[few].astype(np.intp)]
        many, position = np.unique(its[~few], return_inverse=True)
        found[~few] = _binomial_series(int(size), many)[position]
        means[..., rows] = found
    return means


@lru_cache(maxsize=1024)  # resamples of all conditions of a study have few sizes between them
def _binomial_sums(n: int) -> FloatArray:
    """Return E[X log X] for X binomial with n draws and a mean of 0, 1, ..., as far as it is summed."""
    mean = np.arange(min(n, _SUMMED) + 1.0)
    reach = _REACH * np.sqrt(mean) + _EXTRA
    start = np.ceil(np.maximum(mean - reach, 0.0)).astype(np.int64)
    length = np.floor(np.minimum(mean + reach, n)).astype(np.int64) - start + 1
    begins = np.cumsum(length) - length
    x = np.arange(length.sum()) - np.repeat(begins - start, length)
    p = np.repeat(mean / max(n, 1), length)
    count = np.arange(x.max() + 1.0)  # true values of a subject have n of a billion: no table of all n
    drawn, left = scipy.special.gammaln(count + 1.0), scipy.special.gammaln(n - count + 1.0)
    log_p = scipy.special.gammaln(n + 1.0) - drawn[x] - left[x]
    log_p = log_p + scipy.special.xlogy(x, p) + scipy.special.xlog1py(n - x, -p)
    sums: FloatArray = np.add.reduceat(np.exp(log_p) * scipy.special.xlogy(x, x), begins)
    return sums


def _binomial_series(n: int, mean: FloatArray) -> FloatArray:
    """Return E[X log X] from the first six central moments."""
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
    # The derivatives of x log x, over the factorials.
    coefficients = (1 / 2, -1 / 6, 1 / 12, -1 / 20, 1 / 30)
    terms = (c * m / mean**r for r, (c, m) in enumerate(zip(coefficients, moments, strict=True), start=1))
    return _x_log_x(mean) + sum(terms)


@lru_cache(maxsize=4)
def log_factorials(n: int) -> FloatArray:
    """Return the logarithms of the factorials of 0 .. n."""
    logs: FloatArray = scipy.special.gammaln(np.arange(n + 1) + 1.0)
    return logs


_ROUNDING = 0.01
"""Amount by which a sum of probabilities may exceed 1: logarithms may have two decimals."""


def token_entropy(probabilities: ArrayLike) -> float:
    r"""Compute the entropy of one token's distribution from the most probable alternatives.

    The mass that is missing to 1 counts as one further alternative: :math:`-\sum p \ln p - m \ln m`, which is the least
    that the entropy can be.

    Parameters
    ----------
    probabilities : array_like, shape (k,)
        Probability of each alternative that the provider returned, in [0, 1].

    Returns
    -------
    float
        In nats, 0 or above; NaN without alternatives.

    References
    ----------
    Malinin & Gales (2021), Uncertainty estimation in autoregressive structured prediction, arXiv:2002.07650, section 3.

    Examples
    --------
    >>> round(token_entropy([0.5, 0.5]), 4), round(token_entropy([0.5, 0.25]), 4)
    (0.6931, 1.0397)
    """
    known = as_probability(probabilities, "probabilities")
    total = known.sum()
    if total > 1.0 + _ROUNDING:
        raise ValueError(f"probabilities must add up to at most 1, got {total:g}")
    if not known.size:
        return float("nan")
    return _entropy(np.append(known, max(1.0 - total, 0.0)))


def meaning_clusters(same: ArrayLike) -> IntArray:
    """Group answers by meaning: two share a cluster when a chain of pairs that mean the same joins them.

    Parameters
    ----------
    same : array_like, shape (n, n)
        Whether the answers of a pair mean the same, as 1 or 0; one direction is enough.

    Returns
    -------
    ndarray, shape (n,)
        Number of each answer's cluster, from 0 in the order in which clusters first appear.

    References
    ----------
    Kuhn, Gal & Farquhar (2023), Semantic uncertainty, arXiv:2302.09664. Their algorithm compares an answer with the
    first of each cluster only; the two agree wherever meaning the same is transitive.

    Examples
    --------
    >>> meaning_clusters([[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    array([0, 1, 0])
    """
    pairs = np.asarray(same, dtype=np.bool_)
    if pairs.ndim != 2 or pairs.shape[0] != pairs.shape[1]:
        raise ValueError(f"same must have shape (n, n), got {pairs.shape}")
    _, component = scipy.sparse.csgraph.connected_components(pairs, directed=True, connection="weak")
    _, first, number = np.unique(component, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[number], dtype=np.int64)


def semantic_entropy(clusters: ArrayLike, logprobs: ArrayLike | None = None) -> float:
    r"""Compute the entropy over clusters of equal meaning: :math:`-\sum_c P(c) \ln P(c)`.

    Parameters
    ----------
    clusters : array_like, shape (n,)
        Label of each sampled answer's cluster.
    logprobs : array_like, shape (n,), optional
        Log-probability of each sampled answer, as a mean over its tokens or as their sum: P(c) is then the share of the
        answers' probabilities that falls on the cluster. By default, the discrete form, it is the share of the answers.

    Returns
    -------
    float
        In nats, from 0 to ln n; NaN without answers.

    References
    ----------
    Farquhar, Kossen, Kuhn & Gal (2024), Detecting hallucinations in large language models using semantic entropy,
    doi:10.1038/s41586-024-07421-0, equations 3 to 5, and the discrete form of its methods.

    Examples
    --------
    >>> round(semantic_entropy([0, 0, 1, 1]), 4)
    0.6931
    >>> round(semantic_entropy([0, 0, 1, 1], [-0.1, -0.1, -5.0, -5.0]), 4)
    0.0436
    """
    label = np.asarray(clusters)
    values = np.zeros(label.shape) if logprobs is None else as_vector(logprobs, "logprobs")
    if label.shape != values.shape:
        raise ValueError(f"lengths differ: clusters {label.shape}, logprobs {values.shape}")
    if not label.size:
        return float("nan")
    _, number = np.unique(label, return_inverse=True)
    share = np.exp(values - scipy.special.logsumexp(values))
    return _entropy(np.bincount(number, share).astype(np.float64))


def _entropy(probabilities: FloatArray) -> float:
    return max(0.0, -float(scipy.special.xlogy(probabilities, probabilities).sum()))
