"""Milliseconds that the lm-eval start-up hook adds to every start of Python in the environment.

Two bare environments, one with the hook's file, started in turn many times; and the hook's line alone::

    python benchmarks/bench_startup_hook.py
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from confidence_tasks import _startup

RUNS = 200
HOOK = Path(_startup.__file__).with_name("_startup.pth").read_text()
PROBE = f"import time; start = time.perf_counter(); exec({HOOK!r}); print(time.perf_counter() - start)"


def environment(folder: Path, *, hook: bool) -> str:
    """Make an environment and return its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site_packages = next(folder.glob("lib/python*/site-packages"))
    if hook:
        (site_packages / "confidence_tasks_lm_eval.pth").write_text(HOOK)
    return str(folder / "bin" / "python")


def start(python: str) -> float:
    """Return the milliseconds of one start and end."""
    begin = time.perf_counter()
    subprocess.run([python, "-c", ""], check=True)
    return (time.perf_counter() - begin) * 1_000


def line(python: str) -> float:
    """Return the milliseconds of the hook's line, compiled and executed for the first time in its process."""
    done = subprocess.run([python, "-c", PROBE], capture_output=True, text=True, check=True)
    return float(done.stdout) * 1_000


def main() -> None:
    """Print medians; pairs of neighbouring starts cancel what else the machine is doing."""
    with tempfile.TemporaryDirectory() as folder:
        bare = environment(Path(folder, "bare"), hook=False)
        hooked = environment(Path(folder, "hooked"), hook=True)
        added = [start(hooked) - start(bare) for _ in range(RUNS)]
        alone = [line(bare) for _ in range(RUNS)]
    print(f"added to a start: median {statistics.median(added):.2f} ms ({RUNS} pairs)")
    print(
        f"its line alone: median {statistics.median(alone):.2f} ms, least {min(alone):.2f} ms ({RUNS} starts)"
    )


if __name__ == "__main__":
    main()
