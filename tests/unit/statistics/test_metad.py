import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import optimize
from scipy.special import ndtr
from tests.unit.statistics.metad_reference import REFERENCE
from tests.unit.statistics.observers import meta_d_proportions, simulate_tables

from confidence_tasks.statistics import Reason, fit_meta_d
from confidence_tasks.statistics.sdt import fieller_interval, type1

counts_of = {
    k: arrays(np.float64, 2 * k, elements=st.one_of(st.integers(0, 60), st.just(0)).map(float))
    for k in (1, 2, 3, 4)
}
any_tables = st.sampled_from(sorted(counts_of)).flatmap(lambda k: st.tuples(counts_of[k], counts_of[k]))
options = st.fixed_dictionaries(
    {
        "padding": st.sampled_from(["1/2K", "hautus", "none"]),
        "criterion": st.sampled_from(["relative", "absolute"]),
        "response": st.sampled_from(["both", "S1", "S2"]),
        "s": st.sampled_from([1.0, 0.7, 1.5]),
    }
)


@pytest.fixture
def rng():
    return np.random.default_rng(20240229)


def log_likelihood(parameters, s1, s2, place, s, phi=ndtr, log=np.log):
    """Independent implementation of the model: ratings given response and stimulus, criterion at place * meta-d'.

    ``parameters`` holds meta-d' and the 2K - 2 type-2 criteria from the lowest to the highest, both in standard
    deviations of S1 and measured from the midpoint of the means.
    """
    meta_d, *criteria = parameters
    k = len(s1) // 2
    middle = place * meta_d
    total = 0
    for counts, mean, sd in ((s1, -meta_d / 2, 1), (s2, meta_d / 2, 1 / s)):
        below = [phi((c - mean) / sd) for c in [*criteria[: k - 1], middle]]
        above = [phi((mean - c) / sd) for c in [middle, *criteria[k - 1 :]]]
        said_s1 = [b - a for a, b in zip([0, *below], below, strict=False)]
        said_s2 = [a - b for a, b in zip(above, [*above[1:], 0], strict=True)]
        shares = [p / below[-1] for p in said_s1] + [p / above[0] for p in said_s2]
        total += sum(n * log(p) for n, p in zip(counts, shares, strict=True) if n)
    return total


# Shapes


@pytest.mark.parametrize("chunk", [3, 4096])
def test_a_batch_fits_each_of_its_tables(rng, monkeypatch, chunk):
    monkeypatch.setattr("confidence_tasks.statistics.sdt.likelihood._CHUNK_SIZE", chunk)
    s1, s2 = rng.integers(0, 30, (2, 10, 6))
    batch = fit_meta_d(s1, s2)
    assert batch.criteria.shape == (10, 5)
    for i in range(10):
        one = fit_meta_d(s1[i], s2[i])
        for name in ("d_prime", "meta_d", "m_ratio", "m_diff", "meta_d_se", "log_likelihood", "criterion"):
            assert getattr(batch, name)[i] == pytest.approx(getattr(one, name), rel=1e-7), name
        assert batch.criteria[i] == pytest.approx(one.criteria, rel=1e-7)
        assert (batch.converged[i], batch.unstable[i]) == (one.converged, one.unstable)


def test_tables_of_a_batch_may_differ_in_the_ratio_of_standard_deviations(rng):
    s1, s2 = simulate_tables(rng, 300, meta_d_proportions(1.5, 1.1, criterion=0.2, s=0.7), 5)
    ratios = np.array([0.5, 0.8, 1.0, 1.3, 2.0])
    batch = fit_meta_d(s1, s2, s=ratios)
    for i, s in enumerate(ratios):
        one = fit_meta_d(s1[i], s2[i], s=s)
        for name in ("d_prime", "meta_d", "m_ratio", "criterion", "log_likelihood", "m_ratio_se"):
            assert getattr(batch, name)[i] == pytest.approx(getattr(one, name), abs=1e-8), name
        assert batch.criteria[i] == pytest.approx(one.criteria, abs=1e-8)


def test_an_empty_batch_is_a_batch():
    fit = fit_meta_d(np.empty((0, 8)), np.empty((0, 8)))
    assert fit.meta_d.shape == (0,)
    assert fit.criteria.shape == (0, 7)


# Errors and degenerate input


@pytest.mark.parametrize(
    ("s1", "s2", "options", "message"),
    [
        ([1, 2, 3], [1, 2, 3], {}, "shape"),
        ([1, 2], [1, 2, 3, 4], {}, "shape"),
        ([1, -2, 3, 4], [1, 2, 3, 4], {}, "negative"),
        ([1, np.nan, 3, 4], [1, 2, 3, 4], {}, "finite"),
        ([1, 2, 3, 4], [1, 2, 3, 4], {"s": 0}, "s must be positive"),
        ([1, 2, 3, 4], [1, 2, 3, 4], {"s": np.nan}, "s must be positive"),
        ([1, 2, 3, 4], [1, 2, 3, 4], {"s": [1.0, 2.0]}, "s must be a number or have shape"),
        ([1, 2, 3, 4], [1, 2, 3, 4], {"padding": "some"}, "padding"),
        ([1, 2, 3, 4], [1, 2, 3, 4], {"criterion": "fixed"}, "criterion"),
        ([1, 2, 3, 4], [1, 2, 3, 4], {"response": "S3"}, "response"),
        ([1, 2, 3, 4], [1, 2, 3, 4], {"compat": "matlab"}, "compat"),
    ],
)
def test_invalid_tables_and_options_raise(s1, s2, options, message):
    with pytest.raises(ValueError, match=message):
        fit_meta_d(s1, s2, **options)


@pytest.mark.parametrize(
    ("s1", "s2", "options", "reason"),
    [
        ([0] * 4, [0] * 4, {}, Reason.EMPTY),
        ([5, 0, 0, 0], [0] * 4, {}, Reason.ONE_CLASS),
        ([5, 5], [3, 7], {}, Reason.NOT_IDENTIFIED),
        ([0, 0, 0, 5], [0, 0, 0, 7], {"padding": "none"}, Reason.NOT_IDENTIFIED),
        ([5, 0, 0, 3], [2, 0, 0, 7], {"padding": "none"}, Reason.NOT_IDENTIFIED),
        ([5, 5, 0, 0], [2, 3, 4, 7], {"padding": "none"}, Reason.NOT_IDENTIFIED),
        ([30, 5, 5, 0], [0, 5, 5, 30], {"padding": "none"}, Reason.NOT_CONVERGED),
        ([3, 1, 2, 0], [3, 1, 2, 0], {}, Reason.ZERO_D_PRIME),
    ],
)
def test_missing_meta_d_has_a_reason(s1, s2, options, reason):
    fit = fit_meta_d(s1, s2, **options)
    assert fit.meta_d.reason is reason
    assert fit.m_ratio.reason is reason
    assert np.isnan(fit.criteria).all()
    assert not fit.converged
    assert fit.unstable


def test_zero_d_prime_has_meta_d_but_no_ratio():
    """metadpy divides by zero here."""
    for table in (([10, 10, 10, 10], [10, 10, 10, 10]), ([2, 5, 5, 2], [5, 2, 2, 5])):
        fit = fit_meta_d(*table)
        assert fit.d_prime == 0.0
        assert fit.meta_d == pytest.approx(0.0, abs=1e-9)
        assert fit.m_ratio.reason is Reason.ZERO_D_PRIME
        assert fit.m_diff == pytest.approx(0.0, abs=1e-9)
    biased = fit_meta_d([3, 1, 2, 0], [3, 1, 2, 0], criterion="absolute")
    assert biased.meta_d == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
@given(any_tables, options)
def test_any_counts_give_a_number_or_a_reason(table, options):
    fit = fit_meta_d(*table, **options)
    for name in ("d_prime", "meta_d", "m_ratio", "m_diff", "criterion", "log_likelihood"):
        value = getattr(fit, name)
        assert np.isfinite(value) or value.reason is not None
    if fit.converged:
        # Criteria of ratings that nobody gave may coincide, or lie beyond everything.
        finite = fit.criteria[np.isfinite(fit.criteria)]
        assert (np.diff(finite) >= -1e-12).all()


def test_empty_ratings_change_nothing_but_their_criteria():
    full = fit_meta_d([40, 30, 20, 10], [10, 20, 30, 40], padding="none")
    holes = fit_meta_d([40, 0, 30, 20, 10, 0], [10, 0, 20, 30, 40, 0], padding="none")
    assert holes.meta_d == pytest.approx(full.meta_d, rel=1e-10)
    assert holes.log_likelihood == pytest.approx(full.log_likelihood, rel=1e-12)
    lower, middle, upper = full.criteria
    assert holes.criteria == pytest.approx([lower, lower, middle, upper, np.inf])


@pytest.mark.parametrize("exponent", range(2, 9))
def test_counts_of_any_size_are_fitted(exponent):
    n = 10.0**exponent
    fit = fit_meta_d([n, 1, 1, 1], [1, 1, 1, n], padding="none")
    assert 4.5 < fit.meta_d < 11.3
    assert fit.meta_d == pytest.approx(fit.d_prime, rel=0.12)


# Correctness: published and computed maxima


@pytest.mark.parametrize(("s1", "s2", "padding", "d_prime", "meta_d", "value"), REFERENCE)
def test_matches_the_reference(s1, s2, padding, d_prime, meta_d, value):
    fit = fit_meta_d(s1, s2, padding=padding)
    assert fit.d_prime == pytest.approx(d_prime, abs=1e-10)
    assert fit.meta_d == pytest.approx(meta_d, abs=1e-10)
    assert fit.log_likelihood == pytest.approx(value, abs=1e-8)
    assert fit.m_ratio == fit.meta_d / fit.d_prime
    assert fit.m_diff == fit.meta_d - fit.d_prime


@pytest.mark.parametrize("s", [1.0, 0.7])
@pytest.mark.parametrize(("s1", "s2", "padding"), [row[:3] for row in REFERENCE[1:4]])
def test_the_gradient_vanishes_to_twenty_digits(s1, s2, padding, s):
    """The oracle is an independent likelihood in 40-digit arithmetic."""
    with mpmath.workdps(40):
        amount = mpmath.mpf(1) / len(s1) if padding == "1/2K" else 0
        counts = [[n + amount for n in row] for row in (s1, s2)]
        fit = fit_meta_d(s1, s2, padding=padding, s=s)
        unit = np.sqrt(2 / (1 + s**2)) * s
        k = len(s1) // 2
        criteria = fit.criteria / unit
        place = criteria[k - 1] * unit / fit.meta_d
        at = [mpmath.mpf(float(x)) for x in (fit.meta_d / unit, *np.delete(criteria, k - 1))]
        for i in range(len(at)):

            def along(x, i=i):
                return log_likelihood(
                    [*at[:i], x, *at[i + 1 :]], *counts, mpmath.mpf(float(place)), s, mpmath.ncdf, mpmath.log
                )

            slope, curvature = mpmath.diff(along, at[i]), mpmath.diff(along, at[i], 2)
            assert curvature < 0
            assert abs(slope / curvature) < 1e-10


@pytest.mark.parametrize(
    ("d", "meta_d", "criterion", "cuts", "s"),
    [(1.4, 1.0, 0.2, (0.5,), 1.0), (1.0, 1.3, -0.3, (0.5, 1.0), 0.6), (1.4, 1.0, 0.2, (0.5,), 1.6)],
)
def test_no_other_parameters_are_more_likely(rng, d, meta_d, criterion, cuts, s):
    """A derivative-free optimizer from two starts finds no higher likelihood."""
    proportions = meta_d_proportions(d, meta_d, criterion=criterion, cuts=cuts, s=s)
    s1, s2 = (rng.multinomial(200, p) + 1 / len(p) for p in proportions)
    fit = fit_meta_d(s1, s2, padding="none", s=s)
    unit = np.sqrt(2 / (1 + s**2)) * s
    place = fit.criterion / fit.d_prime

    def negative(parameters):
        meta_d, *steps = parameters
        lower, upper = np.split(np.exp(steps), 2)
        criteria = [*(place * meta_d - np.cumsum(lower))[::-1], *(place * meta_d + np.cumsum(upper))]
        return -log_likelihood([meta_d, *criteria], s1, s2, place, s)

    fits = [
        optimize.minimize(
            negative,
            [start, *np.full(2 * len(cuts), -0.5)],
            method="Nelder-Mead",
            options={"xatol": 1e-8, "fatol": 1e-12, "maxiter": 20_000, "maxfev": 20_000},
        )
        for start in (-1.0, 1.0)
    ]
    best = min(fits, key=lambda result: result.fun)
    assert fit.log_likelihood == pytest.approx(-best.fun, abs=1e-7)
    assert fit.meta_d / unit == pytest.approx(best.x[0], abs=1e-4)


def test_both_signs_are_searched_if_both_means_are_beyond_the_criterion():
    """The iteration from d' ends at the lower of two maxima; a dense scan over meta-d' finds the other."""
    s1, s2 = np.array([28.25, 3.25, 30.25, 39.25]), np.array([5.25, 41.25, 49.25, 5.25])
    fit = fit_meta_d(s1, s2, padding="none")
    place = fit.criterion / fit.d_prime

    def profile(meta_d):
        def negative(steps):
            criteria = place * meta_d + np.array([-1, 1]) * np.exp(steps)
            return -log_likelihood([meta_d, *criteria], s1, s2, place, 1.0)

        return -optimize.minimize(negative, [-0.5, -0.5], method="Nelder-Mead", options={"xatol": 1e-6}).fun

    scan = {meta_d: profile(meta_d) for meta_d in np.linspace(-3, 3, 13)}
    best = max(scan, key=scan.get)
    assert place > 0.5
    assert fit.log_likelihood >= scan[best] - 1e-9
    assert fit.meta_d == pytest.approx(best, abs=0.5)
    assert np.sign(fit.meta_d) != np.sign(fit.d_prime)


# Correctness: observers


@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize("s", [1.0, 0.5, 0.8, 1.3, 2.0])
@pytest.mark.parametrize("criterion", [-0.7, 0.0, 0.4])
def test_an_ideal_observer_has_ratio_one(s, criterion, relative):
    table = meta_d_proportions(1.5, 1.5, criterion=criterion, s=s)
    fit = fit_meta_d(
        *(1000 * p for p in table), s=s, padding="none", criterion="relative" if relative else "absolute"
    )
    assert fit.m_ratio == pytest.approx(1.0, abs=1e-9)
    unit = np.sqrt(2 / (1 + s**2)) * s
    assert fit.criteria / unit == pytest.approx(
        criterion + np.array([-1.4, -0.9, -0.4, 0, 0.4, 0.9, 1.4]), abs=1e-9
    )


@pytest.mark.parametrize("s", [1.0, 0.7, 1.4])
@pytest.mark.parametrize("response", ["both", "S1", "S2"])
@pytest.mark.parametrize("relative", [True, False])
def test_expected_counts_give_meta_d_back(s, response, relative):
    table = meta_d_proportions(1.2, 0.8, criterion=0.3, s=s, relative=relative)
    fit = fit_meta_d(
        *(1000 * p for p in table),
        s=s,
        padding="none",
        response=response,
        criterion="relative" if relative else "absolute",
    )
    assert fit.m_ratio == pytest.approx(0.8 / 1.2, abs=1e-9)


def test_the_reference_code_has_another_criterion():
    """Its ideal observer with unequal variances has no ratio of one; for equal variances nothing changes."""
    for s, same in ((1.0, True), (0.6, False), (1.5, False)):
        table = [1000 * p for p in meta_d_proportions(1.5, 1.5, criterion=0.4, s=s)]
        compat = fit_meta_d(*table, s=s, padding="none", compat="metadpy")
        assert (abs(compat.m_ratio - 1.0) < 1e-9) == same
        unit = np.sqrt(2 / (1 + s**2)) * s
        d1, c1 = compat.d_prime / unit, compat.criterion / unit
        assert c1 + d1 * (s - 1) / (2 * (1 + s)) == pytest.approx(0.4, abs=1e-12)


def test_responses_may_differ_in_metacognition():
    one, other = meta_d_proportions(1.5, 0.6), meta_d_proportions(1.5, 1.8)
    k = len(one[0]) // 2
    table = [1000 * np.concatenate([a[:k], b[k:]]) for a, b in zip(one, other, strict=True)]
    assert fit_meta_d(*table, padding="none", response="S1").meta_d == pytest.approx(0.6, abs=1e-9)
    assert fit_meta_d(*table, padding="none", response="S2").meta_d == pytest.approx(1.8, abs=1e-9)
    assert 0.6 < fit_meta_d(*table, padding="none").meta_d < 1.8


@pytest.mark.parametrize(
    ("criterion", "s", "relative"), [(0.0, 1.0, True), (0.5, 1.0, True), (0.5, 1.0, False), (-0.6, 1.4, True)]
)
def test_standard_errors_are_those_of_simulated_tables(rng, criterion, s, relative):
    proportions = meta_d_proportions(1.5, 1.1, criterion=criterion, s=s, relative=relative)
    fit = fit_meta_d(
        *simulate_tables(rng, 4000, proportions, 4000), s=s, criterion="relative" if relative else "absolute"
    )
    assert fit.converged.all()
    for name in ("d_prime", "meta_d", "m_ratio", "m_diff"):
        assert getattr(fit, name).std() == pytest.approx(getattr(fit, f"{name}_se").mean(), rel=0.05), name
    covariance = np.cov(fit.d_prime, fit.meta_d)[0, 1]
    assert covariance == pytest.approx(fit.covariance.mean(), abs=0.04 * fit.d_prime.std() * fit.meta_d.std())


# Invariance


@pytest.mark.slow
@given(*[arrays(np.float64, 6, elements=st.integers(0, 60).map(float))] * 2)
def test_exchanging_stimuli_and_responses_changes_nothing(s1, s2):
    plain, turned = fit_meta_d(s1, s2), fit_meta_d(s2[::-1], s1[::-1])
    assert plain.meta_d == pytest.approx(turned.meta_d, abs=1e-7, nan_ok=True)
    assert plain.log_likelihood == pytest.approx(turned.log_likelihood, rel=1e-9, nan_ok=True)
    assert plain.criteria == pytest.approx(-turned.criteria[::-1], abs=1e-6, nan_ok=True)


@pytest.mark.slow
@given(*[arrays(np.float64, 6, elements=st.integers(1, 60).map(float))] * 2, st.floats(0.5, 20))
def test_multiplied_counts_keep_estimates_and_shrink_errors(s1, s2, factor):
    one, many = fit_meta_d(s1, s2, padding="none"), fit_meta_d(factor * s1, factor * s2, padding="none")
    assume(abs(one.d_prime) > 0.05)  # at d' = 0 there is no relative criterion: near it, the maximum is flat
    assert one.meta_d == pytest.approx(many.meta_d, abs=1e-7, nan_ok=True)
    assert one.meta_d_se == pytest.approx(np.sqrt(factor) * many.meta_d_se, rel=1e-5, nan_ok=True)


@given(*[arrays(np.float64, 6, elements=st.integers(0, 60).map(float))] * 2)
def test_d_prime_is_that_of_type_1(s1, s2):
    fit, first = fit_meta_d(s1, s2), type1(s1, s2)
    assert fit.d_prime == pytest.approx(first.d_prime, abs=1e-12, nan_ok=True)
    assert fit.criterion == pytest.approx(first.criterion, abs=1e-12, nan_ok=True)


# The ratio near d' = 0


def test_a_small_or_uncertain_d_prime_is_flagged():
    assert not fit_meta_d([100, 50, 20, 10], [10, 20, 50, 100]).unstable
    assert fit_meta_d([100, 90, 80, 70], [70, 80, 90, 100]).unstable  # d' = .26
    assert fit_meta_d([3, 2, 1, 1], [1, 1, 2, 3]).unstable  # d' = 1, from 14 trials
    assert fit_meta_d([10, 20, 50, 100], [100, 50, 20, 10]).unstable  # d' < 0


def test_fieller_agrees_with_the_delta_method_for_a_precise_d_prime():
    fit = fit_meta_d([10_000, 5000, 2000, 1000], [1000, 2000, 5000, 10_000])
    interval = fit.fieller_interval()
    assert interval.kind == "bounded"
    assert (interval.low, interval.high) == pytest.approx(
        (fit.m_ratio - 1.96 * fit.m_ratio_se, fit.m_ratio + 1.96 * fit.m_ratio_se), abs=2e-3
    )


def test_fieller_has_the_stated_coverage(rng):
    """The denominator is 1.5 standard errors, for which the delta method is not valid."""
    covariance = np.array([[0.09, 0.05], [0.05, 0.16]])
    true = np.array([0.5, 0.6])
    covered = 0
    for numerator, denominator in rng.multivariate_normal(true, covariance, size=4000):
        interval = fieller_interval(numerator, denominator, 0.3, 0.4, 0.05, level=0.9)
        within = interval.low <= true[0] / true[1] <= interval.high
        covered += {"bounded": within, "exclusive": not within, "unbounded": True}[interval.kind]
    assert covered / 4000 == pytest.approx(0.9, abs=0.02)


def test_fieller_names_its_kinds():
    assert fieller_interval(0.5, 2.0, 0.2, 0.2).kind == "bounded"
    assert fieller_interval(2.0, 0.1, 0.2, 0.2).kind == "exclusive"
    assert fieller_interval(0.1, 0.1, 0.2, 0.2).kind == "unbounded"
    missing = fieller_interval(np.nan, 1.0, 0.2, 0.2)
    assert (missing.kind, missing.low.reason) == ("undefined", Reason.NOT_IDENTIFIED)
    with pytest.raises(ValueError, match="level"):
        fieller_interval(1, 1, 1, 1, level=95)
    with pytest.raises(ValueError, match="negative"):
        fieller_interval(1, 1, -1, 1)
    with pytest.raises(ValueError, match="one table"):
        fit_meta_d([[5, 4, 3, 2]], [[2, 3, 4, 5]]).fieller_interval()
