"""From 100,000 trials in Inspect logs to a report, beside Inspect's own ``samples_df`` on the same logs.

    python benchmarks/bench_report.py [FOLDER]

The logs are ten runs of the granularity design, 10,000 trials each, by ten simulated subjects. One question run through
the harness gives the form of every sample: its messages, events, usage and timing. The questions, replies, scores and
ids are each trial's own. FOLDER keeps the logs for another run. Both programs are started anew, in turn.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from inspect_ai import eval

from confidence_tasks.harness.inspect.samples import Item, dataset
from confidence_tasks.harness.questions import question_metadata
from confidence_tasks.simulation.respond import respond
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.studies.scales.scale import GRANULARITY, Scale
from confidence_tasks.studies.scales.task import scale_granularity, scale_items
from confidence_tasks.studies.scales.trials import scale_trial

MODELS = 10
QUESTIONS = 2_000
REPEATS = 3

SAMPLES_DF = "import sys; from inspect_ai.analysis import samples_df; print(len(samples_df(sys.argv[1])))"


def subjects() -> Iterator[tuple[str, Subject]]:
    """Yield subjects of growing accuracy and overconfidence, some of which round."""
    for i in range(MODELS):
        yield (
            f"subject-{i}",
            Subject(d_prime=0.8 + 0.15 * i, meta_d_prime=1.0, bias=0.3 * (i % 5), rounding=i % 2),
        )


def write_logs(folder: Path) -> None:
    """Write a log for each subject."""
    folder.mkdir(parents=True, exist_ok=True)
    (run,) = eval(
        scale_granularity(sources="arithmetic", n=1),
        model="simulated/ideal",
        log_dir=tempfile.mkdtemp(),
        display="none",
    )
    items = list(scale_items(GRANULARITY, ["arithmetic"], n=QUESTIONS))
    dataset(items, "arithmetic")
    for name, subject in subjects():
        write_log(Path(run.location), folder / f"{name}.eval", name, subject, items)
        print(f"{name}.eval", flush=True)


def write_log(template: Path, path: Path, name: str, subject: Subject, items: list[Item]) -> None:
    """Write the trials of a subject in the form of a log that the harness wrote, member by member."""
    with ZipFile(template) as form, ZipFile(path, "w", form.infolist()[0].compress_type) as log:
        members = {member: json.loads(form.read(member)) for member in form.namelist()}
        samples = [member for key, member in members.items() if key.startswith("samples/")]
        by_condition = {member["metadata"]["condition"]: member for member in samples}
        summaries = {member["metadata"]["condition"]: member for member in members["summaries.json"]}
        header = members["header.json"]
        header["eval"] |= {"model": f"simulated/{name}", "eval_id": name, "run_id": name, "task_id": name}
        header["eval"]["dataset"] |= {"samples": len(items), "sample_ids": [item.id for item in items]}
        told = []
        for item in items:
            own = fields(item, subject) | {"uuid": f"{name}/{item.id}"}
            log.writestr(
                f"samples/{item.id}_epoch_1.json", json.dumps(filled(by_condition[item.condition], own))
            )
            told.append(filled(summaries[item.condition], own))
        log.writestr("summaries.json", json.dumps(told))
        log.writestr("reductions.json", json.dumps(members["reductions.json"]))
        log.writestr("header.json", json.dumps(header))


def fields(item: Item, subject: Subject) -> dict[str, Any]:
    """Return what a trial of the subject has of its own."""
    reply = respond(subject, item.question, item.prompt, seed="0").text
    trial = scale_trial(item.question, Scale.parse(item.condition), reply)
    return {
        "id": item.id,
        "input": item.prompt,
        "target": item.question.gold,
        "metadata": {"condition": item.condition, **question_metadata(item.question), **item.metadata},
        "reply": reply,
        "score": {"value": trial, "answer": trial["answer"]},
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


def seconds(command: list[str]) -> tuple[float, float]:
    """Return the wall and CPU time of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print both times of every turn, and the ratio of the medians."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    if not list(folder.glob("*.eval")):
        write_logs(folder)
    page = str(Path(tempfile.mkdtemp()) / "report.html")
    report = str(Path(sys.executable).parent / "confidence-tasks")
    commands = {
        "samples_df": [sys.executable, "-c", SAMPLES_DF, str(folder)],
        "report": [report, "report", str(folder), "-o", page],
    }
    wall: dict[str, list[float]] = {name: [] for name in commands}
    cpu: dict[str, list[float]] = {name: [] for name in commands}
    rows = subprocess.run(commands["samples_df"], check=True, capture_output=True, text=True).stdout
    assert int(rows) == MODELS * QUESTIONS * len(GRANULARITY), rows
    for turn in range(REPEATS):
        for name, command in commands.items():
            took = seconds(command)
            wall[name].append(took[0])
            cpu[name].append(took[1])
            print(f"{turn}  {name:<10}  {took[0]:6.1f} s  {took[1]:6.1f} s of CPU", flush=True)
    for what, times in (("wall", wall), ("CPU", cpu)):
        medians = {name: statistics.median(of_name) for name, of_name in times.items()}
        print(f"median {what} {medians}, ratio {medians['report'] / medians['samples_df']:.2f}")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
