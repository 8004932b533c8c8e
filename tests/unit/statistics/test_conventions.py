"""Calibration errors by the conventions of published code: the same numbers as that code."""

import math
from itertools import pairwise

import numpy as np
import pytest

from confidence_tasks.statistics import ece
from confidence_tasks.statistics.calibration import CONVENTIONS, convention_error, convention_errors

N_TABLES = 10_000


def tables(n_tables: int, largest: int = 60, seed: int = 0):
    """Yield random answers and confidences, among them zeros, ones, and values of two decimals."""
    rng = np.random.default_rng(seed)
    for _ in range(n_tables):
        n = int(rng.integers(1, largest))
        confidence = rng.random(n)
        confidence = np.where(rng.random(n) < 0.4, confidence.round(2), confidence)
        confidence = np.where(rng.random(n) < 0.3, rng.integers(0, 2, n), confidence)
        yield rng.integers(0, 2, n).astype(float), confidence


def in_bins(correct, confidence, lower, upper, inside, n, square=False):
    """Loop over bins in plain Python; ``inside(value, low, high)`` says whether a value is in a bin."""
    total = 0.0
    for low, high in zip(lower, upper, strict=True):
        members = [(y, c) for y, c in zip(correct, confidence, strict=True) if inside(c, low, high)]
        if members:
            gap = math.fsum(c - y for y, c in members) / len(members)
            total += len(members) / n * (gap**2 if square else abs(gap))
    return math.sqrt(total) if square else total


def of_edges(bins, inside, square=False):
    def oracle(correct, confidence):
        edges = [float(edge) for edge in np.linspace(0, 1, bins + 1)]
        return in_bins(correct, confidence, edges[:-1], edges[1:], inside, len(correct), square)

    return oracle


ORACLES = {
    "right_closed": of_edges(10, lambda c, low, high: low < c <= high or (c == low == 0.0)),
    "left_closed": of_edges(10, lambda c, low, high: low <= c < high or (c == high == 1.0)),
    "guo": of_edges(15, lambda c, low, high: low < c <= high),
    "netcal": of_edges(10, lambda c, low, high: low <= c < high or (c == high == 1.0)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ORACLES)
def test_bins_of_equal_width_equal_a_loop_over_bins(name: str) -> None:
    for correct, confidence in tables(N_TABLES // 4, 40):
        expected = ORACLES[name](correct, confidence)
        assert convention_error(correct, confidence, name) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("name", "square"), [("torchmetrics", False), ("torchmetrics_l2", True)])
def test_a_confidence_of_one_has_a_bin_of_its_own(name: str, square: bool) -> None:
    def inside(c, low, high):
        return low <= c < high

    for correct, confidence in tables(N_TABLES // 4, 40):
        edges = [*map(float, np.linspace(0, 1, 16)), 2.0]
        expected = in_bins(correct, confidence, edges[:-1], edges[1:], inside, len(correct), square)
        assert convention_error(correct, confidence, name) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("name", "norm"), [("torchmetrics", "l1"), ("torchmetrics_l2", "l2")])
def test_equals_torchmetrics(name: str, norm: str) -> None:
    torch = pytest.importorskip("torch")
    module = pytest.importorskip("torchmetrics.functional.classification")
    for correct, confidence in tables(N_TABLES):
        arguments = torch.from_numpy(confidence), torch.from_numpy(correct).long()
        expected = float(module.binary_calibration_error(*arguments, n_bins=15, norm=norm))
        assert convention_error(correct, confidence, name) == pytest.approx(expected, abs=1e-12)


def test_equals_netcal() -> None:
    metrics = pytest.importorskip("netcal.metrics")
    for correct, confidence in tables(N_TABLES):
        expected = float(metrics.ECE(bins=10).measure(confidence, correct.astype(int)))
        assert convention_error(correct, confidence, "netcal") == pytest.approx(expected, abs=1e-12)


def test_guo_in_tensors_as_published() -> None:
    """The formula of the published code in 64 bits; its 32-bit edges put 0.6 itself in the next bin."""
    torch = pytest.importorskip("torch")
    for correct, confidence in tables(N_TABLES // 4):
        stated, right = torch.from_numpy(confidence), torch.from_numpy(correct)
        edges = torch.linspace(0, 1, 16, dtype=torch.float64)
        total = torch.zeros((), dtype=torch.float64)
        for low, high in pairwise(edges):
            chosen = stated.gt(low.item()) & stated.le(high.item())
            if chosen.any():
                gap = stated[chosen].mean() - right[chosen].mean()
                total = total + gap.abs() * chosen.double().mean()
        assert convention_error(correct, confidence, "guo") == pytest.approx(float(total), abs=1e-12)


def equal_size_oracle(correct, confidence, last: bool) -> float:
    order = list(np.argsort(confidence))
    n, full = len(order), len(order) // 100
    starts = [100 * i for i in range(max(full, 1))]
    stops = [*starts[1:], n]
    parts = [order[a:b] for a, b in zip(starts, stops, strict=True)]
    kept = parts if last else parts[:-1]
    gaps = [(len(part), math.fsum(confidence[part] - correct[part]) / len(part)) for part in kept]
    return math.sqrt(math.fsum(size * gap**2 for size, gap in gaps) / n)


@pytest.mark.slow
def test_bins_of_a_hundred_trials_with_and_without_the_last_one() -> None:
    for correct, confidence in tables(N_TABLES, 450):
        for name, last in (("hle", False), ("hle_all_bins", True)):
            value = convention_error(correct, confidence, name)
            if name == "hle" and len(correct) < 100:
                assert math.isnan(value)
                assert value.reason == "too few trials"
            else:
                expected = equal_size_oracle(correct, confidence, last)
                assert value == pytest.approx(expected, abs=1e-12)


def test_conventions_differ_where_they_should() -> None:
    correct, confidence = [1.0, 1.0, 0.0, 1.0], [0.0, 0.5, 0.9, 1.0]
    values = {name: convention_error(correct, confidence, name) for name in CONVENTIONS if name != "smooth"}

    assert values["guo"] == pytest.approx((0.5 + 0.9) / 4)  # the zero counts as if it were calibrated
    assert values["torchmetrics"] == pytest.approx((1 + 0.5 + 0.9) / 4)
    assert values["netcal"] == pytest.approx((1 + 0.5 + 2 * abs(1.9 / 2 - 0.5)) / 4)


@pytest.mark.slow
def test_intervals_cover_a_miscalibrated_subject_and_shrink() -> None:
    rng = np.random.default_rng(1)
    widths = []
    for n in (400, 6400):
        confidence = rng.choice([0.6, 0.8, 0.95], n)
        correct = (rng.random(n) < confidence - 0.2).astype(float)
        rows = {row.convention: row for row in convention_errors(correct, confidence, level=0.999)}
        assert list(rows) == list(CONVENTIONS)
        del rows["hle"]  # its expectation is below 0.2, as it leaves trials out
        for row in rows.values():
            assert row.low < 0.2 < row.high, row
        widths.append(np.array([row.high - row.low for row in rows.values()]))
    assert (widths[1] < widths[0] / 2.5).all()


def test_without_trials_or_variation_the_reason_is_said() -> None:
    assert {row.reason for row in convention_errors([], [])} == {"no usable trials"}
    reasons = {row.convention: row.reason for row in convention_errors([1, 1, 0], [0.5] * 3, n_resamples=50)}
    assert reasons["hle"] == "too few trials"


def test_epochs_of_a_question_are_resampled_together() -> None:
    rng = np.random.default_rng(2)
    right = np.repeat(rng.integers(0, 2, 60), 5)
    stated = np.repeat(rng.choice([0.6, 0.9], 60), 5)
    question = np.repeat(np.arange(60), 5)
    for name in ("torchmetrics_l2", "right_closed"):
        alone, together = (
            next(
                row
                for row in convention_errors(right, stated, questions=labels, n_resamples=300)
                if row[0] == name
            )
            for labels in (None, question)
        )
        assert together.high - together.low > 1.3 * (alone.high - alone.low)


def test_names_and_numbers_of_bins_are_checked() -> None:
    with pytest.raises(ValueError, match="convention must be one of right_closed"):
        convention_error([1], [0.5], "sklearn")
    with pytest.raises(ValueError, match="whole number above zero"):
        convention_error([1], [0.5], "guo", bins=0)
    with pytest.raises(ValueError, match="leave out bins"):
        convention_error([1], [0.5], "smooth", bins=5)
    assert convention_error([1, 0], [0.3, 0.7], bins=1) == ece([1, 0], [0.3, 0.7], bins=1)
