"""How often prediction-powered intervals contain the truth if a judge with known errors graded the answers.

    python -m benchmarks.judges > benchmarks/results_judges.md

The studies are those of ``tests/validity/judge_studies.py``, which share no code with the package.
"""

from __future__ import annotations

import argparse

from tests.validity.judge_studies import corrected_coverage


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000, help="simulated studies for each figure")
    n_studies = parser.parse_args().studies
    print(
        "# Judges\n\nCoverage corrected (by the judge alone) in %; width relative to that with the labels alone.\n"
    )
    print("| answers | labels | accuracy | overconfidence | brier |\n| --- | --- | --- | --- | --- |")
    for n, n_labels in ((300, 50), (500, 100), (1000, 100), (1000, 300)):
        found = corrected_coverage(n, n_labels, n_studies)
        cells = [
            f"{100 * both:.1f} ({100 * judge:.0f}); {width:.2f}" for both, judge, width in found.values()
        ]
        print(f"| {n} | {n_labels} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
