"""A parameter that a task does not have is refused before the first call."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from inspect_ai import eval, eval_retry
from inspect_ai._eval.registry import task_create
from inspect_ai._util.registry import registry_info

from confidence_tasks import _registry
from confidence_tasks.tasks.question_sets import boolq
from confidence_tasks.tasks.scales import scale_granularity

TASKS = [name for name in _registry.__all__ if registry_info(getattr(_registry, name)).type == "task"]


@pytest.mark.parametrize("name", TASKS)
def test_inspect_hands_an_unknown_parameter_to_every_task_which_refuses_it(name: str) -> None:
    known = ", ".join(inspect.signature(inspect.unwrap(getattr(_registry, name))).parameters)
    with pytest.raises(ValueError, match=rf"^{name} has no parameter 'whatever'\. It has {known}$"):
        task_create(f"confidence_tasks/{name}", whatever=1)


def test_the_nearest_parameter_is_named() -> None:
    with pytest.raises(
        ValueError, match="no parameter 'sorces'; did you mean 'sources'\\? It has scales, sources, n,"
    ):
        scale_granularity(sorces="arithmetic")  # type: ignore[call-arg]


@pytest.mark.parametrize("name", ["unknown", "args", "kwargs", "self", "function"])
def test_no_name_of_the_check_s_own_is_a_parameter(name: str) -> None:
    with pytest.raises(ValueError, match=f"^boolq has no parameter '{name}'"):
        task_create("confidence_tasks/boolq", **{name: 1})


def test_a_log_and_its_retry_have_the_same_parameters(tmp_path: Path) -> None:
    asked = boolq(n=2, source="arithmetic_boolean")
    (log,) = eval(asked, model="simulated/ideal", log_dir=str(tmp_path), display="none", fail_on_error=True)
    passed = {"n": 2, "source": "arithmetic_boolean"}
    assert log.eval.task_args_passed == passed
    assert log.eval.task_args.keys() == inspect.signature(inspect.unwrap(boolq)).parameters.keys()
    log.status = "cancelled"
    (again,) = eval_retry(log, log_dir=str(tmp_path), display="none")
    assert (again.status, again.eval.task_args_passed) == ("success", passed)


def test_the_command_ends_on_what_to_do_and_asks_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "inspect_ai", "eval", "confidence_tasks/scale_granularity"]
    options = ["--model", "simulated/ideal", "--log-dir", str(tmp_path), "-T", "sorces=arithmetic"]
    options += ["-T", "sources=arithmetic", "-T", "n=1"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    last = (done.stdout + done.stderr).strip().splitlines()[-1]
    assert "scale_granularity has no parameter 'sorces'; did you mean 'sources'?" in last
    assert not list(tmp_path.iterdir())
