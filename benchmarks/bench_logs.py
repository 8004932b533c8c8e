"""Time to read and to write logs, compared with an alternative in the same run.

    python -m benchmarks.bench_logs FOLDER [SAMPLES ...]

Reading: every log in FOLDER, which `bench_report.py` fills, compared with `json.loads` of the same summaries. Writing:
SAMPLES samples (by default 500, 1,000 and 2,000), compared with Inspect's `write_eval_log`. Times are CPU time, the
minimum of three runs.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

from inspect_ai.log import EvalLog, condense_sample, read_eval_log, write_eval_log

from confidence_tasks.harness.compat import LogWriter, run_quietly
from confidence_tasks.logs.inspect_logs import read_inspect_log
from confidence_tasks.logs.log_contents import SUMMARIES


def seconds(work: Callable[[], object]) -> float:
    """Return the least CPU time of three calls."""
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def loaded(path: Path) -> int:
    """Return the number of samples in a log, all of whose summaries are decoded."""
    with ZipFile(path) as archive:
        return len(json.loads(archive.read(SUMMARIES)))


def write_each(log: EvalLog, path: str) -> None:
    """Write a log sample by sample, as `score` and `rescore` do."""

    async def write() -> None:
        writer = LogWriter(log.eval, path)
        await writer.start()
        for sample in log.samples or []:
            await writer.add(condense_sample(sample))
        await writer.finish(log)

    run_quietly(write())


def main(folder: Path, sizes: list[int]) -> None:
    """Print both tables."""
    print("| trials | read, s | json.loads alone, s |\n| ---: | ---: | ---: |")
    paths = sorted(folder.glob("*.eval"))
    ours = theirs = trials = 0.0
    for path in paths:
        trials += sum(map(len, read_inspect_log(str(path))))
        ours += seconds(lambda path=path: read_inspect_log(str(path)))
        theirs += seconds(lambda path=path: loaded(path))
    print(f"| {trials:,.0f} | {ours:.2f} | {theirs:.2f} |\n")
    print("| samples | LogWriter, ms a sample | write_eval_log, ms a sample |\n| ---: | ---: | ---: |")
    log = read_eval_log(str(paths[0]))
    samples = log.samples or []
    with tempfile.TemporaryDirectory() as scratch:
        for size in sizes:
            log.samples = samples[:size]
            each = (
                1000 * seconds(lambda write=write: write(log, f"{scratch}/made.eval")) / size
                for write in (write_each, write_eval_log)
            )
            print(f"| {size:,} | {' | '.join(f'{time:.2f}' for time in each)} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(size) for size in sys.argv[2:]] or [500, 1_000, 2_000])
