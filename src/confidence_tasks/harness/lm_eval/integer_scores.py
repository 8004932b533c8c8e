"""The probability that a model answers with each of the integers that may be asked for, on lm-eval.

Each integer is a continuation of the prompt whose log-probability goes through the model's own
``_loglikelihood_tokens``; a model that reuses logits, as lm-eval's ``hf`` does, runs once for all that differ in their
last token. The probability of "1" is that of its token without that of every integer that goes on from it: "12" is no
"1".
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, TemplateLM

from confidence_tasks.harness.compat import (
    add_request_type,
    cache_result,
    cached_result,
    token_loglikelihoods,
)
from confidence_tasks.harness.lm_eval.generation_scores import inability
from confidence_tasks.reading.token_probabilities import is_possible
from confidence_tasks.sources.fermi import LARGEST_EXPONENT

REQUEST_TYPE = "score_integers"

INTEGERS = range(-LARGEST_EXPONENT, LARGEST_EXPONENT + 1)
"""Those that are keys of the archive's questions."""

_log = logging.getLogger(__name__)


def integers_request(doc: Any, context: str, **identity: Any) -> Instance:
    """Return the request for the probabilities of integers after a context."""
    return Instance(
        request_type=REQUEST_TYPE,  # type: ignore[arg-type]
        doc=doc,
        arguments=(context,),
        idx=0,
        **identity,
    )


def score_integers(model: LM, requests: Sequence[Instance]) -> list[dict[int, float]]:
    """Compute probabilities of integers; lm-eval calls this as a method of the model.

    A model that cannot do it costs no run: there are no probabilities, and the log warns once.
    """
    if problem := inability(model):
        _log.warning("Integers have no probabilities: %s", problem)
        return [{} for _ in requests]
    assert isinstance(model, TemplateLM)
    contexts = [request.args[0] for request in requests]
    found = {context: cached_result(model, REQUEST_TYPE, (context,)) for context in contexts}
    for context, probabilities in _computed(model, [c for c in found if found[c] is None]).items():
        found[context] = probabilities
        cache_result(model, REQUEST_TYPE, (context,), probabilities)
    return [found[context] or {} for context in contexts]


add_request_type(REQUEST_TYPE, score_integers)


def _computed(model: TemplateLM, contexts: Sequence[str]) -> dict[str, dict[int, float]]:
    try:
        written = {tuple(model.tok_encode(str(n), add_special_tokens=False)): n for n in INTEGERS}
        asked = [
            (tokens, list(continuation))
            for tokens in map(model.tok_encode, contexts)
            for continuation in written
        ]
        results = iter(token_loglikelihoods(model, asked))
        begun = {
            context: {continuation: next(results)[0] for continuation in written} for context in contexts
        }
    except Exception as error:
        # What other tasks of the run have paid for is worth keeping.
        _log.warning("Integers have no probabilities: %s", error, exc_info=True)
        return {}
    impossible = {c: value for c, its in begun.items() for value in its.values() if not is_possible(value)}
    if impossible:
        _log.warning(
            "%d of %d prompts have no probabilities of integers: the model gave a log-probability of %g",
            *(len(impossible), len(begun), next(iter(impossible.values()))),
        )
    return {
        context: ended(written, {tokens: math.exp(value) for tokens, value in its.items()})
        for context, its in begun.items()
        if context not in impossible
    }


def ended(written: Mapping[tuple[int, ...], int], begun: Mapping[tuple[int, ...], float]) -> dict[int, float]:
    """Return the probability that a reply's number is each integer, from those that its tokens begin with it.

    Parameters
    ----------
    written : mapping of tuple of int to int
        The tokens of each integer.
    begun : mapping of tuple of int to float
        The probability that a reply begins with these tokens.

    Returns
    -------
    dict of int to float
        Ascending; an integer beyond those given counts as the one that it goes on from.

    Examples
    --------
    >>> ended({(1,): 1, (1, 2): 12, (3,): 3}, {(1,): 0.75, (1, 2): 0.5, (3,): 0.125})
    {1: 0.25, 3: 0.125, 12: 0.5}
    """
    left = dict(begun)
    for tokens, probability in begun.items():
        shorter = (tokens[:size] for size in range(len(tokens) - 1, 0, -1))
        if (stem := next((stem for stem in shorter if stem in written), None)) is not None:
            left[stem] -= probability
    return {n: max(left[tokens], 0.0) for n, tokens in sorted((n, tokens) for tokens, n in written.items())}
