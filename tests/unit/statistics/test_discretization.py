from collections import Counter
from decimal import Decimal
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from confidence_tasks.statistics import Estimate, Reason
from confidence_tasks.statistics.discretization import (
    confidence_entropy,
    distinct_values,
    round_share,
    scale_utilization,
    top_share,
    top_value,
    violation_share,
)

reports = st.lists(st.integers(-20, 130), min_size=1, max_size=50)
SCALE = {"lower": 0, "upper": 100}
OF_A_SCALE = (round_share, violation_share, scale_utilization)
EVERY = [
    top_value,
    top_share,
    partial(top_share, k=3),
    distinct_values,
    confidence_entropy,
    *(partial(statistic, **SCALE) for statistic in OF_A_SCALE),
]

# Shapes


@pytest.mark.parametrize("statistic", EVERY)
def test_a_plain_call_gives_an_estimate_and_rows_of_weights_an_array(statistic):
    assert isinstance(statistic([95, 90, 85, 95]), Estimate)
    assert statistic([95, 90, 85, 95], weights=np.ones((3, 4))).shape == (3,)


# Errors and degenerate samples


@pytest.mark.parametrize(("lower", "upper"), [(100, 0), (5, 5), (0, np.inf), (np.nan, 1)])
def test_a_scale_without_width_raises(lower, upper):
    for statistic in OF_A_SCALE:
        with pytest.raises(ValueError, match="lower must be below upper"):
            statistic([1.0], lower=lower, upper=upper)


@pytest.mark.parametrize("step", [0.0, -5.0, np.nan])
def test_invalid_steps_raise(step):
    with pytest.raises(ValueError, match="step must be above zero"):
        round_share([1.0], lower=0, upper=100, step=step)


def test_fewer_than_one_top_value_raises():
    with pytest.raises(ValueError, match="k must be above zero"):
        top_share([1.0], k=0)


@pytest.mark.parametrize("statistic", EVERY)
def test_no_reports_are_nan_with_the_reason(statistic):
    assert np.isnan(statistic([]))
    assert statistic([]).reason is Reason.EMPTY


def test_one_report():
    assert [statistic([85]) for statistic in EVERY] == [85, 1, 1, 1, 0, 1, 0, 0]


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
    plain, unit = np.array(raw), np.array(raw) / 100
    for statistic in (top_share, partial(top_share, k=3), distinct_values, confidence_entropy):
        assert statistic(unit) == pytest.approx(statistic(plain), abs=1e-9)
    for statistic, options in zip(OF_A_SCALE, ({"step": 0.05}, {}, {}), strict=True):
        of_plain, of_unit = statistic(plain, **SCALE), statistic(unit, lower=0, upper=1, **options)
        assert of_unit == pytest.approx(of_plain, abs=1e-9)
