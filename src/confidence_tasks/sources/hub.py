"""Sources on the Hugging Face hub: rows from a mirror, from the cache, or from the hub at a pinned commit."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confidence_tasks.sources.shapes import Row, RowIdentity, Shape
from confidence_tasks.sources.source import (
    MIRROR_VARIABLE,
    RowError,
    Source,
    SourceError,
    State,
    cache_folder,
    ordered,
    sha256_of,
    without_network,
    write_atomically,
)
from confidence_tasks.study.question import Question

logger = logging.getLogger(__name__)


_SHIPPED = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class RowSelection:
    """The rows of a split that a paper asks: a shipped list of their numbers, from 0, in the paper's order.

    ``of`` is the number of rows of the whole split, ``sha256`` the hash of their required columns, by which a mirror
    that holds these rows alone is known.
    """

    file: str
    of: int
    sha256: str

    @property
    def numbers(self) -> list[int]:
        """Numbers of the rows."""
        _, *lines = (_SHIPPED / self.file).read_text(encoding="utf-8").split()
        return list(map(int, lines))

    def is_all_of(self, rows: Sequence[Row], columns: Sequence[str]) -> bool:
        """Return True if ``rows`` are the selected ones, in order."""
        texts = "\0".join(str(row.get(column)) for row in rows for column in columns)
        return hashlib.sha256(texts.encode()).hexdigest() == self.sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSource(Source):
    """A pinned split of a data set on the hub.

    Attributes
    ----------
    config : str
        Its configuration; ``default`` where the data set has a single one.
    revision : str
        The pinned commit.
    balance : tuple of str
        Attributes of a question that a sample is balanced over.
    sample_in_mirror : bool
        Whether a mirror may hold fewer rows than the pinned split.
    selection : RowSelection, optional
        The rows that are asked, where these are not all; ids then have the row's number without leading zeros.
    """

    hub_id: str
    config: str = "default"
    split: str = "test"
    revision: str
    shape: Shape
    balance: tuple[str, ...] = ()
    sample_in_mirror: bool = False
    selection: RowSelection | None = None

    @property
    def page(self) -> str:
        """Page of the data set on the hub."""
        return f"https://huggingface.co/datasets/{self.hub_id}"

    @property
    def commit(self) -> str:
        """The pinned commit."""
        return self.revision

    @property
    def rows(self) -> int:
        """Number of rows of the pinned split."""
        return self.selection.of if self.selection else (self.size or 0) // self.shape.questions_per_row

    def load(self, n: int | None, seed: int, mirror: Path | None, **options: Any) -> list[Question]:
        """Load at most ``n`` questions; without a mirror or an earlier fetch, they are downloaded first."""
        path = self._copy(mirror)
        if path is None and mirror is not None:
            raise SourceError(
                f"{self.name}: the mirror has neither {self._path(mirror)} nor the same as .parquet; "
                f"`confidence-tasks sources fetch {self.name} --into {mirror}` puts it there where there is "
                f"internet; without {MIRROR_VARIABLE} it is downloaded from the hub"
            )
        rows = read_rows(self, path or self.fetch())
        return ordered(self._questions(rows, seed, mirrored=mirror is not None), seed, self.balance)[:n]

    def state(self, mirror: Path | None) -> State:
        """Say whether there is a copy."""
        if self._copy(mirror) is None:
            return "absent"
        return "mirror" if mirror else "cached"

    def fetch(self, into: Path | None = None) -> Path:
        """Download the split at its pinned commit, check its questions, and keep the columns that are used."""
        rows = download_rows(self)
        self._questions(rows, seed=0, mirrored=False)
        path = self._path(into)
        write_atomically(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())
        write_atomically(_hash_file(path), sha256_of(path).encode())
        return path

    def verify(self, mirror: Path | None) -> int:
        """Check the hash that was recorded at the download, where there is one, then count and rows."""
        path = self._copy(mirror)
        if path is None:
            raise SourceError(
                f"{self.name}: no copy; `confidence-tasks sources fetch {self.name}` downloads it"
            )
        recorded = _hash_file(path)
        if recorded.is_file() and recorded.read_text().strip() != sha256_of(path):
            raise SourceError(
                f"{self.name}: {path} has changed since its download: delete it and fetch again"
            )
        return len(self._questions(read_rows(self, path), seed=0, mirrored=mirror is not None))

    def _path(self, root: Path | None) -> Path:
        """Return where the copy lies in a mirror; the cache is a mirror of its own for each revision."""
        folder = root or cache_folder() / "hub" / self.revision
        return folder / self.hub_id / self.config / f"{self.split}.jsonl"

    def _copy(self, root: Path | None) -> Path | None:
        lines = self._path(root)
        return next((path for path in (lines, lines.with_suffix(".parquet")) if path.is_file()), None)

    def _questions(self, rows: Sequence[Row], seed: int, mirrored: bool) -> list[Question]:
        width = 0 if self.selection else len(str(self.rows - 1))
        questions: list[Question] = []
        for position, row in self._numbered(rows, mirrored):
            try:
                if missing := [column for column in self.shape.columns if column not in row]:
                    has = ", ".join(row) or "none"
                    raise RowError(f"missing columns: {', '.join(missing)} (the row has {has})")
                key = row[self.shape.key] if self.shape.key else f"{position:0{width}d}"
                questions.extend(self.shape.read(row, RowIdentity(self.name, f"{self.name}-{key}", seed)))
            except RowError as error:
                raise SourceError(f"{self.name}: row {position}: {error}") from error
        if len({question.id for question in questions}) < len(questions):
            raise SourceError(f"{self.name}: two rows have the same {self.shape.key!r}")
        return questions

    def _numbered(self, rows: Sequence[Row], mirrored: bool) -> list[tuple[int, Row]]:
        """Return the rows that are asked, with their numbers in the split."""
        if self.selection and mirrored and self.selection.is_all_of(rows, self.shape.columns):
            return list(zip(self.selection.numbers, rows, strict=True))
        self._check_count(len(rows), mirrored)
        numbers = self.selection.numbers if self.selection else range(len(rows))
        return [(number, rows[number]) for number in numbers]

    def _check_count(self, rows: int, mirrored: bool) -> None:
        """Refuse a split of another size: it is another revision, whose ids mean other questions."""
        if rows == 0:
            raise SourceError(f"{self.name}: the split {self.split!r} is empty")
        if mirrored and self.sample_in_mirror and rows < self.rows:
            logger.warning("%s: the mirror holds a sample, %d of %d rows", self.name, rows, self.rows)
        elif rows != self.rows:
            raise SourceError(
                f"{self.name}: {rows} rows, but revision {self.revision[:8]} of {self.hub_id} has {self.rows}: "
                "another revision cannot stand in for it"
            )


def _hash_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def read_rows(source: HubSource, path: Path) -> list[Row]:
    """Read the rows of a local copy, JSON lines or Parquet."""
    try:
        if path.suffix == ".parquet":
            return _read_parquet(source, path)
        lines = path.read_text(encoding="utf-8").split("\n")
        return [_read_line(line, number) for number, line in enumerate(lines, start=1) if line.strip()]
    except (OSError, ValueError) as error:
        raise SourceError(f"{source.name}: cannot read {path}: {error}") from error


def _read_line(line: str, number: int) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"line {number} is not JSON: {error}") from error
    if not isinstance(row, Mapping):
        raise ValueError(f"line {number} is not a JSON object")
    return row


def _used_columns(source: HubSource, present: Sequence[str]) -> list[str]:
    """Columns worth reading: some data sets carry pictures and canaries that no task needs."""
    return [column for column in (*source.shape.columns, *source.shape.optional) if column in present]


def _read_parquet(source: HubSource, path: Path) -> list[Row]:
    from pyarrow import parquet

    columns = _used_columns(source, parquet.read_schema(path).names)
    rows: list[Row] = parquet.read_table(path, columns=columns).to_pylist()
    return rows


def download_rows(source: HubSource) -> list[Row]:
    """Download the rows of the pinned split from the hub; SourceError says what to do where that fails."""
    if source.gated:
        _require_token(source)
    try:
        from datasets.load import load_dataset

        config = None if source.config == "default" else source.config
        data = load_dataset(source.hub_id, config, split=source.split, revision=source.revision)
        return list(data.select_columns(_used_columns(source, data.column_names)))
    except Exception as error:  # three libraries raise their own families, down to the socket
        access = (
            f" Access must be granted at {source.page} to the account of HF_TOKEN." if source.gated else ""
        )
        said = f"{type(error).__name__}: {error}".split("\n", 1)[0]
        raise SourceError(
            f"{source.name}: cannot be read from the hub ({said}).{access} "
            f"{without_network(source.name)}; or give the path of a .jsonl or .csv file of questions in its place"
        ) from error


def _require_token(source: HubSource) -> None:
    from huggingface_hub import get_token

    if get_token() is None:
        raise SourceError(
            f"{source.name} is gated: ask for access at {source.page}, then set HF_TOKEN to a token of that account "
            f"(or {MIRROR_VARIABLE} to a folder that holds a copy)"
        )
