"""The question record: what every source, whatever its shape, is mapped to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["choice", "number", "text", "boolean"]
"""What an answer looks like: a lettered option, a number, a short text, or yes/no."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its key.

    Attributes
    ----------
    id : str
        Stable over machines and library versions, unique over sources: ``mmlu-0017``.
    source : str
        Name of the source in the table of sources.
    text : str
        The question as asked, without its options.
    kind : {"choice", "number", "text", "boolean"}
        What an answer looks like.
    gold : str or None
        The key: a letter for ``choice``, a decimal number without separators for ``number``, a text for
        ``text``, ``yes`` or ``no`` for ``boolean``; None when the source gives none.
    choices : tuple of str
        The options in the order shown; empty unless ``kind`` is ``choice``.
    aliases : tuple of str
        Other texts that are right as well.
    subject, level : str
        Subject and difficulty level where the source has them, else empty.
    image : str or None
        A data URL where the item has a picture.
    metadata : mapping
        Whatever else a study needs from this source.
    """

    id: str
    source: str
    text: str
    kind: Kind
    gold: str | None
    choices: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    subject: str = ""
    level: str = ""
    image: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, str]:
        """The options by letter, in the order shown."""
        return dict(zip(LETTERS, self.choices, strict=False))
