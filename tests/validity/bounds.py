"""How often something may go wrong in simulated studies before it is no longer bad luck."""

from scipy.stats import binom

BAD_LUCK = 1e-3
"""How often a test may fail, over its comparisons, where nothing is wrong."""


def largest_share(rate: float, n_studies: int, n_comparisons: int = 1) -> float:
    """Return the largest share of so few studies that something of this rate is met in but by bad luck.

    The bound holds for all comparisons together, with Bonferroni's correction; they may depend on each other.
    """
    return float(binom.isf(BAD_LUCK / n_comparisons, n_studies, rate)) / n_studies
