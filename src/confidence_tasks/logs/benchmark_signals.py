"""Confidence signals of a sample of any task: asked for, stated by the reply, or from its tokens."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from statistics import fmean
from typing import Any

from inspect_ai.log import EvalSample

from confidence_tasks.harness.inspect.foreign_scores import ASKING_SCORER, CORRECT, STATED
from confidence_tasks.harness.inspect.model_replies import logprob_tokens, model_reply
from confidence_tasks.harness.stopped import STATUSES_OF_STOPS, status_of_missing
from confidence_tasks.logs.benchmark_samples import UNMEASURED
from confidence_tasks.reading.cut_off import ends_in_format
from confidence_tasks.reading.signal_scales import NATS, PROBABILITY, Scale
from confidence_tasks.reading.stated import stated_confidence_of
from confidence_tasks.reading.thoughts import without_thoughts
from confidence_tasks.reading.token_probabilities import (
    is_known,
    is_unmeasured,
    letter_options,
    listed_mass,
    match_option,
    tokens_from_reply,
)
from confidence_tasks.reading.token_signals import REPLY_SIGNALS, MissingSignalError
from confidence_tasks.study.stage import ModelReply, Stop, Token

_PROBABILITIES_OF_TOKENS = frozenset({"mean_logprob", "sum_logprob", "min_logprob"})
"""Signals in nats, at most 0."""


def signals_worth_showing(signals: list[dict[str, float]]) -> list[str]:
    """Return the signals of a log: a stated confidence only if most replies state one."""
    counts = Counter(name for each in signals for name in each)
    stated = sum(not math.isnan(each.get(STATED, math.nan)) for each in signals)
    if stated <= len(signals) / 2:
        del counts[STATED]
    return list(counts) or [UNMEASURED]


def sample_signals(sample: EvalSample, further: Sequence[str]) -> dict[str, float]:
    """Return the value of each signal of a sample; NaN for one that the model was asked for and is missing."""
    values = _asked(sample)
    if sample.output.choices:
        reply = model_reply(sample.output, logprob_tokens(sample.output))
        values.setdefault(STATED, _stated(reply))
        if reply.stop != "filter" and not is_unmeasured(reply.tokens):
            behind = without_thoughts(reply)
            answer = replace(behind, tokens=tuple(tokens_from_reply(behind)))
            values |= _of_tokens(list(answer.tokens), len(sample.choices or ()))
            values |= _further(answer, further)
    return values


def _stated(reply: ModelReply) -> float:
    """Return the confidence that a reply states; of one that was cut off, only at its end."""
    if reply.stop == "length" and not ends_in_format(
        reply.text, lambda text: not math.isnan(stated_confidence_of(text))
    ):
        return math.nan
    return stated_confidence_of(reply.text)


def _further(reply: ModelReply, names: Sequence[str]) -> dict[str, float]:
    """Return the values of the named signals of a reply; those without a value are left out."""
    values = {}
    for name in REPLY_SIGNALS.keys() & set(names):
        with suppress(MissingSignalError):
            values[name] = REPLY_SIGNALS[name].read(reply)
    return {name: values[name] for name in REPLY_SIGNALS if name in values}


def _asked(sample: EvalSample) -> dict[str, float]:
    """Return the confidences that the model was asked for."""
    return {
        key: _number(value)
        for name, score in (sample.scores or {}).items()
        if name.startswith(ASKING_SCORER) and isinstance(score.value, dict)
        for key, value in score.value.items()
        if key != CORRECT
    }


def problem_of_asked(sample: EvalSample, signal: str) -> str:
    """Return the reply to the question about an answer, or why there is none; empty if it was not asked."""
    for name, score in (sample.scores or {}).items():
        if name.startswith(ASKING_SCORER) and isinstance(notes := (score.metadata or {}).get("notes"), dict):
            return str(notes.get(signal, ""))
    return ""


def _of_tokens(tokens: list[Token], n_options: int) -> dict[str, float]:
    """Return the signals of the tokens of a reply; none if one has no log-probability."""
    logprobs = [min(token.logprob, 0.0) for token in tokens if is_known(token.logprob)]
    if not logprobs or len(logprobs) < len(tokens):
        return {}
    values = {
        "mean_logprob": fmean(logprobs),
        "sum_logprob": math.fsum(logprobs),
        "min_logprob": min(logprobs),
    }
    return {**values, "option_probability": letter_probability(tokens, n_options)} if n_options else values


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


_AROUND = " *.()\n\u0120"
"""Characters around a letter in a token, among them the mark of a space in some vocabularies."""


def letter_probability(tokens: list[Token], n_options: int) -> float:
    """Return the probability of the letter that a reply chose, among the letters of the options.

    The letter is the last token that is one. The probability that the provider does not list is counted as if it
    belonged to other letters, so that the result is a lower bound if a letter is not listed.

    Examples
    --------
    >>> import math
    >>> reply = [Token("ANSWER:", 0.0, {}), Token(" B", math.log(0.6), {" B": math.log(0.6), " A": math.log(0.2)})]
    >>> round(letter_probability(reply, 2), 6), round(letter_probability(reply, 4), 6)
    (0.75, 0.6)
    """
    options = letter_options(n_options)
    chosen = [token for token in tokens if token.text.strip(_AROUND) in options and is_known(token.logprob)]
    if not chosen:
        return math.nan
    mass, unlisted = listed_mass(chosen[-1], options)
    letter = match_option(chosen[-1].text, options)
    missing = unlisted if 0.0 in mass.values() else 0.0
    return mass[letter] / (sum(mass.values()) + missing) if letter else math.nan


def columns_of_signal(signal: str, value: float, stop: Stop = "", problem: str = "") -> dict[str, Any]:
    """Return the columns of a signal.

    ``stop`` says why the reply to the task is unfinished, and ``problem`` what is wrong with that to the question about
    the answer.
    """
    scale = _scale(signal)
    is_probability = scale is PROBABILITY
    of_finished = status_of_missing(problem) if math.isnan(value) else "ok"
    return {
        "condition": signal,
        "confidence": scale(value),
        "value": value,
        "probability": value if is_probability else math.nan,
        "status": STATUSES_OF_STOPS[stop] if stop else of_finished,
    }


def _scale(signal: str) -> Scale:
    if signal in REPLY_SIGNALS:
        return REPLY_SIGNALS[signal].scale
    return NATS if signal in _PROBABILITIES_OF_TOKENS else PROBABILITY
