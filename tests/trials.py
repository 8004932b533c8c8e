"""Trials of a reply that is given as a text, read by the studies' own functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.studies.fermieval.replies import condition_of as condition_of_level
from confidence_tasks.studies.fermieval.sampling.measures import sampling_summary
from confidence_tasks.studies.fermieval.sampling.trials import ASKS, Ask, SampleTrial, cell_of, read_sample
from confidence_tasks.studies.fermieval.trials import IntervalTrial, read_interval
from confidence_tasks.studies.lifeeval.question_sets.trials import QuestionSetTrial
from confidence_tasks.studies.lifeeval.question_sets.trials import read_reply as read_set_reply
from confidence_tasks.studies.lifeeval.trials import LifeEvalTrial, read_guess
from confidence_tasks.studies.logprob_metacognition.replies import ANSWER, GOLD
from confidence_tasks.studies.logprob_metacognition.replies import CONDITIONS as TEMPERATURE_CONDITIONS
from confidence_tasks.studies.logprob_metacognition.trials import LogprobTrial
from confidence_tasks.studies.logprob_metacognition.trials import read_reply as read_short_reply
from confidence_tasks.studies.scales.replies import Elicitation
from confidence_tasks.studies.scales.trials import ScaleTrial
from confidence_tasks.studies.scales.trials import read_reply as read_scaled_reply
from confidence_tasks.study import ModelReply, Question, Token

_SET_OF_FORM = {"boolean": "boolq", "options": "sciq", "judgement": "halueval"}


def scale_trial(
    question: Question, scale: Scale, reply: str, elicitation: Elicitation = "verbal", *, strict: bool = False
) -> ScaleTrial:
    """Read a reply to a question on a scale."""
    asked = question.with_metadata(elicitation=elicitation, strict=strict)
    return read_scaled_reply(asked, scale.label, {"answer": [ModelReply(reply)]})


def lifeeval_trial(question: Question, reply: str, tokens: Sequence[Token] = ()) -> LifeEvalTrial:
    """Read a guess."""
    return read_guess(question, question.level, {"guess": [ModelReply(reply, tuple(tokens))]})


def question_set_trial(
    form: str, question: Question, reply: str, tokens: Sequence[Token] = (), given: str = ""
) -> QuestionSetTrial:
    """Read a reply of a form; ``given`` is the answer that a ``judgement`` is about."""
    asked = question.with_metadata(question_set=_SET_OF_FORM[form], given=given)
    return read_set_reply(asked, question.source, {"answer": [ModelReply(reply, tuple(tokens))]})


def fermieval_trial(
    question: Question, level: float, split: str, reply: str, max_exponent: float | None = None
) -> IntervalTrial:
    """Read an interval of a level, stated for a question of one half."""
    limit: dict[str, Any] = {} if max_exponent is None else {"max_exponent": max_exponent}
    asked = question.with_metadata(split=split, **limit)
    return read_interval(asked, condition_of_level(level), {"interval": [ModelReply(reply)]})


def sample_trial(
    question: Question, ask: Ask, temperature: float, split: str, reply: str, level: float | None = None
) -> SampleTrial:
    """Read one sample of a question of one half."""
    said = {"sample": [ModelReply(reply)]}
    return read_sample(question.with_metadata(split=split), cell_of(ask, temperature, level), said)


def logprob_trial(
    question: Question,
    temperature: float,
    reply: str,
    tokens: Iterable[tuple[str, float]],
    of_gold: float | None = None,
) -> LogprobTrial:
    """Read a short answer with its tokens and their log-probabilities, and the key as one token with its own."""
    its = tuple(Token(text, logprob, {}) for text, logprob in tokens)
    gold = question.gold or ""
    said = {
        ANSWER: [ModelReply(reply, its)],
        GOLD: [] if of_gold is None else [ModelReply(gold, (Token(gold, of_gold, {}),))],
    }
    return read_short_reply(question, TEMPERATURE_CONDITIONS.label(temperature), said)


def samples_summary(
    trials: Sequence[SampleTrial], levels: Sequence[float], **options: float
) -> dict[str, float]:
    """The measures of samples of all kinds and temperatures that the trials have."""
    asks = [ask for ask in ASKS if any(trial["ask"] == ask for trial in trials)]
    temperatures = sorted({trial["temperature"] for trial in trials})
    return sampling_summary(trials, levels, asks, temperatures, **options)
