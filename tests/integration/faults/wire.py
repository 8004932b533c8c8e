"""What a server sends in reply to a request, and how it comes to that."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from tests.integration.faults.speakers import Reply


@dataclass
class Wire:
    """What goes over the line in reply to one request; ``body`` None says nothing and hangs up.

    Attributes
    ----------
    status : int
        Of HTTP.
    body : bytes, dict or None
        What is sent. A dict is a reply of the chat protocol, which is sent in the form of the endpoint that was asked.
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
    body: bytes | dict[str, Any] | None = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    claimed: int | None = None
    delay: float = 0.0
    pieces: int = 1
    reset: bool = False


Behaviour = Callable[[int, dict[str, Any], Reply], Wire]
"""From the number of the attempt at a request (0 first), the request and the good reply to what is sent."""


def well_behaved(attempt: int, asked: Mapping[str, Any], reply: Mapping[str, Any]) -> Wire:
    """Send the good reply."""
    return Wire(body=dict(reply))


def request_key(asked: Mapping[str, Any]) -> str:
    """Return what equal requests have in common."""
    parts = [asked["messages"], asked.get("seed"), asked.get("temperature")]
    return blake2b(json.dumps(parts).encode(), digest_size=8).hexdigest()
