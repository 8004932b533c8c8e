"""Time and memory of reports on many logs: one or several processes, cold and warm cache, one more log.

    python benchmarks/bench_report.py [FOLDER] [--models M] [--questions N] [--repeats R] [--scheduler HOST:PORT]

The logs are runs of M simulated subjects on the three designs of the scale study: 15 conditions of N questions. The
messages, events, usage and timing of every sample are copied from one question that was run through the harness;
questions, replies, scores and ids are those of the trial. Conversations are written for the first subject only, as
reports read nothing but summaries. FOLDER keeps the logs for another run.

Inspect's ``samples_df`` reads the same logs. Every program starts in a new process, in turn, and all pages must be
equal.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any, TypeAlias
from zipfile import ZipFile

import psutil
from inspect_ai import eval
from inspect_ai.dataset import Sample
from tests.trials import scale_trial

from confidence_tasks import scale_boundary, scale_granularity, scale_nonstandard
from confidence_tasks.harness.inspect.viewer import dataset, trial_score
from confidence_tasks.harness.items import make_items
from confidence_tasks.harness.parameters import default_parameters
from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.simulation.reply import StageRequest
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.studies.scales import STUDY as SCALES
from confidence_tasks.studies.scales.replies import respond
from confidence_tasks.study.trial import Item

SAMPLES_DF = "import sys; from inspect_ai.analysis import samples_df; print(len(samples_df(sys.argv[1])))"


def subjects(count: int) -> Iterator[tuple[str, Subject]]:
    """Yield subjects of growing accuracy and overconfidence, some of which round."""
    for i in range(count):
        yield (
            f"subject-{i:02}",
            Subject(d_prime=0.8 + 0.15 * (i % 10), meta_d_prime=1.0, bias=0.3 * (i % 5), rounding=i % 2),
        )


TASKS = (scale_granularity, scale_boundary, scale_nonstandard)
"""The three designs of the scale study."""


def write_logs(
    folder: Path,
    models: int,
    questions: int,
    *,
    tasks: Sequence[Callable[..., Any]] = TASKS,
    scales: Sequence[str] | None = None,
) -> None:
    """Write a log of each task for each subject, under some ``scales`` or those of the task."""
    folder.mkdir(parents=True, exist_ok=True)
    for task in tasks:
        (run,) = eval(
            task(sources="arithmetic", n=1, scales=scales and list(scales)),
            model="simulated/ideal",
            log_dir=tempfile.mkdtemp(),
            display="none",
        )
        parameters = {**default_parameters(SCALES), "sources": "arithmetic", "n": questions}
        design = run.eval.task.rpartition("/")[2]
        items = list(make_items(SCALES, parameters, list(scales or SCALES.designs[design].conditions)))
        first = folder / f"{design}-subject-00.eval"
        for name, subject in subjects(models):
            log = folder / f"{design}-{name}.eval"
            if log != first:
                shutil.copyfile(first, log)
            write_log(Path(run.location), log, name, subject, items, with_samples=log == first)
            print(log.name, flush=True)


def write_log(
    template: Path, path: Path, name: str, subject: Subject, items: list[Item], *, with_samples: bool
) -> None:
    """Write the trials of a subject in the form of a log that the harness wrote, member by member.

    Without samples, the log at ``path`` keeps its own, and all after them is written anew.
    """
    with ZipFile(template) as form:
        members = {member: json.loads(form.read(member)) for member in form.namelist()}
        compression = form.infolist()[0].compress_type
    samples = [member for key, member in members.items() if key.startswith("samples/")]
    by_condition = {member["metadata"]["condition"]: member for member in samples}
    summaries = {member["metadata"]["condition"]: member for member in members["summaries.json"]}
    header = members["header.json"]
    run = f"{header['eval']['task']}/{name}"
    header["eval"] |= {"model": f"simulated/{name}", "eval_id": run, "run_id": run, "task_id": run}
    header["eval"]["dataset"] |= {"samples": len(items), "sample_ids": [item.id for item in items]}
    with ZipFile(path, "w" if with_samples else "a", compression) as log:
        if not with_samples:
            keep_samples(log)
        told = []
        for item, sample in zip(items, dataset(items, "arithmetic"), strict=True):
            own = fields(item, sample, name, subject) | {"uuid": f"{name}/{item.id}"}
            told.append(filled(summaries[item.condition], own))
            if with_samples:
                whole = filled(by_condition[item.condition], own)
                log.writestr(f"samples/{item.id}_epoch_1.json", json.dumps(whole))
        log.writestr("summaries.json", json.dumps(told))
        log.writestr("reductions.json", json.dumps(members["reductions.json"]))
        log.writestr("header.json", json.dumps(header))


def keep_samples(log: ZipFile) -> None:
    """Drop what follows the samples of a log opened for appending."""
    log.start_dir = log.getinfo("summaries.json").header_offset
    log.filelist = [member for member in log.filelist if member.header_offset < log.start_dir]
    log.NameToInfo = {member.filename: member for member in log.filelist}


def fields(item: Item, sample: Sample, seed: str, subject: Subject) -> dict[str, Any]:
    """Return what a trial of the subject has of its own, in the form in which the task gives it to the harness."""
    reply = respond(
        item.question, StageRequest(subject, item.prompt, item.condition, "answer", {}, seed)
    ).text
    trial = scale_trial(item.question, Scale.parse(item.condition), reply)
    metadata = sample.metadata or {}
    score = trial_score(SCALES, trial, metadata, answer=str(trial["answer"]), explanation="")
    return {
        "id": sample.id,
        "input": [message.model_dump(exclude_none=True) for message in sample.input],
        "target": sample.target,
        "metadata": metadata,
        "reply": reply,
        "score": score.model_dump(include={"value", "answer", "metadata"}),
    }


def filled(form: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return a sample, or its summary, with the fields of a trial."""
    made = {**form, **{key: own[key] for key in ("id", "uuid", "input", "target", "metadata")}}
    made["scores"] = {scorer: {**score, **own["score"]} for scorer, score in form["scores"].items()}
    if "output" in form:
        made["messages"], made["output"] = deepcopy(form["messages"]), deepcopy(form["output"])
        made["messages"][-1]["content"] = made["output"]["completion"] = own["reply"]
        made["output"]["choices"][0]["message"]["content"] = own["reply"]
    return made


Measured: TypeAlias = tuple[float, float, float, float]
"""Wall and CPU time of a program with its processes, in s, and the memory of the largest and of all, in MB."""


def measured(command: list[str], environment: Mapping[str, str]) -> Measured:
    """Run a program; the memory of all its processes, each page of it counted once, is looked at twice a second."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    together, ended = 0, 0
    while not ended:
        time.sleep(0.5)
        with suppress(psutil.Error):
            root = psutil.Process(process.pid)
            its = [root, *root.children(recursive=True)]
            together = max(together, sum(each.memory_full_info().pss for each in its))
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
    wall = time.perf_counter() - start
    assert status == 0, command
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3, together / 1e6


def turn(folder: Path, page: Path, scheduler: str | None) -> Iterator[tuple[str, Measured]]:
    """Time every program once, one of them on a Dask cluster if any; the page of each report is that of the first."""
    program = str(Path(sys.executable).parent / "confidence-tasks")
    last = sorted(folder.glob("*.eval"))[-1]
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as scratch:
        fewer = Path(scratch, folder.name)  # readers know a log by its name and its folder's
        fewer.mkdir()
        for log in folder.glob("*.eval"):
            if log != last:
                Path(fewer, log.name).symlink_to(log.resolve())
        kept = {"CONFIDENCE_TASKS_CACHE": cache}

        def report(logs: Path, *options: str) -> list[str]:
            return [program, "report", str(logs), "-o", str(page), *options]

        yield "samples_df", measured([sys.executable, "-c", SAMPLES_DF, str(folder)], {})
        pages = []
        for name, options in {
            "1 process": ["--jobs", "1", "--no-cache"],
            "as many as cores": ["--no-cache"],
            "cold cache": [],
            "warm cache": [],
            **({"cluster": ["--scheduler", scheduler, "--no-cache"]} if scheduler else {}),
        }.items():
            yield name, measured(report(folder, *options), kept)
            pages.append(page.read_bytes())
        assert len(set(pages)) == 1
        shutil.rmtree(cache)
        measured(report(fewer), kept)
        yield "one more log", measured(report(folder), kept)
        assert page.read_bytes() == pages[0]


def shown(name: str, took: Measured) -> str:
    """Return a line of what a program took."""
    wall, cpu, largest, together = took
    return f"{name:<16}  {wall:7.1f} s  {cpu:7.1f} s of CPU  {largest:5.0f} MB, in all {together:5.0f} MB"


def main() -> None:
    """Print every turn, and the medians."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--models", type=int, default=10)
    parser.add_argument("--questions", type=int, default=2_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scheduler", help="the address of a Dask scheduler")
    asked = parser.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp())
    if not list(folder.glob("*.eval")):
        write_logs(folder, asked.models, asked.questions)
    found: dict[str, list[Measured]] = {}
    for number in range(asked.repeats):
        for name, took in turn(folder, Path(tempfile.mkdtemp()) / "report.html", asked.scheduler):
            found.setdefault(name, []).append(took)
            print(f"{number}  {shown(name, took)}", flush=True)
    for name, times in found.items():
        wall, cpu, largest, together = (statistics.median(column) for column in zip(*times, strict=True))
        print(f"median {shown(name, (wall, cpu, largest, together))}")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
