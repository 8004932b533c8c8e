"""Kill evaluations at random moments and resume them: ``python -m benchmarks.kill_and_resume --kills 50``.

Each run is the real command, ``inspect eval confidence_tasks/...``, with a model behind a server on the loopback
address that counts every reply it sends. The process is killed (SIGKILL) a random while after a random reply and
resumed, by ``inspect eval-retry`` or by the same command. At the end no trial may be lost or doubled, trials and
metrics must be those of an undisturbed run to the last bit, and no reply may have been sent twice, but for those that
were on the line when the process died.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.integration.faults.kills import Killed, kill_and_resume, undisturbed
from tests.small_runs import SMALL_RUNS

from confidence_tasks.sources.source import mirror_folder


def line(found: Killed) -> str:
    return (
        f"| {found.seed} | {found.task} | {found.how} | {found.calls_before} | {found.lost} | {found.doubled} "
        f"| {found.repeated} | {'yes' if found.same_trials else 'NO'} | {'yes' if found.same_metrics else 'NO'} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument(
        "--tasks", nargs="*", default=None, help="by default all for which there are questions"
    )
    options = parser.parse_args()
    mirrored = mirror_folder() is not None
    chosen = [
        run
        for name, run in SMALL_RUNS.items()
        if (mirrored or not run.needs_mirror) and name in (options.tasks or SMALL_RUNS.keys())
    ]
    print("| seed | task | resumed by | calls before | lost | doubled | repeated | trials | metrics |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    found: list[Killed] = []
    whole = {}
    for seed in range(options.first_seed, options.first_seed + options.kills):
        # Neighbours in the order of seeds are resumed differently, so each task must meet both parities.
        run = chosen[(seed // 2) % len(chosen)]
        if run.task not in whole:
            with tempfile.TemporaryDirectory() as folder:
                whole[run.task] = undisturbed(run, Path(folder))
        with tempfile.TemporaryDirectory() as folder:
            found.append(kill_and_resume(run, seed, whole[run.task], Path(folder)))
        print(line(found[-1]), flush=True)
    print(
        f"\n{len(found)} kills; {sum(k.lost for k in found)} trials lost, {sum(k.doubled for k in found)} doubled; "
        f"{sum(not (k.same_trials and k.same_metrics) for k in found)} ends differ; "
        f"{sum(k.repeated for k in found)} replies sent twice; "
        f"{sum(k.calls_before for k in found)} calls before the kills"
    )


if __name__ == "__main__":
    main()
