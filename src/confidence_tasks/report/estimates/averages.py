"""Measures averaged over several groups of trials, or added up if they are counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.report.estimates.distribution import (
    ALL_INFORMATIVE,
    Distribution,
    finite_variance,
    freedom_of_sum,
)
from confidence_tasks.report.estimates.distributions import Distributions
from confidence_tasks.report.groups import TrialSubset
from confidence_tasks.statistics import Estimate
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.inference.clusters import Clusters
from confidence_tasks.statistics.inference.limits import InvertedTest
from confidence_tasks.statistics.inference.weights import ratio
from confidence_tasks.study.inference import Informative
from confidence_tasks.study.measure import Measure


def mean(parts: Sequence[Distribution], *, skips_undefined: bool = False) -> Distribution:
    """Return the mean of distributions, which may share a draw.

    The mean is undefined where any part is; with ``skips_undefined``, only where all parts are.
    """
    if len(parts) == 1 and not math.isnan(parts[0].value):  # an undefined part loses its inverted test below
        return parts[0]
    average = partial(_average, skips_undefined=skips_undefined)
    has_clusters = any(part.clusters for part in parts)
    return Distribution(
        _mean_value(parts, float(average([[part.value] for part in parts])[0])),
        average([part.resamples for part in parts]),
        frozenset[str]().union(*(part.questions for part in parts)),
        _informative_mean(parts),
        all(part.is_mean for part in parts),
        freedom_of_sum(parts),
        _joined_tests(parts),
        _joined_clusters(parts),
        average([part.of_questions for part in parts]) if has_clusters else None,
    )


def _mean_value(parts: Sequence[Distribution], mean: float) -> Estimate:
    """Return the mean; a missing one has the reason of the first missing part."""
    reasons = (part.value.reason for part in parts if part.value.reason)
    return Estimate(mean, next(reasons, None) if np.isnan(mean) else None)


def _average(values: ArrayLike, *, skips_undefined: bool) -> FloatArray:
    """Return the mean of several parts, (parts, R); with ``skips_undefined``, of those that are defined."""
    array = np.array(values)
    return _mean_defined(array) if skips_undefined else np.asarray(array.mean(axis=0))


def combined(
    subsets: Sequence[TrialSubset],
    measures: Iterable[Measure],
    by_subset: Distributions,
    *,
    skips_undefined: bool = False,
) -> dict[str, Distribution]:
    """Combine each measure over several subsets: counts are added up, other measures averaged (:func:`mean`)."""
    by_name = {}
    for measure in measures:
        over_subsets = mean(
            [by_subset[subset, measure.name] for subset in subsets], skips_undefined=skips_undefined
        )
        if measure.inference.is_count:
            value = Estimate(over_subsets.value * len(subsets), over_subsets.value.reason)
            over_subsets = replace(
                over_subsets,
                value=value,
                resamples=over_subsets.resamples * len(subsets),
                by_question=over_subsets.of_questions * len(subsets) if over_subsets.clusters else None,
            )
        by_name[measure.name] = over_subsets
    return by_name


def _joined_tests(parts: Sequence[Distribution]) -> InvertedTest | None:
    """Return the test of the mean of the defined parts; None unless each of them has a test.

    The variance of the sum of the parts, divided by the sum of their variances, tells how much the parts depend on each
    other. It is estimated from the resamples.
    """
    defined = [part for part in parts if not np.isnan(part.value)]
    tests = [part.inverted_test for part in defined if part.inverted_test]
    if len(tests) < max(len(defined), 1):
        return None
    independent = sum(finite_variance(part.resamples) for part in defined)
    if independent > 0.0:
        dependence = finite_variance(np.array([part.resamples for part in defined]).sum(axis=0)) / independent
    else:  # the resamples do not vary: assume that answers to the same question are perfectly dependent
        questions = [part.questions for part in defined]
        dependence = sum(map(len, questions)) / len(frozenset[str]().union(*questions))
    return tests[0].mean(tests, dependence)


def _joined_clusters(parts: Sequence[Distribution]) -> Clusters | None:
    """Return the clusters of the mean of parts; None unless a part has clusters."""
    if not any(part.clusters for part in parts):
        return None
    return Clusters.joined(
        [
            part.clusters
            or Clusters(len(part.questions), len(part.questions), *(finite_variance(part.resamples),) * 2)
            for part in parts
        ]
    )


def _informative_mean(parts: Sequence[Distribution]) -> Informative:
    """Return the informative questions of a mean: those of all parts if these are means, otherwise the fewest.

    Measures that are no means have a bias of their own in each part, which averaging does not reduce.
    """
    if not all(part.is_mean for part in parts):
        return min((part.informative for part in parts), key=lambda each: each.count)
    asked = [part.informative.questions for part in parts if part.informative.questions is not None]
    if len(asked) < len(parts):
        return ALL_INFORMATIVE
    return replace(parts[0].informative, questions=frozenset[str]().union(*asked))


def _mean_defined(values: FloatArray) -> FloatArray:
    defined = ~np.isnan(values)
    count = defined.sum(axis=0, dtype=np.float64)
    return ratio(np.where(defined, values, 0.0).sum(axis=0), count)
