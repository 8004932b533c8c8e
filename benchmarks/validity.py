"""How often the package's intervals hold the truth, and how often its tests find what is not there.

    python -m benchmarks.validity --studies 1000 --resamples 500 --questions 100 200 "scales, typical" "scales, expert"
    python -m benchmarks.validity --sizes

The first prints the coverage of every interval that a report of such studies prints (by default of all populations),
the second the sizes of tests. A thousand studies of one population take one to ten minutes on one core. The test suite
runs a small part of it.
"""

import argparse

from tests.validity.null_studies import STUDIES, size
from tests.validity.populations import POPULATIONS, population
from tests.validity.simulated_studies import Coverage, coverages

from confidence_tasks.report.estimates.settings import Settings

N_NULL_STUDIES = 2_000

HEADER = (
    "| population | questions | studies | resamples | group | measure | interval | truth | coverage | above | below |"
    " withheld |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
)


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("populations", nargs="*", default=list(POPULATIONS), help="of which; by default all")
    parser.add_argument("--studies", type=int, default=500, help="simulated studies of each population")
    parser.add_argument("--resamples", type=int, default=500, help="resamples of each study")
    parser.add_argument("--questions", type=int, nargs="+", default=[200], help="questions in a study")
    parser.add_argument("--sizes", action="store_true", help="the sizes of tests instead")
    asked = parser.parse_args()
    if asked.sizes:
        size_table()
    else:
        coverage_table(asked.populations, asked.questions, asked.studies, asked.resamples)


def coverage_table(names: list[str], sizes: list[int], n_studies: int, n_resamples: int) -> None:
    """Print how often intervals hold the truth, of the studies that print one, and how many print none, in %."""
    print(HEADER)
    for name in names:
        for n in sizes:
            found = coverages(population(name), n, n_studies, Settings(n_resamples))
            for (group, measure), cell in found.items():
                print(
                    f"| {name} | {n} | {n_studies} | {n_resamples} | {group} | {measure} |"
                    f" {population(name).methods[measure]} | {cell.truth:.4g} | {shown(cell)} |",
                    flush=True,
                )


def shown(cell: Coverage) -> str:
    """Coverage, the shares of intervals above and below the truth, and the share of studies without one."""
    numbers = (cell.covered, cell.above, cell.below) if cell.n_defined else ()
    texts = [f"{100.0 * number:.1f}" for number in numbers] or ["-", "-", "-"]
    return " | ".join([*texts, f"{100.0 * cell.withheld:.1f}"])


def size_table() -> None:
    """Print how often tests find what is not there."""
    print("\n# Size of tests at 5%\n")
    print(f"{N_NULL_STUDIES} simulated studies each, in which there is nothing to find.\n")
    print("| test | n = 40 | n = 200 |\n| --- | --- | --- |")
    for name in STUDIES:
        print(f"| {name} |", *(f"{size(name, n, N_NULL_STUDIES):.3f} |" for n in (40, 200)), flush=True)


if __name__ == "__main__":
    main()
