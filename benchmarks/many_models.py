"""How often comparisons of ten models at once find differences of equal models, and miss true ranks.

    python -m benchmarks.many_models errors > benchmarks/results_many_models.md
    python -m benchmarks.many_models ranks >> benchmarks/results_many_models.md

The studies are those of ``tests/validity/many_models.py``, which share no code with the package.
"""

from __future__ import annotations

import argparse

from tests.validity.many_models import MEASURES, false_positives, ranks_covered

DESIGNS = (
    ("50 questions", 50, {}),
    ("200 questions", 200, {}),
    ("50 questions, 3 epochs", 50, {"epochs": 3}),
    ("60 questions, 15 passages", 60, {"passages": 15}),
)
"""Label, number of questions, and how they are asked."""

MEASURES_BY_EFFORT = (("accuracy", "overconfidence", "brier", "auroc"), ("ece",))
"""The last needs many times the time; it has a quarter of the studies."""


def print_errors(n_studies: int) -> None:
    """Print in how many studies of ten equal models any of 45 pairs differs."""
    print("# Ten equal models\n\nAny of 45 pairs differs, in % of studies (with single intervals).\n")
    print("| design | " + " | ".join(MEASURES) + " |")
    print("| --- |" + " --- |" * len(MEASURES))
    for label, n, asked in DESIGNS:
        cells = []
        for part, measures in enumerate(MEASURES_BY_EFFORT):
            found = false_positives(n, n_studies // (4 if part else 1), measures, **asked)
            cells += [f"{100 * both:.1f} ({100 * single:.0f})" for both, single in found.values()]
        print(f"| {label} | {' | '.join(cells)} |", flush=True)


def print_ranks(n_studies: int) -> None:
    """Print in how many studies the limits of all ten ranks contain the true ranks."""
    print("\n# Ranks of ten models, some of them equal\n\nAll limits hold, in % of studies.\n")
    print("| questions | " + " | ".join(MEASURES) + " |")
    print("| --- |" + " --- |" * len(MEASURES))
    for n in (50, 200):
        cells = []
        for part, measures in enumerate(MEASURES_BY_EFFORT):
            found = ranks_covered(n, n_studies // (4 if part else 1), measures)
            cells += [f"{100 * covered:.1f}" for covered in found.values()]
        print(f"| {n} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=("errors", "ranks"))
    parser.add_argument("--studies", type=int, default=1000, help="simulated studies for each figure")
    options = parser.parse_args()
    {"errors": print_errors, "ranks": print_ranks}[options.table](options.studies)


if __name__ == "__main__":
    main()
