"""Wrapping of any Inspect task, so that it also asks for a confidence in each answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from inspect_ai import Task, task_with
from inspect_ai.model import ChatMessageUser
from inspect_ai.solver import Generate, Solver, TaskState, solver

from confidence_tasks.harness.compat import registered_params, scorer_names, with_metrics
from confidence_tasks.harness.correctness import Correctness
from confidence_tasks.harness.inspect.model_calls import named_server
from confidence_tasks.harness.inspect.schemas import refuse_without_schemas
from confidence_tasks.harness.inspect.viewer import versions
from confidence_tasks.studies.benchmark.asking import NONE, parse_asks
from confidence_tasks.studies.benchmark.scorer import stated_confidence
from confidence_tasks.study.parameter import did_you_mean
from confidence_tasks.study.structured import STRUCTURED

INSTRUCTION = (
    "At the end of your reply, state on a line of its own how likely it is that your answer is right, as a number from"
    " 0 to 100:\nConfidence: <number>"
)
"""What ``when="within"`` adds to the last message of the user."""

WHEN = ("after", "within")


def with_confidence(
    task: Task,
    *,
    ask: str | list[str] = "0-100",
    when: str = "after",
    scorer: str = "",
    correct: str = "",
    structured: bool = False,
    cache: bool | None = None,
) -> Task:
    """Add a scorer to an Inspect task that asks how sure the model is of each answer.

    The scorer runs after the task's own, in a conversation of its own: data set, solver, limits and metrics of the task
    stay as they are, and so do its scores. The task is changed in place, as by :func:`inspect_ai.task_with`.

    Parameters
    ----------
    task : Task
        The task. It needs a scorer that says whether an answer is right.
    ask : str, optional
        What is asked about each answer, separated by commas, one call each: scales such as ``0-100`` or ``0-20``,
        ``words``, ``p_true``.
    when : {"after", "within"}, optional
        Whether the question follows the answer, or an instruction to state a confidence is part of the prompt, which
        may change the answer.
    scorer : str, optional
        Name of the task's scorer that says whether an answer is right; by default the first.
    correct : str, optional
        For partial credit a bound such as ``score>=0.5``, from which on an answer is right; for a score of several
        values the name of one.
    structured : bool, optional
        Whether the replies to ``ask`` are JSON objects by a response schema. Their signals have names of their own,
        such as ``0-100 JSON``.
    cache : bool or None, optional
        Whether replies may come from Inspect's cache; by default those of models on other machines than the user's.

    Returns
    -------
    Task
        The same task, with the name ``<name>_confidence``.

    Raises
    ------
    ValueError
        If ``ask`` or ``when`` is unknown, if ``correct`` is no bound, if the task has no scorer or none with the name
        ``scorer``, or if its solver shuffles the options.

    Examples
    --------
    >>> from inspect_ai import Task
    >>> from inspect_ai.dataset import Sample
    >>> from inspect_ai.scorer import match
    >>> task = with_confidence(Task([Sample("1 + 1 =", target="2")], scorer=match()), ask="0-100,p_true")
    >>> len(task.scorer)
    2
    """
    Correctness.parse(correct, scorer)
    _check_questions(ask, when, structured)
    own = _as_list(task.scorer)
    _check_task(task, own)
    _check_scorer(scorer, scorer_names(own))
    asked = NONE if when == "within" else ask
    changes: dict[str, Any] = {
        # Metrics of a task replace those of all its scorers, also of ours.
        "scorer": [
            *(with_metrics(each, task.metrics) if task.metrics else each for each in own),
            stated_confidence(ask=asked, scorer=scorer, correct=correct, structured=structured, cache=cache),
        ],
        "metrics": None,
        "name": f"{task.name}_confidence",
        "metadata": {
            **(task.metadata or {}),
            "confidence_tasks": {
                "task": task.name,
                "ask": ask,
                "when": when,
                "scorer": scorer,
                "correct": correct,
                **({STRUCTURED: True} if structured else {}),
            },
            "versions": versions(),
        },
    }
    changes["setup"] = [
        named_server(),
        *([refuse_without_schemas()] if structured else ()),
        *_as_list(task.setup),
        *([ask_within()] if when == "within" else ()),
    ]
    return task_with(task, **changes)


def _check_questions(ask: str | list[str], when: str, structured: bool) -> None:
    """Raise ValueError for questions that cannot be asked."""
    asks = parse_asks(ask, structured=structured)
    if when not in WHEN:
        raise ValueError(f"when={when!r} is neither of {', '.join(WHEN)}")
    if when == "within" and structured:
        raise ValueError(
            "structured: when='within' asks in the task's own prompt, whose replies are no JSON objects"
        )
    if when == "within" and [each.name for each in asks] != ["0-100"]:
        raise ValueError(f"when='within' states a confidence from 0 to 100: leave out ask={ask!r}")


def _check_task(task: Task, scorers: Sequence[Any]) -> None:
    """Raise ValueError for a task whose answers are not right or wrong, or were given to another question."""
    if not scorers:
        raise ValueError("the task has no scorer, so no answer is right or wrong: give it one")
    if any(registered_params(each).get("shuffle") for each in _as_list(task.solver)):
        raise ValueError(
            "the task shuffles options in its solver and rewrites the conversation afterwards, so the model would be"
            " asked about letters that it did not see: shuffle the options of the data set instead"
        )


def _check_scorer(named: str, names: Sequence[str]) -> None:
    """Raise ValueError if the user names a scorer that the task does not have."""
    if named and named not in names:
        raise ValueError(
            f"scorer={named!r} is none of the task's: {', '.join(names)}{did_you_mean(named, names)}"
        )


@solver
def ask_within() -> Solver:
    """Add the instruction to state a confidence to the last message of the user."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        users = [message for message in state.messages if isinstance(message, ChatMessageUser)]
        if users:
            users[-1].content = f"{users[-1].text}\n\n{INSTRUCTION}"
        return state

    return solve


def _as_list(items: Any) -> list[Any]:
    """Return the scorers or solvers of a task as a list; the members of a chain one by one."""
    return list(_flat(items))


def _flat(items: Any) -> Iterator[Any]:
    if items is None:
        return
    if isinstance(items, Sequence):
        for item in items:
            yield from _flat(item)
    else:
        yield items
