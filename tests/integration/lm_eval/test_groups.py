"""The tasks and groups that lm-eval finds: their names, what they hold, and the files for ``--include_path``."""

import json
import math
import re
import zlib
from pathlib import Path

import lm_eval.tasks
import numpy as np
import pytest
from click.testing import CliRunner
from lm_eval.tasks import TaskManager
from tests.integration.lm_eval.harnesses import Scripted, lm_eval_run, stubs

from confidence_tasks.catalogue import LM_EVAL_TASKS, studies
from confidence_tasks.cli import main
from confidence_tasks.harness.lm_eval.groups import task_groups
from confidence_tasks.harness.lm_eval.simulated import SimulatedLM
from confidence_tasks.reading.integer_scale import BOUNDARY, GRANULARITY, NONSTANDARD
from confidence_tasks.simulation import reply
from confidence_tasks.studies.lifeeval.question_sets.replies import (
    QUESTION_SETS,
    confidence_in_form,
    reply_in_form,
)


@pytest.fixture(scope="module")
def manager():
    return TaskManager(include_path=stubs(), include_defaults=False, metadata={"n": 2})


@pytest.fixture(scope="module")
def names():
    """The names of all tasks: those of groups, and those that are made from tasks of others."""
    own = [name for group in task_groups(studies()) for name, _ in group.configurations()]
    return [*own, *LM_EVAL_TASKS]


def test_no_name_is_there_twice(names):
    assert len(names) == len(set(names)) >= 145


@pytest.mark.slow
def test_no_name_is_one_of_lm_evals_own(names):
    """It has some 10,000 files; a task of ours by the name of one of them would not be found."""
    named = re.compile(r"^(?:task|group): *['\"]?([\w-]+)['\"]?\s*$", re.MULTILINE)
    own = Path(lm_eval.tasks.__file__).parent.rglob("*.yaml")
    taken = {name for path in own for name in named.findall(path.read_text(encoding="utf-8"))}
    assert {"boolq", "sciq"} < taken
    assert not taken & set(names)


def test_every_stub_is_indexed_under_its_own_name(manager, names):
    assert {name for name, entry in manager.task_index.items() if entry.yaml_path} == set(names)


def test_the_path_for_include_path_has_every_task_and_is_written_once(tmp_path, monkeypatch, names):
    monkeypatch.setenv("CONFIDENCE_TASKS_CACHE", str(tmp_path))
    folder, again = (Path(CliRunner().invoke(main, ["lm-eval-path"]).output.strip()) for _ in range(2))
    assert folder == again
    assert folder.is_relative_to(tmp_path)
    assert {path.stem for path in folder.iterdir()} == set(names)
    written = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    CliRunner().invoke(main, ["lm-eval-path"])
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == written


def test_a_file_that_is_gone_from_the_cache_is_written_again(tmp_path, monkeypatch, names):
    monkeypatch.setenv("CONFIDENCE_TASKS_CACHE", str(tmp_path))
    folder = Path(CliRunner().invoke(main, ["lm-eval-path"]).output.strip())
    (folder / "riskeval.yaml").unlink()
    CliRunner().invoke(main, ["lm-eval-path"])
    assert {path.stem for path in folder.iterdir()} == set(names)


@pytest.mark.parametrize(
    ("study", "design"),
    [("scale_granularity", GRANULARITY), ("scale_boundary", BOUNDARY), ("scale_nonstandard", NONSTANDARD)],
)
def test_offline_group_holds_the_design_in_its_order(manager, study, design):
    tasks = manager.load([f"{study}_arithmetic"])["tasks"]
    assert [task.test_docs()[0]["condition"] for task in tasks.values()] == [scale.label for scale in design]


@pytest.mark.slow
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
    assert len(manager.task_index["confidence_arithmetic"].tags) == 5 + 4 + 6 + 3 + 10 + 7 + 30


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A file of questions."""
    path = tmp_path_factory.mktemp("own") / "q.jsonl"
    lines = [json.dumps({"question": f"What is 1 + {i}?", "answer": str(1 + i)}) for i in range(12)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


GROUPS = {
    group.task(condition): sources
    for group in task_groups(studies())
    for condition, sources in group.sources.items()
    if len(sources) > 1
}


@pytest.mark.parametrize("name", GROUPS)
def test_a_group_of_several_sources_asks_the_user_s_source_once(name, own):
    manager = TaskManager(include_path=stubs(), include_defaults=False, metadata={"source": str(own)})
    loaded = manager.load([name])
    assert len(loaded["group_map"][name]) == len(loaded["tasks"]) == 1
    assert len(GROUPS[name]) > 1


def test_the_standard_error_of_a_group_of_one_source_is_that_of_its_questions(own):
    found = lm_eval_run(
        SimulatedLM("sloppy"), ["scale_granularity_0_100"], {"source": str(own), "metrics": "all"}
    )
    (task,) = (name for name in found["results"] if name != "scale_granularity_0_100")
    assert found["n-samples"][task]["effective"] == 12
    group, alone = found["groups"]["scale_granularity_0_100"], found["results"][task]
    for measure in ("accuracy", "ece"):
        assert group[f"{measure}_stderr,none"] == alone[f"{measure}_stderr,none"] > 0
    p = alone["accuracy,none"]
    assert alone["accuracy_stderr,none"] == pytest.approx((p * (1 - p) / 12) ** 0.5, rel=0.1)


def test_tasks_of_a_group_that_differ_in_anything_stay(own, tmp_path):
    same = {"task": "scale_granularity_0_100_mmlu"}
    other = {"task": "scale_granularity_0_100_gsm8k", "generation_kwargs": {"temperature": 1.0}}
    group = {"group": "mine", "task": [same, other, "scale_granularity_0_20_mmlu"]}
    (tmp_path / "mine.yaml").write_text(json.dumps(group), encoding="utf-8")
    manager = TaskManager(
        include_path=[str(stubs()), str(tmp_path)], include_defaults=False, metadata={"source": str(own)}
    )
    assert len(manager.load(["mine"])["tasks"]) == 3


# Standard errors of clusters ------------------------------------------------------------------------------------------


def all_alike(_, question):
    """Reply that a subject is right about two of three clusters, and wrong about all questions of the third."""
    right = zlib.crc32(question.cluster.encode()) % 3 > 0
    chosen, stated = reply.answer(question, correct=right, seed=0), 0.9 if right else 0.6
    if (name := question.metadata.get("question_set")) is None:
        return f"Final Answer: {chosen}\nConfidence: {100 * stated:.0f}"
    form = QUESTION_SETS[name].form
    return reply_in_form(form, question, chosen, confidence_in_form(form, question, chosen, stated))


def errors_of_the_brier_score(run, task):
    """Return its standard error by sums over clusters (Miller 2024) and over questions, and the number of clusters."""
    trials = [(sample["trial"], sample["doc"]["cluster"]) for sample in run["samples"][task]]
    scores = np.array([(trial["confidence"] - trial["correct"]) ** 2 for trial, _ in trials])
    clusters, number = np.unique([cluster for _, cluster in trials], return_inverse=True)
    centred = scores - scores.mean()
    by_cluster, by_question = (
        math.sqrt((each**2).sum()) / len(scores) for each in (np.bincount(number, centred), centred)
    )
    return by_cluster, by_question, len(clusters)


@pytest.fixture(scope="module")
def passages(tmp_path_factory):
    """Write a file of 40 passages of five questions, after one question without a passage."""
    path = tmp_path_factory.mktemp("own") / "p.jsonl"
    lines = [{"question": "What is 0 + 1?", "answer": "1"}]
    lines += [
        {"question": f"What is {i} + {k}?", "answer": f"{i + k}", "cluster": f"text {i}"}
        for i in range(1, 41)
        for k in range(1, 6)
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def test_questions_about_one_passage_are_one_unit_of_the_standard_error(passages):
    group = "scale_granularity_0_100"
    found = lm_eval_run(Scripted(all_alike), [group], {"source": str(passages)})
    (task,) = (name for name in found["results"] if name != group)
    error, by_question, n = errors_of_the_brier_score(found, task)
    assert n == 41
    alone = found["results"][task]
    assert alone["brier_stderr,none"] == pytest.approx(error, rel=0.1)
    assert error > 2.0 * by_question
    for measure in ("accuracy", "brier", "auroc", "ece"):
        assert found["groups"][group][f"{measure}_stderr,none"] == alone[f"{measure}_stderr,none"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "n_questions", "n_clusters"),
    [("halueval_confidence", 2_000, 1_000), ("sat_en_confidence", 200, 44)],
)
def test_the_clusters_of_a_source_are_units_of_its_standard_error(task, n_questions, n_clusters, mirror):
    found = lm_eval_run(Scripted(all_alike), [task], {"n": n_questions})
    error, by_question, n = errors_of_the_brier_score(found, task)
    assert n == n_clusters
    assert found["results"][task]["brier_stderr,none"] == pytest.approx(error, rel=0.1)
    assert error > 1.3 * by_question
