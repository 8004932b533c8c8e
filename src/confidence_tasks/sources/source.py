"""What every source of questions is: an entry of the table that can load, fetch and verify itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from confidence_tasks.study.question import Question

State = Literal["generated", "shipped", "mirror", "cached", "absent"]
"""Where the questions of a source are right now; an absent one must be fetched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(ABC):
    """One source of questions.

    Attributes
    ----------
    name : str
        Name of the source in this package.
    licence : str
        Licence of the questions, as their publisher states it.
    size : int or None
        Number of questions; None when as many as wanted can be generated.
    gated : bool
        Whether access must be asked for at the publisher's page.
    options : tuple of str
        What :meth:`load` takes beside size, seed and mirror.
    """

    name: str
    licence: str
    size: int | None
    gated: bool = False
    options: ClassVar[tuple[str, ...]] = ()

    @property
    def page(self) -> str:
        """Web page of the source; empty when it has none."""
        return ""

    @property
    def commit(self) -> str:
        """The pinned commit; empty for questions that come with this package."""
        return ""

    @abstractmethod
    def load(self, n: int | None, seed: int, mirror: Path | None, **options: Any) -> list[Question]:
        """Load at most ``n`` questions in the order of the seed, from the mirror when there is one."""

    @abstractmethod
    def state(self, mirror: Path | None) -> State:
        """Say where the questions are, without reading them."""

    def fetch(self, into: Path | None = None) -> Path | None:
        """Download ahead, to the cache or ``into`` a mirror folder; None when there is nothing to download."""
        return None

    @abstractmethod
    def verify(self, mirror: Path | None) -> int:
        """Check hashes, counts and every row of what is there; return the number of questions."""
