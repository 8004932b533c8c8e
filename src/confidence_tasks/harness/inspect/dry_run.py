"""The calls that a run on Inspect would make, found without a model: a simulated subject replies to the prompts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig, ModelOutput

from confidence_tasks.harness.conversation import conversations_of
from confidence_tasks.harness.inspect import turns
from confidence_tasks.harness.inspect.asker import call_key
from confidence_tasks.harness.inspect.call_settings import simulated_seed
from confidence_tasks.harness.inspect.choices import Draw
from confidence_tasks.harness.inspect.model_replies import stage_replies
from confidence_tasks.harness.inspect.simulated import SimulatedSubject
from confidence_tasks.harness.logged_trials import is_sent
from confidence_tasks.harness.stopped import FinishedReplies
from confidence_tasks.simulation.reply import ROLES, StageCall, call_seed, reply_in_role
from confidence_tasks.study.definition import Study
from confidence_tasks.study.stage import ModelReply, Stage
from confidence_tasks.study.trial import EFFORT, question_from_metadata

JUDGE = ROLES["judge"]
"""The simulated judge that replies where a stage calls another model."""


@dataclass(frozen=True, slots=True)
class DryCall:
    """A call that a run would make.

    Attributes
    ----------
    stage : str
        Name of the stage.
    role : str
        Model role that is called; empty for the model under test.
    messages : tuple of str
        Texts of the messages that are sent.
    replies : tuple of str
        Text of each simulated reply; several if the call requests several choices.
    limit : int, optional
        Largest number of tokens of a reply, if the stage or the task sets one.
    """

    stage: str
    role: str
    messages: tuple[str, ...]
    replies: tuple[str, ...]
    limit: int | None


@dataclass(frozen=True, slots=True)
class OtherTask:
    """A task that belongs to no study, such as one that runs tasks of others.

    Attributes
    ----------
    build : callable
        ``build(**parameters)`` returns the Inspect task, and raises an error for a wrong parameter.
    calls : callable
        ``calls(task, subject)`` yields the :class:`DryCall` of its samples.
    study : str
        Name of the study that has its measures.
    assumption : str
        What ``calls`` cannot know, in one sentence.
    """

    build: Callable[..., Task]
    calls: Callable[[Task, SimulatedSubject], Iterator[DryCall]]
    study: str
    assumption: str


def texts_of(messages: Sequence[ChatMessage]) -> tuple[str, ...]:
    """Return the texts of messages; pictures have none."""
    return tuple(message.text for message in messages)


def sent_messages(sample: Sample) -> list[ChatMessage]:
    """Return the messages of a sample that are sent to a model."""
    if isinstance(sample.input, str):
        return [ChatMessageUser(content=sample.input)]
    return [message for message in sample.input if is_sent(message.metadata)]


@dataclass
class DryRun:
    """A run of a study's task in which a simulated subject replies.

    Attributes
    ----------
    study : Study
        The study.
    task : Task
        Its task, as Inspect would run it.
    parameters : mapping
        All parameters of the task.
    subject : SimulatedSubject
        The subject that replies. How long a reply is, and whether a later stage is asked, depends on it. Replies are
        empty if the study has no simulated subject.
    shares : bool
        Whether equal calls of a question are made once, as for all models but simulated subjects.
    """

    study: Study
    task: Task
    parameters: Mapping[str, Any]
    subject: SimulatedSubject
    shares: bool
    _made: dict[object, dict[object, ModelOutput]] = field(default_factory=lambda: defaultdict(dict))

    def calls(self) -> Iterator[DryCall]:
        """Yield the calls of the first epoch, in the order of the samples."""
        stages = self.study.stages_of(self.parameters)
        for sample in self.task.dataset:
            yield from self._calls_of(sample, stages)

    def _calls_of(self, sample: Sample, stages: tuple[Stage, ...]) -> Iterator[DryCall]:
        """Yield the calls of a sample, which follow each other as in a run."""
        metadata = sample.metadata or {}
        question, condition = question_from_metadata(metadata), str(metadata["condition"])
        made = self._made[question.id, metadata.get(EFFORT)]
        finished = FinishedReplies(self.study, stages, question, condition)
        start = sent_messages(sample)
        replies: dict[str, list[ModelReply]] = {}
        conversations: dict[str, list[ChatMessage]] = {}
        for stage in stages:
            call = StageCall(self.study, question, condition, stage.name, finished.of(replies))
            first = start[-1].text, start
            prompts = conversations_of(
                stage, call, first, conversations, turns.start_conversation, turns.append_prompt
            )
            replies[stage.name] = []
            for _, messages in list(prompts):
                n_choices = stage.samples if stage.one_request else 1
                for number in range(0, stage.samples, n_choices):
                    key = call_key(stage, messages, number, condition)
                    is_new = not self.shares or key not in made
                    draw = Draw(number, n_choices)
                    output = self._reply(stage, call, messages, draw) if is_new else made[key]
                    if is_new:
                        yield self._as_call(stage, messages, output)
                    if self.shares:
                        made[key] = output
                    replies[stage.name] += stage_replies(stage, output, number)
                    conversations.setdefault(stage.name, [*messages, output.message])

    def _as_call(self, stage: Stage, messages: list[ChatMessage], output: ModelOutput) -> DryCall:
        limit = stage.max_tokens or self.task.config.max_tokens
        texts = tuple(choice.message.text for choice in output.choices)
        return DryCall(stage.name, stage.role, texts_of(messages), texts, limit)

    def _reply(self, stage: Stage, call: StageCall, messages: list[ChatMessage], draw: Draw) -> ModelOutput:
        if stage.role and (verdict := _verdict(messages)):
            return ModelOutput.from_content("judge", verdict)
        if self.study.simulation.reply is None:
            return ModelOutput.from_content("none", "")
        settings = GenerateConfig(
            temperature=stage.temperature_in(call.condition) or 0.0,
            seed=simulated_seed(self.study, stage, 1, draw.number),
            num_choices=draw.n_choices,
            logprobs=bool(stage.logprobs),
            top_logprobs=stage.top_logprobs,
        )
        return self.subject.output(call, messages, settings)


def _verdict(messages: list[ChatMessage]) -> str:
    """Return the reply of a simulated judge; empty if the prompt is none to a judge."""
    prompt = "\n\n".join(texts_of(messages))
    try:
        return reply_in_role(JUDGE, prompt, seed=call_seed(0, None))
    except ValueError:
        return ""
