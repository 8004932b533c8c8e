"""Share of an Inspect run that is spent in this package: simulated samples through the real harness.

    python benchmarks/bench_overhead.py [SAMPLES] [headline|all]

By default the run has 1,000 samples and the default metrics. The script also prints the share of the metrics and that
of the simulated subject, which a real run does not have.

A profiler samples the stack of the main thread every 5 ms of CPU time. A sample counts as ours if, going outwards from
the innermost function, a function of this package comes before one of the harness. This includes the libraries that our
code calls, but not the harness where our solver asks it for a reply. A first run excludes start-up and imports.
"""

import signal
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType

import inspect_ai
from inspect_ai import eval

import confidence_tasks
from confidence_tasks import scale_granularity

OURS = str(Path(confidence_tasks.__file__).parent)
HARNESS = str(Path(inspect_ai.__file__).parent)
METRICS = f"{OURS}/harness/inspect/metrics.py"
SUBJECT = f"{OURS}/harness/inspect/simulated.py"
SAMPLES = 1_000
INTERVAL = 0.005


class Sampler:
    """Counts of looks at the running process, of those that found it in this package, and of these by part."""

    def __init__(self) -> None:
        self.looks = self.ours = self.metrics = self.subject = 0

    def sample(self, _signal: int, frame: FrameType | None) -> None:
        """Look at the stack once."""
        self.looks += 1
        while frame is not None:
            file = frame.f_code.co_filename
            if file.startswith((OURS, HARNESS)):
                if file.startswith(OURS):
                    self.ours += 1
                    self.metrics += is_within(frame, METRICS)
                    self.subject += is_within(frame, SUBJECT)
                return
            frame = frame.f_back


def is_within(frame: FrameType | None, file: str) -> bool:
    """Whether a function of a file is on a stack."""
    while frame is not None and frame.f_code.co_filename != file:
        frame = frame.f_back
    return frame is not None


def run(questions: int, folder: str, metrics: str) -> None:
    """Run the five granularity scales on ``questions`` questions."""
    task = scale_granularity(sources="arithmetic", n=questions, metrics=metrics)
    (log,) = eval(task, model="simulated/overconfident", log_dir=folder, display="none")
    assert log.status == "success", log.error


def main() -> None:
    """Print the CPU time and the share of it that is ours."""
    sampler = Sampler()
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES
    metrics = sys.argv[2] if len(sys.argv) > 2 else "headline"
    with tempfile.TemporaryDirectory() as folder:
        run(2, folder, metrics)
        signal.signal(signal.SIGPROF, sampler.sample)
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
        run(samples // 5, folder, metrics)
        signal.setitimer(signal.ITIMER_PROF, 0)
        seconds = time.process_time() - start
    ours, of_metrics, of_subject = (
        f"{count / sampler.samples:.1%}" for count in (sampler.ours, sampler.metrics, sampler.subject)
    )
    print(
        f"{samples} samples, {metrics}: {seconds:.1f} s of CPU, {ours} of it in confidence_tasks, {of_metrics} in its"
        f" metrics, {of_subject} in its simulated subject ({sampler.samples} looks)"
    )


if __name__ == "__main__":
    main()
