"""The calls of a trial: their conversations, their seeds, and the turns that a conversation goes on with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from confidence_tasks.catalogue import study_named
from confidence_tasks.harness.parameters import STUDY, default_stages, load_study
from confidence_tasks.reading.cleaning import strip_chat_tokens
from confidence_tasks.reading.thoughts import cleaned_replies, strip_thoughts
from confidence_tasks.simulation.reply import ANSWER_OF_OTHERS, StageCall
from confidence_tasks.simulation.subject import pick
from confidence_tasks.study.stage import Stage
from confidence_tasks.study.trial import Question, question_from_metadata

Conversation = TypeVar("Conversation")


_MAX_SEED = 2**31 - 1
"""Largest seed that providers accept."""


def first_call(metadata: Mapping[str, Any] | None) -> StageCall:
    """Return the call of a study's first stage, from a sample's or document's metadata, for a simulated subject.

    Raises ValueError if the sample is not of a study.
    """
    if not metadata or STUDY not in metadata:
        raise ValueError(
            "a simulated subject can only answer the questions of confidence_tasks tasks, and samples of other tasks"
            " that have a target"
        )
    study = load_study(metadata[STUDY])
    first = default_stages(study)[0]
    return StageCall(study, question_from_metadata(metadata), str(metadata["condition"]), first.name, {})


def call_of_others(question: Question, stage: str = ANSWER_OF_OTHERS) -> StageCall:
    """Return the call of a question of another task, for a simulated subject: the answer, or a question about it."""
    return StageCall(study_named("benchmark"), question, stage, stage, {})


def sample_seed(seed: int, question: str, repeat: int, stage: Stage, condition: str, number: int) -> int:
    """Return the seed of a sampled call, which is the same on both harnesses.

    The seed depends on the run's seed, the question, the stage, the number of the repeated trial (from 1) and the
    number of the sample (from 0). It depends on the condition only if the stage's temperature does, because calls are
    otherwise shared between conditions.
    """
    key = (condition,) if callable(stage.temperature) else ()
    return pick(_MAX_SEED, seed, question, repeat, stage.name, number, *key)


def conversations_of(
    stage: Stage,
    call: StageCall,
    first: tuple[str, Conversation],
    earlier: Mapping[str, Conversation],
    start: Callable[[str, str], Conversation],
    append: Callable[[Conversation, str], Conversation],
) -> Iterator[tuple[str, Conversation]]:
    """Yield each prompt of a stage with the conversation that ends in this prompt.

    The type of a conversation is the harness's. ``first`` is the first stage's prompt and conversation, which has the
    worked examples; a later stage with the same prompt uses the same conversation. ``start(system, prompt)`` returns a
    new conversation, and ``append(conversation, prompt)`` continues a conversation of an ``earlier`` stage.
    """
    if not call.replies or stage.forced_reply:
        yield first
        return
    for prompt in stage.prompts(call.question, call.condition, cleaned_replies(call.replies)):
        if not stage.follows:
            system = stage.system_of(call.question, call.condition)
            yield first if prompt == first[0] else (prompt, start(system, prompt))
        elif stage.follows in earlier:
            yield prompt, append(earlier[stage.follows], prompt)
        else:
            raise ValueError(
                f"stage {stage.name!r} follows {stage.follows!r}, which is skipped under {call.condition!r}"
            )


def visible_turn(text: str) -> str:
    r"""Return a reply as it stands in the conversation that goes on: without the thought, unless it is nothing else.

    Control tokens around the reply are left out, too: the server would take them for those of its own template.

    Examples
    --------
    >>> visible_turn("<think>B or C?</think>\n\nAnswer: B<|im_end|>")
    'Answer: B'
    """
    visible = strip_chat_tokens(strip_thoughts(text))
    return (visible.strip() or text) if visible.strip() != text.strip() else text


def as_continuation(prompt: str, text: str) -> str:
    """Return a text with a leading space, unless the prompt that it continues ends in white space."""
    return text if prompt[-1:].isspace() else f" {text}"
