"""The documentation as data: its pages, and the commands and code in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")] + sorted(
    ROOT.glob("docs/*.md")
)

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def all_blocks(page: Path) -> list[tuple[str, str]]:
    """The code blocks of a page, each with its language."""
    return _BLOCK.findall(page.read_text(encoding="utf-8"))


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    return [text for found, text in all_blocks(page) if found == language]


def commands(page: Path) -> Iterator[list[str]]:
    """The commands of a page, each split into words; leading settings of the environment are left out."""
    for block in blocks(page, "bash"):
        yield from words_of(block)


def words_of(block: str) -> Iterator[list[str]]:
    """The commands of a block, each split into words; leading settings of the environment are left out."""
    for line in block.replace("\\\n", " ").splitlines():
        for part in line.split("&&"):
            words = shlex.split(part, comments=True)
            while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                words.pop(0)
            if words:
                words[0] = Path(words[0]).name
                yield words


def options(words: list[str], name: str) -> list[str]:
    """The values of an option in a command."""
    return [words[i + 1] for i, word in enumerate(words[:-1]) if word == name]


def named(words: list[str], name: str) -> dict[str, str]:
    """The values of an option whose values are ``key=value``."""
    return dict(value.partition("=")[::2] for value in options(words, name))
