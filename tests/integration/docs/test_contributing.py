"""The walk-throughs of CONTRIBUTING.md are followed to the letter, and what they build runs."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import read_eval_log
from tests.integration.docs.pages import ROOT, blocks

from confidence_tasks import catalogue, studies
from confidence_tasks.harness.inspect.task import study_task
from confidence_tasks.logs.log_scores import logged_metrics
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.paper import Runs
from confidence_tasks.report.paper.filled import fill_table
from confidence_tasks.simulation.reply import role_responders
from confidence_tasks.sources import Question, SourceError, hub, load, table
from confidence_tasks.sources.hub import HubSource
from confidence_tasks.study import ModelReply

pytestmark = pytest.mark.slow

BLOCKS = {
    block.partition("\n")[0].removeprefix("# "): block for block in blocks(ROOT / "CONTRIBUTING.md", "python")
}
NEW_FILES = [path for path in BLOCKS if path.startswith("sureness/")]


@pytest.fixture
def sureness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The new study's package, found in the package of studies as if it had been written there."""
    (tmp_path / "sureness").mkdir()
    for path in NEW_FILES:
        (tmp_path / path).write_text(BLOCKS[path], encoding="utf-8")
    monkeypatch.setattr(studies, "__path__", [*studies.__path__, str(tmp_path)])
    caches = catalogue.studies, role_responders
    for cached in caches:
        cached.cache_clear()
    yield import_module(f"{studies.__name__}.sureness")
    for cached in caches:
        cached.cache_clear()
    for name in [name for name in sys.modules if name.startswith(f"{studies.__name__}.sureness")]:
        del sys.modules[name]


def test_the_new_study_runs_and_its_report_is_written(sureness: ModuleType, tmp_path: Path) -> None:
    from confidence_tasks.logs.collection import collect
    from confidence_tasks.report.build import report_of

    made = study_task(sureness.STUDY)(source="arithmetic_boolean", n=200)
    (log,) = inspect_eval(made, model="simulated/ideal", log_dir=str(tmp_path / "logs"), display="none")
    assert log.status == "success", log.error

    found = logged_metrics(read_eval_log(log.location))
    for condition in ("at_once", "afterwards"):
        assert found[f"parse_rate/{condition}"] == 1.0
        assert abs(found[f"accuracy/{condition}"] - 0.773) < 4 * 0.03  # Phi(d'/2) of the ideal subject
        assert found[f"auroc/{condition}"] > 0.6

    report = report_of(collect([str(tmp_path / "logs")]), settings=Settings(100))
    assert "Does a model that says it is sure know more?" in report.html

    names: dict[str, Any] = {}
    exec(BLOCKS["replications/sureness.py"], names)
    replication = names["REPLICATION"]
    filled = fill_table(replication.items[0], replication, Runs(report.results))
    assert [labels for labels, _ in filled.rows] == [
        ("simulated/ideal", "at once"),
        ("simulated/ideal", "afterwards"),
    ]
    for (_, cells), condition in zip(filled.rows, ("at_once", "afterwards"), strict=True):
        assert cells[0].values == (pytest.approx(found[f"auroc/{condition}"]),)


@pytest.mark.parametrize("condition", ["at_once", "afterwards"])
def test_the_new_study_runs_on_lm_eval_with_the_same_numbers(
    sureness: ModuleType, tmp_path: Path, condition: str
) -> None:
    from lm_eval.evaluator import evaluate
    from tests.integration.lm_eval.harnesses import Scripted, different, inspect_metrics, replying

    from confidence_tasks.harness.lm_eval.groups import StudyTaskFactory

    def reply(prompt: str) -> str:
        if "Are you sure" in prompt:
            return ("Sure.", "unsure", "")[prompt.count("8") % 3]
        return "no, unsure" if prompt.count("7") % 2 else "Yes, sure."

    study, given = sureness.STUDY, {"source": "arithmetic_boolean", "n": 30}
    metadata = {"study": study.address, "condition": condition, "version": "1-A", **given}
    task = StudyTaskFactory({"task": "sureness", "metadata": metadata})
    results = evaluate(Scripted(reply), {"sureness": task}, bootstrap_iters=0)["results"]["sureness"]
    expected = inspect_metrics(study_task(study)(conditions=condition, **given), replying(reply), tmp_path)
    assert different(results, expected, study.measures, condition) == []


LM_EVAL = """
import itertools, json, sys
from confidence_tasks import _startup
_startup.install()
from lm_eval.__main__ import cli_evaluate
from lm_eval.tasks import _index
files = _index.TaskIndex._iter_yaml_files
_index.TaskIndex._iter_yaml_files = staticmethod(lambda root: itertools.islice(files(root), 1))
for words in json.loads(sys.argv[1]):
    sys.argv = ["lm_eval", *words]
    cli_evaluate()
"""


def test_lm_eval_finds_the_new_study_in_a_package_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "sureness").mkdir()
    for path in NEW_FILES:
        code = BLOCKS[path].replace("confidence_tasks.studies.sureness", "sureness")
        (tmp_path / path).write_text(code, encoding="utf-8")
    about = tmp_path / "sureness-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: sureness\nVersion: 1.0\n")
    (entry_points,) = blocks(ROOT / "CONTRIBUTING.md", "toml")
    (about / "entry_points.txt").write_text(
        entry_points.replace("[project.entry-points.", "[").replace('"', "")
    )
    metadata = json.dumps({"source": "arithmetic_boolean", "n": 20})
    run = ["run", "--model", "simulated", "--metadata", metadata, "--output_path", "out"]
    commands = [
        ["ls", "groups"],
        ["validate", "--tasks", "sureness,riskeval_lambda10"],
        [*run, "--tasks", "sureness_at*"],
    ]
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", LM_EVAL, json.dumps(commands)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert re.search(r"^\|sureness +\|", done.stdout, re.MULTILINE)
    assert "All tasks found and valid" in done.stdout
    (results,) = tmp_path.rglob("results_*.json")
    found = json.loads(results.read_text())["results"]["sureness_at_once"]
    assert found["sample_len"] == 20
    assert found["parse_rate,none"] == 1.0


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("yes, sure", "ok"),
        ("Well. No - unsure, I fear", "ok"),
        ("yes", "missing_confidence"),
        ("", "unreadable"),
        ("🙂" * 10_000, "unreadable"),
    ],
)
def test_the_new_reader_takes_any_text(sureness: ModuleType, reply: str, status: str) -> None:
    question = Question("q-1", "demo", "Is the sky blue?", "boolean", "yes")
    assert sureness.STUDY.read(question, "at_once", {"answer": [ModelReply(reply)]})["status"] == status


def test_the_new_source_loads_from_a_mirror_and_checks_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = dict(vars(hub))
    exec(BLOCKS["sources/hub.py"], names)
    capitals = eval(BLOCKS["sources/table.py"], {"HubSource": HubSource, "CAPITALS": names["CAPITALS"]})
    monkeypatch.setattr(table, "SOURCES", {**table.SOURCES, "capitals": capitals})

    file = tmp_path / "someone" / "capitals" / "default" / "test.jsonl"
    file.parent.mkdir(parents=True)
    rows = [
        {"country": c, "capital": k} for c, k in (("Peru", "Lima"), ("Chile", "Santiago"), ("Cuba", "Havana"))
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    loaded = load("capitals", mirror=tmp_path)
    assert {question.text: question.gold for question in loaded}["What is the capital of Peru?"] == "Lima"
    assert {question.id for question in loaded} == {"capitals-0", "capitals-1", "capitals-2"}

    file.write_text("".join(json.dumps({"country": "Peru"}) + "\n" for _ in range(3)), encoding="utf-8")
    with pytest.raises(SourceError, match="capitals: row 0"):
        load("capitals", mirror=tmp_path)
