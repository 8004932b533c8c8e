"""Addresses of model servers: what a log may show of them, and which of them are the user's own."""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import SplitResult, urlsplit, urlunsplit

ORIGIN = "origin"
"""Key of a log that says who answered: by role, the ``base_url`` of the server, and the model that it ``served``."""


def public_address(address: str) -> str:
    """Return an address without what may be secret: user, password, query and fragment.

    Examples
    --------
    >>> public_address("https://me:hunter2@example.org:8000/v1?api_key=sk-1#top")
    'https://example.org:8000/v1'
    """
    parts = _split(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def is_own_server(address: str) -> bool:
    """Return whether an address is that of this machine or of a private network; False without an address.

    The model behind such an address may change while its name stays. Public addresses have a public IP address or a
    name with a dot that does not end in ``.local`` or the like.

    Examples
    --------
    >>> [is_own_server(each) for each in ("http://localhost:8000/v1", "[::1]:8000", "10.0.0.7", "unix:/run/m")]
    [True, True, True, True]
    >>> is_own_server("https://api.openai.com/v1"), is_own_server("http://8.8.8.8"), is_own_server("")
    (False, False, False)
    """
    if not address:
        return False
    host = _split(address).hostname
    if host is None:  # a socket of this machine
        return True
    if (numeric := _numeric(host.rstrip(".").partition("%")[0])) is not None:
        return not numeric.is_global
    labels = host.rstrip(".").split(".")
    return len(labels) == 1 or labels[-1] in _PRIVATE_DOMAINS or host.rstrip(".").endswith(".home.arpa")


_PRIVATE_DOMAINS = frozenset(
    {"corp", "home", "internal", "intranet", "lan", "local", "localdomain", "localhost"}
)
"""Last parts of names that only a private network knows (RFC 6761, RFC 6762, ICANN's ``internal``, and custom)."""


def _split(address: str) -> SplitResult:
    """Split an address, which may have no scheme."""
    return urlsplit(address if "://" in address or address.startswith(("unix:", "/")) else f"//{address}")


def _numeric(host: str) -> IPv4Address | IPv6Address | None:
    """Return a host's IP address in any spelling, such as ``127.1`` or ``0x7f000001``; None for a name."""
    try:
        found = ip_address(host)
    except ValueError:
        try:
            return IPv4Address(socket.inet_aton(host))
        except OSError:
            return None
    return getattr(found, "ipv4_mapped", None) or found
