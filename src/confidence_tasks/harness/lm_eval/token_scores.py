"""The log-probabilities of a reply's tokens, for lm-eval, whose ``generate_until`` returns text only.

A reply is tokenised again, as a continuation that starts where the prompt's tokens end, and goes through the model's
own ``_loglikelihood_tokens``, with its batching and its devices. lm-eval's ``loglikelihood`` will not do: it moves
white space from the prompt's end, such as the last newline of a chat template, into the continuation.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, TemplateLM

from confidence_tasks.harness.compat import (
    add_request_type,
    cache_result,
    cached_result,
    has_network,
    network_logits,
    token_loglikelihoods,
)
from confidence_tasks.reading.token_probabilities import (
    answer_slice,
    is_possible,
    option_of,
    scored_tokens,
    token_texts,
)
from confidence_tasks.simulation.reply import StageCall
from confidence_tasks.study.stage import Stage, Token

REQUEST_TYPE = "score_tokens"

_log = logging.getLogger(__name__)


@dataclass
class StageGeneration(Instance):
    """A call of one stage, as a request to generate.

    Attributes
    ----------
    call : StageCall
        What a simulated subject is told of it.
    stage : Stage
        The stage.
    prompt : str
        The user message.
    number : int
        Number of the sample.
    """

    call: StageCall = field(kw_only=True)
    stage: Stage = field(kw_only=True)
    prompt: str = field(kw_only=True)
    number: int = field(kw_only=True)


def inability(model: LM) -> str:
    """Say why a model cannot score given tokens; empty when it can."""
    name = type(model).__name__
    if not isinstance(model, TemplateLM):
        return f"{name} does not compute log-probabilities of given tokens"
    if model.tokenizer is None:
        return (
            f"{name} has no tokenizer here (a completions endpoint with tokenizer=... can score, chat cannot)"
        )
    if getattr(model, "enable_thinking", False) or getattr(model, "think_end_token", None):
        return "the reasoning, which lm-eval removes, is part of what the answer's tokens are conditioned on"
    return ""


add_request_type("token_problem", inability)


class _Passage(NamedTuple):
    """A reply to a context, and what of it is scored: the key under which its tokens are cached."""

    context: str
    reply: str
    alternatives: int
    span: tuple[int, int] | None
    options: tuple[tuple[str, tuple[str, ...]], ...]
    candidates: tuple[str, ...]


def score_tokens(model: LM, generations: Sequence[StageGeneration]) -> list[tuple[Token, ...] | str]:
    """Return the tokens of each reply, or why there are none; lm-eval calls this as a method of the model.

    A model of ``hf`` reads a whole reply once, and lists alternatives to each token. For other models each token is
    scored as the continuation of what stands before it, without alternatives, for which lm-eval has no interface. Of a
    reply in which the stage looks at a part only, that part is scored.
    """
    if problem := inability(model):
        _log.warning("Replies have no token probabilities: %s", problem)
        return [problem] * len(generations)
    assert isinstance(model, TemplateLM)
    passages = list(map(_passage, generations))
    known = {passage: cached_result(model, REQUEST_TYPE, passage) for passage in dict.fromkeys(passages)}
    try:
        computed = _computed(model, [passage for passage, tokens in known.items() if tokens is None])
    except Exception as error:
        # The replies have been paid for, and are worth keeping without these scores.
        _log.warning("Replies have no token probabilities: %s", error, exc_info=True)
        return [known[passage] or f"{type(error).__name__}: {error}" for passage in passages]
    for passage, tokens in computed.items():
        known[passage] = tokens
        if not isinstance(tokens, str):
            # What has no score today may have one when the run is repeated.
            cache_result(model, REQUEST_TYPE, passage, tokens)
    if problems := {
        tokens for tokens in computed.values() if isinstance(tokens, str) and "impossible" in tokens
    }:
        _log.warning("Replies have no token probabilities: %s", min(problems))
    return [known[passage] for passage in passages]


add_request_type(REQUEST_TYPE, score_tokens)


def _passage(generation: StageGeneration) -> _Passage:
    stage, question, reply = generation.stage, generation.call.question, generation.resps[0]
    options = stage.options(question) if stage.options else {}
    return _Passage(
        generation.args[0],
        reply,
        stage.top_logprobs,
        stage.span(question, reply) if stage.span else None,
        tuple((option, tuple(words)) for option, words in options.items()),
        tuple(stage.candidates),
    )


_Pair: TypeAlias = tuple[list[int], list[int]]
"""The tokens before what is scored, and those that are."""

_Read: TypeAlias = Callable[[Sequence[float]], tuple[Token, ...]]
"""Makes the tokens of a reply of what its pairs have as log-probabilities."""


def _computed(model: TemplateLM, passages: Sequence[_Passage]) -> dict[_Passage, tuple[Token, ...] | str]:
    found: dict[_Passage, tuple[Token, ...] | str] = {}
    asked: dict[_Passage, tuple[list[_Pair], _Read]] = {}
    writing = cache(lambda options: _writing(model.tokenizer, dict(options)))
    for passage in passages:
        before = model.tok_encode(passage.context)
        if passage.candidates:
            asked[passage] = _asked_of_candidates(model, before, passage.candidates)
            continue
        said = model.tok_encode(passage.reply, add_special_tokens=False)
        if not said:
            found[passage] = "the reply is empty"
        elif passage.span is None and has_network(model):
            logits = network_logits(model, before, said)
            found[passage] = tuple(scored_tokens(logits, model.tokenizer, said, passage.alternatives))
        elif passage.span is None:
            asked[passage] = _asked_of_all(model, before, said)
        elif part := _asked_of_part(model, before, said, passage, writing):
            asked[passage] = part
        else:
            found[passage] = "there is nothing to score in the reply"
    results = iter(token_loglikelihoods(model, [pair for pairs, _ in asked.values() for pair in pairs]))
    for passage, (pairs, read) in asked.items():
        values = [next(results)[0] for _ in pairs]
        wrong = next((value for value in values if not is_possible(value)), None)
        found[passage] = (
            read([min(value, 0.0) for value in values])
            if wrong is None
            else f"the model gave a log-probability of {wrong:g}, which is impossible"
        )
    return found


def _asked_of_all(model: TemplateLM, before: list[int], said: list[int]) -> tuple[list[_Pair], _Read]:
    texts = token_texts(model.tokenizer, said)
    pairs = [(before + said[:i], said[i : i + 1]) for i in range(len(said))]
    return pairs, lambda values: tuple(
        Token(text, value, {}) for text, value in zip(texts, values, strict=True)
    )


def _asked_of_part(
    model: TemplateLM,
    before: list[int],
    said: list[int],
    passage: _Passage,
    writing: Callable[[Any], Mapping[int, str]],
) -> tuple[list[_Pair], _Read] | None:
    """Ask for the sum over the part's tokens, each of which then has its mean, or for all options at its first token.

    None where the part is in no token.
    """
    begin, end = passage.span or (0, 0)
    texts = token_texts(model.tokenizer, said)
    first, last = answer_slice(texts, passage.reply, begin, end) if begin < end else (0, 0)
    if first == last:
        return None
    before = before + said[:first]
    if not passage.options:
        part, size = texts[first:last], last - first
        return [(before, said[first:last])], lambda values: (
            Token("".join(texts[:first]), math.nan, {}),
            *(Token(text, values[0] / size, {}) for text in part),
            Token("".join(texts[last:]), math.nan, {}),
        )
    others = {token: text for token, text in writing(passage.options).items() if token != said[first]}
    listed = {said[first]: texts[first], **others}
    return [(before, [token]) for token in listed], lambda values: (
        Token("".join(texts[:first]), math.nan, {}),
        Token(texts[first], values[0], dict(zip(listed.values(), values, strict=True))),
        Token("".join(texts[first + 1 :]), math.nan, {}),
    )


def _writing(tokenizer: Any, options: Mapping[str, Sequence[str]]) -> Mapping[int, str]:
    """Return the tokens of a vocabulary that write an option, or begin to."""
    names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    return {i: name for i, name in enumerate(names) if name and option_of(name, options) is not None}


def _asked_of_candidates(
    model: TemplateLM, before: list[int], candidates: Sequence[str]
) -> tuple[list[_Pair], _Read]:
    written = {tuple(model.tok_encode(text, add_special_tokens=False)): text for text in candidates}

    def read(values: Sequence[float]) -> tuple[Token, ...]:
        begun = dict(zip(written, map(math.exp, values), strict=True))
        logprobs = {text: math.log(p) if p else -math.inf for text, p in ended(written, begun).items()}
        best = max(logprobs, key=logprobs.__getitem__)
        return (Token(best, logprobs[best], logprobs),)

    return [(before, list(tokens)) for tokens in written], read


def ended(written: Mapping[tuple[int, ...], str], begun: Mapping[tuple[int, ...], float]) -> dict[str, float]:
    """Return the probability of each candidate as a whole reply, from those that its tokens begin one.

    Parameters
    ----------
    written : mapping of tuple of int to str
        The tokens of each candidate.
    begun : mapping of tuple of int to float
        The probability that a reply begins with these tokens.

    Returns
    -------
    dict of str to float
        A reply that goes on beyond the candidates counts as the one that it goes on from.

    Examples
    --------
    >>> ended({(1,): "1", (1, 2): "12", (3,): "3"}, {(1,): 0.75, (1, 2): 0.5, (3,): 0.125})
    {'1': 0.25, '12': 0.5, '3': 0.125}
    """
    left = dict(begun)
    for tokens, probability in begun.items():
        shorter = (tokens[:size] for size in range(len(tokens) - 1, 0, -1))
        if (stem := next((stem for stem in shorter if stem in written), None)) is not None:
            left[stem] -= probability
    return {text: max(left[tokens], 0.0) for tokens, text in written.items()}
