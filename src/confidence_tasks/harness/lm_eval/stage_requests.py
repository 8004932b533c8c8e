"""The stages of a study on lm-eval, as requests: one request type that runs them all.

lm-eval answers request types in the order in which any task first made them, so that a type for each stage would mix up
studies of different shapes. One request type loops over the stages of all documents instead: the calls of one stage
are made together, in the model's own batches.

lm-eval's ``generate_until`` returns text only. For log-probabilities, a reply is tokenised again, as a continuation of
the prompt's tokens, and goes through the model's own ``_loglikelihood_tokens``, with its batching and its devices.
lm-eval's ``loglikelihood`` will not do: it moves white space from the prompt's end, such as the last newline of a chat
template, into the continuation.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, TemplateLM
from tqdm import tqdm

from confidence_tasks.harness.compat import (
    add_request_type,
    cache_result,
    cached_result,
    has_network,
    network_logits,
    token_loglikelihoods,
)
from confidence_tasks.harness.staged import (
    STUDY,
    conversations_of,
    forced,
    kept_replies,
    load_study,
    sample_seed,
)
from confidence_tasks.reading.token_probabilities import (
    answer_slice,
    is_possible,
    match_option,
    scored_tokens,
    token_texts,
)
from confidence_tasks.simulation.reply import StageCall
from confidence_tasks.study.definition import Study
from confidence_tasks.study.stage import ModelReply, Stage, Token
from confidence_tasks.study.trial import question_from_metadata

SCORES = "score_tokens"

_log = logging.getLogger(__name__)


@dataclass
class StageGeneration(Instance):
    """A call of one stage, as a request to generate; a simulated subject is told the ``call``."""

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
    known = {passage: cached_result(model, SCORES, passage) for passage in dict.fromkeys(passages)}
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
            cache_result(model, SCORES, passage, tokens)
    if problems := {
        tokens for tokens in computed.values() if isinstance(tokens, str) and "impossible" in tokens
    }:
        _log.warning("Replies have no token probabilities: %s", min(problems))
    return [known[passage] for passage in passages]


add_request_type(SCORES, score_tokens)


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
"""The tokens before the scored ones, and the scored tokens."""

_Read: TypeAlias = Callable[[Sequence[float]], tuple[Token, ...]]
"""Makes the tokens of a reply from the log-probabilities of its pairs."""


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
    return {i: name for i, name in enumerate(names) if name and match_option(name, options) is not None}


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

    ``written`` has the candidates by their tokens. A reply that goes on beyond the candidates counts as the one that it
    goes on from.

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


REQUEST_TYPE = "run_stages"
SAMPLES = "generate_samples"

Turns = list[dict[str, str]]
"""A conversation as chat templates take it."""


@dataclass
class StagesRequest(Instance):
    """A request for all stages of a document; the first prompt is its first argument.

    ``turns`` are the conversation that the first prompt was made of; none without a chat template.
    """

    parameters: dict[str, Any] = field(kw_only=True)
    turns: Turns = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class _Conversation:
    """A conversation, as turns for a chat template or as plain text."""

    turns: Turns
    text: str

    def context(self, model: LM) -> str:
        return model.apply_chat_template(self.turns) if self.turns else self.text

    def then(self, content: str, role: str = "user") -> _Conversation:
        if self.turns:  # whose text is none with models of a chat interface
            return _Conversation([*self.turns, {"role": role, "content": content}], "")
        return _Conversation([], f"{self.text.rstrip()}\n\n{content}")


@dataclass
class _Document:
    """The stages of one document, what they have returned, and whether a call was lost: its reply is None."""

    request: StagesRequest
    study: Study = field(init=False)
    stages: tuple[Stage, ...] = field(init=False)
    replies: dict[str, list[ModelReply]] = field(default_factory=dict)
    conversations: dict[str, _Conversation] = field(default_factory=dict)
    lost: bool = False

    def __post_init__(self) -> None:
        doc: dict[str, Any] = self.request.doc
        self.study = load_study(doc[STUDY])
        self.stages = self.study.stages_of(self.request.parameters)
        self.question, self.condition = question_from_metadata(doc), str(doc["condition"])

    def begun(self, system: str, prompt: str) -> _Conversation:
        """Begin a conversation."""
        first = [{"role": "system", "content": system}] if system else []
        turns = [*first, {"role": "user", "content": prompt}] if self.request.turns else []
        return _Conversation(turns, f"{system}\n\n{prompt}" if system else prompt)

    def calls(self, model: LM, stage: Stage) -> Iterator[tuple[StageGeneration, _Conversation]]:
        """Yield the calls of a stage, each with its conversation."""
        call = StageCall(self.study, self.question, self.condition, stage.name, self.replies)
        # The limit of the only reply is the configuration's, which --gen_kwargs may have changed.
        several = sum(not each.forced_reply for each in self.stages) > 1
        first = self.request.doc["prompt"], _Conversation(self.request.turns, self.request.args[0])
        asked = conversations_of(stage, call, first, self.conversations, self.begun, _Conversation.then)
        for prompt, conversation in asked:
            context = conversation.context(model) if self.replies else self.request.args[0]
            if stage.candidates and not self.request.turns:
                context += stage.delimiter
            for number in range(stage.samples):
                own = sampling_settings(
                    stage, self.condition, self.request.parameters, self.question.id, number=number
                )
                settings = {**self.request.args[1], **own}
                if stage.max_tokens is not None and several:
                    settings["max_gen_toks"] = stage.max_tokens
                made = StageGeneration(
                    "generate_until",
                    self.request.doc,
                    (context, settings),
                    0,
                    call=call,
                    stage=stage,
                    prompt=prompt,
                    number=number,
                )
                yield made, conversation


def sampling_settings(
    stage: Stage,
    condition: str,
    parameters: Mapping[str, Any],
    question: str,
    *,
    repeat: int = 1,
    number: int = 0,
) -> dict[str, Any]:
    """Return the settings of sampling that a stage has of its own."""
    temperature = stage.temperature_in(condition)
    if temperature:
        seed = sample_seed(parameters["seed"], question, repeat, stage, condition, number)
        return {"do_sample": True, "temperature": temperature, "seed": seed}
    return {} if temperature is None else {"do_sample": False, "temperature": 0.0}


def run_stages(model: LM, requests: Sequence[StagesRequest]) -> list[dict[str, Any] | None]:
    """Run the stages of documents; lm-eval calls this as a method of the model. A lost call costs its document.

    Equal calls are made once, and replies are kept in the responses' cache (``--use_cache``), those of simulated
    subjects apart, whose replies depend on more than the prompt.

    RuntimeError before the first call, if a stage requires log-probabilities that the model cannot give.
    """
    methods: Any = model  # with those that add_request_type gives to every model
    documents = [_Document(request) for request in requests]
    _refuse_without_logprobs(methods.token_problem(), documents)
    for position in range(max((len(document.stages) for document in documents), default=0)):
        asked = [
            (document, document.stages[position], *call)
            for document in documents
            if position < len(document.stages) and not document.lost
            for call in document.calls(model, document.stages[position])
        ]
        texts = iter(
            methods.generate_samples(
                [generation for _, _, generation, _ in asked if _is_generated(generation)]
            )
        )
        for document, _, generation, _ in asked:
            text = next(texts) if _is_generated(generation) else _text_given(generation)
            document.lost |= text is None
            generation.resps = [text or ""]
        scored = [generation for _, stage, generation, _ in asked if stage.logprobs]
        tokens = dict(zip(map(id, scored), methods.score_tokens(scored), strict=True)) if scored else {}
        for document in documents:
            if position < len(document.stages):
                document.replies.setdefault(document.stages[position].name, [])
        for document, stage, generation, conversation in asked:
            said = generation.resps[0]
            document.replies[stage.name].append(_reply(model, generation, tokens.get(id(generation), ())))
            document.conversations.setdefault(stage.name, conversation.then(said, "assistant"))
    return [None if document.lost else kept_replies(document.replies) for document in documents]


add_request_type(REQUEST_TYPE, run_stages)


def _is_generated(generation: StageGeneration) -> bool:
    return not (generation.stage.forced_reply or generation.stage.candidates)


def _text_given(generation: StageGeneration) -> str:
    given = generation.stage.forced_reply
    return forced(str(generation.args[0]), given(generation.call.question)) if given else ""


def _refuse_without_logprobs(problem: str, documents: Iterable[_Document]) -> None:
    needing = {
        (document.study.name, stage.name)
        for document in documents
        for stage in document.stages
        if stage.logprobs == "required"
    }
    if needing and problem:
        study, stage = min(needing)
        raise RuntimeError(f"stage {stage!r} of {study} needs token probabilities, and {problem}")


def _reply(model: LM, generation: StageGeneration, tokens: Sequence[Token] | str) -> ModelReply:
    text = generation.resps[0]
    problem = tokens if isinstance(tokens, str) else ""
    return ModelReply(
        text,
        () if isinstance(tokens, str) else tuple(tokens),
        _n_tokens(model, generation.args[0]),
        _n_tokens(model, text),
        problem,
    )


def _n_tokens(model: LM, text: str) -> float:
    """Return the number of tokens of a text; NaN for a model that does not tell."""
    if not isinstance(model, TemplateLM) or model.tokenizer is None:
        return math.nan
    return float(len(model.tok_encode(text)))


# Samples --------------------------------------------------------------------------------------------------------------

_TAKE_SEEDS = frozenset({"TemplateAPI", "VLLM"})
"""Names of classes whose models take a seed with each request."""


def generate_samples(model: LM, requests: Sequence[Instance]) -> list[str]:
    """Generate; lm-eval calls this as a method of the model. Equal requests are made once.

    lm-eval sends its endpoints one fixed seed, with which every sample of a prompt would be the same, and has no cache
    for samples. Here each sample has the seed that it has on Inspect. Endpoints and vLLM receive it, and an ``hf``
    model that replies to one prompt at a time starts its random numbers from it. In larger batches, and in other
    models, these are one stream, which ``--seed`` begins. Every sample is kept in the responses' cache
    (``--use_cache``).
    """
    replies: dict[str, str] = {}
    asked: dict[str, tuple[Instance, Instance]] = {}
    keys = [json.dumps(request.args, sort_keys=True) for request in requests]
    for key, request in zip(keys, requests, strict=True):
        if key in replies or key in asked:
            continue
        generation = _generation(model, request)
        if (reply := _known(model, request, generation)) is not None:
            replies[key] = reply
        else:
            asked[key] = request, generation
    made = _generated(model, list(asked.values())) if asked else []
    for (key, (request, _)), reply in zip(asked.items(), made, strict=True):
        replies[key] = reply
        cache_result(model, SAMPLES, request.args, reply)
    return [replies[key] for key in keys]


def _generated(model: LM, requests: Sequence[tuple[Instance, Instance]]) -> Iterable[str]:
    """Return the reply to each request, from the request to generate that is made of it."""
    local: Any = model
    if not (has_network(model) and local.batch_size == 1):
        return model.generate_until([generation for _, generation in requests])
    return (_seeded(local, *each) for each in tqdm(requests, desc="Running generate_samples requests"))


def _seeded(model: Any, request: Instance, generation: Instance) -> str:
    import torch

    if "seed" in request.args[1]:
        torch.manual_seed(request.args[1]["seed"])
    reply: str = model.generate_until([generation], disable_tqdm=True)[0]
    return reply


def _known(model: LM, request: Instance, generation: Instance) -> str | None:
    """Return a reply from the cache: as this function keeps it, or as the model kept it in a run that was killed."""
    reply: str | None = cached_result(model, SAMPLES, request.args)
    settings = generation.args[1]
    if reply is None and (not settings.get("do_sample") or "seed" in settings):
        reply = cached_result(model, "generate_until", generation.args)
    return reply


add_request_type(SAMPLES, generate_samples)


def _generation(model: LM, request: Instance) -> Instance:
    context, settings = request.args
    if _TAKE_SEEDS.isdisjoint(kind.__name__ for kind in type(model).__mro__):
        settings = {name: value for name, value in settings.items() if name != "seed"}
    return Instance("generate_until", request.doc, (context, settings), 0)
