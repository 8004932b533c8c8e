"""Texts from files, made safe for terminals, tables and JSON."""

from __future__ import annotations

import re


def printable(text: str) -> str:
    r"""Return a text with unprintable characters replaced by the replacement character.

    Examples
    --------
    >>> printable("gpt\u202e4") == "gpt\ufffd4"
    True
    """
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def without_controls(text: str) -> str:
    r"""Return a text of several lines with the replacement character for characters that change how others are shown.

    These are control characters, which a terminal obeys, marks of direction, and characters without a width.

    Examples
    --------
    >>> without_controls("gpt\x1b[2J\n\u00a04\u202e") == "gpt\ufffd[2J\n\u00a04\ufffd"
    True
    """
    return _CONTROLS.sub("\ufffd", text)


def with_escaped_controls(json_text: str) -> str:
    r"""Return a text in JSON with those characters escaped, so that its values stay the same.

    Examples
    --------
    >>> print(with_escaped_controls('{"name": "gpt\x9b\u202e\U000e0041"}'))
    {"name": "gpt\u009b\u202e\udb40\udc41"}
    """
    return _CONTROLS.sub(_escape, json_text)


def _escape(character: re.Match[str]) -> str:
    units = character[0].encode("utf-16-be", errors="surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
