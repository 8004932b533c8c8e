"""How a model was asked, as a run wrote it down: what may set two runs of it apart, without its secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_NO_MATTER = frozenset({"max_connections", "max_retries", "timeout", "base_url", "cache"})
"""Parameters that do not change what a model says."""

_SECRET = re.compile(r"key|password|passwd|secret|credential|header|(?:^|[_.-])token$", re.IGNORECASE)
"""Names of parameters that may hold a secret; ``max_tokens`` holds none."""

_SWITCHES = ("True", "False", "None")
"""What no secret is: ``add_bos_token=True`` changes what a model says."""


def setup_of(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return parameters as texts, but for those that do not matter and those that may hold a secret.

    Parameters
    ----------
    parameters : mapping
        By name; a value may be a mapping itself, in which secrets are looked for too.

    Examples
    --------
    >>> setup_of({"max_tokens": 64, "token": "hf_abc", "timeout": 30, "extra": {"api_key": "sk-1", "top_k": 5}})
    {'max_tokens': '64', 'extra': "{'top_k': '5'}"}
    """
    return {
        str(key): str(setup_of(value) if isinstance(value, Mapping) else value)
        for key, value in parameters.items()
        if key not in _NO_MATTER and not _is_secret(str(key), value)
    }


def _is_secret(key: str, value: Any) -> bool:
    return _SECRET.search(key) is not None and str(value).capitalize() not in _SWITCHES
