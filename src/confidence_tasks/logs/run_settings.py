"""The settings of a run that may change a reply, by their origin and without secrets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from confidence_tasks.logs.digests import digest


def provenance_of(task_version: str, revisions: Mapping[str, Any]) -> dict[str, str]:
    """Return the version of the task and the revisions of its data, where they are known.

    Examples
    --------
    >>> provenance_of("1-A", {"mmlu": "0123456789abcdef", "arithmetic": ""})
    {'task version': '1-A', 'revision of mmlu': '01234567'}
    """
    known = {f"revision of {source}": str(commit)[:8] for source, commit in revisions.items() if commit}
    return {**({"task version": task_version} if task_version else {}), **known}


ORIGINS = ("task", "generation", "model", "role", "harness", "solver")
"""Prefixes of settings, by what they belong to, so that settings of the same name from two origins stay apart."""

UNKNOWN_RUN = "harness.run"
"""Setting of a run whose other settings are unknown: its time, so that no other run is pooled with it."""

FALLBACK = "model.fallback"
"""Setting of samples that another model than the requested one answered: the name of that model."""

_IRRELEVANT = frozenset(
    {
        "adaptive_connections",
        "attempt_timeout",
        "batch",
        "cache",
        "cache_prompt",
        "max_connections",
        "max_retries",
        "stream_idle_timeout",
        "timeout",
    }
)
"""Settings of generation and of models that do not change a reply."""

_SECRET = re.compile(
    r"key|password|passwd|secret|credential|authorization|cookie|(?:^|[_.-])token$", re.IGNORECASE
)
"""Names of parameters that may hold a secret; ``max_tokens`` does not match."""

_HEADERS = re.compile("header", re.IGNORECASE)
"""Names of parameters that hold headers of requests. A header may change a reply and may be a secret of any name."""

_HARMLESS = re.compile(r"True|False|None|\d{1,4}", re.IGNORECASE)
"""Values that are never secret: ``add_bos_token=True`` and ``num_key_value_heads=8`` may change replies."""

_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)


def setup_of(origin: str, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings of one origin that may change a reply, as texts without secrets.

    Examples
    --------
    >>> setup_of("generation", {"max_tokens": 64, "timeout": 30, "extra_body": {"api_key": "sk-1", "top_k": 5}})
    {'generation.max_tokens': '64', 'generation.extra_body': "{'top_k': '5'}"}
    >>> setup_of("model", {"base_url": "https://me:hunter2@example.org/v1?api_key=sk-1", "token": "hf_abc"})
    {'model.base_url': 'https://example.org/v1'}
    """
    irrelevant = _IRRELEVANT if origin.rpartition(".")[2] in ("generation", "model") else frozenset[str]()
    texts = without_secrets({key: value for key, value in parameters.items() if key not in irrelevant})
    return {f"{origin}.{key}": text for key, text in texts.items()}


def setting_names(keys: Iterable[str]) -> dict[str, str]:
    """Return a name for each setting: without its origin, if no other setting has this name.

    Examples
    --------
    >>> setting_names(["task.seed", "generation.seed", "generation.temperature"])
    {'task.seed': 'task.seed', 'generation.seed': 'generation.seed', 'generation.temperature': 'temperature'}
    """
    short = {key: _without_origin(key) for key in keys}
    counts = Counter(short.values())
    return {key: name if counts[name] == 1 else key for key, name in short.items()}


def _without_origin(key: str) -> str:
    origin, _, name = key.partition(".")
    return name if origin in ORIGINS and name else key


def short_value(value: str) -> str:
    """Return the value of a setting for a label; the end of a long one is replaced by a digest of the whole.

    Examples
    --------
    >>> short_value("high"), len(short_value("You are a careful assistant. " * 100))
    ('high', 48)
    """
    return value if len(value) <= _SHORT else f"{value[: _SHORT - 10]}… {digest(value)[:8]}"


_SHORT = 48
"""Maximum number of characters of a value in a label."""


def without_secrets(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return parameters as texts, without those that may hold a secret, in nested mappings and lists, too.

    Addresses lose their user, password and fragment, and a digest replaces their query. Headers are given as a digest
    of those whose names are not of secrets.
    """
    texts = {}
    for key, value in parameters.items():
        if _SECRET.search(str(key)) and not _HARMLESS.fullmatch(str(value)):
            continue
        text = _headers(value) if _HEADERS.search(str(key)) else _text(value)
        if text:
            texts[str(key)] = text
    return texts


def _headers(headers: Any) -> str:
    """Return a digest of headers; empty if all may be secrets."""
    if not isinstance(headers, Mapping):
        return digest(str(headers))[:8] if headers else ""
    relevant = without_secrets(headers)
    return digest(repr(sorted(relevant.items())))[:8] if relevant else ""


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(dict(sorted(without_secrets(value).items())))
    if isinstance(value, list | tuple):
        return str([_text(each) for each in value])
    return _URL.sub(lambda match: _address(match[0]), str(value))


def _address(url: str) -> str:
    """Return an address without possible credentials: its user, password and fragment; a digest replaces its query."""
    try:
        parts = urlsplit(url)
        query = without_secrets(dict(parse_qsl(parts.query, keep_blank_values=True)))
    except ValueError:
        return f"{url.partition('://')[0]}://?{digest(url)[:8]}"
    query_digest = f"?{digest(repr(sorted(query.items())))[:8]}" if query else ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}{query_digest}"
