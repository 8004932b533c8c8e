"""The uncertainty of a proportion."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import FloatArray


def wilson_interval(
    successes: ArrayLike, trials: ArrayLike, *, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Compute Wilson's score interval of a binomial proportion.

    Parameters
    ----------
    successes : array_like
        Number of successes, between 0 and the number of trials; any shape.
    trials : array_like
        Number of independent trials; broadcasts against ``successes``.
    level : float, default 0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    low, high : ndarray
        Limits in [0, 1], NaN without trials.

    Raises
    ------
    ValueError
        If there are more successes than trials, a number is negative or NaN, or the level is outside (0, 1).

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference,
    doi:10.1080/01621459.1927.10502953. Brown, Cai & DasGupta (2001), doi:10.1214/ss/1009213286.

    Examples
    --------
    >>> low, high = wilson_interval(65, 100)
    >>> round(float(low), 3), round(float(high), 3)
    (0.553, 0.736)
    """
    k, n = np.broadcast_arrays(np.asarray(successes, np.float64), np.asarray(trials, np.float64))
    if not ((k >= 0.0) & (k <= n) & np.isfinite(n)).all():
        raise ValueError("successes must lie between 0 and the number of trials")
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie within (0, 1), got {level}")
    size = np.where(n > 0.0, n, np.nan)
    share = k / size
    squared = float(scipy.special.ndtri((1.0 + level) / 2.0)) ** 2 / size
    center = (share + squared / 2.0) / (1.0 + squared)
    half_width = np.sqrt(squared * (share * (1.0 - share) + squared / 4.0)) / (1.0 + squared)
    # At no and at all successes a limit is exact, which rounding would miss.
    low = np.where(k == 0.0, 0.0 * size, center - half_width)
    return low, np.where(k == n, 1.0 + 0.0 * size, center + half_width)
