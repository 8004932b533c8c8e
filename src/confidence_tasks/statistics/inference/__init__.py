"""Resampling, intervals and tests whose unit is the question."""

from confidence_tasks.statistics.inference.limits import wilson_interval
from confidence_tasks.statistics.inference.resampling import (
    Interval,
    bootstrap,
    bootstrap_difference,
    bootstrap_distribution,
)
from confidence_tasks.statistics.inference.tests import (
    EquivalenceTest,
    PermutationTest,
    bonferroni,
    equivalence_test,
    holm,
    permutation_test,
)

__all__ = [
    "EquivalenceTest",
    "Interval",
    "PermutationTest",
    "bonferroni",
    "bootstrap",
    "bootstrap_difference",
    "bootstrap_distribution",
    "equivalence_test",
    "holm",
    "permutation_test",
    "wilson_interval",
]
