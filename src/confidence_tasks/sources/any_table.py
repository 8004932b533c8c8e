"""Tables as researchers have them: any separator, encoding or compression, JSON of any shape, Parquet and Excel."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from confidence_tasks.sources.bounds import MOST_CHARACTERS_OF_A_ROW, BoundError, JsonBounds, bounded_rows
from confidence_tasks.sources.parquet import read_parquet
from confidence_tasks.sources.source import SourceError
from confidence_tasks.study.parameter import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

Rows: TypeAlias = list[dict[str, Any]]

MAX_BYTES = 512 * 2**20
"""Size of a file, also after decompression."""

MAX_BYTES_OF_EXCEL = 128 * 2**20
"""Size of an unpacked workbook, whose cells take many times the memory of their text."""

MAX_ROWS = 200_000
MAX_DEPTH = 8
"""Depth of nested objects whose fields become columns."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SEPARATORS = ",;\t|"
_HEADER = 1_000_000
"""Number of characters of the first line that tell the separator."""


def read_any_table(path: Path) -> Rows:
    """Read a table with one row per reply; nested fields have dotted names, such as ``message.content``.

    CSV with commas, semicolons, tabs or bars; JSON lines; JSON with a list of objects, at any place, or with columns;
    Parquet; Excel. Text is UTF-8, UTF-16 or UTF-32, with or without a byte-order mark, or else Windows-1252. Any of
    these may be compressed by gzip. Cells without a value are left out.

    Raises
    ------
    SourceError
        If the file cannot be read, is too large, has no rows, or could be read in two ways.
    """
    data = _decompressed(path)
    if data.startswith(b"PAR1"):
        rows = _parquet(path, data)
    elif data.startswith(b"PK\3\4"):
        rows = _excel(path, data)
    else:
        rows = _text_rows(path, _decoded(data, path))
    if not rows:
        raise SourceError(f"{path}: no rows")
    if len(rows) > MAX_ROWS:
        raise SourceError(_too_many_rows(path))
    if len(data) > MOST_CHARACTERS_OF_A_ROW or data.startswith(_PACKED):
        _refuse_large_rows(path, rows)
    return [_filled(_flat(row)) for row in rows]


def with_new_names(rows: Rows, names: Mapping[str, str]) -> Rows:
    """Return rows with other names of columns, new names by old ones.

    Raises
    ------
    SourceError
        If there is no column of an old name, or there is one of a new name.

    Examples
    --------
    >>> with_new_names([{"response": "Lima", "n": 1}], {"response": "reply"})
    [{'reply': 'Lima', 'n': 1}]
    """
    available = list(dict.fromkeys(name for row in rows for name in row))
    for old, new in names.items():
        if old not in available:
            raise SourceError(
                f"there is no column {old!r} to rename; there are {', '.join(available)}{did_you_mean(old, available)}"
            )
        if new in available and new not in names:
            raise SourceError(f"{old!r} cannot be renamed: there is a column {new!r}; rename that one, too")
    return [{names.get(name, name): value for name, value in row.items()} for row in rows] if names else rows


def has_commas(path: Path) -> bool:
    """Return whether a file begins with UTF-8 and, if it has several columns, separates them by commas.

    True for a file that cannot be opened.
    """
    try:
        with path.open("rb") as file:
            text = codecs.getincrementaldecoder("utf-8-sig")().decode(file.read(1 << 16))
    except UnicodeDecodeError:
        return False
    except OSError:
        return True
    return "\0" not in text and _separator(text) == ","


TABLES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx")
"""Endings of the names of tables, also before ``.gz``."""


def tables_under(folder: Path, without: Path) -> tuple[list[Path], list[Path]]:
    """Return the tables under a folder, and other files, in the order of their paths.

    Hidden files and those under the folder ``without`` are neither.
    """
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not path.name.startswith(".")
        and without.resolve() not in path.resolve().parents
    ]
    tables = [path for path in files if path.name.lower().removesuffix(".gz").endswith(TABLES)]
    return tables, [path for path in files if path not in tables]


_PACKED = b"PAR1", b"PK\3\4"
"""Beginnings of files whose cells may be larger than the file."""


def _refuse_large_rows(path: Path, rows: Rows) -> None:
    for number, row in enumerate(rows, start=1):
        if (size := _size(row)) > MOST_CHARACTERS_OF_A_ROW:
            raise SourceError(
                f"{path}, row {number}: it holds {size:,} characters and values; the most is"
                f" {MOST_CHARACTERS_OF_A_ROW:,}"
            )


def _size(value: Any) -> int:
    """Return the number of characters and of values in a cell or a row."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, Mapping):
        value = value.values()
    elif hasattr(value, "tolist"):  # an array of a Parquet file
        value = value.tolist()
    return sum(map(_size, value)) if isinstance(value, Iterable) else 1


def _decompressed(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if data.startswith(b"\x1f\x8b"):
            with gzip.open(io.BytesIO(data)) as packed:
                data = packed.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise SourceError(f"{path}: cannot be read: {error}") from error
    if len(data) > MAX_BYTES:
        raise SourceError(f"{path}: larger than {MAX_BYTES // 2**20} MiB: split the file")
    return data


def _decoded(data: bytes, path: Path) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _text(data, encoding, path)
    start = data[:4096]
    if start.count(b"\0") > len(start) // 4:
        return _text(data, "utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be", path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _text(data, "cp1252", path)


def _text(data: bytes, encoding: str, path: Path) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: is no text in {encoding}: {error}; save it as UTF-8") from error


def _parquet(path: Path, data: bytes) -> Rows:
    try:
        table = read_parquet(io.BytesIO(data), most_rows=MAX_ROWS, most_bytes=MAX_BYTES)
        return _of_frame(table.to_pandas())
    except BoundError as error:
        raise SourceError(f"{path}: {error}") from error
    except (OSError, ValueError) as error:
        raise SourceError(f"{path}: is no Parquet file that can be read: {error}") from error


def _too_many_rows(path: Path) -> str:
    return f"{path}: more than {MAX_ROWS:,} rows: split the file"


def _check_unpacked(size: int, most: int) -> None:
    if size > most:
        raise ValueError(f"larger than {most // 2**20} MiB when unpacked: split the file")


def _excel(path: Path, data: bytes) -> Rows:
    import pandas as pd

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            _check_unpacked(
                sum(part.file_size for part in parts.infolist()), min(MAX_BYTES_OF_EXCEL, MAX_BYTES)
            )
        frame = pd.read_excel(io.BytesIO(data))
    except ImportError as error:
        raise SourceError(
            f"{path}: Excel files need a package: pip install openpyxl, or save it as CSV"
        ) from error
    except Exception as error:  # the parser of a foreign format raises anything
        raise SourceError(f"{path}: neither Excel nor another known format: {error}") from error
    return _of_frame(frame)


def _of_frame(frame: pd.DataFrame) -> Rows:
    """Return the rows of a data frame; a missing date is None."""
    filled = frame.astype(object).where(frame.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in filled.to_dict("records")]


# Text -----------------------------------------------------------------------------------------------------------------


def _text_rows(path: Path, text: str) -> Rows:
    if text.lstrip()[:1] in ("[", "{"):
        return _json_rows(path, text)
    return _separated_rows(path, text)


def _json_rows(path: Path, text: str) -> Rows:
    """Read JSON lines, or one JSON value that has the rows at some place."""
    try:
        JsonBounds().add(text)
        value = json.loads(text)
    except BoundError as error:
        raise SourceError(f"{path}: {error}") from error
    except RecursionError as error:
        raise SourceError(f"{path}: its JSON is nested too deeply") from error
    except ValueError:
        return [_json_line(path, number, line) for number, line in _lines(text)]
    lists = _record_lists(value)
    if len(lists) > 1:
        names = ", ".join(name or "the file" for name in lists)
        raise SourceError(
            f"{path}: several lists could be the rows: {names}; save one of them as a file of its own"
        )
    if lists:
        return next(iter(lists.values()))
    return _columns_or_one_row(path, value)


def _lines(text: str) -> list[tuple[int, str]]:
    return [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]


def _json_line(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{path}, line {number}: not JSON: {error}") from error
    if not isinstance(row, dict):
        raise SourceError(f"{path}, line {number}: not an object with fields")
    return row


def _record_lists(value: Any, name: str = "", depth: int = 0) -> dict[str, Rows]:
    """Return the lists of objects in a value by the path to them, without those inside their rows."""
    if isinstance(value, list):
        return {name: value} if _all_are(value, dict) else {}
    if not isinstance(value, dict) or depth > MAX_DEPTH:
        return {}
    found: dict[str, Rows] = {}
    for key, inner in value.items():
        found |= _record_lists(inner, f"{name}.{key}".lstrip("."), depth + 1)
    return found


def _columns_or_one_row(path: Path, value: Any) -> Rows:
    """Return the rows of an object of columns, of objects by identifier, or of a single object."""
    if not isinstance(value, dict):
        raise SourceError(f"{path}: its JSON has no list of objects with fields")
    columns = list(value.values())
    if _all_are(columns, list):
        if len(set(map(len, columns))) > 1:
            raise SourceError(f"{path}: its JSON has columns of different lengths")
        return [dict(zip(value, cells, strict=True)) for cells in zip(*columns, strict=True)]
    if _all_are(columns, dict):
        return [{"id": name, **row} for name, row in value.items()]
    return [value]


def _all_are(values: Sequence[Any], kind: type) -> bool:
    return bool(values) and all(isinstance(value, kind) for value in values)


@contextmanager
def _long_cells() -> Iterator[None]:
    """Allow cells as long as a row may be, within this block only: the limit is one for the whole process."""
    usual = csv.field_size_limit(MOST_CHARACTERS_OF_A_ROW)
    try:
        yield
    finally:
        csv.field_size_limit(usual)


@_long_cells()
def _separated_rows(path: Path, text: str) -> Rows:
    reader = csv.reader(bounded_rows(io.StringIO(text, newline="")), delimiter=_separator(text), strict=True)
    try:
        header = _column_names(path, next(reader, []))
        rows = []
        for cells in reader:
            if len(cells) > len(header):
                raise SourceError(f"{path}, line {reader.line_num}: more cells than columns")
            rows.append(dict(zip(header, cells, strict=False)))
    except csv.Error as error:
        raise SourceError(f"{path}, line {reader.line_num}: not a table: {error}") from error
    except BoundError as error:
        raise SourceError(f"{path}, line {reader.line_num + 1}: {error}") from error
    return [row for row in rows if any(row.values())]


def _column_names(path: Path, cells: Sequence[str]) -> list[str]:
    header = [name.strip() for name in cells]
    if doubled := [name for name, count in Counter(filter(None, header)).items() if count > 1]:
        raise SourceError(f"{path}: two columns are called {', '.join(doubled)}: rename or delete one")
    return header


def _separator(text: str) -> str:
    """Return the separator of the first line that gives most columns; a comma if there is one column."""
    # The line may end with a carriage return alone, and a hostile one has as many characters as the file.
    first = io.StringIO(text.lstrip("\r\n"), newline="").readline(_HEADER)
    counts = {mark: len(next(csv.reader([first], delimiter=mark), [])) for mark in _SEPARATORS}
    return max(counts, key=lambda mark: counts[mark])


# Cells ----------------------------------------------------------------------------------------------------------------


def _flat(row: Mapping[str, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping) and depth < MAX_DEPTH:
            flat |= _flat(value, f"{prefix}{name}.", depth + 1)
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def _filled(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: storable_cell(value) for name, value in row.items() if not _is_missing(value)}


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value) or value == ""


def storable_cell(value: Any) -> Any:
    r"""Return a cell without NumPy types, and text without NULs and lone surrogates, which files cannot hold.

    Examples
    --------
    >>> storable_cell("half of a smile: \ud83d"), storable_cell(["Lima", "a\0"]) == ["Lima", "a\ufffd"]
    ('half of a smile: ?', True)
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    if isinstance(value, Sequence):
        return [storable_cell(each) for each in value]
    return value
