"""From the replies about one answer to a trial of one signal, and the measures of the study."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import sub
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from confidence_tasks import statistics
from confidence_tasks.reading.explanation import answer_and_key, escape_markdown
from confidence_tasks.reading.grading import grade
from confidence_tasks.reading.token_probabilities import answer_slice, candidates, is_known
from confidence_tasks.studies.signals.reader import (
    AnswerReply,
    MissingSignalError,
    matches,
    read_answer_reply,
    read_expression,
    read_guesses,
    read_percent,
    same_meaning,
    true_probability,
)
from confidence_tasks.studies.signals.replies import COMBINED, EXPRESSIONS, SIGNALS
from confidence_tasks.study import Measure, ModelReply, Question, Replies, Status, Token, Trial
from confidence_tasks.study.measures import (
    ACCURACY,
    PARSE_RATE,
    UNIT,
    Columns,
    Value,
    auroc,
    calibration_error,
    inverted_test_of,
    mean_measure,
    proportion_of,
    right_and_wrong,
    smallest_set,
    statistic_of,
    undefined,
)
from confidence_tasks.study.reference import np
from confidence_tasks.study.stage import tokens_spent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from confidence_tasks.statistics.core import FloatArray, IntArray
    from confidence_tasks.statistics.inference.limits import InvertedTest


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


@dataclass(frozen=True)
class Answered:
    """A question with its answer and the replies about it."""

    question: Question
    replies: Replies

    @cached_property
    def reading(self) -> AnswerReply:
        """The answer as read."""
        return read_answer_reply(self.reply("answer").text, self.question)

    def reply(self, stage: str) -> ModelReply:
        """Return the only reply of a stage; one that says nothing where there is none."""
        said = self.replies.get(stage) or [ModelReply("", problem="there was no call")]
        return said[0]

    @property
    def logprobs(self) -> list[float]:
        """The log-probabilities of the answer's tokens."""
        return _logprobs(self.reply("answer"), self.reading)

    @cached_property
    def samples(self) -> Samples:
        """The samples that have an answer; MissingSignalError where none has or they cannot be compared."""
        replies = self.replies.get("samples", ())
        every = [(reply, read_answer_reply(reply.text, self.question)) for reply in replies]
        said = [(reply, reading) for reply, reading in every if reading.answer]
        if not said:
            raise MissingSignalError(f"none of the {len(replies)} samples has an answer")
        answers = [self.reading.answer, *(reading.answer for _, reading in said)]
        same = same_meaning(self.question, answers, self.replies.get("judge", ()))
        return Samples(
            said, same[0, 1:].tolist(), statistics.information.meaning_clusters(same[1:, 1:]).tolist()
        )


class Samples(NamedTuple):
    """Samples with an answer: whether each means the same as the answer, and the number of its meaning."""

    said: list[tuple[ModelReply, AnswerReply]]
    agree: list[bool]
    clusters: list[int]


def stated(answered: Answered) -> float:
    """Return the confidence stated beside the answer."""
    value = answered.reading.confidence_raw / 100
    return _found(
        value if 0.0 <= value <= 1.0 else math.nan, "no confidence from 0 to 100 is stated beside the answer"
    )


def _found(value: float, problem: str) -> float:
    if math.isnan(value):
        raise MissingSignalError(problem)
    return value


def answer_tokens(reply: ModelReply, reading: AnswerReply) -> list[Token]:
    """Return the tokens of a reply's answer; MissingSignalError where they cannot be told."""
    if not reply.tokens:
        raise MissingSignalError(reply.problem or "there are no log-probabilities")
    texts = [token.text for token in reply.tokens]
    tokens = list(reply.tokens[slice(*answer_slice(texts, reply.text, reading.begin, reading.end))])
    if not tokens:
        raise MissingSignalError("the tokens are not those of the answer")
    if not all(is_known(token.logprob) for token in tokens):
        raise MissingSignalError("a token of the answer has no log-probability")
    return tokens


def _logprobs(reply: ModelReply, reading: AnswerReply) -> list[float]:
    return [min(token.logprob, 0.0) for token in answer_tokens(reply, reading)]


def mean_entropy(answered: Answered) -> float:
    """Return the mean entropy of the answer's tokens, negative."""
    tokens = answer_tokens(answered.reply("answer"), answered.reading)
    if not any(token.alternatives for token in tokens):
        raise MissingSignalError("there are no alternatives to the answer's tokens")
    listed = [
        [math.exp(min(value, 0.0)) for value in candidates(token).values() if is_known(value)]
        for token in tokens
    ]
    try:
        return -fmean(map(statistics.information.token_entropy, listed))
    except ValueError as error:
        raise MissingSignalError(f"impossible log-probabilities: {error}") from error


def _true_probability(stage: str, answered: Answered) -> float:
    """Return the probability of True for the proposed answer."""
    reply = answered.reply(stage)
    if not reply.tokens:
        raise MissingSignalError(reply.problem or "there are no log-probabilities")
    return _found(true_probability(reply.tokens), "the reply begins with neither True nor False")


def _semantic_entropy(answered: Answered, *, discrete: bool) -> float:
    """Return the entropy over meanings, negative: by the samples' length-normalised probabilities, or their number."""
    said, _, clusters = answered.samples
    if len(clusters) < 2:
        raise MissingSignalError("one sample with an answer has no entropy: two or more are needed")
    return -statistics.information.semantic_entropy(
        clusters, None if discrete else [fmean(_logprobs(*each)) for each in said]
    )


def top_k(answered: Answered) -> float:
    """Return the probability stated for the guess that is the answer; 0 where no guess is."""
    question = answered.question
    guesses = read_guesses(answered.reply("top_k").text, question)
    if not guesses:
        raise MissingSignalError("the reply has no guess with a probability")
    own = [value for guess, value in guesses if matches(question, guess, answered.reading.answer)]
    return max(own, default=0.0)


_READERS: Mapping[str, Callable[[Answered], float]] = {
    "stated": stated,
    "stated_after": lambda answered: _found(
        read_percent(answered.reply("stated_after").text), "the reply is no number from 0 to 100"
    ),
    "words": lambda answered: _found(
        read_expression(answered.reply("words").text, EXPRESSIONS), "the reply is none of the expressions"
    ),
    "mean_logprob": lambda answered: fmean(answered.logprobs),
    "sum_logprob": lambda answered: math.fsum(answered.logprobs),
    "min_logprob": lambda answered: min(answered.logprobs),
    "mean_entropy": mean_entropy,
    "p_true": partial(_true_probability, "p_true"),
    "p_true_samples": partial(_true_probability, "p_true_samples"),
    "agreement": lambda answered: fmean(answered.samples.agree),
    "semantic_entropy": partial(_semantic_entropy, discrete=False),
    "semantic_entropy_discrete": partial(_semantic_entropy, discrete=True),
    "top_k": top_k,
}
"""Reader of each signal."""


def read_signal(question: Question, condition: str, replies: Replies) -> SignalTrial:
    """Read the replies about an answer into the trial of one signal."""
    answered, signal = Answered(question, replies), SIGNALS[condition]
    reading, value, problem, clusters = answered.reading, math.nan, "there is no answer", []
    if reading.answer:
        try:
            value, problem = _READERS[condition](answered), ""
        except MissingSignalError as error:
            problem = str(error)
        if "samples" in signal.stages:
            with suppress(MissingSignalError):
                clusters = answered.samples.clusters
    spent = tokens_spent(replies)
    return SignalTrial(
        question_id=question.id,
        source=question.source,
        condition=condition,
        correct=grade(reading.answer, kind=question.kind, gold=question.gold, aliases=question.aliases),
        confidence=value if signal.is_probability else math.exp(min(value, 0.0)),
        status=_status(reading, condition, value),
        answer=reading.answer,
        value=value,
        probability=value if signal.is_probability else math.nan,
        problem=problem,
        samples=float(len(clusters)) if clusters else math.nan,
        meanings=float(len(set(clusters))) if clusters else math.nan,
        calls=float(sum(map(len, replies.values()))),
        input_tokens=spent["input_tokens"],
        output_tokens=spent["output_tokens"],
    )


def explain(trial: SignalTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Return what the log viewer says of a trial."""
    return {
        **answer_and_key(trial, question),
        "Signal": f"none: {escape_markdown(trial['problem'])}"
        if trial["problem"]
        else f"{trial['value']:.4f}",
        "Calls": f"{trial['calls']:g}",
    }


def _status(reading: AnswerReply, condition: str, value: float) -> Status:
    """Return how answer and signal were read; only the stated confidence depends on what stands beside the answer."""
    own = condition == "stated"
    if not reading.answer:
        return reading.status if reading.status in ("refused", "missing_answer") else "unreadable"
    if math.isnan(value):
        return reading.status if own and reading.status == "out_of_range" else "missing_confidence"
    return reading.status if own or reading.status == "ok" else "repaired"


# Measures -------------------------------------------------------------------------------------------------------


def evidence(trials: Columns) -> FloatArray:
    """Return what logistic regressions take: the logit of a probability, drawn in by half a percent, else the value."""
    from scipy.special import logit

    value, probability = trials["value"], trials["probability"]
    clip = statistics.calibration.recalibration.DEFAULT_CLIP
    logits = logit(np.clip(probability, clip, 1.0 - clip))
    return np.where(np.isnan(probability), value, logits)


def _with_recalibrated(trials: Columns) -> Columns:
    """Put the cross-fitted probability of being right into ``recalibrated``."""
    x, correct = evidence(trials), trials["correct"]
    usable = ~np.isnan(x) & ~np.isnan(correct)
    recalibrated = np.full(len(x), np.nan)
    recalibrated[usable] = statistics.calibration.cross_fitted_logistic(
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
        informative=smallest_set(*_CLASSES),
        fitted=True,
    )


_CLASSES = right_and_wrong()
_VALUES = ("correct", "confidence")

MEASURES: tuple[Measure, ...] = (
    auroc("auroc", "Chance that a right answer has a surer signal than a wrong one; ties count one half."),
    Measure(
        "prr",
        statistic_of("prediction_rejection_ratio", *_VALUES),
        "Prediction rejection ratio: the part of what rejecting all wrong answers first would gain.",
        "higher",
        informative=smallest_set(*_CLASSES),
        bounds=(-math.inf, 1.0),
    ),
    Measure(
        "prr_50",
        statistic_of("prediction_rejection_ratio", *_VALUES, max_rejection=0.5),
        "The same where at most half of the answers are rejected.",
        "higher",
        informative=smallest_set(*_CLASSES),
        bounds=(-math.inf, 1.0),
    ),
    Measure(
        "auarc",
        statistic_of("auarc", *_VALUES),
        "Mean accuracy of the surest answers, over all numbers of them.",
        "higher",
        "transformed",
        bounds=UNIT,
        informative=smallest_set(*_CLASSES),
    ),
    Measure(
        "meta_information",
        statistic_of("meta_information", "correct", "value"),
        "Share of the uncertainty about correctness that the signal removes, corrected for bias.",
        "higher",
        informative=smallest_set(*_CLASSES),
        test_inversion=inverted_test_of("InformationTables", "correct", "value"),
    ),
    calibration_error(
        "ece",
        "Expected calibration error, 10 bins; only of signals that are probabilities.",
        "correct",
        "probability",
    ),
    mean_measure(
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
        mean_measure(
            "brier_recalibrated",
            statistic_of("brier", "correct", "recalibrated"),
            "Mean squared distance from the outcome of the signal recalibrated so.",
            "lower",
            bounds=UNIT,
        )
    ),
    ACCURACY,
    PARSE_RATE,
    mean_measure("calls", "calls", "Mean number of calls a question.", "lower"),
    mean_measure(
        "tokens",
        proportion_of(lambda trials: trials["input_tokens"] + trials["output_tokens"]),
        "Mean number of tokens a question, prompts and replies.",
        "lower",
    ),
)


# All signals together -------------------------------------------------------------------------------------------


class SignalTable(NamedTuple):
    """The signals of each answer side by side, over the answers that have a key.

    ``signals`` names the columns; ``first`` is a trial of each answer, ``evidence`` (answers, signals) what logistic
    regressions take, NaN where a signal is missing, and ``correct`` 1 or 0.
    """

    signals: tuple[str, ...]
    first: NDArray[Any]
    evidence: FloatArray
    correct: FloatArray


def signal_table(trials: Columns) -> SignalTable:
    """Set the signals of each answer side by side; a question asked in several epochs has several answers."""
    signals = tuple(name for name in SIGNALS if (trials["condition"] == name).any())
    epoch = trials.get("epoch", np.ones(len(trials["question_id"])))
    asked = list(zip(trials["question_id"].tolist(), epoch.tolist(), strict=True))
    keys = {key: i for i, key in enumerate(dict.fromkeys(asked))}
    rows = np.full((len(keys), len(signals)), -1)
    for row, (key, condition) in enumerate(zip(asked, trials["condition"], strict=True)):
        if condition in signals:  # a file of trials may have others
            rows[keys[key], signals.index(condition)] = row
    rows = rows[(rows >= 0).any(axis=1)]
    rows = rows[~np.isnan(trials["correct"][rows.max(axis=1, initial=-1)])]
    first = rows.max(axis=1, initial=-1)
    values = np.where(rows >= 0, evidence(trials)[rows], np.nan)
    some = ~np.isnan(values).all(axis=0)
    return SignalTable(tuple(np.array(signals)[some]), first, values[:, some], trials["correct"][first])


def _areas(trials: Columns, weights: FloatArray | None) -> tuple[Value, Value]:
    """Return the AUROC of the combination, and of the single signal that has the highest on all trials.

    NaN with fewer than two signals.
    """
    _, first, signals, correct = signal_table(trials)
    together = np.full(len(correct), np.nan)
    if signals.shape[1] > 1:
        together = statistics.calibration.cross_fitted_logistic(
            correct, signals, clusters=trials["question_id"][first]
        )
    if not len(together) or np.isnan(together).any():
        return undefined(weights), undefined(weights)

    def area(column: FloatArray, weights: FloatArray | None) -> Value:
        known = ~np.isnan(column)
        ranks = np.unique(column[known], return_inverse=True)[1]
        kept = None if weights is None else weights[..., first[known]]
        result: Value = statistics.auroc2(correct[known], ranks / max(ranks.max(initial=0), 1), weights=kept)
        return result

    singles = [float(area(column, None)) for column in signals.T]
    best = together if np.isnan(singles).all() else signals[:, np.nanargmax(singles)]
    return area(together, weights), area(best, weights)


POOLED: tuple[Measure, ...] = (
    Measure(
        f"auroc_{COMBINED}",
        lambda trials, weights: _areas(trials, weights)[0],
        "AUROC of a logistic regression on all signals, cross-fitted over questions.",
        "higher",
        "transformed",
        bounds=(0.0, 1.0),
        informative=smallest_set(*right_and_wrong()),
        fitted=True,
    ),
    Measure(
        f"gain_{COMBINED}",
        lambda trials, weights: sub(*_areas(trials, weights)),
        "The same minus the AUROC of the best single signal, which is the best on these very trials.",
        "higher",
        informative=smallest_set(*right_and_wrong()),
        bounds=(-1.0, 1.0),
        fitted=True,
    ),
)
"""Measures of all signals of a model together."""
