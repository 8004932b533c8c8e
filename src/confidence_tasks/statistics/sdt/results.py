"""What every kind of meta-d' reports: sensitivity, efficiency, their uncertainty, and when not to trust the ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy

from confidence_tasks.statistics.core import BoolArray, Estimate, FloatArray, Reason, undefined
from confidence_tasks.statistics.inference.weights import Result
from confidence_tasks.statistics.sdt.count_tables import Reasons, known, settle, with_reason

#: Below this d', or when its 95% interval holds 0, the M-ratio is flagged as unstable.
SMALLEST_D_PRIME = 0.5

#: A d' below this is 0 but for rounding.
ZERO = 1e-12

FiellerKind: TypeAlias = Literal["bounded", "exclusive", "unbounded", "undefined"]


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
        """Return the interval of M-ratio that stays right where d' is near 0; for one table, not for a batch."""
        values = (self.meta_d, self.d_prime, self.meta_d_se, self.d_prime_se, self.covariance)
        if not all(isinstance(value, float) for value in values):
            raise ValueError(
                "fieller_interval is for one table; call the function fieller_interval for each of a batch"
            )
        return fieller_interval(*(float(value) for value in values), level=level)


class Moments(NamedTuple):
    """Estimates of d' and meta-d' with their sampling (co)variances, each shape (B,), and why they are missing."""

    d_prime: FloatArray
    d_prime_variance: FloatArray
    meta_d: FloatArray
    meta_d_variance: FloatArray
    covariance: FloatArray
    d_prime_reasons: Reasons
    meta_d_reasons: Reasons


def summary(at: Moments, batch: bool) -> dict[str, Any]:
    """Return the fields of :class:`Metacognition`."""
    d, m = at.d_prime, at.meta_d
    no_d = np.abs(d) < ZERO
    ratio_reasons = with_reason(at.meta_d_reasons, no_d, Reason.ZERO_D_PRIME)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = m / d
        ratio_variance = (
            at.meta_d_variance - 2.0 * ratio * at.covariance + ratio**2 * at.d_prime_variance
        ) / d**2
        difference_variance = at.meta_d_variance + at.d_prime_variance - 2.0 * at.covariance
        d_se = np.sqrt(at.d_prime_variance)
        stable = (
            (d >= SMALLEST_D_PRIME) & (d - scipy.special.ndtri(0.975) * d_se > 0.0) & known(ratio_reasons)
        )
        values = {
            "d_prime": (d, at.d_prime_reasons),
            "d_prime_se": (d_se, at.d_prime_reasons),
            "meta_d": (m, at.meta_d_reasons),
            "meta_d_se": (np.sqrt(at.meta_d_variance), at.meta_d_reasons),
            "covariance": (at.covariance, at.meta_d_reasons),
            "m_ratio": (ratio, ratio_reasons),
            "m_ratio_se": (np.sqrt(ratio_variance), ratio_reasons),
            "m_diff": (m - d, at.meta_d_reasons),
            "m_diff_se": (np.sqrt(difference_variance), at.meta_d_reasons),
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
    kind: FiellerKind


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
    numerator, denominator : float
        The estimates.
    numerator_se, denominator_se : float
        Their standard errors.
    covariance : float, default 0
        Their covariance.
    level : float, default 0.95
        In (0, 1).

    Returns
    -------
    FiellerInterval

    Raises
    ------
    ValueError
        If the level lies outside (0, 1) or a standard error is negative.

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
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie in (0, 1), got {level:g}")
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
