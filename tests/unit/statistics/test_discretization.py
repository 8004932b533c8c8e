from collections import Counter
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from confidence_tasks.statistics import Estimate, Reason
from confidence_tasks.statistics.discretization import (
    confidence_entropy,
    discretization_summary,
    distinct_values,
    round_share,
    scale_utilization,
    top_share,
    top_value,
    violation_share,
)

reports = st.lists(st.integers(-20, 130), min_size=1, max_size=50)
FIELDS = (
    "top1_value",
    "top1_share",
    "top3_share",
    "distinct",
    "entropy",
    "round_share",
    "violation_share",
    "utilization",
)

# Shapes


def test_summary_holds_estimates_or_arrays():
    raw = [95, 90, 85, 95]
    plain = discretization_summary(raw, lower=0, upper=100)
    assert all(isinstance(getattr(plain, name), Estimate) for name in FIELDS)
    rows = discretization_summary(raw, lower=0, upper=100, weights=np.ones((3, 4)))
    assert all(getattr(rows, name).shape == (3,) for name in FIELDS)


# Errors and degenerate samples


@pytest.mark.parametrize(("lower", "upper"), [(100, 0), (5, 5), (0, np.inf), (np.nan, 1)])
def test_a_scale_without_width_raises(lower, upper):
    for statistic in (round_share, violation_share, scale_utilization, discretization_summary):
        with pytest.raises(ValueError, match="lower must be below upper"):
            statistic([1.0], lower=lower, upper=upper)


@pytest.mark.parametrize("step", [0.0, -5.0, np.nan])
def test_a_step_that_is_none_raises(step):
    with pytest.raises(ValueError, match="step must be above zero"):
        round_share([1.0], lower=0, upper=100, step=step)


def test_fewer_than_one_top_value_raises():
    with pytest.raises(ValueError, match="k must be above zero"):
        top_share([1.0], k=0)


def test_no_reports_are_nan_with_the_reason():
    summary = discretization_summary([], lower=0, upper=100)
    for name in FIELDS:
        assert np.isnan(getattr(summary, name))
        assert getattr(summary, name).reason is Reason.EMPTY


def test_one_report():
    summary = discretization_summary([85], lower=0, upper=100)
    assert [getattr(summary, name) for name in FIELDS] == [85, 1, 1, 1, 0, 1, 0, 0]


# Correctness


@given(reports)
def test_counts_match_counter(raw):
    counts = Counter(raw)
    most = counts.most_common()
    assert top_value(raw) == min(value for value, count in most if count == most[0][1])
    assert top_share(raw) == pytest.approx(most[0][1] / len(raw))
    assert top_share(raw, k=3) == pytest.approx(sum(count for _, count in most[:3]) / len(raw))
    assert distinct_values(raw) == len(counts)
    assert confidence_entropy(raw) == pytest.approx(stats.entropy(list(counts.values()), base=2), abs=1e-12)


def test_entropy_of_every_percentage_is_that_of_the_paper():
    assert confidence_entropy(range(101)) == pytest.approx(6.66, abs=0.005)


@given(reports)
def test_utilization_takes_the_percentiles_of_numpy(raw):
    low, high = np.percentile(raw, [5, 95])
    assert scale_utilization(raw, lower=20, upper=100) == pytest.approx((high - low) / 80, abs=1e-12)


@given(reports, st.sampled_from([(0, 100), (0, 73), (14, 86), (60, 100)]))
def test_shares_match_integer_arithmetic(raw, scale):
    lower, upper = scale
    on_scale = [value for value in raw if lower <= value <= upper]
    assert round_share(raw, lower=lower, upper=upper) == pytest.approx(
        sum(value % 5 == 0 for value in on_scale) / len(raw)
    )
    off = [
        max(lower - value, value - upper) * Decimal(1) > Decimal("0.05") * (upper - lower) for value in raw
    ]
    assert violation_share(raw, lower=lower, upper=upper) == pytest.approx(sum(off) / len(raw))


def test_multiples_of_a_decimal_step_are_exact():
    # 0.55 % 0.05 is 0.04999999999999996 in floating point.
    hundredths = np.arange(101) / 100
    assert round_share(hundredths, lower=0, upper=1, step=0.05) == pytest.approx(21 / 101)
    assert round_share([0.55, 0.35, 0.15, 0.1 + 0.2], lower=0, upper=1, step=0.05) == 1.0
    assert round_share([0.551, 0.5500001], lower=0, upper=1, step=0.05) == 0.0


@pytest.mark.parametrize(
    ("lower", "upper", "just_tolerated", "violating"),
    [(0, 100, [-5, 105], [-5.01, 105.01]), (0, 73, [76.65], [77]), (0, 1, [1.05, -0.05], [1.06])],
)
def test_five_percent_of_the_width_is_tolerated_and_no_more(lower, upper, just_tolerated, violating):
    assert violation_share(just_tolerated, lower=lower, upper=upper) == 0.0
    assert violation_share(violating, lower=lower, upper=upper) == 1.0


def test_reports_off_the_scale_are_not_round():
    assert round_share([100, 105, 10, 20], lower=20, upper=100) == 0.5


# Properties


@given(reports, st.integers(1, 5))
def test_more_top_values_hold_more(raw, k):
    assert top_share(raw, k=k) <= top_share(raw, k=k + 1)
    assert confidence_entropy(raw) <= np.log2(distinct_values(raw)) + 1e-12
    assert confidence_entropy(raw) >= -np.log2(top_share(raw)) - 1e-12


@given(reports)
def test_rescaling_reports_and_scale_together_changes_no_share(raw):
    plain = discretization_summary(raw, lower=0, upper=100)
    unit = discretization_summary(np.array(raw) / 100, lower=0, upper=1, round_step=0.05)
    for name in FIELDS[1:]:
        assert getattr(unit, name) == pytest.approx(getattr(plain, name), abs=1e-9), name
