"""An unknown parameter or an invalid value is refused before the first call."""

import inspect
import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from inspect_ai import eval, eval_retry
from inspect_ai._eval.registry import task_create
from inspect_ai._util.registry import registry_info

from confidence_tasks import _registry, boolq, scale_granularity
from confidence_tasks.study.parameter import check_value

OF_OTHERS = "with_confidence"
"""The task that passes parameters on to the task of others that it runs."""

TASKS = [
    name
    for name in _registry.__all__
    if name != OF_OTHERS and registry_info(getattr(_registry, name)).type == "task"
]


def declared(task: Callable[..., object]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a task without the ``**unknown`` that catches misspelt names."""
    parameters = inspect.signature(task).parameters
    return {name: each for name, each in parameters.items() if each.kind is not inspect.Parameter.VAR_KEYWORD}


@pytest.mark.parametrize("name", TASKS)
def test_every_task_refuses_an_unknown_parameter(name: str) -> None:
    known = ", ".join(dict.fromkeys([*declared(getattr(_registry, name)), "metrics"]))
    with pytest.raises(ValueError, match=rf"^{name} has no parameter 'whatever'\. It has {known}$"):
        task_create(f"confidence_tasks/{name}", whatever=1)


def test_the_message_suggests_the_nearest_parameter() -> None:
    with pytest.raises(
        ValueError, match="no parameter 'sorces'; did you mean 'sources'\\? It has scales, sources, n,"
    ):
        scale_granularity(sorces="arithmetic")  # type: ignore[call-arg]


@pytest.mark.parametrize("name", ["unknown", "args", "kwargs", "self", "function"])
def test_names_of_the_implementation_are_not_parameters(name: str) -> None:
    with pytest.raises(ValueError, match=f"^boolq has no parameter '{name}'"):
        task_create("confidence_tasks/boolq", **{name: 1})


def test_a_log_and_its_retry_have_the_same_parameters(tmp_path: Path) -> None:
    task = boolq(n=2, source="arithmetic_boolean")
    (log,) = eval(task, model="simulated/ideal", log_dir=str(tmp_path), display="none", fail_on_error=True)
    passed = {"n": 2, "source": "arithmetic_boolean"}
    assert log.eval.task_args_passed == passed
    assert log.eval.task_args == passed  # the viewer's header shows these
    assert (log.eval.metadata or {})["parameters"].keys() == declared(boolq).keys() - {"metrics"}
    log.status = "cancelled"
    (retried,) = eval_retry(log, log_dir=str(tmp_path), display="none")
    assert (retried.status, retried.eval.task_args_passed) == ("success", passed)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n": "abc"}, "n='abc' must be a whole number"),
        ({"n": 1.5}, "n=1.5 must be a whole number"),
        ({"n": True}, "n=True must be a whole number"),
        ({"seed": "abc"}, "seed='abc' must be a whole number"),
        ({"seed": -1}, "seed=-1 must be 0 or more"),
        ({"source": ["arithmetic_boolean"]}, "source=['arithmetic_boolean'] must be a text"),
        ({"mirror": 2026}, "mirror=2026 must be a text"),
        ({"cache": "nein"}, "cache='nein' must be true or false"),
    ],
)
def test_a_value_of_another_type_is_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        task_create("confidence_tasks/boolq", **({"source": "arithmetic_boolean", "n": 2} | given))


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("fermieval", {"temperature": -1}, "temperature=-1 must lie in [0, 2]"),
        ("fermieval", {"temperature": 2.5}, "temperature=2.5 must lie in [0, 2]"),
        ("fermieval", {"temperature": math.nan}, "temperature=nan must be a number or a text"),
        ("fermieval", {"levels": math.nan}, "levels=nan must be a text or a number or a list"),
        ("fermieval", {"levels": [True]}, "levels: 'True' is not a coverage between 0 and 1, such as 0.95"),
        ("fermieval", {"levels": []}, "levels is empty: name at least one"),
        (
            "fermieval",
            {"levels": "0.9,0.99999"},
            "levels: the prompt would ask for 100.00%, not 0.99999: use at most four decimals",
        ),
        ("riskeval", {"penalties": math.inf}, "penalties=inf must be a text or a list or a number"),
        (
            "riskeval",
            {"source": "lifeeval"},
            "the questions of lifeeval have no key to grade by: choose a source with keys",
        ),
        ("lifeeval", {"radii": 5.9}, "radii=5.9 must be a text or a whole number or a list"),
        ("lifeeval", {"radii": [5.9]}, "radii='5.9' is not one of 1, 5, 10, 20"),
        ("lifeeval", {"radii": True}, "radii=True must be a text or a whole number or a list"),
        (
            "lifeeval",
            {"population": " "},
            "population is empty: name a person of the table's population with the article, such as 'an American'",
        ),
        ("scale_granularity", {"scales": []}, "scales is empty: name at least one"),
        ("scale_granularity", {"scales": ""}, "scales is empty: name at least one"),
        ("scale_granularity", {"sources": ["arithmetic", ""], "fewshot": -1}, "fewshot=-1 must be 0 or more"),
        (
            "scale_granularity",
            {"sources": "arithmetic,lifeeval", "n": 2},
            "the questions of lifeeval have no key to grade by: choose a source with keys",
        ),
        ("nlp_metad", {"k": 1}, "k=1 must be 2 or more"),
        ("fermieval_sampling", {"samples": 1}, "samples=1 must be 2 or more"),
    ],
)
def test_an_invalid_value_is_refused(name: str, given: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        task_create(f"confidence_tasks/{name}", **given)


def test_a_condition_that_is_named_twice_is_asked_once() -> None:
    task = scale_granularity(scales=["0-10", "[0, 10]", "0-10"], sources="arithmetic", n=2)
    assert [sample.id for sample in task.dataset] == ["arithmetic-s0-00000/0-10", "arithmetic-s0-00001/0-10"]


def test_two_files_with_the_same_name_are_refused(tmp_path: Path) -> None:
    files = [tmp_path / folder / "mine.jsonl" for folder in ("a", "b")]
    for number, file in enumerate(files):
        file.parent.mkdir()
        file.write_text(f'{{"question": "What is {number} + 1?", "answer": {number + 1}}}')
    message = f"^{re.escape(str(files[1]))} and another of the sources are both named mine: rename one of the files$"
    with pytest.raises(ValueError, match=message):
        scale_granularity(sources=list(map(str, files)))


@pytest.mark.parametrize("name", TASKS)
def test_every_default_has_the_type_of_the_parameter(name: str) -> None:
    task = getattr(_registry, name)
    for parameter in declared(task).values():
        check_value(parameter.name, parameter.default, parameter.annotation)
