"""What every source is: an entry of the table that can load, fetch and verify itself, in a seeded order.

Orders depend on identifiers alone, so that they are the same on every machine. A sample is a prefix of an order: the
100 questions of one seed are the first of its 200. Copies lie in the user's mirror or in the cache.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar, Literal

from confidence_tasks.study.trial import LETTERS, Question


class SourceError(ValueError):
    """A source is unknown, unreachable, or does not hold what its entry in the table promises."""


class RowError(ValueError):
    """One row does not have the shape of its source; the loader adds which source and which row."""


State = Literal["generated", "shipped", "mirror", "cached", "absent"]
"""State of a source's questions on this machine; an absent source must be fetched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(ABC):
    """One source of questions.

    Attributes
    ----------
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


def seeded_key(seed: int, *parts: object) -> bytes:
    """Sort key of an identifier under a seed: SHA-256, which no library version changes.

    Examples
    --------
    >>> seeded_key(0, "mmlu-00017").hex()[:8] == seeded_key(1, "mmlu-00017").hex()[:8]
    False
    """
    return hashlib.sha256("\x1f".join(map(str, (seed, *parts))).encode()).digest()


def ordered(questions: Sequence[Question], seed: int, balance: Sequence[str] = ()) -> list[Question]:
    """Shuffle by seed, whatever the order given, such that every prefix, the sample of its size, is balanced.

    ``balance`` names attributes of a question, the widest first. The groups of the first take turns, within each group
    those of the second, and so on; a group that has run out leaves its turns to the others.
    """
    if not balance:
        return sorted(questions, key=lambda question: seeded_key(seed, question.id))
    groups: dict[str, list[Question]] = {}
    for question in questions:
        groups.setdefault(getattr(question, balance[0]), []).append(question)
    turns = sorted(groups, key=lambda label: seeded_key(seed, label))
    queues = [ordered(groups[label], seed, balance[1:]) for label in turns]
    return [question for turn in zip_longest(*queues) for question in turn if question is not None]


def shuffled_options(
    options: Sequence[str], gold: int, seed: int, identifier: str
) -> tuple[tuple[str, ...], str]:
    """Shuffle the options of one question, and say which letter the right one, at position ``gold``, has then.

    The order hangs on the seed and the question's id.
    """
    order = sorted(range(len(options)), key=lambda position: seeded_key(seed, identifier, position))
    return tuple(options[position] for position in order), LETTERS[order.index(gold)]


MIRROR_VARIABLE = "CONFIDENCE_TASKS_MIRROR"
CACHE_VARIABLE = "CONFIDENCE_TASKS_CACHE"


def without_network(name: str) -> str:
    """Say what helps where a source cannot be downloaded."""
    return (
        f"Check the connection and try again; or run `confidence-tasks sources fetch {name} --into FOLDER` on a "
        f"machine with internet, and set {MIRROR_VARIABLE} to that folder here"
    )


def cache_folder() -> Path:
    """Folder of what was fetched: CONFIDENCE_TASKS_CACHE, or the user's cache folder of the platform."""
    configured = os.environ.get(CACHE_VARIABLE)
    if configured:
        return Path(configured).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("confidence_tasks")


def mirror_folder(mirror: str | Path | None = None) -> Path | None:
    """Return ``mirror``, or CONFIDENCE_TASKS_MIRROR; None when neither is given, SourceError if it is no folder."""
    configured = mirror or os.environ.get(MIRROR_VARIABLE)
    if not configured:
        return None
    folder = Path(configured).expanduser()
    if not folder.is_dir():
        given = "mirror" if mirror else MIRROR_VARIABLE
        raise SourceError(f"{given}={configured}: no such folder")
    return folder


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that no other process ever sees half of it, whatever happens meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Opened as any file is, and not by tempfile, which lets nobody else read it.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
