"""Reasoning efforts."""

from __future__ import annotations

from typing import Any


def settings_of_effort(effort: str | None) -> dict[str, Any]:
    """Return the generation settings for an effort, a name or a number of reasoning tokens, without a check of it.

    Examples
    --------
    >>> settings_of_effort("low"), settings_of_effort("8192"), settings_of_effort(None)
    ({'reasoning_effort': 'low'}, {'reasoning_tokens': 8192}, {})
    """
    if effort is None:
        return {}
    if effort.isdecimal():
        return {"reasoning_tokens": int(effort)}
    return {"reasoning_effort": effort}
