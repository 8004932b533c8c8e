import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm

from confidence_tasks.statistics import overconfidence
from confidence_tasks.statistics.calibration import smooth_ece

samples = st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=30).map(
    lambda trials: (np.array([t[0] for t in trials], float), np.array([t[1] for t in trials]))
)


def by_quadrature(correct, confidence, bandwidth, points=4001):
    """The definition: kernel images reflected at both ends, on a fine grid."""
    t = np.linspace(0, 1, points)[:, None]
    kernel = sum(
        norm.pdf(t, 2 * image + side * confidence, bandwidth)
        for image in range(-images(bandwidth), images(bandwidth) + 1)
        for side in (1, -1)
    )
    return np.trapezoid(np.abs(kernel @ (correct - confidence)) / len(confidence), t[:, 0])


def images(bandwidth):
    """How many reflections lie within eight standard deviations."""
    return int(np.ceil(4 * bandwidth + 0.5))


def simulated(n, seed=0, values=None):
    rng = np.random.default_rng(seed)
    confidence = rng.beta(4, 1, n) if values is None else rng.choice(values, n)
    return (rng.random(n) < confidence**2).astype(float), confidence


# Errors


@pytest.mark.parametrize("bandwidth", [0.0, 0.004, -1.0, np.nan, np.inf])
def test_bandwidth_outside_its_domain_raises(bandwidth):
    with pytest.raises(ValueError, match=r"bandwidth must be at least 0.005"):
        smooth_ece([1], [0.5], bandwidth=bandwidth)


# Correctness


@pytest.mark.parametrize("bandwidth", [0.01, 0.03, 0.1, 0.4, 1.0])
@pytest.mark.parametrize("values", [None, [0.0, 0.5, 0.9, 0.95, 1.0]])
def test_fixed_bandwidth_matches_quadrature(bandwidth, values):
    correct, confidence = simulated(80, values=values)
    expected = by_quadrature(correct, confidence, bandwidth)
    assert smooth_ece(correct, confidence, bandwidth=bandwidth) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("values", [None, [0.0, 0.5, 0.9, 0.95, 1.0], [0.3, 0.7]])
def test_the_error_is_the_bandwidth_that_equals_it(values):
    correct, confidence = simulated(80, seed=1, values=values)
    expected = brentq(lambda width: by_quadrature(correct, confidence, width) - width, 0.01, 1.0, xtol=1e-7)
    assert smooth_ece(correct, confidence) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("value", [0.0, 0.3, 0.8, 1.0])
def test_one_confidence_leaves_nothing_to_smooth(value):
    correct = np.array([1.0] * 13 + [0.0] * 7)
    expected = abs(0.65 - value)
    assert smooth_ece(correct, np.full(20, value)) == pytest.approx(expected, rel=1e-10)


def test_opposite_errors_cancel_as_the_overlap_of_their_kernels():
    # Half the trials at 0 miss by 0.3 upwards, half at 1 downwards. The folded kernels cross at 1/2.
    correct, confidence = [0.3] * 5 + [0.7] * 5, [0.0] * 5 + [1.0] * 5
    expected = brentq(lambda width: 0.3 * (1 - 2 * tail(width)) - width, 0.01, 1)
    assert smooth_ece(correct, confidence) == pytest.approx(expected, abs=1e-6)


def tail(width):
    """Mass beyond 1/2 of a Gaussian at 0 reflected into [0, 1]."""
    images = 2 * np.arange(-5, 6)
    return 2 * np.sum(norm.cdf((images + 1) / width) - norm.cdf((images + 0.5) / width))


def test_agrees_with_the_authors_package_to_its_resolution():
    # relplot 1.0.3 on the same data, which searches the bandwidth in steps of 1/1024.
    rng = np.random.default_rng(0)
    confidence = np.round(rng.beta(5, 1, 1000), 2)
    correct = (rng.random(1000) < confidence * 0.8).astype(float)
    assert smooth_ece(correct, confidence) == pytest.approx(0.15371, abs=0.001)


def test_a_calibrated_subject_approaches_zero():
    rng = np.random.default_rng(2)
    result = []
    for n in (100, 10_000, 1_000_000):
        confidence = rng.random(n)
        result.append(smooth_ece(rng.random(n) < confidence, confidence))
    assert result[2] < 0.005 < result[1] < 0.02 < result[0]


# Properties


@given(samples)
def test_lies_between_overconfidence_and_one(sample):
    # Residuals of opposite sign cancel less under a kernel than in the mean.
    value = smooth_ece(*sample)
    assert abs(overconfidence(*sample)) - 1e-9 <= value <= 1.0 + 1e-9


@given(samples)
def test_the_mirrored_subject_is_as_far_off(sample):
    correct, confidence = sample
    assert smooth_ece(1 - correct, 1 - confidence) == pytest.approx(smooth_ece(*sample), abs=1e-9)


@given(samples, st.integers(0, 29), st.floats(-1e-6, 1e-6))
def test_moves_little_when_confidence_moves_little(sample, which, step):
    correct, confidence = sample
    moved = confidence.copy()
    which %= len(moved)
    moved[which] = np.clip(moved[which] + step, 0, 1)
    # The kernel of one trial changes by about step / bandwidth; the error solves for its own bandwidth.
    before = smooth_ece(correct, confidence)
    bound = 1e-6 * (1 + 2 / max(before, 0.005))
    assert smooth_ece(correct, moved) == pytest.approx(before, abs=bound)


@given(samples)
def test_falls_as_the_bandwidth_rises(sample):
    result = [smooth_ece(*sample, bandwidth=width) for width in (0.01, 0.05, 0.2, 1.0)]
    assert np.all(np.diff(result) <= 1e-9)
