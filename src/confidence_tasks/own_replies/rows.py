"""Rows of files with replies to a study, each with its place in the file for messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from confidence_tasks.sources.any_table import has_commas, read_any_table, with_new_names
from confidence_tasks.sources.bounds import BoundError
from confidence_tasks.sources.own_file import READERS, Readers, csv_rows, file_rows
from confidence_tasks.sources.parquet import read_parquet
from confidence_tasks.sources.source import SourceError

Row: TypeAlias = Mapping[str, Any]
"""A row of a file of replies: its fields by name."""

MAX_BYTES = 512 * 2**20
MAX_REPLIES = 100_000
MAX_CHARACTERS = 1_000_000
"""Maximum number of characters of a text."""


def read_rows(path: Path, names: Mapping[str, str]) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a file of replies, each with its place in the file.

    The file has at most 512 MiB, 100,000 replies, and a million characters in each text. Null fields and empty cells
    are left out, except for empty replies. ``gold`` is another name of ``answer``. ``names`` renames columns.

    SourceError if the file cannot be read or is too large; the message names the line.
    """
    suffix = path.suffix.lower()
    if suffix in _READERS and (suffix != ".csv" or has_commas(path)):
        placed = list(file_rows(path, _READERS, MAX_BYTES, MAX_REPLIES, "replies"))
    else:
        placed = [
            (f"{path}, row {i}", row) for i, row in enumerate(map(_listed_entries, read_any_table(path)), 1)
        ]
    for where, row in placed:
        if not isinstance(row, Mapping):
            raise SourceError(f"{where}: not an object with fields")
    rows = with_new_names([row for _, row in placed], names)
    yield from ((where, _cleaned(row, where)) for (where, _), row in zip(placed, rows, strict=True))


def _listed_entries(row: Row) -> Row:
    """Return a row of any table with its choices and aliases as lists; they may be separated by bars."""
    texts = {name: row[name] for name in ("choices", "aliases") if isinstance(row.get(name), str)}
    return {**row, **{name: [entry.strip() for entry in text.split("|")] for name, text in texts.items()}}


def _cleaned(row: Row, where: str) -> Row:
    # Logs cannot hold lone surrogates.
    cleaned = {
        str(name): value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for name, value in row.items()
        if value is not None
    }
    for name, value in cleaned.items():
        if len(str(value)) > MAX_CHARACTERS:
            raise SourceError(f"{where}: {name} has more than {MAX_CHARACTERS:,} characters")
    if "gold" in cleaned:
        gold = cleaned.pop("gold")
        if cleaned.setdefault("answer", gold) != gold:
            raise SourceError(
                f"{where}: answer and gold are two names of the right answer, but differ: leave out the model's answer,"
                " which is read from its reply"
            )
    return cleaned


def _parquet_rows(file: TextIO) -> Iterator[tuple[int, Any]]:
    try:
        table = read_parquet(file.name, most_rows=MAX_REPLIES)
    except BoundError as error:
        raise SourceError(f"{file.name}: {error}") from error
    except ValueError as error:
        raise SourceError(f"{file.name}: not Parquet: {error}") from error
    for number, row in enumerate(table.to_pylist(), start=1):
        # NaN, which does not equal itself, is missing.
        yield number, {name: value if value == value else None for name, value in row.items()}


_READERS: Readers = {**READERS, ".csv": partial(csv_rows, kept="reply"), ".parquet": _parquet_rows}
"""Readers by suffix of the file; an empty cell is a missing field, except for an empty reply."""
