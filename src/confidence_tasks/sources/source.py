"""Base class of the sources, which load, fetch and verify questions, and functions for their order and their copies.

Orders depend on the seed and the identifiers only, so that they are the same on every machine. A sample is the start of
an order: the 100 questions of a seed are the first of its 200. Copies are in the user's mirror or in the cache.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar, Literal

from confidence_tasks.study.trial import LETTERS, Question

logger = logging.getLogger(__name__)


class SourceError(ValueError):
    """A source is unknown, cannot be reached, or does not match its entry in the table."""


class RowError(ValueError):
    """A row does not have the shape of its source. The loader adds the source and the row to the message."""


State = Literal["generated", "shipped", "mirror", "cached", "absent"]
"""Where the questions of a source are. Those of an absent source must be fetched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(ABC):
    """A source of questions.

    Attributes
    ----------
    name : str
        Name of the source.
    licence : str
        Licence of the questions, as their publisher states it.
    size : int or None
        Number of questions; None if any number can be generated.
    gated : bool
        Whether access must be requested on the publisher's page.
    revision : str
        The pinned commit; empty for questions that are part of this package.
    options : tuple of str
        Names of further options of :meth:`load`.
    """

    name: str
    licence: str
    size: int | None
    gated: bool = False
    revision: str = ""
    options: ClassVar[tuple[str, ...]] = ()

    @property
    def page(self) -> str:
        """Web page of the source; empty if it has none."""
        return ""

    @abstractmethod
    def load(self, n: int | None, seed: int, mirror: Path | None, **options: Any) -> list[Question]:
        """Load at most ``n`` questions in the order of the seed, from the mirror if there is one."""

    def find_copy(self, mirror: Path | None) -> Path | None:
        """Return the copy in the mirror, or without a mirror that in the cache; None if there is none."""
        return None

    def require_copy(self, mirror: Path | None) -> Path:
        """Return the copy; SourceError if there is none."""
        if copy := self.find_copy(mirror):
            return copy
        raise SourceError(f"{self.name}: no copy; `confidence-tasks sources fetch {self.name}` downloads it")

    def state(self, mirror: Path | None) -> State:
        """Return where the questions are, without reading them."""
        if self.find_copy(mirror) is None:
            return "absent"
        return "mirror" if mirror else "cached"

    def fetch(self, into: Path | None = None) -> Path | None:
        """Download the questions to the cache or ``into`` a mirror folder; None if there is nothing to download."""
        return None

    @abstractmethod
    def verify(self, mirror: Path | None) -> int:
        """Check hashes, counts and every row of the copy; return the number of questions."""


def seeded_key(seed: int, *parts: object) -> bytes:
    """Return the sort key of an identifier under a seed: a SHA-256 hash, which is the same in all library versions.

    Examples
    --------
    >>> seeded_key(0, "mmlu-00017").hex()[:8] == seeded_key(1, "mmlu-00017").hex()[:8]
    False
    """
    return hashlib.sha256("\x1f".join(map(str, (seed, *parts))).encode()).digest()


def shuffle_questions(
    questions: Sequence[Question], seed: int, balance: Sequence[str] = ()
) -> list[Question]:
    """Shuffle questions so that the first n are balanced for every n; their given order does not matter.

    ``balance`` names attributes of a question, the coarsest first. Questions of different values of the first attribute
    alternate, among these questions of different values of the second, and so on, as long as there are any left.
    """
    if not balance:
        return sorted(questions, key=lambda question: seeded_key(seed, question.id))
    groups: dict[str, list[Question]] = {}
    for question in questions:
        groups.setdefault(getattr(question, balance[0]), []).append(question)
    turns = sorted(groups, key=lambda label: seeded_key(seed, label))
    queues = [shuffle_questions(groups[label], seed, balance[1:]) for label in turns]
    return [question for turn in zip_longest(*queues) for question in turn if question is not None]


def shuffle_options(
    options: Sequence[str], gold: int, seed: int, identifier: str
) -> tuple[tuple[str, ...], str]:
    """Shuffle the options of a question; return them with the new letter of the right one, at position ``gold``.

    The order depends on the seed and the question's id.
    """
    order = sorted(range(len(options)), key=lambda position: seeded_key(seed, identifier, position))
    return tuple(options[position] for position in order), LETTERS[order.index(gold)]


MIRROR_VARIABLE = "CONFIDENCE_TASKS_MIRROR"
CACHE_VARIABLE = "CONFIDENCE_TASKS_CACHE"


def announce_download(source: Source) -> None:
    """Log that a source is downloaded now, which a run does without having been asked to."""
    logger.info("%s: downloading its questions from %s to the cache, once", source.name, source.page)


def download_hint(name: str) -> str:
    """Return advice for a source that cannot be downloaded."""
    return (
        f"Check the connection and try again; or run `confidence-tasks sources fetch {name} --into FOLDER` on a "
        f"machine with internet, and set {MIRROR_VARIABLE} to that folder here"
    )


def cache_folder() -> Path:
    """Return the folder of downloaded sources: CONFIDENCE_TASKS_CACHE, or the user's cache folder."""
    configured = os.environ.get(CACHE_VARIABLE)
    if configured:
        return Path(configured).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("confidence_tasks")


def mirror_folder(mirror: str | Path | None = None) -> Path | None:
    """Return ``mirror`` or CONFIDENCE_TASKS_MIRROR; None if neither is given, SourceError if it is no folder."""
    configured = mirror or os.environ.get(MIRROR_VARIABLE)
    if not configured:
        return None
    folder = Path(configured).expanduser()
    if not folder.is_dir():
        given = "mirror" if mirror else MIRROR_VARIABLE
        raise SourceError(f"{given}={configured}: no such folder")
    return folder


def sha256_of(path: Path) -> str:
    """Return the SHA-256 hash of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that other processes never see an incomplete file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not a file of the module tempfile, which other users cannot read.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
