"""What the tasks share: reading list parameters, turning design cells into samples, and settings of the viewer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, get_args

from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from confidence_tasks.study.parameter import meant
from confidence_tasks.study.question import Question, question_metadata

T = TypeVar("T", bound=str)


@dataclass(frozen=True, slots=True)
class Item:
    """One cell of a study's design, as either harness asks it.

    Attributes
    ----------
    question : Question
        What is asked.
    condition : str
        Label of the condition.
    prompt : str
        The user message.
    system : str
        The system message; empty for none.
    examples : tuple of (str, str)
        Worked examples as pairs of user and assistant turns, before the prompt.
    metadata : dict
        What else the scorer needs.
    """

    question: Question
    condition: str
    prompt: str
    system: str = ""
    examples: tuple[tuple[str, str], ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The sample id: ``question/condition``, or ``question/condition/effort``."""
        return "/".join((self.question.id, self.condition, *filter(None, [self.metadata.get(EFFORT)])))


def listed(value: str | float | Sequence[str] | Sequence[float], what: str) -> list[str]:
    """Return a list parameter, given as a list, as text with commas or as one number, without repetitions.

    Raises
    ------
    ValueError
        If it is empty.

    Examples
    --------
    >>> listed("0-20, 0-100", "scales"), listed(1, "temperatures")
    (['0-20', '0-100'], ['1'])
    """
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, Sequence) else [value]
    items = list(dict.fromkeys(text for part in parts if (text := str(part).strip())))
    if not items:
        raise ValueError(f"{what} is empty: name at least one")
    return items


EFFORT = "effort"
"""The key of a sample's metadata, and of its trial, that says at which of several efforts it was asked."""

_EFFORTS = [
    name
    for kind in get_args(GenerateConfig.model_fields["reasoning_effort"].annotation)
    for name in get_args(kind)
]


def effort_settings(effort: str | None) -> dict[str, Any]:
    """Return the settings of generation that an effort stands for: a name, or a number of tokens to think in.

    Raises
    ------
    ValueError
        If it is neither.

    Examples
    --------
    >>> effort_settings("low"), effort_settings("8192"), effort_settings(None)
    ({'reasoning_effort': 'low'}, {'reasoning_tokens': 8192}, {})
    """
    if effort is None:
        return {}
    if effort.isdecimal():
        return {"reasoning_tokens": int(effort)}
    if effort not in _EFFORTS:
        raise ValueError(
            f"efforts: {effort!r} is neither one of {', '.join(_EFFORTS)} nor a number of tokens to think in"
            f"{meant(effort, _EFFORTS)}"
        )
    return {"reasoning_effort": effort}


def at_efforts(items: Sequence[Item], efforts: Sequence[str]) -> list[Item]:
    """Return every item at each of some efforts; as they are if there is none."""
    if not efforts:
        return list(items)
    return [replace(item, metadata={**item.metadata, EFFORT: effort}) for item in items for effort in efforts]


def with_key(questions: Sequence[Question], source: str) -> Sequence[Question]:
    """Return questions of which some have a key; ValueError if none has, since no reply could be right or wrong."""
    if all(question.gold is None for question in questions):
        raise ValueError(f"the questions of {source} have no key: no reply to them can be right or wrong")
    return questions


def one_of(allowed: Sequence[T], value: str, what: str) -> T:
    """Return ``value`` when it is one of ``allowed``; ValueError lists them otherwise.

    Examples
    --------
    >>> one_of(("verbal", "cot"), "cot", "elicitation")
    'cot'
    """
    for choice in allowed:
        if choice == value:
            return choice
    raise ValueError(f"{what}={value!r} is not one of {', '.join(allowed)}{meant(value, allowed)}")


_SHOWN_ONLY = "shown_only"


def dataset(items: Iterable[Item], name: str) -> MemoryDataset:
    """Return items as Inspect samples, for a task whose setup is :func:`without_shown_question`.

    The input begins with the question alone, which the viewer's list shows rather than the instructions.
    """
    return MemoryDataset([_sample(item) for item in items], name=name)


def is_sent(metadata: Mapping[str, Any] | None) -> bool:
    """Return whether a message of a sample's input, of which these are the metadata, is sent to the model."""
    return not (metadata or {}).get(_SHOWN_ONLY)


@solver
def without_shown_question() -> Solver:
    """Take out of the conversation what is in a sample's input for the viewer only."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.messages = [message for message in state.messages if is_sent(message.metadata)]
        return state

    return solve


def _sample(item: Item) -> Sample:
    shown = ChatMessageUser(content=item.question.text, metadata={_SHOWN_ONLY: True})
    return Sample(
        id=item.id,
        input=[shown, *_messages(item)],
        target=item.question.gold or "",
        metadata={"condition": item.condition, **question_metadata(item.question), **item.metadata},
    )


def _messages(item: Item) -> list[ChatMessage]:
    turns: list[ChatMessage] = [ChatMessageSystem(content=item.system)] if item.system else []
    for asked, replied in item.examples:
        turns += [ChatMessageUser(content=asked), ChatMessageAssistant(content=replied)]
    return [*turns, ChatMessageUser(content=_content(item))]


def _content(item: Item) -> str | list[Content]:
    """Return the prompt, with the question's picture where it has one."""
    if item.question.image is None:
        return item.prompt
    return [ContentText(text=item.prompt), ContentImage(image=item.question.image)]
