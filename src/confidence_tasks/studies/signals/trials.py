"""From the replies about one answer to a trial of one signal, and the measures of the study."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from confidence_tasks.studies.signals.catalogue import SIGNALS
from confidence_tasks.study import LazyModule, Measure, ModelReply, Question, Replies, Token, Trial
from confidence_tasks.study.measures import (
    ACCURACY,
    PARSE_RATE,
    UNIT,
    Columns,
    Value,
    auroc,
    calibration_error,
    inverted_test_of,
    mean,
    min_count,
    proportion,
    right_and_wrong,
    statistic_of,
)
from confidence_tasks.study.stage import tokens_spent

if TYPE_CHECKING:
    from confidence_tasks.statistics.core import FloatArray, IntArray
    from confidence_tasks.statistics.inference.limits import InvertedTest
    from confidence_tasks.studies.signals.reader import AnswerReply


_prompts = LazyModule("confidence_tasks.studies.signals.prompts")
_reader = LazyModule("confidence_tasks.studies.signals.reader")


class SignalTrial(Trial):
    """A trial of the signal study: one answer, and one signal of it.

    ``confidence`` is the value if that is a probability, else its exponential: a probability of tokens, or the inverse
    of a perplexity. It ranks answers as the value does.

    Attributes
    ----------
    answer : str
        The answer, the same under every condition; empty when there is none.
    value : float
        The signal in its own unit: a probability, or nats. A higher value is surer.
    probability : float
        The value if it is meant as the probability of being right; else NaN.
    problem : str
        Why there is no value; empty if there is one.
    samples : float
        Samples with an answer, for a signal that takes samples; else NaN.
    meanings : float
        Clusters of equal meaning among them; else NaN.
    calls : float
        Calls of the model, that for the answer included.
    input_tokens, output_tokens : float
        Tokens of these calls; NaN where the harness does not tell.
    """

    answer: str
    value: float
    probability: float
    problem: str
    samples: float
    meanings: float
    calls: float
    input_tokens: float
    output_tokens: float


class MissingSignalError(ValueError):
    """A signal has no value; the message says why."""


@dataclass(frozen=True)
class Answered:
    """A question with its answer and the replies about it."""

    question: Question
    replies: Replies

    @cached_property
    def reading(self) -> AnswerReply:
        """The answer as read."""
        from confidence_tasks.studies.signals.reader import read_answer_reply

        return read_answer_reply(self.reply("answer").text, self.question)

    def reply(self, stage: str) -> ModelReply:
        """Return the only reply of a stage; one that says nothing where there is none."""
        said = self.replies.get(stage) or [ModelReply("", problem="there was no call")]
        return said[0]

    @cached_property
    def samples(self) -> Samples:
        """The samples and their meanings."""
        return read_samples(self)


def stated(answered: Answered) -> float:
    """Return the confidence stated beside the answer."""
    value = answered.reading.stated / 100
    if not 0.0 <= value <= 1.0:
        raise MissingSignalError("no confidence from 0 to 100 is stated beside the answer")
    return value


def _found(value: float, problem: str) -> float:
    if math.isnan(value):
        raise MissingSignalError(problem)
    return value


def answer_tokens(reply: ModelReply, begin: int, end: int) -> list[Token]:
    """Return the tokens of a reply's answer; MissingSignalError where they cannot be told."""
    from confidence_tasks.reading.token_probabilities import answer_slice, is_known

    if not reply.tokens:
        raise MissingSignalError(reply.problem or "there are no log-probabilities")
    first, last = answer_slice([token.text for token in reply.tokens], reply.text, begin, end)
    tokens = list(reply.tokens[first:last])
    if not tokens:
        raise MissingSignalError("the tokens are not those of the answer")
    if not all(is_known(token.logprob) for token in tokens):
        raise MissingSignalError("a token of the answer has no log-probability")
    return tokens


def _logprobs(reply: ModelReply, begin: int, end: int) -> list[float]:
    return [min(token.logprob, 0.0) for token in answer_tokens(reply, begin, end)]


def _own_logprobs(answered: Answered) -> list[float]:
    """Return the log-probabilities of the answer's tokens."""
    return _logprobs(answered.reply("answer"), answered.reading.begin, answered.reading.end)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def mean_entropy(answered: Answered) -> float:
    """Return the mean entropy of the answer's tokens, negative."""
    from confidence_tasks.reading.token_probabilities import candidates, is_known
    from confidence_tasks.statistics.information import token_entropy

    tokens = answer_tokens(answered.reply("answer"), answered.reading.begin, answered.reading.end)
    if not any(token.alternatives for token in tokens):
        raise MissingSignalError("there are no alternatives to the answer's tokens")
    listed = [
        [math.exp(min(value, 0.0)) for value in candidates(token).values() if is_known(value)]
        for token in tokens
    ]
    try:
        return -math.fsum(map(token_entropy, listed)) / len(tokens)
    except ValueError as error:
        raise MissingSignalError(f"impossible log-probabilities: {error}") from error


def _true_probability(stage: str, answered: Answered) -> float:
    """Return the probability of True for the proposed answer."""
    reply = answered.reply(stage)
    if not reply.tokens:
        raise MissingSignalError(reply.problem or "there are no log-probabilities")
    return _found(_reader.true_probability(reply.tokens), "the reply begins with neither True nor False")


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples with an answer.

    Attributes
    ----------
    replies : list of ModelReply
        The replies.
    spans : list of (int, int)
        Where each states its answer.
    agree : list of bool
        Whether each means the same as the answer.
    clusters : list of int
        The number of each one's meaning, in the order of sampling.
    """

    replies: list[ModelReply]
    spans: list[tuple[int, int]]
    agree: list[bool]
    clusters: list[int]


def read_samples(answered: Answered) -> Samples:
    """Read the samples and compare them; MissingSignalError where none has an answer or they cannot be compared."""
    from confidence_tasks.statistics.information import meaning_clusters
    from confidence_tasks.studies.signals.meaning import UnknownMeaningError, same_meaning
    from confidence_tasks.studies.signals.reader import read_answer_reply

    replies = list(answered.replies.get("samples", ()))
    readings = [read_answer_reply(reply.text, answered.question) for reply in replies]
    kept = [i for i, reading in enumerate(readings) if reading.answer]
    if not kept:
        raise MissingSignalError(f"none of the {len(replies)} samples has an answer")
    answers = [answered.reading.answer, *(readings[i].answer for i in kept)]
    try:
        same = same_meaning(answered.question, answers, answered.replies.get("judge", ()))
    except UnknownMeaningError as error:
        raise MissingSignalError(str(error)) from error
    return Samples(
        [replies[i] for i in kept],
        [(readings[i].begin, readings[i].end) for i in kept],
        same[0, 1:].tolist(),
        meaning_clusters(same[1:, 1:]).tolist(),
    )


def semantic_entropy(answered: Answered) -> float:
    """Return the entropy over meanings by the samples' length-normalised probabilities, negative."""
    from confidence_tasks.statistics.information import semantic_entropy as entropy

    samples = _several(answered.samples)
    own = zip(samples.replies, samples.spans, strict=True)
    return -entropy(samples.clusters, [_mean(_logprobs(reply, *span)) for reply, span in own])


def semantic_entropy_discrete(answered: Answered) -> float:
    """Return the entropy over meanings by the number of samples, negative."""
    from confidence_tasks.statistics.information import semantic_entropy as entropy

    return -entropy(_several(answered.samples).clusters)


def _several(samples: Samples) -> Samples:
    if len(samples.clusters) < 2:
        raise MissingSignalError("one sample with an answer has no entropy: two or more are needed")
    return samples


def top_k(answered: Answered) -> float:
    """Return the probability stated for the guess that is the answer; 0 where no guess is."""
    from confidence_tasks.studies.signals.meaning import matches
    from confidence_tasks.studies.signals.reader import read_guesses

    question = answered.question
    guesses = read_guesses(answered.reply("top_k").text, question)
    if not guesses:
        raise MissingSignalError("the reply has no guess with a probability")
    own = [value for guess, value in guesses if matches(question, guess, answered.reading.answer)]
    return max(own, default=0.0)


_READERS: Mapping[str, Callable[[Answered], float]] = {
    "stated": stated,
    "stated_after": lambda answered: _found(
        _reader.read_percent(answered.reply("stated_after").text), "the reply is no number from 0 to 100"
    ),
    "words": lambda answered: _found(
        _reader.read_expression(answered.reply("words").text, _prompts.EXPRESSIONS.load()),
        "the reply is none of the expressions",
    ),
    "mean_logprob": lambda answered: _mean(_own_logprobs(answered)),
    "sum_logprob": lambda answered: math.fsum(_own_logprobs(answered)),
    "min_logprob": lambda answered: min(_own_logprobs(answered)),
    "mean_entropy": mean_entropy,
    "p_true": partial(_true_probability, "p_true"),
    "p_true_samples": partial(_true_probability, "p_true_samples"),
    "agreement": lambda answered: _mean(answered.samples.agree),
    "semantic_entropy": semantic_entropy,
    "semantic_entropy_discrete": semantic_entropy_discrete,
    "top_k": top_k,
}
"""How each signal is read."""


def read_signal(question: Question, condition: str, replies: Replies) -> SignalTrial:
    """Read the replies about an answer into the trial of one signal."""
    from confidence_tasks.reading.grading import grade

    answered = Answered(question, replies)
    reading, value, problem = answered.reading, math.nan, "there is no answer"
    if reading.answer:
        try:
            value, problem = _READERS[condition](answered), ""
        except MissingSignalError as error:
            problem = str(error)
    probability = value if SIGNALS[condition].is_probability else math.nan
    samples = _counts(answered, condition)
    spent = tokens_spent(replies)
    return SignalTrial(
        question_id=question.id,
        source=question.source,
        condition=condition,
        correct=grade(reading.answer, kind=question.kind, gold=question.gold, aliases=question.aliases),
        confidence=value if SIGNALS[condition].is_probability else math.exp(min(value, 0.0)),
        status=_status(reading, condition, value),
        answer=reading.answer,
        value=value,
        probability=probability,
        problem=problem,
        samples=samples[0],
        meanings=samples[1],
        calls=float(sum(map(len, replies.values()))),
        input_tokens=spent["input_tokens"],
        output_tokens=spent["output_tokens"],
    )


def _counts(answered: Answered, condition: str) -> tuple[float, float]:
    if "samples" not in SIGNALS[condition].stages or not answered.reading.answer:
        return math.nan, math.nan
    try:
        clusters = answered.samples.clusters
    except MissingSignalError:
        return math.nan, math.nan
    return float(len(clusters)), float(len(set(clusters)))


def _status(reading: AnswerReply, condition: str, value: float) -> Any:
    """Return how answer and signal were read; only the stated confidence depends on what stands beside the answer."""
    if not reading.answer:
        return reading.status if reading.status in ("refused", "missing_answer") else "unreadable"
    if math.isnan(value):
        return (
            reading.status
            if condition == "stated" and reading.status == "out_of_range"
            else "missing_confidence"
        )
    if condition == "stated":
        return reading.status
    return "ok" if reading.status == "ok" else "repaired"


# Measures -------------------------------------------------------------------------------------------------------


def evidence(trials: Columns) -> FloatArray:
    """Return what logistic regressions take: the logit of a probability, drawn in by half a percent, else the value."""
    import numpy as np
    from scipy.special import logit

    from confidence_tasks.statistics.calibration.recalibration import DEFAULT_CLIP

    value, probability = trials["value"], trials["probability"]
    logits = logit(np.clip(probability, DEFAULT_CLIP, 1.0 - DEFAULT_CLIP))
    return np.where(np.isnan(probability), value, logits)


def _with_recalibrated(trials: Columns) -> Columns:
    """Put the cross-fitted probability of being right into ``recalibrated``."""
    import numpy as np

    from confidence_tasks.statistics.calibration import cross_fitted_logistic

    x, correct = evidence(trials), trials["correct"]
    usable = ~np.isnan(x) & ~np.isnan(correct)
    recalibrated = np.full(len(x), np.nan)
    recalibrated[usable] = cross_fitted_logistic(
        correct[usable], x[usable, np.newaxis], clusters=trials["question_id"][usable]
    )
    return {**trials, "recalibrated": recalibrated}


def _recalibrated(measure: Measure) -> Measure:
    """The same of the column ``recalibrated``; under resampling the recalibration stays as it is."""

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        return measure.compute(_with_recalibrated(trials), weights)

    def inverted(trials: Columns, questions: IntArray) -> InvertedTest:
        assert measure.test_inversion is not None
        return measure.test_inversion(_with_recalibrated(trials), questions)

    return replace(
        measure,
        compute=compute,
        test_inversion=inverted if measure.test_inversion else None,
        informative=min_count(*_CLASSES),
        fitted=True,
    )


def _tokens(trials: Columns) -> Any:
    return trials["input_tokens"] + trials["output_tokens"]


_CLASSES = right_and_wrong()
_VALUES = ("correct", "confidence")

MEASURES: tuple[Measure, ...] = (
    auroc("auroc", "Chance that a right answer has a surer signal than a wrong one; ties count one half."),
    Measure(
        "prr",
        statistic_of("prediction_rejection_ratio", *_VALUES),
        "Prediction rejection ratio: the part of what rejecting all wrong answers first would gain.",
        "higher",
        informative=min_count(*_CLASSES),
        bounds=(-math.inf, 1.0),
    ),
    Measure(
        "prr_50",
        statistic_of("prediction_rejection_ratio", *_VALUES, max_rejection=0.5),
        "The same where at most half of the answers are rejected.",
        "higher",
        informative=min_count(*_CLASSES),
        bounds=(-math.inf, 1.0),
    ),
    Measure(
        "auarc",
        statistic_of("auarc", *_VALUES),
        "Mean accuracy of the surest answers, over all numbers of them.",
        "higher",
        "transformed",
        bounds=UNIT,
        informative=min_count(*_CLASSES),
    ),
    Measure(
        "meta_information",
        statistic_of("meta_information", "correct", "value"),
        "Share of the uncertainty about correctness that the signal removes, corrected for bias.",
        "higher",
        informative=min_count(*_CLASSES),
        test_inversion=inverted_test_of("InformationTables", "correct", "value"),
    ),
    calibration_error(
        "ece",
        "Expected calibration error, 10 bins; only of signals that are probabilities.",
        "correct",
        "probability",
    ),
    mean(
        "brier",
        statistic_of("brier", "correct", "probability"),
        "Mean squared distance from the outcome; only of signals that are probabilities.",
        "lower",
        bounds=UNIT,
    ),
    _recalibrated(
        calibration_error(
            "ece_recalibrated",
            "Expected calibration error of the signal recalibrated by a logistic curve of other questions.",
            "correct",
            "recalibrated",
        )
    ),
    _recalibrated(
        mean(
            "brier_recalibrated",
            statistic_of("brier", "correct", "recalibrated"),
            "Mean squared distance from the outcome of the signal recalibrated so.",
            "lower",
            bounds=UNIT,
        )
    ),
    ACCURACY,
    PARSE_RATE,
    mean("calls", "calls", "Mean number of calls a question.", "lower"),
    mean("tokens", proportion(_tokens), "Mean number of tokens a question, prompts and replies.", "lower"),
)
