"""Runs that stop when a gate is decided, what reports make of them, and what is refused before the first call."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from click.testing import CliRunner
from inspect_ai import eval
from inspect_ai.log import EvalLog
from inspect_ai.scorer import SampleScore, Score

from confidence_tasks import compare, metrics, summary
from confidence_tasks.catalogue import studies
from confidence_tasks.cli import main
from confidence_tasks.harness.inspect import asker
from confidence_tasks.harness.inspect.stopping import GateStopping, earlier_values
from confidence_tasks.harness.items import make_items
from confidence_tasks.harness.lm_eval.metadata import check_metadata
from confidence_tasks.harness.parameters import default_parameters
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.report import collect
from confidence_tasks.study.gates import Gate
from confidence_tasks.study.trial import Item

SCALES = next(study for study in studies() if study.name == "scales")
RUN = {"sources": "arithmetic", "n": 120, "scales": "0-10,0-100"}


def run(folder: Path, model: str = "simulated/rounder", **arguments: Any) -> EvalLog:
    settings = {name: arguments.pop(name) for name in ("fail_on_error", "epochs") if name in arguments}
    (log,) = eval(
        "confidence_tasks/scale_granularity",
        model=model,
        task_args=RUN | arguments,
        log_dir=str(folder),
        display="none",
        max_connections=10,
        **settings,
    )
    return log


def command(*arguments: object, exit_code: int = 0) -> str:
    done = CliRunner().invoke(main, [*map(str, arguments), "--no-cache"])
    assert done.exit_code == exit_code, done.output
    return " ".join(done.output.split())


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    return run(tmp_path_factory.mktemp("stopped"), stop="accuracy>0.55", alpha=0.2)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    return run(tmp_path_factory.mktemp("whole"))


@pytest.mark.slow
def test_a_run_stops_at_the_decision_and_tells_it(stopped: EvalLog) -> None:
    assert stopped.status == "success"
    assert stopped.results
    early = stopped.results.early_stopping
    assert early
    assert early.manager == "stop"
    assert 0 < len(stopped.samples) < 240
    assert len(stopped.samples) + len(early.early_stops) == 240
    assert {each.reason for each in early.early_stops} == {"accuracy>0.55: met"}
    assert early.metadata["gate"] == "accuracy>0.55"
    for found in early.metadata["conditions"].values():
        assert found["outcome"] == "met"
        assert found["in_flight"] < 20
    n_done = sum(found["questions"] + found["in_flight"] for found in early.metadata["conditions"].values())
    assert n_done == len(stopped.samples)


@pytest.mark.slow
def test_sequence_decides_again_from_the_trials(stopped: EvalLog) -> None:
    found = json.loads(
        command("sequence", stopped.location, "--require", "accuracy>0.55", "--alpha", 0.2, "--json")
    )
    metadata = stopped.results.early_stopping.metadata["conditions"]
    assert {each["condition"]: each["n_decided"] for each in found} == {
        condition: each["questions"] for condition, each in metadata.items()
    }
    assert all(each["is_planned"] for each in found)


@pytest.mark.slow
def test_questions_are_in_a_random_order_with_their_conditions_side_by_side(
    stopped: EvalLog, whole: EvalLog, tmp_path: Path
) -> None:
    order = [str(name) for name in stopped.eval.dataset.sample_ids]
    questions = [name.rpartition("/")[0] for name in order]
    assert questions[::2] == questions[1::2]
    assert len(set(questions)) == 120
    assert sorted(order) == sorted(map(str, whole.eval.dataset.sample_ids))
    assert order != list(map(str, whole.eval.dataset.sample_ids))
    other = run(tmp_path, stop="accuracy/0-10>0.55", alpha=0.2, seed=1)
    assert [str(name) for name in other.eval.dataset.sample_ids] != order


@pytest.mark.slow
def test_a_gate_of_one_condition_leaves_the_others_whole(tmp_path: Path) -> None:
    log = run(tmp_path, stop="accuracy/0-10>0.55", alpha=0.2)
    asked = [str(sample.id).rpartition("/")[2] for sample in log.samples]
    assert asked.count("0-100") == 120
    assert asked.count("0-10") < 120


def test_a_run_that_is_not_decided_is_whole(tmp_path: Path) -> None:
    log = run(tmp_path, stop="accuracy>0.77", alpha=0.001, n=20)
    assert len(log.samples) == 40
    assert not log.results.early_stopping.early_stops
    outcomes = {each["outcome"] for each in log.results.early_stopping.metadata["conditions"].values()}
    assert outcomes == {"open"}
    assert "stopped early" not in command("report", log.location, "-o", tmp_path / "r.html")


def test_lost_samples_count_as_the_worst_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask_all = asker.Asker.ask_all

    async def lose_some(asker: Any) -> Any:
        if asker.settings.question.id.endswith(("1", "2", "3")):
            raise RuntimeError("no reply")
        return await ask_all(asker)

    monkeypatch.setattr(asker.Asker, "ask_all", lose_some)
    log = run(tmp_path, stop="accuracy>0.2", alpha=0.2, fail_on_error=False)
    metadata = log.results.early_stopping.metadata["conditions"]
    found = json.loads(
        command("sequence", log.location, "--require", "accuracy>0.2", "--alpha", 0.2, "--json")
    )
    assert all(each["n_lost"] for each in found)
    assert {each["condition"]: each["n_decided"] for each in found} == {
        condition: each["questions"] for condition, each in metadata.items()
    }
    assert {each["outcome"] for each in found} == {"met"}


@pytest.mark.slow
def test_a_difference_from_an_earlier_log_is_a_gate(whole: EvalLog, tmp_path: Path) -> None:
    log = run(tmp_path / "a", model="simulated/ideal", stop=f"brier<{whole.location}", alpha=0.5)
    gate = f"brier<{whole.location}"
    arguments = ["sequence", log.location, "--require", gate, "--alpha", "0.5", "--json", "--no-cache"]
    found = json.loads(CliRunner().invoke(main, arguments).stdout)
    metadata = log.results.early_stopping.metadata["conditions"]
    assert {each["condition"]: each["outcome"] for each in found} == {
        condition: each["outcome"] for condition, each in metadata.items()
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stop": "ece<0.1"}, "ece is no mean over questions of values with known bounds"),
        ({"stop": "mratio>0.5"}, "use one of overconfidence, brier, accuracy"),
        ({"stop": "accuracy>0.5", "alpha": 0.0}, "alpha=0.0 must lie in"),
        ({"stop": "accuracy>0.5", "efforts": "low,high"}, "decides on one reasoning effort"),
        ({"stop": "accuracy>2"}, "bound must lie between the bounds 0 and 1"),
        ({"stop": "accuracy/0-20>0.5"}, "'0-20' is not asked"),
        ({"stop": "accuracy"}, "is not a requirement such as"),
        ({"stop": "brier<there-is-none.eval"}, "the earlier log cannot be read"),
        ({"stop": "accuracy>0.5", "epochs": 2}, "needs one epoch, got 2"),
    ],
)
def test_what_cannot_be_decided_is_refused_before_the_first_call(
    arguments: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        log = run(tmp_path, **arguments)
    except (Exception, SystemExit) as error:
        text = f"{error}{getattr(error, 'message', '')}{capsys.readouterr().out}"
    else:
        assert log.status == "error"
        assert not log.samples
        text = log.error.message
    assert message in " ".join(text.split())


def items(n: int) -> list[Item]:
    parameters = {**default_parameters(SCALES), **RUN, "n": n}
    return list(make_items(SCALES, parameters, ["0-10", "0-100"]))


@pytest.mark.slow
def test_an_earlier_log_of_other_questions_is_refused(whole: EvalLog) -> None:
    gate = Gate.parse(f"brier<{whole.location}")
    with pytest.raises(ValueError, match="was not asked 60 of the 300 questions"):
        earlier_values(gate, SCALES, items(150))
    assert len(earlier_values(gate, SCALES, items(120))) == 240
    other = [replace(each, question=replace(each.question, text="Why?")) for each in items(120)]
    with pytest.raises(ValueError, match="was not asked 240 of the 240"):
        earlier_values(gate, SCALES, other)


def test_lm_eval_refuses_to_stop_with_the_reason() -> None:
    with pytest.raises(ValueError, match=r"lm-eval sends all requests at once.*confidence-tasks sequence"):
        check_metadata(SCALES, {"stop": "accuracy>0.5"})


# The manager ----------------------------------------------------------------------------------------------------------


def manager(n: int = 3) -> tuple[GateStopping, list[Any]]:
    samples = [
        SimpleNamespace(
            id=f"q{i}/0-10", metadata={"condition": "0-10", "source": "s", "question_id": f"q{i}"}
        )
        for i in range(n)
    ]
    return GateStopping(Gate.parse("accuracy>0.5"), SCALES, 0.05), samples


def spec(model: str) -> Any:
    return SimpleNamespace(model=model, eval_id=model)


def test_one_task_object_for_two_models_is_refused() -> None:
    stopping, samples = manager()
    anyio.run(stopping.start_task, spec("a"), samples, 1)
    with pytest.raises(Exception, match="cannot run with two models, a and b"):
        anyio.run(stopping.start_task, spec("b"), samples, 1)
    anyio.run(stopping.complete_task)
    anyio.run(stopping.start_task, spec("b"), samples, 1)
    anyio.run(stopping.complete_task)


def test_a_manager_that_fails_lets_the_run_go_on_and_says_so() -> None:
    stopping, samples = manager()
    anyio.run(stopping.start_task, spec("a"), samples, 1)
    broken = Score(value={"condition": "0-10"}, metadata={"correct": "one"})
    anyio.run(stopping.complete_sample, "q0/0-10", 1, {SCALES.scorer_name: SampleScore(score=broken)})
    assert anyio.run(stopping.schedule_sample, "q1/0-10", 1) is None
    assert "problem" in anyio.run(stopping.complete_task)


# What reports make of it ----------------------------------------------------------------------------------------------


def test_a_stopped_run_is_not_unfinished_and_is_marked(stopped: EvalLog, tmp_path: Path) -> None:
    text = command("report", stopped.location, "-o", tmp_path / "r.html")
    assert "Unfinished" not in text
    assert "(stopped early)" in text
    assert "nominal coverage" in text
    page = (tmp_path / "r.html").read_text()
    assert "Unfinished runs" not in page
    assert "Stopped early" in page


def test_only_the_gated_measure_meets_a_requirement(stopped: EvalLog, tmp_path: Path) -> None:
    arguments = ["report", stopped.location, "-o", str(tmp_path / "r.html"), "--json", "--no-cache"]
    arguments += ["--require", "accuracy>0.5", "--require", "parse_rate>0.1"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 1
    outcomes = {each["requirement"]: each for each in json.loads(done.stdout)["requirements"]}
    assert outcomes["accuracy > 0.5"]["outcome"] == "met"
    assert outcomes["parse_rate > 0.1"]["outcome"] == "undecided"
    assert "stopped early" in outcomes["parse_rate > 0.1"]["found"]


def test_a_stopped_run_is_pooled_with_no_whole_one(stopped: EvalLog, whole: EvalLog) -> None:
    (task,) = group_by_task(collect([stopped.location, whole.location]).files)
    assert len(task.models) == 2
    assert ["stopped early" in model.label for model in task.models].count(True) == 1
    assert {model.stopped > 0 for model in task.models} == {True, False}


@pytest.mark.slow
def test_two_stopped_runs_are_not_pooled(stopped: EvalLog, tmp_path: Path) -> None:
    other = run(tmp_path, stop="accuracy>0.55", alpha=0.2)
    copy = tmp_path / "copy.eval"
    copy.write_bytes(Path(stopped.location.removeprefix("file://")).read_bytes())
    (task,) = group_by_task(collect([stopped.location, str(copy), other.location]).files)
    assert sorted(len(model.files) for model in task.models) == [1, 2]


@pytest.mark.slow
def test_summary_metrics_and_compare_warn(stopped: EvalLog, whole: EvalLog) -> None:
    for table in (summary, metrics):
        with pytest.warns(UserWarning, match="Stopped early"):
            table(stopped.location)
    text = command("compare", stopped.location, whole.location)
    assert "Stopped early" in text
    with pytest.warns(UserWarning, match="Stopped early"):
        compare(stopped.location, whole.location)


MARK = "stopped early: nominal coverage does not hold"


def test_no_ordinary_interval_of_a_stopped_run_is_without_a_mark(stopped: EvalLog, whole: EvalLog) -> None:
    logs = [stopped.location, whole.location]
    with pytest.warns(UserWarning, match="Stopped early"):
        both = summary(logs).to_frame()
    with pytest.warns(UserWarning, match="Stopped early"):
        values = metrics(logs)
    for table in (both, values):
        of_stopped = table[table["model"].str.contains("stopped early") & table["low"].notna()]
        is_gated = of_stopped["measure"] == "accuracy"
        assert (of_stopped["reason"] == MARK).tolist() == (~is_gated).tolist()
        assert (
            not table.loc[~table["model"].str.contains("stopped early"), "reason"]
            .str.contains("stopped")
            .any()
        )
    keys = ["model", "condition", "measure"]
    limits = values.set_index(keys)[["low", "high"]]
    assert limits.loc[both.set_index(keys).index].to_numpy() == pytest.approx(
        both[["low", "high"]].to_numpy(), nan_ok=True
    )


def test_groups_without_the_model_are_marked_too(stopped: EvalLog) -> None:
    with pytest.warns(UserWarning, match="Stopped early"):
        found = summary(stopped.location, by="condition", measures=["accuracy", "brier"])
    assert set(found.to_frame()["reason"]) == {MARK}
    assert MARK in repr(found)


def test_differences_and_ranks_with_a_stopped_run_are_marked(stopped: EvalLog, whole: EvalLog) -> None:
    with pytest.warns(UserWarning, match="Stopped early"):
        differences = compare(stopped.location, whole.location, measures=["accuracy"]).to_frame()
    assert set(differences["reason"]) == {MARK}
    done = CliRunner().invoke(main, ["compare", stopped.location, whole.location, "--json", "--no-cache"])
    first = next(each for each in json.loads(done.stdout)["comparisons"] if each["measure"] == "accuracy")
    assert (first["first_value_reason"], first["second_value_reason"]) == (MARK, "")
    assert first["difference_reason"] == MARK


@pytest.mark.parametrize("arguments", [["threshold", "--accuracy", "0.5"], ["recalibrate", "--force"]])
def test_decisions_on_a_stopped_run_are_marked(stopped: EvalLog, arguments: list[str]) -> None:
    name, *options = arguments
    done = CliRunner().invoke(main, [name, stopped.location, *options, "--json", "--no-cache"])
    assert all(each["stopped_early"] for each in json.loads(done.stdout))
    assert "neither intervals nor guarantees have their nominal level" in " ".join(done.stderr.split())
