"""Observers of signal detection theory with known d' and meta-d', as tables of expected proportions."""

import numpy as np
from scipy.special import ndtr


def meta_d_proportions(d, meta_d, *, criterion=0.0, cuts=(0.4, 0.9, 1.4), s=1.0, relative=True):
    """P(response, rating | S1) and P(... | S2), each (2K,), "S1 highest" to "S2 highest".

    The type-1 criterion lies at ``criterion`` from the midpoint of the means, the type-2 criteria at ``cuts``
    on either side of the type-1 criterion of the meta-d' model.
    """
    type1_criterion = criterion * meta_d / d if relative else criterion
    outwards = np.concatenate([[0.0], cuts, [np.inf]])
    rows = []
    for mean, precision in ((-0.5, 1.0), (0.5, s)):
        p_s2 = ndtr((mean * d - criterion) * precision)
        above = ndtr((mean * meta_d - (type1_criterion + outwards)) * precision)
        below = ndtr((type1_criterion - outwards - mean * meta_d) * precision)
        said_s2, said_s1 = -np.diff(above) / above[0], -np.diff(below) / below[0]
        rows.append(np.concatenate([(1.0 - p_s2) * said_s1[::-1], p_s2 * said_s2]))
    return rows[0], rows[1]


def simulate_tables(rng, n, proportions, size):
    """Draw ``size`` tables with n / 2 trials under either stimulus."""
    return tuple(rng.multinomial(n // 2, row, size=size) for row in proportions)
