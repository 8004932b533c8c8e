"""How limits are read off resamples, and when there are none."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binomtest

from confidence_tasks.report.estimates.averages import mean as mean_of
from confidence_tasks.report.estimates.distribution import Distribution
from confidence_tasks.report.estimates.distributions import distributions
from confidence_tasks.report.estimates.intervals import interval_of_measure
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import by_condition
from confidence_tasks.statistics import bootstrap
from confidence_tasks.statistics.core import Reason
from confidence_tasks.statistics.inference.limits import (
    METHODS,
    MIN_INFORMATIVE,
    Resampled,
    skewness_corrected_limits,
)
from confidence_tasks.statistics.inference.resampling import as_estimate
from confidence_tasks.study.inference import Informative, Proportion, Shifted, Student
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.measures import ACCURACY


def mean(x, *, weights):
    return weights @ x / weights.sum(axis=-1)


X = np.random.default_rng(3).normal(0.5, 1.0, 400)


def limits(found, level, method, bounds=(0.0, 1.0)):
    return found.limits(level, method, bounds)


def resampled(estimate, draws, n_units=100, informative=math.inf):
    draws = np.asarray(draws, dtype=float)
    return Resampled(
        as_estimate(estimate), draws, n_units, n_informative=informative, freedom=informative - 1.0
    )


def normal_draws(center, error, size=100_001):
    """Draws whose mean and standard deviation are exact: quantiles of the normal distribution, standardised."""
    z = stats.norm.ppf((np.arange(size) + 0.5) / size)
    return center + error * (z - z.mean()) / z.std()


def test_an_interval_of_a_mean_of_normal_values_is_student_s():
    x = np.random.default_rng(3).normal(0.5, 1.0, 25)
    found = resampled(x.mean(), normal_draws(x.mean(), x.std() / 5.0), 25)
    expected = stats.t.interval(0.95, 24, x.mean(), x.std(ddof=1) / 5.0)
    assert limits(found, 0.95, "student") == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("method", "freedom"), [("student", 7), ("transformed", 10)])
def test_few_deciding_trials_make_wider_intervals(method, freedom):
    """As wide as Student's t with that many trials calls for, on the scale of the interval."""
    draws = normal_draws(0.5, 0.01)
    many, few = (
        limits(resampled(0.5, draws, 1000, n_informative), 0.95, method) for n_informative in (1000, 8)
    )
    scale = (lambda p: math.log(p / (1.0 - p))) if method == "transformed" else float
    ratio = (scale(few[1]) - scale(few[0])) / (scale(many[1]) - scale(many[0]))
    assert ratio == pytest.approx(stats.t.ppf(0.975, freedom) / stats.t.ppf(0.975, 999), rel=1e-6)


@pytest.mark.parametrize(
    ("value", "bounds", "scale", "slope"),
    [
        (0.9, (0.0, 1.0), lambda p: math.log(p / (1 - p)), lambda p: 1 / (p * (1 - p))),
        (-0.6, (-1.0, 1.0), lambda r: 2.0 * math.atanh(r), lambda r: 2.0 / (1 - r * r)),
        (1.4, (0.0, math.inf), math.log, lambda x: 1 / x),
    ],
    ids=["logit", "Fisher's z", "logarithm"],
)
def test_transformed_limits_are_student_s_by_the_delta_method(value, bounds, scale, slope):
    found = limits(resampled(value, normal_draws(value, 0.03), 50), 0.95, "transformed", bounds)
    reach = stats.t.ppf(0.975, 49) * 0.03 * math.sqrt(50 / 49) * slope(value)
    assert tuple(map(scale, found)) == pytest.approx((scale(value) - reach, scale(value) + reach), rel=1e-5)


def test_a_ratio_of_any_size_has_an_interval_without_an_end_rather_than_an_error():
    low, high = limits(resampled(1.0, [1e-300, 1e300] * 50), 0.95, "transformed", (0.0, math.inf))
    assert 0.0 <= low < 1e-200
    assert high > 1e200


def test_nothing_is_said_of_what_resamples_do_not_tell():
    low, high = limits(resampled(3.0, [2.0, 3.0, 3.0]), 0.95, "none")
    assert math.isnan(low)
    assert high.reason is Reason.NOT_RESAMPLED


@pytest.mark.parametrize("method", METHODS)
def test_no_interval_where_too_few_trials_decide(method):
    draws = normal_draws(0.5, 0.1, 101)
    low, high = limits(resampled(0.5, draws, informative=MIN_INFORMATIVE - 1), 0.95, method)
    assert math.isnan(low)
    assert math.isnan(high)
    assert low.reason is high.reason is Reason.FEW_INFORMATIVE


@pytest.mark.parametrize("method", ["student", "transformed"])
def test_values_that_are_all_alike_tell_no_error(method):
    """An average of 100 times .7 would have the interval [.7, .7], whatever the next value would be."""
    interval = bootstrap(mean, np.full(100, 0.7), n_resamples=50, method=method)
    assert interval.estimate == pytest.approx(0.7)
    assert interval.low.reason is Reason.CONSTANT


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_huge_and_tiny_numbers_have_intervals(scale):
    draws = np.random.default_rng(0).normal(2.0, 0.1, 500)
    low, high = limits(resampled(2.0 * scale, scale * draws), 0.95, "student")
    assert (low / scale, high / scale) == pytest.approx(limits(resampled(2.0, draws), 0.95, "student"))


def test_a_difference_of_what_is_always_alike_is_nothing():
    assert limits(resampled(0.0, np.zeros(9)), 0.95, "student") == (0.0, 0.0)


@pytest.mark.parametrize(
    ("value", "bounds"), [(0.0, (0.0, 1.0)), (1.0, (0.0, 1.0)), (-1.0, (-1.0, 1.0)), (0.0, (0.0, math.inf))]
)
def test_no_transformation_at_the_ends(value, bounds):
    assert math.isnan(limits(resampled(value, [0.4, 0.6]), 0.95, "transformed", bounds)[0])


values = st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), min_size=0, max_size=12)


@settings(max_examples=150)
@given(x=values, method=st.sampled_from(METHODS), level=st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_an_interval_holds_the_estimate_or_is_not_there(x, method, level):
    """None, one, two, or equal values included; both limits are missing, for one reason, or neither is."""

    def evaluate(x, *, weights):
        total = weights.sum(axis=-1)
        with np.errstate(invalid="ignore"):
            return weights @ x / total

    interval = bootstrap(evaluate, x, n_resamples=40, level=level, method=method)
    assert math.isnan(interval.low) == math.isnan(interval.high)
    if math.isnan(interval.low):
        assert interval.low.reason is interval.high.reason is not None
    elif method != "percentile":
        assert interval.low - 1e-9 <= interval.estimate <= interval.high + 1e-9


@given(x=values.filter(lambda x: len(set(x)) > 1))
def test_units_and_direction_do_not_matter(x):
    same, turned = (
        bootstrap(mean, change(np.array(x)), n_resamples=60, method="student")
        for change in (lambda x: x, lambda x: 3.0 - 7.0 * x)
    )
    assert (turned.low, turned.high) == pytest.approx((3.0 - 7.0 * same.high, 3.0 - 7.0 * same.low), abs=1e-6)


@pytest.mark.parametrize("right", [60, 97])
def test_wilson_of_a_resampled_share_is_wilson_of_its_counts(right: int):
    trials = np.arange(100.0) < right
    interval = bootstrap(mean, trials, n_resamples=100_000, method="wilson")
    expected = binomtest(right, 100).proportion_ci(method="wilson")
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=3e-3)


def test_wilson_of_a_share_that_no_resample_changes_is_of_as_many_trials_as_there_are():
    """A mean of a condition in which all are right and one in which all are wrong is not known for certain."""
    found = limits(resampled(0.5, [0.5] * 50, 80), 0.95, "wilson")
    assert found == pytest.approx(tuple(binomtest(40, 80).proportion_ci(method="wilson")))


@pytest.mark.parametrize("right", [0, 100])
def test_wilson_is_exact_where_all_trials_are_alike(right: int):
    interval = bootstrap(mean, np.full(100, right / 100), n_resamples=10, method="wilson")
    expected = binomtest(right, 100).proportion_ci(method="wilson")
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_clusters_count_once():
    """Four copies of each answer are worth no more than the answer."""
    once = np.arange(100.0) < 80
    copies = bootstrap(
        mean, np.repeat(once, 4), clusters=np.repeat(range(100), 4), n_resamples=50_000, method="wilson"
    )
    expected = binomtest(80, 100).proportion_ci(method="wilson")
    assert (copies.low, copies.high) == pytest.approx((expected.low, expected.high), abs=3e-3)


def test_a_share_of_some_questions_counts_those():
    """Twenty answers, all right, and eighty questions without one: the interval is that of twenty."""
    text = np.array([f"q{i}" for i in range(100)], dtype=object)
    columns = {
        "question_id": text,
        "source": np.full(100, "a", dtype=object),
        "condition": np.full(100, "c", dtype=object),
        "status": np.full(100, "ok", dtype=object),
        "correct": np.where(np.arange(100) < 20, 1.0, np.nan),
    }
    (cell,) = by_condition(columns)[0].subsets
    found = distributions(columns, [cell], [ACCURACY], Settings(50))[cell, "accuracy"]
    interval = found.interval(Settings(50), "wilson")
    assert interval.low == pytest.approx(binomtest(20, 20).proportion_ci(method="wilson").low, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_no_interval_without_an_estimate(method):
    assert math.isnan(bootstrap(mean, [1.0], n_resamples=5, method=method).low)


def test_a_share_less_a_constant_has_the_share_s_interval():
    """Nineteen of twenty intervals hold, of a nominal coverage of .9: a gap of .05, between Wilson's limits less .9."""
    share = Measure("share", lambda columns, weights: None, "A share.", inference=Proportion())
    gap = Measure("gap", lambda columns, weights: None, "The share less .9.", inference=Shifted("share"))
    draws = np.random.default_rng(0).binomial(20, 0.95, 50_000) / 20
    names = frozenset(map(str, range(20)))
    whole = {
        "share": Distribution(as_estimate(0.95), draws, names),
        "gap": Distribution(as_estimate(0.95 - 0.9), draws - 0.9, names),
    }
    interval = interval_of_measure(gap, whole, Settings())
    expected = binomtest(19, 20).proportion_ci(method="wilson")
    assert interval.estimate == pytest.approx(0.05)
    assert (interval.low + 0.9, interval.high + 0.9) == pytest.approx((expected.low, expected.high), abs=2e-3)
    assert interval_of_measure(share, whole, Settings()).low == pytest.approx(interval.low + 0.9)


@given(st.floats(-3, 3), st.integers(5, 500), st.sampled_from([0.8, 0.95]))
def test_limits_of_a_skewed_mean_solve_hall_s_cubic(skewness, n, level):
    """The transformed statistic of a mean at a limit is the quantile of Student's t."""
    low, high = skewness_corrected_limits(2.0, 0.5, skewness, n, level)
    found = (2.0 - np.array([high, low])) / 0.5
    per_root = skewness / math.sqrt(n)
    cubic = found + per_root * found**2 / 3.0 + per_root**2 * found**3 / 27.0 + per_root / 6.0
    assert cubic == pytest.approx(stats.t.ppf([(1.0 - level) / 2.0, (1.0 + level) / 2.0], n - 1), abs=1e-5)


def test_limits_of_a_mean_without_skewness_are_student_s():
    low, high = skewness_corrected_limits(2.0, 0.5, 0.0, 40, 0.95)
    assert (low, high) == pytest.approx(stats.t.interval(0.95, 39, 2.0, 0.5))
    assert skewness_corrected_limits(2.0, 0.5, 1e-7, 40, 0.95) == pytest.approx((low, high), abs=1e-6)


NAMES = frozenset(map(str, range(20)))


def decided_by(count, questions="q"):
    return Informative(None if count == math.inf else frozenset(f"{questions}{i}" for i in range(int(count))))


def part(n_informative, is_mean, questions="q"):
    return Distribution(
        as_estimate(0.5), normal_draws(0.5, 0.1, 101), NAMES, decided_by(n_informative, questions), is_mean
    )


def test_a_mean_of_means_is_decided_by_all_that_decide_its_parts():
    pooled = mean_of([part(3.0, True), part(4.0, True, "r")])
    assert pooled.informative.count == 7.0
    assert not math.isnan(pooled.interval(Settings(), "student").low)


def test_the_same_questions_under_several_penalties_decide_a_mean_once():
    pooled = mean_of([part(3.0, True), part(4.0, True)])
    assert pooled.informative.count == 4.0
    assert pooled.interval(Settings(), "student").low.reason is Reason.FEW_INFORMATIVE
    assert mean_of([part(3.0, True), part(math.inf, True)]).informative.count == math.inf


def test_a_mean_of_other_measures_is_decided_by_its_weakest_part():
    """An M-ratio of three replies is biased, and stays so in an average with a good one."""
    pooled = mean_of([part(3.0, False), part(400.0, False)])
    assert pooled.interval(Settings(), "student").low.reason is Reason.FEW_INFORMATIVE


def test_degrees_of_freedom_of_a_mean_lie_between_its_parts_and_are_those_of_the_part_that_varies():
    steady = Distribution(as_estimate(0.5), np.full(101, 0.5), NAMES, decided_by(6.0))
    few, many = part(6.0, False), part(101.0, False)
    assert mean_of([few, many]).degrees == pytest.approx(2.0 / (1.0 / 5.0 + 1.0 / 100.0))
    assert mean_of([few, few, few]).degrees == pytest.approx(5.0)
    assert (many - steady).degrees == pytest.approx(100.0)
    assert (few - many).degrees == mean_of([few, many]).degrees
    assert mean_of([steady, steady]).degrees == 5.0
    assert mean_of([part(math.inf, True)] * 2).degrees == math.inf


def test_a_difference_is_decided_by_its_weaker_side():
    assert (part(30.0, True) - part(9.0, True)).informative.count == 9.0


def test_an_interval_ends_where_the_measure_does():
    measure = Measure(
        "m",
        lambda c, w: None,
        "A mean.",
        inference=Student(0.0, 0.6),
    )
    interval = interval_of_measure(measure, {"m": part(math.inf, False)}, Settings())
    assert 0.0 < interval.low < 0.5
    assert interval.high == 0.6


def test_what_decides_a_bootstrap_limits_its_degrees_of_freedom_and_whether_it_is_there():
    all_decide, seven_do, four_do = (
        bootstrap(mean, X, n_resamples=200, method="student", n_informative=n_informative)
        for n_informative in (math.inf, 7.0, 4.0)
    )
    wider = stats.t.ppf(0.975, 6) / stats.t.ppf(0.975, len(X) - 1)
    assert seven_do.high - seven_do.low == pytest.approx(wider * (all_decide.high - all_decide.low))
    assert four_do.low.reason is Reason.FEW_INFORMATIVE
