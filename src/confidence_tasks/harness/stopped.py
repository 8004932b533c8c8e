"""Replies that the model did not finish: a study reads none of them, unless its whole format stands at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from confidence_tasks.reading.cleaning import truncate_reply
from confidence_tasks.reading.cut_off import ends_in_format
from confidence_tasks.reading.thoughts import may_be_within_thought, strip_thoughts
from confidence_tasks.study.definition import Study
from confidence_tasks.study.stage import ModelReply, Replies, Stage, Stop
from confidence_tasks.study.trial import READABLE, Question, Status

STATUSES_OF_STOPS: Mapping[Stop, Status] = {
    "length": "truncated",
    "filter": "filtered",
    "thought": "reasoning_only",
}
"""Status of the trial of a reply that the model did not finish."""

PROBLEMS: Mapping[Stop, str] = {
    "length": "cut off at the token limit",
    "filter": "stopped by the provider's content filter",
    "thought": "without a visible reply after the reasoning",
}
"""What is wrong with an unfinished reply, in words."""


def problem_of_reply(stop: Stop) -> str:
    """Return what is wrong with an unfinished reply, as logs keep it beside a missing confidence.

    Examples
    --------
    >>> problem_of_reply("length")
    'the reply was cut off at the token limit'
    """
    return f"the reply was {PROBLEMS[stop]}"


def status_of_missing(problem: object) -> Status:
    """Return the status of a trial without a confidence, by the problem that the log names.

    Examples
    --------
    >>> status_of_missing(problem_of_reply("length")), status_of_missing("about 80 or so")
    ('truncated', 'missing_confidence')
    """
    stop = next(
        (each for each in PROBLEMS if problem in (problem_of_reply(each), _problem_of_answer(each))), None
    )
    return STATUSES_OF_STOPS[stop] if stop else "missing_confidence"


def _problem_of_answer(stop: Stop) -> str:
    return f"the answer was {PROBLEMS[stop]}"


STOPS: Mapping[str, Stop] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "filter",
    "refusal": "filter",
}
"""Reasons to stop too early, in the words of servers; ``model_length`` is the context of the model."""

NOTICES: Mapping[Status, tuple[str, str]] = {
    "truncated": (
        "Replies cut off at the token limit",
        "Studies do not read them, and scorers of other tasks read what is there. Long replies belong to hard"
        " questions, so all estimates are biased: run again with a higher limit (`--max-tokens` on Inspect,"
        " `--gen_kwargs max_gen_toks=4096` on lm-eval), or with less reasoning.",
    ),
    "filtered": (
        "Replies stopped by the provider's content filter",
        "They are neither answers nor abstentions: ask the provider to relax the filter, or leave these questions out.",
    ),
    "reasoning_only": (
        "Replies with reasoning only",
        "There is no visible reply: set the server's reasoning parser for this model, or a higher limit of tokens.",
    ),
}
"""Title and meaning of the report's notice, by the status of the trials."""


@dataclass(frozen=True, slots=True)
class FinishedReplies:
    """Takes the unfinished replies out of those to one question under one condition."""

    study: Study
    stages: Sequence[Stage]
    question: Question
    condition: str

    def of(self, replies: Replies) -> dict[str, list[ModelReply]]:
        """Return the replies as the study reads them: if one of a stage is unfinished, all of the stage are empty.

        How long a reply is depends on how hard the question is, so that the finished samples of a stage are no random
        part of all of them. Empty replies keep their numbers of tokens, and their ``problem`` says what is wrong.
        """
        finished = {}
        for name, of_stage in replies.items():
            stage = next((stage for stage in self.stages if stage.name == name), None)
            stops = [self._why_unfinished(stage, reply) for reply in of_stage]
            whole = _without_text(of_stage, stops) if any(stops) else of_stage
            finished[name] = [self._as_text(stage, reply) for reply in whole]
        return finished

    def _as_text(self, stage: Stage | None, reply: ModelReply) -> ModelReply:
        """Return a reply that is a JSON object as the study's reader takes it; empty if it is none."""
        structured = stage and stage.structured_for(self.question)
        if not structured or not reply.text:
            return reply
        visible = strip_thoughts(truncate_reply(reply.text))
        text = structured.read(self.question, self.condition, visible)
        if text == visible:
            return reply
        return replace(reply, text=text, tokens=(), problem=reply.problem if text else NO_OBJECT)

    def _why_unfinished(self, stage: Stage | None, reply: ModelReply) -> Stop:
        """Return why the study cannot read a reply of a stage; empty if it can."""
        if stage is not None and stage.forced_reply:
            return ""
        visible = strip_thoughts(reply.text)
        if reply.stop == "length" and stage is not None and self._is_complete(stage, visible):
            return ""
        has_text = bool(strip_thoughts(truncate_reply(reply.text)).strip())
        return reply.stop or ("thought" if reply.text.strip() and not has_text else "")

    def _is_complete(self, stage: Stage, text: str) -> bool:
        """Return whether a reply that was cut off holds all that the study reads of it."""
        if may_be_within_thought(text):
            return False
        if structured := stage.structured_for(self.question):
            return bool(structured.read(self.question, self.condition, text))
        if stage.complete is not None:
            return stage.complete(self.question, self.condition, text)

        def is_format(part: str) -> bool:
            replies = {stage.name: [ModelReply(part)]}
            return self.study.read(self.question, self.condition, replies)["status"] == "ok"

        return len(self.stages) == 1 and ends_in_format(text, is_format)


NO_OBJECT = "the reply is no JSON object of the schema"


def _without_text(replies: Sequence[ModelReply], stops: Sequence[Stop]) -> list[ModelReply]:
    stop = next(each for each in stops if each)
    several = f"{sum(map(bool, stops))} of {len(stops)} replies were"
    problem = f"{several} {PROBLEMS[stop]}" if len(stops) > 1 else problem_of_reply(stop)
    return [replace(reply, text="", tokens=(), problem=problem, stop=stop) for reply in replies]


def why_unanswered(text: str, stop: Stop) -> str:
    """Return why a reply to a task of others has no answer that a model could be asked about; empty if it may have one.

    A reply that was cut off may hold the answer, which the task's own scorer grades.
    """
    has_text = bool(strip_thoughts(truncate_reply(text)).strip()) and stop != "filter"
    return "" if has_text or not stop else _problem_of_answer(stop)


def status_with(finished: Replies, status: Status) -> Status:
    """Return the status of a trial: if it cannot be read, why the first reply that was emptied is unfinished."""
    stops = [reply.stop for of_stage in finished.values() for reply in of_stage if not reply.text]
    stop = next((stop for stop in stops if stop), None)
    return status if stop is None or status in READABLE else STATUSES_OF_STOPS[stop]
