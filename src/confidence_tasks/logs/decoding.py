"""JSON of logs, decoded fast."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from msgspec import MsgspecError, convert
from msgspec.json import Decoder


def decoded(text: bytes | bytearray, decoder: Decoder[T]) -> T:
    """Decode JSON with msgspec, which builds only the fields of the decoder's type; NaN becomes None.

    Text that msgspec refuses and Python's `json` module accepts, such as an infinity, is decoded by `json.loads`.
    """
    with suppress(MsgspecError, UnicodeDecodeError):
        return decoder.decode(text)
    try:
        return decoder.decode(_NAN.sub(b"null", text))
    except (MsgspecError, UnicodeDecodeError):
        return convert(json.loads(text), decoder.type)


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Disable garbage collection, which takes a third of the time of reading; trials have no reference cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


T = TypeVar("T")

_NAN = re.compile(rb'NaN(?:(?<=\w":NaN)|(?<=\w": NaN))(?=[,}])')
"""NaN as the value of a field. Inside a text, the quotation mark before the colon has a backslash."""
