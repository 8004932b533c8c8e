"""The signals: what each is, which calls it needs, and whether it is a probability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal of confidence in one answer.

    Attributes
    ----------
    title : str
        What it is, in a few words.
    stages : tuple of str
        The stages that it needs beside the answer.
    logprobs : str
        The stage whose token log-probabilities it needs; empty for none.
    is_probability : bool
        Whether its value is meant as the probability that the answer is right. The others are logarithms of
        probabilities, or entropies with their sign reversed.
    """

    title: str
    stages: tuple[str, ...] = ()
    logprobs: str = ""
    is_probability: bool = True


SIGNALS: Mapping[str, Signal] = {
    "stated": Signal("confidence stated with the answer"),
    "stated_after": Signal("confidence asked for after the answer", ("stated_after",)),
    "words": Signal("one of a list of expressions", ("words",)),
    "mean_logprob": Signal(
        "mean log-probability of the answer's tokens", logprobs="answer", is_probability=False
    ),
    "sum_logprob": Signal(
        "log-probability of the answer's tokens together", logprobs="answer", is_probability=False
    ),
    "min_logprob": Signal(
        "lowest log-probability of a token of the answer", logprobs="answer", is_probability=False
    ),
    "mean_entropy": Signal(
        "mean entropy of the answer's tokens, negative", logprobs="answer", is_probability=False
    ),
    "p_true": Signal("probability of True for the proposed answer", ("p_true",), "p_true"),
    "p_true_samples": Signal(
        "the same with the samples shown", ("samples", "p_true_samples"), "p_true_samples"
    ),
    "agreement": Signal("share of the samples that agree with the answer", ("samples",)),
    "semantic_entropy": Signal(
        "entropy over meanings of the samples, by their probability, negative", ("samples",), "samples", False
    ),
    "semantic_entropy_discrete": Signal(
        "entropy over meanings of the samples, by their number, negative", ("samples",), "", False
    ),
    "top_k": Signal("probability given to the answer among several guesses", ("top_k",)),
}
"""Every signal that trials hold, by the name of its condition; ``combined`` is made of these."""

COMBINED = "combined"
"""The logistic regression on all the others, which needs no trial of its own."""

DEFAULT: tuple[str, ...] = tuple(name for name, signal in SIGNALS.items() if not signal.stages)
"""Those that need no further call."""
