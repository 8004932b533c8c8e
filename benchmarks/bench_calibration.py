"""Calibration and selective prediction against scikit-learn and netcal, in the same run.

    python benchmarks/bench_calibration.py

Each line is the median CPU time of several runs, on the same trials and in one process. A peer that is not installed
is named as missing. netcal is not among this project's dependencies, as it brings torch and GPU libraries along.
The intervals of AUROC2 and AUARC are timed in bench_resampling.py.
"""

import importlib
import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, roc_auc_score

from confidence_tasks.statistics import auarc, auroc2, bootstrap, brier, ece
from confidence_tasks.statistics.calibration import corp_decomposition, smooth_ece

N, BOOTSTRAP_N, RESAMPLES = 100_000, 2_000, 2_000
RUNS, PEER_RUNS = 21, 3

Work = tuple[str, Callable[[], object], str, Callable[[], object] | None]


def seconds(call: Callable[[], object], runs: int) -> float:
    """Return the median CPU time, after one call to warm up."""
    call()
    times = []
    for _ in range(runs):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return statistics.median(times)


def sklearn_ece(correct, confidence, strategy="uniform"):
    """ECE with ten bins from scikit-learn's curve, which leaves the counts to its caller."""
    accuracy, mean = calibration_curve(correct, confidence, n_bins=10, strategy=strategy)
    edges = np.linspace(0, 1, 11)
    if strategy == "quantile":
        edges = np.percentile(confidence, 100 * edges)
    counts = np.histogram(confidence, edges)[0]
    return np.abs(accuracy - mean) @ counts[counts > 0] / len(correct)


def sorted_auarc(correct, confidence):
    """Area under the accuracy-rejection curve as it is usually written, ties in row order."""
    by_confidence = correct[np.argsort(-confidence, kind="stable")]
    return np.mean(np.cumsum(by_confidence) / np.arange(1, len(correct) + 1))


def sklearn_corp(correct, confidence):
    """Miscalibration by scikit-learn's isotonic regression."""
    fitted = IsotonicRegression().fit(confidence, correct).predict(confidence)
    return np.mean((confidence - correct) ** 2) - np.mean((fitted - correct) ** 2)


def netcal_ece(correct, confidence) -> Callable[[], object] | None:
    """Measure the ECE by netcal; None where it is not installed."""
    try:
        metrics = importlib.import_module("netcal.metrics")
    except ModuleNotFoundError:
        return None
    labels = correct.astype(int)
    return lambda: metrics.ECE(10).measure(confidence, labels)


def scipy_interval(statistic, correct, confidence) -> Callable[[], object]:
    """A percentile interval that calls the statistic once per resample."""
    return lambda: stats.bootstrap(
        (correct, confidence),
        statistic,
        paired=True,
        vectorized=False,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=0,
    )


def plain(correct, confidence) -> list[Work]:
    """One number of many trials."""
    peers = correct, confidence
    return [
        ("ECE, 10 bins", lambda: ece(*peers), "netcal", netcal_ece(*peers)),
        ("ECE, 10 bins", lambda: ece(*peers), "scikit-learn", lambda: sklearn_ece(*peers)),
        (
            "ECE, equal mass",
            lambda: ece(*peers, binning="equal_mass"),
            "scikit-learn",
            lambda: sklearn_ece(*peers, strategy="quantile"),
        ),
        ("smooth ECE", lambda: smooth_ece(*peers), "-", None),
        ("Brier", lambda: brier(*peers), "scikit-learn", lambda: brier_score_loss(*peers)),
        ("CORP", lambda: corp_decomposition(*peers), "scikit-learn", lambda: sklearn_corp(*peers)),
        ("AUROC2", lambda: auroc2(*peers), "scikit-learn", lambda: roc_auc_score(*peers)),
        ("AUARC", lambda: auarc(*peers), "NumPy, ties in row order", lambda: sorted_auarc(*peers)),
    ]


def intervals(correct, confidence) -> list[Work]:
    """Bootstrap intervals over many resamples."""

    def ours(statistic) -> Callable[[], object]:
        return lambda: bootstrap(statistic, correct, confidence, n_resamples=RESAMPLES)

    def miscalibration(*arrays, weights):
        return corp_decomposition(*arrays, weights=weights).miscalibration

    return [
        ("ECE", ours(ece), "SciPy with scikit-learn", scipy_interval(sklearn_ece, correct, confidence)),
        (
            "CORP",
            ours(miscalibration),
            "SciPy with scikit-learn",
            scipy_interval(sklearn_corp, correct, confidence),
        ),
        ("smooth ECE", ours(smooth_ece), "-", None),
    ]


def report(title: str, unit: str, scale: float, work: list[Work]) -> None:
    """Print one line per piece of work."""
    print(f"| {title} | ours, {unit} | peer | peer, {unit} | ratio |\n| --- | --- | --- | --- | --- |")
    for label, ours, name, peer in work:
        fast = seconds(ours, RUNS if scale > 1 else PEER_RUNS)
        slow = seconds(peer, PEER_RUNS) if peer else None
        rest = f"{slow * scale:.2f} | {slow / fast:.1f}" if slow else "not available | -"
        print(f"| {label} | {fast * scale:.2f} | {name} | {rest} |", flush=True)
    print()


def main() -> None:
    """Print both tables."""
    rng = np.random.default_rng(0)
    confidence = rng.beta(4, 1, N)
    correct = (rng.random(N) < confidence).astype(float)
    report(f"n = {N:,}", "ms", 1e3, plain(correct, confidence))
    few = slice(BOOTSTRAP_N)
    report(
        f"interval, N = {BOOTSTRAP_N:,}, R = {RESAMPLES:,}",
        "s",
        1.0,
        intervals(correct[few], confidence[few]),
    )


if __name__ == "__main__":
    main()
