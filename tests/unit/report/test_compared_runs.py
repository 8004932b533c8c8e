"""What ``compare`` says beside its numbers, what it refuses to pair, and which tasks it skips."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from tests.unit.report.runs import rows, undrawn_report, write

from confidence_tasks import scale_granularity
from confidence_tasks.cli import main
from confidence_tasks.report import collect
from confidence_tasks.report.estimates.settings import Settings

BOTH = ("--model-a", "lab/steady", "--model-b", "lab/bold")


def compare(*arguments: object, exit_code: int = 0) -> dict[str, Any]:
    options = [*map(str, arguments), "--resamples", "50", "--json"]
    done = CliRunner().invoke(main, ["compare", *options])
    assert done.exit_code == exit_code, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def notices(found: Mapping[str, Any]) -> dict[str, list[str]]:
    return {notice["title"]: notice["where"] for notice in found["notices"]}


def _edited(log: Path, path: Path, edit: Callable[[EvalLog], None]) -> Path:
    copy = read_eval_log(str(log))
    copy.eval.eval_id = path.stem
    edit(copy)
    write_eval_log(copy, str(path))
    return path


# What is said ----------------------------------------------------------------------------------------------------


def _worse(copy: EvalLog) -> None:
    """An errored run of another version, with other prompts and without its last two samples."""
    assert copy.samples
    assert copy.eval.metadata
    del copy.samples[-2:]
    for sample in copy.samples:
        assert isinstance(sample.input, list)
        sample.input[-1].content = f"{sample.input[-1].text}\nTake your time."
    copy.status = "error"
    copy.plan.config.temperature = 1.0
    copy.eval.task_version = "2-A"
    copy.eval.metadata["versions"]["confidence-tasks"] = "0.0.1"


@pytest.fixture(scope="module")
def compared(log: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path, Path]:
    other = _edited(log, tmp_path_factory.mktemp("worse") / "worse.eval", _worse)
    return compare(log, other), log, other


def test_every_check_of_the_report_is_said(compared: tuple[dict[str, Any], Path, Path]) -> None:
    found, log, other = compared
    said = notices(found)
    assert "(status: error)" in said["Unfinished runs"][0]
    assert said["Mixed versions"] == ["confidence-tasks: 0.0.1, 0.1.0", "task: 1-A, 2-A"]
    of_the_report = {
        notice.title
        for path in (log, other)
        for task in undrawn_report(collect(path), settings=Settings(50)).tasks
        for notice in task.notices
    }
    assert of_the_report <= said.keys()
    assert all(notice["task"] == "scale_granularity" and notice["meaning"] for notice in found["notices"])


def test_what_differs_beside_the_model_is_named(compared: tuple[dict[str, Any], Path, Path]) -> None:
    found, _, other = compared
    kept = len(read_eval_log(str(other)).samples or [])
    where = notices(found)["A and B ran with different settings"]
    assert where[:2] == ["temperature: A 0.0, B 1.0", "task version: A 1-A, B 2-A"]
    assert where[2].startswith(f"prompts: {kept} of {kept} differ, such as that of arithmetic-")
    assert notices(found)["A and B do not share all questions"] == [
        f"A: {8 - kept} of 8 questions and conditions"
    ]


def test_the_terminal_says_it_too(compared: tuple[dict[str, Any], Path, Path]) -> None:
    found, log, other = compared
    arguments = ["compare", str(log), str(other), "--resamples", "50"]
    done = CliRunner().invoke(main, arguments, env={"COLUMNS": "100"})
    said = " ".join(done.stdout.split())
    for notice in found["notices"]:
        assert f"{notice['severity']}: {notice['title']}. {notice['meaning']}" in said
        assert all(" ".join(where.split()) in said for where in notice["where"])
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    assert all(line.strip() for line in lines)
    assert lines[-3].endswith(tuple("0123456789"))  # the numbers stand last, above what their columns mean


def test_a_copy_needs_no_word_on_what_was_asked(log: Path, tmp_path: Path) -> None:
    copy = _edited(log, tmp_path / "copy.eval", lambda log: None)
    said = notices(compare(log, copy))
    assert not said.keys() & {
        "A and B ran with different settings",
        "A and B do not share all questions",
        "Unfinished runs",
        "Mixed versions",
        "Different questions under the same ids",
        "Several settings",
    }


# What is not paired ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def own_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Logs of two files of questions of one name, which share two ids, and one of the two questions."""
    logs = []
    for folder, capital in (("a", "Peru"), ("b", "Chile")):
        path = tmp_path_factory.mktemp(folder) / "mine.jsonl"
        asked = [
            {"id": "q-1", "question": f"What is the capital of {capital}?", "choices": ["Lima", "Santiago"]},
            {"id": "q-2", "question": "What is two and two?", "choices": ["four", "five"]},
        ]
        write(path, [{**question, "kind": "choice", "answer": "A"} for question in asked])
        task = scale_granularity(scales="0-100", sources=str(path))
        (run,) = inspect_eval(task, model="simulated/ideal", log_dir=str(path.parent), display="none")
        logs.append(Path(run.location.removeprefix("file://")))
    return logs


def test_questions_of_one_id_and_other_texts_are_not_paired_but_named(own_files: list[Path]) -> None:
    found = compare(*own_files, "--measure", "accuracy")
    assert [each["n_questions"] for each in found["comparisons"]] == [1]
    assert notices(found)["Different questions under the same ids"] == ["mine-q-1"]
    (notice,) = (n for n in found["notices"] if n["title"] == "Different questions under the same ids")
    assert notice["severity"] == "serious"


def test_nothing_is_compared_where_all_texts_differ(own_files: list[Path], tmp_path: Path) -> None:
    def other(copy: EvalLog) -> None:
        for sample in copy.samples or []:
            sample.metadata["question"] += " Or not?"

    edited = _edited(own_files[0], tmp_path / "other.eval", other)
    found = compare(own_files[0], edited, exit_code=1)
    assert found["comparisons"] == []
    assert notices(found)["Different questions under the same ids"] == ["mine-q-1", "mine-q-2"]


def test_the_report_names_them_and_takes_none_for_the_other(own_files: list[Path], tmp_path: Path) -> None:
    made = undrawn_report(collect(own_files), settings=Settings(50))
    ((task,), (results,)) = made.tasks, made.results
    (notice,) = (n for n in task.notices if n.title == "Different questions under the same ids")
    assert notice.where == ("mine-q-1",)
    assert [len(model) for model in results.models] == [2, 2]


def test_an_order_of_options_makes_no_other_question(own_files: list[Path], tmp_path: Path) -> None:
    def turned(copy: EvalLog) -> None:
        for sample in copy.samples or []:
            sample.metadata["choices"].reverse()

    found = compare(own_files[0], _edited(own_files[0], tmp_path / "turned.eval", turned))
    assert {each["n_questions"] for each in found["comparisons"]} == {2}


def test_trials_in_tables_keep_what_tells_questions_apart(own_files: list[Path], tmp_path: Path) -> None:
    paths = []
    for i, log in enumerate(own_files):
        paths.append(tmp_path / f"{i}.csv")
        collect(log).frame().to_csv(paths[-1], index=False)
    assert notices(compare(*paths))["Different questions under the same ids"] == ["mine-q-1"]


# Which tasks -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def some_of_both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which one task has both models, and two have one of them."""
    folder = tmp_path_factory.mktemp("both")
    for study, models in (
        ("scales", ("lab/steady", "lab/bold")),
        ("riskeval", ("lab/steady",)),
        ("fermieval", ("lab/bold", "lab/other")),
    ):
        for model in models:
            write(folder / f"{study}-{model[4:]}.jsonl", rows(study, model))
    return folder


def test_a_task_that_lacks_a_model_is_skipped_and_named(some_of_both: Path) -> None:
    found = compare(some_of_both, some_of_both, *BOTH, "--measure", "parse_rate")
    assert {each["task"] for each in found["comparisons"]} == {"scale_granularity"}
    assert found["skipped"] == [
        {
            "what": "fermieval",
            "reason": "it has no model lab/steady (--model-a); its models are lab/bold, lab/other",
        },
        {"what": "riskeval", "reason": "it has no model lab/bold (--model-b); its models are lab/steady"},
    ]
    done = CliRunner().invoke(
        main, ["compare", *[str(some_of_both)] * 2, *BOTH, "--resamples", "50", "--measure", "parse_rate"]
    )
    assert "skipped riskeval: it has no model lab/bold (--model-b)" in " ".join(done.output.split())


def test_a_task_that_only_one_side_has_is_named(some_of_both: Path) -> None:
    found = compare(some_of_both / "scales-steady.jsonl", some_of_both, "--model-b", "lab/bold")
    assert {"what": "fermieval", "reason": "only B has trials of this task"} in found["skipped"]


def test_a_model_that_no_task_has_is_refused(some_of_both: Path) -> None:
    options = ["--model-a", "lab/stedy", "--model-b", "lab/bold"]
    done = CliRunner().invoke(main, ["compare", *[str(some_of_both)] * 2, *options])
    assert done.exit_code == 2
    assert "there is no lab/stedy" in " ".join(done.output.split())


def test_a_model_with_several_settings_is_called_by_its_name_or_its_label(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [{**row, "setup": way} for way in ("x", "y") for row in rows("scales")])
    write(tmp_path / "b.jsonl", rows("riskeval"))
    label = "lab/steady (setup=x)"
    found = compare(tmp_path, tmp_path, "--model-a", label, "--model-b", "lab/steady", exit_code=1)
    assert [each["what"] for each in found["skipped"]] == ["riskeval", "scale_granularity"]
    assert found["skipped"][1]["reason"].startswith("lab/steady ran with several settings: name one")
    other = "lab/steady (setup=y)"
    found = compare(tmp_path, tmp_path, "--model-a", label, "--model-b", other, "--measure", "ece")
    assert {(each["first"], each["second"]) for each in found["comparisons"]} == {(label, other)}
    assert notices(found)["A and B ran with different settings"] == ["setup: A x, B y"]
