"""The open Science Olympiad archive of Fermi questions, downloaded at a pinned commit.

The archive consists of two JavaScript files, which assign JSON literals to variables. The literals are parsed; nothing
is executed.
"""

from __future__ import annotations

import csv
import hashlib
import json
import logging
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from confidence_tasks.sources.source import (
    Source,
    SourceError,
    announce_download,
    cache_folder,
    download_hint,
    sha256_of,
    shuffle_questions,
    write_atomically,
)
from confidence_tasks.study.trial import Question

REPOSITORY = "landy8697/open-scioly-fermi"
COMMIT = "dea8a2595651160d4f247f8a47ad9ca4aa2ceeee"
FILES: Mapping[str, str] = MappingProxyType(
    {
        "data.js": "984c0a6cc0269c4700698514a25d14809fe393c4c899cae2abc787f248c42700",
        "corrections.js": "60819fbab077e75c2ecf454daf13d1e4da5f467ad753b6176ecc2748072603cf",
    }
)
"""SHA-256 of each file of the archive at the pinned commit."""

LARGEST_EXPONENT = 100
SPLIT_SIZE = 500
SPLITS = ("calibration", "test")

AUTHORS = {"authors": SPLITS, "authors_test": SPLITS[1:]}
"""Splits of Epstein et al. (2025, arXiv:2510.26995), with their halves. The training half is for calibration."""

_AUTHORS_SPLIT = Path(__file__).parent / "data" / "fermieval_split.csv"
"""The authors' list: half, number in the half, position in ``data.js`` from 0 (empty if absent), key."""

_HALVES = {"train": "calibration", "test": "test"}

logger = logging.getLogger(__name__)

_MAX_BYTES = 4 * 2**20
_TIMEOUT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Archive:
    """The usable questions of the archive, in its order, and the number of excluded items by reason."""

    questions: tuple[Question, ...]
    excluded: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class FermiSource(Source):
    """A thousand questions of the archive, in a calibration and a test half."""

    revision: str = COMMIT
    options: ClassVar[tuple[str, ...]] = ("split",)

    @property
    def page(self) -> str:
        """Repository of the archive at the pinned commit."""
        return f"https://github.com/{REPOSITORY}/tree/{COMMIT}"

    def load(
        self, n: int | None, seed: int, mirror: Path | None, split: str = "all", **options: Any
    ) -> list[Question]:
        """Load at most ``n`` questions of a split.

        ``split`` is ``calibration`` or ``test`` (500 questions each), ``all`` (both, alternating), ``archive`` (every
        usable question), or a split of the paper's authors, with their keys: ``authors`` (both halves, alternating, as
        far as they are in the archive) or ``authors_test``. The half of a question is in its metadata. It depends on
        the seed only, or is that of the authors.
        """
        allowed = (*SPLITS, "all", "archive", *AUTHORS)
        if split not in allowed:
            raise SourceError(f"{self.name}: unknown split {split!r}; the splits are {', '.join(allowed)}")
        folder = self.find_copy(mirror)
        if folder is None and mirror is not None:
            raise SourceError(
                f"{self.name}: no folder 'fermi' in the mirror {mirror} or beside it; "
                f"`confidence-tasks sources fetch {self.name} --into {mirror}` puts it there where there is internet"
            )
        if folder is None:
            announce_download(self)
            folder = self.fetch()
        if split in AUTHORS:
            by_half = [shuffle_questions(half, seed) for half in authors_questions(folder, AUTHORS[split])]
            return [question for turn in zip_longest(*by_half) for question in turn if question][:n]
        questions = shuffle_questions(read_archive(folder).questions, seed)
        if split == "archive":
            return questions[:n]
        halves = [
            question.with_metadata(split=SPLITS[position % 2])
            for position, question in enumerate(questions[: 2 * SPLIT_SIZE])
        ]
        return [question for question in halves if split in ("all", question.metadata["split"])][:n]

    def find_copy(self, mirror: Path | None) -> Path | None:
        """Return the folder with both files: in the mirror or beside it, or without a mirror in the cache."""
        folders = (mirror / "fermi", mirror.absolute().parent / "fermi") if mirror else (_cache_folder(),)
        return next((folder for folder in folders if all((folder / name).is_file() for name in FILES)), None)

    def fetch(self, into: Path | None = None) -> Path:
        """Download both files at the pinned commit. A file with another hash is not saved."""
        folder = into / "fermi" if into else _cache_folder()
        for name, expected in FILES.items():
            write_atomically(folder / name, _download(name, expected))
        return folder

    def verify(self, mirror: Path | None) -> int:
        """Check both hashes and read every item."""
        return len(read_archive(self.require_copy(mirror)).questions)


def _cache_folder() -> Path:
    return cache_folder() / "fermi" / COMMIT


def _download(name: str, expected: str) -> bytes:
    from urllib.request import urlopen

    url = f"https://raw.githubusercontent.com/{REPOSITORY}/{COMMIT}/{name}"
    try:
        with urlopen(url, timeout=_TIMEOUT_SECONDS) as reply:
            content: bytes = reply.read(_MAX_BYTES)
    except OSError as error:
        raise SourceError(f"fermi: cannot download {url} ({error}). {download_hint('fermi')}") from error
    if hashlib.sha256(content).hexdigest() != expected:
        raise SourceError(f"fermi: {url} does not have the pinned SHA-256 {expected}")
    return content


def read_archive(folder: Path) -> Archive:
    """Read, correct and filter the archive in a folder; SourceError if a file does not have its pinned hash.

    Items whose key is an integer from -100 to 100 are used: the first of several with the same text, or none of them if
    their keys differ. Items marked as discarded, bare numbers (expressions that lost their exponent) and items that
    refer to another question are excluded.
    """
    excluded: Counter[str] = Counter()
    # By their words: case, quotes and punctuation are ignored.
    groups: dict[tuple[str, ...], list[Question]] = {}
    for question in _corrected_questions(folder):
        reason = next((reason for reason, applies in _EXCLUSIONS.items() if applies(question)), None)
        if reason is None:
            groups.setdefault(tuple(_WORDS.findall(question.text.casefold())), []).append(question)
        else:
            excluded[reason] += 1
    unique = []
    for group in groups.values():
        if len({question.gold for question in group}) > 1:
            excluded["conflicting_duplicate"] += len(group)
        else:
            excluded["duplicate"] += len(group) - 1
            unique.append(group[0])
    return Archive(tuple(unique), dict(excluded))


def authors_questions(folder: Path, halves: Sequence[str] = SPLITS) -> list[list[Question]]:
    """Return the questions of each half of the authors' split, in their order and with their keys.

    The archive has 491 of the 500 questions of a half. A warning gives the number of missing ones.
    """
    questions = _corrected_questions(folder)
    by_half: dict[str, list[Question]] = {half: [] for half in halves}
    absent: Counter[str] = Counter()
    with _AUTHORS_SPLIT.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            half = _HALVES[row["split"]]
            if half in by_half and row["position"]:
                question = replace(questions[int(row["position"])], gold=row["gold"])
                by_half[half].append(question.with_metadata(split=half))
            elif half in by_half:
                absent[half] += 1
    counts = ", ".join(f"{number} of the {half} half" for half, number in absent.items())
    logger.warning("fermi: not in the archive at its pinned commit, and not asked: %s", counts)
    return list(by_half.values())


def _corrected_questions(folder: Path) -> list[Question]:
    """Return every item with its correction, whose empty fields change nothing.

    The key is the empty text if it is not an integer.
    """
    items = _literal(_read_checked(folder, "data.js"), "data")
    corrections = _literal(_read_checked(folder, "corrections.js"), "corrections")
    questions = []
    for position, item in enumerate(items):
        number = f", #{item['number']}" if "number" in item else ""
        correction = corrections.get(f"{item['source']}{number}")
        item = {**item, **{name: value for name, value in (correction or {}).items() if value}}
        answer = str(item["answer"]).strip()
        questions.append(
            Question(
                id=f"fermi-{position:04d}",
                source="fermi",
                text=str(item["question"]).replace("\N{ZERO WIDTH SPACE}", "").strip(),
                kind="number",
                gold=str(int(answer)) if _INTEGER.fullmatch(answer) else "",
                metadata={"contest": str(item["source"]), "corrected": correction is not None},
            )
        )
    return questions


def _read_checked(folder: Path, name: str) -> str:
    path = folder / name
    if sha256_of(path) != FILES[name]:
        raise SourceError(
            f"fermi: {path} does not have the pinned SHA-256 {FILES[name]}: delete it and fetch again"
        )
    return path.read_text(encoding="utf-8")


def _literal(script: str, variable: str) -> Any:
    """Return the JSON literal that a script assigns to a variable."""
    _, _, assigned = script.partition(f"{variable} = ")
    try:
        return json.JSONDecoder().raw_decode(assigned)[0]
    except (ValueError, RecursionError) as error:
        raise SourceError(f"fermi: the archive assigns no JSON literal to {variable!r}: {error}") from error


_INTEGER = re.compile(r"-?\d{1,1000}", re.ASCII)
_BARE_NUMBER = re.compile(r"[\d.,\s]*")
_REFERENCE = re.compile(
    r"""
    \b(?:question|problem)s?\s*\#?(?:\d+|fourteen)                              # question 24, Problems 59 and 60
    | \b(?:previous|preceding|last|past)\s(?:\w+\s){0,2}(?:question|problem)s?\b # the last three questions
    | \b(?:question|pun|population)\s(?:above|before)\b
    | \banswers\s(?:to|on)\s(?:the|every)\b                                       # sum of the answers to the first four
    """,
    re.IGNORECASE | re.VERBOSE,
)
_QUOTED = re.compile(
    r"[\[(]\s*(?:previous\s)?(?:question|problem|q)\s*(?:above|\#?\d+)?\s*(?::|mentions)", re.IGNORECASE
)


def _refers_to_another(text: str) -> bool:
    """Return True if the text refers to another question and does not quote it."""
    return _REFERENCE.search(text) is not None and _QUOTED.search(text) is None


_EXCLUSIONS: Mapping[str, Callable[[Question], bool]] = {
    "unreadable_answer": lambda question: not question.gold,
    "out_of_range": lambda question: abs(int(question.gold or 0)) > LARGEST_EXPONENT,
    "discarded": lambda question: question.text.startswith("DISCARD"),
    "bare_number": lambda question: _BARE_NUMBER.fullmatch(question.text) is not None,
    "refers_to_another": lambda question: _refers_to_another(question.text),
}
"""Reasons to exclude an item, in the order in which they are tried."""

_WORDS = re.compile(r"\w+|[-+*/^!=%$]")
