"""Every task against a server that misbehaves in every way: ``python -m benchmarks.misbehaving_server [TASK ...]``.

Prints what became of the samples that met each misbehaviour, and what is wrong, which should be nothing. The short
tests try two tasks, the slow ones all.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from tests.integration.faults.loopback import ENVIRONMENT
from tests.integration.faults.misbehaviours import MISBEHAVIOURS, fates
from tests.small_runs import SMALL_RUNS

from confidence_tasks.sources.source import mirror_folder


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tasks", nargs="*", help="by default all for which there are questions")
    mirrored = mirror_folder() is not None
    possible = [name for name, run in SMALL_RUNS.items() if mirrored or not run.needs_mirror]
    tasks = parser.parse_args().tasks or possible
    labels: dict[str, Counter[str]] = defaultdict(Counter)
    wrong = []
    for task in tasks:
        with tempfile.TemporaryDirectory() as folder:
            os.environ.update(ENVIRONMENT, INSPECT_CACHE_DIR=folder)
            found, faults = fates(SMALL_RUNS[task], Path(folder))
        wrong += [f"{task}: {fault}" for fault in faults]
        for fate in found:
            labels[fate.behaviour][fate.label] += 1
            wrong += [f"{task}, {fate.behaviour}: {fault}" for fault in fate.faults]
        print(f"{task}: {len(found)} samples, {len(wrong)} faults so far", file=sys.stderr, flush=True)
    print("| what the server does | must become | samples |\n| --- | --- | --- |")
    for name in ("", *MISBEHAVIOURS):
        must = MISBEHAVIOURS[name].outcome if name else "undisturbed"
        counts = ", ".join(f"{count} {label}" for label, count in labels[name].most_common())
        print(f"| {name or 'nothing wrong'} | {must} | {counts} |")
    print(f"\n{len(tasks)} tasks, {sum(map(Counter.total, labels.values()))} samples, {len(wrong)} faults")
    print(*wrong, sep="\n")


if __name__ == "__main__":
    main()
