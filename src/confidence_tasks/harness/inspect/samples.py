"""What the tasks share: reading list parameters, turning design cells into samples, and settings of the viewer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from confidence_tasks.harness.questions import question_metadata
from confidence_tasks.study.question import Question

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
        """The sample id, ``question/condition``."""
        return f"{self.question.id}/{self.condition}"


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
    raise ValueError(f"{what}={value!r} is not one of {', '.join(allowed)}")


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
