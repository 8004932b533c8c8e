"""A task of each study runs on both harnesses where ``report`` cannot be imported: nothing below it needs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.small_runs import SMALL_RUNS, arguments

from confidence_tasks.catalogue import studies

ROOT = Path(__file__).parents[2]

HIDING = """
import json, sys
class Hide:
    @staticmethod
    def find_spec(name, path=None, target=None):
        parts = name.split(".")
        of_study = parts[:2] == ["confidence_tasks", "studies"] and parts[-1] == "report"
        if parts[:2] == ["confidence_tasks", "report"] or of_study:
            raise ModuleNotFoundError(f"{name} is hidden")
sys.meta_path.insert(0, Hide)
runs = json.loads(sys.argv[1])
"""

INSPECT = """
from inspect_ai import eval as inspect_eval
from confidence_tasks import _registry
for task, parameters, profile in runs:
    (log,) = inspect_eval(
        getattr(_registry, task)(**parameters), model=f"simulated/{profile}", log_dir="logs", display="none"
    )
    assert log.status == "success", (task, log.error)
    assert any(score.metrics for score in log.results.scores), task
    print(task)
"""

LM_EVAL = """
from lm_eval.evaluator import simple_evaluate
from lm_eval.tasks import TaskManager
from confidence_tasks.catalogue import studies
from confidence_tasks.harness.lm_eval.groups import stub_folder, task_groups
from confidence_tasks.harness.lm_eval.simulated import SimulatedLM
folder = stub_folder(studies())
for task, parameters, profile in runs:
    manager = TaskManager(include_path=folder, include_defaults=False, metadata={})
    names = [name for group in task_groups(studies()) for name, _ in group.configurations()]
    first = min((name for name in names if name.startswith(task)), key=lambda name: "arithmetic" not in name)
    found = simple_evaluate(SimulatedLM(profile), tasks=[first], task_manager=manager, limit=4)
    assert found["results"], task
    print(task)
"""

FIRST_TASKS = [name for name in (next(iter(study.designs), "") for study in studies()) if name in SMALL_RUNS]


@pytest.mark.slow
@pytest.mark.parametrize("harness", [INSPECT, LM_EVAL], ids=["inspect", "lm_eval"])
def test_a_task_of_each_study_runs_with_the_report_hidden(harness: str, tmp_path: Path, mirror: Path) -> None:
    runs = [(task, arguments(SMALL_RUNS[task], tmp_path), SMALL_RUNS[task].profile) for task in FIRST_TASKS]
    done = subprocess.run(
        [sys.executable, "-c", HIDING + harness, json.dumps(runs)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert [line for line in done.stdout.splitlines() if line in FIRST_TASKS] == FIRST_TASKS
