"""The probability of every option where a reply gives its answer, on lm-eval.

A provider lists the most probable tokens in that place. Here every token of the vocabulary that writes an option, or
begins to, is scored in it, as a continuation of the prompt and of the reply up to there; a model that reuses logits, as
lm-eval's ``hf`` does, runs once for all of them.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, TemplateLM

from confidence_tasks.harness.compat import (
    add_request_type,
    cache_result,
    cached_result,
    token_loglikelihoods,
)
from confidence_tasks.harness.lm_eval.generation_scores import inability, numbered
from confidence_tasks.reading.answer_tokens import answer_slice, token_texts
from confidence_tasks.reading.token_probabilities import option_of, option_span, why_unknown
from confidence_tasks.study.stage import Token

REQUEST_TYPE = "score_options"

Words = Mapping[str, Sequence[str]]
"""Each option, and the words that stand for it."""

_log = logging.getLogger(__name__)


@dataclass
class OptionsRequest(Instance):
    """A request to score the options in the place of the answer that the model generates for another request.

    Attributes
    ----------
    generation : Instance
        The request that generates.
    words : mapping of str to sequence of str
        Each option, and the words that stand for it.
    """

    generation: Instance = field(kw_only=True)
    words: Words = field(kw_only=True)


def options_request(generation: Instance, words: Words) -> OptionsRequest:
    """Return the request that scores the options of each response to ``generation``."""
    return OptionsRequest(
        request_type=REQUEST_TYPE,  # type: ignore[arg-type]
        doc=generation.doc,
        arguments=(),
        idx=generation.idx + 1,
        metadata=(generation.task_name, generation.doc_id, generation.repeats),
        generation=generation,
        words=words,
    )


def score_options(model: LM, requests: Sequence[OptionsRequest]) -> list[list[Token]]:
    """Return each reply as tokens, the answer's with alternatives; lm-eval calls this as a method of the model.

    No tokens are returned where the reply gives no answer. A model that cannot do it costs no run: it returns none, and
    the log warns once.
    """
    if problem := inability(model):
        _log.warning("Options have no token probabilities: %s", problem)
        return [[] for _ in requests]
    assert isinstance(model, TemplateLM)
    replies = [
        (request.generation.args[0], request.generation.resps[repeat] or "", request.words)
        for request, repeat in numbered(requests)
    ]
    try:
        return _scored(model, replies)
    except Exception as error:
        # The generations have been paid for, and are worth keeping without these scores.
        _log.warning("Options have no token probabilities: %s", error, exc_info=True)
        return [[] for _ in requests]


add_request_type(REQUEST_TYPE, score_options)


def _scored(model: TemplateLM, replies: Sequence[tuple[str, str, Words]]) -> list[list[Token]]:
    writing = _writing_by_words(model.tokenizer)
    keys = [(context, text, tuple(sorted(words))) for context, text, words in replies]
    found = {key: cached_result(model, REQUEST_TYPE, key) for key in keys}
    options = {
        key: tokens
        for key, (context, text, words) in zip(keys, replies, strict=True)
        if found[key] is None and (tokens := _option_tokens(model, context, text, writing(words))) is not None
    }
    asked = [(tokens.before, [token]) for tokens in options.values() for token in tokens.candidates]
    results = iter(token_loglikelihoods(model, asked))
    for key, tokens in options.items():
        reply = tokens.tokens([next(results)[0] for _ in tokens.candidates])
        if problem := why_unknown(reply[1:2]):
            _log.warning("An answer has no token probabilities: %s", problem)
            continue
        found[key] = reply
        cache_result(model, REQUEST_TYPE, key, reply)
    return [found[key] or [] for key in keys]


@dataclass(frozen=True, slots=True)
class _OptionTokens:
    """Where a reply gives its answer.

    Attributes
    ----------
    before : list of int
        Tokens of the prompt, and of the reply up to there.
    texts : tuple of str
        The reply up to there, the answer's token, and the rest.
    candidates : dict of int to str
        The answer's token first, then every other that writes an option, with their texts.
    """

    before: list[int]
    texts: tuple[str, str, str]
    candidates: dict[int, str]

    def tokens(self, logprobs: Sequence[float]) -> list[Token]:
        """Return the reply in three pieces, of which the answer's token has a log-probability and alternatives."""
        before, answer, after = self.texts
        alternatives = dict(zip(self.candidates.values(), logprobs, strict=True))
        return [
            Token(before, math.nan, {}),
            Token(answer, logprobs[0], alternatives),
            Token(after, math.nan, {}),
        ]


def _option_tokens(
    model: TemplateLM, context: str, text: str, writing: Mapping[int, str]
) -> _OptionTokens | None:
    begin, end = option_span(text)
    if begin == end:
        return None
    ids = model.tok_encode(text, add_special_tokens=False)
    texts = token_texts(model.tokenizer, ids)
    first, last = answer_slice(texts, text, begin, end)
    if first == last:
        return None
    pieces = "".join(texts[:first]), texts[first], "".join(texts[first + 1 :])
    others = {token: name for token, name in writing.items() if token != ids[first]}
    return _OptionTokens(
        model.tok_encode(context) + ids[:first], pieces, {ids[first]: texts[first], **others}
    )


def _writing_by_words(tokenizer: Any) -> Callable[[Words], Mapping[int, str]]:
    """Return what tells the tokens of a vocabulary that write an option, or begin to; it is gone through once a set."""
    names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    known: dict[str, dict[int, str]] = {}

    def writing(words: Words) -> Mapping[int, str]:
        key = repr(words)
        if key not in known:
            known[key] = {
                i: name for i, name in enumerate(names) if name and option_of(name, words) is not None
            }
        return known[key]

    return writing
