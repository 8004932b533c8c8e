"""A run makes the calls that ``plan`` announced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelAPI, ModelOutput, get_model, modelapi
from tests.integration.inspect.conftest import Run
from tests.local_data import local_data
from tests.small_runs import KINDS, SMALL_RUNS, SmallRun, arguments

from confidence_tasks.decisions.plan import PlannedTask, plan_run
from confidence_tasks.decisions.tokens import token_counter
from confidence_tasks.harness.inspect.simulated import SimulatedSubject
from confidence_tasks.simulation.reply import stage_call


class _Hosted(ModelAPI):
    """A model that a harness takes for a hosted one, and that replies as a simulated subject."""

    subject = SimulatedSubject("ideal")

    async def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> ModelOutput:
        call = stage_call.get()
        assert call is not None
        return self.subject.output(call, input, config)


@modelapi(name="hosted_subject")
def hosted_subject() -> type[ModelAPI]:
    return _Hosted


def calls(log: EvalLog) -> int:
    """The calls of models in a log."""
    assert log.samples is not None
    return sum(event.event == "model" for sample in log.samples for event in sample.events)


def made(small: SmallRun, folder: Path) -> PlannedTask:
    given = arguments(small, folder)
    if small.needs_mirror:
        mirror = local_data()
        if mirror is None:
            pytest.skip("the questions are not here")
        given["mirror"] = str(mirror / "hub")
    return PlannedTask.make(small.task, given)


@pytest.mark.slow
@pytest.mark.parametrize("task", KINDS)
def test_a_run_of_a_simulated_subject_makes_the_planned_calls(task: str, tmp_path: Path, run: Run) -> None:
    small = SMALL_RUNS[task]
    planned = made(small, tmp_path)
    expected = plan_run(planned, token_counter(), profile=small.profile)
    log = run(planned.task, f"simulated/{small.profile}")
    assert calls(log) == expected.n_calls
    assert log.stats.model_usage[f"simulated/{small.profile}"].input_tokens > 0


@pytest.mark.slow
@pytest.mark.parametrize("task", KINDS)
def test_a_run_of_another_model_makes_the_planned_calls(task: str, tmp_path: Path, run: Run) -> None:
    planned = made(SMALL_RUNS[task], tmp_path)
    expected = plan_run(planned, token_counter())
    assert calls(run(planned.task, get_model("hosted_subject/x"))) == expected.n_calls


def test_shared_calls_are_planned_once(run: Run) -> None:
    given = {"n": 3, "samples": 3, "signals": "stated,stated_after,agreement"}
    planned = PlannedTask.make("signals", given)
    expected = plan_run(planned, token_counter())
    log = run(planned.task, get_model("hosted_subject/x"), epochs=2)
    assert expected.n_calls == 3 + 3 + 9
    assert calls(log) == 2 * expected.n_calls
    assert plan_run(planned, token_counter(), epochs=2).n_calls == calls(log)


def test_a_run_of_any_task_makes_the_planned_calls(run: Run) -> None:
    file = Path(__file__).parents[3] / "examples" / "capitals.py"
    given = {"task": f"{file}@capitals", "ask": "0-100,words"}
    planned = PlannedTask.make("with_confidence", given)
    expected = plan_run(planned, token_counter(), profile="ideal")
    assert calls(run(planned.task, "simulated/ideal", limit=5)) * 42 == expected.n_calls
