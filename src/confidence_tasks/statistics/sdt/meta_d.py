"""Meta-d' of count tables, fitted by maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, TypeAlias, TypedDict, get_args

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import BoolArray, FloatArray, Reason, check_option, per_row
from confidence_tasks.statistics.inference.weights import Case, Result, defined, ratio, settle
from confidence_tasks.statistics.sdt.count_tables import Padding, Tables, with_raw_cases
from confidence_tasks.statistics.sdt.likelihood import (
    MetaDProblems,
    MetaDSolution,
    pack,
    scatter,
    solve,
    unpack,
)
from confidence_tasks.statistics.sdt.metacognition import Metacognition, metacognition_fields
from confidence_tasks.statistics.sdt.sensitivity import TypeOneModel, fit_type1_model

#: M-ratio is flagged as unstable if fewer trials than this carry the fit.
_MIN_CARRYING_TRIALS = 5.0

Criterion: TypeAlias = Literal["relative", "absolute"]
Response: TypeAlias = Literal["both", "S1", "S2"]


class MetaDOptions(TypedDict, total=False):
    """Options of :func:`fit_meta_d`, passed on by functions that build its table."""

    padding: Padding
    s: float
    criterion: Criterion
    response: Response
    compat: Literal["metadpy"] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaD(Metacognition):
    """Maximum-likelihood meta-d' of one table, or of a batch.

    Distances are in units of the root-mean-square standard deviation of S1 and S2, as for d_a. Additional attributes to
    those of :class:`Metacognition`:

    Attributes
    ----------
    criterion : Estimate or ndarray, shape (B,)
        Type-1 criterion, relative to the midpoint of the means of the type-1 model.
    criteria : ndarray, shape (2K - 1,) or (B, 2K - 1)
        Criteria of the meta-d' model, relative to the midpoint of its means, with the type-1 criterion in the middle.
        Criteria next to a rating without trials coincide or are infinite; NaN without a fit.
    log_likelihood : Estimate or ndarray, shape (B,)
        Log-likelihood of the ratings given stimulus and response, without the multinomial constant.
    converged : bool or ndarray of bool
        True if a finite maximum was found.
    """

    criterion: Result
    criteria: FloatArray
    log_likelihood: Result
    converged: bool | BoolArray


def fit_meta_d(
    nR_S1: ArrayLike,
    nR_S2: ArrayLike,
    *,
    padding: Padding = "1/2K",
    s: ArrayLike = 1.0,
    criterion: Criterion = "relative",
    response: Response = "both",
    compat: Literal["metadpy"] | None = None,
) -> MetaD:
    """Fit meta-d' to one count table or to a batch of them.

    Given stimulus and response, the evidence of an ideal observer has a normal distribution that is truncated at the
    type-1 criterion, and the type-2 criteria divide it into ratings. Meta-d' is the distance of the two means that
    maximizes the likelihood of the ratings. The maximum is found by Newton's method with the analytic Hessian.

    Parameters
    ----------
    nR_S1, nR_S2 : array_like, shape (2K,) or (B, 2K)
        Non-negative counts under either stimulus, from "S1, highest rating" to "S2, highest rating".
    padding : {"1/2K", "hautus", "none"}, default "1/2K"
        Number added to every cell: 1/(2K), 0.5 or 0. With 1/(2K), meta-d' is nearly unbiased. Papers that cite Hautus
        (1995) add 0.5, which decreases meta-d' by .07 to .14 at 200 trials.
    s : float or array_like, shape (B,), default 1
        sd(S1) / sd(S2).
    criterion : {"relative", "absolute"}, default "relative"
        Position of the type-1 criterion in the meta-d' model. ``"relative"``: the criterion divided by meta-d' equals
        the observed criterion divided by d' (Maniscalco & Lau). ``"absolute"``: it equals the observed criterion.
    response : {"both", "S1", "S2"}, default "both"
        Responses whose ratings are fitted; ``"S1"`` and ``"S2"`` give a response-conditional meta-d'.
    compat : {None, "metadpy"}, default None
        ``"metadpy"`` reproduces the Matlab reference (fit_meta_d_MLE) and its translations, which place the criterion
        at -(zH + zF) / (1 + s). For s != 1 this is not the distance from the midpoint of the means, which their
        likelihood requires. By default the correct distance is used, so that an ideal unequal-variance observer has an
        M-ratio of 1.

    Returns
    -------
    MetaD
        Meta-d' and M-ratio are NaN, with a reason, if the counts without padding do not identify them: if a stimulus or
        a response has no trials, if a stimulus has no errors or only errors, if ratings do not vary, or if no finite
        maximum exists. Padding reduces bias, but cannot replace data. With a relative criterion, meta-d' is not defined
        at d' = 0, unless the criterion is also 0. d' of padded counts is defined whenever both stimuli have trials.

    Notes
    -----
    If the criterion lies between the two means, the likelihood has one maximum. Otherwise it can have one maximum for
    each sign of meta-d', and several if s != 1. The iteration is then repeated from several starting values, and the
    highest maximum is taken.

    References
    ----------
    Maniscalco & Lau (2012), A signal detection theoretic approach for estimating metacognitive sensitivity
    from confidence ratings, doi:10.1016/j.concog.2011.09.021. Maniscalco & Lau (2014), Signal detection theory
    analysis of type 1 and type 2 data: meta-d', response-specific meta-d', and the unequal variance SDT model,
    doi:10.1007/978-3-642-45190-4_3.

    Examples
    --------
    >>> fit = fit_meta_d([100, 50, 20, 10, 5, 1], [3, 7, 8, 12, 27, 89], padding="none")
    >>> f"{fit.d_prime:.6f} {fit.meta_d:.6f} {fit.m_ratio:.4f}"
    '2.524376 2.336992 0.9258'
    >>> fit_meta_d([10, 10, 10, 10], [10, 10, 10, 10]).m_ratio.reason
    <Reason.ZERO_D_PRIME: "d' is 0">
    """
    check_option("criterion", criterion, get_args(Criterion))
    check_option("response", response, get_args(Response))
    check_option("compat", compat, (None, "metadpy"))
    tables = Tables.of(nR_S1, nR_S2)
    ratios = per_row(s, "s", len(tables.s1))
    if not (np.isfinite(ratios) & (ratios > 0.0)).all():
        raise ValueError(f"s must be positive, got {s!r}")
    model = partial(_fit_tables, criterion=criterion, response=response, compat=compat)
    first, counts, solution, d_cases, cases = model(tables.padded(padding), ratios)
    if padding != "none":
        cases = with_raw_cases(cases, tables, lambda raw, rows: model(raw, ratios[rows]).m_cases)
    unit = np.sqrt(2.0 / (1.0 + ratios**2)) * ratios
    # Sampling errors of the ratings and of the type-1 criterion.
    with np.errstate(invalid="ignore"):
        variance = solution.variance + solution.criterion_effect**2 * first.criterion_variance
        covariance = solution.criterion_effect * first.covariance
    moments = unit * first.d1, unit**2 * first.d1_variance, unit * solution.meta_d, unit**2 * variance
    return MetaD(
        **metacognition_fields(
            *moments,
            unit**2 * covariance,
            d_cases=d_cases,
            m_cases=cases,
            zero_d=tables.equal_rates & (ratios == 1.0),
            unstable=_carrying_trials(_arrange_counts(tables, response)) < _MIN_CARRYING_TRIALS,
            batch=tables.batch,
        ),
        criterion=settle(unit * first.midpoint, d_cases, tables.batch),
        criteria=_criteria(first, solution, counts, unit, defined(cases), tables.batch),
        log_likelihood=settle(solution.log_likelihood, cases, tables.batch),
        converged=solution.converged if tables.batch else bool(solution.converged[0]),
    )


def _arrange_counts(tables: Tables, response: Response) -> FloatArray:
    """Arrange counts as (2 responses, 2 stimuli, K, B), with ratings ordered outwards from the criterion."""
    k = tables.ratings
    both = np.stack([tables.s1.T, tables.s2.T])
    counts = np.stack([both[:, k - 1 :: -1], both[:, k:]])
    if response != "both":
        counts[("S2", "S1").index(response)] = 0.0
    return counts


def _carrying_trials(counts: FloatArray) -> FloatArray:
    """Return the number of trials that carry the fit, (B,), given counts without padding.

    For each response, it is the expected number of trials of the rarer stimulus outside the most frequent rating, if
    ratings did not depend on the stimulus.
    """
    by_rating = counts.sum(axis=1)
    outside = 1.0 - ratio(by_rating.max(axis=1), by_rating.sum(axis=1), otherwise=1.0)
    return np.asarray((counts.sum(axis=2).min(axis=1) * outside).sum(axis=0))


class _Fit(NamedTuple):
    """Fits of tables: the type-1 model, the arranged counts, and the cases in which d' and meta-d' are missing."""

    first: TypeOneModel
    counts: FloatArray
    solution: MetaDSolution
    d_cases: tuple[Case, ...]
    m_cases: tuple[Case, ...]


def _fit_tables(
    tables: Tables,
    ratios: FloatArray,
    *,
    criterion: Criterion,
    response: Response,
    compat: Literal["metadpy"] | None,
) -> _Fit:
    """Fit the tables for which meta-d' is identified."""
    first = fit_type1_model(tables, ratios, relative=criterion == "relative", compat=compat is not None)
    counts = _arrange_counts(tables, response)
    packed, n_used = pack(counts)
    # At least one response must have trials under both stimuli and at least two ratings in use.
    informative = ((packed.sum(axis=2) > 0.0).all(axis=1) & (n_used > 1)).any(axis=0)
    d_cases = *tables.cases, (~np.isfinite(first.d1), Reason.NOT_IDENTIFIED)
    no_criterion = ~np.isfinite(first.criterion)
    cases = *d_cases, (no_criterion, Reason.ZERO_D_PRIME), (~informative, Reason.NOT_IDENTIFIED)
    fitted = np.flatnonzero(defined(cases))
    problems = MetaDProblems.of(packed, first.criterion, relative=first.relative, s=ratios)
    guess = np.clip(first.d1[fitted], -10.0, 10.0)
    solution = scatter(solve(problems.take(fitted), guess), fitted, len(ratios))
    return _Fit(first, counts, solution, d_cases, (*cases, (~solution.converged, Reason.NOT_CONVERGED)))


def _criteria(
    first: TypeOneModel,
    solution: MetaDSolution,
    counts: FloatArray,
    unit: FloatArray,
    fitted: BoolArray,
    batch: bool,
) -> FloatArray:
    """Return all criteria, relative to the midpoint, shape (B, 2K - 1) or (2K - 1,)."""
    lower, upper = unpack(solution.thresholds, counts, first=0.0)
    with np.errstate(invalid="ignore"):
        origin = first.criterion * solution.meta_d if first.relative else first.criterion
        criteria: FloatArray = unit * np.concatenate(
            [origin - lower[::-1], origin[np.newaxis], origin + upper]
        )
    criteria[:, ~fitted] = np.nan
    return criteria.T if batch else criteria[:, 0]
