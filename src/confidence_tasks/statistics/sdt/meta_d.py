"""Meta-d' from count tables by maximum likelihood: estimates, standard errors, and Fieller's interval of M-ratio."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict, Unpack, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import (
    BoolArray,
    Estimate,
    FloatArray,
    Reason,
    check_level,
    check_option,
    per_row,
    undefined,
)
from confidence_tasks.statistics.inference.weights import Case, Result, Weights, defined, ratio, settle
from confidence_tasks.statistics.sdt.count_tables import (
    Padding,
    Tables,
    correctness_table,
    two_choice_table,
    with_raw_cases,
)
from confidence_tasks.statistics.sdt.likelihood import (
    MetaDProblems,
    MetaDSolution,
    pack,
    scatter,
    solve,
    unpack,
)
from confidence_tasks.statistics.sdt.sensitivity import ZERO, TypeOneModel, fit_type1_model, type1

#: M-ratio is flagged as unstable if d' is below this value or its 95% interval contains 0.
MIN_STABLE_D_PRIME = 0.5

#: M-ratio is flagged as unstable if fewer trials than this carry the fit.
_MIN_CARRYING_TRIALS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Metacognition:
    """Type-1 sensitivity d', metacognitive sensitivity meta-d', and their ratio and difference.

    Each value is an Estimate for one table, and an array (B,) for a batch.

    Attributes
    ----------
    d_prime, d_prime_se : Estimate or ndarray
        Type-1 sensitivity and its standard error.
    meta_d, meta_d_se : Estimate or ndarray
        Metacognitive sensitivity: the d' of an ideal observer that gives these ratings. Its standard error (delta
        method) includes the uncertainty of the type-1 criterion.
    covariance : Estimate or ndarray
        Covariance of d' and meta-d'.
    m_ratio, m_ratio_se : Estimate or ndarray
        meta-d' / d', 1 for an ideal observer. Its distribution is heavy-tailed if d' is near 0; see ``unstable``,
        ``m_diff`` and :meth:`fieller_interval`.
    m_diff, m_diff_se : Estimate or ndarray
        meta-d' - d'.
    unstable : bool or ndarray of bool
        True if d' is below 0.5, if its 95% interval contains 0, if M-ratio is not defined, or if few trials carry the
        fit of :func:`fit_meta_d`.
    """

    d_prime: Result
    d_prime_se: Result
    meta_d: Result
    meta_d_se: Result
    covariance: Result
    m_ratio: Result
    m_ratio_se: Result
    m_diff: Result
    m_diff_se: Result
    unstable: bool | BoolArray

    def fieller_interval(self, level: float = 0.95) -> FiellerInterval:
        """Return Fieller's interval of M-ratio for one table; it is also valid if d' is near 0."""
        values = (self.meta_d, self.d_prime, self.meta_d_se, self.d_prime_se, self.covariance)
        if np.ndim(self.meta_d):
            raise ValueError(
                "fieller_interval is for one table; for a batch, call the function for each table"
            )
        return fieller_interval(*(float(value) for value in values), level=level)


def metacognition_fields(
    d: FloatArray,
    d_variance: FloatArray,
    m: FloatArray,
    m_variance: FloatArray,
    covariance: FloatArray,
    *,
    d_cases: tuple[Case, ...],
    m_cases: tuple[Case, ...],
    zero_d: BoolArray,
    unstable: BoolArray,
    batch: bool,
) -> dict[str, Any]:
    """Compute the fields of :class:`Metacognition` from d', meta-d' and their moments, (B,) each.

    ``d_cases`` and ``m_cases`` are the cases in which d' and meta-d' are missing. ``zero_d`` (B,) marks tables whose d'
    is 0 without padding, and ``unstable`` (B,) those whose M-ratio is unstable whatever its d'.
    """
    ratio_cases = *m_cases, (zero_d | (np.abs(d) < ZERO), Reason.ZERO_D_PRIME)
    with np.errstate(divide="ignore", invalid="ignore"):
        m_ratio = m / d
        ratio_variance = (m_variance - 2.0 * m_ratio * covariance + m_ratio**2 * d_variance) / d**2
        difference_variance = m_variance + d_variance - 2.0 * covariance
        d_se = np.sqrt(d_variance)
        far_from_zero = (d >= MIN_STABLE_D_PRIME) & (d - scipy.special.ndtri(0.975) * d_se > 0.0)
        stable = far_from_zero & defined(ratio_cases) & ~unstable
        values = {
            "d_prime": (d, d_cases),
            "d_prime_se": (d_se, d_cases),
            "meta_d": (m, m_cases),
            "meta_d_se": (np.sqrt(m_variance), m_cases),
            "covariance": (covariance, m_cases),
            "m_ratio": (m_ratio, ratio_cases),
            "m_ratio_se": (np.sqrt(ratio_variance), ratio_cases),
            "m_diff": (m - d, m_cases),
            "m_diff_se": (np.sqrt(difference_variance), m_cases),
        }
    fields: dict[str, Any] = {name: settle(*value, batch) for name, value in values.items()}
    fields["unstable"] = ~stable if batch else bool(~stable[0])
    return fields


def stable_m_ratio(m_ratio: Estimate, d_prime: Estimate) -> Estimate:
    """Return M-ratio, or NaN with a reason if d' is below 0.5.

    The ratio of a small d' can take any value. If d' is negative, a positive ratio means that meta-d' is negative, too,
    and a negative one that confidence ranks the answers correctly.

    Examples
    --------
    >>> stable_m_ratio(Estimate(0.8), Estimate(1.2))
    0.8
    >>> stable_m_ratio(Estimate(-0.9), Estimate(-1.5)).reason
    <Reason.NEGATIVE_D_PRIME: "d' is negative: accuracy below one half">
    """
    if np.isnan(m_ratio) or not d_prime < MIN_STABLE_D_PRIME:
        return m_ratio
    return undefined(Reason.NEGATIVE_D_PRIME if d_prime < 0.0 else Reason.UNSTABLE)


@dataclass(frozen=True, slots=True)
class FiellerInterval:
    """Confidence set of a ratio.

    Attributes
    ----------
    low, high : Estimate
        Limits of the set.
    kind : {"bounded", "exclusive", "unbounded", "undefined"}
        ``"bounded"``: the set is [low, high]. ``"exclusive"``: the set is (-inf, low] and [high, inf). ``"unbounded"``:
        the set contains every number. In the last two kinds the denominator is not significantly different from 0.
        ``"undefined"``: an estimate is missing.
    """

    low: Estimate
    high: Estimate
    kind: Literal["bounded", "exclusive", "unbounded", "undefined"]


def fieller_interval(
    numerator: float,
    denominator: float,
    numerator_se: float,
    denominator_se: float,
    covariance: float = 0.0,
    *,
    level: float = 0.95,
) -> FiellerInterval:
    """Compute Fieller's confidence set of the ratio of two jointly normal estimates.

    The set contains every ratio r for which numerator - r * denominator is not significantly different from 0. Its
    coverage is also correct if the denominator is near 0, but the set is then unbounded.

    Parameters
    ----------
    numerator, denominator, numerator_se, denominator_se, covariance : float
        Estimates, standard errors and covariance.
    level : float, default 0.95
        Nominal coverage, in (0, 1).

    References
    ----------
    Fieller (1954), Some problems in interval estimation, doi:10.1111/j.2517-6161.1954.tb00159.x.

    Examples
    --------
    >>> interval = fieller_interval(1.0, 2.0, 0.1, 0.2)
    >>> round(interval.low, 3), round(interval.high, 3), interval.kind
    (0.377, 0.663, 'bounded')
    >>> fieller_interval(1.0, 0.1, 0.1, 0.2).kind
    'exclusive'
    """
    check_level(level)
    if numerator_se < 0.0 or denominator_se < 0.0:
        raise ValueError("standard errors must not be negative")
    if not np.isfinite([numerator, denominator, numerator_se, denominator_se, covariance]).all():
        missing = undefined(Reason.NOT_IDENTIFIED)
        return FiellerInterval(missing, missing, "undefined")
    z2 = float(scipy.special.ndtri(0.5 + 0.5 * level)) ** 2
    # The set contains all r with a r^2 - 2 b r + c <= 0.
    a = denominator**2 - z2 * denominator_se**2
    b = numerator * denominator - z2 * covariance
    c = numerator**2 - z2 * numerator_se**2
    discriminant = b**2 - a * c
    if a == 0.0 or (a < 0.0 and discriminant <= 0.0):
        return FiellerInterval(Estimate(-np.inf), Estimate(np.inf), "unbounded")
    # Compute the root of larger absolute value first; the other one then follows without cancellation.
    large = b + np.copysign(np.sqrt(max(discriminant, 0.0)), b)
    roots = sorted((large / a, c / large if large else 0.0))
    return FiellerInterval(Estimate(roots[0]), Estimate(roots[1]), "bounded" if a > 0.0 else "exclusive")


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


def meta_d_2afc(
    correct: ArrayLike,
    confidence: ArrayLike,
    stimulus: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    weights: Weights = None,
    **options: Unpack[MetaDOptions],
) -> Result:
    """Compute meta-d' of a two-alternative task, such as true or false, from trials.

    This is the standard meta-d' of the literature: d' is computed from stimulus and response, meta-d' from the ratings.

    Parameters
    ----------
    correct, confidence, stimulus, n_ratings, edges, weights
        As in :func:`two_choice_table`.
    **options
        ``padding``, ``s``, ``criterion``, ``response``, ``compat`` of :func:`fit_meta_d`.

    Returns
    -------
    Estimate, or ndarray of shape (R,)
        Meta-d'; NaN in the cases listed at :func:`fit_meta_d`. For d', criteria and standard errors, pass the result of
        :func:`two_choice_table` to :func:`fit_meta_d`.

    Examples
    --------
    >>> correct, confidence, stimulus = [1, 1, 1, 0, 1, 0, 1, 1], [4, 3, 2, 1, 2, 3, 4, 3], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> round(meta_d_2afc(correct, confidence, stimulus, n_ratings=2, edges=[2.5]), 3)
    0.746
    """
    table = two_choice_table(correct, confidence, stimulus, n_ratings=n_ratings, edges=edges, weights=weights)
    return fit_meta_d(*table, **options).meta_d


def d_prime_2afc(
    correct: ArrayLike,
    confidence: ArrayLike,
    stimulus: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    padding: Padding = "1/2K",
    weights: Weights = None,
) -> Result:
    """Compute d' of a two-alternative task, the denominator of :func:`m_ratio_2afc`.

    Arguments and shapes are those of :func:`meta_d_2afc`. The result does not depend on confidence.

    Examples
    --------
    >>> correct, confidence, stimulus = [1, 1, 1, 0, 1, 0, 1, 1], [4, 3, 2, 1, 2, 3, 4, 3], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> round(d_prime_2afc(correct, confidence, stimulus, n_ratings=2, edges=[2.5]), 3)
    1.049
    """
    table = two_choice_table(correct, confidence, stimulus, n_ratings=n_ratings, edges=edges, weights=weights)
    return type1(*table, padding=padding).d_prime


def m_ratio_2afc(
    correct: ArrayLike,
    confidence: ArrayLike,
    stimulus: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    weights: Weights = None,
    **options: Unpack[MetaDOptions],
) -> Result:
    """Compute M-ratio, meta-d' / d', of a two-alternative task.

    Arguments and shapes are those of :func:`meta_d_2afc`. The result is NaN if meta-d' is not defined or d' is 0, and
    unstable if d' is near 0.

    Examples
    --------
    >>> correct, confidence, stimulus = [1, 1, 1, 0, 1, 0, 1, 1], [4, 3, 2, 1, 2, 3, 4, 3], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> round(m_ratio_2afc(correct, confidence, stimulus, n_ratings=2, edges=[2.5]), 3)
    0.711
    """
    table = two_choice_table(correct, confidence, stimulus, n_ratings=n_ratings, edges=edges, weights=weights)
    return fit_meta_d(*table, **options).m_ratio


def meta_d_ratings(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    weights: Weights = None,
    **options: Unpack[MetaDOptions],
) -> Result:
    """Compute meta-d' with correctness in the place of the stimulus; only for replication.

    .. warning::
       Here d' and meta-d' are computed from the same table of correctness and confidence, with high confidence in the
       place of the response. So meta-d' is close to d' by construction: M-ratio is near 1 whatever the metacognition,
       and depends on the base rate and the ratio of variances only. Cacioli (2026), who introduced it, withdrew it
       (arXiv:2603.25112, version 2). This function replicates version 1, section 3.2. Use :func:`meta_information`
       instead.

    Parameters
    ----------
    correct, confidence, n_ratings, edges, weights
        As in :func:`correctness_table`: 2K bins of confidence.
    **options
        ``padding``, ``s``, ``criterion``, ``response``, ``compat`` of :func:`fit_meta_d`. The study pads with
        0.5 (``"hautus"``).

    Returns
    -------
    Estimate, or ndarray of shape (R,)
        Meta-d'; NaN in the cases listed at :func:`fit_meta_d`.

    Examples
    --------
    >>> correct = [0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    >>> round(meta_d_ratings(correct, range(16), n_ratings=2), 3)
    1.21
    """
    table = correctness_table(correct, confidence, n_ratings=n_ratings, edges=edges, weights=weights)
    return fit_meta_d(*table, **options).meta_d


def m_ratio_ratings(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    n_ratings: int = 4,
    edges: ArrayLike | None = None,
    weights: Weights = None,
    **options: Unpack[MetaDOptions],
) -> Result:
    """Compute M-ratio with correctness in the place of the stimulus; only for replication.

    .. warning::
       M-ratio is near 1 by construction, whatever the metacognition: see :func:`meta_d_ratings`.

    Arguments and shapes are those of :func:`meta_d_ratings`. The result is NaN if meta-d' is not defined or d' is 0,
    and unstable if d' is near 0.

    Examples
    --------
    >>> correct = [0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    >>> round(m_ratio_ratings(correct, range(16), n_ratings=2), 3)
    0.957
    """
    table = correctness_table(correct, confidence, n_ratings=n_ratings, edges=edges, weights=weights)
    return fit_meta_d(*table, **options).m_ratio
