"""Request types of lm-eval that run the stages of a study, sample with seeds, and score tokens.

One request type runs all stages. It loops over the stages and calls the model for all documents of a stage together,
in the model's own batches. With one request type per stage, lm-eval would process the types in the order in which any
task first used them, which is wrong for studies with different stages.

lm-eval's ``generate_until`` returns only text. To get log-probabilities, a reply is tokenised again as a continuation
of the prompt's tokens, and scored by the model's ``_loglikelihood_tokens``, which handles batches and devices.
lm-eval's ``loglikelihood`` cannot be used: it moves white space at the end of the prompt, such as the last newline of a
chat template, into the continuation.
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

from confidence_tasks.harness.compat import add_request_type
from confidence_tasks.harness.compat_models import (
    cache_result,
    cached_result,
    has_network,
    is_endpoint,
    network_logits,
    sends_settings,
)
from confidence_tasks.harness.lm_eval import endpoints, local
from confidence_tasks.harness.lm_eval.chat import Turns, render, run_of
from confidence_tasks.harness.lm_eval.endpoints import loglikelihoods
from confidence_tasks.harness.lm_eval.generated import stop_of, used_by, why_lost
from confidence_tasks.harness.lm_eval.measured import NOT_ECHOED
from confidence_tasks.harness.lm_eval.scoring import Pair, measuring_problem, scoring_problem
from confidence_tasks.harness.refusals import LOST, REFUSED, StopError
from confidence_tasks.harness.staged import (
    STUDY,
    as_continuation,
    conversations_of,
    load_study,
    replies_to_json,
    sample_seed,
    visible_turn,
)
from confidence_tasks.harness.stopped import FinishedReplies
from confidence_tasks.reading.token_probabilities import (
    answer_slice,
    first_word_span,
    match_option,
    scored_tokens,
    token_texts,
)
from confidence_tasks.simulation.reply import StageCall
from confidence_tasks.study.definition import Study
from confidence_tasks.study.stage import ModelReply, Stage, Token
from confidence_tasks.study.trial import Question, question_from_metadata

SCORES = "score_tokens"

# No stop sequence: lm-eval's default, a blank line, would truncate JSON and reasoning.
GENERATION: Mapping[str, Any] = {"until": [], "max_gen_toks": 1024, "do_sample": False, "temperature": 0.0}
"""Default generation settings."""

_log = logging.getLogger(__name__)


@dataclass
class StageGeneration(Instance):
    """A request to generate one reply of a stage. ``call`` is for simulated subjects."""

    call: StageCall = field(kw_only=True)
    stage: Stage = field(kw_only=True)
    prompt: str = field(kw_only=True)
    number: int = field(kw_only=True)


def token_problem(model: LM) -> str:
    """Return the reason why a model cannot score given tokens; empty if it can."""
    name = type(model).__name__
    if not isinstance(model, TemplateLM):
        return f"{name} does not compute log-probabilities of given tokens"
    if model.tokenizer is None:
        return f"{name} has no tokenizer (with tokenizer=... a completions endpoint can score, a chat endpoint cannot)"
    if getattr(model, "enable_thinking", False) or getattr(model, "think_end_token", None):
        return "lm-eval removes the reasoning on which the probabilities of the answer's tokens depend"
    return ""


add_request_type("token_problem", token_problem)


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

    An ``hf`` model processes a reply once and lists alternatives to each token. Other models score each token as a
    continuation of the preceding tokens, without alternatives, for which lm-eval has no interface. If the stage uses
    only a part of the reply, only that part is scored.
    """
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


add_request_type(SCORES, score_tokens)


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


REQUEST_TYPE = "run_stages"
SAMPLES = "generate_samples"


@dataclass
class StagesRequest(Instance):
    """A request to run all stages of a document. Its first argument is the first prompt.

    ``turns`` are the conversation from which the first prompt was rendered; empty without a chat template.
    """

    parameters: dict[str, Any] = field(kw_only=True)
    turns: Turns = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class _Conversation:
    """A conversation, either as turns for a chat template or as plain text."""

    turns: Turns
    text: str

    def context(self, model: LM) -> str:
        rendered: str = render(self.turns, model)[0] if self.turns else self.text
        return rendered

    def append(self, content: str, role: str = "user") -> _Conversation:
        if self.turns:
            return _Conversation([*self.turns, {"role": role, "content": content}], "")
        return _Conversation([], f"{self.text.rstrip()}\n\n{content}")


@dataclass
class _Document:
    """The stages of one document with their replies. ``lost`` says why a call has no reply; empty if all have."""

    request: StagesRequest
    study: Study = field(init=False)
    stages: tuple[Stage, ...] = field(init=False)
    replies: dict[str, list[ModelReply]] = field(default_factory=dict)
    conversations: dict[str, _Conversation] = field(default_factory=dict)
    lost: str = ""

    def __post_init__(self) -> None:
        doc: dict[str, Any] = self.request.doc
        self.study = load_study(doc[STUDY])
        self.stages = self.study.stages_of(self.request.parameters)
        self.question, self.condition = question_from_metadata(doc), str(doc["condition"])

    def start_conversation(self, system: str, prompt: str) -> _Conversation:
        """Start a conversation."""
        first = [{"role": "system", "content": system}] if system else []
        turns = [*first, {"role": "user", "content": prompt}] if self.request.turns else []
        return _Conversation(turns, f"{system}\n\n{prompt}" if system else prompt)

    def calls(self, model: LM, stage: Stage) -> Iterator[tuple[StageGeneration, _Conversation]]:
        """Yield the calls of a stage, each with its conversation."""
        replies = FinishedReplies(self.study, self.stages, self.question, self.condition).of(self.replies)
        call = StageCall(self.study, self.question, self.condition, stage.name, replies)
        # With one generated reply, its limit is in the configuration, where --gen_kwargs can change it.
        several = sum(not each.forced_reply for each in self.stages) > 1
        first = self.request.doc["prompt"], _Conversation(self.request.turns, self.request.args[0])
        prompts = conversations_of(
            stage, call, first, self.conversations, self.start_conversation, _Conversation.append
        )
        for prompt, conversation in prompts:
            context = conversation.context(model) if self.replies else self.request.args[0]
            if stage.candidates and not self.request.turns:
                context += stage.delimiter
            for number in range(stage.samples):
                sampling = sampling_settings(
                    stage, self.condition, self.request.parameters, self.question.id, number=number
                )
                settings = {**self.request.args[1], **sampling}
                by_user = settings.get("max_gen_toks") != GENERATION["max_gen_toks"]
                if stage.max_tokens is not None and several and not by_user:
                    settings["max_gen_toks"] = stage.max_tokens
                generation = StageGeneration(
                    "generate_until",
                    self.request.doc,
                    (context, settings),
                    0,
                    call=call,
                    stage=stage,
                    prompt=prompt,
                    number=number,
                )
                yield generation, conversation


def sampling_settings(
    stage: Stage,
    condition: str,
    parameters: Mapping[str, Any],
    question: str,
    *,
    repeat: int = 1,
    number: int = 0,
) -> dict[str, Any]:
    """Return the sampling settings of a stage; empty if it has those of the run, which are greedy by default."""
    temperature = stage.temperature_in(condition)
    if temperature:
        seed = sample_seed(parameters["seed"], question, repeat, stage, condition, number)
        return {"do_sample": True, "temperature": temperature, "seed": seed}
    return {"do_sample": False, "temperature": 0.0} if callable(stage.temperature) else {}


def run_stages(model: LM, requests: Sequence[StagesRequest]) -> list[dict[str, Any] | None]:
    """Run the stages of all documents; lm-eval calls this as a method of the model.

    Returns the replies of each document; None if a call of the document was lost. Equal calls are made once, and
    replies are cached (``--use_cache``), except those of simulated subjects, which depend on more than the prompt.

    Raises RuntimeError before the first call if a stage requires log-probabilities that the model cannot compute.
    """
    methods: Any = model  # for the type checker: has the methods of add_request_type
    documents = [_Document(request) for request in requests]
    _refuse_without_logprobs(model, documents)
    for position in range(max((len(document.stages) for document in documents), default=0)):
        calls = [
            (document, document.stages[position], *call)
            for document in documents
            if position < len(document.stages) and not document.lost
            for call in document.calls(model, document.stages[position])
        ]
        texts = iter(
            methods.generate_samples(
                [generation for _, _, generation, _ in calls if _is_generated(generation)]
            )
        )
        for document, _, generation, _ in calls:
            text = next(texts) if _is_generated(generation) else _forced_text(generation)
            if text is None:
                document.lost = str(generation.args[1].get(LOST) or why_lost(text))
            generation.resps = ["" if text is None else text]
        scored = [generation for _, stage, generation, _ in calls if stage.logprobs]
        tokens = dict(zip(map(id, scored), methods.score_tokens(scored), strict=True)) if scored else {}
        for document in documents:
            if position < len(document.stages):
                document.replies.setdefault(document.stages[position].name, [])
        for document, stage, generation, conversation in calls:
            document.replies[stage.name].append(
                _make_reply(model, generation, tokens.get(id(generation), ()))
            )
            reply = conversation.append(visible_turn(generation.resps[0]), "assistant")
            document.conversations.setdefault(stage.name, reply)
    for document in documents:
        _note(document.request, run_of(model).refused, document.lost)
    return [None if document.lost else replies_to_json(document.replies) for document in documents]


add_request_type(REQUEST_TYPE, run_stages)


def _is_generated(generation: StageGeneration) -> bool:
    return not (generation.stage.forced_reply or generation.stage.candidates)


def _forced_text(generation: StageGeneration) -> str:
    reply = generation.stage.forced_reply
    return as_continuation(str(generation.args[0]), reply(generation.call.question)) if reply else ""


def _refuse_without_logprobs(model: LM, documents: Sequence[_Document]) -> None:
    """Raise RuntimeError before the first call if a stage requires log-probabilities that the model cannot compute."""
    methods: Any = model
    requiring = {
        (document.study.name, stage.name)
        for document in documents
        for stage in document.stages
        if stage.logprobs == "required"
    }
    if not requiring:
        return
    # A simulated subject computes the tokens of its own replies; any other model has to score given tokens.
    problem = methods.token_problem()
    if not problem and isinstance(model, TemplateLM):
        problem = measuring_problem(model, documents[0].request.args[0])
    if problem:
        study, stage = min(requiring)
        raise StopError(f"stage {stage!r} of {study} needs token probabilities, and {problem}")


def _make_reply(model: LM, generation: StageGeneration, tokens: Sequence[Token] | str) -> ModelReply:
    text = generation.resps[0]
    problem = tokens if isinstance(tokens, str) else ""
    used = used_by(text)
    return ModelReply(
        text,
        () if isinstance(tokens, str) else tuple(tokens),
        _first_known(used.input_tokens, _n_tokens(model, generation.args[0])),
        _first_known(used.output_tokens, _n_tokens(model, text)),
        problem,
        used.reasoning_tokens,
        stop_of(text),
    )


def _first_known(counted: float, own: float) -> float:
    """Return the count of the server, or else the own one."""
    return own if math.isnan(counted) else counted


def _n_tokens(model: LM, text: str) -> float:
    """Return the number of tokens of a text; NaN for a model without a tokenizer."""
    if not isinstance(model, TemplateLM) or model.tokenizer is None:
        return math.nan
    return float(len(model.tok_encode(text)))


# Samples --------------------------------------------------------------------------------------------------------------

_SEEDED_MODELS = frozenset({"TemplateAPI", "VLLM"})
"""Names of the model classes that accept a seed with each request."""


FORMAT = "response_format"
"""Setting of a request with a response schema."""


def response_format(stage: Stage, question: Question, condition: str) -> dict[str, Any]:
    """Return the setting that makes a reply a JSON object; empty for a text."""
    structured = stage.structured_for(question)
    if structured is None:
        return {}
    schema = {"name": stage.name, "schema": structured.schema(question, condition), "strict": True}
    return {FORMAT: {"type": "json_schema", "json_schema": schema}}


def _refuse_format(model: LM, requests: Sequence[Instance]) -> None:
    """Raise StopError before the first call if a response schema would not reach the model."""
    if not sends_settings(model) and any(FORMAT in request.args[1] for request in requests):
        raise StopError(
            f"{type(model).__name__} is sent no response schema: use local-chat-completions, or leave out structured"
        )


def generate_samples(model: LM, requests: Sequence[Instance]) -> list[str | None]:
    """Generate replies with seeds; lm-eval calls this as a method of the model. Equal requests are made once.

    lm-eval sends one fixed seed to endpoints, with which all samples of a prompt would be equal, and does not cache
    samples. Here each sample has the same seed as on Inspect. Endpoints and vLLM receive the seed. For an ``hf`` model
    with a batch size of 1, PyTorch is seeded before each reply. With larger batches, and in other models, all samples
    come from one random stream, seeded by ``--seed``. Every sample is cached (``--use_cache``). A call without a reply
    is lost: None.
    """
    _refuse_format(model, requests)
    run = run_of(model)
    keys = [json.dumps(request.args, sort_keys=True) for request in requests]
    by_key = dict(zip(keys, requests, strict=True))
    replies = _cached_replies(model, by_key)
    if replies:
        run.recall(model)
    pending = {key: request for key, request in by_key.items() if key not in replies}
    if pending:
        replies |= _new_replies(model, pending)
        run.remember(model)
    found = [replies[key] for key in keys]
    for request, reply in zip(requests, found, strict=True):
        _note(request, run.refused, why_lost(reply))
    return [None if why_lost(reply) else reply for reply in found]


def _cached_replies(model: LM, requests: Mapping[str, Instance]) -> dict[str, str | None]:
    """Return the replies that are in the cache."""
    cached = {
        key: _cached_reply(model, request, _generation_request(model, request))
        for key, request in requests.items()
    }
    return {key: reply for key, reply in cached.items() if reply is not None}


def _new_replies(model: LM, requests: Mapping[str, Instance]) -> dict[str, str | None]:
    """Return the model's replies, and write them into the cache."""
    pairs = [(request, _generation_request(model, request)) for request in requests.values()]
    replies: dict[str, str | None] = {}
    for (key, request), reply in zip(requests.items(), _generate(model, pairs), strict=True):
        replies[key] = reply
        if not why_lost(reply):
            cache_result(model, SAMPLES, request.args, reply)
    return replies


def _note(request: Instance, refused: Sequence[str], lost: str) -> None:
    """Add notes on refused parameters, and the reason of a lost call, to the settings that lm-eval logs."""
    notes = {name: value for name, value in {REFUSED: list(refused), LOST: lost}.items() if value}
    if notes:
        context, settings = request.args
        request.arguments = (context, {**settings, **notes})


def _generate(model: LM, requests: Sequence[tuple[Instance, Instance]]) -> Iterable[str]:
    """Return the reply to each pair of a sample request and its generation request."""
    network: Any = model
    seeded = any("seed" in request.args[1] for request, _ in requests)
    if seeded and has_network(model) and network.batch_size == 1:
        every = tqdm(requests, desc="Running generate_samples requests")
        return (_generate_seeded(model, *pair) for pair in every)
    generations = [generation for _, generation in requests]
    return (
        endpoints.generate(model, generations) if is_endpoint(model) else local.generate(model, generations)
    )


def _generate_seeded(model: LM, request: Instance, generation: Instance) -> str:
    import torch

    if "seed" in request.args[1]:
        torch.manual_seed(request.args[1]["seed"])
    (reply,) = local.generate(model, [generation], disable_tqdm=True)
    return reply


def _cached_reply(model: LM, request: Instance, generation: Instance) -> str | None:
    """Return a reply cached by `generate_samples`, or by the model in a killed run; None if there is none."""
    reply: str | None = cached_result(model, SAMPLES, request.args)
    settings = generation.args[1]
    if reply is None and (not settings.get("do_sample") or "seed" in settings):
        reply = cached_result(model, "generate_until", generation.args)
    return reply


add_request_type(SAMPLES, generate_samples)


def _generation_request(model: LM, request: Instance) -> Instance:
    context, settings = request.args
    if _SEEDED_MODELS.isdisjoint(kind.__name__ for kind in type(model).__mro__):
        settings = {name: value for name, value in settings.items() if name != "seed"}
    return Instance("generate_until", request.doc, (context, settings), 0)
