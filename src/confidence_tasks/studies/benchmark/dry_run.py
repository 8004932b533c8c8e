"""The calls that `with_confidence` would make, found without a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, GenerateConfig

from confidence_tasks.harness.conversation import call_of_others
from confidence_tasks.harness.inspect.dry_run import DryCall, OtherTask, sent_messages, texts_of
from confidence_tasks.harness.inspect.simulated import SimulatedSubject, question_of
from confidence_tasks.simulation.reply import ANSWER_OF_OTHERS
from confidence_tasks.studies.benchmark.asking import Ask, parse_asks
from confidence_tasks.studies.benchmark.tasks import with_confidence
from confidence_tasks.studies.benchmark.wrapping import INSTRUCTION
from confidence_tasks.study.structured import STRUCTURED


def _calls(task: Task, subject: SimulatedSubject) -> Iterator[DryCall]:
    """Yield the calls of each sample: one for the answer, and one for each question about it."""
    settings = (task.metadata or {})["confidence_tasks"]
    within = settings["when"] == "within"
    asks = [] if within else parse_asks(settings["ask"], structured=settings.get(STRUCTURED, False))
    for number, sample in enumerate(task.dataset, 1):
        # Inspect numbers samples without an identifier in this way.
        sample = sample.model_copy(update={"id": sample.id or number})
        yield from _calls_of(sample, asks, subject, within, task.config.max_tokens)


def _calls_of(
    sample: Sample, asks: Sequence[Ask], subject: SimulatedSubject, within: bool, limit: int | None
) -> Iterator[DryCall]:
    messages: list[ChatMessage] = sent_messages(sample)
    if within:
        messages = [*messages[:-1], ChatMessageUser(content=f"{messages[-1].text}\n\n{INSTRUCTION}")]
    question = question_of(sample.id, sample.input, sample.target or "", has_options=bool(sample.choices))

    def reply(stage: str, said: list[ChatMessage]) -> str:
        return subject.output(call_of_others(question, stage), said, GenerateConfig()).completion

    answer = reply(ANSWER_OF_OTHERS, messages)
    yield DryCall(ANSWER_OF_OTHERS, "", texts_of(messages), (answer,), limit)
    for ask in asks:
        asked = [*messages, ChatMessageAssistant(content=answer), ChatMessageUser(content=ask.prompt(""))]
        yield DryCall(ask.name, "", texts_of(asked), (reply(ask.name, asked),), limit)


DRY_RUN = OtherTask(
    with_confidence,
    _calls,
    "benchmark",
    "The task's own solver is taken to make one call per sample, whose reply is as long as the key, and its scorer"
    " none: reasoning, tools and grading by a model cost more.",
)
