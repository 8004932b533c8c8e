"""Coverage of the intervals of headline measures, and size of the test of the ECE, with epochs and with passages.

    python -m benchmarks.clusters --studies 2000 > benchmarks/results_clusters.md
    python -m benchmarks.clusters --measures --studies 400 >> benchmarks/results_clusters.md

The studies are those of ``tests/validity/clustered_studies.py`` and ``clustered_measures.py``, which draw them without
code of the package.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from tests.validity.clustered_measures import DESIGNS
from tests.validity.clustered_measures import coverage as coverage_of_measures
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
    parser.add_argument("--measures", action="store_true", help="the table of all headline measures only")
    given = parser.parse_args()
    (print_measures if given.measures else print_calibration)(given.studies)


def print_measures(n_studies: int) -> None:
    """Print the coverage of every headline measure, with 100 questions or 40 passages."""
    columns = [(True, 100, times) for times in (1, 3, 5, 10)] + [(False, 40, times) for times in (5, 10)]
    heads = [f"{times} {'epochs' if is_epoch else 'questions a passage'}" for is_epoch, _, times in columns]
    print(
        f"\n| coverage in %, {n_studies:,} studies | {' | '.join(heads)} |\n| --- |{' --- |' * len(columns)}",
        flush=True,
    )
    for design in DESIGNS:
        cells: dict[str, list[str]] = {name: [] for name in design.measures}
        for is_epoch, units, times in columns:
            draws = (design.epochs if is_epoch else design.passages).values()
            found = [
                coverage_of_measures(design, draw, units, times, n_studies, is_epoch=is_epoch)
                for draw in draws
            ]
            for name, row in cells.items():
                row.append(" / ".join(f"{100.0 * each[name][0]:.1f}" for each in found))
        for name, row in cells.items():
            print(f"| {design.study}, `{name}` | {' | '.join(row)} |", flush=True)


def print_calibration(n_studies: int) -> None:
    """Print the coverage of the ECE, and the size of its test."""
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
