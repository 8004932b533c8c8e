"""Read a user's Parquet file within bounds.

A file of a few kilobytes may hold gigabytes: a text that many rows share is stored once. So the rows are read in small
batches, and reading stops when they exceed a bound.
"""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING

from confidence_tasks.sources.bounds import MOST_CHARACTERS_OF_A_ROW, BoundError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    import pyarrow as pa

MOST_BYTES = 512 * 2**20
"""Maximum size of a table in memory."""

_ROWS_OF_A_BATCH = 64


def read_parquet(
    file: str | IO[bytes],
    *,
    most_rows: int | None = None,
    most_columns: int | None = None,
    most_bytes: int = MOST_BYTES,
    columns: Sequence[str] | None = None,
) -> pa.Table:
    """Read a Parquet file, or some of its columns.

    Parameters
    ----------
    file : str or binary file
        Path of the file, or the file.
    most_rows, most_columns : int, optional
        Bounds of the table.
    most_bytes : int, default 512 MiB
        Bound of the memory that the table takes.
    columns : sequence of str, optional
        Columns to read, of those that the file has; by default all.

    Raises
    ------
    BoundError
        If the file has more rows or columns, or if the table takes more memory.
    ValueError, OSError
        If the file is not a Parquet file.

    Examples
    --------
    >>> import io
    >>> import pandas as pd
    >>> file = io.BytesIO(pd.DataFrame({"question": ["1 + 1?"], "answer": ["2"]}).to_parquet())
    >>> read_parquet(file, columns=["answer", "aliases"]).to_pylist()
    [{'answer': '2'}]
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        source = parquet.ParquetFile(file)
        if most_rows is not None and source.metadata.num_rows > most_rows:
            raise BoundError(f"it has more than {most_rows:,} rows: split the file")
        if most_columns is not None and source.metadata.num_columns > most_columns:
            raise BoundError(f"it has more than {most_columns:,} columns")
        schema = source.schema_arrow
        if columns is not None:
            schema = pa.schema([schema.field(name) for name in columns if name in schema.names])
        batches = _batches(source.iter_batches(_ROWS_OF_A_BATCH, columns=schema.names), most_bytes)
        return pa.Table.from_batches(batches, schema).combine_chunks()
    except pa.ArrowNotImplementedError as error:
        raise ValueError(str(error)) from error


def _batches(batches: Iterable[pa.RecordBatch], most_bytes: int) -> Iterator[pa.RecordBatch]:
    """Yield batches; BoundError as soon as they take more memory."""
    size = 0
    for batch in batches:
        size += batch.nbytes
        if size > most_bytes:
            raise BoundError(f"it is larger than {most_bytes // 2**20} MiB when unpacked: split the file")
        yield batch


def bounded_parquet_rows(table: pa.Table) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a table; BoundError for one that is longer than a row of replies or questions can be.

    Examples
    --------
    >>> import pyarrow as pa
    >>> list(bounded_parquet_rows(pa.table({"answer": ["2", "4"]})))
    [{'answer': '2'}, {'answer': '4'}]
    """
    for number, row in enumerate(table.to_pylist(), start=1):
        if len(json.dumps(row, default=str)) > MOST_CHARACTERS_OF_A_ROW:
            raise BoundError(f"row {number} has more than {MOST_CHARACTERS_OF_A_ROW:,} characters")
        yield row
