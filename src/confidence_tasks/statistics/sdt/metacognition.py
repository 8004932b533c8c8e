"""What follows from d' and meta-d': M-ratio, standard errors, Fieller's interval, and whether M-ratio is stable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy

from confidence_tasks.statistics.core import BoolArray, Estimate, FloatArray, Reason, check_level, undefined
from confidence_tasks.statistics.inference.weights import Case, Result, defined, settle
from confidence_tasks.statistics.sdt.sensitivity import ZERO

#: M-ratio is flagged as unstable if d' is below this value or its 95% interval contains 0.
MIN_STABLE_D_PRIME = 0.5


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
