"""The mean of the absolute value of a normal variable."""

from __future__ import annotations

import numpy as np
import scipy

from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.inference.weights import ratio


def folded_normal_mean(mean: FloatArray, deviation: FloatArray) -> FloatArray:
    """E|X| of X ~ N(mean, deviation**2); |mean| where the deviation is 0."""
    distance = np.abs(mean)
    scaled = ratio(distance, deviation)
    spread = np.sqrt(2.0 / np.pi) * deviation * np.exp(-0.5 * scaled**2) + distance * (
        1.0 - 2.0 * scipy.special.ndtr(-scaled)
    )
    return np.where(deviation > 0.0, spread, distance)
