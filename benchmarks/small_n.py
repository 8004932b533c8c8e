"""Write the table of measures of 5 to 50 answers in `docs/reliability.md`: `python -m benchmarks.small_n`.

Confidence is unrelated to correctness, so that every measure of metacognition has a known value. Each cell shows the
median of the values, the share of studies with a value, and the share of their intervals that contain the known value.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from tests.small_studies import SIZES, SUBJECTS

from confidence_tasks import summary

TRUE_VALUES = {"auroc": 0.5, "meta_information": 0.0, "mratio": 0.0}
"""Values of measures if confidence is unrelated to correctness."""

ACCURACIES = {"weak, unrelated": 0.35, "unrelated": 0.75, "strong, unrelated": 0.95}
START, END = "<!-- small n: start -->", "<!-- small n: end -->"
PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"


def simulated(subject: str, n: int, n_studies: int) -> pd.DataFrame:
    """Return the measures of some studies."""
    answers = (SUBJECTS[subject](np.random.default_rng([n, i]), n) for i in range(n_studies))
    return pd.concat(
        summary(*each, measures=list(TRUE_VALUES), n_resamples=400).to_frame() for each in answers
    )


def cell(table: pd.DataFrame, measure: str, truth: float) -> str:
    """Return what the studies show of a measure."""
    rows = table[table["measure"] == measure]
    shown = rows[rows["value"].notna()]
    intervals = shown[shown["low"].notna()]
    if shown.empty:
        return "-"
    text = f"{shown['value'].median():.2f} in {len(shown) / len(rows):.0%}"
    if intervals.empty:
        return f"{text}, no interval"
    contain = (intervals["low"] <= truth + 1e-9) & (truth - 1e-9 <= intervals["high"])
    return f"{text}, {contain.mean():.0%} of {len(intervals)}"


def lines(n_studies: int) -> Iterator[str]:
    """Yield the lines of the table."""
    names = (f"`{name}` ({truth:g})" for name, truth in TRUE_VALUES.items())
    yield "| accuracy | answers | " + " | ".join(names) + " |"
    yield "| --- " * (2 + len(TRUE_VALUES)) + "|"
    for subject, accuracy in ACCURACIES.items():
        for n in SIZES:
            table = simulated(subject, n, n_studies)
            cells = [cell(table, name, truth) for name, truth in TRUE_VALUES.items()]
            yield f"| {accuracy} | {n} | " + " | ".join(cells) + " |"


def main() -> None:
    """Replace the table in the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=100, help="number of studies of each size")
    n_studies = parser.parse_args().studies
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(START)
    _, after = rest.split(END)
    table = "\n".join(lines(n_studies))
    PAGE.write_text(f"{before}{START}\n\n{table}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
