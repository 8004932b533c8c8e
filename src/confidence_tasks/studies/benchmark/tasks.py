"""The Inspect task that runs any other task and asks for a confidence in each answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from inspect_ai import Task
from inspect_ai import task as inspect_task

from confidence_tasks.harness.compat import created_task
from confidence_tasks.harness.usage_errors import as_usage_error
from confidence_tasks.studies.benchmark import wrapping
from confidence_tasks.study.parameter import did_you_mean


@inspect_task
def with_confidence(
    task: str = "",
    ask: str | list[str] = "0-100",
    when: str = "after",
    scorer: str = "",
    correct: str = "",
    structured: bool = False,
    cache: bool | None = None,
    **task_args: Any,
) -> Task:
    """Run any Inspect task, and ask how sure the model is of each answer.

    Parameters
    ----------
    task
        Name of a task of any package, such as inspect_evals/gpqa_diamond, or file.py@name.
    ask
        What is asked about each answer, separated by commas: a scale such as 0-100 or 0-20, words, p_true.
    when
        after: the question follows the answer, which stays as it is. within: the instruction is part of the prompt.
    scorer
        The task's scorer that says whether an answer is right; by default the first.
    correct
        For partial credit a bound such as score>=0.5; for a score of several values the name of one.
    structured
        Whether the replies to ask are JSON objects by a response schema, which providers that ignore it refuse.
    cache
        Whether replies may come from Inspect's cache; by default those of models on other machines than the user's.
    task_args
        All other parameters go to the task.
    """
    with as_usage_error():
        if not task:
            raise ValueError("with_confidence needs a task: -T task=PACKAGE/NAME or -T task=FILE.py@NAME")
        inner = created_task(task, task_args, refuse_unknown)
        return wrapping.with_confidence(
            inner, ask=ask, when=when, scorer=scorer, correct=correct, structured=structured, cache=cache
        )


def refuse_unknown(task: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """Raise ValueError for an argument that a task does not have, with the nearest parameter."""
    parameters = signature(task).parameters
    if any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        return
    for name in arguments:
        if name not in parameters:
            known = ", ".join(parameters) or "none"
            raise ValueError(
                f"the task has no parameter {name!r}{did_you_mean(name, parameters)}. It has {known}"
            )
