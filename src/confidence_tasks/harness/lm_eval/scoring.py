"""Whether the log-probabilities of given tokens are possible, and were measured at all."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Container, Sequence
from typing import TypeAlias
from weakref import WeakKeyDictionary

from lm_eval.api.model import TemplateLM

from confidence_tasks.harness.compat_models import is_endpoint, sends_settings
from confidence_tasks.harness.lm_eval.endpoints import UnansweredError, loglikelihoods
from confidence_tasks.harness.lm_eval.measured import NOT_ECHOED, Unmeasured
from confidence_tasks.harness.refusals import RefusedParameterError
from confidence_tasks.reading.token_probabilities import ROUNDING, is_possible

Pair: TypeAlias = tuple[list[int], list[int]]
"""Context tokens and continuation tokens."""


def scoring_problem(pairs: Sequence[Pair], values: Sequence[float]) -> str:
    """Return why the log-probabilities of pairs of a context and a continuation are impossible; empty if they are not.

    A sum that is an integer is that of an empty list: nothing was measured. After one context, the probabilities of
    continuations of which none begins another one add up to at most 1.

    Examples
    --------
    >>> pairs = [([1], [2]), ([1], [3]), ([1], [3, 4])]
    >>> scoring_problem(pairs, [-0.7, -0.7, -5.0]), scoring_problem(pairs, [-0.1, -0.1, -5.0])
    ('', 'the probabilities of 2 continuations of one text add up to 1.81, which is impossible')
    """
    if problem := next(filter(None, map(_value_problem, values)), ""):
        return problem
    if len(values) > 1 and not any(values):
        return NOT_ECHOED
    by_context: defaultdict[tuple[int, ...], dict[tuple[int, ...], float]] = defaultdict(dict)
    for (context, continuation), value in zip(pairs, values, strict=True):
        by_context[tuple(context)][tuple(continuation)] = math.exp(min(value, 0.0))
    return next(filter(None, map(_mass_problem, by_context.values())), "")


def _value_problem(value: float) -> str:
    """Return why a log-probability is missing or impossible; empty if it is not."""
    if isinstance(value, Unmeasured):
        return value.problem
    if isinstance(value, int):
        return NOT_ECHOED
    if not is_possible(value):
        return f"the model returned a log-probability of {value:g}, which is impossible"
    return ""


def _mass_problem(probabilities: dict[tuple[int, ...], float]) -> str:
    """Return whether the probabilities of continuations of one context add up to more than 1."""
    shortest = [p for tokens, p in probabilities.items() if not _begins_with(tokens, probabilities)]
    total = math.fsum(shortest)
    if total <= 1.0 + ROUNDING:
        return ""
    return f"the probabilities of {len(shortest)} continuations of one text add up to {total:.3g}, which is impossible"


def _begins_with(tokens: tuple[int, ...], others: Container[tuple[int, ...]]) -> bool:
    """Return whether tokens begin with one of the others."""
    return any(tokens[:size] in others for size in range(1, len(tokens)))


_verdicts: WeakKeyDictionary[TemplateLM, str] = WeakKeyDictionary()


def measuring_problem(model: TemplateLM, context: str) -> str:
    """Return why a server cannot measure the tokens that it is given; empty if it can, or runs in this process.

    The first call of a run scores two tokens after a prompt, before any reply is paid for. A server that cannot be
    reached tells nothing, and a chat endpoint scores nothing but its own replies.
    """
    if not is_endpoint(model) or sends_settings(model):
        return ""
    if model not in _verdicts:
        ids = model.tok_encode(context)
        yes, no = (model.tok_encode(text, add_special_tokens=False)[:1] for text in ("True", "False"))
        pairs = [(ids, yes), (ids, no)]
        try:
            _verdicts[model] = scoring_problem(pairs, loglikelihoods(model, pairs))
        except (RefusedParameterError, UnansweredError) as error:
            _verdicts[model] = str(error)
        except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
            # lm-eval found no log-probabilities in the reply.
            _verdicts[model] = f"{NOT_ECHOED}: {type(error).__name__}: {error}"
    return _verdicts[model]
