"""lm-eval's sample files: which study a task belongs to, and how its model was asked."""

import json
import math

import numpy as np
import pytest
from tests.unit.report.runs import rows, undrawn_report, write

from confidence_tasks.catalogue import studies, study_of_task
from confidence_tasks.harness.lm_eval.groups import task_groups
from confidence_tasks.harness.lm_eval.metrics import TRIAL
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.report import collect
from confidence_tasks.report.estimates.settings import Settings


@pytest.mark.parametrize("study", list(task_groups(studies())), ids=lambda study: study.name)
def test_every_task_belongs_to_its_own_study(study):
    for condition in study.sources:
        found = study_of_task(study.task(condition))
        assert study.name in {found.name, *found.designs} or condition in found.designs


def test_a_task_of_no_study_has_none():
    assert study_of_task("hellaswag") is None


@pytest.mark.parametrize("what", ["chat_template_sha", "system_instruction_sha"])
def test_runs_with_other_words_around_the_prompt_are_other_ways_of_asking(tmp_path, what):
    name = "scale_granularity_0_20_arithmetic"
    asked = [row for row in rows("scales") if row["condition"] == "0-20"]
    for day, digest in (("30", None), ("31", "0123456789abcdef")):
        time = f"2026-01-{day}T10-00-00.123456"
        write(
            tmp_path / f"samples_{name}_{time}.jsonl",
            [{"doc": {"id": row["question_id"]}, TRIAL: row} for row in asked],
        )
        run = {"model_name": "lab/model", "config": {"model": "hf", "model_args": "pretrained=lab/model"}}
        (tmp_path / f"results_{time}.json").write_text(json.dumps({**run, what: digest}), encoding="utf-8")
    models = group_by_task(collect(tmp_path).files)[0].models
    assert [len(model) for model in models] == [len(asked)] * 2
    assert "01234567" in models[1].label


@pytest.mark.parametrize(("effective", "lost"), [(43, 3), (40, 0)])
def test_samples_that_a_file_lacks_are_noticed(tmp_path, effective, lost):
    name, time = "scale_granularity_0_20_arithmetic", "2026-01-30T10-00-00.123456"
    asked = [row for row in rows("scales") if row["condition"] == "0-20"]
    write(
        tmp_path / f"samples_{name}_{time}.jsonl",
        [{"doc": {"id": row["question_id"]}, TRIAL: row} for row in asked],
    )
    run = {
        "model_name": "lab/model",
        "config": {"model": "hf", "model_args": "pretrained=lab/model"},
        "n-samples": {name: {"original": 200, "effective": effective}},
    }
    (tmp_path / f"results_{time}.json").write_text(json.dumps(run), encoding="utf-8")
    found = collect(tmp_path)
    assert (len(asked), found.files[0].lost) == (40, lost)
    (task,) = undrawn_report(found, settings=Settings(n_resamples=20)).tasks
    where = [each.where for each in task.notices if each.title == "Unfinished runs"]
    assert where == ([(f"lab/model: 3 of 43 in samples_{name}_{time}.jsonl",)] if lost else [])


def test_lines_of_missing_and_unreadable_numbers_are_read(tmp_path):
    """What the fast decoder refuses, json reads: NaN anywhere, halves of surrogate pairs, long whole numbers."""
    name, time = "scale_granularity_0_20_arithmetic", "2026-01-30T10-00-00.123456"
    asked = [row for row in rows("scales") if row["condition"] == "0-20"][:4]
    asked[0]["confidence"] = asked[0]["confidence_raw"] = math.nan
    lines = [{"doc": {"id": row["question_id"], "more": [math.nan, 10**30]}, TRIAL: row} for row in asked]
    lines[1]["doc"]["question"] = "half \ud83d of a smile"
    write(tmp_path / f"samples_{name}_{time}.jsonl", [*lines, ["no sample"], {"doc": 1, TRIAL: 2}])
    (file,) = collect(tmp_path).files
    assert file.columns["sample_id"].tolist() == [row["question_id"] for row in asked]
    assert np.isnan(file.columns["confidence"]).tolist() == [True, False, False, False]
    assert file.lost == 2


# Which results belong to which samples -------------------------------------------------------------------------------

TASK = "scale_granularity_0_20_arithmetic"


def _run(folder, day, name="results", **run):
    """Write the samples of a run and its results, `name` and its time; none without a name."""
    time = f"2026-01-{day}T10-00-00.123456"
    asked = [row for row in rows("scales") if row["condition"] == "0-20"]
    settings = run.pop("settings", {})
    arguments = {"gen_args_0": {"arg_0": "How many?", "arg_1": settings}}
    write(
        folder / f"samples_{TASK}_{time}.jsonl",
        [{"doc": {"id": row["question_id"]}, "arguments": arguments, TRIAL: row} for row in asked],
    )
    if name:
        results = {"results": {TASK: {"mratio,none": math.nan}}, "configs": {}, "config": {}, **run}
        (folder / f"{name}_{time}.json").write_text(json.dumps(results), encoding="utf-8")


def _labels(folder):
    found = collect(folder)
    assert not found.skipped
    return [model.label for task in group_by_task(found.files) for model in task.models]


def test_results_are_those_of_their_time_whatever_they_are_called(tmp_path):
    """`--output_path NAME.json` writes NAME_<time>.json, and the samples of several models into one folder."""
    for day, model in (("30", "lab/a"), ("31", "lab/b")):
        _run(
            tmp_path,
            day,
            model[-1],
            model_name=model,
            config={"model": "hf", "model_args": f"pretrained={model}"},
        )
    assert _labels(tmp_path) == ["lab/a", "lab/b"]


def test_a_file_of_the_time_that_is_no_results_file_is_not_taken_for_one(tmp_path):
    _run(
        tmp_path, "30", "named", model_name="lab/a", config={"model": "hf", "model_args": "pretrained=lab/a"}
    )
    (tmp_path / "a_2026-01-30T10-00-00.123456.json").write_text('{"results": 1}', encoding="utf-8")
    found = collect(tmp_path)
    assert [file.model for file in found.files] == ["lab/a"]
    assert [entry.path.rsplit("/", 1)[-1][0] for entry in found.skipped] == ["a"]


def test_a_results_file_without_samples_says_what_to_do(tmp_path):
    _run(tmp_path, "30")
    (samples,) = tmp_path.glob("samples_*")
    samples.unlink()
    (entry,) = collect(tmp_path).skipped
    assert "run lm_eval with --log_samples" in entry.reason


def test_runs_without_their_results_are_not_pooled(tmp_path):
    for day in ("30", "31"):
        _run(tmp_path, day, "", settings={"temperature": 0.5, "until": []})
    assert {file.setup["generation.temperature"] for file in collect(tmp_path).files} == {"0.5"}
    labels = _labels(tmp_path)
    assert [label.partition(" (run=2026-01-")[2][:2] for label in labels] == ["30", "31"]
    (task,) = undrawn_report(collect(tmp_path), settings=Settings(n_resamples=20)).tasks
    (notice,) = [each for each in task.notices if each.title == "Runs without their results file"]
    assert notice.where == tuple(labels)


def test_tasks_of_one_run_without_its_results_are_pooled(tmp_path):
    _run(tmp_path, "30", "")
    (samples,) = tmp_path.glob("samples_*")
    other = samples.read_text(encoding="utf-8").replace("0-20", "0-10")
    (tmp_path / samples.name.replace("0_20", "0_10")).write_text(other, encoding="utf-8")
    ((model,),) = (task.models for task in group_by_task(collect(tmp_path).files))
    assert {*model.columns["condition"]} == {"0-10", "0-20"}
