"""Share of an Inspect run that is spent in this package: 1,000 simulated samples through the real harness.

    python benchmarks/bench_overhead.py

The running process is looked at every 5 ms of its CPU time; a look counts as ours when, from the innermost function on
the main thread's stack outwards, one of this package comes before one of the harness: our code and the libraries that
it calls, but not the harness where a solver of ours asks it for a reply. Start-up and imports are excluded by a first
run.
"""

import signal
import tempfile
import time
from pathlib import Path
from types import FrameType

import inspect_ai
from inspect_ai import eval

import confidence_tasks
from confidence_tasks.studies.scales.task import scale_granularity

OURS = str(Path(confidence_tasks.__file__).parent)
HARNESS = str(Path(inspect_ai.__file__).parent)
SAMPLES = 1_000
INTERVAL = 0.005


class Sampler:
    """Counts of looks at the running process, and of those that found it in this package."""

    def __init__(self) -> None:
        self.looks = self.ours = 0

    def look(self, _signal: int, frame: FrameType | None) -> None:
        """Look at the stack once."""
        self.looks += 1
        while frame is not None:
            file = frame.f_code.co_filename
            if file.startswith((OURS, HARNESS)):
                self.ours += file.startswith(OURS)
                return
            frame = frame.f_back


def run(questions: int, folder: str) -> None:
    """Run the five granularity scales on ``questions`` questions."""
    task = scale_granularity(sources="arithmetic", n=questions)
    (log,) = eval(task, model="simulated/overconfident", log_dir=folder, display="none")
    assert log.status == "success", log.error


def main() -> None:
    """Print the CPU time and the share of it that is ours."""
    sampler = Sampler()
    with tempfile.TemporaryDirectory() as folder:
        run(2, folder)
        signal.signal(signal.SIGPROF, sampler.look)
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
        run(SAMPLES // 5, folder)
        signal.setitimer(signal.ITIMER_PROF, 0)
        seconds = time.process_time() - start
    share = sampler.ours / sampler.looks
    print(
        f"{SAMPLES} samples: {seconds:.1f} s of CPU, {share:.1%} of it in confidence_tasks ({sampler.looks} looks)"
    )


if __name__ == "__main__":
    main()
