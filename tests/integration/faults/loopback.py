"""The stub server of the tests: OpenAI's protocol on the loopback address, with the quirks of real servers.

A test starts it with `serving` (a simulated subject replies) or `stub` (plausible replies to every prompt of the
package), and says what goes wrong either with a `Behaviour` or with quirks in the address::

    with stub() as server:
        model = get_model("openai-api/loopback/subject", base_url=server.address("think+top-5"))

`quirks.QUIRKS` lists the quirks; ``half-`` before a name means half of the requests. ``python -m
tests.integration.faults.loopback PORT`` starts the server for a trial by hand. It speaks chat completions, completions
(also the log-probabilities of prompts), responses and models.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest.mock import patch

from inspect_ai import Task
from tests.integration.faults.endpoints import ENDPOINTS, as_chat
from tests.integration.faults.quirks import quirky
from tests.integration.faults.speakers import Speaker, plausible, subject
from tests.integration.faults.wire import Behaviour, Wire, request_key, well_behaved

SERVICE = "loopback"
ENVIRONMENT = {"LOOPBACK_API_KEY": "not-a-key"}

PAUSE = 0.02
"""Seconds between the pieces of a body."""


class Server(ThreadingHTTPServer):
    """Speaks for a model, and keeps what it was asked and what it answered.

    Attributes
    ----------
    speak : callable
        What the model says. A test may put another one in its place: other weights behind the same address.
    behaviour : callable
        What is sent instead, of every request whose address names no quirks.
    requests : list of dict
        Body of each request, with its ``path``.
    attempts : Counter
        Requests received, by what they asked.
    answers : list of str
        What was asked, of each good reply that was sent in full: what would be paid for.
    on_answer : callable
        Called after each of these with their number.
    tokenizer : object
        A ``tokenizers.Tokenizer``, which completions of token ids need.
    """

    daemon_threads = True

    def __init__(self, speak: Speaker, behaviour: Behaviour = well_behaved, *, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.speak, self.behaviour = speak, behaviour
        self.lock = threading.Lock()
        self.requests: list[dict[str, Any]] = []
        self.attempts: Counter[str] = Counter()
        self.answers: list[str] = []
        self.on_answer: Callable[[int], None] = lambda count: None
        self.hung_up = threading.Event()
        self.tokenizer: Any = None

    @property
    def url(self) -> str:
        """Base address of the protocol."""
        return self.address("")

    def address(self, quirks: str, host: str = "127.0.0.1") -> str:
        """Base address of the protocol of a server with some quirks, joined by ``+``."""
        return f"http://{host}:{self.server_port}/{quirks}{'/' if quirks else ''}v1"

    def begin(self, path: str, asked: Mapping[str, Any]) -> tuple[str, int]:
        """Count a request; return what it asks and how many times that was asked before."""
        key = request_key(asked)
        with self.lock:
            self.requests.append({**asked, "path": path})
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


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        model = {"id": "subject", "object": "model", "created": 0, "owned_by": "nobody"}
        self._send(Wire(), json.dumps({"object": "list", "data": [model]}).encode())

    def do_POST(self) -> None:
        quirks, _, endpoint = self.path.strip("/").rpartition("v1/")
        if endpoint not in ENDPOINTS:
            self._send(Wire(404), b'{"error": {"message": "no such endpoint"}}')
            return
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = as_chat(body, self.server.tokenizer)
        key, attempt = self.server.begin(self.path, asked)
        form = ENDPOINTS[endpoint]
        reply = form.scored(asked, self.server.speak) if form.scored else self.server.speak(asked)
        behaviour = quirky(quirks.strip("/")) if quirks else self.server.behaviour
        wire = behaviour(attempt, asked, reply)
        if wire.delay:
            self.server.hung_up.wait(wire.delay)
        if wire.body is None:
            self._hang_up(reset=wire.reset)
            return
        whole = json.dumps(form.shape(wire.body)).encode() if isinstance(wire.body, dict) else wire.body
        self._send(wire, whole)
        if wire.claimed is not None:
            self.close_connection = True
        elif wire.status == 200:
            self.server.sent(key)

    def _hang_up(self, *, reset: bool) -> None:
        if reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        self.close_connection = True

    def _send(self, wire: Wire, body: bytes) -> None:
        self.send_response(wire.status)
        for name, value in {"Content-Type": "application/json", **wire.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if wire.claimed is None else wire.claimed))
        self.end_headers()
        length = -(-len(body) // wire.pieces) or 1
        for start in range(0, len(body), length):
            self.server.hung_up.wait(PAUSE if start else 0.0)
            self.wfile.write(body[start : start + length])
            self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


@contextmanager
def serving(
    profile: str, behaviour: Behaviour = well_behaved, tasks: Iterable[Task] = ()
) -> Iterator[Server]:
    """Run a server for a simulated subject that knows the questions of some tasks."""
    with running(Server(subject(profile, tasks), behaviour)) as server:
        yield server


@contextmanager
def stub(behaviour: Behaviour = well_behaved) -> Iterator[Server]:
    """Run a server that replies plausibly to every prompt of the package."""
    with running(Server(plausible, behaviour)) as server:
        yield server


@contextmanager
def running(server: Server) -> Iterator[Server]:
    """Run a server in a thread; meanwhile errors are logged without a coloured traceback, which takes half a second."""
    with server, patch("inspect_ai._util.rich.rich_traceback", lambda *_, **__: ""):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.hung_up.set()
            server.shutdown()


if __name__ == "__main__":
    with Server(plausible, port=int(sys.argv[1])) as by_hand:
        print(by_hand.address("QUIRK+QUIRK"), flush=True)
        by_hand.serve_forever()
