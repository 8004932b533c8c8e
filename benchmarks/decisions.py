"""How often decisions keep their guarantees, and what the guarantees cost.

    python -m benchmarks.decisions > benchmarks/results_decisions.md

The studies are those of ``tests/validity/decision_studies.py``, which share no code with the package.
"""

from __future__ import annotations

import argparse

from tests.validity.decision_studies import SUBJECTS, population, recalibrated_brier, thresholds

SIZES = (100, 300, 1000)


def print_thresholds(n_studies: int) -> None:
    """Print how often thresholds keep their guarantee, and the share of answers that they accept."""
    print(
        f"# Acceptance thresholds\n\nGuarantee kept in % of {n_studies:,} studies; mean share accepted in %.\n"
    )
    print(
        "| accuracy | subject | possible | " + " | ".join(f"n = {n}: kept | accepted" for n in SIZES) + " |"
    )
    print("| --- | --- | --- |" + " --- | --- |" * len(SIZES))
    for accuracy in (0.9, 0.95):
        for subject in SUBJECTS:
            cells = [thresholds(subject, n, accuracy, n_studies) for n in SIZES]
            figures = " | ".join(f"{100 * kept:.1f} ({100 * share:.0f})" for kept, share in cells)
            possible = 100 * population(subject).largest_share(accuracy)
            print(f"| {accuracy:g} | {subject} | {possible:.0f} | {figures} |", flush=True)


def print_recalibration(n_studies: int) -> None:
    """Print how well a cross-fitted Brier score tells that of the map on other questions."""
    print(f"\n# Recalibration\n\nBrier score, {n_studies:,} studies: cross-fitted minus true score;")
    print("coverage of the improvement in %.\n")
    print("| subject | map | n | excess | mean map | own map |")
    print("| --- | --- | --- | --- | --- | --- |")
    for subject in ("typical", "ideal"):
        for method in ("isotonic", "logistic"):
            for n in (200, 1000):
                excess, mean, own = recalibrated_brier(subject, method, n, n_studies)
                figures = f"{excess:+.4f} | {100 * mean:.1f} | {100 * own:.1f}"
                print(f"| {subject} | {method} | {n} | {figures} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000, help="simulated studies for each figure")
    n_studies = parser.parse_args().studies
    print_thresholds(n_studies)
    print_recalibration(n_studies // 10)


if __name__ == "__main__":
    main()
