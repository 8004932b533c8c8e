"""A server on the loopback address that speaks OpenAI's chat protocol for a simulated subject, and can misbehave."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar
from unittest.mock import patch

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

from confidence_tasks.harness.inspect.simulated import SimulatedSubject
from confidence_tasks.harness.inspect.viewer import is_sent
from confidence_tasks.harness.staged import first_call
from confidence_tasks.simulation.reply import StageCall

SERVICE = "loopback"
ENVIRONMENT = {"LOOPBACK_API_KEY": "not-a-key"}

PAUSE = 0.02
"""Seconds between the pieces of a body."""

_ROLES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


@dataclass
class Wire:
    """What goes over the line in reply to one request; ``body`` None says nothing and hangs up.

    Attributes
    ----------
    status : int
        Of HTTP.
    body : bytes or None
        What is sent.
    headers : mapping
        Beside those of length and type.
    claimed : int or None
        The length that is announced, where it is not that of the body.
    delay : float
        Seconds before anything is sent.
    pieces : int
        How many pieces the body is sent in, with pauses between them.
    reset : bool
        Whether the connection is reset instead of closed.
    """

    status: int = 200
    body: bytes | None = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    claimed: int | None = None
    delay: float = 0.0
    pieces: int = 1
    reset: bool = False


AnyServer = TypeVar("AnyServer", bound="Server")

Behaviour = Callable[[int, dict[str, Any], dict[str, Any]], Wire]
"""From the number of the attempt at a request (0 first), the request and the good reply to what is sent."""


def well_behaved(attempt: int, asked: Mapping[str, Any], reply: Mapping[str, Any]) -> Wire:
    """Send the good reply."""
    return Wire(body=json.dumps(reply).encode())


def request_key(asked: Mapping[str, Any]) -> str:
    """Return what equal requests have in common."""
    parts = [asked["messages"], asked.get("seed"), asked.get("temperature")]
    return blake2b(json.dumps(parts).encode(), digest_size=8).hexdigest()


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


class Server(ThreadingHTTPServer):
    """Speaks for a simulated subject, and counts what it was asked and what it answered.

    Attributes
    ----------
    attempts : Counter
        Requests received, by what they asked.
    answers : list of str
        What was asked, of each good reply that was sent in full: what would be paid for.
    on_answer : callable
        Called after each of these with their number.
    """

    daemon_threads = True

    def __init__(self, profile: str, behaviour: Behaviour = well_behaved, tasks: Iterable[Task] = ()) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.calls = {
            _texts(sample.input): first_call(sample.metadata) for task in tasks for sample in task.dataset
        }
        self.subject = SimulatedSubject(profile)
        self.behaviour = behaviour
        self.lock = threading.Lock()
        self.attempts: Counter[str] = Counter()
        self.answers: list[str] = []
        self.on_answer: Callable[[int], None] = lambda count: None
        self.hung_up = threading.Event()

    @property
    def url(self) -> str:
        """Base address of the protocol."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def begin(self, asked: Mapping[str, Any]) -> tuple[str, int]:
        """Count a request; return what it asks and how many times that was asked before."""
        key = request_key(asked)
        with self.lock:
            self.attempts[key] += 1
            return key, self.attempts[key] - 1

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that were killed."""

    def sent(self, key: str) -> None:
        """Count a good reply."""
        with self.lock:
            self.answers.append(key)
            self.on_answer(len(self.answers))

    @property
    def asked_once(self) -> bool:
        """Whether no reply was sent twice."""
        return all(count == 1 for count in Counter(self.answers).values())

    def call(self, messages: Sequence[ChatMessage]) -> StageCall:
        """Return the call that a conversation begins with."""
        texts = tuple(message.text for message in messages)
        return next(self.calls[texts[:n]] for n in range(len(texts), 0, -1) if texts[:n] in self.calls)

    def good_reply(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the subject says, as OpenAI would send it."""
        messages = [_ROLES[turn["role"]](content=turn["content"]) for turn in asked["messages"]]
        config = GenerateConfig(
            temperature=asked.get("temperature"),
            seed=asked.get("seed"),
            logprobs=asked.get("logprobs"),
            top_logprobs=asked.get("top_logprobs"),
        )
        return spoken(self.subject.output(self.call(messages), messages, config))


def _texts(asked: str | list[ChatMessage]) -> tuple[str, ...]:
    return (
        (asked,)
        if isinstance(asked, str)
        else tuple(message.text for message in asked if is_sent(message.metadata))
    )


def completion(content: str | None, *, finish: str = "stop", **parts: Any) -> dict[str, Any]:
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


def spoken(output: ModelOutput) -> dict[str, Any]:
    """Return a model's reply as one of the chat protocol."""
    choice = output.choices[0]
    probabilities = choice.logprobs.model_dump() if choice.logprobs else None
    for token in probabilities["content"] if probabilities else ():
        token["top_logprobs"] = token["top_logprobs"] or []
    return completion(choice.message.text, logprobs=probabilities)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key, attempt = self.server.begin(asked)
        wire = self.server.behaviour(attempt, asked, self.server.good_reply(asked))
        if wire.delay:
            self.server.hung_up.wait(wire.delay)
        if wire.body is None:
            if wire.reset:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
            self.close_connection = True
            return
        self.send_response(wire.status)
        for name, value in {"Content-Type": "application/json", **wire.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(wire.body) if wire.claimed is None else wire.claimed))
        self.end_headers()
        length = -(-len(wire.body) // wire.pieces) or 1
        for start in range(0, len(wire.body), length):
            self.server.hung_up.wait(PAUSE if start else 0.0)
            self.wfile.write(wire.body[start : start + length])
            self.wfile.flush()
        if wire.claimed is not None:
            self.close_connection = True
        elif wire.status == 200:
            self.server.sent(key)

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


@contextmanager
def serving(
    profile: str, behaviour: Behaviour = well_behaved, tasks: Iterable[Task] = ()
) -> Iterator[Server]:
    """Run a server that knows the questions of some tasks in a thread."""
    with running(Server(profile, behaviour, tasks)) as server:
        yield server


@contextmanager
def running(server: AnyServer) -> Iterator[AnyServer]:
    """Run a server in a thread; meanwhile errors are logged without a coloured traceback, which takes half a second."""
    with server, patch("inspect_ai._util.rich.rich_traceback", lambda *_, **__: ""):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.hung_up.set()
            server.shutdown()
