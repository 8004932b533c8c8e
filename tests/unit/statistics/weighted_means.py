"""Statistics to resample: a mean and what is made of means."""

import numpy as np

from confidence_tasks.statistics.core import Reason, undefined


def mean(x, *, weights):
    return weights @ x / weights.sum(axis=-1)


def variance(x, *, weights):
    return mean(x**2, weights=weights) - mean(x, weights=weights) ** 2


def correlation(x, y, *, weights):
    covariance = mean(x * y, weights=weights) - mean(x, weights=weights) * mean(y, weights=weights)
    return covariance / np.sqrt(variance(x, weights=weights) * variance(y, weights=weights))


def share_of_ones_known(x, *, weights):
    """Undefined without a one in the sample, as a ratio is without its denominator."""
    ones = weights @ x
    defined = np.where(ones > 0, ones, np.nan) / weights.sum(axis=-1)
    return undefined(Reason.ONE_CLASS) if np.ndim(defined) == 0 and np.isnan(defined) else defined


def mean_width(x, *, weights):
    """A mean that one infinite value makes infinite, where that value was drawn."""
    infinite = np.isinf(x)
    finite = mean(np.where(infinite, 0.0, x), weights=weights)
    return np.where(weights @ infinite > 0.0, np.inf, finite)
