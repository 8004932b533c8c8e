"""Confidence signals of multiple-choice answers, from the log-likelihoods of the options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.reading.signal_scales import DIVERGENCE, NATS, SHARE, Scale

Array: TypeAlias = NDArray[np.float64]


class OptionTable(NamedTuple):
    """Questions with the same number of options.

    Attributes
    ----------
    log_likelihoods : ndarray, shape (n, options)
        Log-likelihood of each option after the prompt, in nats.
    unconditional : ndarray, shape (n, options)
        Log-likelihood of each option after an empty prompt, in nats; NaN where it was not asked for.
    options : sequence of tuple of str
        The texts of the options, without the delimiter that separates them from the prompt.
    """

    log_likelihoods: Array
    unconditional: Array
    options: Sequence[tuple[str, ...]]


class OptionSignal(NamedTuple):
    """A confidence signal for each question, and the position of the option that it is about.

    Attributes
    ----------
    value : ndarray, shape (n,)
        The signal; NaN where the log-likelihoods do not determine it. A higher value is a surer answer.
    chosen : ndarray of int, shape (n,)
        Position of the option with the highest score; the first one of equal scores.
    """

    value: Array
    chosen: NDArray[np.intp]


def softmax(scores: Array) -> Array:
    """Return the softmax of the rows of ``scores``, shape (n, options).

    An option of score ``-inf`` has probability 0. A row with NaN, ``+inf``, or ``-inf`` alone is NaN.

    Examples
    --------
    >>> softmax(np.array([[0.0, 0.0], [0.0, -np.inf], [-np.inf, -np.inf]]))
    array([[0.5, 0.5],
           [1. , 0. ],
           [nan, nan]])
    """
    highest = scores.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        exponentials = np.exp(np.where(np.isfinite(highest), scores - highest, np.nan))
    shares: Array = exponentials / exponentials.sum(axis=1, keepdims=True)
    return shares


def _probability(scores: Array) -> OptionSignal:
    return OptionSignal(softmax(scores).max(axis=1), _argmax(scores))


def _argmax(scores: Array) -> NDArray[np.intp]:
    chosen: NDArray[np.intp] = np.where(np.isnan(scores), -np.inf, scores).argmax(axis=1)
    return chosen


def _lengths(table: OptionTable, measure: Callable[[str], int]) -> Array:
    lengths = np.array([[measure(text) for text in texts] for texts in table.options], dtype=np.float64)
    return np.where(lengths == 0, np.nan, lengths).reshape(table.log_likelihoods.shape)


def option_probability(table: OptionTable) -> OptionSignal:
    """Return the probability of the most probable option among all options."""
    return _probability(table.log_likelihoods)


def option_probability_norm(table: OptionTable) -> OptionSignal:
    """Return :func:`option_probability` of log-likelihoods per character, as lm-eval's ``acc_norm`` divides them."""
    return _probability(table.log_likelihoods / _lengths(table, len))


def option_probability_bytes(table: OptionTable) -> OptionSignal:
    """Return :func:`option_probability` of log-likelihoods per byte in UTF-8, as ``acc_bytes`` divides them."""
    n_bytes = _lengths(table, lambda text: len(text.encode(errors="replace")))
    return _probability(table.log_likelihoods / n_bytes)


def option_probability_mutual_info(table: OptionTable) -> OptionSignal:
    """Return :func:`option_probability` of log-likelihoods less those after an empty prompt, as ``acc_mutual_info``."""
    return _probability(table.log_likelihoods - table.unconditional)


def margin(table: OptionTable) -> OptionSignal:
    """Return the difference of the two highest log-likelihoods, in nats; it is no probability."""
    two_highest = np.sort(table.log_likelihoods, axis=1)[:, -2:]
    with np.errstate(invalid="ignore"):
        difference = two_highest[:, -1] - two_highest[:, 0]
    return OptionSignal(np.where(np.isfinite(difference), difference, np.nan), _argmax(table.log_likelihoods))


def option_negentropy(table: OptionTable) -> OptionSignal:
    r"""Return the normalised negentropy of the options: :math:`1 - H(p) / \ln k` over k options; it is no probability.

    From 0 (all options equally probable) to 1; the choice is that of :func:`option_probability`.
    """
    shares = softmax(table.log_likelihoods)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(shares == 0.0, 0.0, shares * np.log(shares)).sum(axis=1)
    certainty = np.maximum(1.0 - entropy / np.log(shares.shape[1]), 0.0)
    return OptionSignal(certainty, _argmax(table.log_likelihoods))


def option_self_certainty(table: OptionTable) -> OptionSignal:
    r"""Return the self-certainty of the options: :math:`-\frac{1}{k} \sum_i \ln p_i - \ln k`, in nats, 0 or above.

    NaN if an option has the probability 0, so that it is infinite; the choice is that of :func:`option_probability`.
    """
    shares = softmax(table.log_likelihoods)
    with np.errstate(divide="ignore"):
        divergence = -np.log(shares).mean(axis=1) - np.log(shares.shape[1])
    finite = np.where(np.isfinite(divergence), np.maximum(divergence, 0.0), np.nan)
    return OptionSignal(finite, _argmax(table.log_likelihoods))


def option_logprob(table: OptionTable) -> OptionSignal:
    """Return the highest log-likelihood of an option, in nats, which is not relative to the other options."""
    scores = table.log_likelihoods
    highest = scores.max(axis=1)
    return OptionSignal(np.where(np.isfinite(highest), highest, np.nan), _argmax(scores))


def option_mass(table: OptionTable) -> Array:
    """Return the sum of the options' probabilities, shape (n,): what the softmax over the options hides.

    It is at most 1 if no option continues another one.
    """
    mass: Array = np.exp(table.log_likelihoods).sum(axis=1)
    return mass


MARGIN = "margin"

SIGNALS: Mapping[str, tuple[str, Callable[[OptionTable], OptionSignal]]] = {
    "option_probability": ("acc", option_probability),
    "option_probability_norm": ("acc_norm", option_probability_norm),
    "option_probability_bytes": ("acc_bytes", option_probability_bytes),
    "option_probability_mutual_info": ("acc_mutual_info", option_probability_mutual_info),
    MARGIN: ("acc", margin),
}
"""The signals by name, each with the metric of lm-eval that says whether the chosen option is right."""

FURTHER: Mapping[str, tuple[str, Callable[[OptionTable], OptionSignal]]] = {
    "option_negentropy": ("acc", option_negentropy),
    "option_self_certainty": ("acc", option_self_certainty),
    "option_logprob": ("acc", option_logprob),
}
"""Signals that are read only if they are asked for."""

SCALES: Mapping[str, Scale] = {
    "option_negentropy": SHARE,
    "option_self_certainty": DIVERGENCE,
    "option_logprob": NATS,
}
"""Scales of the signals that are no probabilities, but for ``margin``, whose confidence is 1 - exp(-margin)."""
