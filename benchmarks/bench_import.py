"""CPU seconds of imports: what the plugin adds to ``import inspect_ai``, and the statistics to ``import numpy``.

    python benchmarks/bench_import.py

Each is the median over fresh processes, in turn.
"""

import statistics
import subprocess
import sys

RUNS = 7

PROBE = """
import time
import {base}
start = time.process_time()
{statement}
print(time.process_time() - start)
"""

IMPORTS = {
    "the plugin": ("inspect_ai", "import confidence_tasks._registry"),
    "statistics": ("numpy", "import confidence_tasks.statistics"),
    "ece": ("numpy", "from confidence_tasks.statistics import ece"),
    "all families of statistics": (
        "numpy",
        "import confidence_tasks.statistics as s; [getattr(s, name) for name in s.FAMILIES]",
    ),
    "the parts of SciPy that they use": (
        "numpy",
        "import scipy.fft, scipy.optimize, scipy.sparse, scipy.special, scipy.stats",
    ),
}


def main() -> None:
    """Print the median and the range of each."""
    print(f"| import | beyond | CPU, s (median of {RUNS}) | range |\n| --- | --- | --- | --- |")
    for label, (base, statement) in IMPORTS.items():
        command = [sys.executable, "-c", PROBE.format(base=base, statement=statement)]
        added = [
            float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            for _ in range(RUNS)
        ]
        print(f"| {label} | {base} | {statistics.median(added):.3f} | {min(added):.3f} to {max(added):.3f} |")


if __name__ == "__main__":
    main()
