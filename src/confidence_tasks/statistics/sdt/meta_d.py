"""Meta-d' from count tables, by maximum likelihood: estimates, standard errors, and Fieller's interval of M-ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, get_args

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
from confidence_tasks.statistics.inference.weights import Case, Result, Weights, defined, settle
from confidence_tasks.statistics.sdt.count_tables import Padding, Tables, correctness_table, two_choice_table
from confidence_tasks.statistics.sdt.likelihood import (
    MetaDProblems,
    MetaDSolution,
    pack,
    scatter,
    solve,
    unpack,
)
from confidence_tasks.statistics.sdt.sensitivity import ZERO, PlacedCriterion, place_criterion

#: Below this d', or when its 95% interval holds 0, the M-ratio is flagged as unstable.
SMALLEST_D_PRIME = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Metacognition:
    """Sensitivity of answers and of confidence.

    Each value for one table is an Estimate, for a batch an array (B,).

    Attributes
    ----------
    d_prime, d_prime_se : Estimate or ndarray
        Type-1 sensitivity and its standard error.
    meta_d, meta_d_se : Estimate or ndarray
        The d' at which an ideal observer would give these ratings. The standard error (delta method) includes
        the uncertainty of the type-1 criterion.
    covariance : Estimate or ndarray
        Of the two estimates.
    m_ratio, m_ratio_se : Estimate or ndarray
        meta-d' / d', 1 for an ideal observer. Heavy-tailed where d' is near 0: look at ``unstable``, at
        ``m_diff`` and at :meth:`fieller_interval`.
    m_diff, m_diff_se : Estimate or ndarray
        meta-d' - d'.
    unstable : bool or ndarray of bool
        d' is below 0.5, or its 95% interval holds 0, or there is no M-ratio.
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
        """Return the interval of M-ratio that stays right where d' is near 0; for one table."""
        values = (self.meta_d, self.d_prime, self.meta_d_se, self.d_prime_se, self.covariance)
        if np.ndim(self.meta_d):
            raise ValueError("fieller_interval is for one table; call the function for each of a batch")
        return fieller_interval(*(float(value) for value in values), level=level)


def summary(
    d: FloatArray,
    d_variance: FloatArray,
    m: FloatArray,
    m_variance: FloatArray,
    covariance: FloatArray,
    *,
    d_cases: tuple[Case, ...],
    m_cases: tuple[Case, ...],
    batch: bool,
) -> dict[str, Any]:
    """Return the fields of :class:`Metacognition`: from d' and meta-d', each (B,), and why they are missing."""
    ratio_cases = *m_cases, (np.abs(d) < ZERO, Reason.ZERO_D_PRIME)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = m / d
        ratio_variance = (m_variance - 2.0 * ratio * covariance + ratio**2 * d_variance) / d**2
        difference_variance = m_variance + d_variance - 2.0 * covariance
        d_se = np.sqrt(d_variance)
        stable = (
            (d >= SMALLEST_D_PRIME) & (d - scipy.special.ndtri(0.975) * d_se > 0.0) & defined(ratio_cases)
        )
        values = {
            "d_prime": (d, d_cases),
            "d_prime_se": (d_se, d_cases),
            "meta_d": (m, m_cases),
            "meta_d_se": (np.sqrt(m_variance), m_cases),
            "covariance": (covariance, m_cases),
            "m_ratio": (ratio, ratio_cases),
            "m_ratio_se": (np.sqrt(ratio_variance), ratio_cases),
            "m_diff": (m - d, m_cases),
            "m_diff_se": (np.sqrt(difference_variance), m_cases),
        }
    fields: dict[str, Any] = {name: settle(*value, batch) for name, value in values.items()}
    fields["unstable"] = ~stable if batch else bool(~stable[0])
    return fields


@dataclass(frozen=True, slots=True)
class FiellerInterval:
    """Confidence set of a ratio.

    Attributes
    ----------
    low, high : Estimate
        Its limits.
    kind : {"bounded", "exclusive", "unbounded", "undefined"}
        ``"bounded"``: the set is [low, high]. The denominator may be 0 otherwise: ``"exclusive"``: everything up
        to low and from high on; ``"unbounded"``: every number, from -inf to inf. ``"undefined"``: an estimate
        is missing.
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
    """Return Fieller's confidence set of numerator / denominator, two jointly normal estimates.

    It holds every ratio r for which numerator - r x denominator does not differ from 0. It keeps its level when
    the denominator is near 0, where it is no longer an interval of finite length.

    Parameters
    ----------
    numerator, denominator, numerator_se, denominator_se, covariance : float
        The estimates, their standard errors and their covariance.
    level : float, default 0.95
        In (0, 1).

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
    # The set is where a r^2 - 2 b r + c <= 0.
    a = denominator**2 - z2 * denominator_se**2
    b = numerator * denominator - z2 * covariance
    c = numerator**2 - z2 * numerator_se**2
    discriminant = b**2 - a * c
    if a == 0.0 or (a < 0.0 and discriminant <= 0.0):
        return FiellerInterval(Estimate(-np.inf), Estimate(np.inf), "unbounded")
    # The root of larger size first: the other follows without cancellation.
    large = b + np.copysign(np.sqrt(max(discriminant, 0.0)), b)
    roots = sorted((large / a, c / large if large else 0.0))
    return FiellerInterval(Estimate(roots[0]), Estimate(roots[1]), "bounded" if a > 0.0 else "exclusive")


Criterion: TypeAlias = Literal["relative", "absolute"]
Response: TypeAlias = Literal["both", "S1", "S2"]


class MetaDOptions(TypedDict, total=False):
    """Options of :func:`fit_meta_d`, handed on by the functions that build its table."""

    padding: Padding
    s: float
    criterion: Criterion
    response: Response
    compat: Literal["metadpy"] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaD(Metacognition):
    """Maximum-likelihood meta-d' of one table, or of a batch.

    Distances are in root-mean-square standard deviations of S1 and S2, as d_a; for equal variances these are the
    standard deviations. To the attributes of :class:`Metacognition` it adds:

    Attributes
    ----------
    criterion : Estimate or ndarray, shape (B,)
        The type-1 criterion, from the midpoint of the means of the type-1 model.
    criteria : ndarray, shape (2K - 1,) or (B, 2K - 1)
        All criteria of the meta-d' model from the midpoint of its means, the type-1 criterion in the middle.
        Criteria that nothing fixes coincide or are infinite; NaN where there is no fit.
    log_likelihood : Estimate or ndarray, shape (B,)
        Of the ratings given stimulus and response, without the multinomial constant.
    converged : bool or ndarray of bool
        Whether a finite maximum was found.
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

    Given the response and the stimulus, the ratings of an ideal observer follow a normal distribution truncated
    at the type-1 criterion and cut by the type-2 criteria. Meta-d' is the distance of the two means under which
    the observed ratings are most likely. The maximum is exact: Newton's iteration on the analytic Hessian.

    Parameters
    ----------
    nR_S1, nR_S2 : array_like, shape (2K,) or (B, 2K)
        Non-negative counts under either stimulus, from "S1, highest rating" to "S2, highest rating".
    padding : {"1/2K", "hautus", "none"}, default "1/2K"
        Added to every cell. 1/(2K) leaves meta-d' nearly unbiased; 0.5 ("hautus") is what papers do that cite
        Hautus (1995), and costs .07 to .14 of meta-d' at 200 trials.
    s : float or array_like, shape (B,), default 1
        sd(S1) / sd(S2).
    criterion : {"relative", "absolute"}, default "relative"
        Where the type-1 criterion of the meta-d' model lies: at the same multiple of meta-d' as the observed
        criterion of d' (Maniscalco & Lau), or at the same place.
    response : {"both", "S1", "S2"}, default "both"
        Whose ratings are fitted: a response-conditional meta-d' uses those of one response only.
    compat : {None, "metadpy"}, default None
        The Matlab reference (fit_meta_d_MLE) and its translations place the criterion at -(zH + zF) / (1 + s).
        For s != 1 that is not its distance from the midpoint of the means, although their likelihood takes it
        for that. By default the distance is right, so that an ideal unequal-variance observer has M-ratio 1;
        ``"metadpy"`` reproduces the reference.

    Returns
    -------
    MetaD
        Values are NaN, with a reason, where a stimulus was never shown, (without padding) a response never
        given, ratings do not vary, or no finite maximum exists. With a relative criterion there is no meta-d'
        at d' = 0, unless the criterion is also 0.

    Notes
    -----
    Where the criterion lies between the two means the likelihood has one maximum. Beyond them it can have one of
    either sign of meta-d', and more if s != 1: there the highest of several climbs is taken.

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
    <Reason.ZERO_D_PRIME: "d'=0">
    """
    check_option("criterion", criterion, get_args(Criterion))
    check_option("response", response, get_args(Response))
    check_option("compat", compat, (None, "metadpy"))
    tables = Tables.of(nR_S1, nR_S2)
    ratios = per_row(s, "s", len(tables.s1))
    if not (np.isfinite(ratios) & (ratios > 0.0)).all():
        raise ValueError(f"s must be positive, got {s!r}")
    padded = tables.padded(padding)
    type1 = place_criterion(padded, ratios, relative=criterion == "relative", compat=compat is not None)
    counts = _sides(padded, response)
    d_cases = *tables.cases, (~np.isfinite(type1.d1), Reason.NOT_IDENTIFIED)
    solution, cases = _solutions(type1, counts, ratios, d_cases)
    unit = np.sqrt(2.0 / (1.0 + ratios**2)) * ratios
    with np.errstate(invalid="ignore"):  # the sampling errors of the ratings and of the type-1 criterion
        variance = solution.variance + solution.criterion_effect**2 * type1.criterion_variance
        covariance = solution.criterion_effect * type1.covariance
    moments = unit * type1.d1, unit**2 * type1.d1_variance, unit * solution.meta_d, unit**2 * variance
    return MetaD(
        **summary(*moments, unit**2 * covariance, d_cases=d_cases, m_cases=cases, batch=tables.batch),
        criterion=settle(unit * type1.midpoint, d_cases, tables.batch),
        criteria=_criteria(type1, solution, counts, unit, defined(cases), tables.batch),
        log_likelihood=settle(solution.log_likelihood, cases, tables.batch),
        converged=solution.converged if tables.batch else bool(solution.converged[0]),
    )


def _sides(tables: Tables, response: Response) -> FloatArray:
    """Arrange counts by response, stimulus, rating and table, ratings outwards from the criterion."""
    k = tables.ratings
    both = np.stack([tables.s1.T, tables.s2.T])
    counts = np.stack([both[:, k - 1 :: -1], both[:, k:]])
    if response != "both":
        counts[("S2", "S1").index(response)] = 0.0
    return counts


def _solutions(
    type1: PlacedCriterion, counts: FloatArray, ratios: FloatArray, d_cases: tuple[Case, ...]
) -> tuple[MetaDSolution, tuple[Case, ...]]:
    """Fit the tables that can be fitted; add why others cannot."""
    packed, left = pack(counts)
    # Some response has two ratings in use, under both stimuli.
    informative = ((packed.sum(axis=2) > 0.0).all(axis=1) & (left > 1)).any(axis=0)
    no_criterion = ~np.isfinite(type1.criterion)
    cases = *d_cases, (no_criterion, Reason.ZERO_D_PRIME), (~informative, Reason.NOT_IDENTIFIED)
    fitted = np.flatnonzero(defined(cases))
    problems = MetaDProblems.of(packed, type1.criterion, relative=type1.relative, s=ratios)
    guess = np.clip(type1.d1[fitted], -10.0, 10.0)
    solution = scatter(solve(problems.take(fitted), guess), fitted, len(ratios))
    return solution, (*cases, (~solution.converged, Reason.NOT_CONVERGED))


def _criteria(
    type1: PlacedCriterion,
    solution: MetaDSolution,
    counts: FloatArray,
    unit: FloatArray,
    fitted: BoolArray,
    batch: bool,
) -> FloatArray:
    """Return all criteria (B, 2K - 1) from the midpoint; a rating that nobody gave has no width."""
    lower, upper = unpack(solution.thresholds, counts, first=0.0)
    with np.errstate(invalid="ignore"):
        origin = type1.criterion * solution.meta_d if type1.relative else type1.criterion
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
    """Compute meta-d' of items with two alternatives, such as true and false: the textbook meta-d'.

    d' and meta-d' come from different parts of the data, stimulus x response and the ratings.

    Parameters
    ----------
    correct, confidence, stimulus, n_ratings, edges, weights
        As in :func:`two_choice_table`.
    **options
        ``padding``, ``s``, ``criterion``, ``response``, ``compat`` of :func:`fit_meta_d`.

    Returns
    -------
    Estimate, or ndarray of shape (R,)
        NaN where :func:`fit_meta_d` has no meta-d'. For d', criteria and standard errors call it with
        :func:`two_choice_table`.

    Examples
    --------
    >>> correct, confidence, stimulus = [1, 1, 1, 0, 1, 0, 1, 1], [4, 3, 2, 1, 2, 2, 4, 3], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> round(meta_d_2afc(correct, confidence, stimulus, n_ratings=2, edges=[2.5]), 3)
    2.081
    """
    table = two_choice_table(correct, confidence, stimulus, n_ratings=n_ratings, edges=edges, weights=weights)
    return fit_meta_d(*table, **options).meta_d


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
    """Compute meta-d' / d' of items with two alternatives.

    Arguments and shapes are those of :func:`meta_d_2afc`. NaN where there is no meta-d' or d' is 0; unstable where d'
    is near 0.

    Examples
    --------
    >>> correct, confidence, stimulus = [1, 1, 1, 0, 1, 0, 1, 1], [4, 3, 2, 1, 2, 2, 4, 3], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> round(m_ratio_2afc(correct, confidence, stimulus, n_ratings=2, edges=[2.5]), 3)
    1.984
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
    """Compute meta-d' with correctness in the place of the stimulus.

    .. warning::
       d' and meta-d' then come from one table of correctness x confidence, in which the "response" is high
       confidence. Meta-d' is about d' by construction: M-ratio is near 1 whatever the metacognition, and what
       moves it is the base rate and the ratio of variances. Cacioli (2026), whose study used it, withdrew it
       (arXiv:2603.25112, version 2). It is here to replicate version 1, section 3.2; use :func:`meta_information`.

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
        NaN where :func:`fit_meta_d` has no meta-d'.

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
    """Compute meta-d' / d' with correctness in the place of the stimulus.

    .. warning::
       Near 1 by construction, whatever the metacognition: see :func:`meta_d_ratings`, whose arguments it takes.

    NaN where there is no meta-d' or d' is 0; unstable where d' is near 0.

    Examples
    --------
    >>> correct = [0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    >>> round(m_ratio_ratings(correct, range(16), n_ratings=2), 3)
    0.957
    """
    table = correctness_table(correct, confidence, n_ratings=n_ratings, edges=edges, weights=weights)
    return fit_meta_d(*table, **options).m_ratio
