"""How often decisions keep their guarantees, and what the guarantees cost.

    python -m benchmarks.decisions > benchmarks/results_decisions.md
    python -m benchmarks.decisions --table gates

The studies are those of ``tests/validity/decision_studies.py`` and ``gate_studies.py``, which share no code with the
package.
"""

from __future__ import annotations

import argparse

from tests.validity.decision_studies import SUBJECTS, improvements, population, recalibrated_brier, thresholds
from tests.validity.gate_studies import BOUNDS, N_QUESTIONS, Gates, differences, gates
from tests.validity.gate_studies import SUBJECTS as GATE_SUBJECTS

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


def print_improvements(n_studies: int) -> None:
    """Print how much a cross-fitted improvement varies, and what its standard error says."""
    print(f"\n# Improvement of the Brier score by recalibration\n\n{n_studies:,} studies.\n")
    print("| subject | map | n | deviation | standard error | correlation | covered |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for subject in ("typical", "ideal"):
        for method in ("isotonic", "logistic"):
            for n in (200, 1000):
                found = improvements(subject, method, n, n_studies)
                errors = f"{found.deviation:.4f} | {found.error:.4f} | {found.correlation:+.2f}"
                print(f"| {subject} | {method} | {n} | {errors} | {100 * found.covered:.1f} |", flush=True)


def print_gates(n_studies: int) -> None:
    """Print how often gates decide at the bound and away from it, and after how many questions."""
    print(
        f"\n# Gates\n\nAt the bound: decisions in % of {n_studies:,} studies; in brackets: ordinary intervals.\n"
    )
    print("| subject | " + " | ".join(BOUNDS) + " |\n| --- |" + " --- |" * len(BOUNDS))
    for subject in GATE_SUBJECTS:
        found = [gates(subject, measure, 0.0, n_studies) for measure in BOUNDS]
        cells = [f"{100 * each.decided:.1f} ({100 * each.peeking:.0f})" for each in found]
        print(f"| {subject} | {' | '.join(cells)} |", flush=True)
    print(f"\nOverconfidence below the bound: met in %, median and mean questions of {N_QUESTIONS:,}.\n")
    print("| subject | by | met | not met | median | mean |\n| --- | --- | --- | --- | --- | --- |")
    for subject in GATE_SUBJECTS:
        for margin in (0.05, 0.1):
            found_away = gates(subject, "overconfidence", margin, n_studies)
            print(f"| {subject} | {margin:g} | {_away(found_away, above=False)} |", flush=True)
    print("\nTwo releases: the better one is found in %, the worse one, median and mean questions.\n")
    print(
        "| difference | disagree on | found | wrong | median | mean |\n| --- | --- | --- | --- | --- | --- |"
    )
    for disagreement in (0.2, 0.25, 0.3):
        found_pair = differences(0.07, disagreement, n_studies)
        print(f"| 0.07 | {disagreement:g} | {_away(found_pair, above=True)} |", flush=True)


def _away(found: Gates, *, above: bool) -> str:
    """Return the cells of gates whose true side is above or below the bound."""
    right, wrong = (found.above, found.below) if above else (found.below, found.above)
    return f"{100 * right:.1f} | {100 * wrong:.1f} | {found.median:.0f} | {found.mean:.0f}"


TABLES = {
    "thresholds": print_thresholds,
    "recalibration": print_recalibration,
    "improvements": print_improvements,
    "gates": print_gates,
}
DIVISORS = {"recalibration": 10, "improvements": 5}
"""Tables with fewer studies, as they fit maps."""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", choices=TABLES, action="append", help="a table to make; by default all")
    parser.add_argument("--studies", type=int, default=2000, help="simulated studies for each figure")
    arguments = parser.parse_args()
    for name in arguments.table or TABLES:
        TABLES[name](arguments.studies // DIVISORS.get(name, 1))


if __name__ == "__main__":
    main()
