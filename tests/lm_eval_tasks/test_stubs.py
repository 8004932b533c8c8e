"""The YAML stubs: no drift from the studies' tables, and an index that lm-eval can load."""

import re
from pathlib import Path

import lm_eval.tasks
import pytest
from lm_eval.tasks import TaskManager

from confidence_tasks.harness.lm_eval import lm_eval_tasks_path
from confidence_tasks.harness.lm_eval.stubs import FOLDER, stubs, task_groups
from confidence_tasks.studies.scales.scale import BOUNDARY, GRANULARITY, NONSTANDARD


@pytest.fixture(scope="module")
def manager():
    return TaskManager(include_path=lm_eval_tasks_path(), include_defaults=False, metadata={"n": 2})


def test_stubs_are_what_the_tables_say():
    """If this fails: python -m confidence_tasks.harness.lm_eval.stubs."""
    expected = {f"{study.name}/{name}.yaml": text for study in task_groups() for name, text in stubs(study)}
    found = {
        str(path.relative_to(FOLDER)): path.read_text(encoding="utf-8")
        for path in lm_eval_tasks_path().rglob("*.yaml")
    }
    assert found == expected


@pytest.mark.slow
def test_no_name_is_one_of_lm_evals_own():
    """It has some 10,000 files; a task of ours by the name of one of them would take its place, or the reverse."""
    named = re.compile(r"^(?:task|group): *['\"]?([\w-]+)['\"]?\s*$", re.MULTILINE)
    own = Path(lm_eval.tasks.__file__).parent.rglob("*.yaml")
    taken = {name for path in own for name in named.findall(path.read_text(encoding="utf-8"))}
    assert {"boolq", "sciq"} < taken
    assert not taken & {path.stem for path in FOLDER.rglob("*.yaml")}


def test_every_stub_is_indexed_under_its_own_name(manager):
    names = {path.stem for path in FOLDER.rglob("*.yaml")}
    assert {name for name, entry in manager.task_index.items() if entry.yaml_path} == names


@pytest.mark.parametrize(
    ("study", "design"),
    [("scale_granularity", GRANULARITY), ("scale_boundary", BOUNDARY), ("scale_nonstandard", NONSTANDARD)],
)
def test_offline_group_holds_the_design_in_its_order(manager, study, design):
    tasks = manager.load([f"{study}_arithmetic"])["tasks"]
    assert [task.test_docs()[0]["condition"] for task in tasks.values()] == [scale.label for scale in design]


def test_study_group_holds_conditions_and_these_hold_the_papers_sources(manager, mirror):
    loaded = manager.load(["scale_boundary"])
    assert loaded["group_map"]["scale_boundary_20_100"] == [
        "scale_boundary_20_100_mmlu",
        "scale_boundary_20_100_gsm8k",
        "scale_boundary_20_100_truthfulqa",
    ]
    for name, task in loaded["tasks"].items():
        question = task.test_docs()[0]
        assert name.endswith(f"{question['condition'].replace('-', '_')}_{question['source']}")


def test_tags_pick_out_a_study_and_a_source(manager):
    assert len(manager.task_index["confidence_scale_boundary"].tags) == 4 * 4
    assert len(manager.task_index["confidence_arithmetic"].tags) == 5 + 4 + 6 + 3 + 10 + 7
