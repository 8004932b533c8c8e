"""The log-probabilities of the tokens of a reply.

lm-eval's ``generate_until`` returns only text. To get log-probabilities, a reply is tokenised again as a continuation
of the prompt's tokens, and scored by the model's ``_loglikelihood_tokens``, which handles batches and devices.
lm-eval's ``loglikelihood`` cannot be used: it moves white space at the end of the prompt, such as the last newline of a
chat template, into the continuation.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from lm_eval.api.model import LM, TemplateLM

from confidence_tasks.harness.compat import add_request_type
from confidence_tasks.harness.compat_models import (
    cache_result,
    cached_result,
    has_network,
    network_logits,
    sends_settings,
)
from confidence_tasks.harness.lm_eval.chat import run_of
from confidence_tasks.harness.lm_eval.endpoints import loglikelihoods
from confidence_tasks.harness.lm_eval.listed_tokens import UNSCORED, unmeasured
from confidence_tasks.harness.lm_eval.measured import NOT_ECHOED
from confidence_tasks.harness.lm_eval.sample_requests import StageGeneration
from confidence_tasks.harness.lm_eval.scoring import Pair, measuring_problem, scoring_problem
from confidence_tasks.reading.token_probabilities import (
    answer_slice,
    first_word_span,
    match_option,
    scored_tokens,
    token_texts,
)
from confidence_tasks.study.stage import Token

SCORES = "score_tokens"


_log = logging.getLogger(__name__)


def token_problem(model: LM) -> str:
    """Return the reason why a model gives no log-probabilities; empty if it scores tokens or lists those of replies."""
    if sends_settings(model):
        return ""
    name = type(model).__name__
    if not isinstance(model, TemplateLM):
        return f"{name} does not compute log-probabilities of given tokens"
    if model.tokenizer is None:
        return f"{name} has no tokenizer (with tokenizer=... a completions endpoint can score)"
    if getattr(model, "enable_thinking", False) or getattr(model, "think_end_token", None):
        return "lm-eval removes the reasoning on which the probabilities of the answer's tokens depend"
    return ""


def scoring_fault(model: LM, context: str) -> str:
    """Return why a model cannot score given tokens, such as after a context; empty if it can."""
    problem = token_problem(model)
    return problem if problem or not isinstance(model, TemplateLM) else measuring_problem(model, context)


class _Passage(NamedTuple):
    """A reply with its context, and the part of the reply to score. It is the key of the cached tokens."""

    context: str
    reply: str
    alternatives: int
    span: tuple[int, int] | None
    options: tuple[tuple[str, tuple[str, ...]], ...]
    candidates: tuple[str, ...]


def score_tokens(model: LM, generations: Sequence[StageGeneration]) -> list[tuple[Token, ...] | str]:
    """Return the tokens of each reply, or the reason why there are none; lm-eval calls this as a method of the model.

    A chat endpoint has listed the tokens beside its reply, with alternatives. An ``hf`` model processes a reply once
    and lists alternatives to each token. Other models score each token as a continuation of the preceding tokens,
    without alternatives, for which lm-eval has no interface. If the stage uses only a part of the reply, only that part
    is scored.
    """
    if sends_settings(model):
        return _listed_tokens(model, generations)
    if problem := scoring_fault(model, generations[0].args[0] if generations else ""):
        _log.warning("Replies have no token probabilities: %s", problem)
        return [problem] * len(generations)
    assert isinstance(model, TemplateLM)
    passages = list(map(_make_passage, generations))
    known = {passage: cached_result(model, SCORES, passage) for passage in dict.fromkeys(passages)}
    try:
        computed = _score_passages(model, [passage for passage, tokens in known.items() if tokens is None])
    except Exception as error:
        # The replies have been paid for, so they are kept without scores.
        _log.warning("Replies have no token probabilities: %s", error, exc_info=True)
        return [known[passage] or f"{type(error).__name__}: {error}" for passage in passages]
    if computed:
        run_of(model).remember(model)
    for passage, tokens in computed.items():
        known[passage] = tokens
        if not isinstance(tokens, str):
            # A passage without scores is not cached: a repeated run may succeed.
            cache_result(model, SCORES, passage, tokens)
    problems = {tokens for tokens in computed.values() if isinstance(tokens, str)}
    if faults := {text for text in problems if "impossible" in text or text == NOT_ECHOED}:
        _log.warning("Replies have no token probabilities: %s", min(faults))
    return [known[passage] for passage in passages]


def _listed_tokens(model: LM, generations: Sequence[StageGeneration]) -> list[tuple[Token, ...] | str]:
    """Return the tokens that a chat endpoint has listed beside each reply, or the reason why there are none."""
    listed = [getattr(generation.resps[0], "tokens", ()) for generation in generations]
    refused = next((note for note in run_of(model).refused if note.startswith("logprobs")), "")
    zeros = unmeasured(listed)
    missing = zeros or refused or "the provider returned no log-probabilities"

    def found(generation: StageGeneration, tokens: tuple[Token, ...]) -> tuple[Token, ...] | str:
        if generation.stage.forced_reply:
            return UNSCORED
        return missing if zeros or not tokens else tokens

    return list(map(found, generations, listed))


def _make_passage(generation: StageGeneration) -> _Passage:
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


_MakeTokens: TypeAlias = Callable[[Sequence[float]], tuple[Token, ...]]
"""Function from the log-probabilities of a passage's pairs to the tokens of the reply."""


def _score_passages(
    model: TemplateLM, passages: Sequence[_Passage]
) -> dict[_Passage, tuple[Token, ...] | str]:
    scores: dict[_Passage, tuple[Token, ...] | str] = {}
    requests: dict[_Passage, tuple[list[Pair], _MakeTokens]] = {}
    option_tokens = cache(lambda options: _option_tokens(model.tokenizer, dict(options)))
    for passage in passages:
        context = model.tok_encode(passage.context)
        if passage.candidates:
            requests[passage] = _candidate_requests(model, context, passage.candidates)
            continue
        reply = model.tok_encode(passage.reply, add_special_tokens=False)
        if not reply:
            scores[passage] = "the reply is empty"
        elif passage.span is None and has_network(model):
            logits = network_logits(model, context, reply)
            scores[passage] = tuple(scored_tokens(logits, model.tokenizer, reply, passage.alternatives))
        elif passage.span is None and not passage.options:
            requests[passage] = _token_requests(model, context, reply)
        elif span_requests := _span_requests(model, context, reply, passage, option_tokens):
            requests[passage] = span_requests
        else:
            scores[passage] = "there is nothing to score in the reply"
    values = loglikelihoods(model, [pair for pairs, _ in requests.values() for pair in pairs])
    echoed = any(values) or has_network(model)
    results = iter(values)
    for passage, (pairs, make_tokens) in requests.items():
        own = [next(results) for _ in pairs]
        problem = scoring_problem(pairs, own) if echoed else NOT_ECHOED
        scores[passage] = problem or make_tokens([min(value, 0.0) for value in own])
    return scores


def _token_requests(
    model: TemplateLM, context: list[int], reply: list[int]
) -> tuple[list[Pair], _MakeTokens]:
    """Request the log-probability of each token of a reply."""
    texts = token_texts(model.tokenizer, reply)
    pairs = [(context + reply[:i], reply[i : i + 1]) for i in range(len(reply))]
    return pairs, lambda values: tuple(
        Token(text, value, {}) for text, value in zip(texts, values, strict=True)
    )


def _span_requests(
    model: TemplateLM,
    context: list[int],
    reply: list[int],
    passage: _Passage,
    option_tokens: Callable[[Any], Mapping[int, str]],
) -> tuple[list[Pair], _MakeTokens] | None:
    """Request the log-probabilities of a span of a reply; None if the span contains no token.

    Without options, the sum over the span's tokens is requested, and each token gets the mean. With options, all tokens
    that begin an option are requested in the place of the span's first token.
    """
    begin, end = first_word_span(passage.reply) if passage.span is None else passage.span
    texts = token_texts(model.tokenizer, reply)
    first, last = answer_slice(texts, passage.reply, begin, end) if begin < end else (0, 0)
    if first == last:
        return None
    context = context + reply[:first]
    if not passage.options:
        return [(context, reply[first:last])], lambda values: (
            Token("".join(texts[:first]), math.nan, {}),
            *(Token(text, values[0] / (last - first), {}) for text in texts[first:last]),
            Token("".join(texts[last:]), math.nan, {}),
        )
    others = {id_: text for id_, text in option_tokens(passage.options).items() if id_ != reply[first]}
    alternatives = {reply[first]: texts[first], **others}
    return [(context, [id_]) for id_ in alternatives], lambda values: (
        Token("".join(texts[:first]), math.nan, {}),
        Token(texts[first], values[0], dict(zip(alternatives.values(), values, strict=True))),
        Token("".join(texts[first + 1 :]), math.nan, {}),
    )


def _option_tokens(tokenizer: Any, options: Mapping[str, Sequence[str]]) -> Mapping[int, str]:
    """Return the tokens of a vocabulary that are an option or its beginning."""
    names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    return {i: name for i, name in enumerate(names) if name and match_option(name, options) is not None}


def _candidate_requests(
    model: TemplateLM, context: list[int], candidates: Sequence[str]
) -> tuple[list[Pair], _MakeTokens]:
    """Request the log-probability of each candidate reply."""
    by_tokens = {tuple(model.tok_encode(text, add_special_tokens=False)): text for text in candidates}

    def make_tokens(values: Sequence[float]) -> tuple[Token, ...]:
        prefix_probabilities = dict(zip(by_tokens, map(math.exp, values), strict=True))
        probabilities = candidate_probabilities(by_tokens, prefix_probabilities)
        logprobs = {text: math.log(p) if p else -math.inf for text, p in probabilities.items()}
        best = max(logprobs, key=logprobs.__getitem__)
        return (Token(best, logprobs[best], logprobs),)

    return [(context, list(tokens)) for tokens in by_tokens], make_tokens


def candidate_probabilities(
    candidates: Mapping[tuple[int, ...], str], prefix_probabilities: Mapping[tuple[int, ...], float]
) -> dict[str, float]:
    """Return the probability of each candidate as the whole reply.

    ``candidates`` has the texts by their tokens, and ``prefix_probabilities`` the probability that a reply begins with
    these tokens. If one candidate begins with another, the probability of the longer one is subtracted from that of the
    shorter one. A reply that continues beyond a candidate in another way counts as that candidate.

    Examples
    --------
    >>> candidate_probabilities({(1,): "1", (1, 2): "12", (3,): "3"}, {(1,): 0.75, (1, 2): 0.5, (3,): 0.125})
    {'1': 0.25, '12': 0.5, '3': 0.125}
    """
    remaining = dict(prefix_probabilities)
    for tokens, probability in prefix_probabilities.items():
        prefixes = (tokens[:size] for size in range(len(tokens) - 1, 0, -1))
        if (longest := next((prefix for prefix in prefixes if prefix in candidates), None)) is not None:
            remaining[longest] -= probability
    return {text: max(remaining[tokens], 0.0) for tokens, text in candidates.items()}


for _name, _method in ((SCORES, score_tokens), ("token_problem", token_problem)):
    add_request_type(_name, _method)
