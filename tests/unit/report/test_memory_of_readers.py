"""Files of many small JSON values, which take thousands of bytes each when validated, do not exhaust the memory."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from inspect_ai.log import read_eval_log, write_eval_log
from tests.integration.golden_logs import EXAMPLES
from tests.sizes import ALL, is_sampled

from confidence_tasks.report import collect

pytest.importorskip("resource", reason="peak memory is known on Unix only")

MEGABYTES = 1.5
"""Size of the hostile part of each file."""

MOST = 500
"""Maximum growth of the peak memory in MB, about that of reading a real log of 2 MB in Inspect's JSON."""

ELEMENTS = {
    "numbers": "1",
    "texts": '"#"',
    "objects": "{}",
    "lists": "[]",
    "spaced": "{        }",
    "named": '{"name":"#"}',
}

PEAK = """
import resource, sys
from confidence_tasks.logs import inspect_logs, lm_eval_samples, trial_tables
from confidence_tasks.report import collect
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1 << (20 if sys.platform == "darwin" else 10))
for path in sys.argv[1:]:
    before = peak()
    collect(path)
    print(path, peak() - before)
"""


def many(element: str, megabytes: float = MEGABYTES) -> str:
    """JSON elements that fill a number of megabytes, each with a number of its own."""
    count = int(megabytes * 1e6 / (len(element) + 1))
    return ",".join(element.replace("#", f"{i:x}") for i in range(count))


def put(root: dict[str, Any], place: str, values: str) -> str:
    """A JSON text with some values at a place, such as ``eval.metadata.x``."""
    *parents, last = place.split(".")
    at: Any = root
    for name in parents:
        at = at[int(name)] if isinstance(at, list) else at.setdefault(name, {})
    at[last] = "@"
    return json.dumps(root).replace('"@"', values)


def replaced(path: Path, name: str, text: str, without: tuple[str, ...] = ()) -> Path:
    with ZipFile(LOG) as whole, ZipFile(path, "w", ZIP_DEFLATED) as changed:
        for member in whole.namelist():
            if member not in {name, *without}:
                changed.writestr(member, whole.read(member))
        changed.writestr(name, text)
    return path


LOG = EXAMPLES / "riskeval.eval"


def member(name: str) -> Any:
    with ZipFile(LOG) as whole:
        return json.loads(whole.read(name))


@pytest.fixture(scope="module")
def in_json(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("log") / "log.json"
    write_eval_log(read_eval_log(str(LOG)), str(path))
    return path.read_text()


IN_A_HEADER = (
    "tags",
    "log_updates",
    "plan.steps",
    "results.scores",
    "eval.metrics",
    "eval.metadata.x",
    "unknown",
)
IN_A_SAMPLE = (
    "scores",
    "messages",
    "events",
    "metadata.x",
    "input",
    "output.choices",
    "model_usage",
    "error_retries",
)


def hostile(folder: Path, in_json: str, element: str) -> Mapping[str, Path]:
    """Files with one kind of element in each place where a reader may find it."""
    values = f"[{many(element)}]"
    files = {}
    for place in IN_A_HEADER:
        text = put(member("header.json"), place, values)
        files[f"header {place}"] = replaced(folder / f"header-{place}.eval", "header.json", text)
    start = put({"version": 2, **member("_journal/start.json")}, "eval.tags", values)
    files["start"] = replaced(
        folder / "start.eval", "_journal/start.json", start, ("header.json", "summaries.json")
    )
    for place in ("tags", *(f"samples.0.{name}" for name in IN_A_SAMPLE)):
        files[f"JSON {place}"] = folder / f"json-{place}.json"
        files[f"JSON {place}"].write_text(put(json.loads(in_json), place, values))
    return files


@pytest.mark.slow
@pytest.mark.parametrize("kind", ELEMENTS)
def test_memory_stays_bounded(kind: str, in_json: str, tmp_path: Path) -> None:
    files = hostile(tmp_path, in_json, ELEMENTS[kind])
    number = [*ELEMENTS].index(kind)
    chosen = [path for i, path in enumerate(files.values()) if ALL or is_sampled((number, i))]
    command = [sys.executable, "-c", PEAK, *map(str, chosen)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    growth = {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in done.stdout.splitlines()}
    assert len(growth) == len(chosen)
    assert {path: size for path, size in growth.items() if size > MOST} == {}


WIDE = {
    "wide.csv": ",".join(f"c{i}" for i in range(200_000)) + "\n" + "1\n" * 50_000,
    "wide.jsonl": "".join(f'{{"c{i}":1}}\n' for i in range(20_000)),
    "samples_wide_2026-01-31T10-00-00.123456.jsonl": '{"doc":{},"resps":[],"filtered_resps":[],'
    + ",".join(f'"m{i}":0' for i in range(100_000))
    + "}\n"
    + '{"doc":{},"resps":[],"filtered_resps":[]}\n' * 20_000,
}
"""Texts of two megabytes whose rows would have billions of cells."""


@pytest.mark.parametrize("name", WIDE)
def test_cells_that_a_row_lacks_do_not_exhaust_the_memory(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(WIDE[name])
    (entry,) = collect(tmp_path / name).skipped
    assert "more than 1,000" in entry.reason
