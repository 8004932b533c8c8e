"""The signal from the reasoning of samples; the other signals of samples are in ``reading/sample_signals.py``."""

from __future__ import annotations

from confidence_tasks.reading.equal_answers import word_similarity
from confidence_tasks.reading.token_probabilities import VOCABULARY_SPACES
from confidence_tasks.reading.token_signals import MissingSignalError, trace_tokens
from confidence_tasks.studies.signals.answered import AnsweredQuestion
from confidence_tasks.study import ModelReply


def trace_agreement(answered: AnsweredQuestion) -> float:
    """Return the mean similarity, in words, of the answer's reasoning to that of the samples that have one."""
    texts = [_trace(answered.reply("answer"))]
    for reply in answered.replies.get("samples", ()):
        try:
            texts.append(_trace(reply))
        except MissingSignalError:
            continue
    if len(texts) < 2:
        raise MissingSignalError("no sample lists the tokens of its reasoning")
    return float(word_similarity(texts)[0, 1:].mean())


def _trace(reply: ModelReply) -> str:
    return "".join(token.text for token in trace_tokens(reply)).translate(VOCABULARY_SPACES)
