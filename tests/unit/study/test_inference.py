"""Every way of inference as a measure declares it, and as a measure of version 0.1 declared it."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from confidence_tasks.statistics import calibration
from confidence_tasks.study import Measure
from confidence_tasks.study.columns import smallest_of, where
from confidence_tasks.study.computations import inverted_test_of, mean_of, statistic_of
from confidence_tasks.study.inference import (
    Bounded,
    BoundedMean,
    Count,
    Inference,
    Inverted,
    Mean,
    Percentile,
    PointOnly,
    Posterior,
    Proportion,
    Shifted,
    Student,
)

COMPUTE = mean_of("correct")
TEST = inverted_test_of(calibration.BinnedTrials, "correct", "confidence")
FEWEST = smallest_of(where("correct", 1.0))
POSTERIOR = Posterior(lambda trials: {"correct": np.array([0.0, 1.0])}, COMPUTE, prior=0.75)


def no_influence(trials: Any, weights: Any) -> Any:
    """Stand for an influence function, or for the rule that says which trials cannot be compared."""


CASES: tuple[tuple[dict[str, Any], Inference], ...] = (
    ({"interval": "wilson"}, Proportion()),
    ({"interval": "wilson", "informative": FEWEST}, Proportion(informative=FEWEST)),
    ({"interval": "student", "is_mean": True, "bounds": (0.0, 2.0)}, Mean(0.0, 2.0)),
    ({"interval": "student"}, Student()),
    ({"interval": "transformed", "bounds": (-1.0, 1.0)}, Bounded(-1.0, 1.0)),
    ({"interval": "transformed", "is_mean": True, "bounds": (0.0, math.inf)}, BoundedMean(0.0)),
    (
        {"interval": "transformed", "bounds": (0.0, 1.0), "influence": no_influence},
        Bounded(0.0, 1.0, influence=no_influence),
    ),
    ({"bounds": (-math.inf, 1.0), "informative": FEWEST}, Percentile(high=1.0, informative=FEWEST)),
    ({"interval": "none", "bounds": (0.0, 1.0)}, PointOnly(0.0, 1.0)),
    ({"is_count": True}, Count()),
    ({"proportion": "coverage"}, Shifted("coverage")),
    ({"test_inversion": TEST, "informative": FEWEST}, Inverted(TEST, informative=FEWEST)),
    (
        {"posterior": POSTERIOR, "influence": no_influence, "incomparable": no_influence},
        replace(POSTERIOR, influence=no_influence, incomparable=no_influence),
    ),
)


@pytest.mark.parametrize(("old", "inference"), CASES, ids=lambda value: type(value).__name__)
def test_a_measure_of_version_0_1_loads_with_a_warning_that_names_its_inference(
    old: dict[str, Any], inference: Inference
) -> None:
    written = rf"write Measure\(inference={type(inference).__name__}\(\.\.\.\)\)"
    with pytest.warns(DeprecationWarning, match=written) as warned:
        measure = Measure("m", COMPUTE, "M.", "higher", **old)
    assert [each.filename for each in warned] == [__file__]
    assert measure == Measure("m", COMPUTE, "M.", "higher", inference)
    for name, value in old.items():
        with pytest.warns(DeprecationWarning, match=rf"measure\.{name} is .* write measure\.inference\.\w+$"):
            found = getattr(measure, name)
        assert found == (measure.inference if name == "posterior" else value)


def test_the_kind_of_interval_may_be_the_fifth_argument_as_in_version_0_1() -> None:
    with pytest.warns(DeprecationWarning, match="Bounded"):
        measure = Measure("m", COMPUTE, "M.", "higher", "transformed", bounds=(0.0, 1.0))  # type: ignore[arg-type,call-arg]
    assert measure.inference == Bounded(0.0, 1.0)


def test_an_old_name_changes_one_property_of_an_inference() -> None:
    measure = Measure("m", COMPUTE, "M.", inference=Bounded(0.0, 1.0, informative=FEWEST))
    with pytest.warns(DeprecationWarning, match="informative"):
        changed = replace(measure, informative=None)  # type: ignore[call-arg]
    assert changed.inference == Bounded(0.0, 1.0)


@pytest.mark.parametrize(
    ("inference", "largest"),
    [
        (Proportion(), 1.0),
        (Inverted(TEST), 1.0),
        (Bounded(-1.0, 1.0), 2.0),
        (Mean(), math.inf),
        (POSTERIOR, math.inf),
    ],
)
def test_the_largest_difference_is_the_width_of_the_bounds(inference: Inference, largest: float) -> None:
    assert inference.largest_difference == largest


def test_the_columns_of_an_inference_are_those_of_its_measure() -> None:
    brier = statistic_of(calibration.brier, "correct", "confidence")
    measure = Measure("m", brier, "M.", inference=Inverted(TEST))
    assert measure.columns == [("correct", "confidence")] * 2
    assert len(fields(Measure)) == 7


def test_a_name_that_no_measure_had_is_an_error() -> None:
    with pytest.raises(AttributeError, match="'Measure' object has no attribute 'interwal'"):
        Measure("m", COMPUTE, "M.").interwal  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(TypeError, match="interwal"):
        Measure("m", COMPUTE, "M.", interwal="wilson")  # type: ignore[call-arg]
