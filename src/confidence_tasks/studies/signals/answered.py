"""A question with the replies about its answer, and what several signals read of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from confidence_tasks.reading.sample_signals import Samples, several_samples
from confidence_tasks.reading.token_probabilities import answer_slice, is_known, token_problem
from confidence_tasks.reading.token_signals import MissingSignalError
from confidence_tasks.studies.signals.meaning import same_meaning
from confidence_tasks.studies.signals.reader import AnswerReply, read_answer_reply
from confidence_tasks.study import ModelReply, Question, Replies, Token


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question with the replies about its answer."""

    question: Question
    replies: Replies

    @cached_property
    def reading(self) -> AnswerReply:
        """The answer as read."""
        return read_answer_reply(self.reply("answer").text, self.question)

    def reply(self, stage: str) -> ModelReply:
        """Return the only reply of a stage; an empty one if there was no call."""
        replies = self.replies.get(stage) or [ModelReply("", problem="there was no call")]
        return replies[0]

    def text(self, stage: str) -> str:
        """Return the text of the only reply of a stage; MissingSignalError if the reply is unfinished."""
        reply = self.reply(stage)
        if reply.stop and not reply.text:
            raise MissingSignalError(reply.problem)
        return reply.text

    @property
    def tokens(self) -> list[Token]:
        """Tokens of the answer."""
        return tokens_of_answer(self.reply("answer"), self.reading)

    @property
    def logprobs(self) -> list[float]:
        """Log-probabilities of the answer's tokens."""
        return answer_logprobs(self.reply("answer"), self.reading)

    @cached_property
    def answered_samples(self) -> list[tuple[ModelReply, AnswerReply]]:
        """The samples that have an answer, as given and as read; MissingSignalError if none has."""
        replies = self.replies.get("samples", ())
        readings = [(reply, read_answer_reply(reply.text, self.question)) for reply in replies]
        answered = [(reply, reading) for reply, reading in readings if reading.answer]
        if not answered:
            unfinished = next((reply.problem for reply in replies if reply.stop), "")
            raise MissingSignalError(unfinished or f"none of the {len(replies)} samples has an answer")
        return answered

    @cached_property
    def samples(self) -> Samples:
        """The samples that have an answer; MissingSignalError if none has, or if they cannot be compared."""
        answers = [self.reading.answer, *(reading.answer for _, reading in self.answered_samples)]
        same = same_meaning(self.question, answers, self.replies.get("judge", ()))
        return Samples.compare(self.question.kind, answers, same)

    @property
    def sample_logprobs(self) -> list[list[float]]:
        """Log-probabilities of the tokens of each sample's answer, of two or more samples."""
        several_samples(self)
        return [answer_logprobs(*sample) for sample in self.answered_samples]


def require(value: float, problem: str) -> float:
    """Return a value; MissingSignalError if it is NaN."""
    if math.isnan(value):
        raise MissingSignalError(problem)
    return value


def tokens_of_answer(reply: ModelReply, reading: AnswerReply) -> list[Token]:
    """Return the tokens of a reply's answer; MissingSignalError if there are none with log-probabilities."""
    if problem := token_problem(reply):
        raise MissingSignalError(problem)
    texts = [token.text for token in reply.tokens]
    tokens = list(reply.tokens[slice(*answer_slice(texts, reply.text, reading.begin, reading.end))])
    if not tokens:
        raise MissingSignalError("the tokens are not those of the answer")
    if not all(is_known(token.logprob) for token in tokens):
        raise MissingSignalError("a token of the answer has no log-probability")
    return tokens


def answer_logprobs(reply: ModelReply, reading: AnswerReply) -> list[float]:
    """Return the log-probabilities of the tokens of a reply's answer."""
    return [min(token.logprob, 0.0) for token in tokens_of_answer(reply, reading)]
