"""How often intervals of the log-probability study hold the truth, and how often its rules find what is not there.

    python -m benchmarks.validity_nlp_metad --studies 1000 > benchmarks/results_validity_nlp_metad.md

Half an hour on one core with 200 studies. The test suite runs a small part of it.
"""

import argparse

from tests.validity.nlp_null_studies import STUDIES, supported
from tests.validity.nlp_studies import DESIGNS, coverages


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1_000, help="simulated studies of each design")
    parser.add_argument("--questions", type=int, nargs="+", default=[200, 1000])
    parser.add_argument("--designs", nargs="*", default=list(DESIGNS), choices=list(DESIGNS))
    parser.add_argument("--rules", nargs="*", default=list(STUDIES), choices=list(STUDIES))
    asked = parser.parse_args()
    if asked.designs:
        coverage_table(asked.designs, asked.questions, asked.studies)
    if asked.rules:
        chance_table(asked.rules, asked.studies)


def coverage_table(designs: list[str], sizes: list[int], n_studies: int) -> None:
    """Print how often intervals hold the truth."""
    print(
        f"Coverage of 95% intervals (unless said) in {n_studies} studies, in %; in brackets those above and below the"
    )
    print("truth, and in how many studies an interval is printed if not in all.\n")
    print(
        "| evidence | case | measure | questions | truth | covered |\n| --- | --- | --- | --- | --- | --- |"
    )
    for design in designs:
        for n in sizes:
            for (case, measure), found in coverages(DESIGNS[design], n, n_studies).items():
                shown = f"{100 * found.covered:.1f} ({100 * found.above:.1f}, {100 * found.below:.1f})"
                if found.printed < 1.0:
                    shown += f", printed in {found.printed:.0%}"
                print(
                    f"| {design} | {case} | `{measure}` | {n} | {found.truth:.4g} | {shown if found.n else '-'} |",
                    flush=True,
                )


def chance_table(rules: list[str], n_studies: int) -> None:
    """Print how often a hypothesis is supported that is false."""
    print(f"\nFalse hypotheses that are supported, in % of {n_studies} studies of 3,000 questions.\n")
    print("| rule | 1 model | 2 models | 4 models |\n| --- | --- | --- | --- |")
    for rule in rules:
        cells = [
            "-"
            if n_models == 1 and rule[:2] in ("H2", "H4")
            else f"{100 * supported(rule, n=3_000, n_models=n_models, n_studies=n_studies):.1f}"
            for n_models in (1, 2, 4)
        ]
        print(f"| {rule} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
