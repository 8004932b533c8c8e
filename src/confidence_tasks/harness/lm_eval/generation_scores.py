"""The log-probability that a model gave its own generation, for lm-eval, whose ``generate_until`` returns text only.

lm-eval sends each request to the model's method of the request's type. So a task may ask for the generation and then,
with a request type of ours, for its score: the text is tokenised again, as a continuation that starts where the
prompt's tokens end, and goes through the model's own ``_loglikelihood_tokens``, with its batching and its devices.
lm-eval's ``loglikelihood`` will not do: it moves white space from the prompt's end, such as the last newline of a chat
template, into the continuation.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias, TypeVar

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, TemplateLM

from confidence_tasks.harness.compat import (
    add_request_type,
    cache_result,
    cached_result,
    token_loglikelihoods,
)
from confidence_tasks.reading.answer_tokens import answer_slice, token_texts
from confidence_tasks.reading.token_probabilities import is_known

RequestT = TypeVar("RequestT", bound=Instance)

REQUEST_TYPE = "score_own_generation"

Span: TypeAlias = Callable[[str], tuple[int, int]]
"""Which characters of a text are to be scored: from the first number to before the second."""


def whole_text(text: str) -> tuple[int, int]:
    """Return the span of everything."""
    return 0, len(text)


_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GenerationScore:
    """What the model's own tokens say about its generation.

    Attributes
    ----------
    sum_logprob : float
        Sum of the natural log-probabilities of the generated tokens, without the end token; NaN when there is none.
    n_tokens : int
        Number of tokens summed.
    greedy : bool
        Whether every token is the model's most probable one. After greedy decoding, True proves that tokenising the
        text again gave the tokens that were generated.
    problem : str
        Why there is no score; empty when there is one.
    """

    sum_logprob: float
    n_tokens: int
    greedy: bool
    problem: str = ""


def unscored(problem: str) -> GenerationScore:
    """Return the score of a generation that has none."""
    return GenerationScore(math.nan, 0, greedy=False, problem=problem)


@dataclass
class ScoreRequest(Instance):
    """A request to score what the model generates for another request.

    Attributes
    ----------
    generation : Instance
        The request that generates; its responses are scored one by one, in order.
    span : callable
        Which part of a response is scored, given what comes before it.
    """

    generation: Instance = field(kw_only=True)
    span: Span = field(kw_only=True, default=whole_text)


class Passage(NamedTuple):
    """A part of a text that follows a context: what one score is about."""

    context: str
    text: str
    begin: int
    end: int


def score_request(generation: Instance, span: Span = whole_text) -> ScoreRequest:
    """Return the request that scores the responses to ``generation``, or the part of each that ``span`` returns."""
    return ScoreRequest(
        request_type=REQUEST_TYPE,  # type: ignore[arg-type]
        doc=generation.doc,
        arguments=(),
        idx=generation.idx + 1,
        metadata=(generation.task_name, generation.doc_id, generation.repeats),
        generation=generation,
        span=span,
    )


def given_request(generation: Instance, text: str, span: Span = whole_text) -> ScoreRequest:
    """Return the request that scores ``text`` as a response to what ``generation`` asks."""
    response = Instance(
        "generate_until",
        generation.doc,
        generation.arguments,
        generation.idx + 1,
        (generation.task_name, generation.doc_id, generation.repeats),
    )
    response.resps = [text] * (generation.repeats or 1)
    return score_request(response, span)


def numbered(requests: Iterable[RequestT]) -> Iterator[tuple[RequestT, int]]:
    """Yield each request with the number of times it came before: lm-eval lists a request once a repetition."""
    seen: Counter[int] = Counter()
    for request in requests:
        yield request, seen[id(request)]
        seen[id(request)] += 1


def score_own_generation(model: LM, requests: Sequence[ScoreRequest]) -> list[GenerationScore]:
    """Score generations; lm-eval calls this as a method of the model.

    A model that cannot do it costs no run: the scores are NaN and say why, and the log warns once.
    """
    if problem := inability(model):
        _log.warning("Generations are not scored: %s", problem)
        return [unscored(problem)] * len(requests)
    assert isinstance(model, TemplateLM)
    passages = _passages(requests)
    scores = {passage: score for passage in set(passages) if (score := _known(model, passage)) is not None}
    scores |= _computed(model, [passage for passage in dict.fromkeys(passages) if passage not in scores])
    return [scores[passage] for passage in passages]


add_request_type(REQUEST_TYPE, score_own_generation)


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


def _passages(requests: Sequence[ScoreRequest]) -> list[Passage]:
    return [
        Passage(request.generation.args[0], text, *request.span(text))
        for request, repeat in numbered(requests)
        for text in [request.generation.resps[repeat] or ""]
    ]


def _known(model: LM, passage: Passage) -> GenerationScore | None:
    """Return a score from the responses' cache, or that of nothing."""
    if not passage.text:
        return unscored("empty generation")
    if passage.begin == passage.end:
        return unscored("nothing to score in the generation")
    score: GenerationScore | None = cached_result(model, REQUEST_TYPE, passage)
    return score


def _computed(model: TemplateLM, passages: Sequence[Passage]) -> dict[Passage, GenerationScore]:
    try:
        tokens = {passage: _tokens(model, passage) for passage in passages}
        results = iter(token_loglikelihoods(model, [each for each in tokens.values() if each[1]]))
    except Exception as error:
        # The generations have been paid for, and are worth keeping without their scores.
        _log.warning("Generations are not scored: %s", error, exc_info=True)
        return dict.fromkeys(passages, unscored(f"{type(error).__name__}: {error}"))
    scores = {
        passage: _score(next(results), scored)
        if scored
        else unscored("the tokenizer does not give the generation back")
        for passage, (_, scored) in tokens.items()
    }
    for passage, score in scores.items():
        if not score.problem:
            # What has no score today may have one when the run is repeated.
            cache_result(model, REQUEST_TYPE, passage, score)
    return scores


def _score(result: tuple[float, bool], scored: Sequence[int]) -> GenerationScore:
    total, greedy = result
    if not is_known(total / len(scored)):
        return unscored(f"the model gave its tokens a log-probability of {total:g}, which is impossible")
    return GenerationScore(min(total, 0.0), len(scored), greedy)


def _tokens(model: TemplateLM, passage: Passage) -> tuple[list[int], list[int]]:
    """Return the tokens before what is scored, those of the prompt first, and the tokens that are scored."""
    prompt = model.tok_encode(passage.context)
    tokens = model.tok_encode(passage.text, add_special_tokens=False)
    if (passage.begin, passage.end) == whole_text(passage.text):
        return prompt, tokens
    first, last = answer_slice(token_texts(model.tokenizer, tokens), *passage[1:])
    return prompt + tokens[:first], tokens[first:last]
