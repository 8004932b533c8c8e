"""Meta-d' and its intervals against metadpy, in the same run.

    python -m benchmarks.bench_metad

Each time is the median CPU time of 20 runs on one core; our runs and the peer's alternate. A run of the peer fits one
of the same tables, and its time for all tables is extrapolated.
"""

import os
import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from tests.unit.statistics.peers import load_fit_metad

from confidence_tasks.statistics import bootstrap, fit_meta_d
from confidence_tasks.statistics.sdt import (
    fit_meta_d_threshold,
    fit_uv_sdt,
    m_ratio_2afc,
    m_ratio_ratings,
    two_choice_table,
)

TABLES, TRIALS, RUNS = 10_000, 5_000, 20
EDGES = np.array([0.4, 0.9, 1.4])


def seconds(call: Callable[[], object]) -> float:
    """Return the CPU time of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def trials(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """An observer with d' = 1.5 and confidence that reads its evidence through noise."""
    stimulus = rng.integers(0, 2, n)
    evidence = rng.normal(1.5 * (stimulus - 0.5))
    return (evidence > 0) == stimulus, np.abs(evidence) + 0.5 * rng.normal(size=n), stimulus


def main() -> None:
    """Print one line per piece of work."""
    rng = np.random.default_rng(0)
    correct, confidence, stimulus = trials(rng, TRIALS)
    table = two_choice_table(correct, confidence, stimulus, edges=EDGES)
    cells = np.concatenate(table)
    tables = rng.multinomial(TRIALS, cells / TRIALS, size=TABLES)
    s1, s2 = tables[:, :8], tables[:, 8:]
    thresholds = rng.multinomial(800, [0.15, 0.10, 0.15, 0.60], size=TABLES).reshape(-1, 2, 2)

    fit_metad = load_fit_metad()
    fit_metad(s1[0] + 0.125, s2[0] + 0.125, 4)  # compiles

    def peer_fit(i: int) -> None:
        fit_metad(s1[i] + 0.125, s2[i] + 0.125, 4)

    rows = [
        ("10,000 fits, K = 4", lambda: fit_meta_d(s1, s2), True),
        ("10,000 fits, unequal variance (s = .8)", lambda: fit_meta_d(s1, s2, s=0.8), False),
        (
            "10,000-resample M-ratio interval, n = 5,000, fixed edges",
            lambda: bootstrap(partial(m_ratio_2afc, edges=EDGES), correct, confidence, stimulus),
            True,
        ),
        (
            "the same, quantile edges recomputed, two alternatives",
            lambda: bootstrap(m_ratio_2afc, correct, confidence, stimulus),
            True,
        ),
        (
            "the same, quantile edges recomputed, correctness for stimulus",
            lambda: bootstrap(m_ratio_ratings, correct, confidence),
            True,
        ),
        ("10,000 single-threshold solves", lambda: fit_meta_d_threshold(thresholds), False),
        ("10,000 unequal-variance SDT fits, K = 4", lambda: fit_uv_sdt(s1, s2), False),
    ]
    print("| work | ours | metadpy | ratio |\n| --- | ---: | ---: | ---: |")
    for name, call, has_peer in rows:
        call()  # warms up
        of_ours, of_peer = [], []
        for i in range(RUNS):
            of_ours.append(seconds(call))
            if has_peer:
                of_peer.append(TABLES * seconds(lambda i=i: peer_fit(i)))
        ours = statistics.median(of_ours)
        peer = statistics.median(of_peer) if has_peer else None
        against = f"{peer:,.0f} s | {peer / ours:,.0f}" if peer else "- | -"
        print(f"| {name} | {1000 * ours:.0f} ms | {against} |", flush=True)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
