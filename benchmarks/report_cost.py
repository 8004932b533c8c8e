"""Write the table of what a report costs in `docs/report.md`: `python -m benchmarks.report_cost`.

One number grows at a time: that of models, of conditions or of questions. Times are CPU seconds of `report` in a new
process, without a cache and without other processes, the least of several runs.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from benchmarks.bench_report import write_logs
from benchmarks.bench_waits import cpu_seconds, program

from confidence_tasks import scale_granularity
from confidence_tasks.studies.scales import STUDY as SCALES

RUNS = 2
"""Number of runs of which the fastest counts."""

START, END = "<!-- cost of a report: start -->", "<!-- cost of a report: end -->"
PAGE = Path(__file__).parents[1] / "docs" / "report.md"


@dataclass(frozen=True)
class Size:
    """The numbers of models, conditions and questions of the logs of a report."""

    models: int = 1
    conditions: int = 5
    questions: int = 1_000

    @property
    def trials(self) -> int:
        """Number of trials."""
        return self.models * self.conditions * self.questions


GROWTH = {"models": (1, 3, 6), "conditions": (2, 5, 13), "questions": (100, 1_000, 3_000)}
"""What grows, and the sizes that are measured."""

UNITS = {"models": (1, "model"), "conditions": (1, "condition"), "questions": (1_000, "1,000 questions")}
"""For how many of them the slope is given, and the words for it."""


def seconds(size: Size) -> float:
    """Return the CPU time of a report on logs of a size."""
    # The last conditions: the baseline is the last one of this design, and the others go on from the first.
    scales = [*SCALES.designs["scale_granularity"].conditions][::-1]
    scales += [each for each in SCALES.conditions if each not in scales]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_logs(
            folder / "logs",
            size.models,
            size.questions,
            tasks=[scale_granularity],
            scales=scales[: size.conditions],
        )
        command = [
            program("confidence-tasks"),
            "report",
            "logs",
            "-o",
            "page.html",
            "--no-cache",
            "--jobs",
            "1",
        ]
        return min(cpu_seconds(command, folder) for _ in range(RUNS))


def slope(name: str, sizes: Sequence[int], times: Sequence[float]) -> str:
    """Return by how much a report takes longer for one more, by least squares."""
    unit, words = UNITS[name]
    (growth, _) = np.polyfit(np.array(sizes) / unit, times, 1)
    return f"{growth:.2f} s for each {words}"


def lines() -> Iterator[str]:
    """Yield the table."""
    yield "| what grows | models | conditions | questions | trials | CPU, s | slope |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | --- |"
    for name, sizes in GROWTH.items():
        measured = [replace(Size(), **{name: size}) for size in sizes]
        times = [seconds(size) for size in measured]
        for size, took in zip(measured, times, strict=True):
            shown = slope(name, sizes, times) if size is measured[-1] else ""
            yield (
                f"| {name} | {size.models} | {size.conditions} | {size.questions:,} | {size.trials:,} | {took:.1f} |"
                f" {shown} |"
            )


def main() -> None:
    """Replace the table in the page."""
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(START)
    _, after = rest.split(END)
    printed, sys.stdout = sys.stdout, sys.stderr  # what the harness prints while logs are written
    table = "\n".join(lines())
    sys.stdout = printed
    PAGE.write_text(f"{before}{START}\n\n{table}\n\n{END}{after}", encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
