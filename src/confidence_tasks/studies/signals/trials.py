"""Signals, trials and measures of the signal study."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from operator import sub
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from confidence_tasks import statistics
from confidence_tasks.reading.explanation import answer_and_key, escape_markdown
from confidence_tasks.reading.grading import grade
from confidence_tasks.reading.sureness import read_expression, true_probability
from confidence_tasks.reading.token_probabilities import (
    answer_slice,
    candidates,
    is_known,
    token_problem,
    tokens_from_reply,
)
from confidence_tasks.studies.signals.reader import (
    AnswerReply,
    MissingSignalError,
    matches,
    read_answer_reply,
    read_guesses,
    read_percent,
    same_meaning,
)
from confidence_tasks.study import Measure, ModelReply, Question, Replies, Status, Token, Trial
from confidence_tasks.study.inference import Bounded, Percentile
from confidence_tasks.study.measures import (
    Columns,
    Value,
    mean_measure,
    proportion_of,
    right_and_wrong,
    smallest_set,
    undefined,
)
from confidence_tasks.study.signal_measures import SIGNAL_MEASURES, regressor
from confidence_tasks.study.stage import tokens_spent
from confidence_tasks.study.units import units_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame

    from confidence_tasks.statistics.core import FloatArray


class SignalTrial(Trial):
    """A trial of the signal study: one answer, and one signal of it.

    ``confidence`` is the value if it is a probability, else its exponential: a probability of tokens, or the inverse of
    a perplexity. It ranks answers in the order of the value.

    Attributes
    ----------
    answer : str
        The answer, the same under every condition; empty if it is missing.
    value : float
        The signal in its own unit: a probability, or nats. Higher is surer.
    probability : float
        The value if it is meant as the probability of being right; otherwise NaN.
    problem : str
        The reason why the value is missing; otherwise empty.
    samples : float
        Number of samples with an answer; NaN for a signal without samples.
    meanings : float
        Number of clusters of equal meaning among the samples; NaN for a signal without samples.
    calls : float
        Number of calls of the model, including the answer's.
    input_tokens, output_tokens : float
        Tokens of these calls; NaN if the harness does not count them.
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


# Signals --------------------------------------------------------------------------------------------------------


class Samples(NamedTuple):
    """Samples with an answer: whether each means the same as the answer, and the number of its cluster."""

    replies: list[tuple[ModelReply, AnswerReply]]
    agree: list[bool]
    clusters: list[int]


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

    @property
    def logprobs(self) -> list[float]:
        """Log-probabilities of the answer's tokens."""
        return answer_logprobs(self.reply("answer"), self.reading)

    @cached_property
    def samples(self) -> Samples:
        """The samples that have an answer; MissingSignalError if none has, or if they cannot be compared."""
        replies = self.replies.get("samples", ())
        readings = [(reply, read_answer_reply(reply.text, self.question)) for reply in replies]
        answered = [(reply, reading) for reply, reading in readings if reading.answer]
        if not answered:
            raise MissingSignalError(f"none of the {len(replies)} samples has an answer")
        answers = [self.reading.answer, *(reading.answer for _, reading in answered)]
        same = same_meaning(self.question, answers, self.replies.get("judge", ()))
        clusters = statistics.information.meaning_clusters(same[1:, 1:])
        return Samples(answered, same[0, 1:].tolist(), clusters.tolist())


def _require(value: float, problem: str) -> float:
    """Return a value; MissingSignalError if it is NaN."""
    if math.isnan(value):
        raise MissingSignalError(problem)
    return value


def answer_tokens(reply: ModelReply, reading: AnswerReply) -> list[Token]:
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
    return [min(token.logprob, 0.0) for token in answer_tokens(reply, reading)]


def stated(answered: AnsweredQuestion) -> float:
    """Return the confidence stated beside the answer."""
    value = answered.reading.confidence_raw / 100
    return _require(
        value if 0.0 <= value <= 1.0 else math.nan, "no confidence from 0 to 100 is stated beside the answer"
    )


def stated_after(answered: AnsweredQuestion) -> float:
    """Return the confidence stated in a second turn."""
    return _require(read_percent(answered.reply("stated_after").text), "the reply is no number from 0 to 100")


def words(answered: AnsweredQuestion) -> float:
    """Return the probability of the chosen expression."""
    return _require(read_expression(answered.reply("words").text), "the reply is none of the expressions")


def mean_entropy(answered: AnsweredQuestion) -> float:
    """Return the negative mean entropy of the answer's tokens."""
    tokens = answer_tokens(answered.reply("answer"), answered.reading)
    if not any(token.alternatives for token in tokens):
        raise MissingSignalError("there are no alternatives to the answer's tokens")
    probabilities = [
        [math.exp(min(value, 0.0)) for value in candidates(token).values() if is_known(value)]
        for token in tokens
    ]
    try:
        return -fmean(map(statistics.information.token_entropy, probabilities))
    except ValueError as error:
        raise MissingSignalError(f"impossible log-probabilities: {error}") from error


def p_true(answered: AnsweredQuestion, stage: str = "p_true") -> float:
    """Return the probability of True for the proposed answer."""
    reply = answered.reply(stage)
    if problem := token_problem(reply):
        raise MissingSignalError(problem)
    tokens = tokens_from_reply(reply)
    if not any(token.alternatives for token in tokens):
        raise MissingSignalError("there are no alternatives to True or False")
    return _require(true_probability(tokens), "the reply begins with neither True nor False")


def semantic_entropy(answered: AnsweredQuestion, *, discrete: bool = False) -> float:
    """Return the negative entropy over meanings of the samples.

    A sample is weighted by its length-normalised probability, or counts as one if ``discrete``.
    """
    replies, _, clusters = answered.samples
    if len(clusters) < 2:
        raise MissingSignalError("one sample with an answer has no entropy: two or more are needed")
    logprobs = None if discrete else [fmean(answer_logprobs(*reply)) for reply in replies]
    return -statistics.information.semantic_entropy(clusters, logprobs)


def top_k(answered: AnsweredQuestion) -> float:
    """Return the probability stated for the guess that matches the answer; 0 if no guess does."""
    question = answered.question
    guesses = read_guesses(answered.reply("top_k").text, question)
    if not guesses:
        raise MissingSignalError("the reply has no guess with a probability")
    matching = [value for guess, value in guesses if matches(question, guess, answered.reading.answer)]
    return max(matching, default=0.0)


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal of confidence in one answer.

    Attributes
    ----------
    read : callable
        ``read(answered)``: the value; raises MissingSignalError.
    stages : tuple of str
        The stages that it needs beside the answer.
    logprobs : str
        The stage whose token log-probabilities it needs; empty for none.
    is_probability : bool
        Whether its value is meant as the probability that the answer is right. Other values are logarithms of
        probabilities, or negative entropies.
    """

    read: Callable[[AnsweredQuestion], float]
    stages: tuple[str, ...] = ()
    logprobs: str = ""
    is_probability: bool = True


_of_tokens = partial(Signal, logprobs="answer", is_probability=False)

SIGNALS: Mapping[str, Signal] = {
    "stated": Signal(stated),
    "stated_after": Signal(stated_after, ("stated_after",)),
    "words": Signal(words, ("words",)),
    "mean_logprob": _of_tokens(lambda answered: fmean(answered.logprobs)),
    "sum_logprob": _of_tokens(lambda answered: math.fsum(answered.logprobs)),
    "min_logprob": _of_tokens(lambda answered: min(answered.logprobs)),
    "mean_entropy": _of_tokens(mean_entropy),
    "p_true": Signal(p_true, ("p_true",), "p_true"),
    "p_true_samples": Signal(
        partial(p_true, stage="p_true_samples"), ("samples", "p_true_samples"), "p_true_samples"
    ),
    "agreement": Signal(lambda answered: fmean(answered.samples.agree), ("samples",)),
    "semantic_entropy": Signal(semantic_entropy, ("samples",), "samples", is_probability=False),
    "semantic_entropy_discrete": Signal(
        partial(semantic_entropy, discrete=True), ("samples",), is_probability=False
    ),
    "top_k": Signal(top_k, ("top_k",)),
}
"""Every signal by the name of its condition; docs/signals.md says what each is."""

COMBINED = "combined"
"""Name of the logistic regression on all signals, which has no trials of its own."""


# Trials ---------------------------------------------------------------------------------------------------------


def read_signal(question: Question, condition: str, replies: Replies) -> SignalTrial:
    """Read the replies about an answer into the trial of one signal."""
    answered, signal = AnsweredQuestion(question, replies), SIGNALS[condition]
    reading, value, problem, clusters = answered.reading, math.nan, "there is no answer", []
    if reading.answer:
        try:
            value, problem = signal.read(answered), ""
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
    """Return the rows of the log viewer."""
    return {
        **answer_and_key(trial, question),
        "Signal": f"none: {escape_markdown(trial['problem'])}"
        if trial["problem"]
        else f"{trial['value']:.4f}",
        "Calls": f"{trial['calls']:g}",
    }


def _status(reading: AnswerReply, condition: str, value: float) -> Status:
    """Return how answer and signal were read; faults of the stated confidence concern the signal ``stated`` only."""
    is_stated = condition == "stated"
    if not reading.answer:
        return reading.status if reading.status in ("refused", "missing_answer") else "unreadable"
    if math.isnan(value):
        return reading.status if is_stated and reading.status == "out_of_range" else "missing_confidence"
    return reading.status if is_stated or reading.status == "ok" else "repaired"


# Measures -------------------------------------------------------------------------------------------------------

MEASURES: tuple[Measure, ...] = (
    *SIGNAL_MEASURES,
    mean_measure("calls", "calls", "Mean number of calls per question.", "lower"),
    mean_measure(
        "tokens",
        proportion_of(lambda trials: trials["input_tokens"] + trials["output_tokens"]),
        "Mean number of tokens per question, prompts and replies.",
        "lower",
    ),
)


# All signals together -------------------------------------------------------------------------------------------


class SignalTable(NamedTuple):
    """Signals of the graded answers.

    ``regressors`` has a row for each answer and a column for each signal, with NaN where a signal is missing. ``trial``
    is the position of one trial of each answer, and ``correct`` is 1 or 0.
    """

    regressors: DataFrame
    trial: NDArray[Any]
    correct: FloatArray


def signal_table(trials: Columns) -> SignalTable:
    """Return the table of signals; a question asked in several epochs has several answers.

    If a signal of an answer is there twice, the last one counts.
    """
    import pandas as pd

    answer = ["question_id", "epoch"]
    frame = pd.DataFrame({"epoch": 1.0, **trials, "regressor": regressor(trials)})
    frame["trial"] = frame.index
    # A file of trials may have other conditions.
    frame = frame[frame["condition"].isin(SIGNALS) & frame["correct"].notna()]
    answers = frame.groupby(answer, sort=False)[["trial", "correct"]].last()
    frame = frame.drop_duplicates([*answer, "condition"], keep="last")
    signals = frame.pivot(index=answer, columns="condition", values="regressor")
    signals = signals.reindex(index=answers.index, columns=list(SIGNALS)).dropna(axis=1, how="all")
    return SignalTable(
        signals.reset_index(drop=True), answers["trial"].to_numpy(), answers["correct"].to_numpy()
    )


def _aurocs(trials: Columns, weights: FloatArray | None) -> tuple[Value, Value]:
    """Return the AUROC of the combination, and of the single signal with the highest AUROC on all trials.

    NaN with fewer than two signals.
    """
    table, trial, correct = signal_table(trials)
    regressors = table.to_numpy()
    combination = np.full(len(correct), np.nan)
    if regressors.shape[1] > 1:
        combination = statistics.calibration.cross_fitted_logistic(
            correct, regressors, clusters=units_of(trials)[trial]
        )
    if not len(combination) or np.isnan(combination).any():
        return undefined(weights), undefined(weights)

    def auroc_of(column: FloatArray, weights: FloatArray | None) -> Value:
        known = ~np.isnan(column)
        ranks = np.unique(column[known], return_inverse=True)[1]
        known_weights = None if weights is None else weights[..., trial[known]]
        result: Value = statistics.auroc2(
            correct[known], ranks / max(ranks.max(initial=0), 1), weights=known_weights
        )
        return result

    singles = [float(auroc_of(column, None)) for column in regressors.T]
    best = combination if np.isnan(singles).all() else regressors[:, np.nanargmax(singles)]
    return auroc_of(combination, weights), auroc_of(best, weights)


POOLED: tuple[Measure, ...] = (
    Measure(
        f"auroc_{COMBINED}",
        lambda trials, weights: _aurocs(trials, weights)[0],
        "AUROC of a logistic regression on all signals, cross-fitted over questions.",
        "higher",
        inference=Bounded(0.0, 1.0, informative=smallest_set(*right_and_wrong())),
        fitted=True,
    ),
    Measure(
        f"gain_{COMBINED}",
        lambda trials, weights: sub(*_aurocs(trials, weights)),
        "auroc_combined minus the AUROC of the best single signal, which is chosen on the same trials.",
        "higher",
        inference=Percentile(-1.0, 1.0, informative=smallest_set(*right_and_wrong())),
        fitted=True,
    ),
)
"""Measures of all signals of a model together."""
