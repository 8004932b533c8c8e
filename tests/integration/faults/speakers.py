"""What the stub server's model says: a simulated subject, or plausible replies to every prompt of the package."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from inspect_ai import Task
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
)

from confidence_tasks.harness.conversation import first_call
from confidence_tasks.harness.inspect.simulated import SimulatedSubject
from confidence_tasks.harness.logged_trials import is_sent

Reply = dict[str, Any]
"""A reply of the chat protocol."""

Speaker = Callable[[Mapping[str, Any]], Reply]
"""From a chat request to the good reply."""


def completion(content: Any, *, finish: Any = "stop", **parts: Any) -> Reply:
    """Return a reply of the chat protocol; ``parts`` are further keys of the choice or of its message."""
    message = {"role": "assistant", "content": content, "refusal": parts.pop("refusal", None)}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "subject",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, **parts}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


# Simulated subjects -------------------------------------------------------------------------------------------------

_ROLES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}

Record = dict[tuple[tuple[str, ...], float | None], list[ModelOutput]]
"""Replies to each conversation at each temperature, in order."""


def recording_subject(profile: str) -> tuple[Model, Record]:
    """Return a simulated subject, and what it will have said to each conversation."""
    record: Record = defaultdict(list)
    model = get_model(f"simulated/{profile}", memoize=False)
    generate = model.api.generate

    async def recorded(input: list[Any], tools: Any, tool_choice: Any, config: GenerateConfig) -> Any:
        output = await generate(input, tools, tool_choice, config)
        record[tuple(message.text for message in input), config.temperature].append(output)
        return output

    model.api.generate = recorded  # type: ignore[method-assign]
    return model, record


def subject(profile: str, tasks: Iterable[Task]) -> Speaker:
    """Return a simulated subject that knows the questions of some tasks."""
    calls = {texts_of(sample.input): first_call(sample.metadata) for task in tasks for sample in task.dataset}
    simulated = SimulatedSubject(profile)

    def speak(asked: Mapping[str, Any]) -> Reply:
        messages = [_ROLES[turn["role"]](content=turn["content"]) for turn in asked["messages"]]
        texts = tuple(message.text for message in messages)
        call = next(calls[texts[:n]] for n in range(len(texts), 0, -1) if texts[:n] in calls)
        settings = ("temperature", "seed", "logprobs", "top_logprobs")
        config = GenerateConfig(**{name: asked.get(name) for name in settings})
        return spoken(simulated.output(call, messages, config))

    return speak


def texts_of(asked: str | list[ChatMessage]) -> tuple[str, ...]:
    """Return the texts of the messages of a sample that are sent."""
    if isinstance(asked, str):
        return (asked,)
    return tuple(message.text for message in asked if is_sent(message.metadata))


def spoken(output: ModelOutput) -> Reply:
    """Return a model's reply as one of the chat protocol."""
    choice = output.choices[0]
    probabilities = choice.logprobs.model_dump() if choice.logprobs else None
    for token in probabilities["content"] if probabilities else ():
        token["top_logprobs"] = token["top_logprobs"] or []
    return completion(choice.message.text, logprobs=probabilities)


# Plausible replies --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Draw:
    """What a reply is made of: the whole prompt, a number drawn from the request, and an answer."""

    prompt: str
    number: int

    @property
    def options(self) -> dict[str, str]:
        """Text of each option, by its letter."""
        return dict(re.findall(r"^([A-J])[.)] (.+)$", self.prompt, re.M))

    @property
    def value(self) -> int:
        """The value of the last sum of the prompt; that of a quarter of the requests is wrong."""
        sums = re.findall(r"(\d+) ([-+×*]) (\d+)", self.prompt) or [("0", "+", "0")]
        first, sign, second = sums[-1]
        a, b = int(first), int(second)
        value = {"+": a + b, "-": a - b}.get(sign, a * b)
        return value + (self.number % 4 == 0)

    @property
    def answer(self) -> str:
        """The letter of an option, or the value of the sum."""
        if not (options := self.options):
            return str(self.value)
        letters = list(options)
        return next(
            (letter for letter, text in options.items() if text == str(self.value)),
            letters[self.number % len(letters)],
        )

    @property
    def judgement(self) -> str:
        return "True" if self.number % 3 else "False"

    @property
    def share(self) -> float:
        """A confidence."""
        return (0.55, 0.65, 0.7, 0.8, 0.85, 0.9, 0.95)[self.number % 7]

    @property
    def rating(self) -> int:
        """The confidence on the scale that the prompt names."""
        low, high = map(int, (re.findall(r"between (\d+) and (\d+)", self.prompt) or [("0", "100")])[-1])
        return round(low + self.share * (high - low))


def _interval(draw: _Draw) -> str:
    low = draw.number % 5 + 1
    return json.dumps({"L": low, "U": low + draw.number % 3})


def _shares(draw: _Draw) -> str:
    letters = "ABCD"
    answer = draw.answer if draw.answer in letters else letters[draw.number % 4]
    others = round((1 - draw.share) / 3, 3)
    shares = {letter: draw.share if letter == answer else others for letter in letters}
    return json.dumps({"Reasoning": "I worked it out.", "Answer": answer, **shares})


def _stated(draw: _Draw) -> str:
    answer = draw.judgement if "True or False" in draw.prompt else draw.answer
    if "years" in draw.prompt or "age" in draw.prompt:
        answer = str(60 + draw.number % 30)
    return json.dumps({"Reasoning": "I worked it out.", "Answer": answer, "Confidence": draw.share})


def _guesses(draw: _Draw) -> str:
    letters = [letter for letter in draw.options if letter != draw.answer] or ["1", "2", "3"]
    shares = (draw.share, (1 - draw.share) / 2, (1 - draw.share) / 4, (1 - draw.share) / 4)
    lines = [
        f"Answer {i}: {answer}\nConfidence {i}: {round(100 * share)}"
        for i, (answer, share) in enumerate(zip((draw.answer, *letters), shares, strict=False), start=1)
    ]
    return "\n".join(lines)


def _distribution(draw: _Draw) -> str:
    """A percentage for each option, those that the prompt describes."""
    options = list(draw.options)
    others = 100 * (1 - draw.share) / (len(options) - 1)
    return "\n".join(f"{name}: {100 * draw.share if name == draw.answer else others:.1f}" for name in options)


def _risky(draw: _Draw) -> str:
    answer = "ABSTAIN" if draw.number % 5 == 0 else f"Answer: {draw.answer}"
    return f"{answer}\nConfidence: {round(100 * draw.share)}%"


def _parsed(draw: _Draw) -> str:
    answer = re.search(r"Answer: (\S+)", draw.prompt)
    share = re.search(r"Confidence: (\d+)", draw.prompt)
    confidence = int(share[1]) / 100 if share else None
    final = answer[1] if answer else "ABSTAIN"
    return json.dumps({"final_answer": final, "confidence": confidence, "reasoning_trace": ""})


FORMATS: tuple[tuple[str, Callable[[_Draw], str]], ...] = (
    ("strictly JSON", _parsed),
    ("strict grader", lambda draw: json.dumps({"correct": bool(draw.number % 2)})),
    ("How likely is it that the proposed answer is right", lambda draw: str(round(100 * draw.share))),
    ("Proposed answer|roposed answer is", lambda draw: draw.judgement),
    ("How likely is each option", _distribution),
    ("mean the same", lambda draw: ("Yes", "No")[draw.number % 2]),
    ("best guesses", _guesses),
    (
        "one of these expressions",
        lambda draw: ("Likely", "Almost certain", "Unlikely", "Probable")[draw.number % 4],
    ),
    (
        r"(?:How likely is it|How confident are you) that your answer is right\? Reply",
        lambda draw: str(draw.rating),
    ),
    ("exponent x only|integer exponent", lambda draw: str(draw.number % 9)),
    (r'\{"L"', _interval),
    (r'"Confidence": "\Z', lambda draw: f'{draw.share}"\n}}'),
    (r'"A": "<', _shares),
    (r'"Confidence": "<', _stated),
    ("ABSTAIN", _risky),
    ("without an explanation", lambda draw: draw.answer),
    ("", lambda draw: f"Answer: {draw.answer}\nConfidence: {draw.rating}"),
)
"""A pattern of the prompt, and the reply in the format that such a prompt asks for; the first that fits counts."""


def plausible(asked: Mapping[str, Any]) -> Reply:
    """Reply in the format that the prompt asks for; equal requests get equal replies, samples by their seed."""
    turns = [str(turn["content"]) for turn in asked["messages"]]
    system = turns[0] if asked["messages"][0]["role"] == "system" else ""
    prompt = turns[-1] if turns[-1] == system or not system else f"{system}\n{turns[-1]}"
    sampled = [asked.get("temperature"), asked.get("seed")] if asked.get("temperature") else []
    draw = _Draw(prompt, _number([turn.strip() for turn in turns], sampled))
    text = next(reply for pattern, reply in FORMATS if re.search(pattern, prompt))(draw)
    logprobs = probabilities(text, asked.get("top_logprobs") or 0) if asked.get("logprobs") else None
    reply = completion(text, logprobs=logprobs)
    counts = (len(tokens_of(" ".join(turns))), len(tokens_of(text)))
    reply["usage"] = dict(
        zip(("prompt_tokens", "completion_tokens", "total_tokens"), (*counts, sum(counts)), strict=True)
    )
    reply["model"] = asked.get("model", "subject")
    return reply


def _number(*parts: object) -> int:
    return int.from_bytes(blake2b(json.dumps(parts).encode(), digest_size=4).digest())


def tokens_of(text: str) -> list[str]:
    """Split a text into tokens that join to it."""
    return re.findall(r"\n| ?[A-Za-z]+| ?\d| ?[^\sA-Za-z\d]|\s", text)


def probabilities(text: str, n_top: int) -> dict[str, Any]:
    """Return log-probabilities of a text's tokens: that of each token and of ``n_top - 1`` alternatives to it."""
    return {"content": [_token(token, n_top) for token in tokens_of(text)]}


def _token(token: str, n_top: int) -> dict[str, Any]:
    """Return a token; its probability does not depend on those before it, so that a thought does not change it."""
    share = 0.6 + 0.35 * (_number(token) % 100) / 100
    others = [other for other in _alternatives(token) if other != token][: max(n_top - 1, 0)]
    tops = {token: math.log(share)} | {
        other: math.log((1 - share) / 2 ** (i + 2)) for i, other in enumerate(others)
    }
    listed = [_entry(*top) for top in tops.items()]
    return {**_entry(token, math.log(share)), "top_logprobs": listed[:n_top]}


def _alternatives(token: str) -> list[str]:
    space = " " if token.startswith(" ") else ""
    if token.strip().isdigit():
        words = list("0123456789")
    elif token.strip() in ("True", "False"):
        words = ["True", "False"]
    else:
        words = list("ABCD")
    return [space + word for word in words] + [f"w{i}" for i in range(20)]


def _entry(token: str, logprob: float) -> dict[str, Any]:
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}
