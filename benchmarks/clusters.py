"""Coverage of the interval of the ECE, and size of its test, with epochs and with passages.

    python -m benchmarks.clusters --studies 2000 > benchmarks/results_clusters.md

The studies are those of ``tests/validity/clustered_studies.py``, which share no code with the package.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from tests.validity.clustered_studies import EPOCHS, PASSAGES, Generator, coverage, size

WAYS: Mapping[str, dict[str, int | str]] = {
    "10 bins": {},
    "20 bins": {"bins": 20},
    "10 bins of equal mass": {"binning": "equal_mass"},
}
TIMES: Mapping[str, tuple[Mapping[str, Generator], int, tuple[int, ...]]] = {
    "200 questions, trials of each": (EPOCHS, 200, (1, 3, 5, 10)),
    "40 passages, questions of each": (PASSAGES, 40, (5, 10)),
    "20 passages, questions of each": (PASSAGES, 20, (5, 10)),
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400, help="simulated studies for each figure")
    n_studies = parser.parse_args().studies
    print(
        f"# Epochs and passages\n\nCoverage of the 95% interval of the ECE in %, {n_studies:,} studies each."
    )
    for title, (generators, units, times) in TIMES.items():
        print(f"\n| {title} | bins | {' | '.join(map(str, times))} |\n| --- | --- |{' --- |' * len(times)}")
        for name, generator in generators.items():
            for way, how in WAYS.items():
                found = [100.0 * coverage(generator, units, each, n_studies, **how) for each in times]
                print(f"| {name} | {way} | {' | '.join(f'{each:.1f}' for each in found)} |", flush=True)
    print("\nSize of `compare` for two equal models in %, 60 questions (or passages) with 5 trials each.\n")
    print("| models | size |\n| --- | --- |")
    for name, generator in {**EPOCHS, **PASSAGES}.items():
        print(f"| {name} | {100.0 * size(generator, 60, 5, n_studies // 2):.1f} |", flush=True)


if __name__ == "__main__":
    main()
