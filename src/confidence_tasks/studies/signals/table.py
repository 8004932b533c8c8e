"""The table of signals: how each is read, what it needs, and on which scale it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from confidence_tasks.reading import token_signals
from confidence_tasks.reading.sample_signals import SAMPLE_SIGNALS
from confidence_tasks.reading.signal_scales import COUNT, DIVERGENCE, NATS, PROBABILITY, SHARE, Scale
from confidence_tasks.studies.signals import of_calls, of_samples
from confidence_tasks.studies.signals.answered import AnsweredQuestion
from confidence_tasks.study import ModelReply

ALTERNATIVES = "log-probabilities with alternatives"
LOGPROBS = "log-probabilities"
TRACE = "log-probabilities of the reasoning"


@dataclass(frozen=True, slots=True)
class Signal:
    """A number that says how sure a model is of one answer; a higher value means more confidence.

    Attributes
    ----------
    read : callable
        ``read(answered)``: the value; raises MissingSignalError.
    stages : tuple of str
        The stages that it needs beside the answer.
    logprobs : str
        The stage whose token log-probabilities it needs; empty for none.
    scale : callable
        What its value is, as the function that maps it to [0, 1].
    needs : str
        What a provider or a reply must have, beside an answer; empty for nothing.
    on_lm_eval : bool
        Whether lm-eval can give it: lm-eval has no model roles.
    """

    read: Callable[[AnsweredQuestion], float]
    stages: tuple[str, ...] = ()
    logprobs: str = ""
    scale: Scale = PROBABILITY
    needs: str = ""
    on_lm_eval: bool = True

    @property
    def requirements(self) -> str:
        """What it needs, in words."""
        samples = "samples" if "samples" in self.stages else ""
        return ", ".join(filter(None, (samples, self.needs))) or "an answer"

    @property
    def is_probability(self) -> bool:
        """Whether its value is meant as the probability that the answer is right."""
        return self.scale is PROBABILITY


def _of_answer(read: Callable[[ModelReply], float]) -> Callable[[AnsweredQuestion], float]:
    return lambda answered: read(answered.reply("answer"))


def _of_samples(name: str, *, logprobs: str = "", needs: str = "", scale: Scale = NATS) -> Signal:
    return Signal(SAMPLE_SIGNALS[name], ("samples",), logprobs, scale, needs)


_of_tokens = partial(Signal, logprobs="answer", scale=NATS, needs=LOGPROBS)
_of_alternatives = partial(Signal, logprobs="answer", needs=ALTERNATIVES)
_of_trace = partial(Signal, logprobs="answer", scale=NATS)
_of_sampled_tokens = partial(_of_samples, logprobs="samples", needs=LOGPROBS)

SIGNALS: Mapping[str, Signal] = {
    "stated": Signal(of_calls.stated),
    "stated_after": Signal(of_calls.stated_after, ("stated_after",)),
    "words": Signal(of_calls.words, ("words",)),
    "mean_logprob": _of_tokens(lambda answered: fmean(answered.logprobs)),
    "sum_logprob": _of_tokens(lambda answered: math.fsum(answered.logprobs)),
    "min_logprob": _of_tokens(lambda answered: min(answered.logprobs)),
    "mean_entropy": _of_alternatives(
        lambda answered: token_signals.mean_entropy(answered.tokens), scale=NATS
    ),
    "margin": _of_alternatives(lambda answered: token_signals.margin(answered.tokens), scale=SHARE),
    "negentropy": _of_alternatives(lambda answered: token_signals.negentropy(answered.tokens), scale=SHARE),
    "self_certainty": _of_alternatives(
        lambda answered: token_signals.self_certainty(answered.tokens), scale=DIVERGENCE
    ),
    "trace_length": Signal(
        _of_answer(token_signals.trace_length),
        scale=COUNT,
        needs="number of reasoning tokens",
    ),
    "trace_logprob": _of_trace(_of_answer(token_signals.trace_logprob), needs=TRACE),
    "trace_entropy": _of_trace(
        _of_answer(token_signals.trace_entropy),
        needs=f"{TRACE}, with alternatives",
    ),
    "p_true": Signal(of_calls.p_true, ("p_true",), "p_true", needs=ALTERNATIVES),
    "p_true_samples": Signal(
        partial(of_calls.p_true, stage="p_true_samples"),
        ("samples", "p_true_samples"),
        "p_true_samples",
        needs=ALTERNATIVES,
    ),
    "agreement": _of_samples("agreement", scale=PROBABILITY),
    "semantic_entropy": _of_sampled_tokens("semantic_entropy"),
    "semantic_entropy_discrete": _of_samples("semantic_entropy_discrete"),
    "semantic_sets": _of_samples("semantic_sets", scale=COUNT),
    "degree_matrix": _of_samples("degree_matrix", scale=COUNT),
    "eccentricity": _of_samples("eccentricity", scale=COUNT),
    "eigenvalue_sum": _of_samples("eigenvalue_sum", scale=COUNT),
    "kernel_entropy": _of_samples("kernel_entropy"),
    "sequence_entropy": _of_sampled_tokens("sequence_entropy"),
    "sequence_entropy_normalised": _of_sampled_tokens("sequence_entropy_normalised"),
    "cocoa": _of_samples("cocoa", logprobs="answer", needs=LOGPROBS),
    "consistency_and_confidence": _of_samples(
        "consistency_and_confidence", logprobs="answer", needs=LOGPROBS, scale=SHARE
    ),
    "trace_agreement": Signal(
        of_samples.trace_agreement, ("samples",), logprobs="samples", scale=SHARE, needs=TRACE
    ),
    "top_k": Signal(of_calls.top_k, ("top_k",)),
    "distribution": Signal(of_calls.distribution, ("distribution",), needs="options"),
    "panel": Signal(of_calls.panel, (of_calls.PANEL,), needs="model roles", on_lm_eval=False),
}
"""Every signal by the name of its condition; docs/signals.md says what each is."""

REASONING_SIGNALS = ("trace_length", "trace_logprob", "trace_entropy", "trace_agreement")
"""Signals of the reasoning before the answer, which many models do not have or do not show."""

COMBINED = "combined"
"""Name of the logistic regression on all signals, which has no trials of its own."""

_SHORTER: Mapping[str, str] = {
    "semantic_": "",
    "_discrete": ", sets",
    "sequence_": "seq. ",
    "_normalised": "/n",
    "_and_confidence": "",
    "_agreement": "_agree",
}


def short_name(signal: str) -> str:
    """Return the name of a signal with at most 14 characters.

    Examples
    --------
    >>> short_name("semantic_entropy_discrete"), short_name("sequence_entropy_normalised")
    ('entropy, sets', 'seq. entropy/n')
    """
    for part, shorter in _SHORTER.items():
        signal = signal.replace(part, shorter)
    return signal
