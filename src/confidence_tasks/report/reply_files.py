"""Files of replies that users already have, read row by row: JSON lines, CSV and Parquet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from confidence_tasks.sources.own_file import EXTRA_CELLS, LIST_FIELDS, csv_rows, json_lines, unreadable
from confidence_tasks.sources.source import SourceError

Row: TypeAlias = Mapping[str, Any]

MAX_BYTES = 512 * 2**20
MAX_REPLIES = 100_000
MAX_CHARACTERS = 1_000_000
"""Of one text."""


def read_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a file of replies, each with the place where it stands.

    The file ends in ``.jsonl``, ``.csv`` or ``.parquet``, with at most 512 MiB, 100,000 replies, and a million
    characters in any text. A field that is missing, null or, but for the reply, empty is left out. ``gold`` is
    another name of ``answer``.

    Raises
    ------
    SourceError
        If the file cannot be read, or is larger; the message names the line.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise SourceError(f"{path}: its name ends in none of {', '.join(_READERS)}")
    if not path.is_file():
        raise SourceError(f"{path}: no such file")
    if path.stat().st_size > MAX_BYTES:
        raise SourceError(f"{path}: larger than {MAX_BYTES // 2**20} MiB")
    try:
        for count, (line, row) in enumerate(reader(path), start=1):
            where = f"{path}, line {line}"
            if count > MAX_REPLIES:
                raise SourceError(f"{where}: more than {MAX_REPLIES:,} replies")
            yield where, _cleaned(row, where)
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: {unreadable(error)}") from error


def _cleaned(row: Any, where: str) -> Row:
    if not isinstance(row, Mapping):
        raise SourceError(f"{where}: not an object with fields")
    cleaned = {str(name): _encodable(value) for name, value in row.items() if value is not None}
    if longest := [name for name, value in cleaned.items() if len(str(value)) > MAX_CHARACTERS]:
        raise SourceError(f"{where}: {longest[0]} has more than {MAX_CHARACTERS:,} characters")
    if "gold" in cleaned:
        gold = cleaned.pop("gold")
        if cleaned.setdefault("answer", gold) != gold:
            raise SourceError(
                f"{where}: answer and gold both name the key, and differ: leave out what the model answered, which is"
                " read from its reply"
            )
    return cleaned


def _encodable(value: Any) -> Any:
    """Return a text without halves of surrogate pairs, which no log can hold."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _json_rows(path: Path) -> Iterator[tuple[int, Any]]:
    with path.open(encoding="utf-8-sig") as file:
        yield from json_lines(file)


def _csv_rows(path: Path) -> Iterator[tuple[int, Any]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        header = file.readline()
        file.seek(0)
        # An empty cell is a field that is missing; an empty reply is what a model said.
        empty = {"reply": ""} if "reply" in header else {}
        for line, row in csv_rows(file):
            if EXTRA_CELLS in row:
                raise SourceError(f"{path}, line {line}: {EXTRA_CELLS}")
            yield line, empty | row


def _parquet_rows(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        table = pd.read_parquet(path)
    except ValueError as error:
        raise SourceError(f"{path}: not Parquet: {error}") from error
    for number, row in enumerate(table.to_dict("records"), start=1):
        yield number, {str(name): _plain(str(name), value) for name, value in row.items()}


def _plain(name: str, value: Any) -> Any:
    """Return a cell as JSON would have it."""
    if name in LIST_FIELDS:
        return None if value is None else list(value)
    value = value.item() if hasattr(value, "item") else value
    return None if pd.isna(value) else value


_READERS: Mapping[str, Callable[[Path], Iterator[tuple[int, Any]]]] = {
    ".jsonl": _json_rows,
    ".csv": _csv_rows,
    ".parquet": _parquet_rows,
}
