"""All uses of private parts of lm-eval's models; see :mod:`confidence_tasks.harness.compat` for all others."""

from __future__ import annotations

from asyncio import get_running_loop
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lm_eval.api.model import LM, TemplateLM
    from torch import Tensor


def cached_result(model: LM, request_type: str, arguments: Iterable[Any]) -> Any:
    """Return the cached result of a request (``--use_cache``); None without a cache or an entry.

    Needs ``LM.cache_hook.dbdict``, a dictionary or None, and ``lm_eval.api.model.hash_args``, which computes its keys.
    lm-eval itself looks up only its own request types. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    cache = model.cache_hook.dbdict
    if cache is None:
        return None
    return cache.get(import_module("lm_eval.api.model").hash_args(request_type, arguments))


def cache_result(model: LM, request_type: str, arguments: Iterable[Any], result: object) -> None:
    """Add a result to the cache of replies, if there is one.

    Needs ``LM.cache_hook.add_partial``. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    model.cache_hook.add_partial(request_type, arguments, result)


def token_loglikelihoods(
    model: TemplateLM, requests: Sequence[tuple[list[int], list[int]]]
) -> list[tuple[float, bool]]:
    """Return the log-probability of each continuation, and whether greedy decoding would produce the continuation.

    A request is a pair of context tokens and continuation tokens. Needs ``TemplateLM._loglikelihood_tokens``, which
    takes triples of a cache key, context and continuation. The key is None here: with a key, the model would cache the
    result like an ordinary log-likelihood. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    keyed: list[Any] = [(None, context, continuation) for context, continuation in requests]
    return model._loglikelihood_tokens(keyed) if keyed else []


def is_endpoint(model: LM) -> bool:
    """Return whether an lm-eval model is a server that is asked over HTTP, which :func:`calls_through` needs.

    Needs the base class ``TemplateAPI``. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    return any(kind.__name__ == "TemplateAPI" for kind in type(model).__mro__)


def sends_settings(model: LM) -> bool:
    """Return whether a model sends all settings of generation, as chat endpoints of OpenAI's protocol do.

    Needs the class ``LocalChatCompletion``. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    return any(kind.__name__ == "LocalChatCompletion" for kind in type(model).__mro__)


def payload_of(model: LM, messages: Any, *, generate: bool, gen_kwargs: Any = None) -> dict[str, Any]:
    """Return what an endpoint sends for some messages.

    Needs ``TemplateAPI._create_payload``, ``create_message``, ``_seed`` and ``eos_string``. Tested on lm-eval 0.4.12
    and 0.4.13.
    """
    endpoint: Any = model
    payload: dict[str, Any] = endpoint._create_payload(
        endpoint.create_message(messages),
        generate=generate,
        gen_kwargs=deepcopy(gen_kwargs),
        seed=endpoint._seed,
        eos=endpoint.eos_string,
    )
    return payload


def post(model: LM, payload: Mapping[str, Any]) -> tuple[int, str]:
    """Send a payload to an endpoint; return the HTTP status and the text of its reply.

    Needs the attributes ``base_url``, ``header``, ``verify_certificate`` and ``timeout`` of ``TemplateAPI``. Tested on
    lm-eval 0.4.12 and 0.4.13. Raises ``requests.RequestException`` without a reply.
    """
    import requests

    endpoint: Any = model
    response = requests.post(
        endpoint.base_url,
        json=payload,
        headers=endpoint.header,
        verify=endpoint.verify_certificate,
        timeout=endpoint.timeout,
    )
    return response.status_code, response.text


@contextmanager
def calls_through(
    model: LM,
    call: Callable[..., Any],
    texts: Callable[[Any, Callable[[Any], list[Any]]], list[Any]],
    scores: Callable[..., list[Any]],
    *,
    one_by_one: bool,
) -> Iterator[None]:
    """Make an endpoint use other functions for its calls, and to read the replies, than its own.

    ``call(messages, generate=, gen_kwargs=)`` returns the JSON of the reply, and is not repeated. ``texts(outputs,
    parse)`` and ``scores(outputs, parse, tokens=, ctxlens=)`` return what the endpoint's own function ``parse`` returns
    for that. Requests are sent ``one_by_one``, or in as many threads as the endpoint sends at once.

    Needs ``TemplateAPI`` with ``model_call``, ``amodel_call``, ``parse_generations``, ``parse_logprobs`` and
    ``_concurrent``, and its cache of generations. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    endpoint: Any = model
    parse_texts, parse_scores = endpoint.parse_generations, endpoint.parse_logprobs

    def read_texts(outputs: Any, **_: Any) -> list[Any]:
        return texts(outputs, lambda found: list(parse_texts(outputs=found)))

    def read_scores(outputs: Any, tokens: Any, ctxlens: Any) -> list[Any]:
        return scores(outputs, parse_scores, tokens=tokens, ctxlens=ctxlens)

    async def call_in_thread(
        session: Any, sem: Any, messages: Any, cache_keys: Any = None, ctxlens: Any = None, **options: Any
    ) -> list[Any]:
        async with sem:
            outputs = await get_running_loop().run_in_executor(threads, partial(call, messages, **options))
        if not options["generate"]:
            return read_scores(outputs, messages, ctxlens)
        found = read_texts(outputs)
        for key, text in zip(cache_keys, found, strict=False):
            endpoint.cache_hook.add_partial("generate_until", key, text)
        return found

    replaced = {
        "model_call": call,
        "amodel_call": call_in_thread,
        "parse_generations": read_texts,
        "parse_logprobs": read_scores,
        "_concurrent": 1 if one_by_one else endpoint._concurrent,
    }
    before = {name: vars(endpoint)[name] for name in replaced if name in vars(endpoint)}
    with ThreadPoolExecutor(max(endpoint._concurrent, 1)) as threads:
        vars(endpoint).update(replaced)
        try:
            yield
        finally:
            for name in replaced:
                del vars(endpoint)[name]
            vars(endpoint).update(before)


@contextmanager
def generations_through(model: LM, keep: Callable[[tuple[str, Any], str, Any], str | None]) -> Iterator[None]:
    """Pass each generation to ``keep(request, text, row)``, which returns what the cache keeps; None for nothing.

    A ``row`` has the tokens of a reply of an ``hf`` model, with those after its end, as far as the model went; None
    without tokens. Needs ``LM.cache_hook.add_partial``, to which models give each reply, and
    ``HFLM._model_generate(context=, max_length=)``, which returns a row for each of the next replies. Tested on lm-eval
    0.4.12 and 0.4.13.
    """
    network: Any = model
    hook: Any = network.cache_hook
    generate: Any = getattr(network, "_model_generate", None)
    rows: deque[Any] = deque()

    class Hook:
        dbdict = hook.dbdict

        def add_partial(self, kind: str, request: Any, text: Any) -> None:
            kept = keep(request, text, rows.popleft() if rows else None)
            if kept is not None:
                hook.add_partial(kind, request, kept)

    def generate_rows(*, context: Any, max_length: int, **options: Any) -> Any:
        found = generate(context=context, max_length=max_length, **options)
        rows.extend(row[context.shape[1] :] if len(row) >= max_length else None for row in found)
        return found

    network.cache_hook = Hook()
    if has_network(model):
        network._model_generate = generate_rows
    try:
        yield
    finally:
        network.cache_hook = hook
        vars(network).pop("_model_generate", None)


def has_network(model: LM) -> bool:
    """Return whether an lm-eval model is a causal ``hf`` model, which :func:`network_logits` needs.

    Needs ``HFLM.backend``. Tested on lm-eval 0.4.13.
    """
    network: Any = model
    return any(kind.__name__ == "HFLM" for kind in type(model).__mro__) and network.backend == "causal"


def goes_on(model: LM, row: Sequence[int], stops: Sequence[str]) -> bool:
    """Return whether an ``hf`` model had not finished a reply: no end of text and no stop sequence is in its tokens.

    Needs ``HFLM.model.generation_config.eos_token_id``, ``HFLM.tokenizer`` and ``tok_decode``. Tested on lm-eval
    0.4.13.
    """
    network: Any = model
    ends = network.model.generation_config.eos_token_id
    tokenizer = network.tokenizer
    last = {*(ends if isinstance(ends, list) else [ends]), tokenizer.eos_token_id, tokenizer.pad_token_id}
    text = network.tok_decode(list(row)) if stops else ""
    return int(row[-1]) not in last and not any(stop in text for stop in stops)


def network_logits(model: LM, context: Sequence[int], continuation: Sequence[int]) -> Tensor:
    """Return the logits of an ``hf`` model at each token of a continuation, shape (tokens, vocabulary).

    Needs ``HFLM`` with ``_model_call(tokens)``, ``device`` and ``max_length``. Tested on lm-eval 0.4.13.
    """
    import torch

    network: Any = model
    ids = [*context, *continuation][-network.max_length :]
    logits: Tensor = network._model_call(torch.tensor([ids], device=network.device))[0]
    return logits[len(ids) - len(continuation) - 1 : len(ids) - 1]
