"""The stages of a study on lm-eval, as requests: one request type that runs them all.

lm-eval answers request types in the order in which any task first made them, so that a type for each stage would mix up
studies of different shapes. One request type loops over the stages of all documents instead: the calls of one stage
are made together, in the model's own batches.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, TemplateLM
from tqdm import tqdm

from confidence_tasks.harness.compat import (
    add_request_type,
    cache_result,
    cached_result,
    has_network,
)
from confidence_tasks.harness.lm_eval.token_scores import StageGeneration
from confidence_tasks.harness.staged import STUDY, kept_replies, load_study, sample_seed
from confidence_tasks.simulation.reply import StageCall
from confidence_tasks.study.definition import Study
from confidence_tasks.study.question import question_of
from confidence_tasks.study.stage import ModelReply, Stage, Token

REQUEST_TYPE = "run_stages"
SAMPLES = "generate_samples"

Turns = list[dict[str, str]]
"""A conversation as chat templates take it."""


@dataclass
class StagesRequest(Instance):
    """A request for all stages of a document; the first prompt is its first argument.

    Attributes
    ----------
    parameters : dict
        The study's parameters.
    turns : list of dict
        The conversation that the first prompt was made of; empty without a chat template.
    """

    parameters: dict[str, Any] = field(kw_only=True)
    turns: Turns = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class _Conversation:
    """What has been said: as turns for a chat template, or as plain text."""

    turns: Turns
    text: str

    def context(self, model: LM) -> str:
        return model.apply_chat_template(self.turns) if self.turns else self.text

    def then(self, role: str, content: str) -> _Conversation:
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
        self.question, self.condition = question_of(doc), str(doc["condition"])

    def asked(self, stage: Stage) -> Iterator[tuple[str, _Conversation]]:
        """Yield the prompts of a stage, each with the conversation that it ends.

        A prompt that repeats the first one follows the same worked examples.
        """
        first = self.request.doc["prompt"]
        opening = _Conversation(self.request.turns, self.request.args[0])
        if not self.replies or stage.given:
            yield first, opening
            return
        for prompt in stage.prompts(self.question, self.condition, self.replies):
            if prompt == first and not stage.follows:
                yield prompt, opening
            elif not stage.follows:
                said = stage.system_of(self.question, self.condition)
                system = [{"role": "system", "content": said}] if said else []
                turns = [*system, {"role": "user", "content": prompt}] if self.request.turns else []
                text = f"{said}\n\n{prompt}" if said else prompt
                yield prompt, _Conversation(turns, text)
            elif stage.follows in self.conversations:
                yield prompt, self.conversations[stage.follows].then("user", prompt)
            else:
                raise ValueError(
                    f"stage {stage.name!r} follows {stage.follows!r}, which is skipped under {self.condition!r}"
                )

    def calls(self, model: LM, stage: Stage) -> Iterator[tuple[StageGeneration, _Conversation]]:
        """Yield the calls of a stage, each with its conversation."""
        call = StageCall(self.study, self.question, self.condition, stage.name, self.replies)
        # The limit of the only reply is the configuration's, which --gen_kwargs may have changed.
        several = sum(not each.given for each in self.stages) > 1
        for prompt, conversation in self.asked(stage):
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

    Raises
    ------
    RuntimeError
        Before the first call, if a stage requires log-probabilities that the model cannot give.
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
            text = next(texts) if _is_generated(generation) else _given(generation)
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
            document.conversations.setdefault(stage.name, conversation.then("assistant", said))
    return [None if document.lost else kept_replies(document.replies) for document in documents]


add_request_type(REQUEST_TYPE, run_stages)


def _is_generated(generation: StageGeneration) -> bool:
    return not (generation.stage.given or generation.stage.candidates)


def _given(generation: StageGeneration) -> str:
    """Return the text that a stage gives to the model as it continues the prompt; empty where it gives none."""
    given = generation.stage.given
    if given is None:
        return ""
    return ("" if str(generation.args[0])[-1:].isspace() else " ") + given(generation.call.question)


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
"""Models that take a seed with each request, by the name of a class that they are of."""


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
