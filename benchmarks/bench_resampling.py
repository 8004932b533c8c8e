"""Bootstrap intervals and a permutation test against SciPy (with scikit-learn), in the same run.

    python benchmarks/bench_resampling.py

Each line is the median CPU time of several runs, on the same trials and in one process.
"""

import itertools
import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy import stats
from sklearn.metrics import roc_auc_score

from confidence_tasks.statistics import auarc, auroc2, auroc2_interval, bootstrap, permutation_test

N, RESAMPLES = 2_000, 2_000
RUNS, PEER_RUNS = 9, 3
MANY, FEW_RESAMPLES, ALL_RESAMPLES = 1_000_000, 10, 10_000


def mean(x, *, weights):
    return weights @ x / weights.sum(axis=-1)


def sorted_auarc(correct, confidence):
    """Area under the accuracy-rejection curve as it is usually written, ties in row order."""
    by_confidence = correct[np.argsort(-confidence, kind="stable")]
    return np.mean(np.cumsum(by_confidence) / np.arange(1, len(correct) + 1))


def scipy_bootstrap(statistic, correct, confidence):
    return stats.bootstrap(
        (correct, confidence),
        statistic,
        paired=True,
        vectorized=False,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=0,
    )


def seconds(call: Callable[[], object], runs: int) -> float:
    """Return the median CPU time."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return statistics.median(times)


def main() -> None:
    """Print one line per piece of work."""
    rng = np.random.default_rng(0)
    confidence = rng.random(N)
    verbal = np.round(20 * confidence) / 20
    correct = (rng.random(N) < confidence).astype(float)
    other = rng.permutation(correct)
    work = {}
    seeds = itertools.count()  # draws of one seed are kept, and both sides draw in every run
    for name, stated in (("all distinct", confidence), ("21 values", verbal)):
        for statistic, peer, label in (
            (auroc2, roc_auc_score, "AUROC2"),
            (auarc, sorted_auarc, "AUARC"),
        ):
            work[f"{label} interval, {name}"] = (
                lambda statistic=statistic, stated=stated: bootstrap(
                    statistic, correct, stated, n_resamples=RESAMPLES, seed=next(seeds)
                ),
                lambda peer=peer, stated=stated: scipy_bootstrap(peer, correct, stated),
            )
    work["paired permutation of a mean"] = (
        lambda: permutation_test(mean, [correct], [other], n_resamples=RESAMPLES),
        lambda: stats.permutation_test(
            (correct, other),
            lambda x, y: np.mean(x) - np.mean(y),
            permutation_type="samples",
            vectorized=False,
            n_resamples=RESAMPLES,
            rng=0,
        ),
    )
    print(f"| work (N = {N:,}, R = {RESAMPLES:,}) | ours, s | peer, s | ratio |\n| --- | --- | --- | --- |")
    for label, (ours, peer) in work.items():
        ours()
        fast, slow = seconds(ours, RUNS), seconds(peer, PEER_RUNS)
        print(f"| {label} | {fast:.3f} | {slow:.2f} | {slow / fast:.0f} |", flush=True)
    large = rng.random(MANY)
    outcome = (rng.random(MANY) < large).astype(float)
    fast = seconds(lambda: auroc2_interval(outcome, large), PEER_RUNS)
    few = seconds(
        lambda: bootstrap(auroc2, outcome, large, n_resamples=FEW_RESAMPLES, method="transformed"), 1
    )
    slow = few * ALL_RESAMPLES / FEW_RESAMPLES
    print(
        f"| AUROC2 interval, {MANY:,} distinct values; {ALL_RESAMPLES:,} resamples extrapolated from ", end=""
    )
    print(f"{FEW_RESAMPLES} | {fast:.3f} | {slow:.0f} | {slow / fast:.0f} |")


if __name__ == "__main__":
    main()
